/* two_devices.c - run a command with two OpenCL devices: `two_devices [--kinds | --three] PROGRAM
 * [ARGUMENT...]`; --kinds: with two devices of different models; --three: with three devices.
 *
 * PoCL offers the processors twice if POCL_DEVICES says so. A child process queries PoCL's
 * version, since PoCL reads the environment once per process; this process then sets the
 * variable and executes the command. Exit status 77 (CTest: skipped) if PoCL is not installed.
 * NVIDIA's cards are hidden: the run without two_devices covers them, creating a context there
 * takes seconds while others are being created, and with many open contexts it fails.
 * SPDX-License-Identifier: MIT
 */
#include "pocl.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <stdint.h>
#include <unistd.h>

/* Query in a child process: some drivers do not survive being loaded and then replaced by exec. */
static int version_in_child(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(pocl_version(NULL));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : 0;
}

int main(int argc, char **argv)
{
    const bool kinds = argc > 1 && strcmp(argv[1], "--kinds") == 0,
               three = argc > 1 && strcmp(argv[1], "--three") == 0;
    char **const command = argv + 1 + (kinds || three);
    if (argc < 2 + (kinds || three)) {
        fprintf(stderr, "usage: two_devices [--kinds | --three] PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    const int version = version_in_child();
    if (version == 0) {
        printf("SKIPPED: PoCL, which offers the processors as two devices, is not installed\n");
        return 77;
    }
    putenv((char *)(uintptr_t)(kinds   ? pocl_kinds(version)
                               : three ? pocl_thrice(version)
                                       : pocl_twice(version)));
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    execv(command[0], command);
    perror(command[0]);
    return 1;
}
