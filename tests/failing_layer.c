/* failing_layer.c - an OpenCL layer (OPENCL_LAYERS) in which one command fails.
 *
 *   STDCL_TEST_FAULT="kernel 5 refused"    the fifth launch returns an error, and nothing is queued
 *   STDCL_TEST_FAULT="read 1 failed"       the first read is queued, as it seems, but its event tells a failure
 *   STDCL_TEST_FAULT="kernel 1 lost"       launches from the first on do nothing, and nobody is told
 *
 * Commands are "kernel", "write" and "read", counted from 1 since the variable last changed. What waits for a command
 * that failed is done nevertheless: PoCL would wait for ever. A program knows that the layer is there by the variable
 * STDCL_TEST_LAYER, which the layer sets.
 * SPDX-License-Identifier: MIT
 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_icd_dispatch next, ours;

enum fault { NONE, REFUSED, FAILED, LOST };

/* What is to happen to this command. */
static enum fault fault_of(const char *command)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char last[64];
    static unsigned long count;
    const char *wanted = getenv("STDCL_TEST_FAULT");
    char name[16] = "", how[16] = "";
    unsigned long number = 0;
    enum fault fault = NONE;
    if (!wanted || sscanf(wanted, "%15s %lu %15s", name, &number, how) != 3 || strcmp(name, command) != 0)
        return NONE;
    pthread_mutex_lock(&lock);
    if (strcmp(wanted, last) != 0) {
        snprintf(last, sizeof last, "%s", wanted);
        count = 0;
    }
    count++;
    if (strcmp(how, "lost") == 0)
        fault = count >= number ? LOST : NONE;
    else if (count == number)
        fault = strcmp(how, "refused") == 0 ? REFUSED : FAILED;
    pthread_mutex_unlock(&lock);
    return fault;
}

/* A command that fails. */
static cl_int fail(enum fault fault, cl_command_queue queue, cl_event *event)
{
    cl_context context = NULL;
    cl_int err = CL_OUT_OF_RESOURCES;
    if (fault == REFUSED)
        return err;
    if (fault == LOST)
        return next.clEnqueueMarkerWithWaitList(queue, 0, NULL, event);
    if (!event)
        return CL_SUCCESS;
    next.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    *event = next.clCreateUserEvent(context, &err);
    return *event ? next.clSetUserEventStatus(*event, CL_OUT_OF_RESOURCES) : err;
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
        next.clGetEventInfo(wait[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (status >= CL_COMPLETE)
            w.event[w.n++] = wait[i];
    }
    return w;
}

#define WITH_FAULT(command, queue, event, call)      \
    const enum fault fault = fault_of(command);      \
    const struct waits w = waits_of(n, wait);        \
    return fault ? fail(fault, queue, event) : (call)

static cl_int CL_API_CALL launch(cl_command_queue q, cl_kernel k, cl_uint dim, const size_t *offset, const size_t *global,
                                 const size_t *local, cl_uint n, const cl_event *wait, cl_event *ev)
{
    WITH_FAULT("kernel", q, ev, next.clEnqueueNDRangeKernel(q, k, dim, offset, global, local, w.n, w.n ? w.event : NULL, ev));
}

static cl_int CL_API_CALL write(cl_command_queue q, cl_mem b, cl_bool block, size_t at, size_t size, const void *x, cl_uint n,
                                const cl_event *wait, cl_event *ev)
{
    WITH_FAULT("write", q, ev, next.clEnqueueWriteBuffer(q, b, block, at, size, x, w.n, w.n ? w.event : NULL, ev));
}

static cl_int CL_API_CALL read(cl_command_queue q, cl_mem b, cl_bool block, size_t at, size_t size, void *x, cl_uint n,
                               const cl_event *wait, cl_event *ev)
{
    WITH_FAULT("read", q, ev, next.clEnqueueReadBuffer(q, b, block, at, size, x, w.n, w.n ? w.event : NULL, ev));
}

static cl_int CL_API_CALL write_rect(cl_command_queue q, cl_mem b, cl_bool block, const size_t *there, const size_t *here,
                                     const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
                                     const void *x, cl_uint n, const cl_event *wait, cl_event *ev)
{
    WITH_FAULT("write", q, ev, next.clEnqueueWriteBufferRect(q, b, block, there, here, region, row, slice, host_row,
                                                             host_slice, x, w.n, w.n ? w.event : NULL, ev));
}

static cl_int CL_API_CALL read_rect(cl_command_queue q, cl_mem b, cl_bool block, const size_t *there, const size_t *here,
                                    const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
                                    void *x, cl_uint n, const cl_event *wait, cl_event *ev)
{
    WITH_FAULT("read", q, ev, next.clEnqueueReadBufferRect(q, b, block, there, here, region, row, slice, host_row,
                                                           host_slice, x, w.n, w.n ? w.event : NULL, ev));
}

static cl_int CL_API_CALL barrier(cl_command_queue q, cl_uint n, const cl_event *wait, cl_event *ev)
{
    const struct waits w = waits_of(n, wait);
    return next.clEnqueueBarrierWithWaitList(q, w.n, w.n ? w.event : NULL, ev);
}

__attribute__((visibility("default"))) cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const char name[] = "one command that fails";
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

__attribute__((visibility("default"))) cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *our_count,
                                            const cl_icd_dispatch **our_table)
{
    const size_t entries = sizeof next / sizeof(void *);
    memcpy(&next, target, (count < entries ? count : entries) * sizeof(void *));
    ours = next;
    ours.clEnqueueNDRangeKernel = launch;
    ours.clEnqueueWriteBuffer = write;
    ours.clEnqueueReadBuffer = read;
    ours.clEnqueueWriteBufferRect = write_rect;
    ours.clEnqueueReadBufferRect = read_rect;
    ours.clEnqueueBarrierWithWaitList = barrier;
    *our_count = (cl_uint)(count < entries ? count : entries);
    *our_table = &ours;
    setenv("STDCL_TEST_LAYER", "1", 1);
    return CL_SUCCESS;
}
