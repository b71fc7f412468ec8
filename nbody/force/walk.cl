/* walk.cl - tree walks of groups of bodies: opening criterion, and forces of cells and bodies; the
 * host puts root.cl and multipole.cl in front.
 *
 *   group g: bodies 64 g .. 64 g + 63 in tree order, which lie close together and share a walk.
 *            If only some bodies need forces, `target` has them in tree order; otherwise
 *            `target` is `body`
 *
 *   stack <- root cell
 *   pop cells from the stack:   far enough from all bodies of the group    use the cell's moments
 *                               a leaf                                     use its bodies
 *                               otherwise                                  push its children
 *
 * Opening criterion: a cell is far enough if d^2 > size.x g2 and d^2 > size.y, where d is the
 * distance of its centre of mass from the group's bounding box.
 *
 *   geometric criterion   g2 = 1 / theta^2, with opening angle theta: d > l / theta
 *   relative criterion    g2 = (alpha a)^-2/(p + 2) with moments up to order p, where a is the
 *                         group's least acceleration in the last sum, so that
 *                         M l^p / d^(p + 2) < alpha a (Springel 2005, MNRAS 364, 1105, eq. 18)
 *
 * A group with more than `limit` interactions is deferred: its bounding box covers much of the
 * system, as where the curve crosses a void. walk_deferred walks its bodies SECOND_GROUP at a time,
 * on a CPU a vector at a time. On a GPU several work-groups share each of these walks.
 *
 *   GROUP == 1   CPU: one work-item walks cell by cell; the 64 bodies lie in vectors
 *   GROUP > 1    GPU: each work-item tests a cell and holds some bodies of the group;
 *                interactions pass through tiles in local memory
 *
 * Interactions are summed in the order of the stack, so forces depend on the tree alone. The scalar
 * reference is nbody_ref_tree_walk.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ROOT_CL /* the host puts it in front */
#include "root.cl"
#endif
#ifndef NBODY_MULTIPOLE_CL
#include "multipole.cl"
#endif
#ifndef GROUP
#define GROUP 1 /* work-items of a group: 1, or a power of two up to 64 */
#endif
#ifndef KEY_WORDS
#define KEY_WORDS 1 /* words of a key, as in tree.cl */
#endif
#ifndef STACK
#define STACK (512 * KEY_WORDS) /* cells on the stack */
#endif
#define BODIES 64                        /* bodies of a group */
#define ITEMS (BODIES / (GROUP * WIDTH)) /* vectors of a work-item */
#define LEVELS (21 * KEY_WORDS)
#define POINT 0x80000000u    /* a cell of coincident bodies, used as one body */
#define DEFERRED 0x80000000u /* in schedule[]: a group to defer at once */
#define DEFERRED_HEAD 3      /* counters in front of the list of deferred groups */
#define BLOCK 256 /* interactions of a block, which is summed before it joins the total */

/* ---- Opening criterion. ---------------------------------------------------------------------- */

struct tree {
    global const real4 *body; /* as in tree.cl */
    global const int2 *link;
    global const real4 *com;
    global const multipole *multipoles;
    global const real2 *size;
};

struct box {
    real4 lo, hi;
    real g2;
};

/* Return g2 of a group whose least acceleration was `least`. Where forces cancel, |a| is tiny and
 * the criterion would open nearly every cell. |a| is therefore bounded below by 0.15 times the
 * acceleration of the total mass at distance sqrt(d^2 + R^2), with the distance d of the box from
 * the centre of mass and the root-mean-square radius R of all bodies. */
static inline real group_criterion(const struct tree *t, real least, const struct box *b,
                                   real opening, uint geometric, real eps2)
{
    const real4 all = t->com[0], e = fmax(fmax(b->lo - all, all - b->hi), C(0));
    const real radius2 = all.w > 0 ? cell_second_trace(&t->multipoles[0]) / all.w : C(0);
    const real d2 = e.x * e.x + e.y * e.y + e.z * e.z + radius2, r2 = d2 + eps2;
    const real usual = d2 > 0 ? all.w * sqrt(d2) / (r2 * sqrt(r2)) : C(0);
    const real part = opening * fmax(least, C(0.15) * usual);
    return geometric      ? C(1) / (opening * opening)
           : MOMENTS == 2 ? C(1) / sqrt(part)
                          : C(1) / cbrt(part);
}

