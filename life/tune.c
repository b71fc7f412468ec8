/* tune.c - what a search for better shapes needs: knobs, a problem with its right answer, a stop watch.
 *
 * The problem is a soup on a square torus on the one device that is tuned; its size is cells. Right is what
 * plain C says of windows of it (verify.c); a shape is measured by generations.
 * SPDX-License-Identifier: MIT
 */
#include "life/shape.h"

#include "core/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Knobs: every key of a shape that matters to speed. -------------------------------------- */

#define VALUES(name, ...) static const int name##_values[] = {__VA_ARGS__};
VALUES(rows_tile, 0)
VALUES(rows_generations, 8, 16, 32, 48, 64)
VALUES(ternary, 0, 1)
VALUES(block, 4, 6, 8, 10, 12, 16)
VALUES(lanes, 2, 4, 8)
VALUES(funnel, 0, 1)
VALUES(span, 32, 64, 128, 256, 512)
VALUES(bands, 1, 2, 4, 8)
VALUES(tile_tile, 1)
VALUES(tile_generations, 4, 6, 8, 12, 16, 24, 32)
VALUES(words, 1, 2, 4)
VALUES(rows, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40)
VALUES(warps, 4, 8, 12, 16, 24, 32)
VALUES(shuffle, 0, 1)
VALUES(multiply, 0, 1, 2)

#define KNOB_OF(name, values) {#name, values##_values, sizeof values##_values / sizeof(int)}
#define KNOB(name) KNOB_OF(name, name)
static const struct cltune_knob rows_knobs[] = {
    KNOB_OF(tile, rows_tile), KNOB_OF(generations, rows_generations), KNOB(ternary), KNOB(block), KNOB(lanes),
    KNOB(funnel),             KNOB(span),                             KNOB(bands),
};
static const struct cltune_knob tile_knobs[] = {
    KNOB_OF(tile, tile_tile), KNOB_OF(generations, tile_generations), KNOB(ternary), KNOB(words), KNOB(rows),
    KNOB(warps),              KNOB(shuffle),                          KNOB(multiply),
};

static const size_t sizes[] = {(size_t)1 << 20, (size_t)1 << 22, (size_t)1 << 24, (size_t)1 << 28};

/* ---- The problem. ---------------------------------------------------------------------------- */

struct problem {
    CLCONTEXT *ctx; /* of the one device */
    struct cldev_info info;
    size_t side;
    life *lf;       /* the engine of the last shape */
    char shape[512];
};

static void problem_close(void *problem)
{
    struct problem *p = problem;
    life_free(p->lf);
    if (p->ctx)
        clcontext_destroy(p->ctx);
    free(p);
}

static void *problem_open(CLCONTEXT *cp, cl_uint dev, size_t size)
{
    const cl_device_id id = clgetdevice(cp, dev);
    struct problem *p = id ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->side = (size_t)(sqrt((double)size) + 0.5);
    p->ctx = clcontext_create_from(&id, 1);
    if (p->ctx && clgetdevinfo(p->ctx, &p->info) == 0)
        return p;
    problem_close(p);
    return NULL;
}

/* The engine of a shape, kept until another shape comes. */
static int use(struct problem *p, const char *shape)
{
    if (p->lf && strcmp(shape, p->shape) == 0)
        return 0;
    life_free(p->lf);
    snprintf(p->shape, sizeof p->shape, "%s", shape);
    p->lf = life_create(
        &(struct life_options){.ctx = p->ctx, .width = p->side, .height = p->side, .shape = p->shape});
    return p->lf ? life_soup(p->lf, 0.5, 1) : -1;
}

/* ---- What the search calls. ------------------------------------------------------------------ */

/* A number that would be taken back on this device is not another shape. */
static int allowed(void *problem, const char *shape)
{
    const struct problem *p = problem;
    struct life grid = {.ctx = p->ctx, .width = p->side, .height = p->side, .words = (p->side + 63) / 64};
    struct life_shape s;
    char source[LIFE_SHAPE_TEXT];
    if (life_shape_choose(&s, &grid, 0, &p->info, shape, source) < 0)
        return -1;
    if (s.tile == !!(p->info.dev_type & CL_DEVICE_TYPE_CPU))
        return clerror_set(EINVAL, "life: tile.cl is for GPUs, and rows.cl for CPUs");
    if (cltune_value(shape, "ternary", 0) != s.ternary || cltune_value(shape, "shuffle", 0) != s.shuffle ||
        cltune_value(shape, "multiply", 0) != s.multiply || cltune_value(shape, "funnel", 0) != s.funnel ||
        cltune_value(shape, "generations", s.generations) != s.generations)
        return clerror_set(EINVAL, "life: the device cannot do that");
    return 0;
}

static int verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    return use(p, shape) < 0 ? -1 : life_verify(p->lf);
}

/* A run is a hundred generations; enough of them for 50 ms. */
static int measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    enum { GENERATIONS = 100 };
    if (use(p, shape) < 0 || life_step(p->lf, GENERATIONS) < 0)
        return -1;
    double took = 0;
    for (uint64_t runs = 1; took < 0.05; runs *= 2) {
        const double start = seconds_now();
        if (life_step(p->lf, runs * GENERATIONS) < 0)
            return -1;
        took = seconds_now() - start;
        *seconds = took / (double)runs;
    }
    *work = (double)p->side * (double)p->side * GENERATIONS;
    return 0;
}

/* ---- The list. ------------------------------------------------------------------------------- */

#define KERNEL(name, knobs)                                                                            \
    {name, "cells/s", knobs, sizeof knobs / sizeof *knobs, sizes, sizeof sizes / sizeof *sizes, problem_open, \
     problem_close, allowed, verify, measure}
static const struct cltune_kernel kernels[] = {KERNEL("life.rows", rows_knobs), KERNEL("life.tile", tile_knobs)};

const struct cltune_kernel *life_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
