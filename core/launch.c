/* launch.c - clfork and clforka: kernel launches.
 * SPDX-License-Identifier: MIT
 */
#include "core/recording.h"

#include "core/environment.h"
#include "core/pocl.h"

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

/* Explain that the kernel demands another work-group size: -1 after fail(), else 0. */
static int explain_required_size(const struct kernel *k, const struct device *d,
                                 cl_kernel on_device, const clndrange_t *ndr, const char *call)
{
    size_t required[3] = {0, 0, 0};
    bool differs = !ndr->ltid[0];
    clGetKernelWorkGroupInfo(on_device, d->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                             required, NULL);
    for (size_t i = 0; i < 3; i++)
        differs = differs || required[i] != (i < ndr->dim && ndr->ltid[i] ? ndr->ltid[i] : 1);
    if (!required[0] || !differs)
        return 0;
    return fail(EINVAL, 0,
                "%s: kernel %s on %s demands work-groups of %zu x %zu x %zu work-items "
                "(reqd_work_group_size); give that as the local size",
                call, k->name, d->name, required[0], required[1], required[2]);
}

/* Explain why the driver refused these sizes, if known: -1 after fail(), else 0. */
static int explain_sizes(const struct kernel *k, const struct device *d, const clndrange_t *ndr,
                         size_t limit, const char *call)
{
    size_t items = 1;
    for (size_t i = 0; i < ndr->dim; i++)
        items *= ndr->ltid[i] ? ndr->ltid[i] : 1;
    if (!ndr->ltid[0])
        return 0;
    if (items > limit)
        return fail(
            EINVAL, 0,
            "%s: kernel %s on %s: a work-group of %zu work-items is too large, %zu is the most",
            call, k->name, d->name, items, limit);
    for (size_t i = 0; i < ndr->dim; i++) {
        const size_t local = ndr->ltid[i] ? ndr->ltid[i] : 1, beyond = ndr->gtid[i] % local;
        if (beyond)
            return fail(
                EINVAL, 0,
                "%s: kernel %s on %s: in dimension %zu the global size %zu is not a multiple of "
                "the local size %zu; the next that is: %zu",
                call, k->name, d->name, i, ndr->gtid[i], local, ndr->gtid[i] - beyond + local);
    }
    return 0;
}

static int launch_failed(const struct kernel *k, const struct device *d, cl_kernel on_device,
                         const clndrange_t *ndr, cl_int err, const char *call)
{
    char args[400], global[96], local[96];
    size_t limit = 0;
    if (err == CL_INVALID_KERNEL_ARGS)
        return fail(EINVAL, err, "%s: kernel %s on %s: not set: argument %s", call, k->name,
                    d->name, unset_args(k, args, sizeof args));
    clGetKernelWorkGroupInfo(on_device, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit,
                             NULL);
    if (err == CL_INVALID_WORK_GROUP_SIZE &&
        (explain_required_size(k, d, on_device, ndr, call) != 0 ||
         (limit && explain_sizes(k, d, ndr, limit, call) != 0))) {
        oclerrno = err;
        return -1;
    }
    print_sizes(global, sizeof global, ndr->dim, ndr->gtid);
    print_sizes(local, sizeof local, ndr->dim, ndr->ltid);
    return fail(errno_of(err), err,
                "%s: kernel %s on %s, global size %s, local size %s (at most %zu "
                "work-items a group)",
                call, k->name, d->name, global, local, limit);
}

static int check_index_space(const struct kernel *k, const clndrange_t *ndr, const char *call)
{
    if (!ndr)
        return fail(EINVAL, 0, "%s: kernel %s: the index space is NULL", call, k->name);
    if (ndr->dim < 1 || ndr->dim > 3)
        return fail(EINVAL, CL_INVALID_WORK_DIMENSION,
                    "%s: kernel %s: an index space of %zu dimensions", call, k->name, ndr->dim);
    double items = 1;
    for (size_t i = 0; i < ndr->dim; i++) {
        if (ndr->gtid[i] == 0)
            return fail(EINVAL, CL_INVALID_GLOBAL_WORK_SIZE,
                        "%s: kernel %s: no work-items in dimension "
                        "%zu",
                        call, k->name, i);
        if ((items *= (double)ndr->gtid[i]) >= 0x1p63) /* PoCL 3.1 crashes */
            return fail(EINVAL, CL_INVALID_GLOBAL_WORK_SIZE,
                        "%s: kernel %s: %zu work-items in dimension %zu are too many; a negative "
                        "number is such a size, too",
                        call, k->name, ndr->gtid[i], i);
        if (ndr->gtid_offset[i] > SIZE_MAX - ndr->gtid[i])
            return fail(EINVAL, CL_INVALID_GLOBAL_OFFSET,
                        "%s: kernel %s: the offset %zu in dimension %zu is too large; a negative "
                        "number is such an offset, too",
                        call, k->name, ndr->gtid_offset[i], i);
    }
    return 0;
}

