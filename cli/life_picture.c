/* life_picture.c - pictures and figures of the cells of `stdcl life`.
 *
 * A figure has cells of whole pixels between axes in Golly's coordinates: columns to the right,
 * rows downwards. A pattern with more than FIGURE_CELLS cells a side is drawn as shares of live
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

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURE_CELLS = 1200, FIGURE_GRID = 256 /* cells a side of a figure with grid lines */ };

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

/* Pixels of a cell's side, so that a figure has some FIGURE_CELLS. */
static unsigned figure_zoom(const struct life_pattern *p)
{
    const size_t side = p->width > p->height ? p->width : p->height;
    return side < FIGURE_CELLS ? (unsigned)(FIGURE_CELLS / side) : 1;
}

static void draw_figure_cells(const struct life_job *job, const struct life_pattern *p,
                              struct figure *figure, uint8_t *rgb)
{
    const struct life_picture picture = {.zoom = figure_zoom(p), .light = job->figures.paper != 1};
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

static void draw_figure_shares(const struct life_job *job, const struct life_pattern *p,
                               struct figure *figure, uint8_t ramp[PICTURE_RAMP][3], uint8_t *rgb)
{
    const size_t longer = p->width > p->height ? p->width : p->height,
                 side = life_picture_squares(longer, FIGURE_CELLS);
    double *share = cli_alloc(FIGURE_CELLS * FIGURE_CELLS, sizeof *share);
    share_ramp(job->figures.paper != 1, ramp);
    figure->width = (unsigned)life_picture_squares(p->width, side);
    figure->height = (unsigned)life_picture_squares(p->height, side);
    double most = life_picture_shares(p, side, share);
    most = most > 0 ? most : 1;
    for (size_t i = 0; i < (size_t)figure->width * figure->height; i++)
        memcpy(rgb + 3 * i, ramp[(int)((PICTURE_RAMP - 1) * share[i] / most + 0.5)], 3);
    free(share);
    figure->x[1] = figure->x[0] + (double)(side * figure->width);
    figure->y[0] = figure->y[1] + (double)(side * figure->height);
    figure->bar = (struct figure_bar){
        .label = "live cells [%]", .colour = (const uint8_t(*)[3])ramp, .high = 100 * most};
}

static int draw_life_figure(const struct life_job *job, const struct life_pattern *p,
                            const char *file, uint8_t *rgb)
{
    char title[LIFE_RULE_TEXT + LIFE_GENERATION_TEXT + 64], now[LIFE_GENERATION_TEXT];
    uint8_t ramp[PICTURE_RAMP][3];
    const uint64_t live = count_live(p);
    struct figure figure = {.x = {(double)p->x, (double)p->x + (double)p->width},
                            .y = {(double)p->y + (double)p->height, (double)p->y},
                            .rgb = rgb};
    struct figure_set lines = {.n = 0};
    snprintf(title, sizeof title, "%s, generation %s, %llu live %s", job->rule,
             life_job_generation_text(job, life_job_generation(job), now), (unsigned long long)live,
             live == 1 ? "cell" : "cells");
    if (p->width <= FIGURE_CELLS && p->height <= FIGURE_CELLS)
        draw_figure_cells(job, p, &figure, rgb);
    else
        draw_figure_shares(job, p, &figure, ramp, rgb);
    if (job->grid_lines) {
        lines = grid_path(p, &figure);
        figure.set = &lines;
        figure.sets = 1;
    }
    figure.page = cli_figure_page(&job->figures, title);
    figure.page.x_label = "column";
    figure.page.y_label = "row";
    const int failed = figure_write(file, &figure);
    free((char *)(uintptr_t)figure.page.command);
    free((double *)(uintptr_t)lines.x);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

int life_figures_draw(const struct life_job *job, const struct life_pattern *p)
{
    int status = CLI_DONE;
    if (job->figures.names.n && job->grid_lines &&
        (p->width > FIGURE_GRID || p->height > FIGURE_GRID))
        return cli_failed("--grid-lines: a figure of %zu x %zu cells has no room for lines, which "
                          "need at most %d x %d; omit --grid-lines",
                          p->width, p->height, FIGURE_GRID, FIGURE_GRID);
    uint8_t *rgb = job->figures.names.n ? cli_alloc(FIGURE_CELLS * FIGURE_CELLS, 3) : NULL;
    for (size_t i = 0; i < job->figures.names.n && status == CLI_DONE; i++)
        status = draw_life_figure(job, p, job->figures.names.item[i], rgb);
    free(rgb);
    return status;
}
