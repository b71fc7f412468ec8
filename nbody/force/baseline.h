/* baseline.h - body structure of the first two baseline kernels, shared by C and OpenCL C.
 *
 *   byte, in single precision   0        16       32       48    52       64
 *                               | pos    | v      | f      | mass| unused |   next body
 *
 * Each member starts at a multiple of four numbers, which are 16 bytes in single precision and 32
 * in double. A C compiler and an OpenCL compiler may pad a structure differently, and the device
 * would then misread every body but the first. Both therefore compile this file, and its checks
 * reject a compiler with other offsets. The host puts it before baseline.cl.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_BASELINE_H
#define NBODY_BASELINE_H

#define BASELINE_ALIGNED __attribute__((aligned(16)))

/* OpenCL C 1.2 has no _Static_assert; an array of -1 elements is an error in any compiler. */
#define BASELINE_LAYOUT(name, holds) typedef char baseline_layout_##name[(holds) ? 1 : -1]

/* pos: x, y, z. v: velocity; no force needs it, but it is fetched with the body. f: force per unit
 * of mass. mass: G m. The fourth numbers are unused. */
#define BASELINE_BODY(name, real, real4)                                                           \
    struct name {                                                                                  \
        BASELINE_ALIGNED real4 pos;                                                                \
        BASELINE_ALIGNED real4 v;                                                                  \
        BASELINE_ALIGNED real4 f;                                                                  \
        BASELINE_ALIGNED real mass;                                                                \
    };                                                                                             \
    BASELINE_LAYOUT(name##_pos, __builtin_offsetof(struct name, pos) == 0);                        \
    BASELINE_LAYOUT(name##_v, __builtin_offsetof(struct name, v) == 4 * sizeof(real));             \
    BASELINE_LAYOUT(name##_f, __builtin_offsetof(struct name, f) == 8 * sizeof(real));             \
    BASELINE_LAYOUT(name##_mass, __builtin_offsetof(struct name, mass) == 12 * sizeof(real));      \
    BASELINE_LAYOUT(name##_size, sizeof(struct name) == 16 * sizeof(real))

#if !defined(__OPENCL_C_VERSION__) && !defined(__OPENCL_VERSION__)
BASELINE_BODY(baseline_single, cl_float, cl_float4);
BASELINE_BODY(baseline_double, cl_double, cl_double4);
#endif

#endif
