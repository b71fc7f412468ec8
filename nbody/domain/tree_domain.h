/* tree_domain.h - domains of the tree, one per device: key ranges on the Hilbert curve, the
 * distributed tree, and locally essential trees.
 *
 *   domain.c           boundaries, load balancing, transfers
 *   domain_build.c     migration, sort, halo, cells, return of forces
 *   let.c              export of cells and bodies to other domains
 *   device_threads.c   launches on all GPUs at the same time
 *   domain.cl let.cl   their kernels
 *
 * The order of calls for a sum over several domains:
 *
 *   tree_evaluate (force/tree.c)
 *     nbody_domain_build    root cube, boundaries, migration, sort, halo, cells, top tree
 *       nbody_let_find      export walks, exchange, import, tree walks
 *     nbody_tree_walk_all   walks that nbody_let_find has not started
 *     nbody_domain_return   forces return to the devices that own the bodies
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_TREE_DOMAIN_H
#define STDCL_NBODY_TREE_DOMAIN_H

#include "nbody/force/tree.h"

/* Constants of domain.cl and let.cl. */
enum {
    TREE_MERGED = 8,                   /* groups with one merged bounding box */
    TREE_EDGE_BODIES = 2 * TREE_GROUP, /* bodies of a domain that go to neighbours' halos */
    TREE_TOP_CELLS = 16,               /* cells of a level in the top tree, per domain */
    TREE_SAMPLES = 1024,               /* keys a domain samples for the first boundaries */
    TREE_FLAGS = 2048,                 /* flagged groups, at most, per pair of domains */
    TREE_COUNTS = 4                    /* counters per pair of domains */
};

/* ---- domain.c -------------------------------------------------------------------------------- */

/* Enqueue work on one device. */
typedef int (*launch_fn)(struct nbody *nb, struct nbody_device *p, cl_uint arg);

/* The device, on any rank, that owns domain k. */
struct owner {
    int rank;
    struct nbody_device *device; /* NULL on another rank */
    size_t first, count;         /* rows that the device integrates */
    double fraction;             /* wanted fraction of the total work */
    double speed;                /* measured speed relative to the mean */
};

/* When a download begins: after the commands of the main queue so far, on this queue or beside it
 * on a side queue; or at once, as the host has waited for a later command than the kernel that
 * wrote the bytes. */
enum download { IN_ORDER, BESIDE, READY };

/* Bytes of a block that domain `from` has and domain `to`, or the hosts of all ranks, receive: at
 * equal offsets of the block, or at `to_at`. Transfers of the same bytes are adjacent in a list. */
#define TO_HOSTS ((cl_uint)-1)
struct transfer {
    cl_uint from, to;
    void *at;    /* where this rank's host has the bytes */
    void *to_at; /* where the device of domain `to` gets the bytes, if it is this rank's */
    size_t bytes;
    enum download when;
    cl_event ev_download; /* download that was started before; NULL: none */
};

/* Cells and bodies that a domain exports to a second one. Both devices and their hosts have the
 * blocks. */
enum { CELLS, BODIES, KINDS };
struct let_export {
    void *block[KINDS];   /* packed; NULL where neither domain is this rank's */
    cl_uint room[KINDS];  /* of the block: constant until an export overflows it */
    cl_uint early[KINDS]; /* number that is downloaded while the second pass of the walks runs */
    cl_uint sent[KINDS];  /* number that the other domain has */
    cl_event ev_download[KINDS];
    void *flag; /* [2][TREE_FLAGS]: groups of the other domain, and its merged boxes */
};

/* A tree in several domains: key ranges on the Hilbert curve, one per device.
 *
 * Each GPU of the rank has an image of a block of its own. Bytes move between two devices at equal
 * offsets of a block, through the host image, and by messages between ranks. CPUs share the host
 * image of large blocks (CL_MEM_ZEROCOPY): a domain writes its own parts, and copies are markers.
 * Migrating bodies move from a block of one device to a block of the second one.
 * Arrays of [domain][other] have n * n entries.
 */
struct domains {
    cl_uint n; /* of them */
    struct owner *owner;
    struct device_threads *threads;
    bool cannot_extend_keys; /* as in struct tree, on any device */
    enum sum_kind sum;       /* sum that the domains are built for */

    /* Root cube and domain boundaries. */
    double side;    /* side of the cube that the boundaries belong to */
    double cube[4]; /* root cube of the last tree */
    bool cube_known;
    bool cube_predicted; /* the last cube is used until the bounding box is known */
    bool boundaries_known;
    bool boundaries_changed; /* since the last build */
    bool boundaries_moved;   /* not yet uploaded */
    cl_ulong *boundary;      /* n + 1: first key of each domain */
    cl_ulong *samples;       /* [domain][TREE_SAMPLES] keys, for the first boundaries */
    cl_uint *begin;          /* n + 1: first body of each domain in tree order */

