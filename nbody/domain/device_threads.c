/* device_threads.c - launches on all of a rank's GPUs at the same time.
 *
 * A sum takes some eighty launches per device, and most kernels run no longer than a launch takes.
 * With one launching thread, the last device would idle while the launches of all others are
 * enqueued.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/thread_pool.h"

struct device_threads {
    struct thread_pool *pool; /* NULL: the caller serves all devices */
    struct nbody *nb;
    launch_fn launch;
    size_t n, gpus; /* devices that own a domain; GPUs, which come first in each[] */
    struct device_launch {
        struct nbody_device *device;
        int status, code;
        char text[512]; /* error message: clerror() is thread-local */
    } each[];
};

/* True for a GPU: a thread of its own pays off. On CPUs kernels take longer than launches, and
 * PoCL 3.1 may crash if two threads launch the same kernel for the first time. */
static bool launcher_is_worthwhile(const struct nbody *nb, const struct nbody_device *p)
{
    cl_device_type type = 0;
    return clGetDeviceInfo(clgetdevice(nb->ctx, p->dev), CL_DEVICE_TYPE, sizeof type, &type,
                           NULL) == CL_SUCCESS &&
           type & CL_DEVICE_TYPE_GPU;
}

int nbody_device_threads_open(struct nbody *nb)
{
    struct device_threads *all = calloc(1, sizeof *all + nb->ndev * sizeof *all->each);
    if (!all)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    all->nb = nb;
    nb->domain.tree->threads = all;
    EACH_TREE(nb, p)
    if (launcher_is_worthwhile(nb, p))
        all->each[all->n++].device = p;
    all->gpus = all->n;
    EACH_TREE(nb, p)
    if (!launcher_is_worthwhile(nb, p))
        all->each[all->n++].device = p;
    if (all->gpus > 1)
        all->pool = thread_pool_create(all->gpus);
    return 0;
}

void nbody_device_threads_free(struct nbody *nb)
{
    struct device_threads *all = nb->domain.tree->threads;
    thread_pool_free(all ? all->pool : NULL);
    free(all);
    nb->domain.tree->threads = NULL;
}

static void device_launch_run(void *threads, size_t k)
{
    struct device_threads *all = threads;
    struct device_launch *d = &all->each[k];
    d->status = all->launch(all->nb, d->device);
    if (d->status == 0)
        return;
    d->code = clerrno;
    snprintf(d->text, sizeof d->text, "%s", clerror());
}

int nbody_device_threads_all(struct nbody *nb, launch_fn launch)
{
    struct device_threads *all = nb->domain.tree->threads;
    all->launch = launch;
    if (all->pool)
        thread_pool_for(all->pool, all->gpus, true, device_launch_run, all);
    for (size_t k = all->pool ? all->gpus : 0; k < all->n; k++)
        device_launch_run(all, k);
    for (size_t k = 0; k < all->n; k++)
        if (all->each[k].status != 0)
            return clerror_set(all->each[k].code, "%s", all->each[k].text);
    return 0;
}
