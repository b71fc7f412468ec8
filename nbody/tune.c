/* tune.c - tuning of the engine's kernels: knobs, a test problem, measurements.
 *
 * The problem is a Plummer sphere on the device that is tuned. The sums of a sample of its bodies
 * are compared with plain C in double precision; a shape is timed by whole steps.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <math.h>

enum { SAMPLES = 64 };

/* ---- Knobs: the keys that a search may change; other keys stay as in the entry. -------------- */

/* clang-format off */
static const struct cltune_knob knobs[] = {
    CLTUNE_KNOB("group", 1, 32, 64, 128, 256, 512, 1024),
    CLTUNE_KNOB("width", 1, 2, 4, 8, 16),
    CLTUNE_KNOB("items", 1, 2, 3, 4, 6, 8),
    CLTUNE_KNOB("tile", 16, 32, 64, 128, 256),
    CLTUNE_KNOB("local", 0, 1),
    CLTUNE_KNOB("prefetch", 0, 1),
    CLTUNE_KNOB("j_split", 1, 8, 16, 32, 64),
    CLTUNE_KNOB("unroll", 1, 2, 4, 8, 16, 32),
    CLTUNE_KNOB("block", 128, 256, 512, 1024),
    CLTUNE_KNOB("rsqrt", 0, 1, 2),
    CLTUNE_KNOB("groups_per_unit", 4, 16, 32, 64, 128),
    CLTUNE_KNOB("group_1d", 32, 64, 128),
};
/* clang-format on */
static const size_t sizes[] = {1024, 8192, 65536, 262144};

/* clang-format off */
static const struct cltune_knob walk_knobs[] = {
    CLTUNE_KNOB("width", 1, 4, 8, 16),
    CLTUNE_KNOB("rsqrt", 0, 1, 2),
    CLTUNE_KNOB("group_1d", 32, 64, 128, 256),
    CLTUNE_KNOB("leaf", 8, 16, 24, 32),
    CLTUNE_KNOB("defer_factor", 15, 20, 30, 40),
    CLTUNE_KNOB("second_group", 1, 2, 4, 8, 16),
};
/* clang-format on */
static const size_t walk_sizes[] = {1 << 17, 1 << 20};

/* ---- The problem. ---------------------------------------------------------------------------- */

/* Options that distinguish the kernels. */
struct variant {
    enum nbody_precision precision;
    enum nbody_integrator integrator;
    enum nbody_method method;
    double accuracy;
};

struct problem {
    CLCONTEXT *ctx; /* of one device */
    struct cldev_info info;
    struct nbody_options options;
    bool equal; /* equal masses: no multiplication in the loop */
    size_t n, nsamples;
    uint32_t sample[SAMPLES];
    double *mass, (*pos)[3], (*vel)[3], *found; /* found: sums, n x 6 */
    double right[SAMPLES][6];                   /* reference acceleration and jerk */
    struct engine { /* of the last two shapes, which are measured alternately */
        struct nbody *nb;
        char shape[512];
    } engine[2]; /* engine[0] was used last */
};

/* Scalar reference: acceleration and jerk of body i. */
static void tune_reference(const struct problem *p, size_t i, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (size_t j = 0; j < p->n; j++) {
        double d[3], v[3], r2 = p->options.eps * p->options.eps, dv = 0;
        for (int c = 0; c < 3; c++) {
            d[c] = p->pos[j][c] - p->pos[i][c];
            v[c] = p->vel[j][c] - p->vel[i][c];
            r2 += d[c] * d[c];
            dv += d[c] * v[c];
        }
        const double w = p->mass[j] / (r2 * sqrt(r2));
        for (int c = 0; c < 3 && j != i; c++) {
            out[c] += w * d[c];
            out[c + 3] += w * (v[c] - 3 * dv / r2 * d[c]);
        }
    }
}

static void tune_close(void *problem)
{
    struct problem *p = problem;
    nbody_free(p->engine[0].nb);
    nbody_free(p->engine[1].nb);
    free(p->mass);
    free(p->pos);
    free(p->vel);
    free(p->found);
    free(p);
}

/* Create the bodies. Masses differ unless the kernel for equal masses is tuned. In single
 * precision all numbers are rounded to floats, so that the check measures the sums, not the
 * rounding of close positions. */
