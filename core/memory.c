/* memory.c - clmalloc and its family.
 *
 * An allocation is one host region plus one buffer per device of its context, created at first use
 * (memory_buffers.c). The images are distinct until clmsync copies one over another (sync.c).
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "core/round.h"

#include <sys/mman.h>
#include <unistd.h>

/* The flags of which a block has at most one. */
enum { KINDS = CL_MEM_ZEROCOPY | CL_MEM_DEVONLY | CL_MEM_IMAGE | CL_MEM_SAMPLER | CL_MEM_SVM };

/* Flags of the historic interface that allocations accept and ignore. */
enum { WITHOUT_EFFECT = CL_MEM_RW | CL_MEM_NOCOPY };

enum { ALLOCATION_FLAGS = CL_MEM_DETACHED | KINDS | CL_MEM_PER_DEVICE | WITHOUT_EFFECT };

static size_t page_round(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded = round_up(size, page);
    return rounded ? rounded : page;
}

static void memory_end(struct memory *m)
{
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->migrating);
    free(m);
}

static void memory_destroy(struct memory *m)
{
    memory_new_epoch();
    memory_detach(m);
    svm_free(m);
    if (m->mapped)
        munmap(m->base, m->mapped);
    memory_end(m);
}

/* Map the host region; for CL_MEM_DEVONLY a range of addresses without memory. */
static void *map_region(size_t mapped, int flags)
{
    bool reserve = flags & CL_MEM_DEVONLY;
    void *base = mmap(NULL, mapped, reserve ? PROT_NONE : PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | (reserve ? MAP_NORESERVE : 0), -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* Make the memory of a block: `from`, shared virtual memory, or a new mapping. 0, or -1 after
 * fail(). */
static int memory_place(struct memory *m, CLCONTEXT *cp, void *from, const char *call)
{
    const int shared = m->flags & CL_MEM_SVM ? svm_allocate(m, cp, call) : 0;
    if (shared)
        return shared > 0 ? 0 : -1;
    m->mapped = from ? 0 : page_round(m->size);
    m->base = from ? from : m->mapped >= m->size ? map_region(m->mapped, m->flags) : NULL;
    return m->base ? 0 : fail(ENOMEM, 0, "%s: no %zu bytes of memory on the host", call, m->size);
}

/* from: memory of the program, or NULL. cp: of a block of CL_MEM_SVM. */
static struct memory *memory_create(CLCONTEXT *cp, void *from, size_t size, int flags,
                                    const char *call)
{
    struct memory *m = calloc(1, sizeof *m);
    if (!m)
        return (void)fail(ENOMEM, 0, "%s: no %zu bytes of memory on the host", call, size), NULL;
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->migrating, NULL);
    m->size = size;
    m->flags = flags;
    if (memory_place(m, cp, from, call) != 0) {
        memory_end(m);
        return NULL;
    }
    m->format = (cl_image_format){CL_RGBA, CL_FLOAT};
    m->sampling = (struct sampling){CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST};
    m->last_device = -1;
    return m;
}

static int check_flags(CLCONTEXT *cp, int flags, const char *call)
{
    const int special = flags & KINDS;
    if (memory_flags_check(flags, ALLOCATION_FLAGS, call) != 0)
        return -1;
    if (special & (special - 1))
        return fail(EINVAL, 0,
                    "%s: of CL_MEM_ZEROCOPY, CL_MEM_DEVONLY, CL_MEM_IMAGE, CL_MEM_SAMPLER and "
                    "CL_MEM_SVM only one may be given",
                    call);
    if ((flags & CL_MEM_SVM) && (flags & CL_MEM_DETACHED))
        return fail(EINVAL, 0,
                    "%s: shared virtual memory belongs to a context; give it instead of "
                    "CL_MEM_DETACHED",
                    call);
    return cp || (flags & CL_MEM_DETACHED) ? 0 : fail_no_context(call);
}

/* from: memory of the program, or NULL. filled: the first use on a device copies the host's
 * data. */
static void *memory_allocate(CLCONTEXT *cp, void *from, size_t size, int flags, bool filled,
                             const char *call)
{
    if (forked_child(call) || check_flags(cp, flags, call) != 0)
        return NULL;
    struct memory *m = memory_create(cp, from, size, flags & (KINDS | CL_MEM_PER_DEVICE), call);
    if (!m)
        return NULL;
    if ((!(flags & CL_MEM_DETACHED) && memory_attach(cp, m, filled, call) != 0) ||
        memory_enter(m, call) != 0) {
        memory_destroy(m);
        return NULL;
    }
    if (m->svm.context)
        memory_new_epoch(); /* kernels are told its address when they are bound again */
    return m->base;
}

STDCL_API void *clmalloc(CLCONTEXT *cp, size_t size, int flags)
{
    return memory_allocate(cp, NULL, size, flags, false, "clmalloc");
}

STDCL_API void *clmalloc_from(CLCONTEXT *cp, void *ptr, size_t size, int flags)
{
    if (!ptr || size == 0 || (flags & (CL_MEM_DEVONLY | CL_MEM_SVM)))
        return (void)fail(EINVAL, 0, "clmalloc_from: %s",
                          !ptr        ? "the pointer is NULL"
                          : size == 0 ? "there are no bytes"
                          : flags & CL_MEM_DEVONLY
                              ? "memory of the host cannot be CL_MEM_DEVONLY"
                              : "memory of the program cannot become CL_MEM_SVM; "
                                "allocate it with clmalloc"),
               NULL;
    const int known = ALLOCATION_FLAGS & ~(CL_MEM_DEVONLY | CL_MEM_SVM);
    if (memory_flags_check(flags, known, "clmalloc_from") != 0)
        return NULL;
    if ((uintptr_t)ptr + size < (uintptr_t)ptr)
        return (void)fail(EINVAL, 0, "clmalloc_from: no %zu bytes begin at %p", size, ptr), NULL;
    return memory_allocate(cp, ptr, size, flags, true, "clmalloc_from");
}

STDCL_API void *clmem_adopt(CLCONTEXT *cp, cl_uint dev, cl_mem buffer)
{
    const char *const call = "clmem_adopt";
    size_t size = 0;
    if (!device_of(cp, dev, call))
        return NULL;
    if (!buffer || clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS)
        return (void)fail(EINVAL, CL_INVALID_MEM_OBJECT, "%s: %p is no memory object", call,
                          (void *)buffer),
               NULL;
    const struct memory *other = memory_of_buffer(cp, buffer);
    if (other)
        return (void)fail(EEXIST, 0, "%s: the cl_mem is already a buffer of the block at %p", call,
                          (void *)other->base),
               NULL;
    struct memory *m = memory_create(cp, NULL, size, 0, call);
    if (!m)
        return NULL;
    m->adopted = true;
    if (memory_attach(cp, m, false, call) != 0 || memory_adopt(m, dev, buffer, call) != 0 ||
        memory_enter(m, call) != 0) {
        memory_destroy(m);
        return NULL;
    }
    memory_mark_kernel_use(m, dev, true);
    return m->base;
}

STDCL_API int clfree(void *ptr)
{
    if (!ptr)
        return 0;
    if (forked_child("clfree"))
        return -1;
    struct memory *m = memory_take(ptr);
    if (!m)
        return fail(EFAULT, 0, "clfree: %p is not the start of memory from clmalloc, or was freed",
                    ptr);
    memory_destroy(m);
    return 0;
}

STDCL_API void *clmrealloc(CLCONTEXT *cp, void *ptr, size_t size, int flags)
{
    if (!ptr)
        return memory_allocate(cp, NULL, size, flags, false, "clmrealloc");
    struct memory *old = memory_or_fail(ptr, "clmrealloc");
    if (!old)
        return NULL;
    if (ptr != old->base)
        return (void)fail(EFAULT, 0, "clmrealloc: %p is not the start of its block, %p is", ptr,
                          (void *)old->base),
               NULL;
    if ((!old->mapped && !old->svm.context) || old->adopted)
        return (void)fail(EINVAL, 0,
                          "clmrealloc: the block at %p is %s, which is not ours to resize", ptr,
                          old->adopted ? "a cl_mem of the program" : "memory of the program"),
               NULL;
    if (memory_flags_check(flags, CL_MEM_DETACHED | WITHOUT_EFFECT | old->flags, "clmrealloc") != 0)
        return NULL;
    CLCONTEXT *to = flags & CL_MEM_DETACHED ? NULL : cp ? cp : old->cp;
    void *base = memory_allocate(to, NULL, size, old->flags | (to ? 0 : CL_MEM_DETACHED), true,
                                 "clmrealloc");
    if (!base)
        return NULL;
    struct memory *m = memory_find(base);
    m->user_flags = old->user_flags;
    for (cl_uint i = 0; old->cp && i < old->cp->ndev; i++)
        if (old->buffer[i])
            device_drain(&old->cp->dev[i]);
    if (old->svm.context && svm_map(old, "clmrealloc") != 0) {
        clfree(base);
        return NULL;
    }
    if (!(old->flags & CL_MEM_DEVONLY))
        memcpy(base, old->base, size < old->size ? size : old->size);
    clfree(ptr);
    return base;
}

STDCL_API int clmattach(CLCONTEXT *cp, void *ptr)
{
    struct memory *m = memory_or_fail(ptr, "clmattach");
    if (!m)
        return -1;
    if (!cp)
        return fail_no_context("clmattach");
    pthread_mutex_lock(&m->lock);
    int status = m->cp ? fail(EINVAL, 0, "clmattach: the block at %p is already attached", ptr)
                       : memory_attach(cp, m, true, "clmattach");
    pthread_mutex_unlock(&m->lock);
    return status;
}

STDCL_API int clmdetach(void *ptr)
{
    struct memory *m = memory_or_fail(ptr, "clmdetach");
    if (!m)
        return -1;
    if (!m->cp)
        return fail(EINVAL, 0, "clmdetach: the block at %p is not attached", ptr);
    if (m->adopted)
        return fail(EINVAL, 0,
                    "clmdetach: the block at %p is a cl_mem of the program, which belongs to one "
                    "context; use clfree, which leaves the cl_mem to the program",
                    ptr);
    if (m->svm.context)
        return fail(
            EINVAL, 0,
            "clmdetach: the block at %p is shared virtual memory of its context; use clfree", ptr);
    memory_new_epoch();
    memory_detach(m);
    return 0;
}

void memory_free_attached(CLCONTEXT *cp)
{
    for (struct memory *m = memory_any_attached(cp); m; m = memory_any_attached(cp))
        clfree(m->base);
}

STDCL_API size_t clsizeofmem(void *ptr)
{
    struct memory *m = memory_or_fail(ptr, "clsizeofmem");
    return m ? m->size : 0;
}

STDCL_API void *clmemptr(CLCONTEXT *cp, void *ptr)
{
    struct memory *m = memory_or_fail(ptr, "clmemptr");
    if (m && cp && m->cp != cp)
        return (void)fail(EFAULT, 0, "clmemptr: %p belongs to another context", ptr), NULL;
    return m ? m->base : NULL;
}

STDCL_API cl_mem clgetbuffer(CLCONTEXT *cp, cl_uint dev, void *ptr)
{
    struct memory *m = memory_or_fail(ptr, "clgetbuffer");
    if (!m || !device_of(cp, dev, "clgetbuffer"))
        return NULL;
    if (m->cp != cp)
        return (void)fail(EINVAL, 0, "clgetbuffer: %p is not attached to this context", ptr), NULL;
    cl_mem buffer = memory_buffer(m, dev, 0, "clgetbuffer");
    if (buffer)
        atomic_store(&m->holds_data[dev], true); /* the program may write it unseen */
    return buffer;
}
