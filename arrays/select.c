/* select.c - compaction by flags and of runs, and sums of runs: marks, their prefix sums, and a
 * gather (select.cl).
 * SPDX-License-Identifier: MIT
 */
#include "arrays/segments.h"

#include "arrays/kernels.h"
#include "core/handle.h"

EMBEDDED(select_file, "arrays/select.cl", arrays_select_cl);

enum { MARK_FLAGS, MARK_HEADS, GATHER_MARKED, GATHER_OFFSETS, SELECT_KERNELS };
static const char *const names[SELECT_KERNELS] = {"mark_flags", "mark_heads", "gather_marked",
                                                  "gather_offsets"};

/* In the shapes of scans, which read arrays in the same way. */
static const struct sorter_source sources[] = {
    {SELECT_32, "arrays.scan.32", "-D NUMBER=uint", 4, false, &select_file, names, SELECT_KERNELS,
     NULL},
    {SELECT_64, "arrays.scan.64", "-D NUMBER=ulong", 8, false, &select_file, names, SELECT_KERNELS,
     NULL},
};

/* ---- Checks. --------------------------------------------------------------------------------- */

/* Check the arrays that all selections have. */
static int select_check(const arrays_sorter *s, const char *caller,
                        const struct arrays_select_job *job, bool flags)
{
    const size_t bytes = (size_t)job->bytes, size = job->most * bytes;
    if (size && (sorter_check_input(s, caller, "x", job->x, size, bytes) != 0 ||
                 sorter_check_block(s, caller, "out", job->out, size, bytes) != 0))
        return -1;
    if (size && flags && sorter_check_input(s, caller, "flags", job->flags, job->most, 1) != 0)
        return -1;
    if (sorter_check_block(s, caller, "selected", job->selected, 4, 4) != 0)
        return -1;
    if (job->count && sorter_check_input(s, caller, "count", job->count, 4, 4) != 0)
        return -1;
    const struct sorter_range ranges[] = {{"x", job->x, size},
                                          {"flags", flags ? job->flags : NULL, job->most},
                                          {"out", job->out, size},
                                          {"selected", job->selected, 4},
                                          {"count", job->count, 4}};
    return sorter_check_apart(caller, ranges, sizeof ranges / sizeof *ranges);
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* A selection in progress. The workspace has the marks' places behind the workspace of their scan,
 * and the offsets of runs. */
struct selection {
    arrays_sorter *s;
    const struct sorter_program *program;
    const struct arrays_select_job *job;
    struct arrays_scan_job scan;
    void *offsets;
    struct array_start count;
    cl_uint groups, most;
    int counted;
};

static int selection_init(struct selection *p, arrays_sorter *s, const char *caller,
                          const struct arrays_select_job *job, bool offsets)
{
    struct sorter_program *program = sorter_choose(s, &sources[job->bytes == 8], job->most, 0);
    if (!program || sorter_open(s, program) != 0)
        return -1;
    *p = (struct selection){.s = s, .program = program, .job = job, .most = (cl_uint)job->most};
    p->scan = (struct arrays_scan_job){
        .total = job->selected, .bytes = 4, .most = job->most, .count = job->count};
    const size_t scan = sorter_align(arrays_scan_workspace(s, &p->scan)),
                 each = sorter_align((job->most + 1) * sizeof(cl_uint));
    char *work = sorter_workspace(s, caller, NULL, scan + (offsets ? 2 : 1) * each);
    if (!work)
        return -1;
    p->scan.work = work;
    p->scan.sums = work + scan;
    p->scan.x = p->scan.sums;
    p->offsets = offsets ? work + scan + each : NULL;
    p->count = arrays_start_of(s->ctx, job->count ? (const void *)job->count : work, 4);
    p->counted = job->count ? 1 + (int)p->count.first : 0;
    p->groups = sorter_groups(s, program, job->most);
    return 0;
}

static int mark(const struct selection *p, bool flags)
{
    const struct array_start from =
        flags ? arrays_start_of(p->s->ctx, p->job->flags, 1)
              : arrays_start_of(p->s->ctx, p->job->x, (size_t)p->job->bytes);
    return sorter_launch(
        p->s, p->program, flags ? MARK_FLAGS : MARK_HEADS, p->groups,
        ARGS(p->scan.sums, from.base, from.first, p->most, p->counted, p->count.base));
}

/* Gather what is marked, and if there is room, the offsets of runs. */
static int gather(const struct selection *p)
{
    CLCONTEXT *ctx = p->s->ctx;
    const struct array_start x = arrays_start_of(ctx, p->job->x, (size_t)p->job->bytes),
                             out = arrays_start_of(ctx, p->job->out, (size_t)p->job->bytes),
                             total = arrays_start_of(ctx, p->job->selected, 4);
    const cl_uint4 start = {{out.first, x.first, total.first, 0}};
    if (sorter_launch(p->s, p->program, GATHER_MARKED, p->groups,
                      ARGS(out.base, x.base, start, p->scan.sums, total.base, p->most, p->counted,
                           p->count.base)) != 0)
        return -1;
    return p->offsets ? sorter_launch(p->s, p->program, GATHER_OFFSETS, p->groups,
                                      ARGS(p->offsets, start, p->scan.sums, total.base, p->most,
                                           p->counted, p->count.base))
                      : 0;
}

static int select_run(const struct selection *p, bool flags)
{
    if (p->groups && mark(p, flags) != 0)
        return -1;
    if (arrays_scan_start(p->s, &p->scan) != 0)
        return -1;
    return p->groups ? gather(p) : 0;
}

static int select_start(arrays_sorter *s, const char *caller, const struct arrays_select_job *job,
                        bool flags)
{
    struct selection p;
    if (no_handle(s, caller) || no_job(job, caller) ||
        sorter_check(caller, job->bytes, job->most, job->reserved) != 0 ||
        select_check(s, caller, job, flags) != 0 || selection_init(&p, s, caller, job, false) != 0)
        return -1;
    return select_run(&p, flags);
}

/* ---- Public functions. ----------------------------------------------------------------------- */

int arrays_select_start(arrays_sorter *s, const struct arrays_select_job *job)
{
    return select_start(s, __func__, job, true);
}

int arrays_unique_start(arrays_sorter *s, const struct arrays_select_job *job)
{
    return select_start(s, __func__, job, false);
}

int arrays_select(arrays_sorter *s, const struct arrays_select_job *job)
{
    if (no_handle(s, __func__))
        return -1;
    return sorter_finish(s, select_start(s, __func__, job, true));
}

int arrays_unique(arrays_sorter *s, const struct arrays_select_job *job)
{
    if (no_handle(s, __func__))
        return -1;
    return sorter_finish(s, select_start(s, __func__, job, false));
}

static int by_key_start(arrays_sorter *s, const char *caller, const struct arrays_by_key_job *job)
{
    if (no_handle(s, caller) || no_job(job, caller) ||
        sorter_check(caller, job->bytes, job->most, job->reserved) != 0)
        return -1;
    const struct arrays_select_job heads = {.x = job->keys,
                                            .out = job->unique,
                                            .selected = job->runs,
                                            .bytes = job->bytes,
                                            .most = job->most,
                                            .count = job->count};
    struct segments_job sums = {.x = job->values,
                                .sums = job->sums,
                                .type = job->type,
                                .most = job->most,
                                .segments = job->most,
                                .count = job->runs};
    struct selection p;
    if (select_check(s, caller, &heads, false) != 0 || segments_check(s, caller, &sums) != 0)
        return -1;
    const size_t size = job->most * (size_t)job->bytes,
                 value = job->most * segments_type_bytes(job->type);
    const struct sorter_range ranges[] = {
        {"keys", job->keys, size},      {"unique", job->unique, size}, {"sums", job->sums, value},
        {"values", job->values, value}, {"runs", job->runs, 4},        {"count", job->count, 4}};
    if (sorter_check_apart(caller, ranges, sizeof ranges / sizeof *ranges) != 0 ||
        selection_init(&p, s, caller, &heads, true) != 0 || select_run(&p, false) != 0)
        return -1;
    sums.offsets = p.offsets;
    return segments_start(s, &sums);
}

int arrays_reduce_by_key_start(arrays_sorter *s, const struct arrays_by_key_job *job)
{
    return by_key_start(s, __func__, job);
}

int arrays_reduce_by_key(arrays_sorter *s, const struct arrays_by_key_job *job)
{
    if (no_handle(s, __func__))
        return -1;
    return sorter_finish(s, by_key_start(s, __func__, job));
}
