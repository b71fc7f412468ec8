/* initial.c - initial conditions (the section of that name in stdcl/nbody.h).
 *
 * One function per model makes one body; the table of models and the public functions follow.
 * Bodies are independent (draw.h explains how random numbers are the same everywhere), so that
 * several threads make them (body_blocks.h). Galaxies are in galaxy.c.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "nbody/particles/body_blocks.h"
#include "nbody/domain/domain.h"
#include "nbody/initial/draw.h"
#include "nbody/initial/galaxy.h"
#include "nbody/initial/sphere.h"
#include "stdcl/nbody.h"

typedef double (*rows)[3];

/* A slice of the bodies of a model, made by several threads. The slices of the ranks of `world`
 * follow one another. */
struct making {
    const struct model *model;
    size_t n; /* bodies of the model */
    uint64_t seed;
    stdcl_world *world;
    size_t first, count; /* bodies of the slice; the arrays begin with body `first` */
    double *mass;
    rows pos, vel;
    const void *tables; /* tables of the model */
    struct shift {
        double x[3], v[3];
    } galaxy[2]; /* centre of mass of each galaxy */
    bool placed; /* the galaxies are on their orbit */
};

struct model {
    const char *name;
    size_t bodies; /* 0: any number */
    void (*body)(const struct making *m, size_t i, double *mass, double pos[3], double vel[3]);
    int (*finish)(struct making *m); /* collective */
    void *(*tables)(void);           /* for all bodies, freed by free(); or NULL */
};

static int out_of_memory(const struct model *model)
{
    return clerror_set(ENOMEM, "nbody_initial: out of memory for the tables of the model %s",
                       model->name);
}

/* ---- Spheres. -------------------------------------------------------------------------------- */

/* Plummer's sphere in Henon units, by the recipe of Aarseth, Henon & Wielen (1974, A&A 37, 183):
 * radius from the enclosed mass, speed by rejection. The outermost 0.1 % of the mass is left out,
 * as in most codes, since it would scatter bodies over hundreds of radii. */
static void plummer_body(const struct making *m, size_t i, double *mass, double pos[3],
                         double vel[3])
{
    const double a = 0.58904862254808623;    /* 3 pi / 16 */
    const double speed = 1.3029400317411197; /* 1 / sqrt(a) */
    struct stream s = draw_stream(m->seed, NBODY_PLUMMER, i);
    double c = draw_cube_root(0.999 * draw_uniform(&s)), r = c / sqrt(1 - c * c), q, g, u;
    draw_vector(&s, a * r, pos);
    do { /* q = speed / escape speed, distributed as q^2 (1 - q^2)^(7/2) < 0.1 */
        q = draw_uniform(&s);
        g = 0.1 * draw_uniform(&s);
        u = 1 - q * q;
    } while (g > q * q * (u * u * u * sqrt(u)));
    draw_vector(&s, speed * q * sqrt(2 / sqrt(1 + r * r)), vel);
    *mass = 1 / (double)m->n;
}

/* Uniform sphere of radius 6/5, so that E = -1/4 in virial equilibrium; velocities uniform in a
 * sphere, with 2 K = |U|. It is virialised but not stationary, and oscillates a little. */
static void uniform_body(const struct making *m, size_t i, double *mass, double pos[3],
                         double vel[3])
{
    const double speed = 0.91287092917527686; /* mean square 3/5 of its square, K = 1/4 */
    struct stream s = draw_stream(m->seed, NBODY_UNIFORM, i);
    draw_vector(&s, 1.2 * draw_cube_root(draw_uniform(&s)), pos);
    draw_vector(&s, speed * draw_cube_root(draw_uniform(&s)), vel);
    *mass = 1 / (double)m->n;
}

/* Uniform sphere of mass and radius 1 at rest; it collapses at t = 1.1107. */
static void cold_body(const struct making *m, size_t i, double *mass, double pos[3], double vel[3])
{
    struct stream s = draw_stream(m->seed, NBODY_COLD, i);
    draw_vector(&s, draw_cube_root(draw_uniform(&s)), pos);
    memset(vel, 0, 3 * sizeof *vel);
    *mass = 1 / (double)m->n;
}

/* Hernquist's sphere in Henon units. The bodies are the inner 99 % of a sphere of mass 1 / 0.99;
 * the outermost 1 % would be scattered over hundreds of scale lengths. U = -G M^2 / 6a for a whole
 * sphere; for these bodies it is -0.170034 / a, by the integral of M dM / r. */
static const double hernquist_share = 0.99;

