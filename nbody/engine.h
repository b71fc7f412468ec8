/* engine.h - shared declarations of the N-body engine, one section per file. A file calls those
 * listed below it:
 *
 *   tune.c             tuning: knobs, a test problem, measurements
 *   nbody.c            create and free an engine, upload bodies
 *   method.c           choice between direct sums and the tree
 *   roofline.c         upper bound of the interaction rate
 *   force_check.c      errors of forces against direct sums in double precision
 *   diagnose.c         energies and momenta
 *   save.c             state of an engine as bytes; snapshots
 *   integrate.c        nbody_step
 *   host.c             steps on the host
 *   adaptive.c         adaptive steps shared by all bodies
 *   block_steps.c      block steps (individual time steps)
 *   rungs.c            block steps with the tree
 *   batch.c            batches of steps of one length
 *   integrators.c      table of integrators (integrate.h)
 *   forces_out.c       forces and potentials for the caller
 *   update.c           the integrator's kernels between sums over pairs
 *   forces.c           sums over all pairs, on all devices
 *   softening.c        softening lengths of single bodies
 *   external_field.c   external fields
 *   baseline.c         baseline kernels, on one device
 *   hilbert_order.c    storage order of bodies along the Hilbert curve
 *   tree.c             sums by the tree, on all devices (types and files: tree.h)
 *   allgather.c        exchange of positions between devices
 *   ranks.c            distribution of bodies to devices and ranks; exchange between ranks
 *   state.c            download of positions and velocities; queries
 *   sample.c           download of selected bodies, for pictures
 *   rollback.c         undo of a cancelled step
 *   device.c           programs, kernels and memory of a device
 *   progress.c         progress and cancellation of a call
 *   shape.c            launch parameters of a device
 *   forces_sum.c       properties of the sums over pairs; source chunks
 *   units.c            scaling by powers of two
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

/* Launch parameters of a device: X(key, minimum, maximum, default, meaning). Each key is a word of
 * a tuning entry, a -D macro of the kernels or a launch size of the host, and part of a benchmark's
 * label. The defaults serve devices without a tuning entry and are small enough for any device. */
/* clang-format off */
#define NBODY_SHAPE_KEYS(X)                                                                                        \
    X(group, 1, 1 << 20, 1, "work-items per group in the sums over pairs")                                         \
    X(width, 1, 16, 1, "vector width in bodies: 1 on GPUs; 4, 8 or 16 where vectors are SIMD registers")           \
    X(items, 1, 64, 4, "vectors of bodies that a work-item holds in registers")                                    \
    X(tile, 1, 1 << 20, 16, "source bodies loaded at once")                                                        \
    X(local, 0, 1, 0, "1: tiles go through local memory; j_split times tile is then a multiple of group")          \
    X(prefetch, 0, 1, 0, "1: with local=1, load the next tile into registers while one is summed")                 \
    X(j_split, 1, 1024, 1, "work-items per body, each with its own source chunk; above 1, a step is one launch")   \
    X(unroll, 1, 1 << 20, 1, "unroll factor of the loop over a tile")                                              \
    X(block, 1, 1 << 20, 256, "source bodies summed before they are added to the total; a multiple of tile")       \
    X(rsqrt, 0, 2, 0, "0: rsqrt(); 1: native_rsqrt(); 2: hardware estimate, corrected if needed")                  \
    X(groups_per_unit, 1, 1 << 20, 16, "work-groups wanted per compute unit; with fewer, each group sums one chunk")\
    X(fused_groups, 0, 1 << 20, 0, "work-groups of a multi-step launch, with a grid barrier after each step; sets items; 0: off")\
    X(group_1d, 8, 1 << 20, 8, "work-items per group in kernels with one work-item per body")                      \
    X(cluster_min, 1, 1 << 30, 65536, "mixed precision: N from which bodies are sorted along a curve and only near ones use the longer sum")\
    X(fp64, 0, 1, 1, "0: energies and momenta in pairs of floats, as on devices without doubles")                  \
    X(leaf, 0, 32, 0, "tree: maximum bodies of a leaf cell; 0: 16, or 32 to save memory")                          \
    X(moments, 0, 4, 0, "tree: highest order of the cells' moments, 2 or 4; 0: by the accuracy")                   \
    X(defer_factor, 10, 1000, 30, "tree: defer a group whose interaction list exceeds defer_factor/10 times the expected length")\
    X(second_group, 1, 32, 1, "tree on GPUs: bodies per group in the second pass over deferred groups")            \
    X(tree_min, 1, 1 << 30, 40000, "tree: N from which --method auto chooses the tree")                            \
    X(single_device_max, 0, 1 << 30, 0, "tree: use a single device up to this N, at accuracy 0.001")
