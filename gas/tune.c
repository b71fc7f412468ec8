/* tune.c - what a search for better shapes needs: knobs, a problem with its right answer, a stop watch.
 *
 * Problems are arrays of small integers, whose sums are exact in any order, and gases that are not stored, whose
 * energy plain C computes in the same order. No shape of these may change a single bit.
 * SPDX-License-Identifier: MIT
 */
#include "gas/engine.h"
#include "gas/gas_ref.h"

#include "core/clock.h"

#include <math.h>

#define VALUES(name, ...) static const int name##_values[] = {__VA_ARGS__};
VALUES(group, 1, 32, 64, 128, 256, 512)
VALUES(width, 1, 2, 4, 8, 16)
VALUES(unroll, 1, 2, 4, 8, 16, 32)
VALUES(chunk, 8, 10, 12, 15)

#define KNOB(name)                                                                                           \
    {                                                                                                        \
#name, name##_values, sizeof name##_values / sizeof(int)                                             \
    }
static const struct cltune_knob sum_knobs[] = {KNOB(group), KNOB(width), KNOB(unroll)};
static const struct cltune_knob fused_knobs[] = {KNOB(group), KNOB(width), KNOB(chunk)};
static const size_t sizes[] = {1 << 26};

enum what { SUM, DOT, ENERGY, FUSED };
enum { VERIFIED = 100003 }; /* molecules whose energy plain C computes */

struct problem {
    CLCONTEXT *ctx; /* of the one device */
    struct cldev_info info;
    enum what what;
    enum gas_type type;
    size_t n;
    void *x;
    double right;
    char shape[512];
    gas_sums *sums; /* of that shape, or */
    gas *gas;
};

static void problem_close(void *problem)
{
    struct problem *p = problem;
    gas_sums_free(p->sums);
    gas_free(p->gas);
    if (p->x)
        clfree(p->x);
    if (p->ctx)
        clcontext_destroy(p->ctx);
    free(p);
}

static double put(const struct problem *p, size_t i)
{
    const unsigned v = (unsigned)(i * 2654435761u) >> 24;
    if (p->type == GAS_FLOAT)
        ((float *)p->x)[i] = (float)v;
    else
        ((double *)p->x)[i] = v;
    return p->what == SUM ? v : v * v * (p->what == ENERGY ? 3. : 1.);
}

static int prepare(struct problem *p, CLCONTEXT *cp, cl_uint dev)
{
    const cl_device_id device = clgetdevice(cp, dev);
    p->ctx = clcontext_create_from(&device, 1);
    if (!p->ctx || clgetdevinfo(p->ctx, &p->info) != 0)
        return -1;
    if (p->what == FUSED)
        return 0;
    if (p->type == GAS_DOUBLE && !p->info.dev_pref_vec_double)
        return clerror_set(ENOTSUP, "gas: %s has no double precision", p->info.dev_name);
    p->x = clmalloc(p->ctx, p->n * type_bytes(p->type), CL_MEM_ZEROCOPY);
    for (size_t i = 0; p->x && i < p->n; i++)
        p->right += put(p, i);
    return p->x && clmsync(p->ctx, 0, p->x, CL_MEM_DEVICE) != (cl_event)-1 ? 0 : -1;
}

static void *problem_open(CLCONTEXT *cp, cl_uint dev, size_t n, enum what what, enum gas_type type)
{
    struct problem *p = calloc(1, sizeof *p);
    if (!p) {
        clerror_set(ENOMEM, "gas: no memory to tune");
        return NULL;
    }
    *p = (struct problem){.what = what, .type = type, .n = n};
    if (prepare(p, cp, dev) == 0)
        return p;
    problem_close(p);
    return NULL;
}

/* The object of a shape; the last one is kept. */
static int use(struct problem *p, const char *shape, size_t n)
{
    if (p->what != FUSED && p->sums && strcmp(shape, p->shape) == 0)
        return 0;
    gas_sums_free(p->sums);
    gas_free(p->gas);
    p->sums = NULL;
    p->gas = NULL;
    snprintf(p->shape, sizeof p->shape, "%s", shape);
    if (p->what == FUSED)
        p->gas = gas_create(&(struct gas_options){.ctx = p->ctx, .n = n, .seed = 1, .shape = p->shape});
    else
        p->sums =
            gas_sums_create(&(struct gas_sums_options){.ctx = p->ctx, .type = p->type, .shape = p->shape});
    return p->gas || p->sums ? 0 : -1;
}

