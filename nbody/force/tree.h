/* tree.h - Barnes-Hut tree, domain decomposition and locally essential trees: the declarations that
 * the files of the tree share.
 *
 *   tree.c                 sum of forces by the tree, on all devices
 *   tree_buffers.c         programs, kernels and device buffers of the tree
 *   tree_build.c           kernel launches; cells and their moments on one device
 *   tree_walks.c           tree walks of groups of bodies
 *   domain.c               domain decomposition: boundaries, load balancing, transfers
 *   domain_build.c         the distributed tree: migration, sort, halo, cells, return of forces
 *   let.c                  locally essential tree: export of cells and bodies to other domains
 *   device_threads.c       one launcher thread per further GPU
 *   tree_order.c           rows sorted along the Hilbert curve by the devices
 *
 *   hilbert_keys.cl tree.cl moments.cl multipole.cl   keys, cells and moments
 *   domain.cl let.cl                                  kernels of the distributed tree
 *   walk.cl with walk_cpu.cl or walk_gpu.cl           opening criterion and force kernels
 *
 * The order of calls for a sum over several domains:
 *
 *   nbody_tree_evaluate
 *     nbody_domain_build    root cube, boundaries, migration, sort, halo, cells, top tree
 *       nbody_let_find      export walks, exchange, import, tree walks
 *     nbody_tree_walk_all   walks that nbody_let_find has not started
 *     nbody_domain_return   forces return to the devices that own the bodies
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_TREE_H
#define STDCL_NBODY_TREE_H

#include "nbody/engine.h"
#include "nbody/reference/nbody_ref_tree.h"

#include "stdcl/arrays.h"
#include "core/round.h"

/* Constants that the kernels define, too: RUN in tree.cl, DEFERRED_HEAD in walk.cl, WALK_PARTS in
 * walk_gpu.cl. */
enum { TREE_RUN = 16, TREE_DEFERRED_HEAD = 3, TREE_WALK_PARTS = 16 };

/* Work-groups next to each domain boundary that count cells only after the halo has arrived. The
 * bodies of one work-group are more than twice a leaf's, so one work-group suffices. */
enum { TREE_BOUNDARY_GROUPS = 1 };

/* Work-items of a group of moments_last: OVERFLOW_ITEMS in moments.cl. */
enum { TREE_OVERFLOW_ITEMS = 64 };

/* Deferred groups, at most, whose walks several work-groups of a GPU share. */
enum { TREE_SHARED = 256 };

/* Bodies of a leaf, at most: the default, and the value for devices with little memory. */
enum { TREE_LEAF = 16, TREE_LARGE_LEAF = 32 };

/* Constants of domain.cl and let.cl. */
enum {
    TREE_MERGED = 8,                   /* groups with one merged bounding box */
    TREE_EDGE_BODIES = 2 * TREE_GROUP, /* bodies of a domain that go to neighbours' halos */
    TREE_TOP_CELLS = 16,               /* cells of a level in the top tree, per domain */
    TREE_SAMPLES = 1024,               /* keys a domain samples for the first boundaries */
    TREE_FLAGS = 2048,                 /* flagged groups, at most, per pair of domains */
    TREE_COUNTS = 4                    /* counters per pair of domains */
};

/* Keys that a domain sorts in addition to one key per body, at most. */
enum { TREE_SPARE_KEYS = 4096 };

/* Bytes before a domain's first key, where the keys of the lower neighbour's halo stand. */
enum { TREE_KEY_MARGIN = 4096 };

/* Kernels by program, in this order: build (tree.cl), walk (walk.cl), the part of domain.cl that is
 * built with tree.cl, and let.cl. tree_buffers.c derives a kernel's program from its number. */
