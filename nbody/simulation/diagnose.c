/* diagnose.c - energies, momentum and angular momentum, summed on the devices; of steps on the host
 * by host_queries.c.
 *
 * Each device sums over blocks of its own bodies, and the host adds the blocks in the order of
 * bodies, so that the number of devices changes no bit. In single precision a sum beyond the range
 * of floats is an error, even if the device adds in doubles.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/handle.h"
#include "core/round.h"

#include <float.h>
#include <math.h>

EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(field, "nbody/force/external_field.cl", nbody_force_external_field_cl);
EMBEDDED(diagnose, "nbody/simulation/diagnose.cl", nbody_simulation_diagnose_cl);

static size_t sum_blocks(const struct nbody_device *p)
{
    return divide_up(p->count, SUM_BLOCK);
}

static int diagnose_open_device(struct nbody *nb, struct nbody_device *p)
{
    const struct embedded *const before[] = {&step, &field};
    const struct nbody_device *const twin = nbody_device_twin(nb, p);
    char options[64];
    snprintf(options, sizeof options, "%s -D SUM_GROUP=%d%s",
             nbody_has_doubles(nb) ? "-D DOUBLE" : "", p->shape.group_1d,
             p->shape.fp64 ? "" : " -D NO_FP64");
    void *const program =
        twin ? NULL : embedded_open(nb->ctx, options, &diagnose, COUNT_OF(before), before);
    p->diagnosis.program = program;
    p->diagnosis.kernel = twin      ? twin->diagnosis.kernel
                          : program ? clsym(nb->ctx, program, "diagnose", 0)
                                    : NULL;
    return p->diagnosis.kernel ? 0 : -1;
}

int nbody_diagnose_open(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && diagnose_open_device(nb, p) != 0)
            return -1;
    return 0;
}

int nbody_diagnose_allocate(struct nbody *nb, struct nbody_device *p)
{
    p->diagnosis.sums = nbody_device_alloc(nb, p, nbody_diagnose_bytes(p->rows), CL_MEM_ZEROCOPY);
    return p->diagnosis.sums ? 0 : -1;
}

void nbody_diagnose_free(struct nbody *nb)
{
    for (cl_uint d = 0; nb->device && d < nb->ndev; d++) {
        struct device_diagnosis *const own = &nb->device[d].diagnosis;
        if (own->program)
            clclose(nb->ctx, own->program);
        clfree(own->sums);
    }
}

static int diagnose_start(const struct nbody *nb, struct nbody_device *p)
{
    const size_t group = (size_t)p->shape.group_1d;
    const cl_uint first = nbody_posm_first(p), rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  npartial = p->force.npartial - nbody_has_outer_sum(nb),
                  nfields = (cl_uint)nb->nfields, nadded = (cl_uint)nb->nforces;
    void *const posm = nbody_posm(nb, p),
                *const fields = nb->nfields ? nb->force.field_table : posm,
                *const added = nadded ? p->force.added : posm;
    clndrange_t ndr = clndrange_init1d(0, group * sum_blocks(p), group);
    if (clforkv(nb->ctx, p->dev, p->diagnosis.kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                ARGS(posm, p->state, p->force.phi, first, rows, count, npartial, fields, nfields,
                     added, nadded, p->diagnosis.sums)) == (cl_event)-1)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

/* Add the sums of a device's blocks. A sum is a double, or a pair of floats on devices without
 * doubles. */
static void diagnose_add_device(const struct nbody_device *p, double *sum)
{
    for (size_t block = 0; block < sum_blocks(p); block++)
        for (size_t k = 0; k < SUM_TERMS; k++) {
            const char *at =
                (const char *)p->diagnosis.sums + sizeof(double) * (block * SUM_TERMS + k);
            float pair[2];
            double number;
            memcpy(pair, at, sizeof pair);
            memcpy(&number, at, sizeof number);
            sum[k] += p->shape.fp64 ? number : (double)pair[0] + (double)pair[1];
        }
}

/* Add the sums of this rank's blocks to the sums over lower ranks. */
static void diagnose_add_rank(void *sum, void *arg)
{
    const struct nbody *nb = arg;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count)
            diagnose_add_device(p, sum);
}

/* Add all blocks in the order of rows. */
static int diagnose_sum_blocks(struct nbody *nb, double *sum)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev && status == 0; p++)
        if (p->count)
            status = nbody_device_download(nb, p, p->diagnosis.sums,
                                           sum_blocks(p) * SUM_TERMS * sizeof(double));
    return world_reduce_status(nb->world, status) == 0
               ? nbody_slices_in_turn(nb->world, sum, SUM_TERMS * sizeof *sum, diagnose_add_rank,
                                      nb)
               : -1;
}

static int diagnose_check_range(const struct nbody *nb, const double *sum)
{
    static const char *const name[SUM_TERMS] = {
        "kinetic energy",   "potential energy", "momentum",         "momentum", "momentum",
        "angular momentum", "angular momentum", "angular momentum", "virial"};
    const bool wide = nbody_has_doubles(nb);
    for (int k = 0; k < SUM_TERMS; k++)
        if (!(fabs(sum[k]) <= (wide ? DBL_MAX : (double)FLT_MAX)))
            return clerror_set(
                EDOM, "nbody_diagnose: at time %g the %s is out of the range of %s precision; %s",
                nbody_time(nb), name[k], wide ? "double" : "single",
                nbody_forces_range_advice(
                    nb, wide ? "a smaller time step or a larger softening may help"
                             : "a smaller time step, double precision or a larger softening may "
                               "help"));
    return 0;
}

static int diagnose_on_devices(struct nbody *nb, double *sum)
{
    if (nbody_integrate_synchronize(nb) != 0 || nbody_forces_evaluate(nb, POTENTIALS, -1) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && diagnose_start(nb, p) != 0)
            return -1;
    return diagnose_sum_blocks(nb, sum);
}

int nbody_diagnose(nbody *nb, struct nbody_diagnostics *d)
{
    if (no_handle(nb, __func__))
        return -1;
    double sum[SUM_TERMS] = {0};
    nbody_progress_begin(nb, "nbody_diagnose", nbody_forces_work(nb, POTENTIALS));
    if ((nbody_runs_on_host(nb) ? nbody_host_sums(nb, sum) : diagnose_on_devices(nb, sum)) != 0 ||
        diagnose_check_range(nb, sum) != 0)
        return -1;
    /* Units: G m is length^3 / time^2. */
    const double energy = nbody_units_factor(&nb->units, 5, -4) / nb->G;
    const double momentum = nbody_units_factor(&nb->units, 4, -3) / nb->G;
    const double angular = nbody_units_factor(&nb->units, 5, -3) / nb->G;
    *d = (struct nbody_diagnostics){
        .time = nbody_time(nb), .kinetic = energy * sum[0], .potential = energy * sum[1]};
    for (int c = 0; c < 3; c++) {
        d->momentum[c] = momentum * sum[2 + c];
        d->angular_momentum[c] = angular * sum[5 + c];
    }
    d->total = d->kinetic + d->potential;
    d->virial_ratio = sum[8] < 0 ? 2 * sum[0] / -sum[8] : 0;
    return 0;
}
