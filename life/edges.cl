/* edges.cl - grids on topologies other than the torus: cells beyond an edge are copies, made
 * before they are read.
 *
 *   topology   enum life_topology of grid.h
 *   shift      cells by which the edge is shifted
 *
 * For the engine packed, a grid of width x height cells, a bit each, lies in a plane with `margin`
 * more cells on each side, in rows of `words` words of 64 cells. Before each `margin` generations
 * the margin is filled with copies of the cells it stands for:
 *
 *             0          margin            margin + width
 *           0 +------------------------------------+
 *             |            margin                  |
 *      margin |       +-----------------+          |
 *             |       | width x height  |          |
 *             |       +-----------------+          |
 *             |                                    |
 *             +------------------------------------+
 *
 * A work-item has a word that is at least partly in the margin: first all words of the rows above,
 * then those of the rows below, then those to the left and right of each row in between. One
 * kernel collects the copies and a second one stores them, so that no item writes a word that
 * another item reads.
 *
 * For the engines global and local, an int a cell, the margin is the border of ghosts (global.cl).
 * SPDX-License-Identifier: MIT
 */

#ifndef LIFE_TOPOLOGY_H
#include "topology.h"
#endif

/* Index of the plane's word that an item has. Rows in between have `left` words at the left, and
 * those from `right` on. */
static long word_of(long item, const long words, const long margin, const long height,
                    const long left, const long right)
{
    const long over = margin * words, each = left + words - right;
    if (item < over)
        return item;
    item -= over;
    if (item < over)
        return (margin + height) * words + item;
    item -= over;
    const long i = item % each;
    return (margin + item / each) * words + (i < left ? i : right + i - left);
}

/* The bits of a word that are in the margin. */
static ulong margin_mask(const long word, const long words, const long margin, const long width,
                         const long height)
{
    const long y = word / words, x = word % words * 64, all = width + 2 * margin;
    ulong mask = 0;
    for (long i = 0; i < 64 && x + i < all; i++)
        if (y < margin || y >= margin + height || x + i < margin || x + i >= margin + width)
            mask |= 1ul << i;
    return mask;
}

__kernel void life_margin_read(__global const ulong *plane, __global ulong *copies,
                               const ulong items, const ulong words, const ulong margin,
                               const ulong width, const ulong height, const ulong left,
                               const ulong right, const int topology, const long shift)
{
    const long item = (long)get_global_id(0);
    if ((ulong)item >= items)
        return;
    const long word =
        word_of(item, (long)words, (long)margin, (long)height, (long)left, (long)right);
    const ulong mask = margin_mask(word, (long)words, (long)margin, (long)width, (long)height);
    ulong out = 0;
    for (int i = 0; i < 64; i++) {
        long x = word % (long)words * 64 + i - (long)margin, y = word / (long)words - (long)margin;
        if (!(mask >> i & 1))
            continue;
        topology_cell(topology, shift, (long)width, (long)height, &x, &y);
        const ulong from = (ulong)(x + (long)margin);
        out |= (plane[(ulong)(y + (long)margin) * words + from / 64] >> from % 64 & 1) << i;
    }
    copies[item] = out;
}

/* With `dead`, clear the margin instead. */
__kernel void life_margin_write(__global ulong *plane, __global const ulong *copies,
                                const ulong items, const ulong words, const ulong margin,
                                const ulong width, const ulong height, const ulong left,
                                const ulong right, const int dead)
{
    const long item = (long)get_global_id(0);
    if ((ulong)item >= items)
        return;
    const long word =
        word_of(item, (long)words, (long)margin, (long)height, (long)left, (long)right);
    const ulong mask = margin_mask(word, (long)words, (long)margin, (long)width, (long)height);
    plane[word] = (plane[word] & ~mask) | (dead ? 0 : copies[item]);
}

/* A work-item has one ghost: the rows above and below with the corners, then the columns. */
__kernel void life_ghosts_topology(__global int *grid, const int width, const int height,
                                   const int topology, const long shift)
{
    const long i = (long)get_global_id(0), pitch = width + 2, column = i - 2 * pitch;
    if (column >= 2 * (long)height)
        return;
    const long gx = i < 2 * pitch ? i % pitch - 1
                    : column % 2  ? width
                                  : -1,
               gy = i < pitch       ? -1
                    : i < 2 * pitch ? height
                                    : column / 2;
    long x = gx, y = gy;
    topology_cell(topology, shift, width, height, &x, &y);
    grid[(gy + 1) * pitch + gx + 1] = grid[(y + 1) * pitch + x + 1];
}
