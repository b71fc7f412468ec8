/* nbody_camera.c - the camera of pictures: bodies are rotated and centred before they are drawn. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_camera.h"
#include "nbody_history.h"
#include "nbody_job.h"
#include "nbody_path.h"

#include "formats/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const nbody_follow_names[] = {"nothing", "mass", "density", "heaviest", NULL};
const char *const nbody_colour_by_names[] = {"density", "speed", "group",
                                             NULL}; /* as enum picture_colour_by */
enum { NOTHING, MASS, DENSITY, HEAVIEST };

static void centre_of_mass(const struct particles *b, double centre[3])
{
    double mass = 0;
    for (size_t i = 0; i < b->n; i++) {
        mass += b->mass[i];
        for (int k = 0; k < 3; k++)
            centre[k] += b->mass[i] * b->pos[i][k];
    }
    for (int k = 0; k < 3 && mass > 0; k++)
        centre[k] /= mass;
}

static int find_view_centre(const struct nbody_job *job, double centre[3])
{
    const struct particles *b = &job->bodies;
    struct nbody_structure s;
    if (job->camera.follow == MASS)
        centre_of_mass(b, centre);
    if (job->camera.follow == HEAVIEST)
        memcpy(centre, b->pos[particles_heaviest(b)], sizeof *b->pos);
    if (job->camera.follow != DENSITY)
        return CLI_DONE;
    if (nbody_structure_find(job, NULL, 0, NULL, &s) < 0)
        return cli_failed_call(NULL);
    memcpy(centre, s.centre, sizeof s.centre);
    free(s.binary);
    return CLI_DONE;
}

/* Fraction of the run that is done. */
static double run_fraction(const struct nbody_job *job)
{
    return job->total ? fmin(1, (double)nbody_steps(job->engine) / (double)job->total) : 0;
}

static double current_azimuth(const struct nbody_job *job)
{
    return job->camera.azimuth + job->camera.orbit * run_fraction(job);
}

/* Rotate a position. The camera starts above the projection plane, turns about its normal by the
 * azimuth, then tilts down by 90 degrees minus the elevation: at 0 it looks along the plane, at
 * 90 from above. */
static void rotate_position(const struct nbody_job *job, const double from[3],
                            const double centre[3], double to[3])
{
    const double a = current_azimuth(job) * acos(-1) / 180,
                 e = (90 - job->camera.elevation) * acos(-1) / 180;
    static const int axes[][3] = {
        [PICTURE_XY] = {0, 1, 2}, [PICTURE_XZ] = {0, 2, 1}, [PICTURE_YZ] = {1, 2, 0}};
    const int *axis = axes[job->picture.plane];
    const double x = from[axis[0]] - centre[axis[0]], y = from[axis[1]] - centre[axis[1]],
                 z = from[axis[2]] - centre[axis[2]];
    const double right = x * cos(a) + y * sin(a), deep = y * cos(a) - x * sin(a);
    to[axis[0]] = right;
    to[axis[1]] = deep * cos(e) + z * sin(e);
    to[axis[2]] = z * cos(e) - deep * sin(e);
}

/* Rotate n positions into *seen, from malloc; *seen is `places` itself for the default camera. */
static int rotate_positions(const struct nbody_job *job, const double centre[3], size_t n,
                            double (*places)[3], double (**seen)[3])
{
    const bool moved =
        current_azimuth(job) != 0 || job->camera.elevation != 90 || job->camera.follow != NOTHING;
    *seen = moved ? malloc(n * sizeof **seen) : places;
    for (size_t i = 0; *seen && moved && i < n; i++)
        rotate_position(job, places[i], centre, (*seen)[i]);
    return *seen || n == 0 ? CLI_DONE : cli_failed("out of memory to draw %zu bodies", job->n);
}

bool nbody_camera_is_used(const struct nbody_job *job)
{
    return job->figures.n || cli_outputs_will_draw(&job->outputs);
}

/* ---- Groups. --------------------------------------------------------------------------------- */