static int tune_fill(struct problem *p)
{
    if (nbody_initial(NBODY_PLUMMER, p->n, 1, p->mass, p->pos, p->vel) != 0)
        return -1;
    for (size_t i = 0; i < p->n && !p->equal; i++)
        p->mass[i] *= 0.75 + 0.5 * (double)(i % 5) / 4;
    for (size_t i = 0; i < p->n && p->options.precision == NBODY_SINGLE; i++) {
        p->mass[i] = (float)p->mass[i];
        for (int c = 0; c < 3; c++) {
            p->pos[i][c] = (float)p->pos[i][c];
            p->vel[i][c] = (float)p->vel[i][c];
        }
    }
    p->nsamples = p->n < SAMPLES ? p->n : SAMPLES;
    for (size_t s = 0; s < p->nsamples; s++) {
        p->sample[s] = (uint32_t)(s * p->n / p->nsamples);
        tune_reference(p, p->sample[s], p->right[s]);
    }
    return 0;
}

static void *tune_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t n)
{
    const struct variant *v = kernel->arg;
    struct problem *p = calloc(1, sizeof *p);
    if (!p)
        return clerror_set(ENOMEM, "nbody: out of memory: cannot tune"), NULL;
    p->n = n;
    p->equal = kernel->like != NULL;
    p->mass = calloc(n, sizeof *p->mass);
    p->pos = calloc(n, sizeof *p->pos);
    p->vel = calloc(n, sizeof *p->vel);
    p->found = calloc(n, 6 * sizeof *p->found);
    p->ctx = cp;
    p->options = (struct nbody_options){.ctx = p->ctx,
                                        .precision = v->precision,
                                        .integrator = v->integrator,
                                        .method = v->method,
                                        .accuracy = v->accuracy,
                                        .eps = 0.01,
                                        .dt = 1e-5};
    if (!p->mass || !p->pos || !p->vel || !p->found)
        clerror_set(ENOMEM, "nbody: out of memory on the host for %zu bodies", n);
    else if (clgetdevinfo(p->ctx, &p->info) == 0 && tune_fill(p) == 0)
        return p;
    tune_close(p);
    return NULL;
}

static void tune_swap_engines(struct problem *p)
{
    const struct engine first = p->engine[0];
    p->engine[0] = p->engine[1];
    p->engine[1] = first;
}

/* Make engine[0] the engine of a shape; `fresh`: with bodies that no measurement has moved. */
static struct nbody *tune_use(struct problem *p, const char *shape, bool fresh)
{
    struct engine *e = p->engine;
    if (!e[0].nb || strcmp(shape, e[0].shape) != 0)
        tune_swap_engines(p);
    if (e[0].nb && strcmp(shape, e[0].shape) == 0 && !fresh)
        return e[0].nb;
    nbody_free(e[0].nb);
    snprintf(e[0].shape, sizeof e[0].shape, "%s", shape);
    p->options.shape = e[0].shape;
    e[0].nb = nbody_create(&p->options, p->n, p->mass, (const double(*)[3])p->pos,
                           (const double(*)[3])p->vel);
    return e[0].nb;
}

/* ---- Callbacks of the search. ---------------------------------------------------------------- */

/* Accept vectors of at least 16 bytes on CPUs and groups of at least 32 on GPUs; nbody_shape_choose
 * checks other limits. */
static int tune_allowed(void *problem, const char *shape)
{
    const struct problem *p = problem;
    struct nbody asked = {.ctx = p->ctx,
                          .n = p->n,
                          .integrator = nbody_integrator_find(p->options.integrator),
                          .precision = p->options.precision,
                          .method = p->options.method,
                          .uniform = p->equal,
                          .accuracy = p->options.accuracy,
                          .real = p->options.precision == NBODY_SINGLE ? sizeof(float)
                                                                       : sizeof(double)};
    struct nbody_device device = {.dev = 0};
    if (nbody_shape_choose(&asked, &device, &p->info, shape) != 0)
        return -1;
    if (p->info.dev_type & CL_DEVICE_TYPE_CPU)
        return device.shape.group == 1 && device.shape.local == 0 &&
                       (size_t)device.shape.width *
                               (asked.precision == NBODY_DOUBLE ? sizeof(double) : sizeof(float)) >=
                           16
                   ? 0
                   : -1;
    return device.shape.group >= 32 && device.shape.width == 1 ? 0 : -1;
}