/* Not every platform checks this at a launch. */
static int check_local_memory(const struct kernel *k, const struct device *d, const char *call)
{
    size_t sum = 0;
    for (cl_uint i = 0; i < k->nargs; i++)
        if (k->args[i].kind == ARG_LOCAL)
            sum = sum + k->args[i].size >= sum ? sum + k->args[i].size : SIZE_MAX;
    if (sum <= d->local_memory)
        return 0;
    return fail(EINVAL, CL_OUT_OF_RESOURCES,
                "%s: kernel %s: its arguments ask for %zu bytes of local memory, "
                "%s has %llu",
                call, k->name, sum, d->name, (unsigned long long)d->local_memory);
}

static double work_items_of(const clndrange_t *ndr)
{
    double items = 1;
    for (size_t i = 0; i < ndr->dim; i++)
        items *= (double)ndr->gtid[i];
    return items;
}

/* PoCL (3.1 at least) counts the work-groups of a launch in 32 bits and crashes above. Without a
 * local size its groups are at most as large as the device allows. */
static int check_groups(const struct kernel *k, const struct device *d, const clndrange_t *ndr,
                        const char *call)
{
    double groups = work_items_of(ndr);
    size_t largest = 1;
    if (groups < 0x1p32 || !is_pocl(d->platform))
        return 0;
    if (!ndr->ltid[0])
        clGetDeviceInfo(d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof largest, &largest, NULL);
    for (size_t i = 0; i < ndr->dim && ndr->ltid[0]; i++)
        largest *= ndr->ltid[i] ? ndr->ltid[i] : 1;
    groups /= (double)largest;
    return groups < 0x1p32
               ? 0
               : fail(EINVAL, CL_INVALID_GLOBAL_WORK_SIZE,
                      "%s: kernel %s on %s: %.3g work-groups are too many for one launch; "
                      "PoCL takes fewer than 2^32",
                      call, k->name, d->name, groups);
}

/* With $STDCL_DEBUG, print that an argument that the kernel only reads was never written there. */
static void warn_of_no_data(const struct kernel *k, cl_uint i, cl_uint dev, const char *call)
{
    const struct memory *m = k->bound[dev][i].memory;
    const struct device *d = &k->program->cp->dev[dev];
    char line[512];
    if (!k->parameters || !k->parameters[i].read_only || m->size == 0 ||
        memory_is_zero_copy(m, d) || memory_is_svm(m, dev) || atomic_load(&m->holds_data[dev]) ||
        !debug_prints())
        return;
    snprintf(line, sizeof line,
             "%s: argument %u of kernel %s is read on device %u, %s, which holds no data of the "
             "block at %p; copy the data there with clmsync",
             call, i, k->name, dev, d->name, (void *)m->base);
    debug_print(line);
}

/* Migrate the newest images of the kernel's blocks to the device, and give it the shared ones.
 * elsewhere: the launch uses another queue than the main one. */
static int migrate_blocks(const struct kernel *k, cl_uint dev, bool elsewhere, const char *call)
{
    bool shared = false;
    for (cl_uint i = 0; i < k->nargs; i++) {
        struct memory *m = k->args[i].kind == ARG_GLOBAL ? k->bound[dev][i].memory : NULL;
        if (m && !memory_is_current(m, dev)) {
            if (memory_migrate(m, dev, call) != 0)
                return -1;
            warn_of_no_data(k, i, dev, call);
        }
        shared = shared || (m && memory_is_svm(m, dev));
    }
    return shared ? svm_unmap_all(k->program->cp, dev, elsewhere, call) : 0;
}

/* The kernel was launched with its blocks. */
static void mark_blocks(const struct kernel *k, cl_uint dev)
{
    for (cl_uint i = 0; i < k->nargs; i++)
        if (k->args[i].kind == ARG_GLOBAL && k->bound[dev][i].memory)
            memory_mark_kernel_use(k->bound[dev][i].memory, dev,
                                   !k->parameters || !k->parameters[i].read_only);
}

/* 0 if a device takes a launch of these sizes, with the arguments bound to its cl_kernel; else -1
 * after fail(). */
static int launch_prepare(struct kernel *k, cl_uint dev, const clndrange_t *ndr, const char *call)
{
    const struct device *d = &k->program->cp->dev[dev];
    if (check_groups(k, d, ndr, call) != 0 || check_local_memory(k, d, call) != 0)
        return -1;
    return arguments_bind(k, dev, call);
}

