/* embedded_sym.c - kernels in the executable, built with options of the program's and found without
 * a handle: nothing is opened.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>

int main(int argc, char **argv)
{
    cl_uint n = 64;
    cl_uint i;
    int wrong = 0;
    char options[] = "-cl-fast-relaxed-math";

    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;
    cl_float *c = (cl_float *)clmalloc(cp, n * sizeof(cl_float), 0);
    clndrange_t ndr = clndrange_init1d(0, 16, 16);
    cl_kernel krn;

    (void)argv;
    if (argc < 2 && clbuild(cp, 0, options, 0) != 0) {
        clperror("clbuild");
        exit(-1);
    }
    krn = clsym(cp, 0, "zero_kern", 0);
    if (!krn) {
        clperror("zero_kern");
        exit(-1);
    }
    if (clsym(cp, 0, "zero_kern", 0) != krn)
        wrong++;
    if (clbuild(cp, 0, options, 0) == 0)
        wrong++; /* it is built */
    if (clsym(cp, 0, "no_such_kern", 0))
        wrong++;

    for (i = 0; i < n; i++)
        c[i] = 1.0f;
    clmsync(cp, 0, c, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clarg_set_global(cp, krn, 0, c);
    clfork(cp, 0, krn, &ndr, CL_EVENT_NOWAIT);
    clmsync(cp, 0, c, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, 0, CL_ALL_EVENT);
    for (i = 0; i < n; i++)
        if (c[i] != 0.0f)
            wrong++;

    clfree(c);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
