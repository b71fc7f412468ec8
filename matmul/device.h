/* device.h - one device of an engine: its partition of C, loaded matrices, workspaces and launch
 * shape.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_DEVICE_H
#define STDCL_MATMUL_DEVICE_H

#include "core/pace.h"
#include "matmul/product.h"
#include "matmul/shape.h"

/* Scratch memory on a device that grows as needed. */
struct workspace {
    void *block;
    size_t size;
};
enum { WORKSPACE_PACK, WORKSPACE_SPLIT_K, WORKSPACES };

/* Multiply-adds computed for products of several ranks, and the seconds they took. */
struct work_time {
    double work, seconds;
};

struct matmul_device {
    cl_uint dev;
    struct cldev_info info;
    bool is_cpu;
    int capability;             /* NVIDIA's compute capability, 90 for 9.0; else 0 */
    bool in_place;              /* kernels may use host arrays without copying them */
    double weight;              /* in the partition of C */
    struct work_time work_time; /* since the weight was set */
    struct workspace workspace[WORKSPACES];

    /* Loaded matrices (matmul_load). */
    struct area area;       /* the device's block of C */
    struct operand a, b, c; /* a, b: buffers on host arrays, if used in place */
    cl_event copies[2];     /* uploads in flight */
    size_t loaded_bytes;

    /* The shape of the last product. */
    struct matmul_shape shape;
    struct cltune_row entry;                  /* the shape as text, and its source */
    size_t entry_size;                        /* problem size it was chosen for; 0: none */
    bool entry_batch;                         /* chosen for a batch */
    struct problem_size problem;              /* of the last comparison of entries */
    struct matmul_entry entries[ENTRIES_MAX]; /* entries that compete by predicted time */
    size_t nentries;
    bool entries_known;                         /* entries[] was filled */
    struct matmul_entry skinny[SKINNY_ENTRIES]; /* size 0: not looked up yet */
    size_t edge_rows, edge_cols; /* last rows and columns of C that skinny.cl computes */

    /* Called with the multiply-adds done since the previous call; non-zero cancels the product.
     * NULL: kernels are launched whole, without waiting. */
    int (*report)(void *arg, double work);
    void *report_arg;
    struct pace pace; /* of launches, while `report` is set */
};

#endif
