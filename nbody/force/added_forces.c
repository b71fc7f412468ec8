/* added_forces.c - forces of the caller: which engines support them, and their evaluation on the
 * host.
 *
 * Steps on the host pass all bodies in engine units. Laws see these, and the function in C sees the
 * caller's, a conversion by powers of two. Functions from files run on a device.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/added.h"

#include "nbody/force/laws.cl"

/* ---- Creation. ------------------------------------------------------------------------------- */

static int added_allocate(struct nbody *nb)
{
    const size_t n = nb->n;
    if (nb->force.added)
        return 0;
    struct added_forces *const f = calloc(1, sizeof *f);
    double *const numbers = calloc(18 * n, sizeof *numbers);
    if (!f || !numbers) {
        free(f);
        free(numbers);
        return clerror_set(ENOMEM, "nbody_create: out of memory for forces on %zu bodies", n);
    }
    *f = (struct added_forces){.pos = (double(*)[3])numbers,
                               .vel = (double(*)[3])(numbers + 3 * n),
                               .acc = (double(*)[3])(numbers + 6 * n),
                               .mass = numbers + 9 * n,
                               .posm = numbers + 10 * n,
                               .work = numbers + 14 * n};
    nb->force.added = f;
    return 0;
}

int nbody_added_set(struct nbody *nb, force_function *force, void *arg, enum nbody_force_kind kind)
{
    if (!force && nb->nforces == 0) {
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

int nbody_added_copy(struct nbody *nb, const struct nbody_options *o)
{
    if (!o->forces || !o->forces[strspn(o->forces, "\n")])
        return 0;
    if (added_allocate(nb) != 0)
        return -1;
    struct added_forces *const f = nb->force.added;
    if (law_parse(o->forces, f->force, &f->n) != 0)
        return -1;
    nb->nforces = f->n;
    while (f->laws < f->n && f->force[f->laws].law != LAW_FILE)
        f->laws++;
    f->table = calloc(f->n, sizeof *f->table);
    return f->table ? 0 : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
}

size_t nbody_added_fields(const struct nbody *nb, struct nbody_field *all)
{
    for (size_t k = 0; k < nb->nforces; k++)
        all[k] = law_field(&nb->force.added->force[k]);
    return nb->nforces;
}

/* EINVAL if a source body is not there or has no mass, or no body is in a range. */
static int added_check_source(const struct nbody *nb, const struct added_force *force,
                              const double *mass)
{
    const double first = force->given[3], last = fmin(force->given[4], (double)(nb->n - 1));
    if (!force->of_source)
        return 0;
    if (!(force->given[0] < (double)nb->n && force->given[0] < 0x1p24))
        return clerror_set(EINVAL, "nbody_create: force %s: there is no body %g; there are %zu",
                           force->name, force->given[0], nb->n);
    if (!(mass[(size_t)force->given[0]] > 0))
        return clerror_set(EINVAL, "nbody_create: force %s: body %g has no mass", force->name,
                           force->given[0] + nb->first_number);
    if (force->law == LAW_RADIATION && first > last)
        return clerror_set(EINVAL,
                           "nbody_create: force %s acts on no body: the first is %g, the last %g",
                           force->name, first + nb->first_number, last + nb->first_number);
    return 0;
}

static size_t added_devices(const struct nbody *nb)
{
    size_t n = 0;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        n += p->rows > 0;
    return n;
}

static int added_check_force(const struct nbody *nb, const struct added_force *force)
{
    const bool host = nbody_runs_on_host(nb), drag = force->law == LAW_RADIATION;
    const char *const name = force->name;
    if (force->of_velocity && nb->integrator->added < ADDED_OF_VELOCITY &&
        !(drag && isinf(force->given[2])))
        return clerror_set(
            EINVAL,
            "nbody_create: force %s depends on velocities, with which the integrator "
            "%s loses its order; use NBODY_LEAPFROG or NBODY_IAS15%s",
            name, nb->integrator->info.name,
            force->file ? ", or define FORCE_OF_POSITION in the file if it does not" : "");
    if (force->of_source && nb->method == NBODY_TREE)
        return clerror_set(EINVAL,
                           "nbody_create: force %s acts from one body to all, which the "
                           "tree does not support; use NBODY_DIRECT",
                           name);
    if (force->law == LAW_NEWHALL && !host)
        return clerror_set(EINVAL,
                           "nbody_create: force %s is computed on the host; use "
                           "NBODY_IAS15 or NBODY_ON_HOST, or force relativity",
                           name);
    if (force->law == LAW_MASS_LOSS && nb->particles.own_eps)
        return clerror_set(EINVAL, "nbody_create: force %s supports one softening for all bodies",
                           name);
    if (force->file && host && !nbody_has_doubles(nb))
        return clerror_set(EINVAL,
                           "nbody_create: force %s: steps on the host need NBODY_DOUBLE for forces "
                           "from files",
                           name);
    return 0;
}

int nbody_added_check(const struct nbody *nb, const double *mass)
{
    const struct integrator *const i = nb->integrator;
    if (nb->nforces == 0)
        return 0;
    if (nb->stepping != NBODY_FIXED)
        return clerror_set(EINVAL, "nbody_create: adaptive and block steps do not know how fast "
                                   "added forces change; use NBODY_IAS15 or NBODY_FIXED");
    if (i->added == ADDED_NONE)
        return clerror_set(
            EINVAL, "nbody_create: the integrator %s %s; use NBODY_LEAPFROG or NBODY_IAS15",
            i->info.name,
            i->info.derivatives > 0 ? "needs derivatives, which added forces do not have"
                                    : "supports no forces beside gravity");
    if (i->few_only && nb->whfast.coordinates != NBODY_JACOBI)
        return clerror_set(EINVAL,
                           "nbody_create: the integrator %s has added forces only with "
                           "NBODY_JACOBI",
                           i->info.name);
    if (world_size(nb->world) > 1)
        return clerror_set(ENOTSUP, "nbody_create: several ranks do not support added forces");
    for (size_t k = 0; k < nb->nforces; k++)
        if (added_check_source(nb, &nb->force.added->force[k], mass) != 0 ||
            added_check_force(nb, &nb->force.added->force[k]) != 0)
            return -1;
    return 0;
}

int nbody_added_check_devices(const struct nbody *nb)
{
    for (size_t k = 0; k < nb->nforces; k++) {
        const struct added_force *const force = &nb->force.added->force[k];
        if (force->of_source && force->of_velocity && added_devices(nb) > 1)
            return clerror_set(EINVAL,
                               "nbody_create: force %s needs the velocity of its source, which "
                               "only one device has; use one device",
                               force->name);
        if (force->of_source && nb->particles.sorted)
            return clerror_set(EINVAL,
                               "nbody_create: force %s needs bodies in their order; use "
                               "NBODY_DOUBLE or NBODY_SINGLE",
                               force->name);
    }
    return 0;
}

void nbody_added_free(struct nbody *nb)
{
    struct added_forces *const f = nb->force.added;
    if (!f)
        return;
    added_kernel_free(nb);
    law_free(f->force, f->n);
    free(f->table);
    free(f->pos);
    free(f);
    nb->force.added = NULL;
}

uint64_t nbody_added_digest(const struct nbody *nb)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < nb->nfields; k++) {
        const struct nbody_field *const field = &nb->force.given_fields[k];
        const double number[] = {(double)field->kind, field->strength, field->scale};
        sum = nbody_digest(sum, number, sizeof number);
    }
    for (size_t k = 0; k < nb->nforces; k++) {
        const struct added_force *const force = &nb->force.added->force[k];
        sum = nbody_digest(sum, &force->law, sizeof force->law);
        sum = nbody_digest(sum, force->given, sizeof force->given);
        if (force->file) {
            sum = nbody_digest(sum, force->before, strlen(force->before) + 1);
            sum = nbody_digest(sum, force->text, strlen(force->text) + 1);
        }
    }
    return sum;
}

