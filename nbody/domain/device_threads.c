/* device_threads.c - one launcher thread per further GPU that owns a domain.
 *
 * A sum takes some eighty launches per device, and most kernels run no longer than a launch takes.
 * With one launching thread, the last device would idle while the launches of all others are
 * enqueued.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/parallel_for.h"

#include <pthread.h>

struct launcher {
    struct device_threads *all;
    struct nbody_device *device;
    pthread_t thread;
    int status, code;
    char text[512]; /* error message: clerror() is thread-local */
};

struct device_threads {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    struct nbody *nb;
    launch_fn launch;
    cl_uint arg;
    size_t generation, left, n; /* calls so far; launchers still running; all launchers */
    bool ending;
    struct launcher launcher[];
};

static void launcher_run(struct launcher *h)
{
    h->status = h->all->launch(h->all->nb, h->device, h->all->arg);
    h->code = h->status == 0 ? 0 : clerrno;
    if (h->status != 0)
        snprintf(h->text, sizeof h->text, "%s", clerror());
}

static void *launcher_main(void *launcher)
{
    struct launcher *h = launcher;
    struct device_threads *all = h->all;
    size_t seen = 0;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (all->generation == seen && !all->ending)
            pthread_cond_wait(&all->begun, &all->lock);
        if (all->ending)
            break;
        seen = all->generation;
        pthread_mutex_unlock(&all->lock);
        launcher_run(h);
        pthread_mutex_lock(&all->lock);
        if (--all->left == 0)
            pthread_cond_signal(&all->done);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* True if a launcher thread pays off. On CPUs kernels take longer than launches, and PoCL 3.1 may
 * crash if two threads launch the same kernel for the first time. */
static bool launcher_is_worthwhile(const struct nbody *nb, const struct nbody_device *p)
{
    cl_device_type type = 0;
    return clGetDeviceInfo(clgetdevice(nb->ctx, p->dev), CL_DEVICE_TYPE, sizeof type, &type,
                           NULL) == CL_SUCCESS &&
           type & CL_DEVICE_TYPE_GPU;
}

/* Start fewer launchers if threads or processors run short; the caller then serves their devices.
 */
int nbody_device_threads_open(struct nbody *nb)
{
    struct device_threads *all = calloc(1, sizeof *all + nb->ndev * sizeof *all->launcher);
    if (!all)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    all->nb = nb;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->begun, NULL);
    pthread_cond_init(&all->done, NULL);
    nb->domain.tree->threads = all;
    struct nbody_device *const first = nbody_tree_next(nb, nb->device);
    const size_t at_once = parallel_for_threads(nb->ndev);
    for (struct nbody_device *p = nb->device + nb->ndev; p-- > first + 1 && all->n + 1 < at_once;) {
        struct launcher *h = &all->launcher[all->n];
        if (!p->force.tree || !launcher_is_worthwhile(nb, p))
            continue;
        *h = (struct launcher){.all = all, .device = p};
        if (pthread_create(&h->thread, NULL, launcher_main, h) != 0)
            break;
        all->n++;
    }
    return 0;
}

void nbody_device_threads_free(struct nbody *nb)
{
    struct device_threads *all = nb->domain.tree->threads;
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_cond_broadcast(&all->begun);
    pthread_mutex_unlock(&all->lock);
    for (size_t k = 0; k < all->n; k++)
        pthread_join(all->launcher[k].thread, NULL);
    pthread_cond_destroy(&all->done);
    pthread_cond_destroy(&all->begun);
    pthread_mutex_destroy(&all->lock);
    free(all);
    nb->domain.tree->threads = NULL;
}

static bool has_launcher(const struct device_threads *all, const struct nbody_device *p)
{
    bool any = false;
    for (size_t k = 0; k < all->n; k++)
        any |= all->launcher[k].device == p;
    return any;
}

int nbody_device_threads_all(struct nbody *nb, launch_fn launch, cl_uint arg)
{
    struct device_threads *all = nb->domain.tree->threads;
    int status = 0;
    pthread_mutex_lock(&all->lock);
    all->launch = launch;
    all->arg = arg;
    all->left = all->n;
    all->generation++;
    pthread_cond_broadcast(&all->begun);
    pthread_mutex_unlock(&all->lock);
    EACH_TREE(nb, p)
    if (!has_launcher(all, p) && launch(nb, p, arg) != 0)
        status = -1;
    pthread_mutex_lock(&all->lock);
    while (all->left > 0)
        pthread_cond_wait(&all->done, &all->lock);
    pthread_mutex_unlock(&all->lock);
    for (size_t k = 0; status == 0 && k < all->n; k++)
        if (all->launcher[k].status != 0)
            status = clerror_set(all->launcher[k].code, "%s", all->launcher[k].text);
    return status;
}
