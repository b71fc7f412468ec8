/* gpu.c - stands before Oclgrind (LD_PRELOAD) and calls its device a GPU, for run.sh.
 *
 * Oclgrind's device is of every type at once, and so counts as a CPU, which shares memory with the host. It does not see
 * what the host writes there, and takes all of it for uninitialised. As a GPU it is sent everything by copies, and takes
 * the shapes of GPUs.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdint.h>

__attribute__((visibility("default"))) cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size,
                                                              void *value, size_t *needed)
{
    const __typeof__(&clGetDeviceInfo) next = (__typeof__(&clGetDeviceInfo))(uintptr_t)dlsym(RTLD_NEXT, "clGetDeviceInfo");
    const cl_int status = next(device, what, size, value, needed);
    if (what == CL_DEVICE_TYPE && status == CL_SUCCESS && value)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return status;
}
