/* engine.h - what the files of the N-body engine share. Each calls those below it:
 *
 *   tune.c             what a search for better shapes needs
 *   nbody.c            making and freeing an engine, copying state in
 *   method.c           direct sums or the tree
 *   roofline.c         how fast the sums could be at most
 *   force_check.c      how good forces are
 *   diagnose.c         energies, momenta
 *   save.c             an engine's state as bytes, and back
 *   integrate.c        steps
 *   host.c             steps on the host
 *   adaptive.c         steps that all share and that follow the motion
 *   block_steps.c      steps that bodies choose
 *   rungs.c            steps that bodies choose, with the tree
 *   batch.c            steps of one length
 *   integrators.c      the table of integrators, integrate.h
 *   forces_out.c       forces and potentials for the caller
 *   update.c           what integrators do between sums over pairs
 *   forces.c           sums over all pairs, on all devices
 *   softening.c        softening lengths of single bodies
 *   external_field.c   what fixed fields of force add to them
 *   baseline.c         sums over all pairs with the kernels of the ladder, on one device
 *   hilbert_sort.c     which row is whose: with the tree, and of many bodies in mixed precision,
 *                      they follow a curve
 *   tree.c             sums by a tree instead, on all devices; tree.h has its types and files
 *   exchange.c         how all devices get all positions
 *   ranks.c            which device of which rank moves which bodies; how all ranks have all
 *                      positions
 *   state.c            copying state out, questions to an engine
 *   sample.c           copying some bodies out, for pictures
 *   rollback.c         a step that is stopped in its middle is taken back
 *   device.c           a device's share of the bodies: its programs and its memory
 *   task.c             how far a call is
 *   shape.c            how kernels are launched on a device: rows of data
 *   forces_sum.c       what is summed over all pairs
 *   units.c            powers of two that bring all quantities near 1
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_ENGINE_H
#define STDCL_NBODY_ENGINE_H

#include <stdbool.h>

#include "core/args.h"
#include "core/embedded.h"
#include "core/pace.h"
#include "stdcl/nbody.h"

/* ---- shape.c --------------------------------------------------------------------------------- */

/* The numbers that shape the launches on a device: X(key, least, most, default, what it means).
 * They are -D options of the kernels, launch sizes of the host, and the label of a benchmark, all
 * at once. The defaults hold when the store knows nothing of a device: small enough for any. */
/* clang-format off */
#define NBODY_SHAPE_KEYS(X)                                                                                     \
    X(group, 1, 1 << 20, 1, "work-items of a group in the sums over pairs")                                     \
    X(width, 1, 16, 1, "bodies of a vector: 1 on GPUs; 4, 8 or 16 where vectors are SIMD registers")            \
    X(items, 1, 64, 4, "vectors of bodies that a work-item holds")                                              \
    X(tile, 1, 1 << 20, 16, "attracting bodies fetched at once")                                                \
    X(local, 0, 1, 0, "1: fetched through local memory; tile is then a multiple of group")                      \
    X(ahead, 0, 1, 0, "1: with local=1 the next tile travels while one is summed")                              \
    X(deep, 1, 1024, 1, "work-items that share rows, a stretch each; over 1, a step is one launch")              \
    X(unroll, 1, 1 << 20, 1, "copies of the loop over a tile")                                                  \
    X(block, 1, 1 << 20, 256, "attracting bodies summed before they join the total; a multiple of tile")        \
    X(rsqrt, 0, 2, 0, "0 rsqrt(), 1 native_rsqrt(), 2 the hardware's estimate, corrected if need be")           \
    X(fill, 1, 1 << 20, 16, "work-groups wanted for each compute unit; with fewer, a group sums a stretch, not all")\
    X(meet, 0, 1 << 20, 0, "of launches of many steps: so many groups that meet after each; items follows. 0: a launch is a step")\
    X(flat, 8, 1 << 20, 8, "work-items of a group in the kernels that visit each body once")                    \
    X(near, 1, 1 << 30, 65536, "in mixed precision: bodies from which on they lie along a curve, and only near ones are met in double")\
    X(fp64, 0, 1, 1, "0: energies and momenta in pairs of floats, as on devices without doubles")                \
    X(leaf, 0, 32, 0, "of the tree: the most bodies of a cell that is not divided; 0: 16, or 32 to save memory")\
    X(moments, 0, 4, 0, "of the tree: the highest order of moments of cells, 2 or 4; 0: by the accuracy")\
    X(limit, 10, 1000, 30, "of the tree: 64 bodies that meet more than so many tenths of what is usual walk again")\
    X(again, 1, 32, 1, "of the tree on GPUs: bodies that walk together then")                                    \
    X(least, 1, 1 << 30, 40000, "of the tree: bodies from which on --method auto takes it")                \
    X(alone, 0, 1 << 30, 0, "of the tree: bodies up to which one of several devices does it alone, at accuracy 0.001")
