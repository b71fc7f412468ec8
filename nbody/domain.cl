/* domain.cl - a tree that several devices make together; the host puts multipole.cl, moments.cl and
 * tree.cl in front.
 *
 *   the curve    | part 0        | part 1    | part 2 ...      a device has the bodies of a part,
 *                their cells and their groups
 *                '-- cuts: keys, never between bodies of one key
 *
 *   posm  --route_keys-->  keys of the device's rows; those of rows that lie in other parts are
 *         none
 *   posm  --route_write-->  post   rows that go to other parts  --arrive, there-->  posm, keys
 *   keys  --sort, gather-->  body   of a part, and 64 bodies of its neighbours on either side
 *         (edges, halo): enough to
 *                                   find each cell that begins here, and to walk for groups that
 *                                   two parts share
 *   cells: numbers are those that one device would give; a cell whose bodies are of several parts
 *   is a bridge
 *   tops         | level 0: first 7, last 8 cells, bridge | level 1 ...   of each part: all have
 *                them, and find the bridges'
 *                                                                          moments
 *   let.cl: which cells and bodies of a part others meet
 *
 * All of it is moved or counted, and nothing added in another order than tree.cl would.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_MULTIPOLE_CL
#include "tree.cl"
#endif
#define NO_KEY (~0UL)  /* behind all that are keys, which have 63 bits */
#define NO_PART 0xffff /* a row stays */
#define EDGE 64        /* bodies of a part that its neighbours have, on either side: TREE_GROUP */
#define TOPS 16        /* cells of a level, of which the last is the bridge: TREE_TOPS */
#define FIRST_TOPS 7
#define LARGER 8 /* times as long as the smallest of them, at most */
#define UNITED                                                                                     \
    8 /* groups whose boxes others see as one, where that is at most; TREE_UNITED in tree.h */

/* ---- Bodies to their parts. ------------------------------------------------------------------ */

/* The keys of `some` of the bodies first .. first + count - 1, evenly. */
kernel GROUP_OF_ITEMS void sample(global const real4 *posm, uint first, uint count,
                                  global const real4 *cube, uint some, uint at, global ulong *key)
{
    local struct curve c;
    const uint k = get_global_id(0);
    learn(&c);
    if (k < some)
        key[at + k] = place(&c, posm[first + (ulong)k * count / some], *cube, 0);
}

static inline uint part_of(ulong key, global const ulong *cut, uint parts)
{
    uint p = 0;
    while (p + 1 < parts && key >= cut[p + 1])
        p++;
    return p;
}

/* The keys of a device's rows: key[low + i] is that of row first + i, and order[] this row. Those
 * that lie in the part of another, and what there is before number `low`, come behind all others:
 * NO_KEY, NONE. counts[part * groups + group]: how many rows of a group go to a part; counts[parts
 * * groups + group]: to all. */
kernel GROUP_OF_ITEMS void route_keys(global const real4 *posm, uint first, uint count, uint low,
                                      global const real4 *cube, global const ulong *cut, uint parts,
                                      uint own, global ulong *key, global uint *order, uint groups,
                                      global uint *counts)
{
    local struct curve c;
    const uint lid = get_local_id(0), group = get_group_id(0), begin = group * GROUP_BODIES;
    learn(&c);
    for (uint p = lid; p <= parts; p += FLAT)
        counts[p * (size_t)groups + group] = 0;
    for (size_t k = get_global_id(0); k < low; k += get_global_size(0))
        key[k] = NO_KEY, order[k] = NONE;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint j = lid; j < GROUP_BODIES && begin + j < count; j += FLAT) {
        const uint row = first + begin + j;
        const ulong k = place(&c, posm[row], *cube, 0);
        const uint p = part_of(k, cut, parts);
        key[low + begin + j] = p == own ? k : NO_KEY;
        order[low + begin + j] = p == own ? row : NONE;
        if (p == own)
            continue;
        atomic_inc(&counts[p * (size_t)groups + group]);
        atomic_inc(&counts[parts * (size_t)groups + group]);
    }
}

