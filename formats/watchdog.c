/* watchdog.c - see watchdog.h.
 *
 * Processor time counts, so that a slow disk or a busy machine is no reason to give up.
 * SPDX-License-Identifier: MIT
 */
#include "formats/watchdog.h"

#include "core/clock.h"
#include "stdcl.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 50000000 }; /* between two looks at the thread's clock */

struct watchdog {
    int (*work)(struct watchdog *w, void *arg);
    void *arg;
    atomic_ullong allowed; /* ns of processor time */
    pthread_mutex_t lock;  /* guards the members below */
    pthread_cond_t ended;
    bool done;
    int status, code;
    char *message; /* of the thread's clerror(), which belongs to the thread */
};

void watchdog_allow(struct watchdog *w, double seconds)
{
    atomic_fetch_add(&w->allowed, (unsigned long long)(1e9 * seconds));
}

static void *watchdog_work(void *arg)
{
    struct watchdog *w = arg;
    const int status = w->work(w, w->arg);
    pthread_mutex_lock(&w->lock);
    w->status = status;
    w->code = clerrno;
    w->message = status < 0 ? strdup(clerror()) : NULL;
    w->done = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Block until the work is done, or has used its time. */
static bool watchdog_wait(struct watchdog *w, pthread_t thread)
{
    clockid_t clock;
    const bool timed = pthread_getcpuclockid(thread, &clock) == 0;
    pthread_mutex_lock(&w->lock);
    while (!w->done && !(timed && ns_of_clock(clock) > atomic_load(&w->allowed))) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->ended, &w->lock, &until);
    }
    const bool done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

static int watchdog_result(struct watchdog *w)
{
    const int status = w->status;
    if (status < 0)
        clerror_set(w->code, "%s", w->message ? w->message : "out of memory for a message");
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    free(w->message);
    free(w);
    return status;
}

int watchdog_run(int (*work)(struct watchdog *w, void *arg), void *arg, double seconds)
{
    pthread_t thread;
    struct watchdog *w = calloc(1, sizeof *w);
    if (!w)
        return clerror_set(ENOMEM, "out of memory for a thread");
    w->work = work;
    w->arg = arg;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    watchdog_allow(w, seconds);
    if (pthread_create(&thread, NULL, watchdog_work, w) != 0) {
        watchdog_work(w);
        return watchdog_result(w);
    }
    if (watchdog_wait(w, thread)) {
        pthread_join(thread, NULL);
        return watchdog_result(w);
    }
    pthread_detach(thread);
    return 1;
}
