/* force_check.cl - accelerations of a sample of bodies in double precision, to check the engine's
 * forces.
 *
 *   part[split * samples + s] = {ax, ay, az, -} at at[s] = {x, y, z, half the square of the
 *                               softening} by the source bodies of a split
 *
 * The source bodies are posm[first] and following, `count` of them, with half the squares of their
 * softenings in soft[] if `softened`. An item is one sample (global id 0) and one split (global id
 * 1). Pairs at distance zero do not interact.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifdef DOUBLE
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif

kernel void force_check(global const real4 *posm, uint first, uint count, global const double4 *at,
                        uint samples, uint span, double eps2, global const real *soft,
                        uint softened, global double4 *part)
{
    const uint s = get_global_id(0), split = get_global_id(1);
    if (s >= samples)
        return;
    const double x = at[s].x, y = at[s].y, z = at[s].z, own = at[s].w;
    double ax = 0, ay = 0, az = 0;
    const uint end = first + min(count, (split + 1) * span);
    for (uint j = first + split * span; j < end; j++) {
        const double dx = posm[j].x - x, dy = posm[j].y - y, dz = posm[j].z - z;
        const double r2 = dx * dx + dy * dy + dz * dz + eps2 + (softened ? own + soft[j] : 0.0);
        const double w = r2 > 0 ? posm[j].w / (r2 * sqrt(r2)) : 0;
        ax += w * dx, ay += w * dy, az += w * dz;
    }
    part[(size_t)split * samples + s] = (double4)(ax, ay, az, 0);
}