/* The rows that go to other parts, by parts and then by their numbers, from slot `to` on: post[] =
 * {body, what it felt, its row, -}, row[]. at: the scanned counts, from number `leaving` on: how
 * many rows of a group go. Those behind number `room` of them are left out. */
kernel GROUP_OF_ITEMS void route_write(global const real4 *posm, global const real *felt,
                                       uint first, uint count, uint low, global const real4 *cube,
                                       global const ulong *cut, uint parts,
                                       global const uint *order, uint groups, global const uint *at,
                                       uint leaving, uint to, uint room, global real8 *post,
                                       global uint *post_row)
{
    local ushort part[GROUP_BODIES]; /* to which a row goes */
    local struct curve c;
    local uint goes[GROUP_BODIES / 32],
        turn; /* a bit a row: does it go to the part whose turn it is */
    const uint lid = get_local_id(0), group = get_group_id(0), begin = group * GROUP_BODIES;
    if (at[leaving + group] == 0)
        return;
    learn(&c);
    for (uint j = lid; j < GROUP_BODIES; j += FLAT)
        part[j] = begin + j < count && order[low + begin + j] == NONE
                      ? part_of(place(&c, posm[first + begin + j], *cube, 0), cut, parts)
                      : NO_PART;
    for (uint next = 0; next <= NO_PART;) {
        for (uint w = lid; w < GROUP_BODIES / 32; w += FLAT)
            goes[w] = 0;
        if (lid == 0)
            turn = NO_PART;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = lid; j < GROUP_BODIES; j += FLAT)
            if (part[j] >= next && part[j] < NO_PART)
                atomic_min(&turn, (uint)part[j]);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint p = turn;
        for (uint j = lid; j < GROUP_BODIES; j += FLAT)
            if (part[j] == p)
                atomic_or(&goes[j / 32], 1u << j % 32);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = lid; j < GROUP_BODIES && p < NO_PART; j += FLAT) {
            if (part[j] != p)
                continue;
            const uint row = first + begin + j;
            uint slot =
                at[p * (size_t)groups + group] + popcount(goes[j / 32] & ((1u << j % 32) - 1));
            for (uint w = 0; w < j / 32; w++)
                slot += popcount(goes[w]);
            if (slot >= room)
                continue;
            post[to + slot] = (real8)(posm[row], felt[row], WHOLE_TO_REAL(row), 0, 0);
            post_row[to + slot] = row;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        next = p + 1;
    }
}

/* Where each of n rows of scanned counts starts, and the sum of all behind them. */
kernel void starts(global const uint *at, uint runs, uint n, global const uint *total, uint to,
                   global uint *start)
{
    const uint k = get_global_id(0);
    if (k <= n)
        start[to + k] = k < n ? at[k * (size_t)runs] : *total;
}

/* Rows of others, which come from `count` slots from `first` on, take their places; their keys
 * stand from number `to` on. */
kernel GROUP_OF_ITEMS void arrive(global const real8 *post, uint first, uint count, uint to,
                                  global const real4 *cube, global real4 *posm, global real *felt,
                                  global uint *slot, global ulong *key, global uint *order)
{
    local struct curve c;
    const size_t k = get_global_id(0);
    learn(&c);
    if (k >= count)
        return;
    const real8 body = post[first + k];
    const uint row = REAL_TO_WHOLE(body.s5);
    posm[row] = body.lo;
    felt[row] = body.s4;
    slot[row] = first + k;
    key[to + k] = place(&c, body.lo, *cube, 0);
    order[to + k] = row;
}

/* ---- What neighbours see. -------------------------------------------------------------------- */

/* Keys and bodies of the first EDGE bodies of a part, and of the last, which come from its end:
 * seen[] = {body, what it felt}; and what a part gets of that. The host knows their sizes. */
struct edge {
    ulong2 key[2 * EDGE];
    real8 seen[2 * EDGE];
};

