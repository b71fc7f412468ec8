/* heard.h - what a rank has printed reaches the user although the job ends now. MPICH's launcher, and Open MPI's, drop what is still on
 * its way when they are asked for the end of a job.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_HEARD_H
#define STDCL_WORLD_HEARD_H

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Waits until the launcher has read this process's pipes, two seconds at most, and 0.3 s more, in which it passes that on. */
static inline void heard_wait(void)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    fflush(NULL);
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        for (int i = 0, left; i < 100 && ioctl(fd, FIONREAD, &left) == 0 && left > 0; i++)
            nanosleep(&nap, NULL);
    for (int i = 0; i < 30; i++)
        nanosleep(&nap, NULL);
}

#endif
