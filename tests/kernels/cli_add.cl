/* Embedded in test_cli_embed together with cli_scale.cl. */
/* SPDX-License-Identifier: MIT */
kernel void cli_add(global int *x, int y)
{
    x[get_global_id(0)] += y;
}
