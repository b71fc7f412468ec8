/* block_steps.h - steps that bodies choose, each its own or all the same, within a step of the
 * engine.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_BLOCK_STEPS_H
#define STDCL_NBODY_BLOCK_STEPS_H

#include "nbody/integrate.h"

/* As block_steps.cl has it. */
struct block_clock {
    cl_ulong now[2], pulled;
    cl_uint active[2], blocks;
    cl_int first_bad;
    cl_uint count[DEEPEST + 1];
};

enum block_kernel { LEVELS, PREDICT, CORRECT, PULLS, BLOCK_KERNELS };

/* What there is for it, on one device. */
struct blocks {
    struct nbody_device *share; /* the device's */
    void *program[2];
    cl_kernel kernel[BLOCK_KERNELS];
    void *level, *list, *partial;
    struct block_clock *clock;
    size_t stretch, stretches; /* of attracting bodies */
    size_t room;  /* bodies whose sums over stretches are kept apart; more make enough groups by
                     themselves */
    size_t width; /* bodies of a group, at most */
    double rate;  /* operations a second, the most that was measured */
    size_t batch, last; /* blocks that are started at once; those of the last step */
};

#endif
