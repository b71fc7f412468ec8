/* hash_runs.c - the live cells of HashLife's plane in rows, as text formats have them.
 *
 * A strip is a list of squares of one level that lie side by side, from left to right, without the
 * empty ones. The strip of all upper halves has its upper rows, the strip of all lower halves its
 * lower rows. Time and memory are proportional to the live squares, whatever lies between them.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_nodes.h"

#include <errno.h>
#include <stdlib.h>

__extension__ typedef __int128 wide;

struct strip {
    square_t square;
    wide x; /* of its left column */
};

struct run_walk {
    const struct hashlife *h;
    int (*run)(void *arg, long long x, long long y, uint64_t n, unsigned state);
    void *arg;
    /* The last run, which may continue in the next leaf; n = 0: none. */
    wide x, y;
    uint64_t n;
    unsigned state;
};

static int runs_flush(struct run_walk *w)
{
    const wide most = (wide)1 << 62;
    const uint64_t n = w->n;
    w->n = 0;
    if (!n)
        return 0;
    if (w->x < -most || w->y < -most || w->x + (wide)n > most || w->y >= most)
        return clerror_set(ERANGE, "life_walk_runs: there are live cells more than 2^62 from the "
                                   "middle of the plane; use life_tree_walk");
    return w->run(w->arg, (long long)w->x, (long long)w->y, n, w->state) != 0 ? -1 : 0;
}

static int runs_add(struct run_walk *w, wide x, wide y, uint64_t n, unsigned state)
{
    if (w->n && w->y == y && w->x + (wide)w->n == x && w->state == state) {
        w->n += n;
        return 0;
    }
    if (runs_flush(w) < 0)
        return -1;
    w->x = x;
    w->y = y;
    w->n = n;
    w->state = state;
    return 0;
}

static int runs_of_leaf_row(struct run_walk *w, const struct strip *s, int row, wide y)
{
    uint32_t live = hash_row(w->h, s->square, row);
    while (live) {
        const int x = __builtin_ctz(live);
        unsigned state = 1;
        int end = x + __builtin_ctz(~(live >> x));
        if (w->h->multistate) {
            state = hash_states(w->h, s->square)[row << w->h->leaf_level | x];
            for (end = x + 1; end < hash_side(w->h) &&
                              hash_states(w->h, s->square)[row << w->h->leaf_level | end] == state;)
                end++;
        }
        if (runs_add(w, s->x + x, y, (uint64_t)(end - x), state) < 0)
            return -1;
        live &= ~(uint32_t)0 << end;
    }
    return 0;
}

static int runs_of_strip(struct run_walk *w, int level, const struct strip *strip, size_t n, wide y)
{
    const struct hashlife *h = w->h;
    int status = 0;
    if (level == h->leaf_level) {
        for (int row = 0; row < hash_side(h); row++)
            for (size_t i = 0; i < n; i++)
                if (runs_of_leaf_row(w, &strip[i], row, y + row) < 0)
                    return -1;
        return 0;
    }
    struct strip *half = malloc(2 * n * sizeof *half + 1);
    if (!half)
        return clerror_set(ENOMEM, "life_walk_runs: out of memory for %zu squares in a row", 2 * n);
    const wide side = (wide)1 << (level - 1);
    for (int lower = 0; lower < 2 && status == 0; lower++) {
        size_t m = 0;
        for (size_t i = 0; i < 2 * n; i++) {
            const square_t part = h->node[strip[i / 2].square].part[2 * lower + (int)(i % 2)];
            if (part != h->empty[level - 1])
                half[m++] = (struct strip){part, strip[i / 2].x + (i % 2 ? side : 0)};
        }
        if (m)
            status = runs_of_strip(w, level - 1, half, m, y + (lower ? side : 0));
    }
    free(half);
    return status;
}

int hash_runs(life *lf, int (*run)(void *arg, long long x, long long y, uint64_t n, unsigned state),
              void *arg)
{
    const struct hashlife *h = lf->state;
    struct run_walk w = {.h = h, .run = run, .arg = arg};
    const wide corner = -((wide)1 << (h->level - 1));
    const struct strip all = {h->root, corner};
    if (h->root == h->empty[h->level])
        return 0;
    return runs_of_strip(&w, h->level, &all, 1, corner) < 0 ? -1 : runs_flush(&w);
}
