/* sweep.cl - many rules of the B/S family on the same soups: a work-group runs one soup under one
 * rule, which is data.
 *
 * A soup is a torus of 64 x 64 cells in local memory, double-buffered. A row is a ulong, so left
 * and right neighbours are rotations. An item has LANES rows, at distances of ITEMS; on a CPU they
 * are a vector:
 *
 *                lane 0     lane 1        lane 7
 *     item 0     row 0      row 8    ...  row 56
 *     item 1     row 1      row 9    ...  row 57      above and below: vectors of other items,
 *     ...                                             at the edges shifted by a lane
 *     item 7     row 7      row 15   ...  row 63
 *
 * The count of neighbours has four bits, of 64 cells each. Bits of the rule are masks, 0 or all
 * ones, among which cell and count select: for each of nine counts by the cell, then by the count's
 * bits. sweep_device.c has the host side; tests compare with life_ref.c.
 * SPDX-License-Identifier: MIT
 */

#ifndef LANES
#define LANES 1 /* rows of an item: 1 or 8 */
#endif
#ifndef PARTS
#define PARTS 0 /* 1: a launch computes a part of the generations */
#endif

#define SIDE 64
#define COUNTS 9
#define ITEMS (SIDE / LANES)

#if LANES == 8
#define ROWS ulong8
#define UP(v) ((v).s70123456)   /* lane j gets lane j - 1 */
#define DOWN(v) ((v).s12345670) /* lane j gets lane j + 1 */
#define ANY(v) any(v)
#else
#define ROWS ulong
#define UP(v) (v)
#define DOWN(v) (v)
#define ANY(v) (v)
#endif

enum { POPULATION, CHANGED, PERIOD, RESULT };

ROWS majority(ROWS a, ROWS b, ROWS c)
{
    return (a & b) | (c & (a | b));
}

/* no where the bits of `by` are 0, yes where they are 1. */
ROWS choose(ROWS no, ROWS yes, ROWS by)
{
    return no ^ (by & (no ^ yes));
}

/* Masks of a rule: dead cells' next states by the number of neighbours, and where those of live
 * cells differ. */
struct masks {
    ulong born[COUNTS], differs[COUNTS];
};

/* Next generation of rows. */
ROWS next_rows(ROWS above, ROWS cell, ROWS below, const struct masks *rule)
{
    const ROWS al = rotate(above, (ROWS)(1)), ar = rotate(above, (ROWS)(63));
    const ROWS cl = rotate(cell, (ROWS)(1)), cr = rotate(cell, (ROWS)(63));
    const ROWS bl = rotate(below, (ROWS)(1)), br = rotate(below, (ROWS)(63));
    /* each row has s + 2 m of the neighbours */
    const ROWS as = al ^ above ^ ar, am = majority(al, above, ar);
    const ROWS bs = bl ^ below ^ br, bm = majority(bl, below, br);
    const ROWS cs = cl ^ cr, cm = cl & cr;
    const ROWS carry = majority(as, bs, cs), x = am ^ bm, y = cm ^ carry;
    const ROWS b0 = as ^ bs ^ cs, b1 = x ^ y, both = am & bm, other = cm & carry;
    const ROWS b2 = both ^ other ^ (x & y), b3 = both & other;
    ROWS by[COUNTS];
#pragma unroll
    for (int n = 0; n < COUNTS; n++)
        by[n] = (ROWS)(rule->born[n]) ^ (cell & (ROWS)(rule->differs[n]));
    const ROWS by01 = choose(by[0], by[1], b0), by23 = choose(by[2], by[3], b0);
    const ROWS by45 = choose(by[4], by[5], b0), by67 = choose(by[6], by[7], b0);
    return choose(choose(choose(by01, by23, b1), choose(by45, by67, b1), b2), by[8], b3);
}

struct masks masks_of(uint code)
{
    struct masks m;
    for (uint n = 0; n < COUNTS; n++) {
        const uint born = code >> n & 1, stays = code >> (COUNTS + n) & 1;
        m.born[n] = -(ulong)born;
        m.differs[n] = -(ulong)(born ^ stays);
    }
    return m;
}

