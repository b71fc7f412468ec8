/* select.c - compaction by flags and of runs, and sums of runs: marks, their prefix sums, and a
 * gather (select.cl).
 * SPDX-License-Identifier: MIT
 */
#include "arrays/segments.h"

#include "arrays/kernels.h"
#include "arrays/select_host.h"
#include "core/handle.h"

EMBEDDED(select_file, "arrays/select.cl", arrays_select_cl);

enum { MARK_FLAGS, MARK_HEADS, GATHER_MARKED, GATHER_OFFSETS, SELECT_KERNELS };
static const char *const names[SELECT_KERNELS] = {"mark_flags", "mark_heads", "gather_marked",
                                                  "gather_offsets"};

static const char *const look_back_names[MOST_KERNELS] = {"lookback_clear", "lookback_test",
                                                          "select_once"};

/* In the shapes of scans, which read arrays in the same way. */
#define SELECT_SOURCE(kind, row, options, bytes)                                                   \
    {                                                                                              \
        kind, row, "-D SUM=uint " options, bytes, false, &select_file, names, SELECT_KERNELS,      \
            look_back_names                                                                        \
    }
static const struct sorter_source sources[] = {
    SELECT_SOURCE(SELECT_32, "arrays.scan.32", "-D NUMBER=uint -D FROM=uchar", 4),
    SELECT_SOURCE(SELECT_64, "arrays.scan.64", "-D NUMBER=ulong -D FROM=uchar", 8),
    SELECT_SOURCE(UNIQUE_32, "arrays.scan.32", "-D NUMBER=uint -D FROM=uint -D HEADS=1", 4),
    SELECT_SOURCE(UNIQUE_64, "arrays.scan.64", "-D NUMBER=ulong -D FROM=ulong -D HEADS=1", 8),
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

/* A selection in progress. The workspace has the workspace of the marks' scan, the marks' places
 * and the offsets of runs; with look-back only the offsets. */
struct selection {
    arrays_sorter *s;
    const struct sorter_program *program;
    const struct arrays_select_job *job;
    bool flags;
    struct arrays_scan_job scan;
    void *offsets; /* NULL: not wanted */
    struct array_start from, count;
    cl_uint groups, most;
    int counted;
};

static int selection_workspace(struct selection *p, const char *caller, bool offsets)
{
    const size_t scan = p->program->look_back ? 0
                                              : sorter_align(arrays_scan_workspace(p->s, &p->scan)),
                 each = sorter_align((p->job->most + 1) * sizeof(cl_uint)),
                 places = p->program->look_back ? 0 : each,
                 size = scan + places + (offsets ? each : 0);
    char *work = size ? sorter_workspace(p->s, caller, NULL, size) : NULL;
    if (size && !work)
        return -1;
    p->scan.work = work;
    p->scan.x = p->scan.sums = work + scan;
    p->offsets = offsets ? work + scan + places : NULL;
    return 0;
}

static int selection_init(struct selection *p, arrays_sorter *s, const char *caller,
                          const struct arrays_select_job *job, bool flags, bool offsets)
{
    struct sorter_program *program =
        sorter_choose(s, &sources[(flags ? 0 : 2) + (job->bytes == 8)], job->most, 0);
    if (!program || sorter_open(s, program) != 0)
        return -1;
    *p = (struct selection){
        .s = s, .program = program, .job = job, .flags = flags, .most = (cl_uint)job->most};
    p->scan = (struct arrays_scan_job){
        .total = job->selected, .bytes = 4, .most = job->most, .count = job->count};
    if (selection_workspace(p, caller, offsets) != 0)
        return -1;
    const void *const from = job->most == 0 ? job->selected : flags ? job->flags : job->x;
    p->from = arrays_start_of(s->ctx, from, flags ? 1 : (size_t)job->bytes);
    p->count = arrays_start_of(s->ctx, job->count ? job->count : job->selected, 4);
    p->counted = job->count ? 1 + (int)p->count.first : 0;
    p->groups = sorter_groups(s, program, job->most);
    return 0;
}

/* First elements of `out`, `x`, `selected` and the flags or x, as select.cl numbers them. */
struct select_places {
    struct array_start out, x, total;
    cl_uint4 start;
};

static struct select_places select_places_of(const struct selection *p)
{
    const struct arrays_select_job *job = p->job;
    const void *const x = job->most ? job->x : job->selected, *const out = job->most
                                                                               ? job->out
                                                                               : job->selected;
    const size_t bytes = (size_t)job->bytes;
    struct select_places at = {.out = arrays_start_of(p->s->ctx, out, bytes),
                               .x = arrays_start_of(p->s->ctx, x, bytes),
                               .total = arrays_start_of(p->s->ctx, job->selected, 4)};
    at.start = (cl_uint4){{at.out.first, at.x.first, at.total.first, p->from.first}};
    return at;
}

static int mark(const struct selection *p)
{
    return sorter_launch(
        p->s, p->program, p->flags ? MARK_FLAGS : MARK_HEADS, p->groups,
        ARGS(p->scan.sums, p->from.base, p->from.first, p->most, p->counted, p->count.base));
}

/* Gather what is marked, and if there is room, the offsets of runs. */
static int gather(const struct selection *p)
{
    const struct select_places at = select_places_of(p);
    if (sorter_launch(p->s, p->program, GATHER_MARKED, p->groups,
                      ARGS(at.out.base, at.x.base, at.start, p->scan.sums, at.total.base, p->most,
                           p->counted, p->count.base)) != 0)
        return -1;
    return p->offsets ? sorter_launch(p->s, p->program, GATHER_OFFSETS, p->groups,
                                      ARGS(p->offsets, at.start, p->scan.sums, at.total.base,
                                           p->most, p->counted, p->count.base))
                      : 0;
}

static int select_once(const struct selection *p)
{
    arrays_sorter *s = p->s;
    const cl_uint tiles = sorter_tiles(p->program, p->most), groups = tiles ? tiles : 1;
    if (sorter_lookback_begin(s, p->program, groups) != 0)
        return -1;
    const struct select_places at = select_places_of(p);
    const void *const offsets = p->offsets ? p->offsets : s->words;
    const int wanted = p->offsets != NULL;
    const cl_uint epoch = s->epoch;
    return sorter_lookback_end(
        s, sorter_launch(s, p->program, SELECT_ONCE, groups,
                         ARGS(at.out.base, at.x.base, p->from.base, at.start, s->words, epoch,
                              at.total.base, offsets, wanted, p->most, p->counted, p->count.base)));
}

static int select_run(const struct selection *p)
{
    if (p->program->look_back)
        return select_once(p);
    if (p->groups && mark(p) != 0)
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
        select_check(s, caller, job, flags) != 0 ||
        selection_init(&p, s, caller, job, flags, false) != 0)
        return -1;
    return select_run(&p);
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

static int select_on_host(arrays_sorter *s, const char *caller, const struct arrays_select_job *job,
                          bool flags)
{
    if (sorter_check(caller, job->bytes, job->most, job->reserved) != 0 ||
        select_check(s, caller, job, flags) != 0 || sorter_host_begin(s, caller) != 0)
        return -1;
    const struct select_host_job host = {.x = job->x,
                                         .flags = flags ? job->flags : NULL,
                                         .out = job->out,
                                         .bytes = (size_t)job->bytes,
                                         .n = sorter_host_count(job->most, job->count)};
    *job->selected = (cl_uint)arrays_select_host(&s->team, &host);
    return 0;
}

static int select_and_wait(arrays_sorter *s, const char *caller,
                           const struct arrays_select_job *job, bool flags)
{
    if (no_handle(s, caller) || no_job(job, caller))
        return -1;
    const void *const memory[] = {job->x, job->out, job->selected, job->count,
                                  flags ? job->flags : NULL};
    if (sorter_is_for_host(s, memory, 5))
        return select_on_host(s, caller, job, flags);
    return sorter_finish(s, select_start(s, caller, job, flags));
}

int arrays_select(arrays_sorter *s, const struct arrays_select_job *job)
{
    return select_and_wait(s, __func__, job, true);
}

int arrays_unique(arrays_sorter *s, const struct arrays_select_job *job)
{
    return select_and_wait(s, __func__, job, false);
}

/* A sum of runs in parts: the first elements of runs, and the sums of segments. */
struct by_key_parts {
    struct arrays_select_job heads;
    struct segments_job sums;
};

/* Check a job and write its parts. */
static int by_key_check(const arrays_sorter *s, const char *caller,
                        const struct arrays_by_key_job *job, struct by_key_parts *parts)
{
    if (no_handle(s, caller) || no_job(job, caller) ||
        sorter_check(caller, job->bytes, job->most, job->reserved) != 0)
        return -1;
    parts->heads = (struct arrays_select_job){.x = job->keys,
                                              .out = job->unique,
                                              .selected = job->runs,
                                              .bytes = job->bytes,
                                              .most = job->most,
                                              .count = job->count};
    parts->sums = (struct segments_job){.x = job->values,
                                        .sums = job->sums,
                                        .type = job->type,
                                        .most = job->most,
                                        .segments = job->most,
                                        .count = job->runs};
    if (select_check(s, caller, &parts->heads, false) != 0 ||
        segments_check(s, caller, &parts->sums) != 0)
        return -1;
    const size_t size = job->most * (size_t)job->bytes,
                 value = job->most * segments_type_bytes(job->type);
    const struct sorter_range ranges[] = {
        {"keys", job->keys, size},      {"unique", job->unique, size}, {"sums", job->sums, value},
        {"values", job->values, value}, {"runs", job->runs, 4},        {"count", job->count, 4}};
    return sorter_check_apart(caller, ranges, sizeof ranges / sizeof *ranges);
}

static int by_key_start(arrays_sorter *s, const char *caller, struct by_key_parts *parts)
{
    struct selection p;
    if (selection_init(&p, s, caller, &parts->heads, false, true) != 0 || select_run(&p) != 0)
        return -1;
    parts->sums.offsets = p.offsets;
    return segments_start(s, &parts->sums);
}

int arrays_reduce_by_key_start(arrays_sorter *s, const struct arrays_by_key_job *job)
{
    struct by_key_parts parts;
    return by_key_check(s, __func__, job, &parts) == 0 ? by_key_start(s, __func__, &parts) : -1;
}

int arrays_reduce_by_key(arrays_sorter *s, const struct arrays_by_key_job *job)
{
    struct by_key_parts parts;
    if (by_key_check(s, __func__, job, &parts) != 0)
        return -1;
    const void *const memory[] = {job->keys, job->values, job->unique,
                                  job->sums, job->runs,   job->count};
    if (!segments_are_for_host(s, job->type, memory, 6))
        return sorter_finish(s, by_key_start(s, __func__, &parts));
    if (sorter_host_begin(s, __func__) != 0)
        return -1;
    const struct by_key_host_job host = {.keys = job->keys,
                                         .values = job->values,
                                         .unique = job->unique,
                                         .sums = job->sums,
                                         .bytes = (size_t)job->bytes,
                                         .n = sorter_host_count(job->most, job->count),
                                         .type = job->type};
    *job->runs = (cl_uint)arrays_by_key_host(&s->team, &host);
    return 0;
}
