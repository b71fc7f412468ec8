/* life_picture.c - pictures and figures of the cells of `stdcl life`.
 *
 * A figure has cells of whole pixels between axes in Golly's coordinates: columns to the right,
 * rows downwards. A pattern with more cells a side than figure_cells() is drawn as shares of live
 * cells, with a colour bar.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "life_grid.h"
#include "life_picture.h"
#include "life_plane.h"

#include "formats/figure.h"
#include "formats/life_picture.h"
#include "formats/suffix.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURE_CELLS = 1200, FIGURE_GRID = 256 /* cells a side of a figure with grid lines */ };

enum { FAR_CELLS = 100000 /* from the origin: axes have an offset */, LABEL_TEXT = 48 };

/* Colours of live cells begin at this part of the largest share, so that paper shows each of them.
 * Fewer live cells than SPARSE of all have larger blocks. */
static const double LEAST_SHARE = 0.15, LEAST_SPARSE_SHARE = 0.5, SPARSE = 0.01;

int life_picture_plan(const struct life_job *job)
{
    const unsigned zoom = job->zoom ? (unsigned)job->zoom : 1;
    if (job->grid_lines && cli_outputs_will_draw(&job->outputs) && zoom < LIFE_LINES_ZOOM)
        return cli_wrong("--grid-lines: a cell of %u %s has no room for lines; give --zoom %d or "
                         "more",
                         zoom, zoom == 1 ? "pixel" : "pixels", LIFE_LINES_ZOOM);
    return cli_figures_check(&job->figures.names);
}

/* ---- Pictures. ------------------------------------------------------------------------------- */

bool life_picture_is_dressed(const struct life_job *job)
{
    return job->grid_lines || job->caption;
}

/* "generation 12", as wide as for the last generation, so that a film's captions keep their
 * place. */
static void caption_text(const struct life_job *job, char *text, size_t size)
{
    char now[LIFE_GENERATION_TEXT], last[LIFE_GENERATION_TEXT];
    const bool known = job->generations != UINT64_MAX;
    life_job_generation_text(job, life_job_generation(job), now);
    life_job_generation_text(
        job, known ? job->started + job->generations : life_job_generation(job), last);
    snprintf(text, size, "generation %*s", (int)strlen(last), now);
}

int life_picture_save(const struct life_job *job, const struct life_pattern *p, const char *file)
{
    char text[LIFE_GENERATION_TEXT + 16];
    caption_text(job, text, sizeof text);
    const struct life_picture picture = {.zoom = (unsigned)job->zoom,
                                         .grid_lines = job->grid_lines,
                                         .caption = job->caption ? text : NULL};
    return life_picture_write(file, p, &picture);
}

/* ---- Figures. -------------------------------------------------------------------------------- */

static uint64_t count_live(const struct life_pattern *p)
{
    uint64_t live = 0;
    for (size_t i = 0; i < p->rows * p->stride; i++)
        live += (uint64_t)__builtin_popcountll(p->word[i]);
    return live;
}

/* Endpoints of all lines between cells, as a path that NAN interrupts. Free `x`; y follows it. */
static struct figure_set grid_path(const struct life_pattern *p, const struct figure *figure)
{
    const size_t lines = p->width + p->height + 2, n = 3 * lines;
    double *x = cli_alloc(2 * n, sizeof *x), *y = x + n;
    for (size_t i = 0; i < lines; i++) {
        const bool column = i <= p->width;
        const double at = (double)(column ? i : i - p->width - 1);
        for (size_t end = 0; end < 2; end++) {
            x[3 * i + end] = column ? figure->x[0] + at : figure->x[end];
            y[3 * i + end] = column ? figure->y[end] : figure->y[1] + at;
        }
        x[3 * i + 2] = y[3 * i + 2] = NAN;
    }
    return (struct figure_set){
        .n = n, .stride = 1, .x = x, .y = y, .path = true, .colour = "#999999"};
}

/* Most pixels a side of the cells' picture. A PNG loses cells if they exceed its own pixels. */
static size_t figure_cells(const char *file)
{
    return suffix_is_in(suffix_of(file), ".png") ? FIGURE_PIXELS : FIGURE_CELLS;
}

/* Pixels of a cell's side, so that a figure has some `most`. */
static unsigned figure_zoom(const struct life_pattern *p, size_t most)
{
    const size_t side = p->width > p->height ? p->width : p->height;
    return side < most ? (unsigned)(most / side) : 1;
}

static void draw_figure_cells(const struct life_job *job, const struct life_pattern *p, size_t most,
                              struct figure *figure, uint8_t *rgb)
{
    const struct life_picture picture = {.zoom = figure_zoom(p, most),
                                         .light = job->figures.paper != 1};
    figure->width = (unsigned)p->width * picture.zoom;
    figure->height = (unsigned)p->height * picture.zoom;
    life_picture_draw(p, &picture, rgb);
}

/* Colours from the paper to its opposite. */
static void share_ramp(bool light, uint8_t ramp[PICTURE_RAMP][3])
{
    for (int i = 0; i < PICTURE_RAMP; i++)
        picture_colour(light ? PICTURE_GREY : PICTURE_INFERNO,
                       (light ? PICTURE_RAMP - 1 - i : i) / (PICTURE_RAMP - 1.0), ramp[i]);
}

