/* segments_host.c - sums of segments, and histograms, on the host: the arithmetic of segments.cl.
 *
 * A thread counts a part of the elements in counters of its own, up to COPIES of each, so that an
 * addition need not wait for the last one if elements are equal. The caller adds the counters.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/segments_host.h"

#include "core/thread_pool.h"

enum {
    LANES = 64, /* partial sums of a segment */
    SHORT = 16,
    SEGMENTS_EACH = 1024,
    THREADS_COUNT = 1 << 17, /* least number of elements for threads */
    PARTS_MAX = THREAD_POOL_MOST + 1,
    COPIES = 4,  /* of a counter, a power of two */
    BATCH = 512, /* elements whose bins are computed at once */
};

/* Return the threads for n elements, created when they are first needed; NULL: none. */
static struct thread_pool *threads_for(struct thread_pool **pool, size_t n)
{
    if (n >= THREADS_COUNT && !*pool)
        *pool = thread_pool_create(THREAD_POOL_MOST);
    return n >= THREADS_COUNT && *pool && (*pool)->threads ? *pool : NULL;
}

/* ---- Sums of segments. ----------------------------------------------------------------------- */

/* The sum of n elements, of which the first `room` may be read. */
#define REAL_SUM(NUMBER)                                                                           \
    static NUMBER segment_sum_##NUMBER(const NUMBER *x, size_t n, size_t room)                     \
    {                                                                                              \
        const size_t used = n < LANES ? n : LANES;                                                 \
        double lane[LANES];                                                                        \
        if (n <= SHORT && room >= SHORT) { /* without branches: the other lanes are 0 */           \
            for (size_t l = 0; l < SHORT; l++)                                                     \
                lane[l] = l < n ? 0. + (double)x[l] : 0.;                                          \
            for (size_t apart = 1; apart < SHORT; apart *= 2)                                      \
                for (size_t l = 0; l < SHORT; l += 2 * apart)                                      \
                    lane[l] += lane[l + apart];                                                    \
            return (NUMBER)lane[0];                                                                \
        }                                                                                          \
        for (size_t l = 0; l < used; l++)                                                          \
            lane[l] = 0. + (double)x[l];                                                           \
        for (size_t row = LANES; row < n; row += LANES)                                            \
            for (size_t l = 0; l < LANES && row + l < n; l++)                                      \
                lane[l] += (double)x[row + l];                                                     \
        /* lanes beyond `used` are 0: adding them changes nothing */                               \
        for (size_t apart = 1; apart < used; apart *= 2)                                           \
            for (size_t l = 0; l + apart < used; l += 2 * apart)                                   \
                lane[l] += lane[l + apart];                                                        \
        return used ? (NUMBER)lane[0] : 0;                                                         \
    }
REAL_SUM(float)
REAL_SUM(double)

/* Integers wrap around: every order gives the same sum. */
#define WHOLE_SUM(NUMBER)                                                                          \
    static NUMBER segment_sum_##NUMBER(const NUMBER *x, size_t n)                                  \
    {                                                                                              \
        NUMBER sum = 0;                                                                            \
        for (size_t i = 0; i < n; i++)                                                             \
            sum += x[i];                                                                           \
        return sum;                                                                                \
    }
WHOLE_SUM(uint32_t)
WHOLE_SUM(uint64_t)

void arrays_segment_sum(enum arrays_type type, const void *x, size_t most, size_t begin, size_t end,
                        void *sums, size_t i)
{
    const size_t n = end - begin, room = most - begin;
    if (type == ARRAYS_FLOAT)
        ((float *)sums)[i] = segment_sum_float((const float *)x + begin, n, room);
    else if (type == ARRAYS_DOUBLE)
        ((double *)sums)[i] = segment_sum_double((const double *)x + begin, n, room);
    else if (type == ARRAYS_INT)
        ((uint32_t *)sums)[i] = segment_sum_uint32_t((const uint32_t *)x + begin, n);
    else
        ((uint64_t *)sums)[i] = segment_sum_uint64_t((const uint64_t *)x + begin, n);
}

