/* elements.c - the orbit of two bodies about each other.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/nbody.h"

#include <math.h>
#include <stdbool.h>

static const double TINY = 1e-12; /* below which an orbit is a circle, or lies in the plane */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* The angle from a to b about the axis h, 0 to 2 pi. */
static double angle(const double a[3], const double b[3], const double h[3])
{
    double c[3];
    cross(a, b, c);
    const double turn = atan2(dot(c, h) / sqrt(dot(h, h)), dot(a, b));
    return turn < 0 ? turn + 2 * acos(-1) : turn;
}

/* Kepler's equation from the true anomaly f; on a hyperbola M grows with time too, and may be
 * negative. */
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
    const double r = sqrt(dot(x, x));
    cross(x, v, h);
    const double hh = sqrt(dot(h, h));
    if (!(gm > 0 && r > 0 && hh > 0)) /* a straight line has no elements */
        return (struct nbody_elements){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    cross(v, h, turn);
    for (int k = 0; k < 3; k++)
        towards[k] = turn[k] / gm - x[k] / r; /* to the pericentre, as long as the eccentricity */
    o.semi_major = 1 / (2 / r - dot(v, v) / gm);
    o.eccentricity = sqrt(dot(towards, towards));
    o.period = o.semi_major > 0 ? 2 * acos(-1) * sqrt(o.semi_major / gm) * o.semi_major : INFINITY;
    o.inclination = acos(fmax(-1, fmin(1, h[2] / hh)));
    const bool flat = hypot(h[0], h[1]) <= TINY * hh, circle = o.eccentricity <= TINY;
    node[0] = flat ? 1 : -h[1];
    node[1] = flat ? 0 : h[0];
    node[2] = 0;
    o.node = flat ? 0 : atan2(node[1], node[0]) + (node[1] < 0 ? 2 * acos(-1) : 0);
    o.pericentre = circle ? 0 : angle(node, towards, h);
    o.mean_anomaly =
        mean_anomaly(circle ? 0 : o.eccentricity, angle(circle ? node : towards, x, h));
    return o;
}
