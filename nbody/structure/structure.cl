/* structure.cl - structure of a cluster: densities by sixth neighbours, weighted sums, radii,
 * shells, escapers, binaries.
 *
 * Scalar reference: structure.c. All numbers are doubles. Bodies are in the caller's order: posm[i]
 * = {x, y, z, m}, velp[i] = {vx, vy, vz, potential}. For the neighbour search they are sorted along
 * a curve, body order[p] at place p, with a hierarchy of bounding boxes:
 *
 *   level 0   | 16 places | 16 places | 16 places | ...   box k of a level: lo[first + k], hi[...]
 *   level 1   |  8 boxes              |  8 boxes  | ...
 *   ...       up to one box, which holds all
 *
 * Sums over bodies are made in blocks of BLOCK, in an order that depends on their number only; the
 * host adds the blocks.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define LEAF 16    /* places per box of level 0 */
#define FAN 8      /* boxes per box of the level above */
#define NEAR 6     /* neighbours, as NEIGHBOURS in neighbours.h */
#define GROUP 64   /* work-items per group, as in structure_device.c */
#define BLOCK 1024 /* bodies per block, as there */
#define TERMS 7    /* maximum numbers per block, as there */

/* ---- The curve and its boxes. ---------------------------------------------------------------- */

/* Spread 21 bits, with two zeros between them. */
static inline ulong structure_spread_bits(double x)
{
    ulong b = (ulong)clamp(x, 0., 2097151.);
    b = (b | b << 32) & 0x1f00000000ffffUL;
    b = (b | b << 16) & 0x1f0000ff0000ffUL;
    b = (b | b << 8) & 0x100f00f00f00f00fUL;
    b = (b | b << 4) & 0x10c30c30c30c30c3UL;
    return (b | b << 2) & 0x1249249249249249UL;
}

/* corner: minimum of each coordinate; .w: the factor that scales the longest side to 2^21. */
kernel void structure_curve(global const double4 *posm, uint n, double4 corner, global ulong *key,
                            global uint *order)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const double4 d = (posm[i] - corner) * corner.w;
    key[i] = structure_spread_bits(d.x) << 2 | structure_spread_bits(d.y) << 1 |
             structure_spread_bits(d.z);
    order[i] = i;
}

kernel void lowest_boxes(global const double4 *posm, global const uint *order, uint n,
                         global double4 *at, global double4 *lo, global double4 *hi)
{
    const uint box = get_global_id(0), from = box * LEAF;
    if (from >= n)
        return;
    double4 low = posm[order[from]], high = low;
    for (uint p = from; p < min(from + LEAF, n); p++) {
        const double4 x = posm[order[p]];
        at[p] = x;
        low = fmin(low, x), high = fmax(high, x);
    }
    lo[box] = low, hi[box] = high;
}

/* Boxes of the level that begins at `above` and has `count`, from the n boxes that begin at
 * `below`. */
kernel void upper_boxes(uint below, uint n, uint above, uint count, global double4 *lo,
                        global double4 *hi)
{
    const uint box = get_global_id(0), from = box * FAN;
    if (box >= count)
        return;
    double4 low = lo[below + from], high = hi[below + from];
    for (uint k = from + 1; k < min(from + FAN, n); k++)
        low = fmin(low, lo[below + k]), high = fmax(high, hi[below + k]);
    lo[above + box] = low, hi[above + box] = high;
}

/* ---- Neighbours. ----------------------------------------------------------------------------- */

struct nearest {
    double square[NEAR]; /* ascending; ties by body index */
    uint body[NEAR], place[NEAR];
};

static inline bool neighbour_before(double a, uint i, double b, uint j)
{
    return a < b || (a == b && i < j);
}

static inline void neighbour_offer(struct nearest *best, double square, uint body, uint place)
{
    if (!neighbour_before(square, body, best->square[NEAR - 1], best->body[NEAR - 1]))
        return;
    best->square[NEAR - 1] = square, best->body[NEAR - 1] = body, best->place[NEAR - 1] = place;
#pragma unroll
    for (int k = NEAR - 1; k > 0; k--)
        if (neighbour_before(best->square[k], best->body[k], best->square[k - 1],
                             best->body[k - 1])) {
            const double s = best->square[k];
            const uint b = best->body[k], p = best->place[k];
            best->square[k] = best->square[k - 1], best->body[k] = best->body[k - 1],
            best->place[k] = best->place[k - 1];
            best->square[k - 1] = s, best->body[k - 1] = b, best->place[k - 1] = p;
        }
}

