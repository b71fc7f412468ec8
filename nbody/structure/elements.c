/* elements.c - orbital elements of two bodies.
 * SPDX-License-Identifier: MIT
 */
#include "core/handle.h"
#include "stdcl/nbody.h"

#include <errno.h>
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
    o.inclination = atan2(hypot(h[0], h[1]), h[2]);
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

/* ---- The inverse. ---------------------------------------------------------------------------- */

/* E - e sin E, or e sinh E - E, minus M. */
static double kepler_residual(double e, double E, double M)
{
    return e < 1 ? E - e * sin(E) - M : e * sinh(E) - E - M;
}

/* Solve Kepler's equation for M >= 0 by Newton's method between two bounds of the root, and by
 * bisection where a step would leave them. */
static double solve_kepler(double e, double M)
{
    double low = e < 1 ? M : 0, high = e < 1 ? M + e : asinh(M / (e - 1)), E = high;
    for (int k = 0; k < 100 && low < high; k++) {
        const double f = kepler_residual(e, E, M), slope = e < 1 ? 1 - e * cos(E) : e * cosh(E) - 1,
                     next = E - f / slope;
        if (f > 0)
            high = E;
        else
            low = E;
        const double old = E;
        E = next > low && next < high ? next : low + (high - low) / 2;
        if (f == 0 || fabs(E - old) <= 1e-16 * fabs(E))
            return f == 0 ? old : E;
    }
    return E;
}

/* Eccentric or hyperbolic anomaly, of the sign of M, which on an ellipse is reduced to one turn. */
static double eccentric_anomaly(double e, double M)
{
    const double turned = e < 1 ? remainder(M, 2 * acos(-1)) : M;
    if (turned == 0)
        return 0;
    return copysign(solve_kepler(e, fabs(turned)), turned);
}

int nbody_orbit_state(double gm, const struct nbody_elements *o, double pos[3], double vel[3])
{
    if (no_handle(o, __func__))
        return -1;
    const double a = o->semi_major, e = o->eccentricity;
    if (!(gm > 0 && e >= 0 && a * (1 - e) > 0 && isfinite(a * e)) || !isfinite(o->mean_anomaly))
        return clerror_set(
            EINVAL,
            "nbody_orbit_state: no orbit has gm %g, semi-major axis %g, eccentricity "
            "%g and mean anomaly %g",
            gm, a, e, o->mean_anomaly);
    const double E = eccentric_anomaly(e, o->mean_anomaly), b = fabs(a) * sqrt(fabs(1 - e * e)),
                 C = e < 1 ? cos(E) : cosh(E), S = e < 1 ? sin(E) : sinh(E),
                 rate = sqrt(gm / fabs(a)) / fabs(1 - e * C); /* |a| dE/dt */
    const double along[2] = {a * (C - e), -S * rate}, across[2] = {b * S, b / fabs(a) * C * rate};
    const double ci = cos(o->inclination), si = sin(o->inclination), cn = cos(o->node),
                 sn = sin(o->node), cp = cos(o->pericentre), sp = sin(o->pericentre);
    const double P[3] = {cn * cp - sn * sp * ci, sn * cp + cn * sp * ci, sp * si}, /* pericentre */
        Q[3] = {-cn * sp - sn * cp * ci, -sn * sp + cn * cp * ci, cp * si};
    for (int k = 0; k < 3; k++) {
        pos[k] = along[0] * P[k] + across[0] * Q[k];
        vel[k] = along[1] * P[k] + across[1] * Q[k];
    }
    return 0;
}
