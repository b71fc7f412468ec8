/* kepler_solver.h - Kepler's problem for several bodies at once, without a trend in its rounding
 * errors. C and OpenCL C compile this file, and compute equal bits if no product is fused with a
 * sum.
 *
 * The universal variable s with ds = dt / r solves
 *
 *   dt = r0 s + eta G2(s) + zeta G3(s),     G_k = s^k c_k(beta s^2)
 *
 * with eta = x v, beta = 2 gm / r0 - v^2, zeta = gm - beta r0 and Stumpff's functions c_k (Stiefel
 * & Scheifele 1971). The changes of position and velocity are computed and added with compensation,
 * rather than the new position and velocity, so that errors of many steps are a random walk (Rein &
 * Tamayo 2015, MNRAS 452, 376).
 *
 * A lane is one orbit. Its bits do not depend on the orbits in other lanes: once it has converged,
 * further iterations for other lanes repeat its last one. The includer defines lanes, lane_numbers
 * (a comparison of lanes), LANES, SELECT, lanes_root and lanes_any (host_lanes.h,
 * ensemble_lanes.cl).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_KEPLER_SOLVER_H
#define STDCL_NBODY_KEPLER_SOLVER_H

/* Relative change of s at convergence: the next change, its cube, is below rounding. */
#define KEPLER_CONVERGED 3e-6
#define KEPLER_ITERATIONS 200
#define KEPLER_QUARTERS 500
#define KEPLER_ABS(x) SELECT((x) < 0, -(x), x)
#define KEPLER_DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])

struct orbit_lanes {
    lanes r0, eta, beta, zeta, dt;
};

struct stumpff_lanes {
    lanes s, G0, G1, G2, G3;
};

/* Series for |z| <= 1/8. Small terms are added first: a term near half a rounding unit of the sum,
 * if added last, would always round in one direction, which makes a trend of the energy. In lanes
 * with a larger argument, it is divided by 4 and the results are doubled again. */
INLINE void stumpff(const lanes *beta, const lanes *s, struct stumpff_lanes *out)
{
    const lanes S = *s, S2 = S * S;
    lanes z = *beta * S2, quarters = LANES(0);
    int most = 0;
    for (lane_numbers large = KEPLER_ABS(z) > 0.125; most < KEPLER_QUARTERS && lanes_any(&large);
         most++) {
        z = SELECT(large, 0.25 * z, z);
        quarters = SELECT(large, quarters + 1, quarters);
        large = KEPLER_ABS(z) > 0.125;
    }
    const lanes z2 = z * z,
                d3 = (1. / 5040 - z * (1. / 362880)) +
                     z2 * ((1. / 39916800 - z * (1. / 6227020800)) + z2 * (1. / 1307674368000)),
                d2 = (1. / 720 - z * (1. / 40320)) +
                     z2 * ((1. / 3628800 - z * (1. / 479001600)) + z2 * (1. / 87178291200));
    lanes c3 = 1. / 6 - z * (1. / 120 - z * d3), c2 = 0.5 - z * (1. / 24 - z * d2), c1 = 1 - z * c3,
          c0 = 1 - z * c2;
    for (int q = most; q > 0; q--) {
        const lane_numbers now = quarters >= (double)q;
        c3 = SELECT(now, (c2 + c0 * c3) * 0.25, c3);
        c2 = SELECT(now, c1 * c1 * 0.5, c2);
        c1 = SELECT(now, c0 * c1, c1);
        c0 = SELECT(now, 2 * c0 * c0 - 1, c0);
    }
    out->G0 = c0;
    out->G1 = S * c1;
    out->G2 = S2 * c2;
    out->G3 = S2 * S * c3;
}

/* Advance the functions by a small change d of s, to third order. */
INLINE void stumpff_advance(const lanes *beta, const lanes *change, struct stumpff_lanes *g)
{
    const lanes d = *change, half_d = 0.5 * d, third = d * (1. / 3), G0 = g->G0, G1 = g->G1,
                G2 = g->G2;
    g->G3 += d * (G2 + half_d * (G1 + third * G0));
    g->G2 += d * (G1 + half_d * (G0 - third * (*beta * G1)));
    g->G1 += d * (G0 - half_d * (*beta * (G1 + third * G0)));
}

