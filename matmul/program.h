/* program.h - kernels built on first use, device memory and workspaces, launches.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_PROGRAM_H
#define STDCL_MATMUL_PROGRAM_H

#include "matmul/device.h"

enum matmul_source {
    SOURCE_FMA,
    SOURCE_MMA,
    SOURCE_PACK,
    SOURCE_CPU,
    SOURCE_BASELINE,
    SOURCE_SKINNY,
    SOURCES
};

/* A program built for a source and a line of options. */
struct program {
    enum matmul_source source;
    char *options;
    void *handle;
    struct program *next;
};

/* Return kernel `name` of a source, built with these options for all devices. Build the program if
 * the engine does not have it yet. NULL on failure. */
cl_kernel matmul_kernel(struct matmul *mm, enum matmul_source source, const char *options,
                        const char *name);

/* Return the seconds that this thread has spent in matmul_kernel. */
double matmul_build_seconds(void);

void matmul_programs_close(struct matmul *mm);

/* Fill a block on a device with 32-bit words. Block until it is done. */
int matmul_fill_buffer(struct matmul *mm, const struct matmul_device *p, void *block, cl_uint value,
                       size_t bytes);

/* Allocate memory on a device, NULL on failure. With $STDCL_DEBUG it is filled with NaN: kernels
 * read the padding of rows and drop the products, and a NaN in a result shows a mistake. */
void *matmul_device_alloc(struct matmul *mm, const struct matmul_device *p, size_t size, int flags);

/* Return workspace `which` of a device with at least `size` bytes. Growing it loses its content. */
void *matmul_workspace(struct matmul *mm, struct matmul_device *p, int which, size_t size);

/* Return the split-K workspace: SPLITK_PARTS_MAX counters, which are 0 whenever no kernel runs,
 * then `elements` partial sums. */
void *matmul_splitk_workspace(struct matmul *mm, struct matmul_device *p, size_t elements);

/* Enqueue a kernel of `work` multiply-adds; 0: it is short. With p->report set, a long launch is
 * cut into ranges of work-groups, so kernels number groups by their global id. Return -1 with
 * ECANCELED if `report` cancels the product. */
int matmul_launch(struct matmul *mm, struct matmul_device *p, cl_kernel kernel,
                  const clndrange_t *ndr, double work, cl_uint nargs, const struct stdcl_arg *args);

/* Enqueue C = beta C. */
int matmul_launch_scale(struct matmul *mm, struct matmul_device *p, size_t m, size_t n, double beta,
                        const struct operand *c);

/* Set the report function of a device, NULL to remove it. Without a progress function of the
 * engine nothing is set. */
void matmul_set_report(struct matmul *mm, struct matmul_device *p,
                       int (*report)(void *arg, double work), void *arg);

#endif
