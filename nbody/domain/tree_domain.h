/* tree_domain.h - domains of the tree, one per device: key ranges on the Hilbert curve, the
 * distributed tree, and locally essential trees.
 *
 *   domain.c           creation
 *   exchange.c         transfers, blocks of pairs of domains
 *   host_memory.c      memory that ranks of one host share, for these blocks
 *   balance.c          load balancing
 *   domain_build.c     root cube, sort, halo, cells
 *   migrate.c          migration, return of forces
 *   let.c              export of cells and bodies to other domains
 *   device_threads.c   launches on all GPUs at the same time
 *   domain.cl let.cl   their kernels
 *
 * The order of calls for a sum over several domains:
 *
 *   tree_evaluate (force/tree.c)
 *     nbody_domain_build    root cube, boundaries, migration, sort, halo, boxes, cells, top tree
 *       nbody_let_find      export walks, exchange, import, tree walks
 *     nbody_tree_walk_all   walks that nbody_let_find has not started
 *     nbody_domain_return   forces return to the devices that own the bodies (migrate.c)
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
    TREE_LEAST_BLOCK = 32768,          /* bytes of a block with pinned host memory, at least */
    TREE_FLAGS = 2048,                 /* flagged boxes, at most, per pair of domains */
    TREE_COUNTS = 3                    /* counters per pair of domains: cells, bodies, flags;
                                          after all: 1 if the root cell differs from the last sum's */
};

/* ---- domain.c, exchange.c, balance.c --------------------------------------------------------- */

/* The device, on any rank, that owns domain k: it has the rows of nb->domain.holder[k]. */
struct owner {
    int rank;
    cl_uint number;              /* of the domain among its rank's, which are consecutive */
    struct nbody_device *device; /* NULL on another rank */
    double fraction;             /* wanted fraction of the total work */
    double speed;                /* measured speed relative to the mean */
    double walk_seconds;         /* accumulated time of `walks` walks */
    cl_uint walks;
};

/* Bytes of a block that domain `from` has, and that are received at equal offsets by domain `to`,
 * by the hosts of all ranks, or by these and all domains. TO_PAIRS: each rank's host receives the
 * counters of `from` for its own domains. */
#define TO_HOSTS ((cl_uint)-1)
#define TO_DOMAINS ((cl_uint)-2)
#define TO_PAIRS ((cl_uint)-3)
struct transfer {
    cl_uint from, to;
    void *at;
    size_t bytes;
    bool in_region; /* host_memory.c: ranks that share memory send each other no bytes, and the
                       message says that they are there */
    cl_event ev_download; /* NULL: none */
};

/* The file in memory that a rank shares with the other ranks of its host. */
struct host_file {
    int process;
    int descriptor;   /* in that process; after open, in this one; -1: not shared */
    uint64_t mark[2]; /* its first bytes, which are random */
};

/* Blocks of an ordered pair of domains, on the ranks of these two only. Both devices and their
 * hosts have them (ranks of one host share the host's), and both ranks know their room. The second
 * domain receives exported cells, exported bodies, the numbers of the boxes that the first one
 * flagged, and bodies that migrate; in return it sends smaller boxes, and the sums of the migrated
 * bodies. */
enum pair_kind { CELLS, BODIES, FLAGS, BOXES, MIGRANTS, FORCE_SUMS, PAIR_KINDS, EXPORTS = FLAGS };
struct pair {
    cl_uint from, to;
    void *block[PAIR_KINDS];       /* NULL in the pair of a domain and itself */
    cl_uint room[PAIR_KINDS];      /* elements of the block */
    cl_uint exported[TREE_COUNTS]; /* by the last walks: cells, bodies, flags */
    cl_uint refined;               /* flags that smaller boxes have replaced */
    cl_uint migrants;              /* bodies that migrated in this sum */
};

/* A tree in several domains: key ranges on the Hilbert curve, one per device.
 *
 * Each GPU of the rank has its own image of a block. Bytes move between two devices at equal
 * offsets of a block, through the host image, and between ranks by messages, or by a host image
 * that both ranks map (host_memory.c). CPUs work in the host image of large blocks
 * (CL_MEM_ZEROCOPY): a domain writes its own parts, and copies are markers.
 */
struct domains {
    cl_uint n;          /* of them */
    cl_uint own, owned; /* this rank's first domain, and their number */
    struct owner *owner;
    struct device_threads *threads;
    struct sorted_rows *sorted; /* receives the devices' rows during a sort */
    bool cannot_extend_keys;    /* as in struct tree, on any device */
    enum sum_kind sum;          /* sum that the domains are built for */
    cl_uint geometric;          /* its opening criterion */

