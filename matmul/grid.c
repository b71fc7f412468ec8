/* grid.c - the grid of ranks: which rank computes which block, areas and panels (see grid.h).
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

#include <math.h>

enum {
    CUT_GRAIN = 128,
    DIRECT_ROWS = 1024, /* of a slab, from which on panels end at its end */
    /* Ranks that take panels in the same order; more would queue at the rank that has the panel. */
    PATCH_RANKS = 8
};

/* ---- Ranges. --------------------------------------------------------------------------------- */

static size_t cut_granularity(size_t length, size_t parts)
{
    return length >= 4 * CUT_GRAIN * parts ? CUT_GRAIN : 1;
}

static size_t cut_position(size_t length, size_t k, size_t parts)
{
    const size_t grain = cut_granularity(length, parts), grains = divide_up(length, grain);
    return min_size(grains / parts * k + grains % parts * k / parts, grains) * grain;
}

struct range matmul_range(size_t length, int k, int parts)
{
    const size_t first = min_size(cut_position(length, (size_t)k, (size_t)parts), length);
    const size_t end = min_size(cut_position(length, (size_t)k + 1, (size_t)parts), length);
    return (struct range){first, end - first};
}

struct range matmul_intersect(struct range a, struct range b)
{
    const size_t first = a.first > b.first ? a.first : b.first,
                 end = min_size(range_end(a), range_end(b));
    return (struct range){first, first < end ? end - first : 0};
}

void matmul_partition(const stdcl_world *world, int rank, size_t rows, size_t *first, size_t *count)
{
    const struct range p = matmul_range(rows, rank, world_size(world));
    *first = p.first;
    *count = p.count;
}

size_t matmul_grid_rows(const struct matmul_grid *g, int operand)
{
    const bool trans = operand == OF_A ? is_trans_a(g->h.trans) : is_trans_b(g->h.trans);
    return operand == OF_A ? (trans ? g->h.k : g->h.m) : trans ? g->h.n : g->h.k;
}

struct range matmul_grid_slab(const struct matmul_grid *g, int operand, int rank)
{
    return matmul_range(matmul_grid_rows(g, operand), rank, g->ranks);
}

/* ---- The grid. ------------------------------------------------------------------------------- */

/* Predicted seconds of a product, for ranks that compute 2.5e13 multiply-adds/s and receive 45e9
 * bytes/s. Only the ratio matters. Transfers have a small cost even where they are hidden. */
static double grid_seconds(int ranks, double m, double n, double k, double real, int pm, int pn,
                           int pk)
{
    const double rate = 2.5e13, net = 45e9;
    const double rows = ceil(m / pm), cols = ceil(n / pn), depth = ceil(k / pk);
    const double work = rows * cols * depth / rate;
    const double received = real * (depth * (rows + cols) - k * (m + n) / ranks) / net;
    return fmax(work, received) + 0.01 * received + (pk - 1) * real * rows * cols / net;
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
                    grid_seconds(ranks, (double)m, (double)n, (double)k, (double)real, i, j, l);
                if (seconds >= least)
                    continue;
                least = seconds;
                *pm = i;
                *pn = j;
                *pk = l;
            }
}

/* Set the ranks down and across of a patch. */
static void patch_size(const struct matmul_grid *g, int *down, int *across)
{
    *down = g->pm;
    *across = g->pn;
    while (*down * *across > PATCH_RANKS)
        if (*down >= *across)
            *down = (*down + 1) / 2;
        else
            *across = (*across + 1) / 2;
}

/* Return the range of parts `first` to `end` - 1, of `parts` equal parts of a length. */
static struct range range_of_ranks(size_t length, int first, int end, int parts)
{
    const size_t begin = matmul_range(length, first, parts).first;
    return (struct range){begin, range_end(matmul_range(length, end - 1, parts)) - begin};
}

/* Return the subrange between two cumulative weights, where `all` is the weight of the whole
 * range. */
