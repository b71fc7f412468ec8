/* program.c - kernels, built when first asked for and then kept; scratch memory.
 *
 * From one source many kernels are built, for shapes, transposes and alignments; the line of
 * options identifies each. Devices with the same shape share a program, since a stdcl kernel serves
 * every device of its context.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include "core/untracked.h"
#include "core/clock.h"
#include "core/progress.h"

#include <sys/mman.h>

EMBEDDED(last_group, "matmul/last_group.cl", matmul_last_group_cl);
EMBEDDED(tile, "matmul/tile.cl", matmul_tile_cl);
EMBEDDED(fma_file, "matmul/fma.cl", matmul_fma_cl);
EMBEDDED(mma_file, "matmul/mma.cl", matmul_mma_cl);
EMBEDDED(pack, "matmul/pack.cl", matmul_pack_cl);
EMBEDDED(cpu, "matmul/cpu.cl", matmul_cpu_cl);
EMBEDDED(ladder, "matmul/baseline.cl", matmul_baseline_cl);
EMBEDDED(thin, "matmul/skinny.cl", matmul_skinny_cl);

/* ---- Programs. ------------------------------------------------------------------------------- */

/* The sources of tiles stand behind last_group.cl and tile.cl, and that of few vectors behind
 * last_group.cl. One that defines what tile.cl is to know gets that as an option instead. Kernels
 * for CPUs are stored for the next process, but for shapes of the caller's, of which a search tries
 * many. */
static void *build(struct matmul *mm, enum matmul_source s, const char *options)
{
    static const struct embedded *const source[SOURCES] = {
        [SOURCE_FMA] = &fma_file, [SOURCE_MMA] = &mma_file,  [SOURCE_PACK] = &pack,
        [SOURCE_CPU] = &cpu,      [SOURCE_LADDER] = &ladder, [SOURCE_THIN] = &thin};
    const struct embedded *const front[] = {&last_group, &tile};
    const size_t fronts = s == SOURCE_FMA || s == SOURCE_MMA ? 2 : s == SOURCE_THIN ? 1 : 0;
    char line[1024];
    snprintf(line, sizeof line, "%s%s", options,
             mm->precision == MATMUL_DOUBLE ? " -D DOUBLES" : "");
    return embedded_open_as(s == SOURCE_CPU && !mm->words ? CLLD_CACHE : CLLD_NOW, mm->ctx, line,
                            source[s], fronts, front);
}

/* mm->lock is held. */
static struct program *find(struct matmul *mm, enum matmul_source s, const char *options)
{
    for (struct program *p = mm->programs; p; p = p->next)
        if (p->source == s && strcmp(p->options, options) == 0)
            return p;
    struct program *p = calloc(1, sizeof *p);
    char *copy = strdup(options);
    if (!p || !copy) {
        clerror_set(ENOMEM, "matmul: no memory on the host");
    } else if ((p->handle = build(mm, s, options))) {
        p->source = s;
        p->options = copy;
        p->next = mm->programs;
        return mm->programs = p;
    }
    free(copy);
    free(p);
    return NULL;
}

static _Thread_local double seconds_built;

double matmul_seconds_built(void)
{
    return seconds_built;
}

cl_kernel matmul_kernel(struct matmul *mm, enum matmul_source s, const char *options,
                        const char *name)
{
    const double start = seconds_now();
    pthread_mutex_lock(&mm->lock);
    const struct program *p = find(mm, s, options);
    pthread_mutex_unlock(&mm->lock);
    seconds_built += seconds_now() - start;
    return p ? clsym(mm->ctx, p->handle, name, 0) : NULL;
}

void matmul_programs_close(struct matmul *mm)
{
    while (mm->programs) {
        struct program *p = mm->programs;
        mm->programs = p->next;
        clclose(mm->ctx, p->handle);
        free(p->options);
        free(p);
    }
}

/* ---- Scratch memory, launches. --------------------------------------------------------------- */

int matmul_fill(struct matmul *mm, const struct share *p, void *block, cl_uint value, size_t bytes)
{
    cl_event done = NULL;
    cl_mem buffer = clgetbuffer(mm->ctx, p->dev, block);
    if (!buffer)
        return -1;
    cl_int err = clEnqueueFillBuffer(clgetqueue(mm->ctx, p->dev), buffer, &value, sizeof value, 0,
                                     bytes / sizeof value * sizeof value, 0, NULL, &done);
    if (err == CL_SUCCESS)
        err = matmul_await(done);
    if (done)
        clReleaseEvent(done);
    if (err == CL_SUCCESS)
        return 0;
    return clerror_set(EIO, "matmul: %s cannot fill its scratch memory (%s)", p->info.dev_name,
                       oclerror_str(err));
}

/* Whether what nobody has written shall be NaN. */
static bool is_marked(void)
{
    const char *level = getenv("STDCL_DEBUG");
    return level && *level && strcmp(level, "0") != 0;
}

void *matmul_block(struct matmul *mm, const struct share *p, size_t size, int flags)
{
    void *block = clmalloc(mm->ctx, size, flags);
    if (block && clgetbuffer(mm->ctx, p->dev, block) &&
        (!is_marked() || matmul_fill(mm, p, block, ~0u, size) == 0))
        return block;
    clfree(block);
    return NULL;
}