/* clang-format on */

struct nbody_shape {
#define X(key, least, most, value, text) int key;
    NBODY_SHAPE_KEYS(X)
#undef X
};

struct nbody_device;

/* Chooses the shape for a share whose device is known: the store's row, then the caller's words
 * "KEY=NUMBER ..." (may be NULL); fills shape and row. -1 with EINVAL for an unknown word, or for
 * numbers that do not go together or that the device cannot do. */
int nbody_shape_choose(const struct nbody *nb, struct nbody_device *p,
                       const struct cldev_info *info, const char *words);

/* Makes the shape one whose groups have rows of one cluster, and whose tiles are whole pieces
 * (mixed.cl). -1 with EINVAL if that cannot be. */
int nbody_shape_cluster(struct nbody_shape *shape);

/* Bodies from which on the tree is faster on the first device, as its row of the tree says; 0 when
 * that does not answer. */
size_t nbody_shape_crossover(const struct nbody *nb);

/* Writes the build options of the kernels that sum over pairs, in doubles or floats, into text. */
void nbody_shape_options(const struct nbody *nb, const struct nbody_device *p, bool doubles,
                         char *text, size_t size);

/* Bodies that one work-group moves. */
size_t nbody_shape_rows(const struct nbody_shape *shape);

/* ---- units.c --------------------------------------------------------------------------------- */

/* A length of the caller's is 2^length of the engine's, a time 2^time. The engine's masses are G m,
 * in length^3 / time^2, so that its G is 1. */
struct units {
    int length, time;
};

/* The units that make the largest coordinate, counted from a centre, about 2^bits (where few bodies
 * are 2^10 times as far as most, up to 2^20), and the largest G m, of a body or a field, about
 * 1. */
struct units nbody_units_choose(double G, size_t n, const double *mass, const double (*pos)[3],
                                const double centre[3], int bits, const struct nbody_field *fields,
                                size_t nfields);

/* EINVAL where a body is so far from the others that in the engine's precision they would lie at
 * one place. */
int nbody_units_check(const struct nbody *nb, size_t n, const double (*pos)[3]);

/* The power of two to multiply by, to come from the engine's unit length^l time^t to the
 * caller's. */
double nbody_units_factor(const struct units *u, int l, int t);

/* ---- The engine. ----------------------------------------------------------------------------- */

enum {
    MAX_BATCH = 256,
    SUM_TERMS = 9,
    SUM_BLOCK = 64
}; /* bodies of a block of energies, as diagnose.cl has it */

/* The first of three planes in share->state, as step.cl draws it; the last where the integrator
 * predicts. */
enum { STATE_ACC = 0, STATE_VEL = 3, STATE_POS = 6 };

/* The kernels of every engine, in the order of kernel_name in device.c. The first five are the sums
 * over all pairs, of which `sums` in forces_sum.c tells more. */
enum kernel {
    FORCES,
    JERKS,
    SNAPS,
    POTENTIALS,
    TIDES,
    SUMS,
    JOIN = SUMS,
    DIAGNOSE,
    FIELD,
    LARGEST,
    KERNELS
};

enum { OWN_KERNELS = 4 }; /* of an integrator, at most */

enum { MEET_PLACE = 32, BAD_WORDS = 64 }; /* of share->bad; as in pairs.cl */

