/* attach.c - blocks without a context: filled by the host, given to a context, taken back, grown,
 * and given again. What the host has when a block is attached is what the devices begin with.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>

static const char source[] = "__kernel void twice_kern( __global float* x )\n"
                             "{\n"
                             "   int i = get_global_id(0);\n"
                             "   x[i] = 2.0f*x[i];\n"
                             "}\n";

int main()
{
    cl_uint n = 512;
    cl_uint i, devnum, round;
    int wrong = 0;

    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;
    void *h = clsopen(cp, source, CLLD_NOW);
    cl_kernel krn = clsym(cp, h, "twice_kern", CLLD_NOW);
    if (!krn) {
        clperror("twice_kern");
        exit(-1);
    }

    for (devnum = 0; devnum < clgetndev(cp); devnum++) {
        cl_float *x = (cl_float *)clmalloc(0, n * sizeof(cl_float), CL_MEM_DETACHED);
        for (i = 0; i < n; i++)
            x[i] = i;
        for (round = 0; round < 3; round++) {
            clndrange_t ndr = clndrange_init1d(0, 512, 64);
            if (clmattach(cp, x) != 0)
                wrong++;
            clarg_set_global(cp, krn, 0, x);
            clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
            clmsync(cp, devnum, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
            clwait(cp, devnum, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);
            if (clmdetach(x) != 0)
                wrong++;
            for (i = 0; i < n; i++)
                x[i] += 1.0f;
        }
        for (i = 0; i < n; i++)
            if (x[i] != 8.0f * i + 7.0f)
                wrong++;

        x = (cl_float *)clmrealloc(cp, x, 2 * n * sizeof(cl_float), CL_MEM_DETACHED);
        if (!(clmctl(x, CL_MCTL_GET_STATUS) & CL_MEM_DETACHED))
            wrong++;
        if (clmattach(cp, x) != 0)
            wrong++;
        for (i = 0; i < n; i++)
            if (x[i] != 8.0f * i + 7.0f)
                wrong++;
        clfree(x);
    }
    clclose(cp, h);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
