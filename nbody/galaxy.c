/* galaxy.c - a disk galaxy in approximate equilibrium; see galaxy.h.
 *
 * The recipe is Hernquist's (1993, ApJS 86, 389), on tables of the radius: (1) rotation curve of
 * disk and spheroid, (2) velocity dispersions from moments of the Boltzmann equation, (3) bodies
 * drawn from them. No function but sqrt is called, so that tables and bodies are the same bits on
 * every machine (see draw.h).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/galaxy.h"

#include <stdlib.h>

#include "nbody/draw.h"

static const double disk_mass = 0.5;
static const double disk_height = 0.07; /* rms of z */
static const double disk_edge = 7;      /* 99.3 % of an infinite disk lies inside */
static const double toomre_q = 1.1;     /* 1: just stable against rings; 1.2 to 2 in real disks */
static const double spheroid_mass = 0.5;
static const double spheroid_scale = 0.5; /* half its mass lies within twice that */
static const double spheroid_edge = 8;
static const double disk_share = 0.75; /* of the bodies: spheroid bodies are heavier */
static const double thickness = 0.2;   /* softens the disk's own force in the rotation curve */

/* Tables over r = 0, 1/32, 2/32, ... */
enum { GRID = 257 };
static const double dr = 1.0 / 32;
static const double exp_dr = 0.96923323447634409; /* e^(-1/32) */

struct tables {
    double surface[GRID];    /* of the disk: mass per area */
    double disk[GRID];       /* mass of the disk inside r */
    double spheroid[GRID];   /* mass of the spheroid inside r */
    double potential[GRID];  /* in the plane of the disk */
    double circular2[GRID];  /* squared circular speed */
    double epicyclic2[GRID]; /* squared epicyclic frequency */
    double radial2[GRID];    /* of the disk: squared radial dispersion */
    double mean2[GRID];      /* of the disk: squared mean rotation speed */
    double spheroid2[GRID];  /* squared dispersion of the spheroid, each axis */
};

/* Linear interpolation; constant beyond the last entry. */
static double at(const double *table, double r)
{
    double x = r / dr;
    int i = x < GRID - 2 ? (int)x : GRID - 2;
    double t = x < GRID - 1 ? x - i : 1;
    return table[i] + t * (table[i + 1] - table[i]);
}

static double slope(const double *table, int i)
{
    int a = i > 0 ? i - 1 : 0, b = i < GRID - 1 ? i + 1 : i;
    return (table[b] - table[a]) / ((b - a) * dr);
}

