/* image_table.c - a read-only table in an image: memory allocated detached, shaped as an image,
 * attached, then filled and synced as any other memory.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <math.h>
#include <stdcl.h>

int main()
{
    cl_uint n = 64;
    unsigned int devnum = 0;
    int i, j, wrong = 0;

    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;

    struct cldev_info *dev_info =
        (struct cldev_info *)malloc(clgetndev(cp) * sizeof(struct cldev_info));
    clgetdevinfo(cp, dev_info);
    if (!dev_info[devnum].dev_img_sup) {
        printf("SKIPPED: the device has no images\n");
        exit(77);
    }
    free(dev_info);

    void *clh = clopen(cp, "image_table.cl", CLLD_NOW);
    cl_kernel krn = clsym(cp, clh, "matvecmult_table_kern", 0);
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
        c[i] = 0.0f;

    /* 24 x 24 pixels of four floats, of which the first is used */

    cl_float4 *table = (cl_float4 *)clmalloc(cp, 24 * 24 * sizeof(cl_float4), CL_MEM_DETACHED);
    clmctl(table, CL_MCTL_SET_IMAGE2D, 24, 24, 0);
    clmattach(cp, table);

    for (i = 0; i < 24; i++)
        for (j = 0; j < 24; j++)
            table[i * 24 + j].x = 0.125f * (i - j);

    clndrange_t ndr = clndrange_init1d(0, n, 64);

    clmsync(cp, devnum, aa, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, devnum, b, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, devnum, table, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

    clarg_set(cp, krn, 0, n);
    clarg_set_global(cp, krn, 1, aa);
    clarg_set_global(cp, krn, 2, b);
    clarg_set_global(cp, krn, 3, c);
    clarg_set_global(cp, krn, 4, table);

    clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);

    clmsync(cp, 0, c, CL_MEM_HOST | CL_EVENT_NOWAIT);

    clflush(cp, devnum, 0);

    clwait(cp, devnum, CL_ALL_EVENT);

    for (i = 0; i < n; i++) {
        double sum = 0, size = 0;
        for (j = 0; j < n; j++) {
            double term = (double)table[(j % 24) * 24 + i % 24].x * aa[i * n + j] * b[j];
            sum += term;
            size += fabs(term);
        }
        if (!(fabs(c[i] - sum) <= 1e-5 * size) && wrong++ < 5)
            printf("%d %f %f\n", i, c[i], sum);
    }
    printf("%d wrong\n", wrong);

    clfree(aa);
    clfree(b);
    clfree(c);
    clfree(table);

    clclose(cp, clh);
    return (wrong) ? -1 : 0;
}
