/* planes.cl - rules of the family Generations: a live cell that does not survive dies in several
 * steps, during which it counts as dead.
 *
 * Bit planes: plane 0 has the live cells (state 1). Planes 1 ... PLANES - 1 have the bits of a
 * counter, which is state - 1 for dying cells (state 2 or more) and 0 for all others. A plane is
 * an array of rows of `words` words of 64 cells; planes are contiguous.
 *
 *      plane 0   row 0: word 0, word 1, ...     A work-item computes one word of all planes.
 *                row 1: ...                     It reads nine words of plane 0, across the edges
 *      plane 1   row 0: ...                     of a torus, and its own word of planes 1 and up.
 *
 * SPDX-License-Identifier: MIT
 */

#ifndef PLANES
#define PLANES 2
#endif
#ifndef LAST
#define LAST 1 /* counter of the last step: the last state less one */
#endif
#if !defined(RULE) &&                                                                              \
    !defined(BLOCK_RULE) /* for live and dead cells, as in tile.cl; here Brian's Brain, /2/3 */
#define RULE(next, b, k, p, q, cell)                                                               \
    LOGIC(v5, b, k, p, 0x06);                                                                      \
    LOGIC(next, v5, q, cell, 0x10)
#endif

#ifndef LIFE_TERNARY_H
#include "ternary.h"
#endif
#ifndef LIFE_MIX_H
#include "mix.h"
#endif
#define WORD ulong

/* A word of a row, and its cells' neighbours to the left and right. */
struct row {
    ulong left, cell, right;
};

static struct row planes_row(__global const ulong *cells, const long x, long y, const long words,
                             const long width, const long height, const int torus)
{
    struct row r = {0, 0, 0};
    const int in_last = (int)((width - 1) % 64); /* bit of a row's last cell in its word */
    if (y < 0 || y >= height) {
        if (!torus)
            return r;
        y = y < 0 ? height - 1 : 0;
    }
    __global const ulong *row = cells + y * words;
    const ulong before = x > 0 ? row[x - 1] >> 63 : torus ? row[words - 1] >> in_last & 1 : 0;
    const ulong after = x + 1 < words ? row[x + 1] << 63 : torus ? (row[0] & 1) << in_last : 0;
    r.cell = row[x];
    r.left = r.cell << 1 | before;
    r.right = r.cell >> 1 | after;
    return r;
}

/* Next states of a word by the rule, before dying cells are masked. */
static ulong ruled(const struct row a, const struct row h, const struct row c)
{
#ifdef BLOCK_RULE
    BLOCK_RULE(next, a.left, a.cell, a.right, h.left, h.cell, h.right, c.left, c.cell, c.right);
#else
    LOGIC(s0, a.left, a.cell, a.right, 0x96);
    LOGIC(m0, a.left, a.cell, a.right, 0xe8);
    LOGIC(s1, h.left, h.cell, h.right, 0x96);
    LOGIC(m1, h.left, h.cell, h.right, 0xe8);
    LOGIC(s2, c.left, c.cell, c.right, 0x96);
    LOGIC(m2, c.left, c.cell, c.right, 0xe8);
    NEXT_STATE(next, s0, m0, s1, m1, s2, m2, h.cell);
#endif
    return next;
}

__kernel void life_planes(__global const ulong *from, __global ulong *to, const ulong words,
                          const ulong width, const ulong height, const int torus)
{
    const ulong x = get_global_id(0), y = get_global_id(1), plane = words * height,
                at = y * words + x;
    if (x >= words || y >= height)
        return;
    const struct row a =
        planes_row(from, (long)x, (long)y - 1, (long)words, (long)width, (long)height, torus);
    const struct row h =
        planes_row(from, (long)x, (long)y, (long)words, (long)width, (long)height, torus);
    const struct row c =
        planes_row(from, (long)x, (long)y + 1, (long)words, (long)width, (long)height, torus);
    const ulong cells = x + 1 < words || width % 64 == 0 ? ~0ul : (1ul << width % 64) - 1;
    ulong step[PLANES], dying = 0, last = ~0ul;
    for (int i = 1; i < PLANES; i++) {
        step[i] = from[i * plane + at];
        dying |= step[i];
        last &= LAST >> (i - 1) & 1 ? step[i] : ~step[i];
    }
    const ulong next = ruled(a, h, c) & ~dying & cells;
    ulong carry = dying & ~last;
    const ulong begin = h.cell & ~next;
    for (int i = 1; i < PLANES; i++) {
        const ulong sum = step[i] ^ carry;
        carry &= step[i];
        to[i * plane + at] = (sum & ~last) | (i == 1 ? begin : 0);
    }
    to[at] = next;
}

/* sums[slot + item] = (population, hash) of every get_global_size(0)-th word; a cell counts if its
 * state is not 0. */
__kernel void life_count_planes(__global const ulong *planes, const ulong n, __global ulong2 *sums,
                                const ulong slot)
{
    ulong2 mine = (ulong2)(0, 0);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        ulong any = 0;
        for (int k = 0; k < PLANES; k++) {
            const ulong w = planes[k * n + i];
            any |= w;
            mine.y += w ? mix64(w + (k * n + i + 1) * 0x9e3779b97f4a7c15ul) : 0;
        }
        mine.x += popcount(any);
    }
    sums[slot + get_global_id(0)] = mine;
}
