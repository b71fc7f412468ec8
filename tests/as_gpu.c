/* as_gpu.c - stands before a driver (LD_PRELOAD) and calls its devices GPUs, whose memory holds anything at first.
 *
 * A CPU's memory is the host's, so copies that are missing are not missed there, and new memory is 0. As a GPU the device
 * takes the shapes of GPUs, everything comes and goes by copies, and every byte of a new buffer is 255: a number
 * that nobody has written is -1 or not a number.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OURS __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

OURS cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const cl_int status = NEXT(clGetDeviceInfo)(device, what, size, value, needed);
    if (what == CL_DEVICE_TYPE && status == CL_SUCCESS && value)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return status;
}

OURS cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *err)
{
    const cl_mem_flags given = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    void *anything = flags & given ? NULL : malloc(size);
    if (!anything)
        return NEXT(clCreateBuffer)(context, flags, size, host, err);
    memset(anything, 255, size);
    cl_mem buffer = NEXT(clCreateBuffer)(context, flags | CL_MEM_COPY_HOST_PTR, size, anything, err);
    free(anything);
    return buffer;
}
