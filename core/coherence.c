/* coherence.c - coherence between the devices' images of a block.
 *
 * In the historic interface all devices of a context shared one buffer. A device that uses a block
 * therefore gets the newest image of another device, copied through host memory; the host's own
 * image stays unchanged. A program that copies a block to several devices itself, by clmsync or
 * clmsyncn, manages its images: nothing is copied for it. The first of the two decides:
 *
 *   UNDECIDED    at most one device has an image
 *   COHERENT     a device used a block of which another device had the newest image
 *   PER_DEVICE   the program copied the block, or a part, to a device while another device had an
 *                image or a part; always with CL_MEM_PER_DEVICE, CL_MEM_ZEROCOPY and CL_MEM_DEVONLY
 * SPDX-License-Identifier: MIT
 */
#include "core/recording.h"

/* A device other than `dev` with a current image; m->cp->ndev if there is none. */
static cl_uint holder(const struct memory *m, cl_uint dev)
{
    cl_uint i = 0;
    while (i < m->cp->ndev && (i == dev || !memory_is_current(m, i)))
        i++;
    return i;
}

/* Copy between `host` and a device's whole image; blocks. */
static int image_copy(struct memory *m, cl_uint dev, char *host, bool to_device, const char *call)
{
    struct device *d = &m->cp->dev[dev];
    const struct command c = {.cp = m->cp,
                              .dev = dev,
                              .kind = to_device ? HOST_TO_DEVICE : DEVICE_TO_HOST,
                              .size = (double)m->size};
    struct command_record note = {0};
    cl_event ev = NULL;
    cl_mem buffer = memory_buffer(m, dev, 0, call);
    if (!buffer)
        return -1;
    const cl_int err =
        memory_enqueue(queue_for(&c, &note, 0), m, buffer, 0, m->size, host, to_device, &ev);
    if (err != CL_SUCCESS)
        return fail(errno_of(err), err, "%s: %zu bytes %s %s, for a block that several devices use",
                    call, m->size, to_device ? "to" : "from", d->name);
    command_started(&c, &note, ev);
    return event_finish(d, MEMORY_EVENT, ev, note, CL_EVENT_WAIT, call) == CL_FAILED ? -1 : 0;
}

/* Call with m->migrating held. */
static int bring_from(struct memory *m, cl_uint from, cl_uint dev, const char *call)
{
    char *stage = memory_staging(m, &m->cp->dev[from]);
    if (!stage)
        return fail(ENOMEM, 0, "%s: no %zu bytes to move a block from one device to another", call,
                    m->size);
    if (image_copy(m, from, stage, false, call) != 0 || image_copy(m, dev, stage, true, call) != 0)
        return -1;
    return 0;
}

/* A device has the newest data of its image from now on. */
static void became_current(struct memory *m, cl_uint dev)
{
    atomic_store(&m->from_host[dev], false);
    atomic_store(&m->holds_data[dev], true);
    atomic_store(&m->device_current[dev], true);
}

void memory_forget_copies(struct memory *m, cl_uint dev)
{
    atomic_store(&m->is_copy[dev], false);
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        if (i != dev && atomic_exchange(&m->is_copy[i], false)) {
            atomic_store(&m->holds_data[i], false);
            atomic_store(&m->device_current[i], false);
        }
}

void memory_mark_kernel_use(struct memory *m, cl_uint dev, bool writes)
{
    if (writes) {
        memory_forget_copies(m, dev);
        atomic_store_explicit(&m->last_writer, (int)dev, memory_order_relaxed);
    }
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        atomic_store_explicit(&m->device_current[i], i == dev, memory_order_relaxed);
    atomic_store_explicit(&m->holds_data[dev], true, memory_order_relaxed);
    atomic_store_explicit(&m->host_current, false, memory_order_relaxed);
    atomic_store_explicit(&m->last_device, (int)dev, memory_order_relaxed);
}

