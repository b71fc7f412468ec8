/* sampler.c - samplers: blocks without bytes that stand for one cl_sampler per device.
 *
 * A cl_sampler belongs to one OpenCL context, and each device of a context has its own.
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"

int sampler_attach(struct memory *m, cl_uint ndev)
{
    if (m->flags & CL_MEM_SAMPLER)
        m->samplers = calloc(ndev, sizeof *m->samplers);
    return m->samplers || !(m->flags & CL_MEM_SAMPLER) ? 0 : -1;
}

static void samplers_release(struct memory *m)
{
    for (cl_uint i = 0; m->samplers && i < m->cp->ndev; i++)
        if (m->samplers[i]) {
            device_drain(&m->cp->dev[i]); /* a kernel may be using it */
            clReleaseSampler(m->samplers[i]);
            m->samplers[i] = NULL;
        }
}

void sampler_detach(struct memory *m)
{
    samplers_release(m);
    free(m->samplers);
    m->samplers = NULL;
}

cl_sampler sampler_on(struct memory *m, cl_uint dev, const char *call)
{
    const struct device *d = &m->cp->dev[dev];
    cl_int err = CL_SUCCESS;
    pthread_mutex_lock(&m->lock);
    if (!m->samplers[dev])
        m->samplers[dev] = clCreateSampler(d->context, m->sampling.normalized,
                                           m->sampling.addressing, m->sampling.filter, &err);
    const cl_sampler sampler = m->samplers[dev];
    pthread_mutex_unlock(&m->lock);
    if (!sampler)
        fail(errno_of(err), err, "%s: %s has no such sampler (clmctl, CL_MCTL_SET_SAMPLER)", call,
             d->name);
    return sampler;
}

int sampler_set(struct memory *m, int normalized, int addressing, int filter)
{
    if (!(m->flags & CL_MEM_SAMPLER))
        return fail(EINVAL, 0, "clmctl: the block at %p is no sampler (CL_MEM_SAMPLER)",
                    (void *)m->base);
    if (addressing < CL_ADDRESS_NONE || addressing > CL_ADDRESS_MIRRORED_REPEAT)
        return fail(EINVAL, 0, "clmctl: 0x%x is no addressing mode; give CL_ADDRESS_NONE, ...",
                    (unsigned)addressing);
    if (filter != CL_FILTER_NEAREST && filter != CL_FILTER_LINEAR)
        return fail(EINVAL, 0,
                    "clmctl: 0x%x is no filter; give CL_FILTER_NEAREST or CL_FILTER_LINEAR",
                    (unsigned)filter);
    if (!normalized &&
        (addressing == CL_ADDRESS_REPEAT || addressing == CL_ADDRESS_MIRRORED_REPEAT))
        return fail(EINVAL, 0, "clmctl: only normalized coordinates repeat");
    pthread_mutex_lock(&m->lock);
    samplers_release(m);
    m->sampling =
        (struct sampling){normalized != 0, (cl_addressing_mode)addressing, (cl_filter_mode)filter};
    pthread_mutex_unlock(&m->lock);
    memory_new_epoch();
    return 0;
}