static inline bool cell_is_far(const struct box *b, real4 com, real2 size)
{
#pragma OPENCL FP_CONTRACT OFF
    const real4 e = fmax(fmax(b->lo - com, com - b->hi), C(0));
    const real xx = e.x * e.x, yy = e.y * e.y, zz = e.z * e.z, limit = size.x * b->g2;
    const real d2 = xx + yy + zz;
    return d2 > limit && d2 > size.y;
}

/* How a walk uses a cell. */
enum cell_action { SKIP_CELL, USE_CELL, USE_POINT, USE_BODIES, OPEN_CELL };

static inline enum cell_action cell_action(const struct box *b, real4 com, real2 size, int2 link)
{
    if (!(com.w > 0))
        return SKIP_CELL;
    if (link.y == -1)
        return USE_BODIES;
    if (size.y == 0)
        return USE_POINT;
    if (cell_is_far(b, com, size))
        return USE_CELL;
    return link.y < 0 ? USE_BODIES : OPEN_CELL;
}

/* Return the number of cells to pop from a stack of `size` cells: at least one, and few enough
 * that their children fit. The margin of 7 cells per level suffices for a depth-first walk. */
static inline uint cells_taken(uint size)
{
    const uint margin = 7 * (LEVELS + 1),
               fit = size + margin < STACK ? (STACK - margin - size) / 7 : 0;
    return max(1u, min(min(size, (uint)GROUP), fit));
}

/* ---- Forces. --------------------------------------------------------------------------------- */

struct targets {
    vec x[ITEMS], y[ITEMS], z[ITEMS], m[ITEMS];
    ivec self[ITEMS];                    /* index of the body */
    vec ax[ITEMS], ay[ITEMS], az[ITEMS]; /* sum of the block; with potentials ax is -phi */
    vec sx[ITEMS], sy[ITEMS], sz[ITEMS]; /* sum of the previous blocks */
};

#define EACH(k, items) UNROLLED for (int k = 0; k < (items); k++)

/* Add the force of body j of the tree; with POINT, of coincident bodies. A target at the same
 * position is then one of them. Potentials exclude the target itself and pairs whose r2 equals
 * `zero`. */
static inline void add_body_force(struct targets *h, const int items, const bool potentials,
                                  real4 b, uint j, real eps2, real zero)
{
    EACH(k, items)
    {
        const vec dx = b.x - h->x[k], dy = b.y - h->y[k], dz = b.z - h->z[k];
        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
        if (potentials) {
            const ivec own =
                j & POINT ? IVEC(r2 == (vec)eps2) : IVEC(h->self[k] == (ivec)(integer)j);
            const vec m = select((vec)b.w, j & POINT ? b.w - h->m[k] : (vec)C(0), own);
            h->ax[k] += select(m * inverse_root(r2), (vec)C(0), IVEC(r2 == (vec)zero));
        } else {
            vec s = inverse_cube(r2, b.w);
            if (j & POINT)
                s = select(s, (vec)C(0),
                           IVEC(r2 == (vec)eps2)); /* may be infinite for many bodies */
            h->ax[k] = FMA(s, dx, h->ax[k]);
            h->ay[k] = FMA(s, dy, h->ay[k]);
            h->az[k] = FMA(s, dz, h->az[k]);
        }
    }
}

#if MOMENTS == 2

/* Add the force of a cell. With d from the centre of mass, y = (d^2 + eps^2)^-1/2, v = Q d, s = d
 * v and T half the trace of Q = 3 sum m d d: -phi = m y + s y^5 / 2 - T y^3 / 3, and a = (y^5 (T -
 * 5 s y^2 / 2) - m y^3) d + y^5 v. With keys of two words distances may be so small that y^5
 * overflows: d is then scaled by y. */
