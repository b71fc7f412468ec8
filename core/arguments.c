/* arguments.c - kernel arguments: recorded per kernel, bound per device.
 *
 * A launch passes to the device's cl_kernel only the arguments that changed since its last launch
 * there. A block of memory becomes that device's buffer at this point.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

/* ---- Recording arguments. The kernel's lock is held. ---- */

static bool arg_exists(const struct kernel *k, cl_uint i, const char *call)
{
    if (i < k->nargs)
        return true;
    fail(EINVAL, CL_INVALID_ARG_INDEX, "%s: kernel %s has %u arguments, there is no argument %u",
         call, k->name, k->nargs, i);
    return false;
}

/* The argument that is about to be set. */
static struct arg *arg_of(struct kernel *k, cl_uint i, const char *call)
{
    if (!arg_exists(k, i, call))
        return NULL;
    k->args[i].of_launch = false;
    return &k->args[i];
}

/* memcmp without a call for the sizes of most arguments. */
static bool arg_bytes_equal(const void *a, const void *b, size_t size)
{
    return size == 4   ? memcmp(a, b, 4) == 0
           : size == 8 ? memcmp(a, b, 8) == 0
                       : memcmp(a, b, size) == 0;
}

static int record_value(struct kernel *k, cl_uint i, size_t size, const void *value,
                        const char *type, const char *call)
{
    struct arg *a = arg_of(k, i, call);
    if (!a || check_arg(k, i, ARG_VALUE, size, type, call) != 0)
        return -1;
    if (a->kind == ARG_VALUE && a->size == size && arg_bytes_equal(a->value, value, size))
        return 0;
    if (size > a->capacity) {
        void *more = realloc(a->value, size);
        if (!more)
            return fail(ENOMEM, 0, "%s: out of memory on the host", call);
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

/* A NULL pointer: the result of a clmalloc that the program did not check. */
static int fail_arg_memory(const struct kernel *k, cl_uint i, const char *type, const char *call)
{
    const struct parameter *p = &k->parameters[i];
    const bool known = p->kind != ARG_UNSET;
    const char *const cause = failure_to_allocate();
    return fail(
        EFAULT, 0,
        "%s: argument %u of kernel %s%s%s%s%s: NULL was given as %s; check what clmalloc returned (a NULL that is meant is a void *)%s%s",
        call, i, k->name, known ? " is memory " : "", known ? p->type : "",
        known && *p->name ? " " : "", known ? p->name : "", type, cause ? "; before, " : "",
        cause ? cause : "");
}

/* True for a pointer with a named target type, but not for a literal 0. */
static bool is_typed_pointer(const char *type)
{
    return (strchr(type, '*') || strcmp(type, "pointer") == 0) && strcmp(type, "void*") != 0;
}

/* True if a block from clmalloc with CL_MEM_SAMPLER is given for a sampler_t. */
static bool is_sampler_block(const struct kernel *k, cl_uint i, const void *ptr)
{
    const struct memory *m =
        ptr && strcmp(k->parameters[i].type, "sampler_t") == 0 ? memory_find(ptr) : NULL;
    return m && (m->flags & CL_MEM_SAMPLER);
}

static int record_global(struct kernel *k, cl_uint i, const void *ptr, const char *type,
                         const char *call)
{
    struct arg *a = arg_of(k, i, call);
    if (a && is_sampler_block(k, i, ptr))
        type = NULL;
    else if (!a || check_arg(k, i, ARG_GLOBAL, sizeof ptr, type ? type : "pointer", call) != 0)
        return -1;
    if (!ptr && type && is_typed_pointer(type))
        return fail_arg_memory(k, i, type, call);
    if (a->kind == ARG_GLOBAL && a->ptr == ptr)
        return 0;
    a->kind = ARG_GLOBAL;
    a->ptr = ptr;
    a->version = ++k->versions;
    return 0;
}

/* A launch with fewer arguments than the launch before it has forgotten some. -1 after fail(). */
static int check_forgotten(const struct kernel *k, cl_uint nargs, const char *call)
{
    for (cl_uint i = nargs; i < k->nargs; i++)
        if (k->args[i].of_launch)
            return fail(EINVAL, 0,
                        "%s: kernel %s has %u arguments, %u are given, and argument %u (%s %s) has "
                        "only the value of an earlier launch; give all, or set it by clarg_set",
                        call, k->name, k->nargs, nargs, i, k->parameters[i].type,
                        k->parameters[i].name);
    return 0;
}

static int record_arg(struct kernel *k, cl_uint i, const struct stdcl_arg *arg, const char *call)
{
    const void *ptr;
    switch (arg->kind) {
    case STDCL_GLOBAL:
        memcpy(&ptr, arg->value, sizeof ptr);
        return record_global(k, i, ptr, arg->type, call);
    case STDCL_LOCAL:
        return record_local(k, i, ((const stdcl_local_t *)arg->value)->bytes, call);
    default:
        return record_value(k, i, arg->size, arg->value, arg->type, call);
    }
}

int arguments_record(struct kernel *k, cl_uint nargs, const struct stdcl_arg *args,
                     const char *call)
{
    int status = 0;
    if (nargs > k->nargs)
        return fail(EINVAL, 0, "%s: kernel %s has %u arguments, %u are given", call, k->name,
                    k->nargs, nargs);
    if (check_forgotten(k, nargs, call) != 0)
        return -1;
    for (cl_uint i = 0; i < nargs && status == 0; i++) {
        status = record_arg(k, i, &args[i], call);
        k->args[i].of_launch = true;
    }
    return status;
}

/* ---- Binding recorded arguments to a device. The kernel's lock is held. ---- */

static int set_failed(const struct kernel *k, cl_uint i, cl_int err, const char *call)
{
    const struct arg *a = &k->args[i];
    if (err == CL_INVALID_ARG_SIZE)
        return fail(EINVAL, err, "%s: argument %u of kernel %s: a value of %zu bytes was given",
                    call, i, k->name, a->size);
    return fail(errno_of(err), err, "%s: argument %u of kernel %s", call, i, k->name);
}

/* Refuse a pointer that points into no allocation. */
static int not_ours(const struct kernel *k, cl_uint i, const void *ptr, const char *call)
{
    const struct parameter *p = &k->parameters[i];
    const bool known = p->kind != ARG_UNSET;
    return fail(EFAULT, 0,
                "%s: argument %u of kernel %s%s%s%s%s: the host pointer %p is not in memory from "
                "clmalloc, or that was freed",
                call, i, k->name, known ? " is memory " : "", known ? p->type : "",
                known && *p->name ? " " : "", known ? p->name : "", ptr);
}

static int cannot_start(const struct kernel *k, cl_uint i, size_t offset, size_t align,
                        const char *call)
{
    return fail(EINVAL, CL_MISALIGNED_SUB_BUFFER_OFFSET,
                "%s: argument %u of kernel %s: offset %zu is no multiple of "
                "%zu bytes; pass the block and the offset as two arguments instead",
                call, i, k->name, offset, align);
}

/* Return 0 if a buffer may start at this offset of m, else -1 after fail(). No type is aligned to
 * more than 128 bytes; devices with a larger alignment check themselves. NVIDIA's driver (580)
 * does not check, and a kernel with a misaligned buffer fails together with all later ones. */
static int check_start(const struct kernel *k, cl_uint i, cl_uint dev, const struct memory *m,
                       size_t offset, const char *call)
{
    enum { LARGEST_TYPE = 128 };
    const size_t says = k->program->cp->dev[dev].start_align,
                 align = says < LARGEST_TYPE ? says : LARGEST_TYPE;
    return offset % align == 0 && !(offset && (m->flags & CL_MEM_IMAGE))
               ? 0
               : cannot_start(k, i, offset, says, call);
}

/* Set an argument to the device's sampler. */
static int bind_sampler(struct kernel *k, cl_uint i, cl_uint dev, struct memory *m,
                        const char *call)
{
    const struct parameter *p = &k->parameters[i];
    if (p->kind != ARG_UNSET && strcmp(p->type, "sampler_t") != 0)
        return fail(EINVAL, CL_INVALID_ARG_VALUE,
                    "%s: argument %u of kernel %s is %s %s; a sampler was given", call, i, k->name,
                    p->type, p->name);
    const cl_sampler sampler = sampler_on(m, dev, call);
    if (!sampler)
        return -1;
    cl_int err = clSetKernelArg(k->on_device[dev], i, sizeof sampler, &sampler);
    return err ? set_failed(k, i, err, call) : 0;
}

/* Set an argument to an address in shared virtual memory. */
static int bind_svm(struct kernel *k, cl_uint i, cl_uint dev, struct memory *m, const char *call)
{
    if (check_object_type(k, i, CL_MEM_OBJECT_BUFFER, call) != 0)
        return -1;
    const cl_int err = svm_bind(k->on_device[dev], i, k->program->cp, dev, k->args[i].ptr);
    if (err != CL_SUCCESS)
        return set_failed(k, i, err, call);
    k->bound[dev][i].memory = m;
    return 0;
}

static int bind_global(struct kernel *k, cl_uint i, cl_uint dev, struct binding *b,
                       const char *call)
{
    CLCONTEXT *cp = k->program->cp;
    struct arg *a = &k->args[i];
    cl_mem buffer = NULL;
    b->epoch = atomic_load(&memory_epoch);
    b->memory = NULL;
    if (!a->ptr && check_object_type(k, i, 0, call) != 0)
        return -1;
    if (a->ptr) {
        struct memory *m = memory_find(a->ptr);
        if (!m)
            return not_ours(k, i, a->ptr, call);
        if (m->cp != cp)
            return fail(EINVAL, 0,
                        "%s: argument %u of kernel %s: the block at %p is not attached to the "
                        "kernel's context",
                        call, i, k->name, (void *)m->base);
        if (a->attachment && a->attachment != m->attachment)
            return fail(EFAULT, 0,
                        "%s: argument %u of kernel %s: the block at %p was freed, detached or "
                        "resized after the recording; record again",
                        call, i, k->name, (void *)m->base);
        if (m->flags & CL_MEM_SAMPLER)
            return bind_sampler(k, i, dev, m, call);
        if (memory_is_svm(m, dev))
            return bind_svm(k, i, dev, m, call);
        const size_t offset = (size_t)((const char *)a->ptr - m->base);
        const cl_mem_object_type type =
            m->flags & CL_MEM_IMAGE ? m->shape.image_type : CL_MEM_OBJECT_BUFFER;
        if (check_object_type(k, i, type, call) != 0 ||
            check_start(k, i, dev, m, offset, call) != 0 ||
            !(buffer = memory_buffer(m, dev, offset, call)))
            return -1;
        b->memory = m;
    }
    cl_int err = clSetKernelArg(k->on_device[dev], i, sizeof buffer, &buffer);
    return err ? set_failed(k, i, err, call) : 0;
}

/* Check that a cl_mem of the program belongs to one of the devices, and is a buffer or an image as
 * declared: not every driver does. */
static int check_object(const struct kernel *k, cl_uint i, cl_uint dev, const char *call)
{
    const struct device *d = &k->program->cp->dev[dev];
    const struct arg *a = &k->args[i];
    cl_mem object;
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    if (k->parameters[i].kind != ARG_GLOBAL || a->size != sizeof object)
        return 0;
    memcpy(&object, a->value, sizeof object);
    if (clGetMemObjectInfo(object, CL_MEM_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        clGetMemObjectInfo(object, CL_MEM_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        return 0;
    if (context == d->context)
        return check_object_type(k, i, type, call);
    return fail(EINVAL, CL_INVALID_MEM_OBJECT,
                "%s: argument %u of kernel %s is a cl_mem of another device's OpenCL "
                "context than that of %s; memory from clmalloc serves all devices",
                call, i, k->name, d->name);
}

static int bind_arg(struct kernel *k, cl_uint i, cl_uint dev, const char *call)
{
    struct arg *a = &k->args[i];
    struct binding *b = &k->bound[dev][i];
    cl_int err = CL_SUCCESS;
    int status = 0;
    if (a->kind == ARG_GLOBAL)
        status = bind_global(k, i, dev, b, call);
    else if (a->kind == ARG_VALUE && check_object(k, i, dev, call) != 0)
        status = -1;
    else
        err = clSetKernelArg(k->on_device[dev], i, a->size, a->kind == ARG_VALUE ? a->value : NULL);
    if (err != CL_SUCCESS)
        status = set_failed(k, i, err, call);
    b->version = status == 0 ? a->version : 0;
    return status;
}

static int bind_all(struct kernel *k, cl_uint dev, uint64_t epoch, const char *call)
{
    for (cl_uint i = 0; i < k->nargs; i++) {
        const struct arg *a = &k->args[i];
        const struct binding *b = &k->bound[dev][i];
        bool current = b->version == a->version && (a->kind != ARG_GLOBAL || b->epoch == epoch);
        if (a->kind != ARG_UNSET && !current && bind_arg(k, i, dev, call) != 0)
            return -1;
    }
    return 0;
}

/* Binding an argument may need room for its sub-buffer, which evicts those of earlier arguments:
 * these are bound again. */
int arguments_bind(struct kernel *k, cl_uint dev, const char *call)
{
    enum { TIMES = 3 };
    uint64_t epoch = 0;
    for (int i = 0; i < TIMES && epoch != atomic_load_explicit(&memory_epoch, memory_order_relaxed);
         i++) {
        epoch = atomic_load_explicit(&memory_epoch, memory_order_relaxed);
        if (bind_all(k, dev, epoch, call) != 0)
            return -1;
    }
    return 0;
}

/* ---- Copies of kernels, for recordings. ---- */

/* From now on refuse the block of an argument after it was detached or freed. */
static void fix_block(struct kernel *copy, cl_uint dev, cl_uint i)
{
    struct arg *a = &copy->args[i];
    const struct memory *m = a->kind == ARG_GLOBAL ? copy->bound[dev][i].memory : NULL;
    a->attachment = m ? m->attachment : 0;
}

int arguments_fix(struct kernel *copy, cl_uint dev, const char *call)
{
    if (arguments_bind(copy, dev, call) != 0)
        return -1;
    for (cl_uint i = 0; i < copy->nargs; i++)
        fix_block(copy, dev, i);
    return 0;
}

int arguments_replace(struct kernel *copy, cl_uint dev, cl_uint i, const struct stdcl_arg *arg,
                      const char *call)
{
    struct arg *a = arg_of(copy, i, call);
    if (!a)
        return -1;
    const struct arg old = *a;
    *a = (struct arg){.kind = ARG_UNSET};
    const int status = record_arg(copy, i, arg, call) == 0 ? arguments_bind(copy, dev, call) : -1;
    if (status == 0) {
        free(old.value);
        fix_block(copy, dev, i);
        return 0;
    }
    free(a->value);
    *a = old;
    copy->bound[dev][i].version = 0; /* bound again by the next replay */
    return -1;
}

/* ---- Setting arguments one by one, and asking how they are declared. ---- */

STDCL_API int clarg_info(cl_kernel krn, cl_uint i, clarg_info_t *info)
{
    static const int kinds[] = {[ARG_UNSET] = -1,
                                [ARG_VALUE] = STDCL_VALUE,
                                [ARG_GLOBAL] = STDCL_GLOBAL,
                                [ARG_LOCAL] = STDCL_LOCAL};
    struct kernel *k = kernel_of(krn, "clarg_info");
    if (!k || !arg_exists(k, i, "clarg_info"))
        return -1;
    if (!info)
        return fail(EINVAL, 0, "clarg_info: there is no room for the answer");
    const struct parameter *p = &k->parameters[i];
    *info = (clarg_info_t){kinds[p->kind], p->type, p->name};
    return 0;
}

STDCL_API int clarg_is_read_only(cl_kernel krn, cl_uint i)
{
    struct kernel *k = kernel_of(krn, "clarg_is_read_only");
    if (!k || !arg_exists(k, i, "clarg_is_read_only"))
        return -1;
    return k->parameters[i].kind == ARG_GLOBAL && k->parameters[i].read_only;
}

/* Bind an argument to the first device at once, so that a wrong size is reported at the call that
 * sets it. */
static int try_first(struct kernel *k, cl_uint i, const char *call)
{
    if (k->bound[0][i].version == k->args[i].version || bind_arg(k, i, 0, call) == 0)
        return 0;
    k->args[i].kind = ARG_UNSET;
    return -1;
}

STDCL_API int stdcl_arg_value(cl_kernel krn, cl_uint i, size_t size, const void *value,
                              const char *type)
{
    struct kernel *k = kernel_of(krn, "clarg_set");
    if (!k)
        return -1;
    pthread_mutex_lock(&k->lock);
    int status = record_value(k, i, size, value, type, "clarg_set");
    status = status == 0 ? try_first(k, i, "clarg_set") : status;
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
    status = status == 0 ? try_first(k, i, "clarg_set_local") : status;
    pthread_mutex_unlock(&k->lock);
    return status;
}

/* The block that ptr points into, if it is attached to the kernel's context; else NULL after
 * fail(). */
static const struct memory *arg_block_of(const struct kernel *k, cl_uint i, const void *ptr,
                                         const char *call)
{
    const CLCONTEXT *cp = k->program->cp;
    const struct memory *m = memory_find(ptr);
    if (!m)
        not_ours(k, i, ptr, call);
    else if (m->cp != cp)
        fail(EINVAL, 0, "%s: argument %u of kernel %s: the block at %p is %s", call, i, k->name,
             (void *)m->base,
             m->cp ? "attached to another context"
                   : "detached; give it to the context with clmattach");
    return m && m->cp == cp ? m : NULL;
}

/* Return 0 if every device of the context can start a buffer at this offset of m, else -1 after
 * fail(). */
static int check_offset(const struct kernel *k, cl_uint i, const struct memory *m, size_t offset,
                        const char *call)
{
    const CLCONTEXT *cp = k->program->cp;
    for (cl_uint d = 0; d < cp->ndev; d++)
        if (!memory_is_svm(m, d) &&
            (offset % cp->dev[d].start_align || (offset && (m->flags & CL_MEM_IMAGE))))
            return cannot_start(k, i, offset, cp->dev[d].start_align, call);
    return 0;
}

static int record_locked(struct kernel *k, cl_uint i, const void *ptr, const char *type,
                         const char *call)
{
    pthread_mutex_lock(&k->lock);
    int status = record_global(k, i, ptr, type, call);
    pthread_mutex_unlock(&k->lock);
    return status;
}

STDCL_API size_t stdcl_arg_global(cl_kernel krn, cl_uint i, const void *ptr, const char *type)
{
    struct kernel *k = kernel_of(krn, "clarg_set_global");
    const struct memory *m = k && ptr ? arg_block_of(k, i, ptr, "clarg_set_global") : NULL;
    if (!k || (ptr && !m))
        return (size_t)-1;
    int status = record_locked(k, i, m ? m->base : NULL, type, "clarg_set_global");
    return status ? (size_t)-1 : m ? (size_t)((const char *)ptr - m->base) : 0;
}

STDCL_API int stdcl_arg_pointer(cl_kernel krn, cl_uint i, const void *ptr, const char *type)
{
    struct kernel *k = kernel_of(krn, "clarg_set_pointer");
    const struct memory *m = k && ptr ? arg_block_of(k, i, ptr, "clarg_set_pointer") : NULL;
    if (!k || (ptr && !m) ||
        (m &&
         check_offset(k, i, m, (size_t)((const char *)ptr - m->base), "clarg_set_pointer") != 0))
        return -1;
    return record_locked(k, i, ptr, type, "clarg_set_pointer");
}

/* ---- OpenCL's own call, on a handle. ---- */

/* Record the value given to clSetKernelArg; a device's buffer stands for its block. Call with the
 * kernel's lock held. */
static int record_raw(struct kernel *k, cl_uint i, size_t size, const void *value, const char *call)
{
    if (!arg_of(k, i, call))
        return -1;
    const enum arg_kind declared = k->parameters[i].kind;
    const bool takes_sampler = strcmp(k->parameters[i].type, "sampler_t") == 0;
    const bool may_be_object =
        (declared != ARG_VALUE || takes_sampler) && declared != ARG_LOCAL && size == sizeof(cl_mem);
    cl_mem object = NULL;
    if (may_be_object && value)
        memcpy(&object, value, sizeof object);
    const struct memory *m = object ? memory_of_buffer(k->program->cp, object) : NULL;
    if (m || (declared == ARG_GLOBAL && !object && may_be_object))
        return record_global(k, i, m ? m->base : NULL, NULL, call);
    if (!value)
        return record_local(k, i, size, call);
    return record_value(k, i, size, value, declared == ARG_GLOBAL ? "cl_mem" : NULL, call);
}

STDCL_API cl_int stdcl_set_kernel_arg(cl_kernel krn, cl_uint i, size_t size, const void *value)
{
    if (forked_child("clSetKernelArg"))
        return CL_INVALID_OPERATION;
    struct kernel *k = kernel_find(krn);
    if (!k)
        return clSetKernelArg(krn, i, size, value);
    pthread_mutex_lock(&k->lock);
    int status = record_raw(k, i, size, value, "clSetKernelArg");
    status = status == 0 ? try_first(k, i, "clSetKernelArg") : status;
    pthread_mutex_unlock(&k->lock);
    if (status == 0)
        return CL_SUCCESS;
    if (oclerrno)
        return oclerrno;
    return clerrno == ENOMEM               ? CL_OUT_OF_HOST_MEMORY
           : k->parameters[i].size == size ? CL_INVALID_ARG_VALUE
                                           : CL_INVALID_ARG_SIZE;
}

/* For programs that take the address of clarg_set_global or link to it by name. */
#undef clarg_set_global
STDCL_API size_t clarg_set_global(CLCONTEXT *cp, cl_kernel krn, cl_uint i, void *ptr)
{
    (void)cp;
    return stdcl_arg_global(krn, i, ptr, NULL);
}
