/* kernel.c - kernels: creation, lookup by handle, release.
 *
 * A kernel is one cl_kernel per device plus the recorded arguments. The public handle is the first
 * device's cl_kernel, so that OpenCL's own queries work on it; a hash table maps the handle to the
 * kernel.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

/* ---- The table from handle to kernel: open addressing, linear probing. ---- */

static struct {
    pthread_rwlock_t lock;
    struct kernel **slot;
    size_t count, capacity; /* capacity is a power of two, at most half full */
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static size_t slot_of(cl_kernel handle)
{
    size_t i = ((uintptr_t)handle >> 4) * (size_t)0x9E3779B97F4A7C15u >> 16 & (table.capacity - 1);
    while (table.slot[i] && table.slot[i]->on_device[0] != handle)
        i = (i + 1) & (table.capacity - 1);
    return i;
}

static bool table_grow(void)
{
    struct kernel **old = table.slot;
    size_t n = table.capacity, capacity = n ? 2 * n : 64;
    struct kernel **slot = calloc(capacity, sizeof(*slot));
    if (!slot)
        return false;
    table.slot = slot;
    table.capacity = capacity;
    for (size_t i = 0; i < n; i++)
        if (old[i])
            table.slot[slot_of(old[i]->on_device[0])] = old[i];
    free(old);
    return true;
}

static int kernel_enter(struct kernel *k, const char *call)
{
    pthread_rwlock_wrlock(&table.lock);
    bool ok = 2 * (table.count + 1) <= table.capacity || table_grow();
    if (ok) {
        table.slot[slot_of(k->on_device[0])] = k;
        table.count++;
    }
    pthread_rwlock_unlock(&table.lock);
    return ok ? 0 : fail(ENOMEM, 0, "%s: out of memory on the host", call);
}

/* Remove an entry and insert the entries after it again, which closes the gap. */
void kernel_remove(struct kernel *k)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t gap = slot_of(k->on_device[0]);
    if (table.slot[gap]) {
        table.slot[gap] = NULL;
        table.count--;
        for (size_t i = (gap + 1) & (table.capacity - 1); table.slot[i];
             i = (i + 1) & (table.capacity - 1)) {
            struct kernel *moved = table.slot[i];
            table.slot[i] = NULL;
            table.slot[slot_of(moved->on_device[0])] = moved;
        }
    }
    pthread_rwlock_unlock(&table.lock);
}

struct kernel *kernel_find(cl_kernel handle)
{
    struct kernel *k = NULL;
    pthread_rwlock_rdlock(&table.lock);
    if (table.capacity && handle)
        k = table.slot[slot_of(handle)];
    pthread_rwlock_unlock(&table.lock);
    return k;
}

struct kernel *kernel_of(cl_kernel handle, const char *call)
{
    if (forked_child(call))
        return NULL;
    struct kernel *k = kernel_find(handle);
    const char *const cause = handle ? NULL : failure_to_open();
    if (!k && cause)
        fail(EINVAL, 0, "%s: the kernel is NULL; before, %s", call, cause);
    else if (!k)
        fail(EINVAL, 0,
             handle ? "%s: the kernel is not from clsym, or its program was closed"
                    : "%s: the kernel is NULL",
             call);
    return k;
}

void kernel_free(struct kernel *k)
{
    cl_uint ndev = k->program->cp->ndev;
    for (cl_uint i = 0; i < ndev; i++) {
        if (k->on_device && k->on_device[i])
            clReleaseKernel(k->on_device[i]);
        if (k->bound)
            free(k->bound[i]);
    }
    for (cl_uint i = 0; k->args && i < k->nargs; i++)
        free(k->args[i].value);
    pthread_mutex_destroy(&k->lock);
    free(k->on_device);
    free(k->bound);
    if (k->place)
        core_observer->kernel_ends(k->place);
    free(k->args);
    free(k->parameters);
    free(k->name);
    free(k);
}

/* ---- Making. ---- */

static bool kernel_allocate(struct kernel *k, const char *name, cl_uint ndev)
{
    k->name = strdup(name);
    k->on_device = calloc(ndev, sizeof(*k->on_device));
    k->bound = calloc(ndev, sizeof *k->bound);
    return k->name && k->on_device && k->bound;
}

static cl_int kernel_create(struct kernel *k, const struct part *part, cl_uint ndev)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < ndev && err == CL_SUCCESS; i++)
        k->on_device[i] = clCreateKernel(part->program[i], k->name, &err);
    if (err == CL_SUCCESS)
        err =
            clGetKernelInfo(k->on_device[0], CL_KERNEL_NUM_ARGS, sizeof k->nargs, &k->nargs, NULL);
    if (err != CL_SUCCESS)
        return err;
    k->args = calloc(k->nargs + 1, sizeof *k->args);
    k->parameters = calloc(k->nargs + 1, sizeof *k->parameters);
    for (cl_uint i = 0; i < ndev; i++) {
        k->bound[i] = calloc(k->nargs + 1, sizeof **k->bound);
        if (!k->bound[i] || !k->args || !k->parameters)
            return CL_OUT_OF_HOST_MEMORY;
    }
    parameters_query(k, part);
    return CL_SUCCESS;
}

struct kernel *kernel_new(struct program *p, const struct part *part, const char *name,
                          const char *call)
{
    cl_int err = CL_OUT_OF_HOST_MEMORY;
    struct kernel *k = calloc(1, sizeof *k);
    if (k) {
        k->program = p;
        pthread_mutex_init(&k->lock, NULL);
        if (kernel_allocate(k, name, p->cp->ndev))
            err = kernel_create(k, part, p->cp->ndev);
        if (err == CL_SUCCESS && kernel_enter(k, call) == 0) {
            k->next = p->kernels;
            p->kernels = k;
            return k;
        }
        kernel_free(k);
    }
    if (err != CL_SUCCESS)
        fail(errno_of(err), err, "%s: kernel %s of %s", call, name, part->name);
    return NULL;
}
