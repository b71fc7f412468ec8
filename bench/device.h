/* device.h - the device that a benchmark's --device names, as the command's does: cpu, gpu or part of a name.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_BENCH_DEVICE_H
#define STDCL_BENCH_DEVICE_H

#include <stdcl.h>

#include <string.h>

/* A context of the first `count` devices (0: one) that match; NULL: any. NULL with clerror() where there are fewer. */
static inline CLCONTEXT *bench_open(const char *device, size_t count)
{
    const int type = !device                       ? (int)CL_DEVICE_TYPE_ALL
                     : strcmp(device, "cpu") == 0 ? (int)CL_DEVICE_TYPE_CPU
                     : strcmp(device, "gpu") == 0 ? (int)CL_DEVICE_TYPE_GPU
                                                  : (int)CL_DEVICE_TYPE_ALL;
    count = count ? count : 1;
    CLCONTEXT *made = clcontext_create(type == (int)CL_DEVICE_TYPE_ALL ? device : NULL, type, count, NULL, 0);
    if (made && clgetndev(made) < count) {
        clerror_set(ENODEV, "there are %u devices that match, not %zu", clgetndev(made), count);
        clcontext_destroy(made);
        return NULL;
    }
    return made;
}

#endif
