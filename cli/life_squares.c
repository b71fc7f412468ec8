/* life_squares.c - macrocell files of unbounded planes: node by node to and from HashLife's
 * tree; cell by cell into sparse tiles, and out of them through a temporary tree.
 * SPDX-License-Identifier: MIT
 */
#include "life_plane.h"

#include "core/outfile.h"

#include <errno.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LEAF = 3, LARGEST = 60 }; /* levels: 8 x 8 cells; largest with 64-bit coordinates */

/* ---- In. ------------------------------------------------------------------------------------- */

static int fill_tree(const struct life_job *job, life *tree)
{
    const struct life_squares *squares = &job->plane.squares;
    uint32_t square = 0;
    for (size_t i = 0; i < squares->n; i++) {
        const struct life_square *s = &squares->square[i];
        const unsigned char state[4] = {(unsigned char)s->part[0], (unsigned char)s->part[1],
                                        (unsigned char)s->part[2], (unsigned char)s->part[3]};
        if ((s->bits         ? life_tree_add_bits(tree, s->cells, &square)
             : s->level == 1 ? life_tree_add_states(tree, state, &square)
                             : life_tree_add_square(tree, s->level, s->part, &square)) < 0)
            return -1;
    }
    return life_tree_set(tree, square, job->started);
}

/* Put a leaf: 8 x 8 bits, or 2 x 2 states of 0 or 1. */
static int put_leaf(life *plane, const struct life_square *s, long long x, long long y)
{
    uint64_t row[8] = {s->part[0] | s->part[1] << 1, s->part[2] | s->part[3] << 1};
    for (int j = 0; j < 8 && s->bits; j++)
        row[j] = s->cells >> 8 * j & 255;
    return life_put(plane, x, y, &(struct life_cells){s->bits ? 8 : 2, s->bits ? 8 : 2, 1, row});
}

/* Put a node by number, its top left corner at (x, y). */
static int put_node(const struct life_squares *squares, life *plane, uint32_t number, long long x,
                    long long y)
{
    const struct life_square *s = number ? &squares->square[number - 1] : NULL;
    const long long half = s ? 1LL << (s->level - 1) : 0;
    int status = 0;
    if (!s)
        return 0;
    if (s->bits || s->level == 1)
        return put_leaf(plane, s, x, y);
    for (int i = 0; i < 4 && status == 0; i++)
        status =
            put_node(squares, plane, s->part[i], x + (i & 1 ? half : 0), y + (i & 2 ? half : 0));
    return status;
}

static int fill_tiles(const struct life_job *job, life *plane)
{
    const struct life_squares *squares = &job->plane.squares;
    const int level = squares->n ? squares->square[squares->n - 1].level : 0;
    const long long half = level ? 1LL << (level <= LARGEST ? level - 1 : 0) : 0;
    if (level > LARGEST)
        return clerror_set(ERANGE, "a universe of 2^%d cells across needs --engine hashlife",
                           level);
    return put_node(squares, plane, (uint32_t)squares->n, -half, -half);
}

int life_squares_fill(const struct life_job *job, life *plane)
{
    return life_engine_of(plane) == LIFE_HASHLIFE ? fill_tree(job, plane) : fill_tiles(job, plane);
}

/* ---- Out. ------------------------------------------------------------------------------------ */

static int write_leaf_node(void *out, uint64_t cells)
{
    life_squares_write(out, &(struct life_square){.level = LEAF, .bits = true, .cells = cells});
    return outfile_check(out);
}

static int write_state_node(void *out, const unsigned char state[4])
{
    life_squares_write(
        out, &(struct life_square){.level = 1, .part = {state[0], state[1], state[2], state[3]}});
    return outfile_check(out);
}

static int write_inner_node(void *out, int level, const uint32_t part[4])
{
    life_squares_write(
        out, &(struct life_square){.level = level, .part = {part[0], part[1], part[2], part[3]}});
    return outfile_check(out);
}

static int write_tree(const struct life_job *job, life *tree, const char *file)
{
    struct outfile out;
    struct life_box box;
    int level;
    FILE *plain = life_squares_open(&out, file, job->rule, life_job_absolute(job));
    if (!plain)
        return -1;
    int status =
        life_tree_walk(tree, &level, write_leaf_node, write_state_node, write_inner_node, &out);
    if (status == 0 && life_bounding_box(tree, &box) ==
                           0) /* an empty universe has no nodes, but a file needs one */
        status = write_inner_node(&out, 4, (const uint32_t[4]){0, 0, 0, 0});
    return life_squares_close(&out, plain, status);
}

static int copy_tile(void *tree, long long x, long long y, const uint64_t row[48])
{
    uint64_t copy[48];
    memcpy(copy, row, sizeof copy);
    return life_put(tree, x, y, &(struct life_cells){48, 48, 1, copy});
}

static int copy_run(void *to, long long x, long long y, uint64_t n, unsigned state)
{
    unsigned char states[256];
    int status = 0;
    memset(states, (int)state, sizeof states);
    for (uint64_t some; n && status == 0; n -= some, x += (long long)some) {
        some = n < sizeof states ? n : sizeof states;
        status = life_put_states(to, x, y, (size_t)some, 1, states);
    }
    return status;
}

int life_squares_copy(life *from, life *to)
{
    return life_engine_of(from) == LIFE_SPARSE ? life_walk_tiles(from, copy_tile, to)
                                               : life_walk_runs(from, copy_run, to);
}

/* The tree to fill, and the square added last. */
struct copied_tree {
    life *to;
    uint32_t square;
};

static int copy_bits(void *arg, uint64_t cells)
{
    struct copied_tree *c = arg;
    return life_tree_add_bits(c->to, cells, &c->square);
}

static int copy_states(void *arg, const unsigned char state[4])
{
    struct copied_tree *c = arg;
    return life_tree_add_states(c->to, state, &c->square);
}

static int copy_square(void *arg, int level, const uint32_t part[4])
{
    struct copied_tree *c = arg;
    return life_tree_add_square(c->to, level, part, &c->square);
}

int life_squares_copy_tree(life *from, life *to)
{
    struct copied_tree c = {.to = to};
    int level;
    if (life_tree_walk(from, &level, copy_bits, copy_states, copy_square, &c) < 0)
        return -1;
    return life_tree_set(to, c.square, life_generation(from));
}

life *life_squares_tree(struct life_job *job)
{
    if (life_engine_of(job->engine_of_run) == LIFE_HASHLIFE)
        return job->engine_of_run;
    char rule[20] = "B3/S23"; /* Larger than Life: a rule of equal states */
    if (job->states > 2)
        snprintf(rule, sizeof rule, "23/3/%d", job->states);
    life *tree = life_create(&(struct life_options){.engine = LIFE_HASHLIFE,
                                                    .bounds = LIFE_UNBOUNDED,
                                                    .rule = job->host_plane ? rule : job->rule,
                                                    .threads = 1});
    if (tree && life_squares_copy(job->engine_of_run, tree) == 0)
        return tree;
    life_free(tree);
    return NULL;
}

void life_squares_tree_free(const struct life_job *job, life *tree)
{
    if (tree != job->engine_of_run)
        life_free(tree);
}

int life_squares_save(struct life_job *job, const char *file)
{
    life *tree = life_squares_tree(job);
    const int status = tree ? write_tree(job, tree, file) : -1;
    life_squares_tree_free(job, tree);
    return status;
}