enum tree_kernel {
    TREE_BOUNDING_BOX,
    TREE_ROOT_CUBE,
    TREE_HILBERT_KEYS,
    TREE_GATHER_BODIES,
    TREE_COUNT,
    TREE_WRITE,
    TREE_MOMENTS,
    TREE_MOMENTS_LAST,
    TREE_COPY_ORDER,
    TREE_GATHER_ROWS,
    TREE_STORE_ROWS,
    TREE_COPY_COLUMN,
    TREE_GATHER_COLUMN,
    TREE_SCHEDULE_GROUPS,
    TREE_SCATTER_FORCES,
    TREE_STORE_FORCES,
    TREE_SCATTER_POTENTIALS,
    TREE_WALK,
    TREE_WALK_DEFERRED,
    TREE_WALK_REDUCE,
    TREE_WALK_POTENTIALS,
    TREE_WALK_POTENTIALS_DEFERRED,
    TREE_WALK_POTENTIALS_REDUCE,
    TREE_SAMPLE_KEYS,
    TREE_MIGRATE_COUNT,
    TREE_MIGRATE_PACK,
    TREE_SCAN_OFFSETS,
    TREE_MIGRATE_UNPACK,
    TREE_HALO_PACK,
    TREE_GROUP_BOXES,
    TREE_HALO_UNPACK,
    TREE_MARK_SPLIT,
    TREE_TOPTREE_PACK,
    TREE_IMPORT_NODES,
    TREE_IMPORT_BODIES,
    TREE_SHARED_NODE_MOMENTS,
    TREE_RETURN_FORCES,
    TREE_MARK_LATE,
    TREE_RECEIVE_FORCES,
    TREE_RETURN_POTENTIALS,
    TREE_RECEIVE_POTENTIALS,
    TREE_BOUNDARY_KEYS,
    TREE_LET_CLEAR,
    TREE_LET_EXPORT,
    TREE_LET_PACK,
    TREE_SPLIT_GROUPS,
    TREE_KERNELS
};
enum { TREE_PROGRAMS = 3 };

/* The tree on one device: the tree of all bodies, or the device's domain of it, and the groups that
 * the device walks. tree.cl, walk.cl, domain.cl and let.cl draw the arrays. */
struct tree {
    /* Programs and kernels; devices of equal shape share the first device's programs. */
    void *program[TREE_PROGRAMS];
    bool owns_programs;
    cl_kernel kernel[TREE_KERNELS];
    arrays_sorter *sorter;

    /* Sizes. */
    cl_uint runs;            /* runs of TREE_RUN bodies, one work-item each */
    cl_uint box_groups;      /* work-groups of the bounding-box reduction */
    cl_uint capacity;        /* cells that the cell arrays have room for */
    size_t cell_bytes;       /* bytes of the cell arrays */
    cl_uint leaf;            /* bodies of a leaf, at most */
    cl_uint key_words;       /* 63-bit words of a key: 1 or 2 */
    bool cannot_extend_keys; /* a second key word was refused: out of memory, or too many bodies */

    /* Target bodies of the walks, in tree order, and |a| of each in the last sum. */
    struct {
        void *body, *a_old;
        cl_uint n;
    } target;

    /* The domain. */
    cl_uint domain;              /* index of the domain; 0 without domains */
    cl_uint begin, bodies;       /* range of the domain in tree order; all bodies without domains */
    cl_uint nkeys;               /* keys of the domain, including NO_KEY padding */
    cl_uint nkeys_lower;         /* keys from lower-numbered devices; they precede the local keys */
    cl_uint first_group, groups; /* groups that this device walks */

    /* Device buffers of bodies and cells. */
    void *box_part, *cube;         /* partial bounding boxes; root cube {x, y, z, side} */
    void *order, *body;            /* row of each body, and bodies, in tree order */
    void *span;                    /* first cell and end of each level */
    void *shared_node;             /* cell of each level that other domains share, or NONE */
    void *link, *child_begin;      /* children or bodies of each cell */
    void *com, *multipoles, *size; /* centre of mass, multipole moments, opening size */
    void *a_old, *a_old_sorted;    /* |a| of the last sum by row, and in tree order */
    void *info;                    /* {cells, bodies, g2, deferred} of each group */
    void *deferred;                /* counters and the list of deferred groups */
    void *schedule;                /* walking order of the groups */
    void *shared_sum;              /* partial sums of deferred groups that work-groups share */
    cl_uint *cells;                /* {cells of the last tree, key overflow} */

    /* One allocation with successive uses: keys and the sort's workspace; keys and cell counts;
     * without domains also nb->force.forces_sorted. The pointers below point into it. */
    void *workspace;
    void *keys, *sort_workspace, *counts;
    void *keys_lo;      /* second key words; equal to `keys` with one word */
    void *key, *key_lo; /* the domain's own keys, between the keys of both halos */

    /* Distributed tree. */
    void *slot;          /* slot of each row that migrated here */
    void *halo;          /* struct edge of domain.cl, assembled from both neighbours */
    void *mark;          /* of each cell: last domain that it was exported to */
    void *split_groups;  /* of each merged box: 1 if its groups need boxes of their own */
    void *boundary_keys; /* keys of boundary_bodies */
    cl_uint *boundary_bodies, *cell_offset; /* new boundaries; offset of cell numbers per level */
    cl_uint total_cells;                    /* cells of all domains */
    cl_uint cells_on_level[2 * TREE_LEVELS + 1]; /* cells of this domain */

