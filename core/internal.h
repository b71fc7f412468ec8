/* internal.h - what the files of the core share. Other rooms include core.h or observer.h.
 *
 * Locks, in the order in which they may be taken: a context's, a program's, a kernel's, the kernel
 * table's, the memory table's, an allocation's (`moving`, then `lock`), a device's. None is held
 * while waiting for a device, but a kernel's and an allocation's `moving` while the newest image of
 * a block is brought to another device.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_INTERNAL_H
#define CORE_INTERNAL_H

#include "core/observer.h"

#undef clSetKernelArg /* OpenCL's own */

struct program;

/* ---- event.c: the commands of a device that have not been collected. ---- */

enum event_kind { KERNEL_EVENT, MEMORY_EVENT, EVENT_KINDS };

struct event_record {
    cl_event event; /* NULL once clwaitev has taken it out of the middle */
    uint64_t number;
    struct note note;
    bool shared; /* the caller was given a reference too (CL_EVENT_NOWAIT | CL_EVENT_OWN) */
};

/* Records first .. end - 1 of a growable array, oldest first. Those before `seen` are complete, and
 * whether they failed has been looked at. */
struct event_list {
    struct event_record *record;
    size_t first, seen, end, capacity;
};

/* ---- enumerate.c ---- */

/* A device that a context may be made of. */
struct candidate {
    cl_platform_id platform;
    cl_device_id id;
    cl_device_type type;
    char words[4][256]; /* platform name and vendor, device name and vendor */
    char key[80];       /* names the device to every process of the node */
};

/* How many devices there are. Asked before what follows. */
size_t enumerate_count(void);

/* OpenCL's error where not all of them, or not all about them, could be asked; 0: none. */
cl_int enumerate_error(void);

/* Fills chosen[] (room for enumerate_count()) with the devices of `type` that match `patterns`,
 * those of the first pattern first. Returns how many. */
size_t enumerate_match(const char *patterns, cl_device_type type, const struct candidate **chosen);

/* "NAME, NAME" of all devices, for messages; the caller frees it. */
char *enumerate_names(void);

/* ---- device_lock.c ---- */

/* Keeps of chosen[0..n) the first `want` that nobody else has claimed, with their descriptors in
 * *claims. Returns how many, or 0 after fail(). */
size_t device_lock_take(const struct candidate **chosen, size_t n, size_t want, int key,
                        int **claims);
void device_lock_release(int *claims, size_t n);

/* ---- context.c ---- */

struct device {
    cl_device_id id;
    cl_platform_id platform;
    cl_device_type type;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue beside[2]; /* further ones (side_queue.c), or NULL so far; made under `lock`,
                                   and then there until the end */
    bool numbered; /* its programs are built with `number`, where that is not 0: one of `among`
                      devices (number_builds) */
    cl_uint number, among;
    bool shares_memory; /* with the host: there a zero-copy block is its own buffer */
    const char *maker;  /* the macro that names the platform's maker to kernels, or NULL */
    size_t start_align; /* a buffer may start at multiples of this, bytes */
    cl_ulong memory, local_memory; /* bytes */
    char name[128];
    pthread_mutex_t lock; /* guards what follows */
    struct event_list events[EVENT_KINDS];
    struct failure untold[EVENT_KINDS]; /* the first since the last wait, which the next one
                                           reports; code 0: none */
    uint64_t commands;                  /* numbers given so far */
    uint64_t
        bare; /* kernels without an event (untracked.h) that were started since the last marker */
    struct kept *kept; /* the last used first */
};

struct stdcl_context {
    cl_uint ndev;
    struct device *dev;
    bool standard;
    void *_Atomic observed; /* the observer's place; NULL: this context is not observed */
    int *claims; /* descriptors that hold the locks of claimed devices, ndev of them or NULL */
    pthread_mutex_t lock;     /* guards what follows */
    struct program *programs; /* newest first */
    struct program *embedded; /* opened by embedded_of */
    struct failure untold;    /* the first command since the last wait for a device that the context
                                 does not have */
};

