/* domain.h - which device of which rank owns which bodies, and the exchange between them.
 *
 *   slices.c     the bodies that each rank passes and receives
 *   route.c      numbers of bodies to the ranks that need them
 *   ranks.c      the partition of rows among devices and ranks; results of all ranks
 *   allgather.c  positions of all bodies to all devices of all ranks
 *   divide.c     initial distribution; repartition.c: by the domains of the tree
 *   row_order.c  all rows sorted along the Hilbert curve
 *   tree_domain.h  domains of the tree, and their locally essential trees
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_DOMAIN_H
#define STDCL_NBODY_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "nbody/force/force.h"
#include "nbody/reference/nbody_ref_tree.h"
#include "stdcl/nbody.h"
#include "stdcl/world.h"

struct nbody_device;

struct domain {
    size_t grain;                /* a device's bodies begin at a multiple of it */
    size_t *first_row;           /* of each rank, and n */
    struct holder *holder;       /* devices of all ranks that have bodies, by first row */
    size_t holders;              /* number of them */
    struct allgather *allgather; /* NULL with one rank */
    size_t *slice;           /* first body of each rank's slice, and n; NULL: all ranks pass all */
    struct domains *tree;    /* tree_domain.h; NULL where one device has the whole tree */
    cl_uint ndomains;        /* of the tree; 0 where one device has all of it */
    cl_uint key_words;       /* of the keys of domains, as in struct tree */
    uint64_t shared_version; /* particles.version when all devices had all positions */
};

/* With domains of the tree. */
struct device_domain {
    cl_uint index;       /* of the domain */
    cl_uint nkeys;       /* keys of the domain, including NO_KEY padding */
    cl_uint nkeys_lower; /* keys from lower-numbered devices; they precede the local keys */
    cl_uint cells_on_level[2 * TREE_LEVELS + 1]; /* cells of this domain */
    cl_uint *counts; /* of migration, of cells, or of exports (tree_domain.h) */
    void *received;  /* by slot, bodies of other devices in the domain; then their sums */
    size_t received_room;
    cl_event ev_box;    /* download of the bodies' bounding boxes; NULL: none */
    cl_event ev_upload; /* last upload on the side queue */
    cl_event ev_walks;  /* end of the walks */
};

/* Free the partition of the rows and the slices. */
void nbody_ranks_free(struct nbody *nb);

/* Cancel the *n receives of a failed exchange, and set *n to 0: nothing is written to their buffers
 * afterwards, unless the transport has failed or the sender has stopped. */
void nbody_ranks_cancel(stdcl_world *world, world_request *const *request, size_t *n);

/* A device, on any rank, that has bodies. */
struct holder {
    int rank;
    size_t first, count; /* rows of the device */
    size_t rows;         /* capacity, for a distributed tree */
};

/* redivide: set the first row of each device in nb->domain.holder; first[] has holders + 1 entries,
 * and the last one is n. Copies nothing. first_rows: fill first_row[], as in struct domain, for
 * these first rows. */
void nbody_ranks_redivide(struct nbody *nb, const size_t *first);
void nbody_ranks_first_rows(const struct nbody *nb, const size_t *first, size_t *first_row);

/* First row of this rank, and number of its rows. */
size_t nbody_ranks_own_first(const struct nbody *nb);
size_t nbody_ranks_own_rows(const struct nbody *nb);

/* Collective. Gather an array of all rows, of `bytes` bytes each, on all ranks. */
int nbody_ranks_spread(struct nbody *nb, void *rows, size_t bytes);

/* Collective. Bitwise OR of n words over all ranks. */
int nbody_ranks_reduce_or(const struct nbody *nb, cl_uint *words, size_t n);

/* Collective. Minimum of each of n numbers over all ranks. */
int nbody_ranks_min(const struct nbody *nb, int64_t *numbers, size_t n);

/* ---- slices.c -------------------------------------------------------------------------------- */

/* Collective. EINVAL unless the ranks' slices first .. first + count - 1 follow one another and are
 * all n bodies; else *firsts, which the caller frees, has the first body of each rank, and n. call:
 * the function named in messages. open: as the options say; nb->domain.slice stays NULL if the
 * ranks pass all bodies. */
int nbody_slices_check(stdcl_world *world, const char *call, size_t n, size_t first, size_t count,
                       size_t **firsts);
int nbody_slices_open(struct nbody *nb, const struct nbody_options *o);

/* Collective. Call work(value, arg) on one rank after the other, each with the value that the
 * previous rank left; then all ranks have the last rank's value. For sums in a fixed order. */
int nbody_slices_in_turn(stdcl_world *world, void *value, size_t bytes,
                         void (*work)(void *value, void *arg), void *arg);

/* ---- route.c --------------------------------------------------------------------------------- */

/* Which numbers travel between ranks: this rank's entries, ordered by destination, and its
 * arrivals, ordered by source. Freed by nbody_route_free. */
struct route {
    size_t *begin, *came; /* [ranks + 1]: first entry to each rank, first arrival from each */
    const cl_uint *order; /* index of each entry in the sender's array; NULL: 0, 1, ... */
    const cl_uint *place; /* index of each arrival in the receiver's array; NULL: 0, 1, ... */
    cl_uint *memory[2];   /* of order and place, unless the caller owns them */
};

