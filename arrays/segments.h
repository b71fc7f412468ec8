/* segments.h - sums of segments and histograms: for segments.c, segments_host.c and select.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_SEGMENTS_H
#define ARRAYS_SEGMENTS_H

#include "arrays/sorter.h"

/* As struct arrays_segments_job. */
struct segments_job {
    const void *x;
    const cl_uint *offsets;
    void *sums;
    enum arrays_type type;
    size_t most, segments;
    const cl_uint *count; /* device memory with the number of segments, or NULL */
};

/* Arguments of count_bins in the elements' type. */
struct bin_bounds {
    double real[7]; /* lower, upper, base, unit, scale, width, sure */
    float single[7];
    cl_long whole[7];
};

size_t segments_type_bytes(enum arrays_type type);

/* Check the type, x and sums. */
int segments_check(const arrays_sorter *s, const char *caller, const struct segments_job *job);

/* True if the host should add elements of this type: the arrays are as for sorter_is_for_host, and
 * the device has doubles, which floats are added in. */
bool segments_are_for_host(const arrays_sorter *s, enum arrays_type type,
                           const void *const memory[], size_t n);

/* Enqueue the sums. */
int segments_start(arrays_sorter *s, const struct segments_job *job);

#endif
