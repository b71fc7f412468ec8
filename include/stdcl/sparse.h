/* stdcl/sparse.h - Life on a plane without edges, on an OpenCL device: only where something goes on
 * is anything computed.
 *
 *   life_sparse *s = life_sparse_create(&(struct life_sparse_options){.rule = "B3/S23"});
 *   life_sparse_put(s, -3, -1, &cells);              a pattern, its top left corner at (-3, -1)
 *   life_sparse_step(s, 100000);
 *   life_sparse_population(s, &alive);               counted on the device
 *   life_sparse_free(s);
 *
 * The plane is made of tiles of 48 x 48 cells, which there are where cells live and next to them. A
 * tile sleeps while nothing in it or near it changes, but for what has a period of 2, 4 or 8
 * generations. So this is the engine for what lives long and is neither dense nor regular:
 * methuselahs, collisions, wide ash with gliders in it. What is dense is work for the engines of
 * stdcl/life.h, and what repeats itself in space or time for stdcl/hashlife.h.
 *
 * Cell (x, y) is column x, to the right, of row y, downwards; both may be negative, and are up to
 * 48 (2^31 - 16) from 0. int functions return 0, or -1 with clerrno set and a sentence in
 * clerror(). A function that returns a pointer fails with NULL in the same way. Only one thread at
 * a time may use a plane. Cells are the same on every device, and those of the other engines.
 * A handle of NULL, which is what a call that failed returns, is EINVAL: what is given back is -1,
 * NULL, 0 or, of a text, "". It may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_SPARSE_H
#define STDCL_SPARSE_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct life_sparse life_sparse;

/* Zero means the default. */
struct life_sparse_options {
    CLCONTEXT *ctx; /* its first device is used; NULL: stdgpu, else stdcpu. Not owned; must outlive
                       the plane */
    const char *rule; /* as life_rule_normal; NULL = "B3/S23". EINVAL: rules with B0, of more than
                         two states, or Larger than Life */
    size_t memory;    /* bytes for tiles at most, from 1 MiB up; 0: half of the machine's, or of the
                         device's if that is less. While there come to be    more tiles it may be half
                         as    much again */
    /* Told now and then, in the calling thread, what fraction of a call of life_sparse_step is
     * done, 0 to 1. It returns 0, or something else to end the call soon, with ECANCELED. May be
     * NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Whether the engine has a rule: 0, or -1 with EINVAL and a sentence that says why not. */
int life_sparse_has_rule(const char *rule);

/* An empty plane at generation 0; the caller frees it with life_sparse_free, NULL is fine there.
 * EINVAL: a wrong rule or option; ENODEV: no device; ENOMEM; ENOEXEC: a kernel does not build (with
 * the log). */
life_sparse *life_sparse_create(const struct life_sparse_options *options);
void life_sparse_free(life_sparse *s);

/* Adds the live cells of a rectangle to the plane, its top left corner at (x, y). ENOMEM: the
 * memory of the options does not suffice. ERANGE: the rectangle reaches beyond the farthest
 * cells. */
int life_sparse_put(life_sparse *s, long long x, long long y, const struct life_cells *cells);

/* Copies a rectangle of the plane into cells->word; the caller has set width, height and stride.
 * What is beyond the farthest cells is dead. */
int life_sparse_get(life_sparse *s, long long x, long long y, struct life_cells *cells);

/* Counts the live cells of squares of 2^zoom x 2^zoom cells (zoom 0 to 24), width x height of them,
 * the first with its top left corner at (x, y): live[j * width + i]. EINVAL: zoom is larger. */
int life_sparse_density(life_sparse *s, long long x, long long y, size_t width, size_t height,
                        unsigned zoom, uint64_t *live);

/* A bit is a square of 2^zoom cells a side, zoom 0 to 60, and 1 if any of them lives; x and y are
 * in such squares, too. */
int life_sparse_measure(life_sparse *s, unsigned zoom, long long x, long long y,
                        struct life_cells *cells);

/* Advances and blocks until it is done. After an error the plane is where life_sparse_generation
 * tells, with all its cells right, and the run may go on from there. Eight generations at a time
 * take as long as one: generations are best given in multiples of 8. ECANCELED: `progress` ended
 * it. ENOMEM: the memory of the options does not suffice; the sentence says how much was in use.
 * ERANGE: something has reached the farthest cells, or the generation would be more than 2^64 -
 * 1. */
int life_sparse_step(life_sparse *s, uint64_t generations);

/* Counts the live cells, on the device. */
int life_sparse_population(life_sparse *s, uint64_t *population);

/* The smallest rectangle that holds all live cells, right and bottom excluded. Returns 1, or 0
 * where there are none; -1 on an error. */
struct life_sparse_box {
    long long left, top, right, bottom;
};
int life_sparse_bounding_box(life_sparse *s, struct life_sparse_box *box);

/* Calls `tile` for each tile with live cells, in any order: the top left corner and 48 rows, whose
 * bit c is cell (x + c, y + row). A call that does not return 0 ends the walk, which then returns
 * -1 and leaves clerror as the call has set it. */
int life_sparse_walk(life_sparse *s,
                     int (*tile)(void *arg, long long x, long long y, const uint64_t row[48]),
                     void *arg);

/* The generations done, and the rule as life_rule_normal writes it, which belongs to the plane. */
uint64_t life_sparse_generation(const life_sparse *s);
const char *life_sparse_rule(const life_sparse *s);

/* What the work took: tiles that there are, and bytes that they have on the device; the kernels
 * started so far, and how many tiles these have computed, eight generations or fewer each. */
size_t life_sparse_tiles(const life_sparse *s);
size_t life_sparse_bytes(const life_sparse *s);
uint64_t life_sparse_launches(const life_sparse *s);
uint64_t life_sparse_computed(const life_sparse *s);

/* How kernels are launched, and why; the texts are static. */
const char *life_sparse_shape(const life_sparse *s);
const char *life_sparse_explain(const life_sparse *s);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_SPARSE_H */
