/* multipole.cl - multipole moments of a cell; the host puts the file in front of moments.cl and
 * tree.cl, which compute moments, and of walk*.cl, which use them.
 *
 *   MOMENTS == 2   3 sum m d d, with d from the centre of mass: xx xy xz yy yz zz, half the trace
 *   MOMENTS == 4   up to fourth order, for high accuracy; lengths in units of the cell's side,
 *                  so that no number underflows
 *
 * Moments of fourth order are traceless: the potential of points depends on nothing else. Softening
 * adds terms with traces, smaller by (eps / d)^2, which are stored separately up to third order.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_MULTIPOLE_CL
#define NBODY_MULTIPOLE_CL

#ifndef MOMENTS
#define MOMENTS 2 /* highest order: 2 or 4 */
#endif

#ifndef NBODY_ROOT_CL /* root.cl defines these */
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
/* 32 numbers. Components of the symmetric tensors: xx xy xz yy yz zz; xxx xxy xxz xyy xyz xzz yyy
 * yyz yzz; xxxx xxxy xxxz xxyy xxyz xxzz xyyy xyyz xyzz yyyy yyyz yyzz. The remaining ones follow
 * from zero traces. */
typedef struct __attribute__((aligned(16))) {
    real side;       /* of the cell */
    real square;     /* sum m d^2 */
    real skew[3];    /* 3 sum m d^2 d */
    real second[6];  /* 3 (sum m d d without its trace) */
    real third[9];   /* 15/2 (sum m d d d without its traces) */
    real fourth[12]; /* 35/2 (sum m d d d d without its traces) */
} multipole;
#endif

/* Return sum m d^2 of a cell. */
static inline real cell_second_trace(global const multipole *q)
{
#if MOMENTS == 2
    return q->s6 / C(1.5);
#else
    return q->square * q->side * q->side;
#endif
}

/* ---- What travels from part to part of a tree (domain.cl, let.cl). The host knows how long
 * these are. --------------- */

/* A packed cell: four integers, then com, size and multipole. The integers are {number in the
 * receiver's top region, link.x, link.y, -} of a cell of the top tree (domain.cl), and {parent,
 * link.x, link.y, own number} of an exported cell (let.cl). A packed body: position and mass, and
 * an integer: the leaf for the first body of a leaf, all bits set for further bodies.
 * Parents and leaves are places in the export, or TOP_CELL plus a number in the top region. */
#define MULTIPOLE_REALS ((int)(sizeof(multipole) / sizeof(real)))
#define PACKED_HEAD ((int)(4 * sizeof(uint) / sizeof(real)))
#define PACKED_CELL (PACKED_HEAD + 6 + MULTIPOLE_REALS)
#define PACKED_BODY 5
#define TOP_CELL 0x40000000u
#define FIRST_CELLS 7 /* first cells of a domain in a level of the top tree */
/* Bounding boxes of groups: groups of a merged box (TREE_MERGED in tree_domain.h); the bit of its
 * number; a flagged merged box remains split in SPLIT_SUMS sums. */
#define MERGED 8
#define MERGED_BOX 0x80000000u
#define SPLIT_SUMS 64
#ifdef DOUBLE
#define UINT_TO_REAL(k) as_double((ulong)(k))
#define REAL_TO_UINT(x) ((uint)as_ulong(x))
#else
#define UINT_TO_REAL(k) as_float(k)
#define REAL_TO_UINT(x) as_uint(x)
#endif

static inline void pack_cell(global real *to, uint4 head, real4 com, real2 size,
                             global const multipole *multipoles)
{
    vstore4(head, 0, (global uint *)to);
    vstore4(com, 0, to + PACKED_HEAD);
    vstore2(size, 0, to + PACKED_HEAD + 4);
    for (int c = 0; c < MULTIPOLE_REALS; c++)
        to[PACKED_HEAD + 6 + c] = ((global const real *)multipoles)[c];
}

#endif
