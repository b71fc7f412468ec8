/* redefined.c - compiled with -Dstdgpu=stdcpu: a program for GPUs tried out on the processor.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>

int main()
{
    CLCONTEXT *cp = stdgpu;
    struct cldev_info info;
    if (!cp) {
        printf("SKIPPED: no CPU device\n");
        return 77;
    }
    if (cp != stdcl_standard_context(1))
        return 1;
    cp = clcontext_create(0, CL_DEVICE_TYPE_CPU, 1, 0, 0);
    clgetdevinfo(cp, &info);
    return !(info.dev_type & CL_DEVICE_TYPE_CPU) || clcontext_destroy(cp);
}
