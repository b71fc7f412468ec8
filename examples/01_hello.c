/* 01_hello.c - add two vectors on the first device, and print a profile. */
/* SPDX-License-Identifier: MIT */
#include <stdcl.h>

int main(void)
{
    size_t n = 1 << 20;
    CLCONTEXT *cp = stddev;
    int failed = clprofile(cp, 1);
    float *a = clmalloc(cp, n * sizeof *a, 0), *b = clmalloc(cp, n * sizeof *b, 0);
    if (failed || !a || !b)
        return fprintf(stderr, "01_hello: %s\n", clerror()), 1;
    for (size_t i = 0; i < n; i++)
        a[i] = (float)i, b[i] = 1.0f;

    void *h = clsopen(cp,
                      "__kernel void add(__global float *a, __global const float *b)"
                      "{ size_t i = get_global_id(0); a[i] += b[i]; }",
                      CLLD_NOW);
    cl_kernel add = clsym(cp, h, "add", 0);
    clprofile_work(add, (double)n, 12.0 * (double)n, CLPROF_SINGLE);
    clndrange_t ndr = clndrange_init1d(0, n, 64);
    clmsync(cp, 0, a, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, b, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT, a, b);
    clmsync(cp, 0, a, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT) || a[n - 1] != (float)n ||
        clprofile_report(cp, stdout, CLPROF_TABLE))
        return fprintf(stderr, "01_hello: %s\n", clerror()), 1;
    return 0;
}