/* clang-format on */

struct nbody_shape {
#define X(key, least, most, value, text) int key;
    NBODY_SHAPE_KEYS(X)
#undef X
};

struct nbody_device;

/* Choose the launch parameters of a device: the entry of the tuning store, overridden by the
 * caller's words "KEY=NUMBER ..." (may be NULL). Fills p->shape and p->tuning. EINVAL for an
 * unknown key, for contradictory numbers, or for numbers that the device does not support. */
int nbody_shape_choose(const struct nbody *nb, struct nbody_device *p,
                       const struct cldev_info *info, const char *words);

/* Adapt a shape to clusters (direct_mixed.cl): the bodies of a group belong to one cluster, and
 * tiles are whole pieces. EINVAL if that is impossible. */
int nbody_shape_cluster(struct nbody_shape *shape);

/* Return the smallest N for the tree on the first device, by its tuning entry; 0 if the device
 * cannot be queried. */
size_t nbody_shape_crossover(const struct nbody *nb);

/* Write the build options of the sums over pairs, in doubles or floats, into text. */
void nbody_shape_options(const struct nbody *nb, const struct nbody_device *p, bool doubles,
                         char *text, size_t size);

/* Return the number of bodies that a work-group sums for. */
size_t nbody_shape_group_bodies(const struct nbody_shape *shape);

/* ---- units.c --------------------------------------------------------------------------------- */

/* Scaling of the caller's units: the engine's length unit is 2^length of the caller's, its time
 * unit 2^time. The engine stores G m in length^3 / time^2, so that its G is 1. */
struct units {
    int length, time;
};

/* Choose units that make the largest coordinate, counted from `centre`, about 2^bits and the
 * largest G m of a body or field about 1. Where few bodies are over 2^10 times as far out as most,
 * the largest coordinate may reach 2^20. */
struct units nbody_units_choose(double G, size_t n, const double *mass, const double (*pos)[3],
                                const double centre[3], int bits, const struct nbody_field *fields,
                                size_t nfields);

/* EINVAL if a body is so far from the others that their positions would coincide in the engine's
 * precision. */
int nbody_units_check(const struct nbody *nb, size_t n, const double (*pos)[3]);

/* Return the power of two that converts length^l time^t from the engine's units to the caller's. */
double nbody_units_factor(const struct units *u, int l, int t);

/* ---- The engine. ----------------------------------------------------------------------------- */

enum {
    MAX_BATCH = 256,
    SUM_TERMS = 9,
    SUM_BLOCK = 64
}; /* SUM_BLOCK: bodies per block of diagnose.cl */

/* First of three planes of nbody_device.state (layout: step.cl). STATE_POS exists only where the
 * integrator predicts. */
enum { STATE_ACC = 0, STATE_VEL = 3, STATE_POS = 6 };

/* Kernels of every engine, in the order of kernel_name in device.c. The first five are sums over
 * all pairs, described by `sums` in forces_sum.c. */
enum kernel {
    FORCES,
    JERKS,
    SNAPS,
    POTENTIALS,
    CRITERION,
    SUMS,
    REDUCE_PARTIALS = SUMS,
    DIAGNOSE,
    FIELD,
    CRITERION_MAX,
    KERNELS
};

enum { UPDATE_KERNELS = 4 }; /* maximum per integrator */

/* Layout of nbody_device.bad: word 0 is the first bad step, word BARRIER_WORD the counter of the
 * grid barrier. As in pairs.cl. */
enum { BARRIER_WORD = 32, BAD_WORDS = 64 };

/* Remainder of a device's sum over pairs: source chunks from[0] .. to[0] - 1 for the bodies from
 * `top` on, then chunks from[1] .. to[1] - 1 for all of its bodies. */
