/* svm.c - shared virtual memory: blocks of CL_MEM_SVM, whose addresses are valid on the host and on
 * one device of the context.
 *
 * An OpenCL context has its own shared memory, and each device has an OpenCL context: a block is
 * shared with the first device that has the capability. With coarse grain either the host or the
 * device may access the block: the host while the block is mapped, from clmsync with CL_MEM_HOST to
 * the next launch that takes a shared block. A kernel may follow pointers in blocks into all other
 * shared blocks of the device: the kernel is told their addresses, and none stays mapped.
 * SPDX-License-Identifier: MIT
 */
#include "core/environment.h"
#include "core/memory.h"

/* ---- Allocation. ---- */

/* Query the device's capabilities: 0 if it has no shared virtual memory. Devices before OpenCL 2.0
 * do not know the query. Another failure is an error: addresses in the block would not be valid. 0,
 * or -1 after fail(). */
static int query_capabilities(const struct device *d, cl_device_svm_capabilities *caps,
                              const char *call)
{
    *caps = 0;
    const cl_int err = clGetDeviceInfo(d->id, CL_DEVICE_SVM_CAPABILITIES, sizeof *caps, caps, NULL);
    *caps = err == CL_SUCCESS
                ? *caps & (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
                : 0;
    if (err == CL_SUCCESS || err == CL_INVALID_VALUE)
        return 0;
    return fail(errno_of(err), err, "%s: %s does not tell whether it has shared virtual memory",
                call, d->name);
}

static void explain_fallback(const CLCONTEXT *cp)
{
    if (debug_prints())
        fprintf(stderr,
                "stdcl: clmalloc: %s%s no shared virtual memory; the block of CL_MEM_SVM has "
                "separate images on host and devices, and no pointer in it is valid in kernels\n",
                cp->dev[0].name, cp->ndev > 1 ? " and the context's other devices have" : " has");
}

int svm_allocate(struct memory *m, CLCONTEXT *cp, const char *call)
{
    cl_device_svm_capabilities caps = 0;
    cl_uint dev = 0;
    for (; dev < cp->ndev; dev++) {
        if (query_capabilities(&cp->dev[dev], &caps, call) != 0)
            return -1;
        if (caps)
            break;
    }
    if (dev == cp->ndev)
        return explain_fallback(cp), 0;
    struct device *d = &cp->dev[dev];
    const bool fine = caps & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    const size_t size = m->size ? m->size : 1;
    if (clRetainContext(d->context) != CL_SUCCESS)
        return fail(ENOMEM, CL_OUT_OF_HOST_MEMORY, "%s: out of memory on the host", call);
    m->base = clSVMAlloc(d->context, CL_MEM_READ_WRITE | (fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0),
                         size, 0);
    if (!m->base) {
        clReleaseContext(d->context);
        return fail(ENOMEM, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                    "%s: %s has no %zu bytes of shared virtual memory", call, d->name, m->size);
    }
    m->svm = (struct svm){.context = d->context, .device = d, .dev = dev, .fine = fine};
    if (svm_map(m, call) != 0) {
        svm_free(m);
        return -1;
    }
    memset(m->base, 0, size);
    return 1;
}

/* ---- Access by the host and the device, in turn. ---- */

/* Note that the host may access the block, or not any more. */
static void svm_set_mapped(struct memory *m, bool mapped)
{
    if (atomic_exchange(&m->svm.mapped, mapped) != mapped)
        atomic_fetch_add(&m->svm.device->svm_mapped, mapped ? 1 : -1);
}

cl_int svm_enqueue(struct memory *m, cl_command_queue queue, bool to_device, cl_event *ev)
{
    cl_int err;
    pthread_mutex_lock(&m->lock);
    if (m->svm.fine || atomic_load(&m->svm.mapped) != to_device)
        err = ev ? clEnqueueMarkerWithWaitList(queue, 0, NULL, ev) : CL_SUCCESS;
    else if (to_device)
        err = clEnqueueSVMUnmap(queue, m->base, 0, NULL, ev);
    else
        err = clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, m->base,
                              m->size ? m->size : 1, 0, NULL, ev);
    if (err == CL_SUCCESS && !m->svm.fine)
        svm_set_mapped(m, !to_device);
    pthread_mutex_unlock(&m->lock);
    return err;
}

int svm_map(struct memory *m, const char *call)
{
    struct device *d = m->svm.device;
    cl_event ev = NULL;
    if (m->svm.fine)
        return 0;
    /* With an event: PoCL 6 crashes in an unmap that has one after a map that has none. */
    cl_int err = svm_enqueue(m, d->queue, false, &ev);
    if (err == CL_SUCCESS) {
        err = event_wait(ev);
        clReleaseEvent(ev);
    }
    return err == CL_SUCCESS ? 0
                             : fail(errno_of(err), err, "%s: the shared block at %p on %s", call,
                                    (void *)m->base, d->name);
}

void svm_free(struct memory *m)
{
    if (!m->svm.context)
        return;
    device_drain(m->svm.device);
    svm_enqueue(m, m->svm.device->queue, true, NULL);
    clFinish(m->svm.device->queue);
    clSVMFree(m->svm.context, m->base);
    clReleaseContext(m->svm.context);
    m->svm.context = NULL;
}

/* ---- Kernels. ---- */

/* Unmap a block for a launch or copy. The next wait reports a failure of the unmapping, as one of a
 * kernel. */
static cl_int unmap_one(struct memory *m, void *data)
{
    struct device *d = data;
    cl_event ev = NULL;
    if (!atomic_load(&m->svm.mapped))
        return CL_SUCCESS;
    const cl_int err = svm_enqueue(m, d->queue, true, &ev);
    if (err == CL_SUCCESS)
        event_finish(d, KERNEL_EVENT, ev, (struct command_record){0}, CL_EVENT_NOWAIT, "clwait");
    return err;
}

int svm_unmap_all(CLCONTEXT *cp, cl_uint dev, bool elsewhere, const char *call)
{
    struct device *d = &cp->dev[dev];
    if (atomic_load_explicit(&d->svm_mapped, memory_order_relaxed) == 0)
        return 0;
    cl_int err = memory_each_shared(cp, dev, unmap_one, d);
    if (err == CL_SUCCESS && elsewhere)
        err = clFinish(d->queue);
    return err == CL_SUCCESS
               ? 0
               : fail(errno_of(err), err, "%s: the shared blocks on %s", call, d->name);
}

/* A growing list of addresses. */
struct addresses {
    const void **at;
    size_t count, capacity;
};

static cl_int add_address(struct memory *m, void *data)
{
    struct addresses *a = data;
    if (a->count == a->capacity) {
        const size_t capacity = a->capacity ? 2 * a->capacity : 16;
        const void **at = realloc((void *)a->at, capacity * sizeof *at);
        if (!at)
            return CL_OUT_OF_HOST_MEMORY;
        a->at = at;
        a->capacity = capacity;
    }
    a->at[a->count++] = m->base;
    return CL_SUCCESS;
}

cl_int svm_bind(cl_kernel kernel, cl_uint i, CLCONTEXT *cp, cl_uint dev, const void *ptr)
{
    struct addresses all = {0};
    cl_int err = memory_each_shared(cp, dev, add_address, &all);
    if (err == CL_SUCCESS)
        err = clSetKernelArgSVMPointer(kernel, i, ptr);
    if (err == CL_SUCCESS)
        err = clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, all.count * sizeof *all.at,
                                  all.at);
    free((void *)all.at);
    return err;
}