    /* State. */
    bool walks_pending; /* `deferred` is in use, possibly by a sum that was cancelled */
    bool walks_started; /* by nbody_tree_walk_now */
    bool mark_cleared;
    bool root_known; /* the root cell holds the moments of this or the previous sum */
    bool body_valid; /* `body` holds bodies; otherwise forces in the caller's order */
};

/* ---- tree_build.c ---------------------------------------------------------------------------- */

/* Launch kernel k with `groups` work-groups of `group` work-items; with no groups, do nothing. */
int nbody_tree_launch(const struct nbody *nb, const struct nbody_device *p, enum tree_kernel k,
                      size_t groups, size_t group, cl_uint nargs, const struct stdcl_arg *args);

/* Launch kernel k with one work-item for each of n elements. */
int nbody_tree_launch_1d(const struct nbody *nb, const struct nbody_device *p, enum tree_kernel k,
                         size_t n, cl_uint nargs, const struct stdcl_arg *args);

/* Return the number of work-groups whose work-items process TREE_RUN of n bodies each. */
static inline cl_uint nbody_tree_groups(const struct nbody_device *p, size_t n)
{
    const size_t each = (size_t)p->shape.group_1d * TREE_RUN;
    return (cl_uint)divide_up(n, each);
}

/* Return the parameter of the opening criterion: the angle theta if geometric, otherwise the
 * relative accuracy alpha. */
double nbody_tree_opening(const struct nbody *nb, bool geometric);

/* Return `factor` times the expected interaction count of a group. */
cl_uint nbody_tree_expected_interactions(const struct nbody *nb, double factor);

/* Ranges of sorted keys: [lo, n) are keys of bodies, halos included; the device owns the cells that
 * begin in [from, to). */
struct key_range {
    cl_uint lo, n, from, to;
};

/* Count the cells that begin in each run, then scan the counts. The first `counted` work-groups
 * after the lower boundary have been counted before and are skipped. */
int nbody_tree_count(struct nbody *nb, struct nbody_device *p, struct key_range r, cl_uint counted);

/* Count cells with `some` work-groups only: the first `before` ones, then those after a gap of
 * `gap` work-groups. */
int nbody_tree_count_some(struct nbody *nb, struct nbody_device *p, struct key_range r, size_t some,
                          cl_uint before, cl_uint gap);

/* Write the device's cells; total: cells of all domains, 0 without domains. */
int nbody_tree_write(struct nbody *nb, struct nbody_device *p, struct key_range r, cl_uint total);

/* Compute the moments of the device's cells, from the deepest level up. */
int nbody_tree_moments(struct nbody *nb, struct nbody_device *p, cl_uint geometric);

/* Return the margin added to a cell's opening size to cover the rounding of its centre of mass. */
double nbody_tree_com_margin(const struct nbody *nb);

/* ---- tree_buffers.c -------------------------------------------------------------------------- */

/* Reallocate the cell arrays for `capacity` cells. */
int nbody_tree_grow(struct nbody *nb, struct nbody_device *p, cl_uint capacity);

/* Extend keys to two words on all devices. Return 1 if there is no memory for the second word, or
 * if there are too many bodies. */
int nbody_tree_extend_keys(struct nbody *nb);

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

/* Bytes of a block that domain `from` has and domain `to` receives. Transfers of equal bytes to
 * several domains stand next to each other in a list. */
struct transfer {
    cl_uint from, to;
    void *at;
    size_t bytes;
    bool side_queue;      /* upload on a side queue: the user calls nbody_domain_barrier or
                             nbody_domain_wait_uploads */
    cl_event ev_download; /* download that was started before; NULL: none */
};

/* A tree in several domains: key ranges on the Hilbert curve, one per device.
 *
 * Blocks are CL_MEM_PER_DEVICE: each device of the rank has its own image. Bytes move between two
 * devices at equal offsets of a block, through the host image, and by messages between ranks.
 * Arrays of [domain][other] have n * n entries, [domain][other]{cells, bodies} twice that number.
 */
struct domains {
    cl_uint n;
    struct owner *owner;
    struct device_threads *threads;
    cl_uint key_words;       /* as in struct tree */
    bool cannot_extend_keys; /* as in struct tree, on any device */
    enum sum_kind sum;       /* sum that the domains are built for */
    int defer_factor;        /* largest shape.defer_factor of all ranks */

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
    cl_uint wait_first;                           /* domain whose walks are timed next */

