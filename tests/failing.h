/* failing.h - make OpenCL commands fail on request.
 *
 * The device is healthy, so failures are simulated: a program that includes this file defines
 * clEnqueueNDRangeKernel and clEnqueueWriteBuffer, which replace the driver's. They count down
 * `healthy`, then make one command fail: its event is a user event whose status is an error. If
 * the command has no event, the next marker of its queue reports the failure. Link with
 * ${CMAKE_DL_LIBS}; only one source file of a program includes this.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TESTS_FAILING_H
#define STDCL_TESTS_FAILING_H

#include "check.h"

#undef clEnqueueNDRangeKernel /* stdcl.h replaces it for callers */

#include <dlfcn.h>

static int healthy = -1; /* number of commands that succeed before one fails; -1: none fails */

static bool fails_now(void)
{
    return healthy >= 0 && healthy-- == 0;
}

static cl_command_queue unseen; /* a command without an event failed there */

static cl_int failed_command(cl_command_queue queue, cl_event *ev)
{
    cl_int err;
    cl_context context = NULL;
    if (!ev)
        return unseen = queue, CL_SUCCESS;
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    *ev = clCreateUserEvent(context, &err);
    return err ? err : clSetUserEventStatus(*ev, CL_OUT_OF_RESOURCES);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel krn, cl_uint dim,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *list, cl_event *ev)
{
    cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *, cl_event *);
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    return fails_now() ? failed_command(queue, ev)
                       : real(queue, krn, dim, offset, global, local, n, list, ev);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void *from, cl_uint n, const cl_event *list,
                            cl_event *ev)
{
    cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
                   const cl_event *, cl_event *);
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueWriteBuffer");
    return fails_now() ? failed_command(queue, ev)
                       : real(queue, buffer, blocking, offset, size, from, n, list, ev);
}

static bool no_markers; /* they are refused */

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n, const cl_event *list,
                                   cl_event *ev)
{
    cl_int (*real)(cl_command_queue, cl_uint, const cl_event *, cl_event *);
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueMarkerWithWaitList");
    const bool tells = ev && queue == unseen;
    if (no_markers)
        return CL_OUT_OF_HOST_MEMORY;
    if (tells)
        unseen = NULL;
    return tells ? failed_command(queue, ev) : real(queue, n, list, ev);
}

#endif
