/* sample.c - positions and velocities of selected bodies, for pictures. The devices select them, so
 * that only these are copied; the ranks' selections are joined.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/handle.h"

#include <errno.h>

EMBEDDED(sample, "nbody/particles/sample.cl", nbody_particles_sample_cl);

/* Created at the first call. */
struct sampler {
    void *program;
    cl_kernel kernel;
    size_t room; /* bodies */
    cl_uint *which;
    float *out[2];            /* positions, velocities */
    uint32_t *asked;          /* bodies of the last call; the same list is not sent again */
    size_t nasked, orders, n; /* their number; sort_count and n at the time */
};

void nbody_sample_free(struct nbody *nb)
{
    struct sampler *s = nb->particles.sampler;
    if (!s)
        return;
    clfree(s->which);
    clfree(s->out[0]);
    clfree(s->out[1]);
    free(s->asked);
    if (s->program)
        clclose(nb->ctx, s->program);
    free(s);
    nb->particles.sampler = NULL;
}

static int sampler_open(struct nbody *nb)
{
    struct sampler *s = nb->particles.sampler = calloc(1, sizeof *s);
    if (!s)
        return clerror_set(ENOMEM, "nbody_positions: out of memory");
    s->program = embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &sample, 0, NULL);
    s->kernel = s->program ? clsym(nb->ctx, s->program, "sample_bodies", 0) : NULL;
    if (s->kernel)
        return 0;
    nbody_sample_free(nb);
    return -1;
}

static int sampler_reserve(struct nbody *nb, size_t count)
{
    struct sampler *s = nb->particles.sampler;
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
    return s->room ? 0
                   : clerror_set(ENOMEM, "nbody_positions: out of memory for %zu bodies", count);
}

static uint32_t sampled_body(const uint32_t *which, size_t k)
{
    return which ? which[k] : (uint32_t)k;
}

static bool sampler_is_current(const struct nbody *nb, size_t count, const uint32_t *which)
{
    const struct sampler *s = nb->particles.sampler;
    bool equal = count <= s->nasked && s->orders == nb->particles.sort_count && s->n == nb->n;
    for (size_t k = 0; equal && k < count; k++)
        equal = s->asked[k] == sampled_body(which, k);
    return equal;
}

/* Return false if one of the bodies does not exist. */
static bool sample_is_valid(const struct nbody *nb, size_t count, const uint32_t *which)
{
    for (size_t k = 0; k < count; k++)
        if (sampled_body(which, k) >= nb->n)
            return clerror_set(EINVAL, "nbody_positions: there is no body %u among %zu",
                               sampled_body(which, k), nb->n),
                   false;
    return true;
}