static void *hernquist_tables(void)
{
    const struct sphere_density density = {1 / hernquist_share, 0.340068, 0};
    double total[SPHERE_NODES + 1];
    struct sphere *s = malloc(sizeof *s);
    sphere_mass(&density, total);
    if (s)
        sphere_make(s, &density, total);
    return s;
}

static void hernquist_body(const struct making *m, size_t i, double *mass, double pos[3],
                           double vel[3])
{
    struct stream s = draw_stream(m->seed, NBODY_HERNQUIST, i);
    sphere_body(m->tables, hernquist_share, &s, pos, vel);
    *mass = 1 / (double)m->n;
}

/* ---- Galaxies. ------------------------------------------------------------------------------- */

static void *galaxy_tables(void)
{
    return nbody_galaxy_create();
}

static void galaxy_body(const struct making *m, size_t i, double *mass, double pos[3],
                        double vel[3])
{
    nbody_galaxy_body(m->tables, m->n, m->seed, NBODY_GALAXY, i, mass, pos, vel);
}

static const double pericentre = 2.5; /* of the two-body orbit, in scale lengths of a disk */
static const double distance = 20;    /* initial distance */

/* Rotation about the x axis, then about the z axis; cosines and sines. */
struct attitude {
    double tilt[2], turn[2];
};

static void orient(const struct attitude *o, double v[3])
{
    double y = o->tilt[0] * v[1] - o->tilt[1] * v[2];
    double z = o->tilt[1] * v[1] + o->tilt[0] * v[2];
    double x = v[0];
    v[0] = o->turn[0] * x - o->turn[1] * y;
    v[1] = o->turn[1] * x + o->turn[0] * y;
    v[2] = z;
}

/* Number of bodies of the first galaxy. */
static size_t first_half(size_t n)
{
    return n - n / 2;
}

static void collision_body(const struct making *m, size_t i, double *mass, double pos[3],
                           double vel[3])
{
    const size_t half = first_half(m->n), first = i < half ? 0 : half,
                 count = i < half ? half : m->n - half;
    const philox_u32 purpose = (philox_u32)(NBODY_COLLISION + (i < half ? 0 : 16));
    nbody_galaxy_body(m->tables, count, m->seed, purpose, i - first, mass, pos, vel);
}

/* Two equal disk galaxies on a parabola in the x-y plane. With d = tan(half the true anomaly) and
 * pericentre p, the relative position is (p (1 - d^2), 2 p d) and dd/dt = sqrt(GM / 2p^3) / (1 +
 * d^2). Both disks rotate nearly in the sense of the orbit, which draws out long tails (Toomre &
 * Toomre 1972, ApJ 178, 623). */
static void place_body(const struct making *m, size_t i, double pos[3], double vel[3])
{
    static const struct attitude attitude[2] = {
        {{0.96, 0.28}, {1, 0}},    /* 16 degrees */
        {{0.6, 0.8}, {0.6, -0.8}}, /* 53 degrees */
    };
    const double p = pericentre, M = 2 * nbody_galaxy_mass(), d = -sqrt(distance / p - 1);
    const double rate = sqrt(M / (2 * p * p * p)) / (1 + d * d);
    const double x[3] = {p * (1 - d * d), 2 * p * d, 0},
                 v[3] = {-2 * p * d * rate, 2 * p * rate, 0};
    const int g = i >= first_half(m->n);
    orient(&attitude[g], pos);
    orient(&attitude[g], vel);
    for (int k = 0; k < 3; k++) {
        pos[k] += (g ? 0.5 : -0.5) * x[k];
        vel[k] += (g ? 0.5 : -0.5) * v[k];
    }
}

static void place_galaxies(void *making, size_t block, size_t first, size_t end)
{
    const struct making *m = making;
    (void)block;
    for (size_t k = first; k < end; k++)
        place_body(m, m->first + k, m->pos[k], m->vel[k]);
}

/* ---- Three bodies. --------------------------------------------------------------------------- */

/* Chenciner & Montgomery (2000, Ann. Math. 152, 881), Simo's numbers; period 6.32591398. */
static void figure8_body(const struct making *m, size_t i, double *mass, double pos[3],
                         double vel[3])
{
    static const double x[3][3] = {
        {0.97000436, -0.24308753, 0}, {-0.97000436, 0.24308753, 0}, {0, 0, 0}};
    static const double v[3][3] = {
        {0.466203685, 0.43236573, 0}, {0.466203685, 0.43236573, 0}, {-0.93240737, -0.86473146, 0}};
    (void)m;
    memcpy(pos, x[i], sizeof *x);
    memcpy(vel, v[i], sizeof *v);
    *mass = 1;
}

