/* as_gpu.c - LD_PRELOAD library that reports the driver's devices as GPUs and fills new buffers
 * with garbage.
 *
 * A CPU shares the host's memory, so a missing copy goes unnoticed, and new memory is 0.
 * Reported as a GPU, the device gets GPU shapes, every transfer is a copy, and every byte of a
 * new buffer is 255: an uninitialised number is -1 or NaN.
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
