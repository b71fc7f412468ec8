/* ranks.h - partition of the bodies among devices and ranks (ranks.c). With a single rank nb->ranks
 * is NULL; all functions except nbody_ranks_divide then do nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_RANKS_H
#define STDCL_NBODY_RANKS_H

#include "nbody/engine.h"

/* Collective. multiple: replace *number by the least common multiple over all ranks. alike: AND of
 * *same_model over all ranks, false if the ranks' first devices differ; in: all devices of this
 * rank are of one model; info: this rank's first device. */
int nbody_ranks_multiple(const struct nbody *nb, size_t *number);
int nbody_ranks_alike(const struct nbody *nb, const struct cldev_info *info, bool *same_model);

/* Collective. Divide the bodies among the devices of all ranks in proportion to their weights;
 * weight[]: one per device of this rank. Fills first, rows and count of every device, and
 * nb->padded. */
int nbody_ranks_divide(struct nbody *nb, const double *weight);
void nbody_ranks_free(struct nbody *nb);

/* A device, on any rank, that has bodies. nbody_ranks_holders returns them in the order of their
 * rows; the caller frees the array. NULL: out of memory. */
struct holder {
    int rank;
    size_t first, count; /* rows of the device */
    size_t rows;         /* capacity, for a distributed tree */
};
struct holder *nbody_ranks_holders(const struct nbody *nb, size_t *n);

/* Set the first row of each device of all ranks. Copies nothing. */
int nbody_ranks_redivide(struct nbody *nb, const size_t *first);

/* Exchange of positions between host images. receive: post the receives, once nothing reads the
 * other ranks' rows any more. send: send this rank's rows. finish: block until all other rows have
 * arrived. */
int nbody_ranks_receive(struct nbody *nb);
int nbody_ranks_send(struct nbody *nb);
int nbody_ranks_finish(struct nbody *nb);

/* Fill other[0] with the rows of lower ranks and other[1] with the rows of higher ranks; only first
 * and rows are set. Return 2, or 0 with a single rank. */
size_t nbody_ranks_others(const struct nbody *nb, struct nbody_device other[2]);

/* Collective. Gather an array on all ranks: `bytes` for each `bodies` bodies, where `bodies` is 1
 * or a divisor of the devices' ranges. */
int nbody_ranks_spread(struct nbody *nb, void *rows, size_t bytes, size_t bodies);

/* Collective. Collect on rank 0: x[k] from the rank that integrates row[k], for `count` rows. */
int nbody_ranks_collect(struct nbody *nb, size_t count, const cl_uint *row, float (*x)[3]);

/* Collective. Reduce over all ranks: minimum of steps and of bad, and whether any rank stops. */
struct nbody_asked {
    int64_t steps, bad;
    int32_t stop;
};
int nbody_ranks_ask(const struct nbody *nb, struct nbody_asked *asked);

#endif