/* Burrau (1913, Astron. Nachr. 195, 113): masses 3, 4 and 5 opposite the sides of these lengths. */
static void pythagorean_body(const struct making *m, size_t i, double *mass, double pos[3],
                             double vel[3])
{
    static const double x[3][3] = {{1, 3, 0}, {-2, -1, 0}, {1, -1, 0}};
    (void)m;
    memcpy(pos, x[i], sizeof *x);
    memset(vel, 0, sizeof *x);
    *mass = 3 + (double)i;
}

/* ---- The centre of mass. --------------------------------------------------------------------- */

static void shift_body(const struct shift *shift, double pos[3], double vel[3])
{
    for (int k = 0; k < 3; k++) {
        pos[k] -= shift->x[k];
        vel[k] -= shift->v[k];
    }
}

/* The bodies base .. base + n - 1. Each block is summed by the rank in whose slice it begins, and
 * the sums are added in order: the same for any number of threads and ranks. */
struct centring {
    const struct making *m;
    size_t base, n;
    size_t from, bodies; /* first body of this rank's blocks, and number of bodies in these */
    double (*sum)[7];    /* per block of this rank: mass, mass times position and velocity */
    struct shift centre;
};

static void draw_body(const struct making *m, size_t i, double *mass, double pos[3], double vel[3])
{
    m->model->body(m, i, mass, pos, vel);
    if (!m->placed)
        return;
    shift_body(&m->galaxy[i >= first_half(m->n)], pos, vel);
    place_body(m, i, pos, vel);
}

/* Copy body i; the bodies of a block that continues in other slices are drawn again. */
static void copy_or_draw(const struct making *m, size_t i, double *mass, double pos[3],
                         double vel[3])
{
    const size_t k = i - m->first;
    if (i < m->first || k >= m->count) {
        draw_body(m, i, mass, pos, vel);
        return;
    }
    *mass = m->mass[k];
    memcpy(pos, m->pos[k], sizeof m->pos[k]);
    memcpy(vel, m->vel[k], sizeof m->vel[k]);
}

static void sum_block(void *centring, size_t block, size_t first, size_t end)
{
    const struct centring *c = centring;
    double *sum = c->sum[block], mass, pos[3], vel[3];
    for (size_t i = first; i < end; i++) {
        copy_or_draw(c->m, c->from + i, &mass, pos, vel);
        sum[0] += mass;
        for (int k = 0; k < 3; k++) {
            sum[1 + k] += mass * pos[k];
            sum[4 + k] += mass * vel[k];
        }
    }
}

static void add_blocks(void *total_, void *centring)
{
    const struct centring *c = centring;
    double *total = total_;
    for (size_t b = 0; b < nbody_blocks(c->bodies); b++)
        for (int k = 0; k < 7; k++)
            total[k] += c->sum[b][k];
}

static void shift_block(void *centring, size_t block, size_t first, size_t end)
{
    const struct centring *c = centring;
    (void)block;
    for (size_t k = first; k < end; k++)
        if (c->m->first + k - c->base < c->n)
            shift_body(&c->centre, c->m->pos[k], c->m->vel[k]);
}

/* Bodies of the group that precede the first block that begins at body i or later. */
static size_t bodies_before(const struct centring *c, size_t i)
{
    const size_t blocks = i > c->base ? nbody_blocks(i - c->base) : 0;
    return blocks < nbody_blocks(c->n) ? blocks * BLOCK_BODIES : c->n;
}

/* Collective. Move the centre of mass of the bodies base .. base + n - 1 to rest at the origin.
 * -1: out of memory. */
static int centre(const struct making *m, size_t base, size_t n, struct shift *shift)
{
    double total[7] = {0};
    struct centring c = {.m = m, .base = base, .n = n};
    c.from = base + bodies_before(&c, m->first);
    c.bodies = base + bodies_before(&c, m->first + m->count) - c.from;
    c.sum = calloc(nbody_blocks(c.bodies) + 1, sizeof *c.sum);
    int status = world_reduce_status(m->world, c.sum ? 0 : out_of_memory(m->model));
    if (status == 0) {
        nbody_each_block(c.bodies, sum_block, &c);
        status = nbody_slices_in_turn(m->world, total, sizeof total, add_blocks, &c);
    }
    for (int k = 0; k < 3 && n > 0; k++) {
        c.centre.x[k] = total[1 + k] / total[0];
        c.centre.v[k] = total[4 + k] / total[0];
    }
    if (status == 0)
        nbody_each_block(m->count, shift_block, &c);
    free(c.sum);
    *shift = c.centre;
    return status;
}