static int run(struct problem *p, double *result)
{
    struct gas_energy e;
    struct gas_total total;
    struct gas_partial kind;
    static const enum sums_op op[] = {OP_SUM, OP_DOT, OP_ENERGY};
    if (p->what == FUSED) {
        const int status = gas_measure(p->gas, &e);
        *result = e.mean_energy;
        return status;
    }
    if (gas_sums_run(p->sums, op[p->what], p->x, p->x, p->x, p->n, 0, &total, &kind) != 0)
        return -1;
    *result = gas_total_value(kind, &total);
    return 0;
}

/* ---- What the search calls. ------------------------------------------------------------------- */

/* Vectors suit CPUs and groups GPUs. */
static int allowed(void *problem, const char *shape)
{
    const struct problem *p = problem;
    const long group = cltune_value(shape, "group", 1), width = cltune_value(shape, "width", 1);
    if (group > BLOCK_STRIPS * BLOCK_LANES / width || (size_t)group > p->info.dev_max_wg_sz)
        return -1;
    if (p->info.dev_type & CL_DEVICE_TYPE_CPU)
        return group == 1 ? 0 : -1;
    return group >= 32 && width <= 4 ? 0 : -1;
}

static double plain_energy(void)
{
    float *plane = malloc(3 * (size_t)VERIFIED * sizeof *plane);
    double sum = NAN;
    for (size_t i = 0; plane && i < VERIFIED; i++) {
        float v[3];
        gas_ref_velocity(1, i, v);
        for (size_t c = 0; c < 3; c++)
            plane[c * VERIFIED + i] = v[c];
    }
    if (plane)
        sum = gas_ref_energy(GAS_FLOAT, GAS_WIDE, plane, plane + VERIFIED, plane + 2 * (size_t)VERIFIED,
                             VERIFIED);
    free(plane);
    return 0.5 * (sum / VERIFIED);
}

static int verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    double result;
    if (use(p, shape, VERIFIED) != 0 || run(p, &result) != 0)
        return -1;
    const double right = p->what == FUSED ? plain_energy() : p->right;
    if (result != right)
        return clerror_set(EDOM, "gas: shape %s: %.17g instead of %.17g", shape, result, right);
    return 0;
}

/* A run is one sum; enough of them for 50 ms. */
static int measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    double result, took = 0;
    if (use(p, shape, p->n) != 0 || run(p, &result) != 0)
        return -1;
    for (size_t runs = 1; took < 0.05; runs *= 2) {
        const double start = seconds_now();
        for (size_t k = 0; k < runs; k++)
            if (run(p, &result) != 0)
                return -1;
        took = seconds_now() - start;
        *seconds = took / (double)runs;
    }
    *work = (double)p->n;
    return 0;
}

/* ---- The list. -------------------------------------------------------------------------------- */

#define OPEN(name, what, type)                                                                               \
    static void *name(CLCONTEXT *cp, cl_uint dev, size_t n)                                                  \
    {                                                                                                        \
        return problem_open(cp, dev, n, what, type);                                                         \
    }
OPEN(open_fused, FUSED, GAS_FLOAT)
OPEN(open_sum_single, SUM, GAS_FLOAT)
OPEN(open_sum_double, SUM, GAS_DOUBLE)
OPEN(open_dot_single, DOT, GAS_FLOAT)
OPEN(open_dot_double, DOT, GAS_DOUBLE)
OPEN(open_energy_single, ENERGY, GAS_FLOAT)
OPEN(open_energy_double, ENERGY, GAS_DOUBLE)

#define KERNEL(name, unit, knobs, opening)                                                                   \
    {                                                                                                        \
        name, unit, knobs, sizeof knobs / sizeof *knobs, sizes, 1, opening, problem_close, allowed, verify,  \
            measure                                                                                          \
    }
static const struct cltune_kernel kernels[] = {
    KERNEL("gas.fused", "molecules/s", fused_knobs, open_fused),
    KERNEL("gas.sum.single", "elements/s", sum_knobs, open_sum_single),
    KERNEL("gas.sum.double", "elements/s", sum_knobs, open_sum_double),
    KERNEL("gas.dot.single", "elements/s", sum_knobs, open_dot_single),
    KERNEL("gas.dot.double", "elements/s", sum_knobs, open_dot_double),
    KERNEL("gas.energy.single", "elements/s", sum_knobs, open_energy_single),
    KERNEL("gas.energy.double", "elements/s", sum_knobs, open_energy_double),
};

const struct cltune_kernel *gas_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
