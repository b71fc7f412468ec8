/* stdcl.h - OpenCL for C programmers, in the style of UNIX.
 *
 *   CLCONTEXT *cp = stddev;                               a list of devices
 *   float *x = clmalloc(cp, n * sizeof *x, 0);            memory that host and devices share
 *   void *h = clopen(cp, "scale.cl", CLLD_NOW);           load kernels, as dlopen loads code
 *   cl_kernel k = clsym(cp, h, "scale", 0);
 *   clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);   host -> device 0
 *   clforka(cp, 0, k, &ndr, CL_EVENT_NOWAIT, x, 2.0f);    start the kernel with its arguments
 *   clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT);     device 0 -> host
 *   clwait(cp, 0, CL_ALL_EVENT);                          collect everything that was started
 *
 * Conventions, true of every call below unless its comment says otherwise:
 *   - int functions return 0, or -1 with clerrno set; pointer functions return NULL with clerrno
 *     set; cl_event functions return (cl_event)-1 with clerrno set. clerror() gives the sentence.
 *   - Sizes and offsets are bytes. Devices of a context are numbered 0 .. clgetndev(cp) - 1.
 *   - A queue of commands per device runs in order; queues of different devices run at once.
 *   - Every call may be used by several threads at the same time, on the same or on different
 *     contexts. Two threads that use one kernel set its arguments with clforka, which sets and
 *     starts in one step. What one of them frees, detaches, closes or destroys no other may be
 *     giving to a call.
 *   - Nothing here prints or exits, except functions whose purpose is to print; with STDCL_DEBUG=1
 *     in the environment each error is also printed to stderr as it happens, and with STDCL_DEBUG=2
 *     the program runs under Oclgrind, too, as `stdcl check` runs it (docs/command.md).
 *
 * Profiles, templates and tuning have headers of their own, stdcl/profile.h, stdcl/template.h and
 * stdcl/tune.h, which this one includes.
 *
 * Structs that end in reserved words may grow there in a later version 1; until then the words must
 * be 0, as an initializer makes them (EINVAL). All other structs stay as they are.
 * tests/install/layout.txt has all sizes and offsets.
 *
 * The interface follows the standard compute layer (STDCL) of 2009-2015 in both of its revisions.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_H
#define STDCL_H

#ifdef __OPENCL_VERSION__
/* ---- Included from a kernel: vector constructors only. ------------------------------------- */

#define __builtin_vector_char2(x, y) ((char2)(x, y))
#define __builtin_vector_char4(x, y, z, w) ((char4)(x, y, z, w))
#define __builtin_vector_uchar2(x, y) ((uchar2)(x, y))
#define __builtin_vector_uchar4(x, y, z, w) ((uchar4)(x, y, z, w))
#define __builtin_vector_int2(x, y) ((int2)(x, y))
#define __builtin_vector_int4(x, y, z, w) ((int4)(x, y, z, w))
#define __builtin_vector_uint2(x, y) ((uint2)(x, y))
#define __builtin_vector_uint4(x, y, z, w) ((uint4)(x, y, z, w))
#define __builtin_vector_float2(x, y) ((float2)(x, y))
#define __builtin_vector_float4(x, y, z, w) ((float4)(x, y, z, w))
#define __builtin_vector_double2(x, y) ((double2)(x, y))

#else
/* ---- Included from a host program. ---------------------------------------------------------- */

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __STDCL__
#define __STDCL__ /* as kernels have it */
#endif

#define STDCL_VERSION_MAJOR 1
#define STDCL_VERSION_MINOR 0
#define STDCL_VERSION_PATCH 0
#define STDCL_VERSION "1.0.0"

/* Calls that take a format as printf does, for compilers that check it. */
#if defined(__GNUC__)
#define STDCL_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))
#else
#define STDCL_PRINTF(at, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The STDCL_VERSION of the library that the program has found, which may be newer than its
 * header's. Static. */
const char *stdcl_version(void);

/* Components of the host's vectors, to be read and assigned; and a historic name of
 * accelerators. */
#define cl_float2_x(v) ((v).s[0])
#define cl_float2_y(v) ((v).s[1])
#define cl_float4_x(v) ((v).s[0])
#define cl_float4_y(v) ((v).s[1])
#define cl_float4_z(v) ((v).s[2])
#define cl_float4_w(v) ((v).s[3])
#define cl_double2_x(v) ((v).s[0])
#define cl_double2_y(v) ((v).s[1])
#define cl_double4_x(v) ((v).s[0])
#define cl_double4_y(v) ((v).s[1])
#define cl_double4_z(v) ((v).s[2])
#define cl_double4_w(v) ((v).s[3])
#define CL_DEVICE_TYPE_RPU CL_DEVICE_TYPE_ACCELERATOR

/* ---- Contexts: lists of devices. ------------------------------------------------------------ */

/* A list of devices, opaque and always used by pointer. Each device has an OpenCL context and an
 * in-order command queue of its own, so that devices never wait for each other by accident. */
typedef struct stdcl_context CLCONTEXT;
typedef struct stdcl_context CONTEXT;

/* The standard contexts, made at first use; NULL when there is no such device, or after an error,
 * which clerror() tells. Owned by the library: do not destroy them.
 *   stddev  every device of every platform        stdcpu  the CPUs (of the first platform with any)
 *   stdgpu  every GPU                             stdacc  every accelerator
 *   stdnpu  every device, as stddev (historic)    stdrpu  always NULL (historic)
 * For X in DEV CPU GPU ACC NPU the environment may say STDX=0 (no such context),
 * STDX_PLATFORM_NAME=a,b (see clcontext_create; when nothing matches, a warning on stderr and what
 * there is), STDX_MAX_NDEV=n (the first n devices only) and STDX_LOCK=key (see clcontext_create;
 * the process then claims MAX_NDEV devices, by default 1).
 * They are variables. Each name is a macro that asks for the variable's address; it has no
 * parentheses, so that a program may also declare the name: extern CLCONTEXT *stdgpu;.
 * -Dstdgpu=stdcpu makes one stand for another. A program that links to the names without this
 * header calls stdcl_init first. */
#ifndef stddev
#define stddev *stdcl_stddev_address()
#endif
#ifndef stdcpu
#define stdcpu *stdcl_stdcpu_address()
#endif
#ifndef stdgpu
#define stdgpu *stdcl_stdgpu_address()
#endif
#ifndef stdacc
#define stdacc *stdcl_stdacc_address()
#endif
#ifndef stdnpu
#define stdnpu *stdcl_stdnpu_address()
#endif
#ifndef stdrpu
#define stdrpu *stdcl_stdrpu_address()
#endif
CLCONTEXT **stdcl_stddev_address(void);
CLCONTEXT **stdcl_stdcpu_address(void);
CLCONTEXT **stdcl_stdgpu_address(void);
CLCONTEXT **stdcl_stdacc_address(void);
CLCONTEXT **stdcl_stdnpu_address(void);
CLCONTEXT **stdcl_stdrpu_address(void);

/* The same by number, for other languages: 0 stddev, 1 stdcpu, 2 stdgpu, 3 stdacc, 4 stdnpu, else
 * NULL. */
CLCONTEXT *stdcl_standard_context(int which);

/* Makes the standard contexts now instead of at first use. Never needed; never fails. */
void stdcl_init(void);