kernel void edges(global const ulong *first, global const ulong *second, uint from, uint count,
                  global const real4 *body, global const real *feel, uint begin, uint part,
                  global struct edge *edge)
{
    const uint j = get_global_id(0), k = j < EDGE ? j : count - 1 - (j - EDGE);
    if (j >= 2 * EDGE || k >= count)
        return;
    edge[part].key[j] = (ulong2)(first[from + k], WORDS > 1 ? second[from + k] : 0);
    edge[part].seen[j] = (real8)(body[begin + k], feel[begin + k], 0, 0, 0);
}

/* The neighbours' bodies: `before` of them, from the nearest on, and `after`. No box is apart
 * yet. */
kernel void halo(global const struct edge *edge, uint before, uint after, uint from, uint count,
                 uint begin, global ulong *first, global ulong *second, global real4 *body,
                 global real *feel, uint counter, global uint *apart)
{
    if (get_global_id(0) == 0)
        apart[counter] = 0;
    const uint j = get_global_id(0), k = j < EDGE ? -1 - j : count + j - EDGE;
    if (j < EDGE ? j >= before : j >= EDGE + after)
        return;
    first[from + k] = edge->key[j].x;
    if (WORDS > 1)
        second[from + k] = edge->key[j].y;
    body[begin + k] = edge->seen[j].lo;
    feel[begin + k] = edge->seen[j].s4;
}

static inline real longest(real8 box)
{
    return fmax(fmax(box.s4 - box.s0, box.s5 - box.s1), box.s6 - box.s2);
}

static inline real8 around(real8 a, real8 b)
{
    return (real8)(fmin(a.lo, b.lo), fmax(a.hi, b.hi));
}

/* Of `groups` groups from `first` on, UNITED a work-group: the box around all of these and the
 * least that their bodies felt, {lo, least, hi, -}. Where that is much larger than the smallest
 * group's, a group met more than `much` in the last sum, or it met too much in let.cl, it is
 * empty, and each group's box, with its number from `first` on, stands behind the last of these:
 * *apart of them, in any order. */
kernel GROUP_OF_ITEMS void boxes(global const real4 *body, global const real *feel, uint n,
                                 uint first, uint groups, uint to, global real8 *box, uint counter,
                                 global uint *apart, global const uint4 *info, uint much,
                                 global const uint *lone)
{
    local real8 found[FLAT];
    const uint lid = get_local_id(0), each = FLAT / UNITED, own = lid / each;
    const uint k = get_group_id(0) * UNITED + own, from = EDGE * (first + k);
    const real8 empty = (real8)((real4)(INFINITY), (real4)(-INFINITY));
    real8 all = empty;
    for (uint i = from + lid % each; k < groups && i < min(n, from + EDGE); i += each)
        all = around(all, (real8)(body[i].xyz, feel[i], body[i]));
    found[lid] = all;
    for (uint half_ = each / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid % each < half_)
            found[lid] = around(found[lid], found[lid + half_]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid > 0)
        return;
    const uint some = min((uint)UNITED, groups - k);
    real least = INFINITY;
    all = empty;
    for (uint i = 0; i < some; i++) {
        all = around(all, found[i * each]);
        least = fmin(least, longest(found[i * each]));
    }
    bool apart_ = lone[get_group_id(0)] || longest(all) > LARGER * least;
    for (uint i = 0; i < some; i++) {
        const uint met = info[first + k + i].x + info[first + k + i].y;
        apart_ |= met == 0 || met > much;
    }
    box[to + get_group_id(0)] = apart_ ? empty : all;
    if (!apart_)
        return;
    const uint at = to + get_num_groups(0) + atomic_add(&apart[counter], some);
    for (uint i = 0; i < some; i++)
        box[at + i] = (real8)(found[i * each].s0123, found[i * each].s456, k + i);
}

/* Of these boxes, those that met too much. */
kernel void part_with(global const uint *flags, uint from, uint count, global uint *lone)
{
    if (get_global_id(0) < count)
        lone[flags[from + get_global_id(0)]] = 1;
}