/* Makes a context of candidates; takes over `claims`, which may be NULL. */
CLCONTEXT *context_of(const struct candidate **chosen, size_t n, int *claims);

/* ---- device.c ---- */

/* The device, or NULL with EINVAL and a message that names `call`. */
struct device *device_of(CLCONTEXT *cp, cl_uint dev, const char *call);

/* Further queue k, 0 or 1, which another thread may be making; NULL: there is none. With `make` it
 * is made at its first use, if it can be. */
cl_command_queue device_side_queue(struct device *d, int k, bool make);

/* Hands the commands of the further queues to the device. */
void device_flush_side_queues(struct device *d);

/* Waits for all commands of a device. */
void device_drain(struct device *d);

/* ---- event.c, continued ---- */

/* Waits for a command. That it failed, NVIDIA's driver tells by its status alone: below 0 then. */
cl_int event_wait(cl_event ev);

/* What every command does with its event: files it (NOWAIT), or waits for it. Returns what the
 * public call returns. Takes over the reference. */
cl_event event_finish(struct device *d, enum event_kind kind, cl_event ev, struct note note,
                      int flags, const char *call);

/* A kernel without an event is about to be started: false if it must have one all the same. And it
 * was started. */
bool event_spared(CLCONTEXT *cp, struct device *d, int flags);
void event_behind(struct device *d);

/* A launch with these flags is to come, or with 0 another command: puts a marker behind such
 * kernels, by which whoever waits for what is to come learns whether they failed, unless it may go
 * without an event itself. */
void event_mark(struct device *d, int flags);

/* Returns what a call made of its command, `ev`. If that is CL_FAILED and the call does not wait,
 * its sentence is what the next wait for the device reports; with d NULL, since the context has no
 * such device, the next for any. */
cl_event event_or_refusal(CLCONTEXT *cp, struct device *d, enum event_kind kind, cl_event ev,
                          int flags);

/* Tells the observer of all commands of a device that are complete. */
void device_harvest(struct device *d);

void event_lists_free(struct device *d);

/* ---- observer.c ---- */

/* The queue that a command goes to, and the observer's note about it, which is {0} before. */
cl_command_queue command_queue(const struct command *c, struct note *note);

/* The command is enqueued. */
void command_started(const struct command *c, struct note *note, cl_event ev);

/* Its event was found complete, or is about to be given up. Told once. */
void command_collected(struct note *note, cl_event ev);

/* ---- side_queue.c ---- */

/* The queue that a command with these flags goes to, as command_queue says for those without. */
cl_command_queue queue_for(const struct command *c, struct note *note, int flags);

void side_queues_close(struct device *d);

/* ---- memory_table.c ---- */

struct subbuffer {
    struct subbuffer *next;
    cl_uint dev;
    size_t offset;
    cl_mem buffer;
};

/* Host memory that a driver keeps mapped, which makes its copies fast. */
struct mapping {
    cl_mem buffer; /* NULL: none */
    cl_command_queue queue;
    void *at;
};

/* How the devices' images of a block hang together (coherence.c). */
enum sharing { UNDECIDED, AS_ONE, APART };

struct memory {
    char *base;            /* host region, or for CL_MEM_DEVONLY a reserved range of addresses */
    size_t size;           /* as asked for */
    size_t mapped;         /* length of the mapping at base */
    int flags;             /* CL_MEM_PER_DEVICE, _ZEROCOPY, _DEVONLY, _IMAGE2D */
    CLCONTEXT *_Atomic cp; /* NULL while detached */
    cl_mem_flags user_flags;
    size_t width, height; /* of an image; 0: not shaped yet */
    cl_image_format format;
    pthread_mutex_t lock; /* guards the making of what follows */
    cl_mem *buffer;       /* one a device, NULL until first use */
    struct subbuffer *subbuffers;
    struct mapping pin;      /* of the host region, registered with the GPU driver */
    _Atomic int last_device; /* -1: the host */
    _Atomic bool host_current;
    _Atomic bool *device_current; /* one a device */
    _Atomic bool *from_host;      /* one a device: its first use copies the host's image */
    _Atomic bool *given;          /* one a device: the program copied the block, or a part, to it */
    _Atomic enum sharing sharing;
    pthread_mutex_t moving; /* guards the moving of images, and what follows */
    struct mapping stage;   /* through which they are moved */
};

