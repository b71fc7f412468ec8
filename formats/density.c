/* density.c - surface density without grain, in time proportional to bodies plus pixels.
 *
 * A pyramid of grids: level l has cells of 2^l pixels. A body enters the finest level as a
 * quadratic B-spline over 3 x 3 cells (triangular-shaped cloud, Hockney & Eastwood 1981). Such a
 * spline is the sum of narrower ones with the weights 1 3 3 1 (Chaikin 1974), and that rule
 * connects two levels:
 *
 *   level 2  [   2   ][   3   ]     restrict: cells add their contents to the coarser level, as
 *   level 1  [ 1 ][ 3 ][ 3 ][ 1 ]             if the bodies had entered there
 *   level 0  [][][][][][][][]       refine: cells spread their contents over the finer level
 *
 * First everything is restricted, which counts the bodies per cell at every size. Then mass rises
 * from level to level until enough bodies share its cell, between two levels by the fraction, so
 * that spots grow smoothly where bodies become sparse. Finally the levels are summed from coarse to
 * fine. Every level extends four cells beyond the picture: bodies outside the finest level enter
 * the first level that holds them, and brighten the edge.
 * SPDX-License-Identifier: MIT
 */
#include "formats/density.h"

#include "formats/parallel.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

enum {
    MOST_LEVELS = 14,
    EDGE = 4 /* cells beyond the picture */,
    PAD = 8,
    MOST_WIDTH = 16384 + 2 * EDGE
};

/* Contents of a cell. */
enum plane {
    MASS,                                  /* then one plane per shade, of mass times shade */
    HELD = MASS + 1 + DENSITY_MOST_SHADES, /* mass of all bodies that share the cell */
    NUMBER, /* effective number of bodies; before, the sum of their squared masses */
    STAYS,  /* fraction of its mass that does not rise */
    HEIGHT, /* mean level that its mass reaches */
    PLANES
};

/* Number of bodies at which a cell is fine enough. About four cells overlap a spot, so a pixel of
 * the picture averages over four times as many. */
static const float enough = 20;

/* How much of a body is drawn as a sharp point: with 0 a galaxy looks like fog, with 10 like sand.
 */
static const float sparkle = 3, most_sparkle = 0.3f;

/* Cells of the coarsest level cover this fraction of the picture. */
enum { COARSEST = 12 };

/* A pass over fewer rows is not worth a thread. */
enum { LEAST_ROWS = 64 };

struct level {
    size_t width, height; /* cells, even */
    float *plane[PLANES]; /* [height][width]; NULL: not needed */
};

struct pyramid {
    int levels;
    size_t shades;
    float mass; /* common mass; 0: masses differ */
    struct level level[MOST_LEVELS];
    float *cells; /* of all levels and planes */
};

/* ---- The pyramid. ---------------------------------------------------------------------------- */

static size_t even(size_t n)
{
    return n + n % 2;
}

static int level_count(const struct projection *view)
{
    const unsigned side = view->width < view->height ? view->width : view->height;
    int levels = 1;
    while (levels < MOST_LEVELS && (unsigned)COARSEST << levels < 2 * side)
        levels++;
    return levels;
}

/* The finest level has no HELD plane: it equals MASS there. */
static bool has_plane(const struct pyramid *p, int l, int plane)
{
    return plane < HELD ? (size_t)plane <= p->shades : plane != HELD || l > 0;
}

static int pyramid_create(struct pyramid *p, const struct projection *view, size_t shades)
{
    size_t total = 0, done = 0;
    *p = (struct pyramid){.levels = level_count(view), .shades = shades};
    for (int l = 0; l < p->levels; l++) {
        struct level *level = &p->level[l];
        level->width = l ? even(p->level[l - 1].width / 2 + EDGE) : even(view->width + 2 * EDGE);
        level->height = l ? even(p->level[l - 1].height / 2 + EDGE) : even(view->height + 2 * EDGE);
        for (int k = 0; k < PLANES; k++)
            total += has_plane(p, l, k) ? level->width * level->height : 0;
    }
    p->cells = calloc(total, sizeof *p->cells);
    if (!p->cells)
        return clerror_set(ENOMEM, "out of memory for a picture of %u x %u (%.0f MiB)", view->width,
                           view->height, (double)total * sizeof *p->cells / 1048576);
    for (int l = 0; l < p->levels; l++)
        for (int k = 0; k < PLANES; k++)
            if (has_plane(p, l, k)) {
                p->level[l].plane[k] = p->cells + done;
                done += p->level[l].width * p->level[l].height;
            }
    p->level[0].plane[HELD] = p->level[0].plane[MASS];
    return 0;
}

