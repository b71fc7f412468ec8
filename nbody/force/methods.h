/* methods.h - the methods of summation, a row each (method.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_METHODS_H
#define STDCL_NBODY_METHODS_H

#include "nbody/engine.h"

/* A method of summation; all sums but external fields, which the caller adds. */
struct force_method {
    /* Choose parameters by the memory that is available; before any is allocated. NULL: nothing to
     * do. */
    int (*prepare)(struct nbody *nb);

    /* Build kernels and allocate memory beside nbody_forces_open. NULL: nothing to do. */
    int (*open)(struct nbody *nb);

    /* Enqueue a sum on all devices, as nbody_forces_evaluate. */
    int (*evaluate)(struct nbody *nb, enum sum_kind sum);

    /* Return the operations of a sum on all devices. */
    double (*work)(const struct nbody *nb, enum sum_kind sum);

    /* Wait for commands in flight, then close and free. NULL: nothing to do. */
    void (*free)(struct nbody *nb);
};
extern const struct force_method nbody_method_direct, nbody_method_baseline, nbody_method_tree;

/* Sums over all pairs, in single, double and mixed precision: nbody_method_direct. */
int nbody_direct_evaluate(struct nbody *nb, enum sum_kind sum);
double nbody_direct_work(const struct nbody *nb, enum sum_kind sum);

/* Objects of the baseline kernels (baseline.c). */
struct baseline {
    void *program;
    cl_kernel pack, force, unpack;
    void *bodies; /* array of structures; NULL for `tiled` */
};

/* prepare: choose how trees are built, by the memory available; before any is allocated. open:
 * build the kernels of every device and allocate the tree's memory. */
int nbody_tree_prepare(struct nbody *nb);
int nbody_tree_open(struct nbody *nb);

/* Wait for commands in flight, then close and free all. */
void nbody_tree_free(struct nbody *nb);

#endif
