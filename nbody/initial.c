/* initial.c - initial conditions, the section of that name in stdcl/nbody.h.
 *
 * One small function per model, then the table of models and the public functions. The colliding
 * galaxies are made in galaxy.c; how random numbers stay the same everywhere is told in draw.h.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "nbody/draw.h"
#include "nbody/galaxy.h"
#include "stdcl/nbody.h"

typedef double (*rows)[3];

/* Plummer's sphere in Henon units, by the recipe of Aarseth, Henon & Wielen (1974, A&A 37, 183):
 * radius from the enclosed mass, speed by rejection. Like most codes it leaves out the outermost
 * 0.1 % of the mass, which would scatter bodies over hundreds of radii. */
static int plummer(size_t n, uint64_t seed, double *mass, rows pos, rows vel)
{
    const double a = 0.58904862254808623;    /* 3 pi / 16 */
    const double speed = 1.3029400317411197; /* 1 / sqrt(a) */
    for (size_t i = 0; i < n; i++) {
        struct stream s = stream_of(seed, NBODY_PLUMMER, i);
        double c = cube_root(0.999 * draw(&s)), r = c / sqrt(1 - c * c), q, g, u;
        draw_vector(&s, a * r, pos[i]);
        do { /* q = speed / escape speed, distributed as q^2 (1 - q^2)^(7/2) < 0.1 */
            q = draw(&s);
            g = 0.1 * draw(&s);
            u = 1 - q * q;
        } while (g > q * q * (u * u * u * sqrt(u)));
        draw_vector(&s, speed * q * sqrt(2 / sqrt(1 + r * r)), vel[i]);
        mass[i] = 1 / (double)n;
    }
    return 0;
}

/* A uniform sphere of radius 6/5, so that E = -1/4 in virial equilibrium; velocities uniform in a
 * sphere of their own, with 2 K = |U|. It is virialised, not stationary: it will oscillate a little. */
static int uniform(size_t n, uint64_t seed, double *mass, rows pos, rows vel)
{
    const double speed = 0.91287092917527686; /* sqrt(5/6): mean square 3/5 of that, K = 1/4 */
    for (size_t i = 0; i < n; i++) {
        struct stream s = stream_of(seed, NBODY_UNIFORM, i);
        draw_vector(&s, 1.2 * cube_root(draw(&s)), pos[i]);
        draw_vector(&s, speed * cube_root(draw(&s)), vel[i]);
        mass[i] = 1 / (double)n;
    }
    return 0;
}

/* A uniform sphere of mass and radius 1 at rest: it falls together at t = 1.1107. */
static int cold(size_t n, uint64_t seed, double *mass, rows pos, rows vel)
{
    for (size_t i = 0; i < n; i++) {
        struct stream s = stream_of(seed, NBODY_COLD, i);
        draw_vector(&s, cube_root(draw(&s)), pos[i]);
        memset(vel[i], 0, sizeof vel[i]);
        mass[i] = 1 / (double)n;
    }
    return 0;
}

/* ---- Two galaxies. ---------------------------------------------------------------------------- */

static const double pericentre = 2.5; /* of the orbit of two points, in scale lengths of a disk */
static const double distance = 10;    /* at the start */

/* Tilts by an angle about the x axis, then turns about the z axis; given as cosines and sines. */
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

/* Two equal disk galaxies on a parabola in the x-y plane. With d = tan(half the true anomaly) and
 * pericentre p, the relative position is (p (1 - d^2), 2 p d) and dd/dt = sqrt(GM / 2p^3) / (1 + d^2).
 * Both disks turn nearly with the orbit, which is what draws out long tails (Toomre & Toomre 1972,
 * ApJ 178, 623). */
static int collision(size_t n, uint64_t seed, double *mass, rows pos, rows vel)
{
    static const struct attitude attitude[2] = {
        {{0.96, 0.28}, {1, 0}},    /* 16 degrees */
        {{0.6, 0.8}, {0.6, -0.8}}, /* 53 degrees */
    };
    const double p = pericentre, M = 2, d = -sqrt(distance / p - 1);
    const double rate = sqrt(M / (2 * p * p * p)) / (1 + d * d);
    const double x[3] = {p * (1 - d * d), 2 * p * d, 0}, v[3] = {-2 * p * d * rate, 2 * p * rate, 0};

    for (int g = 0; g < 2; g++) {
        size_t first = g ? (n + 1) / 2 : 0, count = g ? n / 2 : (n + 1) / 2;
        if (count == 0)
            break;
        philox_u32 purpose = (philox_u32)(NBODY_COLLISION + 16 * g);
        if (nbody_galaxy_make(count, seed, purpose, mass + first, pos + first, vel + first) == -1)
            return -1;
        for (size_t i = first; i < first + count; i++) {
            orient(&attitude[g], pos[i]);
            orient(&attitude[g], vel[i]);
            for (int k = 0; k < 3; k++) {
                pos[i][k] += (g ? 0.5 : -0.5) * x[k];
                vel[i][k] += (g ? 0.5 : -0.5) * v[k];
            }
        }
    }
    return 0;
}