bool nbody_read_groups(const char *text, void *to, char *why, size_t size)
{
    struct nbody_groups *g = to;
    for (g->n = 0; g->n < PICTURE_GROUPS; text++) {
        const size_t length = strcspn(text, ",");
        double bodies;
        if (number_read(text, length, &bodies) != NUMBER_OK ||
            !(bodies >= 1 && bodies < 0x1p53 && bodies == floor(bodies)))
            break;
        g->size[g->n++] = (size_t)bodies;
        text += length;
        if (!*text)
            return true;
    }
    snprintf(why, size, "give up to %d whole numbers of bodies, such as 8192,8192", PICTURE_GROUPS);
    return false;
}

/* Groups without --groups: two galaxies, or the gas, dark matter and stars of a file. */
void nbody_natural_groups(const struct nbody_job *job, struct nbody_groups *g)
{
    const struct particles *b = &job->bodies;
    const size_t parts[] = {b->gas, b->n - b->gas - b->star, b->star};
    if (!job->input && job->model == NBODY_COLLISION)
        *g = (struct nbody_groups){2, {b->n - b->n / 2, b->n / 2}};
    else
        for (int k = 0; k < 3; k++)
            if (parts[k])
                g->size[g->n++] = parts[k];
}

int nbody_camera_prepare(struct nbody_job *job)
{
    struct nbody_groups *g = &job->groups;
    size_t bodies = 0;
    if (job->osculating && job->n > NBODY_MOST_PATHS)
        return cli_wrong("--osculating: there are %zu bodies; orbits of up to %d are drawn", job->n,
                         NBODY_MOST_PATHS);
    if (job->colour_by != PICTURE_BY_GROUP)
        return CLI_DONE;
    if (g->n == 0)
        nbody_natural_groups(job, g);
    if (g->n < 2)
        return cli_wrong(
            "--colour-by group: the bodies form one group; give the numbers of bodies per group with --groups N,N,...");
    for (size_t k = 0; k < g->n; k++)
        bodies += g->size[k];
    if (bodies != job->n)
        return cli_wrong("--groups: the groups have %zu bodies in total, but there are %zu", bodies,
                         job->n);
    return CLI_DONE;
}

uint8_t nbody_group_of(const struct nbody_groups *g, size_t body)
{
    uint8_t k = 0;
    for (size_t end = g->size[0]; body >= end && k + 1u < g->n; end += g->size[k])
        k++;
    return k;
}

/* ---- A picture. ------------------------------------------------------------------------------ */

static size_t count_shown(const struct nbody_job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n; i++)
        n += job->bodies.mass[i] <= job->heaviest;
    return n;
}