/* Number in the ramp of a share of the largest share. */
static int share_colour(double share, double least)
{
    return (int)((PICTURE_RAMP - 1) * (share > 0 ? fmax(share, least) : 0) + 0.5);
}

static void draw_figure_shares(const struct life_job *job, const struct life_pattern *p,
                               size_t cells, struct figure *figure, uint8_t ramp[PICTURE_RAMP][3],
                               uint8_t *rgb)
{
    const bool sparse = (double)count_live(p) < SPARSE * (double)p->width * (double)p->height;
    const double least = sparse ? LEAST_SPARSE_SHARE : LEAST_SHARE;
    const size_t longer = p->width > p->height ? p->width : p->height,
                 side = life_picture_squares(longer, sparse ? cells / 2 : cells);
    double *share = cli_alloc(FIGURE_CELLS * FIGURE_CELLS, sizeof *share);
    share_ramp(job->figures.paper != 1, ramp);
    figure->width = (unsigned)life_picture_squares(p->width, side);
    figure->height = (unsigned)life_picture_squares(p->height, side);
    double most = life_picture_shares(p, side, share);
    most = most > 0 ? most : 1;
    for (size_t i = 0; i < (size_t)figure->width * figure->height; i++)
        memcpy(rgb + 3 * i, ramp[share_colour(share[i] / most, least)], 3);
    free(share);
    figure->x[1] = figure->x[0] + (double)(side * figure->width);
    figure->y[0] = figure->y[1] + (double)(side * figure->height);
    figure->bar = (struct figure_bar){
        .label = "live cells [%]", .colour = (const uint8_t(*)[3])ramp, .high = 100 * most};
}

/* Number that the ticks leave out, named in the label, of cells far from the origin; else 0. It is
 * exact, unlike figure_write's, for positions above 2^53. */
static long long axis_label(char text[LABEL_TEXT], const char *name, long long at, size_t cells)
{
    const uint64_t far = at < 0 ? -(uint64_t)at : (uint64_t)at;
    if (far < FAR_CELLS || far / 100 < cells) {
        snprintf(text, LABEL_TEXT, "%s", name);
        return 0;
    }
    snprintf(text, LABEL_TEXT, "%s %c %llu", name, at < 0 ? '+' : '-', (unsigned long long)far);
    return at;
}

struct life_figure {
    const struct life_job *job;
    const struct life_pattern *pattern;
    uint8_t *rgb;
};

static int draw_life_figure(void *of, const char *file)
{
    const struct life_job *job = ((const struct life_figure *)of)->job;
    const struct life_pattern *p = ((const struct life_figure *)of)->pattern;
    uint8_t *rgb = ((const struct life_figure *)of)->rgb;
    char title[LIFE_RULE_TEXT + LIFE_GENERATION_TEXT + 64], now[LIFE_GENERATION_TEXT];
    uint8_t ramp[PICTURE_RAMP][3];
    char column[LABEL_TEXT], row[LABEL_TEXT];
    const uint64_t live = count_live(p);
    const size_t most = figure_cells(file);
    const long long x = p->x - axis_label(column, "column", p->x, p->width),
                    y = p->y - axis_label(row, "row", p->y, p->height);
    struct figure figure = {.x = {(double)x, (double)x + (double)p->width},
                            .y = {(double)y + (double)p->height, (double)y},
                            .cells = true,
                            .rgb = rgb};
    struct figure_set lines = {.n = 0};
    snprintf(title, sizeof title, "%s, generation %s, %llu live %s", job->rule,
             life_job_generation_text(job, life_job_generation(job), now), (unsigned long long)live,
             live == 1 ? "cell" : "cells");
    if (p->width <= most && p->height <= most)
        draw_figure_cells(job, p, most, &figure, rgb);
    else
        draw_figure_shares(job, p, most, &figure, ramp, rgb);
    if (job->grid_lines) {
        lines = grid_path(p, &figure);
        figure.set = &lines;
        figure.sets = 1;
    }
    figure.page = cli_figure_page(&job->figures, title);
    figure.page.x_label = column;
    figure.page.y_label = row;
    const int failed = figure_write(file, &figure);
    free((char *)(uintptr_t)figure.page.command);
    free((double *)(uintptr_t)lines.x);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

int life_figures_draw(struct life_job *job, const struct life_pattern *p)
{
    if (!job->figures.names.n)
        return CLI_DONE;
    if (job->grid_lines && (p->width > FIGURE_GRID || p->height > FIGURE_GRID)) {
        job->figures.names.n = 0; /* none is reported */
        return cli_failed("--grid-lines: a figure of %zu x %zu cells has no room for lines, which "
                          "need at most %d x %d; omit --grid-lines",
                          p->width, p->height, FIGURE_GRID, FIGURE_GRID);
    }
    struct life_figure of = {job, p, cli_alloc(FIGURE_CELLS * FIGURE_CELLS, 3)};
    const int status = cli_figures_draw(&job->figures.names, draw_life_figure, &of);
    free(of.rgb);
    return status;
}