/* What a device has still to do of a sum: the stretches from[0] .. to[0] - 1 pull on its rows from
 * `top` on, then those of from[1] .. to[1] - 1 on all of its rows. */
struct todo {
    size_t from[2], to[2], top;
};

/* One device's share of the bodies, and what there is for it on the device. rows is 0, and the
 * device idle, when there are too few bodies. */
struct nbody_device {
    cl_uint dev;
    cl_uint units; /* compute units of the device */
    struct nbody_shape shape;
    struct cltune_row row; /* the shape as a line of words, and where it comes from */
    void *program[6];
    bool owner; /* of the programs; else an earlier share of the same shape is */
    cl_kernel kernel[KERNELS], own[OWN_KERNELS]; /* own: the integrator's */
    struct {
        void *list;
        cl_uint from, n;
    } late;            /* rows that a visit is for, if there is a list */
    cl_kernel step;    /* sums over pairs and the integrator's visit in one launch; NULL where that
                          takes two */
    cl_kernel steps;   /* many of those in one launch, whose groups meet after each
                          (core/grid_barrier.h); NULL where they do not */
    int bare;          /* a flag of launches without an event (core/untracked.h), or 0 */
    const char *meets; /* build options for that, NULL where groups cannot */
    bool for_many;     /* the shape is of a row for such launches */
    cl_uint patience;  /* of groups that wait for others */
    size_t first,
        rows; /* of posm; rows is a multiple of nbody_shape_rows. With a tree in parts there is room
               * for so many, and first and count follow the parts (hilbert_sort.c) */
    size_t count;  /* bodies among them, the rest is padding */
    bool chain;    /* a work-group meets all stretches of attracting bodies, not one */
    cl_uint slots; /* sums that are kept: 1 with chain, else one for each stretch; and one more for
                      fields */
    void *state;   /* planes of `rows` numbers, see STATE_... */
    void *partial; /* sums, slot by slot; may be `state` itself when slots is 1 */
    void *phi;     /* the same for potentials; may be `partial` */
    void *sums;    /* diagnose's rows of SUM_TERMS, one a block */
    int *bad; /* BAD_WORDS: the first bad step, or INT_MAX; number MEET_PLACE is where groups meet,
                 0 before a burst */
    struct todo todo;  /* of the sum under way */
    struct pace pace;  /* work is counted in operations */
    void *saved;       /* on the host, see nbody_task_save; NULL until that is needed */
    struct tree *tree; /* tree.h; NULL without */
    cl_event outgoing; /* own positions on their way to the host */
    cl_event incoming; /* the last of the others' on their way to this device */
    size_t bytes;      /* of device memory */
};

/* What the kernels of the ladder need; all NULL when the tuned ones are used. */
struct baseline {
    void *program;
    cl_kernel pack, force, unpack;
    void *bodies; /* the array of structures; NULL for tiled */
};

struct integrator; /* integrate.h */

/* The call under way. */
struct task {
    const char *call;
    double work, done; /* operations: of the call, and waited for */
    bool asked;        /* the caller wants it to stop */
    bool stoppable;    /* at once: nothing is lost by that */
    bool stopped;
};

