/* domain.cl - kernels of the distributed tree; the host puts multipole.cl, moments.cl and tree.cl
 * in front.
 *
 *   Hilbert curve  | domain 0      | domain 1  | domain 2 ...    a device holds the bodies, cells
 *                                                                and groups of its domain
 *                  '-- boundaries: keys, never between bodies of equal key
 *
 *   posm --migrate_count--> keys of the device's rows; NO_KEY for rows in other domains
 *   posm --migrate_pack (exchange) migrate_unpack--> received, keys
 *   keys --sort, domain_gather--> body  of the domain, from posm and received
 *        --halo_pack (exchange) halo_unpack--> and 64 bodies of each neighbour: enough to find
 *                                              each cell that begins here, and to walk groups
 *                                              that two domains share
 *   cells: each domain has the cells that begin in it; a cell with bodies of several domains is a
 *          shared node
 *   toptree  | level 0: first 7, last 8 cells, shared node | level 1 ...    of each domain; all
 *                              domains hold these cells and compute the shared nodes' moments
 *   (let.cl) cells and bodies that other domains need
 *   forces_sorted --return_forces--> rows, received --return_pack (exchange) receive_forces--> rows
 *
 *   cells of a device  | top region | its domain | imports of domain 0 | of domain 1 | ...
 *
 * The top region holds the top cells of all domains by level, domain and body, at the same numbers
 * on all devices: top_begin[level * domains + domain] is the first of a domain's cells of a level.
 * The children of a shared node are consecutive there, because a cell has at most 8. Walks begin at
 * cell 0, the root. Siblings are exported together, so they are consecutive in the imports, too.
 * The first sibling is packed with its parent, so that the importing device can set the parent's
 * link.
 *
 * Data are moved or counted only: every sum runs in the same order as in tree.cl.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_MULTIPOLE_CL
#include "../force/tree.cl"
#endif
#define NO_KEY (~0UL)    /* padding; sorts after all keys, which have 63 bits */
#define NO_DOMAIN 0xffff /* the row does not migrate */
#define EDGE 64          /* bodies of each end of a domain that go to a neighbour; TREE_GROUP */
#define TOP_CELLS 16 /* cells of a level in the top tree, the shared node last; TREE_TOP_CELLS */
#define MOVED 0x80000000u /* in order[]: a slot of received[], in place of a row */
#define MERGE_RATIO 8     /* longest side of a merged box over the smallest group box's, at most */
/* Link to bodies or children that are not here: a valid index below the bodies of the own domain,
 * which begin at EDGE. */
#define LINK_UNSET 0

/* ---- Migration. ------------------------------------------------------------------------------ */

/* Compute the keys of `some` of the device's rows, evenly spaced. */
kernel GROUP_OF_ITEMS void sample_keys(global const real4 *posm, uint count,
                                       global const real4 *cube, uint some, uint at,
                                       global ulong *key)
{
    local struct curve c;
    const uint k = get_global_id(0);
    curve_load(&c);
    if (k < some)
        key[at + k] = curve_key(&c, posm[(ulong)k * count / some], *cube, 0);
}

static inline uint domain_of_key(ulong key, global const ulong *boundary, uint domains)
{
    uint p = 0;
    while (p + 1 < domains && key >= boundary[p + 1])
        p++;
    return p;
}

/* Compute the keys of a device's rows: key[low + i] is the key of row i, and order[low + i]
 * this row. Rows in other domains, and the entries below `low`, become NO_KEY, NONE, which sort
 * last. counts[domain * groups + group]: rows of a work-group that migrate to a domain. */
