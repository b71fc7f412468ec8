/* elements.c - orbital elements of two bodies.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/nbody.h"

#include <math.h>
#include <stdbool.h>

static const double TINY = 1e-12;   /* below it an orbit is circular, or in the plane */
static const double RADIAL = 1e-15; /* |x cross v| of radial motion relative to |x| |v| */
static const double ROUND = 0.5;    /* above this eccentricity, anomalies come from the energy */

static double elements_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void elements_cross(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Angle from a to b about the axis h, from 0 to 2 pi. */
static double elements_angle(const double a[3], const double b[3], const double h[3])
{
    double c[3];
    elements_cross(a, b, c);
    const double turn = atan2(elements_dot(c, h) / sqrt(elements_dot(h, h)), elements_dot(a, b));
    return turn < 0 ? turn + 2 * acos(-1) : turn;
}

/* Mean anomaly on an ellipse from the true anomaly f, by Kepler's equation. */
static double mean_anomaly(double e, double f)
{
    const double E = 2 * atan(sqrt((1 - e) / (1 + e)) * tan(f / 2)), M = E - e * sin(E);
    return M < 0 ? M + 2 * acos(-1) : M;
}

/* x - sin x, or with `bound` false sinh x - x, also for small x. */
static double minus_sine(double x, bool bound)
{
    if (fabs(x) > 0.5)
        return bound ? x - sin(x) : sinh(x) - x;
    double term = x * x * x / 6, sum = 0;
    for (int k = 4; k < 20; k += 2) {
        sum += term;
        term *= (bound ? -1 : 1) * x * x / (k * (k + 1));
    }
    return sum;
}

/* Mean anomaly of an orbit of any eccentricity above 0, from the distance r, x.v and |x cross v|:
 * with the eccentric anomaly E, e cos E = 1 - r / a and e sin E = x.v / (gm a)^1/2, and likewise
 * with cosh and sinh on a hyperbola. Neither has 1 - e as a difference of rounded numbers. */
static double mean_anomaly_of_energy(const struct nbody_elements *o, double gm, double r, double xv,
                                     double hh)
{
    const double a = o->semi_major, e = o->eccentricity;
    if (isinf(a))
        return 0;
    const bool bound = a > 0;
    const double less = hh * hh / (gm * fabs(a)) / (1 + e), /* |1 - e| */
        sine = xv / sqrt(gm * fabs(a));
    if (!bound) {
        const double F = asinh(sine / e);
        return less * sinh(F) + minus_sine(F, false);
    }
    const double E = atan2(sine, 1 - r / a), M = less * sin(E) + minus_sine(E, true);
    return M < 0 ? M + 2 * acos(-1) : M;
}

/* Find the normal h of the plane of radial motion: the plane of least inclination through the
 * line x. */
static void radial_normal(const double x[3], double h[3])
{
    const double level[3] = {-x[1], x[0], 0}; /* in the plane z = 0, across x */
    elements_cross(x, level, h);
    if (!(hypot(x[0], x[1]) > 0))
        h[1] = -1; /* along the axis z: the plane of the axes x and z */
}

struct nbody_elements nbody_find_elements(double gm, const double x[3], const double v[3])
{
    struct nbody_elements o = {.semi_major = NAN};
    double h[3], towards[3], node[3], turn[3];
    const double r = sqrt(elements_dot(x, x)), speed = sqrt(elements_dot(v, v));
    if (!(gm > 0 && r > 0)) /* no orbit */
        return (struct nbody_elements){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    elements_cross(x, v, h);
    const bool radial = sqrt(elements_dot(h, h)) <= RADIAL * r * speed;
    elements_cross(v, h, turn);
    for (int k = 0; k < 3; k++) /* to the pericentre, of length e */
        towards[k] = (radial ? 0 : turn[k] / gm) - x[k] / r;
    if (radial)
        radial_normal(x, h);
    const double hh = sqrt(elements_dot(h, h));
    o.semi_major = 1 / (2 / r - speed * speed / gm);
    o.eccentricity = radial ? 1 : sqrt(elements_dot(towards, towards));
    o.period = o.semi_major > 0 && isfinite(o.semi_major)
                   ? 2 * acos(-1) * sqrt(o.semi_major / gm) * o.semi_major
                   : INFINITY;
    o.inclination = acos(fmax(-1, fmin(1, h[2] / hh)));
    const bool flat = hypot(h[0], h[1]) <= TINY * hh, circle = o.eccentricity <= TINY;
    node[0] = flat ? 1 : -h[1];
    node[1] = flat ? 0 : h[0];
    node[2] = 0;
    o.node = flat ? 0 : atan2(node[1], node[0]) + (node[1] < 0 ? 2 * acos(-1) : 0);
    o.pericentre = circle ? 0 : elements_angle(node, towards, h);
    o.mean_anomaly = o.eccentricity < ROUND
                         ? mean_anomaly(circle ? 0 : o.eccentricity,
                                        elements_angle(circle ? node : towards, x, h))
                         : mean_anomaly_of_energy(&o, gm, r, elements_dot(x, v), radial ? 0 : hh);
    return o;
}
