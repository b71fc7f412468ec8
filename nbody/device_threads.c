/* device_threads.c - a thread for each further GPU that has a part of a tree.
 *
 * A sum takes some eighty launches on each device, and most kernels take no longer than it takes to
 * start one. One thread that starts all of them, device after device, would keep the last device
 * waiting for the time of all launches of those before.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "core/parallel_for.h"

#include <pthread.h>

struct hand {
    struct device_threads *all;
    struct nbody_device *share;
    pthread_t thread;
    int status, code;
    char text[512]; /* what went wrong, since errors are a thread's own */
};

struct device_threads {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    struct nbody *nb;
    start_on start;
    cl_uint arg;
    size_t call, left, n; /* calls so far; hands that are still at work; of so many */
    bool end;
    struct hand hand[];
};

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
    struct device_threads *all = h->all;
    size_t seen = 0;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (all->call == seen && !all->end)
            pthread_cond_wait(&all->begun, &all->lock);
        if (all->end)
            break;
        seen = all->call;
        pthread_mutex_unlock(&all->lock);
        do_it(h);
        pthread_mutex_lock(&all->lock);
        if (--all->left == 0)
            pthread_cond_signal(&all->done);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* Whether a device is worth a thread. On CPUs kernels take longer than launches, and PoCL 3.1 may
 * end a program in which two threads launch the same kernel for the first time. */
static bool is_gpu(const struct nbody *nb, const struct nbody_device *p)
{
    cl_device_type type = 0;
    return clGetDeviceInfo(clgetdevice(nb->ctx, p->dev), CL_DEVICE_TYPE, sizeof type, &type,
                           NULL) == CL_SUCCESS &&
           type & CL_DEVICE_TYPE_GPU;
}

/* Fewer where there are no more threads, or processors: their devices are the caller's then. */
int nbody_device_threads_open(struct nbody *nb)
{
    struct device_threads *all = calloc(1, sizeof *all + nb->ndev * sizeof *all->hand);
    if (!all)
        return clerror_set(ENOMEM, "nbody_create: no memory on the host");
    all->nb = nb;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->begun, NULL);
    pthread_cond_init(&all->done, NULL);
    nb->domains->hands = all;
    struct nbody_device *const first = nbody_domain_next(nb, nb->device);
    const size_t at_once = parallel_for_threads(nb->ndev);
    for (struct nbody_device *p = nb->device + nb->ndev; p-- > first + 1 && all->n + 1 < at_once;) {
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

void nbody_device_threads_free(struct nbody *nb)
{
    struct device_threads *all = nb->domains->hands;
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->end = true;
    pthread_cond_broadcast(&all->begun);
    pthread_mutex_unlock(&all->lock);
    for (size_t k = 0; k < all->n; k++)
        pthread_join(all->hand[k].thread, NULL);
    pthread_cond_destroy(&all->done);
    pthread_cond_destroy(&all->begun);
    pthread_mutex_destroy(&all->lock);
    free(all);
    nb->domains->hands = NULL;
}

static bool has_hand(const struct device_threads *all, const struct nbody_device *p)
{
    bool any = false;
    for (size_t k = 0; k < all->n; k++)
        any |= all->hand[k].share == p;
    return any;
}

int nbody_device_threads_all(struct nbody *nb, start_on start, cl_uint arg)
{
    struct device_threads *all = nb->domains->hands;
    int status = 0;
    pthread_mutex_lock(&all->lock);
    all->start = start;
    all->arg = arg;
    all->left = all->n;
    all->call++;
    pthread_cond_broadcast(&all->begun);
    pthread_mutex_unlock(&all->lock);
    EACH_PART(nb, p)
    if (!has_hand(all, p) && start(nb, p, arg) != 0)
        status = -1;
    pthread_mutex_lock(&all->lock);
    while (all->left > 0)
        pthread_cond_wait(&all->done, &all->lock);
    pthread_mutex_unlock(&all->lock);
    for (size_t k = 0; status == 0 && k < all->n; k++)
        if (all->hand[k].status != 0)
            status = clerror_set(all->hand[k].code, "%s", all->hand[k].text);
    return status;
}
