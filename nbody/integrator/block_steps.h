/* block_steps.h - block time steps (individual, or shared and adaptive) within a step of the
 * engine.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_BLOCK_STEPS_H
#define STDCL_NBODY_BLOCK_STEPS_H

#include "nbody/integrator/stepping.h"

/* As in block_steps.cl. */
struct block_clock {
    cl_ulong now[2], pulled;
    cl_uint active[2], blocks;
    cl_int first_bad;
    cl_uint count[DEEPEST + 1];
};

enum block_kernel { LEVELS, PREDICT, CORRECT, BLOCK_FORCES, BLOCK_KERNELS };

/* Kernels and memory of block steps, on one device. */
struct blocks {
    struct nbody_device *device;
    void *program[2];
    cl_kernel kernel[BLOCK_KERNELS];
    void *level, *list, *partial;
    struct block_clock *clock;
    size_t chunk, chunks; /* of source bodies */
    size_t max_partial;   /* with more active bodies, all chunks are summed by one group */
    size_t width;         /* maximum active bodies of a group */
    double rate;          /* highest measured operations per second */
    size_t batch, last;   /* blocks per batch; blocks in the previous step */
};

#endif