static struct range weighted_range(struct range whole, double from, double to, double all,
                                   size_t grain)
{
    const double scale = (double)whole.count / (double)grain / all;
    const size_t begin = min_size((size_t)(from * scale + 0.5) * grain, whole.count);
    const size_t end =
        to < all ? min_size((size_t)(to * scale + 0.5) * grain, whole.count) : whole.count;
    return (struct range){whole.first + begin, end - begin};
}

/* Weight of the slowest of the ranks that compute the parts of a block's depth. */
static double block_weight(const struct matmul_grid *g, int i, int j)
{
    double least = INFINITY;
    for (int l = 0; l < g->pk; l++)
        least = fmin(least, g->weight[(l * g->pm + i) * g->pn + j]);
    return least;
}

/* Divide a patch among its columns of ranks, and each column among its ranks, by weight. */
static void balance_patch(const struct matmul_grid *g, struct rank_plan *p)
{
    int down, across;
    patch_size(g, &down, &across);
    const int i0 = p->i / down * down, i1 = i0 + down < g->pm ? i0 + down : g->pm;
    const int j0 = p->j / across * across, j1 = j0 + across < g->pn ? j0 + across : g->pn;
    double left = 0, right = 0, all = 0; /* summed in one order, so that ranges are adjacent */
    double above = 0, below = 0, column = 0;
    for (int j = j0; j < j1; j++)
        for (int i = i0; i < i1; i++) {
            const double weight = block_weight(g, i, j);
            left += j < p->j ? weight : 0;
            right += j <= p->j ? weight : 0;
            all += weight;
            above += j == p->j && i < p->i ? weight : 0;
            below += j == p->j && i <= p->i ? weight : 0;
            column += j == p->j ? weight : 0;
        }
    p->cols = weighted_range(range_of_ranks(g->h.n, j0, j1, g->pn), left, right, all,
                             cut_granularity(g->h.n, (size_t)g->pn));
    p->rows = weighted_range(range_of_ranks(g->h.m, i0, i1, g->pm), above, below, column,
                             cut_granularity(g->h.m, (size_t)g->pm));
}

struct rank_plan matmul_grid_place(const struct matmul_grid *g, int rank)
{
    struct rank_plan p = {.i = rank / g->pn % g->pm, .j = rank % g->pn, .l = rank / g->pn / g->pm};
    if (p.l >= g->pk)
        return (struct rank_plan){.i = -1};
    p.rows = matmul_range(g->h.m, p.i, g->pm);
    p.cols = matmul_range(g->h.n, p.j, g->pn);
    if (g->weight)
        balance_patch(g, &p);
    return p;
}

void matmul_grid_shape(const struct matmul_grid *g, size_t panel_depth, bool on)
{
    const double each = g->devices / g->ranks,
                 cols = (double)g->h.n / g->pn / (each > 1 ? each : 1);
    const size_t as[3] = {divide_up(g->h.m, (size_t)g->pm), cols > 1 ? (size_t)cols : 1,
                          panel_depth};
    for (int i = 0; i < 3; i++)
        g->mm->shape_mnk[i] = on ? as[i] : 0;
}

/* Split the depth into panels. Return their number, and store them in `panel` unless it is NULL.
 * Panels end at the ends of slabs with many rows: such a panel comes from one rank, and a rank
 * reads its own panel in place. */
static size_t split_depth(const struct matmul_grid *g, size_t panel_depth, struct range depth,
                          struct range *panel)
{
    const struct range slab = matmul_range(g->h.k, 0, g->ranks);
    size_t n = 0;
    int owner = 0;
    for (size_t at = depth.first; at < range_end(depth); n++) {
        size_t end = min_size(at + panel_depth, range_end(depth));
        while (range_end(matmul_range(g->h.k, owner, g->ranks)) <= at)
            owner++;
        if (slab.count >= DIRECT_ROWS && panel_depth < g->h.k)
            end = min_size(end, range_end(matmul_range(g->h.k, owner, g->ranks)));
        if (panel)
            panel[n] = (struct range){at, end - at};
        at = end;
    }
    return n;
}

