/* nbody_ref_tree.h - the tree code in plain C: what the kernels in tree.cl and walk*.cl do, slow
 * and easy to check.
 *
 *   nbody_ref_tree_build      bodies into Hilbert order, cells level by level, their moments
 *   nbody_ref_tree_walk       which cells and which bodies a group of bodies meets
 *   nbody_ref_tree_pull       what these do to a body
 *
 * Whole numbers (keys, order, cells) and lists are the same as on the devices, entry by entry, for
 * single precision; moments and sums are computed in double, each from all the bodies of a cell.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_REF_TREE_H
#define STDCL_NBODY_REF_TREE_H

#include <stddef.h>
#include <stdint.h>

enum { TREE_LEVELS = 21, TREE_GROUP = 64 }; /* bits of a coordinate; bodies that share a walk */

/* A cell whose `count` is above 0 has that many children, from cell `first` on; one below 0 is a
 * leaf of -count bodies, from body `first` of the order on. */
struct nbody_ref_link {
    int32_t first, count;
};

struct nbody_ref_tree {
    size_t n, leaf;
    int moments;       /* of cells: their highest order, 2 or 4 */
    float lo[3], side; /* the cube of cell 0; side is a power of two */
    uint64_t *key;     /* ascending */
    uint32_t *
        order; /* body i of the tree is the caller's order[i]; equal keys keep the caller's order */
    float (*body)[4];                /* {x, y, z, G m} in this order */
    size_t cells;                    /* by level, and within a level as their bodies lie */
    uint32_t level[TREE_LEVELS + 2]; /* the first cell of each level, and the number of cells */
    uint32_t *start, *bodies;        /* of each cell: its first body, and how many */
    struct nbody_ref_link *link;
    float (*com)[4];    /* centre of mass, and mass */
    float (*poles)[32]; /* as in multipole.cl: the first 8 for second order, all for fourth */
    double (*raw)[31];  /* sums of m d d, m d d d, m d d d d in units of the cell's side: xx xy ..
                           zzz xxxx .. zzzz */
    float (*size)[2];   /* what a distance is compared with, see nbody_ref_tree_build; (1.001 b)^2,
                           where b is the largest   distance of a body from the centre of mass */
};

/* The 63 bits of a place on Hilbert's curve, from three coordinates of 21 bits (Skilling 2004,
 * doi:10.1063/1.1751381). */
uint64_t nbody_ref_hilbert(uint32_t x, uint32_t y, uint32_t z);

/* Builds the tree of n bodies {x, y, z, G m}: cells with more than `leaf` bodies are divided, down
 * to level TREE_LEVELS. size[0] is l^2 when `geometric`, and else (M l^p)^2/(p + 2), with the side
 * l and the mass M of a cell and moments up to order p, or what `blur` makes of the centre's
 * rounding if that is more (moments.cl). -1 without memory. The caller frees it. */
int nbody_ref_tree_build(struct nbody_ref_tree *t, size_t n, const float (*posm)[4], size_t leaf,
                         int moments, int geometric, double blur);
void nbody_ref_tree_free(struct nbody_ref_tree *t);

/* What a group meets, in this order. Entries of `body` with NBODY_REF_POINT are cells whose bodies
 * are all at one place, met as one body; the others are bodies. */
#define NBODY_REF_POINT 0x80000000u
struct nbody_ref_lists {
    uint32_t *cell, *body;
    size_t cells, bodies;
};

/* The lists of the group of bodies first .. first + count - 1. A cell is met as a whole where the
 * square of its centre's distance from the group's box is above size[0] g2 and above size[1].
 * `lanes` cells are taken from the stack at once, as work-items of a device do; stack has room for
 * `room` cells. `lists` has room for all cells and bodies. */
void nbody_ref_tree_walk(const struct nbody_ref_tree *t, size_t first, size_t count, float g2,
                         size_t lanes, size_t room, struct nbody_ref_lists *lists);

/* Acceleration and potential at body i from lists; either may be NULL. The body itself is left
 * out. */
void nbody_ref_tree_pull(const struct nbody_ref_tree *t, const struct nbody_ref_lists *lists,
                         size_t i, double eps, double acc[3], double *potential);

#endif
