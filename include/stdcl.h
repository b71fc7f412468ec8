/* stdcl.h - OpenCL for C programmers, in the style of UNIX.
 *
 *   CLCONTEXT *cp = stddev;                               a list of devices
 *   float *x = clmalloc(cp, n * sizeof *x, 0);            memory shared by host and devices
 *   void *h = clopen(cp, "scale.cl", CLLD_NOW);           load kernels, as dlopen loads code
 *   cl_kernel k = clsym(cp, h, "scale", 0);
 *   clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);   host -> device 0
 *   clforka(cp, 0, k, &ndr, CL_EVENT_NOWAIT, x, 2.0f);    launch the kernel with its arguments
 *   clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT);     device 0 -> host
 *   clwait(cp, 0, CL_ALL_EVENT);                          wait for all commands
 *
 * Conventions of every call below, unless its comment says otherwise:
 *   - int functions return 0, or -1 with clerrno set. Pointer functions return NULL with clerrno
 *     set. cl_event functions return (cl_event)-1 with clerrno set. clerror() returns the error
 *     message.
 *   - A flag that a call does not take gives EINVAL, as do CL_EVENT_WAIT and CL_EVENT_NOWAIT
 *     together.
 *   - Sizes and offsets are in bytes. Devices of a context are numbered 0 .. clgetndev(cp) - 1.
 *   - Each device has an in-order command queue. Queues of different devices run concurrently.
 *   - Every call is thread-safe, on one context or on several. Threads that share a kernel set its
 *     arguments with clforka, which sets and launches in one step. Do not free, detach, close or
 *     destroy an object while another thread is passing it to a call.
 *   - In a process that was forked after the first use of OpenCL, every call fails with ENOTSUP:
 *     drivers do not survive fork(). Fork before the first call, or exec a program in the child.
 *   - Nothing here prints or exits, except functions whose purpose is to print. STDCL_DEBUG=1 in
 *     the environment also prints each error to stderr as it happens. STDCL_DEBUG=2 also runs the
 *     program under Oclgrind, as `stdcl check` does (docs/command.md).
 *
 * This header includes stdcl/profile.h, stdcl/template.h and stdcl/tune.h.
 *
 * Structs that end in reserved words may grow there in a later version 1. Until then the reserved
 * words must be 0, as an initializer leaves them (EINVAL). All other structs are fixed.
 * tests/install/layout.txt lists all sizes and offsets.
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
#define __STDCL__ /* the macro that kernels are built with */
#endif

#define STDCL_VERSION_MAJOR 1
#define STDCL_VERSION_MINOR 0
#define STDCL_VERSION_PATCH 0
#define STDCL_VERSION "1.0.0"

/* Mark a printf-like function, so that compilers check its format. */
#if defined(__GNUC__)
#define STDCL_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))
#else
#define STDCL_PRINTF(at, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Return the STDCL_VERSION of the library loaded at run time, which may be newer than this
 * header's. Static text. */
const char *stdcl_version(void);

/* Components of host vectors. CL_DEVICE_TYPE_RPU: historic name of ACCELERATOR. */
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

/* A list of devices; opaque. Each device has its own OpenCL context and its own in-order command
 * queue, so devices never wait for each other implicitly. */
typedef struct stdcl_context CLCONTEXT;
typedef struct stdcl_context CONTEXT;

/* The standard contexts, created at first use. NULL if no such device exists, or after an error,
 * which clerror() explains. Owned by the library: do not destroy them.
 *   stddev  every device of every platform        stdcpu  the CPUs (of the first platform with any)
 *   stdgpu  every GPU                             stdacc  every accelerator
 *   stdnpu  every device, as stddev (historic)    stdrpu  always NULL (historic)
 *
 * Environment variables, for X in DEV CPU GPU ACC NPU:
 *   STDX=0                     do not create the context
 *   STDX_PLATFORM_NAME=a,b     select platforms as clcontext_create does; if none matches, warn on
 *                              stderr and use all
 *   STDX_MAX_NDEV=n            use the first n devices only
 *   STDX_LOCK=key              lock devices as clcontext_create does: MAX_NDEV devices, by default
 *                              1
 *
 * stddev and the others are variables. Each is a macro without parentheses, so that a program may
 * also declare it: `extern CLCONTEXT *stdgpu;`. -Dstdgpu=stdcpu replaces one context by another. A
 * program that uses the variables without this header calls stdcl_init first. */
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

/* Return a standard context by number, for language bindings: 0 stddev, 1 stdcpu, 2 stdgpu, 3
 * stdacc, 4 stdnpu; NULL for other numbers. */
CLCONTEXT *stdcl_standard_context(int which);

/* Create the standard contexts now instead of at first use. Optional; never fails. */
void stdcl_init(void);

/* Create a context of the devices of `devtype` (CL_DEVICE_TYPE_CPU, ..._ALL, ...) selected by
 * platform. The caller destroys it.
 *   platforms  comma-separated substrings in order of priority, case-insensitive; a device matches
 *              if its platform's name, its own name or its vendor contains one of them. NULL or ""
 *              matches all
 *   ndevmax    maximum number of devices; 0 = no limit
 *   ext        NULL or {0}; properties such as GL sharing give ENOTSUP
 *   lock_key   not 0: processes of one user, or of all that share $STDCL_LOCK_DIR, with equal keys
 *              share the node's devices without overlap. The call locks ndevmax devices (0 = 1)
 *              that no other process has locked, until the context is destroyed or the process
 *              terminates (flock). EBUSY if too few are free
 *
 * NULL with ENODEV if no device matches; the message lists the available devices. */
CLCONTEXT *clcontext_create(const char *platforms, int devtype, size_t ndevmax,
                            cl_context_properties *ext, int lock_key);

/* Historic name of clcontext_create. */
CLCONTEXT *clcontext_create_stdnpu(const char *platforms, int devtype, size_t ndevmax,
                                   cl_context_properties *ext, int lock_key);

/* Create a context of exactly these devices, in this order. The caller destroys it. */
CLCONTEXT *clcontext_create_from(const cl_device_id *devices, size_t ndev);

/* Create a context of `n` devices around OpenCL objects of the program: device i runs its commands
 * on queues[i], in order with the program's commands there. All queues belong to `context` and run
 * in order (EINVAL). The caller destroys the result; `context` and queues stay the program's, and
 * only a reference is held to each meanwhile. The context cannot be profiled. To share memory, see
 * clmem_adopt; clgetqueue, clgetclcontext and clgetbuffer are the way back. */
CLCONTEXT *clcontext_adopt(cl_context context, size_t n, const cl_command_queue *queues);

/* Wait for all commands, then release the context with its programs, kernels, events and every
 * allocation still attached. EINVAL for NULL and for the standard contexts. */
int clcontext_destroy(CLCONTEXT *cp);

/* Return the number of devices; 0 for NULL. */
cl_uint clgetndev(CLCONTEXT *cp);

/* Properties of a device. Sizes in bytes, frequency in MHz, strings zero-terminated. */
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

/* Object counts of a context. impid is historic and always 0. */
struct clstat_info {
    cl_uint impid;
    cl_uint ndev; /* devices */
    cl_uint nprg; /* open programs */
    cl_uint nkrn; /* kernels returned by clsym */
};

/* Fill info[0 .. clgetndev(cp) - 1], an array of the caller. -1 if a device query fails. */
int clgetdevinfo(CLCONTEXT *cp, struct cldev_info *info);

/* Print `ndev` entries of `info` as lines NAME=value. */
void clfreport_devinfo(FILE *fp, size_t ndev, struct cldev_info *info);

/* Count the context's devices, open programs and kernels. */
int clstat(CLCONTEXT *cp, struct clstat_info *info);