static int tune_verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    struct nbody *nb = tune_use(p, shape, true);
    if (!nb)
        return -1;
    const cl_uint planes = nbody_forces_sum(nb)->planes;
    cl_uint row[SAMPLES];
    if (nbody_particles_find(nb, p->nsamples, p->sample, row) != 0 ||
        nbody_integrate_synchronize(nb) != 0 ||
        nbody_forces_evaluate(nb, nb->integrator->sum, -1) != 0)
        return -1;
    if (nbody_forces_collect(nb, &nb->device[0], nb->device[0].force.partial,
                             nb->device[0].force.npartial, planes, planes, 1, p->found))
        return -1;
    double error[2] = {0, 0}, size[2] = {0, 0};
    for (size_t s = 0; s < p->nsamples; s++)
        for (cl_uint c = 0; c < planes; c++) {
            const double scale = nbody_units_factor(&nb->units, 1, c < 3 ? -2 : -3);
            const double right = p->right[s][c], e = scale * p->found[row[s] * planes + c] - right;
            error[c / 3] += e * e;
            size[c / 3] += right * right;
        }
    const double limit = nb->method == NBODY_TREE        ? nb->accuracy
                         : nb->precision == NBODY_DOUBLE ? 1e-13
                                                         : 2e-6;
    for (cl_uint k = 0; k < planes / 3; k++)
        if (!(sqrt(error[k]) <= limit * sqrt(size[k])))
            return clerror_set(EDOM, "nbody: shape %s: the sums are off by %.1e, more than %.1e",
                               shape, sqrt(error[k] / size[k]), limit);
    return 0;
}

static int tune_steps(void *problem, size_t n)
{
    return nbody_step(((struct problem *)problem)->engine[0].nb, n);
}

static int tune_measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    *work = (double)p->n * (p->options.method == NBODY_TREE ? 1 : (double)p->n);
    return tune_use(p, shape, false) ? cltune_time(tune_steps, p, seconds) : -1;
}

/* ---- The list. ------------------------------------------------------------------------------- */

/* clang-format off */
#define KERNEL(its_name, its_unit, its_knobs, its_sizes, ...) \
    {.name = its_name, .unit = its_unit, .knob = its_knobs, .nknobs = sizeof its_knobs / sizeof *its_knobs, \
     .sizes = its_sizes, .nsizes = sizeof its_sizes / sizeof *its_sizes, .open = tune_open, .close = tune_close, \
     .allowed = tune_allowed, .verify = tune_verify, .measure = tune_measure, __VA_ARGS__}
#define OF(...) .arg = &(const struct variant){__VA_ARGS__}
static const struct cltune_kernel kernels[] = {
    KERNEL("nbody.direct.single", "interactions/s", knobs, sizes, OF(NBODY_SINGLE, NBODY_LEAPFROG, NBODY_DIRECT, 1e-3)),
    KERNEL("nbody.equal.single", "interactions/s", knobs, sizes, OF(NBODY_SINGLE, NBODY_LEAPFROG, NBODY_DIRECT, 1e-3),
           .like = "nbody.direct.single"),
    KERNEL("nbody.direct.double", "interactions/s", knobs, sizes, OF(NBODY_DOUBLE, NBODY_LEAPFROG, NBODY_DIRECT, 1e-3)),
    KERNEL("nbody.direct.mixed", "interactions/s", knobs, sizes, OF(NBODY_MIXED, NBODY_LEAPFROG, NBODY_DIRECT, 1e-3)),
    KERNEL("nbody.hermite.single", "interactions/s", knobs, sizes, OF(NBODY_SINGLE, NBODY_HERMITE4, NBODY_DIRECT, 1e-3)),
    KERNEL("nbody.hermite.double", "interactions/s", knobs, sizes, OF(NBODY_DOUBLE, NBODY_HERMITE4, NBODY_DIRECT, 1e-3)),
    KERNEL("nbody.walk.single", "bodies/s", walk_knobs, walk_sizes, OF(NBODY_SINGLE, NBODY_LEAPFROG, NBODY_TREE, 1e-3)),
    KERNEL("nbody.walk.double", "bodies/s", walk_knobs, walk_sizes, OF(NBODY_DOUBLE, NBODY_LEAPFROG, NBODY_TREE, 1e-3)),
    KERNEL("nbody.cells.single", "bodies/s", walk_knobs, walk_sizes, OF(NBODY_SINGLE, NBODY_LEAPFROG, NBODY_TREE, 5e-5)),
    KERNEL("nbody.cells.double", "bodies/s", walk_knobs, walk_sizes, OF(NBODY_DOUBLE, NBODY_LEAPFROG, NBODY_TREE, 5e-5)),
};
/* clang-format on */

const struct cltune_kernel *nbody_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