struct pending_sum {
    size_t from[2], to[2], top;
};

/* A device, its kernels and memory, and the bodies that it moves. Without bodies (too few for all
 * devices) rows is 0 and the device idle. */
struct nbody_device {
    cl_uint dev;           /* index in the context */
    cl_uint compute_units; /* of the device */
    struct nbody_shape shape;
    struct cltune_row tuning; /* the shape as text, and its source */
    void *program[6];
    bool owns_programs; /* false: an earlier device of equal shape owns them */
    cl_kernel kernel[KERNELS];
    cl_kernel update[UPDATE_KERNELS]; /* the integrator's kernels */
    struct {
        void *list;
        cl_uint from, n;
    } late;                      /* with a list, an update is limited to these bodies */
    cl_kernel fused_kernel;      /* sum over pairs and update in one launch, or NULL */
    cl_kernel multi_step_kernel; /* several fused steps in one launch, or NULL */
    int untracked;               /* CL_EVENT_ flag of launches without an event, or 0 */
    const char *barrier_options; /* build options of the grid barrier; NULL: unsupported */
    bool fused_entry;            /* the tuning entry is one for multi-step launches */
    cl_uint max_polls;           /* reads of the grid barrier's counter before it times out */
    /* Bodies first .. first + rows - 1 of posm belong to the device. rows is a multiple of
     * nbody_shape_group_bodies; the first `count` are bodies, the others padding. With domains rows
     * is the capacity, and first and count follow the domain (hilbert_order.c). */
    size_t first, rows, count;
    bool all_chunks;  /* a work-group sums all source chunks, not one */
    cl_uint npartial; /* partial sums per body: 1 with all_chunks, else one per chunk; plus one with
                         external fields */
    void *state;      /* planes of `rows` numbers, see STATE_... */
    void *partial;    /* partial sums [npartial][planes][rows]; may be `state` when npartial is 1 */
    void *phi;        /* partial sums of potentials; may be `partial` */
    void *sums;       /* [blocks][SUM_TERMS], of diagnose.cl */
    int *bad;         /* BAD_WORDS: first bad step or INT_MAX, and the grid barrier's counter */
    struct pending_sum pending;
    struct pace pace;     /* work is counted in operations */
    void *saved;          /* host copy of the state, see rollback.c; NULL until needed */
    struct tree *tree;    /* tree.h; NULL with direct sums */
    cl_event ev_download; /* download of the device's own positions */
    cl_event ev_upload;   /* last upload of other devices' positions */
    size_t bytes;         /* of device memory */
};

/* Objects of the baseline kernels (baseline.c); all NULL with the tuned kernels. */
struct baseline {
    void *program;
    cl_kernel pack, force, unpack;
    void *bodies; /* array of structures; NULL for `tiled` */
};

struct integrator; /* integrate.h */

