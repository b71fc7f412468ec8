/* shape.h - launch shapes: the tuning keys, their meaning, and the choice of a shape for a product.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_SHAPE_H
#define STDCL_MATMUL_SHAPE_H

#include <stdbool.h>

#include "stdcl/matmul.h"

struct matmul_device;

/* The kernels that compute a product: the key `path`. */
enum matmul_path {
    PATH_TILES = 1,  /* GPUs: tiles of C from slices in local memory */
    PATH_PANELS = 2, /* CPUs: SIMD vectors and packed panels in caches */
    PATH_SKINNY = 3  /* GPUs: a matrix, read once, times a few vectors */
};
enum {
    OF_TILES = 1 << PATH_TILES,
    OF_PANELS = 1 << PATH_PANELS,
    OF_SKINNY = 1 << PATH_SKINNY,
    OF_ALL = OF_TILES | OF_PANELS | OF_SKINNY
};
enum {
    SKINNY_VECTORS_MAX = 16, /* vectors of one launch of skinny.cl */
    SKINNY_ENTRIES = 5,      /* tuning entries for 1, 2, 4, 8 and 16 vectors */
    ENTRIES_MAX = 16,        /* tuning entries for tiles on one device */
    TILES_SIDE_MAX = 1 << 21 /* rows and columns of C in one launch of tiles */
};

/* The tuning keys: X(key, paths, min, max, default, meaning). Each key is a -D option of the
 * kernels, a launch parameter of the host and a word of the shape's label. The defaults are for
 * devices without tuning entries and are small enough for any device. */
#define MATMUL_SHAPE_KEYS(X)                                                                       \
    X(path, OF_ALL, 1, 3, 0, "1: tiles; 2: panels; 3: skinny (a matrix times a few vectors)")      \
    X(bm, OF_TILES, 1, 256, 32, "rows of C of a work-group's tile")                                \
    X(bn, OF_TILES, 1, 256, 32, "columns of C of a work-group's tile")                             \
    X(bk, OF_TILES, 1, 64, 8, "depth of a slice in local memory, a multiple of 8")                 \
    X(wm, OF_TILES, 1, 256, 32, "rows of C of a warp, 32 work-items")                              \
    X(wn, OF_TILES, 1, 256, 16, "columns of C of a warp")                                          \
    X(k_groups, OF_TILES, 1, 4, 1,                                                                 \
      "1, 2 or 4: sets of warps that each multiply a part of every slice (sliced K)")              \
    X(k_lanes, OF_TILES, 2, 8, 8,                                                                  \
      "2, 4 or 8: minimum of neighbouring work-items that copy k of one row; mma=0")               \
    X(order, OF_TILES, 0, 2, 0,                                                                    \
      "order of multiply-adds: 0: by rows; 1: four rows at a time, by columns; 2: eight columns "  \
      "at a time; mma=0")                                                                          \
    X(copy_first, OF_TILES, 0, 1, 0,                                                               \
      "1: with prefetch=1, start copies before the registers are filled from the next slice; "     \
      "mma=0")                                                                                     \
    X(stages, OF_TILES, 2, 8, 2, "slices in local memory")                                         \
    X(prefetch, OF_TILES, 0, 1, 0, "1: double-buffer registers: fill the next step's in advance")  \
    X(lane_layout, OF_TILES, 0, 2, 0, "layout of 32 work-items over rows and columns: 0, 1 or 2")  \
    X(swizzle, OF_TILES, 1, 1 << 20, 8, "rows of tiles in a band that is walked by columns")       \
    X(mma, OF_TILES, 0, 1, 0,                                                                      \
      "1: tensor cores, by PTX; double on NVIDIA from compute capability 9")                       \
    X(async, OF_TILES, 0, 1, 0, "1: cp.async, by PTX; NVIDIA from compute capability 8")           \
    X(pack, OF_TILES, 0, 1 << 20, 256,                                                             \
      "pack operands without 16-byte alignment if the other operand has at least `pack` rows; "    \
      "0: never")                                                                                  \
    X(groups_per_unit, OF_TILES, 1, 1 << 20, 8,                                                    \
      "work-groups resident on a compute unit (occupancy); K is split to reach it")                \
    X(split_k_min, OF_TILES | OF_SKINNY, 0, 1 << 20, 0,                                            \
      "minimum depth of a split-K part; 0: K is never split. OpenCL 1.2 orders no memory "         \
      "between work-groups")                                                                       \
    X(peak_percent, OF_TILES, 0, 100, 0,                                                           \
      "percent of peak that a compute unit reaches with `groups_per_unit` groups; 0: unknown")     \
    X(peak_percent_one, OF_TILES, 1, 100, 100,                                                     \
      "percent of peak with one group; entries with a known peak_percent compete by predicted "    \
      "time")                                                                                      \
    X(unaligned_percent, OF_TILES, 1, 100, 100,                                                    \
      "percent of that speed where rows of A or B are unaligned and not packed")                   \
    X(width, OF_PANELS, 2, 16, 4, "elements of a SIMD vector")                                     \
    X(rows, OF_PANELS, 1, 32, 6, "maximum of rows of C in a work-item's registers")                \
    X(vectors, OF_PANELS, 1, 8, 2, "SIMD vectors of a row in registers")                           \
    X(depth, OF_PANELS, 1, 1 << 20, 256, "depth of a block, a multiple of width")                  \
    X(block_tiles, OF_PANELS, 1, 1 << 20, 16,                                                      \
      "maximum of micro tiles, of `rows` rows each, in a block of A in the second-level cache")    \
    X(unroll, OF_PANELS, 1, 64, 1, "unrolled steps of the inner loop")                             \
    X(vectors_max, OF_SKINNY, 0, SKINNY_VECTORS_MAX, 8,                                            \
      "maximum of rows or columns of C for this path; 0: never")                                   \
    X(items, OF_SKINNY, 32, 1024, 256, "work-items of a group, a power of two")                    \
    X(line_bytes, OF_SKINNY, 16, 4096, 128,                                                        \
      "bytes of a row that neighbouring items read together along K, a power of two")              \
    X(rows_per_item, OF_SKINNY, 1, 8, 2, "rows that an item sums where K is contiguous")           \
    X(items_across, OF_SKINNY, 1, 256, 32,                                                         \
      "items side by side where K is not contiguous, a power of two")                              \
    X(steps, OF_SKINNY, 1, 16, 4, "loads in flight of an item, for each row")                      \
    X(groups, OF_SKINNY, 1, 1 << 20, 512, "wanted work-groups; K is split to reach them")          \
    X(fma_per_byte, OF_SKINNY, 1, 1000, 9,                                                         \
      "multiply-adds that the device can do in the time of reading a byte of memory")

