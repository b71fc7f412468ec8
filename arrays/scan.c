/* scan.c - prefix sums of an array on one device.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/sorter.h"

#include "arrays/kernels.h"
#include "arrays/scan_host_threads.h"
#include "core/handle.h"

EMBEDDED(scan_file, "arrays/scan.cl", arrays_scan_cl);

static const char *const names[SCAN_KERNELS] = {"scan_sums", "scan_carry", "scan_write",
                                                "scan_few"};

static const struct sorter_source sources[] = {
    {SCAN_32, "arrays.scan.32", "-D NUMBER=uint", 4, false, &scan_file, names, SCAN_KERNELS},
    {SCAN_64, "arrays.scan.64", "-D NUMBER=ulong", 8, false, &scan_file, names, SCAN_KERNELS},
};

/* Check the job's numbers and choose its program and shape. NULL on failure. */
static struct sorter_program *scan_program(arrays_sorter *s, const char *caller,
                                           const struct arrays_scan_job *job)
{
    if (sorter_check(caller, job->bytes, job->most, job->reserved) != 0)
        return NULL;
    return sorter_choose(s, &sources[job->bytes == 8], job->most);
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

static int scan_launch(arrays_sorter *s, const struct sorter_program *p,
                       const struct arrays_scan_job *job, const void *carry)
{
    const cl_uint groups = sorter_groups(s, p, job->most), most = (cl_uint)job->most;
    const size_t bytes = (size_t)job->bytes;
    const struct array_start x = arrays_start_of(s->ctx, job->x, bytes),
                             sums = arrays_start_of(s->ctx, job->sums, bytes),
                             total =
                                 arrays_start_of(s->ctx, job->total ? job->total : carry, bytes),
                             count = arrays_start_of(s->ctx, job->count ? job->count : carry, 4);
    const int counted = job->count ? 1 + (int)count.first : 0,
              wanted = job->total ? 1 + (int)total.first : 0;
    const cl_uint2 start = {{x.first, sums.first}};
    if (groups && sorter_tiles(p, job->most) <= FEW_TILES)
        return sorter_launch(
            s, p, SCAN_FEW, 1,
            ARGS(sums.base, x.base, start, total.base, wanted, most, counted, count.base));
    if (groups && sorter_launch(s, p, SCAN_SUMS, groups,
                                ARGS(carry, x.base, start, most, counted, count.base)) != 0)
        return -1;
    if ((groups || wanted) &&
        sorter_launch(s, p, SCAN_CARRY, 1,
                      ARGS(carry, groups, total.base, wanted, most, counted, count.base)) != 0)
        return -1;
    return groups ? sorter_launch(s, p, SCAN_WRITE, groups,
                                  ARGS(sums.base, x.base, start, carry, most, counted, count.base))
                  : 0;
}

static int scan_start(arrays_sorter *s, const char *caller, const struct arrays_scan_job *job)
{
    struct sorter_program *p = scan_program(s, caller, job);
    const size_t work = p ? scan_workspace_size(s, p, job) : 0;
    if (!p || scan_check_blocks(s, caller, job, work) != 0 || sorter_open(s, p) != 0)
        return -1;
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
    return s->info.dev_type & CL_DEVICE_TYPE_CPU && !s->words && job->most > 0 &&
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
