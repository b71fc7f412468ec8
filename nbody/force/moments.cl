/* moments.cl - multipole moments of cells, level by level from the deepest up; the host puts the
 * file in front of tree.cl.
 *
 *   level l + 1   | child | child | ...    moments, shifted to the parent's centre of mass
 *                      \     |
 *   level l         | cell | leaf | ...    moments of a leaf: sums over its bodies
 *
 * All sums run in the order of bodies or children.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_MULTIPOLE_CL /* the host puts it in front */
#include "multipole.cl"
#endif
#define DIGITS 21         /* octal digits of a key word */
#define OVERFLOW_ITEMS 64 /* TREE_OVERFLOW_ITEMS in tree.h */

static inline real length2(real4 d)
{
    return d.x * d.x + d.y * d.y + d.z * d.z;
}

#if MOMENTS == 2

#define OVER_CHILDREN(j) _Pragma("unroll") for (uint j = 0; j < 8; j++)
typedef real8 sums; /* raw moments */

/* 3 m d d, and half its trace. */
static inline real8 second_moments(real4 d, real m)
{
    const real4 w = C(3) * m * d;
    return (real8)(w.x * d.x, w.x * d.y, w.x * d.z, w.y * d.y, w.y * d.z, w.z * d.z,
                   C(1.5) * m * length2(d), 0);
}

static inline void sums_clear(sums *s)
{
    *s = 0;
}
static inline void sums_add(sums *s, const sums other)
{
    *s += other;
}
static inline void sums_add_body(sums *s, real4 d, real m, real side)
{
    *s += second_moments(d, m);
}
static inline void sums_add_child(sums *s, const multipole child, real4 d, real m, real side)
{
    *s += child + second_moments(d, m);
}
static inline multipole sums_multipole(const sums *s, real side)
{
    return *s;
}

#else

/* Sums over bodies of m d d, m d d d and m d d d d in units of the cell's side. The tensors are
 * symmetric: the component with b indices y or z, c of them z, has number AT(b, c). */
#define AT(b, c) ((b) * ((b) + 1) / 2 + (c))
#define TWO(i, j) AT((i > 0) + (j > 0), (i > 1) + (j > 1))
#define THREE(i, j, k) AT((i > 0) + (j > 0) + (k > 0), (i > 1) + (j > 1) + (k > 1))
#define FOUR(i, j, k, l)                                                                           \
    AT((i > 0) + (j > 0) + (k > 0) + (l > 0), (i > 1) + (j > 1) + (k > 1) + (l > 1))
#define UNROLL _Pragma("unroll")
#define OVER_CHILDREN(j)                                                                           \
    for (uint j = 0; j < 8; j++) /* not unrolled: one child takes a thousand instructions */
typedef struct {
    real q[6], o[10], h[15];
} sums;

static inline void sums_clear(sums *s)
{
    UNROLL for (int i = 0; i < 6; i++) s->q[i] = 0;
    UNROLL for (int i = 0; i < 10; i++) s->o[i] = 0;
    UNROLL for (int i = 0; i < 15; i++) s->h[i] = 0;
}

static inline void sums_add(sums *s, const sums other)
{
    UNROLL for (int i = 0; i < 6; i++) s->q[i] += other.q[i];
    UNROLL for (int i = 0; i < 10; i++) s->o[i] += other.o[i];
    UNROLL for (int i = 0; i < 15; i++) s->h[i] += other.h[i];
}

static inline void sums_add_body(sums *s, real4 offset, real m, real side)
{
    const real d[3] = {offset.x / side, offset.y / side, offset.z / side};
    UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = i; j < 3; j++)
    {
        const real two = m * d[i] * d[j];
        s->q[TWO(i, j)] += two;
        UNROLL for (int k = j; k < 3; k++)
        {
            const real three = two * d[k];
            s->o[THREE(i, j, k)] += three;
            UNROLL for (int l = k; l < 3; l++) s->h[FOUR(i, j, k, l)] += three * d[l];
        }
    }
}

/* Convert a child's multipole, about its own centre, to raw sums in units of the parent's side.
 * Traces of fourth order are lost, but no parent's moments depend on them. */