static void sum_segments(void *job_, size_t part)
{
    const struct segments_job *job = job_;
    const size_t first = part * SEGMENTS_EACH, left = job->segments - first,
                 last = first + (left < SEGMENTS_EACH ? left : SEGMENTS_EACH);
    for (size_t s = first; s < last; s++) {
        const size_t next = job->offsets[s + 1], end = next < job->most ? next : job->most,
                     begin = job->offsets[s] < end ? job->offsets[s] : end;
        arrays_segment_sum(job->type, job->x, job->most, begin, end, job->sums, s);
    }
}

void arrays_segments_host(struct thread_pool **pool, const struct segments_job *job)
{
    struct thread_pool *const team = threads_for(pool, job->most + job->segments);
    const size_t parts = (job->segments + SEGMENTS_EACH - 1) / SEGMENTS_EACH;
    struct segments_job own = *job;
    if (team)
        thread_pool_for(team, parts, true, sum_segments, &own);
    else
        for (size_t part = 0; part < parts; part++)
            sum_segments(&own, part);
}

/* ---- Histograms. ----------------------------------------------------------------------------- */

/* A histogram in parts. */
struct histogram_host {
    const struct histogram_host_job *job;
    size_t parts, counters, copies; /* 1 or COPIES of each counter */
    cl_uint *counts;                /* of part p: from p * counters * copies on */
};

/* Write the bins of the elements from ... from + n - 1, nbins for elements outside the range: as
 * bin_of in segments.cl, but with the comparisons for all elements, without branches. */
#define REAL_BINS(NUMBER, member)                                                                  \
    static void bins_of_##NUMBER(const struct histogram_host_job *job, size_t from, size_t n,      \
                                 cl_uint *bin)                                                     \
    {                                                                                              \
        const NUMBER *const x = (const NUMBER *)job->x + from, *const b = job->bounds->member,     \
                            lower = b[0], upper = b[1], base = b[2], unit = b[3], scale = b[4],    \
                            width = b[5];                                                          \
        const int32_t last = (int32_t)(job->nbins - 1), nbins = (int32_t)(cl_uint)job->nbins;      \
        for (size_t i = 0; i < n; i++) {                                                           \
            const NUMBER v = x[i] * unit, from_lower = v - base;                                   \
            const int inside = (x[i] >= lower) & (x[i] < upper);                                   \
            const int32_t place = (int32_t)(inside ? from_lower * scale : 0);                      \
            const int32_t k = place < last ? place : last;                                         \
            const NUMBER edge = ((NUMBER)k + 1) * width;                                           \
            const int32_t next =                                                                   \
                (k < last) & (from_lower >= edge) & (v >= base + edge) ? k + 1 : k;                \
            bin[i] = (cl_uint)(inside ? next : nbins);                                             \
        }                                                                                          \
    }
REAL_BINS(float, single)
REAL_BINS(double, real)

/* Integers: below 2^53 a rounded quotient is below a whole number if the exact one is. */
#define WHOLE_BINS(NUMBER)                                                                         \
    static void bins_of_##NUMBER(const struct histogram_host_job *job, size_t from, size_t n,      \
                                 cl_uint *bin)                                                     \
    {                                                                                              \
        const NUMBER *const x = (const NUMBER *)job->x + from;                                     \
        const double lower = (double)job->bounds->whole[0], upper = (double)job->bounds->whole[1], \
                     nbins = (double)job->nbins, width = upper - lower;                            \
        if (width * nbins >= 0x1p53 || job->nbins > INT32_MAX || lower <= -0x1p53) {               \
            bins_of_wide_range(job, x, sizeof *x, n, bin);                                         \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            const double v = (double)x[i], k = (v - lower) * nbins / width;                        \
            bin[i] = (cl_uint)(int32_t)(((v >= lower) & (v < upper)) ? k : nbins);                 \
        }                                                                                          \
    }

