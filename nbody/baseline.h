/* baseline.h - the body of the ladder's first two kernels, agreed between C and OpenCL C.
 *
 *   byte, in single precision   0        16       32       48    52       64
 *                               | pos    | v      | f      | mass| unused |   next body
 *
 * Each member starts at a multiple of four numbers, which are 16 bytes in single precision and 32
 * in double. A C compiler and an OpenCL compiler may pad a structure in different ways, and then
 * the device would misread every body but the first. So both compile this file, whose checks stop a
 * compiler that has other offsets in mind. The host puts it in front of baseline.cl.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_LADDER_H
#define NBODY_LADDER_H

#define LADDER_ALIGNED __attribute__((aligned(16)))

/* OpenCL C 1.2 has no _Static_assert; an array of -1 elements stops any compiler. */
#define LADDER_AGREE(name, holds) typedef char ladder_agree_##name[(holds) ? 1 : -1]

/* pos: x, y, z. v: velocity; no force needs it, but every fetch of a body brings it along. f: the
 * force per unit of mass. mass: G m. The fourth numbers are not used. */
#define LADDER_BODY(name, real, real4)                                                             \
    struct name {                                                                                  \
        LADDER_ALIGNED real4 pos;                                                                  \
        LADDER_ALIGNED real4 v;                                                                    \
        LADDER_ALIGNED real4 f;                                                                    \
        LADDER_ALIGNED real mass;                                                                  \
    };                                                                                             \
    LADDER_AGREE(name##_pos, __builtin_offsetof(struct name, pos) == 0);                           \
    LADDER_AGREE(name##_v, __builtin_offsetof(struct name, v) == 4 * sizeof(real));                \
    LADDER_AGREE(name##_f, __builtin_offsetof(struct name, f) == 8 * sizeof(real));                \
    LADDER_AGREE(name##_mass, __builtin_offsetof(struct name, mass) == 12 * sizeof(real));         \
    LADDER_AGREE(name##_size, sizeof(struct name) == 16 * sizeof(real))

#if !defined(__OPENCL_C_VERSION__) && !defined(__OPENCL_VERSION__)
LADDER_BODY(ladder_single, cl_float, cl_float4);
LADDER_BODY(ladder_double, cl_double, cl_double4);
#endif

#endif