    /* Root cube and domain boundaries. */
    double cube_side;        /* of the root cube */
    double side;             /* of the cube that the boundaries belong to; 0: no boundaries */
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
    double *cost, *rate;                          /* of each domain's walks; cost per second */
    cl_ulong *numbers;                            /* of the domains: new boundaries, or bodies */
    cl_uint wait_first;                           /* domain whose walks are timed next */

    /* Counters of other ranks' domains that this rank received last: [domain][arrived_words].
     * counts_each: counters for each other domain, TO_PAIRS. */
    cl_uint *arrived;
    size_t arrived_words;
    cl_uint counts_each;

    void *edge;    /* struct edge of each domain (domain.cl) */
    void *toptree; /* [domain][level][TREE_TOP_CELLS] packed cells that all domains hold */

    /* Bounding boxes of the groups of all domains (let.c), and the rank that has them in its file;
     * -1: none. */
    void *group_box;
    int group_box_file;

    /* Pairs that one of this rank's domains belongs to: [own domain][other], then
     * [domain of another rank][own domain]. */
    struct pair *pair;
    size_t npairs;

    /* Transfers of the next exchange, and its messages. */
    struct transfer *list;
    size_t nlist;
    struct host_file *file; /* of each rank; descriptor -1 without other ranks on this host */
    world_request **send_request, **receive_request;
    size_t nsend, nreceive;
};

/* Loop over this rank's pairs of domains, and over their exports. Two ranks loop over the pairs of
 * their domains in the same order, so that messages between them match. */
#define EACH_PAIR(s, e) for (struct pair *e = (s)->pair; e < (s)->pair + (s)->npairs; e++)
#define EACH_EXPORT(s, e, kind)                                                                    \
    EACH_PAIR(s, e)                                                                                \
    for (size_t kind = e->from == e->to ? EXPORTS : 0; kind < EXPORTS; kind++)

/* Make room for `count` migrated bodies on a device; the contents are lost. */
int nbody_domain_reserve_received(struct nbody *nb, struct nbody_device *p, size_t count);

/* Return an ordered pair, with a domain of this rank. reserve: make room for `count` elements of a
 * block, on both ranks. If it grows, its contents are lost. -1: out of memory. free_block: block
 * until it is idle. */
static inline struct pair *nbody_domain_pair(const struct domains *s, cl_uint from, cl_uint to)
{
    if (s->owner[from].device)
        return &s->pair[(from - s->own) * s->n + to];
    const cl_uint other = from < s->own ? from : from - s->owned;
    return &s->pair[s->owned * (s->n + other) + to - s->own];
}
int nbody_domain_reserve(struct nbody *nb, struct pair *e, enum pair_kind kind, cl_uint count);
void nbody_domain_free_block(const struct nbody *nb, struct pair *e, enum pair_kind kind);

/* Events belong to the caller of a function that returns them in *ev, which is NULL or an earlier
 * one. wait_event: block until it is complete, and release it; nothing for NULL. */
void nbody_domain_forget_event(cl_event *ev);
int nbody_domain_wait_event(struct nbody *nb, const struct nbody_device *p, cl_event *ev);

/* Enqueue an upload, or a download, on the device's main queue; without bytes, an event at its
 * place. beside: on a side queue, after the commands of the main queue so far. */
int nbody_domain_upload(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes);
int nbody_domain_download(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                          bool beside, cl_event *ev);

/* Add a transfer to the list of the next exchange, unless it is empty or within a domain; between
 * two domains, one is this rank's. add_region: in_region says whether the bytes are in a region.
 * add_block: `count` elements of a block of a pair. clear_list: forget the transfers of a cancelled
 * sum. */
void nbody_domain_add(struct nbody *nb, cl_uint from, cl_uint to, void *at, size_t bytes);
void nbody_domain_add_region(struct nbody *nb, cl_uint from, cl_uint to, void *at, size_t bytes,
                             bool in_region);
void nbody_domain_add_block(struct nbody *nb, const struct pair *e, enum pair_kind kind,
                            cl_uint first, cl_uint count);
void nbody_domain_clear_list(struct domains *s);

/* Collective. Perform the transfers of the list. Block until the downloads and the messages have
 * ended. `meanwhile` (NULL: none) is enqueued on all devices after the downloads, which do not
 * delay it, and is not waited for. Uploads use side queues: nbody_domain_barrier or
 * nbody_domain_wait_uploads precedes commands that read the bytes. exchange_return: after the
 * walks; records their time. */
int nbody_domain_exchange(struct nbody *nb, launch_fn meanwhile);
int nbody_domain_exchange_return(struct nbody *nb);

/* Collective. Exchange bytes of each domain for the hosts of all ranks: `bytes` at multiples of
 * `bytes` in a block. exchange_counts: the first `each` counters of each domain (TO_HOSTS); or
 * `each` for each of the receiving rank's domains, and the one after these (TO_PAIRS). */
