/* kernels.c - LD_PRELOAD library for Oclgrind that appends the name of each launched kernel to the
 * file $OCLGRIND_KERNELS, for run.sh. A profile would report them too, but Oclgrind 21.10 corrupts
 * its heap when many launches are timed.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

__attribute__((visibility("default"))) cl_int clEnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *from,
    const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait, cl_event *done)
{
    static _Thread_local cl_kernel last;
    char name[256] = "";
    const char *file = getenv("OCLGRIND_KERNELS");
    if (file && kernel != last &&
        NEXT(clGetKernelInfo)(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL) ==
            CL_SUCCESS) {
        const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
        strcat(name, "\n");
        if (fd >= 0 && write(fd, name, strlen(name)) == (ssize_t)strlen(name))
            last = kernel;
        if (fd >= 0)
            close(fd);
    }
    return NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, from, global, local, nwait, wait,
                                        done);
}
