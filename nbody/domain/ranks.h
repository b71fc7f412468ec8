/* ranks.h - partition of the rows among devices and ranks, and messages between ranks (ranks.c).
 * With a single rank they do nothing, except nbody_ranks_divide.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_RANKS_H
#define STDCL_NBODY_RANKS_H

#include "nbody/engine.h"

/* Exchange of positions between host images. open: allocate it, with several ranks. receive: post
 * the receives, once nothing reads the other ranks' rows any more. send: send this rank's rows.
 * finish: block until all other rows have arrived. */
int nbody_ranks_open(struct nbody *nb);
int nbody_ranks_receive(struct nbody *nb);
int nbody_ranks_send(struct nbody *nb);
int nbody_ranks_finish(struct nbody *nb);

/* Fill other[0] with the rows of lower ranks and other[1] with the rows of higher ranks; only first
 * and rows are set. Return 2, or 0 with a single rank. */
size_t nbody_ranks_others(const struct nbody *nb, struct nbody_device *other);

#endif
