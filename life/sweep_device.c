/* sweep_device.c - sweeps rules of the B/S family by a kernel (sweep.cl).
 *
 * A launch fits a slice of time (core/pace.h). It has universes that run to their end within the
 * slice. If these are too few to occupy the device, it has more universes and computes a part of
 * their generations; the cells stay on the device between launches.
 * SPDX-License-Identifier: MIT
 */
#include "life/sweep.h"

#include "core/args.h"
#include "core/embedded.h"
#include "core/no_device.h"
#include "core/pace.h"
#include "life/device_grid.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(sweep_file, "life/sweep.cl", life_sweep_cl);

enum { OF_POPULATION, OF_CHANGED, OF_PERIOD, OF_SOUP }; /* POPULATION ... RESULT in sweep.cl */

enum {
    SWEEP_MOST_LAUNCHED = 1 << 20, /* universes of a launch */
    SWEEP_CPU_GROUPS = 8,          /* work-groups that occupy a compute unit */
    SWEEP_GPU_GROUPS = 32
};

struct sweeper {
    struct sweep *s;
    const size_t *number;
    CLCONTEXT *ctx;
    void *program[2]; /* for launches of whole universes, and of a part of their generations */
    cl_kernel kernel[2];
    cl_uint *rule, *result; /* on the device, too */
    cl_ulong *soup, *state;
    size_t universes, room; /* in all; the most of a launch */
    size_t wide;            /* universes that occupy the device */
    size_t items;           /* of a group */
    uint64_t span;          /* generations of a universe, with the observed ones */
    struct pace pace;       /* in generations of a universe */
};

static void sweeper_free(struct sweeper *d)
{
    for (int part = 0; part < 2; part++)
        if (d->program[part])
            clclose(d->ctx, d->program[part]);
    clfree(d->rule);
    clfree(d->result);
    clfree(d->soup);
    clfree(d->state);
}

/* Choose the rows of a work-item, a vector on a CPU, and the universes that occupy the device. */
static int sweeper_plan(struct sweeper *d)
{
    struct cldev_info *info = calloc(clgetndev(d->ctx), sizeof *info);
    const int status =
        !info ? clerror_set(ENOMEM, "life_sweep: out of memory") : clgetdevinfo(d->ctx, info);
    if (status == 0) {
        const bool cpu = info[DEVICE].dev_type & CL_DEVICE_TYPE_CPU;
        const size_t units = info[DEVICE].dev_max_core ? info[DEVICE].dev_max_core : 1,
                     wide = units * (cpu ? SWEEP_CPU_GROUPS : SWEEP_GPU_GROUPS);
        d->items = cpu ? SWEEP_SIDE / 8 : SWEEP_SIDE;
        d->room = d->universes < SWEEP_MOST_LAUNCHED ? d->universes : SWEEP_MOST_LAUNCHED;
        d->wide = wide < d->room ? wide : d->room;
    }
    free(info);
    return status;
}

/* Build the kernel for whole universes, or for parts, on first use. */
static int sweep_open_kernel(struct sweeper *d, bool part)
{
    char options[64];
    if (d->kernel[part])
        return 0;
    snprintf(options, sizeof options, "-D LANES=%zu -D PARTS=%d", SWEEP_SIDE / d->items, part);
    d->program[part] = embedded_open(d->ctx, options, &sweep_file, 0, NULL);
    d->kernel[part] = d->program[part] ? clsym(d->ctx, d->program[part], "life_sweep", 0) : NULL;
    return d->kernel[part] ? 0 : -1;
}

static int sweeper_open(struct sweeper *d, size_t n, const uint32_t *code)
{
    const struct sweep *s = d->s;
    const size_t soup = s->soups * SWEEP_SIDE * sizeof *d->soup;
    d->ctx = s->options->ctx ? s->options->ctx : stdgpu ? stdgpu : stdcpu;
    if (!d->ctx)
        return clerror_set(ENODEV, "life_sweep: there is no OpenCL device; " NO_DEVICE_REMEDY);
    if (sweeper_plan(d) < 0)
        return -1;
    d->rule = clmalloc(d->ctx, n * sizeof *d->rule, CL_MEM_ZEROCOPY);
    d->soup = clmalloc(d->ctx, soup, CL_MEM_ZEROCOPY);
    d->result = clmalloc(d->ctx, d->room * OF_SOUP * sizeof *d->result, CL_MEM_ZEROCOPY);
    d->state = clmalloc(d->ctx, d->wide * 2 * SWEEP_SIDE * sizeof *d->state, CL_MEM_DEVONLY);
    if (!d->rule || !d->soup || !d->result || !d->state)
        return -1;
    memcpy(d->rule, code, n * sizeof *d->rule);
    memcpy(d->soup, s->rows, soup);
    return life_event_status(clmsync(d->ctx, DEVICE, d->rule, CL_MEM_DEVICE)) < 0
               ? -1
               : life_event_status(clmsync(d->ctx, DEVICE, d->soup, CL_MEM_DEVICE));
}