/* Makes a context of the devices of `devtype` (CL_DEVICE_TYPE_CPU, ..._ALL, ...) whose platform or
 * device name or vendor contains one of the substrings in `platforms`, a comma list in order of
 * priority, in any case of letters; NULL or "" takes every platform. At most ndevmax devices, 0 =
 * no limit. `ext` must be NULL or {0}: properties such as GL sharing give ENOTSUP.
 * lock_key != 0: processes that use the same key share the node's devices without overlap; the call
 * claims ndevmax (0 = 1) devices that no other process has claimed, until the context is destroyed
 * or the process ends, however it ends (flock). EBUSY when too few are free.
 * The caller destroys it. NULL with ENODEV when nothing matches; the message lists what there
 * is. */
CLCONTEXT *clcontext_create(const char *platforms, int devtype, size_t ndevmax,
                            cl_context_properties *ext, int lock_key);

/* Historic: the same as clcontext_create. */
CLCONTEXT *clcontext_create_stdnpu(const char *platforms, int devtype, size_t ndevmax,
                                   cl_context_properties *ext, int lock_key);

/* Makes a context of exactly these devices, in this order. The caller destroys it. */
CLCONTEXT *clcontext_create_from(const cl_device_id *devices, size_t ndev);

/* Waits for all work, then releases the context: its programs, kernels and events, and every
 * allocation still attached. The standard contexts and NULL give EINVAL. */
int clcontext_destroy(CLCONTEXT *cp);

/* The number of devices; 0 for NULL. */
cl_uint clgetndev(CLCONTEXT *cp);

/* What is known of a device. Sizes in bytes, frequency in MHz, strings zero-terminated. */
struct cldev_info {
    cl_device_type dev_type;
    cl_uint dev_vendor_id;
    cl_uint dev_max_core; /* compute units */
    cl_uint dev_max_wi_dim;
    size_t dev_max_wi_sz[4];
    cl_uint dev_max_wi_sz_is_symmetric;
    size_t dev_max_wg_sz;
    cl_uint dev_pref_vec_char;
    cl_uint dev_pref_vec_short;
    cl_uint dev_pref_vec_int;
    cl_uint dev_pref_vec_long;
    cl_uint dev_pref_vec_float;
    cl_uint dev_pref_vec_double; /* 0: the device has no double precision */
    cl_uint dev_max_freq;
    cl_bitfield dev_addr_bits;
    cl_ulong dev_global_mem_sz;
    cl_ulong dev_max_mem_alloc_sz;
    cl_bool dev_img_sup;
    cl_uint dev_max_img_args_r;
    cl_uint dev_max_img_args_w;
    size_t dev_img2d_max_width;
    size_t dev_img2d_max_height;
    size_t dev_img3d_max_width;
    size_t dev_img3d_max_height;
    size_t dev_img3d_max_depth;
    cl_uint dev_max_samplers;
    size_t dev_max_param_sz;
    cl_uint dev_mem_base_addr_align; /* bits */
    char dev_name[256];
    char dev_vendor[256];
    char dev_version[256];
    char dev_drv_version[256];
    cl_ulong dev_local_mem_sz;
};

/* How much a context holds. impid is historic and always 0. */
struct clstat_info {
    cl_uint impid;
    cl_uint ndev; /* devices */
    cl_uint nprg; /* open programs */
    cl_uint nkrn; /* kernels that clsym has given out */
};

/* Fills info[0 .. clgetndev(cp) - 1], an array of the caller's. -1 when a device does not
 * answer. */
int clgetdevinfo(CLCONTEXT *cp, struct cldev_info *info);

/* Prints `ndev` entries of `info` as lines NAME=value. */
void clfreport_devinfo(FILE *fp, size_t ndev, struct cldev_info *info);

/* Counts what the context holds: devices, open programs, and kernels. */
int clstat(CLCONTEXT *cp, struct clstat_info *info);

/* The OpenCL objects underneath, for programs that mix both worlds. Owned by the library; NULL for
 * a device that is not there. clgetbuffer makes the device's buffer if it has none yet; it is valid
 * until clfree, clmdetach or clmrealloc. */
cl_device_id clgetdevice(CLCONTEXT *cp, cl_uint dev);
cl_context clgetclcontext(CLCONTEXT *cp, cl_uint dev);
cl_command_queue clgetqueue(CLCONTEXT *cp, cl_uint dev);
cl_mem clgetbuffer(CLCONTEXT *cp, cl_uint dev, void *ptr);

/* ---- Memory: one host region and, per device, a buffer made at first use. -------------------- */

#define CL_MEM_RO 0x000001 /* historic, no effect */
#define CL_MEM_WO 0x000002 /* historic, no effect */
#define CL_MEM_RW 0x000003 /* historic, no effect */
#define CL_MEM_HOST 0x000100
#define CL_MEM_DEVICE 0x000200
#define CL_MEM_NOCOPY 0x000400     /* historic, no effect: a buffer is never filled by its making */
#define CL_MEM_DETACHED 0x001000   /* clmalloc: belongs to no context until clmattach */
#define CL_MEM_NOFORCE 0x002000    /* clmsync: only when that side is not current */
#define CL_MEM_ZEROCOPY 0x004000   /* clmalloc: one image for the host and its CPU devices */
#define CL_MEM_DEVONLY 0x008000    /* clmalloc: no host region */
#define CL_MEM_IMAGE2D 0x010000    /* clmalloc: a 2-D image, shaped by clmctl */
#define CL_MEM_PER_DEVICE 0x020000 /* clmalloc: each device has an image of its own */
#define CL_MEM_CLBUF 0x100000
#define CL_MEM_GLBUF 0x200000
#define CL_MEM_GLTEX2D 0x2000000
#define CL_MEM_GLTEX3D 0x4000000
#define CL_MEM_GLRBUF 0x8000000

/* Allocates `size` bytes that the host and every device of `cp` share, page aligned and zeroed on
 * the host. The images of host and devices are distinct: only clmsync copies between them, and a
 * device's image is undefined until then. The devices of `cp` see one block, unless the program
 * itself copies it to several of them. When a call uses the block on a device (clfork, clmcopy,
 * clmsync with CL_MEM_HOST) and another device has the newest image, the call waits and first
 * brings that image over, by way of pinned host memory. But once the program has copied the block,
 * or a part of it, to one device while another had an image, each device keeps an image of its own,
 * and only clmsync, clmsyncn and clmcopy move data. Size 0 gives a unique pointer. Flags, or 0:
 *   CL_MEM_DETACHED  `cp` is ignored; clmattach gives the block a context later
 *   CL_MEM_IMAGE2D   devices hold a 2-D image; give its shape with clmctl before first use
 *   CL_MEM_ZEROCOPY  on CPU devices the host region is the buffer: syncs copy nothing, and the host
 *                    must not touch it while a kernel runs; elsewhere copies as without the flag.
 *                    Other devices have an image each, as with CL_MEM_PER_DEVICE
 *   CL_MEM_DEVONLY   scratch memory on the devices: the pointer is an address to pass to clarg_*
 *                    and clmcopy, and must not be dereferenced; clmsync gives EINVAL. Each device
 *                    has its own
 *   CL_MEM_PER_DEVICE     each device has an image of its own from the start: for a block of which
 * every device writes its share ENOMEM when host or devices cannot hold it (the message says how
 * much was asked for), EINVAL for a NULL context without CL_MEM_DETACHED or for flags that do not
 * go together. */