    /* Load balancing. */
    cl_uint balance_checks;                       /* calls of nbody_domain_balance */
    double repartitioned_at, repartition_seconds; /* time and cost of the last repartition */
    bool repartitioned;                           /* since the domains are balanced */
    double walks_began;                           /* start of the running walks; 0: none */
    double *walk_seconds;                         /* accumulated walk time of each domain */
    cl_uint *walk_count;                          /* walks in walk_seconds */
    double *cost, *rate;                          /* of each domain's walks; cost per second */
    cl_ulong *moved;                              /* new boundaries */
    cl_uint wait_first;                           /* domain whose walks are timed next */

    /* Migration: bodies that lie in another device's domain, and the return of their forces. */
    cl_uint *slot_begin; /* [device][n + 1]: first slot of the bodies for each domain */
    bool late_returns;   /* rows are updated before their returned forces arrive */

    /* Counters: [domain][counts_each], downloaded and gathered. TREE_COUNTS for each other domain
     * {cells, bodies, flagged groups, flagged merged boxes}, then two packed counts for each; the
     * last two are nbody_let_single_index and nbody_let_stale_index. Migration and cell counts use
     * the first entries. */
    cl_uint *counts;
    cl_uint counts_each;

    void *edge;    /* struct edge of each domain (domain.cl) */
    void *toptree; /* [domain][level][TREE_TOP_CELLS] packed cells that all domains hold */

    /* Bounding boxes of groups: per domain the merged boxes, then boxes of single groups. */
    void *group_box;
    cl_uint *nsingle;         /* boxes of single groups of each domain */
    cl_uint single_room;      /* room for them in group_box, per domain */
    cl_uint sums_since_reset; /* sums since split_groups was cleared */

    /* Locally essential trees. */
    struct let_export *let; /* [domain][other] */
    void *split_box;        /* boxes of few bodies of flagged groups */
    size_t split_capacity;

    /* Transfers of the next exchange, and its messages. */
    struct transfer *list;
    size_t nlist;
    world_request **send_request, **receive_request;
    size_t nsend, nreceive;

    /* Events of each domain; NULL: none. */
    struct domain_events {
        cl_event box;     /* download of bounding boxes of the device's bodies */
        cl_event boxes;   /* download of the number of boxes of single groups */
        cl_event toptree; /* download of the top cells */
        cl_event packed;  /* end of let_pack */
        cl_event upload;  /* last upload on the side queue */
        cl_event walks;   /* end of the walks and of the downloads of their forces */
    } * ev;
};

/* Loop over all pairs of domains, and over their exports. */
#define EACH_PAIR(s, from, to)                                                                     \
    for (cl_uint from = 0; from < (s)->n; from++)                                                  \
        for (cl_uint to = 0; to < (s)->n; to++)
#define EACH_EXPORT(s, from, to, kind)                                                             \
    EACH_PAIR(s, from, to)                                                                         \
    for (size_t kind = from == to ? KINDS : 0; kind < KINDS; kind++)

/* Allocate the buffers of domain.c; free them. */
int nbody_domain_allocate_all(struct nbody *nb);
void nbody_domain_free_all(struct nbody *nb);

/* Allocate a block; NULL: out of memory. It is large enough for the layer to pin its host memory: a
 * copy to pageable memory would block. flags: CL_MEM_ZEROCOPY, or CL_MEM_PER_DEVICE for a block
 * that the host reads while kernels write it. free_block: free one of an engine that continues;
 * NULL: none. */
void *nbody_domain_block(struct nbody *nb, size_t bytes, int flags);
void nbody_domain_free_block(struct nbody *nb, void *block);

/* Make room for `slots` migrating bodies of a device, sent or received: 1 if the buffers were
 * allocated again, else 0; -1: out of memory. */
int nbody_domain_reserve(struct nbody *nb, struct nbody_device *p, struct migrants *m,
                         size_t slots);

/* Events belong to the caller of a function that returns them in *ev, which is NULL or an earlier
 * one. wait_event: block until it is complete, and release it; nothing for NULL. */
void nbody_domain_forget_event(cl_event *ev);
int nbody_domain_wait_event(struct nbody *nb, const struct nbody_device *p, cl_event *ev);

/* Enqueue an upload on the device's main queue, or a download; without bytes, an event at its
 * place. */
int nbody_domain_upload(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes);
int nbody_domain_download(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                          enum download when, cl_event *ev);

/* Add a transfer to the list of the next exchange, unless it is empty, within a domain, or between
 * two other ranks. ev: the event of a download that was begun, which the list takes; NULL, or of a
 * NULL event: none. add_to: from a block of the first device to a block of the second one; an
 * address on another rank's device is not used. clear_list: forget the transfers of a
 * cancelled sum. */
void nbody_domain_add(struct nbody *nb, cl_uint from, cl_uint to, void *at, size_t bytes,
                      enum download when, cl_event *ev);
void nbody_domain_add_to(struct nbody *nb, cl_uint from, cl_uint to, void *at, void *to_at,
                         size_t bytes, enum download when);
void nbody_domain_clear_list(struct domains *s);

