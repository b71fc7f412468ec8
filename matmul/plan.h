/* plan.h - predicted costs of a product: which tiles are split along K, which tuning entry is
 * fastest, and which part of C is left to skinny.cl. Costs are in multiply-adds of a compute unit.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_PLAN_H
#define STDCL_MATMUL_PLAN_H

#include "matmul/shape.h"

/* One group computes each of the first `whole` tiles; `splits` groups share each other tile. */
struct tile_plan {
    size_t tiles, whole, splits;
    bool splitk_reduce; /* a separate kernel reduces the split-K partials */
    double cost;
};
enum { SPLITK_PARTS_MAX = 1 << 14 }; /* split-K parts of all tiles of a launch */

/* Return the plan of least cost on `units` compute units. */
struct tile_plan matmul_plan(const struct matmul_shape *s, size_t units,
                             const struct problem_size *e);

/* Return the entry of least cost, NULL if count is 0. Entries are in ascending order of size; of
 * entries with equal cost, the last one whose size does not exceed the product's is taken. */
const struct matmul_entry *matmul_plan_entry(const struct matmul_entry *entries, size_t count,
                                             size_t units, const struct problem_size *e);

/* Round the number of vectors up to one that skinny.cl is built for: 1, 2, 4, 8 or 16. */
size_t matmul_skinny_vectors(size_t few);

/* Return line_bytes of the shape, halved as often as a row of `depth` bytes needs. */
size_t matmul_skinny_line(const struct matmul_shape *s, size_t depth);

/* Return the cost by skinny.cl, INFINITY for more vectors than the shape allows. */
double matmul_plan_skinny(const struct matmul_shape *skinny, size_t units,
                          const struct problem_size *e);

/* Return the lower bound that memory bandwidth sets for tiles. */
double matmul_plan_memory_bound(const struct matmul_shape *skinny, size_t units,
                                const struct problem_size *e);

/* Return the part of the product that whole tiles cover, if the remaining rows and columns are few
 * enough for skinny.cl; else the whole product. */
struct problem_size matmul_plan_interior(const struct matmul_shape *s,
                                         const struct problem_size *e);

/* Return the cost with tiles for the interior and skinny.cl for the edges: the rows below it by
 * the shape `below`, the columns beside it by the shape `beside`. */
double matmul_plan_with_edges(const struct matmul_shape *s, const struct matmul_shape *below,
                              const struct matmul_shape *beside, size_t units,
                              const struct problem_size *e);

#endif
