/* layer.c - an OpenCL layer (OPENCL_LAYERS) that makes one call, or one command, fail as
 * fault.h says.
 *
 * Commands that wait for a failed command run nevertheless, since PoCL would wait for ever.
 * Kernels after it in its queue are skipped until the program waits for this queue, as drivers do
 * that drop queued commands: they would use missing results as memory addresses. The failure of a
 * command without an event is reported by the next marker of its queue only. A released object is
 * released even if the call then returns an error. The layer sets STDCL_TEST_LAYER, so that a
 * program can detect it.
 * SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

#include "fault.h"

#include <stdatomic.h>

static cl_icd_dispatch next, ours;

/* The queue of a failed command, until the program waits for it. Waits for other queues, as
 * another rank's, do not count. */
static _Atomic(cl_command_queue) stopped;

static void waited_event(cl_command_queue q)
{
    atomic_compare_exchange_strong(&stopped, &q, NULL);
}

/* The queue of a failed command without an event, and its error, until a marker reports it.
 */
static _Atomic(cl_command_queue) untold_in;
static _Atomic(cl_int) untold;

/* ---- Calls that ask, release, or make something. --------------------------------------------- */

#define ASKS(name, parameters, arguments)                                                          \
    static cl_int CL_API_CALL name##_ parameters                                                   \
    {                                                                                              \
        const struct fault f = fault_of(#name);                                                    \
        return f.how ? f.code : next.name arguments;                                               \
    }

#define RELEASES(name, type)                                                                       \
    static cl_int CL_API_CALL name##_(type it)                                                     \
    {                                                                                              \
        const struct fault f = fault_of(#name);                                                    \
        const cl_int status = next.name(it);                                                       \
        return f.how ? f.code : status;                                                            \
    }

#define MAKES(type, name, parameters, arguments)                                                   \
    static type CL_API_CALL name##_ parameters                                                     \
    {                                                                                              \
        const struct fault f = fault_of(#name);                                                    \
        if (f.how && err)                                                                          \
            *err = f.code;                                                                         \
        return f.how ? NULL : next.name arguments;                                                 \
    }

#define ASKS_INFO(name, type, info)                                                                \
    ASKS(name, (type it, info what, size_t size, void *value, size_t *needed),                     \
         (it, what, size, value, needed))

ASKS(clGetPlatformIDs, (cl_uint n, cl_platform_id *id, cl_uint *found), (n, id, found))
ASKS_INFO(clGetPlatformInfo, cl_platform_id, cl_platform_info)
ASKS(clGetDeviceIDs,
     (cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *id, cl_uint *found),
     (p, type, n, id, found))

/* Report a small device, so that measuring its speed takes little time, and shared virtual memory
 * of coarse grain only, which takes more calls. */
static cl_int CL_API_CALL clGetDeviceInfo_(cl_device_id it, cl_device_info what, size_t size,
                                           void *value, size_t *needed)
{
    const cl_ulong memory = 64 << 20;
    const cl_uint units = 1;
    const cl_device_svm_capabilities coarse = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    const struct fault f = fault_of("clGetDeviceInfo");
    const cl_int status = f.how ? f.code : next.clGetDeviceInfo(it, what, size, value, needed);
    if (status == CL_SUCCESS && what == CL_DEVICE_GLOBAL_MEM_SIZE && value)
        memcpy(value, &memory, sizeof memory);
    if (status == CL_SUCCESS && what == CL_DEVICE_MAX_COMPUTE_UNITS && value)
        memcpy(value, &units, sizeof units);
    if (status == CL_SUCCESS && what == CL_DEVICE_SVM_CAPABILITIES && value)
        *(cl_device_svm_capabilities *)value &= coarse;
    return status;
}

MAKES(cl_context, clCreateContext,
      (const cl_context_properties *what, cl_uint n, const cl_device_id *id,
       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
       cl_int *err),
      (what, n, id, notify, data, err))
RELEASES(clReleaseContext, cl_context)
MAKES(cl_command_queue, clCreateCommandQueue,
      (cl_context c, cl_device_id id, cl_command_queue_properties what, cl_int *err),
      (c, id, what, err))
ASKS(clRetainCommandQueue, (cl_command_queue q), (q))
RELEASES(clReleaseCommandQueue, cl_command_queue)
MAKES(cl_mem, clCreateBuffer,
      (cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *err),
      (c, flags, size, host, err))
MAKES(cl_mem, clCreateSubBuffer,
      (cl_mem m, cl_mem_flags flags, cl_buffer_create_type type, const void *what, cl_int *err),
      (m, flags, type, what, err))
MAKES(cl_mem, clCreateImage,
      (cl_context c, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *what,
       void *host, cl_int *err),
      (c, flags, format, what, host, err))
MAKES(cl_sampler, clCreateSampler,
      (cl_context c, cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter,
       cl_int *err),
      (c, normalized, addressing, filter, err))
RELEASES(clReleaseSampler, cl_sampler)
RELEASES(clReleaseMemObject, cl_mem)

static void *CL_API_CALL clSVMAlloc_(cl_context c, cl_svm_mem_flags flags, size_t size,
                                     cl_uint alignment)
{
    return fault_of("clSVMAlloc").how ? NULL : next.clSVMAlloc(c, flags, size, alignment);
}

MAKES(cl_program, clCreateProgramWithSource,
      (cl_context c, cl_uint n, const char **text, const size_t *length, cl_int *err),
      (c, n, text, length, err))
MAKES(cl_program, clCreateProgramWithBinary,
      (cl_context c, cl_uint n, const cl_device_id *id, const size_t *length,
       const unsigned char **binary, cl_int *status, cl_int *err),
      (c, n, id, length, binary, status, err))
MAKES(cl_program, clCreateProgramWithIL,
      (cl_context c, const void *words, size_t length, cl_int *err), (c, words, length, err))
ASKS(clSetProgramSpecializationConstant, (cl_program p, cl_uint id, size_t size, const void *value),
     (p, id, size, value))
ASKS(clRetainProgram, (cl_program p), (p))
RELEASES(clReleaseProgram, cl_program)
ASKS(clBuildProgram,
     (cl_program p, cl_uint n, const cl_device_id *id, const char *options,
      void(CL_CALLBACK *notify)(cl_program, void *), void *data),
     (p, n, id, options, notify, data))
ASKS_INFO(clGetProgramInfo, cl_program, cl_program_info)
ASKS(clGetProgramBuildInfo,
     (cl_program p, cl_device_id id, cl_program_build_info what, size_t size, void *value,
      size_t *needed),
     (p, id, what, size, value, needed))
MAKES(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *err), (p, name, err))
RELEASES(clReleaseKernel, cl_kernel)
ASKS(clRetainContext, (cl_context c), (c))
ASKS(clRetainMemObject, (cl_mem m), (m))
ASKS_INFO(clGetMemObjectInfo, cl_mem, cl_mem_info)
ASKS_INFO(clGetImageInfo, cl_mem, cl_image_info)
ASKS_INFO(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)
ASKS(clSetKernelArg, (cl_kernel k, cl_uint i, size_t size, const void *value), (k, i, size, value))
ASKS(clSetKernelArgSVMPointer, (cl_kernel k, cl_uint i, const void *x), (k, i, x))
ASKS(clSetKernelExecInfo, (cl_kernel k, cl_kernel_exec_info what, size_t size, const void *value),
     (k, what, size, value))
ASKS_INFO(clGetKernelInfo, cl_kernel, cl_kernel_info)
ASKS(clGetKernelArgInfo,
     (cl_kernel k, cl_uint i, cl_kernel_arg_info what, size_t size, void *value, size_t *needed),
     (k, i, what, size, value, needed))
ASKS(clGetKernelWorkGroupInfo,
     (cl_kernel k, cl_device_id id, cl_kernel_work_group_info what, size_t size, void *value,
      size_t *needed),
     (k, id, what, size, value, needed))

static cl_int CL_API_CALL clWaitForEvents_(cl_uint n, const cl_event *event)
{
    const struct fault f = fault_of("clWaitForEvents");
    for (cl_uint i = 0; i < n; i++) {
        cl_command_queue q = NULL; /* as the event of a failed command, see fail_command() */
        next.clGetEventInfo(event[i], CL_EVENT_COMMAND_QUEUE, sizeof q, &q, NULL);
        waited_event(q ? q : atomic_load(&stopped));
    }
    return f.how ? f.code : next.clWaitForEvents(n, event);
}

ASKS_INFO(clGetEventInfo, cl_event, cl_event_info)
ASKS(clRetainEvent, (cl_event event), (event))
RELEASES(clReleaseEvent, cl_event)
ASKS_INFO(clGetEventProfilingInfo, cl_event, cl_profiling_info)
ASKS(clFlush, (cl_command_queue q), (q))

static cl_int CL_API_CALL clFinish_(cl_command_queue q)
{
    const struct fault f = fault_of("clFinish");
    waited_event(q);
    return f.how ? f.code : next.clFinish(q);
}

/* ---- Commands. ------------------------------------------------------------------------------- */

/* Fail a command. A blocking one can only be rejected. */
static cl_int fail_command(struct fault f, cl_bool block, cl_command_queue queue, cl_event *event)
{
    cl_context context = NULL;
    cl_int err = f.code;
    if (f.how == LOST)
        return next.clEnqueueMarkerWithWaitList(queue, 0, NULL, event);
    if (f.how == REFUSED || block)
        return err;
    atomic_store(&stopped, queue);
    if (!event) {
        atomic_store(&untold, f.code);
        atomic_store(&untold_in, queue);
        return CL_SUCCESS;
    }
    next.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    *event = next.clCreateUserEvent(context, &err);
    return *event ? next.clSetUserEventStatus(*event, f.code) : err;
}

/* The events of a wait list that have not failed. */
struct waits {
    cl_uint n;
    cl_event event[8];
};

static struct waits waits_of(cl_uint n, const cl_event *wait)
{
    struct waits w = {0, {NULL}};
    for (cl_uint i = 0; i < n && w.n < 8; i++) {
        cl_int status = CL_COMPLETE;
        next.clGetEventInfo(wait[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                            NULL);
        if (status >= CL_COMPLETE)
            w.event[w.n++] = wait[i];
    }
    return w;
}

/* `wait` stands for the end of a command's parameters, and for the end of its arguments. */
#define WAIT_PARAMETERS cl_uint n, const cl_event *wait, cl_event *event
#define WAIT_ARGUMENTS w.n, w.n ? w.event : NULL, event
#define QUEUES(name, block, parameters, arguments)                                                 \
    static cl_int CL_API_CALL name##_ parameters                                                   \
    {                                                                                              \
        const struct fault f = fault_of(#name);                                                    \
        const struct waits w = waits_of(n, wait);                                                  \
        if (block)                                                                                 \
            waited_event(q);                                                                       \
        return f.how ? fail_command(f, block, q, event) : next.name arguments;                     \
    }

QUEUES(clEnqueueReadBuffer, block,
       (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, void *x,
        WAIT_PARAMETERS),
       (q, m, block, at, size, x, WAIT_ARGUMENTS))
QUEUES(clEnqueueWriteBuffer, block,
       (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, const void *x,
        WAIT_PARAMETERS),
       (q, m, block, at, size, x, WAIT_ARGUMENTS))
QUEUES(clEnqueueReadBufferRect, block,
       (cl_command_queue q, cl_mem m, cl_bool block, const size_t *there, const size_t *here,
        const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice, void *x,
        WAIT_PARAMETERS),
       (q, m, block, there, here, region, row, slice, host_row, host_slice, x, WAIT_ARGUMENTS))
QUEUES(clEnqueueWriteBufferRect, block,
       (cl_command_queue q, cl_mem m, cl_bool block, const size_t *there, const size_t *here,
        const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
        const void *x, WAIT_PARAMETERS),
       (q, m, block, there, here, region, row, slice, host_row, host_slice, x, WAIT_ARGUMENTS))
QUEUES(clEnqueueFillBuffer, CL_FALSE,
       (cl_command_queue q, cl_mem m, const void *pattern, size_t bytes, size_t at, size_t size,
        WAIT_PARAMETERS),
       (q, m, pattern, bytes, at, size, WAIT_ARGUMENTS))
QUEUES(clEnqueueCopyBuffer, CL_FALSE,
       (cl_command_queue q, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size,
        WAIT_PARAMETERS),
       (q, from, to, from_at, to_at, size, WAIT_ARGUMENTS))
QUEUES(clEnqueueReadImage, block,
       (cl_command_queue q, cl_mem m, cl_bool block, const size_t *at, const size_t *region,
        size_t row, size_t slice, void *x, WAIT_PARAMETERS),
       (q, m, block, at, region, row, slice, x, WAIT_ARGUMENTS))
QUEUES(clEnqueueWriteImage, block,
       (cl_command_queue q, cl_mem m, cl_bool block, const size_t *at, const size_t *region,
        size_t row, size_t slice, const void *x, WAIT_PARAMETERS),
       (q, m, block, at, region, row, slice, x, WAIT_ARGUMENTS))
QUEUES(clEnqueueUnmapMemObject, CL_FALSE, (cl_command_queue q, cl_mem m, void *x, WAIT_PARAMETERS),
       (q, m, x, WAIT_ARGUMENTS))
QUEUES(clEnqueueSVMMap, block,
       (cl_command_queue q, cl_bool block, cl_map_flags flags, void *x, size_t size,
        WAIT_PARAMETERS),
       (q, block, flags, x, size, WAIT_ARGUMENTS))
QUEUES(clEnqueueSVMUnmap, CL_FALSE, (cl_command_queue q, void *x, WAIT_PARAMETERS),
       (q, x, WAIT_ARGUMENTS))
static cl_int CL_API_CALL clEnqueueNDRangeKernel_(cl_command_queue q, cl_kernel k, cl_uint dim,
                                                  const size_t *offset, const size_t *global,
                                                  const size_t *local, WAIT_PARAMETERS)
{
    const struct fault f = fault_of("clEnqueueNDRangeKernel");
    const struct waits w = waits_of(n, wait);
    if (f.how)
        return fail_command(f, CL_FALSE, q, event);
    if (atomic_load(&stopped) == q)
        return next.clEnqueueMarkerWithWaitList(q, WAIT_ARGUMENTS);
    return next.clEnqueueNDRangeKernel(q, k, dim, offset, global, local, WAIT_ARGUMENTS);
}

static cl_int CL_API_CALL clEnqueueMarkerWithWaitList_(cl_command_queue q, WAIT_PARAMETERS)
{
    const struct fault f = fault_of("clEnqueueMarkerWithWaitList");
    const struct waits w = waits_of(n, wait);
    cl_command_queue told = q;
    if (f.how)
        return fail_command(f, CL_FALSE, q, event);
    if (event && atomic_compare_exchange_strong(&untold_in, &told, NULL))
        return fail_command((struct fault){FAILED, atomic_load(&untold)}, CL_FALSE, q, event);
    return next.clEnqueueMarkerWithWaitList(q, WAIT_ARGUMENTS);
}

QUEUES(clEnqueueBarrierWithWaitList, CL_FALSE, (cl_command_queue q, WAIT_PARAMETERS),
       (q, WAIT_ARGUMENTS))

/* A map returns a pointer, and ours block. */
MAKES(void *, clEnqueueMapBuffer,
      (cl_command_queue q, cl_mem m, cl_bool block, cl_map_flags flags, size_t at, size_t size,
       WAIT_PARAMETERS, cl_int *err),
      (q, m, block, flags, at, size, n, wait, event, err))

/* ---- The layer. ------------------------------------------------------------------------------ */

__attribute__((visibility("default"))) cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what,
                                                                         size_t size, void *value,
                                                                         size_t *needed)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const char name[] = "one call that fails";
    const void *from = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
    const size_t bytes = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
    if ((what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) || (value && size < bytes))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

#define OURS(name) ours.name = name##_

static void make_ours(void)
{
    OURS(clGetPlatformIDs), OURS(clGetPlatformInfo), OURS(clGetDeviceIDs), OURS(clGetDeviceInfo);
    OURS(clCreateContext), OURS(clReleaseContext);
    OURS(clCreateCommandQueue), OURS(clRetainCommandQueue), OURS(clReleaseCommandQueue);
    OURS(clCreateBuffer), OURS(clCreateSubBuffer), OURS(clCreateImage), OURS(clReleaseMemObject);
    OURS(clCreateSampler), OURS(clReleaseSampler);
    OURS(clGetMemObjectInfo), OURS(clGetImageInfo), OURS(clRetainContext), OURS(clRetainMemObject);
    OURS(clCreateProgramWithSource), OURS(clCreateProgramWithBinary);
    OURS(clCreateProgramWithIL), OURS(clSetProgramSpecializationConstant);
    OURS(clRetainProgram), OURS(clReleaseProgram);
    OURS(clBuildProgram), OURS(clGetProgramInfo), OURS(clGetProgramBuildInfo);
    OURS(clCreateKernel), OURS(clReleaseKernel), OURS(clSetKernelArg);
    OURS(clGetKernelInfo), OURS(clGetCommandQueueInfo), OURS(clGetKernelArgInfo),
        OURS(clGetKernelWorkGroupInfo);
    OURS(clWaitForEvents), OURS(clGetEventInfo), OURS(clRetainEvent), OURS(clReleaseEvent),
        OURS(clGetEventProfilingInfo);
    OURS(clFlush), OURS(clFinish);
    OURS(clEnqueueReadBuffer), OURS(clEnqueueWriteBuffer), OURS(clEnqueueReadBufferRect),
        OURS(clEnqueueWriteBufferRect);
    OURS(clEnqueueFillBuffer), OURS(clEnqueueCopyBuffer), OURS(clEnqueueReadImage),
        OURS(clEnqueueWriteImage);
    OURS(clEnqueueMapBuffer), OURS(clEnqueueUnmapMemObject), OURS(clEnqueueNDRangeKernel);
    OURS(clSVMAlloc), OURS(clEnqueueSVMMap), OURS(clEnqueueSVMUnmap);
    OURS(clSetKernelArgSVMPointer), OURS(clSetKernelExecInfo);
    OURS(clEnqueueMarkerWithWaitList), OURS(clEnqueueBarrierWithWaitList);
}

__attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *our_count,
            const cl_icd_dispatch **our_table)
{
    const size_t entries = sizeof next / sizeof(void *);
    memcpy(&next, target, (count < entries ? count : entries) * sizeof(void *));
    ours = next;
    make_ours();
    *our_count = (cl_uint)(count < entries ? count : entries);
    *our_table = &ours;
    setenv("STDCL_TEST_LAYER", "1", 1);
    return CL_SUCCESS;
}