/* Remove whole periods of closed orbits where a step is not short. */
INLINE void kepler_remove_periods(struct orbit_lanes *k, const lanes *gm)
{
    const lanes X = k->dt / k->r0;
    const lane_numbers wide = X * X * k->beta > 1;
    if (!lanes_any(&wide))
        return;
    lanes root = SELECT(wide, k->beta, LANES(1));
    lanes_root(&root);
    const lanes period = 6.283185307179586477 * *gm / (k->beta * root), turns = k->dt / period,
                shift = LANES(0x1.8p52), whole = (turns + shift) - shift;
    k->dt = SELECT(wide & (KEPLER_ABS(turns) < 0x1p50), k->dt - whole * period, k->dt);
}

/* First guess of s: the equation's series in s, inverted to fifth order. */
INLINE void kepler_guess(const struct orbit_lanes *k, lanes *s)
{
    const lanes one_r = 1 / k->r0, X = k->dt * one_r, a2 = 0.5 * k->eta * one_r,
                a3 = (1. / 6) * k->zeta * one_r, a4 = (-1. / 12) * a2 * k->beta,
                a5 = (-1. / 20) * a3 * k->beta, a22 = a2 * a2;
    const lanes series =
        (1 - a2 * X) + X * X *
                           ((2 * a22 - a3) + X * ((5 * a2 * a3 - a4 - 5 * a2 * a22) +
                                                  X * (6 * a2 * a4 + 3 * a3 * a3 + 14 * a22 * a22 -
                                                       a5 - 21 * a22 * a3)));
    *s = SELECT((series > 0.5) & (series < 2), X * series, X);
}

/* Halley's method between brackets: the left side grows with s, because its derivative is the
 * distance. */
INLINE void kepler_solve(const struct orbit_lanes *k, struct stumpff_lanes *g)
{
    const lanes none = LANES(0);
    lanes low = SELECT(k->dt < 0, LANES(-INFINITY), none), change = none, s,
          high = SELECT(k->dt < 0, none, LANES(INFINITY));
    kepler_guess(k, &s);
    for (int i = 0; i < KEPLER_ITERATIONS; i++) {
        stumpff(&k->beta, &s, g);
        const lanes f = k->r0 * s + (k->eta * g->G2 + (k->zeta * g->G3 - k->dt)),
                    r = k->r0 + (k->eta * g->G1 + k->zeta * g->G2),
                    slope = k->eta * g->G0 + k->zeta * g->G1;
        const lane_numbers beyond = (f > 0) | ((f != f) & (s > 0)); /* NaN: s is far too large */
        high = SELECT(beyond, s, high);
        low = SELECT(beyond, low, s);
        lanes next = s - 2 * f * r / (2 * r * r - f * slope);
        const lane_numbers inside = (next >= low) & (next <= high),
                           open = (low < -0x1p1000) | (high > 0x1p1000);
        next = SELECT(inside, next, SELECT(open, 2 * s, 0.5 * (low + high)));
        change = next - s;
        const lanes limit = KEPLER_CONVERGED * KEPLER_ABS(next);
        /* far from the root Halley's step may be short */
        const lane_numbers more = (KEPLER_ABS(change) > limit) | (KEPLER_ABS(f) > limit * r);
        if (!lanes_any(&more))
            break;
        s = SELECT(more, next, s);
    }
    stumpff_advance(&k->beta, &change, g);
    g->s = s + change;
}

/* Solve Kepler's problem for x and v, about the mass gm / G, and the time dt, of either sign. gm 0:
 * a straight line. An orbit that passes through its focus becomes NaN. */
INLINE void kepler_follow(const lanes *gm_, double dt, const lanes *x, const lanes *v,
                          struct orbit_lanes *k, struct stumpff_lanes *g)
{
    const lanes gm = *gm_, none = LANES(0), v2 = KEPLER_DOT(v, v);
    const lane_numbers straight = gm == 0;
    lanes r0 = KEPLER_DOT(x, x);
    lanes_root(&r0);
    k->r0 = SELECT(straight, LANES(1), r0);
    k->eta = SELECT(straight, none, KEPLER_DOT(x, v));
    k->beta = SELECT(straight, none, 2 * gm / k->r0 - v2);
    k->zeta = gm - k->beta * k->r0;
    k->dt = LANES(dt);
    kepler_remove_periods(k, &gm);
    kepler_solve(k, g);
}

/* Factors of the changes x += f1 x + g v, v += fd x + gd1 v, with f1 = f - 1, gd1 = dg/dt - 1. */
struct kepler_factors {
    lanes r, f1, g, fd, gd1;
};

