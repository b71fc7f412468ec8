/* tensor.cl - differences of coordinates of 8 bodies and 16 rows at once, on tensor cores.
 *
 * A float is the sum of three numbers of 8 bits each (bfloat16), which tensor cores multiply exactly. The product of
 *
 *          -x_i's parts 0 1 1 1 0            1 1 1 0          for the rows i, and for the bodies j
 *   A =          :          :         B =    x_j's parts 0
 *
 * is x_j - x_i. That replaces a subtraction of each pair by a 128th of an instruction of 32 items. Sums of products are aligned
 * to the largest and cut off, at 24 bits or more: between bodies near each other, the difference is exact as a subtraction's is.
 *
 * mma.sync.m16n8k8 multiplies 16 x 8 by 8 x 8. With g = lane / 4 and q = lane % 4 a lane holds (PTX ISA, fragments of mma.m16n8k8
 * with .bf16) two numbers in each of
 *     a0 = A[g][2q, 2q + 1]   a1 = A[g + 8][2q, 2q + 1]   b0 = B[2q, 2q + 1][g]         and of results one in each of
 *     c0 = C[g][2q]           c1 = C[g][2q + 1]           c2 = C[g + 8][2q]         c3 = C[g + 8][2q + 1]
 *
 * So four items share their rows and meet two bodies each of eight, which is how pairs.cl lays out rows with TENSOR. Elsewhere
 * than on NVIDIA's cards the same is done by subtractions: slower, but bodies are summed in the same order.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* the host puts it in front, and root.cl before */
#include "pairs.cl"
#endif

#if TENSOR
/* A body's parts of x, y and z: the first two, and the third. Behind those of all bodies of the tile stand ones. */
#define PARTS_OF(name) local uint4 name[(DEEP * TILE + 1) * 2]
#define ONES (DEEP * TILE)

static inline uint4 top_of(float4 *x)
{
    const uint4 top = as_uint4(*x) & 0xffff0000u;
    *x -= as_float4(top);
    return top;
}

static inline void store_parts(local uint4 *parts, uint body, float4 x)
{
    const uint4 first = top_of(&x), second = top_of(&x);
    parts[2 * body] = first >> 16 | second;
    parts[2 * body + 1] = as_uint4(x) >> 16;
}

static inline void store_ones(local uint4 *parts)
{
    if (get_local_id(0) == 0) {
        parts[2 * ONES] = 0x3f803f80;
        parts[2 * ONES + 1] = 0x3f80;
    }
}

/* The bodies' masses: two at a time are read. */
#define MASSES_OF(name) local float2 name[DEEP * TILE / 2]
#define STORE_MASS(name, body, m) (((local float *)(name))[body] = (m))
#define MASSES(name, t) name[(DEPTH * TILE + (t)) / 2 + QUARTER]

/* What an item knows of its rows' coordinates and of eight bodies', and d, the differences of its two bodies from its row and from
 * the next one. */
#ifdef __NV_CL_C_VERSION
typedef uint part;
struct eight {
    uint c[3];
};

static inline struct eight eight_of(local const uint4 *parts, uint t)
{
    const uint first = QUARTER < 2 ? 2 * ONES + QUARTER : 2 * (DEPTH * TILE + get_local_id(0) % 32 / 4) + QUARTER - 2,
               each = QUARTER < 2 ? 0 : 2 * 8;
    const uint4 b = parts[first + t / 8 * each];
    const struct eight e = {{b.x, b.y, b.z}};
    return e;
}

static inline part own_part(float x)
{
    const uint first = as_uint(-x) & 0xffff0000u;
    const float behind = -x - as_float(first);
    const uint second = as_uint(behind) & 0xffff0000u, third = as_uint(behind - as_float(second));
    return QUARTER == 0 ? first >> 16 | second : QUARTER == 1 ? third >> 16 : QUARTER == 2 ? 0x3f803f80 : 0x3f80;
}

static inline void differences(float *d, const part *own, const struct eight *b, int c)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(own[0]), "r"(own[1]), "r"(b->c[c]), "f"(0.0f));
}
#else
typedef float part;
struct eight {
    float c[3][2];
};

static inline struct eight eight_of(local const uint4 *parts, uint t)
{
    struct eight e;
    UNROLLED for (int n = 0; n < 2; n++) {
        local const uint4 *p = parts + 2 * (DEPTH * TILE + t + 2 * QUARTER + n);
        const float4 x = as_float4(p[1] << 16) + as_float4(p[0] & 0xffff0000u) + as_float4(p[0] << 16);
        e.c[0][n] = x.x, e.c[1][n] = x.y, e.c[2][n] = x.z;
    }
    return e;
}

static inline part own_part(float x) { return x; }

static inline void differences(float *d, const part *own, const struct eight *b, int c)
{
    UNROLLED for (int e = 0; e < 4; e++) d[e] = b->c[c][e % 2] - own[e / 2];
}
#endif

/* For vectors k and k + 1 of rows: the row of difference e, and the component of what MASSES gives. */
#define ROW_OF(k, e) ((k) + (e) / 2)
#define BODY_OF_TWO(e) ((e) % 2)
#endif
