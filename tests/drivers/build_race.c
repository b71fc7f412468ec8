/* build_race.c - PoCL before 6.0 fails now and then if several processes compile the same program
 * at once (pocl issue 1480): to write program.bc, which another process has just written, a process
 * removes the file first, and fails if a third process has removed it already.
 *
 *   cc build_race.c -lOpenCL -o build_race && POCL_CACHE_DIR=$(mktemp -d) ./build_race
 *
 * Eight processes build a hundred programs at the same time on the first device. Prints each failed
 * build with its log, and the result of the next build of the same program.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 8, PROGRAMS = 100, PAUSE_NS = 200000 };

static int build_all(atomic_int *arrived)
{
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    for (int i = 0; i < PROGRAMS; i++) {
        char source[128], log[4096] = "";
        const char *text = source;
        snprintf(source, sizeof source, "__kernel void answer(__global int *out) { out[0] = %d; }",
                 i);
        cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
        atomic_fetch_add(arrived, 1);
        while (atomic_load(arrived) < PROCESSES * (i + 1))
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        const cl_int err = clBuildProgram(program, 1, &device, "", NULL, NULL);
        if (err != CL_SUCCESS) {
            clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
            printf("program %d: %d, %sthe next build: %d\n", i, err, log,
                   clBuildProgram(program, 1, &device, "", NULL, NULL));
            fflush(stdout);
        }
        clReleaseProgram(program);
    }
    return 0;
}

int main(void)
{
    atomic_int *arrived =
        mmap(NULL, sizeof *arrived, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failed = arrived == MAP_FAILED, status;
    for (int i = 0; i < PROCESSES && !failed; i++)
        if (fork() == 0)
            _exit(build_all(arrived));
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}
