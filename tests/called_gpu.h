/* called_gpu.h - report a driver's devices as GPUs, for the LD_PRELOAD libraries as_gpu.c and
 * oclgrind/gpu.c. PoCL's device of one thread stays a CPU: a context that also has PoCL's other
 * device has a CPU and a GPU.
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

/* True for PoCL's device of one thread: "cpu-minimal", or "basic" before PoCL 4. */
static int stays_cpu(cl_device_id device)
{
    char name[256] = "";
    return NEXT(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
           (strncmp(name, "basic", 5) == 0 || strncmp(name, "cpu-minimal", 11) == 0);
}

OURS cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                            size_t *needed)
{
    const cl_int status = NEXT(clGetDeviceInfo)(device, what, size, value, needed);
    if (what == CL_DEVICE_TYPE && status == CL_SUCCESS && value && !stays_cpu(device))
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return status;
}

#endif
