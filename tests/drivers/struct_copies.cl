/* struct_copies.cl - Mesa 25.0 (rusticl, as in Debian 13) leaves 0, 0, 0, 4 in `out` instead of 1,
 * 2, 3, 4: if a loop assigns whole structs to the elements of a private array, only the last one
 * is kept. 26.2 is right. Our kernels write to the members by pointer (arrays/fixed_reduce.h). One
 * work-item; x is 1, 2, 3, 4.
 * SPDX-License-Identifier: MIT
 */
typedef struct {
    float x;
} row_t;

__kernel void struct_copies(__global float *out, __global const float *x)
{
    row_t r[4];
    for (int k = 0; k < 4; k++) {
        row_t one;
        one.x = x[k];
        r[k] = one;
    }
    for (int k = 0; k < 4; k++)
        out[k] = r[k].x;
}
