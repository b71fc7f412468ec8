/* reference.h - the scalar reference: one generation in plain C (life_ref.c).
 *
 * All engines and kernels are tested against it. A cell is a byte; rows are contiguous. `to` and
 * `from` must not overlap.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_REFERENCE_H
#define LIFE_REFERENCE_H

#include "life/family.h"
#include "life/grid.h"

/* One generation of rows y ... end - 1 of an outer-totalistic rule; cells are 0 or
 * 1. */
void life_ref_rows(const struct life_rule *rule, enum life_bounds bounds, size_t width,
                   size_t height, size_t y, size_t end, const unsigned char *from,
                   unsigned char *to);

/* One generation of rows y ... end - 1 of a rule of any family. `from` has the cells of
 * `generation`, on which only Larger than Life with B0 and rules that alternate depend. */
void life_ref_family_rows(const struct life_family *rule, uint64_t generation,
                          enum life_bounds bounds, size_t width, size_t height, size_t y,
                          size_t end, const unsigned char *from, unsigned char *to);

/* One generation of rows y ... end - 1 on any grid, of a rule whose family has `next`. */
void life_ref_topology_rows(const struct life_family *rule, const struct life_grid *grid, size_t y,
                            size_t end, const unsigned char *from, unsigned char *to);

#endif
