/* stdcl/sparse.h - sparse Life on an unbounded plane, on an OpenCL device: only active tiles are
 * computed.
 *
 *   life_sparse *s = life_sparse_create(&(struct life_sparse_options){.rule = "B3/S23"});
 *   life_sparse_put(s, -3, -1, &cells);              a pattern, top left corner at (-3, -1)
 *   life_sparse_step(s, 100000);
 *   life_sparse_population(s, &alive);               counted on the device
 *   life_sparse_free(s);
 *
 * The plane consists of tiles of 48 x 48 cells, allocated where cells live and next to them. A tile
 * sleeps while nothing in it or near it changes, except with period 2, 4 or 8. This engine suits
 * long-lived patterns that are neither dense nor regular: methuselahs, collisions, wide ash with
 * gliders. Use the engines of stdcl/life.h for dense patterns, and stdcl/hashlife.h for patterns
 * that repeat in space or time.
 *
 * Cell (x, y) is column x, to the right, of row y, downwards; both may be negative, up to 48 (2^31
 * - 16) from 0. int functions return 0, or -1 with clerrno set and a message in clerror(); pointer
 * functions return NULL likewise. One plane is used by one thread at a time. Cells are equal on
 * every device and equal to the other engines' cells. A NULL handle gives EINVAL, and the function
 * returns -1, NULL, 0 or "". NULL may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_SPARSE_H
#define STDCL_SPARSE_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct life_sparse life_sparse;

/* Options of life_sparse_create. Zero means the default. */
struct life_sparse_options {
    /* The first device of the context is used. NULL: stdgpu, else stdcpu. Not owned; must outlive
     * the plane. */
    CLCONTEXT *ctx;
    /* As for life_rule_normal; NULL = "B3/S23". EINVAL: rules with B0, with more than two states,
     * or Larger than Life. */
    const char *rule;
    /* Limit of the tiles' memory in bytes, at least 1 MiB; 0: half of the machine's memory, or of
     * the device's if that is less. While the tile array grows, up to 1.5 times the limit is in
     * use. */
    size_t memory;
    /* Progress callback of life_sparse_step, in the calling thread, with the fraction done, 0 to 1.
     * A nonzero return value cancels the call soon, with ECANCELED. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Check whether the engine supports a rule: 0, or -1 with EINVAL and a message that says why
 * not. */
int life_sparse_has_rule(const char *rule);

/* Create an empty plane at generation 0; the caller frees it with life_sparse_free (NULL is
 * allowed). EINVAL: an invalid rule or option; ENODEV: no device; ENOMEM; ENOEXEC: a kernel does
 * not build (with the log). */
life_sparse *life_sparse_create(const struct life_sparse_options *options);
void life_sparse_free(life_sparse *s);

/* Add the live cells of a rectangle to the plane, its top left corner at (x, y). ENOMEM: the memory
 * limit is exceeded. ERANGE: the rectangle reaches beyond the farthest cells. */
int life_sparse_put(life_sparse *s, long long x, long long y, const struct life_cells *cells);

/* Copy a rectangle of the plane into cells->word; the caller sets width, height and stride. Cells
 * beyond the farthest are dead. */
int life_sparse_get(life_sparse *s, long long x, long long y, struct life_cells *cells);

/* Count the live cells in squares of 2^zoom x 2^zoom cells, zoom 0 to 24: live[j * width + i]
 * for width x height squares, the first with its top left corner at (x, y). EINVAL: zoom out of
 * range. */
int life_sparse_density(life_sparse *s, long long x, long long y, size_t width, size_t height,
                        unsigned zoom, uint64_t *live);

/* Copy a rectangle at reduced resolution: a bit stands for a square of 2^zoom cells a side, zoom 0
 * to 60, and is 1 if any cell in the square is alive; x and y count such squares. */
int life_sparse_get_zoomed(life_sparse *s, unsigned zoom, long long x, long long y,
                           struct life_cells *cells);

/* Advance by `generations` and block until done. Eight generations take as long as one: use
 * multiples of 8. After an error the plane is correct at the generation that life_sparse_generation
 * returns, and the run may continue. ECANCELED: `progress` cancelled. ENOMEM: the memory limit is
 * exceeded; the message gives the memory in use. ERANGE: a cell reached the farthest position, or
 * the generation would exceed 2^64 - 1. */
int life_sparse_step(life_sparse *s, uint64_t generations);

/* Count the live cells on the device. */
int life_sparse_population(life_sparse *s, uint64_t *population);

/* Find the bounding box of the live cells, right and bottom excluded. Return 1, or 0 if no cell is
 * alive; -1 on an error. */
struct life_sparse_box {
    long long left, top, right, bottom;
};
int life_sparse_bounding_box(life_sparse *s, struct life_sparse_box *box);

/* Call `tile` for each tile with live cells, in any order, with its top left corner and 48 rows;
 * bit c of a row is cell (x + c, y + row). A nonzero return value ends the walk, which then returns
 * -1 and leaves clerror as the callback set it. */
int life_sparse_walk(life_sparse *s,
                     int (*tile)(void *arg, long long x, long long y, const uint64_t row[48]),
                     void *arg);

/* Return the generations done; and the rule in canonical form, owned by the plane. */
uint64_t life_sparse_generation(const life_sparse *s);
const char *life_sparse_rule(const life_sparse *s);

/* Return the number of tiles; their bytes on the device; the kernel launches so far; and the tiles
 * computed by them, up to eight generations each. */
size_t life_sparse_tiles(const life_sparse *s);
size_t life_sparse_bytes(const life_sparse *s);
uint64_t life_sparse_launches(const life_sparse *s);
uint64_t life_sparse_computed(const life_sparse *s);

/* Return the launch shape, and the reason for its choice. Static. */
const char *life_sparse_shape(const life_sparse *s);
const char *life_sparse_explain(const life_sparse *s);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_SPARSE_H */