kernel GROUP_OF_ITEMS void migrate_count(global const real4 *posm, uint count, uint low,
                                         global const real4 *cube, global const ulong *boundary,
                                         uint domains, uint own, global ulong *key,
                                         global uint *order, uint groups, global uint *counts)
{
    local struct curve c;
    const uint lid = get_local_id(0), group = get_group_id(0), begin = group * GROUP_BODIES;
    curve_load(&c);
    for (uint p = lid; p < domains; p += GROUP_1D)
        counts[p * (size_t)groups + group] = 0;
    for (size_t k = get_global_id(0); k < low; k += get_global_size(0))
        key[k] = NO_KEY, order[k] = NONE;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint j = lid; j < GROUP_BODIES && begin + j < count; j += GROUP_1D) {
        const uint row = begin + j;
        const ulong k = curve_key(&c, posm[row], *cube, 0);
        const uint p = domain_of_key(k, boundary, domains);
        key[low + begin + j] = p == own ? k : NO_KEY;
        order[low + begin + j] = p == own ? row : NONE;
        if (p != own)
            atomic_inc(&counts[p * (size_t)groups + group]);
    }
}

/* Pack the rows that migrate to a domain, by row: sent[] = {body, |a| of the last sum, row, -}. at:
 * the scanned counts. */
kernel GROUP_OF_ITEMS void migrate_pack(global const real4 *posm, global const real *a_old,
                                        uint count, uint low, global const real4 *cube,
                                        global const ulong *boundary, uint domains,
                                        global const uint *order, uint groups,
                                        global const uint *at, uint to, global real8 *sent)
{
    local struct curve c;
    local uint goes[GROUP_BODIES / 32]; /* one bit a row: set if it migrates */
    const uint lid = get_local_id(0), group = get_group_id(0), begin = group * GROUP_BODIES;
    global const uint *const first = at + to * (size_t)groups;
    curve_load(&c);
    for (uint w = lid; w < GROUP_BODIES / 32; w += GROUP_1D)
        goes[w] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = lid; j < GROUP_BODIES && begin + j < count; j += GROUP_1D)
        if (order[low + begin + j] == NONE &&
            domain_of_key(curve_key(&c, posm[begin + j], *cube, 0), boundary, domains) == to)
            atomic_or(&goes[j / 32], 1u << j % 32);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = lid; j < GROUP_BODIES && begin + j < count; j += GROUP_1D) {
        if (!(goes[j / 32] >> j % 32 & 1))
            continue;
        const uint row = begin + j;
        uint slot = first[group] - first[0] + popcount(goes[j / 32] & ((1u << j % 32) - 1));
        for (uint w = 0; w < j / 32; w++)
            slot += popcount(goes[w]);
        sent[slot] = (real8)(posm[row], a_old[row], UINT_TO_REAL(row), 0, 0);
    }
}

/* Extract the start of each of n rows from scanned counts; start[n]: the total. */
kernel void scan_offsets(global const uint *at, uint runs, uint n, global const uint *total,
                         global uint *start)
{
    const uint k = get_global_id(0);
    if (k <= n)
        start[k] = k < n ? at[k * (size_t)runs] : *total;
}

/* Insert `count` migrated bodies in received[] from slot `first` on, and in key[] and order[] from
 * `to` on. */
kernel GROUP_OF_ITEMS void migrate_unpack(global const real8 *sent, uint count, uint first, uint to,
                                          global const real4 *cube, global real8 *received,
                                          global ulong *key, global uint *order)
{
    local struct curve c;
    const size_t k = get_global_id(0);
    curve_load(&c);
    if (k >= count)
        return;
    received[first + k] = sent[k];
    key[to + k] = curve_key(&c, sent[k].lo, *cube, 0);
    order[to + k] = (first + k) | MOVED;
}

/* Body `row` of order[]: a row of this device, or a migrated body. */
static inline real4 domain_body(global const real4 *posm, global const real8 *received, uint row)
{
    return row & MOVED ? received[row & ~MOVED].lo : posm[row];
}

/* Compute one word of the keys of n bodies of order[], where NONE comes last. */
kernel GROUP_OF_ITEMS void domain_keys(global const real4 *posm, global const real8 *received,
                                       uint n, global const real4 *cube, uint word,
                                       global ulong *key, global const uint *order)
{
    local struct curve c;
    curve_load(&c);
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
        key[i] = order[i] == NONE
                     ? NO_KEY
                     : curve_key(&c, domain_body(posm, received, order[i]), *cube, word);
}

