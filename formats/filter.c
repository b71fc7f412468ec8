/* filter.c - runs external programs as filters between two files.
 * SPDX-License-Identifier: MIT
 */
#include "formats/filter.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool filter_run(const char *const *argv, int from, int to)
{
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_t actions;
    lseek(from, 0, SEEK_SET);
    if (ftruncate(to, 0) != 0 ||
        lseek(to, 0, SEEK_SET) != 0) /* discard the output of an earlier program */
        (void)to;                    /* a device cannot be truncated and need not be */
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    posix_spawn_file_actions_adddup2(&actions, from, 0);
    posix_spawn_file_actions_adddup2(&actions, to, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid)
        status = -1;
    posix_spawn_file_actions_destroy(&actions);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool filter_there(const char *program)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    while (path && *path) {
        const size_t length = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program);
        if (length && access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}
