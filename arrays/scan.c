/* scan.c - prefix sums of an array on one device.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/sorter.h"

#include "arrays/scan_host_threads.h"
#include "core/handle.h"

EMBEDDED(scan_file, "arrays/scan.cl", arrays_scan_cl);

static const char *const names[2][MOST_KERNELS] = {
    {"scan_sums", "scan_carry", "scan_write", "scan_few"},
    {"lookback_clear", "lookback_test", "scan_once"},
};

static const struct sorter_source sources[] = {
    {SCAN_32, "arrays.scan.32", 4, false, &scan_file, names},
    {SCAN_64, "arrays.scan.64", 8, false, &scan_file, names},
};

/* Check the job's numbers and choose its program and shape. NULL on failure. */
static struct sorter_program *scan_program(arrays_sorter *s, const char *caller,
                                           const struct arrays_scan_job *job)
{
    if (sorter_check(caller, job->bytes, job->most, job->reserved) != 0)
        return NULL;
    return sorter_choose(s, &sources[job->bytes == 8], job->most, false);
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
    const size_t size = job->most * (size_t)job->bytes;
    if (size && (sorter_check_input(s, caller, "x", job->x, size) != 0 ||
                 sorter_check_block(s, caller, "sums", job->sums, size) != 0))
        return -1;
    if (job->total && sorter_check_block(s, caller, "total", job->total, (size_t)job->bytes) != 0)
        return -1;
    if (job->count && sorter_check_input(s, caller, "count", job->count, sizeof *job->count) != 0)
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

static int scan_launch(arrays_sorter *s, const struct sorter_program *p,
                       const struct arrays_scan_job *job, const void *carry)
{
    const cl_uint groups = sorter_groups(s, p, job->most), most = (cl_uint)job->most;
    const int counted = job->count != NULL, wanted = job->total != NULL;
    const void *count = counted ? job->count : carry, *total = wanted ? job->total : carry;
    if (groups && sorter_tiles(p, job->most) <= FEW_TILES)
        return sorter_launch(s, p, SCAN_FEW, 1,
                             ARGS(job->sums, job->x, total, wanted, most, counted, count));
    if (groups &&
        sorter_launch(s, p, SCAN_SUMS, groups, ARGS(carry, job->x, most, counted, count)) != 0)
        return -1;
    if ((groups || wanted) &&
        sorter_launch(s, p, SCAN_CARRY, 1,
                      ARGS(carry, groups, total, wanted, most, counted, count)) != 0)
        return -1;
    return groups ? sorter_launch(s, p, SCAN_WRITE, groups,
                                  ARGS(job->sums, job->x, carry, most, counted, count))
                  : 0;
}

/* Make room for the words of `tiles` tiles, and count a scan. */
static int scan_count_launch(arrays_sorter *s, const struct sorter_program *p, cl_uint tiles)
{
    const cl_uint last_epoch = (1u << 30) - 1; /* see scan.cl */
    if (s->tiles < tiles) {
        if (s->words)
            clfree(s->words);
        s->tiles = 0;
        s->words = clmalloc(s->ctx, (1 + 2 * (size_t)tiles) * sizeof(cl_ulong), CL_MEM_DEVONLY);
        if (!s->words)
            return -1;
        s->tiles = tiles;
        s->epoch = last_epoch;
    }
    if (s->epoch == last_epoch) {
        const cl_ulong n = 2 * (1 + 2 * (cl_ulong)s->tiles);
        if (sorter_launch(s, p, LOOKBACK_CLEAR, sorter_groups(s, p, n), ARGS(s->words, n)) != 0)
            return -1;
        s->epoch = 0;
    }
    s->epoch++;
    return 0;
}

static int scan_launch_once(arrays_sorter *s, const struct sorter_program *p,
                            const struct arrays_scan_job *job)
{
    const cl_uint tiles = sorter_tiles(p, job->most), most = (cl_uint)job->most;
    const cl_uint groups = tiles ? tiles : 1;
    const int counted = job->count != NULL, wanted = job->total != NULL;
    if (!tiles && !wanted)
        return 0;
    if (scan_count_launch(s, p, tiles) != 0)
        return -1;
    const cl_uint epoch = s->epoch;
    const void *words = s->words, *total = wanted ? (const void *)job->total : words,
               *count = counted ? (const void *)job->count : words;
    return sorter_launch(
        s, p, SCAN_ONCE, groups,
        ARGS(job->sums, job->x, words, epoch, total, wanted, most, counted, count));
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

static bool scan_memory_is_shared(const void *ptr)
{
    return !ptr || clmctl((void *)(uintptr_t)ptr, CL_MCTL_GET_STATUS) & CL_MEM_ZEROCOPY;
}

/* True if the host should scan: on a CPU that shares all memory of the job, unless the caller chose
 * the shape of the kernels. */
static bool scan_is_for_host(const arrays_sorter *s, const struct arrays_scan_job *job)
{
    return s->info.dev_type & CL_DEVICE_TYPE_CPU && !s->caller_shape && job->most > 0 &&
           scan_memory_is_shared(job->x) && scan_memory_is_shared(job->sums) &&
           scan_memory_is_shared(job->total) && scan_memory_is_shared(job->count);
}

static int scan_check(arrays_sorter *s, const char *caller, const struct arrays_scan_job *job)
{
    const struct sorter_program *p = scan_program(s, caller, job);
    const size_t work = p ? scan_workspace_size(s, p, job) : 0;
    if (!p || scan_check_blocks(s, caller, job, work) != 0)
        return -1;
    return !job->work || sorter_workspace(s, caller, job->work, work) ? 0 : -1;
}

/* Scan after all commands in the device's queue. */
static int scan_on_host(arrays_sorter *s, const struct arrays_scan_job *job)
{
    if (scan_check(s, "arrays_scan", job) != 0 || sorter_finish(s, 0) != 0)
        return -1;
    const cl_int err = clFinish(clgetqueue(s->ctx, s->dev));
    if (err != CL_SUCCESS)
        return clerror_set(EIO, "arrays_scan: waiting for %s failed (%s)", s->info.dev_name,
                           oclerror_str(err));
    const size_t n = job->count && *job->count < job->most ? *job->count : job->most;
    const uint64_t all =
        arrays_scan_host_threads(arrays_scan_host(), &s->team, job->bytes, job->sums, job->x, n);
    const uint32_t all_32 = (uint32_t)all;
    if (job->total)
        memcpy(job->total, job->bytes == 8 ? (const void *)&all : (const void *)&all_32,
               (size_t)job->bytes);
    return 0;
}

int arrays_scan(arrays_sorter *s, const struct arrays_scan_job *job)
{
    if (no_handle(s, __func__))
        return -1;
    if (sorter_check("arrays_scan", job->bytes, job->most, job->reserved) != 0)
        return -1;
    if (scan_is_for_host(s, job))
        return scan_on_host(s, job);
    return sorter_finish(s, scan_start(s, "arrays_scan", job));
}
