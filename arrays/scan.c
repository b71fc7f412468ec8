/* scan.c - prefix sums of an array on one device.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/sorter.h"

#include "arrays/kernels.h"
#include "arrays/scan_host_threads.h"
#include "core/handle.h"

EMBEDDED(scan_file, "arrays/scan.cl", arrays_scan_cl);

static const char *const names[] = {"scan_sums", "scan_carry", "scan_write", "scan_few"};
static const char *const look_back_names[MOST_KERNELS] = {"lookback_clear", "lookback_test",
                                                          "scan_once"};

static const struct sorter_source sources[] = {
    {SCAN_32, "arrays.scan.32", "-D NUMBER=uint -D SUM=uint -D FROM=uint", 4, false, &scan_file,
     names, 4, look_back_names},
    {SCAN_64, "arrays.scan.64", "-D NUMBER=ulong -D SUM=ulong -D FROM=ulong", 8, false, &scan_file,
     names, 4, look_back_names},
    /* Without look-back, where the order of additions depends on chance. */
    {SCAN_FLOAT, "arrays.scan.32", "-D NUMBER=float", 4, false, &scan_file, names, 4, NULL},
    {SCAN_DOUBLE, "arrays.scan.64", "-D NUMBER=double", 8, false, &scan_file, names, 4, NULL},
};

/* Check the job's numbers and choose its program and shape. NULL on failure. */
static struct sorter_program *scan_program(arrays_sorter *s, const char *caller,
                                           const struct arrays_scan_job *job)
{
    if (no_job(job, caller) || sorter_check(caller, job->bytes, job->most, job->reserved) != 0)
        return NULL;
    if (job->floating && job->bytes == 8 && sorter_check_doubles(s, caller) != 0)
        return NULL;
    return sorter_choose(s, &sources[(job->bytes == 8) + (job->floating ? 2 : 0)], job->most,
                         job->inclusive ? SCAN_INCLUSIVE : 0);
}

static size_t scan_workspace_size(const arrays_sorter *s, const struct sorter_program *p,
                                  const struct arrays_scan_job *job)
{
    return sorter_align((sorter_groups(s, p, job->most) + 1) * (size_t)job->bytes);
}

size_t arrays_scan_workspace(arrays_sorter *s, const struct arrays_scan_job *job)
{
    if (no_handle(s, __func__))
        return 0;
    const struct sorter_program *p = scan_program(s, "arrays_scan_workspace", job);
    return p ? scan_workspace_size(s, p, job) : 0;
}

static int scan_check_blocks(const arrays_sorter *s, const char *caller,
                             const struct arrays_scan_job *job, size_t work)
{
    const size_t bytes = (size_t)job->bytes, size = job->most * bytes;
    if (size && (sorter_check_input(s, caller, "x", job->x, size, bytes) != 0 ||
                 sorter_check_block(s, caller, "sums", job->sums, size, bytes) != 0))
        return -1;
    if (job->total && sorter_check_block(s, caller, "total", job->total, bytes, bytes) != 0)
        return -1;
    if (job->count && sorter_check_input(s, caller, "count", job->count, 4, 4) != 0)
        return -1;
    const struct sorter_range ranges[] = {{"x", job->x == job->sums ? NULL : job->x, size},
                                          {"sums", job->sums, size},
                                          {"total", job->total, (size_t)job->bytes},
                                          {"count", job->count, sizeof *job->count},
                                          {"work", job->work, work}};
    return sorter_check_apart(caller, ranges, sizeof ranges / sizeof *ranges);
}

/* one group scans these faster than two more launches do */
enum { FEW_TILES = 4 };

/* A job's arrays as arguments of kernels. */
struct scan_places {
    struct array_start x, sums, total, count;
    cl_uint2 start;
    int wanted, counted; /* 1 plus the place of the total and of the count, or 0 */
};

/* unused: memory in the place of arrays that the job does not have */
static struct scan_places scan_places_of(const arrays_sorter *s, const struct arrays_scan_job *job,
                                         const void *unused)
{
    const size_t bytes = (size_t)job->bytes;
    struct scan_places at = {.x = arrays_start_of(s->ctx, job->x, bytes),
                             .sums = arrays_start_of(s->ctx, job->sums, bytes),
                             .total =
                                 arrays_start_of(s->ctx, job->total ? job->total : unused, bytes),
                             .count = arrays_start_of(s->ctx, job->count ? job->count : unused, 4)};
    at.counted = job->count ? 1 + (int)at.count.first : 0;
    at.wanted = job->total ? 1 + (int)at.total.first : 0;
    at.start = (cl_uint2){{at.x.first, at.sums.first}};
    return at;
}

