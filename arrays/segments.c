/* segments.c - sums of the segments of an array, and histograms (segments.cl).
 * SPDX-License-Identifier: MIT
 */
#include "arrays/segments.h"

#include "arrays/kernels.h"
#include "arrays/segments_host.h"
#include "core/handle.h"

#include <float.h>
#include <math.h>

EMBEDDED(segments_file, "arrays/segments.cl", arrays_segments_cl);

enum { SEGMENT_SUMS, CLEAR_BINS, COUNT_BINS, SEGMENT_KERNELS };
static const char *const names[SEGMENT_KERNELS] = {"segment_sums", "clear_bins", "count_bins"};

enum { BYTE_SOURCE = ARRAYS_LONG + 1 };
enum { HISTOGRAM_TOTALS = 8193 }; /* the counter of groups and the bins of one launch */
static const struct sorter_source sources[] = {
    {VALUES_FLOAT, "arrays.scan.32", "-D NUMBER=float", 4, false, &segments_file, names,
     SEGMENT_KERNELS, NULL},
    {VALUES_DOUBLE, "arrays.scan.64", "-D NUMBER=double -D WIDE=double", 8, false, &segments_file,
     names, SEGMENT_KERNELS, NULL},
    {VALUES_INT, "arrays.scan.32", "-D NUMBER=int -D WIDE=uint -D REAL=0", 4, false, &segments_file,
     names, SEGMENT_KERNELS, NULL},
    {VALUES_LONG, "arrays.scan.64", "-D NUMBER=long -D WIDE=ulong -D REAL=0", 8, false,
     &segments_file, names, SEGMENT_KERNELS, NULL},
    {VALUES_BYTE, "arrays.scan.32", "-D NUMBER=uchar -D WIDE=uint -D REAL=0 -D BYTES=1", 1, false,
     &segments_file, names, SEGMENT_KERNELS, NULL},
};

size_t segments_type_bytes(enum arrays_type type)
{
    return type == ARRAYS_FLOAT || type == ARRAYS_INT ? 4 : 8;
}

static int check_type(const arrays_sorter *s, const char *caller, enum arrays_type type)
{
    if ((unsigned)type > ARRAYS_LONG)
        return clerror_set(EINVAL, "%s: type %d does not exist", caller, (int)type);
    return type == ARRAYS_DOUBLE ? sorter_check_doubles(s, caller) : 0;
}

/* ---- Sums of segments. ----------------------------------------------------------------------- */

int segments_check(const arrays_sorter *s, const char *caller, const struct segments_job *job)
{
    const size_t bytes = segments_type_bytes(job->type);
    if (check_type(s, caller, job->type) != 0)
        return -1;
    if (job->most && sorter_check_input(s, caller, job->offsets ? "x" : "values", job->x,
                                        job->most * bytes, bytes) != 0)
        return -1;
    return job->segments
               ? sorter_check_block(s, caller, "sums", job->sums, job->segments * bytes, bytes)
               : 0;
}

int segments_start(arrays_sorter *s, const struct segments_job *job)
{
    const size_t bytes = segments_type_bytes(job->type);
    struct sorter_program *p = sorter_choose(s, &sources[job->type], job->most, 0);
    if (!p || job->segments == 0)
        return p ? 0 : -1;
    if (sorter_open(s, p) != 0)
        return -1;
    const struct array_start sums = arrays_start_of(s->ctx, job->sums, bytes),
                             x = arrays_start_of(s->ctx, job->most ? job->x : job->sums, bytes),
                             offsets = arrays_start_of(s->ctx, job->offsets, 4),
                             count =
                                 arrays_start_of(s->ctx, job->count ? job->count : job->offsets, 4);
    const cl_uint4 start = {{sums.first, x.first, offsets.first, 0}};
    /* a group takes a segment for each team of 64 items or more of them */
    const cl_uint groups = sorter_groups(s, p, job->segments * 64 * (size_t)p->shape.items),
                  n = (cl_uint)job->most, segments = (cl_uint)job->segments;
    const int counted = job->count ? 1 + (int)count.first : 0;
    return sorter_launch(
        s, p, SEGMENT_SUMS, groups,
        ARGS(sums.base, x.base, offsets.base, start, n, segments, counted, count.base));
}

