/* tree.h - forces by a tree: what its files share.
 *
 *   tree.c        sums of forces by the tree, on all devices
 *   tree_walks.c  walks of groups
 *   hilbert_sort_device.c    rows put in order by the devices
 *   tree_build.c  cells and their moments on a device
 *   tree_buffers.c   its kernels and its memory on a device
 *   domain.c  a tree that several devices make: which has which part of it, and how bytes go
 *                 from one to another
 *   device_threads.c       a thread for each of these devices
 *   domain_build.c  such a tree, step by step; let.c: what parts need of each other for
 *                 their walks
 *   tree.cl       the tree itself; domain.cl and let.cl: in parts; walk.cl with walk_cpu.cl or
 *                 walk_gpu.cl: who meets what
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_TREE_H
#define STDCL_NBODY_TREE_H

#include "nbody/engine.h"
#include "nbody/nbody_ref_tree.h"
#include "nbody/ranks.h"

#include "stdcl/arrays.h"
#include "core/round.h"

enum { TREE_RUN = 16, TREE_AGAIN = 3, TREE_PARTS = 16 }; /* as in tree.cl, walk.cl, walk_gpu.cl */

/* Work-groups that count cells of a part next to a cut, as these depend on what is behind it:
 * bodies of a group are more than twice a leaf's. */
enum { TREE_AT_CUT = 1 };

enum {
    TREE_CROWD_PARTS = 64
}; /* work-items of a group that finds moments of the last level, as in moments.cl */

enum { TREE_SHARED = 256 }; /* groups that were put off whose walks work-groups share, on GPUs */

/* The most bodies of a cell that is not divided: as a rule, and where memory is short. */
enum { TREE_LEAF = 16, TREE_LARGE_LEAF = 32 };

/* Of a tree in parts, as in domain.cl: bodies that all devices see; cells of a level that all have;
 * bodies whose keys tell where to cut at first; groups whose boxes may become one. As in
 * let.cl: groups that are flagged at most, numbers that are counted for another part. */
enum {
    TREE_UNITED = 8,
    TREE_SEEN = 2 * TREE_GROUP,
    TREE_TOPS = 16,
    TREE_SAMPLES = 1024,
    TREE_FLAGS = 2048,
    TREE_COUNTS = 4
};

/* Keys of a part besides those of bodies, at most. */
enum { TREE_SPARE = 4096 };

/* Bytes of keys before those of a part's own bodies. */
enum { TREE_MARGIN = 4096 };

/* By program: build, walk, and what only parts need: domain.cl, which is built with the first, and
 * let.cl. */
enum tree_kernel {
    TREE_BOX,
    TREE_FRAME,
    TREE_KEYS,
    TREE_GATHER,
    TREE_COUNT,
    TREE_WRITE,
    TREE_MOMENTS,
    TREE_MOMENTS_LAST,
    TREE_ORDER_OUT,
    TREE_ROWS_PICK,
    TREE_ROWS_PUT,
    TREE_NUMBERS_MOVE,
    TREE_NUMBERS_PICK,
    TREE_TURNS,
    TREE_SCATTER,
    TREE_PLANES,
    TREE_SCATTER_POTENTIALS,
    TREE_WALK,
    TREE_WALK_AGAIN,
    TREE_WALK_JOIN,
    TREE_WALK_POTENTIALS,
    TREE_WALK_POTENTIALS_AGAIN,
    TREE_WALK_POTENTIALS_JOIN,
    TREE_SAMPLE,
    TREE_ROUTE_KEYS,
    TREE_ROUTE_WRITE,
    TREE_STARTS,
    TREE_ARRIVE,
    TREE_EDGES,
    TREE_BOXES,
    TREE_HALO,
    TREE_PART_WITH,
    TREE_TOPS_WRITE,
    TREE_ADOPT,
    TREE_ADOPT_BODIES,
    TREE_MOMENTS_OF_BRIDGES,
    TREE_HOME,
    TREE_EXPECT,
    TREE_HOME_SLOTS,
    TREE_HOME_POTENTIALS,
    TREE_HOME_SLOTS_POTENTIALS,
    TREE_PICK,
    TREE_FORGET,
    TREE_ESSENTIAL,
    TREE_PACK,
    TREE_LOOSEN,
    TREE_KERNELS
};
enum { TREE_PROGRAMS = 3 };

