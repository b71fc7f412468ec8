/* clcontext_info.c - prints what is known of the devices of each standard context. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdcl.h>

static int info(const char *name, CLCONTEXT *cp)
{
    int i, wrong = 0;
    if (!cp)
        return 0;

    printf("\n***** %s:\n", name);
    int ndev = clgetndev(cp);

    struct clstat_info stat_info;
    clstat(cp, &stat_info);
    if (stat_info.ndev != ndev)
        wrong++;

    struct cldev_info *dev_info = (struct cldev_info *)malloc(ndev * sizeof(struct cldev_info));
    clgetdevinfo(cp, dev_info);
    clfreport_devinfo(stdout, ndev, dev_info);

    for (i = 0; i < ndev; i++) {
        if (dev_info[i].dev_max_core < 1 || dev_info[i].dev_max_wg_sz < 1)
            wrong++;
        if (dev_info[i].dev_global_mem_sz < 1 << 20 || strlen(dev_info[i].dev_name) < 2)
            wrong++;
    }
    if (dev_info)
        free(dev_info);
    return wrong;
}

int main()
{
    CLCONTEXT *cp;
    struct cldev_info one;
    int wrong = 0;

    cp = stddev;
    if (!cp) {
        fprintf(stderr, "error: no CL context\n");
        exit(-1);
    }

    wrong += info("stddev", cp);
    wrong += info("stdcpu", stdcpu);
    wrong += info("stdgpu", stdgpu);
    wrong += info("stdacc", stdacc);

    /* one device of the first platform only, in a context of the program's own */
    cp = clcontext_create(0, CL_DEVICE_TYPE_ALL, 1, 0, 0);
    if (!cp || clgetndev(cp) != 1)
        exit(__LINE__);
    clgetdevinfo(cp, &one);
    if (one.dev_type == CL_DEVICE_TYPE_GPU)
        printf("GPU/OpenCL %s\n", one.dev_name);
    else if (one.dev_type == CL_DEVICE_TYPE_CPU)
        printf("CPU/OpenCL %s\n", one.dev_name);
    if (clcontext_destroy(cp))
        exit(__LINE__);

    return (wrong) ? -1 : 0;
}