void *clmalloc(CLCONTEXT *cp, size_t size, int flags);

/* Changes the size of a block, which may move. Host bytes are kept up to the smaller size, what
 * only a device holds is lost; waits for work in flight. ptr NULL is clmalloc. On failure NULL, and
 * the old block stays as it was. With CL_MEM_DETACHED the block is detached afterwards. Else it is
 * attached to `cp`, or if that is NULL to the context it had, and a device's first use copies what
 * the host has then. Other flags of the old block stay; an image's shape does not: give it anew. */
void *clmrealloc(CLCONTEXT *cp, void *ptr, size_t size, int flags);

/* Waits for work in flight on the block, then frees it. NULL is fine. EFAULT: not from clmalloc. */
int clfree(void *ptr);

/* Gives a detached block to a context / takes it back (waiting for work in flight; the devices'
 * images are lost: nothing is copied to the host). After clmattach a device's first use of the
 * block, unless that is clmsync, copies what the host has then. EFAULT: unknown block; EINVAL:
 * already (not) attached. */
int clmattach(CLCONTEXT *cp, void *ptr);
int clmdetach(void *ptr);

/* Copies a whole allocation, also when ptr points into its middle, between host and device `dev`:
 * flags hold exactly one of CL_MEM_HOST (device to host) and CL_MEM_DEVICE (host to device), else
 * EINVAL. Blocks unless CL_EVENT_NOWAIT; the return value is as clfork's. CL_MEM_NOFORCE: nothing
 * is copied when that side is current already. A kernel that was given the block makes the host
 * region and the other devices' buffers out of date. The library cannot see that the host has
 * written: after that, sync without CL_MEM_NOFORCE. */
cl_event clmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags);

/* As clmsync, for the `size` bytes from ptr on; EINVAL when they leave the allocation. */
cl_event clmsyncn(CLCONTEXT *cp, cl_uint dev, void *ptr, size_t size, int flags);

/* Copies the whole of src's device image over dst's on device `dev`, without the host; dst must be
 * at least as large. Blocks unless CL_EVENT_NOWAIT; the return value is as clfork's. */
cl_event clmcopy(CLCONTEXT *cp, cl_uint dev, void *src, void *dst, int flags);

/* The size that was asked for; 0 with EFAULT for an unknown pointer. Interior pointers work. */
size_t clsizeofmem(void *ptr);

/* The first byte of the allocation that holds ptr; NULL with EFAULT when there is none in `cp` (or,
 * with cp NULL, in any context or none). */
void *clmemptr(CLCONTEXT *cp, void *ptr);

/* Asks about an allocation, or changes it; returns >= 0, or -1 with EFAULT, EINVAL or ENOTSUP.
 *   CL_MCTL_GET_STATUS                      the flags of the block; CL_MEM_DETACHED if it is so now
 *   CL_MCTL_GET_DEVNUM                      the device last synced, forked or set; -1 at first, and
 *                                           after the host was
 *                                           synced
 *   CL_MCTL_SET_DEVNUM   int                sets that number
 *   CL_MCTL_MARK_CLEAN                      declares host and all existing device images current
 *   CL_MCTL_SET_IMAGE2D  int w, int h, cl_image_format *   makes the block a w x h image (format
 *                        NULL
 *                        = RGBA float); the pixels must fit the block. EBUSY once a device holds it
 *   CL_MCTL_SET_USRFLAGS int, CL_MCTL_CLR_USRFLAGS int      cl_mem_flags for the devices' buffers;
 *                        EBUSY once a device holds one */
#define CL_MCTL_GET_STATUS 1
#define CL_MCTL_GET_DEVNUM 2
#define CL_MCTL_SET_DEVNUM 3
#define CL_MCTL_MARK_CLEAN 4
#define CL_MCTL_SET_IMAGE2D 5
#define CL_MCTL_SET_USRFLAGS 6
#define CL_MCTL_CLR_USRFLAGS 7
int clmctl(void *ptr, int op, ...);
int clmctl_va(void *ptr, int op, va_list ap);

/* OpenGL sharing of the historic interface: no platform we serve has it; NULL / -1, ENOTSUP. */
void *clglmalloc(CLCONTEXT *cp, cl_uint glbuf, cl_uint target, cl_int level, int flags);
cl_event clglmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags);

/* ---- Loader: programs and kernels. ----------------------------------------------------------- */

#define CLLD_DEFAULT 0
#define CLLD_LAZY 1    /* build at the first clsym */
#define CLLD_NOW 2     /* build before returning; the default */
#define CLLD_NOBUILD 4 /* clbuild builds, with options of the caller's */
#define CLLD_CACHE                                                                                 \
    16 /* of what is built on a CPU by PoCL, keep a binary on disk, which later processes load ten \
          times as fast; the first one compiles about twice as long (docs/layer.md) */
#define CLLD_GLOBAL 8 /* historic, no effect: every program is found by clsym with handle NULL */

/* Opens kernels: `file` holds OpenCL C, or a program binary such as clsave wrote; NULL opens the
 * sources that `stdcl embed` linked into this executable. Programs are built with -D __STDCL__,
 * -D __CPU__ or -D __GPU__, a macro for the platform's maker (__NVIDIA__, __AMD__, __INTEL__), and
 * -I for this header, the file's folder and the working directory. The caller closes the handle.
 * NULL when the file cannot be read (its errno) or, unless CLLD_LAZY or CLLD_NOBUILD, when it does
 * not build (ENOEXEC): clerror() then holds the compiler's log. */
void *clopen(CLCONTEXT *cp, const char *file, int flags);

/* As clopen, from a zero-terminated string; the string is copied. */
void *clsopen(CLCONTEXT *cp, const char *source, int flags);

/* As clopen, from `size` bytes of memory, source or binary; the bytes are copied. */
void *clload(CLCONTEXT *cp, void *ptr, size_t size, int flags);

/* As clopen, from binaries: bin[i], of size[i] bytes, for device i of the context. n must be
 * clgetndev(cp), or 1 to use the same binary everywhere. */
void *clloadb(CLCONTEXT *cp, int n, char **bin, size_t *size, int flags);

/* As clload of source, for a library that carries its kernels: messages call the program `name`,
 * and when $STDCL_KERNEL_PATH holds a file `name` that is read instead. The first line of `options`
 * (may be NULL) is added to the default options. Further lines are OpenCL C, which is put before
 * the source that is read: "-D N=4\n#define F(x) ((x) * (x))\n". */
void *clopen_named(CLCONTEXT *cp, const char *name, const char *source, size_t size,
                   const char *options, int flags);

/* Builds a CLLD_NOBUILD or CLLD_LAZY program for every device of cp with further options, of any
 * length; NULL = none. handle NULL: the sources that `stdcl embed` linked into this executable.
 * EINVAL when it is already built; ENOEXEC with the log when it fails. */
int clbuild(CLCONTEXT *cp, void *handle, char *options, int flags);

/* Writes the binary that device `dev` runs to `file`, for clopen on the same kind of device. */
int clsave(CLCONTEXT *cp, void *handle, cl_uint dev, const char *file);

/* The kernel called `name`: usable with every device of the context, and owned by the program until
 * clclose. The same name gives the same kernel, arguments included. handle NULL looks in all open
 * programs, newest first, and then in the sources that `stdcl embed` linked into this executable.
 * NULL with ENOENT, and a message that lists the names there are. The returned object is the first
 * device's cl_kernel, so OpenCL's own queries work on it. */