/* Gather the n bodies of the domain in tree order, and their |a| of the last sum. */
kernel void domain_gather(global const real4 *posm, global const real *a_old,
                          global const real8 *received, uint n, global const uint *order,
                          uint begin, global real4 *body, global real *a_old_sorted)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    const uint row = order[i];
    body[begin + i] = domain_body(posm, received, row);
    a_old_sorted[begin + i] = row & MOVED ? received[row & ~MOVED].s4 : a_old[row];
}

/* ---- Halo and bounding boxes. ---------------------------------------------------------------- */

/* Keys and bodies of both ends of a domain: the first EDGE bodies, then the last ones in reverse
 * order. seen[] = {body, |a| of the last sum}. A domain's halo has the same form. */
struct edge {
    ulong2 key[2 * EDGE];
    real8 seen[2 * EDGE];
};

kernel void halo_pack(global const ulong *keys_hi, global const ulong *keys_lo, uint from,
                      uint count, global const real4 *body, global const real *a_old_sorted,
                      uint begin, uint domain, global struct edge *edge)
{
    const uint j = get_global_id(0), k = j < EDGE ? j : count - 1 - (j - EDGE);
    if (j >= 2 * EDGE || k >= count)
        return;
    edge[domain].key[j] = (ulong2)(keys_hi[from + k], KEY_WORDS > 1 ? keys_lo[from + k] : 0);
    edge[domain].seen[j] = (real8)(body[begin + k], a_old_sorted[begin + k], 0, 0, 0);
}

/* Unpack the halo: `before` bodies of lower domains, nearest first, and `after` bodies of higher
 * ones. Resets the number of boxes of single groups. */
kernel void halo_unpack(global const struct edge *edge, uint before, uint after, uint from,
                        uint count, uint begin, global ulong *keys_hi, global ulong *keys_lo,
                        global real4 *body, global real *a_old_sorted, global real8 *box,
                        uint counter)
{
    if (get_global_id(0) == 0)
        *(global uint *)(box + counter) = 0;
    const uint j = get_global_id(0), k = j < EDGE ? -1 - j : count + j - EDGE;
    if (j < EDGE ? j >= before : j >= EDGE + after)
        return;
    keys_hi[from + k] = edge->key[j].x;
    if (KEY_WORDS > 1)
        keys_lo[from + k] = edge->key[j].y;
    body[begin + k] = edge->seen[j].lo;
    a_old_sorted[begin + k] = edge->seen[j].s4;
}

static inline real box_longest_side(real8 box)
{
    return fmax(fmax(box.s4 - box.s0, box.s5 - box.s1), box.s6 - box.s2);
}

static inline real8 box_union(real8 a, real8 b)
{
    return (real8)(fmin(a.lo, b.lo), fmax(a.hi, b.hi));
}

/* Compute the bounding boxes of `groups` groups from `first` on, MERGED groups a work-group. At
 * box[to] stands the number of boxes of single groups; then the merged boxes follow, then room for
 * `room` boxes of single groups. A merged box {lo, least |a|, hi, its number | MERGED_BOX} covers
 * its groups. It is left empty if it is more than MERGE_RATIO times as long as the smallest group's
 * box, or if let_export flagged it in one of the last SPLIT_SUMS sums (split_groups counts them
 * down). Each of its groups then has a box of its own, with its number from `first` on, in any
 * order. Without room for these the merged box stays. info[].w = 0: no group is deferred at once;
 * a cancelled sum may have left other values. */
