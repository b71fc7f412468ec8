/* tree.h - the Barnes-Hut tree on a device.
 *
 *   tree.c                 sum of forces by the tree, on all devices
 *   tree_buffers.c         programs, kernels and device buffers of the tree
 *   tree_cells.c           memory of cells and imports
 *   tree_build.c           kernel launches; cells and their moments on one device
 *   tree_walks.c           tree walks of groups of bodies
 *   tree_order.c           rows sorted along the Hilbert curve by the devices
 *
 *   hilbert_keys.cl tree.cl moments.cl multipole.cl   keys, cells and moments
 *   walk.cl with walk_cpu.cl or walk_gpu.cl           opening criterion and force kernels
 *
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

/* Work-items of a group of moments_last: OVERFLOW_ITEMS in moments.cl. */
enum { TREE_OVERFLOW_ITEMS = 64 };

/* Deferred groups, at most, whose walks several work-groups of a GPU share. */
enum { TREE_SHARED = 256 };

/* Bodies of a leaf, at most: the default, and the value for devices with little memory. */
enum { TREE_LEAF = 16, TREE_LARGE_LEAF = 32 };

/* Keys that a domain sorts in addition to one key per body, at most. */
enum { TREE_SPARE_KEYS = 4096 };

/* Imported cells, or bodies, that arrays have room for at first, beside 1/8 of the domain's. */
enum { TREE_IMPORTS = 4096 };

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
    TREE_DOMAIN_KEYS,
    TREE_DOMAIN_GATHER,
    TREE_HALO_PACK,
    TREE_GROUP_BOXES,
    TREE_HALO_UNPACK,
    TREE_TOPTREE_PACK,
    TREE_IMPORT_NODES,
    TREE_IMPORT_BODIES,
    TREE_SHARED_NODE_MOMENTS,
    TREE_RETURN_FORCES,
    TREE_RETURN_PACK,
    TREE_RECEIVE_FORCES,
    TREE_BOUNDARY_KEYS,
    TREE_LET_CLEAR,
    TREE_LET_EXPORT,
    TREE_LET_PLACE,
    TREE_LET_PACK,
    TREE_REFINE_BOXES,
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
    cl_uint capacity;        /* cells that the cell arrays have room for, without imports */
    cl_uint cell_room;       /* cells that link, com, multipoles and size have room for */
    cl_uint top_cells;       /* cells of the top region (domain.cl), which come first */
    cl_uint imports_begin;   /* number of the first imported cell */
    size_t cell_bytes;       /* bytes of the cell arrays */
    cl_uint leaf;            /* bodies of a leaf, at most */
    cl_uint key_words;       /* 63-bit words of a key: 1 or 2 */
    bool cannot_extend_keys; /* a second key word was refused: out of memory, or too many bodies */

    /* Target bodies of the walks, in tree order, and |a| of each in the last sum. */
    struct {
        void *body, *a_old;
        cl_uint n;
    } target;

    /* Its range of the bodies. Arrays in tree order hold the bodies from number `base` of the tree
     * on: with domains the bodies of the domain and of both halos, so that body b of the tree has
     * index b - base (modulo 2^32: the first domain's base is -64) and group g of the tree index
     * g - base / 64. All indices in cells, groups and lists are such indices. */
    cl_uint base;                /* multiple of TREE_GROUP; 0 without domains */
    cl_uint begin, bodies;       /* index of the first body of the domain, and their number */
    cl_uint first_group, groups; /* groups that this device walks */
    size_t key_room;             /* keys that a device sorts, at most */
    size_t sorted_room;          /* bodies that arrays in tree order have room for */
    size_t body_room;            /* bodies that `body` has room for, imports included */

    /* Device buffers of bodies and cells. */
    void *box_part, *cube;         /* partial bounding boxes; root cube {x, y, z, side} */
    void *order;                   /* row of each body, in tree order; with domains: domain.cl */
    void *body;                    /* bodies in tree order, then imported bodies */
    void *forces_sorted;           /* sums in tree order */
    void *span;                    /* first cell and end of each level */
    void *shared_node;             /* cell of each level that other domains share, or NONE */
    void *link, *child_begin;      /* children or bodies of each cell */
    void *com, *multipoles, *size; /* centre of mass, multipole moments, opening size */
    void *a_old, *a_old_sorted;    /* |a| of the last sum by row of the device, and in tree order */
    void *info;                    /* {cells, bodies, g2, deferred} of each group */
    void *deferred;                /* counters and the list of deferred groups */
    void *schedule;                /* walking order of the groups */
    void *shared_sum;              /* partial sums of deferred groups that work-groups share */
    cl_uint *cells;                /* {cells of the last tree, key overflow} */

    /* One allocation with successive uses: keys and the sort's workspace; keys and cell counts;
     * forces_sorted. The pointers below point into it. */
    void *workspace;
    void *keys, *sort_workspace, *counts;
    void *keys_lo;      /* second key words; equal to `keys` with one word */
    void *key, *key_lo; /* the domain's own keys, between the keys of both halos */

    /* Distributed tree. */
    void *halo;               /* struct edge of domain.cl, assembled from both neighbours */
    void *mark, *place;       /* of each cell of the domain: exports of it (let.cl) */
    void *split_groups;       /* of each merged box: sums in which it remains split */
    void *boundary_keys;      /* keys of boundary_bodies */
    cl_uint *boundary_bodies; /* new boundaries */
    cl_uint *top_begin;       /* first top cell of each level and domain (domain.cl) */

    /* State. */
    bool walks_pending; /* `deferred` is in use, possibly by a sum that was cancelled */
    bool walks_started; /* by nbody_tree_walk_now */
    cl_uint walked;     /* groups whose walks are launched */
    bool body_valid;    /* `body` holds bodies; otherwise forces in the caller's order */
};