static inline double square_of(double4 d)
{
    return d.x * d.x + d.y * d.y + d.z * d.z;
}

static void look_into(global const double4 *at, global const uint *order, uint box, uint n,
                      uint self, double4 x, struct nearest *best)
{
    for (uint p = box * LEAF; p < min(box * LEAF + LEAF, n); p++)
        if (p != self)
            neighbour_offer(best, square_of(at[p] - x), order[p], p);
}

/* level[l]: first box and number of boxes of level l; there are `levels`. Stores for body order[p]
 * its nearest neighbour (itself if it is alone), the squared distance of the second, and the
 * density: the mass of five over the volume of the sphere through the sixth. */
kernel void neighbours(global const double4 *at, global const uint *order, uint n,
                       global const double4 *lo, global const double4 *hi,
                       global const uint2 *level, uint levels, global uint *near,
                       global double *second, global double *density)
{
    const uint self = get_global_id(0);
    if (self >= n)
        return;
    const double4 x = at[self];
    const uint own = self / LEAF;
    struct nearest best;
    for (int k = 0; k < NEAR; k++)
        best.square[k] = INFINITY, best.body[k] = UINT_MAX, best.place[k] = self;
    look_into(at, order, own, n, self, x, &best);
    for (uint l = levels - 1, k = 0;;) {
        const uint box = level[l].x + k;
        const bool inside =
            square_of(fmax(fmax(lo[box] - x, x - hi[box]), 0.)) <= best.square[NEAR - 1];
        if (inside && l > 0) {
            l--, k *= FAN;
            continue;
        }
        if (inside && k != own)
            look_into(at, order, k, n, self, x, &best);
        for (k++; l + 1 < levels && (k % FAN == 0 || k >= level[l].y); l++)
            k = (k - 1) / FAN + 1;
        if (l + 1 == levels)
            break;
    }
    double mass = 0;
    for (int k = 0; k < NEAR - 1; k++)
        mass += at[best.place[k]].w;
    const double r2 = best.square[NEAR - 1], volume = 4.18879020478639098 * r2 * sqrt(r2);
    near[order[self]] = best.body[0] == UINT_MAX ? order[self] : best.body[0];
    second[order[self]] = best.square[1];
    density[order[self]] = r2 < INFINITY ? fmin(mass / fmax(volume, 1e-100), 1e100) : 0;
}

/* ---- Sums. ----------------------------------------------------------------------------------- */

/* Add term[0] .. term[terms - 1] over the items of a group and store them in the group's block of
 * `to`. */
static inline void structure_group_sum(const double *term, int terms, global double *to,
                                       local double *part)
{
    const uint lid = get_local_id(0);
    for (int t = 0; t < terms; t++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        part[lid] = term[t];
        for (uint half_ = GROUP / 2; half_ > 0; half_ /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lid < half_)
                part[lid] += part[lid + half_];
        }
        if (lid == 0)
            to[get_group_id(0) * TERMS + t] = part[0];
    }
}

#define EACH_OF_BLOCK(i, from, end)                                                                \
    for (uint first_ = (from) + (uint)get_group_id(0) * BLOCK, i = first_ + (uint)get_local_id(0); \
         i < min(first_ + BLOCK, (uint)(end)); i += GROUP)

