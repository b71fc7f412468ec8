/* device.h - an OpenCL device of the engine: its launches and memory (device.c), and the bodies
 * that it moves.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_DEVICE_H
#define STDCL_NBODY_DEVICE_H

#include "nbody/device/shape.h"
#include "nbody/domain/domain.h"
#include "nbody/force/force.h"
#include "nbody/integrator/integrator.h"
#include "nbody/simulation/simulation.h"

#include "core/args.h"
#include "core/pace.h"

/* Layout of nbody_device.bad: word 0 is the first bad step, word BARRIER_WORD the counter of the
 * grid barrier. As in pairs.cl. */
enum { BARRIER_WORD = 32, BAD_WORDS = 64 };

/* Bodies on a device, at most: its kernels use the upper bits of 32. With domains it may have room
 * for an eighth more rows. */
#define NBODY_DEVICE_BODIES ((size_t)1 << 30)

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

    /* Of the particles: with domains of the tree, {x, y, z, G m} of the device's rows, else NULL
     * (nbody_posm); planes of `rows` numbers, see STATE_... */
    void *posm, *state;
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

/* clmalloc for the context of the engine; memory of the host for an engine without devices. */
void *nbody_device_memory(const struct nbody *nb, size_t size, int flags);

/* clmalloc, added to p->bytes and created on the device immediately, so that a lack of memory is
 * reported here; NULL in that case. */
void *nbody_device_alloc(struct nbody *nb, struct nbody_device *p, size_t size, int flags);

/* Enqueue a kernel over rows x components work-items, in groups of shape.group_1d. */
int nbody_device_launch_1d(const struct nbody *nb, const struct nbody_device *p, cl_kernel kernel,
                           size_t rows, size_t components, cl_uint nargs,
                           const struct stdcl_arg *args);

/* Copy `size` bytes, or with 0 the whole block at `from`, from the host to the device. The host's
 * copy is the only one of an engine without devices. */
int nbody_device_upload(const struct nbody *nb, const struct nbody_device *p, void *from,
                        size_t size);

/* Copy `size` bytes from the device to the host and wait for all commands of the device. A failure
 * of any earlier kernel fails this call, since the copy may hold its results. */
int nbody_device_download(struct nbody *nb, struct nbody_device *p, void *from, size_t size);

/* Wait for all commands of a device; -1 if any failed. mark_idle: record that all its commands
 * have completed, when the caller has waited by other means, for `waited` seconds. */
int nbody_device_wait(struct nbody *nb, struct nbody_device *p);
void nbody_device_mark_idle(struct nbody *nb, struct nbody_device *p, double waited);

/* Wait for all devices, then report progress as nbody_progress_report. */
int nbody_device_wait_all(struct nbody *nb);

#endif
