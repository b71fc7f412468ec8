/* grid.c - which rank computes what of a product (see grid.h).
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

#include <math.h>

enum {
    GRAIN = 128,
    DIRECT_ROWS = 1024, /* a slab of fewer rows is not worth panels that end where it does */
    PATCH = 8 /* ranks that take panels in one order: more of them would wait for the one rank that
                 has a panel */
};

/* ---- Parts. ---------------------------------------------------------------------------------- */

static size_t grain_of(size_t length, size_t parts)
{
    return length >= 4 * GRAIN * parts ? GRAIN : 1;
}

static size_t cut(size_t length, size_t k, size_t parts)
{
    const size_t grain = grain_of(length, parts), grains = divide_up(length, grain);
    return smaller(grains / parts * k + grains % parts * k / parts, grains) * grain;
}

struct part matmul_part(size_t length, int k, int parts)
{
    const size_t first = smaller(cut(length, (size_t)k, (size_t)parts), length);
    const size_t end = smaller(cut(length, (size_t)k + 1, (size_t)parts), length);
    return (struct part){first, end - first};
}

struct part matmul_meet(struct part a, struct part b)
{
    const size_t first = a.first > b.first ? a.first : b.first, end = smaller(end_of(a), end_of(b));
    return (struct part){first, first < end ? end - first : 0};
}

void matmul_partition(const stdcl_world *world, int rank, size_t rows, size_t *first, size_t *count)
{
    const struct part p = matmul_part(rows, rank, world_size(world));
    *first = p.first;
    *count = p.count;
}

size_t matmul_grid_rows(const struct matmul_grid *g, int operand)
{
    const bool trans = operand == OF_A ? trans_a(g->h.trans) : trans_b(g->h.trans);
    return operand == OF_A ? (trans ? g->h.k : g->h.m) : trans ? g->h.n : g->h.k;
}

struct part matmul_grid_slab(const struct matmul_grid *g, int operand, int rank)
{
    return matmul_part(matmul_grid_rows(g, operand), rank, g->ranks);
}

/* ---- The grid. ------------------------------------------------------------------------------- */

/* Seconds of a product, of ranks that compute 2.5e13 multiply-adds a second and receive 45e9 bytes:
 * what counts is their ratio. What is received counts a little also where it is hidden. */
static double seconds_of(int ranks, double m, double n, double k, double real, int pm, int pn,
                         int pk)
{
    const double rate = 2.5e13, net = 45e9;
    const double rows = ceil(m / pm), cols = ceil(n / pn), depth = ceil(k / pk);
    const double work = rows * cols * depth / rate;
    const double mail = real * (depth * (rows + cols) - k * (m + n) / ranks) / net;
    return fmax(work, mail) + 0.01 * mail + (pk - 1) * real * rows * cols / net;
}

void matmul_grid_choose(int ranks, size_t m, size_t n, size_t k, size_t real, int layers, int *pm,
                        int *pn, int *pk)
{
    double least = INFINITY;
    for (int i = ranks; i >= 1; i--)
        for (int j = ranks / i; j >= 1; j--)
            for (int l = 1; i * j * l <= ranks && l <= layers; l++) {
                if ((size_t)i > m || (size_t)j > n || (size_t)l > k)
                    continue;
                const double seconds =
                    seconds_of(ranks, (double)m, (double)n, (double)k, (double)real, i, j, l);
                if (seconds >= least)
                    continue;
                least = seconds;
                *pm = i;
                *pn = j;
                *pk = l;
            }
}

/* Ranks down and across of a patch. */
static void patch_of(const struct matmul_grid *g, int *down, int *across)
{
    *down = g->pm;
    *across = g->pn;
    while (*down * *across > PATCH)
        if (*down >= *across)
            *down = (*down + 1) / 2;
        else
            *across = (*across + 1) / 2;
}

/* Places `first` to `end` - 1 of so many parts of a length. */
static struct part run_of(size_t length, int first, int end, int parts)
{
    const size_t begin = matmul_part(length, first, parts).first;
    return (struct part){begin, end_of(matmul_part(length, end - 1, parts)) - begin};
}

