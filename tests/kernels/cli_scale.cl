/* SPDX-License-Identifier: MIT */
kernel void cli_scale(global int *x, int y)
{
    x[get_global_id(0)] *= y;
}