/* Loop over this rank's devices that have a tree. */
static inline struct nbody_device *nbody_tree_next(const struct nbody *nb, struct nbody_device *p)
{
    while (p < nb->device + nb->ndev && !p->force.tree)
        p++;
    return p;
}
#define EACH_TREE(nb, p)                                                                           \
    for (struct nbody_device *p = nbody_tree_next(nb, (nb)->device);                               \
         p < (nb)->device + (nb)->ndev; p = nbody_tree_next(nb, p + 1))

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

/* Count the cells that begin in each run, then scan the counts. */
int nbody_tree_count(struct nbody *nb, struct nbody_device *p, struct key_range r);

/* Write the device's cells, after the top region. */
int nbody_tree_write(struct nbody *nb, struct nbody_device *p, struct key_range r);

/* Compute the moments of the device's cells, from the deepest level up. */
int nbody_tree_moments(struct nbody *nb, struct nbody_device *p, cl_uint geometric);

/* Return the margin added to a cell's opening size to cover the rounding of its centre of mass. */
double nbody_tree_com_margin(const struct nbody *nb);

/* ---- tree_buffers.c -------------------------------------------------------------------------- */

/* With domains: make room for `keys` keys. Return 1 if the arrays of keys and `order` have grown:
 * their contents are lost. */
int nbody_tree_reserve_keys(struct nbody *nb, struct nbody_device *p, size_t keys);

/* With domains: make room for the bodies of the domain. Arrays in tree order that grow lose their
 * contents. */
int nbody_tree_reserve_bodies(struct nbody *nb, struct nbody_device *p, size_t bodies);

/* Index in `body` of the first imported body. */
static inline cl_uint nbody_tree_imports_begin(const struct tree *t)
{
    return t->begin + t->bodies + TREE_GROUP;
}

/* Extend keys to two words on all devices. Return 1 if there is no memory for the second word, or
 * if there are too many bodies. */
int nbody_tree_extend_keys(struct nbody *nb);

/* ---- tree_cells.c ---------------------------------------------------------------------------- */

/* Bytes of a multipole (multipole.cl). */
static inline size_t nbody_tree_multipole_bytes(const struct nbody *nb)
{
    return (nb->moments == 2 ? 8 : 32) * nb->real;
}

/* Room for n cells or bodies and, with domains, for imports, at first. */
static inline size_t nbody_tree_import_room(const struct nbody *nb, size_t n)
{
    return nb->domain.tree ? n + n / 8 + TREE_IMPORTS : n;
}

/* Reallocate the cell arrays for `capacity` cells, and for imports with domains. */
int nbody_tree_grow(struct nbody *nb, struct nbody_device *p, cl_uint capacity);

/* With domains: make room for imported cells and bodies in arrays that keep their contents. */
int nbody_tree_reserve_imports(struct nbody *nb, struct nbody_device *p, size_t cells,
                               size_t bodies);

/* ---- tree_order.c ---------------------------------------------------------------------------- */

/* Sort all rows along the Hilbert curve on the device of a tree of all bodies: new row i is old row
 * order[i]. Blocks. */
int nbody_hilbert_find_device(struct nbody *nb, struct nbody_device *p, cl_uint *order);

/* Enqueue the sort of a device's rows first .. first + n - 1 by the keys of the root cube, which
 * the device has: t->order, and the keys in t->key and t->key_lo. */
int nbody_tree_sort_rows(struct nbody *nb, struct nbody_device *p, cl_uint first, cl_uint n);

/* Enqueue the move of n numbers within a block, from index `from` to index `to`, on a device that
 * owns a domain; between sums. The ranges may overlap. */
int nbody_tree_shift(const struct nbody *nb, const struct nbody_device *p, void *block, size_t from,
                     size_t to, size_t n);

/* Sort a device's own rows by the keys of the root cube, which the device has: the arrays of the
 * rank receive the rows and their keys at the places of these rows. Blocks. */
int nbody_hilbert_sort_own(struct nbody *nb, struct nbody_device *p, struct sorted_rows *own);

/* Collective. Permute the rows on the device of a tree of all bodies. Blocks. After a failure the
 * bodies are lost: rows are in neither the old nor the new order. */
int nbody_hilbert_move_device(struct nbody *nb, const cl_uint *order);

/* Number in the tree of the first body that arrays in tree order of a domain hold, from the number
 * of the domain's first body: at least TREE_GROUP before, which makes room for the lower halo. */
static inline cl_uint nbody_tree_base(cl_uint first)
{
    return first / TREE_GROUP * TREE_GROUP - TREE_GROUP;
}

/* With domains: set the range of bodies of a device's tree, from number `first` of the tree on. */
void nbody_tree_set_range(const struct nbody *nb, struct nbody_device *p, cl_uint first,
                          cl_uint bodies);

/* Prepare the walks of a sum: discard what is left of a cancelled one. scattered: their sums have
 * been used. */
int nbody_tree_begin_walks(struct nbody *nb, struct nbody_device *p);
void nbody_tree_scattered(struct nbody_device *p);

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
