/* no_room.c - NVIDIA's driver 580.159 ends a program (status 1) that compiles a kernel while no
 * file may grow; PoCL returns an error.
 *
 *   cc no_room.c -lOpenCL -o no_room && ./no_room | cat
 *
 * Prints the result of clBuildProgram for the first device of each platform, or how the process
 * ended.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, NO_SUCH_PLATFORM = 2 };

static int build_without_room(cl_uint which)
{
    char source[128], name[128] = "";
    const char *text = source;
    cl_platform_id platform[MOST];
    cl_device_id device;
    cl_uint n = 0;
    if (clGetPlatformIDs(MOST, platform, &n) != CL_SUCCESS || which >= n)
        return NO_SUCH_PLATFORM;
    if (clGetDeviceIDs(platform[which], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) != CL_SUCCESS)
        return 1;
    snprintf(source, sizeof source, "__kernel void answer(__global int *out) { out[0] = %d; }",
             (int)getpid());
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    printf("%s: ", name);
    fflush(stdout);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    printf("clBuildProgram returned %d\n",
           (int)clBuildProgram(program, 1, &device, "", NULL, NULL));
    fflush(stdout);
    return 0;
}

int main(void)
{
    for (cl_uint k = 0; k < MOST; k++) {
        int status = 0;
        const pid_t child = fork(); /* before the first call of OpenCL */
        if (child == 0)
            _exit(build_without_room(k));
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            printf("ended by signal %d\n", WTERMSIG(status));
        else if (WEXITSTATUS(status) == NO_SUCH_PLATFORM)
            break;
        else if (WEXITSTATUS(status) != 0)
            printf("ended with status %d\n", WEXITSTATUS(status));
    }
    return 0;
}
