/* hello.c - a first program of the year 2010: kernels from a file, arguments with the context as
 * their first word, and once more with an option for the compiler.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>

static int run(CLCONTEXT *cp, void *clh, float coef)
{
    cl_uint n = 1024;
    unsigned int devnum = 0;
    int i, wrong = 0;

    cl_kernel krn = clsym(cp, clh, "outerprod_kern", 0);

    if (!krn) {
        fprintf(stderr, "error: no OpenCL kernel\n");
        exit(-1);
    }

    /* memory that host and device share */
    cl_float *a = (float *)clmalloc(cp, n * sizeof(cl_float), 0);
    cl_float *b = (float *)clmalloc(cp, n * sizeof(cl_float), 0);
    cl_float *c = (float *)clmalloc(cp, n * sizeof(cl_float), 0);

    for (i = 0; i < n; i++)
        a[i] = 1.1f * i;
    for (i = 0; i < n; i++)
        b[i] = 2.2f * i;
    for (i = 0; i < n; i++)
        c[i] = 0.0f;

    clmsync(cp, devnum, a, CL_MEM_DEVICE | CL_EVENT_WAIT);
    clmsync(cp, devnum, b, CL_MEM_DEVICE | CL_EVENT_WAIT);

    clndrange_t ndr = clndrange_init1d(0, n, 64);

    clarg_set_global(cp, krn, 0, a);
    clarg_set_global(cp, krn, 1, b);
    clarg_set_global(cp, krn, 2, c);

    clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
    clwait(cp, devnum, CL_ALL_EVENT);

    clmsync(cp, 0, c, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, devnum, CL_ALL_EVENT);

    for (i = 0; i < n; i++)
        if (c[i] != coef * a[i] * b[i] && wrong++ < 5)
            printf("%d %f %f %f\n", i, a[i], b[i], c[i]);

    clfree(a);
    clfree(b);
    clfree(c);

    clclose(cp, clh);
    return wrong;
}

int main()
{
    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;

    int wrong = run(cp, clopen(cp, "outerprod.cl", CLLD_NOW), 1);

    void *clh = clopen(cp, "outerprod.cl", CLLD_NOBUILD);
    clbuild(cp, clh, "-D COEF=2", 0);
    wrong += run(cp, clh, 2);

    printf("%d wrong\n", wrong);
    return (wrong) ? -1 : 0;
}
