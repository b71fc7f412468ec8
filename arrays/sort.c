/* sort.c - a stable radix sort on one device: passes of 8 bits, alternately between the caller's
 * memory and the workspace.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/sorter.h"

#include "arrays/kernels.h"
#include "arrays/sort_host.h"
#include "core/handle.h"
#include "core/round.h"

EMBEDDED(sort_file, "arrays/sort.cl", arrays_sort_cl);

static const char *const names[] = {"sort_count", "sort_scan", "sort_copy", "sort_scatter"};
static const char *const look_back_names[MOST_KERNELS] = {"lookback_clear", "lookback_test",
                                                          "sort_copy", "sort_digits", "sort_sweep"};

static const struct sorter_source sources[] = {
    {SORT_32, "arrays.sort.32", "-D NUMBER=uint", 4, true, &sort_file, names, 4, look_back_names},
    {SORT_64, "arrays.sort.64", "-D NUMBER=ulong", 8, true, &sort_file, names, 4, look_back_names},
    /* keys of 32 bits, values of 64 */
    {SORT_32_WIDE, "arrays.sort.64", "-D NUMBER=uint", 8, true, &sort_file, names, 4,
     look_back_names},
    /* keys alone, which need fewer registers */
    {SORT_32_KEYS, "arrays.sort.32.keys", "-D NUMBER=uint", 4, true, &sort_file, names, 4,
     look_back_names},
    {SORT_64_KEYS, "arrays.sort.64.keys", "-D NUMBER=ulong", 8, true, &sort_file, names, 4,
     look_back_names},
};

static size_t value_bytes(const struct arrays_sort_job *job)
{
    return job->value_bytes ? (size_t)job->value_bytes : sizeof(cl_uint);
}

static int sort_bits(const struct arrays_sort_job *job)
{
    return job->bits ? job->bits : 8 * job->bytes - job->first_bit;
}

static unsigned sort_variant(const struct arrays_sort_job *job)
{
    const unsigned order = job->order == ARRAYS_SIGNED     ? SORT_SIGNED
                           : job->order == ARRAYS_FLOATING ? SORT_FLOATING
                                                           : 0;
    return order | (job->descending ? SORT_DESCENDING : 0) | (job->values ? SORT_PAIRED : 0) |
           (job->values && value_bytes(job) == 8 ? SORT_WIDE_VALUES : 0);
}

static int sort_check_numbers(const char *caller, const struct arrays_sort_job *job)
{
    const int width = 8 * job->bytes;
    if (sorter_check(caller, job->bytes, job->most, job->reserved) != 0)
        return -1;
    if (job->first_bit < 0 || job->first_bit >= width || sort_bits(job) < 1 ||
        sort_bits(job) > width - job->first_bit)
        return clerror_set(EINVAL,
                           "%s: first_bit = %d, bits = %d; keys of %d bytes have bits 0 to %d, and "
                           "bits = 0 means all from first_bit on",
                           caller, job->first_bit, job->bits, job->bytes, width - 1);
    if ((unsigned)job->order > ARRAYS_FLOATING)
        return clerror_set(EINVAL, "%s: order %d does not exist", caller, (int)job->order);
    if (value_bytes(job) != 4 && value_bytes(job) != 8)
        return clerror_set(EINVAL, "%s: value_bytes = %d; values have 4 or 8 bytes", caller,
                           job->value_bytes);
    return 0;
}

/* Check the job's numbers and choose its program and shape. NULL on failure. */
static struct sorter_program *sort_program(arrays_sorter *s, const char *caller,
                                           const struct arrays_sort_job *job)
{
    if (no_job(job, caller) || sort_check_numbers(caller, job) != 0)
        return NULL;
    const unsigned variant = sort_variant(job);
    const enum sorter_kind kind = !job->values ? (job->bytes == 8 ? SORT_64_KEYS : SORT_32_KEYS)
                                  : job->bytes == 8            ? SORT_64
                                  : variant & SORT_WIDE_VALUES ? SORT_32_WIDE
                                                               : SORT_32;
    return sorter_choose(s, &sources[kind - SORT_32], job->most, variant);
}

