/* nbody_metadata.c - metadata of a run in files: taken from the input, written to the outputs. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "command_line.h"
#include "device.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "nbody_bodies.h"
#include "nbody_fields.h"
#include "nbody_options.h"
#include "nbody_page.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Input. --------------------------------------------------------------------------------- */

/* Metadata of the file that options override, as a list. */
struct differences {
    char text[400];
    int n;
};

static void add_difference(struct differences *d, const char *name, const char *value)
{
    const size_t used = strlen(d->text);
    snprintf(d->text + used, sizeof d->text - used, "%s%s %s", d->n++ ? ", " : "", name, value);
}

/* Take a number from the file, unless the command line gives it. */
static void take_number(struct nbody_job *job, enum particles_note note, const char *name,
                        bool given, double *value, struct differences *d)
{
    const double said = particles_number(&job->bodies, note);
    if (isnan(said))
        return;
    if (!given)
        *value = said;
    else if (*value != said)
        add_difference(d, name, job->bodies.note[note]);
}

/* Take a name from the file, unless the command line gives it. */
static int take_name_note(struct nbody_job *job, enum particles_note note, const char *name,
                          const char *const *names, bool given, int *value, struct differences *d)
{
    const char *said = job->bodies.note[note];
    int i = 0;
    while (said && names[i] && strcmp(names[i], said) != 0)
        i++;
    if (!said)
        return CLI_DONE;
    if (!given && !names[i])
        return cli_failed("%s: unknown %s '%s' in its metadata; give --%s", job->input, name, said,
                          name);
    if (!given)
        *value = i;
    else if (!names[i] || *value != i)
        add_difference(d, name, said);
    return CLI_DONE;
}

/* Take the external fields from the file, unless the command line gives them. */
static int take_fields(struct nbody_job *job, struct differences *d)
{
    const char *said = job->bodies.note[NOTE_external];
    char *given = nbody_fields_text(&job->fields);
    int status = CLI_DONE;
    if (said && !job->external.n && world_size(cli_world) > 1)
        status = cli_failed("%s: its metadata have the forces %s, but external fields need one "
                            "rank; give --external none to drop them",
                            job->input, said);
    else if (said && !job->external.n)
        status = nbody_fields_take(job, said);
    else if (said && strcmp(said, given) != 0)
        add_difference(d, "external", said);
    free(given);
    return status;
}

/* Softening common to all bodies, or NAN. */
static double common_softening(const struct particles *b)
{
    size_t i = 0;
    while (b->softening && i < b->n && b->softening[i] == b->softening[0])
        i++;
    return b->softening && i == b->n ? b->softening[0] : NAN;
}

static void take_softenings(struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    if (b->softening && isnan(job->eps)) {
        job->eps = common_softening(b);
        job->own_eps = isnan(job->eps);
        job->eps = job->own_eps ? 0 : job->eps;
    }
}

/* True for a snapshot of another code without G. In other formats it is 1 by convention. */
static bool lacks_constant(const struct nbody_job *job)
{
    const char *format = job->bodies.format;
    return !job->given.G && !job->bodies.note[NOTE_G] &&
           (strcmp(format, "hdf5") == 0 || strcmp(format, "gadget") == 0);
}

/* A scale factor is no time of static space: begin at 0. */
static void replace_scale_factor(struct nbody_job *job)
{
    if (!job->bodies.scale)
        return;
    if (!job->common.quiet)
        cli_warn("--isolated: the time in %s, %g, is a scale factor; the run begins at time 0",
                 job->input, job->bodies.time);
    job->bodies.time = 0;
    job->bodies.scale = false;
}

/* True if the file has a softening for all bodies or for one. */
static bool has_softening(const struct particles *b)
{
    size_t i = 0;
    while (b->softening && i < b->n && b->softening[i] == 0)
        i++;
    const double all = particles_number(b, NOTE_softening);
    return (!isnan(all) && all != 0) || (b->softening && i < b->n);
}

