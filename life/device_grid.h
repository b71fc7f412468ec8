/* device_grid.h - what the engines that keep a whole grid on the context's first device share
 * (device_grid.c): two buffers, launches in slices of rows, counting, packed rows for the caller.
 *
 * The state of such an engine begins with a struct device_grid, whose `how` has the functions of
 * the engine. Its struct life_backend is DEVICE_GRID_BACKEND(create).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_DEVICE_GRID_H
#define LIFE_DEVICE_GRID_H

#include "core/pace.h"
#include "life/engine.h"

enum { DEVICE = 0, DEVICE_PROGRAMS = 4 };

struct device_grid {
    const struct device_grid_how {
        /* Convert row y between the host's packed rows and grid[0]; NULL: they are grid[0]. */
        void (*pack)(life *lf, size_t y);
        void (*unpack)(life *lf, size_t y);
        int (*before)(life *lf); /* before each generation; NULL: nothing */
        /* Enqueue rows y ... y + rows - 1 of a generation, rounded up to whole groups: the next
         * launch writes the surplus rows again, with equal values. y is a multiple of `slice`. */
        cl_event (*start)(life *lf, size_t y, size_t rows);
        /* Enqueue the counting kernel, with sums from `at` on. */
        cl_event (*count)(life *lf, clndrange_t *ndr, cl_ulong at);
    } * how;
    void *grid[2];              /* [0] has the host's copy, [1] is scratch memory of the device */
    int current;                /* index of the present generation */
    bool both;                  /* upload both: ghosts of a plane stay 0 in either */
    struct life_cells image;    /* packed rows for the caller, plane after plane */
    uint64_t *sums;             /* LIFE_SLOTS x pairs pairs (population, hash) */
    size_t pairs, items, group; /* work-items of the counting kernel, of a group */
    size_t slice;
    struct pace pace;                       /* in cells */
    void *program[DEVICE_PROGRAMS], *extra; /* freed with the grid */
    int extra_flags;
    cl_kernel step, counter;
    /* Kernels of even and odd generations, equal unless rules alternate; `step` is one of them.
     * NULL: the engine sets `step` itself. */
    cl_kernel step_of[2];
    char shape[120], explain[120];
};

/* Allocate the state of an engine, of `bytes` bytes, and call `open` with the first device. */
int device_grid_create(life *lf, size_t bytes, const struct device_grid_how *how,
                       int (*open)(life *lf, const struct cldev_info *info));

/* Open a program for the rule, or two for rules that alternate, by `open`, and their kernels:
 * `name` computes a generation, `counter` counts. */
int device_grid_open_kernels(life *lf, const char *name, const char *counter,
                             void *(*open)(life *lf, const struct life_family *rule));

/* Choose the items that count: `groups` groups a compute unit of `group` items, and a pair of sums
 * an item or a group. */
void device_grid_count(struct device_grid *g, const struct cldev_info *info, size_t group,
                       size_t groups, bool by_group);

/* Allocate two buffers of `bytes` bytes, sums, the image unless the buffers are packed rows, and
 * `extra` bytes (0: none) on the device. ENOMEM. */
int device_grid_allocate(life *lf, const struct cldev_info *info, double bytes, double extra,
                         bool packed);

void device_grid_free(life *lf);
uint64_t *device_grid_row(life *lf, size_t y);
uint64_t *device_grid_plane(life *lf, unsigned plane, size_t y);
int device_grid_upload(life *lf);
int device_grid_download(life *lf);
int device_grid_step(life *lf, uint64_t generations);
int device_grid_trace(life *lf, size_t n, struct life_sample *sample);
unsigned device_grid_devices(const life *lf);
const char *device_grid_shape(const life *lf, unsigned dev);
const char *device_grid_explain(const life *lf, unsigned dev);

#define DEVICE_GRID_BACKEND(open)                                                                  \
    {                                                                                              \
        .create = open, .free = device_grid_free, .row = device_grid_row,                          \
        .plane = device_grid_plane, .upload = device_grid_upload,                                  \
        .download = device_grid_download, .step = device_grid_step, .trace = device_grid_trace,    \
        .devices = device_grid_devices, .shape = device_grid_shape,                                \
        .explain = device_grid_explain,                                                            \
    }

#endif