cl_kernel clsym(CLCONTEXT *cp, void *handle, const char *name, int flags);

/* Waits for the context's work in flight, then releases the program and its kernels. */
int clclose(CLCONTEXT *cp, void *handle);

/* ---- Arguments. ------------------------------------------------------------------------------ */

/* clarg_set(krn, i, value), or clarg_set(cp, krn, i, value): argument i by value. Any type,
 * literals too; the type is the value's own, so mind that 1.0f is a float, 1.0 a double and 1 an
 * int. A compound literal that holds commas needs parentheses around it. Returns 0 or -1. */
/* clarg_set_global([cp,] krn, i, ptr): argument i is the whole block that ptr points into, on
 * whatever device the kernel is started. Returns how many bytes ptr is behind the block's first
 * byte, for the program to pass on to the kernel if that needs it: 0 for the block itself.
 * (size_t)-1 with EFAULT for an unknown pointer. It is a function as well, of which programs may
 * take the address: size_t (CLCONTEXT *, cl_kernel, cl_uint, void *). clarg_set_pointer(krn, i,
 * ptr): argument i is ptr itself, which the kernel sees as its buffer's start. Returns 0, or -1:
 * EFAULT for an unknown pointer, EINVAL for an offset at which a device of the context cannot start
 * a buffer. */
/* clarg_set_local([cp,] krn, i, bytes): argument i is that much local memory. Returns 0 or -1. */
size_t clarg_set_global(CLCONTEXT *cp, cl_kernel krn, cl_uint i, void *ptr);
#define clarg_set(...) STDCL_PICK4(__VA_ARGS__, STDCL_ARG4, STDCL_ARG3, , )(__VA_ARGS__)
#ifndef __cplusplus /* in C++ functions, at the end, so that classes may have members of that name \
                     */
#define clarg_set_global(...) STDCL_PICK4(__VA_ARGS__, STDCL_GLB4, STDCL_GLB3, , )(__VA_ARGS__)
#endif
#define clarg_set_pointer(krn, i, ptr) STDCL_PTR3(krn, i, ptr)
#define clarg_set_local(...) STDCL_PICK4(__VA_ARGS__, STDCL_LOC4, STDCL_LOC3, , )(__VA_ARGS__)

/* clSetKernelArg(krn, i, size, value), OpenCL's own call, on a handle of clsym sets the argument
 * for every device, as clarg_set does. A device's buffer, of clgetbuffer, stands for its whole
 * block; another cl_mem belongs to one device, and the others do not start with it (EINVAL, named).
 * Returns OpenCL's code; clerror() has the sentence. Other kernels are OpenCL's as ever. Without
 * this macro, as (clSetKernelArg)(...), the call reaches the first device alone. */
#define clSetKernelArg(krn, i, size, value) stdcl_set_kernel_arg(krn, i, size, value)
cl_int stdcl_set_kernel_arg(cl_kernel krn, cl_uint i, size_t size, const void *value);

/* The types of a kernel's arguments are known when it was built from source, unless a macro or a
 * typedef hides them. Then a wrong size, an int for a float, a double * or int * for a float *, a
 * host pointer for a buffer and the like give EINVAL, and the sentence names the kernel, the
 * argument and both types. A void * or char * passes for any pointer, a whole number for one of the
 * same size, signed or not, and a struct for a struct of the same size. NULL of another type than
 * void * is memory that clmalloc did not give: EFAULT. For kernels that test for it a NULL is a
 * void * (in C NULL itself; in C++ (void *)0), and a kernel that does not test reads at address 0,
 * which may end the program. */

/* How a kernel declares an argument: what it takes (enum stdcl_arg_kind, -1 where that is not
 * known), its type without qualifiers, such as "uint" or "float4*", and its name, "" where they are
 * not known. At most 31 letters of each; the kernel owns the texts. */
typedef struct {
    int kind;
    const char *type, *name;
} clarg_info_t;

/* Fills *info for argument i. Returns 0, or -1 with EINVAL when the kernel is none of clsym's or
 * has no argument i. */
int clarg_info(cl_kernel krn, cl_uint i, clarg_info_t *info);

/* What these macros call. `value` is the address of `size` bytes, which are copied; `type` names
 * its type, or a pointer's, as OpenCL does ("uint", "float*"; "pointer": another), or is NULL,
 * which is not compared. */
int stdcl_arg_value(cl_kernel krn, cl_uint i, size_t size, const void *value, const char *type);
size_t stdcl_arg_global(cl_kernel krn, cl_uint i, const void *ptr, const char *type);
int stdcl_arg_pointer(cl_kernel krn, cl_uint i, const void *ptr, const char *type);
int stdcl_arg_local(cl_kernel krn, cl_uint i, size_t bytes);

/* ---- Running. -------------------------------------------------------------------------------- */

/* An index space: dim in 1..4 (OpenCL devices take at most 3), offset, global and local sizes in
 * work-items. A local size of 0 in the first dimension lets the runtime choose. */
typedef struct clndrange_struct {
    size_t dim;
    size_t gtid_offset[4];
    size_t gtid[4];
    size_t ltid[4];
} clndrange_t;

/* clndrange_t ndr = clndrange_init1d(offset, global, local); two and three dimensions repeat the
 * three numbers for each. clndrange_set1d(ndr, offset, global, local) assigns to an existing
 * one. */
#define clndrange_init1d(o0, g0, l0) STDCL_NDR(1, o0, g0, l0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define clndrange_init2d(o0, g0, l0, o1, g1, l1)                                                   \
    STDCL_NDR(2, o0, g0, l0, o1, g1, l1, 0, 0, 0, 0, 0, 0)
#define clndrange_init3d(o0, g0, l0, o1, g1, l1, o2, g2, l2)                                       \
    STDCL_NDR(3, o0, g0, l0, o1, g1, l1, o2, g2, l2, 0, 0, 0)
#define clndrange_init4d(o0, g0, l0, o1, g1, l1, o2, g2, l2, o3, g3, l3)                           \
    STDCL_NDR(4, o0, g0, l0, o1, g1, l1, o2, g2, l2, o3, g3, l3)