/* ---- Workspace. ------------------------------------------------------------------------------ */

/* Groups of sort_scatter. On GPUs there is one for each tile, and a row of the table for each tile
 * (see sort.cl). */
static cl_uint scatter_groups(const arrays_sorter *s, const struct sorter_program *p, size_t most)
{
    return p->shape.group > 1 ? sorter_tiles(p, most) : sorter_groups(s, p, most);
}

/* The workspace: the table of counts, and room for a copy of keys and values. Jobs of nearly the
 * same size have equal offsets: each offset in a block that a kernel is given is a sub-buffer, and
 * with a hundred of them NVIDIA's driver takes 0.1 ms for a launch. */
struct sort_workspace {
    size_t keys, values, size; /* offsets, and total size */
};

/* Round up to a multiple of a power of two, by at most 1/32. */
static size_t sort_capacity(size_t most)
{
    size_t step = 1;
    while (step <= most / 64)
        step *= 2;
    return round_up(most, step);
}

static struct sort_workspace sort_workspace_of(const arrays_sorter *s,
                                               const struct sorter_program *p,
                                               const struct arrays_sort_job *job)
{
    const size_t most = sort_capacity(job->most),
                 tiles = p->shape.group > 1 ? sorter_tiles(p, most) : 0;
    const cl_uint groups = sorter_groups(s, p, most);
    const size_t rows = (groups > 8 ? groups : 8) + 1 + tiles; /* look-back: 4 or 8 passes */
    struct sort_workspace parts = {.keys = sorter_align(rows * SORT_DIGITS * sizeof(cl_uint))};
    parts.values = parts.keys + sorter_align(most * (size_t)job->bytes);
    parts.size = parts.values + (job->values ? sorter_align(most * value_bytes(job)) : 0);
    return parts;
}

size_t arrays_sort_workspace(arrays_sorter *s, const struct arrays_sort_job *job)
{
    if (no_handle(s, __func__))
        return 0;
    const struct sorter_program *p = sort_program(s, "arrays_sort_workspace", job);
    return p ? sort_workspace_of(s, p, job).size : 0;
}

static int sort_check_blocks(const arrays_sorter *s, const char *caller,
                             const struct arrays_sort_job *job, size_t work)
{
    const size_t bytes = (size_t)job->bytes;
    if (sorter_check_input(s, caller, "keys", job->keys, job->most * bytes, bytes) != 0)
        return -1;
    if (job->values && sorter_check_input(s, caller, "values", job->values,
                                          job->most * value_bytes(job), value_bytes(job)) != 0)
        return -1;
    if (job->count && sorter_check_input(s, caller, "count", job->count, 4, 4) != 0)
        return -1;
    const struct sorter_range ranges[] = {{"keys", job->keys, job->most * (size_t)job->bytes},
                                          {"values", job->values, job->most * value_bytes(job)},
                                          {"count", job->count, sizeof *job->count},
                                          {"work", job->work, work}};
    return sorter_check_apart(caller, ranges, sizeof ranges / sizeof *ranges);
}

/* ---- Passes. --------------------------------------------------------------------------------- */

/* Keys and their values in one of the two places. */
struct pairs {
    struct array_start keys, values;
};

/* Arguments that all launches of a job share. */
struct sorting {
    arrays_sorter *s;
    const struct sorter_program *program;
    const void *table, *count;
    cl_uint most, groups, scatter_groups, first_bit;
    int counted, paired;
};

/* Mask of the digit that begins at bit `bit` of the `bits` compared ones. */
static cl_uint digit_mask(int bit, int bits)
{
    return bits - bit < SORT_DIGIT_BITS ? (1u << (bits - bit)) - 1 : SORT_DIGITS - 1;
}

