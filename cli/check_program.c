/* check_program.c - `stdcl check PROGRAM`: run a program with Oclgrind as its OpenCL device.
 *
 * Oclgrind interprets kernels and so sees every access of every work-item. It exits with the
 * program's status whatever it found, and reopens its log for each context, which would truncate
 * a file. So the log is a named pipe, read until the program exits. That the pipe was opened
 * shows that the program created a context under Oclgrind.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "options.h"
#include "check_job.h"

#include "core/clock.h"
#include "core/host_memory.h"
#include "core/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- Installed programs. --------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* True if a shell would find this command. */
static bool is_command(const char *name)
{
    char path[4096];
    const char *folders = getenv("PATH");
    if (strchr(name, '/'))
        return is_program(name);
    for (const char *p = folders ? folders : ""; *p; p += strcspn(p, ":"), p += *p == ':') {
        snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(p, ":"), p, name);
        if (is_program(path))
            return true;
    }
    return false;
}

/* ---- The log. -------------------------------------------------------------------------------- */

struct pipe_reader {
    int fd, opened; /* opened: inotify watch for the pipe's opening, or -1 */
    char line[4096];
    size_t length;
    struct check_log *log;
};

/* Process the complete lines received; false if there was nothing to read. */
static bool read_lines(struct pipe_reader *r)
{
    char bytes[4096];
    const ssize_t n = read(r->fd, bytes, sizeof bytes);
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] != '\n' && r->length + 1 < sizeof r->line) {
            r->line[r->length++] = bytes[i];
        } else if (bytes[i] == '\n') {
            r->line[r->length] = 0;
            check_log_line(r->log, r->line);
            r->length = 0;
        }
    }
    return n > 0;
}

/* ---- The run. -------------------------------------------------------------------------------- */

/* Start the program without optimisation, because LLVM's would create instructions that Oclgrind
 * does not know and move lines. Four compute units make programs that query their number divide
 * their work. */
static pid_t start_under_oclgrind(char **argv, const char *log)
{
    char memory[32];
    pid_t child;
    struct cli_strings words = {0};
    const char *const front[] = {
        "oclgrind", "--data-races",    "--uninitialized", "--compute-units",
        "4",        "--max-errors",    "100000",          "--global-mem-size",
        memory,     "--build-options", "-cl-opt-disable", "--log",
        log};
    snprintf(memory, sizeof memory, "%.0f", host_memory());
    for (size_t i = 0; i < sizeof front / sizeof *front; i++)
        cli_strings_add(&words, front[i]);
    for (; *argv; argv++)
        cli_strings_add(&words, *argv);
    cli_strings_add(&words, NULL);
    const int error =
        posix_spawnp(&child, "oclgrind", NULL, NULL, (char *const *)(uintptr_t)words.item, environ);
    cli_strings_free(&words);
    errno = error;
    return error ? -1 : child;
}

static volatile sig_atomic_t caught;

/* Record a signal. The terminal's SIGINT has reached the program, too. */
static void record_signal(int number, siginfo_t *from, void *where)
{
    (void)where;
    if (number != SIGINT || from->si_code <= 0)
        caught = number;
}