/* Bind the arguments and enqueue. ev NULL: without an event. Call with the kernel's lock held. 0,
 * or -1 after fail(). */
static int enqueue_kernel(struct kernel *k, cl_uint dev, const clndrange_t *ndr, int flags,
                          struct command_record *note, cl_event *ev, const char *call)
{
    struct device *d = &k->program->cp->dev[dev];
    size_t local[3];
    if (launch_prepare(k, dev, ndr, call) != 0 ||
        migrate_blocks(k, dev, flags & CL_EVENT_SIDE_QUEUE, call) != 0)
        return -1;
    for (size_t i = 0; i < ndr->dim; i++)
        local[i] = ndr->ltid[i] ? ndr->ltid[i] : 1;
    const struct command c = {.cp = k->program->cp,
                              .dev = dev,
                              .kind = KERNEL_LAUNCH,
                              .kernel = k->origin ? k->origin : k,
                              .size = work_items_of(ndr),
                              .uncounted = flags & CL_EVENT_UNCOUNTED};
    cl_int err = clEnqueueNDRangeKernel(queue_for(&c, note, flags), k->on_device[dev],
                                        (cl_uint)ndr->dim, ndr->gtid_offset, ndr->gtid,
                                        ndr->ltid[0] ? local : NULL, 0, NULL, ev);
    if (err != CL_SUCCESS) {
        launch_failed(k, d, k->on_device[dev], ndr, err, call);
        return -1;
    }
    if (ev)
        command_started(&c, note, *ev);
    mark_blocks(k, dev);
    return 0;
}

/* The kernel of a handle, if it can be launched in this context with these sizes; else NULL after
 * fail(). */
static struct kernel *launch_check(CLCONTEXT *cp, cl_kernel krn, const clndrange_t *ndr,
                                   const char *call)
{
    struct kernel *k = kernel_of(krn, call);
    if (!k || check_index_space(k, ndr, call) != 0)
        return NULL;
    if (k->program->cp != cp)
        return (void)fail(EINVAL, 0, "%s: kernel %s belongs to another context", call, k->name),
               NULL;
    return k;
}

/* args NULL: start with the arguments already set. */
static cl_event launch_on_device(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, const clndrange_t *ndr,
                                 int flags, cl_uint nargs, const struct stdcl_arg *args,
                                 const char *call)
{
    struct kernel *k = launch_check(cp, krn, ndr, call);
    struct command_record note = {0};
    cl_event ev = NULL;
    int status = -1;
    if (!k)
        return CL_FAILED;
    const bool untracked = event_may_be_untracked(cp, &cp->dev[dev], flags);
    pthread_mutex_lock(&k->lock);
    if (!args || arguments_record(k, nargs, args, call) == 0)
        status = enqueue_kernel(k, dev, ndr, flags, &note, untracked ? NULL : &ev, call);
    if (status == 0 && untracked)
        event_count_untracked(&cp->dev[dev]);
    pthread_mutex_unlock(&k->lock);
    if (status != 0)
        return CL_FAILED;
    return ev ? event_finish(&cp->dev[dev], KERNEL_EVENT, ev, note, flags, call) : 0;
}

/* ---- Recordings. ---- */

/* Check a copy of a kernel and bind its arguments. 0, or -1 after fail(). */
static int copy_prepare(struct kernel *copy, cl_uint dev, const clndrange_t *ndr, const char *call)
{
    const struct device *d = &copy->program->cp->dev[dev];
    char args[400];
    for (cl_uint i = 0; i < copy->nargs; i++)
        if (copy->args[i].kind == ARG_UNSET)
            return fail(EINVAL, CL_INVALID_KERNEL_ARGS, "%s: kernel %s on %s: not set: argument %s",
                        call, copy->name, d->name, unset_args(copy, args, sizeof args));
    return launch_prepare(copy, dev, ndr, call) == 0 ? arguments_fix(copy, dev, call) : -1;
}

/* Record a launch. args NULL: with the arguments already set. 0, or -1 after fail(). */
static int launch_record(struct recording *r, cl_kernel krn, const clndrange_t *ndr, int flags,
                         cl_uint nargs, const struct stdcl_arg *args, const char *call)
{
    struct kernel *k = launch_check(r->cp, krn, ndr, call), *copy = NULL;
    if (!k || recording_check_flags(r, flags, call) != 0)
        return -1;
    pthread_mutex_lock(&k->lock);
    if (!args || arguments_record(k, nargs, args, call) == 0)
        copy = kernel_copy(k, r->dev, call);
    pthread_mutex_unlock(&k->lock);
    if (!copy)
        return -1;
    if (copy_prepare(copy, r->dev, ndr, call) != 0) {
        kernel_free_copy(copy);
        return -1;
    }
    const struct recorded c = {
        .kind = RECORDED_LAUNCH, .flags = flags & CL_EVENT_UNCOUNTED, .kernel = copy, .ndr = *ndr};
    return recording_add(r, &c, call);
}

