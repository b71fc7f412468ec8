/* segments.h - sums of segments, for segments.c and for sums of runs (select.c).
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

size_t segments_type_bytes(enum arrays_type type);

/* Check the type, x and sums. */
int segments_check(const arrays_sorter *s, const char *caller, const struct segments_job *job);

/* Enqueue the sums. */
int segments_start(arrays_sorter *s, const struct segments_job *job);

#endif
