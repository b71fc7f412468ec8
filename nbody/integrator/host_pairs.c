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
    memset(b->a, 0, 3 * b->stride * sizeof *b->a);
    host_sum_pairs(b, 1, b->a);
    nbody_host_add_fields(b, b->a);
}

void nbody_host_begin(const struct host_bodies *b, double dt)
{
    (void)dt;
    nbody_host_accelerate(b);
}

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

void nbody_host_leapfrog(const struct host_bodies *b, double dt)
{
    nbody_host_kick_drift(b, dt / 2, dt);
    nbody_host_accelerate(b);
    host_kick(b, dt / 2);
}
