/* includes.cl - includes the library's header and one of its own folder. */
/* SPDX-License-Identifier: MIT */
#include <stdcl.h>
#include "neighbour.h"

__kernel void included(__global float *out)
{
    float4 a = __builtin_vector_float4(1.0f, 2.0f, 3.0f, 4.0f);
    int2 b = __builtin_vector_int2(10, 20);
    uchar4 c = __builtin_vector_uchar4(100, 101, 102, 103);
    float2 d = __builtin_vector_float2(0.5f, 0.25f);
    uint4 e = __builtin_vector_uint4(5, 6, 7, 8);
    char2 f = __builtin_vector_char2(-1, -2);
    out[0] = NEIGHBOUR;
    out[1] = a.x + a.y + a.z + a.w;
    out[2] = b.x + b.y;
    out[3] = c.s3;
    out[4] = d.x + d.y;
    out[5] = e.w;
    out[6] = f.x + f.y;
#ifdef cl_khr_fp64
    double2 g = __builtin_vector_double2(1.5, 2.5);
    out[7] = (float)(g.x + g.y);
#else
    out[7] = 4.0f;
#endif
}
