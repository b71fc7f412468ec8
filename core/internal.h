/* internal.h - what the files of the core share. Other rooms include core.h or observer.h.
 *
 * Locks, in the order in which they may be taken: a context's, a program's, a kernel's, the kernel table's, the
 * memory table's, an allocation's, a device's. None is held while waiting for a device.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_INTERNAL_H
#define CORE_INTERNAL_H

#include "core/observer.h"

/* ---- event.c: the commands of a device that have not been collected. ---- */

enum event_kind { KERNEL_EVENT, MEMORY_EVENT, EVENT_KINDS };

struct event_record {
    cl_event event; /* NULL once clwaitev has taken it out of the middle */
    uint64_t number;
    struct note note;
    bool shared; /* the caller was given a reference too (CL_EVENT_NOWAIT | CL_EVENT_NORELEASE) */
};

/* Records first .. end - 1 of a growable array, oldest first. Those before `seen` are complete, and whether they
 * failed has been looked at. */
struct event_list {
    struct event_record *record;
    size_t first, seen, end, capacity;
};

/* ---- context.c ---- */

struct device {
    cl_device_id id;
    cl_platform_id platform;
    cl_device_type type;
    cl_context context;
    cl_command_queue queue;
    cl_uint number; /* that its programs are built with; 0: none (see number_of_builds) */
    size_t start_align; /* a buffer may start at multiples of this, bytes */
    cl_ulong memory, local_memory; /* bytes */
    char name[128];
    pthread_mutex_t lock; /* guards what follows */
    struct event_list events[EVENT_KINDS];
    struct failure untold[EVENT_KINDS]; /* the first since the last wait, which the next one reports; code 0: none */
    uint64_t commands; /* numbers given so far */
};

struct stdcl_context {
    cl_uint ndev;
    struct device *dev;
    bool standard;
    void *_Atomic observed; /* the observer's place; NULL: this context is not observed */
    int *claims; /* descriptors that hold the locks of claimed devices, ndev of them or NULL */
    pthread_mutex_t lock; /* guards what follows */
    struct program *programs; /* newest first */
    struct program *embedded; /* opened by clexec */
};

/* The device, or NULL with EINVAL and a message that names `call`. */
struct device *device_of(CLCONTEXT *cp, cl_uint dev, const char *call);

/* ---- event.c, continued ---- */

/* What every command does with its event: files it (NOWAIT), or waits for it. Returns what the public
 * call returns. Takes over the reference. */
cl_event event_finish(struct device *d, enum event_kind kind, cl_event ev, struct note note, int flags,
                      const char *call);

/* Returns what a call made of its command, `ev`. If that is CL_FAILED and the call does not wait, its sentence is what
 * the next wait reports. */
cl_event event_or_refusal(struct device *d, enum event_kind kind, cl_event ev, int flags);

/* Tells the observer of all commands of a device that are complete. */
void device_harvest(struct device *d);

/* Waits for all commands of a device. */
void device_drain(struct device *d);
void event_lists_free(struct device *d);

/* ---- observer.c ---- */

/* The queue that a command goes to, and the observer's note about it, which is {0} before. */
cl_command_queue command_queue(const struct command *c, struct note *note);

/* The command is enqueued. */
void command_started(const struct command *c, struct note *note, cl_event ev);

/* Its event was found complete, or is about to be given up. Told once. */
void command_collected(struct note *note, cl_event ev);

/* ---- memory.c ---- */

struct subbuffer {
    struct subbuffer *next;
    cl_uint dev;
    size_t offset;
    cl_mem buffer;
};

struct memory {
    char *base;      /* host region, or for CL_MEM_DEVONLY a reserved range of addresses */
    size_t size;     /* as asked for */
    size_t mapped;   /* length of the mapping at base */
    int flags;       /* CL_MEM_DETACHED, _ZEROCOPY, _DEVONLY, _IMAGE2D */
    CLCONTEXT *_Atomic cp; /* NULL while detached */
    cl_mem_flags user_flags;
    size_t width, height; /* of an image; 0: not shaped yet */
    cl_image_format format;
    pthread_mutex_t lock; /* guards the making of what follows */
    cl_mem *buffer;       /* one a device, NULL until first use */
    struct subbuffer *subbuffers;
    cl_mem pin; /* registers the host region with the GPU driver, mapped as long as it lives */
    cl_command_queue pin_queue;
    _Atomic int last_device;
    _Atomic bool host_current;
    _Atomic bool *device_current; /* one a device */
};

