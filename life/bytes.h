/* bytes.h - cells of a byte on the context's first device (engine_bytes.c): what a family of rules
 * with a kernel of its own provides.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_BYTES_H
#define LIFE_BYTES_H

#include "life/device_grid.h"

/* Rows of cells are `pitch` bytes apart; bytes beyond the width are 0. A work-item computes
 * `columns` x `rows` cells, a group has `across` x `down` items. */
struct bytes {
    struct device_grid g; /* g.extra has extra_bytes for the method's use, on host and device */
    size_t columns, rows, across, down, pitch;
    size_t items; /* in a group that counts */
    size_t extra_bytes;
    bool filled; /* the method's `fill` writes extra; else it is scratch memory */
    cl_kernel before;
};

struct bytes_method {
    /* Set columns, rows, extra_bytes (0: none) and filled; describe the shape in g.explain. */
    void (*choose)(const life *lf, struct bytes *b);
    /* Build the program of a rule; it includes count_bytes.h. NULL: an error. */
    void *(*open)(life *lf, const struct life_family *rule);
    const char *step, *before; /* names of kernels; `before` runs before each generation, or NULL */
    /* Write g.extra, which is then uploaded; called if `filled`. */
    void (*fill)(const life *lf, void *extra);
    /* Enqueue the kernels; `step` from row y on. */
    cl_event (*start)(life *lf, const struct bytes *b, clndrange_t *ndr, cl_int y);
    cl_event (*start_before)(life *lf, const struct bytes *b);
};

/* By the table of a rule, or the tree of a rule file (bytes_table.c). */
extern const struct bytes_method life_table_bytes;

#endif