/* ---- Evaluation on the host. ----------------------------------------------------------------- */

bool nbody_added_apply(const struct nbody *nb)
{
    return nb->force.added != NULL;
}

bool nbody_added_from_files(const struct nbody *nb)
{
    return nb->nforces > 0 && nb->force.added->laws < nb->nforces;
}

bool nbody_added_need_velocities(const struct nbody *nb)
{
    const struct added_forces *const f = nb->force.added;
    bool any = f && f->function && f->kind == NBODY_FORCE_OF_VELOCITY;
    for (size_t k = 0; k < nb->nforces; k++)
        any |= f->force[k].of_velocity;
    return any;
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

/* Convert to the caller's units; clear the accelerations. Positions with G m in engine units. */
static void added_load(struct nbody *nb, const double (*x)[3], const double (*v)[3])
{
    struct added_forces *const f = nb->force.added;
    const double length = nbody_units_factor(&nb->units, 1, 0),
                 speed = nbody_units_factor(&nb->units, 1, -1),
                 mass = nbody_units_factor(&nb->units, 3, -2);
    for (size_t i = 0; i < nb->n; i++) {
        for (size_t c = 0; c < 3; c++) {
            f->posm[4 * i + c] = x[i][c];
            f->pos[i][c] = length * x[i][c];
            f->vel[i][c] = speed * v[i][c];
            f->acc[i][c] = 0;
        }
        f->posm[4 * i + 3] = nbody_real_get(nb, nb->particles.posm, 4 * i + 3);
        f->mass[i] = mass * f->posm[4 * i + 3] / nb->G;
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
                                   time, nbody_number(nb, i), nb->force.added->acc[i][c], "xyz"[c]);
    return 0;
}

static int added_call(const struct nbody *nb, double time)
{
    const struct added_forces *const f = nb->force.added;
    const bool of_velocity = f->kind == NBODY_FORCE_OF_VELOCITY;
    if (f->function(f->arg, time, nb->n, (const double(*)[3])f->pos,
                    of_velocity ? (const double(*)[3])f->vel : NULL, f->mass, f->acc) != 0)
        return clerror_set(ECANCELED, "nbody_step: the force of the caller failed at time %g",
                           time);
    return added_not_finite(nb, time);
}

/* Add the accelerations by one law to a, and its potentials to phi; NULL: not wanted. */
static void added_law(const struct nbody *nb, const double *p, double time, const double (*v)[3],
                      double *phi, double (*a)[3])
{
    const struct added_forces *const f = nb->force.added;
    const struct law_bodies bodies = {f->posm, (unsigned)nb->n};
    if ((int)p[0] == LAW_NEWHALL) {
        newhall_add(nb->n, p[1], f->posm, v, f->work, a);
        return;
    }
    for (size_t i = 0; i < nb->n; i++) {
        struct law_place at = {.time = time, .i = (unsigned)i};
        memcpy(at.x, f->posm + 4 * i, sizeof at.x);
        memcpy(at.v, v[i], sizeof at.v);
        if ((int)p[0] == LAW_RADIATION)
            memcpy(at.source_v, v[(size_t)p[1]], sizeof at.source_v);
        const double potential = law_add(p, &bodies, &at, a[i]);
        if (phi)
            phi[i] += potential;
    }
}

/* Add all forces that have no file. */
static int added_sum(struct nbody *nb, double time, const double (*v)[3], double (*a)[3])
{
    const struct added_forces *const f = nb->force.added;
    const double factor = nbody_units_factor(&nb->units, -1, 2);
    for (size_t k = 0; k < f->laws; k++)
        added_law(nb, f->table[k], time, v, NULL, a);
    if (!f->function)
        return 0;
    if (added_call(nb, time * nbody_units_factor(&nb->units, 0, 1)) != 0)
        return -1;
    for (size_t i = 0; i < nb->n; i++)
        for (size_t c = 0; c < 3; c++)
            a[i][c] += factor * f->acc[i][c];
    return 0;
}

int nbody_added_evaluate(struct nbody *nb, double time, const double (*x)[3], const double (*v)[3],
                         double (*a)[3])
{
    struct added_forces *const f = nb->force.added;
    if (f->failed)
        return -1;
    added_load(nb, x, v);
    int status = added_sum(nb, time, v, a);
    if (status == 0 && f->laws < f->n)
        status = added_kernel_evaluate(nb, time, v, a);
    f->failed = status != 0;
    return status;
}

int nbody_added_potentials(struct nbody *nb, double time, const double (*x)[3],
                           const double (*v)[3], double *phi, double (*a)[3])
{
    const struct added_forces *const f = nb->force.added;
    if (nb->nforces == 0)
        return 0;
    added_load(nb, x, v);
    for (size_t k = 0; k < f->laws; k++)
        added_law(nb, f->table[k], time, v, phi, a);
    return f->laws < f->n ? added_kernel_evaluate(nb, time, v, a) : 0;
}
