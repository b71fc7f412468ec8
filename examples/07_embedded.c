/* 07_embedded.c - kernels inside the executable: one file to ship, no file to find at run time.
 *
 *   stdcl embed 07_embedded.cl -o kernels.o
 *   cc 07_embedded.c kernels.o -lstdcl -lOpenCL
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

static int failed(void)
{
    fprintf(stderr, "07_embedded: %s\n", clerror());
    return 1;
}

int main(void)
{
    enum { N = 1024 };
    CLCONTEXT *cp = stddev;
    float *x = clmalloc(cp, N * sizeof *x, 0);
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    if (!x)
        return failed();

    /* clexec takes the kernel's bare name; the program is loaded when first needed. */
    clexec(cp, 0, &ndr, ramp, x, 0.5f);
    clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT))
        return failed();
    printf("%g %g %g\n", x[0], x[1], x[N - 1]);

    /* Or with a handle, as from a file: the file name is NULL. */
    void *h = clopen(cp, NULL, CLLD_NOW);
    cl_kernel negate = clsym(cp, h, "negate", 0);
    if (!negate)
        return failed();
    clforka(cp, 0, negate, &ndr, CL_EVENT_NOWAIT, x);
    clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT))
        return failed();
    printf("%g %g %g\n", x[0], x[1], x[N - 1]);
    clfree(x);
    return 0;
}