/* ---- Cells that all parts have. -------------------------------------------------------------- */

/* tops[TOPS * level + j]: the part's first and last cells of a level, NONE where there are not as
 * many; and of its bridge {cell, first body, -, NONE}, with this body in com's place. The third
 * number of that of level 0: is it crowded? */
kernel void tops_write(uint bodies, global const uint2 *span, global const uint *bridge,
                       global const uint *cells, global const uint *down, global const int2 *link,
                       global const real4 *com, global const multipole *poles,
                       global const real2 *size, global const real4 *body, uint part,
                       global real *tops)
{
    const uint id = get_global_id(0), level = id / TOPS, j = id % TOPS;
    if (level >= LEVEL_COUNT)
        return;
    global real *to = tops + (part * (size_t)(LEVEL_COUNT * TOPS) + id) * SENT_CELL;
    const uint from = bodies ? span[level].x : 0, end = bodies ? span[level].y : 0;
    const uint back = end - 1 - (j - FIRST_TOPS), k = j < FIRST_TOPS ? from + j : back;
    if (j == TOPS - 1) {
        const uint own = bodies ? bridge[level] : NONE;
        const uint4 head =
            (uint4)(own, own != NONE ? link[own].y : 0, level == 0 && bodies ? cells[1] : 0, NONE);
        vstore4(head, 0, (global uint *)to);
        if (own != NONE)
            vstore4(body[link[own].y], 0, to + HEAD);
    } else if (j < FIRST_TOPS ? k >= end : end - from <= FIRST_TOPS + (j - FIRST_TOPS))
        vstore4((uint4)(NONE), 0, (global uint *)to);
    else
        send_cell(to, (uint4)(k, as_uint2(link[k]), down[k]), com[k], size[k], &poles[k]);
}

/* Takes cells of others over. */
kernel void adopt(global const real *cells, uint first, uint count, global uint *down,
                  global int2 *link, global real4 *com, global multipole *poles, global real2 *size,
                  global real4 *body)
{
    global const real *from = cells + (first + get_global_id(0)) * SENT_CELL;
    if (get_global_id(0) >= count)
        return;
    const uint4 head = vload4(0, (global const uint *)from);
    if (head.x == NONE)
        return;
    if (head.w == NONE) {
        body[head.y] = vload4(0, from + HEAD);
        return;
    }
    link[head.x] = as_int2(head.yz);
    down[head.x] = head.w;
    com[head.x] = vload4(0, from + HEAD);
    size[head.x] = vload2(0, from + HEAD + 4);
    for (int c = 0; c < POLES; c++)
        ((global real *)&poles[head.x])[c] = from[HEAD + 6 + c];
}

kernel void adopt_bodies(global const real *bodies, uint first, uint count, global real4 *body)
{
    global const real *from = bodies + (first + get_global_id(0)) * SENT_BODY;
    if (get_global_id(0) < count)
        body[REAL_TO_WHOLE(from[4])] = vload4(0, from);
}

/* Whether the cell of all bodies is nearly that of the sum before: its mass, how wide it is, and
 * where, to a thousandth of its width. */
static inline bool alike(real4 was, real4 is, real was_square, real is_square)
{
    const real least = C(1e-3), width2 = is_square / is.w, was_width2 = was_square / was.w;
    const real4 d = is - was;
    const real off2 = d.x * d.x + d.y * d.y + d.z * d.z;
    return fabs(d.w) <= least * is.w && fabs(width2 - was_width2) <= least * width2 &&
           off2 <= least * least * width2;
}

/* The moments of all parts' bridges, which have so many levels, from the deepest on; all their
 * other children have theirs. One group. counts[off] tells whether the cell of all bodies is
 * another than in the sum before, of which let.cl made use. */