/* Progress of the call in progress (progress.c). */
struct task {
    const char *call;      /* its name, for messages */
    double work, done;     /* operations: of the call, and completed */
    bool cancel_requested; /* by the caller's progress function */
    bool stoppable;        /* the call may stop now without losing state */
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
    cl_uint planes; /* numbers per body in `state` */
    double accuracy;
    int moments;           /* highest order of the cells' multipole moments, 2 or 4 */
    char method_text[256]; /* why this method was chosen; a sentence for the user */
    size_t real;           /* bytes of a number of the state: 4 or 8 */
    double G, eps, dt;     /* in the caller's units */
    struct units units;
    double centre[3]; /* initial centre of mass, in engine units: origin of NBODY_MIXED */
    size_t n, padded; /* bodies; with padding */
    size_t grain;     /* a device's bodies begin at a multiple of it */
    size_t chunk;     /* bodies of a source chunk (forces_sum.c) */
    size_t chunks;    /* number of source chunks */
    size_t batch;     /* maximum steps per batch */
    int flags;        /* CL_EVENT_ flags of launches */
    cl_uint ndev;
    struct nbody_device *device; /* ndev of them */
    stdcl_world *world;
    struct ranks *ranks; /* ranks.h; NULL with one rank */
    void *posm;          /* {x, y, z, G m} of all bodies, where forces are evaluated */
    void *velo;          /* {vx, vy, vz, 0} there; NULL unless the integrator's sum needs it */
    void *moved;         /* destination of fused launches, swapped with posm; NULL without */
    void *acce;          /* {ax, ay, az, 0}; NULL unless the integrator's sum needs it */
    struct nbody_field *fields;       /* external fields in engine units, where G is 1 */
    struct nbody_field *given_fields; /* in the caller's units */
    size_t nfields;
    double *own_eps;        /* softening of each body, in the caller's units; NULL: eps for all */
    void *soft;             /* half its square in engine units, for kernels; padded */
    void *field_table;      /* fields for kernels, four numbers each */
    double mass;            /* power of two below G times the total mass, in the caller's units */
    bool uniform;           /* all bodies have equal mass */
    bool shares_given;      /* by the caller */
    bool positions_current; /* every device holds the positions of all bodies */
    bool forces_valid;      /* `state` holds the sums that the next step begins with */
    bool synchronized;      /* posm and velo are of the current time, not predictions */
    bool in_batch;          /* steps are enqueued without a host sync */
    size_t sum;             /* index of the current sum in the batch */
    bool fused_disabled;    /* multi-step launches failed their start-up test */
    size_t fused_steps;     /* steps of the next launch; 0: sum and update are separate launches */
    cl_uint barrier_count;  /* grid barriers passed in the batch */
    int stage;              /* index of the sum within its step: 0, or more with several stages */
    size_t steps;
    size_t base_steps; /* time = base_time + (steps - base_steps) dt */
    double base_time;
    double evaluations; /* of all forces */
    struct baseline baseline;
    struct blocks *blocks; /* block_steps.h; NULL with fixed steps */
    struct rungs *rungs;   /* rungs.c; NULL except for block steps with the tree */
    struct {
        double blocks, steps;
    } counts; /* of block steps */
    int (*progress)(void *arg, double fraction);
    void *arg;
    struct task task;
    struct {
        bool forces_valid, synchronized;
    } saved;                   /* belongs to nbody_device.saved */
    void *forces_sorted;       /* sums of all bodies in the tree's order */
    struct domains *domains;   /* tree.h; NULL where one device has the whole tree */
    bool positions_local;      /* devices hold positions of their own bodies only */
    struct sampler *sampler;   /* sample.c; NULL until first used */
    struct snapshot *snapshot; /* save.c; NULL until first used */
    bool tree_valid;           /* trees are of the current positions */
    bool a_old_valid;          /* the tree's devices have |a| of the last sum for all bodies */
    bool sorted;               /* bodies are stored in curve order (hilbert_order.c) */
    cl_uint *body, *row;       /* with `sorted`: body[r] is stored at r, and row[i] holds body i */
    size_t sort_interval;      /* steps between sorts: ORDER_STEPS, fewer in tests */
    size_t sort_count;         /* number of sorts so far */
};

/* True if the state is in doubles. */
static inline bool nbody_has_doubles(const struct nbody *nb)
{
    return nb->precision != NBODY_SINGLE;
}

/* True if direct sums run over bodies sorted along a curve (CLUSTER in direct_mixed.cl). */
static inline bool nbody_is_clustered(const struct nbody *nb)
{
    return nb->sorted && nb->method == NBODY_DIRECT;
}

/* Get and set number k of an array in the engine's precision. */
static inline double nbody_real_get(const struct nbody *nb, const void *array, size_t k)
{
    return nb->real == sizeof(float) ? (double)((const float *)array)[k]
                                     : ((const double *)array)[k];
}
static inline void nbody_real_put(const struct nbody *nb, void *array, size_t k, double value)
{
    if (nb->real == sizeof(float))
        ((float *)array)[k] = (float)value;
    else
        ((double *)array)[k] = value;
}

static inline size_t least_common_multiple(size_t a, size_t b)
{
    size_t x = a, y = b;
    while (y) {
        size_t r = x % y;
        x = y;
        y = r;
    }
    return a / x * b;
}

/* Number of blocks of a device's sums of energies. */
static inline size_t nbody_sum_blocks(const struct nbody_device *p)
{
    return (p->count + SUM_BLOCK - 1) / SUM_BLOCK;
}

