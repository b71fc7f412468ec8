/* kernel_args.c - arguments by OpenCL's own clSetKernelArg, on the kernel of clsym, which then runs
 * on every device of the context; clarg_set has given the kernel other values before.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>

static const char source[] =
    "__kernel void scale_kern( float factor, __local float* tmp, __global float* x )\n"
    "{\n"
    "   int i = get_global_id(0), l = get_local_id(0);\n"
    "   tmp[l] = x[i];\n"
    "   barrier(CLK_LOCAL_MEM_FENCE);\n"
    "   x[i] = factor*tmp[l];\n"
    "}\n";

int main()
{
    cl_uint n = 256, i, devnum;
    cl_float factor = 3.0f, wanted;
    cl_mem buf;
    int wrong = 0;

    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;
    cl_uint ndev = clgetndev(cp);
    clndrange_t ndr = clndrange_init1d(0, 256, 64);

    cl_float *x = (cl_float *)clmalloc(cp, n * sizeof(cl_float), 0);
    cl_float *other = (cl_float *)clmalloc(cp, n * sizeof(cl_float), 0);
    void *h = clsopen(cp, source, CLLD_NOW);
    cl_kernel krn = clsym(cp, h, "scale_kern", CLLD_NOW);
    if (!krn) {
        clperror("scale_kern");
        exit(-1);
    }

    clarg_set(cp, krn, 0, 2.0f);
    clarg_set_global(cp, krn, 2, other);
    for (devnum = 0; devnum < ndev; devnum++)
        clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT); /* local memory is missing */
    for (devnum = 0; devnum < ndev; devnum++)
        if (clwait(cp, devnum, CL_KERNEL_EVENT) == 0)
            wrong++;

    buf = clgetbuffer(cp, 0, x);
    if (clSetKernelArg(krn, 0, sizeof(cl_float), &factor) != CL_SUCCESS)
        wrong++;
    if (clSetKernelArg(krn, 1, 64 * sizeof(cl_float), 0) != CL_SUCCESS)
        wrong++;
    if (clSetKernelArg(krn, 2, sizeof(cl_mem), &buf) != CL_SUCCESS)
        wrong++;

    for (i = 0; i < n; i++)
        x[i] = i;
    clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    for (devnum = 0; devnum < ndev; devnum++)
        clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
    clmsync(cp, ndev - 1, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    for (devnum = 0; devnum < ndev; devnum++)
        clwait(cp, devnum, CL_ALL_EVENT | CL_EVENT_RELEASE);

    for (wanted = 1, devnum = 0; devnum < ndev; devnum++)
        wanted *= factor;
    for (i = 0; i < n; i++)
        if (x[i] != wanted * i)
            wrong++;
    printf("%u devices, %d wrong\n", ndev, wrong);

    clclose(cp, h);
    clfree(x);
    clfree(other);
    return wrong != 0;
}