/* Return the underlying OpenCL objects, for programs that also call OpenCL. Owned by the library;
 * NULL for a device number out of range. clgetbuffer creates the device's buffer if it has none
 * yet; the buffer is valid until clfree, clmdetach or clmrealloc. */
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
#define CL_MEM_NOCOPY 0x000400     /* historic, no effect: creation never fills a buffer */
#define CL_MEM_DETACHED 0x001000   /* clmalloc: belongs to no context until clmattach */
#define CL_MEM_NOFORCE 0x002000    /* clmsync: copy only if the destination is out of date */
#define CL_MEM_ZEROCOPY 0x004000   /* clmalloc: one image for host and CPU devices */
#define CL_MEM_DEVONLY 0x008000    /* clmalloc: no host region */
#define CL_MEM_IMAGE 0x010000      /* clmalloc: an image, shaped by clmctl */
#define CL_MEM_IMAGE2D 0x010000    /* historic name of CL_MEM_IMAGE */
#define CL_MEM_PER_DEVICE 0x020000 /* clmalloc: one image per device */
#define CL_MEM_SAMPLER 0x040000    /* clmalloc: a sampler, set by clmctl */
#define CL_MEM_SVM 0x080000        /* clmalloc: shared virtual memory */
/* Historic: for clglmalloc, which is not supported (docs/legacy.md); clmalloc rejects them. */
#define CL_MEM_CLBUF 0x100000
#define CL_MEM_GLBUF 0x200000
#define CL_MEM_GLTEX2D 0x2000000
#define CL_MEM_GLTEX3D 0x4000000
#define CL_MEM_GLRBUF 0x8000000

/* Allocate `size` bytes shared by the host and every device of `cp`, page aligned and zeroed on the
 * host. The caller frees it with clfree. Size 0 returns a unique pointer.
 *
 * The host and each device hold separate images of the block. A device's image is undefined until
 * clmsync copies to it. By default the images form one coherent block: before a call uses the block
 * on a device (clfork, clmcopy, clmsync with CL_MEM_HOST) and another device has the newest image,
 * the call waits and migrates that image through pinned host memory. Coherence ends once the
 * program itself copies the block, or a part, to one device while another device holds an image.
 * From then on only clmsync, clmsyncn and clmcopy move data.
 *
 * Flags, or 0:
 *   CL_MEM_DETACHED    ignore `cp`; clmattach gives the block a context later
 *   CL_MEM_IMAGE       devices hold an image; set its shape with clmctl before first use. Rows and
 *                      planes of the host region follow each other without padding
 *   CL_MEM_SAMPLER     a sampler of every device, for kernels' sampler_t arguments; `size` is 0.
 *                      Without clmctl: coordinates in pixels, clamped to the edge, nearest pixel
 *   CL_MEM_ZEROCOPY    on CPU devices the host region is the buffer: syncs copy nothing, and the
 *                      host must not touch the region while a kernel runs. On other devices syncs
 *                      copy, and each device has its own image as with CL_MEM_PER_DEVICE. Several
 *                      CPU devices share the one image, and their kernels run at once: before a
 *                      launch on one reads what another has written, or writes what another reads,
 *                      clwait for the other (clmrequire waits for the last writer)
 *   CL_MEM_DEVONLY     scratch memory, one image per device, without a host region: pass the
 *                      pointer to clarg_* and clmcopy, but do not dereference it; clmsync gives
 *                      EINVAL
 *   CL_MEM_SVM         shared virtual memory (OpenCL 2.0), aligned to 128 bytes: addresses in the
 *                      block are valid on the host and on the first device that has the capability.
 *                      Kernels take pointers at any offset, and may follow pointers stored in one
 *                      shared block into all shared blocks of the context. clmsync copies nothing.
 *                      With fine grain (CL_MCTL_GET_SVM is 2) the host must not touch bytes that a
 *                      kernel in flight uses. With coarse grain (1) the host may access the block
 *                      until the next launch that takes a shared block, which unmaps all shared
 *                      blocks, and again after clmsync with CL_MEM_HOST, which maps the block. Do
 *                      not free a shared block while another thread launches such a kernel. On
 *                      other devices the block has images as with CL_MEM_PER_DEVICE, and its
 *                      addresses are not valid. Without any such device (0; STDCL_DEBUG=1 prints a
 *                      sentence) all devices have images: programs that store no pointers run
 *                      unchanged
 *   CL_MEM_PER_DEVICE  one image per device from the start, for a block of which every device
 *                      writes its own partition
 *
 * ENOMEM if host or devices are out of memory (the message gives the size). EINVAL for a NULL
 * context without CL_MEM_DETACHED, and for flags that exclude each other. */
void *clmalloc(CLCONTEXT *cp, size_t size, int flags);

/* Make memory of the program a block: `size` bytes at ptr from malloc, mmap or another library.
 * Returns ptr. A device's first use copies the host's contents, unless that use is clmsync. Flags
 * as clmalloc, without CL_MEM_DEVONLY. With CL_MEM_ZEROCOPY a CPU's kernels work on the memory
 * itself: ptr must then be aligned as the device demands (EINVAL names the number). The memory must
 * stay valid until clfree, which leaves it to the program. It may be read-only if nothing is synced
 * to the host. EEXIST if it overlaps another block. */
void *clmalloc_from(CLCONTEXT *cp, void *ptr, size_t size, int flags);

/* Make a buffer or image of the program a block of its size, whose image on device `dev` is
 * that cl_mem. It belongs to the OpenCL context of the device: of the one given to clcontext_adopt,
 * or clgetclcontext's (EINVAL). The newest data are on the device; clmsync copies them to the host
 * region, which is the result. The program's own commands may use the cl_mem in between: order them
 * by the queue, and sync without CL_MEM_NOFORCE afterwards. clfree, clcontext_destroy: the cl_mem
 * stays the program's, only a reference is released. EEXIST if the cl_mem is a block's already;
 * clmrealloc and clmdetach give EINVAL. */
void *clmem_adopt(CLCONTEXT *cp, cl_uint dev, cl_mem buffer);

/* Resize a block, which may move. Blocks until work on the block is complete. Host bytes are kept
 * up to the smaller size; data held only by a device is lost. ptr NULL acts as clmalloc. On failure
 * return NULL; the old block is unchanged.
 *
 * With CL_MEM_DETACHED the block is detached afterwards. Otherwise it is attached to `cp`, or for
 * cp NULL to its current context, and a device's first use copies the host's contents. The old
 * block's flags are kept; others cannot be added (EINVAL). An image's shape is not kept: set it
 * again. */
void *clmrealloc(CLCONTEXT *cp, void *ptr, size_t size, int flags);

/* Wait for work in flight on the block, then free it. NULL is allowed. EFAULT: not from
 * clmalloc. */
int clfree(void *ptr);

/* Attach a detached block to a context, or detach it. clmdetach waits for work in flight; the
 * devices' images are lost and not copied to the host. After clmattach a device's first use of the
 * block copies the host's contents, unless that use is clmsync. EFAULT: unknown block. EINVAL:
 * already attached, or not attached. */
int clmattach(CLCONTEXT *cp, void *ptr);
int clmdetach(void *ptr);

/* Copy a whole allocation between host and device `dev`, also if ptr points into the middle.
 * `flags` hold exactly one of CL_MEM_HOST (device to host) and CL_MEM_DEVICE (host to device), else
 * EINVAL. Blocks unless CL_EVENT_NOWAIT; returns as clfork does.
 *
 * CL_MEM_NOFORCE copies nothing if the destination is already current. A launch of a kernel with
 * the block as argument marks the host region and the other devices' images out of date. The
 * library cannot see writes by the host: after those, sync without CL_MEM_NOFORCE. */
cl_event clmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags);

/* Copy as clmsync does, but only the `size` bytes from ptr on. EINVAL if they leave the
 * allocation. */
cl_event clmsyncn(CLCONTEXT *cp, cl_uint dev, void *ptr, size_t size, int flags);

/* Copy src's image on device `dev` over dst's image on the device, without the host; dst must be at
 * least as large. Blocks unless CL_EVENT_NOWAIT; returns as clfork does. */
