/* interrupt.c - the first Ctrl-C lets the program finish what it is doing, if that does not take
 * long.
 *
 * The first SIGINT, SIGTERM, SIGHUP or SIGUSR2, which mpirun passes on, only sets a flag that
 * commands look at between pieces of work, so that what was computed so far is saved. A command
 * that does not look within PATIENCE seconds, because a compiler or a large file keeps it busy, is
 * ended at once; so is one that gets a second signal, or SIGQUIT. Each ends as it would have
 * without us, but not before the files that are half-written are removed. Who presses Ctrl-C waits:
 * files that are not written by then are given up. Of several ranks all hear of a signal that one
 * gets; none of them is ended for being busy then, since the others may wait for it.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include "core/outfile.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const struct itimerspec PATIENCE = {.it_value = {.tv_sec = 1, .tv_nsec = 800000000}},
                               NONE = {.it_value = {0}};

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR2};

static const double FOR_FILES = 1.7; /* seconds, a little less than PATIENCE */

static volatile sig_atomic_t caught, noticed;
static struct timespec caught_at;
static sigset_t ignored; /* when the program began: they stay so, as SIGHUP under nohup */
static bool on_terminal, impatient;
static timer_t timer;

/* Only calls that POSIX allows in a handler; whether the text arrives does not matter. */
static void promise(void)
{
    static const char text[] = "\nending after the work at hand; Ctrl-C again ends at once\n";
    if (on_terminal && write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return;
}

static void end_at_once(int signal_number)
{
    outfile_unlink_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* delivered when this handler returns */
}

static void note_signal(int signal_number)
{
    if (caught) {
        end_at_once(signal_number);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &caught_at);
    caught = signal_number;
    world_notify(cli_world, signal_number);
    if (impatient)
        timer_settime(timer, 0, &PATIENCE, NULL);
    promise();
}

static void lose_patience(int signal_number)
{
    (void)signal_number;
    if (caught && !noticed && world_size(cli_world) == 1)
        end_at_once(caught);
}

static void mask_quit(int how)
{
    sigset_t quit;
    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    pthread_sigmask(how, &quit, NULL);
}

static void keep_ignored(int signal_number)
{
    struct sigaction now;
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
        sigaddset(&ignored, signal_number);
}

void cli_interrupt_begin(void)
{
    sigemptyset(&ignored);
    keep_ignored(SIGQUIT);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        keep_ignored(signals[i]);
}

void cli_interrupt_hold_quit(void)
{
    mask_quit(SIG_BLOCK);
}

void cli_interrupt_keep_quit(void)
{
    struct sigaction now;
    void (*const ours)(int) = sigismember(&ignored, SIGQUIT) ? SIG_IGN : end_at_once;
    if (sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_handler != ours)
        signal(SIGQUIT, ours);
    mask_quit(SIG_UNBLOCK);
}

/* A handler for a signal, unless it was ignored. LLVM, which drivers compile with, has taken those
 * that were, too. */
static void handle(int signal_number, void (*handler)(int))
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
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        handle(signals[i], note_signal);
}

/* Batch systems send other signals, and nobody waits then; and ranks end together. */
static double left_for_files(void)
{
    struct timespec now;
    if (caught != SIGINT || world_size(cli_world) > 1)
        return INFINITY;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return FOR_FILES - (double)(now.tv_sec - caught_at.tv_sec) -
           1e-9 * (double)(now.tv_nsec - caught_at.tv_nsec);
}

/* The timer's handler comes last: where it is seen, as by tests/world.sh, the others are ours and
 * no compiler's. */
void cli_interrupt_catch(void)
{
    struct sigevent expiry = {.sigev_notify = SIGEV_SIGNAL,
                              .sigev_signo = SIGVTALRM}; /* which nobody else sends */
    catch_signals();
    outfile_limit(left_for_files);
    if (impatient || timer_create(CLOCK_MONOTONIC, &expiry, &timer) != 0)
        return;
    handle(SIGVTALRM, lose_patience);
    impatient = true;
    if (caught && !noticed)
        timer_settime(timer, 0, &PATIENCE, NULL);
}

void cli_interrupt_catch_patiently(void)
{
    catch_signals();
}

bool cli_interrupted(void)
{
    cli_interrupt_keep_quit();
    if (!caught)
        caught = world_notified(cli_world);
    if (caught && !noticed) {
        noticed = 1;
        if (impatient)
            timer_settime(timer, 0, &NONE, NULL);
    }
    return caught != 0;
}

/* The thread that got the signal removes LLVM's files first and passes it on to us then: it is
 * waited for a little, and longer where another rank may have got it. */
bool cli_interrupt_follows(void)
{
    const struct timespec a_little = {.tv_nsec = 100000000};
    for (int left = world_size(cli_world) > 1 ? 20 : 3; left > 0 && !cli_interrupted(); left--)
        nanosleep(&a_little, NULL);
    return cli_interrupted();
}

bool cli_interrupt_broke_build(void)
{
    const bool of_another = clerrno == ENOEXEC && world_size(cli_world) > 1;
    return (oclerrno == CL_BUILD_PROGRAM_FAILURE || of_another) && cli_interrupt_follows();
}

void cli_interrupt_take(int signal_number)
{
    caught = signal_number;
}

bool cli_interrupt_is_over(void)
{
    return left_for_files() <= 0 && cli_interrupted();
}

void cli_interrupt_report(uint64_t done, uint64_t of, const char *units, FILE *fp)
{
    fprintf(fp, "%-14safter %" PRIu64, "interrupted", done);
    if (of)
        fprintf(fp, " of %" PRIu64, of);
    fprintf(fp, " %s\n", units);
}

int cli_interrupt_status(int otherwise)
{
    return caught ? 128 + caught : otherwise;
}