/* The arithmetic-geometric mean; converges quadratically. */
static double agm(double a, double b)
{
    for (int i = 0; i < 8 && a != b; i++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return a;
}

static void masses(struct tables *t)
{
    double e = 1, last = 0;
    for (int i = 0; i < GRID; i++, e *= exp_dr) {
        double r = i * dr, f = r / (r + spheroid_scale);
        int in = r <= disk_edge;
        t->surface[i] = in ? e : 0;
        t->disk[i] = last = in ? 1 - (1 + r) * e : last;
        t->spheroid[i] = f * f;
    }
    double fs = spheroid_edge / (spheroid_edge + spheroid_scale);
    for (int i = 0; i < GRID; i++) {
        t->surface[i] *= disk_mass / last / 6.283185307179586;
        t->disk[i] *= disk_mass / last;
        t->spheroid[i] *= spheroid_mass / (fs * fs);
    }
}

/* The potential of a ring of mass m and radius s, softened, at radius r in its plane is
 * -m / agm(longest, shortest distance): Gauss's form of the elliptic integral. */
static void rotation(struct tables *t)
{
    double e2 = thickness * thickness;
    for (int i = 0; i < GRID; i++) {
        double r = i * dr, sum = 0;
        for (int k = 0; k < GRID - 1; k++) {
            double s = (k + 0.5) * dr;
            sum -= (t->disk[k + 1] - t->disk[k]) /
                   agm(sqrt((r + s) * (r + s) + e2), sqrt((r - s) * (r - s) + e2));
        }
        t->potential[i] = sum;
    }
    for (int i = 0; i < GRID; i++) {
        double r = i * dr;
        t->circular2[i] = r * slope(t->potential, i) + (i > 0 ? t->spheroid[i] / r : 0);
    }
    /* The spheroid's potential, from outside in. */
    double p = -t->spheroid[GRID - 1] / ((GRID - 1) * dr);
    for (int i = GRID - 1; i >= 0; i--) {
        t->potential[i] += p;
        double r = (i - 0.5) * dr;
        if (i > 0)
            p -= dr * (t->spheroid[i] + t->spheroid[i - 1]) / 2 / (r * r);
    }
    /* kappa^2 = r d(Omega^2)/dr + 4 Omega^2 = (d(v^2)/dr + 2 v^2 / r) / r */
    for (int i = 1; i < GRID; i++) {
        double r = i * dr;
        t->epicyclic2[i] = (slope(t->circular2, i) + 2 * t->circular2[i] / r) / r;
    }
    t->epicyclic2[0] = t->epicyclic2[1];
}

/* Radial dispersion from Toomre's Q = sigma kappa / (3.36 G Sigma); mean rotation from the radial
 * Jeans equation (asymmetric drift), with the azimuthal dispersion of the epicyclic approximation. */
static void disk_moments(struct tables *t)
{
    double pressure[GRID];
    for (int i = 0; i < GRID; i++) {
        double s2 = toomre_q * 3.36 * t->surface[i];
        s2 = s2 * s2 / t->epicyclic2[i];
        t->radial2[i] = s2 < t->circular2[i] / 2 ? s2 : t->circular2[i] / 2;
        pressure[i] = t->surface[i] * t->radial2[i];
    }
    for (int i = 0; i < GRID; i++) {
        double r = i * dr, v2 = t->circular2[i], drift = 0;
        if (i > 0 && t->surface[i] > 0 && v2 > 0)
            drift = t->radial2[i] * (1 - t->epicyclic2[i] * r * r / (4 * v2)) +
                    r * slope(pressure, i) / t->surface[i];
        t->mean2[i] = v2 + drift > 0 ? v2 + drift : 0;
    }
}

/* Isotropic Jeans equation for the Hernquist density 1 / (r (r + a)^3) in the mass of both parts. */
static void spheroid_moments(struct tables *t)
{
    double sum = 0, last = 0;
    for (int i = GRID - 1; i > 0; i--) {
        double r = i * dr, a = r + spheroid_scale, density = 1 / (r * a * a * a);
        double f = density * (t->disk[i] + t->spheroid[i]) / (r * r);
        sum += (f + last) / 2 * dr;
        last = f;
        t->spheroid2[i] = sum / density;
    }
    t->spheroid2[0] = t->spheroid2[1];
}

static void make_tables(struct tables *t)
{
    masses(t);
    rotation(t);
    disk_moments(t);
    spheroid_moments(t);
}

static void disk_body(const struct tables *t, struct stream *s, double pos[3], double vel[3])
{
    double m = draw(s) * disk_mass;
    int lo = 0, hi = GRID - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (t->disk[mid] < m)
            lo = mid;
        else
            hi = mid;
    }
    double r = (lo + (m - t->disk[lo]) / (t->disk[hi] - t->disk[lo])) * dr;
    double cosine, sine;
    draw_angle(s, &cosine, &sine);

    double radial2 = at(t->radial2, r), v2 = at(t->circular2, r);
    double azimuthal2 = v2 > 0 ? radial2 * at(t->epicyclic2, r) * r * r / (4 * v2) : radial2;
    double vertical2 =
        disk_height * (3.46 * at(t->surface, r) + disk_height * at(t->spheroid, r) / (r * r * r + 0.001));
    double vr = sqrt(radial2) * draw_normal(s);
    double vt = sqrt(at(t->mean2, r)) + sqrt(azimuthal2) * draw_normal(s);
    pos[0] = r * cosine;
    pos[1] = r * sine;
    pos[2] = disk_height * draw_normal(s);
    vel[0] = vr * cosine - vt * sine;
    vel[1] = vr * sine + vt * cosine;
    vel[2] = sqrt(vertical2) * draw_normal(s);
}

static void spheroid_body(const struct tables *t, struct stream *s, double pos[3], double vel[3])
{
    double f = spheroid_edge / (spheroid_edge + spheroid_scale) * sqrt(draw(s));
    double r = spheroid_scale * f / (1 - f), v2;
    draw_vector(s, r, pos);
    double sigma = sqrt(at(t->spheroid2, r)), escape2 = -2 * at(t->potential, r);
    do {
        v2 = 0;
        for (int k = 0; k < 3; k++) {
            vel[k] = sigma * draw_normal(s);
            v2 += vel[k] * vel[k];
        }
    } while (v2 > 0.9 * escape2);
}

void nbody_galaxy_centre(size_t n, const double *mass, double (*pos)[3], double (*vel)[3])
{
    double total = 0, x[3] = {0, 0, 0}, v[3] = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++) {
            x[k] += mass[i] * pos[i][k];
            v[k] += mass[i] * vel[i][k];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            pos[i][k] -= x[k] / total;
            vel[i][k] -= v[k] / total;
        }
}

int nbody_galaxy_make(size_t n, uint64_t seed, uint32_t which, double *mass, double (*pos)[3],
                      double (*vel)[3])
{
    struct tables *t = calloc(1, sizeof *t);
    if (!t)
        return -1;
    make_tables(t);
    size_t disk = (size_t)((double)n * disk_share), spheroid = n - disk;
    for (size_t i = 0; i < n; i++) {
        struct stream s = stream_of(seed, which, i);
        if (i < disk) {
            mass[i] = disk_mass / (double)disk;
            disk_body(t, &s, pos[i], vel[i]);
        } else {
            mass[i] = (disk > 0 ? spheroid_mass : 1) / (double)spheroid;
            spheroid_body(t, &s, pos[i], vel[i]);
        }
    }
    free(t);
    nbody_galaxy_centre(n, mass, pos, vel);
    return 0;
}
