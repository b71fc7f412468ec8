/* sample.c - positions and velocities of some bodies, for pictures: picked on the devices, so that only these are copied, and
 * with ranks go to rank 0.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "nbody/ranks.h"

#include <errno.h>

EMBEDDED(sample, "nbody/sample.cl", nbody_sample_cl);

/* Made when it is first asked for. */
struct sampler {
    void *program;
    cl_kernel kernel;
    size_t room; /* bodies */
    cl_uint *which;
    float *out;
};

void nbody_sample_free(struct nbody *nb)
{
    struct sampler *s = nb->sampler;
    if (!s)
        return;
    clfree(s->which);
    clfree(s->out);
    if (s->program)
        clclose(nb->ctx, s->program);
    free(s);
    nb->sampler = NULL;
}

static int open_sampler(struct nbody *nb)
{
    struct sampler *s = nb->sampler = calloc(1, sizeof *s);
    if (!s)
        return clerror_set(ENOMEM, "nbody_positions: no memory");
    s->program = embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &sample, 0, NULL);
    s->kernel = s->program ? clsym(nb->ctx, s->program, "sample", 0) : NULL;
    if (s->kernel)
        return 0;
    nbody_sample_free(nb);
    return -1;
}

static int make_room(struct nbody *nb, size_t count)
{
    struct sampler *s = nb->sampler;
    if (s->room >= count)
        return 0;
    clfree(s->which);
    clfree(s->out);
    s->which = clmalloc(nb->ctx, count * sizeof *s->which, CL_MEM_ZEROCOPY);
    s->out = clmalloc(nb->ctx, 3 * count * sizeof *s->out, CL_MEM_ZEROCOPY);
    s->room = s->which && s->out ? count : 0;
    return s->room ? 0 : -1;
}

static int choose(const struct nbody *nb, size_t count, const uint32_t *which)
{
    for (size_t k = 0; k < count; k++) {
        const size_t i = which ? which[k] : k;
        if (i >= nb->n)
            return clerror_set(EINVAL, "nbody_positions: there is no body %zu among %zu", i, nb->n);
        nb->sampler->which[k] = nb->row ? nb->row[i] : (cl_uint)i;
    }
    return 0;
}

/* The rows of a device's bodies, in `out`. */
static void take(const struct nbody *nb, const struct share *p, size_t count, float (*to)[3])
{
    const struct sampler *s = nb->sampler;
    for (size_t k = 0; k < count; k++)
        if (s->which[k] - p->first < p->count)
            memcpy(to[k], s->out + 3 * k, sizeof to[k]);
}

static int run(struct nbody *nb, struct share *p, size_t bodies, void *from, size_t plane, double factor, float (*to)[3])
{
    const struct sampler *s = nb->sampler;
    const cl_uint n = (cl_uint)bodies, first = (cl_uint)p->first, count = (cl_uint)p->count, length = (cl_uint)plane;
    REAL_NUMBER(scale, factor);
    const struct stdcl_arg args[] = {BLOCK_ARG(from),  BLOCK_ARG(s->which), BLOCK_ARG(s->out),  VALUE_ARG(n),
                                     VALUE_ARG(first), VALUE_ARG(count),    VALUE_ARG(length), REAL_ARG(nb, scale)};
    if (nbody_device_visit(nb, p, s->kernel, bodies, 1, COUNT_OF(args), args) != 0 ||
        nbody_device_fetch(nb, p, s->out, 3 * bodies * sizeof *s->out) != 0)
        return -1;
    take(nb, p, bodies, to);
    return 0;
}

/* Where `state` has three planes from `index` on. */
static void *planes(const struct nbody *nb, const struct share *p, size_t index)
{
    return (char *)p->state + index * p->rows * nb->real;
}

static int sample_share(struct nbody *nb, struct share *p, size_t count, float (*pos)[3], float (*vel)[3])
{
    const double length = nbody_units_factor(&nb->units, 1, 0), speed = nbody_units_factor(&nb->units, 1, -1);
    const bool apart = predicts(nb);
    if (clmsyncn(nb->ctx, p->dev, nb->sampler->which, count * sizeof(cl_uint), CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    if (pos && run(nb, p, count, apart ? planes(nb, p, STATE_POS) : nb->posm, apart ? p->rows : 1, length, pos) != 0)
        return -1;
    return vel ? run(nb, p, count, planes(nb, p, STATE_VEL), p->rows, speed, vel) : 0;
}

int nbody_positions(nbody *nb, size_t count, const uint32_t *which, float (*pos)[3], float (*vel)[3])
{
    if ((!nb->sampler && open_sampler(nb) != 0) || make_room(nb, count) != 0 || choose(nb, count, which) != 0)
        return -1;
    for (struct share *p = nb->share; count && p < nb->share + nb->ndev; p++)
        if (p->count && sample_share(nb, p, count, pos, vel) != 0)
            return -1;
    if (pos && nbody_ranks_collect(nb, count, nb->sampler->which, pos) != 0)
        return -1;
    return vel ? nbody_ranks_collect(nb, count, nb->sampler->which, vel) : 0;
}