struct nbody {
    CLCONTEXT *ctx;
    const struct integrator *integrator;
    enum nbody_precision precision;
    enum nbody_kernel kernel;
    enum nbody_method method; /* NBODY_DIRECT or NBODY_TREE */
    enum nbody_stepping stepping;
    double eta;
    cl_uint planes; /* numbers a body in `state` */
    double accuracy;
    int moments;           /* of the tree's cells: their highest order, 2 or 4 */
    char method_text[256]; /* a sentence on why that one */
    size_t real;           /* bytes of a number of the state: 4 or 8 */
    double G, eps, dt;     /* the caller's units */
    struct units units;
    double centre[3]; /* of the bodies at first, in the engine's units: where NBODY_MIXED counts
                         coordinates from */
    size_t n, padded;
    size_t grain;         /* a share begins at multiples of it */
    size_t chunk, chunks; /* bodies of a stretch of attracting ones, how many stretches there
                                  are: forces_sum.c */
    size_t batch;
    int flags; /* that kernels are started with */
    cl_uint ndev;
    struct nbody_device *device; /* ndev of them */
    stdcl_world *world;
    struct ranks *ranks; /* ranks.h; NULL with one rank */
    void *posm;          /* {x, y, z, G m} of all bodies, at the places where forces are wanted */
    void *velo;  /* {vx, vy, vz, 0} likewise; NULL unless the integrator's sum needs velocities */
    void *moved; /* where the launches that also move bodies put posm's: both then change places.
                    NULL without such */
    void *acce;  /* {ax, ay, az, 0} likewise; NULL unless it needs accelerations */
    struct nbody_field *fields,
        *given_fields; /* in the engine's units, where G is 1; in the caller's */
    size_t nfields;
    double *own_eps; /* softening of each body, in the caller's units; NULL: eps for all */
    void *soft;      /* half its square in the engine's units, of all bodies, for kernels; padded */
    void *field_table; /* the same for kernels, four numbers each */
    double mass;  /* the power of two below G times that of all bodies, in the caller's units */
    bool uniform; /* all bodies have the same mass */
    bool shares_given;      /* by the caller */
    bool positions_current; /* every device holds everybody's positions */
    bool forces_valid;      /* state holds the sums that the next step begins with */
    bool synchronized;      /* posm and velo are those of the current time, not predictions */
    bool in_batch;          /* steps are started without looking at what they do */
    size_t sum;             /* number of a sum in the burst */
    bool fused_disabled;    /* rows for launches of many steps are not for this engine: groups were
                           tried,    and did not meet */
    size_t fused_steps;     /* steps that the next launch makes, if it makes any */
    cl_uint barrier_count;  /* how often groups met in the burst */
    int stage; /* the sum over pairs of the step under way: 0, or more where an integrator has
                  stages */
    size_t steps;
    size_t base_steps; /* time = base_time + (steps - base_steps) dt */
    double base_time;
    double evaluations; /* of all forces */
    struct baseline ladder;
    struct blocks *blocks; /* block_steps.h; NULL with fixed steps */
    struct rungs *rungs;   /* rungs.c; NULL but for steps that bodies choose with the tree */
    struct {
        double blocks, steps;
    } counts; /* of steps that bodies choose */
    int (*progress)(void *arg, double fraction);
    void *arg;
    struct task task;
    struct {
        bool forces_valid, synchronized;
    } saved;                   /* with share->saved */
    void *forces_sorted;       /* sums of all bodies in the tree's order */
    struct domains *domains;   /* tree.h; NULL where one device has the tree */
    bool positions_local;      /* devices have the positions of their own bodies alone */
    struct sampler *sampler;   /* sample.c; NULL until it is asked for */
    struct snapshot *snapshot; /* save.c; NULL until it is asked for */
    bool tree_valid;           /* trees are those of the current positions */
    bool a_old_valid; /* the tree's devices have everybody's acceleration, of the last sum */
    bool sorted; /* rows lie along a curve (hilbert_sort.c): with the tree, and of many bodies in
                     mixed precision */
    cl_uint *body, *row;  /* then: which body has a row, and which row a body; else NULL */
    size_t sort_interval; /* then: ORDER_STEPS; tests take less */
    size_t sort_count;    /* how often `row` changed */
};

/* Whether the state is in doubles. */
static inline bool nbody_has_doubles(const struct nbody *nb)
{
    return nb->precision != NBODY_SINGLE;
}

/* Whether direct sums are over rows along a curve (mixed.cl). */
static inline bool nbody_is_clustered(const struct nbody *nb)
{
    return nb->sorted && nb->method == NBODY_DIRECT;
}

/* Number k of an array in the engine's precision. */
static inline double real_at(const struct nbody *nb, const void *array, size_t k)
{
    return nb->real == sizeof(float) ? (double)((const float *)array)[k]
                                     : ((const double *)array)[k];
}
static inline void real_put(const struct nbody *nb, void *array, size_t k, double value)
{
    if (nb->real == sizeof(float))
        ((float *)array)[k] = (float)value;
    else
        ((double *)array)[k] = value;
}