INLINE void kepler_find_factors(const lanes *gm_, const struct orbit_lanes *k,
                                const struct stumpff_lanes *g, struct kepler_factors *f)
{
    const lanes gm = *gm_, r = k->r0 + (k->eta * g->G1 + k->zeta * g->G2);
    f->r = r;
    f->f1 = -gm * g->G2 / k->r0;
    f->g = k->dt - gm * g->G3;
    f->fd = -gm * g->G1 / (k->r0 * r);
    f->gd1 = -gm * g->G2 / r;
}

/* Compute the changes of x and v. */
INLINE void kepler_change(const struct kepler_factors *f, const lanes *x, const lanes *v, lanes *dx,
                          lanes *dv)
{
    for (int c = 0; c < 3; c++) {
        dx[c] = f->f1 * x[c] + f->g * v[c];
        dv[c] = f->fd * x[c] + f->gd1 * v[c];
    }
}

/* Derivatives of G1, G2 and G3 by beta: dG_n/dbeta = (n G_(n + 2) - s G_(n + 1)) / 2. */
INLINE void stumpff_derive(const lanes *beta, const struct stumpff_lanes *g, lanes d[3])
{
    const lanes s = g->s, s2 = s * s, z = *beta * s2;
    const lane_numbers small = KEPLER_ABS(z) < 0.125;
    const lanes some = SELECT(small, LANES(1), *beta),
                c4 = 1. / 24 -
                     z * (1. / 720 - z * (1. / 40320 - z * (1. / 3628800 - z * (1. / 479001600)))),
                c5 = 1. / 120 - z * (1. / 5040 - z * (1. / 362880 -
                                                      z * (1. / 39916800 - z * (1. / 6227020800)))),
                G4 = SELECT(small, s2 * s2 * c4, (0.5 * s2 - g->G2) / some),
                G5 = SELECT(small, s2 * s2 * s * c5, ((1. / 6) * s2 * s - g->G3) / some);
    d[0] = 0.5 * (g->G3 - s * g->G2);
    d[1] = G4 - 0.5 * s * g->G3;
    d[2] = 0.5 * (3 * G5 - s * G4);
}

/* Move a tangent vector tx, tv of the orbit by the derivative of its motion (Mikkola & Innanen
 * 1999, CeMDA 74, 59; Rein & Tamayo 2016, MNRAS 459, 2275). t_NAME is the derivative of NAME along
 * the vector. */
INLINE void kepler_tangent(const lanes *gm_, double dt, const struct orbit_lanes *k,
                           const struct stumpff_lanes *g, const struct kepler_factors *f,
                           const lanes *x, const lanes *v, lanes *tx, lanes *tv)
{
    const lanes gm = *gm_, none = LANES(0), r0 = k->r0;
    const lane_numbers straight = gm == 0, turned = k->dt != dt;
    const lanes t_r0 = SELECT(straight, none, KEPLER_DOT(x, tx) / r0),
                t_eta = SELECT(straight, none, KEPLER_DOT(x, tv) + KEPLER_DOT(v, tx)),
                t_beta = SELECT(straight, none, -2 * (gm * t_r0 / (r0 * r0) + KEPLER_DOT(v, tv))),
                t_zeta = -(t_beta * r0 + k->beta * t_r0),
                t_dt = SELECT(turned, 1.5 * (dt - k->dt) * t_beta / k->beta, none);
    lanes by_beta[3];
    stumpff_derive(&k->beta, g, by_beta);
    const lanes t_s = (t_dt - (t_r0 * g->s + t_eta * g->G2 + t_zeta * g->G3 +
                               t_beta * (k->eta * by_beta[1] + k->zeta * by_beta[2]))) /
                      f->r,
                t_G1 = g->G0 * t_s + by_beta[0] * t_beta, t_G2 = g->G1 * t_s + by_beta[1] * t_beta,
                t_G3 = g->G2 * t_s + by_beta[2] * t_beta,
                t_r = t_r0 + (t_eta * g->G1 + k->eta * t_G1) + (t_zeta * g->G2 + k->zeta * t_G2);
    const lanes t_f1 = -(gm * t_G2 + f->f1 * t_r0) / r0, t_g = t_dt - gm * t_G3,
                t_fd = -gm * t_G1 / (r0 * f->r) - f->fd * (t_r0 / r0 + t_r / f->r),
                t_gd1 = -(gm * t_G2 + f->gd1 * t_r) / f->r;
    for (int c = 0; c < 3; c++) {
        const lanes old = tx[c];
        tx[c] += f->f1 * old + f->g * tv[c] + (t_f1 * x[c] + t_g * v[c]);
        tv[c] += f->fd * old + f->gd1 * tv[c] + (t_fd * x[c] + t_gd1 * v[c]);
    }
}

#endif