/* Find where bodies are stored, and upload the list. */
static int sampler_choose(struct nbody *nb, size_t count, const uint32_t *which)
{
    struct sampler *s = nb->particles.sampler;
    if (sampler_is_current(nb, count, which))
        return 0;
    s->nasked = 0;
    if (!sample_is_valid(nb, count, which))
        return -1;
    for (size_t k = 0; k < count; k++)
        s->asked[k] = sampled_body(which, k);
    if (nbody_particles_find(nb, count, s->asked, s->which) != 0)
        return -1;
    for (const struct nbody_device *p = nb->device; count && p < nb->device + nb->ndev; p++)
        if (p->count && clmsyncn(nb->ctx, p->dev, s->which, count * sizeof(cl_uint),
                                 CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    s->nasked = count;
    s->orders = nb->particles.sort_count;
    s->n = nb->n;
    return 0;
}

/* Copy the selected bodies of device p from its output. */
static void sampler_copy(const struct nbody *nb, const struct nbody_device *p, size_t count,
                         const float *from, float (*to)[3])
{
    const struct sampler *s = nb->particles.sampler;
    if (p->count == nb->n)
        memcpy(to, from, count * sizeof *to);
    for (size_t k = 0; k < count && p->count < nb->n; k++)
        if (s->which[k] - p->first < p->count)
            memcpy(to[k], from + 3 * k, sizeof to[k]);
}

/* Enqueue the selection and its download. */
static int sampler_start(struct nbody *nb, struct nbody_device *p, size_t bodies, void *from,
                         size_t plane, double factor, float *to)
{
    const struct sampler *s = nb->particles.sampler;
    const cl_uint n = (cl_uint)bodies, first = (cl_uint)p->first, count = (cl_uint)p->count,
                  at = nbody_posm_first(p), length = (cl_uint)plane;
    if (nbody_device_launch_1d(
            nb, p, s->kernel, bodies, 1,
            ARGS(from, s->which, to, n, first, at, count, length, REAL(nb, factor))) != 0)
        return -1;
    return clmsyncn(nb->ctx, p->dev, to, 3 * bodies * sizeof *to, CL_MEM_HOST) == (cl_event)-1 ? -1
                                                                                               : 0;
}

/* Three planes of `state` from `index` on. */
static void *sampler_planes(const struct nbody *nb, const struct nbody_device *p, size_t index)
{
    return (char *)p->state + index * p->rows * nb->real;
}

static int sampler_copy_device(struct nbody *nb, struct nbody_device *p, size_t count,
                               float (*pos)[3], float (*vel)[3])
{
    const double length = nbody_units_factor(&nb->units, 1, 0),
                 speed = nbody_units_factor(&nb->units, 1, -1);
    const bool apart = integrator_predicts(nb);
    float *const *out = nb->particles.sampler->out;
    if (pos &&
        sampler_start(nb, p, count, apart ? sampler_planes(nb, p, STATE_POS) : nbody_posm(nb, p),
                      apart ? p->rows : 1, length, out[0]) != 0)
        return -1;
    if (vel &&
        sampler_start(nb, p, count, sampler_planes(nb, p, STATE_VEL), p->rows, speed, out[1]) != 0)
        return -1;
    if (nbody_device_wait(nb, p) != 0)
        return -1;
    if (pos)
        sampler_copy(nb, p, count, out[0], pos);
    if (vel)
        sampler_copy(nb, p, count, out[1], vel);
    return 0;
}

/* Copy from the state of steps on the host, without a kernel. */
static int sample_from_host(nbody *nb, size_t count, const uint32_t *which, float (*pos)[3],
                            float (*vel)[3])
{
    if (!sample_is_valid(nb, count, which))
        return -1;
    double(*all)[3] = malloc(2 * nb->n * sizeof *all);
    int status = all ? nbody_state(nb, all, all + nb->n)
                     : clerror_set(ENOMEM, "nbody_positions: out of memory");
    for (size_t k = 0; status == 0 && k < 3 * count; k++) {
        const size_t i = sampled_body(which, k / 3);
        if (pos)
            pos[k / 3][k % 3] = (float)all[i][k % 3];
        if (vel)
            vel[k / 3][k % 3] = (float)all[nb->n + i][k % 3];
    }
    free(all);
    return status;
}

/* Collective. Join the selected bodies of all ranks: a body that a rank does not have is 0. */
static int sampler_join(struct nbody *nb, size_t count, float (*x)[3])
{
    return x ? nbody_ranks_reduce_or(nb, (cl_uint *)(void *)x, 3 * count) : 0;
}

/* Copy this rank's selected bodies. */
static int sample_from_devices(nbody *nb, size_t count, const uint32_t *which, float (*pos)[3],
                               float (*vel)[3])
{
    if ((!nb->particles.sampler && sampler_open(nb) != 0) || sampler_reserve(nb, count) != 0 ||
        sampler_choose(nb, count, which) != 0)
        return -1;
    if (pos && world_size(nb->world) > 1)
        memset(pos, 0, count * sizeof *pos);
    if (vel && world_size(nb->world) > 1)
        memset(vel, 0, count * sizeof *vel);
    for (struct nbody_device *p = nb->device; count && p < nb->device + nb->ndev; p++)
        if (p->count && sampler_copy_device(nb, p, count, pos, vel) != 0)
            return -1;
    return 0;
}

int nbody_positions(nbody *nb, size_t count, const uint32_t *which, float (*pos)[3],
                    float (*vel)[3])
{
    if (no_handle(nb, __func__))
        return -1;
    if (nbody_runs_on_host(nb))
        return sample_from_host(nb, count, which, pos, vel);
    const int status = sample_from_devices(nb, count, which, pos, vel);
    if (world_reduce_status(nb->world, status) != 0)
        return -1;
    return sampler_join(nb, count, pos) == 0 ? sampler_join(nb, count, vel) : -1;
}