/* The least common multiple. */
static inline size_t common_multiple(size_t a, size_t b)
{
    size_t x = a, y = b;
    while (y) {
        size_t r = x % y;
        x = y;
        y = r;
    }
    return a / x * b;
}

/* Blocks of bodies whose energies a device adds up. */
static inline size_t nbody_sum_blocks(const struct nbody_device *p)
{
    return (p->count + SUM_BLOCK - 1) / SUM_BLOCK;
}

/* ---- device.c -------------------------------------------------------------------------------- */

/* Builds the kernels of every share that has rows; their shapes have been chosen. */
int nbody_device_build(struct nbody *nb);

/* The bytes that a share whose rows are known will take, with an integrator that needs no
 * derivatives of forces, and without the tree's. */
size_t nbody_device_bytes_needed(const struct nbody *nb, const struct nbody_device *p);

/* Makes the memory of a share whose rows are known. */
int nbody_device_allocate(struct nbody *nb, struct nbody_device *p);

/* clmalloc, counted in p->bytes, and made on the device at once so that a lack of memory shows
 * here; NULL then. */
void *nbody_device_alloc(struct nbody *nb, struct nbody_device *p, size_t size, int flags);

/* Closes programs and frees memory, after work in flight. */
void nbody_device_free(struct nbody *nb);

/* Starts a kernel that visits `components` numbers of each of `rows` rows. */
int nbody_device_launch_1d(const struct nbody *nb, const struct nbody_device *p, cl_kernel kernel,
                           size_t rows, size_t components, cl_uint nargs,
                           const struct stdcl_arg *args);

/* Copies from a device to the host, and waits for all that the device was given: a kernel that
 * failed there fails this call, since its results are what is copied. */
int nbody_device_download(struct nbody *nb, struct nbody_device *p, void *from, size_t size);

/* Waits for all that a device was given; -1 when anything failed there. */
int nbody_device_wait(struct nbody *nb, struct nbody_device *p);
void nbody_device_mark_idle(
    struct nbody *nb, struct nbody_device *p); /* by other ways: all that was started is done */

/* Waits for all devices, and tells the caller how far the call is; as nbody_task_tell. */
int nbody_device_wait_all(struct nbody *nb);

/* ---- sample.c -------------------------------------------------------------------------------- */

void nbody_sample_free(struct nbody *nb);
void nbody_save_free(struct nbody *nb);

/* ---- forces_sum.c ---------------------------------------------------------------------------- */

/* A sum over all pairs. */
struct sum {
    const char *name[3]; /* in the tuning store, by precision; NULL where there is no such sum */
    cl_uint planes;      /* numbers a row of its partial sums; the first three are accelerations */
    bool velocities;     /* it reads velo */
    bool accelerations;  /* and acce */
    double flops;        /* operations of one pair, a fused multiply-add being two */
    int instructions[3]; /* the least that a pair takes, by precision: double needs an estimate
                            corrected */
    int multiplications; /* how many of these multiply, if a root needs none: multiply-adds too */
};

/* The row of a sum, and of what a step of the engine sums. */
const struct sum *nbody_forces_sum_of(enum kernel sum);
const struct sum *nbody_forces_sum(const struct nbody *nb);

/* Cuts the attracting bodies into stretches, by how many there are; `tiles` is a multiple of the
 * tiles of all devices. */
void nbody_forces_chunk(struct nbody *nb, size_t tiles);

/* The square of the softening in the engine's units. When that is as good as nothing (*none), a
 * number big enough for a finite pull on oneself, and so small that it changes no pull between
 * bodies that are 5e-9 apart or more (in the engine's units, where the farthest coordinate is about
 * 1; in double precision 1e-67, in mixed 3e-16). */
double nbody_forces_softening(const struct nbody *nb, enum kernel sum, bool *none);

/* Whether a launch may sum over pairs and make a step, too; and many of them, if shapes say so. */
bool nbody_forces_can_fuse(const struct nbody *nb);
bool nbody_forces_can_fuse_steps(const struct nbody *nb);

/* Whether a sum is computed in doubles. */
bool nbody_forces_in_doubles(const struct nbody *nb, enum kernel sum);

/* ---- forces.c -------------------------------------------------------------------------------- */

