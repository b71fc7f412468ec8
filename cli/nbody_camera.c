/* nbody_camera.c - from where pictures are taken: bodies are turned, and moved to what is followed, before they are drawn. */
/* SPDX-License-Identifier: MIT */
#include "nbody_job.h"

#include <math.h>

const char *const nbody_follow_names[] = {"nothing", "mass", "density", "heaviest", NULL};
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

static void heaviest(const struct particles *b, double centre[3])
{
    size_t heavy = 0;
    for (size_t i = 1; i < b->n; i++)
        heavy = b->mass[i] > b->mass[heavy] ? i : heavy;
    memcpy(centre, b->pos[heavy], sizeof b->pos[heavy]);
}

static int find_centre(const struct nbody_job *job, double centre[3])
{
    const struct particles *b = &job->bodies;
    struct nbody_structure s;
    if (job->camera.follow == MASS)
        centre_of_mass(b, centre);
    if (job->camera.follow == HEAVIEST)
        heaviest(b, centre);
    if (job->camera.follow != DENSITY)
        return CLI_DONE;
    if (nbody_find_structure(b->n, job->G, b->mass, (const double(*)[3])b->pos, (const double(*)[3])b->vel, NULL, 0, NULL, &s) < 0)
        return cli_failed_call(NULL);
    memcpy(centre, s.centre, sizeof s.centre);
    free(s.binary);
    return CLI_DONE;
}

/* From above the plane of the picture, the camera goes around its normal by the azimuth, then down by 90 degrees less the
 * elevation: seen from the side at an elevation of 0, from above at 90. */
static void turn(const struct nbody_job *job, const double from[3], const double centre[3], double to[3])
{
    const double a = job->camera.azimuth * acos(-1) / 180, e = (90 - job->camera.elevation) * acos(-1) / 180;
    static const int axes[][3] = {[PICTURE_XY] = {0, 1, 2}, [PICTURE_XZ] = {0, 2, 1}, [PICTURE_YZ] = {1, 2, 0}};
    const int *axis = axes[job->picture.plane];
    const double x = from[axis[0]] - centre[axis[0]], y = from[axis[1]] - centre[axis[1]], z = from[axis[2]] - centre[axis[2]];
    const double right = x * cos(a) + y * sin(a), deep = y * cos(a) - x * sin(a);
    to[axis[0]] = right;
    to[axis[1]] = deep * cos(e) + z * sin(e);
    to[axis[2]] = z * cos(e) - deep * sin(e);
}

/* The bodies at n places as the camera sees them, from malloc; the places themselves when it stands as usual. */
static int look(const struct nbody_job *job, const double centre[3], size_t n, double (*places)[3], double (**seen)[3])
{
    const bool moved = job->camera.azimuth != 0 || job->camera.elevation != 90 || job->camera.follow != NOTHING;
    *seen = moved ? malloc(n * sizeof **seen) : places;
    for (size_t i = 0; *seen && moved && i < n; i++)
        turn(job, places[i], centre, (*seen)[i]);
    return *seen || n == 0 ? CLI_DONE : cli_failed("not enough memory to draw %zu bodies", job->n);
}

/* ---- Paths of few bodies. -------------------------------------------------------------------- */

enum { FEW = 64, POINTS = 1000 }; /* in a run */

size_t nbody_camera_next(const struct nbody_job *job, size_t step)
{
    const size_t every = job->total / POINTS + 1;
    return job->n <= FEW && job->trails && cli_outputs_will_draw(&job->outputs) ? step + (every - step % every) : SIZE_MAX;
}

int nbody_camera_point(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    if (nbody_state(job->engine, b->pos, NULL) < 0)
        return cli_failed_call(NULL);
    job->path.pos = cli_realloc(job->path.pos, (job->path.n + 1) * b->n, sizeof *b->pos);
    memcpy(job->path.pos + job->path.n++ * b->n, b->pos, b->n * sizeof *b->pos);
    return CLI_DONE;
}

/* ---- A picture. ------------------------------------------------------------------------------ */

/* The bodies that pictures show: all, or those that are not too heavy, in arrays of their own. */
struct shown {
    size_t n;
    double *mass;
    double (*pos)[3];
    bool own;
};

static size_t count_shown(const struct nbody_job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n; i++)
        n += job->bodies.mass[i] <= job->heaviest;
    return n;
}

static struct shown show(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    struct shown s = {count_shown(job), b->mass, b->pos, false};
    if (s.n == b->n)
        return s;
    s = (struct shown){0, cli_alloc(s.n, sizeof *s.mass), cli_alloc(s.n, sizeof *s.pos), true};
    for (size_t i = 0; i < b->n; i++)
        if (b->mass[i] <= job->heaviest) {
            s.mass[s.n] = b->mass[i];
            memcpy(s.pos[s.n++], b->pos[i], sizeof *s.pos);
        }
    return s;
}

static void free_shown(struct shown *s)
{
    if (s->own) {
        free(s->mass);
        free(s->pos);
    }
}

/* One frame and scale for a whole series. */
static int fit(struct nbody_job *job, const struct shown *s, const double (*seen)[3])
{
    const bool given = job->picture.extent > 0;
    if (job->fitted)
        return CLI_DONE;
    if (picture_fit(&job->picture, s->n, s->mass, seen) < 0)
        return cli_failed_call(NULL);
    if (!given)
        job->picture.extent /= job->camera.zoom;
    for (int k = 0; k < 3 && job->camera.follow != NOTHING; k++)
        job->picture.centre[k] = 0;
    job->fitted = true;
    return CLI_DONE;
}

int nbody_camera_draw(struct nbody_job *job, const char *file)
{
    struct shown s = show(job);
    struct picture_options o;
    const size_t last = job->path.n < job->trails ? job->path.n : job->trails, points = s.own ? 0 : last;
    double centre[3] = {0}, (*seen)[3] = NULL, (*path)[3] = NULL,
           (*places)[3] = points ? job->path.pos + (job->path.n - points) * s.n : NULL;
    int status = find_centre(job, centre);
    if (status == CLI_DONE)
        status = look(job, centre, s.n, s.pos, &seen);
    if (status == CLI_DONE)
        status = look(job, centre, points * s.n, places, &path);
    if (status == CLI_DONE)
        status = fit(job, &s, (const double(*)[3])seen);
    o = job->picture;
    o.time = job->time_start + nbody_time(job->engine);
    o.points = points;
    o.path = (const double(*)[3])path;
    if (status == CLI_DONE && picture_density(&o, s.n, s.mass, (const double(*)[3])seen, file) < 0)
        status = cli_failed_call(NULL);
    if (seen != s.pos)
        free(seen);
    if (path != places)
        free(path);
    free_shown(&s);
    return status;
}
