/* nbody_ref_tree.c - scalar reference of the tree code; see nbody_ref_tree.h.
 *
 * Decisions are made in single precision, step by step as in the kernels. The file is compiled
 * without fused multiply-adds.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/reference/nbody_ref_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Hilbert keys. --------------------------------------------------------------------------- */

/* Move bits 0, 1, 2 ... of v to bits 0, 3, 6 ... */
static uint64_t ref_spread_bits(uint64_t v)
{
    v = (v | v << 32) & 0x1f00000000ffff;
    v = (v | v << 16) & 0x1f0000ff0000ff;
    v = (v | v << 8) & 0x100f00f00f00f00f;
    v = (v | v << 4) & 0x10c30c30c30c30c3;
    return (v | v << 2) & 0x1249249249249249;
}

uint64_t nbody_ref_hilbert(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t X[3] = {x, y, z};
    for (uint32_t q = 1u << (TREE_LEVELS - 1); q > 1; q >>= 1)
        for (int i = 0; i < 3; i++) {
            const uint32_t p = q - 1, t = (X[0] ^ X[i]) & p;
            if (X[i] & q)
                X[0] ^= p;
            else
                X[0] ^= t, X[i] ^= t;
        }
    X[1] ^= X[0];
    X[2] ^= X[1];
    uint32_t t = 0;
    for (uint32_t q = 1u << (TREE_LEVELS - 1); q > 1; q >>= 1)
        if (X[2] & q)
            t ^= q - 1;
    return ref_spread_bits(X[0] ^ t) << 2 | ref_spread_bits(X[1] ^ t) << 1 |
           ref_spread_bits(X[2] ^ t);
}

/* ---- Sort. ----------------------------------------------------------------------------------- */

static float ref_cube_side(float extent)
{
    return extent > 0x1p-100f ? ldexpf(1, ilogbf(extent) + 1) : 0x1p-99f;
}

/* Root cube: its side is a power of two above the extent of the bodies, its corner their least
 * coordinates, rounded down. */
static void ref_root_cube(struct nbody_ref_tree *t, size_t n, const float (*posm)[4])
{
    float extent = 0, hi[3];
    for (int c = 0; c < 3; c++) {
        t->lo[c] = hi[c] = posm[0][c];
        for (size_t i = 1; i < n; i++) {
            t->lo[c] = posm[i][c] < t->lo[c] ? posm[i][c] : t->lo[c];
            hi[c] = posm[i][c] > hi[c] ? posm[i][c] : hi[c];
        }
        extent = hi[c] - t->lo[c] > extent ? hi[c] - t->lo[c] : extent;
    }
    t->side = 1;
    if (!(extent > 0))
        return;
    const float step = ref_cube_side(extent) / 8;
    for (int c = 0; c < 3; c++) {
        t->lo[c] = floorf(t->lo[c] / step) * step;
        extent = hi[c] - t->lo[c] > extent ? hi[c] - t->lo[c] : extent;
    }
    t->side = ref_cube_side(extent);
}

static uint64_t ref_key(const struct nbody_ref_tree *t, const float *p)
{
    const uint32_t most = (1u << TREE_LEVELS) - 1;
    uint32_t q[3];
    for (int c = 0; c < 3; c++) {
        const float scaled = (p[c] - t->lo[c]) * (0x1p21f / t->side);
        q[c] = scaled < (float)most ? (uint32_t)scaled : most;
    }
    return nbody_ref_hilbert(q[0], q[1], q[2]);
}

struct pair {
    uint64_t key;
    uint32_t from;
};

static int ref_compare_keys(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return p->from < q->from ? -1 : p->from > q->from;
}

