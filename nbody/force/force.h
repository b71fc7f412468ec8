/* force.h - sums over pairs, by direct summation or by the tree.
 *
 *   method.c          choice of the method
 *   sums.c            properties of the sums; source chunks
 *   direct.c          direct sums on all devices; baseline.c: by the baseline kernels
 *   tree.h            sums by the tree
 *   external_field.c  external fields
 *   added_forces.c    forces of the caller
 *   force_check.c     errors of forces; roofline.c: upper bound of the rate
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_FORCE_H
#define STDCL_NBODY_FORCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/args.h"
#include "nbody/force/sums.h"
#include "stdcl/nbody.h"

struct nbody_device;
struct nbody_shape;
struct update;

/* Remainder of a device's sum over pairs: source chunks from[0] .. to[0] - 1 for the bodies from
 * `top` on, then chunks from[1] .. to[1] - 1 for all of its bodies. */
struct pending_sum {
    size_t from[2], to[2], top;
};

struct device_force {
    void *program[SUMS];
    bool owns_programs; /* false: the device's twin owns them */
    cl_kernel kernel[SUMS];
    cl_kernel fused_kernel;      /* sum over pairs and update in one launch, or NULL */
    cl_kernel multi_step_kernel; /* several fused steps in one launch, or NULL */
    bool all_chunks;             /* a work-group sums all source chunks, not one */
    cl_uint npartial; /* partial sums per body: 1 with all_chunks, else one per chunk; plus one with
                         external fields or added forces */
    void *partial;    /* partial sums [npartial][planes][rows]; may be `state` when npartial is 1 */
    void *phi;        /* partial sums of potentials; may be `partial` */
    void *added;      /* added forces: potential of each body, then position times force */
    struct pending_sum pending;
    struct tree *tree; /* tree.h; NULL with direct sums */
};

struct force_method; /* methods.h */
struct added_forces; /* added_forces.c */

struct force {
    const struct force_method *method;
    size_t chunk;                     /* bodies of a source chunk (sums.c) */
    size_t chunks;                    /* number of source chunks */
    struct nbody_field *fields;       /* external fields in engine units, where G is 1 */
    struct nbody_field *given_fields; /* in the caller's units */
    void *field_table;                /* fields for kernels, four numbers each */
    void *field_program;
    cl_kernel field_kernel;
    struct added_forces *added; /* forces of the caller; NULL: none */
    struct baseline *baseline;  /* baseline.c; NULL with the tuned kernels */
    uint64_t tree_version;      /* particles.version of the trees; 0: none */
    int defer_factor;           /* with domains: the largest shape.defer_factor of all ranks */
    int index;                  /* of the sum in its batch; -1 outside */
    bool a_old_valid;           /* the tree's devices have |a| of the last sum for all bodies */
};

/* open: build programs and kernels of every device that has bodies. allocate: a device's memory for
 * partial sums, once `state` is; bytes: of it, beside `state`. */
int nbody_forces_open(struct nbody *nb);
size_t nbody_forces_bytes(const struct nbody *nb, const struct nbody_device *p);
int nbody_forces_allocate(struct nbody *nb, struct nbody_device *p);
void nbody_forces_free(struct nbody *nb);

/* Give up launches of several steps, whose start-up test has failed. */
void nbody_forces_disable_multi_step(struct nbody_device *p);

/* Enqueue the step's sum over no source bodies, so that the driver compiles the kernel. */
int nbody_forces_warm_up(const struct nbody *nb, struct nbody_device *p);

/* Return how many of `left` steps the next launch makes: several with a multi-step kernel, limited
 * by the duration of a launch; 0 if sum and update need separate launches. */
size_t nbody_forces_steps_that_fit(const struct nbody *nb, size_t left);

/* Enqueue a launch of u->fused_steps steps, over all source bodies or none. `args` are the
 * integrator's UPDATE_PARAMETERS. */
int nbody_forces_step(const struct nbody *nb, struct nbody_device *p, bool all,
                      const struct update *u, cl_uint nargs, const struct stdcl_arg *args);

/* Enqueue a sum over all bodies on all devices; exchange positions first if they are out of date.
 * index: which sum of the batch, from 0; -1 outside a batch. Partial sums go to force.partial of a
 * device, sums of one plane to force.phi. Blocks until the remainder is shorter than a launch
 * should be (core/pace.h). ECANCELED if the caller cancels. */
int nbody_forces_evaluate(struct nbody *nb, enum sum_kind sum, int index);

/* Return the operations of nbody_forces_evaluate, on all devices. */
double nbody_forces_work(const struct nbody *nb, enum sum_kind sum);

/* ---- added_forces.c: forces of the caller on the host ---------------------------------------- */