cl_event clmcopy(CLCONTEXT *cp, cl_uint dev, void *src, void *dst, int flags);

/* For libraries, before a kernel on device `dev` reads the block that contains ptr: migrate the
 * newest image as a launch does, and check that the device's image holds data. It does after a
 * copy to it, also of a part, after a launch of a kernel with the block as argument, and after
 * clgetbuffer. If the image holds none and exactly one other device's image does, that image is
 * copied (blocks). EINVAL otherwise; the message begins with `call` and names the device. If an
 * earlier command of the device failed or was refused and no call has reported it, return -1 with
 * the command's failure, as a clwait would. */
int clmrequire(CLCONTEXT *cp, cl_uint dev, const void *ptr, const char *call);

/* Return the size requested for the allocation that contains ptr; 0 with EFAULT for an unknown
 * pointer. */
size_t clsizeofmem(void *ptr);

/* Return the first byte of the allocation that contains ptr. NULL with EFAULT if `cp` has none; cp
 * NULL searches all contexts and detached blocks. */
void *clmemptr(CLCONTEXT *cp, void *ptr);

/* Query or change an allocation. Return a value >= 0, or -1 with EFAULT, EINVAL or ENOTSUP.
 *   CL_MCTL_GET_STATUS      flags of the block; CL_MEM_DETACHED if it is detached now
 *   CL_MCTL_GET_DEVNUM      device last synced, launched on or set; -1 initially and after a sync
 *                           to the host
 *   CL_MCTL_SET_DEVNUM      (int) set that number
 *   CL_MCTL_MARK_CLEAN      declare the host region and all existing device images current
 *   CL_MCTL_SET_IMAGE2D     (int w, int h, cl_image_format *) make the block a w x h image; format
 *                           NULL = RGBA float. The pixels must fit the block. EBUSY once a device
 *                           has an image
 *   CL_MCTL_SET_IMAGE       (const cl_image_desc *, const cl_image_format *) make the block an
 *                           image of image_type 1-D, 2-D, 3-D or an array of 1-D or 2-D; pitches,
 *                           mip levels, samples and buffer are 0. Else as CL_MCTL_SET_IMAGE2D
 *   CL_MCTL_SET_SAMPLER     (int normalized, int addressing, int filter) set a sampler, with
 *                           CL_ADDRESS_CLAMP, ... and CL_FILTER_NEAREST or CL_FILTER_LINEAR. Holds
 *                           from the next launch on
 *   CL_MCTL_GET_SVM         2: shared virtual memory of fine grain, 1: of coarse grain, 0: none
 *   CL_MCTL_SET_USRFLAGS    (int) set cl_mem_flags for the devices' buffers; EBUSY once a device
 *                           has one
 *   CL_MCTL_CLR_USRFLAGS    (int) clear cl_mem_flags; EBUSY once a device has a buffer
 */
#define CL_MCTL_GET_STATUS 1
#define CL_MCTL_GET_DEVNUM 2
#define CL_MCTL_SET_DEVNUM 3
#define CL_MCTL_MARK_CLEAN 4
#define CL_MCTL_SET_IMAGE2D 5
#define CL_MCTL_SET_USRFLAGS 6
#define CL_MCTL_CLR_USRFLAGS 7
#define CL_MCTL_SET_IMAGE 8
#define CL_MCTL_SET_SAMPLER 9
#define CL_MCTL_GET_SVM 10
int clmctl(void *ptr, int op, ...);
int clmctl_va(void *ptr, int op, va_list ap);

/* OpenGL sharing of the historic interface: not supported; NULL or -1 with ENOTSUP. */
void *clglmalloc(CLCONTEXT *cp, cl_uint glbuf, cl_uint target, cl_int level, int flags);
cl_event clglmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags);

/* ---- Loader: programs and kernels. ----------------------------------------------------------- */

#define CLLD_DEFAULT 0
#define CLLD_LAZY 1    /* build at the first clsym */
#define CLLD_NOW 2     /* build before returning (default) */
#define CLLD_NOBUILD 4 /* clbuild builds later, with the caller's options */
#define CLLD_CACHE 16  /* cache PoCL's CPU binaries on disk (docs/layer.md) */
#define CLLD_GLOBAL 8  /* historic, no effect: every program is found by clsym with handle NULL */

/* Open a program. `file` holds OpenCL C, SPIR-V, or a binary that clsave wrote; NULL opens the
 * sources that `stdcl embed` linked into this executable. The caller closes the handle. With
 * CLLD_CACHE, binaries that PoCL builds for a CPU are cached on disk: later processes load them ten
 * times faster, and the first one compiles about twice as long.
 *
 * Programs are built with -D __STDCL__, -D __CPU__ or -D __GPU__, a macro for the platform's vendor
 * (__NVIDIA__, __AMD__, __INTEL__), and -I for this header, the file's folder and the working
 * directory. NULL if the file cannot be read (its errno) or, unless CLLD_LAZY or CLLD_NOBUILD, if
 * the build fails (ENOEXEC): clerror() then returns the compiler's log. */
void *clopen(CLCONTEXT *cp, const char *file, int flags);

/* Open a program from a zero-terminated string, which is copied. Otherwise as clopen. */
void *clsopen(CLCONTEXT *cp, const char *source, int flags);

/* Open a program from `size` bytes of source, SPIR-V or binary, which are copied. Otherwise as
 * clopen. SPIR-V is known by its first word, 0x07230203. A device whose CL_DEVICE_IL_VERSION names
 * no SPIR-V gives ENOTSUP, a module that is no sequence of whole instructions ENOEXEC. */
void *clload(CLCONTEXT *cp, void *ptr, size_t size, int flags);

/* Open a program from binaries: bin[i], of size[i] bytes, for device i of the context. n must be
 * clgetndev(cp), or 1 to use one binary on all devices. Otherwise as clopen. */
void *clloadb(CLCONTEXT *cp, int n, char **bin, size_t *size, int flags);

/* Open a named program from `size` bytes of source, for libraries that carry their kernels.
 * Error messages call the program `name`. If $STDCL_KERNEL_PATH holds a file `name`, the file
 * replaces the source. The first line of `options` (may be NULL) is appended to the default
 * build options. Further lines are OpenCL C that is prepended to the source:
 *   "-D N=4\n#define F(x) ((x) * (x))\n"
 */
void *clopen_named(CLCONTEXT *cp, const char *name, const char *source, size_t size,
                   const char *options, int flags);

/* Build a CLLD_NOBUILD or CLLD_LAZY program for every device of cp with further options, of any
 * length; NULL = none. handle NULL: the sources that `stdcl embed` linked into this executable.
 * `flags` is historic: those of clopen, without effect. EINVAL if already built; ENOEXEC, with the
 * log in clerror(), if the build fails. */
int clbuild(CLCONTEXT *cp, void *handle, char *options, int flags);

/* Set specialization constant `id` of a SPIR-V program opened with CLLD_NOBUILD or CLLD_LAZY,
 * before it is built: `size` bytes of value, 1 (bool), 2, 4 or 8, are copied. Constants that are
 * not set keep the module's values. ENOENT if the module has no such constant. EINVAL for another
 * size, for other programs, and once the program is built. */
int clspec(CLCONTEXT *cp, void *handle, cl_uint id, size_t size, const void *value);

/* Write device `dev`'s binary of the program to `file`, for clopen on devices of the same model and
 * driver. The file begins with 32 bytes by which clopen, clload and clloadb detect a damaged file
 * (ENOEXEC). A driver's own binary lacks them: clopen refuses a file of it (ENOEXEC), clload and
 * clloadb pass it to the driver. */
int clsave(CLCONTEXT *cp, void *handle, cl_uint dev, const char *file);