bool segments_are_for_host(const arrays_sorter *s, enum arrays_type type,
                           const void *const memory[], size_t n)
{
    bool doubles = true;
    if (!sorter_is_for_host(s, memory, n))
        return false;
    if (type == ARRAYS_FLOAT && arrays_have_doubles(s->ctx, s->dev, 1, &doubles) != 0)
        return false;
    return doubles;
}

/* Check a job and write it in *own. */
static int segmented_check(const arrays_sorter *s, const char *caller,
                           const struct arrays_segments_job *job, struct segments_job *own)
{
    if (no_handle(s, caller) || no_job(job, caller) ||
        sorter_check(caller, 4, job->most, job->reserved) != 0)
        return -1;
    if (job->segments > (size_t)1 << 31)
        return clerror_set(EINVAL, "%s: segments = %zu; the maximum is 2^31", caller,
                           job->segments);
    *own = (struct segments_job){.x = job->x,
                                 .offsets = job->offsets,
                                 .sums = job->sums,
                                 .type = job->type,
                                 .most = job->most,
                                 .segments = job->segments};
    const size_t bytes = segments_type_bytes(job->type),
                 size = (job->segments + 1) * sizeof *job->offsets;
    if (sorter_check_input(s, caller, "offsets", job->offsets, size, 4) != 0 ||
        segments_check(s, caller, own) != 0)
        return -1;
    const struct sorter_range ranges[] = {{"x", job->x, job->most * bytes},
                                          {"offsets", job->offsets, size},
                                          {"sums", job->sums, job->segments * bytes}};
    return sorter_check_apart(caller, ranges, sizeof ranges / sizeof *ranges);
}

int arrays_segmented_sum_start(arrays_sorter *s, const struct arrays_segments_job *job)
{
    struct segments_job own;
    return segmented_check(s, __func__, job, &own) == 0 ? segments_start(s, &own) : -1;
}

int arrays_segmented_sum(arrays_sorter *s, const struct arrays_segments_job *job)
{
    struct segments_job own;
    if (segmented_check(s, __func__, job, &own) != 0)
        return -1;
    const void *const memory[] = {job->x, job->offsets, job->sums};
    if (!segments_are_for_host(s, job->type, memory, 3))
        return sorter_finish(s, segments_start(s, &own));
    if (sorter_host_begin(s, __func__) != 0)
        return -1;
    arrays_segments_host(&s->team, &own);
    return 0;
}

/* ---- Histograms. ----------------------------------------------------------------------------- */

static bool is_whole(double v)
{
    return fabs(v) <= 0x1p53 && floor(v) == v;
}

/* The smallest float that is not below v: x >= v, and x < v, hold for floats x also with it. */
static float float_from(double v)
{
    const float near = (float)v;
    return (double)near < v ? nextafterf(near, INFINITY) : near;
}

/* A power of two for the elements and ends of a range of real numbers. Neither the width times it,
 * nor bins per width, overflows or loses digits in the elements' type; 1 for usual widths. */
static double histogram_unit(const struct arrays_histogram_job *job)
{
    const bool is_float = job->type == ARRAYS_FLOAT;
    const double width = job->upper - job->lower;
    const int usual = is_float ? 64 : 500, shift = is_float ? 100 : 1000;
    int exponent = DBL_MAX_EXP;
    if (isfinite(width))
        frexp(width, &exponent);
    if (is_float && exponent > 200) /* ends far beyond all floats */
        return ldexp(1, -exponent);
    return exponent > usual ? ldexp(1, -shift) : exponent < -usual ? ldexp(1, shift) : 1;
}

/* The scale is reduced by more than all roundings of the product with it in bin_of of segments.cl:
 * the product is never above the element's place among the bins, and below it by at most 8 epsilons
 * of the place. If its fraction is below `sure`, its whole part is the bin. From 2^20 floats' bins
 * on, the bin can be an earlier one. */