/* Counts every event after which a pointer may mean another buffer (free, detach, realloc, new
 * image shape): a kernel whose arguments were bound at an older epoch looks them up again. */
extern _Atomic uint64_t memory_epoch;
void memory_new_epoch(void);

/* The allocation that holds ptr, or NULL; memory_or_fail says why after fail(). */
struct memory *memory_find(const void *ptr);
struct memory *memory_or_fail(const void *ptr, const char *call);

/* The allocation attached to cp of which this is a device's buffer, or NULL. */
struct memory *memory_of_buffer(const CLCONTEXT *cp, cl_mem buffer);

/* Enters an allocation; false when there is no memory for it. */
bool memory_enter(struct memory *m);

/* Takes the entry whose base is ptr out of the table; NULL when there is none. Of two threads that
 * free the same block, one gets it. */
struct memory *memory_take(const void *ptr);

/* An allocation that is attached to a context, or NULL. */
struct memory *memory_attached_to(const CLCONTEXT *cp);

/* ---- memory_buffers.c ---- */

/* Gives m to a context. `filled`: the first use on a device copies the host's image. 0, or -1 after
 * fail(). */
int memory_attach(CLCONTEXT *cp, struct memory *m, bool filled, const char *call);

/* Waits for work in flight on the devices that hold m, then lets go of them. */
void memory_detach(struct memory *m);

/* Whether the host region is the device's buffer too. */
bool memory_is_host(const struct memory *m, const struct device *d);

/* Whether a device has a buffer of m. */
bool memory_held(const struct memory *m);

/* Registers the host region with the driver of a GPU, once. Failure is no error: copies are
 * slower. */
void memory_pin(struct memory *m, struct device *d);

/* Host memory of m's size that the driver of d keeps, through which images move between devices;
 * NULL when there is none. m->moving is held. */
void *memory_stage(struct memory *m, struct device *d);

/* Enqueues a copy between `host` and bytes of a device's buffer of m; of an image always the
 * whole. */
cl_int memory_enqueue(cl_command_queue queue, const struct memory *m, cl_mem buffer, size_t offset,
                      size_t size, char *host, bool to_device, cl_event *ev);

/* ---- coherence.c ---- */

/* A device is about to use its image of m, which memory_current says is not current: if another
 * device or the host has a newer one that it should see, that is brought there, and waited for. 0,
 * or -1 after fail(). */
int memory_migrate(struct memory *m, cl_uint dev, const char *call);
static inline bool memory_current(const struct memory *m, cl_uint dev)
{
    return atomic_load_explicit(&m->device_current[dev], memory_order_relaxed);
}

/* The program itself copies `m`, or a part, to a device: noted before that, and for the whole block
 * after it. */
int memory_mark_dirty(struct memory *m, cl_uint dev, bool whole, const char *call);
void memory_marked_dirty(struct memory *m, cl_uint dev);

/* The buffer, or sub-buffer at an offset, that device `dev` of m's context uses; made if need be.
 * NULL after fail(). Owned by m. */
cl_mem memory_buffer(struct memory *m, cl_uint dev, size_t offset, const char *call);

/* Notes that a kernel on `dev` was given m. */
void memory_touched(struct memory *m, cl_uint dev);

/* ---- memory.c ---- */