kernel GROUP_OF_ITEMS void group_boxes(global const real4 *body, global const real *a_old_sorted,
                                       uint n, uint first, uint groups, global real8 *box, uint to,
                                       uint room, global uint4 *info, global uint *split_groups)
{
    local real8 found[GROUP_1D];
    const uint lid = get_local_id(0), each = GROUP_1D / MERGED, own = lid / each;
    const uint k = get_group_id(0) * MERGED + own, from = EDGE * (first + k);
    const real8 empty = (real8)((real4)(INFINITY), (real4)(-INFINITY));
    real8 all = empty;
    for (uint i = from + lid % each; k < groups && i < min(n, from + EDGE); i += each)
        all = box_union(all, (real8)(body[i].xyz, a_old_sorted[i], body[i]));
    found[lid] = all;
    for (uint half_ = each / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid % each < half_)
            found[lid] = box_union(found[lid], found[lid + half_]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid > 0)
        return;
    const uint some = min((uint)MERGED, groups - k), number = get_group_id(0),
               sums = min(split_groups[number], (uint)SPLIT_SUMS);
    global real8 *const merged = box + to + 1, *const single = merged + get_num_groups(0);
    real least = INFINITY;
    all = empty;
    for (uint i = 0; i < some; i++) {
        all = box_union(all, found[i * each]);
        least = fmin(least, box_longest_side(found[i * each]));
        info[first + k + i].w = 0;
    }
    if (sums > 0)
        split_groups[number] = sums - 1;
    uint at = room;
    if (sums > 0 || box_longest_side(all) > MERGE_RATIO * least)
        at = atomic_add((global uint *)(box + to), some);
    merged[number] = at < room && room - at >= some
                         ? empty
                         : (real8)(all.s0123, all.s456, UINT_TO_REAL(number | MERGED_BOX));
    for (uint i = 0; i < some && at + i < room; i++)
        single[at + i] = (real8)(found[i * each].s0123, found[i * each].s456, UINT_TO_REAL(k + i));
}

/* ---- Top tree. ------------------------------------------------------------------------------- */

/* Pack top cells: toptree[TOP_CELLS * level + j] has the domain's first and last cells of a level,
 * NONE for missing ones. place[] of a top cell is its number in the top region. The last entry is
 * {children, before, overflow, -}, with the first body of the shared node in place of com.
 * children: number of the shared node's children in this domain; NONE without a shared node.
 * before: number of cells on the next level that precede the children of this level's first cell.
 * overflow: of the keys, on level 0. */
kernel void toptree_pack(uint bodies, global const uint2 *span, global const uint *shared_node,
                         global const uint *cells, global const uint *child_begin,
                         global const int2 *link, global const real4 *com,
                         global const multipole *multipoles, global const real2 *size,
                         global const real4 *body, uint domain, uint domains,
                         global const uint *top_begin, global uint *place, global real *toptree)
{
    const uint id = get_global_id(0), level = id / TOP_CELLS, j = id % TOP_CELLS;
    if (level >= LEVEL_COUNT)
        return;
    global real *to = toptree + (domain * (size_t)(LEVEL_COUNT * TOP_CELLS) + id) * PACKED_CELL;
    const uint from = bodies ? span[level].x : 0, end = bodies ? span[level].y : 0;
    const uint back = end - 1 - (j - FIRST_CELLS), k = j < FIRST_CELLS ? from + j : back;
    if (j == TOP_CELLS - 1) {
        const uint own = bodies ? shared_node[level] : NONE;
        const bool parents = level < LEVELS && from < end;
        const uint4 head = (uint4)(own != NONE ? span[level + 1].y - link[own].x : NONE,
                                   parents ? child_begin[from] - span[level + 1].x : 0,
                                   level == 0 && bodies ? cells[1] : 0, NONE);
        vstore4(head, 0, (global uint *)to);
        if (own != NONE)
            vstore4(body[link[own].y], 0, to + PACKED_HEAD);
    } else if (j < FIRST_CELLS ? k >= end : end - from <= FIRST_CELLS + (j - FIRST_CELLS))
        vstore4((uint4)(NONE), 0, (global uint *)to);
    else {
        const uint at = level * domains + domain;
        place[k] = TOP_CELL | (j < FIRST_CELLS ? top_begin[at] + j
                                               : top_begin[at + 1] - 1 - (j - FIRST_CELLS));
        /* a shared node has no moments yet: each device computes them, and keeps the previous
         * sum's root cell until then */
        if (k == shared_node[level])
            vstore4((uint4)(NONE), 0, (global uint *)to);
        else
            pack_cell(to, (uint4)(place[k] & ~TOP_CELL, as_uint2(link[k]), 0), com[k], size[k],
                      &multipoles[k]);
    }
}

