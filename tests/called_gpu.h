/* called_gpu.h - report a driver's devices as GPUs, for the LD_PRELOAD libraries as_gpu.c and
 * oclgrind/gpu.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TEST_CALLED_GPU_H
#define STDCL_TEST_CALLED_GPU_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OURS __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

OURS cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                            size_t *needed)
{
    const cl_int status = NEXT(clGetDeviceInfo)(device, what, size, value, needed);
    if (what == CL_DEVICE_TYPE && status == CL_SUCCESS && value)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return status;
}

#endif