static int grid_make_panels(struct matmul_grid *g, size_t panel_depth)
{
    g->panels = calloc((size_t)g->pk + 1, sizeof *g->panels);
    if (!g->panels)
        return clerror_set(ENOMEM, "matmul_multiply: out of memory on the host");
    for (int l = 0; l < g->pk; l++)
        g->panels[l + 1] =
            g->panels[l] + split_depth(g, panel_depth, matmul_range(g->h.k, l, g->pk), NULL);
    g->panel = calloc(g->panels[g->pk] + 1, sizeof *g->panel);
    if (!g->panel)
        return clerror_set(ENOMEM, "matmul_multiply: out of memory on the host");
    for (int l = 0; l < g->pk; l++)
        split_depth(g, panel_depth, matmul_range(g->h.k, l, g->pk), g->panel + g->panels[l]);
    return 0;
}

static void grid_reduce_min(void *a, const void *b, void *arg)
{
    (void)arg;
    *(uint64_t *)a = *(const uint64_t *)b < *(uint64_t *)a ? *(const uint64_t *)b : *(uint64_t *)a;
}

int matmul_grid_make(struct matmul_grid *g, size_t area_rows, size_t area_cols, size_t panel_depth)
{
    const size_t ranks = (size_t)g->ranks;
    uint64_t least = panel_depth, own[2] = {area_rows, area_cols}, *all = calloc(ranks, sizeof own);
    g->plan = calloc(ranks, sizeof *g->plan);
    int status =
        all && g->plan ? 0 : clerror_set(ENOMEM, "matmul_multiply: out of memory on the host");
    if (world_reduce_status(g->mm->world, status) != 0 ||
        world_reduce(g->mm->world, &least, sizeof least, grid_reduce_min, NULL) != 0 ||
        world_gather(g->mm->world, own, sizeof own, all) != 0 ||
        world_reduce_status(g->mm->world, grid_make_panels(g, (size_t)least)) != 0) {
        free(all);
        return -1;
    }
    for (size_t r = 0; r < ranks; r++) {
        struct rank_plan *p = &g->plan[r];
        *p = matmul_grid_place(g, (int)r);
        p->area_rows = (size_t)all[2 * r];
        p->area_cols = (size_t)all[2 * r + 1];
        if (p->i < 0 || !p->rows.count || !p->cols.count)
            continue;
        p->areas = divide_up(p->rows.count, p->area_rows) * divide_up(p->cols.count, p->area_cols);
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

static size_t panel_count(const struct matmul_grid *g, const struct rank_plan *p)
{
    return g->panels[p->l + 1] - g->panels[p->l];
}

struct area matmul_grid_area(const struct matmul_grid *g, const struct rank_plan *p, size_t area)
{
    const size_t across = divide_up(p->cols.count, p->area_cols),
                 row = area / across * p->area_rows, col = area % across * p->area_cols;
    (void)g;
    return (struct area){row, min_size(p->area_rows, p->rows.count - row), col,
                         min_size(p->area_cols, p->cols.count - col)};
}

/* Patches start with different panels, so that not all ranks request the same panel at the same
 * time. */
struct range matmul_grid_panel(const struct matmul_grid *g, const struct rank_plan *p, size_t step)
{
    int down, across;
    patch_size(g, &down, &across);
    const size_t panels = panel_count(g, p),
                 ways = (size_t)((g->pm + down - 1) / down + (g->pn + across - 1) / across - 1);
    return g->panel[g->panels[p->l] +
                    (step + panels * (size_t)(p->i / down + p->j / across) / ways) % panels];
}

struct region matmul_grid_region(const struct matmul_grid *g, const struct rank_plan *p,
                                 size_t step, int operand)
{
    const struct area a = matmul_grid_area(g, p, step / panel_count(g, p));
    const struct range panel = matmul_grid_panel(g, p, step),
                       rows = {p->rows.first + a.row, a.rows},
                       cols = {p->cols.first + a.col, a.cols};
    if (operand == OF_A)
        return is_trans_a(g->h.trans) ? (struct region){panel, rows} : (struct region){rows, panel};
    return is_trans_b(g->h.trans) ? (struct region){cols, panel} : (struct region){panel, cols};
}
