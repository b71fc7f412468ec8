/* nbody_ref_tree.h - scalar reference of the tree code: what the kernels in tree.cl and walk*.cl
 * compute, slow and easy to check.
 *
 *   nbody_ref_tree_build      Hilbert order, cells level by level, moments
 *   nbody_ref_tree_walk       interaction lists of a group of bodies
 *   nbody_ref_tree_pull       force of these lists on a body
 *
 * Integers (keys, order, cells) and lists equal those of the devices in single precision, entry by
 * entry. Moments and forces are computed in double precision, each from all bodies of a cell.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_REF_TREE_H
#define STDCL_NBODY_REF_TREE_H

#include <stddef.h>
#include <stdint.h>

enum { TREE_LEVELS = 21, TREE_GROUP = 64 }; /* bits of a coordinate; bodies of a group */

/* Children or bodies of a cell. count > 0: the number of children, from cell `first` on. count <
 * 0: a leaf of -count bodies, from body `first` in tree order on. */
struct nbody_ref_link {
    int32_t first, count;
};

struct nbody_ref_tree {
    size_t n, leaf;
    int moments;       /* highest order of moments, 2 or 4 */
    float lo[3], side; /* root cube; side is a power of two */
    uint64_t *key;     /* ascending */
    uint32_t *order;   /* row of each body in tree order; equal keys keep the order of rows */
    float (*body)[4];  /* {x, y, z, G m} in tree order */
    size_t cells;      /* sorted by level, then in tree order */
    uint32_t level[TREE_LEVELS + 2]; /* first cell of each level; number of cells */
    uint32_t *start, *bodies;        /* of each cell: first body and number of bodies */
    struct nbody_ref_link *link;
    float (*com)[4];         /* centre of mass and mass */
    float (*multipoles)[32]; /* as in multipole.cl: 8 numbers for second order, 32 for fourth */
    double (*raw)[31]; /* sums of m d d, m d d d, m d d d d in units of the cell's side: xx xy ..
                          zzz xxxx .. zzzz */
    float (*size)[2];  /* {opening size, see nbody_ref_tree_build; (1.001 b)^2}, where b is the
                          largest distance of a body from the centre of mass */
};

/* Return the 63-bit Hilbert key of three 21-bit coordinates (Skilling 2004,
 * doi:10.1063/1.1751381). */
uint64_t nbody_ref_hilbert(uint32_t x, uint32_t y, uint32_t z);

/* Build the tree of n bodies {x, y, z, G m}. Cells with more than `leaf` bodies are divided, down
 * to level TREE_LEVELS. The opening size size[0] is l^2 if geometric, otherwise (M l^p)^2/(p + 2),
 * with side l and mass M of the cell and moments up to order p; or the larger size that com_margin
 * gives for the rounding of the centre of mass (moments.cl). Return -1 if out of memory. The
 * caller frees the tree. */
int nbody_ref_tree_build(struct nbody_ref_tree *t, size_t n, const float (*posm)[4], size_t leaf,
                         int moments, int geometric, double com_margin);
void nbody_ref_tree_free(struct nbody_ref_tree *t);

/* Interaction lists of a group, in order. Entries of `body` with NBODY_REF_POINT are cells whose
 * bodies coincide and act as one body; all other entries are bodies. */
#define NBODY_REF_POINT 0x80000000u
struct nbody_ref_lists {
    uint32_t *cell, *body;
    size_t cells, bodies;
};

/* Write the interaction lists of bodies first .. first + count - 1. A cell is used as a whole if
 * the squared distance of its centre of mass from the group's bounding box exceeds size[0] g2 and
 * size[1]. `lanes` cells are popped from the stack at once, as by the work-items of a device; the
 * stack has room for `room` cells. `lists` has room for all cells and bodies. */
void nbody_ref_tree_walk(const struct nbody_ref_tree *t, size_t first, size_t count, float g2,
                         size_t lanes, size_t room, struct nbody_ref_lists *lists);

/* Compute acceleration and potential at body i from its lists; either may be NULL. The body itself
 * is excluded. */
void nbody_ref_tree_pull(const struct nbody_ref_tree *t, const struct nbody_ref_lists *lists,
                         size_t i, double eps, double acc[3], double *potential);

#endif
