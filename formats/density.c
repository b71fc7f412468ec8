/* density.c - surface density without graininess, in time proportional to bodies plus pixels.
 *
 * A pyramid of grids, level l with cells of 2^l pixels. A body goes to the finest level where enough
 * others share its cell, shared between two levels by the fraction, so that spots grow steadily where
 * bodies grow sparse. Then the levels are summed from coarse to fine, each refined as a quadratic
 * B-spline (the subdivision of Chaikin 1974), which makes every spot smooth without drawing any of them:
 *
 *   level 2  [   3   ][   1   ]          a body enters 3 x 3 cells of a level (triangular-shaped cloud,
 *   level 1  [ 0 ][ 2 ][ 1 ][ 0 ]        Hockney & Eastwood 1981), and all of a level costs four
 *   level 0  [][][1][][2][][][]          multiplications a cell.
 * SPDX-License-Identifier: MIT
 */
#include "formats/density.h"

#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

enum { MOST_LEVELS = 12 };

/* A cell is fine enough with so many bodies, and with so many times the body's own mass. About four cells
 * overlap a spot, so a pixel of the picture averages over four times as many. */
static const double enough = 20;

/* How much of a body is drawn as a sharp point: with 0 a galaxy looks like fog, with 10 like sand. */
static const double sparkle = 4, most_sparkle = 0.3;

/* Cells of the coarsest level take up this part of the picture. */
enum { COARSEST = 12 };

struct level {
    size_t width, height; /* cells */
    double *cell;         /* [height][width], mass or number in each */
};

/* All levels start at pixel (-margin, -margin), so that bodies just outside the picture brighten its edge. */
struct pyramid {
    int levels;
    double margin;
    struct level level[MOST_LEVELS];
    double *cells; /* of all levels */
};

static int pyramid_create(struct pyramid *p, const struct view *view, int levels)
{
    size_t total = 0, margin = (size_t)4 << (levels - 1);
    *p = (struct pyramid){.levels = levels, .margin = (double)margin};
    for (int l = 0; l < levels; l++) {
        size_t size = (size_t)1 << l;
        p->level[l].width = (view->width + 2 * margin + size - 1) / size;
        p->level[l].height = (view->height + 2 * margin + size - 1) / size;
        total += p->level[l].width * p->level[l].height;
    }
    p->cells = calloc(total, sizeof *p->cells);
    if (!p->cells)
        return clerror_set(ENOMEM, "no memory for a picture of %u x %u (%.0f MiB)", view->width, view->height,
                           (double)total * sizeof *p->cells / 1048576);
    double *cell = p->cells;
    for (int l = 0; l < levels; l++) {
        p->level[l].cell = cell;
        cell += p->level[l].width * p->level[l].height;
    }
    return 0;
}

/* ---- A body and its 3 x 3 cells. ------------------------------------------------------------- */

struct cloud {
    double *first; /* the upper left of the nine */
    size_t stride;
    double wx[3], wy[3]; /* sum 1 each */
};

static void weigh(double distance, double w[3])
{
    w[0] = 0.5 * (0.5 - distance) * (0.5 - distance);
    w[1] = 0.75 - distance * distance;
    w[2] = 0.5 * (0.5 + distance) * (0.5 + distance);
}

/* Where pixel (u, v) falls on level l; false when it is too far outside. */
static bool cloud_at(const struct pyramid *p, int l, double u, double v, struct cloud *c)
{
    const struct level *level = &p->level[l];
    double x = ldexp(u + p->margin, -l), y = ldexp(v + p->margin, -l);
    if (!(x >= 1 && y >= 1 && x < (double)level->width - 1 && y < (double)level->height - 1))
        return false; /* NaN too */
    size_t column = (size_t)x, row = (size_t)y;
    weigh(x - (double)column - 0.5, c->wx);
    weigh(y - (double)row - 0.5, c->wy);
    c->stride = level->width;
    c->first = level->cell + (row - 1) * c->stride + (column - 1);
    return true;
}

static void cloud_add(const struct cloud *c, double mass)
{
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; i < 3; i++)
            c->first[j * c->stride + i] += mass * c->wy[j] * c->wx[i];
}