/* Frees all that is attached to a context. */
void memory_free_attached(CLCONTEXT *cp);

/* ---- build.c ---- */

/* One translation unit: source text or one binary a device, and what was built of it. */
struct part {
    char *name;
    char *source; /* zero-terminated; NULL for binaries */
    size_t nbinary, *binary_size;
    unsigned char **binary;
    cl_program *program;                   /* one a device */
    const struct stdcl_embedded *embedded; /* that the source is of, or NULL; not owned */
    bool keep;                             /* CLLD_CACHE */
};

void part_free(struct part *p, cl_uint ndev);

/* Fill a part; `before` is text that is put before the source. False when there is no memory. */
bool part_of_source(struct part *p, const char *name, const char *before, const char *source,
                    size_t size, cl_uint ndev);
bool part_of_binaries(struct part *p, const char *name, size_t n, char **bin, const size_t *size,
                      cl_uint ndev);

/* A binary holds zero bytes, or is the assembly that NVIDIA's driver gives out. */
bool is_binary(const char *data, size_t size);

/* What the compiler said of a part, in places of the user's files; the caller frees it. NULL when
 * there is no memory. */
char *part_log(const struct part *p, cl_device_id id, cl_program program);

/* Builds all parts for all devices; p->lock is held, or nobody else has p. 0, or -1 after
 * fail(). */
int program_build(struct program *p, const char *call);

/* ---- program_cache.c ---- */

/* A program that was built for d from this source with these options, with a reference for the
 * caller; NULL when none is kept. */
cl_program program_cache_find(struct device *d, const char *source, const char *options);

/* Keeps one that was built, if it may be used again. Nothing is lost when there is no memory for
 * that. */
void program_cache_add(struct device *d, cl_program program, const char *source,
                       const char *options);
void program_cache_free(struct device *d);

/* Whether the text is all that such a program depends on. */
bool program_cache_applies(const char *source, const char *options);

/* ---- disk_cache.c ---- */

/* A program that is sought on disk and, if it is not there, built; zero, with lock -1, before. */
struct stored {
    char *key; /* `size` bytes */
    size_t size;
    int lock; /* the descriptor of the lock file, held; -1: not */
    char path[CACHE_PATH];
};

/* The program as it was stored, with a reference for the caller; NULL when it must be built. */
cl_program disk_cache_find(struct stored *s, const struct device *d, const char *source,
                           const char *options);

/* Ends that, and stores the program that was built instead, if any, and if its compiler said
 * nothing: `log`, or NULL. */
void disk_cache_end(struct stored *s, cl_program built, const char *log);

/* The binary of a program for its one device; the caller frees it. NULL when there is none, with
 * OpenCL's error, if any. */
unsigned char *binary_of(cl_program program, size_t *size, cl_int *err);

/* ---- program.c ---- */

struct program {
    struct program *next;
    CLCONTEXT *cp;
    int holders; /* who may not find it freed: the list of open programs, searches; under cp's lock
                  */
    char *options;   /* further build options */
    bool by_clbuild; /* opened with CLLD_NOBUILD */
    size_t nparts;
    struct part *part;
    pthread_mutex_t lock; /* guards what follows */
    bool built;
    struct kernel *kernels;
};

/* A program with room for n parts, not yet listed; NULL after fail(). */
struct program *program_new(CLCONTEXT *cp, size_t nparts, const char *options, const char *call);

/* Builds unless the flags put that off, and lists the program as the newest. Takes p over. */
void *program_open(struct program *p, bool complete, int flags, const char *call);

/* Frees a program that is not listed. */
void program_free(struct program *p);

/* The program behind a handle, if it is open in cp; else NULL after fail(). */
struct program *program_of(CLCONTEXT *cp, const void *handle, const char *call);

/* All open programs, newest first, each held; NULL after fail(). The caller lets go of each and
 * frees the array. */
struct program **program_hold_all(CLCONTEXT *cp, size_t *count, const char *call);