/* On one device: the tree of all bodies, or its part of that; and the groups whose walks are this
 * device's. Arrays are drawn in tree.cl and walk.cl. */
struct tree {
    void *program[TREE_PROGRAMS];
    bool owner; /* of them */
    cl_kernel kernel[TREE_KERNELS];
    arrays_sorter *sorter;
    cl_uint runs, parts; /* of bodies whose cells an item counts; of the box */
    cl_uint room;        /* for cells */
    size_t cell_bytes;   /* of it */
    struct {
        void *body, *feel;
        cl_uint n;
    } target;              /* whom walks are for: bodies in their order, and what they felt */
    cl_uint number;        /* of the part */
    cl_uint begin, bodies; /* of the tree's order: the part, or all */
    cl_uint keyed;         /* keys of a part, with those that are none */
    cl_uint low; /* keys of a part before those of the device's own rows: of rows of devices before
                    it */
    cl_uint from, groups;
    void *part, *cube, *order, *body, *span, *bridge, *link, *down, *com, *poles, *size, *felt,
        *feel, *info, *again, *turn, *shared;
    void *work; /* one after the other: keys and the sort's own memory; keys and count; nb->pulled,
                   of a single device */
    void *keys, *sort, *count; /* parts of it */
    void *seconds;             /* words of keys, where there are two */
    void *key, *second; /* of the part's own bodies, in keys and seconds; before and after them
                           stand the neighbours' */
    void *slot, *picked, *halo; /* of domain.cl */
    void *mark;                 /* of cells: let.cl */
    cl_uint all;                /* cells there are */
    cl_uint *which, *add;
    cl_uint on_level[2 * TREE_LEVELS + 1]; /* a part's cells */
    cl_uint words;                         /* of a key */
    bool shallow;                          /* there is no memory for two */
    cl_uint leaf;                          /* the most bodies of a cell that is not divided */
    bool walking;                          /* again is in use; after a sum that was stopped, too */
    bool walked;                           /* they were started by nbody_tree_walk_now */
    void *lone;                            /* boxes of several groups that met too much */
    bool forgot;                           /* mark is clear */
    bool rooted;    /* the cell of all bodies is there, this sum's or that of the one before */
    bool gathered;  /* body holds bodies; else sums on their way to the caller's order */
    cl_uint *cells; /* how many the last tree has; and whether it is crowded (tree.cl) */
};

/* ---- tree_build.c ---------------------------------------------------------------------------- */

/* Launches of a kernel: so many work-groups of so many items; an item for each of n. */
int nbody_tree_launch(const struct nbody *nb, const struct nbody_device *p, enum tree_kernel k,
                      size_t groups, size_t group, cl_uint nargs, const struct stdcl_arg *args);
int nbody_tree_launch_1d(const struct nbody *nb, const struct nbody_device *p, enum tree_kernel k,
                         size_t n, cl_uint nargs, const struct stdcl_arg *args);

/* Work-groups whose items look at TREE_RUN of n bodies each. */
static inline cl_uint nbody_tree_groups(const struct nbody_device *p, size_t n)
{
    const size_t each = (size_t)p->shape.flat * TREE_RUN;
    return (cl_uint)divide_up(n, each);
}

/* What the criterion is compared with: theta, or alpha. */
double nbody_tree_opening(const struct nbody *nb, bool geometric);

/* So many times what a group usually meets. */
cl_uint nbody_tree_expected_interactions(const struct nbody *nb, double times);

/* Cells of a tree whose bodies are sorted: counts them; makes them, `total` in all of which there
 * are those of other devices; and their moments. */
