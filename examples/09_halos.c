/* 09_halos.c - heat in a ring, divided among all devices.
 *
 * x and y have one image per device: its part of the ring, with HALO more cells on either side.
 * Each step makes one more cell of a halo wrong; after HALO steps the neighbours' cells are copied
 * again. Each device writes its outer cells to a block of its own, which the layer brings to the
 * neighbours when their kernels use it. Lines: 12 of kernels, 23 of the host, 23 of its check.
 * SPDX-License-Identifier: MIT
 */
#include <err.h>
#include <stdcl.h>

enum { PART = 2048, HALO = 16, CELLS = PART + 2 * HALO, STEPS = 320 };

static const char kernels[] =
    "enum { PART = 2048, HALO = 16, CELLS = PART + 2 * HALO };\n"
    "kernel void start(global float *x, uint parts, uint part)\n"
    "{ uint i = get_global_id(0), n = parts * PART;\n"
    "  x[i] = (part * PART + i - HALO + n) % n * 37 % 101; }\n"
    "kernel void diffuse(global const float *a, global float *b, global float *edge)\n"
    "{ int i = get_global_id(0), l = max(i - 1, 0), r = min(i + 1, CELLS - 1);\n"
    "  b[i] = a[i] + 0.25f * (a[l] - 2 * a[i] + a[r]);\n"
    "  if (i >= HALO && i < 2 * HALO) edge[i - HALO] = b[i];\n"
    "  if (i >= PART && i < PART + HALO) edge[i - PART + HALO] = b[i]; }\n"
    "kernel void exchange(global float *x, global const float *left, global const float *right)\n"
    "{ int i = get_global_id(0);\n"
    "  x[i] = left[HALO + i]; x[PART + HALO + i] = right[i]; }\n";

static int check(CLCONTEXT *cp, float *x, cl_uint parts)
{
    const cl_uint n = parts * PART;
    int differ = 0;
    float *ring[2] = {malloc(n * sizeof(float)), malloc(n * sizeof(float))};
    if (!ring[0] || !ring[1])
        err(1, "the host's ring");
    for (cl_uint i = 0; i < n; i++)
        ring[0][i] = (float)(i * 37 % 101);
    for (int t = 0; t < STEPS; t++) {
        const float *a = ring[t & 1];
        for (cl_uint i = 0; i < n; i++)
            ring[~t & 1][i] = a[i] + 0.25f * (a[(i + n - 1) % n] - 2 * a[i] + a[(i + 1) % n]);
    }
    for (cl_uint d = 0; d < parts; d++) {
        if (clmsync(cp, d, x, CL_MEM_HOST))
            errx(1, "%s", clerror());
        for (cl_uint i = 0; i < PART; i++)
            differ += x[HALO + i] != ring[0][d * PART + i];
    }
    free(ring[0]);
    free(ring[1]);
    printf("%d steps: %d of %u cells differ from the host's\n", STEPS, differ, n);
    return differ != 0;
}

int main(void)
{
    CLCONTEXT *cp = stdgpu ? stdgpu : stddev;
    if (!clsopen(cp, kernels, CLLD_NOW))
        errx(1, "%s", clerror());
    const cl_uint n = clgetndev(cp);
    float *x = clmalloc(cp, CELLS * sizeof *x, CL_MEM_PER_DEVICE), *edge[n];
    float *y = clmalloc(cp, CELLS * sizeof *y, CL_MEM_PER_DEVICE);
    for (cl_uint d = 0; d < n; d++) {
        edge[d] = clmalloc(cp, 2 * HALO * sizeof(float), 0);
        clexec(cp, d, clrange1(CELLS), start, x, n, d);
    }
    for (int t = 0; t < STEPS; t++) {
        for (cl_uint d = 0; d < n && t && t % HALO == 0; d++)
            clexec(cp, d, clrange1(HALO), exchange, x, edge[(d + n - 1) % n], edge[(d + 1) % n]);
        for (cl_uint d = 0; d < n; d++)
            clexec(cp, d, clrange1(CELLS), diffuse, t & 1 ? y : x, t & 1 ? x : y, edge[d]);
    }
    return check(cp, x, n);
}
