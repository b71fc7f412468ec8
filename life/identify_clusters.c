/* identify_clusters.c - groups of near cells, by union and find (R. Tarjan, J. ACM 22, 1975, 215).
 *
 * The cells of all clusters are one array, a cluster after the other. Clusters are sorted by shape,
 * so that equal ones are neighbours, and two generations can be compared by a merge.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/counting.h"

#include <errno.h>
#include <stdlib.h>

enum { NEAR_MOST = 4 };

static size_t cluster_root(size_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* True if a cell is before column x of row y. */
static bool is_before(const struct identify_cell *c, long long x, long long y)
{
    return c->y < y || (c->y == y && c->x < x);
}

/* Index of the first cell in row y from column x on, or of the first cell of a later row. */
static size_t first_cell_from(const struct identify_cells *s, long long x, long long y)
{
    size_t from = 0, end = s->n;
    while (from < end) {
        const size_t middle = from + (end - from) / 2;
        if (is_before(&s->cell[middle], x, y))
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* Join cell i with the cells of row y in the columns x - near ... x + near. The search for them
 * begins at index `first`. Return the index of the first of them. */
static size_t join_with_row(const struct identify_cells *s, size_t *parent, size_t i, long long x,
                            long long y, int near, size_t first)
{
    while (first < s->n && is_before(&s->cell[first], x - near, y))
        first++;
    for (size_t j = first; j < s->n && s->cell[j].y == y && s->cell[j].x <= x + near; j++) {
        const size_t a = cluster_root(parent, i), b = cluster_root(parent, j);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    return first;
}

/* Join cell i with cells of row y that are near it across the edges of a torus. */
static void join_across_edges(const struct identify_cells *s, size_t *parent, size_t i, long long x,
                              long long y, int near)
{
    if (y < s->height && x >= near && x + near < s->width)
        return;
    for (long long turn = -1; turn <= 1; turn++) {
        const long long column = x + turn * s->width, row = y % s->height;
        join_with_row(s, parent, i, column, row, near, first_cell_from(s, column - near, row));
    }
}

/* Join cells within `near` columns and rows of each other: parent[i] is the first cell of cell i's
 * cluster. In each of the rows below, the first cell to join never goes back. */
static void join_near_cells(const struct identify_cells *s, size_t *parent, int near)
{
    size_t first[NEAR_MOST + 1] = {0};
    for (size_t i = 0; i < s->n; i++)
        parent[i] = i;
    for (size_t i = 0; i < s->n; i++)
        for (int down = 0; down <= near; down++) {
            const long long x = s->cell[i].x, y = s->cell[i].y + down;
            first[down] = join_with_row(s, parent, i, x, y, near, first[down]);
            if (s->width)
                join_across_edges(s, parent, i, x, y, near);
        }
    for (size_t i = 0; i < s->n; i++)
        parent[i] = cluster_root(parent, i);
}

/* ---- Tori. ----------------------------------------------------------------------------------- */

static long long *cell_coordinate(struct identify_cell *cell, bool vertical)
{
    return vertical ? &cell->y : &cell->x;
}

/* Put the parts of a cluster on both sides of a torus' edge together: the cells before the
 * cluster's first gap move by the torus' `side`. 0: the cluster surrounds the torus. */
static int join_across_edge(struct identify_cell *cell, size_t n, long long side, bool vertical,
                            int near)
{
    long long first = side, last = -1, end;
    bool *taken = calloc((size_t)side + 1, sizeof *taken);
    if (!taken)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const long long at = *cell_coordinate(&cell[i], vertical);
        taken[at] = true;
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    end = first; /* of the part at the beginning of the torus */
    for (long long at = first; at <= last && at - end <= near; at++)
        end = taken[at] ? at : end;
    free(taken);
    if (first + side - last > near)
        return 1;
    for (size_t i = 0; i < n && end < last; i++)
        if (*cell_coordinate(&cell[i], vertical) <= end)
            *cell_coordinate(&cell[i], vertical) += side;
    return end < last;
}

/* Join a cluster's cells across both edges. */
static int join_on_torus(const struct identify_cells *s, struct identify_cluster *c,
                         struct identify_cell *cell, int near)
{
    int joined = join_across_edge(cell, c->n, s->width, false, near);
    if (joined == 1)
        joined = join_across_edge(cell, c->n, s->height, true, near);
    c->surrounds = joined == 0;
    return joined < 0 ? -1 : 0;
}

/* ---- Clusters. ------------------------------------------------------------------------------- */

static void cluster_measure(struct identify_cluster *c)
{
    c->left = c->right = c->cell[0].x;
    c->top = c->bottom = c->cell[0].y;
    for (size_t i = 1; i < c->n; i++) {
        const struct identify_cell *p = &c->cell[i];
        c->left = p->x < c->left ? p->x : c->left;
        c->right = p->x > c->right ? p->x : c->right;
        c->top = p->y < c->top ? p->y : c->top;
        c->bottom = p->y > c->bottom ? p->y : c->bottom;
    }
    for (size_t i = 0; i < c->n; i++) { /* in any order of cells */
        const struct identify_cell *p = &c->cell[i];
        c->shape += life_mix(life_mix((uint64_t)(p->x - c->left)) +
                             (uint64_t)(p->y - c->top) * 256 + p->state);
    }
}

static int clusters_order(const void *a, const void *b)
{
    const struct identify_cluster *p = a, *q = b;
    if (p->shape != q->shape)
        return p->shape < q->shape ? -1 : 1;
    if (p->top != q->top)
        return p->top < q->top ? -1 : 1;
    return (p->left > q->left) - (p->left < q->left);
}

/* Copy the cells, cluster by cluster. next[root]: number of cells of the cluster, then the place of
 * its next cell. */
static void clusters_fill(struct identify_clusters *c, const struct identify_cells *s,
                          const size_t *parent, size_t *next)
{
    size_t place = 0;
    for (size_t i = 0; i < s->n; i++)
        next[parent[i]]++;
    for (size_t i = 0; i < s->n; i++)
        if (parent[i] == i) {
            const size_t n = next[i];
            c->cluster[c->n++] = (struct identify_cluster){.cell = c->cell + place, .n = n};
            next[i] = place;
            place += n;
        }
    for (size_t i = 0; i < s->n; i++)
        c->cell[next[parent[i]]++] = s->cell[i];
}

int identify_clusters_make(struct identify_clusters *c, const struct identify_cells *s, int near)
{
    size_t *parent = malloc((s->n + 1) * sizeof *parent), *next = calloc(s->n + 1, sizeof *next);
    int status = 0;
    *c = (struct identify_clusters){.cell = malloc((s->n + 1) * sizeof *c->cell),
                                    .cluster = calloc(s->n + 1, sizeof *c->cluster)};
    if (parent && next && c->cell && c->cluster) {
        join_near_cells(s, parent, near);
        clusters_fill(c, s, parent, next);
    } else {
        status = -1;
    }
    free(parent);
    free(next);
    for (size_t i = 0, cells = 0; i < c->n && status == 0; cells += c->cluster[i++].n) {
        if (s->width)
            status = join_on_torus(s, &c->cluster[i], c->cell + cells, near);
        cluster_measure(&c->cluster[i]);
    }
    if (status < 0) {
        identify_clusters_free(c);
        return clerror_set(ENOMEM, "life: out of memory for the clusters of %zu cells", s->n);
    }
    qsort(c->cluster, c->n, sizeof *c->cluster, clusters_order);
    return 0;
}

void identify_clusters_free(struct identify_clusters *c)
{
    free(c->cell);
    free(c->cluster);
    *c = (struct identify_clusters){.cell = NULL};
}

size_t identify_clusters_alike(const struct identify_clusters *c, size_t i)
{
    size_t n = 1;
    while (i + n < c->n && c->cluster[i + n].shape == c->cluster[i].shape)
        n++;
    return n;
}
