/* segments_host.h - sums of segments, and histograms, on the host, for CPU devices.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_SEGMENTS_HOST_H
#define ARRAYS_SEGMENTS_HOST_H

#include "arrays/segments.h"

struct thread_pool;

/* Set sums[i] to the sum of the elements begin ... end - 1 of `most`, added in the order of
 * segments.cl. */
void arrays_segment_sum(enum arrays_type type, const void *x, size_t most, size_t begin, size_t end,
                        void *sums, size_t i);

/* The sums of all segments. job->count is ignored. *pool: threads, created when they are first
 * needed. */
void arrays_segments_host(struct thread_pool **pool, const struct segments_job *job);

/* Count n elements in bins, as struct arrays_histogram_job. */
struct histogram_host_job {
    const void *x;
    cl_uint *bins;
    enum arrays_type type;
    bool of_bytes;                   /* else `type` counts */
    const struct bin_bounds *bounds; /* the arguments of count_bins */
    size_t nbins, n;
};
void arrays_histogram_host(struct thread_pool **pool, const struct histogram_host_job *job);

#endif