/* Return the kernel called `name`, for use on every device of the context. Owned by the program
 * until clclose. One name always returns one kernel object, including its arguments. handle NULL
 * searches all open programs, and builds lazy ones, newest first and clopen_named's last, then the
 * sources that `stdcl embed` linked into this executable. NULL with ENOENT and a message that lists
 * the available names. The object is the first device's cl_kernel, so OpenCL's own queries work on
 * it. `flags` is historic: those of clopen, without effect. */
cl_kernel clsym(CLCONTEXT *cp, void *handle, const char *name, int flags);

/* Wait for the context's work in flight, then release the program and its kernels. */
int clclose(CLCONTEXT *cp, void *handle);

/* ---- Arguments. ------------------------------------------------------------------------------ */

/* int clarg_set([CLCONTEXT *cp,] cl_kernel krn, cl_uint i, value);
 *
 * Set argument i by value. Any type, literals included. The type is
 * the value's own: 1.0f is a float, 1.0 a double and 1 an int. Parenthesise a compound literal that
 * contains commas. Returns 0 or -1. */
/* size_t clarg_set_global([CLCONTEXT *cp,] cl_kernel krn, cl_uint i, void *ptr);
 * int clarg_set_pointer(cl_kernel krn, cl_uint i, void *ptr);
 * int clarg_set_local([CLCONTEXT *cp,] cl_kernel krn, cl_uint i, size_t bytes);
 *
 * clarg_set_global: set argument i to the whole block that contains ptr, on
 * whichever device the kernel is launched. Returns the offset of ptr in the block in bytes, which
 * the program passes to the kernel if it is not 0. (size_t)-1 with EFAULT for an unknown pointer.
 * Also a function, so that its address can be taken: size_t (CLCONTEXT *, cl_kernel, cl_uint, void
 * *).
 *
 * clarg_set_pointer: set argument i to ptr itself, which the kernel sees as the start of its
 * buffer. Returns 0, or -1 with EFAULT for an unknown pointer, EINVAL for an offset at which a
 * device of the context cannot start a buffer. */
/* clarg_set_local: set argument i to `bytes` bytes of local memory. Returns 0 or -1. */
size_t clarg_set_global(CLCONTEXT *cp, cl_kernel krn, cl_uint i, void *ptr);
#define clarg_set(...) STDCL_PICK4(__VA_ARGS__, STDCL_ARG4, STDCL_ARG3, , )(__VA_ARGS__)
#ifndef __cplusplus /* C++ has function templates instead, see below */
#define clarg_set_global(...) STDCL_PICK4(__VA_ARGS__, STDCL_GLB4, STDCL_GLB3, , )(__VA_ARGS__)
#endif
#define clarg_set_pointer(krn, i, ptr) STDCL_PTR3(krn, i, ptr)
#define clarg_set_local(...) STDCL_PICK4(__VA_ARGS__, STDCL_LOC4, STDCL_LOC3, , )(__VA_ARGS__)

/* Replace OpenCL's clSetKernelArg: on a kernel from clsym, set the argument for every device, as
 * clarg_set does. A device's buffer from clgetbuffer stands for its whole block. Any other cl_mem
 * belongs to one device; launches on other devices give EINVAL. Returns OpenCL's code; clerror()
 * returns the message. Other kernels get OpenCL's own call. (clSetKernelArg)(...), without this
 * macro, sets the argument for the first device only. */
#define clSetKernelArg(krn, i, size, value) stdcl_set_kernel_arg(krn, i, size, value)
cl_int stdcl_set_kernel_arg(cl_kernel krn, cl_uint i, size_t size, const void *value);

/* Replace OpenCL's clEnqueueNDRangeKernel: launch a kernel from clsym with the arguments set for
 * it, on the device of the context whose queue is given: clgetqueue's or the program's own. The
 * blocks among the arguments are migrated and marked as by clfork; clwait and profiles do not know
 * the launch. Returns OpenCL's code; clerror() returns the message. Other kernels get OpenCL's own
 * call. (clEnqueueNDRangeKernel)(...), without this macro, launches the first device's kernel with
 * the arguments of an earlier launch. */
#define clEnqueueNDRangeKernel(...) stdcl_enqueue_kernel(__VA_ARGS__)
cl_int stdcl_enqueue_kernel(cl_command_queue queue, cl_kernel krn, cl_uint dim,
                            const size_t *offset, const size_t *global, const size_t *local,
                            cl_uint nwait, const cl_event *wait, cl_event *ev);

/* Argument checks. The declared types are known if the kernel was built from source or SPIR-V.
 * Typedefs and macros of the file and of the files that it includes are resolved. An argument is
 * not checked if its type comes from definitions between which the library cannot decide. A
 * mismatch gives EINVAL: a wrong size, an int for a float, a number for a struct, a double or int
 * pointer for a float *, a cl_int2 * or cl_float4 * for a float2 *, a host pointer for a buffer, a
 * buffer for an image or the reverse, a cl_mem for a sampler. The message names the kernel, the
 * argument and both types. A pointer to void or char passes for any pointer, a float * for a
 * float4 *, an integer for an integer of equal size, signed or not, and a struct for a struct of
 * equal size.
 *
 * A NULL of a type other than void * gives EFAULT, since it means a failed clmalloc. Pass NULL (in
 * C++ (void *)0) to kernels that test for it; a kernel that does not test reads address 0 and may
 * crash the program. */

/* Declaration of a kernel argument: its kind (enum stdcl_arg_kind; -1 if unknown), its type without
 * qualifiers, such as "uint" or "float4*", and its name; "" if unknown. Texts are at most 31
 * characters and owned by the kernel. */
typedef struct {
    int kind;
    const char *type, *name;
} clarg_info_t;

/* Fill *info for argument i. EINVAL if the kernel is not from clsym or has no argument i. */
int clarg_info(cl_kernel krn, cl_uint i, clarg_info_t *info);

/* Return 1 if the kernel declares that it only reads the memory of argument i: a pointer to const,
 * constant memory, or a read_only image. 0 if it may write there, or if the declaration is unknown.
 * -1 with the errors of clarg_info. */
int clarg_is_read_only(cl_kernel krn, cl_uint i);

/* Functions behind the macros above. `value` is the address of `size` bytes, which are copied.
 * `type` is the OpenCL name of the value's or pointer's type ("uint", "float*"; "pointer" for other
 * pointers), or NULL to skip the type check. */
int stdcl_arg_value(cl_kernel krn, cl_uint i, size_t size, const void *value, const char *type);
size_t stdcl_arg_global(cl_kernel krn, cl_uint i, const void *ptr, const char *type);
int stdcl_arg_pointer(cl_kernel krn, cl_uint i, const void *ptr, const char *type);
int stdcl_arg_local(cl_kernel krn, cl_uint i, size_t bytes);

/* ---- Running. -------------------------------------------------------------------------------- */

/* An index space: dim in 1..4 (OpenCL devices take at most 3); offset, global and local sizes in
 * work-items. A local size of 0 in the first dimension lets the runtime choose the sizes of all
 * dimensions: local sizes of further dimensions are then ignored. */
typedef struct clndrange_struct {
    size_t dim;
    size_t gtid_offset[4];
    size_t gtid[4];
    size_t ltid[4];
} clndrange_t;

/* clndrange_t ndr = clndrange_init1d(offset, global, local); two and three dimensions repeat the
 * three numbers per dimension. clndrange_set1d(ndr, offset, global, local) assigns to an existing
 * index space. */
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

/* clndrange_t *clrange1(size_t n);
 * clndrange_t *clrange2(size_t n, size_t m);
 * clndrange_t *clrange3(size_t n, size_t m, size_t k);
 *
 * Return an index space of n, n x m or n x m x k work-items from 0, in groups that the device
 * chooses, for the argument of a launch: clforka(cp, 0, krn, clrange2(width, height), flags, u).
 * Valid until the end of the enclosing block, in C++ until the end of the statement. */
#define clrange1(n) STDCL_RANGE(1, n, 0, 0)
#define clrange2(n, m) STDCL_RANGE(2, n, m, 0)
#define clrange3(n, m, k) STDCL_RANGE(3, n, m, k)

