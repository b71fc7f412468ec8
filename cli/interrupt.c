/* interrupt.c - the first Ctrl-C ends the run after the work in progress, unless that takes
 * long.
 *
 * The first SIGINT, SIGTERM, SIGHUP or SIGUSR2 (the signal that mpirun forwards) sets a flag.
 * Commands poll the flag between pieces of work and save their results. A command that does not
 * poll within DEADLINE, because a compiler or a large file keeps it busy, is killed; so is a
 * command that receives a second signal, or SIGQUIT. Each dies by its signal, after its
 * incomplete files are removed. After Ctrl-C a user is waiting: files not complete within
 * FILE_SECONDS are abandoned. With several ranks, a signal to one is passed to all; no rank is
 * killed at the deadline, because other ranks may be waiting for it.
 * SPDX-License-Identifier: MIT
 */
#include "interrupt.h"
#include "ranks.h"

#include "core/clock.h"
#include "core/outfile.h"
#include "core/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct itimerspec DEADLINE = {.it_value = {.tv_sec = 1, .tv_nsec = 800000000}},
                               NONE = {.it_value = {0}};

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR2};

static const double FILE_SECONDS = 1.7; /* less than DEADLINE */

static volatile sig_atomic_t caught, polled;
static struct timespec caught_at;
static sigset_t ignored; /* at program start, such as SIGHUP under nohup */
static bool on_terminal, has_deadline;
static size_t columns; /* of the terminal; 0: no limit */
static volatile sig_atomic_t idle;
static timer_t timer;
static const char *_Atomic last_words; /* for standard output; NULL: none */

/* Async-signal-safe calls only. Whether the text is written does not matter. */
static void print_promise(void)
{
    static const char wide[] =
        "\nstopping after the work in progress; press Ctrl-C again to stop at once\n";
    static const char narrow[] =
        "\nstopping after the work in progress;\npress Ctrl-C again to stop at once\n";
    const char *text = columns && columns < sizeof wide - 2 ? narrow : wide;
    const size_t length = idle ? 1 : strlen(text); /* the terminal has printed ^C */
    if (on_terminal && write(STDERR_FILENO, text, length) < 0)
        return;
}

static void die_by_signal(int signal_number)
{
    outfile_unlink_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* delivered when this handler returns */
}

static void interrupt_signal(int signal_number)
{
    if (caught) {
        die_by_signal(signal_number);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &caught_at);
    caught = signal_number;
    world_notify(cli_world, signal_number);
    if (has_deadline)
        timer_settime(timer, 0, &DEADLINE, NULL);
    print_promise();
}

static void interrupt_deadline(int signal_number)
{
    (void)signal_number;
    if (!caught || polled || world_size(cli_world) > 1)
        return;
    const char *text = last_words;
    if (text && write(STDOUT_FILENO, text, strlen(text)) < 0)
        text = NULL; /* nobody is left to report it to */
    die_by_signal(caught);
}

static void mask_quit(int how)
{
    sigset_t quit;
    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    pthread_sigmask(how, &quit, NULL);
}

static void remember_ignored(int signal_number)
{
    struct sigaction now;
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
        sigaddset(&ignored, signal_number);
}

void cli_interrupt_begin(void)
{
    sigemptyset(&ignored);
    remember_ignored(SIGQUIT);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        remember_ignored(signals[i]);
}

void cli_interrupt_block_quit(void)
{
    mask_quit(SIG_BLOCK);
}

void cli_interrupt_restore_quit(void)
{
    struct sigaction now;
    void (*const ours)(int) = sigismember(&ignored, SIGQUIT) ? SIG_IGN : die_by_signal;
    if (sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_handler != ours)
        signal(SIGQUIT, ours);
    mask_quit(SIG_UNBLOCK);
}

/* Install a handler, unless the signal was ignored at program start: LLVM, in drivers that
 * compile with it, installs handlers for ignored signals, too. */
static void set_handler(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler =
                                   sigismember(&ignored, signal_number) ? SIG_IGN : handler,
                               .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

static void catch_signals(void)
{
    on_terminal = isatty(STDERR_FILENO);
    columns = terminal_columns(stderr);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        set_handler(signals[i], interrupt_signal);
}

/* Infinite for signals other than Ctrl-C, which batch systems send, and with several ranks,
 * which stop together. */
static double seconds_left_for_files(void)
{
    struct timespec now;
    if (caught != SIGINT || world_size(cli_world) > 1)
        return INFINITY;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return FILE_SECONDS - (double)(now.tv_sec - caught_at.tv_sec) -
           1e-9 * (double)(now.tv_nsec - caught_at.tv_nsec);
}

/* The timer's handler is installed last: a test that sees it knows that the other handlers are
 * ours and not a compiler's. */
void cli_interrupt_catch(void)
{
    struct sigevent expiry = {.sigev_notify = SIGEV_SIGNAL,
                              .sigev_signo = SIGVTALRM}; /* sent by nothing else */
    catch_signals();
    outfile_limit(seconds_left_for_files);
    if (has_deadline || timer_create(CLOCK_MONOTONIC, &expiry, &timer) != 0)
        return;
    set_handler(SIGVTALRM, interrupt_deadline);
    has_deadline = true;
    if (caught && !polled)
        timer_settime(timer, 0, &DEADLINE, NULL);
}

void cli_interrupt_catch_without_deadline(void)
{
    catch_signals();
}

void cli_interrupt_last_words(const char *text)
{
    last_words = text;
}

void cli_interrupt_idle(void)
{
    idle = 1;
}

bool cli_interrupted(void)
{
    cli_interrupt_restore_quit();
    if (!caught)
        caught = world_notified(cli_world);
    if (caught && !polled) {
        polled = 1;
        if (has_deadline)
            timer_settime(timer, 0, &NONE, NULL);
    }
    return caught != 0;
}

/* The thread that receives the signal first removes LLVM's files and then passes the signal on:
 * wait up to 0.3 s for it, or 2 s with several ranks. */
bool cli_interrupt_arrives(void)
{
    const struct timespec a_little = {.tv_nsec = 100000000};
    for (int left = world_size(cli_world) > 1 ? 20 : 3; left > 0 && !cli_interrupted(); left--)
        nanosleep(&a_little, NULL);
    return cli_interrupted();
}

bool cli_interrupt_broke_build(void)
{
    const bool maybe_remote = clerrno == ENOEXEC && world_size(cli_world) > 1;
    return (oclerrno == CL_BUILD_PROGRAM_FAILURE || maybe_remote) && cli_interrupt_arrives();
}

void cli_interrupt_set(int signal_number)
{
    caught = signal_number;
}

bool cli_interrupt_deadline_passed(void)
{
    return seconds_left_for_files() <= 0 && cli_interrupted();
}

void cli_interrupt_report(uint64_t done, uint64_t of, const char *units, FILE *fp)
{
    fprintf(fp, "%-14safter %" PRIu64, "interrupted", done);
    if (of)
        fprintf(fp, " of %" PRIu64, of);
    fprintf(fp, " %s\n", units);
    fflush(fp); /* the deadline may end the command before it exits */
}

int cli_interrupt_status(int otherwise)
{
    return caught ? 128 + caught : otherwise;
}
