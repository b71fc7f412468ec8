/* shape.h - how the packed kernels are launched on a device: a row of data (shape.c, tuning/).
 *
 * Every number that shapes a launch is here, and nowhere else. The row for a device comes from the
 * layer's tuning store ("life.rows" or "life.tile", size = cells of the grid); a caller may change
 * single numbers by words KEY=NUMBER. What is 0 in the end is chosen by shape.c for the device.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SHAPE_H
#define LIFE_SHAPE_H

#include "life/internal.h"

/* X(key, meaning) */
#define LIFE_SHAPE_KEYS(X)                                                                  \
    X(tile, "1: tile.cl (GPUs); 0: rows.cl (CPUs)")                                         \
    X(generations, "generations a launch (rows.cl: a pass over the grid), at most")          \
    X(exchange, "several devices: launches between two exchanges of rows, at most")          \
    X(ternary, "three-input logic instructions: vpternlog, lop3")                           \
    X(block, "rows.cl: rows a level of the pipeline takes at a time")                       \
    X(lanes, "rows.cl: words of 64 cells in a vector")                                      \
    X(funnel, "rows.cl: vpshld, where the CPU has it")                                      \
    X(span, "rows.cl: most words of 64 cells in a tile's row")                              \
    X(bands, "rows.cl: bands of rows per compute unit")                                     \
    X(words, "tile.cl: words of 32 cells across, per item")                                 \
    X(rows, "tile.cl: rows per item")                                                       \
    X(warps, "tile.cl: lines of 32 items in a group")                                       \
    X(shuffle, "tile.cl: neighbours by shfl.sync")                                          \
    X(multiply, "tile.cl: shifts by multiply-add, 1 left, 2 both")                          \
    X(group, "count.cl: items in a group")                                                  \
    X(groups, "count.cl: groups per compute unit")

struct life_shape {
#define LIFE_SHAPE_MEMBER(key, meaning) int key;
    LIFE_SHAPE_KEYS(LIFE_SHAPE_MEMBER)
#undef LIFE_SHAPE_MEMBER
};

/* Fills *shape for device `dev`, described by `info`, and a grid; `words` (may be NULL) come from the caller.
 * EINVAL: an unknown key, a number out of range, numbers that do not go together or beyond the device.
 * `source`, where its numbers come from, gets a sentence. */
enum { LIFE_SHAPE_TEXT = 400 };
int life_shape_choose(struct life_shape *shape, const life *lf, unsigned dev, const struct cldev_info *info,
                      const char *words, char source[LIFE_SHAPE_TEXT]);

/* "key=1 key=2 ..." with the keys that its kernel has. */
void life_shape_print(const struct life_shape *shape, char text[LIFE_SHAPE_TEXT]);

/* The -D options of its kernel, without the rule's. */
void life_shape_options(const struct life_shape *shape, const life *lf, char *text, size_t size);

/* Words of 64 cells in a row of rows.cl's local memory for a tile of `words`; bytes of local memory of
 * a launch with that stride. */
int life_rows_stride(const struct life_shape *shape, size_t words);
size_t life_rows_local(const struct life_shape *shape, int stride, int generations);

#endif