/* What is between two sums of weights, of a part for which all weights are there. */
static struct part weighed(struct part whole, double from, double to, double all, size_t grain)
{
    const double scale = (double)whole.count / (double)grain / all;
    const size_t begin = smaller((size_t)(from * scale + 0.5) * grain, whole.count);
    const size_t end =
        to < all ? smaller((size_t)(to * scale + 0.5) * grain, whole.count) : whole.count;
    return (struct part){whole.first + begin, end - begin};
}

/* Of the slowest of the ranks that compute a block's parts of the depth. */
static double weight_of(const struct matmul_grid *g, int i, int j)
{
    double least = INFINITY;
    for (int l = 0; l < g->pk; l++)
        least = fmin(least, g->weight[(l * g->pm + i) * g->pn + j]);
    return least;
}

/* A patch is divided among its columns of ranks, and each column's part among its ranks. */
static void divide_patch(const struct matmul_grid *g, struct plan *p)
{
    int down, across;
    patch_of(g, &down, &across);
    const int i0 = p->i / down * down, i1 = i0 + down < g->pm ? i0 + down : g->pm;
    const int j0 = p->j / across * across, j1 = j0 + across < g->pn ? j0 + across : g->pn;
    double left = 0, right = 0,
           all = 0; /* sums in one order, so that one part ends where the next begins */
    double above = 0, below = 0, column = 0;
    for (int j = j0; j < j1; j++)
        for (int i = i0; i < i1; i++) {
            const double weight = weight_of(g, i, j);
            left += j < p->j ? weight : 0;
            right += j <= p->j ? weight : 0;
            all += weight;
            above += j == p->j && i < p->i ? weight : 0;
            below += j == p->j && i <= p->i ? weight : 0;
            column += j == p->j ? weight : 0;
        }
    p->cols =
        weighed(run_of(g->h.n, j0, j1, g->pn), left, right, all, grain_of(g->h.n, (size_t)g->pn));
    p->rows = weighed(run_of(g->h.m, i0, i1, g->pm), above, below, column,
                      grain_of(g->h.m, (size_t)g->pm));
}

struct plan matmul_grid_place(const struct matmul_grid *g, int rank)
{
    struct plan p = {.i = rank / g->pn % g->pm, .j = rank % g->pn, .l = rank / g->pn / g->pm};
    if (p.l >= g->pk)
        return (struct plan){.i = -1};
    p.rows = matmul_part(g->h.m, p.i, g->pm);
    p.cols = matmul_part(g->h.n, p.j, g->pn);
    if (g->weight)
        divide_patch(g, &p);
    return p;
}

void matmul_grid_shape(const struct matmul_grid *g, size_t deep, bool on)
{
    const double each = g->devices / g->ranks,
                 cols = (double)g->h.n / g->pn / (each > 1 ? each : 1);
    const size_t as[3] = {divide_up(g->h.m, (size_t)g->pm), cols > 1 ? (size_t)cols : 1, deep};
    for (int i = 0; i < 3; i++)
        g->mm->as[i] = on ? as[i] : 0;
}

/* Panels end where slabs do, if these have many rows: then a panel comes from one rank, and one's
 * own need not be copied. */
static size_t panels_of(const struct matmul_grid *g, size_t deep, struct part depth,
                        struct part *panel)
{
    const struct part slab = matmul_part(g->h.k, 0, g->ranks);
    size_t n = 0;
    int owner = 0;
    for (size_t at = depth.first; at < end_of(depth); n++) {
        size_t end = smaller(at + deep, end_of(depth));
        while (end_of(matmul_part(g->h.k, owner, g->ranks)) <= at)
            owner++;
        if (slab.count >= DIRECT_ROWS && deep < g->h.k)
            end = smaller(end, end_of(matmul_part(g->h.k, owner, g->ranks)));
        if (panel)
            panel[n] = (struct part){at, end - at};
        at = end;
    }
    return n;
}