static cl_uint4 start_of(struct pairs from, struct pairs to)
{
    return (cl_uint4){{from.keys.first, from.values.first, to.keys.first, to.values.first}};
}

static int sort_pass(const struct sorting *j, struct pairs from, struct pairs to, int bit, int bits)
{
    const cl_uint shift = j->first_bit + (cl_uint)bit, mask = digit_mask(bit, bits);
    const cl_uint4 start = start_of(from, to);
    if (sorter_launch(j->s, j->program, SORT_COUNT, j->groups,
                      ARGS(j->table, from.keys.base, from.keys.first, shift, mask, j->most,
                           j->counted, j->count)) != 0 ||
        sorter_launch(j->s, j->program, SORT_SCAN, SORT_DIGITS,
                      ARGS(j->table, j->groups, j->most, j->counted, j->count)) != 0)
        return -1;
    return sorter_launch(j->s, j->program, SORT_SCATTER, j->scatter_groups,
                         ARGS(to.keys.base, from.keys.base, j->paired, to.values.base,
                              from.values.base, start, j->table, j->groups, shift, mask, j->most,
                              j->counted, j->count));
}

static int sort_sweep(const struct sorting *j, struct pairs from, struct pairs to, int bit,
                      int bits)
{
    const cl_uint pass = (cl_uint)bit / SORT_DIGIT_BITS, shift = j->first_bit + (cl_uint)bit,
                  mask = digit_mask(bit, bits);
    const cl_uint4 start = start_of(from, to);
    return sorter_launch(j->s, j->program, SORT_SWEEP, j->scatter_groups,
                         ARGS(to.keys.base, from.keys.base, to.values.base, from.values.base, start,
                              j->table, pass, shift, mask, j->most, j->counted, j->count));
}

/* With look-back: count the digits of all passes. */
static int sort_count_all(const struct sorting *j, struct pairs own, int bits)
{
    const cl_uint key_bits = (cl_uint)bits;
    const cl_ulong n = SORT_DIGITS * (9 + (cl_ulong)j->scatter_groups);
    if (sorter_launch(j->s, j->program, LOOKBACK_CLEAR, j->groups, ARGS(j->table, n)) != 0)
        return -1;
    return sorter_launch(j->s, j->program, SORT_ALL_DIGITS, j->groups,
                         ARGS(j->table, own.keys.base, own.keys.first, j->first_bit, key_bits,
                              j->most, j->counted, j->count));
}

static int sort_copy_back(const struct sorting *j, struct pairs from, struct pairs to)
{
    const cl_uint4 start = start_of(from, to);
    return sorter_launch(j->s, j->program, SORT_COPY, j->groups,
                         ARGS(to.keys.base, from.keys.base, j->paired, to.values.base,
                              from.values.base, start, j->most, j->counted, j->count));
}

static int sort_all_passes(const struct sorting *j, struct pairs own, struct pairs other, int bits)
{
    const bool look_back = j->program->look_back;
    struct pairs from = own, to = other;
    if (look_back && sort_count_all(j, own, bits) != 0)
        return -1;
    for (int bit = 0; bit < bits; bit += SORT_DIGIT_BITS) {
        if ((look_back ? sort_sweep : sort_pass)(j, from, to, bit, bits) != 0)
            return -1;
        const struct pairs now = to;
        to = from;
        from = now;
    }
    return from.keys.base == own.keys.base ? 0 : sort_copy_back(j, from, own);
}

/* ---- On the host. ---------------------------------------------------------------------------- */

/* True if the host should sort: on a CPU that shares all memory of the job. */
static bool sort_is_for_host(const arrays_sorter *s, const struct arrays_sort_job *job)
{
    const void *const memory[] = {job->keys, job->values, job->count};
    return job->most > 0 && sorter_is_for_host(s, memory, 3);
}