/* Counts every event after which a pointer may mean another buffer (free, detach, realloc, new image
 * shape): a kernel whose arguments were bound at an older epoch looks them up again. */
extern _Atomic uint64_t memory_epoch;

/* The allocation that holds ptr, or NULL. */
struct memory *memory_find(const void *ptr);

/* The buffer, or sub-buffer at an offset, that device `dev` of m's context uses; made if need be. NULL
 * after fail(). Owned by m. */
cl_mem memory_buffer(struct memory *m, cl_uint dev, size_t offset, const char *call);

/* Notes that a kernel on `dev` was given m. */
void memory_touched(struct memory *m, cl_uint dev);

/* Frees all that is attached to a context. */
void memory_free_attached(CLCONTEXT *cp);

/* ---- program.c ---- */

/* One translation unit: source text or one binary a device, and what was built of it. */
struct part {
    char *name;
    char *source; /* zero-terminated; NULL for binaries */
    size_t nbinary, *binary_size;
    unsigned char **binary;
    cl_program *program; /* one a device */
};

struct program {
    struct program *next;
    CLCONTEXT *cp;
    int holders;   /* who may not find it freed: the list of open programs, searches; under cp's lock */
    char *options; /* further build options */
    bool by_clbuild; /* opened with CLLD_NOBUILD */
    size_t nparts;
    struct part *part;
    pthread_mutex_t lock; /* guards what follows */
    bool built;
    struct kernel *kernels;
};

/* ---- include.c ---- */

/* The folder of <stdcl.h> for kernels, "" when there is none. */
const char *include_folder(void);

/* ---- buildlog.c ---- */

/* A build's log with places named by the source's #line directives; the caller frees it. */
char *translate_log(const char *log, const char *source);

/* ---- kernel.c ---- */

enum arg_kind { ARG_UNSET, ARG_VALUE, ARG_GLOBAL, ARG_LOCAL };

/* An argument as the kernel's source declares it; kind ARG_UNSET where that is not known. */
struct parameter {
    enum arg_kind kind;
    size_t size;            /* of a value whose type OpenCL defines; 0: not known */
    char name[32], type[32]; /* cut short if longer */
};

struct arg {
    enum arg_kind kind;
    size_t size;       /* of the value, or of local memory */
    void *value;       /* ARG_VALUE: `capacity` bytes, the first `size` in use */
    size_t capacity;
    const void *ptr;   /* ARG_GLOBAL */
    uint64_t version;  /* changes whenever the argument does */
};

/* An argument as it was last bound on a device. */
struct binding {
    uint64_t version, epoch;
    struct memory *memory;
};

struct kernel {
    struct kernel *next; /* of the program */
    struct program *program;
    char *name;
    cl_uint nargs;
    cl_kernel *on_device;
    pthread_mutex_t lock; /* guards what follows, and clSetKernelArg */
    struct parameter *parameters;
    struct arg *args;
    struct binding **bound; /* [device][argument] */
    uint64_t versions;
    void *place; /* the observer's */
};

/* ---- argcheck.c ---- */

/* Learns how the arguments of a kernel, which is in this part, are declared. */
void learn_parameters(struct kernel *k, const struct part *part);

/* The size of a type of OpenCL C by its name, such as "float" or "uchar4"; 0 for others. Vectors of three
 * elements take the room of four (OpenCL C specification, 6.1.5). */
size_t size_of_type(const char *type);

/* 0 when argument i may be set so, else -1 after fail(). `type` names the value's or pointer's type, or is NULL. */
int check_arg(const struct kernel *k, cl_uint i, enum arg_kind kind, size_t size, const char *type,
              const char *call);

/* ---- declared.c ---- */

/* Reads out of a source how kernel `name` declares its n arguments. False, with p as it was, when it has no such
 * declaration of n; kind ARG_UNSET where macros or typedefs leave it open. `options` may be NULL. */
bool declared_parameters(const char *source, const char *options, const char *name, cl_uint n, struct parameter *p);

/* ---- kernel.c, continued ---- */

/* Enters / removes a kernel under its handle, the first device's cl_kernel. */
int kernel_enter(struct kernel *k);
void kernel_remove(struct kernel *k);
void kernel_free(struct kernel *k);

#endif