    /* Migration: bodies that lie in another device's domain, and the return of their forces. */
    cl_uint *slot_begin;      /* [device][n + 1]: first slot of the bodies for each domain */
    size_t slot_capacity;     /* slots of a domain */
    void *send_buffer;        /* by slot: body and its |a| of the last sum */
    void *send_row;           /* by slot: row of the body */
    void *return_buffer;      /* by slot: force or potential */
    cl_uint *sent_early;      /* slots of each domain that are sent before their number is known */
    struct transfer *returns; /* transfers of return_buffer, nreturns of them */
    size_t nreturns;
    cl_event *ev_return; /* of each domain: end of the downloads of return_buffer */
    bool late_returns;   /* rows are updated before their returned forces arrive */
    void *forces_sorted; /* nb->force.forces_sorted */

    /* Counters: [domain][counts_each], downloaded and gathered. TREE_COUNTS for each other domain
     * {cells, bodies, flagged groups, flagged merged boxes}, then two packed counts for each; the
     * last two are nbody_let_single_index and nbody_let_stale_index. Migration and cell counts use
     * the first entries. */
    cl_uint *counts;
    cl_uint counts_each;
    cl_event *ev_counts; /* of each domain: download of counters */

    void *edge;           /* struct edge of each domain (domain.cl) */
    void *toptree;        /* [domain][level][TREE_TOP_CELLS] packed cells that all domains hold */
    cl_event *ev_toptree; /* of each domain: download of its top cells, then the last upload */
    launch_fn join_toptree;

    /* Bounding boxes of groups: per domain the merged boxes, then boxes of single groups. */
    void *group_box;
    cl_uint *nsingle;         /* boxes of single groups of each domain */
    cl_uint *boxes_sent;      /* boxes sent before nsingle is known */
    cl_event *ev_boxes;       /* of each domain: download of its boxes */
    cl_uint sums_since_reset; /* sums since split_groups was cleared */

    /* Locally essential trees. */
    bool walks_begun; /* by nbody_let_begin */
    cl_uint *flag;    /* [domain][other][2][TREE_FLAGS]: groups of `other`, and merged boxes */
    void *split_box;  /* boxes of few bodies of flagged groups */
    size_t split_capacity;
    void *let_cells, *let_bodies; /* packed cells and bodies for other domains */
    size_t cell_capacity, body_capacity;
    cl_uint *let_capacity; /* [domain][other]{cells, bodies}: capacity in let_cells, let_bodies */
    cl_uint *predicted;    /* [domain][other]{cells, bodies}: sent together with the counts */
    cl_uint *early;        /* [domain][other]{cells, bodies}: downloaded during the export walks */
    cl_uint *received;     /* [domain][other]{cells, bodies}: valid ones among those sent */
    cl_event *ev_download; /* [domain][other]{cells, bodies} */
    cl_event *ev_upload;   /* of each domain: last upload on its side queue */
    cl_event *ev_packed;   /* of each domain: end of let_pack */

    world_request **send_request, **receive_request;
    size_t nsend, nreceive;
};

/* Create nb->domain.tree if several devices have bodies; this rank's devices have p->force.tree. */
int nbody_domain_open(struct nbody *nb);

/* Allocate the buffers of nb->domain.tree, if there are any. */
int nbody_domain_allocate(struct nbody *nb);
void nbody_domain_free(struct nbody *nb);

/* Allocate a block with an image per device; NULL: out of memory. A block has at least the size
 * from which on the layer pins host memory: a copy to pageable memory would block. */
void *nbody_domain_block(struct nbody *nb, size_t bytes);

/* Reallocate the migration buffers for `slots` bodies of each domain. */
int nbody_domain_reserve(struct nbody *nb, size_t slots);

/* Perform n transfers. Block until the downloads have ended. */
int nbody_domain_exchange_transfers(struct nbody *nb, const struct transfer *transfer, size_t n);

/* Enqueue an upload of a block's bytes on the device's main queue, or on a side queue. A command
 * that reads bytes uploaded by a side queue follows nbody_domain_barrier, or is enqueued after *ev
 * is complete. */
int nbody_domain_upload(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes);
int nbody_domain_upload_side_queue(struct nbody *nb, const struct nbody_device *p, void *at,
                                   size_t bytes, cl_event *ev);