static double cloud_mean(const struct cloud *c)
{
    double sum = 0;
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; i < 3; i++)
            sum += c->first[j * c->stride + i] * c->wy[j] * c->wx[i];
    return sum;
}

static void project(const struct view *view, const double at[3], double *u, double *v)
{
    *u = (at[view->axis[0]] - view->centre[0]) * view->scale + 0.5 * view->width;
    *v = (view->centre[1] - at[view->axis[1]]) * view->scale + 0.5 * view->height;
}

/* ---- Levels. --------------------------------------------------------------------------------- */

/* Sums 2 x 2 cells into one of the next level. */
static void coarsen(const struct level *fine, const struct level *coarse)
{
    for (size_t y = 0; y < fine->height; y++)
        for (size_t x = 0; x < fine->width; x++)
            coarse->cell[(y / 2) * coarse->width + x / 2] += fine->cell[y * fine->width + x];
}

/* Adds a level to the next finer one: a cell's mass goes to its four quarters, each mixed with that of
 * the neighbour it is nearest to, 3 : 1 in x and in y. Outside is empty. */
static void refine(const struct level *coarse, const struct level *fine)
{
    for (size_t y = 0; y < fine->height; y++) {
        size_t row = y / 2, next = y % 2 ? row + 1 : row - 1; /* row - 1 of 0 is huge, and so outside */
        const double *a = coarse->cell + row * coarse->width;
        const double *b = next < coarse->height ? coarse->cell + next * coarse->width : NULL;
        for (size_t x = 0; x < fine->width; x++) {
            size_t column = x / 2, beside = x % 2 ? column + 1 : column - 1;
            double sum = 9 * a[column] + (b ? 3 * b[column] : 0);
            if (beside < coarse->width)
                sum += 3 * a[beside] + (b ? b[beside] : 0);
            fine->cell[y * fine->width + x] += sum * (1.0 / 64); /* 1/4 of the mass times 1/16 */
        }
    }
}

/* The level, with a fraction, at which the cell around (u, v) holds so much. */
static double level_holding(const struct pyramid *p, double amount, double u, double v)
{
    double before = 0;
    for (int l = 0; l < p->levels; l++) {
        struct cloud c;
        if (!cloud_at(p, l, u, v, &c))
            break;
        double held = cloud_mean(&c);
        if (held >= amount)
            return l == 0 ? 0 : l - 1 + log(amount / before) / log(held / before);
        before = held;
    }
    return p->levels - 1;
}

/* Fills a pyramid with the masses, or the numbers, in cells of all sizes. */
static void weigh_cells(const struct pyramid *p, const struct view *view, size_t n, const double *mass,
                        const double (*pos)[3])
{
    for (size_t i = 0; i < n; i++) {
        double u, v;
        struct cloud c;
        project(view, pos[i], &u, &v);
        if (cloud_at(p, 0, u, v, &c))
            cloud_add(&c, mass ? mass[i] : 1);
    }
    for (int l = 1; l < p->levels; l++)
        coarsen(&p->level[l - 1], &p->level[l]);
}

/* Adds a body at a level with a fraction: to the two levels around it. */
static void add_body(const struct pyramid *masses, double level, double u, double v, double mass)
{
    int below = (int)level;
    double rest = level - below;
    struct cloud c;
    if (cloud_at(masses, below, u, v, &c))
        cloud_add(&c, mass * (1 - rest));
    if (rest > 0 && cloud_at(masses, below + 1, u, v, &c))
        cloud_add(&c, mass * rest);
}

static void sum_up(const struct pyramid *masses, const struct view *view, double *map)
{
    for (int l = masses->levels - 1; l > 0; l--)
        refine(&masses->level[l], &masses->level[l - 1]);
    const struct level *finest = &masses->level[0];
    size_t margin = (size_t)masses->margin;
    for (size_t y = 0; y < view->height; y++)
        memcpy(map + y * view->width, finest->cell + (y + margin) * finest->width + margin,
               view->width * sizeof *map);
}

/* ---- The whole. ------------------------------------------------------------------------------ */