static inline void child_sums(const multipole *child, sums *s)
{
    const real two = C(1. / 4), three = C(1. / 8), four = C(1. / 16), trace = child->square / C(3);
    const real v[3] = {child->skew[0] / C(15), child->skew[1] / C(15), child->skew[2] / C(15)};
    UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = i; j < 3; j++) s->q[TWO(i, j)] =
        two * (child->second[TWO(i, j)] / C(3) + (i == j ? trace : 0));
    UNROLL for (int k = 0; k < 9; k++) s->o[k] = child->third[k] / C(7.5);
    s->o[9] = -s->o[2] - s->o[7];
    UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = i; j < 3; j++)
        UNROLL for (int k = j; k < 3; k++) s->o[THREE(i, j, k)] =
        three *
        (s->o[THREE(i, j, k)] + (i == j ? v[k] : 0) + (i == k ? v[j] : 0) + (j == k ? v[i] : 0));
    UNROLL for (int k = 0; k < 9; k++) s->h[k] = four * child->fourth[k] / C(17.5);
    UNROLL for (int k = 9; k < 12; k++) s->h[k + 1] = four * child->fourth[k] / C(17.5);
    s->h[9] = -s->h[2] - s->h[7];
    s->h[13] = -s->h[4] - s->h[11];
    s->h[14] = -s->h[5] - s->h[12];
}

static inline void sums_add_child(sums *s, const multipole child, real4 offset, real m, real side)
{
    const real d[3] = {offset.x / side, offset.y / side, offset.z / side};
    sums c;
    child_sums(&child, &c);
    sums_add_body(s, offset, m, side);
    UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = i; j < 3; j++)
    {
        s->q[TWO(i, j)] += c.q[TWO(i, j)];
        UNROLL for (int k = j; k < 3; k++)
        {
            s->o[THREE(i, j, k)] += c.o[THREE(i, j, k)] + c.q[TWO(i, j)] * d[k] +
                                    c.q[TWO(i, k)] * d[j] + c.q[TWO(j, k)] * d[i];
            UNROLL for (int l = k; l < 3; l++) s->h[FOUR(i, j, k, l)] +=
                c.h[FOUR(i, j, k, l)] + c.o[THREE(i, j, k)] * d[l] + c.o[THREE(i, j, l)] * d[k] +
                c.o[THREE(i, k, l)] * d[j] + c.o[THREE(j, k, l)] * d[i] +
                c.q[TWO(i, j)] * d[k] * d[l] + c.q[TWO(i, k)] * d[j] * d[l] +
                c.q[TWO(i, l)] * d[j] * d[k] + c.q[TWO(j, k)] * d[i] * d[l] +
                c.q[TWO(j, l)] * d[i] * d[k] + c.q[TWO(k, l)] * d[i] * d[j];
        }
    }
}

/* Remove the traces (Stone, The Theory of Intermolecular Forces, 2013, section 2). */
static inline multipole sums_multipole(const sums *s, real side)
{
    multipole to;
    const real square = s->q[0] + s->q[3] + s->q[5], third = square / C(3);
    const real v[3] = {s->o[0] + s->o[3] + s->o[5], s->o[1] + s->o[6] + s->o[8],
                       s->o[2] + s->o[7] + s->o[9]};
    real t[6], h[15];
    UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = i; j < 3; j++) t[TWO(i, j)] =
        (s->h[FOUR(0, 0, i, j)] + s->h[FOUR(1, 1, i, j)] + s->h[FOUR(2, 2, i, j)]) / C(7);
    const real all = (t[0] + t[3] + t[5]) / C(5);
    to.side = side;
    to.square = square;
    UNROLL for (int i = 0; i < 3; i++) to.skew[i] = C(3) * v[i];
    UNROLL for (int i = 0; i < 6; i++) to.second[i] =
        C(3) * (s->q[i] - (i == 0 || i == 3 || i == 5 ? third : 0));
    UNROLL for (int i = 0; i < 3; i++) UNROLL for (int j = i; j < 3; j++)
        UNROLL for (int k = j; k < 3; k++)
    {
        if (i < 2)
            to.third[THREE(i, j, k)] =
                C(7.5) * (s->o[THREE(i, j, k)] -
                          ((i == j ? v[k] : 0) + (i == k ? v[j] : 0) + (j == k ? v[i] : 0)) / C(5));
        UNROLL for (int l = k; l < 3; l++) h[FOUR(i, j, k, l)] =
            C(17.5) * (s->h[FOUR(i, j, k, l)] -
                       ((i == j ? t[TWO(k, l)] : 0) + (i == k ? t[TWO(j, l)] : 0) +
                        (i == l ? t[TWO(j, k)] : 0) + (j == k ? t[TWO(i, l)] : 0) +
                        (j == l ? t[TWO(i, k)] : 0) + (k == l ? t[TWO(i, j)] : 0)) +
                       all * ((i == j && k == l) + (i == k && j == l) + (i == l && j == k)));
    }
    UNROLL for (int k = 0; k < 9; k++) to.fourth[k] = h[k];
    UNROLL for (int k = 9; k < 12; k++) to.fourth[k] = h[k + 1];
    return to;
}

