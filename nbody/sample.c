/* sample.c - positions and velocities of some bodies, for pictures: picked on the devices, so that
 * only these are copied, and with ranks go to rank 0.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/handle.h"
#include "nbody/blocks.h"
#include "nbody/ranks.h"

#include <errno.h>

EMBEDDED(sample, "nbody/sample.cl", nbody_sample_cl);

/* Made when it is first asked for. */
struct sampler {
    void *program;
    cl_kernel kernel;
    size_t room; /* bodies */
    cl_uint *which;
    float *out[2];   /* positions, velocities */
    uint32_t *asked; /* which bodies were asked for last, so that the same ones need not be looked
                        up and sent to the devices again */
    size_t nasked, orders, n; /* how many; and what they were found by */
};

void nbody_sample_free(struct nbody *nb)
{
    struct sampler *s = nb->sampler;
    if (!s)
        return;
    clfree(s->which);
    clfree(s->out[0]);
    clfree(s->out[1]);
    free(s->asked);
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
    clfree(s->out[0]);
    clfree(s->out[1]);
    free(s->asked);
    s->which = clmalloc(nb->ctx, count * sizeof *s->which, CL_MEM_ZEROCOPY);
    for (int k = 0; k < 2; k++)
        s->out[k] = clmalloc(nb->ctx, 3 * count * sizeof **s->out, CL_MEM_ZEROCOPY);
    s->asked = malloc(count * sizeof *s->asked);
    s->nasked = 0;
    s->room = s->which && s->out[0] && s->out[1] && s->asked ? count : 0;
    return s->room ? 0 : clerror_set(ENOMEM, "nbody_positions: no memory for %zu bodies", count);
}

static bool same_as_before(const struct nbody *nb, size_t count, const uint32_t *which)
{
    const struct sampler *s = nb->sampler;
    return which && count <= s->nasked && s->orders == nb->sort_count && s->n == nb->n &&
           memcmp(which, s->asked, count * sizeof *which) == 0;
}

struct finding {
    const struct nbody *nb;
    const uint32_t *which;
};

/* Rows lie anywhere in memory, so that threads find them much faster than one. */
static void find_block(void *finding, size_t block, size_t first, size_t end)
{
    const struct finding *f = finding;
    (void)block;
    for (size_t k = first; k < end; k++) {
        const size_t i = f->which ? f->which[k] : k;
        f->nb->sampler->which[k] = f->nb->row ? f->nb->row[i] : (cl_uint)i;
    }
}

/* Finds the rows of bodies, and sends them to the devices. */
static int choose(struct nbody *nb, size_t count, const uint32_t *which)
{
    struct sampler *s = nb->sampler;
    if (same_as_before(nb, count, which))
        return 0;
    s->nasked = 0;
    for (size_t k = 0; k < count; k++)
        if ((which ? which[k] : k) >= nb->n)
            return clerror_set(EINVAL, "nbody_positions: there is no body %zu among %zu",
                               which ? (size_t)which[k] : k, nb->n);
    nbody_each_block(count, find_block, &(struct finding){nb, which});
    for (const struct nbody_device *p = nb->device; count && p < nb->device + nb->ndev; p++)
        if (p->count && clmsyncn(nb->ctx, p->dev, s->which, count * sizeof(cl_uint),
                                 CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    if (which) {
        memcpy(s->asked, which, count * sizeof *which);
        s->nasked = count;
        s->orders = nb->sort_count;
        s->n = nb->n;
    }
    return 0;
}

/* The rows of a device's bodies, in `from`. */
static void take(const struct nbody *nb, const struct nbody_device *p, size_t count,
                 const float *from, float (*to)[3])
{
    const struct sampler *s = nb->sampler;
    if (p->count == nb->n)
        memcpy(to, from, count * sizeof *to);
    for (size_t k = 0; k < count && p->count < nb->n; k++)
        if (s->which[k] - p->first < p->count)
            memcpy(to[k], from + 3 * k, sizeof to[k]);
}

/* Starts to pick, and to copy to the host. */
static int pick(struct nbody *nb, struct nbody_device *p, size_t bodies, void *from, size_t plane,
                double factor, float *to)
{
    const struct sampler *s = nb->sampler;
    const cl_uint n = (cl_uint)bodies, first = (cl_uint)p->first, count = (cl_uint)p->count,
                  length = (cl_uint)plane;
    if (nbody_device_launch_1d(
            nb, p, s->kernel, bodies, 1,
            ARGS(from, s->which, to, n, first, count, length, REAL(nb, factor))) != 0)
        return -1;
    return clmsyncn(nb->ctx, p->dev, to, 3 * bodies * sizeof *to, CL_MEM_HOST) == (cl_event)-1 ? -1
                                                                                               : 0;
}

/* Where `state` has three planes from `index` on. */
static void *planes(const struct nbody *nb, const struct nbody_device *p, size_t index)
{
    return (char *)p->state + index * p->rows * nb->real;
}

static int sample_share(struct nbody *nb, struct nbody_device *p, size_t count, float (*pos)[3],
                        float (*vel)[3])
{
    const double length = nbody_units_factor(&nb->units, 1, 0),
                 speed = nbody_units_factor(&nb->units, 1, -1);
    const bool apart = predicts(nb);
    float *const *out = nb->sampler->out;
    if (pos && pick(nb, p, count, apart ? planes(nb, p, STATE_POS) : nb->posm, apart ? p->rows : 1,
                    length, out[0]) != 0)
        return -1;
    if (vel && pick(nb, p, count, planes(nb, p, STATE_VEL), p->rows, speed, out[1]) != 0)
        return -1;
    if (nbody_device_wait(nb, p) != 0)
        return -1;
    if (pos)
        take(nb, p, count, out[0], pos);
    if (vel)
        take(nb, p, count, out[1], vel);
    return 0;
}

int nbody_positions(nbody *nb, size_t count, const uint32_t *which, float (*pos)[3],
                    float (*vel)[3])
{
    if (no_handle(nb, __func__))
        return -1;
    if ((!nb->sampler && open_sampler(nb) != 0) || make_room(nb, count) != 0 ||
        choose(nb, count, which) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; count && p < nb->device + nb->ndev; p++)
        if (p->count && sample_share(nb, p, count, pos, vel) != 0)
            return -1;
    if (pos && nbody_ranks_collect(nb, count, nb->sampler->which, pos) != 0)
        return -1;
    return vel ? nbody_ranks_collect(nb, count, nb->sampler->which, vel) : 0;
}
