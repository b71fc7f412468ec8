/* galaxy.c - a disk galaxy in equilibrium (galaxy.h).
 *
 * Disk, bulge and halo follow McMillan & Dehnen (2007, MNRAS 378, 541): an exponential disk with
 * isothermal layers, 1 / cosh^2(z / height); a Hernquist sphere as bulge; and a Hernquist sphere
 * truncated by 1 / cosh(r / edge) as halo. Their masses are in the ratio 3 : 1 : 16 of Barnes
 * (1988, ApJ 331, 699). Bulge and halo are drawn from distribution functions in the total
 * potential, in which the disk counts as a sphere (sphere.c). The disk follows Hernquist's recipe
 * (1993, ApJS 86, 389): (1) rotation curve, (2) velocity dispersions from moments of the Boltzmann
 * equation, with the same Toomre's Q at all radii, (3) bodies drawn from these.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/initial/galaxy.h"

#include <stdlib.h>

#include "nbody/initial/sphere.h"

static const double disk_mass = 1;
static const double disk_height = 0.2;
static const double disk_edge = 10; /* 99.95 % of an infinite disk lies inside */
static const double toomre_q = 1.5; /* 1: marginally stable against rings */
static const struct sphere_density bulge = {1.0 / 3, 0.2, 0};
static const struct sphere_density halo = {16.0 / 3, 2, 10};
static const double bulge_share = 0.99; /* of its mass; the outermost 1 % would be scattered wide */
/* Fractions of the bodies. All stars have equal mass; the halo's bodies are six times as heavy. */
static const double disk_bodies = 0.45, bulge_bodies = 0.15;

static const double PI = 3.14159265358979323846;

/* Tables over R = 0, 1/32, 2/32, ... */
enum { GRID = 353, HEIGHTS = 4 };
static const double dr = 1.0 / 32;

struct nbody_galaxy {
    struct sphere bulge, halo;
    double inside[GRID];     /* mass of the disk inside R */
    double circular2[GRID];  /* squared circular speed, the mean over a column of stars */
    double epicyclic2[GRID]; /* squared epicyclic frequency */
    double radial2[GRID];    /* squared radial dispersion */
    double mean2[GRID];      /* squared mean rotation speed */
    double vertical2[GRID];  /* squared vertical dispersion */
};

/* Linear interpolation; constant beyond the last entry. */
static double galaxy_table_at(const double *table, double r)
{
    const double x = r / dr;
    const int i = x < GRID - 2 ? (int)x : GRID - 2;
    const double t = x < GRID - 1 ? x - i : 1;
    return table[i] + t * (table[i + 1] - table[i]);
}

static double slope(const double *table, int i)
{
    const int a = i > 0 ? i - 1 : 0, b = i < GRID - 1 ? i + 1 : i;
    return (table[b] - table[a]) / ((b - a) * dr);
}

/* ---- Masses. --------------------------------------------------------------------------------- */

/* Fraction of an infinite exponential disk inside R. */
static double disk_inside(double r)
{
    return 1 - (1 + r) * draw_exponential(-r);
}

static double surface(double r)
{
    return r <= disk_edge ? disk_mass * draw_exponential(-r) / (2 * PI * disk_inside(disk_edge))
                          : 0;
}

/* Height below which a fraction u of the stars above the plane lies. */
static double height_of(double u)
{
    return disk_height / 2 * draw_logarithm((1 + u) / (1 - u));
}

static double middle_height(int k)
{
    return height_of((k + 0.5) / HEIGHTS);
}

static void make_spheres(struct nbody_galaxy *g)
{
    double total[SPHERE_NODES + 1], other[SPHERE_NODES + 1];
    sphere_mass(&bulge, total);
    sphere_mass(&halo, other);
    for (int i = 0; i <= SPHERE_NODES; i++) {
        const double r = i < SPHERE_NODES ? sphere_radius((double)i / SPHERE_NODES) : disk_edge;
        total[i] +=
            other[i] + disk_mass * (r < disk_edge ? disk_inside(r) / disk_inside(disk_edge) : 1);
    }
    sphere_make(&g->bulge, &bulge, total);
    sphere_make(&g->halo, &halo, total);
}