struct key_range {
    cl_uint lo, n, from, to; /* as cell_count in tree.cl */
};
/* Counts cells that begin in each run, and starts to number them: all but those of `counted`
 * work-groups that did so before. And counts with `some` work-groups of all alone: the first
 * `before`, and the others after a gap of so many. */
int nbody_tree_count(struct nbody *nb, struct nbody_device *p, struct key_range r, cl_uint counted);
int nbody_tree_count_some(struct nbody *nb, struct nbody_device *p, struct key_range r, size_t some,
                          cl_uint before, cl_uint gap);
int nbody_tree_write(struct nbody *nb, struct nbody_device *p, struct key_range r, cl_uint total);
int nbody_tree_moments(struct nbody *nb, struct nbody_device *p, cl_uint geometric);

/* By what cells count as larger, since the centre of mass is rounded (tree.cl). */
double nbody_tree_com_margin(const struct nbody *nb);

/* ---- tree_buffers.c -----------------------------------------------------------------------------
 */

/* Makes room for so many cells. */
int nbody_tree_grow(struct nbody *nb, struct nbody_device *p, cl_uint room);

/* Keys of two words from now on, on all devices; 1 where there is no memory for them, or there are
 * too many bodies. */
int nbody_tree_extend_keys(struct nbody *nb);

/* ---- domain.c ---------------------------------------------------------------------------- */

/* Starts something on a device. */
typedef int (*start_on)(struct nbody *nb, struct nbody_device *p, cl_uint arg);

/* A device of any rank, whose part of the tree is number k. */
struct owner {
    int rank;
    struct nbody_device *share; /* NULL: another rank's */
    size_t first, count;        /* of the bodies that it moves */
    double part, speed; /* the part of all work that it is to have; how fast it is beside the
                           others, so far */
};

/* A tree in parts. Blocks are those of all devices of the rank, each of which has its own image:
 * bytes go from one to another at one place of a block, by way of the host's image, and by mail
 * where that is another rank's. */
struct domains {
    cl_uint n;
    struct owner *owner;
    struct device_threads *hands;
    cl_uint words; /* of keys */
    bool shallow;  /* as in struct tree, of any of them */
    bool cut_known;
    double side;               /* of the cube, when they were made */
    double cube[4];            /* of the last tree */
    bool cube_known, guessing; /* this one's is taken to be the same, until its box is known */
    struct transfer *homing; /* sums on their way home: so many; when they are down, by parts; rows
                              are visited before they are there */
    size_t nhoming;
    cl_event *down, *topping; /* topping: tops on their way to the host, by parts, and then the
                                 others' to the device */
    bool late;
    enum kernel sum; /* that parts are made for */
    bool recut,
        moved;      /* cuts are others: since a tree was made; and devices do not know them yet */
    cl_uint checks; /* how often what parts cost was looked at */
    double divided, dividing; /* when devices got other rows, and how long that took */
    bool placed;              /* they got those of their parts since these are settled */
    double walks_began,
        *seconds;         /* when, if they are under way; of the walks of each part: of so many */
    cl_uint *timed, turn; /* turn: the part that is waited for first */
    cl_ulong *cut;        /* n of them, and one more: the first key of each part */
    cl_uint *begin;       /* n + 1: where parts begin in the tree's order */
    cl_uint *start; /* [part][n + 1]: the slots from which a device's bodies go to each part, after
                       its first */
    void *pulled;   /* as nb->pulled */
    size_t room;    /* slots of a part */
    void *post, *post_row,
        *sums;       /* by slots: bodies with what they felt, their rows, and what they feel now */
    cl_uint *posted; /* slots of each part that were sent before it was known how many there are */
    cl_uint *found;  /* [part][most]: what a device counted */
    cl_uint most;
    cl_ulong *samples;
    void *edge; /* see domain.cl */
    void *tops; /* cells that all have, as domain.cl sends cells; of each part TREE_TOPS of every
                   level */
    int limit;  /* as that of shapes, the largest of all */
    /* let.c, let.cl: */
    void *box;       /* of the groups that parts walk for, part by part */
    cl_event *begun; /* [part][other][2]: copies of cells and of bodies that are on their way to the
                        host: of the first early[], or of what follows */
    start_on join;   /* see nbody_let_find */
    cl_event *rising;  /* the last parcel to each part that is on its way up beside */
    bool begun_walks;  /* by nbody_let_begin */
    cl_uint sums_lone; /* sums for which it is kept which boxes of several groups met too much */
    cl_uint *apart, *boxes_sent; /* boxes of single groups: how many there are, and how many are
                                    sent before that is known */
    cl_event *boxing, *counting; /* copies of boxes that are under way, and of numbers: how many
                                    rows go where, and how many boxes are of single groups */
    cl_event *packed;            /* when what is essential is packed, by parts */
    cl_uint *flag; /* [part][other][2][TREE_FLAGS]: groups of the other, and boxes of several */
    void *loose;   /* boxes of few bodies of these */
    void *cells, *bodies; /* what is essential for others */
    cl_uint *fits;        /* [part][other]{cells, bodies}: room for it in these */
    cl_uint *guess, *had,
        *early; /* [part][other]{cells, bodies}: what is sent before it is known how many there are;
                 * what of it was there; and what goes down before all boxes are walked for */
    size_t cells_room, bodies_room, loose_room; /* there is in all */
    world_request **sent, **come;
    size_t nsent, ncome;
};

