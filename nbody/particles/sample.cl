/* sample.cl - positions or velocities of selected bodies, in single precision, for pictures.
 *
 *   which[k]      index of a body; bodies of other devices (outside first to first + count - 1) are
 *                 skipped
 *   from          posm, where body i is at 4 i, 4 i + 1 and 4 i + 2; or three planes of `state`,
 *                 which begin with the device's first body
 *   out[3 k + c]  result times scale, a power of two
 *
 * `plane` is 1 for posm, else the length of a plane. A work-item is one k.
 * SPDX-License-Identifier: MIT
 */
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

kernel void sample_bodies(global const real *from, global const uint *which, global float *out,
                          uint n, uint first, uint at, uint count, uint plane, real scale)
{
    const size_t k = get_global_id(0);
    if (k >= n || which[k] < first || which[k] - first >= count)
        return;
    const size_t own = which[k] - first, i = plane == 1 ? 4 * (own + at) : own;
    for (uint c = 0; c < 3; c++)
        out[3 * k + c] = (float)(from[i + c * (size_t)plane] * scale);
}