static inline void add_cell_force(struct targets *h, const int items, const bool potentials,
                                  real4 c, const multipole q, real eps2)
{
    EACH(k, items)
    {
        vec x = h->x[k] - c.x, y = h->y[k] - c.y, z = h->z[k] - c.z;
        const vec r2 = FMA(x, x, FMA(y, y, FMA(z, z, (vec)eps2)));
        const vec y1 = inverse_root(r2), y2 = y1 * y1;
#if KEY_WORDS > 1
        x *= y1, y *= y1, z *= y1;
#endif
        const vec vx = FMA((vec)q.s0, x, FMA((vec)q.s1, y, q.s2 * z));
        const vec vy = FMA((vec)q.s1, x, FMA((vec)q.s3, y, q.s4 * z));
        const vec vz = FMA((vec)q.s2, x, FMA((vec)q.s4, y, q.s5 * z));
        const vec s = FMA(vx, x, FMA(vy, y, vz * z));
#if KEY_WORDS > 1
        if (potentials)
            h->ax[k] += y1 * FMA(y2, C(0.5) * s - q.s6 / C(3), (vec)c.w);
        else {
            const vec f = FMA(y2, FMA((vec)C(-2.5), s, (vec)q.s6), -c.w);
            h->ax[k] = FMA(y2, FMA(f, x, y2 * vx), h->ax[k]);
            h->ay[k] = FMA(y2, FMA(f, y, y2 * vy), h->ay[k]);
            h->az[k] = FMA(y2, FMA(f, z, y2 * vz), h->az[k]);
        }
#else
        const vec y3 = y1 * y2, y5 = y3 * y2;
        if (potentials)
            h->ax[k] += FMA((vec)c.w, y1, FMA(C(0.5) * s, y5, -(q.s6 / C(3)) * y3));
        else {
            const vec f = FMA(y5, FMA(C(-2.5) * s, y2, (vec)q.s6), -c.w * y3);
            h->ax[k] = FMA(f, x, FMA(y5, vx, h->ax[k]));
            h->ay[k] = FMA(f, y, FMA(y5, vy, h->ay[k]));
            h->az[k] = FMA(f, z, FMA(y5, vz, h->az[k]));
        }
#endif
    }
}

#else

/* Add the force of a cell. With x from the centre of mass, u = (x^2 + eps^2)^-1/2, the cell's side
 * l, w = l u^2 x and e = -(l u^2 eps)^2 / 2, the terms of second to fourth order are P2 = Q w w /
 * 2, P3 = O w w w / 3, P4 = H w w w w / 4 with the tensors of multipole.cl. Softening adds e sum m
 * d^2 to the second order and D = e s w to the third, with s = `skew`: -phi = u (m + P2 + P3 + P4
 * + D + e sum m d^2), and a = u^3 (l v - (m + 5 P2 + 7 P3 + 9 P4 + 7 D + 5 e sum m d^2) x), v = e
 * s + H w w w + O w w + Q w. v is summed in this order, and w v each time: d0 = D, d1 = D + 4 P4,
 * d2 = d1 + 3 P3, d3 = d2 + 2 P2. All tensors are traceless, so components with zz follow from
 * those with xx and yy. */
static inline void add_cell_force(struct targets *h, const int items, const bool potentials,
                                  real4 c, const multipole q, real eps2)
{
    EACH(k, items)
    {
        const vec x = h->x[k] - c.x, y = h->y[k] - c.y, z = h->z[k] - c.z;
        const vec u = inverse_root(FMA(x, x, FMA(y, y, FMA(z, z, (vec)eps2)))), u2 = u * u,
                  l = q.side * u2;
        const vec wx = l * x, wy = l * y, wz = l * z, e = C(-0.5) * eps2 * (l * l);
        const vec xx = wx * wx, yy = wy * wy, zz = wz * wz, xy = C(2) * wx * wy,
                  xz = C(2) * wx * wz, yz = C(2) * wy * wz;
        const vec p = xx - zz, r = yy - zz, x3 = C(3) * wx, y3 = C(3) * wy;
        const vec a = wx * FMA((vec)C(-2), zz, p), b = wy * FMA((vec)C(-2), zz, r), f = y3 * p,
                  g = x3 * r;
        const vec i = wz * FMA((vec)C(3), p, C(2) * zz), j = wz * FMA((vec)C(3), r, C(2) * zz),
                  o = x3 * yz;
        vec vx = e * q.skew[0], vy = e * q.skew[1], vz = e * q.skew[2];
        const vec d0 = FMA(vx, wx, FMA(vy, wy, vz * wz));
#define FOURTH(v, A, B, F, G, I, J, O)                                                             \
    v = FMA((vec)q.fourth[A], a,                                                                   \
            FMA((vec)q.fourth[B], b,                                                               \
                FMA((vec)q.fourth[F], f,                                                           \
                    FMA((vec)q.fourth[G], g,                                                       \
                        FMA((vec)q.fourth[I], i,                                                   \
                            FMA((vec)q.fourth[J], j, FMA((vec)q.fourth[O], o, v)))))))
        FOURTH(vx, 0, 6, 1, 3, 2, 7, 4);
        FOURTH(vy, 1, 9, 3, 6, 4, 10, 7);
        FOURTH(vz, 2, 10, 4, 7, 5, 11, 8);
        const vec d1 = FMA(vx, wx, FMA(vy, wy, vz * wz));
#define THIRD(v, P, R, XY, XZ, YZ)                                                                 \
    v = FMA(                                                                                       \
        (vec)q.third[P], p,                                                                        \
        FMA((vec)q.third[R], r,                                                                    \
            FMA((vec)q.third[XY], xy, FMA((vec)q.third[XZ], xz, FMA((vec)q.third[YZ], yz, v)))))
        THIRD(vx, 0, 3, 1, 2, 4);
        THIRD(vy, 1, 6, 3, 4, 7);
        THIRD(vz, 2, 7, 4, 5, 8);
        const vec d2 = FMA(vx, wx, FMA(vy, wy, vz * wz));
#define SECOND(v, X, Y, Z)                                                                         \
    v = FMA((vec)q.second[X], wx, FMA((vec)q.second[Y], wy, FMA((vec)q.second[Z], wz, v)))
        SECOND(vx, 0, 1, 2);
        SECOND(vy, 1, 3, 4);
        SECOND(vz, 2, 4, 5);
        const vec d3 = FMA(vx, wx, FMA(vy, wy, vz * wz));
        const vec rest = FMA((vec)C(-1. / 6), d2, C(-1. / 12) * d1);
        if (potentials) {
            const vec all =
                FMA((vec)C(0.5), d3, FMA((vec)C(0.75), d0, FMA((vec)q.square, e, rest + c.w)));
            h->ax[k] = FMA(u, all, h->ax[k]);
        } else {
            const vec all = FMA((vec)C(2.5), d3,
                                FMA((vec)C(4.75), d0, FMA((vec)(C(5) * q.square), e, rest + c.w)));
            const vec u3 = u * u2, s = u3 * q.side, f = -u3 * all;
            h->ax[k] = FMA(f, x, FMA(s, vx, h->ax[k]));
            h->ay[k] = FMA(f, y, FMA(s, vy, h->ay[k]));
            h->az[k] = FMA(f, z, FMA(s, vz, h->az[k]));
        }
    }
}

