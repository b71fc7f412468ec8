/* hands.c - a thread for each further GPU that has a part of a tree.
 *
 * A sum takes some eighty launches on each device, and most kernels take no longer than it takes to start one. One thread that starts all
 * of them, device after device, would keep the last device waiting for the time of all launches of those before. To wake a thread that
 * sleeps takes as long as some ten launches, so hands stay awake for a while: in a sum the next call comes soon.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "core/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct hand {
    struct hands *all;
    struct share *share;
    pthread_t thread;
    int status, code;
    char text[512]; /* what went wrong, since errors are a thread's own */
};

struct hands {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    struct nbody *nb;
    int (*start)(struct nbody *nb, struct share *p, cl_uint arg);
    cl_uint arg;
    atomic_size_t call, left; /* calls so far; hands that are still at work */
    size_t n;                 /* of so many */
    atomic_bool end;
    struct hand hand[];
};

/* How long a thread looks for what it waits for before it sleeps: longer than all that a device does between two calls of a sum but the
 * walks. */
static const double AWAKE = 2e-3;

/* Looks for another call than `seen`, or the end, and then sleeps until there is one. */
static void await_call(struct hands *all, size_t seen)
{
    const double end = seconds_now() + AWAKE;
    while (atomic_load(&all->call) == seen && !atomic_load(&all->end) && seconds_now() < end)
        sched_yield();
    pthread_mutex_lock(&all->lock);
    while (atomic_load(&all->call) == seen && !atomic_load(&all->end))
        pthread_cond_wait(&all->begun, &all->lock);
    pthread_mutex_unlock(&all->lock);
}

static void await_hands(struct hands *all)
{
    const double end = seconds_now() + AWAKE;
    while (atomic_load(&all->left) > 0 && seconds_now() < end)
        sched_yield();
    pthread_mutex_lock(&all->lock);
    while (atomic_load(&all->left) > 0)
        pthread_cond_wait(&all->done, &all->lock);
    pthread_mutex_unlock(&all->lock);
}

static void do_it(struct hand *h)
{
    h->status = h->all->start(h->all->nb, h->share, h->all->arg);
    h->code = h->status == 0 ? 0 : clerrno;
    if (h->status != 0)
        snprintf(h->text, sizeof h->text, "%s", clerror());
}

static void *work(void *hand)
{
    struct hand *h = hand;
    struct hands *all = h->all;
    size_t seen = 0;
    for (;;) {
        await_call(all, seen);
        if (atomic_load(&all->end))
            return NULL;
        seen = atomic_load(&all->call);
        do_it(h);
        pthread_mutex_lock(&all->lock);
        if (atomic_fetch_sub(&all->left, 1) == 1)
            pthread_cond_signal(&all->done);
        pthread_mutex_unlock(&all->lock);
    }
}

/* Whether a device is worth a thread. On CPUs kernels take longer than launches, and PoCL 3.1 may end a program in which two threads
 * launch the same kernel for the first time. */
static bool is_gpu(const struct nbody *nb, const struct share *p)
{
    cl_device_type type = 0;
    return clGetDeviceInfo(clgetdevice(nb->ctx, p->dev), CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS && type & CL_DEVICE_TYPE_GPU;
}

/* Fewer where there are no more threads: their devices are the caller's then. */
int nbody_hands_open(struct nbody *nb)
{
    struct hands *all = calloc(1, sizeof *all + nb->ndev * sizeof *all->hand);
    if (!all)
        return clerror_set(ENOMEM, "nbody_create: no memory on the host");
    all->nb = nb;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->begun, NULL);
    pthread_cond_init(&all->done, NULL);
    nb->parts->hands = all;
    struct share *const first = nbody_parts_next(nb, nb->share);
    for (struct share *p = nb->share + nb->ndev; p-- > first + 1;) {
        struct hand *h = &all->hand[all->n];
        if (!p->tree || !is_gpu(nb, p))
            continue;
        *h = (struct hand){.all = all, .share = p};
        if (pthread_create(&h->thread, NULL, work, h) != 0)
            break;
        all->n++;
    }
    return 0;
}

void nbody_hands_free(struct nbody *nb)
{
    struct hands *all = nb->parts->hands;
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    atomic_store(&all->end, true);
    pthread_cond_broadcast(&all->begun);
    pthread_mutex_unlock(&all->lock);
    for (size_t k = 0; k < all->n; k++)
        pthread_join(all->hand[k].thread, NULL);
    pthread_cond_destroy(&all->done);
    pthread_cond_destroy(&all->begun);
    pthread_mutex_destroy(&all->lock);
    free(all);
    nb->parts->hands = NULL;
}

static bool has_hand(const struct hands *all, const struct share *p)
{
    bool any = false;
    for (size_t k = 0; k < all->n; k++)
        any |= all->hand[k].share == p;
    return any;
}

int nbody_hands_all(struct nbody *nb, int (*start)(struct nbody *nb, struct share *p, cl_uint arg), cl_uint arg)
{
    struct hands *all = nb->parts->hands;
    int status = 0;
    pthread_mutex_lock(&all->lock);
    all->start = start;
    all->arg = arg;
    atomic_store(&all->left, all->n);
    atomic_fetch_add(&all->call, 1);
    pthread_cond_broadcast(&all->begun);
    pthread_mutex_unlock(&all->lock);
    EACH_PART (nb, p)
        if (!has_hand(all, p) && start(nb, p, arg) != 0)
            status = -1;
    await_hands(all);
    for (size_t k = 0; status == 0 && k < all->n; k++)
        if (all->hand[k].status != 0)
            status = clerror_set(all->hand[k].code, "%s", all->hand[k].text);
    return status;
}
