/* broken.cl - does not build, because of its line 10. */

__kernel void fine(__global int *x)
{
    x[0] = 1;
}

__kernel void broken(__global int *x)
{
    x[0] = undeclared_thing;
}

/* SPDX-License-Identifier: MIT */
