/* multipole.cl - what a cell keeps of how its mass lies about the centre of mass; the host puts it
 * in front of the files that make it (moments.cl, tree.cl) and of those that use it (walk.cl,
 * walk_cpu.cl, walk_gpu.cl).
 *
 *   MOMENTS == 2   3 sum m d d, with d from the centre of mass: xx xy xz yy yz zz, and half the
 *   trace
 *   MOMENTS == 4   up to fourth order, for high accuracy; lengths are counted in the cell's side,
 *   so that no number is too small
 *
 * With fourth order the moments have no traces, as potentials of points need none: those of the
 * softened potential, which are as small as (eps / d)^2, are kept apart, up to third order.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_MULTIPOLE_CL
#define NBODY_MULTIPOLE_CL

#ifndef MOMENTS
#define MOMENTS 2 /* their highest order: 2 or 4 */
#endif

#ifndef NBODY_ROOT_CL /* which has these */
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif
#define C(x) ((real)(x))
#endif
#ifdef DOUBLE
typedef double2 real2;
typedef double8 real8;
#else
typedef float2 real2;
typedef float8 real8;
#endif

#if MOMENTS == 2
typedef real8 multipole;
#else
/* 32 numbers. Tensors are symmetric: their parts stand as xx xy xz yy yz zz, those of the third
 * order as xxx xxy xxz xyy xyz xzz yyy yyz yzz, those of the fourth as xxxx xxxy xxxz xxyy xxyz
 * xxzz xyyy xyyz xyzz yyyy yyyz yyzz; others follow, since the traces are 0. */
typedef struct __attribute__((aligned(16))) {
    real side;       /* of the cell */
    real square;     /* sum m d^2 */
    real skew[3];    /* 3 sum m d^2 d */
    real second[6];  /* 3 (sum m d d without its trace) */
    real third[9];   /* 15/2 (sum m d d d without its traces) */
    real fourth[12]; /* 35/2 (sum m d d d d without its traces) */
} multipole;
#endif

/* sum m d^2 of a cell. */
static inline real square(global const multipole *q)
{
#if MOMENTS == 2
    return q->s6 / C(1.5);
#else
    return q->square * q->side * q->side;
#endif
}

/* ---- What travels from part to part of a tree (domain.cl, let.cl). The host knows how long
 * these are. --------------- */

/* A cell: four whole numbers {cell, link, down}, then com, size and poles. A body: its place and
 * mass, and a whole number. */
#define POLES ((int)(sizeof(multipole) / sizeof(real)))
#define HEAD ((int)(4 * sizeof(uint) / sizeof(real)))
#define SENT_CELL (HEAD + 6 + POLES)
#define SENT_BODY 5
#ifdef DOUBLE
#define WHOLE_TO_REAL(k) as_double((ulong)(k))
#define REAL_TO_WHOLE(x) ((uint)as_ulong(x))
#else
#define WHOLE_TO_REAL(k) as_float(k)
#define REAL_TO_WHOLE(x) as_uint(x)
#endif

static inline void send_cell(global real *to, uint4 head, real4 com, real2 size,
                             global const multipole *poles)
{
    vstore4(head, 0, (global uint *)to);
    vstore4(com, 0, to + HEAD);
    vstore2(size, 0, to + HEAD + 4);
    for (int c = 0; c < POLES; c++)
        to[HEAD + 6 + c] = ((global const real *)poles)[c];
}

#endif
