/* life_view.c - the view of `stdcl life`: the viewers' regions, as cells or as densities counted
 * on the devices (on an unbounded plane in HashLife's tree or in tiles), and a plot of the
 * population.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "device.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "life_output.h"
#include "life_plane.h"
#include "life_run.h"

#include "core/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const columns[] = {"generation", "", "population", "cells", NULL};
enum { MOST_ZOOM = 15 }; /* limit of life_density */

static void write_size(const struct life_job *job, char *text, size_t size)
{
    char width[32], height[32];
    if (life_job_unbounded(job))
        snprintf(text, size, "unbounded plane");
    else
        snprintf(text, size, "%s × %s cells", cli_window_number(width, job->size.width),
                 cli_window_number(height, job->size.height));
}

/* With several ranks only live and dead are known everywhere. */
unsigned life_job_states(const struct life_job *job)
{
    return world_size(cli_world) == 1 ? life_states(job->engine_of_run) : 2;
}

int life_view_open(struct life_job *job)
{
    char title[LIFE_RULE_TEXT + 80], size[64];
    if (!job->window.wanted && !job->window.record)
        return CLI_DONE;
    char *device = job->context ? cli_devices_name(job->context) : NULL;
    write_size(job, size, sizeof size);
    snprintf(title, sizeof title, "%s: %s", job->input ? cli_window_name(job->input) : job->rule,
             size);
    const char *const facts[] = {"grid",   size,
                                 "rule",   job->rule,
                                 "engine", life_engine_name((enum life_engine)job->engine),
                                 "device", device ? device : "none",
                                 NULL};
    struct view_options about = {.program = "life",
                                 .title = title,
                                 .step = "generation",
                                 .time = "generation",
                                 .can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_SPEED |
                                        VIEW_CAN_QUIT,
                                 .facts = facts,
                                 .rows = columns,
                                 .cells = {.bounds = "plane", .rule = job->rule}};
    if (!life_job_unbounded(job))
        about.cells = (struct view_field){.width = job->size.width,
                                          .height = job->size.height,
                                          .bounds = life_job_bounds(job),
                                          .rule = job->rule};
    about.can |= life_edit_open(job);
    about.cells.states = life_job_states(job);
    about.cells.colours = job->transitions ? life_transitions_colour(job->transitions, 0) : NULL;
    const int status = cli_window_open(&job->window, &about);
    free(device);
    return status;
}

/* ---- Rectangles. ----------------------------------------------------------------------------- */

static int region_bits(struct life_job *job, const struct view_region *r, uint8_t *body)
{
    struct life_cells cells;
    const size_t bytes = ((size_t)r->width + 7) / 8;
    if (life_cells_alloc(&cells, r->width, r->height) < 0)
        return -1;
    const int status = life_get(job->engine_of_run, r->x, r->y, &cells);
    for (size_t j = 0; status == 0 && j < r->height; j++)
        for (size_t k = 0; k < bytes; k++)
            body[j * bytes + k] = (uint8_t)(cells.word[j * cells.stride + k / 8] >> 8 * (k % 8));
    life_cells_free(&cells);
    return status;
}

/* Get the states of a rectangle, which may cross the edge of a torus. */
int life_job_get_states(struct life_job *job, long long x, long long y, size_t width, size_t height,
                        unsigned char *state)
{
    life *lf = job->engine_of_run;
    int status = 0;
    if (life_job_unbounded(job))
        return life_get_states(lf, x, y, width, height, state);
    const size_t left = life_width(lf) - (size_t)x, first = width < left ? width : left;
    for (size_t j = 0; status == 0 && j < height; j++, state += width) {
        const long long row = (long long)(((size_t)y + j) % life_height(lf));
        status = life_get_states(lf, x, row, first, 1, state);
        if (status == 0 && first < width)
            status = life_get_states(lf, 0, row, width - first, 1, state + first);
    }
    return status;
}

static int region_states(struct life_job *job, const struct view_region *r, uint8_t *body)
{
    return life_job_get_states(job, r->x, r->y, r->width, r->height, body);
}

/* Count live cells per square; squares larger than life_density supports are summed. */
static int count_in_grid(life *lf, const struct view_region *r, uint64_t *live)
{
    const unsigned zoom = r->zoom < MOST_ZOOM ? r->zoom : MOST_ZOOM, more = r->zoom - zoom;
    const size_t most_width = (life_width(lf) >> zoom) + 1,
                 most_height = (life_height(lf) >> zoom) + 1;
    size_t width = (size_t)r->width << more, height = (size_t)r->height << more;
    if (more) {
        width =
            width < most_width ? width : most_width - (life_width(lf) % ((size_t)1 << zoom) == 0);
        height = height < most_height ? height
                                      : most_height - (life_height(lf) % ((size_t)1 << zoom) == 0);
    }
    uint64_t *count = cli_alloc(width * height + 1, sizeof *count);
    const int status = life_density(lf, r->x, r->y, width, height, zoom, count);
    for (size_t k = 0; status == 0 && k < width * height; k++)
        live[(k / width >> more) * r->width + (k % width >> more)] += count[k];
    free(count);
    return status;
}

enum { SHADES = 1 << 16 }; /* use a table for squares of up to this number of cells */

