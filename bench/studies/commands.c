/* commands.c - LD_PRELOAD library that records when each OpenCL command was enqueued, started and
 * ended, in all queues. It needs no profile, with which stdcl uses one queue per device.
 *
 *   gcc -O2 -shared -fPIC -o commands.so bench/studies/commands.c -ldl
 *   COMMANDS_FROM=13000 COMMANDS_COUNT=1500 COMMANDS_FILE=lines.txt LD_PRELOAD=./commands.so
 *   build/bench/bench_nbody ...
 *
 * From launch COMMANDS_FROM on, COMMANDS_COUNT commands, a line each: thread, queue, name (of a
 * kernel, or READ, WRITE, MARKER, BARRIER, WAIT), bytes; the microseconds of the host's clock at
 * which the call began and ended; and the driver's nanoseconds of queued, submitted, started,
 * ended. A recorded command has an event, which costs the host some 10 us. Clocks of two cards may
 * differ by 0.4 ms.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 40000, QUEUES = 64 };

static struct command {
    cl_command_queue queue;
    int thread;
    double began, ended;
    char name[32];
    size_t bytes;
    cl_event event;
} command[MOST];
static atomic_long launches;
static atomic_int commands, threads;
static _Thread_local int thread;

static double commands_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static long queue_number(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atol(text) : 0;
}

static int recorded_event(void)
{
    return launches >= queue_number("COMMANDS_FROM") && commands < queue_number("COMMANDS_COUNT") &&
           commands < MOST;
}

/* `own`: only we hold the event. */
static void record_command(cl_command_queue queue, const char *name, size_t bytes, double began,
                           cl_event event, int own)
{
    const double ended = commands_clock();
    const int k = atomic_fetch_add(&commands, 1);
    if (k >= MOST)
        return;
    if (!thread)
        thread = atomic_fetch_add(&threads, 1) + 1;
    command[k] = (struct command){.queue = queue,
                                  .thread = thread,
                                  .began = began,
                                  .ended = ended,
                                  .bytes = bytes,
                                  .event = event};
    snprintf(command[k].name, sizeof command[k].name, "%s", name);
    if (event && !own)
        clRetainEvent(event);
}

/* The driver's function of this name. */
#define DRIVER(name)                                                                               \
    static __typeof__(&name) driver;                                                               \
    if (!driver)                                                                                   \
    driver = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Call it with `to` as event pointer: the caller's, or ours. */
#define RECORDED(call, queue, name, bytes, event)                                                  \
    const int kept = recorded_event();                                                             \
    cl_event ours = NULL, *to = event ? event : kept ? &ours : NULL;                               \
    const double began = commands_clock();                                                         \
    const cl_int status = call;                                                                    \
    if (kept && status == CL_SUCCESS)                                                              \
        record_command(queue, name, bytes, began, *to, !event);                                    \
    return status

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *error)
{
    DRIVER(clCreateCommandQueue);
    return driver(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *wait, cl_event *event)
{
    DRIVER(clEnqueueNDRangeKernel);
    char name[32] = "";
    launches++;
    if (recorded_event())
        clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    RECORDED(driver(queue, kernel, dim, offset, global, local, n, wait, to), queue, name, 0, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void *host, cl_uint n, const cl_event *wait,
                           cl_event *event)
{
    DRIVER(clEnqueueReadBuffer);
    RECORDED(driver(queue, buffer, blocking, offset, size, host, n, wait, to), queue, "READ", size,
             event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void *host, cl_uint n, const cl_event *wait,
                            cl_event *event)
{
    DRIVER(clEnqueueWriteBuffer);
    RECORDED(driver(queue, buffer, blocking, offset, size, host, n, wait, to), queue, "WRITE", size,
             event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n, const cl_event *wait,
                                   cl_event *event)
{
    DRIVER(clEnqueueMarkerWithWaitList);
    RECORDED(driver(queue, n, wait, to), queue, "MARKER", 0, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint n, const cl_event *wait,
                                    cl_event *event)
{
    DRIVER(clEnqueueBarrierWithWaitList);
    RECORDED(driver(queue, n, wait, to), queue, "BARRIER", 0, event);
}

cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
    DRIVER(clWaitForEvents);
    cl_command_queue queue = NULL;
    clGetEventInfo(events[0], CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
    const double began = commands_clock();
    const cl_int status = driver(n, events);
    if (recorded_event())
        record_command(queue, "WAIT", 0, began, NULL, 1);
    return status;
}

__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("COMMANDS_FILE");
    FILE *file = name ? fopen(name, "w") : NULL;
    cl_command_queue queue[QUEUES];
    int queues = 0;
    for (int k = 0; file && k < commands && k < MOST; k++) {
        const struct command *c = &command[k];
        cl_ulong at[4] = {0};
        int q = 0;
        while (q < queues && queue[q] != c->queue)
            q++;
        if (q == queues && queues < QUEUES)
            queue[queues++] = c->queue;
        for (cl_uint i = 0; c->event && i < 4; i++)
            clGetEventProfilingInfo(c->event, CL_PROFILING_COMMAND_QUEUED + i, sizeof at[i], &at[i],
                                    NULL);
        fprintf(file, "%d %d %s %zu %.1f %.1f %lu %lu %lu %lu\n", c->thread, q, c->name, c->bytes,
                c->began, c->ended, (unsigned long)at[0], (unsigned long)at[1],
                (unsigned long)at[2], (unsigned long)at[3]);
    }
    if (file)
        fclose(file);
}