kernel GROUP_OF_ITEMS void moments_of_bridges(global const real4 *body, global const real4 *cube,
                                              uint levels, uint geometric, real blur,
                                              global const real *tops, uint parts,
                                              global const uint *down, global int2 *link,
                                              global real4 *com, global multipole *poles,
                                              global real2 *size, global uint *counts, uint off)
{
    const real4 was = com[0];
    const real was_square = square(&poles[0]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint level = levels; level-- > 0;) {
        for (uint part = get_local_id(0); part < parts; part += FLAT) {
            const uint k = *(
                global const uint *)(tops + ((part * LEVEL_COUNT + level + 1) * (size_t)TOPS - 1) *
                                                SENT_CELL);
            if (k != NONE)
                cell_moments(k, down[k + 1], body, *cube, level, geometric, blur, link, com, poles,
                             size);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (get_local_id(0) == 0)
        counts[off] = !alike(was, com[0], was_square, square(&poles[0]));
}

/* ---- Sums back to the bodies. ---------------------------------------------------------------- */

static inline void put_sum(real4 a, size_t i, uint row, uint rows, global real *plane,
                           global real *felt)
{
    felt[row] = a.w;
    plane[i] = a.x;
    plane[rows + i] = a.y;
    plane[2 * (size_t)rows + i] = a.z;
}

/* pulled[begin + i] = {a, |a|} of row order[i]: to planes of `rows` numbers where it is one of this
 * device's, else to its slot. No group is put off any more, and none has its turn. */
kernel void home(global const real4 *pulled, uint n, global const uint *order, uint begin,
                 uint first, uint rows, uint count, global real *plane, global real *felt,
                 global const uint *slot, global real4 *sums, global uint *again,
                 global const int *bad)
{
    const size_t k = get_global_id(0);
    if (k == 0)
        again[0] = again[1] = again[2] = 0;
    if (k >= n || *bad < 0)
        return;
    const uint row = order[k], i = row - first;
    if (i < count)
        put_sum(pulled[begin + k], i, row, rows, plane, felt);
    else
        sums[slot[row]] = pulled[begin + k];
}

/* Their sums are on their way: as in integrate_leapfrog.cl. */
kernel void expect(uint from, uint n, global const uint *post_row, uint first, uint rows,
                   global real *plane)
{
    const size_t k = get_global_id(0), i = k < n ? post_row[from + k] - first : 0;
#ifdef DOUBLE
    const real late = as_double(0x7ff80000decade00UL);
#else
    const real late = as_float(0x7fdecadeu);
#endif
    if (k < n)
        plane[i] = plane[rows + i] = plane[2 * (size_t)rows + i] = late;
}

/* What came back to `n` slots from `from` on. */
kernel void home_slots(global const real4 *sums, uint from, uint n, global const uint *post_row,
                       uint first, uint rows, global real *plane, global real *felt,
                       global const int *bad)
{
    const size_t k = get_global_id(0);
    if (k < n && *bad >= 0)
        put_sum(sums[from + k], post_row[from + k] - first, post_row[from + k], rows, plane, felt);
}

/* The same of potentials, which are pulled[].x. */
kernel void home_potentials(global const real4 *pulled, uint n, global const uint *order,
                            uint begin, uint first, uint count, global real *plane,
                            global const uint *slot, global real4 *sums, global uint *again)
{
    const size_t k = get_global_id(0);
    if (k == 0)
        again[0] = again[1] = again[2] = 0;
    if (k >= n)
        return;
    const uint row = order[k], i = row - first;
    if (i < count)
        plane[i] = pulled[begin + k].x;
    else
        sums[slot[row]] = pulled[begin + k];
}

kernel void home_slots_potentials(global const real4 *sums, uint from, uint n,
                                  global const uint *post_row, uint first, global real *plane)
{
    const size_t k = get_global_id(0);
    if (k < n)
        plane[post_row[from + k] - first] = sums[from + k].x;
}

/* ---- Cuts. ----------------------------------------------------------------------------------- */

/* The keys of some bodies. */
kernel void pick(global const ulong *key, uint from, global const uint *which, uint n,
                 global ulong *picked)
{
    const uint k = get_global_id(0);
    if (k < n)
        picked[k] = key[from + which[k]];
}