static int centre_all(struct making *m)
{
    struct shift shift;
    return centre(m, 0, m->n, &shift);
}

/* Centre each galaxy first, so that their orbit is exact. */
static int centre_galaxies(struct making *m)
{
    const size_t half = first_half(m->n);
    if (centre(m, 0, half, &m->galaxy[0]) < 0 || centre(m, half, m->n - half, &m->galaxy[1]) < 0)
        return -1;
    nbody_each_block(m->count, place_galaxies, m);
    m->placed = true;
    return centre_all(m);
}

static int keep_centre(struct making *m)
{
    (void)m;
    return 0;
}

/* ---- The table of models. -------------------------------------------------------------------- */

static const struct model models[] = {
    /* clang-format off */
    [NBODY_PLUMMER]     = {"plummer",     0, plummer_body,     centre_all,      NULL},
    [NBODY_UNIFORM]     = {"uniform",     0, uniform_body,     centre_all,      NULL},
    [NBODY_COLD]        = {"cold",        0, cold_body,        centre_all,      NULL},
    [NBODY_COLLISION]   = {"collision",   0, collision_body,   centre_galaxies, galaxy_tables},
    [NBODY_FIGURE8]     = {"figure8",     3, figure8_body,     keep_centre,     NULL},
    [NBODY_PYTHAGOREAN] = {"pythagorean", 3, pythagorean_body, keep_centre,     NULL},
    [NBODY_HERNQUIST]   = {"hernquist",   0, hernquist_body,   centre_all,      hernquist_tables},
    [NBODY_GALAXY]      = {"galaxy",      0, galaxy_body,      centre_all,      galaxy_tables},
    /* clang-format on */
};
enum { MODELS = sizeof models / sizeof *models };

/* ---- The public functions. ------------------------------------------------------------------- */

int nbody_model_by_name(const char *name)
{
    for (int i = 0; i < MODELS; i++)
        if (name && strcmp(name, models[i].name) == 0)
            return i;
    return clerror_set(
        EINVAL,
        "no model is called \"%s\"; there are plummer, hernquist, uniform, cold, galaxy, collision, "
        "figure8 and pythagorean",
        name ? name : "(null)");
}

size_t nbody_model_bodies(enum nbody_model model)
{
    return (unsigned)model < MODELS ? models[model].bodies : 0;
}

static void make_block(void *making, size_t block, size_t first, size_t end)
{
    const struct making *m = making;
    (void)block;
    for (size_t k = first; k < end; k++)
        m->model->body(m, m->first + k, &m->mass[k], m->pos[k], m->vel[k]);
}

static int make_slice(struct making *m)
{
    void *tables = m->model->tables ? m->model->tables() : NULL;
    const bool whole = tables || !m->model->tables;
    int status = world_reduce_status(m->world, whole ? 0 : out_of_memory(m->model));
    m->tables = tables;
    if (status == 0) {
        nbody_each_block(m->count, make_block, m);
        status = m->model->finish(m);
    }
    free(tables);
    return status;
}

int nbody_initial_slice(stdcl_world *world, enum nbody_model model, size_t n, uint64_t seed,
                        size_t first, size_t count, double *mass, double (*pos)[3],
                        double (*vel)[3])
{
    if ((unsigned)model >= MODELS)
        return clerror_set(EINVAL, "nbody_initial: there is no model number %d", (int)model);
    if (n == 0)
        return clerror_set(EINVAL, "nbody_initial: at least one body is needed");
    const struct model *row = &models[model];
    if (row->bodies && n != row->bodies)
        return clerror_set(EINVAL, "nbody_initial: the model %s has %zu bodies, not %zu", row->name,
                           row->bodies, n);
    size_t *firsts;
    if (nbody_slices_check(world, "nbody_initial_slice", n, first, count, &firsts) != 0)
        return -1;
    free(firsts);
    return make_slice(&(struct making){.model = row,
                                       .n = n,
                                       .seed = seed,
                                       .world = world,
                                       .first = first,
                                       .count = count,
                                       .mass = mass,
                                       .pos = pos,
                                       .vel = vel});
}

int nbody_initial(enum nbody_model model, size_t n, uint64_t seed, double *mass, double (*pos)[3],
                  double (*vel)[3])
{
    return nbody_initial_slice(NULL, model, n, seed, 0, n, mass, pos, vel);
}

void nbody_initial_scale(size_t n, double kinetic, double potential, double (*pos)[3],
                         double (*vel)[3])
{
    double x = potential / -0.5, v = kinetic > 0 ? sqrt(0.25 / kinetic) : 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            pos[i][k] *= x;
            vel[i][k] *= v;
        }
}
