/* args.c - the arguments of kernels as programs set them in both revisions of the interface, with
 * the context as the first word and without, and by clforka; the style is that of test programs of
 * 2011.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "stdcl.h"

#define SIZE 128
#define BLOCKSIZE 16

int main(int argc, char **argv)
{
    int i, j;
    CONTEXT *cp = 0;
    unsigned int devnum = 0;
    size_t size = SIZE;
    size_t blocksize = BLOCKSIZE;

    i = 1;
    char *arg;
    while (i < argc) {
        arg = argv[i++];
        if (!strncmp(arg, "--size", 6))
            size = atoi(argv[i++]);
        else if (!strncmp(arg, "--blocksize", 11))
            blocksize = atoi(argv[i++]);
        else if (!strncmp(arg, "--dev", 6)) {
            cp = stddev;
            devnum = atoi(argv[i++]);
        } else {
            fprintf(stderr, "unrecognized option '%s'\n", arg);
            exit(-1);
        }
    }

    if (!cp)
        cp = stddev;
    if (!cp)
        exit(__LINE__);
    if (devnum >= clgetndev(cp))
        exit(__LINE__);

    int *aa0 = (int *)clmalloc(cp, size * sizeof(int), 0);
    if (!aa0)
        exit(__LINE__);
    int *aa1 = (int *)clmalloc(cp, size * sizeof(int), 0);
    if (!aa1)
        exit(__LINE__);
    int *bb0 = (int *)clmalloc(cp, size * sizeof(int), 0);
    if (!bb0)
        exit(__LINE__);

    void *clh = clopen(cp, "args.cl", CLLD_NOW);
    cl_kernel krn = clsym(cp, clh, "test_int_kern", CLLD_NOW);
    if (!krn)
        exit(__LINE__);
    clndrange_t ndr = clndrange_init1d(0, size, blocksize);

    for (j = 0; j < 3; j++) {
        int k = 10 + j;
        for (i = 0; i < size; i++) {
            aa0[i] = i + 13 * j;
            aa1[i] = 7 * i;
            bb0[i] = 0;
        }

        if (!clmsync(cp, devnum, aa0, CL_MEM_DEVICE | CL_EVENT_NOWAIT))
            exit(__LINE__);
        if (!clmsync(cp, devnum, aa1, CL_MEM_DEVICE | CL_EVENT_NOWAIT))
            exit(__LINE__);

        if (j == 0) { /* first revision */
            clarg_set(cp, krn, 0, k);
            if (clarg_set_global(cp, krn, 1, aa0) != 0)
                exit(__LINE__);
            clarg_set_global(cp, krn, 2, aa1);
            clarg_set_global(cp, krn, 3, bb0);
            if (!clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT))
                exit(__LINE__);
        } else if (j == 1) { /* second revision */
            clarg_set(krn, 0, k);
            if (clarg_set_global(krn, 1, aa0) != 0)
                exit(__LINE__);
            clarg_set_global(krn, 2, aa1);
            clarg_set_global(krn, 3, bb0);
            if (!clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT))
                exit(__LINE__);
        } else {
            if (!clforka(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT, k, aa0, aa1, bb0))
                exit(__LINE__);
        }

        if (!clmsync(cp, devnum, bb0, CL_MEM_HOST | CL_EVENT_NOWAIT))
            exit(__LINE__);
        clwait(cp, devnum, CL_KERNEL_EVENT | CL_MEM_EVENT);

        for (i = 0; i < size; i++)
            if (bb0[i] != k * (i + 13 * j) + 7 * i)
                exit(__LINE__);
    }

    /* vectors and floats */

    size_t size4 = size / 4;
    cl_float4 *fa = (cl_float4 *)clmalloc(cp, size4 * sizeof(cl_float4), 0);
    cl_float4 *fb = (cl_float4 *)clmalloc(cp, size4 * sizeof(cl_float4), 0);
    cl_float4 v = (cl_float4){{1.0f, 2.0f, 3.0f, 4.0f}};
    float s = 0.5f;
    clndrange_t ndr4 = clndrange_init1d(0, size4, 4);
    for (i = 0; i < size4; i++)
        fa[i] = (cl_float4){{i, 2 * i, 3 * i, 4 * i}};

    krn = clsym(cp, clh, "test_float4_kern", CLLD_NOW);
    if (!krn)
        exit(__LINE__);
    clmsync(cp, devnum, fa, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clarg_set(cp, krn, 0, v);
    clarg_set(krn, 1, s);
    clarg_set_global(cp, krn, 2, fa);
    clarg_set_global(krn, 3, fb);
    clfork(cp, devnum, krn, &ndr4, CL_EVENT_NOWAIT);
    clmsync(cp, devnum, fb, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, devnum, CL_ALL_EVENT);
    for (i = 0; i < size4; i++)
        for (j = 0; j < 4; j++)
            if (fb[i].s[j] != 0.5f * (j + 1) * i + (j + 1))
                exit(__LINE__);

    /* local memory */

    float *la = (float *)clmalloc(cp, size * sizeof(float), 0);
    float *lb = (float *)clmalloc(cp, size * sizeof(float), 0);
    int nt = blocksize;
    for (i = 0; i < size; i++)
        la[i] = i;

    krn = clsym(cp, clh, "test_local_kern", CLLD_NOW);
    if (!krn)
        exit(__LINE__);
    clarg_set_global(cp, krn, 0, la);
    clarg_set_global(cp, krn, 1, lb);
    clarg_set_local(cp, krn, 2, blocksize * sizeof(cl_float));
    clarg_set(cp, krn, 3, nt);
    clmsync(cp, devnum, la, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
    clmsync(cp, devnum, lb, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, devnum, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);
    for (i = 0; i < size; i++) {
        int b = i / nt * nt;
        if (lb[i] != nt * b + nt * (nt - 1) / 2)
            exit(__LINE__);
    }

    printf("done!\n");
    clclose(cp, clh);

    clfree(aa0);
    clfree(aa1);
    clfree(bb0);
    clfree(fa);
    clfree(fb);
    clfree(la);
    clfree(lb);
    return (0);
}