uint live_cells(ROWS rows)
{
    const ROWS n = popcount(rows);
#if LANES == 8
    return (uint)(n.s0 + n.s1 + n.s2 + n.s3 + n.s4 + n.s5 + n.s6 + n.s7);
#else
    return (uint)n;
#endif
}

/* The item's rows, advanced by a generation. */
ROWS advance(__local const ROWS *from, uint i, const struct masks *rule)
{
    const ROWS above = from[(i + ITEMS - 1) % ITEMS], below = from[(i + 1) % ITEMS];
    return next_rows(i == 0 ? UP(above) : above, from[i], i == ITEMS - 1 ? DOWN(below) : below,
                     rule);
}

/* Rows of an item from row i on. */
ROWS load_rows(__global const ulong *p)
{
#if LANES == 8
    return (ulong8)(p[0], p[8], p[16], p[24], p[32], p[40], p[48], p[56]);
#else
    return *p;
#endif
}

#if PARTS
void store_rows(ROWS rows, __global ulong *p)
{
#if LANES == 8
    p[0] = rows.s0;
    p[8] = rows.s1;
    p[16] = rows.s2;
    p[24] = rows.s3;
    p[32] = rows.s4;
    p[40] = rows.s5;
    p[48] = rows.s6;
    p[56] = rows.s7;
#else
    *p = rows;
#endif
}
#endif

/* Run universe u = first + g for group g: soup u % soups under rule[u / soups] (birth | survival <<
 * 9). Its generations are numbered from 0 to generations + most_period, and the last most_period of
 * them are observed. With PARTS a launch computes those from `begin` to `end`; between launches the
 * universe's rows, and those at the beginning of the observation, are in state[2 * SIDE * g].
 * Without PARTS it computes all generations. Write RESULT numbers to result[RESULT * g]. A group
 * has ITEMS items. */
__kernel void life_sweep(__global const uint *rule, __global const ulong *soup,
                         __global ulong *state, ulong first, uint soups, uint generations,
                         uint most_period, ulong begin, ulong end, __global uint *result)
{
    __local ROWS rows[2][ITEMS];
    __local uint sums[2], differs[3];
    const size_t g = get_group_id(0);
    const uint i = get_local_id(0);
    const struct masks masks = masks_of(rule[(first + g) / soups]);
    __global const ulong *start = soup + (first + g) % soups * SIDE + i;
#if PARTS
    const uint unobserved = (uint)(min(end, (ulong)generations) - min(begin, (ulong)generations)),
               observed = (uint)(max(begin, (ulong)generations) - generations),
               observe = (uint)(max(end, (ulong)generations) - generations);
    __global ulong *kept = state + 2 * SIDE * g + i;
    ROWS cell = load_rows(begin ? kept : start);
    uint period = observed ? result[RESULT * g + PERIOD] : 0;
#else
    const uint unobserved = generations, observed = 0, observe = most_period;
    ROWS cell = load_rows(start);
    uint period = 0;
#endif
    uint now = 0;
    rows[0][i] = cell;
    if (i < 2)
        sums[i] = 0;
    if (i < 3)
        differs[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = 0; t < unobserved; t++) {
        cell = advance(rows[now], i, &masks);
        now ^= 1;
        rows[now][i] = cell;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#if PARTS
    const ROWS mark = observed ? load_rows(kept + SIDE) : cell;
#else
    const ROWS mark = cell;
#endif
    if (observed == 0)
        atomic_add(&sums[0], live_cells(mark));
    /* differs[t % 3] is of generation t; the next one's was read a generation ago */
    for (uint t = observed + 1; t <= observe && !period; t++) {
        cell = advance(rows[now], i, &masks);
        now ^= 1;
        rows[now][i] = cell;
        if (t == 1)
            atomic_add(&sums[1], live_cells(mark ^ cell));
        if (i == 0)
            differs[(t + 1) % 3] = 0;
        if (ANY(cell != mark))
            differs[t % 3] = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        period = differs[t % 3] ? 0 : t;
    }
#if PARTS
    store_rows(cell, kept);
    store_rows(mark, kept + SIDE);
    if (!observe)
        return;
#endif
    if (i == 0) {
        if (observed == 0) {
            result[RESULT * g + POPULATION] = sums[0];
            result[RESULT * g + CHANGED] = sums[1];
        }
        result[RESULT * g + PERIOD] = period;
    }
}
