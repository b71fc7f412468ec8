/* debug.c - $STDCL_DEBUG: 1 prints each error as it happens; 2 also runs the program as `stdcl
 * check` does.
 *
 * For 2 the program is started again under the command when the library is loaded: Oclgrind must be
 * there before the first OpenCL call, which may be the program's own. It is the only thing the
 * library does before main, and only on request.
 * SPDX-License-Identifier: MIT
 */
#include "core/environment.h"

#include <fcntl.h>
#include <unistd.h>

bool debug_prints(void)
{
    const char *level = getenv("STDCL_DEBUG");
    return level && *level && strcmp(level, "0") != 0;
}

/* Read a file of /proc of unknown size; NULL if it cannot be read. */
static char *read_proc(const char *file, size_t *size)
{
    char *data = NULL;
    size_t room = 0;
    ssize_t n = 0;
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    *size = 0;
    do {
        char *more = realloc(data, room += 4096);
        if (!more || fd < 0)
            break;
        data = more;
        n = read(fd, data + *size, room - *size - 1);
        *size += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    if (fd >= 0)
        close(fd);
    if (data)
        data[*size] = 0;
    return data;
}

/* Execute `stdcl check -- PROGRAM ARGUMENTS`; returns if that fails. */
static void become_checked(void)
{
    char program[4096];
    size_t size, words = 4;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *line = read_proc("/proc/self/cmdline", &size);
    const char **argv = line && length > 0 ? calloc(size + 6, sizeof *argv) : NULL;
    if (argv) {
        program[length] = 0;
        argv[0] = "stdcl", argv[1] = "check", argv[2] = "--", argv[3] = program;
        for (char *word = line + strlen(line) + 1; word < line + size; word += strlen(word) + 1)
            argv[words++] = word;
        execvp("stdcl", (char *const *)(uintptr_t)argv);
    }
    free(argv);
    free(line);
}

__attribute__((constructor)) static void check_if_wanted(void)
{
    const char *level = getenv("STDCL_DEBUG");
    if (!level || strcmp(level, "2") != 0)
        return;
    setenv("STDCL_DEBUG", "1", 1);
    become_checked();
    fputs(
        "stdcl: the command stdcl is not in $PATH; with STDCL_DEBUG=2 a program runs under it, as by `stdcl check`. "
        "This run goes on without\n",
        stderr);
}
