/* shape.h - launch shape of the packed kernels on a device: a row of data (shape.c, tuning/).
 *
 * Every number of a launch is here, and nowhere else. The row for a device comes from the layer's
 * tuning store ("life.rows" or "life.tile", size = cells of the grid); a caller may override
 * single numbers by KEY=NUMBER. shape.c chooses numbers that are still 0.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SHAPE_H
#define LIFE_SHAPE_H

#include "stdcl/life.h"

#include <stdbool.h>

/* X(key, kinds, least, greatest, default, meaning); kinds: which of the two kernels have the key.
 * The defaults work anywhere. */
enum { LIFE_ROWS = 1, LIFE_TILE = 2, LIFE_BOTH = LIFE_ROWS | LIFE_TILE };
#define LIFE_SHAPE_KEYS(X)                                                                         \
    X(tile, LIFE_BOTH, 0, 1, 0, "1: tile.cl (GPUs); 0: rows.cl (CPUs)")                            \
    X(generations, LIFE_BOTH, 1, 1 << 20, 8,                                                       \
      "max. generations a launch (rows.cl: a pass over the grid)")                                 \
    X(passes, LIFE_ROWS, 1, 1000, 1,                                                               \
      "max. passes a launch; more than 1 only on CPUs that order memory")                          \
    X(exchange, LIFE_BOTH, 1, 1 << 20, 4,                                                          \
      "several devices: max. launches between two exchanges of rows")                              \
    X(across, LIFE_BOTH, 0, 1 << 20, 0,                                                            \
      "several ranks: blocks side by side; 0: the cheapest number")                                \
    X(block, LIFE_ROWS, 3, 64, 8, "rows that a level of the pipeline takes at a time")             \
    X(lanes, LIFE_ROWS, 2, 8, 2, "words of 64 cells in a vector: 2, 4 or 8")                       \
    X(words, LIFE_TILE, 1, 8, 1, "words of 32 cells across, per item")                             \
    X(rows, LIFE_TILE, 2, 128, 4, "rows per item")                                                 \
    X(warps, LIFE_TILE, 1, 1 << 20, 8, "warps of 32 items in a group")                             \
    X(items, LIFE_TILE, 4, 32, 32, "items of a row of a tile: 32, 16, 8 or 4")                     \
    X(persistent, LIFE_TILE, 0, 1, 0,                                                              \
      "1: persistent.cl keeps small tori in registers, if all groups run at once")                 \
    X(persistent_words, LIFE_TILE, 0, 9, 0,                                                        \
      "persistent.cl: words across a tile, 3, 5 or 9; 0: the cheapest")                            \
    X(persistent_rows, LIFE_TILE, 0, 32, 0, "persistent.cl: rows per item; 0: the cheapest")       \
    X(persistent_warps, LIFE_TILE, 0, 32, 0, "persistent.cl: max. tiles in a group; 0: 4")         \
    X(shuffle, LIFE_TILE, 0, 1, 0, "1: neighbours by shfl.sync")                                   \
    X(ternary, LIFE_BOTH, 0, 1, 0, "1: three-input logic instructions, vpternlog or lop3")         \
    X(multiply, LIFE_TILE, 0, 2, 0, "shifts by multiply-add: 1 left, 2 both")                      \
    X(funnel, LIFE_ROWS, 0, 1, 0, "1: vpshld, where the CPU has it")                               \
    X(span, LIFE_ROWS, 3, 1 << 20, 128, "max. words of 64 cells in a tile's row")                  \
    X(bands, LIFE_ROWS, 1, 1 << 20, 1, "bands of rows per compute unit")                           \
    X(group, LIFE_BOTH, 1, 1 << 20, 64, "count.cl: items in a group; 1 on CPUs")                   \
    X(groups, LIFE_BOTH, 1, 1 << 20, 4, "count.cl: groups per compute unit")

struct life_shape {
#define X(key, kinds, least, most, value, meaning) int key;
    LIFE_SHAPE_KEYS(X)
#undef X
};

/* Choose *shape for device `dev`, described by `info`, and a grid; *row receives the source of its
 * numbers. `words` are the caller's, or NULL. EINVAL: an unknown key, a number out of range, or a
 * combination that is invalid or exceeds the device. */
int life_shape_choose(struct life_shape *shape, const life *lf, unsigned dev,
                      const struct cldev_info *info, const char *words, struct cltune_row *row);

/* Write "key=1 key=2 ..." with the keys of its kernel. */
void life_shape_print(const struct life_shape *shape, char *text, size_t size);

/* Write the line of options of its kernel, including the newline. */
void life_shape_options(const struct life_shape *shape, const life *lf, char *text, size_t size);

/* True if concurrent work-groups of a launch on this device can exchange cells. */
bool life_orders_memory(cl_device_id id, const struct cldev_info *info);

/* Rows of a tile of tile.cl. */
int life_tile_rows(const struct life_shape *shape);

/* Words of 64 cells in a row of rows.cl's local memory for a tile of `words` words; bytes of local
 * memory of a launch with that stride. */
int life_rows_stride(const struct life_shape *shape, size_t words);
size_t life_rows_local(const struct life_shape *shape, int stride, int generations);

#endif