/* Number of a packed parent or leaf here; to: of the first cell imported from its domain. */
static inline uint imported_cell(uint packed, uint to)
{
    return packed & TOP_CELL ? packed & ~TOP_CELL : to + packed;
}

/* Import packed cells of a domain: top cells (to: NONE), or exported cells to number `to` and
 * following. own: they are of this device's domain, and links to children remain valid. Body b of
 * the domain has index b + shift here. This device holds the bodies [lo, hi) of its own domain and
 * halo: leaves of these use them. The bodies of other leaves, and the children of cells, are
 * imported if a walk needs them; their cell's link.x is set then. */
kernel void import_nodes(global const real *cells, uint first, uint count, uint to, uint own,
                         uint shift, uint lo, uint hi, global int2 *link, global real4 *com,
                         global multipole *multipoles, global real2 *size)
{
    const uint e = get_global_id(0);
    global const real *from = cells + (first + e) * (size_t)PACKED_CELL;
    if (e >= count)
        return;
    const uint4 head = vload4(0, (global const uint *)from);
    if (to == NONE && (head.x == NONE || e % TOP_CELLS == TOP_CELLS - 1))
        return;
    const uint k = to == NONE ? head.x : to + e, b = head.y + shift, bodies = -head.z;
    global int *const l = (global int *)link;
    if ((int)head.z < 0)
        l[2 * (size_t)k] = b >= lo && b < hi && hi - b >= bodies ? (int)b : LINK_UNSET;
    else if (to == NONE)
        l[2 * (size_t)k] = own ? head.y : LINK_UNSET;
    l[2 * (size_t)k + 1] = (int)head.z;
    if (to != NONE && head.x != NONE)
        l[2 * (size_t)imported_cell(head.x, to)] = k;
    com[k] = vload4(0, from + PACKED_HEAD);
    size[k] = vload2(0, from + PACKED_HEAD + 4);
    for (int c = 0; c < MULTIPOLE_REALS; c++)
        ((global real *)&multipoles[k])[c] = from[PACKED_HEAD + 6 + c];
}

/* Import packed bodies to body[to] and following, and set the links of their leaves; cells: number
 * of the first cell imported from the domain. */
kernel void import_bodies(global const real *bodies, uint count, uint to, uint cells,
                          global real4 *body, global int2 *link)
{
    global const real *from = bodies + get_global_id(0) * PACKED_BODY;
    if (get_global_id(0) >= count)
        return;
    const uint packed = REAL_TO_UINT(from[4]), leaf = imported_cell(packed, cells);
    body[to + get_global_id(0)] = vload4(0, from);
    if (packed != NONE && link[leaf].x == LINK_UNSET)
        link[leaf].x = to + get_global_id(0);
}

/* True if the root cell is nearly the same as in the previous sum: mass, squared width and centre
 * of mass differ by less than a thousandth. */
static inline bool root_is_similar(real4 was, real4 is, real was_square, real is_square)
{
    const real least = C(1e-3), width2 = is_square / is.w, was_width2 = was_square / was.w;
    const real4 d = is - was;
    const real off2 = d.x * d.x + d.y * d.y + d.z * d.z;
    return fabs(d.w) <= least * is.w && fabs(width2 - was_width2) <= least * width2 &&
           off2 <= least * least * width2;
}

/* Number of children of a domain's shared node in the domains after it, which are the first cells
 * of the next level there, up to the children of these domains' own cells. */
static inline uint shared_children_after(global const real *toptree, uint level, uint domain,
                                         uint domains, global const uint *top_begin)
{
    uint some = 0;
    while (++domain < domains) {
        global const uint *at = top_begin + level * domains + domain;
        if (at[0] < at[1])
            return some + ((global const uint *)(toptree + ((domain * LEVEL_COUNT + level + 1) *
                                                                (size_t)TOP_CELLS -
                                                            1) *
                                                               PACKED_CELL))[1];
        some += at[domains + 1] - at[domains];
    }
    return some;
}

/* Compute the moments of all domains' shared nodes on `levels` levels, from the deepest up; all
 * their other children have moments. One work-group. counts[stale]: set if let_export walked
 * with another root cell. */