static struct bin_bounds histogram_bounds(const struct arrays_histogram_job *job, int source)
{
    struct bin_bounds b = {.real = {job->lower, job->upper}};
    if (source >= ARRAYS_INT) {
        b.whole[0] = (cl_long)job->lower;
        b.whole[1] = (cl_long)job->upper;
        return b;
    }
    const double unit = histogram_unit(job), base = job->lower * unit;
    b.real[2] = base;
    b.real[3] = unit;
    const double width = job->upper * unit - base,
                 epsilon = source == ARRAYS_FLOAT ? FLT_EPSILON : DBL_EPSILON;
    b.real[4] = job->nbins / width * (1 - 4 * epsilon);
    b.real[5] = width / job->nbins;
    b.real[6] = 1 - 16 * epsilon * job->nbins;
    if (source == ARRAYS_FLOAT)
        for (int i = 0; i < 7; i++)
            b.single[i] = i < 2 ? float_from(b.real[i]) : (float)b.real[i];
    return b;
}

static int histogram_check_range(const char *caller, const struct arrays_histogram_job *job)
{
    const bool integers = job->of_bytes || job->type >= ARRAYS_INT;
    if (!isfinite(job->lower) || !isfinite(job->upper) || !(job->upper > job->lower))
        return clerror_set(EINVAL, "%s: the range from %g to %g is empty or not finite", caller,
                           job->lower, job->upper);
    if (!integers && job->type == ARRAYS_FLOAT && !((float)job->upper > (float)job->lower))
        return clerror_set(EINVAL, "%s: the range from %.17g to %.17g is empty in floats", caller,
                           job->lower, job->upper);
    if (integers && (!is_whole(job->lower) || !is_whole(job->upper)))
        return clerror_set(EINVAL,
                           "%s: the range of integers from %.17g to %.17g must have whole ends "
                           "between -2^53 and 2^53",
                           caller, job->lower, job->upper);
    if (integers && (job->upper - job->lower) * job->nbins > 0x1p63)
        return clerror_set(EINVAL,
                           "%s: %u bins are too many for integers from %.17g to %.17g: the width "
                           "times nbins is at most 2^63; take at most %.0f bins",
                           caller, job->nbins, job->lower, job->upper,
                           floor(0x1p63 / (job->upper - job->lower)));
    return 0;
}

static int histogram_check(const arrays_sorter *s, const char *caller,
                           const struct arrays_histogram_job *job, size_t bytes)
{
    if (sorter_check(caller, 4, job->most, job->reserved) != 0 ||
        (!job->of_bytes && check_type(s, caller, job->type) != 0))
        return -1;
    if (job->nbins == 0 || job->nbins > 1u << 31)
        return clerror_set(EINVAL, "%s: nbins = %u; the number of bins is 1 to 2^31", caller,
                           job->nbins);
    if (histogram_check_range(caller, job) != 0)
        return -1;
    if ((job->most && sorter_check_input(s, caller, "x", job->x, job->most * bytes, bytes) != 0) ||
        sorter_check_block(s, caller, "bins", job->bins, job->nbins * sizeof *job->bins, 4) != 0 ||
        (job->count && sorter_check_input(s, caller, "count", job->count, 4, 4) != 0))
        return -1;
    const struct sorter_range ranges[] = {{"x", job->x, job->most * bytes},
                                          {"bins", job->bins, job->nbins * sizeof *job->bins},
                                          {"count", job->count, 4}};
    return sorter_check_apart(caller, ranges, sizeof ranges / sizeof *ranges);
}

/* Groups have counters to clear and to add. On GPUs each group therefore gets some bytes to count,
 * if all compute units still have a group. */
static cl_uint histogram_groups(const arrays_sorter *s, const struct sorter_program *p,
                                const struct arrays_histogram_job *job)
{
    enum { BYTES_EACH = 1 << 16 };
    const size_t bytes = job->most * (job->of_bytes ? 1 : segments_type_bytes(job->type)),
                 units = s->info.dev_max_core, worth = bytes / BYTES_EACH;
    const cl_uint groups = sorter_groups(s, p, job->most);
    const size_t most = worth > units ? worth : units;
    return p->shape.group > 1 && groups > most ? (cl_uint)most : groups;
}

/* True if one launch counts and writes the bins. The last group to finish must see the totals of
 * all groups, as in look-back. */
static bool histogram_is_once(const struct sorter_program *p,
                              const struct arrays_histogram_job *job)
{
    return p->shape.look_back && p->shape.group > 1 && job->nbins < HISTOGRAM_TOTALS;
}