static int ref_sort(struct nbody_ref_tree *t, const float (*posm)[4])
{
    struct pair *pair = malloc(t->n * sizeof *pair);
    if (!pair)
        return -1;
    for (size_t i = 0; i < t->n; i++)
        pair[i] = (struct pair){ref_key(t, posm[i]), (uint32_t)i};
    qsort(pair, t->n, sizeof *pair, ref_compare_keys);
    for (size_t i = 0; i < t->n; i++) {
        t->key[i] = pair[i].key;
        t->order[i] = pair[i].from;
        memcpy(t->body[i], posm[pair[i].from], sizeof t->body[i]);
    }
    free(pair);
    return 0;
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

/* Return the end of the child that begins at body i, in a cell of `level` that ends at `end`. */
static size_t ref_child_end(const struct nbody_ref_tree *t, size_t i, size_t end, int level)
{
    const int shift = 3 * (TREE_LEVELS - 1 - level);
    size_t j = i + 1;
    while (j < end && t->key[j] >> shift == t->key[i] >> shift)
        j++;
    return j;
}

/* Divide cells in the order of their creation: children are consecutive, and so are the cells of a
 * level. */
static int ref_divide_cells(struct nbody_ref_tree *t)
{
    size_t room = 2 * t->n + 64 * TREE_LEVELS, level_end = 1;
    int level = 0;
    t->start = malloc(room * sizeof *t->start);
    t->bodies = malloc(room * sizeof *t->bodies);
    t->link = malloc(room * sizeof *t->link);
    if (!t->start || !t->bodies || !t->link)
        return -1;
    t->start[0] = 0;
    t->bodies[0] = (uint32_t)t->n;
    t->cells = 1;
    for (size_t k = 0; k < t->cells; k++) {
        const size_t first = t->start[k], count = t->bodies[k];
        if (k == level_end) {
            t->level[++level] = (uint32_t)k;
            level_end = t->cells;
        }
        t->link[k] = (struct nbody_ref_link){(int32_t)first, -(int32_t)count};
        if (count <= t->leaf || level == TREE_LEVELS)
            continue;
        t->link[k] = (struct nbody_ref_link){(int32_t)t->cells, 0};
        for (size_t i = first; i < first + count; t->cells++) {
            if (t->cells == room)
                return -1;
            t->start[t->cells] = (uint32_t)i;
            i = ref_child_end(t, i, first + count, level);
            t->bodies[t->cells] = (uint32_t)(i - t->start[t->cells]);
            t->link[k].count++;
        }
    }
    while (level <= TREE_LEVELS)
        t->level[++level] = (uint32_t)t->cells;
    return 0;
}

static int ref_level(const struct nbody_ref_tree *t, size_t cell)
{
    int level = 0;
    while (t->level[level + 1] <= cell)
        level++;
    return level;
}

/* Index of a symmetric tensor's component with b indices y or z, c of them z. */
static int ref_tensor_index(int b, int c)
{
    return b * (b + 1) / 2 + c;
}

/* Index of the component whose `order` tensor indices are base-3 digits of `indices`. */
static int ref_tensor_part(int indices, int order)
{
    int b = 0, c = 0;
    for (; order > 0; order--, indices /= 3) {
        b += indices % 3 > 0;
        c += indices % 3 > 1;
    }
    return ref_tensor_index(b, c);
}

/* Add the products of second to fourth order of an offset's coordinates. */
static void ref_add_products(double raw[31], double m, const double d[3])
{
    double power[3][5];
    for (int c = 0; c < 3; c++)
        for (int p = 0; p < 5; p++)
            power[c][p] = p ? power[c][p - 1] * d[c] : 1;
    for (int order = 2, first = 0; order <= 4; first += (order + 1) * (order + 2) / 2, order++)
        for (int b = 0; b <= order; b++)
            for (int c = 0; c <= b; c++)
                raw[first + ref_tensor_index(b, c)] +=
                    m * power[0][order - b] * power[1][b - c] * power[2][c];
}

/* Convert raw sums to a multipole as multipole.cl stores it: 3 sum m d d and half its trace, or
 * traceless tensors. */
static void ref_keep_multipole(const double raw[31], double side, int moments, float kept[32])
{
    const double *q = raw, *o = raw + 6, *h = raw + 16, square = q[0] + q[3] + q[5];
    double v[3], t[6], all = 0;
    if (moments == 2) {
        for (int c = 0; c < 6; c++)
            kept[c] = (float)(3 * side * side * q[c]);
        kept[6] = (float)(1.5 * side * side * square);
        return;
    }
    for (int i = 0; i < 3; i++)
        v[i] = o[ref_tensor_part(i, 3)] + o[ref_tensor_part(i + 3 + 9, 3)] +
               o[ref_tensor_part(i + 6 + 18, 3)];
    for (int i = 0; i < 9; i++)
        t[ref_tensor_part(i, 2)] = h[ref_tensor_part(i, 4)] + h[ref_tensor_part(i + 36, 4)] +
                                   h[ref_tensor_part(i + 72, 4)];
    all = t[0] + t[3] + t[5];
    kept[0] = (float)side;
    kept[1] = (float)square;
    for (int i = 0; i < 3; i++)
        kept[2 + i] = (float)(3 * v[i]);
    for (int i = 0; i < 9; i++)
        kept[5 + ref_tensor_part(i, 2)] =
            (float)(3 * (q[ref_tensor_part(i, 2)] - (i % 4 == 0 ? square / 3 : 0)));
    for (int n = 0; n < 26; n++) { /* all except zzz */
        const int i = n % 3, j = n / 3 % 3, k = n / 9;
        const double traces = (i == j ? v[k] : 0) + (i == k ? v[j] : 0) + (j == k ? v[i] : 0);
        kept[11 + ref_tensor_part(n, 3)] = (float)(7.5 * (o[ref_tensor_part(n, 3)] - traces / 5));
    }
    for (int n = 0; n < 81; n++) {
        const int x[4] = {n % 3, n / 3 % 3, n / 9 % 3, n / 27}, to = ref_tensor_part(n, 4);
        double one = 0;
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++) {
                const int c = a > 0 ? 0 : b > 1 ? 1 : 2, d = 6 - a - b - c;
                one += x[a] == x[b] ? t[ref_tensor_part(x[c] + 3 * x[d], 2)] / 7 -
                                          (x[c] == x[d] ? all / 70 : 0)
                                    : 0;
            }
        if (to < 9 || (to > 9 && to < 13)) /* all except xzzz, yzzz, zzzz */
            kept[20 + to - (to > 9)] = (float)(17.5 * (h[to] - one));
    }
}

