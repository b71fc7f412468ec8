/* host_pairs.c - sums over the pairs of few bodies on the host.
 *
 *   body i        x_i
 *   bodies j < i  x_0 ... x_7 | x_8 ... x_15 | ... x_i-1 (masked)      8 lanes at a time
 *
 * For each lane f = (d^2 + eps^2)^-3/2 with d = x_j - x_i. Body i receives G m_j f d, summed by
 * lane and then over the lanes; body j receives - G m_i f d. Root and division of a pair are thus
 * computed once.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host_lanes.h"

/* f = r2^-3/2 in the first `count` lanes, 0 in the others. */
INLINE void host_cube(const lanes *r2, size_t count, lanes *f)
{
    double in[HOST_LANES], out[HOST_LANES];
    memcpy(in, r2, sizeof in);
    for (int l = 0; l < HOST_LANES; l++)
        out[l] = 1 / (in[l] * sqrt(in[l]));
    memcpy(f, out, sizeof out);
    if (count < HOST_LANES) {
        const lane_numbers lane = {0, 1, 2, 3, 4, 5, 6, 7};
        *f = (lanes)((lane_numbers)*f & (lane < (long long)count));
    }
}

INLINE double host_sum_lanes(const lanes *s)
{
    const lanes a = *s;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

/* Differences d to body i of the bodies from j on, and their f. */
INLINE void host_load(const struct host_bodies *b, size_t i, size_t j, lanes d[3], lanes *f)
{
    const size_t m = b->stride;
    lanes r2 = LOAD(b->e2 + j) + b->e2[i];
    for (size_t c = 3; c-- > 0;) {
        d[c] = LOAD(b->x + c * m + j) - b->x[c * m + i];
        r2 = d[c] * d[c] + r2;
    }
    host_cube(&r2, i - j, f);
}

CLONES static void host_sum_pairs(const struct host_bodies *b, size_t row, double *a)
{
    const size_t m = b->stride;
    for (size_t i = row; i < b->n; i++) {
        lanes sum[3] = {{0}}, d[3], f;
        for (size_t j = 0; j < i; j += HOST_LANES) {
            host_load(b, i, j, d, &f);
            const lanes to_i = f * LOAD(b->gm + j), to_j = f * b->gm[i];
            for (size_t c = 0; c < 3; c++) {
                sum[c] += to_i * d[c];
                *(lanes_at *)(a + c * m + j) -= to_j * d[c];
            }
        }
        for (size_t c = 0; c < 3; c++)
            a[c * m + i] += host_sum_lanes(&sum[c]);
    }
}

void nbody_host_add_pairs(const struct host_bodies *b, size_t row, double *a)
{
    host_sum_pairs(b, row, a);
}

/* Return w, where -w x is the field's acceleration at the squared distance r2. */
static double host_field_factor(const struct nbody_field *f, double r2)
{
    const double d2 = f->kind == NBODY_FIELD_POINT ? r2 : r2 + f->scale * f->scale;
    if (d2 == 0)
        return 0;
    return f->kind == NBODY_FIELD_LOGARITHMIC ? f->strength * f->strength / d2
                                              : f->strength / (d2 * sqrt(d2));
}

/* Sum of the factors of all fields at body i. */
static double host_fields_factor(const struct host_bodies *b, size_t i)
{
    const double x = b->x[i], y = b->x[b->stride + i], z = b->x[2 * b->stride + i];
    double w = 0;
    for (size_t k = 0; k < b->nfields; k++)
        w += host_field_factor(&b->fields[k], x * x + (y * y + z * z));
    return w;
}

void nbody_host_add_fields(const struct host_bodies *b, double *a)
{
    for (size_t i = 0; b->nfields && i < b->n; i++) {
        const double w = host_fields_factor(b, i);
        for (size_t c = 0; c < 3; c++)
            a[c * b->stride + i] -= w * b->x[c * b->stride + i];
    }
}

void nbody_host_accelerate(const struct host_bodies *b)
{
    nbody_host_added_gather(b);
    memset(b->a, 0, 3 * b->stride * sizeof *b->a);
    host_sum_pairs(b, 1, b->a);
    nbody_host_add_fields(b, b->a);
    nbody_host_added_add(b);
}

void nbody_host_begin(const struct host_bodies *b, double dt)
{
    (void)dt;
    nbody_host_accelerate(b);
}

/* ---- Derivatives of the acceleration. -------------------------------------------------------- */

/* With y = 1/r, alpha = (d dv) y^2 and beta = (dv^2 + d dw) y^2 + alpha^2 a pair has
 * A = y^3 d,  J = y^3 dv - 3 alpha A,  S = y^3 dw - 6 alpha J - 3 beta A. */
INLINE void host_derive_lanes(const struct host_bodies *b, const struct host_derivatives *d,
                              size_t i, size_t j, int snaps, lanes sum[9])
{
    const size_t m = b->stride;
    const lane_numbers lane = {0, 1, 2, 3, 4, 5, 6, 7};
    lanes dx[3], dv[3], dw[3], r2 = LOAD(b->e2 + j) + b->e2[i], xv = {0}, yy = {0};
    for (size_t c = 0; c < 3; c++) {
        dx[c] = LOAD(d->x + c * m + j) - d->x[c * m + i];
        dv[c] = LOAD(d->v + c * m + j) - d->v[c * m + i];
        r2 += dx[c] * dx[c];
        xv += dx[c] * dv[c];
        if (snaps) {
            dw[c] = LOAD(d->w + c * m + j) - d->w[c * m + i];
            yy += dv[c] * dv[c] + dx[c] * dw[c];
        }
    }
    lanes r = r2;
    lanes_root(&r);
    const lanes y = SELECT((lane < (long long)(i - j)) & (r2 > 0x1p-499), 1 / r, (lanes){0}),
                y2 = y * y, f = y * y2, alpha = 3 * xv * y2,
                beta = 3 * yy * y2 + alpha * alpha * (1. / 3), to_i = LOAD(b->gm + j),
                to_j = (lanes){0} + b->gm[i];
    for (size_t c = 0; c < 3; c++) {
        const lanes a = f * dx[c], jerk = f * dv[c] - alpha * a;
        sum[c] += to_i * a;
        sum[3 + c] += to_i * jerk;
        *(lanes_at *)(d->a + c * m + j) -= to_j * a;
        *(lanes_at *)(d->jerk + c * m + j) -= to_j * jerk;
        if (!snaps)
            continue;
        const lanes snap = f * dw[c] - 2 * alpha * jerk - beta * a;
        sum[6 + c] += to_i * snap;
        *(lanes_at *)(d->snap + c * m + j) -= to_j * snap;
    }
}

INLINE void host_derive_pairs(const struct host_bodies *b, const struct host_derivatives *d,
                              int snaps)
{
    const size_t m = b->stride;
    for (size_t i = 1; i < b->n; i++) {
        lanes sum[9] = {{0}};
        for (size_t j = 0; j < i; j += HOST_LANES)
            host_derive_lanes(b, d, i, j, snaps, sum);
        for (size_t c = 0; c < 3; c++) {
            d->a[c * m + i] += host_sum_lanes(&sum[c]);
            d->jerk[c * m + i] += host_sum_lanes(&sum[3 + c]);
            if (snaps)
                d->snap[c * m + i] += host_sum_lanes(&sum[6 + c]);
        }
    }
}

CLONES static void host_sum_jerks(const struct host_bodies *b, const struct host_derivatives *d)
{
    host_derive_pairs(b, d, 0);
}

CLONES static void host_sum_snaps(const struct host_bodies *b, const struct host_derivatives *d)
{
    host_derive_pairs(b, d, 1);
}

/* Add the contribution of a field -s x, whose s changes by the factor q with r^2 / d2 (see
 * external_field.cl), to body i. */
static void host_derive_field(const struct host_bodies *b, const struct host_derivatives *d,
                              const struct nbody_field *field, size_t i)
{
    const size_t m = b->stride;
    double r2 = 0, xv = 0, vv = 0, xw = 0;
    for (size_t c = 0; c < 3; c++) {
        const double x = d->x[c * m + i], v = d->v[c * m + i];
        r2 += x * x;
        xv += x * v;
        vv += v * v;
        xw += d->snap ? x * d->w[c * m + i] : 0;
    }
    const double s = -host_field_factor(field, r2),
                 d2 = field->kind == NBODY_FIELD_POINT ? r2 : r2 + field->scale * field->scale,
                 k = d2 > 0 ? (field->kind == NBODY_FIELD_LOGARITHMIC ? -2 : -3) / d2 : 0,
                 q = k * xv;
    for (size_t c = 0; c < 3; c++) {
        const double x = d->x[c * m + i], v = d->v[c * m + i];
        d->a[c * m + i] += s * x;
        d->jerk[c * m + i] += s * (v + q * x);
        if (d->snap && d2 > 0)
            d->snap[c * m + i] +=
                s * (d->w[c * m + i] + 2 * q * v + (k * (vv + xw) - 2 * q * xv / d2 + q * q) * x);
    }
}

void nbody_host_derive(const struct host_bodies *b, const struct host_derivatives *d)
{
    const size_t bytes = 3 * b->stride * sizeof(double);
    memset(d->a, 0, bytes);
    memset(d->jerk, 0, bytes);
    if (d->snap)
        memset(d->snap, 0, bytes);
    if (d->snap)
        host_sum_snaps(b, d);
    else
        host_sum_jerks(b, d);
    for (size_t k = 0; k < b->nfields; k++)
        for (size_t i = 0; i < b->n; i++)
            host_derive_field(b, d, &b->fields[k], i);
}

/* ---- Potentials. ----------------------------------------------------------------------------- */

/* Bodies at one place have no potential of each other without softening. */
CLONES void nbody_host_potentials(const struct host_bodies *b)
{
    const size_t m = b->stride;
    const lane_numbers lane = {0, 1, 2, 3, 4, 5, 6, 7};
    memset(b->work, 0, m * sizeof *b->work);
    for (size_t i = 1; i < b->n; i++) {
        lanes sum = {0};
        for (size_t j = 0; j < i; j += HOST_LANES) {
            lanes r2 = LOAD(b->e2 + j) + b->e2[i];
            for (size_t c = 0; c < 3; c++) {
                const lanes d = LOAD(b->x + c * m + j) - b->x[c * m + i];
                r2 += d * d;
            }
            lanes r = r2;
            lanes_root(&r);
            const lanes y =
                SELECT((lane < (long long)(i - j)) & (r2 > 0x1p-499), 1 / r, (lanes){0});
            sum += y * LOAD(b->gm + j);
            *(lanes_at *)(b->work + j) -= y * b->gm[i];
        }
        b->work[i] -= host_sum_lanes(&sum);
    }
}

double nbody_host_field_potential(const struct host_bodies *b, size_t i, double *virial)
{
    const double x = b->x[i], y = b->x[b->stride + i], z = b->x[2 * b->stride + i],
                 r2 = x * x + (y * y + z * z);
    double all = 0;
    *virial = -r2 * host_fields_factor(b, i);
    for (size_t k = 0; k < b->nfields; k++) {
        const struct nbody_field *const f = &b->fields[k];
        if (f->kind == NBODY_FIELD_LOGARITHMIC)
            all += f->strength * f->strength / 2 * log1p(r2 / (f->scale * f->scale));
        else if (f->kind == NBODY_FIELD_PLUMMER || r2 > 0)
            all -= f->strength / sqrt(r2 + f->scale * f->scale);
    }
    return all;
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

/* Add the criterion's sums over pairs to sums[n]. Bodies at one place do not count: without
 * softening their f is beyond any other. */
CLONES static void host_sum_criteria(const struct host_bodies *b, double *sums)
{
    for (size_t i = 1; i < b->n; i++) {
        lanes sum = {0}, d[3], f;
        for (size_t j = 0; j < i; j += HOST_LANES) {
            host_load(b, i, j, d, &f);
            const lanes both =
                (lanes)((lane_numbers)f & (f < 0x1p700)) * (LOAD(b->gm + j) + b->gm[i]);
            sum += both;
            *(lanes_at *)(sums + j) += both;
        }
        sums[i] += host_sum_lanes(&sum);
    }
}

double nbody_host_criterion(const struct host_bodies *b)
{
    double most = 0;
    memset(b->work, 0, b->stride * sizeof *b->work);
    host_sum_criteria(b, b->work);
    for (size_t i = 0; i < b->n; i++) {
        const double w2 = b->work[i] + (b->nfields ? host_fields_factor(b, i) : 0);
        most = w2 <= most ? most : w2; /* NaN counts */
    }
    return most;
}

CLONES void nbody_host_kick_drift(const struct host_bodies *b, double kick, double drift)
{
    double *const v = b->v, *const x = b->x;
    for (size_t k = 0; k < 3 * b->stride; k += HOST_LANES) {
        const lanes faster = LOAD(v + k) + kick * LOAD(b->a + k);
        *(lanes_at *)(v + k) = faster;
        *(lanes_at *)(x + k) += drift * faster;
    }
}

CLONES static void host_kick(const struct host_bodies *b, double kick)
{
    for (size_t k = 0; k < 3 * b->stride; k += HOST_LANES)
        *(lanes_at *)(b->v + k) += kick * LOAD(b->a + k);
}

/* Where forces depend on velocities, they are evaluated at v + a dt/2 with the old a: an error of
 * order dt^2, which keeps the order of the step. */
void nbody_host_leapfrog(const struct host_bodies *b, double dt)
{
    nbody_host_kick_drift(b, dt / 2, dt);
    nbody_host_added_move(b, dt);
    if (b->added)
        b->added->lag = dt / 2;
    nbody_host_accelerate(b);
    host_kick(b, dt / 2);
}