#define clndrange_set1d(ndr, o0, g0, l0)                                                           \
    STDCL_NDR_SET(ndr, (1, o0, g0, l0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
#define clndrange_set2d(ndr, o0, g0, l0, o1, g1, l1)                                               \
    STDCL_NDR_SET(ndr, (2, o0, g0, l0, o1, g1, l1, 0, 0, 0, 0, 0, 0))
#define clndrange_set3d(ndr, o0, g0, l0, o1, g1, l1, o2, g2, l2)                                   \
    STDCL_NDR_SET(ndr, (3, o0, g0, l0, o1, g1, l1, o2, g2, l2, 0, 0, 0))
#define clndrange_set4d(ndr, o0, g0, l0, o1, g1, l1, o2, g2, l2, o3, g3, l3)                       \
    STDCL_NDR_SET(ndr, (4, o0, g0, l0, o1, g1, l1, o2, g2, l2, o3, g3, l3))

#define CL_FAST 0
#define CL_EVENT_WAIT 0x1
#define CL_EVENT_NOWAIT 0x2
#define CL_EVENT_RELEASE 0x4 /* historic, the default */
#define CL_EVENT_NORELEASE                                                                         \
    0x8 /* a call that waits hands the event to the caller, who releases it */
#define CL_KERNEL_EVENT 0x10
#define CL_MEM_EVENT 0x20
#define CL_ALL_EVENT 0x30
#define CL_EVENT_UNCOUNTED 0x40 /* of a launch: profiles leave it out */
#define CL_EVENT_OWN                                                                               \
    0x800 /* the caller gets a reference of its own, and releases it with clReleaseEvent */
#define CL_EVENT_SIDE_QUEUE                                                                        \
    0x40000 /* in a further queue of the device, which does not wait for the first */
#define CL_EVENT_BARRIER 0x80000 /* waits for what was started in the others */
#define CL_EVENT_CHECKED                                                                           \
    0x80 /* with NOWAIT: the caller looks at the result, so waits need not tell a refusal */

/* Starts a kernel on device `dev` with the arguments recorded for it.
 *   CL_EVENT_NOWAIT           returns at once, with an event that the library owns; it is valid
 *                             until
 *                             clwait on that device collects it (or, if nobody waits, until some
 *                             thousands of later commands have completed). CL_EVENT_NORELEASE has
 *                             no effect with it: give that to clwait or clwaitev
 *   CL_EVENT_WAIT, or 0       blocks until done, returns 0
 *   ... | CL_EVENT_NORELEASE  blocks and returns the event, which the caller releases with
 *   clReleaseEvent
 *   ... | CL_EVENT_OWN        with or without waiting, returns an event of which the caller has a
 *   reference
 *                             of its own, whatever clwait does with the library's
 *   ... | CL_EVENT_UNCOUNTED  is left out of profiles: a launch that only warms up, say
 *   ... | CL_EVENT_CHECKED    a refusal is told by this call alone (see clwait); for clmsync and
 *   clmcopy too
 *   ... | CL_EVENT_SIDE_QUEUE     goes to a further queue of the device, of which there are two:
 * for copies to it, and for all else. There it is in order, but neither waits for commands without
 *                             the flag, nor do these for it. So copies may travel, both ways, while
 *                             a kernel runs. Which command needs what of which queue is the
 *                             caller's to know. CPUs have one queue only, and so has a context that
 *                             is profiled. For clmsync and clmcopy too
 *   ... | CL_EVENT_BARRIER      waits for all that was started before it: with CL_EVENT_SIDE_QUEUE
 * in the first queue, else in the further ones; and what follows it in its own queue waits for
 * that, too. For clmsync and clmcopy too Failure: (cl_event)-1. EINVAL: a wrong size, device,
 * dimension or an argument never set (named); EFAULT: a block given as argument was freed since;
 * ENOMEM: no memory for a block on the device. */
cl_event clfork(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags);

/* clforka(cp, dev, krn, ndr, flags, args...): sets arguments 0, 1, ... and starts the kernel, in
 * one step. Pointers are taken as clarg_set_pointer takes them, cl_mem and cl_sampler objects as
 * themselves, `clarg_local(bytes)` as that much local memory, everything else by value. 0 to 63
 * arguments; those of the kernel that lie behind the last one given stay as they were set
 * before. */
#define clforka(cp, dev, krn, ndr, ...) STDCL_FORKA(cp, dev, krn, ndr, __VA_ARGS__)

/* clexec(cp, dev, ndr, symbol, args...): clforka of a kernel that `stdcl embed` linked into this
 * executable, by its bare name; CL_EVENT_NOWAIT. clexecb is the same and blocks. */
#define clexec(cp, dev, ndr, ...) STDCL_EXEC(cp, dev, ndr, CL_EVENT_NOWAIT, __VA_ARGS__)
#define clexecb(cp, dev, ndr, ...) STDCL_EXEC(cp, dev, ndr, CL_EVENT_WAIT, __VA_ARGS__)

/* An argument of clforka as its macro passes it on. */
enum stdcl_arg_kind { STDCL_VALUE = 0, STDCL_GLOBAL = 1, STDCL_LOCAL = 2 };
struct stdcl_arg {
    size_t size;       /* of the value */
    int kind;          /* enum stdcl_arg_kind */
    const void *value; /* its address; of a pointer, the address of the pointer; of local memory,
                          that of a stdcl_local_t */
    const char
        *type; /* its name, "uint" or "float*", or NULL: it is not compared with the declaration */
};
typedef struct {
    size_t bytes;
} stdcl_local_t;
#ifdef __cplusplus
#define clarg_local(n) stdcl_cxx::local((size_t)(n))
#else
#define clarg_local(n) ((stdcl_local_t){(size_t)(n)})
#endif

/* As clforka, from an array; clexecv finds the embedded kernel `symbol` first. stdcl_forka is what
 * the macro clforka calls: clforkv whose messages name clforka. */
cl_event clforkv(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags,
                 cl_uint nargs, const struct stdcl_arg *args);
cl_event clexecv(CLCONTEXT *cp, cl_uint dev, clndrange_t *ndr, int flags, const char *symbol,
                 cl_uint nargs, const struct stdcl_arg *args);
cl_event stdcl_forka(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags,
                     cl_uint nargs, const struct stdcl_arg *args);

/* Waits until the kernel events (CL_KERNEL_EVENT) and/or memory events (CL_MEM_EVENT) of a device
 * are complete, and forgets them. Without either flag: both. With CL_EVENT_NORELEASE every event
 * that the library owned is the caller's from then on, who releases it with clReleaseEvent, once
 * (an event of CL_EVENT_OWN is the caller's already, and stays so). With CL_EVENT_NOWAIT it waits
 * for nothing, as waitpid with WNOHANG: commands that are complete are forgotten, up to the first
 * that is not. Returns 0, also for a context without that device; (cl_event)-1 when a command of
 * that kind failed since the last clwait:
 *   - on the device: EIO;
 *   - or it was refused: a clfork, clforka, clmsync or clmcopy with CL_EVENT_NOWAIT that returned
 *   (cl_event)-1 makes the
 *     next clwait fail with its code and its sentence. So a program may start commands without
 *     looking at what each call returns, and check clwait alone. (With the number of a device that
 *     the context does not have, the next clwait fails, whichever device it waits for.)
 * Of several failures the first is reported, and all count as reported. Other calls that wait for a
 * device (clwaitev, and clfork, clmsync or clmcopy that block) fail in the same way when an earlier
 * command of either kind failed and that was not reported yet: lost results are never success.
 * clfree, clclose and clmdetach wait too, and leave the failure for the next clwait. */
cl_event clwait(CLCONTEXT *cp, cl_uint dev, int flags);

/* Waits for one event: of clfork, clmsync or clmcopy with CL_EVENT_NOWAIT, or one the caller owns.
 * The library forgets the event, and releases it if it owned it; with CL_EVENT_NORELEASE that event
 * is the caller's from then on. CL_EVENT_RELEASE releases an event of the caller's too. Returns
 * `ev`, which must not be used any more if it was released; (cl_event)-1 as clwait does. */
cl_event clwaitev(CLCONTEXT *cp, cl_uint dev, const cl_event ev, int flags);

/* Hands all commands so far to the device, without waiting. `flags` is historic: 0. */
int clflush(CLCONTEXT *cp, cl_uint dev, int flags);

/* ---- Errors. --------------------------------------------------------------------------------- */

/* The code of the calling thread's last failing call, an errno value; 0 at first, and never set
 * back to 0 by a call that succeeds. oclerrno: the OpenCL code behind it, or 0. Both may be
 * assigned. */
#define clerrno (*stdcl_errno_address())
#define oclerrno (*stdcl_oclerrno_address())
int *stdcl_errno_address(void);
int *stdcl_oclerrno_address(void);

/* The sentence of the calling thread's last failure (what was called, on what, what to do; of a
 * build, the compiler's log), valid until that thread's next call here; then, as dlerror, NULL
 * until the next failure. Control characters of what it quotes are '?', but for newline and tab. */
char *clerror(void);

/* Prints "prefix: text" of clerrno / oclerrno to stderr, as perror. */
void clperror(const char *prefix);
void oclperror(const char *prefix);

/* The text of a clerrno value; the name and text of an OpenCL code. Never NULL; static memory. */
const char *clerror_str(int code);
const char *oclerror_str(int code);

/* For libraries on top of this one: sets clerrno to `code` and the sentence of clerror(), and
 * returns -1, so that a function may end with `return clerror_set(EINVAL, "...", ...)`. */
int clerror_set(int code, const char *format, ...) STDCL_PRINTF(2, 3);

/* What an object made by `stdcl embed` calls at start-up; keeps the pointer, does nothing else. */
struct stdcl_embedded {
    const char *name;
    const unsigned char *data;
    size_t size;
    struct stdcl_embedded *next; /* the library's */
};
void stdcl_embed_register(struct stdcl_embedded *source);

/* The same for a binary of an embedded source, `stdcl embed --binary`: programs of clopen(cp, NULL,
 * ...) take it on the device and driver that it names, and the source elsewhere. */
struct stdcl_embedded_binary {
    const struct stdcl_embedded *source;
    const char *device; /* name, driver and platform, in one text */
    const unsigned char *data;
    size_t size;
    struct stdcl_embedded_binary *next; /* the library's */
};
void stdcl_embed_register_binary(struct stdcl_embedded_binary *binary);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- The rest of the layer, a header each. --------------------------------------------------- */

#include "stdcl/profile.h"  /* clprofile...: where the time went; clpeak: what a device can do */
#include "stdcl/template.h" /* clopent, cltemplate: kernels that are generated */
#include "stdcl/tune.h"     /* cltune...: measured kernel shapes */

/* ---- The machinery behind the macros, and clarg_set_global in C++; nothing below is interface.
 * - */

#define STDCL_NDR(d, o0, g0, l0, o1, g1, l1, o2, g2, l2, o3, g3, l3)                               \
    {                                                                                              \
        (size_t)(d), {(size_t)(o0), (size_t)(o1), (size_t)(o2), (size_t)(o3)},                     \
            {(size_t)(g0), (size_t)(g1), (size_t)(g2), (size_t)(g3)},                              \
        {                                                                                          \
            (size_t)(l0), (size_t)(l1), (size_t)(l2), (size_t)(l3)                                 \
        }                                                                                          \
    }

/* The fifth argument: the name for four arguments, or the one for three. */
#define STDCL_PICK4(a1, a2, a3, a4, name, ...) name

#define STDCL_ARG4(cp, krn, i, value) STDCL_ARG3(krn, i, value)
#define STDCL_GLB4(cp, krn, i, ptr) STDCL_GLB3(krn, i, ptr)
#define STDCL_LOC4(cp, krn, i, bytes) STDCL_LOC3(krn, i, bytes)
#define STDCL_LOC3(krn, i, bytes) stdcl_arg_local((krn), (cl_uint)(i), (size_t)(bytes))

/* How many arguments follow the first, 0 to 63; and the first as a string. */
#define STDCL_65TH(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,     \
                   a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, \
                   a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, \
                   a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, n,   \
                   ...)                                                                            \
    n
#define STDCL_COUNT(...)                                                                           \
    STDCL_65TH(__VA_ARGS__, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47,    \
               46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, \
               25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,   \
               3, 2, 1, 0, 0)
#define STDCL_CAT_(a, b) a##b
#define STDCL_CAT(a, b) STDCL_CAT_(a, b)
#define STDCL_STR_(a, ...) #a
#define STDCL_FIRST_NAME(...) STDCL_STR_(__VA_ARGS__, )
#define STDCL_FIRST_(a, ...) a
#define STDCL_FIRST(...) STDCL_FIRST_(__VA_ARGS__, )

/* STDCL_EACH(one, x, a, b, ...) expands to one(a) one(b) ...; x is left out. */
#define STDCL_EACH(one, ...) STDCL_CAT(STDCL_E, STDCL_COUNT(__VA_ARGS__))(one, __VA_ARGS__)
#define STDCL_E0(one, x)
#define STDCL_E1(one, x, a) one(a)
#define STDCL_E2(one, x, a, ...) one(a) STDCL_E1(one, x, __VA_ARGS__)
#define STDCL_E3(one, x, a, ...) one(a) STDCL_E2(one, x, __VA_ARGS__)
#define STDCL_E4(one, x, a, ...) one(a) STDCL_E3(one, x, __VA_ARGS__)
#define STDCL_E5(one, x, a, ...) one(a) STDCL_E4(one, x, __VA_ARGS__)
#define STDCL_E6(one, x, a, ...) one(a) STDCL_E5(one, x, __VA_ARGS__)
#define STDCL_E7(one, x, a, ...) one(a) STDCL_E6(one, x, __VA_ARGS__)
#define STDCL_E8(one, x, a, ...) one(a) STDCL_E7(one, x, __VA_ARGS__)
#define STDCL_E9(one, x, a, ...) one(a) STDCL_E8(one, x, __VA_ARGS__)
#define STDCL_E10(one, x, a, ...) one(a) STDCL_E9(one, x, __VA_ARGS__)
#define STDCL_E11(one, x, a, ...) one(a) STDCL_E10(one, x, __VA_ARGS__)
#define STDCL_E12(one, x, a, ...) one(a) STDCL_E11(one, x, __VA_ARGS__)
#define STDCL_E13(one, x, a, ...) one(a) STDCL_E12(one, x, __VA_ARGS__)
#define STDCL_E14(one, x, a, ...) one(a) STDCL_E13(one, x, __VA_ARGS__)
#define STDCL_E15(one, x, a, ...) one(a) STDCL_E14(one, x, __VA_ARGS__)
#define STDCL_E16(one, x, a, ...) one(a) STDCL_E15(one, x, __VA_ARGS__)
#define STDCL_E17(one, x, a, ...) one(a) STDCL_E16(one, x, __VA_ARGS__)
#define STDCL_E18(one, x, a, ...) one(a) STDCL_E17(one, x, __VA_ARGS__)
#define STDCL_E19(one, x, a, ...) one(a) STDCL_E18(one, x, __VA_ARGS__)
#define STDCL_E20(one, x, a, ...) one(a) STDCL_E19(one, x, __VA_ARGS__)
#define STDCL_E21(one, x, a, ...) one(a) STDCL_E20(one, x, __VA_ARGS__)
#define STDCL_E22(one, x, a, ...) one(a) STDCL_E21(one, x, __VA_ARGS__)
#define STDCL_E23(one, x, a, ...) one(a) STDCL_E22(one, x, __VA_ARGS__)
#define STDCL_E24(one, x, a, ...) one(a) STDCL_E23(one, x, __VA_ARGS__)
#define STDCL_E25(one, x, a, ...) one(a) STDCL_E24(one, x, __VA_ARGS__)
#define STDCL_E26(one, x, a, ...) one(a) STDCL_E25(one, x, __VA_ARGS__)
#define STDCL_E27(one, x, a, ...) one(a) STDCL_E26(one, x, __VA_ARGS__)
#define STDCL_E28(one, x, a, ...) one(a) STDCL_E27(one, x, __VA_ARGS__)
#define STDCL_E29(one, x, a, ...) one(a) STDCL_E28(one, x, __VA_ARGS__)
#define STDCL_E30(one, x, a, ...) one(a) STDCL_E29(one, x, __VA_ARGS__)
#define STDCL_E31(one, x, a, ...) one(a) STDCL_E30(one, x, __VA_ARGS__)
#define STDCL_E32(one, x, a, ...) one(a) STDCL_E31(one, x, __VA_ARGS__)
#define STDCL_E33(one, x, a, ...) one(a) STDCL_E32(one, x, __VA_ARGS__)
#define STDCL_E34(one, x, a, ...) one(a) STDCL_E33(one, x, __VA_ARGS__)
#define STDCL_E35(one, x, a, ...) one(a) STDCL_E34(one, x, __VA_ARGS__)
#define STDCL_E36(one, x, a, ...) one(a) STDCL_E35(one, x, __VA_ARGS__)
#define STDCL_E37(one, x, a, ...) one(a) STDCL_E36(one, x, __VA_ARGS__)
#define STDCL_E38(one, x, a, ...) one(a) STDCL_E37(one, x, __VA_ARGS__)
#define STDCL_E39(one, x, a, ...) one(a) STDCL_E38(one, x, __VA_ARGS__)
#define STDCL_E40(one, x, a, ...) one(a) STDCL_E39(one, x, __VA_ARGS__)
#define STDCL_E41(one, x, a, ...) one(a) STDCL_E40(one, x, __VA_ARGS__)
#define STDCL_E42(one, x, a, ...) one(a) STDCL_E41(one, x, __VA_ARGS__)
#define STDCL_E43(one, x, a, ...) one(a) STDCL_E42(one, x, __VA_ARGS__)
#define STDCL_E44(one, x, a, ...) one(a) STDCL_E43(one, x, __VA_ARGS__)
#define STDCL_E45(one, x, a, ...) one(a) STDCL_E44(one, x, __VA_ARGS__)
#define STDCL_E46(one, x, a, ...) one(a) STDCL_E45(one, x, __VA_ARGS__)
#define STDCL_E47(one, x, a, ...) one(a) STDCL_E46(one, x, __VA_ARGS__)
#define STDCL_E48(one, x, a, ...) one(a) STDCL_E47(one, x, __VA_ARGS__)
#define STDCL_E49(one, x, a, ...) one(a) STDCL_E48(one, x, __VA_ARGS__)
#define STDCL_E50(one, x, a, ...) one(a) STDCL_E49(one, x, __VA_ARGS__)
#define STDCL_E51(one, x, a, ...) one(a) STDCL_E50(one, x, __VA_ARGS__)
#define STDCL_E52(one, x, a, ...) one(a) STDCL_E51(one, x, __VA_ARGS__)
#define STDCL_E53(one, x, a, ...) one(a) STDCL_E52(one, x, __VA_ARGS__)
#define STDCL_E54(one, x, a, ...) one(a) STDCL_E53(one, x, __VA_ARGS__)
#define STDCL_E55(one, x, a, ...) one(a) STDCL_E54(one, x, __VA_ARGS__)
#define STDCL_E56(one, x, a, ...) one(a) STDCL_E55(one, x, __VA_ARGS__)
#define STDCL_E57(one, x, a, ...) one(a) STDCL_E56(one, x, __VA_ARGS__)
#define STDCL_E58(one, x, a, ...) one(a) STDCL_E57(one, x, __VA_ARGS__)
#define STDCL_E59(one, x, a, ...) one(a) STDCL_E58(one, x, __VA_ARGS__)
#define STDCL_E60(one, x, a, ...) one(a) STDCL_E59(one, x, __VA_ARGS__)
#define STDCL_E61(one, x, a, ...) one(a) STDCL_E60(one, x, __VA_ARGS__)
#define STDCL_E62(one, x, a, ...) one(a) STDCL_E61(one, x, __VA_ARGS__)
#define STDCL_E63(one, x, a, ...) one(a) STDCL_E62(one, x, __VA_ARGS__)

#ifdef __cplusplus

#define STDCL_NDR_SET(ndr, numbers) ((void)((ndr) = stdcl_cxx::range numbers))
#define STDCL_ARG3(krn, i, value) stdcl_cxx::set((krn), (cl_uint)(i), (value))
#define STDCL_PTR3(krn, i, ptr) stdcl_cxx::set_pointer((krn), (cl_uint)(i), (ptr))
#define STDCL_FORKA(cp, dev, krn, ndr, ...)                                                        \
    stdcl_cxx::list() STDCL_EACH(STDCL_ONE, __VA_ARGS__)                                           \
        .fork((cp), (dev), (krn), (ndr), STDCL_FIRST(__VA_ARGS__))
#define STDCL_ONE(v) .add(v)
#define STDCL_EXEC(cp, dev, ndr, flags, ...)                                                       \
    stdcl_cxx::list() STDCL_EACH(STDCL_ONE, __VA_ARGS__)                                           \
        .exec((cp), (dev), (ndr), (flags), STDCL_FIRST_NAME(__VA_ARGS__))

namespace stdcl_cxx
{
template <class T> struct name {
    static const char *of()
    {
        return 0;
    }
};
template <class T> struct name<T *> {
    static const char *of()
    {
        return "pointer";
    }
};
template <class T> struct name<const T *> : name<T *> {
};
#define STDCL_NUMBER(type, text)                                                                   \
    template <> struct name<type> {                                                                \
        static const char *of()                                                                    \
        {                                                                                          \
            return text;                                                                           \
        }                                                                                          \
    };                                                                                             \
    template <> struct name<type *> {                                                              \
        static const char *of()                                                                    \
        {                                                                                          \
            return text "*";                                                                       \
        }                                                                                          \
    };
STDCL_NUMBER(char, "char")
STDCL_NUMBER(signed char, "char")
STDCL_NUMBER(unsigned char, "uchar")
STDCL_NUMBER(short, "short")
STDCL_NUMBER(unsigned short, "ushort")
STDCL_NUMBER(int, "int")
STDCL_NUMBER(unsigned, "uint")
STDCL_NUMBER(long, "long")
STDCL_NUMBER(unsigned long, "ulong")
STDCL_NUMBER(long long, "long")
STDCL_NUMBER(unsigned long long, "ulong")
STDCL_NUMBER(float, "float")
STDCL_NUMBER(double, "double")
#undef STDCL_NUMBER
template <> struct name<void *> {
    static const char *of()
    {
        return "void*";
    }
};
template <> struct name<cl_mem> {
    static const char *of()
    {
        return "cl_mem";
    }
};
template <> struct name<cl_sampler> {
    static const char *of()
    {
        return "sampler_t";
    }
};

inline stdcl_arg item(size_t size, int kind, const void *value, const char *type)
{
    const stdcl_arg a = {size, kind, value, type};
    return a;
}
template <class T> struct arg {
    static stdcl_arg make(const T &v)
    {
        return item(sizeof(T), STDCL_VALUE, &v, name<T>::of());
    }
};
template <class T> struct arg<T *> {
    static stdcl_arg make(T *const &v)
    {
        return item(sizeof(T *), STDCL_GLOBAL, &v, name<T *>::of());
    }
};
template <> struct arg<cl_mem> {
    static stdcl_arg make(const cl_mem &v)
    {
        return item(sizeof v, STDCL_VALUE, &v, "cl_mem");
    }
};
template <> struct arg<cl_sampler> {
    static stdcl_arg make(const cl_sampler &v)
    {
        return item(sizeof v, STDCL_VALUE, &v, "sampler_t");
    }
};
template <> struct arg<stdcl_local_t> {
    static stdcl_arg make(const stdcl_local_t &v)
    {
        return item(sizeof v, STDCL_LOCAL, &v, 0);
    }
};
inline stdcl_local_t local(size_t bytes)
{
    const stdcl_local_t l = {bytes};
    return l;
}
inline clndrange_t range(size_t dim, size_t o0, size_t g0, size_t l0, size_t o1, size_t g1,
                         size_t l1, size_t o2, size_t g2, size_t l2, size_t o3, size_t g3,
                         size_t l3)
{
    const clndrange_t r = STDCL_NDR(dim, o0, g0, l0, o1, g1, l1, o2, g2, l2, o3, g3, l3);
    return r;
}
template <class T> int set(cl_kernel krn, cl_uint i, const T &v)
{
    return stdcl_arg_value(krn, i, sizeof(T), &v, name<T>::of());
}
template <class T> size_t set_global(cl_kernel krn, cl_uint i, T *ptr)
{
    return stdcl_arg_global(krn, i, ptr, name<T *>::of());
}
inline size_t set_global(cl_kernel krn, cl_uint i, const void *ptr)
{
    return stdcl_arg_global(krn, i, ptr, 0);
}
template <class T> int set_pointer(cl_kernel krn, cl_uint i, T *ptr)
{
    return stdcl_arg_pointer(krn, i, ptr, name<T *>::of());
}
inline int set_pointer(cl_kernel krn, cl_uint i, const void *ptr)
{
    return stdcl_arg_pointer(krn, i, ptr, 0);
}

/* Arguments, whose values live until the end of the expression that the list is made in. */
class list
{
    stdcl_arg items[64];
    cl_uint n;

  public:
    list() : n(0)
    {
    }
    template <class T> list &add(const T &v)
    {
        items[n++] = arg<T>::make(v);
        return *this;
    }
    cl_event fork(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags)
    {
        return stdcl_forka(cp, dev, krn, ndr, flags, n, items);
    }
    cl_event exec(CLCONTEXT *cp, cl_uint dev, clndrange_t *ndr, int flags, const char *symbol)
    {
        return clexecv(cp, dev, ndr, flags, symbol, n, items);
    }
};
} // namespace stdcl_cxx

template <class T> size_t clarg_set_global(cl_kernel krn, cl_uint i, T *ptr)
{
    return stdcl_cxx::set_global(krn, i, ptr);
}
inline size_t clarg_set_global(cl_kernel krn, cl_uint i, const void *ptr)
{
    return stdcl_cxx::set_global(krn, i, ptr);
}
template <class T> size_t clarg_set_global(CLCONTEXT *, cl_kernel krn, cl_uint i, T *ptr)
{
    return stdcl_cxx::set_global(krn, i, ptr);
}

#else /* C with __typeof__ and _Generic, which gcc and clang have in every dialect of GNU C */

#define STDCL_NDR_SET(ndr, numbers) ((void)((ndr) = (clndrange_t)STDCL_NDR numbers))
#define STDCL_TYPEOF(v) __typeof__(((void)0, (v)))
#define STDCL_ADDRESS(v) ((const void *)(STDCL_TYPEOF(v)[1]){v})
#define STDCL_ARG3(krn, i, v)                                                                      \
    stdcl_arg_value((krn), (cl_uint)(i), sizeof(STDCL_TYPEOF(v)), STDCL_ADDRESS(v), STDCL_TYPE(v))
#define STDCL_GLB3(krn, i, ptr) stdcl_arg_global((krn), (cl_uint)(i), (ptr), STDCL_TYPE(ptr))
#define STDCL_PTR3(krn, i, ptr) stdcl_arg_pointer((krn), (cl_uint)(i), (ptr), STDCL_TYPE(ptr))

/* Pointers have class 5 in gcc and clang. */
#define STDCL_KIND(v)                                                                              \
    _Generic((v), cl_mem                                                                           \
             : STDCL_VALUE, cl_sampler                                                             \
             : STDCL_VALUE, stdcl_local_t                                                          \
             : STDCL_LOCAL, default                                                                \
             : __builtin_classify_type(((void)0, (v))) == 5 ? STDCL_GLOBAL : STDCL_VALUE)
#define STDCL_NUMBER(type, name)                                                                   \
    type:                                                                                          \
    name, type * : name "*", const type * : name "*"
#define STDCL_TYPE(v)                                                                              \
    _Generic((v), STDCL_NUMBER(char, "char"), STDCL_NUMBER(signed char, "char"),             \
        STDCL_NUMBER(unsigned char, "uchar"), STDCL_NUMBER(short, "short"),                  \
        STDCL_NUMBER(unsigned short, "ushort"), STDCL_NUMBER(int, "int"),                    \
        STDCL_NUMBER(unsigned, "uint"), STDCL_NUMBER(long, "long"),                          \
        STDCL_NUMBER(unsigned long, "ulong"), STDCL_NUMBER(long long, "long"),               \
        STDCL_NUMBER(unsigned long long, "ulong"), STDCL_NUMBER(float, "float"),             \
        STDCL_NUMBER(double, "double"), cl_mem: "cl_mem", cl_sampler: "sampler_t",           \
        void *: "void*", const void *: "void*",                                               \
        default: __builtin_classify_type(((void)0, (v))) == 5 ? "pointer" : (const char *)0)
#define STDCL_ONE(v) {sizeof(STDCL_TYPEOF(v)), STDCL_KIND(v), STDCL_ADDRESS(v), STDCL_TYPE(v)},

/* The arguments after the first as an array that is never empty. */
#define STDCL_ARRAY(...)                                                                           \
    ((const struct stdcl_arg[]){STDCL_EACH(STDCL_ONE, __VA_ARGS__){0, 0, 0, 0}})
#define STDCL_FORKA(cp, dev, krn, ndr, ...)                                                        \
    stdcl_forka((cp), (dev), (krn), (ndr), STDCL_FIRST(__VA_ARGS__), STDCL_COUNT(__VA_ARGS__),     \
                STDCL_ARRAY(__VA_ARGS__))
#define STDCL_EXEC(cp, dev, ndr, flags, ...)                                                       \
    clexecv((cp), (dev), (ndr), (flags), STDCL_FIRST_NAME(__VA_ARGS__), STDCL_COUNT(__VA_ARGS__),  \
            STDCL_ARRAY(__VA_ARGS__))

#endif /* __cplusplus */
#endif /* __OPENCL_VERSION__ */
#endif /* STDCL_H */
