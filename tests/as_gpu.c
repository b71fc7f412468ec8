/* as_gpu.c - stands before a driver (LD_PRELOAD) and calls its devices GPUs, whose memory holds
 * anything at first.
 *
 * A CPU's memory is the host's, so copies that are missing are not missed there, and new memory is
 * 0. As a GPU the device takes the shapes of GPUs, everything comes and goes by copies, and every
 * byte of a new buffer is 255: a number that nobody has written is -1 or not a number.
 * SPDX-License-Identifier: MIT
 */
#include "called_gpu.h"

OURS cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                           cl_int *err)
{
    const cl_mem_flags given = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    void *anything = flags & given ? NULL : malloc(size);
    if (!anything)
        return NEXT(clCreateBuffer)(context, flags, size, host, err);
    memset(anything, 255, size);
    cl_mem buffer =
        NEXT(clCreateBuffer)(context, flags | CL_MEM_COPY_HOST_PTR, size, anything, err);
    free(anything);
    return buffer;
}
