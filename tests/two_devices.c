/* two_devices.c - runs a command with two OpenCL devices: `two_devices PROGRAM [ARGUMENT...]`.
 *
 * PoCL offers the CPU twice when POCL_DEVICES says so, under a name that depends on its version. This
 * program asks a copy of itself how many devices each name gives, sets the first that gives two, and
 * becomes the command. Exit status 77, which CTest counts as skipped, when no name does.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_uint count_devices(void)
{
    cl_platform_id platform[16];
    cl_uint n = 0, total = 0;
    if (clGetPlatformIDs(16, platform, &n) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < n && i < 16; i++) {
        cl_uint here = 0;
        if (clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 0, NULL, &here) == CL_SUCCESS)
            total += here;
    }
    return total;
}

/* The number of devices that a fresh process sees; the environment is read once per process. */
static int count_in_child(const char *self)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, "--count", (char *)NULL);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 0;
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"pthread pthread", "cpu cpu"};
    if (argc == 2 && strcmp(argv[1], "--count") == 0)
        return (int)count_devices();
    if (argc < 2) {
        fprintf(stderr, "usage: two_devices PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv("POCL_DEVICES", names[i], 1);
        if (count_in_child("/proc/self/exe") >= 2) {
            execv(argv[1], argv + 1);
            perror(argv[1]);
            return 1;
        }
    }
    printf("SKIPPED: no OpenCL platform here offers its CPU as two devices\n");
    return 77;
}
