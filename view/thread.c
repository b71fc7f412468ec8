/* thread.c - the server's thread: it serves viewers, or, for a recording alone, waits for data to
 * record.
 * SPDX-License-Identifier: MIT
 */
#include "view/window.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE = 10 };

static void record_run(struct view *v, struct latest *latest)
{
    while (!latest->closing) {
        while (sem_wait(&v->wake) != 0)
            ;
        latest_update(latest, v);
    }
}

static void *thread_work(void *arg)
{
    struct view *v = arg;
    struct latest latest = {0};
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE); /* of this thread, on Linux */
    if (v->server)
        server_run(v->server, &latest);
    else
        record_run(v, &latest);
    latest_update(&latest, v); /* data that came with the order to close */
    if (v->recording && latest.ending) {
        char *text = end_text(latest.ending);
        recording_text(v->recording, text);
        free(text);
    }
    latest_free(&latest);
    return NULL;
}

/* Signals are delivered to the run's threads. */
int thread_start(struct view *v)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&v->thread, NULL, thread_work, v);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    v->started = error == 0;
    return error ? clerror_set(error, "view_open: no thread: %s", strerror(error)) : 0;
}

void thread_wake(struct view *v)
{
    if (v->server)
        server_wake(v->server);
    else
        sem_post(&v->wake);
}

void thread_join(struct view *v)
{
    pthread_mutex_lock(&v->lock);
    v->closing = true;
    pthread_mutex_unlock(&v->lock);
    thread_wake(v);
    if (v->started)
        pthread_join(v->thread, NULL);
    v->started = false;
}
