/* ranks.h - partition of the rows among devices and ranks, and messages between ranks (ranks.c).
 * With a single rank they do nothing, except nbody_ranks_divide.
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

/* Exchange of positions between host images. receive: post the receives, once nothing reads the
 * other ranks' rows any more. send: send this rank's rows. finish: block until all other rows have
 * arrived. */
int nbody_ranks_receive(struct nbody *nb);
int nbody_ranks_send(struct nbody *nb);
int nbody_ranks_finish(struct nbody *nb);

/* Fill other[0] with the rows of lower ranks and other[1] with the rows of higher ranks; only first
 * and rows are set. Return 2, or 0 with a single rank. */
size_t nbody_ranks_others(const struct nbody *nb, struct nbody_device *other);

#endif