#define CL_FAST 0 /* historic, no effect */
#define CL_EVENT_WAIT 0x1
#define CL_EVENT_NOWAIT 0x2
#define CL_EVENT_RELEASE 0x4   /* historic (default) */
#define CL_EVENT_NORELEASE 0x8 /* blocking calls return the event to the caller */
#define CL_KERNEL_EVENT 0x10
#define CL_MEM_EVENT 0x20
#define CL_ALL_EVENT 0x30
#define CL_EVENT_UNCOUNTED 0x40     /* exclude the launch from profiles */
#define CL_EVENT_OWN 0x800          /* return a reference that the caller releases */
#define CL_EVENT_SIDE_QUEUE 0x40000 /* use a side queue of the device */
#define CL_EVENT_BARRIER 0x80000    /* wait for the device's other queues */
/* With NOWAIT: a refusal is reported by this call only, not by the next wait. */
#define CL_EVENT_CHECKED 0x80

/* Launch a kernel on device `dev` with the arguments set for it. Flags, of which the historic
 * CL_EVENT_RELEASE, CL_KERNEL_EVENT and CL_MEM_EVENT have no effect:
 *   CL_EVENT_WAIT, or 0   block until done; returns 0
 *   CL_EVENT_NOWAIT       return at once, with an event owned by the library. The event is valid
 *                         until clwait on the device releases it or, without any wait, until some
 *                         thousands of later commands have completed. CL_EVENT_NORELEASE has no
 *                         effect here: pass it to clwait or clwaitev
 *   CL_EVENT_NORELEASE    block and return the event, which the caller releases with clReleaseEvent
 *   CL_EVENT_OWN          with or without blocking, return an event with a reference owned by the
 *                         caller, independent of clwait
 *   CL_EVENT_UNCOUNTED    exclude the launch from profiles, e.g. a warm-up
 *   CL_EVENT_CHECKED      report a refusal by this call only (see clwait)
 *   CL_EVENT_SIDE_QUEUE   use a side queue of the device: one for copies to the device, one for all
 *                         other commands. Side queues are in-order; they and the main queue do not
 *                         wait for each other, so copies in both directions can overlap a kernel.
 *                         The caller orders dependent commands. No effect on CPUs and in a profiled
 *                         context, which have one queue
 *   CL_EVENT_BARRIER      on the main queue, wait for all commands enqueued so far on the side
 *                         queues; with CL_EVENT_SIDE_QUEUE, for all commands enqueued so far on the
 *                         main queue. Later commands of the queue wait, too
 *
 * All but CL_EVENT_UNCOUNTED also apply to clmsync and clmcopy.
 *
 * (cl_event)-1 on failure. EINVAL: a wrong size, device or dimension, or an argument never set
 * (named). EFAULT: a block passed as argument has been freed. ENOMEM: the device has no memory for
 * a block. */
cl_event clfork(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags);

/* cl_event clforka(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags, ...);
 *
 * Set arguments 0, 1, ... and launch the kernel, in one step. Pointers act as with
 * clarg_set_pointer, cl_mem and cl_sampler objects are passed as such, `clarg_local(bytes)`
 * allocates local memory, and everything else is passed by value. Takes 0 to 127 arguments. Later
 * arguments of the kernel keep the values of clarg_set; EINVAL if an earlier launch set one.
 * clforkv takes any number of arguments. Returns what clfork returns. */
#define clforka(cp, dev, krn, ndr, ...) STDCL_FORKA(cp, dev, krn, ndr, __VA_ARGS__)

/* cl_event clexec(CLCONTEXT *cp, cl_uint dev, clndrange_t *ndr, symbol, ...);
 * cl_event clexecb(CLCONTEXT *cp, cl_uint dev, clndrange_t *ndr, symbol, ...);
 *
 * Launch a kernel by its bare name, with arguments as clforka and CL_EVENT_NOWAIT. clexecb blocks.
 * The name is looked up at each call as clsym does with handle NULL: in the open programs, then in
 * the sources that `stdcl embed` linked into this executable. Returns what clfork returns; ENOENT
 * if there is no such kernel. */
#define clexec(cp, dev, ndr, ...) STDCL_EXEC(cp, dev, ndr, CL_EVENT_NOWAIT, __VA_ARGS__)
#define clexecb(cp, dev, ndr, ...) STDCL_EXEC(cp, dev, ndr, CL_EVENT_WAIT, __VA_ARGS__)

/* An argument of clforkv, as the clforka macro passes it. */
enum stdcl_arg_kind { STDCL_VALUE = 0, STDCL_GLOBAL = 1, STDCL_LOCAL = 2 };
struct stdcl_arg {
    size_t size; /* bytes of the value */
    int kind;    /* enum stdcl_arg_kind */
    /* Address of the value; for a pointer, the address of the pointer; for local memory, the
     * address of a stdcl_local_t. */
    const void *value;
    const char *type; /* Type name, "uint" or "float*"; NULL skips the type check. */
};
typedef struct {
    size_t bytes;
} stdcl_local_t;
#ifdef __cplusplus
#define clarg_local(n) stdcl_cxx::local((size_t)(n))
#else
#define clarg_local(n) ((stdcl_local_t){(size_t)(n)})
#endif

/* Launch as clforka does, with the arguments in an array. clexecv first finds the kernel `symbol`.
 * stdcl_forka is called by the macro clforka: clforkv with messages that name clforka. */
cl_event clforkv(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags,
                 cl_uint nargs, const struct stdcl_arg *args);
cl_event clexecv(CLCONTEXT *cp, cl_uint dev, clndrange_t *ndr, int flags, const char *symbol,
                 cl_uint nargs, const struct stdcl_arg *args);
cl_event stdcl_forka(CLCONTEXT *cp, cl_uint dev, cl_kernel krn, clndrange_t *ndr, int flags,
                     cl_uint nargs, const struct stdcl_arg *args);

/* Block until the kernel events (CL_KERNEL_EVENT) and/or memory events (CL_MEM_EVENT) of a device
 * are complete, and release them. Without either flag: both.
 *   CL_EVENT_NORELEASE   transfer every event owned by the library to the caller, who releases each
 *                        once with clReleaseEvent. Events of CL_EVENT_OWN stay the caller's
 *   CL_EVENT_NOWAIT      do not block, as waitpid with WNOHANG: release the completed commands up
 *                        to the first that is still pending
 *
 * Returns 0, also for a NULL context or a device number out of range. (cl_event)-1 if a command of
 * that kind failed since the last clwait:
 *   - on the device: EIO
 *   - by refusal: a clfork, clforka, clmsync or clmcopy with CL_EVENT_NOWAIT that returned
 *     (cl_event)-1 makes the next clwait fail with the code and message of the refusal: for a
 *     device number out of range the next on any device, for a NULL context the next with NULL. A
 *     program may therefore ignore the results of such calls and check clwait alone
 *
 * The first of several failures is reported, and all count as reported. Other calls that wait for a
 * device (clwaitev, blocking clfork, clmsync and clmcopy) fail likewise if an earlier command of
 * either kind failed and was not yet reported: lost results are never success. clfree, clclose and
 * clmdetach also wait, but leave the failure for the next clwait. */
cl_event clwait(CLCONTEXT *cp, cl_uint dev, int flags);

/* Block until one event is complete: an event from clfork, clmsync or clmcopy with CL_EVENT_NOWAIT,
 * or an event owned by the caller. An event owned by the library is released, or with
 * CL_EVENT_NORELEASE transferred to the caller. CL_EVENT_RELEASE also releases an event owned by
 * the caller. Returns `ev`, which is invalid if it was released; (cl_event)-1 as clwait does. */
cl_event clwaitev(CLCONTEXT *cp, cl_uint dev, const cl_event ev, int flags);

/* Submit all commands enqueued so far to the device without waiting. `flags` is historic: 0, or
 * those of clwait, without effect. */