static float *density_row_of(const struct level *level, int plane, size_t y)
{
    return level->plane[plane] + y * level->width;
}

/* ---- Bodies enter. --------------------------------------------------------------------------- */

static void project(const struct projection *view, const double at[3], double *u, double *v)
{
    *u = (at[view->axis[0]] - view->centre[0]) * view->scale + 0.5 * view->width;
    *v = (view->centre[1] - at[view->axis[1]]) * view->scale + 0.5 * view->height;
}

/* The finest level that contains a body's 3 x 3 cells, and the position in its cells; -1: far
 * outside. */
static int density_enter(const struct pyramid *p, double u, double v, float *x, float *y)
{
    for (int l = 0; l < p->levels; l++, u *= 0.5, v *= 0.5)
        if (u + EDGE >= 1 && v + EDGE >= 1 && u + EDGE < (double)p->level[l].width - 1 &&
            v + EDGE < (double)p->level[l].height - 1) {
            *x = (float)(u + EDGE);
            *y = (float)(v + EDGE);
            return l;
        }
    return -1; /* NaN too */
}

static void density_weigh(float distance, float w[3])
{
    w[0] = 0.5f * (0.5f - distance) * (0.5f - distance);
    w[1] = 0.75f - distance * distance;
    w[2] = 0.5f * (0.5f + distance) * (0.5f + distance);
}

struct entering {
    const struct pyramid *p;
    const struct projection *view;
    const struct density_bodies *bodies;
};

static void add_to(const struct level *level, int plane, size_t row, size_t column,
                   const float weight[3], float amount)
{
    float *cell = density_row_of(level, plane, row) + column;
    for (size_t i = 0; i < 3; i++)
        cell[i] += amount * weight[i];
}

/* One of a body's three rows. */
static void density_add_row(const struct entering *e, const struct level *level, size_t i,
                            size_t row, size_t column, const float weight[3], float part)
{
    const struct density_bodies *b = e->bodies;
    const float mass = b->mass ? (float)b->mass[i] : 1;
    add_to(level, MASS, row, column, weight, part * mass);
    if (e->p->mass == 0)
        add_to(level, NUMBER, row, column, weight, part * mass * mass);
    for (size_t k = 0; k < b->shades; k++)
        add_to(level, MASS + 1 + (int)k, row, column, weight,
               part * mass * b->shade[b->shades * i + k]);
}

/* Add all bodies to rows from .. to - 1 of the finest level, and to the same fraction of the
 * others. Every thread reads all bodies and writes its own rows, so that sums have the order of
 * the bodies whatever the number of threads. */
static void density_add_bodies(void *job, size_t from, size_t to)
{
    const struct entering *e = job;
    const struct pyramid *p = e->p;
    for (size_t i = 0; i < e->bodies->n; i++) {
        double u, v;
        float x, y, wx[3], wy[3];
        project(e->view, e->bodies->pos[i], &u, &v);
        const int l = density_enter(p, u, v, &x, &y);
        if (l < 0)
            continue;
        const struct level *level = &p->level[l];
        const size_t first = from * level->height / p->level[0].height,
                     last = to * level->height / p->level[0].height;
        const size_t column = (size_t)x, row = (size_t)y;
        if (row + 1 < first || row - 1 >= last)
            continue;
        density_weigh(x - (float)column - 0.5f, wx);
        density_weigh(y - (float)row - 0.5f, wy);
        for (size_t j = 0; j < 3; j++)
            if (row - 1 + j >= first && row - 1 + j < last)
                density_add_row(e, level, i, row - 1 + j, column - 1, wx, wy[j]);
    }
}

