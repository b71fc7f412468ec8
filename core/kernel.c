/* kernel.c - arguments and launches.
 *
 * A kernel is one cl_kernel per device plus the arguments as they were last set. Starting it on a device
 * hands that device's cl_kernel only what changed since it last ran there; a block of memory becomes that
 * device's buffer at this moment. The public handle is the first device's cl_kernel, so that OpenCL's own
 * queries work on it; a table leads from the handle to the rest.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

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

int kernel_enter(struct kernel *k)
{
    pthread_rwlock_wrlock(&table.lock);
    bool ok = 2 * (table.count + 1) <= table.capacity || table_grow();
    if (ok) {
        table.slot[slot_of(k->on_device[0])] = k;
        table.count++;
    }
    pthread_rwlock_unlock(&table.lock);
    return ok ? 0 : fail(ENOMEM, 0, "clsym: no memory on the host");
}

/* Closes the gap that a removal leaves, by putting the entries behind it in again. */
void kernel_remove(struct kernel *k)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t gap = slot_of(k->on_device[0]);
    if (table.slot[gap]) {
        table.slot[gap] = NULL;
        table.count--;
        for (size_t i = (gap + 1) & (table.capacity - 1); table.slot[i]; i = (i + 1) & (table.capacity - 1)) {
            struct kernel *moved = table.slot[i];
            table.slot[i] = NULL;
            table.slot[slot_of(moved->on_device[0])] = moved;
        }
    }
    pthread_rwlock_unlock(&table.lock);
}