static float speed_of(const double v[3])
{
    return (float)sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Bodies up to the maximum mass, with the quantity of their hue. */
static struct nbody_scene select_shown(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    struct nbody_scene s = {.n = count_shown(job), .mass = b->mass, .pos = b->pos};
    size_t k = 0;
    s.own = s.n < b->n;
    if (s.own) {
        s.mass = cli_alloc(s.n, sizeof *s.mass);
        s.pos = cli_alloc(s.n, sizeof *s.pos);
    }
    s.speed = job->colour_by == PICTURE_BY_VALUE ? cli_alloc(s.n, sizeof *s.speed) : NULL;
    s.group = job->colour_by == PICTURE_BY_GROUP ? cli_alloc(s.n, sizeof *s.group) : NULL;
    for (size_t i = 0; (s.own || s.speed || s.group) && i < b->n; i++) {
        if (b->mass[i] > job->heaviest)
            continue;
        if (s.own) {
            s.mass[k] = b->mass[i];
            memcpy(s.pos[k], b->pos[i], sizeof *s.pos);
        }
        if (s.speed)
            s.speed[k] = speed_of(b->vel[i]);
        if (s.group)
            s.group[k] = nbody_group_of(&job->groups, i);
        k++;
    }
    return s;
}

/* Fix the frame and the scale at the first picture. */
static int fix_frame(struct nbody_job *job, const struct nbody_scene *s)
{
    if (picture_fit(&job->picture, s->n, s->mass, (const double(*)[3])s->seen) < 0)
        return cli_failed_call(NULL);
    if (!job->extent_given)
        job->picture.extent /= job->camera.zoom;
    for (int k = 0; k < 3 && job->camera.follow != NOTHING; k++)
        job->picture.centre[k] = 0;
    job->fitted = true;
    return CLI_DONE;
}

/* Widen the frame of later pictures in steps if bodies have left it, about its first centre. The
 * extent that fits has a margin: up to MARGIN times the frame's, all bodies of a few are inside.
 * Of many bodies a frame shows nearly all, and their number outside varies. */
static int widen_frame(struct nbody_job *job, const struct nbody_scene *s)
{
    static const double MARGIN = 1.15, STEP = 1.25;
    struct picture_options now = job->picture;
    double off = 0;
    now.extent = 0;
    if (picture_fit_frame(&now, s->n, s->mass, (const double(*)[3])s->seen) < 0)
        return cli_failed_call(NULL);
    for (int k = 0; k < 3; k++)
        if (job->camera.follow == NOTHING)
            off = fmax(off, fabs(now.centre[k] - job->picture.centre[k]));
    const double needed = (now.extent + 2 * off) / job->camera.zoom / MARGIN;
    while (isfinite(needed) && job->picture.extent < needed)
        job->picture.extent *= STEP;
    return CLI_DONE;
}

static int choose_frame(struct nbody_job *job, const struct nbody_scene *s)
{
    if (!job->fitted)
        return fix_frame(job, s);
    return job->extent_given ? CLI_DONE : widen_frame(job, s);
}

/* Surface density or speed. */
static void name_quantity(const struct nbody_job *job, struct nbody_scene *s)
{
    const bool by_speed = job->colour_by == PICTURE_BY_VALUE;
    char unit[64];
    if (by_speed)
        units_speed(&job->units, unit, sizeof unit);
    else
        units_density(&job->units, unit, sizeof unit);
    units_label(s->quantity, sizeof s->quantity, by_speed ? "speed" : "surface density", unit);
}

int nbody_scene_open(struct nbody_job *job, struct nbody_scene *s)
{
    double centre[3] = {0};
    *s = select_shown(job);
    const size_t most = job->trails * nbody_path_parts(job),
                 last = job->path.n < most ? job->path.n : most,
                 points = s->own            ? 0
                          : job->osculating ? NBODY_ORBIT_POINTS
                                            : last;
    s->orbits = job->osculating && !s->own;
    s->places = s->orbits ? nbody_osculating_points(job)
                : points  ? job->path.pos + (job->path.n - points) * s->n
                          : NULL;
    job->picture.by = (enum picture_colour_by)job->colour_by;
    job->picture.value = s->speed;
    job->picture.group = s->group;
    int status = find_view_centre(job, centre);
    if (status == CLI_DONE)
        status = rotate_positions(job, centre, s->n, s->pos, &s->seen);
    if (status == CLI_DONE)
        status = rotate_positions(job, centre, points * s->n, s->places, &s->path);
    job->picture.points = status == CLI_DONE ? points : 0;
    job->picture.path = (const double(*)[3])s->path;
    if (status == CLI_DONE)
        status = choose_frame(job, s);
    s->options = job->picture;
    name_quantity(job, s);
    s->options.quantity = s->quantity;
    s->options.time_unit = job->units.time;
    s->options.length_unit = job->units.length;
    s->options.last = job->time_start + (double)job->total * job->dt;
    s->options.extent /= pow(job->camera.approach, run_fraction(job));
    s->options.time = nbody_time(job->engine);
    return status;
}

void nbody_scene_close(struct nbody_scene *s)
{
    if (s->seen != s->pos)
        free(s->seen);
    if (s->path != s->places)
        free(s->path);
    if (s->orbits)
        free(s->places);
    if (s->own) {
        free(s->mass);
        free(s->pos);
    }
    free(s->speed);
    free(s->group);
}

int nbody_camera_draw(struct nbody_job *job, const char *file)
{
    struct nbody_scene s;
    int status = nbody_scene_open(job, &s);
    if (status == CLI_DONE &&
        picture_density(&s.options, s.n, s.mass, (const double(*)[3])s.seen, file) < 0)
        status = cli_failed_call(NULL);
    nbody_scene_close(&s);
    return status;
}