struct matmul_shape {
#define X(key, paths, least, most, value, text) int key;
    MATMUL_SHAPE_KEYS(X)
#undef X
};

/* A tuning entry that competes with others by predicted time. */
struct matmul_entry {
    size_t size;
    struct matmul_shape shape;
    char words[512]; /* the shape as text */
};

/* Alignment of the rows of A and B. ALIGN_16 is double precision only: rows of both operands start
 * at multiples of 16 bytes but not of 32. */
enum alignment { ALIGN_32, ALIGN_16, UNALIGNED };

/* What the plan for a product depends on. */
struct problem_size {
    size_t m, n, k, real; /* real: bytes of an element */
    enum alignment alignment;
    bool can_split; /* several groups may share a tile (split-K) */
};

/* Choose the shape of TUNED for a product on a device and store it in the device, with its label
 * and source. Return -1 if the caller's words fit no entry. */
int matmul_shape_choose(struct matmul *mm, struct matmul_device *p, size_t m, size_t n, size_t k,
                        enum alignment alignment);

/* Choose the shape for a batch of products of that size. */
int matmul_shape_choose_batch(struct matmul *mm, struct matmul_device *p, size_t m, size_t n,
                              size_t k);

/* Return the tuning entry of skinny.cl for `vectors` vectors, at most SKINNY_VECTORS_MAX. */
const struct matmul_entry *matmul_shape_skinny(struct matmul *mm, struct matmul_device *p,
                                               size_t vectors);

/* Return the number of compute units of a device, at least 1. */
size_t matmul_compute_units(const struct matmul_device *p);

#endif
