/* struct_copies.cl - Mesa 25.0 (rusticl, as in Debian 13) leaves 0, 0, 0, 4 in `out` where 1, 2, 3,
 * 4 belong: of the structs that a loop assigns as a whole to the elements of a private array it
 * keeps the last. 26.2 is right. Kernels of ours write to the members by pointer
 * (arrays/fixed_reduce.h). One work-item; x is 1, 2, 3, 4. SPDX-License-Identifier: MIT
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
