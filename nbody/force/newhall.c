/* newhall.c - general relativity between all bodies to order 1 / c^2: the equations of Einstein,
 * Infeld & Hoffmann in the form of Newhall, Standish & Williams (1983, A&A 125, 150, eq. 1) with
 * beta = gamma = 1.
 *
 *   a_i += 1/c^2 sum over j of G m_j / r^3 (
 *            d (-4 U_i - U_j + v_i^2 + 2 v_j^2 - 4 v_i v_j - 3/2 (d v_j / r)^2 + d a_j / 2)
 *            - (d (4 v_i - 3 v_j)) (v_i - v_j) + 7/2 r^2 a_j)
 *
 * with d = x_j - x_i, U_i the sum over k of G m_k / r_ik, and a_j Newton's acceleration of body j.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/added.h"

#include <math.h>

static double newhall_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Vector from body i to body j, and their distance. */
static double newhall_apart(const double *posm, size_t i, size_t j, double d[3])
{
    for (size_t c = 0; c < 3; c++)
        d[c] = posm[4 * j + c] - posm[4 * i + c];
    return sqrt(newhall_dot(d, d));
}

/* Newton's acceleration and U of each body: work[4 i + c], work[4 i + 3]. */
static void newhall_newton(size_t n, const double *posm, double *work)
{
    for (size_t i = 0; i < n; i++) {
        double *const to = work + 4 * i, d[3];
        memset(to, 0, 4 * sizeof *to);
        for (size_t j = 0; j < n; j++) {
            const double r = newhall_apart(posm, i, j, d), gm = posm[4 * j + 3];
            if (j == i || !(r > 0))
                continue;
            for (size_t c = 0; c < 3; c++)
                to[c] += gm / (r * r * r) * d[c];
            to[3] += gm / r;
        }
    }
}

static void newhall_pair(const double *work, size_t i, size_t j, const double d[3], double r,
                         double gm, const double vi[3], const double vj[3], double a[3])
{
    const double *const aj = work + 4 * j, along = newhall_dot(d, vj) / r,
                        radial = -4 * work[4 * i + 3] - work[4 * j + 3] + newhall_dot(vi, vi) +
                                 2 * newhall_dot(vj, vj) - 4 * newhall_dot(vi, vj) -
                                 1.5 * along * along + newhall_dot(d, aj) / 2,
                        relative = 4 * newhall_dot(d, vi) - 3 * newhall_dot(d, vj);
    for (size_t c = 0; c < 3; c++)
        a[c] +=
            gm / (r * r * r) * (radial * d[c] - relative * (vi[c] - vj[c]) + 3.5 * r * r * aj[c]);
}

void newhall_add(size_t n, double c, const double *posm, const double (*v)[3], double *work,
                 double (*a)[3])
{
    newhall_newton(n, posm, work);
    for (size_t i = 0; i < n; i++) {
        double sum[3] = {0, 0, 0}, d[3];
        for (size_t j = 0; j < n; j++) {
            const double r = newhall_apart(posm, i, j, d);
            if (j != i && r > 0)
                newhall_pair(work, i, j, d, r, posm[4 * j + 3], v[i], v[j], sum);
        }
        for (size_t k = 0; k < 3; k++)
            a[i][k] += sum[k] / (c * c);
    }
}