static void bins_of_wide_range(const struct histogram_host_job *job, const void *x, size_t bytes,
                               size_t n, cl_uint *bin)
{
    const int64_t lower = job->bounds->whole[0], upper = job->bounds->whole[1],
                  nbins = (int64_t)job->nbins;
    for (size_t i = 0; i < n; i++) {
        const int64_t v = bytes == 4 ? ((const int32_t *)x)[i] : ((const int64_t *)x)[i];
        bin[i] = (cl_uint)(v >= lower && v < upper ? (v - lower) * nbins / (upper - lower) : nbins);
    }
}
WHOLE_BINS(int32_t)
WHOLE_BINS(int64_t)

static void bins_of(const struct histogram_host_job *job, size_t from, size_t n, cl_uint *bin)
{
    if (job->type == ARRAYS_FLOAT)
        bins_of_float(job, from, n, bin);
    else if (job->type == ARRAYS_DOUBLE)
        bins_of_double(job, from, n, bin);
    else if (job->type == ARRAYS_INT)
        bins_of_int32_t(job, from, n, bin);
    else
        bins_of_int64_t(job, from, n, bin);
}

/* Count bytes by their values, which are assigned to bins at the end. */
static void count_bytes(const uint8_t *x, size_t n, cl_uint *own)
{
    size_t i = 0;
    for (; i + COPIES <= n; i += COPIES)
        for (size_t k = 0; k < COPIES; k++)
            own[COPIES * x[i + k] + k]++;
    for (; i < n; i++)
        own[COPIES * x[i]]++;
}

static void histogram_part(void *histogram, size_t part)
{
    const struct histogram_host *h = histogram;
    const size_t n = h->job->n, each = n / h->parts, from = each * part,
                 end = part + 1 < h->parts ? from + each : n, counters = h->counters,
                 copies = h->copies;
    cl_uint *const own = h->counts + part * counters * copies, bin[BATCH];
    if (h->job->of_bytes) {
        count_bytes((const uint8_t *)h->job->x + from, end - from, own);
        return;
    }
    for (size_t i = from; i < end; i += BATCH) {
        const size_t some = end - i < BATCH ? end - i : BATCH;
        bins_of(h->job, i, some, bin);
        for (size_t k = 0; k < some; k++)
            if (bin[k] < counters)
                own[bin[k] * copies + (k & (copies - 1))]++;
    }
}

/* Add the counters of all parts to the bins, which are 0. */
static void histogram_add(const struct histogram_host *h)
{
    const struct histogram_host_job *job = h->job;
    for (size_t c = 0; c < h->counters; c++) {
        cl_uint sum = 0, bin = (cl_uint)c;
        if (job->of_bytes) {
            const int64_t value = (int64_t)c;
            const struct histogram_host_job one = {
                .x = &value, .bounds = job->bounds, .nbins = job->nbins};
            bins_of_int64_t(&one, 0, 1, &bin);
        }
        for (size_t p = 0; p < h->parts; p++)
            for (size_t k = 0; k < h->copies; k++)
                sum += h->counts[(p * h->counters + c) * h->copies + k];
        if (bin < job->nbins)
            job->bins[bin] += sum;
    }
}

void arrays_histogram_host(struct thread_pool **pool, const struct histogram_host_job *job)
{
    struct thread_pool *const team = threads_for(pool, job->n);
    struct histogram_host h = {.job = job, .parts = team ? team->threads + 1 : 1};
    cl_uint bytes[256 * COPIES] = {0};
    h.counters = job->of_bytes ? 256 : job->nbins;
    h.copies = job->of_bytes || h.counters <= job->n / 8 / h.parts / COPIES ? COPIES : 1;
    memset(job->bins, 0, job->nbins * sizeof *job->bins);
    if (h.counters * h.parts <= job->n / 2)
        h.counts = calloc(h.parts * h.counters * h.copies, sizeof *h.counts);
    if (!h.counts) { /* few elements, or no memory for more counters */
        h.parts = 1;
        h.copies = job->of_bytes ? COPIES : 1;
        h.counts = job->of_bytes ? bytes : job->bins;
    }
    if (team && h.parts > 1)
        thread_pool_for(team, h.parts, true, histogram_part, &h);
    else
        histogram_part(&h, 0);
    if (h.counts == job->bins)
        return;
    histogram_add(&h);
    if (h.counts != bytes)
        free(h.counts);
}