static int scan_launch(arrays_sorter *s, const struct sorter_program *p,
                       const struct arrays_scan_job *job, const void *carry)
{
    const cl_uint groups = sorter_groups(s, p, job->most), most = (cl_uint)job->most;
    const struct scan_places at = scan_places_of(s, job, carry);
    if (groups && sorter_tiles(p, job->most) <= FEW_TILES)
        return sorter_launch(s, p, SCAN_FEW, 1,
                             ARGS(at.sums.base, at.x.base, at.start, at.total.base, at.wanted, most,
                                  at.counted, at.count.base));
    if (groups &&
        sorter_launch(s, p, SCAN_SUMS, groups,
                      ARGS(carry, at.x.base, at.start, most, at.counted, at.count.base)) != 0)
        return -1;
    if ((groups || at.wanted) && sorter_launch(s, p, SCAN_CARRY, 1,
                                               ARGS(carry, groups, at.total.base, at.wanted, most,
                                                    at.counted, at.count.base)) != 0)
        return -1;
    return groups ? sorter_launch(s, p, SCAN_WRITE, groups,
                                  ARGS(at.sums.base, at.x.base, at.start, carry, most, at.counted,
                                       at.count.base))
                  : 0;
}

static int scan_launch_once(arrays_sorter *s, const struct sorter_program *p,
                            const struct arrays_scan_job *job)
{
    const cl_uint tiles = sorter_tiles(p, job->most), most = (cl_uint)job->most;
    const cl_uint groups = tiles ? tiles : 1;
    if (!tiles && !job->total)
        return 0;
    if (sorter_lookback_begin(s, p, groups) != 0)
        return -1;
    const struct scan_places at = scan_places_of(s, job, s->words);
    const cl_uint epoch = s->epoch;
    return sorter_lookback_end(
        s, sorter_launch(s, p, SCAN_ONCE, groups,
                         ARGS(at.sums.base, at.x.base, at.start, s->words, epoch, at.total.base,
                              at.wanted, most, at.counted, at.count.base)));
}

static int scan_start(arrays_sorter *s, const char *caller, const struct arrays_scan_job *job)
{
    struct sorter_program *p = scan_program(s, caller, job);
    const size_t work = p ? scan_workspace_size(s, p, job) : 0;
    if (!p || scan_check_blocks(s, caller, job, work) != 0 || sorter_open(s, p) != 0)
        return -1;
    if (p->look_back)
        return scan_launch_once(s, p, job);
    const void *carry = sorter_workspace(s, caller, job->work, work);
    return carry ? scan_launch(s, p, job, carry) : -1;
}

int arrays_scan_start(arrays_sorter *s, const struct arrays_scan_job *job)
{
    if (no_handle(s, __func__))
        return -1;
    return scan_start(s, "arrays_scan_start", job);
}

/* ---- On the host. ---------------------------------------------------------------------------- */

/* True if the host should scan: on a CPU that shares all memory of the job. */
static bool scan_is_for_host(const arrays_sorter *s, const struct arrays_scan_job *job)
{
    const void *const memory[] = {job->x, job->sums, job->total, job->count};
    return job->most > 0 && sorter_is_for_host(s, memory, 4);
}

static int scan_check(arrays_sorter *s, const char *caller, const struct arrays_scan_job *job)
{
    const struct sorter_program *p = scan_program(s, caller, job);
    const size_t work = p ? scan_workspace_size(s, p, job) : 0;
    if (!p || scan_check_blocks(s, caller, job, work) != 0)
        return -1;
    return !job->work || sorter_workspace(s, caller, job->work, work) ? 0 : -1;
}

static void scan_store_total(const struct arrays_scan_job *job, union scan_number sum)
{
    const uint32_t whole = (uint32_t)sum.whole;
    const float real = (float)sum.real;
    const void *const from = job->bytes == 8 ? (const void *)&sum
                             : job->floating ? (const void *)&real
                                             : &whole;
    memcpy(job->total, from, (size_t)job->bytes);
}

static int scan_on_host(arrays_sorter *s, const struct arrays_scan_job *job)
{
    if (scan_check(s, "arrays_scan", job) != 0 || sorter_host_begin(s, "arrays_scan") != 0)
        return -1;
    const struct scan_host_job scan = {.kind = (job->bytes == 8) + (job->floating ? 2 : 0),
                                       .inclusive = job->inclusive != 0,
                                       .sums = job->sums,
                                       .x = job->x,
                                       .n = sorter_host_count(job->most, job->count)};
    const union scan_number all = arrays_scan_host_threads(arrays_scan_host(), &s->team, &scan);
    if (job->total)
        scan_store_total(job, all);
    return 0;
}

int arrays_scan(arrays_sorter *s, const struct arrays_scan_job *job)
{
    if (no_handle(s, __func__) || no_job(job, __func__))
        return -1;
    if (sorter_check("arrays_scan", job->bytes, job->most, job->reserved) != 0)
        return -1;
    if (scan_is_for_host(s, job))
        return scan_on_host(s, job);
    return sorter_finish(s, scan_start(s, "arrays_scan", job));
}
