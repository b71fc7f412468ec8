/* names.c - the names of the time in the C of the time (C89): the parts of the header each by its
 * own file, contexts declared where they are used, components of vectors, and kernels that ask
 * whose platform they run on.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <clcontext.h>
#include <clmalloc.h>
#include <clerrno.h>
#include <stdcl.h>

extern CLCONTEXT *stdcpu;
extern CLCONTEXT *stdgpu;

struct job {
    struct clndrange_struct ndr;
    int devtype;
};

static const char source[] =
    "#if defined(__NVIDIA__) || defined(__AMD__) || defined(__INTEL__)\n"
    "#define KNOWN 1\n"
    "#else\n"
    "#define KNOWN 0\n"
    "#endif\n"
    "__kernel void center_kern( __global float4* pos, __global int* known )\n"
    "{\n"
    "   int i = get_global_id(0);\n"
    "   pos[i] = pos[i] - (float4)(1.0f,2.0f,3.0f,0.0f);\n"
    "   if (i == 0) known[0] = KNOWN;\n"
    "}\n";

int main()
{
    struct job job = {clndrange_init1d(0, 64, 16), CL_DEVICE_TYPE_RPU};
    size_t (*set)(CLCONTEXT *, cl_kernel, cl_uint, void *) = clarg_set_global;
    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;
    CLCONTEXT *other;
    cl_float4 *pos;
    cl_int *known;
    void *h;
    cl_kernel krn;
    int i, wrong = 0;

#ifndef __STDCL__
    wrong++;
#endif
    if (!cp) {
        fprintf(stderr, "error: no CL context\n");
        exit(-1);
    }

    pos = (cl_float4 *)clmalloc(cp, 64 * sizeof(cl_float4), 0);
    known = (cl_int *)clmalloc(cp, sizeof(cl_int), 0);
    h = clsopen(cp, source, CLLD_NOW);
    krn = clsym(cp, h, "center_kern", 0);
    if (!krn) {
        clperror("center_kern");
        exit(-1);
    }

    for (i = 0; i < 64; i++) {
        cl_float4_x(pos[i]) = i + 1.0f;
        cl_float4_y(pos[i]) = i + 2.0f;
        cl_float4_z(pos[i]) = i + 3.0f;
        cl_float4_w(pos[i]) = i;
    }
    clmsync(cp, 0, pos, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    set(cp, krn, 0, pos);
    set(cp, krn, 1, known);
    clfork(cp, 0, krn, &job.ndr, CL_EVENT_NOWAIT | CL_EVENT_NORELEASE);
    clmsync(cp, 0, pos, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clmsync(cp, 0, known, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, 0, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);
    for (i = 0; i < 64; i++)
        if (cl_float4_x(pos[i]) != i || cl_float4_y(pos[i]) != i || cl_float4_z(pos[i]) != i ||
            cl_float4_w(pos[i]) != i)
            wrong++;
    if (known[0] != 0 && known[0] != 1)
        wrong++;
    if (clmctl(pos, CL_MCTL_GET_DEVNUM) != -1)
        wrong++;

    other = clcontext_create_stdnpu(0, (int)CL_DEVICE_TYPE_ALL, 1, 0, 0);
    if (clgetndev(other) != 1)
        wrong++;
    if (clcontext_destroy(other) != 0)
        wrong++;

    clclose(cp, h);
    clfree(pos);
    clfree(known);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