/* Prepares for parts where several devices have bodies; p->tree is there for those of this rank.
 * place: their memory. */
int nbody_domain_open(struct nbody *nb);
int nbody_domain_allocate(struct nbody *nb);
void nbody_domain_free(struct nbody *nb);

/* A block of all devices. Small ones are as large as those that the layer registers with a GPU's
 * driver: a copy into another would block. */
void *nbody_domain_block(struct nbody *nb, size_t bytes);

/* Room for so many bodies of each part on their way. */
int nbody_domain_reserve(struct nbody *nb, size_t slots);

/* Some bytes of a block that one part has and another gets; those that several get follow each
 * other. Waits for what was started. */
struct transfer {
    cl_uint from, to;
    void *at;
    size_t bytes;
    bool beside;    /* up in a further queue: what uses it follows nbody_domain_after or
                       nbody_domain_wait_uploads */
    cl_event begun; /* its way down, where that was started before */
};
int nbody_domain_exchange_transfers(struct nbody *nb, const struct transfer *parcel, size_t n);

/* A block's bytes to a device; or in a further queue, and what uses them follows
 * nbody_domain_after, or is started when the event is complete. */
int nbody_domain_upload(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes);
int nbody_domain_upload_side_queue(struct nbody *nb, const struct nbody_device *p, void *at,
                                   size_t bytes, cl_event *ev);

/* A copy to the host in a further queue, after what was started in the first; and what follows in
 * the first waits for all copies in further queues. */
int nbody_domain_begin_download(struct nbody *nb, const struct nbody_device *p, void *at,
                                size_t bytes, bool after, cl_event *ev);
int nbody_domain_after(struct nbody *nb, const struct nbody_device *p);

/* Waits for the parcels that are on their way up beside. It takes less of a device's time than
 * nbody_domain_after, and more of the host's. */
int nbody_domain_wait_uploads(struct nbody *nb, const struct nbody_device *p);

/* An event for all that was started in the first queue. */
int nbody_domain_mark(struct nbody *nb, const struct nbody_device *p, cl_event *ev);

/* For a loop over those of this rank's shares from p on that have parts. */
static inline struct nbody_device *nbody_domain_next(const struct nbody *nb, struct nbody_device *p)
{
    while (p < nb->device + nb->ndev && !p->tree)
        p++;
    return p;
}
#define EACH_PART(nb, p)                                                                           \
    for (struct nbody_device *p = nbody_domain_next(nb, (nb)->device);                             \
         p < (nb)->device + (nb)->ndev; p = nbody_domain_next(nb, p + 1))