/* Refuse metadata that change the forces in a way that ensembles lack. */
static int check_ensemble_forces(const struct nbody_job *job)
{
    const char *const fields = job->bodies.note[NOTE_external];
    if (fields)
        return cli_failed(
            "%s: its metadata have the forces %s, but ensembles support no forces beside gravity; "
            "remove `external` from the metadata, or run each system by itself",
            job->input, fields);
    if (has_softening(&job->bodies))
        return cli_failed(
            "%s: its metadata have a softening, but ensembles are not softened; remove the "
            "softening from the file, or run each system by itself",
            job->input);
    return CLI_DONE;
}

/* Reject numbers that no run can use. NAN: the file has none. */
static int check_metadata_numbers(const struct nbody_job *job)
{
    const struct {
        const char *name, *option;
        double value;
        bool wrong;
    } numbers[] = {
        {"G", "-G", job->G, !(job->G > 0)},
        {"softening", "--eps", job->eps, job->eps < 0},
        {"step", "--dt", job->dt, job->dt == 0},
        {"accuracy", "--accuracy", job->accuracy, job->accuracy < 0 || job->accuracy > 0.5},
        {"eta", "--eta", job->eta, job->eta < 0 || job->eta > 1},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].wrong)
            return cli_failed("%s: invalid metadata: %s is %g; give %s", job->input,
                              numbers[i].name, numbers[i].value, numbers[i].option);
    return CLI_DONE;
}

int nbody_metadata_take(struct nbody_job *job)
{
    struct differences d = {.n = 0};
    const struct nbody_given *given = &job->given;
    if (job->bodies.space && !job->isolated)
        return cli_failed(
            "%s: %s, which is not simulated here; --isolated takes the bodies as they "
            "are, isolated in static space",
            job->input, job->bodies.space);
    replace_scale_factor(job);
    int status = job->ensemble ? check_ensemble_forces(job) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    if (lacks_constant(job))
        return cli_failed(
            "%s: has neither a gravitational constant nor units, which decide the forces; give -G: 1 "
            "in N-body units, 43007.1 with kpc, km/s and 10^10 solar masses",
            job->input);
    if ((status = nbody_units_match(job)) != CLI_DONE)
        return status;
    take_number(job, NOTE_G, "G", given->G, &job->G, &d);
    if (given->G && particles_number(&job->bodies, NOTE_G) !=
                        job->G) /* the file's units hold only for its own G */
        for (int k = NOTE_UnitLength_in_cm; k <= NOTE_UnitVelocity_in_cm_per_s; k++)
            particles_set_note(&job->bodies, (enum particles_note)k, NULL);
    take_number(job, NOTE_softening, "softening", !isnan(job->eps), &job->eps, &d);
    take_number(job, NOTE_step, "step", !isnan(job->dt), &job->dt, &d);
    take_number(job, NOTE_accuracy, "accuracy", job->accuracy > 0, &job->accuracy, &d);
    take_number(job, NOTE_eta, "eta", job->eta > 0, &job->eta, &d);
    take_softenings(job);
    if ((status = check_metadata_numbers(job)) != CLI_DONE)
        return status;
    if ((status = nbody_orbits_place(&job->bodies, job->input, job->G)) != CLI_DONE)
        return status;
    status = take_name_note(job, NOTE_integrator, "integrator", nbody_integrator_names(),
                            given->integrator, &job->integrator, &d);
    if (status != CLI_DONE)
        return status;
    status = take_name_note(job, NOTE_precision, "precision", nbody_precision_names,
                            job->precision != NOT_GIVEN, &job->precision, &d);
    if (status != CLI_DONE)
        return status;
    status = take_name_note(job, NOTE_method, "method", nbody_method_names, given->method,
                            &job->method, &d);
    if (status != CLI_DONE)
        return status;
    if ((status = take_fields(job, &d)) != CLI_DONE)
        return status;
    if (given->stepping ||
        !given->integrator) { /* the file's scheme fits only the file's integrator */
        status = take_name_note(job, NOTE_stepping, "stepping", nbody_stepping_names,
                                given->stepping, &job->stepping, &d);
        if (status != CLI_DONE)
            return status;
    }
    if (d.n && !job->common.quiet)
        cli_warn("the command line overrides the metadata of %s: %s", job->input, d.text);
    if (job->bodies.missing && !job->common.quiet)
        cli_warn("%s has %s", job->input, job->bodies.missing);
    return CLI_DONE;
}

