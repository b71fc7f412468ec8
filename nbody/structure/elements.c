/* elements.c - orbital elements of two bodies.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/nbody.h"

#include <math.h>
#include <stdbool.h>

static const double TINY = 1e-12; /* below it an orbit is circular, or in the plane */

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

/* Mean anomaly from the true anomaly f, by Kepler's equation. On a hyperbola it is negative before
 * the pericentre. */
static double mean_anomaly(double e, double f)
{
    const double t = sqrt(fabs(1 - e) / (1 + e)) * tan(f / 2);
    const double turn = 2 * acos(-1), E = 2 * atan(t), F = 2 * atanh(t);
    const double M = e < 1 ? E - e * sin(E) : e * sinh(F) - F;
    return e < 1 && M < 0 ? M + turn : M;
}

struct nbody_elements nbody_find_elements(double gm, const double x[3], const double v[3])
{
    struct nbody_elements o = {.semi_major = NAN};
    double h[3], towards[3], node[3], turn[3];
    const double r = sqrt(elements_dot(x, x));
    elements_cross(x, v, h);
    const double hh = sqrt(elements_dot(h, h));
    if (!(gm > 0 && r > 0 && hh > 0)) /* a radial orbit has no elements */
        return (struct nbody_elements){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    elements_cross(v, h, turn);
    for (int k = 0; k < 3; k++)
        towards[k] = turn[k] / gm - x[k] / r; /* to the pericentre, of length e */
    o.semi_major = 1 / (2 / r - elements_dot(v, v) / gm);
    o.eccentricity = sqrt(elements_dot(towards, towards));
    o.period = o.semi_major > 0 ? 2 * acos(-1) * sqrt(o.semi_major / gm) * o.semi_major : INFINITY;
    o.inclination = acos(fmax(-1, fmin(1, h[2] / hh)));
    const bool flat = hypot(h[0], h[1]) <= TINY * hh, circle = o.eccentricity <= TINY;
    node[0] = flat ? 1 : -h[1];
    node[1] = flat ? 0 : h[0];
    node[2] = 0;
    o.node = flat ? 0 : atan2(node[1], node[0]) + (node[1] < 0 ? 2 * acos(-1) : 0);
    o.pericentre = circle ? 0 : elements_angle(node, towards, h);
    o.mean_anomaly =
        mean_anomaly(circle ? 0 : o.eccentricity, elements_angle(circle ? node : towards, x, h));
    return o;
}