/* Collective. Each part's `each` bytes of some blocks to the host of all ranks. Waits for what was
 * started, but not for `meanwhile`, which is started on all devices then (NULL: nothing). */
struct gathered {
    void *block;
    size_t each;
};
int nbody_domain_gather(struct nbody *nb, const struct gathered *g, size_t n, start_on meanwhile);

/* Both with one wait. */
int nbody_domain_exchange(struct nbody *nb, const struct gathered *g, size_t ng,
                          const struct transfer *parcel, size_t n, start_on meanwhile);

/* Collective. Numbers that only one rank knows, and that are 0 on the others, to all. */
int nbody_domain_fill(struct nbody *nb, uint64_t *words, size_t n);

/* Takes over cells of others, which stand from `first` on in this block. */
int nbody_domain_import_nodes(struct nbody *nb, struct nbody_device *p, void *cells, size_t first,
                              size_t count);

/* Collective. Cuts anew, by what the last walks cost and how long they took. Blocks. */
int nbody_domain_cut(struct nbody *nb);

static inline bool nbody_domain_balanced(const struct nbody *nb)
{
    return !nb->domains || nb->domains->checks > 8;
}

/* All that was started on this rank's devices that have parts. */
int nbody_domain_wait(struct nbody *nb);

/* Sums that go home: down, when walks have ended; and up, when they are down, where it is noted how
 * long walks took. Between both other things may be started. */
int nbody_domain_begin_return(struct nbody *nb, const struct transfer *parcel, size_t n);
int nbody_domain_end_return(struct nbody *nb, const struct transfer *parcel, size_t n);

/* A copy that was started. */
int nbody_domain_await(struct nbody *nb, const struct nbody_device *p, cl_event ev);

/* Bytes of struct edge in domain.cl. */
static inline size_t nbody_domain_edge_bytes(const struct nbody *nb)
{
    return TREE_SEEN * (2 * sizeof(cl_ulong) + 8 * nb->real);
}

/* Bytes of a cell and of a body that travel, as in multipole.cl. */
static inline size_t nbody_domain_cell_bytes(const struct nbody *nb)
{
    return 4 * sizeof(cl_uint) + (nb->moments == 2 ? 14u : 38u) * nb->real;
}

static inline size_t nbody_domain_body_bytes(const struct nbody *nb)
{
    return 5 * nb->real;
}

/* Number w of {cell, first body, -, -} of the bridge of a level of a part; of level 0, too: number
 * 2 tells whether it is crowded. */
static inline cl_uint nbody_domain_shared_node(const struct nbody *nb, cl_uint part, cl_uint level,
                                               size_t w)
{
    const size_t levels = nb->domains->words * TREE_LEVELS + 1,
                 at = (part * levels + level + 1) * TREE_TOPS - 1;
    return (
        (const cl_uint *)((const char *)nb->domains->tops + at * nbody_domain_cell_bytes(nb)))[w];
}

/* ---- device_threads.c
 * --------------------------------------------------------------------------------- */

/* Calls start(nb, p, arg) for all of this rank's shares that have parts, at once. It may start what
 * it wants and change what is the share's, and waits for no more than a copy that is under way. */
int nbody_device_threads_open(struct nbody *nb);
void nbody_device_threads_free(struct nbody *nb);
int nbody_device_threads_all(struct nbody *nb, start_on start, cl_uint arg);

/* ---- domain_build.c ----------------------------------------------------------------------------
 */

/* Collective. All parts of a tree, and what each needs of the others, for the walks of a sum: they
 * are started where they wait for nobody. Waits often. */
int nbody_domain_build(struct nbody *nb, enum kernel sum, bool geometric);

/* Collective. Sums of walks to those who move the bodies. */
int nbody_domain_return(struct nbody *nb, enum kernel sum);

