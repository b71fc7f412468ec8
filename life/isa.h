/* isa.h - functions that are compiled once for each instruction set, and the choice of the set that
 * this processor has (isa.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_ISA_H
#define LIFE_ISA_H

#include "life/census_plane.h"
#include "life/circuit_rows.h"
#include "life/leaf_rows.h"
#include "life/lookups.h"

struct life_isa {
    const char *name; /* of the instruction set */
    circuit_rows *circuit_rows;
    plane_step *plane_step;
    leaf_advance *leaf_advance; /* or NULL */
    /* NULL: the set has no shuffles of bytes. */
    lookups_row *lookups_row;
    lookups_bits *lookups_bits;
    lookups_states *lookups_states;
};

/* Return the i-th of the sets that processor and library have, the one with the widest vectors
 * first; NULL after the last. */
const struct life_isa *life_isa(unsigned i);

#endif
