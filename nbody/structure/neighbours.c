/* neighbours.c - nearest neighbours of each body by a k-d tree on the host: the median body along x
 * divides the array, the medians along y divide both halves, and so on.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/particles/body_blocks.h"
#include "nbody/structure/neighbours.h"

#include <stdcl.h>

#include <errno.h>
#include <stdlib.h>

enum { KD_LEAF = 8 }; /* bodies that are not divided */

struct kd_tree {
    size_t n;
    const double (*pos)[3];
    size_t *order;
    struct neighbours *to;
};

static void kd_swap(size_t *a, size_t *b)
{
    const size_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Partition bodies [from, end) about the median (quickselect): smaller ones before `middle`,
 * larger ones after it. */
static void kd_partition(const struct kd_tree *t, size_t from, size_t end, size_t middle, int axis)
{
    while (end - from > 1) {
        const double pivot = t->pos[t->order[from + (end - from) / 2]][axis];
        size_t less = from,
               more = end; /* [from, less) are smaller, [more, end) larger, those between equal */
        for (size_t i = from; i < more;) {
            const double x = t->pos[t->order[i]][axis];
            if (x < pivot)
                kd_swap(&t->order[less++], &t->order[i++]);
            else if (x > pivot)
                kd_swap(&t->order[i], &t->order[--more]);
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

static void kd_build(const struct kd_tree *t, size_t from, size_t end, int axis)
{
    const size_t middle = from + (end - from) / 2;
    if (end - from <= KD_LEAF)
        return;
    kd_partition(t, from, end, middle, axis);
    kd_build(t, from, middle, (axis + 1) % 3);
    kd_build(t, middle + 1, end, (axis + 1) % 3);
}

static void neighbour_offer(const struct kd_tree *t, size_t self, size_t other,
                            struct neighbours *best)
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

static void kd_search(const struct kd_tree *t, size_t from, size_t end, int axis, size_t self,
                      struct neighbours *best)
{
    if (end - from <= KD_LEAF) {
        for (size_t i = from; i < end; i++)
            neighbour_offer(t, self, t->order[i], best);
        return;
    }
    const size_t middle = from + (end - from) / 2;
    const double d = t->pos[self][axis] - t->pos[t->order[middle]][axis];
    const size_t near[2] = {d < 0 ? from : middle + 1, d < 0 ? middle : end};
    const size_t far[2] = {d < 0 ? middle + 1 : from, d < 0 ? end : middle};
    kd_search(t, near[0], near[1], (axis + 1) % 3, self, best);
    neighbour_offer(t, self, t->order[middle], best);
    if (best->n < NEIGHBOURS || d * d <= best->square[NEIGHBOURS - 1])
        kd_search(t, far[0], far[1], (axis + 1) % 3, self, best);
}

/* Search for a block of bodies in tree order: consecutive searches read the same nodes. */
static void kd_search_block(void *tree, size_t block, size_t first, size_t end)
{
    const struct kd_tree *t = tree;
    (void)block;
    for (size_t i = first; i < end; i++) {
        const size_t self = t->order[i];
        t->to[self].n = 0;
        kd_search(t, 0, t->n, 0, self, &t->to[self]);
    }
}

int neighbours_find(size_t n, const double (*pos)[3], struct neighbours *to)
{
    struct kd_tree t = {n, pos, malloc(n * sizeof *t.order), to};
    if (!t.order)
        return clerror_set(ENOMEM, "out of memory to find the neighbours of %zu bodies", n);
    for (size_t i = 0; i < n; i++)
        t.order[i] = i;
    kd_build(&t, 0, n, 0);
    nbody_each_block(n, kd_search_block, &t);
    free(t.order);
    return 0;
}