kernel GROUP_OF_ITEMS void shared_node_moments(global const real4 *body, global const real4 *cube,
                                               uint levels, uint geometric, real com_margin,
                                               global const real *toptree, uint domains,
                                               global const uint *top_begin, global int2 *link,
                                               global real4 *com, global multipole *multipoles,
                                               global real2 *size, global uint *counts, uint stale)
{
    const real4 was = com[0];
    const real was_square = cell_second_trace(&multipoles[0]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint level = levels; level-- > 0;) {
        for (uint domain = get_local_id(0); domain < domains; domain += GROUP_1D) {
            global const real *shared =
                toptree +
                ((domain * LEVEL_COUNT + level + 1) * (size_t)TOP_CELLS - 1) * PACKED_CELL;
            const uint own = *(global const uint *)shared, at = level * domains + domain + 1,
                       k = top_begin[at] - 1;
            if (own == NONE)
                continue;
            const uint behind = top_begin[at + domains], child = behind - own;
            link[k] = (int2)(child, 0);
            cell_moments(k,
                         behind + shared_children_after(toptree, level, domain, domains, top_begin),
                         body, shared + PACKED_HEAD, *cube, level, geometric, com_margin, link, com,
                         multipoles, size);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (get_local_id(0) == 0)
        counts[stale] = !geometric && !root_is_similar(was, com[0], was_square,
                                                       cell_second_trace(&multipoles[0]));
}

/* ---- Return of forces. ----------------------------------------------------------------------- */

/* Store a force {a, |a|} of a row in planes of `rows` numbers and in a_old[]; or a potential,
 * a.x. */
static inline void store_sum(real4 a, size_t row, uint rows, uint potentials, global real *plane,
                             global real *a_old)
{
    plane[row] = a.x;
    if (potentials)
        return;
    a_old[row] = a.w;
    plane[rows + row] = a.y;
    plane[2 * (size_t)rows + row] = a.z;
}

/* forces_sorted[begin + k] is the sum of row order[k]: store it if the row is this device's,
 * otherwise in its slot of received[], in place of the body. Resets the deferred groups and the
 * schedule. */
kernel void return_forces(global const real4 *forces_sorted, uint n, global const uint *order,
                          uint begin, uint rows, uint potentials, global real *plane,
                          global real *a_old, global real8 *received, global uint *deferred,
                          global const int *bad)
{
    const size_t k = get_global_id(0);
    if (k == 0)
        deferred[0] = deferred[1] = deferred[2] = 0;
    if (k >= n || (*bad < 0 && !potentials))
        return;
    const uint row = order[k];
    if (row & MOVED)
        received[row & ~MOVED].lo = forces_sorted[begin + k];
    else
        store_sum(forces_sorted[begin + k], row, rows, potentials, plane, a_old);
}

/* Pack the sums of `count` migrated bodies, from slot `first` on. */
kernel void return_pack(global const real8 *received, uint first, uint count, global real4 *sums)
{
    if (get_global_id(0) < count)
        sums[get_global_id(0)] = received[first + get_global_id(0)].lo;
}

/* Store the sums that returned of `count` rows, as migrate_pack sent them. */
kernel void receive_forces(global const real4 *sums, uint count, global const real8 *sent,
                           uint rows, uint potentials, global real *plane, global real *a_old,
                           global const int *bad)
{
    const size_t k = get_global_id(0);
    if (k < count && (*bad >= 0 || potentials))
        store_sum(sums[k], REAL_TO_UINT(sent[k].s5), rows, potentials, plane, a_old);
}

/* ---- Boundaries. ----------------------------------------------------------------------------- */

/* Compute the keys of the bodies at new boundaries; which[k]: NONE for a boundary elsewhere. */
kernel GROUP_OF_ITEMS void boundary_keys(global const real4 *body, uint begin,
                                         global const real4 *cube, global const uint *which, uint n,
                                         global ulong *key)
{
    local struct curve c;
    const uint k = get_global_id(0);
    curve_load(&c);
    if (k < n && which[k] != NONE)
        key[k] = curve_key(&c, body[begin + which[k]], *cube, 0);
}
