/* adaptive.cl - the largest frequency of any body, for adaptive steps (adaptive.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host, with external_field.cl */
#include "step.cl"
#include "../force/external_field.cl"
#endif

/* Maximum of the sums of timestep_criterion.cl plus the fields' contribution, as the bits of a
 * float; positive floats are ordered as their bits. */
kernel void timestep_criterion_max(global const real4 *posm, global const real *partial, uint first,
                                   uint rows, uint count, uint npartial, global const real *fields,
                                   uint nfields, global int *most)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    const real4 x = posm[first + i];
    const real r2 = fma(x.x, x.x, fma(x.y, x.y, x.z * x.z));
    real sum = partial_total(partial, i, rows, 0, 1, npartial), d2, phi;
    for (uint f = 0; f < nfields; f++)
        sum -= field_factor(fields + 4 * f, r2, &d2, &phi);
    atomic_max(most, as_int((float)sum));
}
