/* defines.cl - report what the build options defined. */
/* SPDX-License-Identifier: MIT */

#ifndef VALUE
#define VALUE -1
#endif

__kernel void defines(__global int *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = 0;
#ifdef __STDCL__
    out[0] = 1;
#endif
#ifdef __CPU__
    out[1] = 1;
#endif
#ifdef __GPU__
    out[2] = 1;
#endif
    out[3] = VALUE;
}
