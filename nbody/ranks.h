/* ranks.h - bodies divided among devices and ranks (ranks.c). Without a world of several, nb->ranks
 * is NULL, and calls but that which divides do nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_RANKS_H
#define STDCL_NBODY_RANKS_H

#include "nbody/engine.h"

/* Collective. A number becomes the least common multiple of all ranks'; whether all devices of all
 * ranks are of one model, of which `info` is this rank's first and *alike tells of its own. */
int nbody_ranks_multiple(const struct nbody *nb, size_t *number);
int nbody_ranks_alike(const struct nbody *nb, const struct cldev_info *info, bool *alike);

/* Collective. Divides the bodies among the devices of all ranks by their weights, of which `weight`
 * are this rank's: fills first, rows and count of every share, and nb->padded. */
int nbody_ranks_divide(struct nbody *nb, const double *weight);
void nbody_ranks_free(struct nbody *nb);

/* The devices of all ranks that have bodies, in the order of these. The caller frees the array;
 * NULL: no memory. */
struct holder {
    int rank;
    size_t first, count; /* of bodies */
    size_t rows;         /* that there is room for, for a tree in parts */
};
struct holder *nbody_ranks_holders(const struct nbody *nb, size_t *n);

/* Gives these devices of all ranks other bodies: `first` has where each one's begin. Nothing is
 * copied. */
int nbody_ranks_redivide(struct nbody *nb, const size_t *first);

/* The exchange of positions between hosts' images: receive posts what will come, when nobody reads
 * the host's images of the others any more; send sends one's own, when they are there; finish waits
 * until all others' are. */
int nbody_ranks_receive(struct nbody *nb);
int nbody_ranks_send(struct nbody *nb);
int nbody_ranks_finish(struct nbody *nb);

/* The rows of other ranks, as shares of which only first and rows are set; how many of these there
 * are. */
size_t nbody_ranks_others(const struct nbody *nb, struct nbody_device others[2]);

/* Collective. Gives all ranks what each has of an array, `bytes` for so many bodies: 1, or a
 * divisor of shares. */
int nbody_ranks_spread(struct nbody *nb, void *rows, size_t bytes, size_t bodies);

/* Collective. Rank 0 gets x[k] of each of `count` rows of bodies from the rank that moves
 * row[k]. */
int nbody_ranks_collect(struct nbody *nb, size_t count, const cl_uint *row, float (*x)[3]);

/* Collective: the least of steps and of bad steps, and whether any rank is to stop. */
struct nbody_asked {
    int64_t steps, bad;
    int32_t stop;
};
int nbody_ranks_ask(const struct nbody *nb, struct nbody_asked *asked);

#endif
