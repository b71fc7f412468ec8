/* peak.cl - peak rates of a device: multiply-adds without memory traffic, and a copy.
 *
 * V is a vector type (float, float16, double, double8) as wide as the device computes at once. Each
 * work-item keeps CHAINS independent sums, enough to hide the latency of a multiply-add.
 * SPDX-License-Identifier: MIT
 */
#ifndef V
#define V float
#endif
#ifndef CHAINS
#define CHAINS 16
#endif
#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

__kernel void multiply_add(__global V *out, int rounds, V a, V b)
{
    V s[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        s[k] = a + (V)(k + (int)get_local_id(0));
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            s[k] = fma(s[k], a, b);
    }
    V sum = s[0];
#pragma unroll
    for (int k = 1; k < CHAINS; k++)
        sum += s[k];
    out[get_global_id(0)] = sum;
}

/* Each work-item copies a piece: one vector on a GPU, where neighbouring items copy neighbouring
 * vectors; a long run on a CPU. */
__kernel void copy(__global const V *restrict from, __global V *restrict to, ulong piece)
{
    const ulong begin = get_global_id(0) * piece;
    for (ulong i = begin; i < begin + piece; i++)
        to[i] = from[i];
}