/* Enqueue a download on a side queue; after: it waits for all commands of the main queue. */
int nbody_domain_begin_download(struct nbody *nb, const struct nbody_device *p, void *at,
                                size_t bytes, bool after, cl_event *ev);

/* Enqueue a barrier: later commands of the main queue wait for all copies on side queues. */
int nbody_domain_barrier(struct nbody *nb, const struct nbody_device *p);

/* Block until the uploads on the device's side queue have ended. Compared with nbody_domain_barrier
 * it costs less device time and more host time. */
int nbody_domain_wait_uploads(struct nbody *nb, const struct nbody_device *p);

/* Return in *ev an event that completes after all commands of the main queue so far. */
int nbody_domain_mark_event(struct nbody *nb, const struct nbody_device *p, cl_event *ev);

/* Loop over this rank's devices that own a domain. */
static inline struct nbody_device *nbody_domain_next(const struct nbody *nb, struct nbody_device *p)
{
    while (p < nb->device + nb->ndev && !p->force.tree)
        p++;
    return p;
}
#define EACH_DOMAIN(nb, p)                                                                         \
    for (struct nbody_device *p = nbody_domain_next(nb, (nb)->device);                             \
         p < (nb)->device + (nb)->ndev; p = nbody_domain_next(nb, p + 1))

/* A block of which each domain has `each` bytes. */
struct gathered {
    void *block;
    size_t each;
};

/* Collective. Gather each domain's bytes of n blocks on the hosts of all ranks. Block until the
 * commands enqueued so far have ended. `meanwhile` (NULL: none) is enqueued on all devices after
 * the downloads and is not waited for. */
int nbody_domain_gather(struct nbody *nb, const struct gathered *g, size_t n, launch_fn meanwhile);

/* Collective. Gather blocks and perform transfers with a single wait. */
int nbody_domain_exchange(struct nbody *nb, const struct gathered *g, size_t ng,
                          const struct transfer *transfer, size_t n, launch_fn meanwhile);

/* Collective. Bitwise OR over all ranks: each word is nonzero on one rank only. */
int nbody_domain_reduce_or(struct nbody *nb, uint64_t *words, size_t n);

/* Enqueue the import of `count` packed cells of other domains, from number `first` of a block. */
int nbody_domain_import_nodes(struct nbody *nb, struct nbody_device *p, void *cells, size_t first,
                              size_t count);

/* Collective. Move the domain boundaries to balance the measured cost and duration of the last
 * walks. Block until the devices are idle. */
int nbody_domain_balance(struct nbody *nb);

/* True if the load balancing has settled. */
static inline bool nbody_domain_balanced(const struct nbody *nb)
{
    return !nb->domain.tree || nb->domain.tree->balance_checks > 8;
}

/* Block until this rank's devices that own domains are idle. */
int nbody_domain_wait(struct nbody *nb);

/* Return forces in two halves, between which other work may be enqueued. begin: enqueue the
 * downloads after the walks. end: block until the downloads have ended, record the walk time, and
 * enqueue the uploads. */
int nbody_domain_begin_return(struct nbody *nb, const struct transfer *transfer, size_t n);
int nbody_domain_end_return(struct nbody *nb, const struct transfer *transfer, size_t n);

/* Block until a copy has ended. */
int nbody_domain_wait_event(struct nbody *nb, const struct nbody_device *p, cl_event ev);

/* Bytes of struct edge in domain.cl. */
static inline size_t nbody_domain_edge_bytes(const struct nbody *nb)
{
    return TREE_EDGE_BODIES * (2 * sizeof(cl_ulong) + 8 * nb->real);
}

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

/* Return word w of the shared-node entry {cell, first body, key overflow, -} that a domain has for
 * a level in the top tree. Word 2 is valid for level 0 only. */
static inline cl_uint nbody_domain_shared_node(const struct nbody *nb, cl_uint domain,
                                               cl_uint level, size_t w)
{
    const size_t levels = nb->domain.tree->key_words * TREE_LEVELS + 1,
                 at = (domain * levels + level + 1) * TREE_TOP_CELLS - 1;
    return ((const cl_uint *)((const char *)nb->domain.tree->toptree +
                              at * nbody_domain_cell_bytes(nb)))[w];
}

/* ---- device_threads.c ------------------------------------------------------------------------ */

/* Start and end the launcher threads of this rank's further GPUs. */
int nbody_device_threads_open(struct nbody *nb);
void nbody_device_threads_free(struct nbody *nb);

