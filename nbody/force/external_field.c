/* external_field.c - external fields: checks, upload, and addition to sums over pairs.
 *
 * The fields' contribution is the last partial sum of a body, so that it is added last for any
 * number of chunks.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <math.h>

EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(field, "nbody/force/external_field.cl", nbody_force_external_field_cl);

enum { MAX_FIELDS = 64, NUMBERS = 4 }; /* per field in the table, as in external_field.cl */

int nbody_field_check(const struct nbody_options *o)
{
    if (o->nfields > MAX_FIELDS || (o->nfields && !o->fields))
        return clerror_set(EINVAL, "nbody_create: %zu fields%s; there may be up to %d", o->nfields,
                           o->fields ? "" : ", which are NULL", MAX_FIELDS);
    for (size_t i = 0; i < o->nfields; i++) {
        const struct nbody_field *f = &o->fields[i];
        if ((unsigned)f->kind > NBODY_FIELD_LOGARITHMIC)
            return clerror_set(EINVAL, "nbody_create: there is no field of kind %d", (int)f->kind);
        if (!isfinite(f->strength) || f->strength <= 0)
            return clerror_set(
                EINVAL, "nbody_create: field %zu has the strength %g; it must be a number > 0", i,
                f->strength);
        if (f->kind != NBODY_FIELD_POINT && (!isfinite(f->scale) || f->scale <= 0))
            return clerror_set(EINVAL,
                               "nbody_create: field %zu has the scale %g; it must be a length > 0",
                               i, f->scale);
    }
    return 0;
}

int nbody_field_copy(struct nbody *nb, const struct nbody_options *o)
{
    if (!o->nfields)
        return 0;
    nb->nfields = o->nfields;
    nb->force.fields = calloc(2 * o->nfields, sizeof *nb->force.fields);
    if (!nb->force.fields)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    nb->force.given_fields = nb->force.fields + o->nfields;
    memcpy(nb->force.given_fields, o->fields, o->nfields * sizeof *o->fields);
    return 0;
}

int nbody_field_open(struct nbody *nb)
{
    const struct embedded *const before = &step;
    if (!nb->nfields)
        return 0;
    nb->force.field_program =
        embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &field, 1, &before);
    nb->force.field_kernel =
        nb->force.field_program ? clsym(nb->ctx, nb->force.field_program, "field", 0) : NULL;
    return nb->force.field_kernel ? 0 : -1;
}

static struct nbody_field field_scaled(const struct nbody *nb, const struct nbody_field *f)
{
    const bool log = f->kind == NBODY_FIELD_LOGARITHMIC, point = f->kind == NBODY_FIELD_POINT;
    const double speed = nbody_units_factor(&nb->units, -1, 1),
                 gm = nb->G * nbody_units_factor(&nb->units, -3, 2);
    return (struct nbody_field){f->kind, f->strength * (log ? speed : gm),
                                point ? 0 : f->scale * nbody_units_factor(&nb->units, -1, 0)};
}

static void field_write_table(struct nbody *nb)
{
    for (size_t i = 0; i < nb->nfields; i++) {
        const struct nbody_field f = nb->force.fields[i] =
            field_scaled(nb, &nb->force.given_fields[i]);
        const bool log = f.kind == NBODY_FIELD_LOGARITHMIC;
        const double number[NUMBERS] = {log, log ? f.strength * f.strength : f.strength,
                                        f.scale * f.scale, 0};
        for (size_t k = 0; k < NUMBERS; k++)
            nbody_real_put(nb, nb->force.field_table, NUMBERS * i + k, number[k]);
    }
}

int nbody_field_upload(struct nbody *nb)
{
    if (!nb->nfields)
        return 0;
    if (!nb->force.field_table && !(nb->force.field_table = nbody_device_memory(
                                        nb, nb->nfields * NUMBERS * nb->real, CL_MEM_ZEROCOPY)))
        return -1;
    field_write_table(nb);
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_upload(nb, p, nb->force.field_table, 0) != 0)
            return -1;
    return 0;
}

static int field_launch(struct nbody *nb, struct nbody_device *p, enum sum_kind sum)
{
    const cl_uint first = nbody_posm_first(p), rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  planes = nbody_forces_sum_of(sum)->planes, which_partial = p->force.npartial - 1,
                  n = (cl_uint)nb->nfields;
    void *const out = sum == POTENTIALS ? p->force.phi : p->force.partial,
                *const posm = nbody_posm(nb, p),
                *const velo = nb->particles.velo ? nb->particles.velo : posm,
                *const acce = nb->particles.acce ? nb->particles.acce : posm;
    return nbody_device_launch_1d(nb, p, nb->force.field_kernel, p->count, 1,
                                  ARGS(posm, velo, acce, out, first, rows, count, which_partial,
                                       planes, nb->force.field_table, n));
}

int nbody_field_start(struct nbody *nb, enum sum_kind sum)
{
    for (struct nbody_device *p = nb->device; nb->nfields && p < nb->device + nb->ndev; p++)
        if (p->count && field_launch(nb, p, sum) != 0)
            return -1;
    return 0;
}

void nbody_field_free(struct nbody *nb)
{
    if (nb->force.field_program)
        clclose(nb->ctx, nb->force.field_program);
    clfree(nb->force.field_table);
    free(nb->force.fields);
}