/* ---- Between two levels. --------------------------------------------------------------------- */

struct pass {
    const struct pyramid *p;
    int level, from, to; /* the level written to; planes */
};

/* All cells of a level, in parallel. */
static void over_rows(const struct pyramid *p, int level, int from, int to,
                      void (*work)(void *, size_t, size_t))
{
    struct pass pass = {p, level, from, to};
    parallel_ranges(p->level[level].height, LEAST_ROWS, work, &pass);
}

/* Sum four rows of the finer level, 1 3 3 1, for row y of the coarser: the rising part of them, or
 * everything. */
static void sum_rows(const struct level *fine, int plane, bool rising, size_t y, float *sum)
{
    static const float weight[] = {0.25f, 0.75f, 0.75f, 0.25f};
    memset(sum, 0, fine->width * sizeof *sum);
    for (size_t j = 0; j < 4; j++) {
        const size_t row = 2 * y + j - (EDGE + 1); /* wraps to a huge value below 0 */
        if (row >= fine->height)
            continue;
        const float *restrict cell = density_row_of(fine, plane, row), *restrict stays =
                                                                           density_row_of(
                                                                               fine, STAYS, row);
        if (rising)
            for (size_t x = 0; x < fine->width; x++)
                sum[x] += weight[j] * cell[x] * (1 - stays[x]);
        else
            for (size_t x = 0; x < fine->width; x++)
                sum[x] += weight[j] * cell[x];
    }
}

/* Add rows of the finer level's plane `from` to this level's `to`. */
static void restrict_rows(const struct pass *pass, bool rising, size_t first, size_t last)
{
    const struct level *coarse = &pass->p->level[pass->level], *fine = coarse - 1;
    float sums[MOST_WIDTH + 2 * PAD + 2] = {0}, *sum = sums + PAD;
    for (size_t y = first; y < last; y++) {
        float *restrict cell = density_row_of(coarse, pass->to, y);
        sum_rows(fine, pass->from, rising, y, sum);
        const float *restrict s = sum - (EDGE + 1); /* of cell 0: 2 (0 - EDGE / 2) - 1 */
        for (size_t x = 0; x < coarse->width; x++)
            cell[x] += 0.25f * (s[2 * x] + s[2 * x + 3]) + 0.75f * (s[2 * x + 1] + s[2 * x + 2]);
    }
}

static void restrict_all(void *job, size_t first, size_t last)
{
    restrict_rows(job, false, first, last);
}

static void restrict_rising(void *job, size_t first, size_t last)
{
    restrict_rows(job, true, first, last);
}

/* A row of the coarser level interpolated to the finer level's row y: values, not contents. */
static void interpolate(const struct level *coarse, const struct level *fine, int plane, size_t y,
                        float *out)
{
    const size_t row = y / 2 + EDGE / 2;
    const float *restrict near = density_row_of(coarse, plane, row), *restrict far = density_row_of(
                                                                         coarse, plane,
                                                                         y % 2 ? row + 1 : row - 1);
    for (size_t k = 0; k < fine->width / 2; k++) {
        const size_t x = k + EDGE / 2;
        const float before = 3 * near[x - 1] + far[x - 1], here = 9 * near[x] + 3 * far[x],
                    after = 3 * near[x + 1] + far[x + 1];
        out[2 * k] = 0.0625f * (here + before);
        out[2 * k + 1] = 0.0625f * (here + after);
    }
}

/* ---- How far mass rises. --------------------------------------------------------------------- */

/* Effective number of bodies of equal mass: (sum m)^2 / sum m^2 (Kish 1965). */
static void density_count_rows(void *job, size_t first, size_t last)
{
    const struct pass *pass = job;
    const struct level *level = &pass->p->level[pass->level];
    for (size_t y = first; y < last; y++) {
        float *restrict number = density_row_of(level, NUMBER, y);
        const float *restrict held = density_row_of(level, HELD, y);
        for (size_t x = 0; x < level->width; x++)
            number[x] = pass->p->mass > 0 ? held[x] / pass->p->mass
                        : number[x] > 0   ? held[x] * held[x] / number[x]
                                          : 0;
    }
}

