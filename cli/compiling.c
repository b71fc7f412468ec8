/* compiling.c - a line on the terminal while kernels are compiled.
 *
 * The core says when a program is compiled that no cache holds. A thread then waits half a second
 * and draws the line, unless work was done in the meantime. Drivers for CPUs compile a kernel once
 * more when it is launched, so the line stays until the first progress. A driver that has a cache
 * of its own builds in no time: then no line is drawn.
 * SPDX-License-Identifier: MIT
 */
#include "compiling.h"
#include "progress.h"

#include "core/clock.h"
#include "core/observer.h"

#include <pthread.h>
#include <time.h>

static const double PATIENT_SECONDS = 0.5;   /* from the first compilation to the line */
static const double COMPILED_SECONDS = 0.15; /* of compilers at work: less is a driver's cache */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool watched, started, shown;
    unsigned running;      /* compilers at work */
    double since, seconds; /* when they began; time of finished ones since the watch began */
} compiling = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static double compiled_seconds(void)
{
    return compiling.seconds + (compiling.running ? seconds_now() - compiling.since : 0);
}

static void wait_for_end(double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * seconds);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&compiling.changed, &compiling.lock, &until);
}

static void *draw_when_slow(void *unused)
{
    (void)unused;
    const double begun = seconds_now();
    pthread_mutex_lock(&compiling.lock);
    while (compiling.watched &&
           (seconds_now() - begun < PATIENT_SECONDS || compiled_seconds() < COMPILED_SECONDS))
        wait_for_end(0.1);
    if (compiling.watched) {
        compiling.shown = true;
        cli_line_draw("compiling kernels, first run only");
    }
    pthread_mutex_unlock(&compiling.lock);
    return NULL;
}

/* The core calls it in the thread that compiles. */
static void note_compilation(bool begins)
{
    pthread_mutex_lock(&compiling.lock);
    if (!begins && --compiling.running == 0)
        compiling.seconds += seconds_now() - compiling.since;
    if (begins && compiling.running++ == 0)
        compiling.since = seconds_now();
    if (compiling.watched && !compiling.started)
        compiling.started = pthread_create(&compiling.thread, NULL, draw_when_slow, NULL) == 0;
    pthread_mutex_unlock(&compiling.lock);
}

void cli_compiling_watch(void)
{
    pthread_mutex_lock(&compiling.lock);
    core_compiles = note_compilation;
    compiling.seconds = compiling.watched ? compiling.seconds : 0;
    compiling.watched = true;
    pthread_mutex_unlock(&compiling.lock);
}

bool cli_compiling_shown(void)
{
    pthread_mutex_lock(&compiling.lock);
    const bool shown = compiling.shown;
    pthread_mutex_unlock(&compiling.lock);
    return shown;
}

bool cli_compiling_end(void)
{
    pthread_mutex_lock(&compiling.lock);
    const bool started = compiling.started, watched = compiling.watched;
    const pthread_t thread = compiling.thread;
    if (compiling.shown)
        cli_line_wipe();
    compiling.watched = compiling.started = compiling.shown = false;
    pthread_cond_signal(&compiling.changed);
    pthread_mutex_unlock(&compiling.lock);
    if (started)
        pthread_join(thread, NULL);
    return watched;
}