static double mass_of_spheres(const struct nbody_galaxy *g, double r)
{
    return sphere_at(g->bulge.inside, r) + sphere_at(g->halo.inside, r);
}

static void make_masses(struct nbody_galaxy *g)
{
    for (int i = 0; i < GRID; i++) {
        const double r = i * dr;
        g->inside[i] = disk_mass * (r < disk_edge ? disk_inside(r) / disk_inside(disk_edge) : 1);
    }
}

/* Forces of the spheres on a column of stars at R: the means of -x . a in the plane and of -z a_z.
 */
static void pull_of_spheres(const struct nbody_galaxy *g, double R, double *plane, double *vertical)
{
    *plane = *vertical = 0;
    for (int k = 0; k < HEIGHTS; k++) {
        const double z = middle_height(k), r = sqrt(R * R + z * z),
                     a = mass_of_spheres(g, r) / (r * r * r) / HEIGHTS;
        *plane += R * R * a;
        *vertical += z * z * a;
    }
}

/* ---- The rotation curve. --------------------------------------------------------------------- */

/* The arithmetic-geometric mean; converges quadratically. */
static double agm(double a, double b)
{
    for (int i = 0; i < 8 && a != b; i++) {
        const double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return a;
}

/* The disk's potential at R is a sum over rings. A ring of mass m and radius s, z above,
 * contributes -m / agm(longest, shortest distance), Gauss's form of the elliptic integral. The rms
 * vertical distance of two disk stars is 2^1/2 times a star's height. */
static void disk_potential(const struct nbody_galaxy *g, double potential[GRID])
{
    for (int i = 0; i < GRID; i++) {
        potential[i] = 0;
        for (int k = 0; k < HEIGHTS; k++) {
            const double r = i * dr, z = middle_height(k), z2 = 2 * z * z;
            for (int j = 0; j < GRID - 1; j++) {
                const double s = (j + 0.5) * dr, m = (g->inside[j + 1] - g->inside[j]) / HEIGHTS;
                if (m > 0)
                    potential[i] -=
                        m / agm(sqrt((r + s) * (r + s) + z2), sqrt((r - s) * (r - s) + z2));
            }
        }
    }
}

static void make_rotation(struct nbody_galaxy *g)
{
    double potential[GRID];
    disk_potential(g, potential);
    for (int i = 0; i < GRID; i++) {
        double plane, vertical;
        pull_of_spheres(g, i * dr, &plane, &vertical);
        g->circular2[i] = i * dr * slope(potential, i) + plane;
    }
    /* kappa^2 = r d(Omega^2)/dr + 4 Omega^2 = (d(v^2)/dr + 2 v^2 / r) / r */
    for (int i = 1; i < GRID; i++) {
        const double r = i * dr;
        g->epicyclic2[i] = (slope(g->circular2, i) + 2 * g->circular2[i] / r) / r;
    }
    g->epicyclic2[0] = g->epicyclic2[1];
}

/* ---- The disk's velocities. ------------------------------------------------------------------ */

/* Radial dispersion from Toomre's Q = sigma kappa / (3.36 G Sigma); mean rotation from the radial
 * Jeans equation (asymmetric drift), with the azimuthal dispersion of the epicyclic approximation.
 */
static void make_plane(struct nbody_galaxy *g)
{
    double pressure[GRID];
    for (int i = 0; i < GRID; i++) {
        double s2 = toomre_q * 3.36 * surface(i * dr);
        s2 = s2 * s2 / g->epicyclic2[i];
        g->radial2[i] = s2 < g->circular2[i] / 2 ? s2 : g->circular2[i] / 2;
        pressure[i] = surface(i * dr) * g->radial2[i];
    }
    for (int i = 0; i < GRID; i++) {
        const double r = i * dr, v2 = g->circular2[i];
        double drift = 0;
        if (i > 0 && surface(r) > 0 && v2 > 0)
            drift = g->radial2[i] * (1 - g->epicyclic2[i] * r * r / (4 * v2)) +
                    r * slope(pressure, i) / surface(r);
        g->mean2[i] = v2 + drift > 0 ? v2 + drift : 0;
    }
}

/* The virial theorem in z: sigma^2 is the mean of z times the force towards the plane. An
 * isothermal layer's own contribution is pi G Sigma height (Spitzer 1942, ApJ 95, 329). */
static void make_heights(struct nbody_galaxy *g)
{
    for (int i = 0; i < GRID; i++) {
        double plane, vertical;
        pull_of_spheres(g, i * dr, &plane, &vertical);
        g->vertical2[i] = PI * surface(i * dr) * disk_height + vertical;
    }
}

struct nbody_galaxy *nbody_galaxy_create(void)
{
    struct nbody_galaxy *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    make_spheres(g);
    make_masses(g);
    make_rotation(g);
    make_plane(g);
    make_heights(g);
    return g;
}

/* ---- Bodies. --------------------------------------------------------------------------------- */

/* Newton's method for the radius R that encloses a fraction m of an infinite disk. It starts from
 * above where m grows ever faster (there, m = R^2/2 - R^3/3 ...), and from below where it grows
 * slower. */
static double draw_disk_radius(struct stream *s)
{
    const double m = draw_uniform(s) * disk_inside(disk_edge), q = sqrt(2 * m),
                 small = q * (1 + q / 2);
    double r = small < 0.5 ? small : 1;
    for (double step = 1; step > 1e-9 || step < -1e-9;) { /* the error is then below 1e-18 */
        const double e = draw_exponential(-r);
        step = (m - (1 - (1 + r) * e)) / (r * e);
        r += step;
    }
    return r < disk_edge ? r : disk_edge;
}

static void disk_body(const struct nbody_galaxy *g, struct stream *s, double pos[3], double vel[3])
{
    const double r = draw_disk_radius(s), height = height_of(draw_uniform(s)),
                 side = draw_uniform(s) < 0.5 ? -1 : 1;
    double cosine, sine;
    draw_angle(s, &cosine, &sine);
    const double radial2 = galaxy_table_at(g->radial2, r), v2 = galaxy_table_at(g->circular2, r);
    const double azimuthal2 =
        v2 > 0 ? radial2 * galaxy_table_at(g->epicyclic2, r) * r * r / (4 * v2) : radial2;
    const double vr = sqrt(radial2) * draw_normal(s);
    const double vt = sqrt(galaxy_table_at(g->mean2, r)) + sqrt(azimuthal2) * draw_normal(s);
    pos[0] = r * cosine;
    pos[1] = r * sine;
    pos[2] = side * height;
    vel[0] = vr * cosine - vt * sine;
    vel[1] = vr * sine + vt * cosine;
    vel[2] = sqrt(galaxy_table_at(g->vertical2, r)) * draw_normal(s);
}

double nbody_galaxy_mass(void)
{
    return disk_mass + bulge.mass + halo.mass;
}

void nbody_galaxy_body(const struct nbody_galaxy *g, size_t n, uint64_t seed, uint32_t which,
                       size_t i, double *mass, double pos[3], double vel[3])
{
    const size_t disk = (size_t)((double)n * disk_bodies),
                 in_bulge = (size_t)((double)n * bulge_bodies);
    const double stars = (disk > 0 ? disk_mass : 0) + (in_bulge > 0 ? bulge.mass : 0);
    struct stream s = draw_stream(seed, which, i);
    if (i < disk) {
        *mass = disk_mass / (double)disk;
        disk_body(g, &s, pos, vel);
    } else if (i < disk + in_bulge) {
        *mass = bulge.mass / (double)in_bulge;
        sphere_body(&g->bulge, bulge_share, &s, pos, vel);
    } else {
        *mass = (nbody_galaxy_mass() - stars) / (double)(n - disk - in_bulge);
        sphere_body(&g->halo, 1, &s, pos, vel);
    }
}
