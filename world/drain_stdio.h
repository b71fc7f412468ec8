/* drain_stdio.h - drain stdout and stderr before an abort: mpiexec discards output it has not read.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_DRAIN_STDIO_H
#define STDCL_WORLD_DRAIN_STDIO_H

#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static inline int pipe_unread(int fd) /* Bytes in a pipe that the launcher has not read. */
{
    struct stat is;
    int bytes = 0;
    return fstat(fd, &is) == 0 && S_ISFIFO(is.st_mode) && ioctl(fd, FIONREAD, &bytes) == 0 ? bytes
                                                                                           : 0;
}

/* Wait up to two seconds until the launcher has read this process's pipes, then 0.3 s in which it
 * forwards the output. */
static inline void drain_stdio(void)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 200 && (pipe_unread(STDOUT_FILENO) || pipe_unread(STDERR_FILENO)); i++)
        nanosleep(&nap, NULL);
    for (int i = 0; i < 30; i++)
        nanosleep(&nap, NULL);
}

#endif