cl_event launch_recorded(const struct recording *r, const struct recorded *c, int flags,
                         const char *call)
{
    struct kernel *copy = c->kernel;
    struct kernel *shown = context_observed(r->cp) ? copy->origin : NULL;
    const bool untracked = (flags & CL_EVENT_UNTRACKED) && !shown;
    struct command_record note = {0};
    cl_event ev = NULL;
    flags |= c->flags;
    pthread_mutex_lock(&copy->lock);
    if (shown)
        pthread_mutex_lock(&shown->lock);
    const int status =
        enqueue_kernel(copy, r->dev, &c->ndr, flags, &note, untracked ? NULL : &ev, call);
    if (shown)
        pthread_mutex_unlock(&shown->lock);
    pthread_mutex_unlock(&copy->lock);
    if (status != 0)
        return CL_FAILED;
    return ev ? event_finish(&r->cp->dev[r->dev], KERNEL_EVENT, ev, note, flags, call) : 0;
}

/* ---- The calls. ---- */

cl_event kernel_launch(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, const clndrange_t *ndr, int flags,
                       cl_uint nargs, const struct stdcl_arg *args, const char *call)
{
    struct device *d = device_of(cp, dev, call);
    struct recording *r = d ? recording_of(d) : NULL;
    const bool known =
        d && command_flags_check(flags, COMMAND_FLAGS | CL_EVENT_UNCOUNTED, call) == 0;
    if (r)
        return recording_result(r,
                                known ? launch_record(r, krn, ndr, flags, nargs, args, call) : -1);
    const cl_event ev =
        known ? launch_on_device(cp, dev, krn, ndr, flags, nargs, args, call) : CL_FAILED;
    return event_or_defer_error(cp, d, KERNEL_EVENT, ev, flags);
}

STDCL_API cl_event clfork(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags)
{
    return kernel_launch(cp, dev, krn, ndr, flags, 0, NULL, "clfork");
}

STDCL_API cl_event clforkv(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags,
                           cl_uint nargs, const struct stdcl_arg *args)
{
    return kernel_launch(cp, dev, krn, ndr, flags, nargs, args, "clforkv");
}

STDCL_API cl_event stdcl_forka(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr,
                               int flags, cl_uint nargs, const struct stdcl_arg *args)
{
    return kernel_launch(cp, dev, krn, ndr, flags, nargs, args, "clforka");
}

/* ---- OpenCL's own call, on a handle. ---- */

/* Return the device of a queue of stdcl, or of any other queue of its OpenCL context; cp->ndev if
 * there is none. */
static cl_uint device_of_queue(const CLCONTEXT *cp, cl_command_queue queue)
{
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_uint dev = 0;
    while (dev < cp->ndev && cp->dev[dev].queue != queue)
        dev++;
    if (dev < cp->ndev || !queue ||
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) !=
            CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL) != CL_SUCCESS)
        return dev;
    for (dev = 0; dev < cp->ndev && (cp->dev[dev].context != context || cp->dev[dev].id != id);)
        dev++;
    return dev;
}

STDCL_API cl_int stdcl_enqueue_kernel(cl_command_queue queue, cl_kernel krn, cl_uint dim,
                                      const size_t *offset, const size_t *global,
                                      const size_t *local, cl_uint nwait, const cl_event *wait,
                                      cl_event *ev)
{
    const char *const call = "clEnqueueNDRangeKernel";
    if (forked_child(call))
        return CL_INVALID_OPERATION;
    struct kernel *k = kernel_find(krn);
    const cl_uint dev = k ? device_of_queue(k->program->cp, queue) : 0;
    if (!k || dev == k->program->cp->ndev)
        return clEnqueueNDRangeKernel(queue, krn, dim, offset, global, local, nwait, wait, ev);
    pthread_mutex_lock(&k->lock);
    oclerrno = CL_SUCCESS;
    cl_int err = CL_SUCCESS;
    const bool elsewhere = queue != k->program->cp->dev[dev].queue;
    if (arguments_bind(k, dev, call) != 0 || migrate_blocks(k, dev, elsewhere, call) != 0)
        err = oclerrno ? oclerrno : CL_INVALID_KERNEL_ARGS;
    else
        err = clEnqueueNDRangeKernel(queue, k->on_device[dev], dim, offset, global, local, nwait,
                                     wait, ev);
    if (err == CL_SUCCESS)
        mark_blocks(k, dev);
    pthread_mutex_unlock(&k->lock);
    return err;
}