/* ---- device.c -------------------------------------------------------------------------------- */

/* Build the kernels of every device that has bodies. Shapes must have been chosen. */
int nbody_device_build(struct nbody *nb);

/* Return the bytes of device memory that p needs, once first and rows are known, for an integrator
 * that needs no derivatives of forces; without the tree. */
size_t nbody_device_bytes_needed(const struct nbody *nb, const struct nbody_device *p);

/* Allocate the device memory of p, once first and rows are known. */
int nbody_device_allocate(struct nbody *nb, struct nbody_device *p);

/* clmalloc, added to p->bytes and created on the device immediately, so that a lack of memory is
 * reported here; NULL in that case. */
void *nbody_device_alloc(struct nbody *nb, struct nbody_device *p, size_t size, int flags);

/* Wait for commands in flight, then close programs and free memory. */
void nbody_device_free(struct nbody *nb);

/* Enqueue a kernel over rows x components work-items, in groups of shape.group_1d. */
int nbody_device_launch_1d(const struct nbody *nb, const struct nbody_device *p, cl_kernel kernel,
                           size_t rows, size_t components, cl_uint nargs,
                           const struct stdcl_arg *args);

/* Copy `size` bytes from the device to the host and wait for all commands of the device. A failure
 * of any earlier kernel fails this call, since the copy may hold its results. */
int nbody_device_download(struct nbody *nb, struct nbody_device *p, void *from, size_t size);

/* Wait for all commands of a device; -1 if any failed. mark_idle: record that all its commands
 * have completed, when the caller has waited by other means. */
int nbody_device_wait(struct nbody *nb, struct nbody_device *p);
void nbody_device_mark_idle(struct nbody *nb, struct nbody_device *p);

/* Wait for all devices, then report progress as nbody_progress_report. */
int nbody_device_wait_all(struct nbody *nb);

/* ---- sample.c -------------------------------------------------------------------------------- */

void nbody_sample_free(struct nbody *nb);
void nbody_save_free(struct nbody *nb);

/* ---- forces_sum.c ---------------------------------------------------------------------------- */

/* Properties of a sum over all pairs. */
struct sum {
    const char *name[3]; /* in the tuning store, by precision; NULL: no such sum */
    cl_uint planes;      /* components of its partial sums, accelerations first */
    bool velocities;     /* reads velo */
    bool accelerations;  /* reads acce */
    double flops;        /* operations per pair, counting a fused multiply-add as two */
    int instructions[3]; /* minimum per pair, by precision; double: with a corrected root */
    int multiplications; /* of these, multiplications and multiply-adds, with a root free */
};

/* Return the properties of a sum; nbody_forces_sum: of the sum that the engine's steps need. */
const struct sum *nbody_forces_sum_of(enum kernel sum);
const struct sum *nbody_forces_sum(const struct nbody *nb);

/* Cut the source bodies into chunks; sets nb->chunk and nb->chunks, which depend on n only.
 * `tiles` is a common multiple of the tiles of all devices. */
void nbody_forces_chunk(struct nbody *nb, size_t tiles);

/* Return the square of the softening in engine units. A negligible softening (*none) is replaced
 * by a number that keeps the self-interaction finite and changes no interaction of bodies at least
 * 5e-9 apart, in units where the largest coordinate is about 1 (double precision: 1e-67; mixed:
 * 3e-16). */
double nbody_forces_softening(const struct nbody *nb, enum kernel sum, bool *none);

/* True if a launch may combine the sum over pairs with the update; can_fuse_steps: if a launch may
 * make several such steps. */
bool nbody_forces_can_fuse(const struct nbody *nb);
bool nbody_forces_can_fuse_steps(const struct nbody *nb);

/* True if a sum is computed in doubles. */
bool nbody_forces_in_doubles(const struct nbody *nb, enum kernel sum);

/* ---- forces.c -------------------------------------------------------------------------------- */

/* Enqueue the step's sum over no source bodies, so that the driver compiles the kernel. */
int nbody_forces_warm_up(const struct nbody *nb, struct nbody_device *p);

/* Return how many of `left` steps the next launch makes: several with a multi-step kernel, limited
 * by the duration of a launch; 0 if sum and update need separate launches. */