#endif

/* Return the squared distance from c of the farthest corner of the cell of this side around p: an
 * upper bound for the cell's bodies. */
static inline real corner_distance2(real4 cube, real4 p, real side, real4 c)
{
    const real4 low = cube + floor((p - cube) / side) * side - c;
    return length2(fmax(fabs(low), fabs(low + side)));
}

/* Return size[k]. x: opening size of the walks. y = (1.001 b)^2, where no body is farther than b
 * from the centre of mass.
 *
 * The centre of mass is rounded by r, which matters for small cells: in addition to M l^p / d^(p +
 * 2), 2 M r / d^3 must be less than a fraction of the acceleration a. To compare with d^2 alone, a
 * is replaced by M / L^2 of all bodies; this suffices because a small root is taken
 * (nbody_tree_com_margin). x is therefore at least com_margin (m r)^2/3 L^1/3, or L^2/3 with fourth
 * order. */
static inline real2 opening_sizes(real4 c, real side, real b2, uint geometric, real whole_side,
                                  real com_margin)
{
    const real off = cbrt(c.w * fmax(fabs(c.x), fmax(fabs(c.y), fabs(c.z)))),
               wide = cbrt(whole_side);
#if MOMENTS == 2
    const real x = fmax(sqrt(c.w) * side, com_margin * off * off * wide);
#else
    const real x = fmax(cbrt(c.w * side) * side, com_margin * off * off * wide * wide);
#endif
    return (real2)(geometric ? side * side : x, C(1.001 * 1.001) * b2);
}

/* Compute a leaf's centre of mass and sums from its bodies; return b^2. The centre is computed
 * relative to the first body, so that it is exact for coincident bodies. */
static inline real leaf_moments(global const real4 *body, int2 leaf, real side, real4 *centre,
                                sums *s)
{
    const real4 r = body[leaf.x];
    real4 sum = 0;
    real mass = 0, b2 = 0;
    for (int i = leaf.x; i < leaf.x - leaf.y; i++) {
        mass += body[i].w;
        sum += body[i].w * (body[i] - r);
    }
    *centre = r + (mass > 0 ? sum / mass : C(0));
    sums_clear(s);
    for (int i = leaf.x; i < leaf.x - leaf.y; i++) {
        const real4 d = body[i] - *centre;
        sums_add_body(s, d, body[i].w, side);
        b2 = fmax(b2, length2(d));
    }
    centre->w = mass;
    return b2;
}

/* Compute a cell's centre of mass and sums from its children's moments; return b^2. */
static inline real children_moments(global const real4 *com, global const multipole *multipoles,
                                    global const real2 *size, uint child, uint end, real side,
                                    real4 *centre, sums *s)
{
    const uint n = end - child;
    real4 at[8], sum = 0; /* all loads first, to hide memory latency */
    real edge[8], mass = 0, b = 0;
    OVER_CHILDREN(j) at[j] = com[min(child + j, end - 1)];
    OVER_CHILDREN(j) edge[j] = size[min(child + j, end - 1)].y;
    OVER_CHILDREN(j)
    if (j < n) {
        mass += at[j].w;
        sum += at[j].w * (at[j] - at[0]);
    }
    *centre = at[0] + (mass > 0 ? sum / mass : C(0));
    sums_clear(s);
#if MOMENTS == 2
    multipole own[8];
    OVER_CHILDREN(j) own[j] = multipoles[min(child + j, end - 1)];
#define CHILD_MULTIPOLE(j) own[j]
#else
#define CHILD_MULTIPOLE(j) multipoles[child + (j)]
#endif
    OVER_CHILDREN(j)
    if (j < n) {
        const real4 d = at[j] - *centre;
        sums_add_child(s, CHILD_MULTIPOLE(j), d, at[j].w, side);
        b = fmax(b, sqrt(length2(d)) + sqrt(edge[j]) / C(1.001));
    }
    centre->w = mass;
    return b * b;
}