typedef int force_function(void *arg, double time, size_t n, const double (*pos)[3],
                           const double (*vel)[3], const double *mass, double (*acc)[3]);

/* copy: parse and keep the forces of options. fields: write a field as strong as each to `all`, and
 * return their number. check: EINVAL if the engine does not support one; check_devices: likewise,
 * once devices have their bodies. open: build the kernel, if a device evaluates any: all
 * of them, or on_devices false and some are from files. upload: convert them to the engine's units,
 * and send them to the devices. */
int nbody_added_copy(struct nbody *nb, const struct nbody_options *o);
size_t nbody_added_fields(const struct nbody *nb, struct nbody_field *all);
int nbody_added_check(const struct nbody *nb, const double *mass);
int nbody_added_check_devices(const struct nbody *nb);
int nbody_added_open(struct nbody *nb, bool on_devices);
int nbody_added_upload(struct nbody *nb);

/* Continue the 64-bit FNV-1a digest `sum` (Fowler, Noll & Vo) over bytes. */
static inline uint64_t nbody_digest(uint64_t sum, const void *from, size_t size)
{
    const unsigned char *const byte = from;
    sum = sum ? sum : 0xcbf29ce484222325u;
    for (size_t k = 0; k < size; k++)
        sum = (sum ^ byte[k]) * 0x100000001b3u;
    return sum;
}

/* Digest of the fields and forces of options, with the texts of files. */
uint64_t nbody_added_digest(const struct nbody *nb);

/* Enqueue the forces of options as part of the last partial sum, on all devices. */
int nbody_added_start(struct nbody *nb, enum sum_kind sum);

/* Take over the caller's function, which steps must support; NULL: none. */
int nbody_added_set(struct nbody *nb, force_function *force, void *arg, enum nbody_force_kind kind);
void nbody_added_free(struct nbody *nb);

/* apply: true if there are any. need_velocities: true if they depend on velocities. from_files:
 * true if files define one. */
bool nbody_added_apply(const struct nbody *nb);
bool nbody_added_from_files(const struct nbody *nb);
bool nbody_added_need_velocities(const struct nbody *nb);

/* Add the accelerations at the time, positions and velocities given to a, n rows each, in engine
 * units. -1 if the caller's function fails, and until nbody_added_begin; failed: true then. */
int nbody_added_evaluate(struct nbody *nb, double time, const double (*x)[3], const double (*v)[3],
                         double (*a)[3]);
/* The same without the function of the caller, whose potential is unknown; phi[n] receives the sum
 * with the potentials of the laws. */
int nbody_added_potentials(struct nbody *nb, double time, const double (*x)[3],
                           const double (*v)[3], double *phi, double (*a)[3]);

void nbody_added_begin(struct nbody *nb);
bool nbody_added_failed(const struct nbody *nb);

/* EINVAL for invalid fields. */
int nbody_field_check(const struct nbody_options *o);

/* open: build the kernel. copy: keep the caller's fields. upload: convert them to the engine's
 * units, which must have been chosen, and send them to the devices. Nothing to do without fields.
 */
int nbody_field_open(struct nbody *nb);
int nbody_field_copy(struct nbody *nb, const struct nbody_options *o);
int nbody_field_upload(struct nbody *nb);

/* Enqueue the fields' contribution to a sum, on all devices, as the last partial sum. */
int nbody_field_start(struct nbody *nb, enum sum_kind sum);

void nbody_field_free(struct nbody *nb);

/* EINVAL if the baseline kernel does not support the integrator or the number of devices. */
int nbody_baseline_check(const struct nbody *nb);

/* EINVAL for options that mixed precision does not support. */
int nbody_mixed_check(const struct nbody *nb);

/* Set nb->method and nb->force.method; EINVAL for options that the tree does not support. */
int nbody_method_choose(struct nbody *nb, enum nbody_method asked);

/* The functions of nb->force.method, if it has them. */
int nbody_method_prepare(struct nbody *nb);
int nbody_method_open(struct nbody *nb);
void nbody_method_free(struct nbody *nb);

/* Wait, and return 1 if buffers of the last trees overflowed, so that no sum was made. Grows the
 * buffers in that case and, in advance, when they are nearly full. */
int nbody_tree_check(struct nbody *nb);

/* Take over whether a saved engine's |a| of the last sum, which have been loaded, are valid. */
void nbody_tree_load(struct nbody *nb, bool a_old_valid);

/* Enqueue the sort of all bodies along the curve on a device that has their positions. */
int nbody_tree_sort(struct nbody *nb, struct nbody_device *p);

/* Approximate number of operations of a sum for `bodies` bodies, for paces. */
double nbody_tree_work(const struct nbody *nb, size_t bodies);

#endif
