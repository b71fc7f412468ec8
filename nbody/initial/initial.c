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
#include "nbody/initial/draw.h"
#include "nbody/initial/galaxy.h"
#include "nbody/initial/sphere.h"
#include "stdcl/nbody.h"

typedef double (*rows)[3];

/* The bodies of a model, made by several threads. */
struct making {
    size_t n;
    uint64_t seed;
    double *mass;
    rows pos, vel;
    const void *tables; /* tables of the model */
};

/* ---- Spheres. -------------------------------------------------------------------------------- */

/* Plummer's sphere in Henon units, by the recipe of Aarseth, Henon & Wielen (1974, A&A 37, 183):
 * radius from the enclosed mass, speed by rejection. The outermost 0.1 % of the mass is left out,
 * as in most codes, since it would scatter bodies over hundreds of radii. */
static void plummer_body(const struct making *m, size_t i)
{
    const double a = 0.58904862254808623;    /* 3 pi / 16 */
    const double speed = 1.3029400317411197; /* 1 / sqrt(a) */
    struct stream s = draw_stream(m->seed, NBODY_PLUMMER, i);
    double c = draw_cube_root(0.999 * draw_uniform(&s)), r = c / sqrt(1 - c * c), q, g, u;
    draw_vector(&s, a * r, m->pos[i]);
    do { /* q = speed / escape speed, distributed as q^2 (1 - q^2)^(7/2) < 0.1 */
        q = draw_uniform(&s);
        g = 0.1 * draw_uniform(&s);
        u = 1 - q * q;
    } while (g > q * q * (u * u * u * sqrt(u)));
    draw_vector(&s, speed * q * sqrt(2 / sqrt(1 + r * r)), m->vel[i]);
    m->mass[i] = 1 / (double)m->n;
}

/* Uniform sphere of radius 6/5, so that E = -1/4 in virial equilibrium; velocities uniform in a
 * sphere, with 2 K = |U|. It is virialised but not stationary, and oscillates a little. */
static void uniform_body(const struct making *m, size_t i)
{
    const double speed = 0.91287092917527686; /* mean square 3/5 of its square, K = 1/4 */
    struct stream s = draw_stream(m->seed, NBODY_UNIFORM, i);
    draw_vector(&s, 1.2 * draw_cube_root(draw_uniform(&s)), m->pos[i]);
    draw_vector(&s, speed * draw_cube_root(draw_uniform(&s)), m->vel[i]);
    m->mass[i] = 1 / (double)m->n;
}