/* Starts the kernel that a step sums with, over no bodies. */
int nbody_forces_warm(const struct nbody *nb, struct nbody_device *p);

/* How many of `left` steps the next launch makes: more than one where its groups meet, and as many
 * as do not take too long; 0 where they do not fit. */
size_t nbody_forces_steps_that_fit(const struct nbody *nb, size_t left);

/* Starts that launch of nb->together steps, over all bodies or none; `args` are those of the
 * integrator's STEP_PARAMETERS. */
int nbody_forces_step(const struct nbody *nb, struct nbody_device *p, bool all, cl_uint nargs,
                      const struct stdcl_arg *args);

/* Starts the sum on all devices over all bodies, after an exchange of positions if they are not
 * current; leaves partial sums in share->partial, or share->phi for potentials. Blocks only until
 * what is left takes no longer than a launch should (core/pace.h); ECANCELED when the caller stops
 * it meanwhile. */
int nbody_forces_evaluate(struct nbody *nb, enum kernel sum);

/* The operations of that, on all devices. */
double nbody_forces_work(const struct nbody *nb, enum kernel sum);

/* ---- external_field.c
 * --------------------------------------------------------------------------------- */

/* EINVAL for fields that are none. */
int nbody_field_check(const struct nbody_options *o);

/* Copies the fields; then brings them to the devices, in units that have been chosen. Nothing to do
 * without. */
int nbody_field_copy(struct nbody *nb, const struct nbody_options *o);
int nbody_field_place(struct nbody *nb);

/* Starts what fields add to a sum, on all devices: into its last slot. */
int nbody_field_start(struct nbody *nb, enum kernel sum);

void nbody_field_free(struct nbody *nb);

/* ---- softening.c --------------------------------------------------------------------------------
 */

/* Copies softenings (NULL: one for all), and brings them to the devices, in units that have been
 * chosen. check: EINVAL where they cannot be. */
int nbody_soften_copy(struct nbody *nb, const double *softening);
int nbody_soften_check(const struct nbody *nb);
int nbody_soften_place(struct nbody *nb);
void nbody_soften_free(struct nbody *nb);

/* ---- forces_out.c ---------------------------------------------------------------------------- */

/* Joins partial sums of p that stand in `from`, `planes` a slot, and copies the first `wanted`
 * planes, times factor, to rows of out, n x wanted numbers for all shares. Blocks. */
int nbody_forces_collect(struct nbody *nb, struct nbody_device *p, void *from, cl_uint slots,
                         cl_uint planes, cl_uint wanted, double factor, double *out);

/* ---- baseline.c --------------------------------------------------------------------------------
 */

/* Whether the kernel that was asked for can be had: EINVAL with an integrator that needs more than
 * accelerations, or with several devices. */
int nbody_baseline_check(const struct nbody *nb);

/* Builds the kernels and places the structures; nothing to do for the tuned kernels. */
int nbody_baseline_open(struct nbody *nb);

/* Starts the sum over all bodies; leaves it in share->partial as one slot. Blocks as
 * nbody_forces_evaluate does. */
int nbody_baseline_evaluate(struct nbody *nb);

/* Closes and frees all that after work in flight. */
void nbody_baseline_free(struct nbody *nb);

/* ---- method.c -------------------------------------------------------------------------------- */

/* EINVAL for mixed precision with what cannot do it. */
int nbody_mixed_check(const struct nbody *nb);

/* Sets the method; EINVAL for a tree that cannot do what else is asked. */
int nbody_method_choose(struct nbody *nb, enum nbody_method asked);

/* ---- tree.c, tree_buffers.c ---------------------------------------------------------------------
 */

/* prepare: chooses how trees are made, by what fits; before any memory is taken. open: builds the
 * kernels of every share, and places what the tree needs. Nothing to do for direct sums. */
int nbody_tree_prepare(struct nbody *nb);
int nbody_tree_open(struct nbody *nb);

/* As nbody_forces_evaluate. */
int nbody_tree_evaluate(struct nbody *nb, enum kernel sum);

/* Waits, and looks whether the last trees had room: 1 when not, and no sum was made. Makes more
 * room, in time or for that. */