/* Weights, and weighted positions and velocities; a weight is the density, or the mass. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void weigh(global const double4 *posm,
                                                                     global const double4 *velp,
                                                                     global const double *density,
                                                                     uint n, uint dense,
                                                                     global double *to)
{
    local double part[GROUP];
    double term[TERMS] = {0, 0, 0, 0, 0, 0, 0};
    EACH_OF_BLOCK(i, 0, n)
    {
        const double w = dense ? density[i] : posm[i].w;
        term[0] += w;
        term[1] += w * posm[i].x, term[2] += w * posm[i].y, term[3] += w * posm[i].z;
        term[4] += w * velp[i].x, term[5] += w * velp[i].y, term[6] += w * velp[i].z;
    }
    structure_group_sum(term, TERMS, to, part);
}

/* Squared densities, and squared distances from the centre weighted with them. Also stores the
 * distances as keys of the same order. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void radii(
    global const double4 *posm, global const double *density, uint n, double4 centre,
    global ulong *key, global uint *order, global double *to)
{
    local double part[GROUP];
    double term[2] = {0, 0};
    EACH_OF_BLOCK(i, 0, n)
    {
        const double square = square_of(posm[i] - centre), rho = density[i];
        term[0] += rho * rho, term[1] += rho * rho * square;
        key[i] = as_ulong(sqrt(square));
        order[i] = i;
    }
    structure_group_sum(term, 2, to, part);
}

/* Masses in the order of radii, in units of 2^-62 of the total. */
kernel void masses(global const double4 *posm, global const uint *order, uint n, double scale,
                   global ulong *mass)
{
    const uint i = get_global_id(0);
    if (i < n)
        mass[i] = (ulong)rint(posm[order[i]].w * scale);
}

/* Number of nearest bodies that hold a fraction of the mass, at least one, and the radius of the
 * last. sum[i]: mass of the bodies before i. */
kernel void structure_counts(global const ulong *sum, global const ulong *total,
                             global const ulong *key, uint n, global const double *fraction,
                             uint fractions, global uint *count, global double *radius)
{
    const uint f = get_global_id(0);
    if (f >= fractions)
        return;
    const double wanted = fraction[f] * (double)*total * (1 - 1e-12);
    uint low = 1, high = n; /* lower and upper bound of the result */
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if ((double)sum[middle] >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    count[f] = low;
    radius[f] = as_double(key[low - 1]);
}

/* Sums over the bodies from .. end - 1 by radius: mass, and mass-weighted radial velocity, its
 * square, and the square of the tangential velocity; to blocks from index `block` on. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void shells(
    global const double4 *posm, global const double4 *velp, global const ulong *key,
    global const uint *order, uint from, uint end, double4 centre, double4 velocity,
    global double *to, uint block)
{
    local double part[GROUP];
    double term[4] = {0, 0, 0, 0};
    EACH_OF_BLOCK(i, from, end)
    {
        const uint b = order[i];
        const double r = as_double(key[i]), m = posm[b].w;
        const double4 x = posm[b] - centre, v = velp[b] - velocity;
        const double v2 = square_of(v), vr = r > 0 ? (v.x * x.x + v.y * x.y + v.z * x.z) / r : 0;
        term[0] += m, term[1] += m * vr, term[2] += m * vr * vr,
            term[3] += m * fmax(v2 - vr * vr, 0.);
    }
    structure_group_sum(term, 4, to + block * TERMS, part);
}

/* ---- Escapers and binaries. ------------------------------------------------------------------ */

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void escapers(
    global const double4 *velp, global const ulong *key, global const uint *order, uint n,
    double4 velocity, double half_mass, global double *to)
{
    local double part[GROUP];
    double term[1] = {0};
    EACH_OF_BLOCK(i, 0, n)
    {
        const double4 v = velp[order[i]];
        term[0] += as_double(key[i]) > half_mass && square_of(v - velocity) / 2 + v.w > 0;
    }
    structure_group_sum(term, 1, to, part);
}

/* List the pairs that are each other's nearest neighbours and bound, in any order, and the squared
 * distance of the nearest third body. */
kernel void structure_pairs(global const double4 *posm, global const double4 *velp, uint n,
                            double G, global const uint *near, global const double *second,
                            global uint *count, global uint2 *pair, global double *third)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const uint k = near[i];
    if (k <= i || near[k] != i)
        return;
    const double r = sqrt(square_of(posm[k] - posm[i])), v2 = square_of(velp[k] - velp[i]);
    if (!(v2 * r < 2.000001 * G * (posm[i].w + posm[k].w)))
        return; /* the host tests more precisely */
    const uint at = atomic_inc(count);
    pair[at] = (uint2)(i, k);
    third[at] = fmin(second[i], second[k]);
}
