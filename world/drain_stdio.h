/* drain_stdio.h - what a rank has printed reaches the user although the job ends now. MPICH's
 * launcher, and Open MPI's, drop what is still on its way when they are asked for the end of a job.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_HEARD_H
#define STDCL_WORLD_HEARD_H

#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static inline int pipe_unread(int fd) /* bytes in a pipe that the launcher has not read */
{
    struct stat is;
    int bytes = 0;
    return fstat(fd, &is) == 0 && S_ISFIFO(is.st_mode) && ioctl(fd, FIONREAD, &bytes) == 0 ? bytes
                                                                                           : 0;
}

/* Waits until the launcher has read this process's pipes, two seconds at most, and 0.3 s more, in
 * which it passes that on. */
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