static int make_panels(struct matmul_grid *g, size_t deep)
{
    g->panels = calloc((size_t)g->pk + 1, sizeof *g->panels);
    if (!g->panels)
        return clerror_set(ENOMEM, "matmul_multiply: no memory on the host");
    for (int l = 0; l < g->pk; l++)
        g->panels[l + 1] = g->panels[l] + panels_of(g, deep, matmul_part(g->h.k, l, g->pk), NULL);
    g->panel = calloc(g->panels[g->pk] + 1, sizeof *g->panel);
    if (!g->panel)
        return clerror_set(ENOMEM, "matmul_multiply: no memory on the host");
    for (int l = 0; l < g->pk; l++)
        panels_of(g, deep, matmul_part(g->h.k, l, g->pk), g->panel + g->panels[l]);
    return 0;
}

static void join_least(void *a, const void *b, void *arg)
{
    (void)arg;
    *(uint64_t *)a = *(const uint64_t *)b < *(uint64_t *)a ? *(const uint64_t *)b : *(uint64_t *)a;
}

int matmul_grid_make(struct matmul_grid *g, size_t high, size_t wide, size_t deep)
{
    const size_t ranks = (size_t)g->ranks;
    uint64_t least = deep, own[2] = {high, wide}, *all = calloc(ranks, sizeof own);
    g->plan = calloc(ranks, sizeof *g->plan);
    int status = all && g->plan ? 0 : clerror_set(ENOMEM, "matmul_multiply: no memory on the host");
    if (world_reduce_status(g->mm->world, status) != 0 ||
        world_reduce(g->mm->world, &least, sizeof least, join_least, NULL) != 0 ||
        world_gather(g->mm->world, own, sizeof own, all) != 0 ||
        world_reduce_status(g->mm->world, make_panels(g, (size_t)least)) != 0) {
        free(all);
        return -1;
    }
    for (size_t r = 0; r < ranks; r++) {
        struct plan *p = &g->plan[r];
        *p = matmul_grid_place(g, (int)r);
        p->high = (size_t)all[2 * r];
        p->wide = (size_t)all[2 * r + 1];
        if (p->i < 0 || !p->rows.count || !p->cols.count)
            continue;
        p->areas = divide_up(p->rows.count, p->high) * divide_up(p->cols.count, p->wide);
        p->steps = p->areas * (g->panels[p->l + 1] - g->panels[p->l]);
        g->steps = p->steps > g->steps ? p->steps : g->steps;
    }
    free(all);
    return 0;
}

void matmul_grid_free(struct matmul_grid *g)
{
    free(g->weight);
    free(g->panel);
    free(g->panels);
    free(g->plan);
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

static size_t panels_in(const struct matmul_grid *g, const struct plan *p)
{
    return g->panels[p->l + 1] - g->panels[p->l];
}

struct area matmul_grid_area(const struct matmul_grid *g, const struct plan *p, size_t area)
{
    const size_t across = divide_up(p->cols.count, p->wide), row = area / across * p->high,
                 col = area % across * p->wide;
    (void)g;
    return (struct area){row, smaller(p->high, p->rows.count - row), col,
                         smaller(p->wide, p->cols.count - col)};
}

/* Patches begin with different panels, so that not all ranks want the same from one at the same
 * time. */
struct part matmul_grid_panel(const struct matmul_grid *g, const struct plan *p, size_t step)
{
    int down, across;
    patch_of(g, &down, &across);
    const size_t panels = panels_in(g, p),
                 ways = (size_t)((g->pm + down - 1) / down + (g->pn + across - 1) / across - 1);
    return g->panel[g->panels[p->l] +
                    (step + panels * (size_t)(p->i / down + p->j / across) / ways) % panels];
}

struct region matmul_grid_region(const struct matmul_grid *g, const struct plan *p, size_t step,
                                 int operand)
{
    const struct area a = matmul_grid_area(g, p, step / panels_in(g, p));
    const struct part panel = matmul_grid_panel(g, p, step), rows = {p->rows.first + a.row, a.rows},
                      cols = {p->cols.first + a.col, a.cols};
    if (operand == OF_A)
        return trans_a(g->h.trans) ? (struct region){panel, rows} : (struct region){rows, panel};
    return trans_b(g->h.trans) ? (struct region){cols, panel} : (struct region){panel, cols};
}