/* Make a route on which all `count` entries of each rank stay there, in their order. */
int nbody_route_open(const struct nbody *nb, struct route *r, size_t count);
void nbody_route_free(struct route *r);

/* Collective. Make a route from this rank's `count` numbers, base, base + 1, ... or number[], to
 * the ranks of a partition: rank k has the numbers first[k] .. first[k + 1] - 1, at number -
 * first[k]. All ranks together have each number once. number[] is borrowed. */
int nbody_route_ranges(const struct nbody *nb, struct route *r, size_t base, size_t count,
                       const size_t *first);
int nbody_route_numbers(const struct nbody *nb, struct route *r, size_t count,
                        const cl_uint *number, const size_t *first);

/* Collective. Fill `came` from all ranks' `begin`. */
int nbody_route_exchange_counts(const struct nbody *nb, struct route *r);

/* Collective. Move an array of elements of `bytes` bytes along a route; `to` has room for all
 * arrivals. Blocks. */
int nbody_route_move(const struct nbody *nb, const struct route *r, size_t bytes, const void *from,
                     void *to);

/* ---- allgather.c ----------------------------------------------------------------------------- */

/* begin: post receives from other ranks, and enqueue the download of every device's own positions.
 * finish: wait for these and enqueue their upload to the other devices. Nothing to do with one
 * device. open: allocate the requests of several ranks. */
int nbody_allgather_open(struct nbody *nb);
void nbody_allgather_free(struct nbody *nb);
int nbody_allgather_begin(struct nbody *nb);
int nbody_allgather_finish(struct nbody *nb);

/* Distribute the bodies by the caller's shares, or by the speed of the devices, and fill first,
 * rows and count of every device. rate is called only if devices differ, and returns the
 * interactions per second of device `dev`; 0 on error. */
typedef double (*nbody_rate_fn)(struct nbody *nb, cl_uint dev, const void *arg);
int nbody_domain_divide(struct nbody *nb, const struct cldev_info *info,
                        const struct nbody_options *options, nbody_rate_fn rate, const void *arg);

/* Rows of this rank, sorted by their keys. */
struct sorted_rows {
    size_t n;
    cl_uint *row;   /* [n], counted from the rank's first */
    uint64_t *keys; /* [words][n], the first word is the highest */
    cl_uint words;
};

/* Collective. Make the route from all rows to their places along the Hilbert curve. Frees the
 * sorted rows, or keeps them for the route. Blocks. */
int nbody_domain_merge_rows(struct nbody *nb, struct sorted_rows *own, struct route *route);

/* Collective. Like nbody_domain_merge_rows, with domains: each device sorts its own rows. */
int nbody_domain_sort_rows(struct nbody *nb, struct route *route);

/* Collective. Move bodies to the devices of their domains, in unchanged order, if it pays. */
int nbody_domain_repartition(struct nbody *nb);

/* ---- domains of the tree --------------------------------------------------------------------- */

/* open: create the domains if several devices have bodies; this rank's devices have force.tree.
 * Collective. allocate: their buffers and launcher threads. Nothing to do without domains. */
int nbody_domain_open(struct nbody *nb);
int nbody_domain_allocate(struct nbody *nb);
void nbody_domain_free(struct nbody *nb);

/* End the launcher threads, before the trees are freed. */
void nbody_domain_stop_threads(struct nbody *nb);

/* Bytes of a halo (struct edge of domain.cl), and merged boxes of a domain of `bodies` bodies, at
 * most. */
size_t nbody_domain_edge_bytes(const struct nbody *nb);
size_t nbody_let_max_merged_boxes(size_t bodies);

/* Collective; they block several times. build: make the distributed tree and the locally essential
 * trees for a sum, and start the walks that need a single launch. return: send the walks' results
 * back to the bodies' devices. */
int nbody_domain_build(struct nbody *nb, enum sum_kind sum, bool geometric);
int nbody_domain_return(struct nbody *nb);

/* Collective. Move the domain boundaries to balance the measured cost and duration of the last
 * walks. Block until the devices are idle. balanced: true if this has settled. */
int nbody_domain_balance(struct nbody *nb);
bool nbody_domain_balanced(const struct nbody *nb);

/* Record the number of key words after trees have tried to extend them on all ranks: 1 if one of
 * them could not. */
void nbody_domain_set_key_words(struct nbody *nb, cl_uint words);

/* True if every device holds the present positions of all bodies, for direct sums; set_shared:
 * record it. */
bool nbody_domain_is_shared(const struct nbody *nb);
void nbody_domain_set_shared(struct nbody *nb);

/* ---- device_threads.c, with domains of the tree ---------------------------------------------- */

/* Enqueue work on one device. */
typedef int (*launch_fn)(struct nbody *nb, struct nbody_device *p);

/* Call launch(nb, p) concurrently for all of this rank's devices that own a domain, and block
 * until all calls have returned. `launch` may enqueue commands, change its own device's state and
 * wait for this device. */
int nbody_device_threads_all(struct nbody *nb, launch_fn launch);

#endif
