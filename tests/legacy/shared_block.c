/* shared_block.c - several devices work on one block in turn, as when all devices of a context had
 * one buffer: it is copied to the first device, and fetched from the last. A second block goes to
 * the kernel as a whole, with the offset beside it.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>

static const char source[] =
    "__kernel void step_kern( uint offset, __global int* x, __global int* sum )\n"
    "{\n"
    "   int i = get_global_id(0);\n"
    "   x[i] = 2*x[i] + 1;\n"
    "   sum[offset/sizeof(int)+i] += x[i];\n"
    "}\n";

int main()
{
    cl_uint n = 1000, nround = 5;
    cl_uint i, round, devnum;
    int wrong = 0;

    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;
    cl_uint ndev = clgetndev(cp);

    cl_int *x = (cl_int *)clmalloc(cp, n * sizeof(cl_int), 0);
    cl_int *sum = (cl_int *)clmalloc(cp, (n + 3) * sizeof(cl_int), 0);
    void *h = clsopen(cp, source, CLLD_NOW);
    cl_kernel krn = clsym(cp, h, "step_kern", CLLD_NOW);
    clndrange_t ndr = clndrange_init1d(0, 1000, 0);
    if (!krn) {
        clperror("step_kern");
        exit(-1);
    }

    for (i = 0; i < n; i++)
        x[i] = i;
    for (i = 0; i < n + 3; i++)
        sum[i] = 0;
    clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, sum, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

    for (round = 0; round < nround; round++)
        for (devnum = 0; devnum < ndev; devnum++) {
            cl_uint offset = clarg_set_global(cp, krn, 2, sum + 3);
            clarg_set(cp, krn, 0, offset);
            clarg_set_global(cp, krn, 1, x);
            clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
        }

    clmsync(cp, ndev - 1, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clmsync(cp, ndev - 1, sum, CL_MEM_HOST | CL_EVENT_NOWAIT);
    for (devnum = 0; devnum < ndev; devnum++)
        clwait(cp, devnum, CL_ALL_EVENT | CL_EVENT_RELEASE);

    for (i = 0; i < 3; i++)
        if (sum[i] != 0)
            wrong++;
    for (i = 0; i < n; i++) {
        cl_int value = i, total = 0;
        for (round = 0; round < nround * ndev; round++) {
            value = 2 * value + 1;
            total += value;
        }
        if ((x[i] != value || sum[3 + i] != total) && wrong++ < 5)
            printf("%u: %d %d instead of %d %d\n", i, x[i], sum[3 + i], value, total);
    }
    printf("%u devices, %d wrong\n", ndev, wrong);

    clclose(cp, h);
    clfree(x);
    clfree(sum);
    return wrong != 0;
}
