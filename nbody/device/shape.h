/* shape.h - launch parameters of a device, from the tuning store (shape.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_SHAPE_H
#define STDCL_NBODY_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "stdcl/nbody.h"

struct nbody_device;

/* Launch parameters of a device: X(key, minimum, maximum, default, meaning). Each key is a word of
 * a tuning entry, a -D macro of the kernels or a launch size of the host, and part of a benchmark's
 * label. The defaults serve devices without a tuning entry and are small enough for any device. */
/* clang-format off */
#define NBODY_SHAPE_KEYS(X)                                                                                        \
    X(group, 1, 1 << 20, 1, "work-items per group in the sums over pairs")                                         \
    X(width, 1, 16, 1, "vector width in bodies: 1 on GPUs; 4, 8 or 16 where vectors are SIMD registers")           \
    X(items, 1, 64, 4, "vectors of bodies that a work-item holds in registers")                                    \
    X(tile, 1, 1 << 20, 16, "source bodies loaded at once")                                                        \
    X(local, 0, 1, 0, "1: tiles go through local memory; j_split times tile is then a multiple of group")          \
    X(prefetch, 0, 1, 0, "1: with local=1, load the next tile into registers while one is summed")                 \
    X(j_split, 1, 1024, 1, "work-items per body, each with its own source chunk; above 1, a step is one launch")   \
    X(unroll, 1, 1 << 20, 1, "unroll factor of the loop over a tile")                                              \
    X(block, 1, 1 << 20, 256, "source bodies summed before they are added to the total; a multiple of tile")       \
    X(rsqrt, 0, 2, 0, "0: rsqrt(); 1: native_rsqrt(); 2: hardware estimate, corrected if needed")                  \
    X(groups_per_unit, 1, 1 << 20, 16, "work-groups wanted per compute unit; with fewer, each group sums one chunk")\
    X(fused_groups, 0, 1 << 20, 0, "work-groups of a multi-step launch, with a grid barrier after each step; sets items; 0: off")\
    X(group_1d, 8, 1 << 20, 8, "work-items per group in kernels with one work-item per body")                      \
    X(cluster_min, 1, 1 << 30, 65536, "mixed precision: N from which bodies are sorted along a curve and only near ones use the longer sum")\
    X(fp64, 0, 1, 1, "0: energies and momenta in pairs of floats, as on devices without doubles")                  \
    X(leaf, 0, 32, 0, "tree: maximum bodies of a leaf cell; 0: 16, or 32 to save memory")                          \
    X(moments, 0, 4, 0, "tree: highest order of the cells' moments, 2 or 4; 0: by the accuracy")                   \
    X(defer_factor, 10, 1000, 30, "tree: defer a group whose interaction list exceeds defer_factor/10 times the expected length")\
    X(second_group, 1, 32, 1, "tree on GPUs: bodies per group in the second pass over deferred groups")            \
    X(tree_min, 1, 1 << 30, 40000, "tree: N from which --method auto chooses the tree")                            \
    X(single_device_max, 0, 1 << 30, 0, "tree: use a single device up to this N, at accuracy 0.001")
/* clang-format on */

struct nbody_shape {
#define X(key, least, most, value, text) int key;
    NBODY_SHAPE_KEYS(X)
#undef X
};

/* Choose the launch parameters of a device: the entry of the tuning store, overridden by the
 * caller's words "KEY=NUMBER ..." (may be NULL). Fills p->shape and p->tuning. EINVAL for an
 * unknown key, for contradictory numbers, or for numbers that the device does not support. */
int nbody_shape_choose(const struct nbody *nb, struct nbody_device *p,
                       const struct cldev_info *info, const char *words);

/* Adapt a shape to clusters (direct_mixed.cl): the bodies of a group belong to one cluster, and
 * tiles are whole pieces. EINVAL if that is impossible. */
int nbody_shape_cluster(struct nbody_shape *shape);

/* Return the smallest N for the tree on the first device, by its tuning entry; 0 if the device
 * cannot be queried. */
size_t nbody_shape_crossover(const struct nbody *nb);

/* Write the build options of the sums over pairs, in doubles or floats, into text. */
void nbody_shape_options(const struct nbody *nb, const struct nbody_device *p, bool doubles,
                         char *text, size_t size);

/* Return the number of bodies that a work-group sums for. */
size_t nbody_shape_group_bodies(const struct nbody_shape *shape);

#endif