int nbody_tree_check(struct nbody *nb);

/* Collective. Everybody's positions to all devices: sums by a tree in parts do without. */
int nbody_tree_share_positions(struct nbody *nb);

/* Starts to find the order of all bodies on a device that has their positions. */
int nbody_tree_sort(struct nbody *nb, struct nbody_device *p);

/* Operations for so many bodies, roughly: what paces are measured by. */
double nbody_tree_work(const struct nbody *nb, size_t bodies);

/* Work-items of a group in the walks. */
static inline int nbody_tree_items(const struct nbody_shape *shape)
{
    return shape->group > 1 ? 32 : 1;
}

/* Whether the accuracy calls for moments up to fourth order. */
static inline bool nbody_tree_needs_order_4(const struct nbody *nb)
{
    return nb->accuracy < 4e-4;
}

/* Closes and frees all that after work in flight. */
void nbody_tree_free(struct nbody *nb);

/* ---- hilbert_sort.c
 * --------------------------------------------------------------------------------- */

enum {
    ORDER_STEPS = 256,
    CLUSTER = 256,
    CLUSTER_PIECE = 32
}; /* the last two as mixed.cl has them */

/* Collective; nothing to do where rows are not ordered. rows: sorts them; divide: where parts of
 * the tree are no longer what devices move, these get other rows, which changes no order; due:
 * whether that is to be done before the next step, and left: how many steps may be made until
 * then. */
int nbody_hilbert_open(struct nbody *nb);
int nbody_hilbert_sort_rows(struct nbody *nb);
int nbody_hilbert_repartition(struct nbody *nb);
bool nbody_hilbert_due(const struct nbody *nb);
size_t nbody_hilbert_left(const struct nbody *nb);
void nbody_hilbert_free(struct nbody *nb);

/* What rows have, so many numbers each, becomes what bodies have. */
int nbody_hilbert_unsort(const struct nbody *nb, double *of, size_t numbers);

/* ---- exchange.c ------------------------------------------------------------------------------ */

/* begin: starts copying every device's own positions to the host. finish: waits for that, and
 * starts copying them to the other devices. With one device there is nothing to do. */
int nbody_exchange_begin(struct nbody *nb);
int nbody_exchange_finish(struct nbody *nb);

/* ---- task.c ---------------------------------------------------------------------------------- */

/* A call begins, which does so many operations and may be stopped at any time. */
void nbody_task_begin(struct nbody *nb, const char *call, double work);

/* Tells the caller how far it is. -1 with ECANCELED when it is to stop and can. */
int nbody_task_tell(struct nbody *nb);

/* ---- rollback.c ----------------------------------------------------------------------------- */

/* What a step changes on a device: parts of memory that the host has, too. */
enum { CHANGES = 4 };
struct changes {
    void *at[CHANGES];
    size_t bytes[CHANGES];
};
struct changes nbody_task_changes(const struct nbody *nb, const struct nbody_device *p);

/* Keeps what a step changes on the host / brings it back to the devices. 1: no memory for that. */
int nbody_task_save(struct nbody *nb);
int nbody_task_restore(struct nbody *nb);

/* Runs a step of the engine, `done` steps after the call's begin. Where that fails by EDOM or is
 * stopped, the state is that before it, if there was memory to keep that. */
int nbody_task_whole(struct nbody *nb, int (*step)(struct nbody *nb, double done), double done);

/* ---- update.c -------------------------------------------------------------------------------- */

/* Starts what the phases say (integrate.h) on every device that has bodies, as `visit` of the
 * integrator does. */
int nbody_update_all(struct nbody *nb, cl_uint phases, int step);

/* Brings the sums of the current positions into share->state. Blocks as nbody_forces_evaluate
 * does. */
int nbody_integrate_init_forces(struct nbody *nb);

/* Starts the kernels of a step once, to no effect, and waits: drivers compile at the first launch,
 * which would otherwise be counted to the first step. */
int nbody_integrate_warm(struct nbody *nb);

/* Puts positions and velocities of the current time into posm and velo, where predictions stand.
 * Does not block. */
int nbody_integrate_synchronize(struct nbody *nb);

#endif
