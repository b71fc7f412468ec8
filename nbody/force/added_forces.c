/* added_forces.c - forces of the caller: a function in C, on the host.
 *
 * Steps on the host pass all bodies in engine units. The function gets them in the caller's units,
 * a conversion by powers of two.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <math.h>

struct added_forces {
    force_function *function;
    void *arg;
    enum nbody_force_kind kind;
    bool failed;                        /* in this call of the engine; clerror() says why */
    double (*pos)[3], (*vel)[3], *mass; /* of all bodies, in the caller's units */
    double (*acc)[3];
};

/* ---- The caller's function. ------------------------------------------------------------------ */

static int added_allocate(struct nbody *nb)
{
    const size_t n = nb->n;
    if (nb->force.added)
        return 0;
    struct added_forces *const f = calloc(1, sizeof *f);
    double *const numbers = calloc(10 * n, sizeof *numbers);
    if (!f || !numbers) {
        free(f);
        free(numbers);
        return clerror_set(ENOMEM, "nbody_set_force_callback: out of memory for %zu bodies", n);
    }
    *f = (struct added_forces){.pos = (double(*)[3])numbers,
                               .vel = (double(*)[3])(numbers + 3 * n),
                               .acc = (double(*)[3])(numbers + 6 * n),
                               .mass = numbers + 9 * n};
    nb->force.added = f;
    return 0;
}

int nbody_added_set(struct nbody *nb, force_function *force, void *arg, enum nbody_force_kind kind)
{
    if (!force) {
        nbody_added_free(nb);
        return 0;
    }
    if (added_allocate(nb) != 0)
        return -1;
    nb->force.added->function = force;
    nb->force.added->arg = arg;
    nb->force.added->kind = kind;
    return 0;
}

void nbody_added_free(struct nbody *nb)
{
    if (nb->force.added)
        free(nb->force.added->pos);
    free(nb->force.added);
    nb->force.added = NULL;
}

/* ---- Evaluation on the host. ----------------------------------------------------------------- */

bool nbody_added_apply(const struct nbody *nb)
{
    return nb->force.added != NULL;
}

bool nbody_added_need_velocities(const struct nbody *nb)
{
    return nb->force.added && nb->force.added->kind == NBODY_FORCE_OF_VELOCITY;
}

void nbody_added_begin(struct nbody *nb)
{
    if (nb->force.added)
        nb->force.added->failed = false;
}

bool nbody_added_failed(const struct nbody *nb)
{
    return nb->force.added && nb->force.added->failed;
}

/* Convert to the caller's units; clear the accelerations. */
static void added_load(struct nbody *nb, const double (*x)[3], const double (*v)[3])
{
    struct added_forces *const f = nb->force.added;
    const double length = nbody_units_factor(&nb->units, 1, 0),
                 speed = nbody_units_factor(&nb->units, 1, -1),
                 mass = nbody_units_factor(&nb->units, 3, -2);
    for (size_t i = 0; i < nb->n; i++) {
        for (size_t c = 0; c < 3; c++) {
            f->pos[i][c] = length * x[i][c];
            f->vel[i][c] = speed * v[i][c];
            f->acc[i][c] = 0;
        }
        f->mass[i] = mass * nbody_real_get(nb, nb->particles.posm, 4 * i + 3) / nb->G;
    }
}

static int added_not_finite(const struct nbody *nb, double time)
{
    for (size_t i = 0; i < nb->n; i++)
        for (size_t c = 0; c < 3; c++)
            if (!isfinite(nb->force.added->acc[i][c]))
                return clerror_set(EDOM,
                                   "nbody_step: at time %g the force of the caller gives body %zu "
                                   "an acceleration of %g in %c; it must be finite",
                                   time, i, nb->force.added->acc[i][c], "xyz"[c]);
    return 0;
}

static int added_call(struct nbody *nb, double time)
{
    const struct added_forces *const f = nb->force.added;
    const bool of_velocity = f->kind == NBODY_FORCE_OF_VELOCITY;
    if (f->function(f->arg, time, nb->n, (const double(*)[3])f->pos,
                    of_velocity ? (const double(*)[3])f->vel : NULL, f->mass, f->acc) != 0)
        return clerror_set(ECANCELED, "nbody_step: the force of the caller failed at time %g",
                           time);
    return added_not_finite(nb, time);
}

int nbody_added_evaluate(struct nbody *nb, double time, const double (*x)[3], const double (*v)[3],
                         double (*a)[3])
{
    struct added_forces *const f = nb->force.added;
    const double factor = nbody_units_factor(&nb->units, -1, 2);
    if (f->failed)
        return -1;
    added_load(nb, x, v);
    if (added_call(nb, time * nbody_units_factor(&nb->units, 0, 1)) != 0) {
        f->failed = true;
        return -1;
    }
    for (size_t i = 0; i < nb->n; i++)
        for (size_t c = 0; c < 3; c++)
            a[i][c] += factor * f->acc[i][c];
    return 0;
}
