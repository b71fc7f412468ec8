/* oscillators.cl - a step of independent harmonic oscillators. */
/* SPDX-License-Identifier: MIT */
__kernel void step_kern(uint n, float dt, float omega2, __global float *x, __global float *v)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    v[i] -= dt * omega2 * x[i];
    x[i] += dt * v[i];
}