int nbody_domain_gather(struct nbody *nb, void *block, size_t bytes);
int nbody_domain_exchange_counts(struct nbody *nb, cl_uint to, cl_uint each);

/* Return the counters of a domain, or of a pair, that were exchanged last. */
static inline cl_uint *nbody_domain_counts(const struct domains *s, cl_uint domain)
{
    struct nbody_device *const p = s->owner[domain].device;
    return p ? p->domain.counts : s->arrived + domain * s->arrived_words;
}
static inline const cl_uint *nbody_domain_pair_counts(const struct domains *s, const struct pair *e)
{
    const cl_uint first = s->owner[e->from].device ? 0 : s->own;
    return nbody_domain_counts(s, e->from) + s->counts_each * (e->to - first);
}

/* Enqueue a barrier: later commands of the main queue wait for the uploads on the side queue. Or
 * block until these have ended: less device time, more host time. */
int nbody_domain_barrier(struct nbody *nb, const struct nbody_device *p);
int nbody_domain_wait_uploads(struct nbody *nb, struct nbody_device *p);

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

/* ---- host_memory.c --------------------------------------------------------------------------- */

/* Collective. Let the ranks of each host share memory, if that is possible on all ranks. close:
 * after all blocks are freed. shared: true if blocks may be in the file of this rank, which is this
 * one or another one of its host; false for all ranks if no memory is shared. */
int nbody_host_memory_open(struct nbody *nb);
void nbody_host_memory_close(struct nbody *nb);
bool nbody_host_memory_shared(const struct nbody *nb, int rank);

/* Allocate a block of CL_MEM_ZEROCOPY. Its host image is a region of a rank's file: ranks that
 * allocate the same region, of the same size, share its bytes. rank -1: memory of this process
 * only. NULL: an error. free: block until the block is idle, and free it; rank as for alloc. block
 * NULL is allowed.
 *
 * A device may write a region once a message says that the other ranks' devices have read its
 * former contents:
 * - Each domain sends the counters of its migrating bodies after it has imported all blocks of the
 *   last sum. All ranks receive the counters before they write blocks for the first time in a sum.
 * - Exports and flags are written again after nbody_ranks_reduce_or, and nothing was imported yet.
 * - Smaller boxes are written again after the counters of the walks that read them.
 * Ranks of one host receive equal boxes of another host's domain in the same place. */
enum { REGION_BOXES = 1, REGION_PAIRS };
void *nbody_host_memory_alloc(const struct nbody *nb, int rank, size_t region, size_t bytes);
void nbody_host_memory_free(int rank, void *block);

/* ---- migrate.c ------------------------------------------------------------------------------- */

/* Collective. Send migrating bodies to their domains, and set the range of each domain. unpack:
 * enqueue their insertion into the keys of a device's domain: rows from lower-numbered devices
 * precede the device's own rows, all others follow. */
int nbody_domain_migrate(struct nbody *nb);
int nbody_domain_unpack_migrants(struct nbody *nb, struct nbody_device *p);

/* ---- domain_build.c -------------------------------------------------------------------------- */

/* Collective. Compute the root cube of all bodies and upload it to the devices. Blocks. */
int nbody_domain_find_cube(struct nbody *nb);

/* ---- device_threads.c ------------------------------------------------------------------------ */

/* Start and end the launcher threads, if several GPUs own domains; the caller serves CPUs. */
int nbody_device_threads_open(struct nbody *nb);
void nbody_device_threads_free(struct nbody *nb);

/* ---- let.c ----------------------------------------------------------------------------------- */

/* Number of the counter of a domain's boxes of single groups, in group_box. */
size_t nbody_let_box_counter(const struct nbody *nb, cl_uint domain);

/* launch: enqueue the bounding boxes of a device's groups. add: list their transfers to all other
 * domains. max_boxes: number of boxes of all domains, at most. */
int nbody_let_launch_boxes(struct nbody *nb, struct nbody_device *p);
void nbody_let_add_boxes(struct nbody *nb);
size_t nbody_let_max_boxes(const struct nbody *nb);

/* Enqueue a device's export walks, with the root cell of the previous sum. */
int nbody_let_walk(struct nbody *nb, struct nbody_device *p);

/* Enqueue the import of `count` packed cells of a domain, from number `first` of a block. to: the
 * first of them on this device; -1 for top cells, which have numbers. */
int nbody_let_import_nodes(struct nbody *nb, struct nbody_device *p, cl_uint domain, void *cells,
                           size_t first, size_t count, cl_uint to);

/* Collective. Exchange and import the locally essential trees, after the export walks and after the
 * top tree is known, and start the walks that fit in one launch. Blocks. */
int nbody_let_find(struct nbody *nb);

#endif