/* Install a handler, unless the signal is ignored, as under nohup. */
static void forward_later(int number)
{
    struct sigaction action = {.sa_sigaction = record_signal, .sa_flags = SA_SIGINFO | SA_RESTART},
                     before;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

/* Forward a recorded signal; kill a program that does not exit within GRACE_SECONDS. */
static void forward_signal(pid_t child, double *since)
{
    const double GRACE_SECONDS = 1;
    if (!caught)
        return;
    if (*since == 0) {
        *since = seconds_now();
        kill(child, caught);
    } else if (seconds_now() > *since + GRACE_SECONDS) {
        kill(child, SIGKILL);
    }
}

/* Read the log until the program exits. Return its status. */
static int read_until_exit(pid_t child, struct pipe_reader *reader)
{
    struct pollfd one = {.fd = reader->fd, .events = POLLIN};
    double since = 0;
    int status = 0;
    pid_t ended = 0;
    while (ended == 0) {
        poll(&one, 1, 20);
        forward_signal(child, &since);
        while (read_lines(reader))
            ;
        ended = waitpid(child, &status, WNOHANG);
    }
    while (read_lines(reader))
        ;
    return caught ? 128 + caught : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Run the program. On Ctrl-C it exits, and the findings so far are reported; so on a SIGINT,
 * SIGTERM or SIGHUP that only we receive. */
static int run_under_oclgrind(char **argv, const char *log, struct pipe_reader *reader)
{
    const pid_t child = start_under_oclgrind(argv, log);
    if (child < 0)
        return cli_failed("cannot run Oclgrind: %s", strerror(errno));
    signal(SIGQUIT, SIG_IGN);
    forward_later(SIGINT);
    forward_later(SIGTERM);
    forward_later(SIGHUP);
    return read_until_exit(child, reader);
}

/* False if certainly no context was created under Oclgrind. */
static bool was_log_opened(const struct pipe_reader *r)
{
    char event[4096];
    return r->opened < 0 || read(r->opened, event, sizeof event) > 0;
}

static int report_findings(const struct pipe_reader *reader, int status, bool quiet)
{
    size_t seen;
    const size_t n = check_log_end(reader->log, &seen);
    const bool checked = n > 0 || was_log_opened(reader);
    if (n > 0)
        fprintf(stderr, "%s: %zu place%s with errors, seen %zu time%s\n", cli_program, n,
                n == 1 ? "" : "s", seen, seen == 1 ? "" : "s");
    else if (!checked)
        cli_failed("the program created no OpenCL context under Oclgrind; nothing was checked");
    else if (!quiet && status <= 128)
        fprintf(stderr, "%s: no errors found in kernels\n", cli_program);
    if (status > 128)
        cli_failed("%sthe program was killed by signal %d (%s)",
                   n == 0 && checked && !quiet ? "no errors found in kernels before " : "",
                   status - 128, strsignal(status - 128));
    else if (status != 0)
        cli_failed("the program exited with status %d", status);
    return n > 0 || (!checked && status == 0) ? CLI_FAILED : status;
}

static int no_program(const char *name)
{
    struct stat status;
    const bool there = stat(name, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return cli_failed("'%s' is a directory; give a program or a kernel file (.cl, .clt)", name);
    if (there)
        return cli_failed("'%s' is neither an executable program nor a kernel file (.cl, .clt)",
                          name);
    return cli_failed("no program '%s'; give the path of a program, or a kernel file (.cl, .clt)",
                      name);
}

/* Create the pipe of the log, open for reading and writing so that there is no end of file
 * without a writer. */
static int open_log(const char *name, struct pipe_reader *reader)
{
    if (mkfifo(name, 0600) == 0)
        reader->fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (reader->fd < 0)
        return cli_failed("cannot create the pipe '%s': %s", name, strerror(errno));
    reader->opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (reader->opened >= 0 && inotify_add_watch(reader->opened, name, IN_OPEN) < 0) {
        close(reader->opened);
        reader->opened = -1;
    }
    return CLI_DONE;
}

int check_program(char **argv, bool quiet)
{
    static const char *const within[] = {"log", NULL};
    char folder[3000], name[3072];
    if (!is_command("oclgrind"))
        return cli_failed(
            "Oclgrind, which checks programs, is not installed; on Debian and Ubuntu type: sudo apt-get install oclgrind (elsewhere see github.com/jrprice/Oclgrind)");
    if (!is_command(argv[0]))
        return no_program(argv[0]);
    if (outfile_folder(folder, sizeof folder, "check", within) != 0)
        return cli_failed_call(NULL);
    snprintf(name, sizeof name, "%s/log", folder);
    struct pipe_reader reader = {.fd = -1, .opened = -1, .log = check_log_create()};
    int status = open_log(name, &reader);
    if (status == CLI_DONE)
        status = report_findings(&reader, run_under_oclgrind(argv, name, &reader), quiet);
    check_log_free(reader.log);
    if (reader.fd >= 0)
        close(reader.fd);
    if (reader.opened >= 0)
        close(reader.opened);
    outfile_folder_remove(folder);
    return status;
}