/* The fraction of a body's mass that stays a point. Its surroundings hold enough / 4^level bodies
 * per pixel, and a fraction p of a body brightens its pixel by about p / 2; their ratio is
 * constant. */
static float sharp_part(float level)
{
    return fminf(most_sparkle, sparkle * enough * exp2f(-2 * level));
}

/* The fraction that stays, so that the mean level is the fractional level whose cells hold just
 * enough. */
static float staying(float here, float above)
{
    return here >= enough ? 1 : above <= enough ? 0 : (above - enough) / (above - here);
}

static void decide_rows(void *job, size_t first, size_t last)
{
    const struct pass *pass = job;
    const struct level *level = &pass->p->level[pass->level], *coarse = level + 1;
    float above[MOST_WIDTH + 2], height_above[MOST_WIDTH + 2];
    for (size_t y = first; y < last; y++) {
        const float *restrict number = density_row_of(level, NUMBER, y);
        float *restrict stays = density_row_of(level, STAYS, y), *restrict height = density_row_of(
                                                                     level, HEIGHT, y);
        interpolate(coarse, level, NUMBER, y, above);
        interpolate(coarse, level, HEIGHT, y, height_above);
        for (size_t x = 0; x < level->width; x++) {
            stays[x] = staying(number[x], above[x]);
            height[x] = stays[x] * (float)pass->level + (1 - stays[x]) * height_above[x];
        }
    }
}

/* Points stay on the finest level, wherever the remainder goes. */
static void leave_points(void *job, size_t first, size_t last)
{
    const struct level *level = &((const struct pass *)job)->p->level[0];
    for (size_t y = first; y < last; y++) {
        float *restrict stays = density_row_of(level, STAYS, y);
        const float *restrict height = density_row_of(level, HEIGHT, y);
        for (size_t x = 0; x < level->width; x++)
            if (stays[x] < 1)
                stays[x] += sharp_part(height[x]) * (1 - stays[x]);
    }
}

/* On the coarsest level everything stays. */
static void decide_top(const struct pyramid *p)
{
    const struct level *top = &p->level[p->levels - 1];
    for (size_t i = 0; i < top->width * top->height; i++) {
        top->plane[STAYS][i] = 1;
        top->plane[HEIGHT][i] = (float)(p->levels - 1);
    }
}

static void decide(const struct pyramid *p)
{
    for (int l = 1; l < p->levels; l++) {
        const struct level *level = &p->level[l];
        memcpy(level->plane[HELD], level->plane[MASS],
               level->width * level->height * sizeof(float));
        over_rows(p, l, HELD, HELD, restrict_all);
        if (p->mass == 0)
            over_rows(p, l, NUMBER, NUMBER, restrict_all);
    }
    for (int l = 0; l < p->levels; l++)
        over_rows(p, l, HELD, NUMBER, density_count_rows);
    decide_top(p);
    for (int l = p->levels - 2; l >= 0; l--)
        over_rows(p, l, NUMBER, STAYS, decide_rows);
    over_rows(p, 0, HEIGHT, STAYS, leave_points);
}

/* ---- Mass rises, and is spread. -------------------------------------------------------------- */

/* The mass that stays here, plus the refined coarser level. */
static void spread_rows(void *job, size_t first, size_t last)
{
    const struct pass *pass = job;
    const struct level *level = &pass->p->level[pass->level], *coarse = level + 1;
    float spread[MOST_WIDTH + 2];
    for (size_t y = first; y < last; y++) {
        float *restrict cell = density_row_of(level, pass->to, y);
        const float *restrict stays = density_row_of(level, STAYS, y);
        interpolate(coarse, level, pass->from, y, spread);
        for (size_t x = 0; x < level->width; x++)
            cell[x] = cell[x] * stays[x] + 0.25f * spread[x];
    }
}