/* Of a burst: those whose sums came later. */
int nbody_domain_update_late(struct nbody *nb, cl_uint phases, int step);

/* ---- let.c -------------------------------------------------------------------------- */

/* Where a device counts boxes of single groups, in s->found; and where it says whether the cell of
 * all bodies is another. */
static inline cl_uint nbody_let_counter(const struct nbody *nb, cl_uint part)
{
    return (part + 1) * nb->domains->most - 2;
}

static inline cl_uint nbody_let_off(const struct nbody *nb, cl_uint part)
{
    return (part + 1) * nb->domains->most - 1;
}

/* Boxes of all groups of a part, after which nothing was found yet: of one rank's devices they go
 * down at once, and how many there are of single groups. And how they go to all others: with what
 * else is gathered to the host. Waits. Of how many boxes it is known that they met too much. */
size_t nbody_let_split_groups(const struct nbody *nb);
int nbody_let_start_boxes(struct nbody *nb, struct nbody_device *p);
int nbody_let_exchange_boxes(struct nbody *nb, const struct gathered *with, size_t nwith);

/* Swaps boxes and starts to walk for them, before the cells that all have are there. Of one rank's
 * devices, which know the cell of all bodies of the sum before (rooted), but for walks by angle. */
int nbody_let_begin(struct nbody *nb, bool geometric);

/* Collective. What walks of each part need of the others, after `join`, which gives them the cells
 * that all have. Waits. */
int nbody_let_find(struct nbody *nb, bool geometric, start_on join);
int nbody_let_allocate(struct nbody *nb);
void nbody_let_free(struct nbody *nb);

/* ---- hilbert_sort_device.c
 * ------------------------------------------------------------------------------ */

/* Which of today's rows is which of tomorrow's, at the host: by a device that has all positions.
 * Blocks. */
int nbody_hilbert_find_device(struct nbody *nb, struct nbody_device *p, cl_uint *order);

/* Collective. Rows to their new places, by the devices that have them, each with all positions.
 * Blocks. Where that fails, bodies are lost: their numbers are neither in the old order nor in the
 * new. */
int nbody_hilbert_move_device(struct nbody *nb, const cl_uint *order);

/* ---- tree_walks.c ---------------------------------------------------------------------------- */

/* Groups whose walks work-groups share at most. */
size_t nbody_tree_shared(const struct nbody *nb, const struct nbody_device *p);

/* Starts the walks of all devices, but for those of nbody_tree_walk_now; may wait for what was
 * started, where launches have a slice of time each. */
int nbody_tree_walk_all(struct nbody *nb, enum kernel sum, bool geometric);

/* Starts those of one device, if they are one launch for which there is room. */
int nbody_tree_walk_now(struct nbody *nb, struct nbody_device *p, enum kernel sum,
                        cl_uint geometric);

/* Forgets what is left of a sum that was stopped, and waits then. */
int nbody_tree_discard_deferred(struct nbody *nb, struct nbody_device *p);

/* The sums for n bodies alone, in the tree's order, which become the first of nb->pulled; what is
 * put off or has its turn (again) is the caller's to clear. And, for tests, what groups meet, as
 * nbody_tree_lists. */
int nbody_tree_walk_some(struct nbody *nb, struct nbody_device *p, void *body, void *feel,
                         cl_uint n);
int nbody_tree_walk_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room);

/* ---- tree.c ---------------------------------------------------------------------------------- */

/* The tree of the current positions on the device that has one, with room; blocks. */
int nbody_tree_build_now(struct nbody *nb);

/* For tests: makes a device's tree, of which a sum keeps no keys. */
int nbody_tree_build_device(struct nbody *nb, struct nbody_device *p);

/* What the groups meet, for tests: lists of TREE_GROUP bodies each as walk.cl leaves them, `room`
 * numbers a group, after a sum of forces on one device. */
int nbody_tree_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room);

#endif
