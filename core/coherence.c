/* coherence.c - what the devices' images of a block are to each other.
 *
 * Once, all devices of a context had one buffer. So a device that is about to use a block sees what
 * another has made of it: its image is brought there through host memory that the driver keeps
 * mapped, and the host's own image stays as it is. A program that copies a block to several devices
 * itself, by clmsync or clmsyncn, is not helped but trusted: its devices' images are apart, and
 * nothing is brought. What a block is, the first of the two decides:
 *
 *   UNDECIDED   one device at most has an image
 *   AS_ONE      a device used a block of which another had the newest image
 *   APART       the program copied it, or a part, to a device while another had an image, or a
 *               part; always with
 *               CL_MEM_PER_DEVICE, CL_MEM_ZEROCOPY and CL_MEM_DEVONLY
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

/* A device other than `dev` whose image is current; m->cp->ndev when there is none. */
static cl_uint holder(const struct memory *m, cl_uint dev)
{
    cl_uint i = 0;
    while (i < m->cp->ndev && (i == dev || !memory_current(m, i)))
        i++;
    return i;
}

/* Copies between `host` and a device's whole image, and waits. */
static int copy(struct memory *m, cl_uint dev, char *host, bool to_device, const char *call)
{
    struct device *d = &m->cp->dev[dev];
    const struct command c = {.cp = m->cp,
                              .dev = dev,
                              .kind = to_device ? HOST_TO_DEVICE : DEVICE_TO_HOST,
                              .size = (double)m->size};
    struct note note = {0};
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

/* m->moving is held. */
static int bring_from(struct memory *m, cl_uint from, cl_uint dev, const char *call)
{
    char *stage = memory_stage(m, &m->cp->dev[from]);
    if (!stage)
        return fail(ENOMEM, 0, "%s: no %zu bytes to move a block from one device to another", call,
                    m->size);
    if (copy(m, from, stage, false, call) != 0 || copy(m, dev, stage, true, call) != 0)
        return -1;
    atomic_store(&m->sharing, AS_ONE);
    return 0;
}

int memory_migrate(struct memory *m, cl_uint dev, const char *call)
{
    const bool apart = atomic_load(&m->sharing) == APART;
    int status = 0;
    if (m->size == 0 || (apart && !atomic_load(&m->from_host[dev])))
        return 0;
    pthread_mutex_lock(&m->moving);
    const cl_uint from = apart ? m->cp->ndev : holder(m, dev);
    const bool first = atomic_load(&m->from_host[dev]);
    if (from < m->cp->ndev)
        status = bring_from(m, from, dev, call);
    else if (first && !memory_is_host(m, &m->cp->dev[dev]))
        status = copy(m, dev, m->base, true, call);
    if (status == 0 && (from < m->cp->ndev || first)) {
        atomic_store(&m->from_host[dev], false);
        atomic_store(&m->device_current[dev], true);
    }
    pthread_mutex_unlock(&m->moving);
    return status;
}

int memory_mark_dirty(struct memory *m, cl_uint dev, bool whole, const char *call)
{
    enum sharing undecided = UNDECIDED;
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        if (i != dev && (memory_current(m, i) || atomic_load(&m->given[i])))
            atomic_compare_exchange_strong(&m->sharing, &undecided, APART);
    atomic_store(&m->given[dev], true);
    if (whole || memory_current(m, dev))
        return 0;
    return memory_migrate(m, dev, call);
}

void memory_marked_dirty(struct memory *m, cl_uint dev)
{
    const bool as_one = atomic_load(&m->sharing) == AS_ONE;
    for (cl_uint i = 0; as_one && i < m->cp->ndev; i++)
        atomic_store(&m->device_current[i], false);
    atomic_store(&m->from_host[dev], false);
    atomic_store(&m->device_current[dev], true);
}