/* Call launch(nb, p, arg) concurrently for all of this rank's devices that own a domain, and block
 * until all calls have returned. `launch` may enqueue commands and change its own device's state;
 * it may block for copies in flight only. */
int nbody_device_threads_all(struct nbody *nb, launch_fn launch, cl_uint arg);

/* ---- domain_build.c -------------------------------------------------------------------------- */

/* Collective. Build the distributed tree and the locally essential trees for a sum. Start the walks
 * that need a single launch. Blocks several times. */
int nbody_domain_build(struct nbody *nb, enum sum_kind sum, bool geometric);

/* Collective. Return the walks' forces or potentials to the devices that own the bodies. */
int nbody_domain_return(struct nbody *nb, enum sum_kind sum);

/* Within a batch: update the bodies whose forces returned late. */
int nbody_domain_update_late(struct nbody *nb, const struct update *all);

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

/* Return the entries of split_groups: merged boxes of a domain, at most. */
size_t nbody_let_max_merged_boxes(const struct nbody *nb);

/* Enqueue the bounding boxes of a device's groups and clear the export counters. Within one rank
 * the download of the boxes is enqueued, too. */
int nbody_let_start_boxes(struct nbody *nb, struct nbody_device *p);

/* Exchange the boxes of all domains, and gather `with`. Blocks. */
int nbody_let_exchange_boxes(struct nbody *nb, const struct gathered *with, size_t nwith);

/* Exchange the boxes and enqueue the export walks before the top tree is complete. Valid within one
 * rank whose devices know the root cell of the previous sum (root_known), or with the geometric
 * criterion. */
int nbody_let_begin(struct nbody *nb, bool geometric);

/* Collective. Export, exchange and import the locally essential trees, after `join`, which imports
 * the top tree. Blocks. */
int nbody_let_find(struct nbody *nb, bool geometric, launch_fn join);
int nbody_let_allocate(struct nbody *nb);
void nbody_let_free(struct nbody *nb);

/* ---- tree_order.c ------------------------------------------------------------------ */

/* Sort all rows along the Hilbert curve on a device that holds all positions: new row i is old row
 * order[i]. Blocks. */
int nbody_hilbert_find_device(struct nbody *nb, struct nbody_device *p, cl_uint *order);

/* Collective. Permute the rows on the devices, each of which holds all positions. Blocks. After a
 * failure the bodies are lost: rows are in neither the old nor the new order. */
int nbody_hilbert_move_device(struct nbody *nb, const cl_uint *order);

/* ---- tree_walks.c ---------------------------------------------------------------------------- */

/* Return the number of deferred groups, at most, whose walks work-groups share. */
size_t nbody_tree_shared(const struct nbody *nb, const struct nbody_device *p);

/* Enqueue the walks of all devices except those started by nbody_tree_walk_now. May block until
 * earlier launches have ended: each launch takes a slice of time. */
int nbody_tree_walk_all(struct nbody *nb, enum sum_kind sum, bool geometric);

/* Enqueue the walks of one device if they fit in a single launch. */
int nbody_tree_walk_now(struct nbody *nb, struct nbody_device *p, enum sum_kind sum,
                        cl_uint geometric);

/* Record that the sums of nbody_tree_walk_some have been used. */
void nbody_tree_walks_ended(struct nbody_device *p);

/* Discard the deferred groups of a cancelled sum; blocks until the device is idle. */
int nbody_tree_discard_deferred(struct nbody *nb, struct nbody_device *p);

/* Enqueue the walks of n target bodies, which are in tree order; their forces become the first n of
 * nb->force.forces_sorted. The caller clears t->deferred. */
int nbody_tree_walk_some(struct nbody *nb, struct nbody_device *p, void *body, void *a_old,
                         cl_uint n);

/* For tests: enqueue walks that record the groups' interaction lists, as nbody_tree_lists. */
int nbody_tree_walk_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room);

/* ---- tree.c ---------------------------------------------------------------------------------- */

/* Build the tree of the current positions on the device that owns it, and grow its arrays if need
 * be. Blocks. */
int nbody_tree_build_now(struct nbody *nb);

/* For tests: build a device's tree again, as a sum overwrites the keys. */
int nbody_tree_build_device(struct nbody *nb, struct nbody_device *p);

/* For tests: write the interaction lists of all groups as walk.cl stores them, `room` numbers a
 * group, after a sum of forces on one device. */
int nbody_tree_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room);

#endif
