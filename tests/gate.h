/* gate.h - block a device's queue until the test opens it. This shows without a clock which
 * calls wait. A call that wrongly waits makes the test hang until its time limit.
 * SPDX-License-Identifier: MIT
 */
#ifndef GATE_H
#define GATE_H

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Block all commands enqueued on the device from now on, until gate_open. */
static inline cl_event gate_close(CLCONTEXT *cp, cl_uint dev)
{
    cl_int err;
    cl_event gate = clCreateUserEvent(clgetclcontext(cp, dev), &err);
    assert_int_equal(err, CL_SUCCESS);
    assert_int_equal(clEnqueueBarrierWithWaitList(clgetqueue(cp, dev), 1, &gate, NULL), CL_SUCCESS);
    return gate;
}

static inline void gate_open(cl_event gate)
{
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
}

/* A gate that another thread opens after a moment. */
struct opening {
    cl_event gate;
    atomic_bool open;
    pthread_t thread;
};

static inline void *gate_opener(void *arg)
{
    struct opening *o = arg;
    usleep(20000); /* time for a non-blocking call to return */
    atomic_store(&o->open, true);
    clSetUserEventStatus(o->gate, CL_COMPLETE);
    return NULL;
}

static inline void gate_open_soon(struct opening *o, CLCONTEXT *cp, cl_uint dev)
{
    o->gate = gate_close(cp, dev);
    atomic_init(&o->open, false);
    assert_int_equal(pthread_create(&o->thread, NULL, gate_opener, o), 0);
}

/* True if the gate was open at the time of the call. */
static inline bool gate_was_open(struct opening *o)
{
    const bool open = atomic_load(&o->open);
    pthread_join(o->thread, NULL);
    clReleaseEvent(o->gate);
    return open;
}

#endif /* GATE_H */