#endif

static inline void targets_end_block(struct targets *h, const int items)
{
    EACH(k, items)
    {
        h->sx[k] += h->ax[k], h->sy[k] += h->ay[k], h->sz[k] += h->az[k];
        h->ax[k] = h->ay[k] = h->az[k] = (vec)C(0);
    }
}

/* Return the result of a body: {a, |a|}, or {phi}. |a| is infinite, not NaN, if the sum is NaN:
 * fmin ignores a NaN, and the least |a| of a group would differ from that of its bounding box, by
 * which other domains export cells. */
static inline real4 target_result(real x, real y, real z, const bool potentials)
{
    if (potentials)
        return (real4)(-x, 0, 0, 0);
    const real a = length((real4)(x, y, z, 0));
    return (real4)(x, y, z, a < INFINITY ? a : INFINITY);
}

/* ---- Kernel parameters. ---------------------------------------------------------------------- */

/* Interactions of a walk. */
struct interactions {
    uint cells, bodies;
};

/* schedule[from + k] is the group that work-group k walks or, with the bit DEFERRED, defers. There
 * are n targets; a_old_sorted[] has their |a| of the last sum, and forces_sorted[] receives their
 * forces. info[group] = {cells, bodies, g2, deferred}. deferred[0]: number of deferred groups,
 * listed from deferred[DEFERRED_HEAD] on. The walks do nothing if *bad is set or if the tree did
 * not fit. */
#define DEFER_GROUP(g)                                                                             \
    deferred[DEFERRED_HEAD + atomic_inc(deferred)] = (g), info[g] = (uint4)(0, 0, 0, 1)
#define WALK_PARAMETERS                                                                            \
    global const real4 *body, global const real4 *target, uint n, global const int2 *link,         \
        global const real4 *com, global const multipole *multipoles, global const real2 *size,     \
        global const uint2 *span, global const real *a_old_sorted, real opening, uint geometric,   \
        real eps2, real zero, uint from, uint limit, global const uint *schedule,                  \
        global uint4 *info, global uint *deferred, global real4 *forces_sorted,                    \
        global const int *bad, global uint *lists, uint lists_room, global real4 *shared_sum,      \
        uint shared_groups
#define WALK_ARGUMENTS                                                                             \
    body, target, n, link, com, multipoles, size, span, a_old_sorted, opening, geometric, eps2,    \
        zero, from, limit, schedule, info, deferred, forces_sorted, bad, lists, lists_room,        \
        shared_sum, shared_groups