/* Uniform sphere of mass and radius 1 at rest; it collapses at t = 1.1107. */
static void cold_body(const struct making *m, size_t i)
{
    struct stream s = draw_stream(m->seed, NBODY_COLD, i);
    draw_vector(&s, draw_cube_root(draw_uniform(&s)), m->pos[i]);
    memset(m->vel[i], 0, sizeof m->vel[i]);
    m->mass[i] = 1 / (double)m->n;
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

static void hernquist_body(const struct making *m, size_t i)
{
    struct stream s = draw_stream(m->seed, NBODY_HERNQUIST, i);
    sphere_body(m->tables, hernquist_share, &s, m->pos[i], m->vel[i]);
    m->mass[i] = 1 / (double)m->n;
}

/* ---- Galaxies. ------------------------------------------------------------------------------- */

static void *galaxy_tables(void)
{
    return nbody_galaxy_create();
}

static void galaxy_body(const struct making *m, size_t i)
{
    nbody_galaxy_body(m->tables, m->n, m->seed, NBODY_GALAXY, i, &m->mass[i], m->pos[i], m->vel[i]);
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

static void collision_body(const struct making *m, size_t i)
{
    const size_t half = first_half(m->n), first = i < half ? 0 : half,
                 count = i < half ? half : m->n - half;
    const philox_u32 purpose = (philox_u32)(NBODY_COLLISION + (i < half ? 0 : 16));
    nbody_galaxy_body(m->tables, count, m->seed, purpose, i - first, &m->mass[i], m->pos[i],
                      m->vel[i]);
}

/* Two equal disk galaxies on a parabola in the x-y plane. With d = tan(half the true anomaly) and
 * pericentre p, the relative position is (p (1 - d^2), 2 p d) and dd/dt = sqrt(GM / 2p^3) / (1 +
 * d^2). Both disks rotate nearly in the sense of the orbit, which draws out long tails (Toomre &
 * Toomre 1972, ApJ 178, 623). */
static void place_galaxies(void *making, size_t block, size_t first, size_t end)
{
    static const struct attitude attitude[2] = {
        {{0.96, 0.28}, {1, 0}},    /* 16 degrees */
        {{0.6, 0.8}, {0.6, -0.8}}, /* 53 degrees */
    };
    const struct making *m = making;
    const double p = pericentre, M = 2 * nbody_galaxy_mass(), d = -sqrt(distance / p - 1);
    const double rate = sqrt(M / (2 * p * p * p)) / (1 + d * d);
    const double x[3] = {p * (1 - d * d), 2 * p * d, 0},
                 v[3] = {-2 * p * d * rate, 2 * p * rate, 0};
    (void)block;
    for (size_t i = first; i < end; i++) {
        const int g = i >= first_half(m->n);
        orient(&attitude[g], m->pos[i]);
        orient(&attitude[g], m->vel[i]);
        for (int k = 0; k < 3; k++) {
            m->pos[i][k] += (g ? 0.5 : -0.5) * x[k];
            m->vel[i][k] += (g ? 0.5 : -0.5) * v[k];
        }
    }
}

/* ---- Three bodies. --------------------------------------------------------------------------- */

/* Chenciner & Montgomery (2000, Ann. Math. 152, 881), Simo's numbers; period 6.32591398. */
static void figure8_body(const struct making *m, size_t i)
{
    static const double x[3][3] = {
        {0.97000436, -0.24308753, 0}, {-0.97000436, 0.24308753, 0}, {0, 0, 0}};
    static const double v[3][3] = {
        {0.466203685, 0.43236573, 0}, {0.466203685, 0.43236573, 0}, {-0.93240737, -0.86473146, 0}};
    memcpy(m->pos[i], x[i], sizeof *x);
    memcpy(m->vel[i], v[i], sizeof *v);
    m->mass[i] = 1;
}

/* Burrau (1913, Astron. Nachr. 195, 113): masses 3, 4 and 5 opposite the sides of these lengths. */
static void pythagorean_body(const struct making *m, size_t i)
{
    static const double x[3][3] = {{1, 3, 0}, {-2, -1, 0}, {1, -1, 0}};
    memcpy(m->pos[i], x[i], sizeof *x);
    memset(m->vel[i], 0, sizeof *x);
    m->mass[i] = 3 + (double)i;
}

/* ---- The centre of mass. --------------------------------------------------------------------- */

/* Sums over blocks, added in order: the same for any number of threads. */
struct centring {
    const double *mass;
    rows pos, vel;
    double (*sum)[7]; /* per block: mass, mass times position and velocity */
    double x[3], v[3];
};

static void sum_block(void *centring, size_t block, size_t first, size_t end)
{
    const struct centring *c = centring;
    double *sum = c->sum[block];
    for (size_t i = first; i < end; i++) {
        sum[0] += c->mass[i];
        for (int k = 0; k < 3; k++) {
            sum[1 + k] += c->mass[i] * c->pos[i][k];
            sum[4 + k] += c->mass[i] * c->vel[i][k];
        }
    }
}

static void shift_block(void *centring, size_t block, size_t first, size_t end)
{
    const struct centring *c = centring;
    (void)block;
    for (size_t i = first; i < end; i++)
        for (int k = 0; k < 3; k++) {
            c->pos[i][k] -= c->x[k];
            c->vel[i][k] -= c->v[k];
        }
}

/* Move the centre of mass of n bodies to rest at the origin. -1: out of memory. */
static int centre(size_t n, const double *mass, rows pos, rows vel)
{
    double total[7] = {0};
    struct centring c = {mass, pos, vel, calloc(nbody_blocks(n) + 1, sizeof *c.sum), {0}, {0}};
    if (!c.sum)
        return -1;
    nbody_each_block(n, sum_block, &c);
    for (size_t b = 0; b < nbody_blocks(n); b++)
        for (int k = 0; k < 7; k++)
            total[k] += c.sum[b][k];
    for (int k = 0; k < 3 && n > 0; k++) {
        c.x[k] = total[1 + k] / total[0];
        c.v[k] = total[4 + k] / total[0];
    }
    nbody_each_block(n, shift_block, &c);
    free(c.sum);
    return 0;
}

static int centre_all(const struct making *m)
{
    return centre(m->n, m->mass, m->pos, m->vel);
}

/* Centre each galaxy first, so that their orbit is exact. */
static int centre_galaxies(const struct making *m)
{
    struct making making = *m;
    const size_t half = first_half(m->n);
    if (centre(half, m->mass, m->pos, m->vel) < 0 ||
        centre(m->n - half, m->mass + half, m->pos + half, m->vel + half) < 0)
        return -1;
    nbody_each_block(m->n, place_galaxies, &making);
    return centre_all(m);
}

static int keep_centre(const struct making *m)
{
    (void)m;
    return 0;
}

/* ---- The table of models. -------------------------------------------------------------------- */

static const struct model {
    const char *name;
    size_t bodies; /* 0: any number */
    void (*body)(const struct making *m, size_t i);
    int (*finish)(const struct making *m);
    void *(*tables)(void); /* for all bodies, freed by free(); or NULL */
} models[] = {
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

struct order {
    const struct model *model;
    struct making making;
};

static void make_block(void *order_, size_t block, size_t first, size_t end)
{
    const struct order *order = order_;
    (void)block;
    for (size_t i = first; i < end; i++)
        order->model->body(&order->making, i);
}

int nbody_initial(enum nbody_model model, size_t n, uint64_t seed, double *mass, double (*pos)[3],
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
    void *tables = row->tables ? row->tables() : NULL;
    struct order order = {row, {n, seed, mass, pos, vel, tables}};
    int failed = row->tables && !tables;
    if (!failed) {
        nbody_each_block(n, make_block, &order);
        failed = row->finish(&order.making) < 0;
    }
    free(tables);
    return failed
               ? clerror_set(ENOMEM, "nbody_initial: out of memory for the tables of the model %s",
                             row->name)
               : 0;
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