/* Gives up one hold; the last one frees the program. */
void program_let_go(struct program *p);

/* Whether a file of this name is one that kernels are generated from. */
bool is_generated(const char *name);

/* ---- embed.c ---- */

/* The sources, oldest first, and their number; NULL when there are none. Not owned. */
const struct stdcl_embedded *embedded_sources(size_t *n);

/* The binary embedded beside a source for a device, or NULL. Not owned. */
const struct stdcl_embedded_binary *embedded_binary(const struct stdcl_embedded *source,
                                                    cl_device_id id);

/* ---- embed_open.c ---- */

/* Opens all kernels that the executable holds as one program; NULL after fail(). */
void *embedded_open_all(CLCONTEXT *cp, int flags, const char *call);

/* The same, opened once per context, for calls that name no program; and whether there are any for
 * such a call to open. */
struct program *embedded_of(CLCONTEXT *cp, int flags, const char *call);
bool embedded_unopened(CLCONTEXT *cp);

/* ---- debug.c ---- */

/* Whether each error is to be printed as it happens ($STDCL_DEBUG). */
bool debug_prints(void);

/* ---- environment.c ---- */

/* -1 after fail() when a variable that says how the library works has a value that means
 * nothing. */
int environment_check(void);
/* A whole number that a variable must be. */
int environment_number(const char *name, const char *value, long least, long most, long *number);

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
    size_t size;             /* of a value whose type OpenCL defines; 0: not known */
    char name[32], type[32]; /* cut short if longer */
    char accepted[16];       /* name of the last type that passed the comparison with `type` */
};

struct arg {
    enum arg_kind kind;
    size_t size; /* of the value, or of local memory */
    void *value; /* ARG_VALUE: `capacity` bytes, the first `size` in use */
    size_t capacity;
    const void *ptr;  /* ARG_GLOBAL */
    uint64_t version; /* changes whenever the argument does */
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

/* 0 when argument i may be set so, else -1 after fail(). `type` names the value's or pointer's
 * type, or is NULL. */
int check_arg(const struct kernel *k, cl_uint i, enum arg_kind kind, size_t size, const char *type,
              const char *call);

/* ---- kernel_signature.c ---- */

/* The size of a type of OpenCL C by its name, such as "float" or "uchar4"; 0 for others. Vectors of
 * three elements take the room of four (OpenCL C specification, 6.1.5). */
size_t size_of_type(const char *type);

/* Reads out of a source how kernel `name` declares its n arguments. False, with p as it was, when
 * it has no such declaration of n; kind ARG_UNSET where macros or typedefs leave it open. `options`
 * may be NULL. */
bool declared_parameters(const char *source, const char *options, const char *name, cl_uint n,
                         struct parameter *p);

/* ---- kernel.c, continued ---- */

/* Makes the kernel of this name and enters it under its handle; p->lock is held. NULL after
 * fail(). */
struct kernel *kernel_new(struct program *p, const struct part *part, const char *name);
void kernel_remove(struct kernel *k);

/* The kernel of a handle, or NULL; kernel_of says why after fail(). */
struct kernel *kernel_find(cl_kernel handle);
void kernel_free(struct kernel *k);

/* ---- launch.c ---- */

/* clforkv whose messages name `call`; args NULL: start with the arguments as they are. */
cl_event kernel_launch(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, const clndrange_t *ndr, int flags,
                       cl_uint nargs, const struct stdcl_arg *args, const char *call);

/* ---- arguments.c ---- */

/* Records arguments 0 .. nargs - 1; the kernel's lock is held. 0, or -1 after fail(). */
int arguments_record(struct kernel *k, cl_uint nargs, const struct stdcl_arg *args,
                     const char *call);

/* Brings a device's cl_kernel up to date; the kernel's lock is held. 0, or -1 after fail(). */
int arguments_bind(struct kernel *k, cl_uint dev, const char *call);

#endif
