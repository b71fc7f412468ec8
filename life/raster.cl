/* raster.cl - the pixels of a picture: the cells of a rectangle, or the number of live cells in
 * each of its squares.
 *
 *   words    a partition of the grid: rows of `stride` words, its own from row `above` on, which
 *            are rows first ... first + rows - 1 of the grid of width x height cells. Rows of other
 *            partitions are skipped.
 *   (x, y)   the rectangle's top left cell; on a torus the rectangle may cross the edge
 * SPDX-License-Identifier: MIT
 */

/* n bits of a row from cell c on, across the edge; 1 <= n <= 64. */
static inline ulong bits_from(global const ulong *row, uint width, uint c, uint n)
{
    ulong bits = 0;
    for (uint got = 0, k; got < n; got += k) {
        k = min(min(64 - c % 64, width - c), n - got);
        bits |= (row[c / 64] >> c % 64 & (~0ul >> (64 - k))) << got;
        c = c + k == width ? 0 : c + k;
    }
    return bits;
}

static inline global const ulong *raster_row(global const ulong *words, uint stride, uint above,
                                             uint first, uint rows, uint row)
{
    return row < first || row - first >= rows ? 0 : words + (ulong)stride * (above + row - first);
}

/* out[line * length + i] = bits 64 i ... 64 i + 63 of a line of the rectangle, which is `across`
 * cells wide. A work-item is one of `length` words. */
kernel void life_window(global const ulong *words, uint stride, uint above, uint first, uint rows,
                        uint width, uint height, uint x, uint y, uint across, uint length,
                        global ulong *out)
{
    const uint i = (uint)get_global_id(0), line = (uint)get_global_id(1);
    if (i >= length)
        return;
    global const ulong *row =
        raster_row(words, stride, above, first, rows, (uint)(((ulong)y + line) % height));
    if (row)
        out[(ulong)line * length + i] =
            bits_from(row, width, (uint)((x + 64ul * i) % width), min(64u, across - 64 * i));
}

/* count[square] += live cells in lines part, part + parts, ... of a square of 2^zoom cells a side,
 * within the rectangle of across x down cells. A work-item has one such part. */
kernel void life_squares(global const ulong *words, uint stride, uint above, uint first, uint rows,
                         uint width, uint height, uint x, uint y, uint across, uint down, uint zoom,
                         uint length, global uint *count)
{
    const uint i = (uint)get_global_id(0), j = (uint)get_global_id(1),
               parts = (uint)get_global_size(2);
    if (i >= length)
        return;
    const uint columns = min(1u << zoom, across - (i << zoom)),
               lines = min(1u << zoom, down - (j << zoom));
    uint sum = 0;
    for (uint line = (uint)get_global_id(2); line < lines; line += parts) {
        global const ulong *row = raster_row(words, stride, above, first, rows,
                                             (uint)(((ulong)y + (j << zoom) + line) % height));
        uint c = (uint)(((ulong)x + (i << zoom)) % width);
        for (uint done = 0, n; row && done < columns; done += n) {
            n = min(min(64 - c % 64, width - c), columns - done); /* to the end of a word */
            sum += (uint)popcount(row[c / 64] >> c % 64 & (~0ul >> (64 - n)));
            c = c + n == width ? 0 : c + n;
        }
    }
    if (sum)
        atomic_add(count + j * length + i, sum);
}
