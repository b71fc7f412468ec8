/* memory.h - allocations, their device buffers, and coherence between images.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include "core/context.h"

/* ---- memory_table.c ---- */

struct subbuffer {
    struct subbuffer *next;
    cl_uint dev;
    size_t offset;
    cl_mem buffer;
};

/* How a sampler reads an image. */
struct sampling {
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
};

/* Coherence between the devices' images of a block (coherence.c). */
enum coherence { UNDECIDED, COHERENT, PER_DEVICE };

/* Shared virtual memory of a block (svm.c). */
struct svm {
    cl_context context; /* of the memory; NULL: the block is not shared */
    struct device *device;
    cl_uint dev; /* number of the device that shares it */
    bool fine;
    _Atomic bool mapped; /* coarse grain: the host may access it */
};

struct memory {
    char *base;            /* host region, or for CL_MEM_DEVONLY a reserved range of addresses */
    size_t size;           /* as requested */
    size_t mapped;         /* length of our mapping at base; 0: the program's memory */
    int flags;             /* CL_MEM_PER_DEVICE, _ZEROCOPY, _DEVONLY, _IMAGE, _SAMPLER, _SVM */
    CLCONTEXT *_Atomic cp; /* NULL while detached */
    uint64_t attachment;   /* number of the attachment to cp, unique in the process */
    bool adopted;          /* a device's buffer is the program's cl_mem */
    struct svm svm;
    cl_mem_flags user_flags;
    cl_image_desc shape; /* of an image; width 0: none yet */
    cl_image_format format;
    struct sampling sampling;
    pthread_mutex_t lock; /* guards the creation of the members below */
    cl_mem *buffer;       /* per device, NULL until first use */
    cl_sampler *samplers; /* per device, NULL until first use; NULL unless CL_MEM_SAMPLER */
    struct subbuffer *subbuffers;
    cl_mem pin;              /* registration of the host region with a GPU's driver, or NULL */
    _Atomic int last_device; /* last user; -1: the host */
    _Atomic int last_writer; /* last device whose kernel may have written the block; -1: none */
    _Atomic bool host_current;
    _Atomic bool *device_current; /* per device */
    _Atomic bool *from_host;      /* per device: the first use copies the host's image */
    _Atomic bool *program_wrote;  /* per device: the program copied the block, or a part, to it */
    _Atomic bool *holds_data;     /* per device: its image was written at least once */
    _Atomic bool *is_copy;        /* per device: its image equals that of the only other holder */
    _Atomic enum coherence coherence;
    pthread_mutex_t migrating; /* guards migration between images, and the members below */
    char *staging;             /* host memory for migration; NULL: none yet */
    cl_mem staging_pin;        /* registration of `staging`, or NULL */
};

/* Incremented by every event after which a pointer may mean another buffer (free, detach, realloc,
 * new image shape): a kernel whose arguments were bound at an older epoch looks them up again. */
extern _Atomic uint64_t memory_epoch;
void memory_new_epoch(void);

/* The allocation that contains ptr, or NULL; memory_or_fail then calls fail(). */
struct memory *memory_find(const void *ptr);
struct memory *memory_or_fail(const void *ptr, const char *call);

/* The allocation attached to cp with this device buffer, or NULL. */
struct memory *memory_of_buffer(const CLCONTEXT *cp, cl_mem buffer);

/* Add an allocation to the table. 0, or -1 after fail() if out of memory or if it overlaps
 * another. */
int memory_enter(struct memory *m, const char *call);

/* Remove the entry with base ptr from the table; NULL if there is none. If two threads free the
 * same block, one of them gets it. */
struct memory *memory_take(const void *ptr);

/* Any allocation attached to the context, or NULL. */
struct memory *memory_any_attached(const CLCONTEXT *cp);

/* Call `visit` for each block that is shared with a device of the context, until one returns an
 * error, which is returned. No block is freed meanwhile. */
cl_int memory_each_shared(const CLCONTEXT *cp, cl_uint dev,
                          cl_int (*visit)(struct memory *m, void *data), void *data);

/* ---- svm.c ---- */

/* True if the block's addresses are valid on the device. */
static inline bool memory_is_svm(const struct memory *m, cl_uint dev)
{
    return m->svm.context && m->svm.dev == dev;
}

/* Allocate m->base, zeroed, as memory that a device of the context shares. 1; 0 if no device has
 * shared virtual memory; -1 after fail(). Wait for the device's commands and free it, after the
 * block's buffers. */
int svm_allocate(struct memory *m, CLCONTEXT *cp, const char *call);
void svm_free(struct memory *m);

/* Give the block to the device, or to the host, on the device's queue; with fine grain, or if the
 * side has it already, enqueue a marker, or nothing for ev NULL. */
cl_int svm_enqueue(struct memory *m, cl_command_queue queue, bool to_device, cl_event *ev);

