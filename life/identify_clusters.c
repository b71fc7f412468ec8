/* identify_clusters.c - groups of near cells, by union and find (R. Tarjan, J. ACM 22, 1975, 215).
 *
 * The cells of all clusters are one array, a cluster after the other. Clusters are sorted by shape,
 * so that equal ones are neighbours, and two generations can be compared by a merge.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/counting.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { NEAR_MOST = 4 };

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
        const size_t a = identify_root(parent, i), b = identify_root(parent, j);
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

/* In each of the rows below, the first cell to join never goes back. */
void identify_join_near(const struct identify_cells *s, size_t *parent, int near)
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
        parent[i] = identify_root(parent, i);
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

int identify_clusters_fill(struct identify_clusters *c, const struct identify_cells *s,
                           const size_t *parent, int near)
{
    size_t *next = calloc(s->n + 1, sizeof *next);
    int status = 0;
    *c = (struct identify_clusters){.cell = malloc((s->n + 1) * sizeof *c->cell),
                                    .cluster = calloc(s->n + 1, sizeof *c->cluster)};
    if (next && c->cell && c->cluster)
        clusters_fill(c, s, parent, next);
    else
        status = -1;
    free(next);
    for (size_t i = 0, cells = 0; i < c->n && status == 0; cells += c->cluster[i++].n) {
        if (s->width)
            status = join_on_torus(s, &c->cluster[i], c->cell + cells, near);
        cluster_measure(&c->cluster[i]);
    }
    if (status == 0)
        return 0;
    identify_clusters_free(c);
    return clerror_set(ENOMEM, "life: out of memory for the clusters of %zu cells", s->n);
}

void identify_clusters_sort(struct identify_clusters *c)
{
    qsort(c->cluster, c->n, sizeof *c->cluster, clusters_order);
}

int identify_clusters_make(struct identify_clusters *c, const struct identify_cells *s, int near)
{
    size_t *parent = malloc((s->n + 1) * sizeof *parent);
    *c = (struct identify_clusters){.n = 0};
    if (!parent)
        return clerror_set(ENOMEM, "life: out of memory for the clusters of %zu cells", s->n);
    identify_join_near(s, parent, near);
    const int status = identify_clusters_fill(c, s, parent, near);
    free(parent);
    if (status == 0)
        identify_clusters_sort(c);
    return status;
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

/* ---- Motion. --------------------------------------------------------------------------------- */

uint64_t identify_common_multiple(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return 0;
    uint64_t divisor = a, rest = b;
    while (rest) {
        const uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return a / divisor > INT64_MAX / b ? 0 : a / divisor * b;
}

bool identify_moves_equally(const struct identify_motion *a, const struct identify_motion *b)
{
    return a->dx * (long long)b->period == b->dx * (long long)a->period &&
           a->dy * (long long)b->period == b->dy * (long long)a->period;
}

enum identify_meeting identify_clusters_meet(const struct identify_cluster *a,
                                             const struct identify_cluster *b, int near)
{
    const double pa = (double)a->motion.period, pb = (double)b->motion.period;
    const double gap[2][2] = {
        {(double)(b->left - a->right) - near, (double)(b->right - a->left) + near},
        {(double)(b->top - a->bottom) - near, (double)(b->bottom - a->top) + near}};
    const double v[2] = {(double)a->motion.dx / pa - (double)b->motion.dx / pb,
                         (double)a->motion.dy / pa - (double)b->motion.dy / pb};
    const bool equally = identify_moves_equally(&a->motion, &b->motion);
    double from = 0, until = INFINITY;
    for (int i = 0; i < 2; i++) {
        if (v[i] == 0 || equally) {
            if (gap[i][0] > 0 || gap[i][1] < 0)
                return IDENTIFY_APART;
            continue;
        }
        const double t[2] = {gap[i][0] / v[i], gap[i][1] / v[i]};
        from = fmax(from, fmin(t[0], t[1]));
        until = fmin(until, fmax(t[0], t[1]));
    }
    return from > until ? IDENTIFY_APART : equally ? IDENTIFY_BESIDE : IDENTIFY_MEET;
}
