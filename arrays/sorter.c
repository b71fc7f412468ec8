/* sorter.c - the object for prefix sums and sorting on one device: shapes, kernels, workspace.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/sorter.h"

#include "arrays/kernels.h"
#include "core/untracked.h"
#include "core/device_info.h"
#include "core/handle.h"
#include "core/reserved.h"
#include "core/thread_pool.h"

#include <stddef.h>

EMBEDDED(tiles_text, "arrays/tiles.h", arrays_tiles_h);
EMBEDDED(lookback_text, "arrays/lookback.h", arrays_lookback_h);

/* ---- Shapes. --------------------------------------------------------------------------------- */

static const struct cltune_key keys[] = {
#define X(key, least, most, value, text)                                                           \
    {#key, offsetof(struct sorter_shape, key), least, most, value, 0},
    SORTER_SHAPE_KEYS(X)
#undef X
        {0}};

/* The device and kernel that a shape must fit. */
struct sorter_target {
    const struct cldev_info *info;
    const struct sorter_source *source;
};

static void sorter_shape_defaults(void *shape, void *arg)
{
    struct sorter_shape *s = shape;
    const struct cldev_info *info = ((const struct sorter_target *)arg)->info;
    const size_t most = info->dev_max_wg_sz;
    if (info->dev_type & CL_DEVICE_TYPE_CPU || most < 32) {
        s->group = 1;
        s->items = ((const struct sorter_target *)arg)->source->sorts ? 1024 : 256;
        s->groups_per_unit = 4;
    } else
        s->group = most >= 256 ? 256 : most >= 128 ? 128 : most >= 64 ? 64 : 32;
}

/* Bytes of local memory of sort_scatter and sort_sweep, or of scan_write and scan_once. */
static size_t sorter_local_bytes(const struct sorter_shape *s, const struct sorter_target *target)
{
    const size_t room = 2 * (size_t)s->group * (size_t)target->source->bytes;
    const size_t tile = (size_t)s->group * (size_t)s->items * (size_t)target->source->bytes;
    const int words = vendor_is_nvidia(target->info->dev_vendor) && s->match ? s->match : 3;
    const size_t teams = (size_t)s->group / 32 * (size_t)words * SORT_DIGITS * 4;
    return target->source->sorts ? 5 * SORT_DIGITS * 4 + 4 + (tile > teams ? tile : teams)
                                 : tile + room + (s->look_back ? 32 * 12 + 4 : 0);
}

static int sorter_shape_fit(void *shape, int stored, void *arg)
{
    (void)stored;
    const struct sorter_shape *s = shape;
    const struct sorter_target *target = arg;
    const struct cldev_info *info = target->info;
    if (s->group != 1 && (s->group < 32 || (s->group & (s->group - 1)) != 0))
        return clerror_set(EINVAL,
                           "arrays: shape: group=%d; it must be 1, or a power of two from 32 on",
                           s->group);
    if ((size_t)s->group > info->dev_max_wg_sz)
        return clerror_set(EINVAL,
                           "arrays: shape: group=%d is too large for %s; the maximum is %zu",
                           s->group, info->dev_name, info->dev_max_wg_sz);
    if (s->group > 1 && s->items > 32)
        return clerror_set(EINVAL,
                           "arrays: shape: items=%d is too large with group=%d; the maximum is 32",
                           s->items, s->group);
    if (s->group > 1 && sorter_local_bytes(s, target) > info->dev_local_mem_sz)
        return clerror_set(
            EINVAL,
            "arrays: shape: group=%d items=%d takes %zu bytes of local memory, but %s has %llu; take less",
            s->group, s->items, sorter_local_bytes(s, target), info->dev_name,
            (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* Return the program of this kind and shape: an earlier one, or a new one. */
static struct sorter_program *sorter_program_of(arrays_sorter *s,
                                                const struct sorter_program *wanted)
{
    for (struct sorter_program *p = s->programs; p; p = p->next)
        if (p->source == wanted->source && p->look_back == wanted->look_back &&
            p->variant == wanted->variant && strcmp(p->row.shape, wanted->row.shape) == 0)
            return p;
    struct sorter_program *p = malloc(sizeof *p);
    if (!p) {
        clerror_set(ENOMEM, "arrays: out of memory");
        return NULL;
    }
    *p = *wanted;
    p->next = s->programs;
    s->programs = p;
    return p;
}

struct sorter_program *sorter_choose(arrays_sorter *s, const struct sorter_source *source,
                                     size_t most, unsigned variant)
{
    unsigned log = 0;
    while (log + 1 < SIZES && most >> log > 1)
        log++;
    struct sorter_program **chosen = &s->chosen[source->kind][log], wanted = {.source = source};
    struct sorter_target target = {.info = &s->info, .source = source};
    const struct cltune_rules rules = {.name = "arrays",
                                       .keys = keys,
                                       .defaults = sorter_shape_defaults,
                                       .fit = sorter_shape_fit,
                                       .arg = &target};
    const size_t size = (size_t)1 << log;
    if (*chosen)
        wanted = **chosen;
    else if (cltune_choose(&rules, s->ctx, s->dev, source->row, size, s->caller_shape,
                           &wanted.shape, &wanted.row) != 0)
        return NULL;
    /* A word of sort_sweep has 30 bits for a number of keys. */
    wanted.look_back = source->look_back_names && wanted.shape.look_back &&
                       wanted.shape.group > 1 && s->progress != PROGRESS_NO &&
                       !(source->sorts && log >= 30);
    wanted.variant = source->sorts && !wanted.look_back ? variant | SORT_PAIRED : variant;
    wanted.program = NULL;
    return *chosen = sorter_program_of(s, &wanted);
}

cl_uint sorter_tiles(const struct sorter_program *p, size_t most)
{
    const size_t tile = (size_t)p->shape.group * (size_t)p->shape.items;
    return (cl_uint)(most / tile + (most % tile != 0));
}

cl_uint sorter_groups(const arrays_sorter *s, const struct sorter_program *p, size_t most)
{
    const cl_uint tiles = sorter_tiles(p, most);
    const cl_uint groups =
        (cl_uint)p->shape.groups_per_unit * (s->info.dev_max_core ? s->info.dev_max_core : 1);
    return tiles < groups ? tiles : groups;
}

/* ---- Kernels. -------------------------------------------------------------------------------- */

static void sorter_close(arrays_sorter *s, struct sorter_program *p)
{
    clclose(s->ctx, p->program);
    p->program = NULL;
}

static int has(const struct sorter_program *p, unsigned variant)
{
    return (p->variant & variant) != 0;
}

static int sorter_build(arrays_sorter *s, struct sorter_program *p)
{
    const struct sorter_source *source = p->source;
    const struct embedded *const front[] = {&tiles_text, &lookback_text};
    const char *const *name = p->look_back ? source->look_back_names : source->names;
    const int most = p->look_back ? MOST_KERNELS : source->nnames;
    char options[384];
    snprintf(
        options, sizeof options,
        "-D GROUP=%d -D ITEMS=%d -D MATCH=%d -D STREAM=%d -D LOOK_BACK=%d -D POLLS=%d -D DEPTH=%d "
        "-D PAIRED=%d -D VALUE=%s -D ORDER=%d -D DESCENDING=%d -D INCLUSIVE=%d %s",
        p->shape.group, p->shape.items, p->shape.match, p->shape.stream, p->look_back,
        p->shape.polls, p->shape.depth, has(p, SORT_PAIRED),
        has(p, SORT_WIDE_VALUES) ? "ulong" : "uint",
        has(p, SORT_FLOATING) ? 2 : has(p, SORT_SIGNED), has(p, SORT_DESCENDING),
        has(p, SCAN_INCLUSIVE), source->options);
    p->program = embedded_open(s->ctx, options, source->file, p->look_back ? 2 : 1, front);
    for (int k = 0; p->program && k < most && name[k]; k++) {
        p->kernel[k] = clsym(s->ctx, p->program, name[k], 0);
        if (!p->kernel[k])
            sorter_close(s, p);
    }
    return p->program ? 0 : -1;
}

/* Find out whether groups that have started go on while others wait for them. */
static int sorter_try_progress(arrays_sorter *s, const struct sorter_program *p)
{
    const cl_uint groups = 16 * (s->info.dev_max_core ? s->info.dev_max_core : 1);
    cl_uint *words = clmalloc(s->ctx, (groups + 2) * sizeof *words, 0);
    if (!words)
        return -1;
    memset(words, 0, (groups + 2) * sizeof *words);
    int status = clmsync(s->ctx, s->dev, words, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
    if (status == 0)
        status = sorter_launch(s, p, LOOKBACK_TEST, groups, ARGS(words));
    status = sorter_finish(s, status);
    if (status == 0 && clmsync(s->ctx, s->dev, words, CL_MEM_HOST) == (cl_event)-1)
        status = -1;
    if (status == 0)
        s->progress = words[1] == 0 ? PROGRESS_YES : PROGRESS_NO;
    clfree(words);
    return status;
}

int sorter_open(arrays_sorter *s, struct sorter_program *p)
{
    s->last = p;
    if (p->program)
        return 0;
    p->look_back = p->look_back && s->progress != PROGRESS_NO;
    if (sorter_build(s, p) != 0)
        return -1;
    if (p->look_back && s->progress == PROGRESS_UNTRIED && sorter_try_progress(s, p) != 0) {
        sorter_close(s, p);
        return -1;
    }
    if (!p->look_back || s->progress == PROGRESS_YES)
        return 0;
    sorter_close(s, p);
    p->look_back = false;
    return sorter_build(s, p);
}

int sorter_launch(arrays_sorter *s, const struct sorter_program *p, int kernel, cl_uint groups,
                  cl_uint nargs, const struct stdcl_arg *args)
{
    const size_t group = (size_t)p->shape.group;
    clndrange_t ndr = clndrange_init1d(0, groups * group, group);
    const int flags = CL_EVENT_NOWAIT | CL_EVENT_CHECKED | s->untracked;
    return clforkv(s->ctx, s->dev, p->kernel[kernel], &ndr, flags, nargs, args) == (cl_event)-1 ? -1
                                                                                                : 0;
}

int sorter_finish(arrays_sorter *s, int status)
{
    return clwait(s->ctx, s->dev, CL_KERNEL_EVENT) == (cl_event)-1 ? -1 : status;
}

/* ---- Sums by look-back. ---------------------------------------------------------------------- */

enum { LAST_EPOCH = (1 << 30) - 1 }; /* see lookback.h; after it the words are cleared */

int sorter_lookback_begin(arrays_sorter *s, const struct sorter_program *p, cl_uint tiles)
{
    if (s->tiles < tiles) {
        if (s->words)
            clfree(s->words);
        s->tiles = 0;
        s->words = clmalloc(s->ctx, 2 * (1 + (size_t)tiles) * sizeof(cl_ulong), CL_MEM_DEVONLY);
        if (!s->words)
            return -1;
        s->tiles = tiles;
        s->epoch = LAST_EPOCH;
    }
    if (s->epoch == LAST_EPOCH) {
        const cl_ulong n = 4 * (1 + (cl_ulong)s->tiles);
        if (sorter_launch(s, p, LOOKBACK_CLEAR, sorter_groups(s, p, n), ARGS(s->words, n)) != 0)
            return -1;
        s->epoch = 0;
    }
    s->epoch++;
    return 0;
}

int sorter_lookback_end(arrays_sorter *s, int status)
{
    if (status != 0)
        s->epoch = LAST_EPOCH; /* no group has cleared the next launch's counter */
    return status;
}

/* ---- Jobs on the host. ----------------------------------------------------------------------- */

bool sorter_is_for_host(const arrays_sorter *s, const void *const memory[], size_t n)
{
    if (!(s->info.dev_type & CL_DEVICE_TYPE_CPU) || s->caller_shape)
        return false;
    for (size_t i = 0; i < n; i++)
        if (memory[i] &&
            !(clmctl((void *)(uintptr_t)memory[i], CL_MCTL_GET_STATUS) & CL_MEM_ZEROCOPY))
            return false;
    return true;
}

int sorter_host_begin(arrays_sorter *s, const char *caller)
{
    if (sorter_finish(s, 0) != 0)
        return -1;
    const cl_int err = clFinish(clgetqueue(s->ctx, s->dev));
    return err == CL_SUCCESS ? 0
                             : clerror_set(EIO, "%s: waiting for %s failed (%s)", caller,
                                           s->info.dev_name, oclerror_str(err));
}

size_t sorter_host_count(size_t most, const cl_uint *count)
{
    return count && *count < most ? *count : most;
}

/* ---- Checks, workspace. ---------------------------------------------------------------------- */

int sorter_check_doubles(const arrays_sorter *s, const char *caller)
{
    bool doubles;
    if (arrays_have_doubles(s->ctx, s->dev, 1, &doubles) != 0)
        return -1;
    return doubles ? 0
                   : clerror_set(ENOTSUP, "%s: %s has no double precision; use floats", caller,
                                 s->info.dev_name);
}

int sorter_check(const char *caller, int bytes, size_t most, const uintptr_t reserved[8])
{
    if (reserved_check(caller, reserved) != 0)
        return -1;
    if (bytes != 4 && bytes != 8)
        return clerror_set(EINVAL, "%s: bytes = %d; the elements must be of 4 or 8 bytes", caller,
                           bytes);
    if (most > (size_t)1 << 31)
        return clerror_set(EINVAL, "%s: most = %zu; the maximum is 2^31 elements", caller, most);
    return 0;
}

/* As the layer: types are aligned to at most 128 bytes. */
static size_t sorter_start_align(const arrays_sorter *s)
{
    enum { LARGEST_TYPE = 128 };
    const size_t says = s->info.dev_mem_base_addr_align / 8;
    return says == 0 ? 1 : says < LARGEST_TYPE ? says : LARGEST_TYPE;
}

int sorter_check_block(const arrays_sorter *s, const char *caller, const char *what,
                       const void *ptr, size_t size, size_t align)
{
    if (!clgetqueue(s->ctx, s->dev)) /* in a forked child */
        return -1;
    char *base = clmemptr(s->ctx, (void *)(uintptr_t)ptr);
    if (!base)
        return clerror_set(EFAULT, "%s: %s, %p, is not in memory from clmalloc of this context%s",
                           caller, what, ptr, arrays_context_words(s->ctx));
    const size_t room = clsizeofmem(base) - (size_t)((const char *)ptr - base);
    const size_t offset = (size_t)((const char *)ptr - base);
    if (offset % align)
        return clerror_set(EINVAL,
                           "%s: %s begins %zu bytes after its block's begin; it must be a multiple "
                           "of %zu bytes",
                           caller, what, offset, align);
    if (size > room)
        return clerror_set(EINVAL, "%s: %s: %zu bytes do not fit in the %zu bytes from there on",
                           caller, what, size, room);
    return 0;
}

int sorter_check_input(const arrays_sorter *s, const char *caller, const char *what,
                       const void *ptr, size_t size, size_t align)
{
    if (sorter_check_block(s, caller, what, ptr, size, align) != 0)
        return -1;
    return clmrequire(s->ctx, s->dev, ptr, caller);
}

static bool ranges_overlap(const struct sorter_range *a, const struct sorter_range *b)
{
    const char *x = a->ptr, *y = b->ptr;
    return x && y && a->size && b->size && x < y + b->size && y < x + a->size;
}

int sorter_check_apart(const char *caller, const struct sorter_range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (ranges_overlap(&r[i], &r[j]))
                return clerror_set(EINVAL, "%s: %s, %zu bytes, and %s, %zu bytes, overlap", caller,
                                   r[j].name, r[j].size, r[i].name, r[i].size);
    return 0;
}

char *sorter_workspace(arrays_sorter *s, const char *caller, void *work, size_t size)
{
    if (work)
        return sorter_check_block(s, caller, "work", work, size, sorter_start_align(s)) == 0 ? work
                                                                                             : NULL;
    if (s->workspace && clsizeofmem(s->workspace) >= size)
        return s->workspace;
    if (s->workspace)
        clfree(s->workspace);
    s->workspace = clmalloc(s->ctx, size, CL_MEM_DEVONLY);
    return s->workspace;
}

/* ---- The object. ----------------------------------------------------------------------------- */

static int sorter_query_device(arrays_sorter *s)
{
    struct cldev_info *info = calloc(clgetndev(s->ctx), sizeof *info);
    const int status = info ? clgetdevinfo(s->ctx, info)
                            : clerror_set(ENOMEM, "arrays_sorter_create: out of memory");
    if (status == 0)
        s->info = info[s->dev];
    free(info);
    return status;
}

arrays_sorter *arrays_sorter_create(const struct arrays_sorter_options *o)
{
    o = o ? o : &(const struct arrays_sorter_options){.ctx = NULL};
    CLCONTEXT *ctx =
        reserved_check("arrays_sorter_create", o->reserved) == 0 ? arrays_context(o->ctx) : NULL;
    if (!ctx)
        return NULL;
    if (o->dev >= clgetndev(ctx)) {
        clerror_set(EINVAL, "arrays_sorter_create: dev = %u, but the context has %u devices",
                    o->dev, clgetndev(ctx));
        return NULL;
    }
    arrays_sorter *s = calloc(1, sizeof *s);
    const bool shaped = o->shape && *o->shape;
    char *shape = s && shaped ? strdup(o->shape) : NULL;
    if (!s || (shaped && !shape)) {
        clerror_set(ENOMEM, "arrays_sorter_create: out of memory");
        free(s);
        return NULL;
    }
    s->ctx = ctx;
    s->dev = o->dev;
    s->untracked = untracked_flag(ctx, o->dev);
    s->caller_shape = shape;
    if (sorter_query_device(s) == 0)
        return s;
    arrays_sorter_free(s);
    return NULL;
}

void arrays_sorter_free(arrays_sorter *s)
{
    if (!s)
        return;
    while (s->programs) {
        struct sorter_program *p = s->programs;
        s->programs = p->next;
        if (p->program)
            clclose(s->ctx, p->program);
        free(p);
    }
    if (s->workspace)
        clfree(s->workspace);
    if (s->words)
        clfree(s->words);
    if (s->totals)
        clfree(s->totals);
    thread_pool_free(s->team);
    free(s->host_workspace);
    free(s->caller_shape);
    free(s);
}

const char *arrays_sorter_shape(const arrays_sorter *s)
{
    if (no_handle(s, __func__))
        return "";
    return s->last ? s->last->row.shape : "";
}

const char *arrays_sorter_explain(const arrays_sorter *s)
{
    if (no_handle(s, __func__))
        return "";
    return s->last ? s->last->row.source : "no kernel has been used yet";
}