/* ---- Three bodies. ---------------------------------------------------------------------------- */

/* Chenciner & Montgomery (2000, Ann. Math. 152, 881), Simo's numbers; period 6.32591398. */
static int figure8(size_t n, uint64_t seed, double *mass, rows pos, rows vel)
{
    static const double x[3][3] = {{0.97000436, -0.24308753, 0}, {-0.97000436, 0.24308753, 0}, {0, 0, 0}};
    static const double v[3][3] = {
        {0.466203685, 0.43236573, 0}, {0.466203685, 0.43236573, 0}, {-0.93240737, -0.86473146, 0}};
    (void)seed;
    memcpy(pos, x, n * sizeof *x);
    memcpy(vel, v, n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        mass[i] = 1;
    return 0;
}

/* Burrau (1913, Astron. Nachr. 195, 113): each body opposite the side of its own length. */
static int pythagorean(size_t n, uint64_t seed, double *mass, rows pos, rows vel)
{
    static const double m[3] = {3, 4, 5}, x[3][3] = {{1, 3, 0}, {-2, -1, 0}, {1, -1, 0}};
    (void)seed;
    memcpy(mass, m, n * sizeof *m);
    memcpy(pos, x, n * sizeof *x);
    memset(vel, 0, n * sizeof *x);
    return 0;
}

/* ---- The public functions. -------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t bodies; /* 0: any number */
    int centred;   /* whether to bring the centre of mass to rest at the origin */
    int (*make)(size_t n, uint64_t seed, double *mass, rows pos, rows vel);
} models[] = {
    /* clang-format off */
    [NBODY_PLUMMER]     = {"plummer",     0, 1, plummer},
    [NBODY_UNIFORM]     = {"uniform",     0, 1, uniform},
    [NBODY_COLD]        = {"cold",        0, 1, cold},
    [NBODY_COLLISION]   = {"collision",   0, 1, collision},
    [NBODY_FIGURE8]     = {"figure8",     3, 0, figure8},
    [NBODY_PYTHAGOREAN] = {"pythagorean", 3, 0, pythagorean},
    /* clang-format on */
};
enum { MODELS = sizeof models / sizeof *models };

int nbody_model_by_name(const char *name)
{
    for (int i = 0; i < MODELS; i++)
        if (name && strcmp(name, models[i].name) == 0)
            return i;
    return clerror_set(EINVAL,
                       "no model is called \"%s\"; there are plummer, uniform, cold, collision, "
                       "figure8 and pythagorean",
                       name ? name : "(null)");
}

size_t nbody_model_bodies(enum nbody_model model)
{
    return (unsigned)model < MODELS ? models[model].bodies : 0;
}

int nbody_initial(enum nbody_model model, size_t n, uint64_t seed, double *mass, double (*pos)[3],
                  double (*vel)[3])
{
    if ((unsigned)model >= MODELS)
        return clerror_set(EINVAL, "nbody_initial: there is no model number %d", (int)model);
    if (n == 0)
        return clerror_set(EINVAL, "nbody_initial: at least one body is needed");
    if (models[model].bodies && n != models[model].bodies)
        return clerror_set(EINVAL, "nbody_initial: the model %s has %zu bodies, not %zu", models[model].name,
                           models[model].bodies, n);
    if (models[model].make(n, seed, mass, pos, vel) == -1)
        return clerror_set(ENOMEM, "nbody_initial: no memory for the tables of a galaxy");
    if (models[model].centred)
        nbody_galaxy_centre(n, mass, pos, vel);
    return 0;
}

void nbody_initial_scale(size_t n, double kinetic, double potential, double (*pos)[3], double (*vel)[3])
{
    double x = potential / -0.5, v = kinetic > 0 ? sqrt(0.25 / kinetic) : 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            pos[i][k] *= x;
            vel[i][k] *= v;
        }
}
