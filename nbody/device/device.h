/* device.h - an OpenCL device of the engine: its launch parameters (shape.c), launches and memory
 * (device.c), and the bodies that it moves.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_DEVICE_H
#define STDCL_NBODY_DEVICE_H

#include "nbody/domain/domain.h"
#include "nbody/force/force.h"
#include "nbody/integrator/integrator.h"
#include "nbody/simulation/simulation.h"

#include "core/args.h"
#include "core/pace.h"

/* ---- Shapes: shape.c ------------------------------------------------------------------------- */

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

/* ---- Devices: device.c ------------------------------------------------------------------ */

/* Layout of nbody_device.bad: word 0 is the first bad step, word BARRIER_WORD the counter of the
 * grid barrier. As in pairs.cl. */
enum { BARRIER_WORD = 32, BAD_WORDS = 64 };

/* A device, its memory, and the bodies that it moves. Without bodies (too few for all devices) rows
 * is 0 and the device idle. */
struct nbody_device {
    cl_uint dev;           /* index in the context */
    cl_uint compute_units; /* of the device */
    struct nbody_shape shape;
    struct cltune_row tuning;    /* the shape as text, and its source */
    int untracked;               /* CL_EVENT_ flag of launches without an event, or 0 */
    const char *barrier_options; /* build options of the grid barrier; NULL: unsupported */
    bool fused_entry;            /* the tuning entry is one for multi-step launches */
    cl_uint max_polls;           /* reads of the grid barrier's counter before it times out */
    struct pace pace;            /* work is counted in operations */
    size_t bytes;                /* of device memory */
    int *bad;             /* BAD_WORDS: first bad step or INT_MAX, and the grid barrier's counter */
    cl_event ev_download; /* download of the device's own positions */
    cl_event ev_upload;   /* last upload of other devices' positions */

    /* Written by the domain: bodies first .. first + rows - 1 of posm belong to the device. rows is
     * a multiple of nbody_shape_group_bodies; the first `count` are bodies, the others padding.
     * With domains rows is the capacity, and first and count follow the domain. */
    size_t first, rows, count;

    void *state; /* of the particles: planes of `rows` numbers, see STATE_... */
    struct device_domain domain;
    struct device_force force;
    struct device_integration integration;
    struct device_diagnosis diagnosis;
};

/* Return an earlier device with bodies of equal shape, with which p shares programs; NULL: none. */
const struct nbody_device *nbody_device_twin(const struct nbody *nb, const struct nbody_device *p);

/* Count launches in profiles, or not. */
void nbody_device_count_launches(struct nbody *nb, bool count);

/* Set the first bad step on the device, and its counter of grid barriers to 0. */
int nbody_device_write_bad(struct nbody *nb, struct nbody_device *p, int first);

/* Fill in the devices of an engine: their properties and shapes, words: of the caller. */
int nbody_device_open(struct nbody *nb, const struct cldev_info *info, const char *words);

/* Allocate a device's `bad`; free those of all devices. */
int nbody_device_allocate(struct nbody *nb, struct nbody_device *p);
void nbody_device_free(struct nbody *nb);

/* Count memory of a device that is allocated, or freed. */
void nbody_device_add_bytes(struct nbody_device *p, size_t bytes);
void nbody_device_drop_bytes(struct nbody_device *p, size_t bytes);

/* clmalloc, added to p->bytes and created on the device immediately, so that a lack of memory is
 * reported here; NULL in that case. */
void *nbody_device_alloc(struct nbody *nb, struct nbody_device *p, size_t size, int flags);

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

#endif