void *matmul_scratch(struct matmul *mm, struct share *p, int which, size_t size)
{
    struct scratch *s = &p->scratch[which];
    if (s->block && s->size >= size)
        return s->block;
    clfree(s->block); /* waits for kernels that use it */
    s->size = size + size / 4;
    s->block = matmul_block(mm, p, s->size, p->is_cpu ? CL_MEM_ZEROCOPY : CL_MEM_DEVONLY);
#ifdef MADV_HUGEPAGE
    if (s->block && p->is_cpu)
        madvise(s->block, s->size, MADV_HUGEPAGE); /* panels are read by many a page at a time */
#endif
    return s->block;
}

void *matmul_partials(struct matmul *mm, struct share *p, size_t elements)
{
    const size_t counters = PLAN_SHARED * sizeof(cl_uint), size = counters + elements * mm->real;
    struct scratch *s = &p->scratch[SCRATCH_SPLIT];
    const bool fresh = !s->block || s->size < size;
    void *block = matmul_scratch(mm, p, SCRATCH_SPLIT, size);
    if (!block || !fresh || matmul_fill(mm, p, block, 0, counters) == 0)
        return block;
    clfree(s->block); /* or the next product would take it for cleared */
    s->block = NULL;
    return NULL;
}

void matmul_pause_by(struct matmul *mm, struct share *p, int (*pause)(void *arg, double work),
                     void *arg)
{
    p->pause = mm->progress ? pause : NULL;
    p->pause_arg = arg;
    p->pace.queued = 0;
}

/* Waits for what was started, and tells of it. */
static int make_room(struct matmul *mm, struct share *p)
{
    const double done = p->pace.queued;
    const bool failed = clwait(mm->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1;
    pace_waited(&p->pace);
    if (failed)
        return -1;
    if (p->pause(p->pause_arg, done) == 0)
        return 0;
    p->scratch[SCRATCH_SPLIT].size =
        0; /* its counters count groups that will not come: the next product gets new ones */
    return progress_cancelled("matmul");
}

static int fork_range(struct matmul *mm, struct share *p, cl_kernel kernel, const clndrange_t *ndr,
                      double work, cl_uint nargs, const struct stdcl_arg *args)
{
    clndrange_t range = *ndr;
    if (p->pause && !pace_has_room(&p->pace, work) && make_room(mm, p) != 0)
        return -1;
    const int bare = p->capability > 0
                         ? CL_EVENT_UNTRACKED
                         : 0; /* which is what untracked_flag would ask the driver at each launch */
    const int flags = CL_EVENT_NOWAIT | CL_EVENT_CHECKED | bare;
    if (clforkv(mm->ctx, p->dev, kernel, &range, flags, nargs, args) == (cl_event)-1)
        return -1;
    if (p->pause)
        pace_started(&p->pace, work);
    return 0;
}

/* Whole rows of groups (dimension 1), or of one row as many groups as a slice holds, but one for
 * each compute unit. */
int matmul_fork(struct matmul *mm, struct share *p, cl_kernel kernel, const clndrange_t *ndr,
                double work, cl_uint nargs, const struct stdcl_arg *args)
{
    const size_t across = ndr->gtid[0] / ndr->ltid[0],
                 down = ndr->dim > 1 ? ndr->gtid[1] / ndr->ltid[1] : 1;
    const double group = work / ((double)across * (double)down), fit = pace_slice(&p->pace) / group;
    if (!p->pause || !(fit < (double)across * (double)down))
        return fork_range(mm, p, kernel, ndr, work, nargs, args);
    const size_t units = matmul_units(p), most = fit < (double)units ? units : (size_t)fit;
    for (size_t x = 0, y = 0; y < down;) {
        const bool rows = x == 0 && most >= across;
        const size_t wide = rows ? across : smaller(most, across - x),
                     high = rows ? smaller(most / across, down - y) : 1;
        clndrange_t range = *ndr;
        range.gtid_offset[0] = x * ndr->ltid[0];
        range.gtid[0] = wide * ndr->ltid[0];
        if (ndr->dim > 1) {
            range.gtid_offset[1] = y * ndr->ltid[1];
            range.gtid[1] = high * ndr->ltid[1];
        }
        if (fork_range(mm, p, kernel, &range, group * (double)wide * (double)high, nargs, args) !=
            0)
            return -1;
        x = (x + wide) % across;
        y += x == 0 ? high : 0;
    }
    return 0;
}

int matmul_scale(struct matmul *mm, struct share *p, size_t m, size_t n, double beta_,
                 const struct operand *c)
{
    cl_kernel kernel = matmul_kernel(mm, SOURCE_PACK, "", "matmul_scale");
    const size_t group = smaller(64, p->info.dev_max_wg_sz);
    const cl_int cols = (cl_int)n;
    const cl_ulong at = c->offset, ld = c->ld;
    clndrange_t ndr = clndrange_init2d(0, round_up(n, group), group, 0, m, 1);
    return kernel ? matmul_fork(mm, p, kernel, &ndr, 0,
                                ARGS(cols, REAL(mm, beta_), operand_arg(c), at, ld))
                  : -1;
}