static int level_count(const struct view *view)
{
    unsigned side = view->width < view->height ? view->width : view->height;
    int levels = 1;
    while (levels < MOST_LEVELS && (unsigned)COARSEST << levels < 2 * side)
        levels++;
    return levels;
}

/* The part of a body's mass that stays in a point. Its surroundings hold enough / 4^level bodies a pixel,
 * and a part p of a body makes its pixel brighter by about p / 2; the ratio of the two is to be the same
 * everywhere. */
static double sharp_part(double level)
{
    return fmin(most_sparkle, sparkle * enough * exp2(-2 * level));
}

/* Whether one pyramid serves for both: number and mass are in proportion. */
static bool equal_masses(size_t n, const double *mass)
{
    for (size_t i = 1; mass && i < n; i++)
        if (mass[i] != mass[0])
            return false;
    return true;
}

static void spread(const struct pyramid *spots, const struct pyramid *number, const struct pyramid *weight,
                   const struct view *view, size_t n, const double *mass, const double (*pos)[3])
{
    for (size_t i = 0; i < n; i++) {
        double u, v, m = mass ? mass[i] : 1;
        project(view, pos[i], &u, &v);
        double level = level_holding(number, enough, u, v);
        if (weight->cells)
            level = fmax(level, level_holding(weight, enough * m, u, v));
        double point = sharp_part(level);
        add_body(spots, level, u, v, m * (1 - point));
        add_body(spots, 0, u, v, m * point);
    }
}

int density_map(const struct view *view, size_t n, const double *mass, const double (*pos)[3], double *map)
{
    struct pyramid number = {0}, weight = {0}, spots = {0};
    bool alike = equal_masses(n, mass);
    int levels = level_count(view), status = 0;
    if (pyramid_create(&spots, view, levels) < 0 || pyramid_create(&number, view, levels) < 0 ||
        (!alike && pyramid_create(&weight, view, levels) < 0)) {
        status = -1;
    } else {
        weigh_cells(&number, view, n, NULL, pos);
        if (!alike)
            weigh_cells(&weight, view, n, mass, pos);
        spread(&spots, &number, &weight, view, n, mass, pos);
        sum_up(&spots, view, map);
    }
    free(number.cells);
    free(weight.cells);
    free(spots.cells);
    return status;
}

/* ---- A few bodies. --------------------------------------------------------------------------- */

/* A Gaussian out to four standard deviations. */
static void add_dot(const struct view *view, double u, double v, double width, double *map)
{
    double reach = 4 * width;
    if (!(u > -reach && v > -reach && u < view->width + reach && v < view->height + reach))
        return;
    for (double y = fmax(0, floor(v - reach)); y < view->height && y < v + reach; y++)
        for (double x = fmax(0, floor(u - reach)); x < view->width && x < u + reach; x++) {
            double dx = x + 0.5 - u, dy = y + 0.5 - v;
            map[(size_t)y * view->width + (size_t)x] += exp(-0.5 * (dx * dx + dy * dy) / (width * width));
        }
}

void density_dots(const struct view *view, double width, size_t n, const double (*pos)[3], double *map)
{
    memset(map, 0, (size_t)view->width * view->height * sizeof *map);
    for (size_t i = 0; i < n; i++) {
        double u, v;
        project(view, pos[i], &u, &v);
        add_dot(view, u, v, width, map);
    }
}

/* Dots so near to each other that they join. */
static void add_line(const struct view *view, double width, const double from[3], const double to[3], double *map)
{
    double u0, v0, u1, v1;
    project(view, from, &u0, &v0);
    project(view, to, &u1, &v1);
    const double length = hypot(u1 - u0, v1 - v0) / width;
    if (!(length < 1e6)) /* NaN too */
        return;
    for (double done = 0; done < length; done++)
        add_dot(view, u0 + (u1 - u0) * done / length, v0 + (v1 - v0) * done / length, width, map);
}

void density_paths(const struct view *view, double width, size_t n, size_t points, const double (*pos)[3], double *map)
{
    memset(map, 0, (size_t)view->width * view->height * sizeof *map);
    for (size_t k = 1; k < points; k++)
        for (size_t i = 0; i < n; i++)
            add_line(view, width, pos[(k - 1) * n + i], pos[k * n + i], map);
}
