/* tune.c - the tuner's view of the packed engine: knobs, problem, check and measurement.
 *
 * The problem is a soup on a square torus, on the tuned device; its size is the number of cells.
 * The check compares windows of the grid with the scalar reference (verify.c). A measurement takes
 * at least a hundred generations.
 * SPDX-License-Identifier: MIT
 */
#include "life/engine.h"
#include "life/shape.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Knobs: every key of a shape that matters to speed. -------------------------------------- */

/* clang-format off */
static const struct cltune_knob rows_knobs[] = {
    CLTUNE_KNOB("tile", 0),
    CLTUNE_KNOB("generations", 8, 16, 32, 48, 64),
    CLTUNE_KNOB("ternary", 0, 1),
    CLTUNE_KNOB("block", 4, 6, 8, 10, 12, 16),
    CLTUNE_KNOB("lanes", 2, 4, 8),
    CLTUNE_KNOB("funnel", 0, 1),
    CLTUNE_KNOB("span", 32, 64, 128, 256, 512),
    CLTUNE_KNOB("bands", 1, 2, 4, 8),
};
static const struct cltune_knob tile_knobs[] = {
    CLTUNE_KNOB("tile", 1),
    CLTUNE_KNOB("generations", 4, 6, 8, 12, 16, 24, 32),
    CLTUNE_KNOB("ternary", 0, 1),
    CLTUNE_KNOB("words", 1, 2, 4),
    CLTUNE_KNOB("rows", 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 40),
    CLTUNE_KNOB("warps", 4, 6, 8, 12, 16, 24, 32),
    CLTUNE_KNOB("items", 32, 16, 8, 4),
    CLTUNE_KNOB("shuffle", 0, 1),
    CLTUNE_KNOB("multiply", 0, 1, 2),
    CLTUNE_KNOB("persistent", 0, 1),
};
/* clang-format on */

static const size_t sizes[] = {(size_t)1 << 20, (size_t)1 << 22, (size_t)1 << 24, (size_t)1 << 28};

/* ---- The problem. ---------------------------------------------------------------------------- */

struct problem {
    CLCONTEXT *ctx; /* of the one device */
    struct cldev_info info;
    size_t side;
    life *lf; /* the engine of the last shape */
    char shape[512];
};

static void life_tune_close(void *problem)
{
    struct problem *p = problem;
    life_free(p->lf);
    free(p);
}

static void *life_tune_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t size)
{
    (void)kernel;
    struct problem *p = calloc(1, sizeof *p);
    if (!p)
        return clerror_set(ENOMEM, "life: out of memory for tuning"), NULL;
    p->side = (size_t)(sqrt((double)size) + 0.5);
    p->ctx = cp;
    if (clgetdevinfo(p->ctx, &p->info) == 0)
        return p;
    life_tune_close(p);
    return NULL;
}

/* Create the engine of a shape; keep it until the shape changes. */
static int life_tune_use(struct problem *p, const char *shape)
{
    if (p->lf && strcmp(shape, p->shape) == 0)
        return 0;
    life_free(p->lf);
    snprintf(p->shape, sizeof p->shape, "%s", shape);
    p->lf = life_create(&(struct life_options){
        .ctx = p->ctx, .width = p->side, .height = p->side, .shape = p->shape});
    return p->lf ? life_soup(p->lf, 0.5, 1) : -1;
}

/* ---- Interface to the tuner. ----------------------------------------------------------------- */

/* Refuse a shape with a number that this device overrides: it would duplicate another measurement.
 */
static int life_tune_allowed(void *problem, const char *shape)
{
    const struct problem *p = problem;
    struct life grid = {
        .ctx = p->ctx, .width = p->side, .height = p->side, .words = (p->side + 63) / 64};
    struct life_shape s;
    struct cltune_row row;
    if (life_shape_choose(&s, &grid, 0, &p->info, shape, &row) < 0)
        return -1;
    if (s.tile == !!(p->info.dev_type & CL_DEVICE_TYPE_CPU))
        return clerror_set(EINVAL, "life: tile.cl is for GPUs, rows.cl for CPUs");
    if (cltune_value(shape, "ternary", 0) != s.ternary ||
        cltune_value(shape, "shuffle", 0) != s.shuffle ||
        cltune_value(shape, "multiply", 0) != s.multiply ||
        cltune_value(shape, "funnel", 0) != s.funnel ||
        cltune_value(shape, "generations", s.generations) != s.generations)
        return clerror_set(EINVAL, "life: the device does not support this shape");
    return 0;
}

static int life_tune_verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    return life_tune_use(p, shape) < 0 ? -1 : life_verify(p->lf);
}

enum { GENERATIONS = 100 }; /* of a measurement */

static int life_tune_generations(void *problem, size_t runs)
{
    return life_step(((struct problem *)problem)->lf, runs * GENERATIONS);
}

static int life_tune_measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    *work = (double)p->side * (double)p->side * GENERATIONS;
    return life_tune_use(p, shape) < 0 ? -1 : cltune_time(life_tune_generations, p, seconds);
}

/* ---- The list. ------------------------------------------------------------------------------- */

#define KERNEL(its_name, knobs)                                                                    \
    {                                                                                              \
        .name = its_name, .unit = "cells/s", .knob = knobs,                                        \
        .nknobs = sizeof knobs / sizeof *knobs, .sizes = sizes,                                    \
        .nsizes = sizeof sizes / sizeof *sizes, .open = life_tune_open, .close = life_tune_close,  \
        .allowed = life_tune_allowed, .verify = life_tune_verify, .measure = life_tune_measure     \
    }
static const struct cltune_kernel kernels[] = {KERNEL("life.rows", rows_knobs),
                                               KERNEL("life.tile", tile_knobs)};

const struct cltune_kernel *life_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
