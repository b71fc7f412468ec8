/* tune.c - gas.fused for the search of tuning entries: the values to try, a problem, its check and
 * its time. The scalar reference computes the energy in the same order: no shape may change a
 * single bit.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/arrays_ref.h"
#include "gas/engine.h"
#include "gas/gas_ref.h"

#include <math.h>

/* clang-format off */
static const struct cltune_knob knobs[] = {
    CLTUNE_KNOB("group", 1, 32, 64, 128, 256, 512),
    CLTUNE_KNOB("width", 1, 2, 4, 8, 16),
    CLTUNE_KNOB("unroll", 1, 2, 4),
    CLTUNE_KNOB("launch_blocks", 8, 10, 12, 15),
};
/* clang-format on */
static const size_t sizes[] = {1 << 26};

enum { VERIFIED = 100003 }; /* molecules of the reference */

struct problem {
    CLCONTEXT *ctx; /* of the tuned device */
    struct cldev_info info;
    size_t n;
    gas *gas;
};

static void gas_problem_close(void *problem)
{
    struct problem *p = problem;
    gas_free(p->gas);
    free(p);
}

static void *gas_problem_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t n)
{
    (void)kernel;
    struct problem *p = calloc(1, sizeof *p);
    if (!p) {
        clerror_set(ENOMEM, "gas: out of memory: cannot tune");
        return NULL;
    }
    p->n = n;
    p->ctx = cp;
    if (clgetdevinfo(p->ctx, &p->info) == 0)
        return p;
    gas_problem_close(p);
    return NULL;
}

/* Create a gas of n molecules with a shape. */
static int gas_tune_use(struct problem *p, const char *shape, size_t n)
{
    gas_free(p->gas);
    p->gas = gas_create(&(struct gas_options){.ctx = p->ctx, .n = n, .seed = 1, .shape = shape});
    return p->gas ? 0 : -1;
}

/* ---- Interface of the search. ---------------------------------------------------------------- */

static int gas_tune_allowed(void *problem, const char *shape)
{
    return arrays_shape_suits(shape, &((struct problem *)problem)->info) ? 0 : -1;
}

static double reference_energy(void)
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
        sum = arrays_ref_squares(ARRAYS_FLOAT, ARRAYS_WIDE, plane, plane + VERIFIED,
                                 plane + 2 * (size_t)VERIFIED, VERIFIED);
    free(plane);
    return 0.5 * (sum / VERIFIED);
}

static int gas_tune_verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    struct gas_energy e;
    if (gas_tune_use(p, shape, VERIFIED) != 0 || gas_measure(p->gas, &e) != 0)
        return -1;
    const double right = reference_energy();
    if (e.mean_energy != right)
        return clerror_set(EDOM, "gas: shape %s: %.17g instead of %.17g", shape, e.mean_energy,
                           right);
    return 0;
}

static int gas_tune_measurements(void *problem, size_t n)
{
    struct gas_energy e;
    for (size_t i = 0; i < n; i++)
        if (gas_measure(((struct problem *)problem)->gas, &e) != 0)
            return -1;
    return 0;
}

static int gas_tune_measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    *work = (double)p->n;
    return gas_tune_use(p, shape, p->n) == 0 ? cltune_time(gas_tune_measurements, p, seconds) : -1;
}

/* ---- The list. ------------------------------------------------------------------------------- */

static const struct cltune_kernel kernels[] = {
    {.name = "gas.fused",
     .unit = "molecules/s",
     .knob = knobs,
     .nknobs = sizeof knobs / sizeof *knobs,
     .sizes = sizes,
     .nsizes = 1,
     .open = gas_problem_open,
     .close = gas_problem_close,
     .allowed = gas_tune_allowed,
     .verify = gas_tune_verify,
     .measure = gas_tune_measure},
};

const struct cltune_kernel *gas_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