/* Run generations `begin` to `end` of some universes, and block until they are done. */
static int sweep_launch(struct sweeper *d, size_t first, size_t universes, uint64_t begin,
                        uint64_t end)
{
    const bool part = end - begin < d->span;
    clndrange_t ndr = clndrange_init1d(0, universes * d->items, d->items);
    if (sweep_open_kernel(d, part) < 0)
        return -1;
    pace_started(&d->pace, (double)universes * (double)(end - begin));
    if (life_event_status(clforka(d->ctx, DEVICE, d->kernel[part], &ndr, UNWAITED, d->rule, d->soup,
                                  d->state, (cl_ulong)first, (cl_uint)d->s->soups,
                                  (cl_uint)d->s->generations, (cl_uint)LIFE_SWEEP_PERIOD,
                                  (cl_ulong)begin, (cl_ulong)end, d->result)) < 0 ||
        life_event_status(clmsyncn(d->ctx, DEVICE, d->result,
                                   universes * OF_SOUP * sizeof *d->result, CL_MEM_HOST)) < 0)
        return -1;
    pace_waited(&d->pace);
    return 0;
}

/* Number of generations of some universes that fit a slice, at least one. */
static uint64_t sweep_slice(const struct sweeper *d, size_t universes)
{
    const double fit = pace_slice(&d->pace) / (double)universes;
    return fit >= (double)d->span ? d->span : fit > 1 ? (uint64_t)fit : 1;
}

/* Run some universes to their end. */
static int sweep_batch(struct sweeper *d, size_t first, size_t universes)
{
    for (uint64_t begin = 0, end; begin < d->span; begin = end) {
        end = begin + (universes > d->wide ? d->span : sweep_slice(d, universes));
        end = end < d->span ? end : d->span;
        if (sweep_launch(d, first, universes, begin, end) < 0)
            return -1;
        if (end < d->span &&
            sweep_progress(d->s, (double)universes * (double)end / (double)d->span) < 0)
            return -1;
    }
    for (size_t i = 0; i < universes; i++) {
        const cl_uint *of = d->result + i * OF_SOUP;
        sweep_add(d->s, d->number[(first + i) / d->s->soups],
                  &(struct sweep_universe){of[OF_POPULATION], of[OF_CHANGED], of[OF_PERIOD]});
    }
    return sweep_progress(d->s, 0);
}

/* Number of universes of a launch. The first launch has few, since its speed is a guess. */
static size_t sweep_choose(const struct sweeper *d, size_t first)
{
    const double fit = pace_slice(&d->pace) / (double)d->span,
                 least = first == 0 && fit >= 1 ? 1 : (double)d->wide;
    const size_t left = d->universes - first, most = left < d->room ? left : d->room;
    const double universes = fit < least ? (double)d->wide : fit;
    return universes < (double)most ? (size_t)universes : most;
}

static int sweep_batches(struct sweeper *d)
{
    for (size_t first = 0, universes; first < d->universes; first += universes) {
        universes = sweep_choose(d, first);
        if (sweep_batch(d, first, universes) < 0)
            return -1;
    }
    return 0;
}

int sweep_device(struct sweep *s, size_t n, const size_t *number, const uint32_t *code)
{
    struct sweeper d = {.s = s,
                        .number = number,
                        .universes = n * s->soups,
                        .span = (uint64_t)s->generations + LIFE_SWEEP_PERIOD,
                        .pace = pace_of(1e5)};
    const int status = sweeper_open(&d, n, code) < 0 ? -1 : sweep_batches(&d);
    sweeper_free(&d);
    return status;
}
