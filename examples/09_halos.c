/* 09_halos.c - heat in a rod whose parts are on all devices.
 *
 * Every device holds the whole array and computes its own part of it, with HALO more cells on
 * either side. Each step makes one more cell of a halo wrong; after HALO steps the neighbours'
 * cells are copied again. The copies of all devices are in flight together.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

static const char source[] =
    "kernel void diffuse(global const float *a, global float *b)\n"
    "{ size_t i = get_global_id(0); b[i] = a[i] + 0.25f * (a[i - 1] - 2 * a[i] + a[i + 1]); }\n";

enum { N = 4096, HALO = 16, STEPS = 320 };

static void wait_for_all(CLCONTEXT *cp)
{
    for (cl_uint d = 0; d < clgetndev(cp); d++)
        if (clwait(cp, d, CL_ALL_EVENT)) {
            fprintf(stderr, "09_halos: %s\n", clerror());
            exit(1);
        }
}

/* Copy HALO cells from the device that computes them to the one beside it, over the host. */
static void exchange_halos(CLCONTEXT *cp, float *a, size_t part)
{
    const cl_uint last = clgetndev(cp) - 1;
    const int from = CL_MEM_HOST | CL_EVENT_NOWAIT, to = CL_MEM_DEVICE | CL_EVENT_NOWAIT;
    const size_t bytes = HALO * sizeof *a;
    wait_for_all(cp); /* another device may still be copying these host cells */
    for (cl_uint d = 0; d < last; d++) {
        clmsyncn(cp, d, a + (d + 1) * part - HALO, bytes, from);
        clmsyncn(cp, d + 1, a + (d + 1) * part, bytes, from);
    }
    wait_for_all(cp);
    for (cl_uint d = 0; d < last; d++) {
        clmsyncn(cp, d + 1, a + (d + 1) * part - HALO, bytes, to);
        clmsyncn(cp, d, a + (d + 1) * part, bytes, to);
    }
}

int main(void)
{
    CLCONTEXT *cp = stdgpu ? stdgpu : stddev;
    const cl_uint ndev = clgetndev(cp);
    cl_kernel diffuse = clsym(cp, clsopen(cp, source, CLLD_NOW), "diffuse", 0);
    float *x[2], reference[2][N];
    for (int i = 0; i < 2; i++)
        x[i] = clmalloc(cp, N * sizeof(float), CL_MEM_PER_DEVICE);
    if (!diffuse || !x[0] || !x[1])
        return fprintf(stderr, "09_halos: %s\n", clerror()), 1;
    for (int i = 0; i < N; i++)
        x[0][i] = x[1][i] = reference[0][i] = reference[1][i] = (float)(i * 37 % 101);
    const size_t part = N / ndev; /* the last part also has the remainder */
    for (cl_uint d = 0; d < ndev; d++)
        for (int i = 0; i < 2; i++)
            clmsync(cp, d, x[i], CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    for (int t = 0; t < STEPS; t++) {
        if (t && t % HALO == 0)
            exchange_halos(cp, x[t & 1], part);
        for (cl_uint d = 0; d < ndev; d++) { /* the ends of the rod keep their temperatures */
            const size_t first = d ? d * part - HALO + 1 : 1;
            const size_t end = d < ndev - 1 ? (d + 1) * part + HALO - 1 : N - 1;
            clndrange_t cells = clndrange_init1d(first, end - first, 0);
            clforka(cp, d, diffuse, &cells, CL_EVENT_NOWAIT, x[t & 1], x[1 - (t & 1)]);
        }
    }
    wait_for_all(cp);
    for (cl_uint d = 0; d < ndev; d++) /* each its part; STEPS is even */
        clmsyncn(cp, d, x[0] + d * part, (d < ndev - 1 ? part : N - d * part) * sizeof(float),
                 CL_MEM_HOST | CL_EVENT_NOWAIT);
    wait_for_all(cp);
    for (int t = 0; t < STEPS; t++) {
        const float *a = reference[t & 1];
        for (int i = 1; i < N - 1; i++)
            reference[1 - (t & 1)][i] = a[i] + 0.25f * (a[i - 1] - 2 * a[i] + a[i + 1]);
    }
    int differ = 0;
    for (int i = 0; i < N; i++)
        differ += x[0][i] != reference[0][i];
    printf("%d steps: %d of %d cells differ from the host's\n", STEPS, differ, N);
    return differ != 0;
}