size_t nbody_forces_steps_that_fit(const struct nbody *nb, size_t left);

/* Enqueue a launch of nb->fused_steps steps, over all source bodies or none. `args` are the
 * integrator's UPDATE_PARAMETERS. */
int nbody_forces_step(const struct nbody *nb, struct nbody_device *p, bool all, cl_uint nargs,
                      const struct stdcl_arg *args);

/* Enqueue a sum over all bodies on all devices, after an exchange of positions if they are not
 * current. Leaves partial sums in nbody_device.partial, potentials in nbody_device.phi. Blocks
 * until the remainder is shorter than a launch should be (core/pace.h). ECANCELED if the caller
 * cancels. */
int nbody_forces_evaluate(struct nbody *nb, enum kernel sum);

/* Return the operations of nbody_forces_evaluate, on all devices. */
double nbody_forces_work(const struct nbody *nb, enum kernel sum);

/* ---- external_field.c ------------------------------------------------------------------------ */

/* EINVAL for invalid fields. */
int nbody_field_check(const struct nbody_options *o);

/* copy: keep the caller's fields. upload: convert them to the engine's units, which must have been
 * chosen, and send them to the devices. Both do nothing without fields. */
int nbody_field_copy(struct nbody *nb, const struct nbody_options *o);
int nbody_field_upload(struct nbody *nb);

/* Enqueue the fields' contribution to a sum, on all devices, as the last partial sum. */
int nbody_field_start(struct nbody *nb, enum kernel sum);

void nbody_field_free(struct nbody *nb);

/* ---- softening.c ----------------------------------------------------------------------------- */

/* copy: keep the softening length of each body (NULL: eps for all). check: EINVAL if the engine
 * does not support them. upload: send them to the devices, in units that have been chosen. */
int nbody_softening_copy(struct nbody *nb, const double *softening);
int nbody_softening_check(const struct nbody *nb);
int nbody_softening_upload(struct nbody *nb);
void nbody_softening_free(struct nbody *nb);

/* ---- forces_out.c ---------------------------------------------------------------------------- */

/* Reduce the partial sums [npartial][planes][rows] of p in `from` and store the first `wanted`
 * components times factor to out[i][wanted], i counting the bodies of all devices. Blocks. */
int nbody_forces_collect(struct nbody *nb, struct nbody_device *p, void *from, cl_uint npartial,
                         cl_uint planes, cl_uint wanted, double factor, double *out);

/* ---- baseline.c ------------------------------------------------------------------------------ */

/* EINVAL if the baseline kernel does not support the integrator or the number of devices. */
int nbody_baseline_check(const struct nbody *nb);

/* Build the kernels and allocate the array of structures; nothing to do for the tuned kernels. */
int nbody_baseline_open(struct nbody *nb);

/* Enqueue the sum over all bodies; leaves one partial sum in nbody_device.partial. Blocks as
 * nbody_forces_evaluate does. */
int nbody_baseline_evaluate(struct nbody *nb);

/* Wait for commands in flight, then close and free all. */
void nbody_baseline_free(struct nbody *nb);

/* ---- method.c -------------------------------------------------------------------------------- */

/* EINVAL for options that mixed precision does not support. */
int nbody_mixed_check(const struct nbody *nb);

/* Set nb->method; EINVAL for options that the tree does not support. */
int nbody_method_choose(struct nbody *nb, enum nbody_method asked);

/* ---- tree.c, tree_buffers.c ------------------------------------------------------------------ */

/* prepare: choose how trees are built, by the memory available; before any is allocated. open:
 * build the kernels of every device and allocate the tree's memory. Nothing to do for direct sums.
 */
int nbody_tree_prepare(struct nbody *nb);
int nbody_tree_open(struct nbody *nb);

/* nbody_forces_evaluate by the tree. */
int nbody_tree_evaluate(struct nbody *nb, enum kernel sum);

/* Wait, and return 1 if buffers of the last trees overflowed, so that no sum was made. Grows the
 * buffers in that case and, in advance, when they are nearly full. */
int nbody_tree_check(struct nbody *nb);

