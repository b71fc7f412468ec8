/* tensor.cl - differences of coordinates of 8 bodies and 16 rows at once, on tensor cores.
 *
 * A float is the sum of PARTS numbers of 11 bits each (a fourth is 0), which tensor cores multiply exactly. The product of
 *
 *          -x_i's parts   1 1 1 1            1 1 1 1          for the rows i, and for the bodies j
 *   A =         :         :          B =     x_j's parts
 *
 * is x_j - x_i. That replaces a subtraction of each pair by a 128th of an instruction of 32 items. Sums of products are aligned
 * to the largest and cut off, at 24 bits or more: between bodies near each other, the difference is exact as a subtraction's is.
 *
 * mma.sync.m16n8k8 multiplies 16 x 8 by 8 x 8. With g = lane / 4 and q = lane % 4 a lane holds (PTX ISA, fragments of mma.m16n8k8
 * with .tf32)
 *     a0 = A[g][q]   a1 = A[g + 8][q]   a2 = A[g][q + 4]   a3 = A[g + 8][q + 4]      b0 = B[q][g]   b1 = B[q + 4][g]
 *     c0 = C[g][2q]  c1 = C[g][2q + 1]  c2 = C[g + 8][2q]  c3 = C[g + 8][2q + 1]
 *
 * So four items share their rows and meet two bodies each of eight, which is how pairs.cl lays out rows with TENSOR. Elsewhere
 * than on NVIDIA's cards the same is done by subtractions: slower, but bodies are summed in the same order.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* the host puts it in front, and root.cl before */
#include "pairs.cl"
#endif

#if TENSOR
#define PARTS 4

/* The parts of bodies in local memory. */
#define PARTS_OF(name) local float4 name[DEEP * TILE * PARTS]
static inline void store_parts(local float4 *to, float4 x)
{
    UNROLLED for (int p = 0; p < PARTS; p++) {
        const float4 part = as_float4(as_uint4(x) & 0xffffe000u);
        to[p] = part;
        x -= part;
    }
}

#ifdef __NV_CL_C_VERSION
/* What an item needs of eight bodies: a part of each coordinate of one. */
struct eight {
    float c[3][1];
};
static inline struct eight eight_of(local const float4 *parts, uint t)
{
    const float4 b = parts[(t + get_local_id(0) % 32 / 4) * PARTS + QUARTER];
    const struct eight e = {{{b.x}, {b.y}, {b.z}}};
    return e;
}

/* What it needs of a row's coordinate: a part. */
static inline float own_part(float x)
{
    float part = 0;
    UNROLLED for (uint p = 0; p < PARTS; p++) {
        const float next = as_float(as_uint(x) & 0xffffe000u);
        part = p == QUARTER ? next : part;
        x -= next;
    }
    return -part;
}

#define MMA(c, ...)                                                                                                      \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%6}, {%6,%7}, " c ";" __VA_ARGS__)

/* d = the differences of its two bodies from its row, and from the next row. */
static inline void differences(float *d, const float *own, const float *b)
{
    MMA("{%8,%8,%8,%8}", : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(as_uint(own[0])), "r"(as_uint(own[1])), "r"(as_uint(1.0f)), "r"(as_uint(b[0])), "f"(0.0f));
}

/* The same of sums of two floats. */
static inline void differences_of_two(float *d, const float *own, const float *low, const float *b, const float *b_low)
{
    differences(d, own, b);
    MMA("{%0,%1,%2,%3}", : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(as_uint(low[0])), "r"(as_uint(low[1])), "r"(as_uint(1.0f)), "r"(as_uint(b_low[0])));
}
#else
struct eight {
    float c[3][2];
};
static inline struct eight eight_of(local const float4 *parts, uint t)
{
    struct eight e;
    UNROLLED for (int n = 0; n < 2; n++) {
        local const float4 *p = parts + (t + 2 * QUARTER + n) * PARTS;
        const float4 b = ((p[3] + p[2]) + p[1]) + p[0];
        e.c[0][n] = b.x, e.c[1][n] = b.y, e.c[2][n] = b.z;
    }
    return e;
}

static inline float own_part(float x) { return x; }

static inline void differences(float *d, const float *own, const float *b)
{
    UNROLLED for (int e = 0; e < 4; e++) d[e] = b[e % 2] - own[e / 2];
}

static inline void differences_of_two(float *d, const float *own, const float *low, const float *b, const float *b_low)
{
    UNROLLED for (int e = 0; e < 4; e++) d[e] = (b[e % 2] - own[e / 2]) + (b_low[e % 2] - low[e / 2]);
}
#endif

/* For vectors k and k + 1 of rows and the bodies of `t`: row and body of difference e. */
#define ROW_OF(k, e) ((k) + (e) / 2)
#define BODY_OF_EIGHT(t, e) ((t) + 2 * QUARTER + (e) % 2)
#endif