/* ---- Output. -------------------------------------------------------------------------------- */

/* Broadcast rank 0's metadata: ranks write a file together, and only rank 0 knows all devices. */
static int broadcast_notes(struct particles *b)
{
    for (int k = 0; k < PARTICLES_NOTE_COUNT; k++) {
        uint64_t size = b->note[k] ? strlen(b->note[k]) + 1 : 0;
        if (world_broadcast(cli_world, 0, &size, sizeof size) != 0)
            return -1;
        char *note = cli_alloc((size_t)size, 1);
        if (cli_ranks_first() && size)
            memcpy(note, b->note[k], (size_t)size);
        int status = size ? world_broadcast(cli_world, 0, note, (size_t)size) : 0;
        if (status == 0 && !cli_ranks_first())
            status = particles_set_note(b, (enum particles_note)k, size ? note : NULL);
        free(note);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* Set the metadata of all kinds of runs. -1 with an error. */
static int set_common_notes(const struct nbody_job *job, struct particles *b)
{
    char *command = cli_command_line(job->argc, job->argv),
         *device = cli_devices_name(job->context);
    if (!command)
        cli_out_of_memory("the metadata of files");
    const int failed =
        particles_set_number(b, NOTE_G, job->G) | particles_set_number(b, NOTE_step, job->dt) |
        particles_set_note(b, NOTE_version, STDCL_VERSION) |
        particles_set_note(b, NOTE_device, device) | particles_set_note(b, NOTE_command, command);
    free(command);
    free(device);
    return failed ? -1 : 0;
}

/* An ensemble has units and a model of its file, and no integrator of single runs unless one was
 * given. */
int nbody_metadata_set_ensemble(const struct nbody_job *job, struct particles *b)
{
    static const enum particles_note of_file[] = {NOTE_model, NOTE_seed, NOTE_UnitLength_in_cm,
                                                  NOTE_UnitMass_in_g,
                                                  NOTE_UnitVelocity_in_cm_per_s};
    int failed = set_common_notes(job, b);
    for (size_t k = 0; k < sizeof of_file / sizeof *of_file; k++)
        failed |= particles_set_note(b, of_file[k], job->bodies.note[of_file[k]]);
    if (job->integrator != NBODY_LEAPFROG)
        failed |= particles_set_note(b, NOTE_integrator, nbody_integrator_names()[job->integrator]);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

int nbody_metadata_set(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    const bool tree = nbody_method(job->engine) == NBODY_TREE;
    char seed[24], *fields = job->n < job->n_start ? nbody_fields_text_now(&job->fields)
                                                   : nbody_fields_text(&job->fields);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->seed);
    int failed = set_common_notes(job, b) |
                 particles_set_number(b, NOTE_softening, job->own_eps ? NAN : job->eps) |
                 particles_set_number(b, NOTE_accuracy, tree ? nbody_job_accuracy(job) : NAN) |
                 particles_set_number(b, NOTE_eta,
                                      job->stepping == NBODY_FIXED ? NAN : nbody_eta(job->engine)) |
                 particles_set_note(
                     b, NOTE_stepping,
                     job->stepping == NBODY_FIXED ? NULL : nbody_stepping_names[job->stepping]) |
                 particles_set_note(b, NOTE_integrator, nbody_integrator_names()[job->integrator]) |
                 particles_set_note(b, NOTE_precision, nbody_precision_names[job->precision]) |
                 particles_set_note(b, NOTE_method, nbody_method_names[nbody_method(job->engine)]) |
                 particles_set_note(b, NOTE_external, *fields ? fields : NULL);
    if (!job->input)
        failed |= particles_set_note(b, NOTE_model, nbody_model_names[job->model]) |
                  particles_set_note(b, NOTE_seed, seed);
    free(fields);
    return world_reduce_status(cli_world, failed ? -1 : 0) != 0 ||
                   (world_size(cli_world) > 1 && broadcast_notes(b) != 0)
               ? cli_failed_call(NULL)
               : CLI_DONE;
}