/* Compute the moments of cell k. Its children, if any, end before `end` and have their moments;
 * first: position of the first body of a cell with children. */
static inline void cell_moments(uint k, uint end, global const real4 *body,
                                global const real *first, real4 cube, uint level, uint geometric,
                                real com_margin, global int2 *link, global real4 *com,
                                global multipole *multipoles, global real2 *size)
{
    const real side = ldexp(cube.w, -(int)level);
    const int2 own = link[k];
    real4 c;
    sums s;
    real b2;
    if (own.y < 0)
        b2 = leaf_moments(body, own, side, &c, &s);
    else {
        b2 = children_moments(com, multipoles, size, own.x, end, side, &c, &s);
        if (level <= DIGITS)
            b2 = fmin(b2, corner_distance2(cube, vload4(0, first), side, c));
        link[k].y = end - own.x;
    }
    com[k] = c;
    multipoles[k] = sums_multipole(&s, side);
    size[k] = opening_sizes(c, side, b2, geometric, cube.w, com_margin);
}

/* Compute the moments of this device's cells of one level, after the next deeper level.
 * Skips the shared node, which has children on other devices. */
kernel void level_moments(global const real4 *body, global const real4 *cube, uint level,
                          uint geometric, real com_margin, global const uint2 *span,
                          global const uint *shared_node, global const uint *child_begin,
                          global int2 *link, global real4 *com, global multipole *multipoles,
                          global real2 *size)
{
    const uint end = span[level].y;
    for (size_t k = span[level].x + get_global_id(0); k < end; k += get_global_size(0))
        if (k != shared_node[level])
            cell_moments(k, k + 1 < end ? child_begin[k + 1] : span[level + 1].y, body,
                         (global const real *)&body[max(link[k].y, 0)], *cube, level, geometric,
                         com_margin, link, com, multipoles, size);
}

/* Compute the moments of the leaves of the last level, which may have any number of bodies:
 * OVERFLOW_ITEMS work-items sum a part each, and the partial sums are added in order. */
kernel __attribute__((reqd_work_group_size(OVERFLOW_ITEMS, 1, 1))) void moments_last(
    global const real4 *body, global const real4 *cube, uint level, uint geometric, real com_margin,
    global const uint2 *span, global const uint *shared_node, global const uint *child_begin,
    global int2 *link, global real4 *com, global multipole *multipoles, global real2 *size)
{
    local real4 mean[OVERFLOW_ITEMS];
    local sums part[OVERFLOW_ITEMS];
    local real reach[OVERFLOW_ITEMS];
    const real side = ldexp(cube->w, -(int)level);
    const uint lid = get_local_id(0);
    for (size_t k = span[level].x + get_group_id(0); k < span[level].y; k += get_num_groups(0)) {
        const int2 leaf = link[k];
        const uint bodies = -leaf.y, each = (bodies + OVERFLOW_ITEMS - 1) / OVERFLOW_ITEMS;
        const uint first = leaf.x + min(lid * each, bodies),
                   end = leaf.x + min((lid + 1) * each, bodies);
        const real4 r = body[leaf.x];
        real4 all = 0;
        for (uint i = first; i < end; i++)
            all += (real4)(body[i].w * (body[i].xyz - r.xyz), body[i].w);
        mean[lid] = all;
        barrier(CLK_LOCAL_MEM_FENCE);
        all = 0;
        for (uint p = 0; p < OVERFLOW_ITEMS; p++)
            all += mean[p];
        const real4 centre = (real4)(r.xyz + (all.w > 0 ? all.xyz / all.w : C(0)), all.w);
        sums s;
        real b2 = 0;
        sums_clear(&s);
        for (uint i = first; i < end; i++) {
            const real4 d = body[i] - centre;
            sums_add_body(&s, d, body[i].w, side);
            b2 = fmax(b2, length2(d));
        }
        part[lid] = s, reach[lid] = b2;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 1; p < OVERFLOW_ITEMS && lid == 0; p++)
            sums_add(&s, part[p]), b2 = fmax(b2, reach[p]);
        if (lid == 0)
            com[k] = centre, multipoles[k] = sums_multipole(&s, side),
            size[k] = opening_sizes(centre, side, b2, geometric, cube->w, com_margin);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