int clflush(CLCONTEXT *cp, cl_uint dev, int flags);

/* ---- Recordings. ----------------------------------------------------------------------------- */

/* Record the calling thread's commands on device `dev` from here to clrecord_end, for replays that
 * cost less than the calls (a command graph):
 *
 *   clrecord_begin(cp, 0);
 *   clforka(cp, 0, step, &ndr, CL_EVENT_NOWAIT, x, y, 0.1f);    recorded as command 0, not started
 *   clmsync(cp, 0, y, CL_MEM_HOST | CL_EVENT_NOWAIT);           command 1
 *   void *r = clrecord_end(cp, 0);
 *   for (int i = 0; i < 1000; i++) {
 *       clrecord_set(cp, r, 0, 2, 0.1f * i);                    argument 2 of command 0
 *       clrecord_replay(cp, r, CL_EVENT_WAIT);
 *   }
 *
 * clfork, clforka, clexec, clmsync, clmsyncn and clmcopy are recorded: checked as usual, and
 * arguments copied, but nothing is started, and they return 0. EINVAL without CL_EVENT_NOWAIT, and
 * with CL_EVENT_OWN, CL_EVENT_SIDE_QUEUE or CL_EVENT_BARRIER. clwait, clwaitev, clmrequire and
 * clrecord_replay on the device give EINVAL, since there is nothing to wait for, as do functions of
 * libraries that wait. Commands of other threads, on other devices, and OpenCL's own calls are not
 * affected.
 *
 * Returns 0; -1 with EBUSY if this or another thread records the device. */
int clrecord_begin(CLCONTEXT *cp, cl_uint dev);

/* The number of the next command that the calling thread records on device `dev`: 0, 1, ... -1 with
 * EINVAL if the thread records none. */
int clrecord_next(CLCONTEXT *cp, cl_uint dev);

/* End recording, and return the recording's handle. The caller frees it with clrecord_free; else
 * clcontext_destroy does. NULL if a command was refused meanwhile, with its error and message, or
 * with EINVAL if none was recorded. */
void *clrecord_end(CLCONTEXT *cp, cl_uint dev);

/* Start all commands of a recording again, in order, on the main queue of its device. Flags and
 * result as clfork's; the event is the last command's. EINVAL for CL_EVENT_SIDE_QUEUE and
 * CL_EVENT_BARRIER. Profiles count the commands. Blocks are migrated and marked as by the recorded
 * calls.
 *
 * Arguments of launches may change between replays, by clrecord_set. Index spaces, kernels, the
 * blocks of copies and the order are fixed. Kernels stay usable after clclose. EFAULT, before any
 * command is started: a block of the recording was freed, detached or resized since. If a command
 * is refused for another reason, the commands before it are started. Threads may replay one
 * recording at once: the replays run one after the other. */
cl_event clrecord_replay(CLCONTEXT *cp, void *recording, int flags);

/* clrecord_set(cp, recording, command, i, value): set argument i of a recorded launch, for replays
 * that begin from now on. Values and pointers act as in clforka. Returns 0; -1 with the errors of
 * clforka, and EINVAL if the command is no launch: the argument keeps its value. clrecord_setv
 * takes the argument as clforkv does. */
#define clrecord_set(cp, recording, command, i, value)                                             \
    STDCL_RECORD_SET(cp, recording, command, i, value)
int clrecord_setv(CLCONTEXT *cp, void *recording, cl_uint command, cl_uint i,
                  const struct stdcl_arg *arg);

/* Wait for the device's commands in flight, then free a recording. NULL is allowed. */
int clrecord_free(CLCONTEXT *cp, void *recording);

/* ---- Errors. --------------------------------------------------------------------------------- */

/* Error code of the calling thread's last failing call, an errno value; initially 0 and never reset
 * by success. oclerrno: the underlying OpenCL code, or 0. Both may be assigned. */
#define clerrno (*stdcl_errno_address())
#define oclerrno (*stdcl_oclerrno_address())
int *stdcl_errno_address(void);
int *stdcl_oclerrno_address(void);

/* Return the message of the calling thread's last failure: which call, on which object, what to do;
 * for a build, the compiler's log. Valid until the thread's next call. As dlerror, the next
 * clerror() returns NULL until the next failure. Control characters in quoted text, except newline
 * and tab, are replaced by '?'. */
char *clerror(void);

/* Print "prefix: text" of clerrno or oclerrno to stderr, as perror does. */
void clperror(const char *prefix);
void oclperror(const char *prefix);

/* Return the text of a clerrno value, or the name and text of an OpenCL code. Never NULL;
 * static. */
const char *clerror_str(int code);
const char *oclerror_str(int code);

/* Set clerrno to `code` and the message of clerror(), for libraries on top of this one. Returns -1,
 * so that a function can end with `return clerror_set(EINVAL, "...", ...)`. */
int clerror_set(int code, const char *format, ...) STDCL_PRINTF(2, 3);

/* Register a source at program start; called by objects that `stdcl embed` made. Keeps the
 * pointer. */
struct stdcl_embedded {
    const char *name;
    const unsigned char *data;
    size_t size;
    struct stdcl_embedded *next; /* used by the library */
};
void stdcl_embed_register(struct stdcl_embedded *source);

/* Register a binary of an embedded source (`stdcl embed --binary`). Programs of clopen(cp, NULL,
 * ...) use the binary on the device and driver that it names, and the source on all other
 * devices. */
struct stdcl_embedded_binary {
    const struct stdcl_embedded *source;
    const char *device; /* name, driver and platform */
    const unsigned char *data;
    size_t size;
    struct stdcl_embedded_binary *next; /* used by the library */
};
void stdcl_embed_register_binary(struct stdcl_embedded_binary *binary);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- Other headers of the layer. ------------------------------------------------------------ */

#include "stdcl/profile.h"  /* clprofile: profiles; clpeak: peak rates */
#include "stdcl/template.h" /* clopent, cltemplate: kernels that are generated */
#include "stdcl/tune.h"     /* cltune...: measured kernel shapes */

/* ---- Implementation of the macros and of clarg_set_global in C++; not part of the interface. - */

#define STDCL_NDR(d, o0, g0, l0, o1, g1, l1, o2, g2, l2, o3, g3, l3)                               \
    {                                                                                              \
        (size_t)(d), {(size_t)(o0), (size_t)(o1), (size_t)(o2), (size_t)(o3)},                     \
            {(size_t)(g0), (size_t)(g1), (size_t)(g2), (size_t)(g3)},                              \
        {                                                                                          \
            (size_t)(l0), (size_t)(l1), (size_t)(l2), (size_t)(l3)                                 \
        }                                                                                          \
    }

/* Select the macro for four arguments or for three: the fifth argument. */
#define STDCL_PICK4(a1, a2, a3, a4, name, ...) name

#define STDCL_ARG4(cp, krn, i, value) STDCL_ARG3(krn, i, value)
#define STDCL_GLB4(cp, krn, i, ptr) STDCL_GLB3(krn, i, ptr)
#define STDCL_LOC4(cp, krn, i, bytes) STDCL_LOC3(krn, i, bytes)
#define STDCL_LOC3(krn, i, bytes) stdcl_arg_local((krn), (cl_uint)(i), (size_t)(bytes))

/* Number of arguments after the first, 0 to 127; and the first as a string. */
#define STDCL_129TH(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,    \
                    a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,     \
                    a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47,     \
                    a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62,     \
                    a63, a64, a65, a66, a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77,     \
                    a78, a79, a80, a81, a82, a83, a84, a85, a86, a87, a88, a89, a90, a91, a92,     \
                    a93, a94, a95, a96, a97, a98, a99, a100, a101, a102, a103, a104, a105, a106,   \
                    a107, a108, a109, a110, a111, a112, a113, a114, a115, a116, a117, a118, a119,  \
                    a120, a121, a122, a123, a124, a125, a126, a127, a128, n, ...)                  \
    n