static void density_spread(const struct pyramid *p, int plane, const struct projection *view,
                           float *map)
{
    for (int l = 1; l < p->levels; l++)
        over_rows(p, l, plane, plane, restrict_rising);
    for (int l = p->levels - 2; l >= 0; l--)
        over_rows(p, l, plane, plane, spread_rows);
    for (size_t y = 0; y < view->height; y++)
        memcpy(map + y * view->width, density_row_of(&p->level[0], plane, y + EDGE) + EDGE,
               view->width * sizeof *map);
}

/* ---- The whole. ------------------------------------------------------------------------------ */

/* The common mass of all bodies; 0 if masses differ. */
static float common_mass(const struct density_bodies *b)
{
    for (size_t i = 1; b->mass && i < b->n; i++)
        if (b->mass[i] != b->mass[0])
            return 0;
    return b->mass && b->n ? (float)b->mass[0] : 1;
}

int density_map(const struct projection *view, const struct density_bodies *bodies, float *map)
{
    struct pyramid p;
    if (pyramid_create(&p, view, bodies->shades) < 0)
        return -1;
    p.mass = common_mass(bodies);
    struct entering entering = {&p, view, bodies};
    parallel_ranges(p.level[0].height, LEAST_ROWS, density_add_bodies, &entering);
    decide(&p);
    for (size_t k = 0; k <= bodies->shades; k++)
        density_spread(&p, MASS + (int)k, view, map + k * view->width * view->height);
    free(p.cells);
    return 0;
}

/* ---- A few bodies. --------------------------------------------------------------------------- */

/* A Gaussian, cut at four standard deviations. */
static void add_dot(const struct projection *view, double u, double v, double width, float amount,
                    float *map)
{
    const double reach = 4 * width;
    if (!(u > -reach && v > -reach && u < view->width + reach && v < view->height + reach))
        return;
    for (double y = fmax(0, floor(v - reach)); y < view->height && y < v + reach; y++)
        for (double x = fmax(0, floor(u - reach)); x < view->width && x < u + reach; x++) {
            const double dx = x + 0.5 - u, dy = y + 0.5 - v;
            map[(size_t)y * view->width + (size_t)x] +=
                amount * (float)exp(-0.5 * (dx * dx + dy * dy) / (width * width));
        }
}

/* A dot for body i, with its shades. */
static void density_add_body(const struct projection *view, double u, double v, double width,
                             const struct density_bodies *b, size_t i, float *map)
{
    const size_t pixels = (size_t)view->width * view->height;
    add_dot(view, u, v, width, 1, map);
    for (size_t k = 0; k < b->shades; k++)
        add_dot(view, u, v, width, b->shade[b->shades * i + k], map + (1 + k) * pixels);
}

void density_dots(const struct projection *view, double width, const struct density_bodies *b,
                  float *map)
{
    memset(map, 0, (1 + b->shades) * view->width * view->height * sizeof *map);
    for (size_t i = 0; i < b->n; i++) {
        double u, v;
        project(view, b->pos[i], &u, &v);
        density_add_body(view, u, v, width, b, i, map);
    }
}

/* Overlapping dots along the path of body i from point k - 1 to point k. */
static void density_add_line(const struct projection *view, double width, size_t k,
                             const struct density_bodies *b, size_t i, float *map)
{
    double u0, v0, u1, v1;
    project(view, b->pos[(k - 1) * b->n + i], &u0, &v0);
    project(view, b->pos[k * b->n + i], &u1, &v1);
    const double length = hypot(u1 - u0, v1 - v0) / width;
    if (!(length < 1e6)) /* NaN too */
        return;
    for (double done = 0; done < length; done++)
        density_add_body(view, u0 + (u1 - u0) * done / length, v0 + (v1 - v0) * done / length,
                         width, b, i, map);
}

void density_paths(const struct projection *view, double width, size_t points,
                   const struct density_bodies *b, float *map)
{
    memset(map, 0, (1 + b->shades) * view->width * view->height * sizeof *map);
    for (size_t k = 1; k < points; k++)
        for (size_t i = 0; i < b->n; i++)
            density_add_line(view, width, k, b, i, map);
}