static void ref_cell_moments(struct nbody_ref_tree *t, size_t k, int geometric, double com_margin)
{
    const float(*body)[4] = (const float(*)[4])t->body + t->start[k];
    const double l = ldexp(t->side, -ref_level(t, k));
    double mass = 0, com[3] = {0, 0, 0}, b2 = 0;
    for (size_t i = 0; i < t->bodies[k]; i++) {
        mass += body[i][3];
        for (int c = 0; c < 3; c++)
            com[c] += body[i][3] * ((double)body[i][c] - body[0][c]);
    }
    for (int c = 0; c < 3; c++)
        com[c] = body[0][c] + (mass > 0 ? com[c] / mass : 0);
    for (size_t i = 0; i < t->bodies[k]; i++) {
        const double d[3] = {(body[i][0] - com[0]) / l, (body[i][1] - com[1]) / l,
                             (body[i][2] - com[2]) / l};
        ref_add_products(t->raw[k], body[i][3], d);
        b2 = fmax(b2, l * l * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    for (int c = 0; c < 3; c++)
        t->com[k][c] = (float)com[c];
    t->com[k][3] = (float)mass;
    ref_keep_multipole(t->raw[k], l, t->moments, t->multipoles[k]);
    const double off = cbrt(mass * fmax(fabs(com[0]), fmax(fabs(com[1]), fabs(com[2])))),
                 wide = cbrt((double)t->side);
    const double x = t->moments == 2
                         ? fmax(sqrt(mass) * l, com_margin * off * off * wide)
                         : fmax(cbrt(mass * l) * l, com_margin * off * off * wide * wide);
    t->size[k][0] = (float)(geometric ? l * l : x);
    t->size[k][1] = (float)(1.001 * 1.001 * b2);
}

int nbody_ref_tree_build(struct nbody_ref_tree *t, size_t n, const float (*posm)[4], size_t leaf,
                         int moments_, int geometric, double com_margin)
{
    *t = (struct nbody_ref_tree){.n = n,
                                 .leaf = leaf,
                                 .moments = moments_,
                                 .key = malloc(n * sizeof *t->key),
                                 .order = malloc(n * sizeof *t->order),
                                 .body = malloc(n * sizeof *t->body)};
    if (!t->key || !t->order || !t->body)
        return nbody_ref_tree_free(t), -1;
    ref_root_cube(t, n, posm);
    if (ref_sort(t, posm) != 0 || ref_divide_cells(t) != 0)
        return nbody_ref_tree_free(t), -1;
    t->com = malloc(t->cells * sizeof *t->com);
    t->multipoles = calloc(t->cells, sizeof *t->multipoles);
    t->raw = calloc(t->cells, sizeof *t->raw);
    t->size = malloc(t->cells * sizeof *t->size);
    if (!t->com || !t->multipoles || !t->raw || !t->size)
        return nbody_ref_tree_free(t), -1;
    for (size_t k = 0; k < t->cells; k++)
        ref_cell_moments(t, k, geometric, com_margin);
    return 0;
}

void nbody_ref_tree_free(struct nbody_ref_tree *t)
{
    void *const blocks[] = {t->key,  t->order, t->body,       t->start, t->bodies,
                            t->link, t->com,   t->multipoles, t->raw,   t->size};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        free(blocks[b]);
    *t = (struct nbody_ref_tree){0};
}

/* ---- Walks. ---------------------------------------------------------------------------------- */

struct box {
    float lo[3], hi[3];
};

static struct box ref_group_box(const struct nbody_ref_tree *t, size_t first, size_t count)
{
    struct box b;
    for (int c = 0; c < 3; c++) {
        b.lo[c] = b.hi[c] = t->body[first][c];
        for (size_t i = first; i < first + count; i++) {
            b.lo[c] = t->body[i][c] < b.lo[c] ? t->body[i][c] : b.lo[c];
            b.hi[c] = t->body[i][c] > b.hi[c] ? t->body[i][c] : b.hi[c];
        }
    }
    return b;
}

static int ref_is_far(const struct nbody_ref_tree *t, size_t k, const struct box *b, float g2)
{
    float e[3];
    for (int c = 0; c < 3; c++) {
        const float below = b->lo[c] - t->com[k][c], above = t->com[k][c] - b->hi[c];
        e[c] = below > above ? below : above;
        e[c] = e[c] > 0 ? e[c] : 0;
    }
    const float xx = e[0] * e[0], yy = e[1] * e[1], zz = e[2] * e[2], limit = t->size[k][0] * g2;
    const float d2 = xx + yy + zz;
    return d2 > limit && d2 > t->size[k][1];
}

/* Return the number of cells to pop from a stack of `size` cells: at least one, and few enough
 * that their children fit. The margin of 7 cells per level suffices for a depth-first walk. */
static size_t ref_cells_taken(size_t size, size_t lanes, size_t room)
{
    const size_t margin = 7 * (TREE_LEVELS + 1),
                 fit = size + margin < room ? (room - margin - size) / 7 : 0;
    size_t k = lanes < size ? lanes : size;
    k = fit < k ? fit : k;
    return k ? k : 1;
}

void nbody_ref_tree_walk(const struct nbody_ref_tree *t, size_t first, size_t count, float g2,
                         size_t lanes, size_t room, struct nbody_ref_lists *lists)
{
    const struct box box = ref_group_box(t, first, count);
    uint32_t stack[room], cell[lanes];
    size_t size = 1;
    stack[0] = 0;
    lists->cells = lists->bodies = 0;
    while (size > 0) {
        const size_t k = ref_cells_taken(size, lanes, room);
        size_t children = 0, at;
        for (size_t lane = 0; lane < k; lane++)
            cell[lane] = stack[--size];
        for (size_t lane = 0; lane < k; lane++) {
            const uint32_t c = cell[lane];
            const struct nbody_ref_link link = t->link[c];
            const int some = t->com[c][3] > 0, point = t->size[c][1] == 0 && link.count != -1;
            const int met = some && !point && ref_is_far(t, c, &box, g2) && link.count != -1;
            if (met)
                lists->cell[lists->cells++] = c;
            else if (some && point)
                lists->body[lists->bodies++] = c | NBODY_REF_POINT;
            else if (some && link.count < 0)
                for (int32_t i = 0; i < -link.count; i++)
                    lists->body[lists->bodies++] = (uint32_t)(link.first + i);
            cell[lane] = some && !met && !point && link.count > 0 ? c : UINT32_MAX;
            children += cell[lane] != UINT32_MAX ? (size_t)link.count : 0;
        }
        /* the first child of the first cell ends on top */
        at = size += children;
        for (size_t lane = 0; lane < k; lane++)
            for (int32_t i = 0; cell[lane] != UINT32_MAX && i < t->link[cell[lane]].count; i++)
                stack[--at] = (uint32_t)(t->link[cell[lane]].first + i);
    }
}

/* ---- Sums. ----------------------------------------------------------------------------------- */

/* Add the force of a body; a coincident body without softening adds none. */
static void ref_body_force(const float *at, const float *from, double eps2, double acc[3],
                           double *phi)
{
    double d[3], r2 = eps2;
    for (int c = 0; c < 3; c++) {
        d[c] = (double)from[c] - at[c];
        r2 += d[c] * d[c];
    }
    if (r2 == 0)
        return;
    const double w = from[3] / sqrt(r2);
    *phi -= w;
    for (int c = 0; c < 3; c++)
        acc[c] += w / r2 * d[c];
}

/* Add to phi and its gradient g a term tensor x .. x (`order` factors) times factor u^power, with
 * u = (x^2 + eps^2)^-1/2. For a symmetric tensor the gradient is `order` times the contraction
 * with one x less. */
static void ref_add_term(const double *tensor, int order, double factor, int power, double u,
                         const double x[3], double *phi, double g[3])
{
    const int parts = order == 1 ? 3 : order == 2 ? 9 : order == 3 ? 27 : 81;
    const double scale = factor * pow(u, power);
    double left[3] = {0, 0, 0}, all = order > 0 ? 0 : *tensor;
    for (int n = 0; n < parts && order > 0; n++) {
        double product = tensor[ref_tensor_part(n, order)];
        for (int k = 1, rest = n / 3; k < order; k++, rest /= 3)
            product *= x[rest % 3];
        left[n % 3] += product;
        all += product * x[n % 3];
    }
    *phi += scale * all;
    for (int c = 0; c < 3; c++)
        g[c] += scale * (order * left[c] - power * u * u * all * x[c]);
}

/* Add the force of a cell: sum over n of (-1)^n / n! sum m d^n (d/dx)^n u. All traces are kept, as
 * softened potentials need them. */
static void ref_cell_force(const struct nbody_ref_tree *t, size_t k, const float *at_, double eps2,
                           double acc[3], double *phi)
{
    const double mass = t->com[k][3], l = ldexp(t->side, -ref_level(t, k));
    const double x[3] = {((double)at_[0] - t->com[k][0]) / l, ((double)at_[1] - t->com[k][1]) / l,
                         ((double)at_[2] - t->com[k][2]) / l};
    const double u = 1 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + eps2 / (l * l));
    const double *q = t->raw[k], *o = q + 6, *h = q + 16, square = q[0] + q[3] + q[5];
    double v[3], trace[6], p = 0, g[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        v[i] = o[ref_tensor_part(i, 3)] + o[ref_tensor_part(i + 12, 3)] +
               o[ref_tensor_part(i + 24, 3)];
    for (int i = 0; i < 9; i++)
        trace[ref_tensor_part(i, 2)] = h[ref_tensor_part(i, 4)] + h[ref_tensor_part(i + 36, 4)] +
                                       h[ref_tensor_part(i + 72, 4)];
    const double all = trace[0] + trace[3] + trace[5];
    ref_add_term(&mass, 0, 1, 1, u, x, &p, g);
    ref_add_term(&square, 0, -1. / 2, 3, u, x, &p, g);
    ref_add_term(q, 2, 3. / 2, 5, u, x, &p, g);
    if (t->moments == 4) {
        ref_add_term(v, 1, -3. / 2, 5, u, x, &p, g);
        ref_add_term(o, 3, 5. / 2, 7, u, x, &p, g);
        ref_add_term(&all, 0, 3. / 8, 5, u, x, &p, g);
        ref_add_term(trace, 2, -15. / 4, 7, u, x, &p, g);
        ref_add_term(h, 4, 35. / 8, 9, u, x, &p, g);
    }
    *phi -= p / l;
    for (int c = 0; c < 3; c++)
        acc[c] += g[c] / (l * l);
}

void nbody_ref_tree_pull(const struct nbody_ref_tree *t, const struct nbody_ref_lists *lists,
                         size_t i, double eps, double acc[3], double *potential)
{
    double a[3] = {0, 0, 0}, phi = 0;
    for (size_t e = 0; e < lists->cells; e++)
        ref_cell_force(t, lists->cell[e], t->body[i], eps * eps, a, &phi);
    for (size_t e = 0; e < lists->bodies; e++) {
        const uint32_t j = lists->body[e];
        if (j & NBODY_REF_POINT)
            ref_body_force(t->body[i], t->com[j & ~NBODY_REF_POINT], eps * eps, a, &phi);
        else if (j != i)
            ref_body_force(t->body[i], t->body[j], eps * eps, a, &phi);
    }
    if (acc)
        memcpy(acc, a, sizeof a);
    if (potential)
        *potential = phi;
}