/* Shades of squares that the engine counts directly. */
static int shades_in_grid(life *lf, const struct view_region *r, uint8_t *body)
{
    const size_t n = (size_t)r->width * r->height, most = (size_t)1 << 2 * r->zoom;
    uint64_t *count = cli_alloc(n + 1, sizeof *count);
    uint8_t *shade = cli_alloc(most + 1, 1);
    for (size_t k = 0; k <= most; k++)
        shade[k] = view_cells_shade(k, r->zoom);
    const int status = life_density(lf, r->x, r->y, r->width, r->height, r->zoom, count);
    for (size_t k = 0; status == 0 && k < n; k++)
        body[k] = shade[count[k]];
    free(count);
    free(shade);
    return status;
}

static int region_shades(struct life_job *job, const struct view_region *r, uint8_t *body)
{
    const size_t n = (size_t)r->width * r->height;
    if (!life_job_unbounded(job) && (size_t)1 << 2 * r->zoom <= SHADES)
        return shades_in_grid(job->engine_of_run, r, body);
    uint64_t *live = cli_alloc(n + 1, sizeof *live);
    const int status = life_job_unbounded(job) ? life_density(job->engine_of_run, r->x, r->y,
                                                              r->width, r->height, r->zoom, live)
                                               : count_in_grid(job->engine_of_run, r, live);
    for (size_t k = 0; k < n; k++)
        body[k] = view_cells_shade(live[k], r->zoom);
    free(live);
    return status;
}

/* Population; UINT64_MAX: too large for the page. */
static int current_population(struct life_job *job, uint64_t *population, double *value)
{
    char digits[LIFE_POPULATION_TEXT] = "";
    const int status = life_population_text(job->engine_of_run, digits);
    *population = strtoull(digits, NULL, 10); /* UINT64_MAX, too, above 64 bits */
    *value = status == 0 ? strtod(digits, NULL) : NAN;
    return status;
}

/* Regions of the viewers, known on rank 0. */
struct looked {
    int n;
    struct view_region region[VIEW_REGIONS];
};

/* Of an unbounded plane. */
static int show_box(const struct life_job *job)
{
    struct life_box box;
    const int any = life_bounding_box(job->engine_of_run, &box);
    const double edges[] = {life_number_double(box.left), life_number_double(box.top),
                            life_number_double(box.right), life_number_double(box.bottom)};
    view_set_box(job->window.view, any > 0 ? edges : NULL);
    return any < 0 ? -1 : 0;
}

static int show_regions(void *arg, int last)
{
    struct life_job *job = arg;
    struct looked at = {0};
    struct view_region *const region = at.region;
    struct view_cells cells[VIEW_REGIONS];
    uint8_t *body[VIEW_REGIONS] = {NULL};
    const unsigned many = life_job_states(job);
    uint64_t population = UINT64_MAX;
    double value = NAN;
    at.n = view_regions_wanted(job->window.view, region);
    int status = world_broadcast(cli_world, 0, &at, sizeof at);
    const int n = at.n;
    /* Counting a large grid takes longer than drawing the visible part. */
    const bool due =
        last || job->window.agreed.paused || cli_window_sums_due(&job->window, &job->sums);
    const bool counts = status == 0 && cli_window_decide(&job->window, due);
    const double began = seconds_now();
    if (counts) {
        status = current_population(job, &population, &value);
        cli_window_sums_made(&job->sums, began);
    }
    for (int i = 0; i < n && status == 0; i++) {
        body[i] = cli_alloc(view_cells_bytes(&region[i], many) + 1, 1);
        cells[i] = (struct view_cells){region[i], body[i]};
        status = (region[i].zoom ? region_shades
                  : many > 2     ? region_states
                                 : region_bits)(job, &region[i], body[i]);
    }
    const uint64_t now = life_job_generation(job);
    if (status == 0 && life_job_unbounded(job))
        status = show_box(job);
    if (status == 0)
        status = view_show_cells(job->window.view,
                                 (struct view_moment){(double)(job->epoch + now), now, last},
                                 population, n, cells);
    if (status == 0 && counts)
        view_add_row(job->window.view, (const double[]){(double)(job->epoch + now), value});
    if (status == 0 && counts && world_size(cli_world) == 1)
        life_objects_show(job, population);
    for (int i = 0; i < n; i++)
        free(body[i]);
    return status == 0 || life_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
}

int life_view_visit(struct life_job *job)
{
    const uint64_t at = life_job_generation(job) - job->started;
    const double fraction = job->generations && job->generations != UINT64_MAX
                                ? (double)at / (double)job->generations
                                : NAN;
    const int status = life_edit_visit(job);
    if (status != CLI_DONE)
        return status;
    return cli_window_visit(&job->window, at, fraction, show_regions, job);
}

int life_view_end(struct life_job *job)
{
    char sentence[64], text[LIFE_GENERATION_TEXT];
    if (!job->window.open)
        return CLI_DONE;
    snprintf(sentence, sizeof sentence, "generation %s",
             life_job_generation_text(job, life_job_generation(job), text));
    return cli_window_end(&job->window, sentence, show_regions, job);
}

int life_view_stay(struct life_job *job)
{
    return cli_window_stay(&job->window, show_regions, job);
}
