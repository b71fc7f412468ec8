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

enum { LEAF = 3, LARGEST = 60 }; /* levels: 8 x 8 cells; largest with 64-bit coordinates */

/* ---- In. ------------------------------------------------------------------------------------- */

static int fill_tree(const struct life_job *job, hashlife *tree)
{
    const struct life_squares *squares = &job->plane.squares;
    uint32_t square = 0;
    for (size_t i = 0; i < squares->n; i++) {
        const struct life_square *s = &squares->square[i];
        const unsigned char state[4] = {(unsigned char)s->part[0], (unsigned char)s->part[1],
                                        (unsigned char)s->part[2], (unsigned char)s->part[3]};
        if ((s->bits         ? hashlife_add_leaf(tree, s->cells, &square)
             : s->level == 1 ? hashlife_add_states(tree, state, &square)
                             : hashlife_add_square(tree, s->level, s->part, &square)) < 0)
            return -1;
    }
    return hashlife_set_square(tree, square, job->started);
}

/* Put a leaf: 8 x 8 bits, or 2 x 2 states of 0 or 1. */
static int put_leaf(life_sparse *plane, const struct life_square *s, long long x, long long y)
{
    uint64_t row[8] = {s->part[0] | s->part[1] << 1, s->part[2] | s->part[3] << 1};
    for (int j = 0; j < 8 && s->bits; j++)
        row[j] = s->cells >> 8 * j & 255;
    return life_sparse_put(plane, x, y,
                           &(struct life_cells){s->bits ? 8 : 2, s->bits ? 8 : 2, 1, row});
}

/* Put a node by number, its top left corner at (x, y). */
static int put_node(const struct life_squares *squares, life_sparse *plane, uint32_t number,
                    long long x, long long y)
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

static int fill_tiles(const struct life_job *job, life_sparse *plane)
{
    const struct life_squares *squares = &job->plane.squares;
    const int level = squares->n ? squares->square[squares->n - 1].level : 0;
    const long long half = level ? 1LL << (level <= LARGEST ? level - 1 : 0) : 0;
    if (level > LARGEST)
        return clerror_set(ERANGE, "a universe of 2^%d cells across needs --engine hashlife",
                           level);
    return put_node(squares, plane, (uint32_t)squares->n, -half, -half);
}

int life_squares_fill(const struct life_job *job, struct life_unbounded *e)
{
    return e->tree ? fill_tree(job, e->tree) : fill_tiles(job, e->sparse);
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

static int write_tree(const struct life_job *job, hashlife *tree, const char *file)
{
    struct outfile out;
    struct hashlife_box box;
    int level;
    FILE *plain = life_squares_open(&out, file, job->rule, unbounded_generation(&job->unbounded));
    if (!plain)
        return -1;
    int status = life_job_has_states(job)
                     ? hashlife_walk_states(tree, &level, write_state_node, write_inner_node, &out)
                     : hashlife_walk(tree, &level, write_leaf_node, write_inner_node, &out);
    if (status == 0 && hashlife_bounding_box(tree, &box) ==
                           0) /* an empty universe has no nodes, but a file needs one */
        status = write_inner_node(&out, 4, (const uint32_t[4]){0, 0, 0, 0});
    return life_squares_close(&out, plain, status);
}

int life_squares_save(struct life_job *job, const char *file)
{
    if (job->unbounded.tree)
        return write_tree(job, job->unbounded.tree, file);
    hashlife *tree = hashlife_create(&(struct hashlife_options){.rule = job->rule, .threads = 1});
    int status = tree ? unbounded_copy_to_tree(job->unbounded.sparse, tree) : -1;
    if (status == 0)
        status = write_tree(job, tree, file);
    hashlife_free(tree);
    return status;
}