/* Collective. Perform the transfers of the list. Block until the downloads have ended. `meanwhile`
 * (NULL: none) is enqueued on all devices after the downloads and is not waited for. Uploads use
 * side queues: a command that reads the bytes follows nbody_domain_barrier or
 * nbody_domain_wait_uploads. */
int nbody_domain_exchange(struct nbody *nb, launch_fn meanwhile);

/* Collective. Exchange, after adding bytes of each domain for the hosts of all ranks: `bytes` at
 * multiples of `stride` in a block; or the first `words` counters of each domain. */
int nbody_domain_gather(struct nbody *nb, void *block, size_t stride, size_t bytes,
                        enum download when, launch_fn meanwhile);
int nbody_domain_gather_counts(struct nbody *nb, size_t words, enum download when,
                               launch_fn meanwhile);

/* Enqueue a barrier: later commands of the main queue wait for all copies on side queues. */
int nbody_domain_barrier(struct nbody *nb, const struct nbody_device *p);

/* Block until the uploads on the device's side queue have ended. Compared with nbody_domain_barrier
 * it costs less device time and more host time. */
int nbody_domain_wait_uploads(struct nbody *nb, const struct nbody_device *p);

/* Enqueue the import of `count` packed cells of a domain, from number `first` of a block. to: the
 * first of them on this device; -1 for top cells, which have numbers. */
int nbody_domain_import_nodes(struct nbody *nb, struct nbody_device *p, cl_uint domain, void *cells,
                              size_t first, size_t count, cl_uint to);

/* Exchange the list with forces in two halves, between which other work may be enqueued. begin:
 * enqueue the downloads after the walks. end: block until the downloads have ended, record the walk
 * time, and enqueue the uploads. */
int nbody_domain_begin_return(struct nbody *nb);
int nbody_domain_end_return(struct nbody *nb);

/* Bytes of a packed cell (PACKED_CELL in multipole.cl). */
static inline size_t nbody_domain_cell_bytes(const struct nbody *nb)
{
    return 4 * sizeof(cl_uint) + (nb->moments == 2 ? 14u : 38u) * nb->real;
}

/* Bytes of a packed body (PACKED_BODY in multipole.cl). */
static inline size_t nbody_domain_body_bytes(const struct nbody *nb)
{
    return 5 * nb->real;
}

/* Return word w of a domain's entry {children, before, key overflow, -} for its shared node of a
 * level (toptree_pack in domain.cl). Word 2 is valid for level 0 only. */
static inline cl_uint nbody_domain_shared_node(const struct nbody *nb, cl_uint domain,
                                               cl_uint level, size_t w)
{
    const size_t levels = nb->domain.key_words * TREE_LEVELS + 1,
                 at = (domain * levels + level + 1) * TREE_TOP_CELLS - 1;
    return ((const cl_uint *)((const char *)nb->domain.tree->toptree +
                              at * nbody_domain_cell_bytes(nb)))[w];
}

/* ---- domain_build.c -------------------------------------------------------------------------- */

/* Collective. Compute the root cube of all bodies and upload it to the devices, outside of a sum:
 * the next sum finds its own. Blocks. */
int nbody_domain_measure_cube(struct nbody *nb);

/* ---- device_threads.c ------------------------------------------------------------------------ */

/* Start and end the launcher threads, if several devices own domains and all are GPUs. */
int nbody_device_threads_open(struct nbody *nb);
void nbody_device_threads_free(struct nbody *nb);

/* Call launch(nb, p, arg) concurrently for all of this rank's devices that own a domain, and block
 * until all calls have returned. `launch` may enqueue commands and change its own device's state;
 * it may block for copies in flight only. */
int nbody_device_threads_all(struct nbody *nb, launch_fn launch, cl_uint arg);

/* ---- let.c ----------------------------------------------------------------------------------- */

/* Index in domains->counts of a domain's number of boxes of single groups. */
static inline cl_uint nbody_let_single_index(const struct nbody *nb, cl_uint domain)
{
    return (domain + 1) * nb->domain.tree->counts_each - 2;
}

/* Index in domains->counts of a flag: the root cell differs from the previous sum's. */
static inline cl_uint nbody_let_stale_index(const struct nbody *nb, cl_uint domain)
{
    return (domain + 1) * nb->domain.tree->counts_each - 1;
}

/* Enqueue the bounding boxes of a device's groups and the download of their number, and clear the
 * export counters. */
int nbody_let_start_boxes(struct nbody *nb, struct nbody_device *p);

/* Collective. Exchange the boxes of all domains. Blocks. */
int nbody_let_exchange_boxes(struct nbody *nb);

/* Enqueue the export walks, with the root cell of the previous sum. */
int nbody_let_walk(struct nbody *nb, bool geometric);

/* Collective. Exchange and import the locally essential trees, after the walks and after `join`,
 * which imports the top tree. Blocks. */
int nbody_let_find(struct nbody *nb, bool geometric, launch_fn join);
int nbody_let_allocate(struct nbody *nb);
void nbody_let_free(struct nbody *nb);

#endif
