/* debug.c - $STDCL_DEBUG: 1 prints each error as it happens, and equal ones in a row once; 2 also
 * runs the program as `stdcl check` does.
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

/* The last line that debug_print printed, and how often it was given again since, in a process. */
static struct {
    pthread_mutex_t lock;
    char *line;
    unsigned long repeated;
    pid_t process; /* a forked child prints no count of its parent */
} printed = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Call with printed.lock held. */
static void print_repeated(void)
{
    if (printed.repeated > 0 && printed.process == getpid())
        fprintf(stderr, "stdcl: the last message was repeated %lu time%s\n", printed.repeated,
                printed.repeated == 1 ? "" : "s");
    printed.repeated = 0;
}

/* The lock is never waited for: in a forked child, or at exit, it may be held forever. */
void debug_print(const char *line)
{
    const bool locked = pthread_mutex_trylock(&printed.lock) == 0;
    const bool again =
        locked && printed.line && strcmp(printed.line, line) == 0 && printed.process == getpid();
    if (again) {
        printed.repeated++;
    } else if (locked) {
        print_repeated();
        free(printed.line);
        printed.line = strdup(line);
        printed.process = getpid();
    }
    if (!again)
        fprintf(stderr, "stdcl: %s\n", line);
    if (locked)
        pthread_mutex_unlock(&printed.lock);
}

__attribute__((destructor)) static void print_last_repeated(void)
{
    if (pthread_mutex_trylock(&printed.lock) != 0)
        return;
    print_repeated();
    free(printed.line);
    printed.line = NULL;
    pthread_mutex_unlock(&printed.lock);
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
