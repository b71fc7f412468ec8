/* embedded.c - no kernel file at run time: the kernels are part of the executable. They are found
 * by clopen without a name, by clsym without a handle, and by clexec.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <math.h>
#include <stdcl.h>

static int check(int n, float *aa, float *b, float *c)
{
    int i, j, wrong = 0;
    for (i = 0; i < n; i++) {
        double sum = 0;
        for (j = 0; j < n; j++)
            sum += (double)aa[i * n + j] * b[j];
        if (!(fabs(c[i] - sum) <= 1e-5 * fabs(sum)) && wrong++ < 5)
            printf("%d %f %f\n", i, c[i], sum);
        c[i] = -1;
    }
    return wrong;
}

int main()
{
    cl_uint n = 64;
    unsigned int devnum = 0;
    int i, j, wrong = 0;

    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;

    clopen(cp, 0, CLLD_NOW);

    cl_kernel krn = clsym(cp, 0, "matvecmult_kern", 0);
    if (!krn) {
        fprintf(stderr, "error: no OpenCL kernel\n");
        exit(-1);
    }

    cl_float *aa = (cl_float *)clmalloc(cp, n * n * sizeof(cl_float), 0);
    cl_float *b = (cl_float *)clmalloc(cp, n * sizeof(cl_float), 0);
    cl_float *c = (cl_float *)clmalloc(cp, n * sizeof(cl_float), 0);

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            aa[i * n + j] = 1.1f * i * j;
    for (i = 0; i < n; i++)
        b[i] = 2.2f * i;
    for (i = 0; i < n; i++)
        c[i] = -1.0f;

    clndrange_t ndr = clndrange_init1d(0, n, 64);

    clmsync(cp, devnum, aa, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, devnum, b, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT, n, aa, b, c);
    clmsync(cp, devnum, c, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clflush(cp, devnum, 0);
    clwait(cp, devnum, CL_ALL_EVENT);
    wrong += check(n, aa, b, c);

    clndrange_t ndr4 = clndrange_init1d(0, n / 4, 16);
    clexec(cp, devnum, &ndr4, zero_kern, c);
    clmsync(cp, devnum, c, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, devnum, CL_ALL_EVENT);
    for (i = 0; i < n; i++)
        if (c[i] != 0.0f)
            wrong++;

    clexec(cp, devnum, &ndr, matvecmult_kern, n, aa, b, c);
    clmsync(cp, devnum, c, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, devnum, CL_ALL_EVENT);
    wrong += check(n, aa, b, c);

    clexecb(cp, devnum, &ndr, matvecmult_kern, n, aa, b, c);
    clmsync(cp, devnum, c, CL_MEM_HOST);
    wrong += check(n, aa, b, c);

    printf("%d wrong\n", wrong);

    clfree(aa);
    clfree(b);
    clfree(c);
    return wrong != 0;
}
