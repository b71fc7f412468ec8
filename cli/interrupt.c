/* interrupt.c - the first Ctrl-C lets the program finish what it is doing.
 *
 * The first SIGINT or SIGTERM only sets a flag that commands look at between bursts, so that what was
 * computed so far is saved. The second one, and the first SIGQUIT, end the program at once, as they would have
 * without us, but not before the files that are half-written are removed.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include "core/outfile.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static bool on_terminal;

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
    } else {
        caught = signal_number;
        promise();
    }
}

/* LLVM, in drivers that compile with it, takes SIGQUIT for a crash of its own when it first compiles, and
 * swallows it. */
static void take_back_quit(void)
{
    struct sigaction now;
    if (sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_handler != SIG_IGN && now.sa_handler != end_at_once)
        signal(SIGQUIT, end_at_once);
}

void cli_interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, old;
    static const int signals[] = {SIGINT, SIGTERM};
    on_terminal = isatty(STDERR_FILENO);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* as under nohup */
            sigaction(signals[i], &action, NULL);
}

bool cli_interrupted(void)
{
    take_back_quit();
    return caught != 0;
}

int cli_interrupt_status(int otherwise)
{
    return caught ? 128 + caught : otherwise;
}