/* Block until the host may access a shared block. 0, or -1 after fail(). */
int svm_map(struct memory *m, const char *call);

/* Before a launch with a shared block: give all shared blocks to the device. elsewhere: the launch
 * does not use the device's main queue, so wait. 0, or -1 after fail(). */
int svm_unmap_all(CLCONTEXT *cp, cl_uint dev, bool elsewhere, const char *call);

/* Set a kernel's argument to an address in a shared block, and tell the kernel the addresses of all
 * shared blocks. An error of OpenCL. */
cl_int svm_bind(cl_kernel kernel, cl_uint i, CLCONTEXT *cp, cl_uint dev, const void *ptr);

/* ---- memory_buffers.c ---- */

/* Attach m to a context. filled: the first use on a device copies the host's image. 0, or -1 after
 * fail(). */
int memory_attach(CLCONTEXT *cp, struct memory *m, bool filled, const char *call);

/* Make the program's buffer or image of `size` bytes, with a reference of our own, the image of
 * device `dev`. Afterwards call memory_mark_kernel_use: it holds the newest data. 0, or -1 after
 * fail(). */
int memory_adopt(struct memory *m, cl_uint dev, cl_mem buffer, const char *call);

/* Wait for commands in flight on the devices that hold m, then release its buffers. */
void memory_detach(struct memory *m);

/* True if the host region is the device's buffer too: of a zero-copy or a shared block. */
bool memory_is_zero_copy(const struct memory *m, const struct device *d);

/* True if a device has a buffer of m. */
bool memory_has_buffers(const struct memory *m);

/* Register the host region with the driver of a GPU, once. Failure is no error: copies are slower.
 */
void memory_pin(struct memory *m, const struct device *d);

/* Host memory of m's size for migration from a device to other devices; NULL if there is none. Call
 * with m->migrating held. */
char *memory_staging(struct memory *m, const struct device *d);

/* Enqueue a copy between `host` and a part of a device's buffer of m; always the whole of an
 * image. */
cl_int memory_enqueue(cl_command_queue queue, const struct memory *m, cl_mem buffer, size_t offset,
                      size_t size, char *host, bool to_device, cl_event *ev);

/* ---- image.c ---- */

/* The extent of an image in pixels, as OpenCL's commands take it: array elements are the last
 * dimension. False for a type that is not supported, or if an extent is 0. */
bool image_region(const cl_image_desc *shape, size_t region[3]);

/* Give a block this shape; the pixels must fit it. 0, or -1 after fail(). */
int image_set(struct memory *m, const cl_image_desc *shape, const cl_image_format *format);

/* Take the shape of the program's image. An error of OpenCL. */
cl_int image_query(struct memory *m, cl_mem image);

/* ---- sampler.c ---- */

/* Memory for the samplers of m, if it is one; -1 if out of memory. Release them. */
int sampler_attach(struct memory *m, cl_uint ndev);
void sampler_detach(struct memory *m);

/* The sampler for a device, created at first use; NULL after fail(). Owned by m. */
cl_sampler sampler_on(struct memory *m, cl_uint dev, const char *call);

/* Set how it samples. 0, or -1 after fail(). */
int sampler_set(struct memory *m, int normalized, int addressing, int filter);

/* ---- coherence.c ---- */

/* Before a device uses its image of m, which memory_is_current says is stale: copy the newest
 * image that it should see, from the host or another device. Blocks. 0, or -1 after fail(). */
int memory_migrate(struct memory *m, cl_uint dev, const char *call);
static inline bool memory_is_current(const struct memory *m, cl_uint dev)
{
    return atomic_load_explicit(&m->device_current[dev], memory_order_relaxed);
}

/* The program copies `m`, or a part, to a device: memory_mark_dirty before the copy,
 * memory_marked_dirty after a copy of the whole block. */
int memory_mark_dirty(struct memory *m, cl_uint dev, bool whole, const char *call);
void memory_marked_dirty(struct memory *m, cl_uint dev);

/* Before a device reads its image of m: migrate the newest image; the image must then hold data. If
 * only one device holds data of separate images, its image is copied. Zero-copy blocks: block until
 * the commands of the device that wrote last are complete. 0, or -1 after fail(). */
int memory_require(struct memory *m, cl_uint dev, const char *call);

/* The buffer, or sub-buffer at an offset, for device `dev` of m's context; created at first use.
 * NULL after fail(). Owned by m. */
cl_mem memory_buffer(struct memory *m, cl_uint dev, size_t offset, const char *call);

/* A kernel on `dev` was launched with m. writes: it may have changed m. */
void memory_mark_kernel_use(struct memory *m, cl_uint dev, bool writes);

/* The image of `dev` is about to change: it is no copy of another, and its copies are outdated. */
void memory_forget_copies(struct memory *m, cl_uint dev);

/* ---- memory.c ---- */

/* Free all allocations attached to a context. */
void memory_free_attached(CLCONTEXT *cp);

#endif