#define STDCL_COUNT(...)                                                                           \
    STDCL_129TH(__VA_ARGS__, 127, 126, 125, 124, 123, 122, 121, 120, 119, 118, 117, 116, 115, 114, \
                113, 112, 111, 110, 109, 108, 107, 106, 105, 104, 103, 102, 101, 100, 99, 98, 97,  \
                96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86, 85, 84, 83, 82, 81, 80, 79, 78, 77,    \
                76, 75, 74, 73, 72, 71, 70, 69, 68, 67, 66, 65, 64, 63, 62, 61, 60, 59, 58, 57,    \
                56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37,    \
                36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,    \
                16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define STDCL_CAT_(a, b) a##b
#define STDCL_CAT(a, b) STDCL_CAT_(a, b)
#define STDCL_STR_(a, ...) #a
#define STDCL_FIRST_NAME(...) STDCL_STR_(__VA_ARGS__, )
#define STDCL_FIRST_(a, ...) a
#define STDCL_FIRST(...) STDCL_FIRST_(__VA_ARGS__, )

/* STDCL_EACH(one, x, a, b, ...) expands to one(a) one(b) ...; x is dropped. */
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
#define STDCL_E64(one, x, a, ...) one(a) STDCL_E63(one, x, __VA_ARGS__)
#define STDCL_E65(one, x, a, ...) one(a) STDCL_E64(one, x, __VA_ARGS__)
#define STDCL_E66(one, x, a, ...) one(a) STDCL_E65(one, x, __VA_ARGS__)
#define STDCL_E67(one, x, a, ...) one(a) STDCL_E66(one, x, __VA_ARGS__)
#define STDCL_E68(one, x, a, ...) one(a) STDCL_E67(one, x, __VA_ARGS__)
#define STDCL_E69(one, x, a, ...) one(a) STDCL_E68(one, x, __VA_ARGS__)
#define STDCL_E70(one, x, a, ...) one(a) STDCL_E69(one, x, __VA_ARGS__)
#define STDCL_E71(one, x, a, ...) one(a) STDCL_E70(one, x, __VA_ARGS__)
#define STDCL_E72(one, x, a, ...) one(a) STDCL_E71(one, x, __VA_ARGS__)
#define STDCL_E73(one, x, a, ...) one(a) STDCL_E72(one, x, __VA_ARGS__)
#define STDCL_E74(one, x, a, ...) one(a) STDCL_E73(one, x, __VA_ARGS__)
#define STDCL_E75(one, x, a, ...) one(a) STDCL_E74(one, x, __VA_ARGS__)
#define STDCL_E76(one, x, a, ...) one(a) STDCL_E75(one, x, __VA_ARGS__)
#define STDCL_E77(one, x, a, ...) one(a) STDCL_E76(one, x, __VA_ARGS__)
#define STDCL_E78(one, x, a, ...) one(a) STDCL_E77(one, x, __VA_ARGS__)
#define STDCL_E79(one, x, a, ...) one(a) STDCL_E78(one, x, __VA_ARGS__)
#define STDCL_E80(one, x, a, ...) one(a) STDCL_E79(one, x, __VA_ARGS__)
#define STDCL_E81(one, x, a, ...) one(a) STDCL_E80(one, x, __VA_ARGS__)
#define STDCL_E82(one, x, a, ...) one(a) STDCL_E81(one, x, __VA_ARGS__)
#define STDCL_E83(one, x, a, ...) one(a) STDCL_E82(one, x, __VA_ARGS__)
#define STDCL_E84(one, x, a, ...) one(a) STDCL_E83(one, x, __VA_ARGS__)
#define STDCL_E85(one, x, a, ...) one(a) STDCL_E84(one, x, __VA_ARGS__)
#define STDCL_E86(one, x, a, ...) one(a) STDCL_E85(one, x, __VA_ARGS__)
#define STDCL_E87(one, x, a, ...) one(a) STDCL_E86(one, x, __VA_ARGS__)
#define STDCL_E88(one, x, a, ...) one(a) STDCL_E87(one, x, __VA_ARGS__)
#define STDCL_E89(one, x, a, ...) one(a) STDCL_E88(one, x, __VA_ARGS__)
#define STDCL_E90(one, x, a, ...) one(a) STDCL_E89(one, x, __VA_ARGS__)
#define STDCL_E91(one, x, a, ...) one(a) STDCL_E90(one, x, __VA_ARGS__)
#define STDCL_E92(one, x, a, ...) one(a) STDCL_E91(one, x, __VA_ARGS__)
#define STDCL_E93(one, x, a, ...) one(a) STDCL_E92(one, x, __VA_ARGS__)
#define STDCL_E94(one, x, a, ...) one(a) STDCL_E93(one, x, __VA_ARGS__)
#define STDCL_E95(one, x, a, ...) one(a) STDCL_E94(one, x, __VA_ARGS__)
#define STDCL_E96(one, x, a, ...) one(a) STDCL_E95(one, x, __VA_ARGS__)
#define STDCL_E97(one, x, a, ...) one(a) STDCL_E96(one, x, __VA_ARGS__)
#define STDCL_E98(one, x, a, ...) one(a) STDCL_E97(one, x, __VA_ARGS__)
#define STDCL_E99(one, x, a, ...) one(a) STDCL_E98(one, x, __VA_ARGS__)
#define STDCL_E100(one, x, a, ...) one(a) STDCL_E99(one, x, __VA_ARGS__)
#define STDCL_E101(one, x, a, ...) one(a) STDCL_E100(one, x, __VA_ARGS__)
#define STDCL_E102(one, x, a, ...) one(a) STDCL_E101(one, x, __VA_ARGS__)
#define STDCL_E103(one, x, a, ...) one(a) STDCL_E102(one, x, __VA_ARGS__)
#define STDCL_E104(one, x, a, ...) one(a) STDCL_E103(one, x, __VA_ARGS__)
#define STDCL_E105(one, x, a, ...) one(a) STDCL_E104(one, x, __VA_ARGS__)
#define STDCL_E106(one, x, a, ...) one(a) STDCL_E105(one, x, __VA_ARGS__)
#define STDCL_E107(one, x, a, ...) one(a) STDCL_E106(one, x, __VA_ARGS__)
#define STDCL_E108(one, x, a, ...) one(a) STDCL_E107(one, x, __VA_ARGS__)
#define STDCL_E109(one, x, a, ...) one(a) STDCL_E108(one, x, __VA_ARGS__)
#define STDCL_E110(one, x, a, ...) one(a) STDCL_E109(one, x, __VA_ARGS__)
#define STDCL_E111(one, x, a, ...) one(a) STDCL_E110(one, x, __VA_ARGS__)
#define STDCL_E112(one, x, a, ...) one(a) STDCL_E111(one, x, __VA_ARGS__)
#define STDCL_E113(one, x, a, ...) one(a) STDCL_E112(one, x, __VA_ARGS__)
#define STDCL_E114(one, x, a, ...) one(a) STDCL_E113(one, x, __VA_ARGS__)
#define STDCL_E115(one, x, a, ...) one(a) STDCL_E114(one, x, __VA_ARGS__)
#define STDCL_E116(one, x, a, ...) one(a) STDCL_E115(one, x, __VA_ARGS__)
#define STDCL_E117(one, x, a, ...) one(a) STDCL_E116(one, x, __VA_ARGS__)
#define STDCL_E118(one, x, a, ...) one(a) STDCL_E117(one, x, __VA_ARGS__)
#define STDCL_E119(one, x, a, ...) one(a) STDCL_E118(one, x, __VA_ARGS__)
#define STDCL_E120(one, x, a, ...) one(a) STDCL_E119(one, x, __VA_ARGS__)
#define STDCL_E121(one, x, a, ...) one(a) STDCL_E120(one, x, __VA_ARGS__)
#define STDCL_E122(one, x, a, ...) one(a) STDCL_E121(one, x, __VA_ARGS__)
#define STDCL_E123(one, x, a, ...) one(a) STDCL_E122(one, x, __VA_ARGS__)
#define STDCL_E124(one, x, a, ...) one(a) STDCL_E123(one, x, __VA_ARGS__)
#define STDCL_E125(one, x, a, ...) one(a) STDCL_E124(one, x, __VA_ARGS__)
#define STDCL_E126(one, x, a, ...) one(a) STDCL_E125(one, x, __VA_ARGS__)
#define STDCL_E127(one, x, a, ...) one(a) STDCL_E126(one, x, __VA_ARGS__)

#ifdef __cplusplus

#define STDCL_NDR_SET(ndr, numbers) ((void)((ndr) = stdcl_cxx::range numbers))
#define STDCL_RANGE(d, n, m, k)                                                                    \
    static_cast<clndrange_t *>(stdcl_cxx::index_space(d, (size_t)(n), (size_t)(m), (size_t)(k)))
#define STDCL_ARG3(krn, i, value) stdcl_cxx::set((krn), (cl_uint)(i), (value))
#define STDCL_PTR3(krn, i, ptr) stdcl_cxx::set_pointer((krn), (cl_uint)(i), (ptr))
#define STDCL_FORKA(cp, dev, krn, ndr, ...)                                                        \
    stdcl_cxx::list() STDCL_EACH(STDCL_ONE, __VA_ARGS__)                                           \
        .fork((cp), (dev), (krn), (ndr), STDCL_FIRST(__VA_ARGS__))
#define STDCL_ONE(v) .add(v)
#define STDCL_RECORD_SET(cp, recording, command, i, v)                                             \
    stdcl_cxx::list().add(v).replace((cp), (recording), (command), (i))
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
#define STDCL_VECTOR(type, text)                                                                   \
    STDCL_NUMBER(type##2, text "2")                                                                \
    STDCL_NUMBER(type##4, text "4")                                                                \
    STDCL_NUMBER(type##8, text "8")                                                                \
    STDCL_NUMBER(type##16, text "16")
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
STDCL_VECTOR(cl_short, "short")
STDCL_VECTOR(cl_ushort, "ushort")
STDCL_VECTOR(cl_int, "int")
STDCL_VECTOR(cl_uint, "uint")
STDCL_VECTOR(cl_long, "long")
STDCL_VECTOR(cl_ulong, "ulong")
STDCL_VECTOR(cl_float, "float")
STDCL_VECTOR(cl_double, "double")
#undef STDCL_VECTOR
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
/* An index space that lives until the end of the statement. */
struct index_space {
    clndrange_t r;
    index_space(size_t dim, size_t n, size_t m, size_t k)
        : r(range(dim, 0, n, 0, 0, m, 0, 0, k, 0, 0, 0, 0))
    {
    }
    operator clndrange_t *()
    {
        return &r;
    }
};
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

/* Arguments of a launch. Their values live until the end of the full expression. */
class list
{
    stdcl_arg items[128];
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
    int replace(CLCONTEXT *cp, void *recording, cl_uint command, cl_uint i)
    {
        return clrecord_setv(cp, recording, command, i, items);
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
#define STDCL_RANGE(d, n, m, k) (&(clndrange_t)STDCL_NDR(d, 0, n, 0, 0, m, 0, 0, k, 0, 0, 0, 0))
#define STDCL_TYPEOF(v) __typeof__(((void)0, (v)))
#define STDCL_ADDRESS(v) ((const void *)(STDCL_TYPEOF(v)[1]){v})
#define STDCL_ARG3(krn, i, v)                                                                      \
    stdcl_arg_value((krn), (cl_uint)(i), sizeof(STDCL_TYPEOF(v)), STDCL_ADDRESS(v), STDCL_TYPE(v))
#define STDCL_GLB3(krn, i, ptr) stdcl_arg_global((krn), (cl_uint)(i), (ptr), STDCL_TYPE(ptr))
#define STDCL_PTR3(krn, i, ptr) stdcl_arg_pointer((krn), (cl_uint)(i), (ptr), STDCL_TYPE(ptr))

/* gcc and clang give pointers the type class 5. */
#define STDCL_KIND(v)                                                                              \
    _Generic((v), cl_mem                                                                           \
             : STDCL_VALUE, cl_sampler                                                             \
             : STDCL_VALUE, stdcl_local_t                                                          \
             : STDCL_LOCAL, default                                                                \
             : __builtin_classify_type(((void)0, (v))) == 5 ? STDCL_GLOBAL : STDCL_VALUE)
#define STDCL_NUMBER(type, name)                                                                   \
    type:                                                                                          \
    name, type * : name "*", const type * : name "*"
/* The vector types of cl_platform.h are distinct unions in C; cl_int3 is cl_int4. */
#define STDCL_VECTOR(type, name)                                                                   \
    STDCL_NUMBER(type##2, name "2"), STDCL_NUMBER(type##4, name "4"),                              \
        STDCL_NUMBER(type##8, name "8"), STDCL_NUMBER(type##16, name "16")
#define STDCL_TYPE(v)                                                                              \
    _Generic((v), STDCL_NUMBER(char, "char"), STDCL_NUMBER(signed char, "char"),             \
        STDCL_NUMBER(unsigned char, "uchar"), STDCL_NUMBER(short, "short"),                  \
        STDCL_NUMBER(unsigned short, "ushort"), STDCL_NUMBER(int, "int"),                    \
        STDCL_NUMBER(unsigned, "uint"), STDCL_NUMBER(long, "long"),                          \
        STDCL_NUMBER(unsigned long, "ulong"), STDCL_NUMBER(long long, "long"),               \
        STDCL_NUMBER(unsigned long long, "ulong"), STDCL_NUMBER(float, "float"),             \
        STDCL_NUMBER(double, "double"), STDCL_VECTOR(cl_short, "short"),                     \
        STDCL_VECTOR(cl_ushort, "ushort"), STDCL_VECTOR(cl_int, "int"),                      \
        STDCL_VECTOR(cl_uint, "uint"), STDCL_VECTOR(cl_long, "long"),                        \
        STDCL_VECTOR(cl_ulong, "ulong"), STDCL_VECTOR(cl_float, "float"),                    \
        STDCL_VECTOR(cl_double, "double"), cl_mem: "cl_mem", cl_sampler: "sampler_t",           \
        void *: "void*", const void *: "void*",                                               \
        default: __builtin_classify_type(((void)0, (v))) == 5 ? "pointer" : (const char *)0)
#define STDCL_ONE(v) {sizeof(STDCL_TYPEOF(v)), STDCL_KIND(v), STDCL_ADDRESS(v), STDCL_TYPE(v)},

/* Array of the arguments after the first, with a terminating entry. */
#define STDCL_ARRAY(...)                                                                           \
    ((const struct stdcl_arg[]){STDCL_EACH(STDCL_ONE, __VA_ARGS__){0, 0, 0, 0}})
#define STDCL_FORKA(cp, dev, krn, ndr, ...)                                                        \
    stdcl_forka((cp), (dev), (krn), (ndr), STDCL_FIRST(__VA_ARGS__), STDCL_COUNT(__VA_ARGS__),     \
                STDCL_ARRAY(__VA_ARGS__))
#define STDCL_RECORD_SET(cp, recording, command, i, v)                                             \
    clrecord_setv((cp), (recording), (command), (i), (const struct stdcl_arg[]){STDCL_ONE(v)})
#define STDCL_EXEC(cp, dev, ndr, flags, ...)                                                       \
    clexecv((cp), (dev), (ndr), (flags), STDCL_FIRST_NAME(__VA_ARGS__), STDCL_COUNT(__VA_ARGS__),  \
            STDCL_ARRAY(__VA_ARGS__))

#endif /* __cplusplus */
#endif /* __OPENCL_VERSION__ */
#endif /* STDCL_H */
