/* kernel.h - kernels: handles, arguments, their declarations, launches.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_KERNEL_H
#define CORE_KERNEL_H

#include "core/memory.h"
#include "core/program.h"

/* ---- kernel.c ---- */

enum arg_kind { ARG_UNSET, ARG_VALUE, ARG_GLOBAL, ARG_LOCAL };

/* An argument as declared in the kernel's source; kind ARG_UNSET if unknown. */
struct parameter {
    enum arg_kind kind;
    size_t size;             /* of a value whose type OpenCL defines; 0: unknown */
    char name[32], type[32]; /* truncated if longer */
    char accepted[16];       /* last type that passed the check */
    bool read_only;          /* const or constant memory, or a read_only image */
};

struct arg {
    enum arg_kind kind;
    size_t size; /* of the value, or of local memory */
    void *value; /* ARG_VALUE: `capacity` bytes, the first `size` in use */
    size_t capacity;
    const void *ptr;     /* ARG_GLOBAL */
    uint64_t version;    /* changes whenever the argument does */
    uint64_t attachment; /* of the recorded block; 0: any */
    bool of_launch;      /* set by a launch with arguments, not by clarg_set */
};

/* An argument as last bound on a device. */
struct binding {
    uint64_t version, epoch;
    struct memory *memory;
};

struct kernel {
    struct kernel *next; /* in the program's list */
    struct program *program;
    char *name;
    cl_uint nargs;
    cl_kernel *on_device;
    pthread_mutex_t lock; /* guards the members below, and clSetKernelArg */
    struct parameter *parameters;
    struct arg *args;
    struct binding **bound; /* [device][argument] */
    uint64_t versions;
    void *place;           /* the observer's data */
    struct kernel *origin; /* of a copy: the kernel from clsym; else NULL */
};

/* Create the kernel of this name and register its handle. Call with p->lock held. NULL after
 * fail(). */
struct kernel *kernel_new(struct program *p, const struct part *part, const char *name,
                          const char *call);
void kernel_remove(struct kernel *k);

/* The kernel of a handle, or NULL; kernel_of then calls fail(). */
struct kernel *kernel_find(cl_kernel handle);
void kernel_free(struct kernel *k);

/* ---- kernel_copy.c ---- */

/* A copy for one device, for a recording, with the arguments recorded so far; it retains the
 * program. Call with the kernel's lock held. NULL after fail(). */
struct kernel *kernel_copy(struct kernel *k, cl_uint dev, const char *call);
void kernel_free_copy(struct kernel *copy);

/* ---- argcheck.c ---- */

/* Query how the arguments of a kernel, which is in this part, are declared. */
void parameters_query(struct kernel *k, const struct part *part);

/* 0 if argument i may be set like this, else -1 after fail(). type: name of the value's or
 * pointer's type, or NULL. */
int check_arg(const struct kernel *k, cl_uint i, enum arg_kind kind, size_t size, const char *type,
              const char *call);

/* 0 if argument i takes a memory object of this kind (0: NULL), or if its kind is unknown; else -1
 * after fail(). */
int check_object_type(const struct kernel *k, cl_uint i, cl_mem_object_type given,
                      const char *call);

/* ---- kernel_signature.c ---- */

/* Size of an OpenCL C type by name, such as "float" or "uchar4"; 0 for an unknown name. Vectors of
 * three elements have the size of four (OpenCL C specification, 6.1.5). */
size_t opencl_type_size(const char *type);

/* Parse from a source how kernel `name` declares its n arguments. False, with p unchanged, if
 * there is no such declaration of n; kind ARG_UNSET where macros or typedefs leave the type open.
 * options may be NULL. signature_resolve: replace the type of an argument, if a typedef or macro of
 * the source names it, by the number type or struct that it stands for. */
bool signature_parse(const char *source, const char *options, const char *name, cl_uint n,
                     struct parameter *p);
void signature_resolve(const char *source, const char *options, struct parameter *p);

/* ---- launch.c ---- */

/* clforkv whose messages name `call`; args NULL: start with the arguments already set. */
cl_event kernel_launch(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, const clndrange_t *ndr, int flags,
                       cl_uint nargs, const struct stdcl_arg *args, const char *call);

/* ---- arguments.c ---- */

/* Record arguments 0 .. nargs - 1. Call with the kernel's lock held. 0, or -1 after fail(). */
int arguments_record(struct kernel *k, cl_uint nargs, const struct stdcl_arg *args,
                     const char *call);

/* Update a device's cl_kernel. Call with the kernel's lock held. 0, or -1 after fail(). */
int arguments_bind(struct kernel *k, cl_uint dev, const char *call);

/* Bind the arguments of a copy. From then on it refuses its blocks after they were freed, detached
 * or resized. Call with the copy's lock held. 0, or -1 after fail(). */
int arguments_fix(struct kernel *copy, cl_uint dev, const char *call);

/* Replace argument i of a copy; on failure it keeps its value. Call with the copy's lock held. 0,
 * or -1 after fail(). */
int arguments_replace(struct kernel *copy, cl_uint dev, cl_uint i, const struct stdcl_arg *arg,
                      const char *call);

#endif