static void *sort_host_workspace(arrays_sorter *s, size_t bytes)
{
    if (s->host_bytes >= bytes)
        return s->host_workspace;
    free(s->host_workspace);
    s->host_bytes = 0;
    s->host_workspace = aligned_alloc(WORKSPACE_ALIGN, sorter_align(bytes));
    if (!s->host_workspace)
        clerror_set(ENOMEM, "arrays_sort: out of memory on the host for %zu bytes", bytes);
    else
        s->host_bytes = bytes;
    return s->host_workspace;
}

static int sort_check(arrays_sorter *s, const char *caller, const struct arrays_sort_job *job)
{
    const struct sorter_program *p = sort_program(s, caller, job);
    const size_t work = p ? sort_workspace_of(s, p, job).size : 0;
    if (!p || sort_check_blocks(s, caller, job, work) != 0)
        return -1;
    return !job->work || sorter_workspace(s, caller, job->work, work) ? 0 : -1;
}

static int sort_on_host(arrays_sorter *s, const struct arrays_sort_job *job)
{
    if (sort_check(s, "arrays_sort", job) != 0 || sorter_host_begin(s, "arrays_sort") != 0)
        return -1;
    const struct sort_host sort = {.keys = job->keys,
                                   .values = job->values,
                                   .key_bytes = (size_t)job->bytes,
                                   .value_bytes = job->values ? value_bytes(job) : 0,
                                   .n = sorter_host_count(job->most, job->count),
                                   .order = (int)job->order,
                                   .descending = job->descending != 0,
                                   .first_bit = job->first_bit,
                                   .bits = sort_bits(job)};
    void *work = sort_host_workspace(s, arrays_sort_host_workspace(&sort));
    if (!work)
        return -1;
    arrays_sort_host(&sort, &s->team, work);
    return 0;
}

/* ---- Public functions. ----------------------------------------------------------------------- */

static int sort_start(arrays_sorter *s, const char *caller, const struct arrays_sort_job *job)
{
    struct sorter_program *p = sort_program(s, caller, job);
    if (!p || job->most == 0)
        return p ? 0 : -1;
    const struct sort_workspace parts = sort_workspace_of(s, p, job);
    if (sort_check_blocks(s, caller, job, parts.size) != 0 || sorter_open(s, p) != 0)
        return -1;
    const char *work = sorter_workspace(s, caller, job->work, parts.size);
    if (!work)
        return -1;
    const struct array_start count =
        arrays_start_of(s->ctx, job->count ? (const void *)job->count : work, 4);
    const struct sorting sorting = {.s = s,
                                    .program = p,
                                    .table = work,
                                    .count = count.base,
                                    .most = (cl_uint)job->most,
                                    .groups = sorter_groups(s, p, job->most),
                                    .scatter_groups = scatter_groups(s, p, job->most),
                                    .first_bit = (cl_uint)job->first_bit,
                                    .counted = job->count ? 1 + (int)count.first : 0,
                                    .paired = job->values != NULL};
    /* Without values the kernels get the table in their place and do not access it. */
    const struct pairs own = {
        arrays_start_of(s->ctx, job->keys, (size_t)job->bytes),
        arrays_start_of(s->ctx, job->values ? job->values : work, value_bytes(job))};
    const struct pairs other = {{work + parts.keys, 0},
                                {job->values ? work + parts.values : work, 0}};
    return sort_all_passes(&sorting, own, other, sort_bits(job));
}

int arrays_sort_start(arrays_sorter *s, const struct arrays_sort_job *job)
{
    if (no_handle(s, __func__))
        return -1;
    return sort_start(s, "arrays_sort_start", job);
}

int arrays_sort(arrays_sorter *s, const struct arrays_sort_job *job)
{
    if (no_handle(s, __func__) || no_job(job, __func__))
        return -1;
    if (sort_is_for_host(s, job))
        return sort_on_host(s, job);
    return sorter_finish(s, sort_start(s, "arrays_sort", job));
}