struct kernel *kernel_of(cl_kernel handle, const char *call)
{
    struct kernel *k = NULL;
    pthread_rwlock_rdlock(&table.lock);
    if (table.capacity && handle)
        k = table.slot[slot_of(handle)];
    pthread_rwlock_unlock(&table.lock);
    if (!k)
        fail(EINVAL, 0, handle ? "%s: the kernel is not from clsym, or its program was closed"
                               : "%s: the kernel is NULL", call);
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

/* ---- Recording arguments. The kernel's lock is held. ---- */

static struct arg *arg_of(struct kernel *k, cl_uint i, const char *call)
{
    if (i < k->nargs)
        return &k->args[i];
    fail(EINVAL, CL_INVALID_ARG_INDEX, "%s: kernel %s has %u arguments, there is no argument %u", call,
         k->name, k->nargs, i);
    return NULL;
}

static int record_value(struct kernel *k, cl_uint i, size_t size, const void *value, const char *type,
                        const char *call)
{
    struct arg *a = arg_of(k, i, call);
    if (!a || check_arg(k, i, ARG_VALUE, size, type, call) != 0)
        return -1;
    if (a->kind == ARG_VALUE && a->size == size && memcmp(a->value, value, size) == 0)
        return 0;
    if (size > a->capacity) {
        void *more = realloc(a->value, size);
        if (!more)
            return fail(ENOMEM, 0, "%s: no memory on the host", call);
        a->value = more;
        a->capacity = size;
    }
    memcpy(a->value, value, size);
    a->kind = ARG_VALUE;
    a->size = size;
    a->version = ++k->versions;
    return 0;
}

static int record_local(struct kernel *k, cl_uint i, size_t size, const char *call)
{
    struct arg *a = arg_of(k, i, call);
    if (!a || check_arg(k, i, ARG_LOCAL, size, NULL, call) != 0)
        return -1;
    if (a->kind == ARG_LOCAL && a->size == size)
        return 0;
    a->kind = ARG_LOCAL;
    a->size = size;
    a->version = ++k->versions;
    return 0;
}

static int record_global(struct kernel *k, cl_uint i, const void *ptr, const char *type, const char *call)
{
    struct arg *a = arg_of(k, i, call);
    if (!a || check_arg(k, i, ARG_GLOBAL, sizeof ptr, type ? type : "pointer", call) != 0)
        return -1;
    if (a->kind == ARG_GLOBAL && a->ptr == ptr)
        return 0;
    a->kind = ARG_GLOBAL;
    a->ptr = ptr;
    a->version = ++k->versions;
    return 0;
}

/* ---- Binding recorded arguments to a device. The kernel's lock is held. ---- */

static int set_failed(const struct kernel *k, cl_uint i, cl_int err, const char *call)
{
    const struct arg *a = &k->args[i];
    if (err == CL_INVALID_ARG_SIZE)
        return fail(EINVAL, err, "%s: argument %u of kernel %s: a value of %zu bytes was given", call, i,
                    k->name, a->size);
    return fail(errno_of(err), err, "%s: argument %u of kernel %s", call, i, k->name);
}

/* Where memory is expected, a pointer that is not into any. */
static int not_ours(const struct kernel *k, cl_uint i, const void *ptr, const char *call)
{
    const struct parameter *p = &k->parameters[i];
    const bool known = p->kind != ARG_UNSET;
    return fail(EFAULT, 0, "%s: argument %u of kernel %s%s%s%s%s: the host pointer %p is not in memory from "
                "clmalloc, or that was freed", call, i, k->name, known ? " is memory " : "",
                known ? p->type : "", known && *p->name ? " " : "", known ? p->name : "", ptr);
}

static int bind_global(struct kernel *k, cl_uint i, cl_uint dev, struct binding *b, const char *call)
{
    CLCONTEXT *cp = k->program->cp;
    struct arg *a = &k->args[i];
    cl_mem buffer = NULL;
    b->epoch = atomic_load(&memory_epoch);
    b->memory = NULL;
    if (a->ptr) {
        struct memory *m = memory_find(a->ptr);
        if (!m)
            return not_ours(k, i, a->ptr, call);
        if (m->cp != cp)
            return fail(EINVAL, 0, "%s: argument %u of kernel %s: the block at %p is not attached to the "
                        "kernel's context", call, i, k->name, (void *)m->base);
        buffer = memory_buffer(m, dev, (size_t)((const char *)a->ptr - m->base), call);
        if (!buffer)
            return -1;
        b->memory = m;
    }
    cl_int err = clSetKernelArg(k->on_device[dev], i, sizeof buffer, &buffer);
    return err ? set_failed(k, i, err, call) : 0;
}

static int bind_arg(struct kernel *k, cl_uint i, cl_uint dev, const char *call)
{
    struct arg *a = &k->args[i];
    struct binding *b = &k->bound[dev][i];
    cl_int err = CL_SUCCESS;
    int status = 0;
    if (a->kind == ARG_GLOBAL)
        status = bind_global(k, i, dev, b, call);
    else
        err = clSetKernelArg(k->on_device[dev], i, a->size, a->kind == ARG_VALUE ? a->value : NULL);
    if (err != CL_SUCCESS)
        status = set_failed(k, i, err, call);
    b->version = status == 0 ? a->version : 0;
    return status;
}

/* Brings a device's cl_kernel up to date. */
static int bind_all(struct kernel *k, cl_uint dev, const char *call)
{
    uint64_t epoch = atomic_load_explicit(&memory_epoch, memory_order_relaxed);
    for (cl_uint i = 0; i < k->nargs; i++) {
        const struct arg *a = &k->args[i];
        const struct binding *b = &k->bound[dev][i];
        bool current = b->version == a->version && (a->kind != ARG_GLOBAL || b->epoch == epoch);
        if (a->kind != ARG_UNSET && !current && bind_arg(k, i, dev, call) != 0)
            return -1;
    }
    return 0;
}

/* ---- Setting arguments one by one, and asking how they are declared. ---- */

STDCL_API int clarg_info(cl_kernel krn, cl_uint i, clarg_info_t *info)
{
    static const int kinds[] = {[ARG_UNSET] = -1, [ARG_VALUE] = STDCL_VALUE, [ARG_GLOBAL] = STDCL_GLOBAL,
                                [ARG_LOCAL] = STDCL_LOCAL};
    struct kernel *k = kernel_of(krn, "clarg_info");
    if (!k || !arg_of(k, i, "clarg_info"))
        return -1;
    if (!info)
        return fail(EINVAL, 0, "clarg_info: there is no room for the answer");
    const struct parameter *p = &k->parameters[i];
    *info = (clarg_info_t){kinds[p->kind], p->type, p->name};
    return 0;
}

STDCL_API int stdcl_arg_value(cl_kernel krn, cl_uint i, size_t size, const void *value, const char *type)
{
    struct kernel *k = kernel_of(krn, "clarg_set");
    if (!k)
        return -1;
    pthread_mutex_lock(&k->lock);
    int status = record_value(k, i, size, value, type, "clarg_set");
    if (status == 0 && k->bound[0][i].version != k->args[i].version) {
        status = bind_arg(k, i, 0, "clarg_set"); /* so that a wrong size is told here */
        if (status != 0)
            k->args[i].kind = ARG_UNSET;
    }
    pthread_mutex_unlock(&k->lock);
    return status;
}

STDCL_API int stdcl_arg_local(cl_kernel krn, cl_uint i, size_t bytes)
{
    struct kernel *k = kernel_of(krn, "clarg_set_local");
    if (!k)
        return -1;
    pthread_mutex_lock(&k->lock);
    int status = record_local(k, i, bytes, "clarg_set_local");
    if (status == 0 && k->bound[0][i].version != k->args[i].version) {
        status = bind_arg(k, i, 0, "clarg_set_local");
        if (status != 0)
            k->args[i].kind = ARG_UNSET;
    }
    pthread_mutex_unlock(&k->lock);
    return status;
}

/* The offset of ptr in its block if every device of the context can start a buffer there, else -1. */
static size_t usable_offset(const struct kernel *k, cl_uint i, const void *ptr)
{
    const CLCONTEXT *cp = k->program->cp;
    const struct memory *m = memory_find(ptr);
    if (!m)
        return (size_t)not_ours(k, i, ptr, "clarg_set_global");
    size_t offset = (size_t)((const char *)ptr - m->base);
    if (m->cp != cp)
        return (size_t)fail(EINVAL, 0, "clarg_set_global: argument %u of kernel %s: the block at %p is %s", i,
                            k->name, (void *)m->base, m->cp ? "attached to another context"
                            : "detached; give it to the context with clmattach");
    for (cl_uint d = 0; d < cp->ndev; d++)
        if (offset % cp->dev[d].start_align || (offset && (m->flags & CL_MEM_IMAGE2D)))
            return (size_t)fail(EINVAL, CL_MISALIGNED_SUB_BUFFER_OFFSET, "clarg_set_global: argument %u of "
                                "kernel %s: offset %zu is no multiple of %zu bytes; pass the block and the "
                                "offset as two arguments instead", i, k->name, offset,
                                cp->dev[d].start_align);
    return offset;
}

STDCL_API size_t stdcl_arg_global(cl_kernel krn, cl_uint i, const void *ptr, const char *type)
{
    struct kernel *k = kernel_of(krn, "clarg_set_global");
    if (!k)
        return (size_t)-1;
    size_t offset = ptr ? usable_offset(k, i, ptr) : 0;
    if (offset == (size_t)-1)
        return offset;
    pthread_mutex_lock(&k->lock);
    int status = record_global(k, i, ptr, type, "clarg_set_global");
    pthread_mutex_unlock(&k->lock);
    return status ? (size_t)-1 : offset;
}

/* ---- Launches. ---- */

static const char *unset_args(const struct kernel *k, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (cl_uint i = 0; i < k->nargs && n + 96 < size; i++)
        if (k->args[i].kind == ARG_UNSET)
            n += (size_t)snprintf(text + n, size - n, "%s%u (%s %s)", n ? ", " : "", i,
                                  k->parameters[i].type, k->parameters[i].name);
    return text;
}

static void print_sizes(char *text, size_t size, size_t dim, const size_t *v)
{
    size_t n = 0;
    for (size_t i = 0; i < dim && n + 24 < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%zu", i ? " x " : "", v[i]);
}

/* Why these sizes cannot be, if it can be told: -1 after fail(), else 0. */
static int explain_sizes(const struct kernel *k, const struct device *d, const clndrange_t *ndr, size_t limit)
{
    size_t items = 1;
    for (size_t i = 0; i < ndr->dim; i++)
        items *= ndr->ltid[i] ? ndr->ltid[i] : 1;
    if (!ndr->ltid[0])
        return 0;
    if (items > limit)
        return fail(EINVAL, 0, "clfork: kernel %s on %s: a work-group of %zu work-items is too large, %zu is the most",
                    k->name, d->name, items, limit);
    for (size_t i = 0; i < ndr->dim; i++) {
        const size_t local = ndr->ltid[i] ? ndr->ltid[i] : 1, beyond = ndr->gtid[i] % local;
        if (beyond)
            return fail(EINVAL, 0, "clfork: kernel %s on %s: in dimension %zu the global size %zu is not a multiple of "
                        "the local size %zu; the next that is: %zu", k->name, d->name, i, ndr->gtid[i], local,
                        ndr->gtid[i] - beyond + local);
    }
    return 0;
}

static int launch_failed(const struct kernel *k, const struct device *d, cl_kernel on_device,
                         const clndrange_t *ndr, cl_int err)
{
    char args[400], global[96], local[96];
    size_t limit = 0;
    if (err == CL_INVALID_KERNEL_ARGS)
        return fail(EINVAL, err, "clfork: kernel %s on %s: not set: argument %s", k->name, d->name,
                    unset_args(k, args, sizeof args));
    clGetKernelWorkGroupInfo(on_device, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, NULL);
    if (err == CL_INVALID_WORK_GROUP_SIZE && limit && explain_sizes(k, d, ndr, limit) != 0) {
        oclerrno = err;
        return -1;
    }
    print_sizes(global, sizeof global, ndr->dim, ndr->gtid);
    print_sizes(local, sizeof local, ndr->dim, ndr->ltid);
    return fail(errno_of(err), err, "clfork: kernel %s on %s, global size %s, local size %s (at most %zu "
                "work-items a group)", k->name, d->name, global, local, limit);
}

static int check_range(const struct kernel *k, const clndrange_t *ndr)
{
    if (!ndr)
        return fail(EINVAL, 0, "clfork: kernel %s: the index space is NULL", k->name);
    if (ndr->dim < 1 || ndr->dim > 3)
        return fail(EINVAL, CL_INVALID_WORK_DIMENSION, "clfork: kernel %s: an index space of %zu dimensions",
                    k->name, ndr->dim);
    for (size_t i = 0; i < ndr->dim; i++)
        if (ndr->gtid[i] == 0)
            return fail(EINVAL, CL_INVALID_GLOBAL_WORK_SIZE, "clfork: kernel %s: no work-items in dimension "
                        "%zu", k->name, i);
    return 0;
}

/* Not every platform checks this at a launch. */
static int check_local_memory(const struct kernel *k, const struct device *d)
{
    size_t sum = 0;
    for (cl_uint i = 0; i < k->nargs; i++)
        if (k->args[i].kind == ARG_LOCAL)
            sum = sum + k->args[i].size >= sum ? sum + k->args[i].size : SIZE_MAX;
    if (sum <= d->local_memory)
        return 0;
    return fail(EINVAL, CL_OUT_OF_RESOURCES, "clfork: kernel %s: its arguments ask for %zu bytes of local memory, "
                "%s has %llu", k->name, sum, d->name, (unsigned long long)d->local_memory);
}

static double items_of(const clndrange_t *ndr)
{
    double items = 1;
    for (size_t i = 0; i < ndr->dim; i++)
        items *= (double)ndr->gtid[i];
    return items;
}

/* Binds and enqueues; the kernel's lock is held. Returns the event, or NULL after fail(). */
static cl_event enqueue_kernel(struct kernel *k, cl_uint dev, const clndrange_t *ndr, int flags, struct note *note)
{
    struct device *d = &k->program->cp->dev[dev];
    size_t local[3];
    cl_event ev = NULL;
    if (check_local_memory(k, d) != 0 || bind_all(k, dev, "clfork") != 0)
        return NULL;
    for (size_t i = 0; i < ndr->dim; i++)
        local[i] = ndr->ltid[i] ? ndr->ltid[i] : 1;
    const struct command c = {k->program->cp, dev, KERNEL_LAUNCH, k, items_of(ndr), flags & CL_EVENT_UNCOUNTED};
    cl_int err = clEnqueueNDRangeKernel(command_queue(&c, note), k->on_device[dev], (cl_uint)ndr->dim,
                                        ndr->gtid_offset, ndr->gtid, ndr->ltid[0] ? local : NULL, 0, NULL, &ev);
    if (err != CL_SUCCESS) {
        launch_failed(k, d, k->on_device[dev], ndr, err);
        return NULL;
    }
    command_started(&c, note, ev);
    for (cl_uint i = 0; i < k->nargs; i++)
        if (k->args[i].kind == ARG_GLOBAL && k->bound[dev][i].memory)
            memory_touched(k->bound[dev][i].memory, dev);
    return ev;
}

static int record_args(struct kernel *k, cl_uint nargs, const struct stdcl_arg *args)
{
    int status = 0;
    if (nargs > k->nargs)
        return fail(EINVAL, 0, "clforka: kernel %s has %u arguments, %u are given", k->name, k->nargs, nargs);
    for (cl_uint i = 0; i < nargs && status == 0; i++) {
        const void *ptr;
        switch (args[i].kind) {
        case STDCL_GLOBAL:
            memcpy(&ptr, args[i].value, sizeof ptr);
            status = record_global(k, i, ptr, args[i].type, "clforka");
            break;
        case STDCL_LOCAL:
            status = record_local(k, i, ((const stdcl_local_t *)args[i].value)->bytes, "clforka");
            break;
        default:
            status = record_value(k, i, args[i].size, args[i].value, args[i].type, "clforka");
        }
    }
    return status;
}

/* args NULL: start with the arguments as they are. */
static cl_event launch_on(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, const clndrange_t *ndr, int flags,
                          cl_uint nargs, const struct stdcl_arg *args, const char *call)
{
    struct kernel *k = kernel_of(krn, call);
    if (!k || check_range(k, ndr) != 0)
        return CL_FAILED;
    if (k->program->cp != cp)
        return (void)fail(EINVAL, 0, "%s: kernel %s belongs to another context", call, k->name), CL_FAILED;
    struct note note = {0};
    cl_event ev = NULL;
    pthread_mutex_lock(&k->lock);
    if (!args || record_args(k, nargs, args) == 0)
        ev = enqueue_kernel(k, dev, ndr, flags, &note);
    pthread_mutex_unlock(&k->lock);
    return ev ? event_finish(&cp->dev[dev], KERNEL_EVENT, ev, note, flags, call) : CL_FAILED;
}

static cl_event launch(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, const clndrange_t *ndr, int flags, cl_uint nargs,
                       const struct stdcl_arg *args, const char *call)
{
    struct device *d = device_of(cp, dev, call);
    if (!d)
        return CL_FAILED;
    return event_or_refusal(d, KERNEL_EVENT, launch_on(cp, dev, krn, ndr, flags, nargs, args, call), flags);
}

STDCL_API cl_event clfork(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags)
{
    return launch(cp, dev, krn, ndr, flags, 0, NULL, "clfork");
}

STDCL_API cl_event clforkv(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags,
                           cl_uint nargs, const struct stdcl_arg *args)
{
    return launch(cp, dev, krn, ndr, flags, nargs, args, "clforka");
}
