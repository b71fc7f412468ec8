/* nbody_figure.c - figures of the bodies of `stdcl nbody` with axes: --figure.
 *
 * Many bodies are the picture of -o FILE.png between axes, with a bar of surface density. Up to
 * PICTURE_DOTS bodies are points, and up to 64 have paths, as lines and text in .svg and .pdf.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "figures.h"
#include "alloc.h"
#include "message.h"
#include "nbody_camera.h"
#include "nbody_figure.h"
#include "nbody_job.h"
#include "nbody_page.h"

#include "formats/figure.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Axes. ----------------------------------------------------------------------------------- */

/* Names of the axes to the right and upwards. A tilted camera sees combinations of x, y and z. */
static void name_axes(const struct nbody_job *job, char label[2][64])
{
    static const char *const names[][2] = {
        [PICTURE_XY] = {"x", "y"}, [PICTURE_XZ] = {"x", "z"}, [PICTURE_YZ] = {"y", "z"}};
    static const char *const tilted[2] = {"across", "up"};
    const bool turned =
        job->camera.azimuth != 0 || job->camera.orbit != 0 || job->camera.elevation != 90;
    char name[40];
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%s%s", turned ? tilted[k] : names[job->picture.plane][k],
                 job->camera.follow ? " from the centre" : "");
        units_label(label[k], 64, name, job->units.length);
    }
}

static void set_ranges(const struct picture_options *o, struct figure *figure)
{
    static const int axes[][2] = {
        [PICTURE_XY] = {0, 1}, [PICTURE_XZ] = {0, 2}, [PICTURE_YZ] = {1, 2}};
    const double shorter = o->width < o->height ? o->width : o->height;
    const double half[2] = {0.5 * o->extent * o->width / shorter,
                            0.5 * o->extent * o->height / shorter};
    double *const range[2] = {figure->x, figure->y};
    for (int k = 0; k < 2; k++) {
        const double centre = o->centre[axes[o->plane][k]];
        range[k][0] = centre - half[k];
        range[k][1] = centre + half[k];
    }
}

/* The colour bar shows surface density or speed. */
static void set_bar(const struct nbody_scene *s, struct figure *figure,
                    uint8_t ramp[PICTURE_RAMP][3])
{
    const bool by_speed = s->options.by == PICTURE_BY_VALUE;
    if (!picture_has_bar(&s->options, s->n))
        return;
    picture_ramp(&s->options, ramp);
    figure->bar = (struct figure_bar){.label = s->quantity,
                                      .colour = (const uint8_t(*)[3])ramp,
                                      .low = by_speed ? s->options.least : s->options.low,
                                      .high = by_speed ? s->options.most : s->options.high,
                                      .logarithmic = !by_speed};
}

/* ---- Few bodies. ----------------------------------------------------------------------------- */

enum { FEW = 64, MOST_SETS = 2 * FEW + PICTURE_GROUPS };

/* Names of bodies in the legend, if it is not too long. */
enum { LEGEND = GNUPLOT_COLOURS };

/* A path and a point for each body. */
static size_t set_paths(const struct nbody_job *job, const struct nbody_scene *s, const int axis[2],
                        struct figure_set *set, char name[LEGEND][PARTICLES_NAME_SIZE])
{
    const bool named = !s->own && s->n <= LEGEND;
    size_t sets = 0;
    for (size_t i = 0; i < s->n && s->options.points > 1; i++)
        set[sets++] = (struct figure_set){.n = s->options.points,
                                          .stride = 3 * s->n,
                                          .x = &s->options.path[i][axis[0]],
                                          .y = &s->options.path[i][axis[1]],
                                          .path = true,
                                          .colour = gnuplot_colour(i)};
    for (size_t i = 0; i < s->n; i++)
        set[sets++] = (struct figure_set){
            .name = named && particles_name(&job->bodies, i, name[i]) ? name[i] : NULL,
            .n = 1,
            .stride = 3,
            .x = &s->seen[i][axis[0]],
            .y = &s->seen[i][axis[1]],
            .value = s->speed ? s->speed + i : NULL,
            .colour = gnuplot_colour(i)};
    return sets;
}