/* Make room for the totals of one launch, which are 0 between launches. */
static int histogram_totals(arrays_sorter *s, const struct sorter_program *p)
{
    if (s->totals)
        return 0;
    void *totals = clmalloc(s->ctx, HISTOGRAM_TOTALS * sizeof(cl_uint), CL_MEM_DEVONLY);
    const cl_uint first = 0, n = HISTOGRAM_TOTALS;
    if (!totals ||
        sorter_launch(s, p, CLEAR_BINS, sorter_groups(s, p, n), ARGS(totals, first, n)) != 0) {
        if (totals)
            clfree(totals);
        return -1;
    }
    s->totals = totals;
    return 0;
}

static int histogram_start(arrays_sorter *s, const char *caller,
                           const struct arrays_histogram_job *job)
{
    if (no_handle(s, caller) || no_job(job, caller))
        return -1;
    const size_t bytes = job->of_bytes ? 1 : segments_type_bytes(job->type);
    if (histogram_check(s, caller, job, bytes) != 0)
        return -1;
    const int source = job->of_bytes ? BYTE_SOURCE : (int)job->type;
    struct sorter_program *p = sorter_choose(s, &sources[source], job->most, 0);
    if (!p || sorter_open(s, p) != 0)
        return -1;
    const struct array_start bins = arrays_start_of(s->ctx, job->bins, 4),
                             x = arrays_start_of(s->ctx, job->most ? job->x : job->bins, bytes),
                             count =
                                 arrays_start_of(s->ctx, job->count ? job->count : job->bins, 4);
    const cl_uint groups = histogram_groups(s, p, job), clearing = sorter_groups(s, p, job->nbins);
    const int once = histogram_is_once(p, job);
    if (once ? histogram_totals(s, p) != 0
             : sorter_launch(s, p, CLEAR_BINS, clearing, ARGS(bins.base, bins.first, job->nbins)))
        return -1;
    const struct bin_bounds b = histogram_bounds(job, source);
#define BOUND(i)                                                                                   \
    (source == ARRAYS_FLOAT    ? ARG_AT(b.single[i])                                               \
     : source == ARRAYS_DOUBLE ? ARG_AT(b.real[i])                                                 \
                               : ARG_AT(b.whole[i]))
    const struct stdcl_arg lower = BOUND(0), upper = BOUND(1), base = BOUND(2), unit = BOUND(3),
                           scale = BOUND(4), width = BOUND(5), sure = BOUND(6);
#undef BOUND
    const cl_uint2 start = {{bins.first, x.first}};
    const int counted = job->count ? 1 + (int)count.first : 0;
    const void *const totals = once ? s->totals : bins.base;
    return sorter_launch(s, p, COUNT_BINS, groups ? groups : 1,
                         ARGS(bins.base, x.base, start, lower, upper, base, unit, scale, width,
                              sure, job->nbins, (cl_uint)job->most, counted, count.base, totals,
                              once));
}

int arrays_histogram_start(arrays_sorter *s, const struct arrays_histogram_job *job)
{
    return histogram_start(s, __func__, job);
}

static int histogram_on_host(arrays_sorter *s, const char *caller,
                             const struct arrays_histogram_job *job)
{
    const size_t bytes = job->of_bytes ? 1 : segments_type_bytes(job->type);
    if (histogram_check(s, caller, job, bytes) != 0 || sorter_host_begin(s, caller) != 0)
        return -1;
    const struct bin_bounds bounds =
        histogram_bounds(job, job->of_bytes ? BYTE_SOURCE : (int)job->type);
    const struct histogram_host_job host = {.x = job->x,
                                            .bins = job->bins,
                                            .type = job->type,
                                            .of_bytes = job->of_bytes != 0,
                                            .bounds = &bounds,
                                            .nbins = job->nbins,
                                            .n = sorter_host_count(job->most, job->count)};
    arrays_histogram_host(&s->team, &host);
    return 0;
}

int arrays_histogram(arrays_sorter *s, const struct arrays_histogram_job *job)
{
    if (no_handle(s, __func__) || no_job(job, __func__))
        return -1;
    const void *const memory[] = {job->x, job->bins, job->count};
    if (sorter_is_for_host(s, memory, 3))
        return histogram_on_host(s, __func__, job);
    return sorter_finish(s, histogram_start(s, __func__, job));
}
