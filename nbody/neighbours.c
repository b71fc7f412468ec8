/* neighbours.c - the nearest bodies of each, by a k-d tree: an array of bodies, whose middle one
 * divides it along x, whose halves' middle ones divide them along y, and so on.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/blocks.h"
#include "nbody/neighbours.h"

#include <stdcl.h>

#include <errno.h>
#include <stdlib.h>

enum { FEW = 8 }; /* bodies that are not divided */

struct tree {
    size_t n;
    const double (*pos)[3];
    size_t *order;
    struct neighbours *to;
};

static void swap(size_t *a, size_t *b)
{
    const size_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Brings the one that belongs in the middle of from .. end - 1 there, smaller ones before it and
 * larger ones behind. */
static void divide(const struct tree *t, size_t from, size_t end, size_t middle, int axis)
{
    while (end - from > 1) {
        const double pivot = t->pos[t->order[from + (end - from) / 2]][axis];
        size_t less = from, more = end; /* from .. less - 1 are smaller, more .. end - 1 larger,
                                           between them equal */
        for (size_t i = from; i < more;) {
            const double x = t->pos[t->order[i]][axis];
            if (x < pivot)
                swap(&t->order[less++], &t->order[i++]);
            else if (x > pivot)
                swap(&t->order[i], &t->order[--more]);
            else
                i++;
        }
        if (middle >= less && middle < more)
            break;
        if (middle < less)
            end = less;
        else
            from = more;
    }
}

static void build(const struct tree *t, size_t from, size_t end, int axis)
{
    const size_t middle = from + (end - from) / 2;
    if (end - from <= FEW)
        return;
    divide(t, from, end, middle, axis);
    build(t, from, middle, (axis + 1) % 3);
    build(t, middle + 1, end, (axis + 1) % 3);
}

static void offer(const struct tree *t, size_t self, size_t other, struct neighbours *best)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double d = t->pos[self][k] - t->pos[other][k];
        square += d * d;
    }
    int place = best->n;
    if (other == self || (place == NEIGHBOURS && square >= best->square[NEIGHBOURS - 1]))
        return;
    place -= place == NEIGHBOURS;
    for (; place > 0 && best->square[place - 1] > square; place--) {
        best->square[place] = best->square[place - 1];
        best->body[place] = best->body[place - 1];
    }
    best->square[place] = square;
    best->body[place] = other;
    best->n += best->n < NEIGHBOURS;
}

static void search(const struct tree *t, size_t from, size_t end, int axis, size_t self,
                   struct neighbours *best)
{
    if (end - from <= FEW) {
        for (size_t i = from; i < end; i++)
            offer(t, self, t->order[i], best);
        return;
    }
    const size_t middle = from + (end - from) / 2;
    const double d = t->pos[self][axis] - t->pos[t->order[middle]][axis];
    const size_t near[2] = {d < 0 ? from : middle + 1, d < 0 ? middle : end};
    const size_t far[2] = {d < 0 ? middle + 1 : from, d < 0 ? end : middle};
    search(t, near[0], near[1], (axis + 1) % 3, self, best);
    offer(t, self, t->order[middle], best);
    if (best->n < NEIGHBOURS || d * d <= best->square[NEIGHBOURS - 1])
        search(t, far[0], far[1], (axis + 1) % 3, self, best);
}

/* For some of the bodies, in the tree's order, so that those after each other look at the same
 * places. */
static void search_block(void *tree, size_t block, size_t first, size_t end)
{
    const struct tree *t = tree;
    (void)block;
    for (size_t i = first; i < end; i++) {
        const size_t self = t->order[i];
        t->to[self].n = 0;
        search(t, 0, t->n, 0, self, &t->to[self]);
    }
}

int neighbours_find(size_t n, const double (*pos)[3], struct neighbours *to)
{
    struct tree t = {n, pos, malloc(n * sizeof *t.order), to};
    if (!t.order)
        return clerror_set(ENOMEM, "no memory to find neighbours of %zu bodies", n);
    for (size_t i = 0; i < n; i++)
        t.order[i] = i;
    build(&t, 0, n, 0);
    nbody_each_block(n, search_block, &t);
    free(t.order);
    return 0;
}
