/* memory_control.c - clmctl, and the calls for sharing with OpenGL.
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"

static int set_image(struct memory *m, const cl_image_desc *shape, const cl_image_format *format)
{
    if (memory_has_buffers(m))
        return fail(EBUSY, 0, "clmctl: a device already holds the block at %p", (void *)m->base);
    return image_set(m, shape, format);
}

static int set_image2d(struct memory *m, int width, int height, const cl_image_format *format)
{
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                 .image_width = width > 0 ? (size_t)width : 0,
                                 .image_height = height > 0 ? (size_t)height : 0};
    return set_image(m, &shape, format);
}

static int set_user_flags(struct memory *m, cl_mem_flags set, cl_mem_flags clear)
{
    const cl_mem_flags refused = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    if (memory_has_buffers(m))
        return fail(EBUSY, 0, "clmctl: a device already holds the block at %p", (void *)m->base);
    if (set & refused)
        return fail(EINVAL, 0,
                    "clmctl: the library places host memory itself (see CL_MEM_ZEROCOPY)");
    m->user_flags = (m->user_flags | set) & ~clear;
    return 0;
}

static int mark_clean(struct memory *m)
{
    atomic_store(&m->host_current, true);
    for (cl_uint i = 0; m->cp && i < m->cp->ndev; i++)
        if (m->buffer[i]) {
            atomic_store(&m->device_current[i], true);
            atomic_store(&m->holds_data[i], true);
            atomic_store(&m->from_host[i], false);
        }
    return 0;
}

STDCL_API int clmctl_va(void *ptr, int op, va_list ap)
{
    struct memory *m = memory_or_fail(ptr, "clmctl");
    if (!m)
        return -1;
    switch (op) {
    case CL_MCTL_GET_STATUS:
        return m->flags | (m->cp ? 0 : CL_MEM_DETACHED);
    case CL_MCTL_GET_SVM:
        return !m->svm.context ? 0 : m->svm.fine ? 2 : 1;
    case CL_MCTL_GET_DEVNUM:
        return atomic_load(&m->last_device);
    case CL_MCTL_SET_DEVNUM: {
        int dev = va_arg(ap, int);
        if (dev < 0 || (m->cp && (cl_uint)dev >= m->cp->ndev))
            return fail(EINVAL, 0, "clmctl: the context has no device %d", dev);
        atomic_store(&m->last_device, dev);
        return 0;
    }
    case CL_MCTL_MARK_CLEAN:
        return mark_clean(m);
    case CL_MCTL_SET_IMAGE2D: {
        int width = va_arg(ap, int);
        int height = va_arg(ap, int);
        return set_image2d(m, width, height, va_arg(ap, const cl_image_format *));
    }
    case CL_MCTL_SET_IMAGE: {
        const cl_image_desc *shape = va_arg(ap, const cl_image_desc *);
        return set_image(m, shape, va_arg(ap, const cl_image_format *));
    }
    case CL_MCTL_SET_SAMPLER: {
        int normalized = va_arg(ap, int);
        int addressing = va_arg(ap, int);
        return sampler_set(m, normalized, addressing, va_arg(ap, int));
    }
    case CL_MCTL_SET_USRFLAGS:
        return set_user_flags(m, (cl_mem_flags)va_arg(ap, unsigned), 0);
    case CL_MCTL_CLR_USRFLAGS:
        return set_user_flags(m, 0, (cl_mem_flags)va_arg(ap, unsigned));
    default:
        return fail(EINVAL, 0, "clmctl: unknown operation %d", op);
    }
}

STDCL_API int clmctl(void *ptr, int op, ...)
{
    va_list ap;
    va_start(ap, op);
    int status = clmctl_va(ptr, op, ap);
    va_end(ap);
    return status;
}

/* ---- OpenGL sharing. ---- */

STDCL_API void *clglmalloc(CLCONTEXT *cp, cl_uint glbuf, cl_uint target, cl_int level, int flags)
{
    (void)cp, (void)glbuf, (void)target, (void)level, (void)flags;
    return (void)fail(ENOTSUP, 0, "clglmalloc: sharing with OpenGL is not supported"), NULL;
}

STDCL_API cl_event clglmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags)
{
    (void)cp, (void)dev, (void)ptr, (void)flags;
    return (void)fail(ENOTSUP, 0, "clglmsync: sharing with OpenGL is not supported"), CL_FAILED;
}