/* One set for all bodies, or one for each group. */
static size_t set_points(const struct nbody_scene *s, const int axis[2], struct figure_set *set,
                         char name[PICTURE_GROUPS][64])
{
    size_t sets = 0, first = 0;
    while (first < s->n) {
        size_t end = first + 1;
        while (end < s->n && (!s->group || s->group[end] == s->group[first]))
            end++;
        snprintf(name[sets], 64, "group %zu, %zu bodies", sets + 1, end - first);
        set[sets] = (struct figure_set){.name = s->group ? name[sets] : NULL,
                                        .n = end - first,
                                        .stride = 3,
                                        .x = &s->seen[first][axis[0]],
                                        .y = &s->seen[first][axis[1]],
                                        .value = s->speed ? s->speed + first : NULL,
                                        .colour = gnuplot_colour(sets)};
        sets++;
        first = end;
    }
    return sets;
}

static int draw_points(const struct nbody_job *job, const struct nbody_scene *s,
                       struct figure *figure, const char *file)
{
    static const int axes[][2] = {
        [PICTURE_XY] = {0, 1}, [PICTURE_XZ] = {0, 2}, [PICTURE_YZ] = {1, 2}};
    struct figure_set set[MOST_SETS];
    char group[PICTURE_GROUPS][64], name[LEGEND][PARTICLES_NAME_SIZE];
    const int *axis = axes[s->options.plane];
    figure->set = set;
    figure->sets = s->n <= FEW && !s->group ? set_paths(job, s, axis, set, name)
                                            : set_points(s, axis, set, group);
    return figure_write(file, figure) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* ---- Many bodies. ---------------------------------------------------------------------------- */

static int draw_map(const struct nbody_scene *s, struct figure *figure, const char *file)
{
    struct picture_options o = s->options;
    o.caption = false;
    if (cli_memory_for((size_t)o.width * o.height, 3, "pixels") != CLI_DONE)
        return CLI_FAILED;
    uint8_t *rgb = cli_alloc((size_t)o.width * o.height, 3);
    figure->width = o.width;
    figure->height = o.height;
    figure->rgb = rgb;
    const int failed = picture_draw(&o, s->n, s->mass, (const double(*)[3])s->seen, rgb) < 0 ||
                       figure_write(file, figure) < 0;
    free(rgb);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

struct nbody_figure {
    const struct nbody_job *job;
    const struct nbody_scene *scene;
};

static int draw_figure(void *of, const char *file)
{
    const struct nbody_job *job = ((const struct nbody_figure *)of)->job;
    const struct nbody_scene *s = ((const struct nbody_figure *)of)->scene;
    uint8_t ramp[PICTURE_RAMP][3];
    char title[96], time[48], axis[2][64];
    struct figure figure = {.sets = 0};
    snprintf(title, sizeof title, "%zu bodies, t = %s", job->n,
             units_value(time, sizeof time, s->options.time, job->units.time));
    name_axes(job, axis);
    figure.page = nbody_figure_page(job, title);
    figure.page.x_label = axis[0];
    figure.page.y_label = axis[1];
    set_ranges(&s->options, &figure);
    set_bar(s, &figure, ramp);
    const int status =
        s->n <= PICTURE_DOTS ? draw_points(job, s, &figure, file) : draw_map(s, &figure, file);
    free((char *)(uintptr_t)figure.page.command);
    return status;
}

int nbody_figures_draw(struct nbody_job *job)
{
    struct nbody_scene scene;
    if (!job->figures.n)
        return CLI_DONE;
    int status = nbody_scene_open(job, &scene);
    if (status == CLI_DONE)
        status = cli_figures_draw(&job->figures, draw_figure, &(struct nbody_figure){job, &scene});
    else
        job->figures.n = 0; /* none is reported */
    nbody_scene_close(&scene);
    return status;
}
