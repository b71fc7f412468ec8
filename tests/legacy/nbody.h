/* nbody.h - bodies to begin with, one step in plain C, and the comparison of two results. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

/* Positions in the unit cube with the mass as fourth component; small velocities. */
static void nbody_init(int n, cl_float4 *pos, cl_float4 *vel)
{
    unsigned int seed = 12345;
    int i, j;
    for (i = 0; i < n; i++) {
        for (j = 0; j < 3; j++) {
            seed = 1664525 * seed + 1013904223;
            pos[i].s[j] = (seed >> 8) / 16777216.0f;
            seed = 1664525 * seed + 1013904223;
            vel[i].s[j] = 0.1f * ((seed >> 8) / 16777216.0f - 0.5f);
        }
        pos[i].s[3] = 1.0f / n;
        vel[i].s[3] = 0.0f;
    }
}

/* One step of the kernels, on the host. */
static void nbody_step(int n, float dt, float eps, const cl_float4 *old, cl_float4 *new,
                       cl_float4 *vel)
{
    int i, j, k;
    for (i = 0; i < n; i++) {
        double a[3] = {0, 0, 0};
        for (j = 0; j < n; j++) {
            double d[3], r2 = eps;
            for (k = 0; k < 3; k++) {
                d[k] = old[j].s[k] - old[i].s[k];
                r2 += d[k] * d[k];
            }
            double f = old[j].s[3] / (r2 * sqrt(r2));
            for (k = 0; k < 3; k++)
                a[k] += f * d[k];
        }
        for (k = 0; k < 3; k++) {
            new[i].s[k] = old[i].s[k] + dt *vel[i].s[k] + 0.5 * dt *dt *a[k];
            vel[i].s[k] += dt * a[k];
        }
        new[i].s[3] = old[i].s[3];
    }
}

/* The largest difference of a coordinate. */
static double nbody_distance(int n, const cl_float4 *p, const cl_float4 *q)
{
    double largest = 0;
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < 4; j++) {
            double d = fabs((double)p[i].s[j] - q[i].s[j]);
            if (!(d <= largest))
                largest = d;
        }
    return largest;
}