int memory_migrate(struct memory *m, cl_uint dev, const char *call)
{
    const bool apart = atomic_load(&m->coherence) == PER_DEVICE;
    int status = 0;
    if (m->size == 0 || (apart && !atomic_load(&m->from_host[dev])))
        return 0;
    pthread_mutex_lock(&m->migrating);
    const cl_uint from = apart ? m->cp->ndev : holder(m, dev);
    const bool first = atomic_load(&m->from_host[dev]);
    if (from < m->cp->ndev) {
        status = bring_from(m, from, dev, call);
        if (status == 0)
            atomic_store(&m->coherence, COHERENT);
    } else if (first && !memory_is_zero_copy(m, &m->cp->dev[dev])) {
        if (m->svm.context)
            status = svm_map(m, call);
        if (status == 0)
            status = image_copy(m, dev, m->base, true, call);
    }
    if (status == 0 && (from < m->cp->ndev || first))
        became_current(m, dev);
    pthread_mutex_unlock(&m->migrating);
    return status;
}

int memory_mark_dirty(struct memory *m, cl_uint dev, bool whole, const char *call)
{
    enum coherence undecided = UNDECIDED;
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        if (i != dev && (memory_is_current(m, i) || atomic_load(&m->program_wrote[i])))
            atomic_compare_exchange_strong(&m->coherence, &undecided, PER_DEVICE);
    memory_forget_copies(m, dev);
    atomic_store(&m->program_wrote[dev], true);
    atomic_store(&m->holds_data[dev], true);
    if (whole || memory_is_current(m, dev))
        return 0;
    return memory_migrate(m, dev, call);
}

void memory_marked_dirty(struct memory *m, cl_uint dev)
{
    const bool as_one = atomic_load(&m->coherence) == COHERENT;
    for (cl_uint i = 0; as_one && i < m->cp->ndev; i++)
        atomic_store(&m->device_current[i], false);
    became_current(m, dev);
}

/* ---- Reading: the image must hold data. ---- */

/* Number of devices whose images hold data of their own. */
static cl_uint count_holders(const struct memory *m)
{
    cl_uint count = 0;
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        count += atomic_load(&m->holds_data[i]) && !atomic_load(&m->is_copy[i]);
    return count;
}

/* Copy the image of the only device that holds data. The images stay separate. */
static int copy_only_image(struct memory *m, cl_uint from, cl_uint dev, const char *call)
{
    pthread_mutex_lock(&m->migrating);
    const bool holds = atomic_load(&m->holds_data[dev]);
    const int status = holds ? 0 : bring_from(m, from, dev, call);
    if (status == 0 && !holds) {
        became_current(m, dev);
        atomic_store(&m->is_copy[dev], true);
    }
    pthread_mutex_unlock(&m->migrating);
    return status;
}

/* Devices share the only image of a zero-copy block: block until the last writer is done. */
static void wait_for_writer(struct memory *m, cl_uint dev)
{
    const int writer = atomic_load_explicit(&m->last_writer, memory_order_relaxed);
    if (writer >= 0 && (cl_uint)writer != dev && memory_is_zero_copy(m, &m->cp->dev[writer]))
        device_drain(&m->cp->dev[writer]);
}

int memory_require(struct memory *m, cl_uint dev, const char *call)
{
    const struct device *d = &m->cp->dev[dev];
    if (memory_is_zero_copy(m, d))
        wait_for_writer(m, dev);
    if (m->size == 0 || memory_is_zero_copy(m, d) || memory_is_current(m, dev))
        return 0;
    if (memory_migrate(m, dev, call) != 0)
        return -1;
    if (atomic_load(&m->holds_data[dev]))
        return 0;
    const cl_uint from = holder(m, dev), holders = count_holders(m);
    if (from < m->cp->ndev && holders == 1)
        return copy_only_image(m, from, dev, call);
    const char *const cause = failure_to_compute();
    return fail(EINVAL, 0,
                "%s: device %u, %s, holds no data of the block at %p%s; copy the data there with "
                "clmsync, or compute them there%s%s",
                call, dev, d->name, (void *)m->base,
                holders ? ", of which other devices hold parts" : ", and no other device does",
                cause ? "; before, " : "", cause ? cause : "");
}

STDCL_API int clmrequire(CLCONTEXT *cp, cl_uint dev, const void *ptr, const char *call)
{
    struct device *d = device_of(cp, dev, call);
    struct memory *m = d ? memory_or_fail(ptr, call) : NULL;
    if (!m || recording_refuses_wait(d, call) || event_report_pending(d, call))
        return -1;
    if (m->cp != cp)
        return fail(EINVAL, 0, "%s: %p is not attached to this context", call, ptr);
    return memory_require(m, dev, call);
}