/* Collective. Send the positions of all bodies to all devices, which sums by a distributed tree do
 * not need. */
int nbody_tree_share_positions(struct nbody *nb);

/* Enqueue the sort of all bodies along the curve on a device that has their positions. */
int nbody_tree_sort(struct nbody *nb, struct nbody_device *p);

/* Approximate number of operations of a sum for `bodies` bodies, for paces. */
double nbody_tree_work(const struct nbody *nb, size_t bodies);

/* Work-items per group in tree walks. */
static inline int nbody_tree_items(const struct nbody_shape *shape)
{
    return shape->group > 1 ? 32 : 1;
}

/* True if the accuracy requires moments up to fourth order. */
static inline bool nbody_tree_needs_order_4(const struct nbody *nb)
{
    return nb->accuracy < 4e-4;
}

/* Wait for commands in flight, then close and free all. */
void nbody_tree_free(struct nbody *nb);

/* ---- hilbert_order.c ------------------------------------------------------------------------- */

enum {
    ORDER_STEPS = 256,
    CLUSTER = 256,
    CLUSTER_PIECE = 32
}; /* CLUSTER and CLUSTER_PIECE as in direct_mixed.cl */

/* Collective; nothing to do for unsorted bodies. sort_rows: sort the bodies along the curve.
 * repartition: move bodies to the devices of their domains, in unchanged order. due: true
 * if a sort is due before the next step. left: steps until then. */
int nbody_hilbert_open(struct nbody *nb);
int nbody_hilbert_sort_rows(struct nbody *nb);
int nbody_hilbert_repartition(struct nbody *nb);
bool nbody_hilbert_due(const struct nbody *nb);
size_t nbody_hilbert_left(const struct nbody *nb);
void nbody_hilbert_free(struct nbody *nb);

/* Reorder of[n][numbers] from storage order to the order of bodies. */
int nbody_hilbert_unsort(const struct nbody *nb, double *of, size_t numbers);

/* ---- allgather.c ----------------------------------------------------------------------------- */

/* begin: enqueue the download of every device's own positions. finish: wait for these and enqueue
 * their upload to the other devices. Nothing to do with one device. */
int nbody_allgather_begin(struct nbody *nb);
int nbody_allgather_finish(struct nbody *nb);

/* ---- progress.c ------------------------------------------------------------------------------ */

/* Start the progress of a call of `work` operations, which may be cancelled at any time. */
void nbody_progress_begin(struct nbody *nb, const char *call, double work);

/* Report progress to the caller. -1 with ECANCELED if the caller cancels and the call may stop. */
int nbody_progress_report(struct nbody *nb);

/* ---- rollback.c ------------------------------------------------------------------------------ */

/* Memory of a device that a step changes; each region has an image on the host. */
enum { CHANGES = 4 };
struct changes {
    void *at[CHANGES];
    size_t bytes[CHANGES];
};
struct changes nbody_rollback_changes(const struct nbody *nb, const struct nbody_device *p);

/* save: copy the regions that a step changes to the host; 1 if out of memory. restore: write them
 * back to the devices. */
int nbody_rollback_save(struct nbody *nb);
int nbody_rollback_restore(struct nbody *nb);

/* Run a step of the engine, the call's step number `done`. If it is cancelled or fails with EDOM,
 * restore the state before it, provided there was memory to save it. */
int nbody_rollback_run(struct nbody *nb, int (*step)(struct nbody *nb, double done), double done);

/* ---- update.c -------------------------------------------------------------------------------- */

/* Enqueue the integrator's update with these phases (integrate.h) on every device with bodies. */
int nbody_update_all(struct nbody *nb, cl_uint phases, int step);

/* Evaluate the forces at the current positions into nbody_device.state, unless they are valid.
 * Blocks as nbody_forces_evaluate does. */
int nbody_integrate_init_forces(struct nbody *nb);

/* Launch the kernels of a step once, over no bodies, and wait, so that the driver's compilation
 * does not count as part of the first step. Tests multi-step launches. */
int nbody_integrate_warm_up(struct nbody *nb);

/* Write positions and velocities of the current time to posm and velo, if these hold predictions.
 * Does not block. */
int nbody_integrate_synchronize(struct nbody *nb);

#endif
