/* tree.h - forces by a tree: what its files share.
 *
 *   tree.c        sums of forces by the tree, on all devices
 *   tree_room.c   its kernels and its memory on a device
 *   tree_divide.c which device walks which groups
 *   tree.cl       the tree itself; walk.cl with walk_cpu.cl or walk_gpu.cl: who meets what
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_TREE_H
#define STDCL_NBODY_TREE_H

#include "nbody/engine.h"
#include "nbody/nbody_ref_tree.h"

#include "stdcl/arrays.h"

enum { TREE_RUN = 16, TREE_AGAIN = 3, TREE_PARTS = 16 }; /* as in tree.cl, walk.cl, walk_gpu.cl */

enum { TREE_CROWD_PARTS = 64 }; /* work-items of a group that finds moments of the last level, as in moments.cl */

enum { TREE_SHARED = 256 }; /* groups that were put off whose walks work-groups share, on GPUs */

/* The most bodies of a cell that is not divided: as a rule, and where memory is short. */
enum { TREE_LEAF = 16, TREE_LARGE_LEAF = 32 };

enum tree_kernel {
    TREE_BOX, TREE_FRAME, TREE_KEYS, TREE_GATHER, TREE_COUNT, TREE_WRITE, TREE_MOMENTS,
    TREE_MOMENTS_LAST, TREE_TURNS, TREE_SCATTER, TREE_PLANES,
    TREE_SCATTER_POTENTIALS, TREE_WALK, TREE_WALK_AGAIN, TREE_WALK_JOIN, TREE_WALK_POTENTIALS, TREE_WALK_POTENTIALS_AGAIN,
    TREE_WALK_POTENTIALS_JOIN,
    TREE_KERNELS
};

/* On one device: the tree of all bodies, and the groups whose walks are this device's. Arrays are drawn in tree.cl and
 * walk.cl. */
struct tree {
    void *program[2]; /* build, walk */
    bool owner;       /* of them */
    cl_kernel kernel[TREE_KERNELS];
    arrays_sorter *sorter;
    cl_uint runs, parts; /* of bodies whose cells an item counts; of the box */
    cl_uint room;        /* for cells */
    size_t cell_bytes;   /* of it */
    cl_uint from, groups;
    void *part, *cube, *order, *body, *base, *link, *down, *com, *poles, *size, *felt, *info, *again, *turn, *shared;
    void *work;     /* one after the other: key and the sort's own memory; key and count; nb->pulled, of a single device */
    void *key, *sort, *count; /* parts of it */
    void *second;   /* words of keys, where there are two */
    cl_uint words;  /* of a key */
    bool shallow;   /* there is no memory for two */
    cl_uint leaf;   /* the most bodies of a cell that is not divided */
    bool walking;   /* again is in use; after a sum that was stopped, too */
    bool gathered;  /* body holds bodies; else sums on their way to the caller's order */
    cl_uint *cells; /* how many the last tree has; and whether it is crowded (tree.cl) */
};

/* ---- tree_room.c ------------------------------------------------------------------------------ */

/* Makes room for so many cells. */
int nbody_tree_grow(struct nbody *nb, struct share *p, cl_uint room);

/* Keys of two words from now on, on all devices; 1 where there is no memory for them, or there are too many bodies. */
int nbody_tree_deepen(struct nbody *nb);

/* Groups whose walks work-groups share at most. */
size_t nbody_tree_shared(const struct nbody *nb, const struct share *p);

/* ---- tree_divide.c ---------------------------------------------------------------------------- */

/* Divides the groups between devices by what the last walks cost and how fast devices are; evenly before there were any.
 * Blocks. */
int nbody_tree_divide(struct nbody *nb);

/* ---- tree.c ----------------------------------------------------------------------------------- */

/* By what cells count as larger, since the centre of mass is rounded (tree.cl). */
double nbody_tree_blur(const struct nbody *nb);

/* For tests: makes a device's tree, of which a sum keeps no keys. */
int nbody_tree_plant(struct nbody *nb, struct share *p);

/* What the groups meet, for tests: lists of TREE_GROUP bodies each as walk.cl leaves them, `room` numbers a group, after a
 * sum of forces on one device. */
int nbody_tree_lists(struct nbody *nb, struct share *p, void *lists, cl_uint room);

#endif
