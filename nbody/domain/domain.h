/* domain.h - which device of which rank owns which bodies, and the exchange between them.
 *
 *   ranks.c      the partition of rows among devices and ranks; messages between ranks
 *   allgather.c  positions of all bodies to all devices
 *   tree_domain.h  domains of the tree, and their locally essential trees
 *
 * With a single rank nb->domain.ranks is NULL, and all functions of ranks.c but
 * nbody_ranks_divide do nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_DOMAIN_H
#define STDCL_NBODY_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "stdcl/nbody.h"

struct nbody_device;

struct domain {
    size_t grain;            /* a device's bodies begin at a multiple of it */
    struct ranks *ranks;     /* NULL with one rank */
    struct domains *tree;    /* tree_domain.h; NULL where one device has the whole tree */
    uint64_t shared_version; /* particles.version when all devices had all positions */
};

struct device_domain {
    cl_event ev_download; /* download of the device's own positions */
    cl_event ev_upload;   /* last upload of other devices' positions */
};

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
size_t nbody_ranks_others(const struct nbody *nb, struct nbody_device *other);

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

/* ---- allgather.c ------------------------------------------------------------------------------- */

/* begin: enqueue the download of every device's own positions. finish: wait for these and enqueue
 * their upload to the other devices. Nothing to do with one device. */
int nbody_allgather_begin(struct nbody *nb);
int nbody_allgather_finish(struct nbody *nb);

/* Distribute the bodies by the caller's shares, or by the speed of the devices. Fills first, rows and
 * count of every device. */
int nbody_domain_divide(struct nbody *nb, const struct cldev_info *info,
                        const struct nbody_options *options, const double *mass,
                        const double (*pos)[3], const double (*vel)[3]);

/* Collective. Move bodies to the devices of their domains, in unchanged order, if it pays. */
int nbody_domain_repartition(struct nbody *nb);

/* True if every device holds the present positions of all bodies; set_shared: record it. */
bool nbody_domain_is_shared(const struct nbody *nb);
void nbody_domain_set_shared(struct nbody *nb);

#endif
