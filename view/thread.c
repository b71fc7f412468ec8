/* thread.c - the server's thread: it serves viewers, or, when only a recording is made, waits for
 * what there is to record.
 * SPDX-License-Identifier: MIT
 */
#include "view/internal.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE = 10 };

static void record_run(struct view *v, struct stage *stage)
{
    while (!stage->closing) {
        while (sem_wait(&v->waked) != 0)
            ;
        stage_take(stage, v);
    }
}

static void *work(void *arg)
{
    struct view *v = arg;
    struct stage stage = {0};
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE); /* of this thread, on Linux */
    if (v->server)
        server_run(v->server, &stage);
    else
        record_run(v, &stage);
    stage_take(&stage, v); /* what came with the order to close */
    if (v->recording && stage.ending) {
        char *text = end_text(stage.ending);
        recording_text(v->recording, text);
        free(text);
    }
    stage_free(&stage);
    return NULL;
}

/* Signals are for the run's threads. */
int thread_start(struct view *v)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&v->thread, NULL, work, v);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    v->started = error == 0;
    return error ? clerror_set(error, "view_open: no thread: %s", strerror(error)) : 0;
}

void thread_wake(struct view *v)
{
    if (v->server)
        server_wake(v->server);
    else
        sem_post(&v->waked);
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
