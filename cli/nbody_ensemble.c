/* nbody_ensemble.c - `stdcl nbody --ensemble`: many planetary systems at once, perturbed copies
 * of one or read from a list of files. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "device.h"
#include "files.h"
#include "interrupt.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "text.h"
#include "usage.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_run.h"

#include "core/clock.h"
#include "formats/number.h"
#include "stdcl/philox.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STEPS_PER_PERIOD = 20; /* default step: this fraction of the shortest period */

struct ensemble {
    struct nbody_job *job;
    nbody_ensemble *engine;
    size_t systems, bodies;    /* per system */
    struct particles all;      /* all systems, concatenated */
    double *before, *after;    /* initial energies; relative energy errors */
    struct nbody_chaos *chaos; /* with --megno; else NULL */
    size_t wrong;              /* systems with a non-finite energy */
    size_t worst;
    double median;
};

/* ---- The systems. ---------------------------------------------------------------------------- */

static int allocate_systems(struct ensemble *e, size_t systems, size_t bodies)
{
    const int status = cli_memory_for(systems, bodies * 16 * sizeof(double), "planetary systems");
    if (status != CLI_DONE)
        return status;
    const size_t n = systems * bodies;
    e->systems = systems;
    e->bodies = bodies;
    e->all.n = n;
    e->all.mass = malloc(n * sizeof *e->all.mass);
    e->all.pos = malloc(n * sizeof *e->all.pos);
    e->all.vel = malloc(n * sizeof *e->all.vel);
    e->before = malloc(systems * sizeof *e->before);
    e->after = malloc(systems * sizeof *e->after);
    e->chaos = e->job->megno ? malloc(systems * sizeof *e->chaos) : NULL;
    return e->all.mass && e->all.pos && e->all.vel && e->before && e->after &&
                   (e->chaos || !e->job->megno)
               ? CLI_DONE
               : cli_failed("out of memory for %zu systems of %zu bodies", systems, bodies);
}

static void store_system(struct ensemble *e, size_t system, const struct particles *b)
{
    const size_t star = system * e->bodies;
    memcpy(e->all.mass + star, b->mass, e->bodies * sizeof *b->mass);
    memcpy(e->all.pos + star, b->pos, e->bodies * sizeof *b->pos);
    memcpy(e->all.vel + star, b->vel, e->bodies * sizeof *b->vel);
}

static int check_star_is_first(const char *file, const struct particles *b)
{
    size_t heavy = 0;
    for (size_t i = 1; i < b->n; i++)
        heavy = b->mass[i] > b->mass[heavy] ? i : heavy;
    if (heavy > 0)
        return cli_failed("%s: the first body must be the star, but body %zu is heavier", file,
                          heavy + 1);
    return b->n > 1 ? CLI_DONE
                    : cli_failed("%s: a planetary system needs at least two bodies", file);
}

/* Create copies; except in the first, planets' coordinates and velocities are perturbed by a
 * relative amount of up to `spread`. */
static int make_perturbed_copies(struct nbody_job *job, struct ensemble *e, size_t systems)
{
    int status = nbody_job_bodies(job);
    if (status != CLI_DONE)
        return status;
    if ((status = check_star_is_first(job->input, &job->bodies)) != CLI_DONE)
        return status;
    if ((status = allocate_systems(e, systems, job->bodies.n)) != CLI_DONE)
        return status;
    for (size_t s = 0; s < systems; s++) {
        store_system(e, s, &job->bodies);
        for (size_t k = 3; s && k < 3 * e->bodies; k++) {
            const philox4 at = {(uint32_t)k, 0x454e5345, (uint32_t)s, (uint32_t)(s >> 32)};
            const philox4 bits =
                philox4x32_10(at, (uint32_t)job->seed, (uint32_t)(job->seed >> 32));
            const size_t body = s * e->bodies + k / 3, axis = k % 3;
            e->all.pos[body][axis] *= 1 + job->spread * (2 * philox_double(bits.x, bits.y) - 1);
            e->all.vel[body][axis] *= 1 + job->spread * (2 * philox_double(bits.z, bits.w) - 1);
        }
    }
    return CLI_DONE;
}

/* Read a list of file names, one per line. From malloc, each name terminated by 0. */
static char *read_file_list(const char *list, size_t *n)
{
    FILE *fp = cli_open_text(list, "--ensemble needs a number, or a file that lists files");
    char *names = NULL, *line = NULL;
    size_t size = 0, room = 0, bytes = 0;
    *n = 0;
    if (!fp)
        return NULL;
    while (getline(&line, &room, fp) > 0) {
        char *name = line + strspn(line, " \t");
        name[strcspn(name, "\r\n")] = 0;
        if (!*name || *name == '#')
            continue;
        size = strlen(name) + 1;
        names = cli_realloc(names, bytes + size, 1);
        memcpy(names + bytes, name, size);
        bytes += size;
        ++*n;
    }
    free(line);
    fclose(fp);
    if (!*n)
        cli_failed(
            "%s lists no files; --ensemble needs a number, or a file that lists files of bodies, one per line",
            list);
    return names;
}

/* Read system s of n from a file; the first with its metadata, to job->bodies. */
static int read_system(struct nbody_job *job, struct ensemble *e, size_t s, size_t n,
                       struct particles *b)
{
    int status;
    if (s == 0 && (status = nbody_job_bodies(job)) != CLI_DONE)
        return status;
    if (s > 0 && particles_read(job->input, b) < 0)
        return cli_failed_call(NULL);
    if ((status = nbody_orbits_place(b, job->input, job->G)) != CLI_DONE)
        return status;
    const struct particles *system = s ? b : &job->bodies;
    if ((status = check_star_is_first(job->input, system)) != CLI_DONE)
        return status;
    if (s == 0 && (status = allocate_systems(e, n, system->n)) != CLI_DONE)
        return status;
    if (system->n != e->bodies)
        return cli_failed(
            "%s has %zu bodies, but the preceding systems have %zu; all systems need the same number",
            job->input, system->n, e->bodies);
    store_system(e, s, system);
    return CLI_DONE;
}

static int read_systems(struct nbody_job *job, struct ensemble *e)
{
    size_t n = 0;
    char *names = read_file_list(job->ensemble, &n), *name = names;
    int status = names ? CLI_DONE : CLI_FAILED;
    for (size_t s = 0; s < n && status == CLI_DONE; s++, name += strlen(name) + 1) {
        struct particles b = {.n = 0};
        job->input = name;
        status = read_system(job, e, s, n, &b);
        particles_free(&b);
    }
    job->input = job->ensemble;
    free(names);
    return status;
}

/* ---- The plan. ------------------------------------------------------------------------------- */

static int choose_ensemble_step(struct nbody_job *job, const struct ensemble *e)
{
    double shortest = INFINITY;
    for (size_t b = 1; b < e->bodies; b++) {
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = e->all.pos[b][k] - e->all.pos[0][k];
            v[k] = e->all.vel[b][k] - e->all.vel[0][k];
        }
        shortest = fmin(
            shortest, nbody_find_elements(job->G * (e->all.mass[0] + e->all.mass[b]), x, v).period);
    }
    if (isnan(job->dt))
        job->dt = job->integrator == NBODY_IAS15
                      ? shortest
                      : shortest / STEPS_PER_PERIOD; /* ias15 chooses steps within this */
    return isfinite(job->dt) && job->dt != 0
               ? CLI_DONE
               : cli_failed("no planet has a period from which to choose the step; give --dt");
}

/* With --until, shorten --dt slightly so that a whole number of steps ends there. */
static int plan_ensemble_steps(struct nbody_job *job)
{
    job->total = job->steps == SIZE_MAX ? 1000 : job->steps;
    if (isnan(job->until))
        return CLI_DONE;
    const double span = job->until - job->time_start, steps = ceil(span / job->dt - 1e-9);
    if (!(steps >= 0 && steps <= 0x1p53))
        return cli_wrong("--until: '%g' cannot be reached from %g with steps of %g", job->until,
                         job->time_start, job->dt);
    job->total = (size_t)steps;
    if (job->total)
        job->dt = span / steps;
    return CLI_DONE;
}

static int check_ensemble_outputs(struct nbody_job *job)
{
    int status;
    for (size_t i = 0; i < job->outputs.names.n; i++) {
        const char *file = job->outputs.names.item[i];
        if (cli_output_kind(file) != CLI_OUTPUT_STATE || strchr(file, '%'))
            return cli_wrong("-o %s: --ensemble writes only the final bodies, as %s", file,
                             particles_formats());
        if (!particles_format_of(file))
            return cli_failed_call(NULL);
        if ((status = cli_check_output(file)) != CLI_DONE)
            return status;
    }
    if (!job->elements)
        return CLI_DONE;
    if ((status = cli_check_table("--elements", job->elements)) != CLI_DONE)
        return status;
    return cli_check_output(job->elements);
}

/* ---- The run. -------------------------------------------------------------------------------- */

static int ensemble_progress(void *arg, double fraction)
{
    const struct ensemble *e = arg;
    (void)fraction;
    cli_progress_update(&e->job->progress, e->engine ? (double)nbody_ensemble_steps(e->engine) : 0,
                        "");
    return cli_interrupted() || nbody_checkpoint_late(e->job);
}

static int write_ensemble_checkpoint(const struct ensemble *e)
{
    struct nbody_job *job = e->job;
    const struct ensemble_state kept = {.size = sizeof kept,
                                        .systems = e->systems,
                                        .bodies = e->bodies,
                                        .engine = nbody_ensemble_save_bytes(e->engine),
                                        .seed = job->seed,
                                        .G = job->G,
                                        .dt = job->dt,
                                        .spread = job->spread,
                                        .time_start = job->time_start,
                                        .seconds = job->seconds,
                                        .integrator = job->integrator};
    const size_t energies = e->systems * sizeof *e->before, masses = e->all.n * sizeof *e->all.mass,
                 size = sizeof kept + energies + masses + kept.engine;
    char *bytes = malloc(size);
    if (!bytes)
        return cli_failed("out of memory for a checkpoint of %zu systems", e->systems);
    memcpy(bytes, &kept, sizeof kept);
    memcpy(bytes + sizeof kept, e->before, energies);
    memcpy(bytes + sizeof kept + energies, e->all.mass, masses);
    if (nbody_ensemble_save(e->engine, bytes + size - kept.engine) < 0) {
        free(bytes);
        return cli_failed_call(NULL);
    }
    return nbody_checkpoint_put(job, bytes, size, nbody_ensemble_steps(e->engine),
                                nbody_ensemble_time(e->engine));
}

/* Restore the initial energies and the engine from the checkpoint. The systems of the command
 * line must equal the checkpoint's. */
static int resume_ensemble(const struct ensemble *e)
{
    struct nbody_job *job = e->job;
    struct ensemble_state k = {.size = 0};
    size_t size;
    const char *from = nbody_resume_ensemble(job, &size);
    if (from && size >= sizeof k)
        memcpy(&k, from, sizeof k);
    const size_t energies = e->systems * sizeof *e->before, masses = e->all.n * sizeof *e->all.mass,
                 before = sizeof k + energies + masses;
    if (k.size != sizeof k)
        return cli_failed("--resume: %s is not a checkpoint of an ensemble", job->resume);
    if (k.systems != e->systems || k.bodies != e->bodies || k.seed != job->seed || k.G != job->G ||
        k.spread != job->spread || k.integrator != job->integrator ||
        k.time_start != job->time_start || size < before || size - before != k.engine ||
        memcmp(from + sizeof k + energies, e->all.mass, masses) != 0)
        return cli_wrong(
            "--resume: the run of %s had different systems, -G, --seed, --spread or --integrator; start a new run for these",
            job->resume);
    if (k.dt != job->dt)
        return cli_wrong(
            "--resume: the run of %s has steps of %.17g, but this --dt or --until gives %.17g",
            job->resume, k.dt, job->dt);
    memcpy(e->before, from + sizeof k, energies);
    job->seconds = k.seconds;
    if (nbody_ensemble_load(e->engine, from + size - k.engine, k.engine) < 0)
        return cli_failed_call(NULL);
    return nbody_ensemble_steps(e->engine) <= job->total
               ? CLI_DONE
               : cli_wrong(
                     "--resume: %s is at step %zu, but the run ends at step %zu; give a later --until or more --steps",
                     job->resume, nbody_ensemble_steps(e->engine), job->total);
}

/* Step to the next checkpoint, by time or by the clock; then write it. */
static int run_to_checkpoint(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    const size_t step = nbody_ensemble_steps(e->engine), due = nbody_checkpoint_next(job, step),
                 end = due < job->total ? due : job->total;
    const double start = seconds_now();
    const int called = nbody_ensemble_step(e->engine, end - step);
    job->seconds += seconds_now() - start;
    if (called < 0 && clerrno != ECANCELED)
        return cli_failed_call(NULL);
    job->interrupted = cli_interrupted() && nbody_ensemble_steps(e->engine) < job->total;
    return job->checkpoint && !job->interrupted ? write_ensemble_checkpoint(e) : CLI_DONE;
}

static int run_systems(struct nbody_job *job, struct ensemble *e)
{
    const struct nbody_ensemble_options options = {
        .ctx = job->context,
        .G = job->G,
        .dt = job->dt,
        .integrator = (enum nbody_integrator)job->integrator, /* leapfrog is 0 */
        .whfast = nbody_job_whfast(job),
        .megno = job->megno,
        .progress = ensemble_progress,
        .arg = e};
    e->engine =
        nbody_ensemble_create(&options, e->systems, e->bodies, e->all.mass,
                              (const double(*)[3])e->all.pos, (const double(*)[3])e->all.vel);
    if (!e->engine || nbody_ensemble_energies(e->engine, e->before) < 0)
        return cli_failed_call(NULL);
    int status = job->resumed ? resume_ensemble(e) : CLI_DONE;
    cli_progress_start(&job->progress, "steps", (double)job->total, job->common.quiet);
    while (status == CLI_DONE && nbody_ensemble_steps(e->engine) < job->total && !job->interrupted)
        status = run_to_checkpoint(e);
    cli_progress_end(&job->progress);
    if (status != CLI_DONE)
        return status;
    if (job->interrupted && job->checkpoint && (status = write_ensemble_checkpoint(e)) != CLI_DONE)
        return status;
    if ((status = nbody_checkpoint_done(job)) != CLI_DONE)
        return status;
    if (nbody_ensemble_energies(e->engine, e->after) < 0 ||
        nbody_ensemble_state(e->engine, e->all.pos, e->all.vel) < 0 ||
        (e->chaos && nbody_ensemble_find_chaos(e->engine, e->chaos) < 0))
        return cli_failed_call(NULL);
    e->all.time = job->time_start + nbody_ensemble_time(e->engine);
    return CLI_DONE;
}

static int compare_errors(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compute the relative energy errors; systems without a finite error count as wrong. */
static int find_energy_errors(struct ensemble *e)
{
    double *sorted = malloc(e->systems * sizeof *sorted);
    size_t n = 0;
    if (!sorted)
        return cli_failed("out of memory for the energies of %zu systems", e->systems);
    for (size_t s = 0; s < e->systems; s++) {
        e->after[s] = fabs(e->after[s] / e->before[s] - 1);
        if (isfinite(e->after[s]))
            sorted[n++] = e->after[s];
        e->worst =
            !(e->after[s] <= e->after[e->worst]) && isfinite(e->after[e->worst]) ? s : e->worst;
    }
    e->wrong = e->systems - n;
    qsort(sorted, n, sizeof *sorted, compare_errors);
    e->median = n ? sorted[n / 2] : NAN;
    free(sorted);
    return CLI_DONE;
}

/* ---- Out. ------------------------------------------------------------------------------------ */

static int write_ensemble_elements(const struct nbody_job *job, const struct ensemble *e)
{
    static const char *const column[] = {
        "system",     "body",         "semi_major", "eccentricity", "inclination", "node",
        "pericentre", "mean_anomaly", "period",     "energy_error", "megno",       "lyapunov"};
    struct csv csv = {.columns = 0};
    int failed = csv_open(&csv, job->elements, e->chaos ? 12 : 10, column);
    for (size_t i = 0; i < e->all.n && !failed; i++) {
        const size_t star = i / e->bodies * e->bodies;
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = e->all.pos[i][k] - e->all.pos[star][k];
            v[k] = e->all.vel[i][k] - e->all.vel[star][k];
        }
        const struct nbody_elements o =
            nbody_find_elements(job->G * (e->all.mass[star] + e->all.mass[i]), x, v);
        const double row[] = {(double)(i / e->bodies) + 1,
                              (double)(i - star) + 1,
                              o.semi_major,
                              o.eccentricity,
                              o.inclination,
                              o.node,
                              o.pericentre,
                              o.mean_anomaly,
                              o.period,
                              e->after[i / e->bodies],
                              e->chaos ? e->chaos[i / e->bodies].megno : NAN,
                              e->chaos ? e->chaos[i / e->bodies].lyapunov : NAN};
        failed = i == star ? 0 : csv_row(&csv, row);
    }
    if (!failed)
        failed = csv_close(&csv);
    csv_discard(&csv);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

static int write_ensemble_outputs(struct nbody_job *job, struct ensemble *e)
{
    int failed = particles_set_number(&e->all, NOTE_G, job->G) |
                 particles_set_number(&e->all, NOTE_step, job->dt);
    for (size_t i = 0; i < job->outputs.names.n && !failed; i++)
        failed = particles_write(job->outputs.names.item[i], &e->all, NULL);
    if (failed)
        return cli_failed_call(NULL);
    return job->elements ? write_ensemble_elements(job, e) : CLI_DONE;
}

/* Number of chaotic systems: with a MEGNO above 4, twice the limit of regular motion. */
static size_t ensemble_chaotic(const struct ensemble *e)
{
    size_t n = 0;
    for (size_t s = 0; s < e->systems; s++)
        n += e->chaos[s].megno > 4;
    return n;
}

static double ensemble_rate(const struct nbody_job *job, const struct ensemble *e)
{
    return job->seconds > 0
               ? (double)e->systems * (double)nbody_ensemble_steps(e->engine) / job->seconds
               : 0;
}

static int ensemble_report_json(const struct nbody_job *job, const struct ensemble *e,
                                const char *device)
{
    json_t *ensemble_report = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:I, s:s, s:b}",
        "program", "nbody", "device", device, "systems", (json_int_t)e->systems, "bodies",
        (json_int_t)e->bodies, "steps", (json_int_t)nbody_ensemble_steps(e->engine), "dt",
        cli_json_real(job->dt), "seconds", cli_json_real(job->seconds), "system_steps_per_s",
        cli_json_real(ensemble_rate(job, e)), "energy_error_median", cli_json_real(e->median),
        "energy_error_max", cli_json_real(e->after[e->worst]), "worst_system",
        (json_int_t)e->worst + 1, "wrong_systems", (json_int_t)e->wrong, "G", cli_json_real(job->G),
        "time", cli_json_real(e->all.time), "spread", cli_json_real(job->spread), "seed",
        (json_int_t)job->seed, "version", STDCL_VERSION, "interrupted", job->interrupted);
    if (e->chaos)
        json_object_set_new(ensemble_report, "chaotic_systems",
                            json_integer((json_int_t)ensemble_chaotic(e)));
    const int status = cli_json_print(ensemble_report);
    json_decref(ensemble_report);
    return status;
}

static void ensemble_report_text(const struct nbody_job *job, const struct ensemble *e,
                                 const char *device, FILE *fp)
{
    struct cli_text text;
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14s%zu of %zu bodies, from %s\n", "systems", e->systems, e->bodies, job->input);
    fprintf(fp, "%-14s%zu of %g to time %g\n", "steps", nbody_ensemble_steps(e->engine), job->dt,
            e->all.time);
    fprintf(fp, "%-14s%s\n", "duration", cli_text_duration(&text, job->seconds));
    fprintf(fp, "%-14s%s\n", "speed",
            cli_text_rate(&text, ensemble_rate(job, e), "system steps/s"));
    fprintf(fp, "%-14srelative errors: half below %.2g, the largest %.2g (system %zu)\n", "energy",
            e->median, e->after[e->worst], e->worst + 1);
    if (e->chaos)
        fprintf(fp, "%-14s%zu systems with a MEGNO above 4\n", "chaotic", ensemble_chaotic(e));
    if (e->wrong)
        fprintf(fp, "%-14s%zu systems without a finite energy\n", "failed", e->wrong);
    if (job->interrupted)
        cli_interrupt_report(nbody_ensemble_steps(e->engine), job->total, "steps", fp);
}

static int ensemble_report(const struct nbody_job *job, const struct ensemble *e)
{
    char *device = cli_devices_name(job->context);
    int status = CLI_DONE;
    if (job->common.json)
        status = ensemble_report_json(job, e, device);
    else if (!job->common.quiet)
        ensemble_report_text(job, e, device,
                             cli_outputs_take_stdout(&job->outputs) ? stderr : stdout);
    free(device);
    return status;
}

static int create_systems(struct nbody_job *job, struct ensemble *e)
{
    uint64_t copies = 0;
    const bool number = cli_read_natural(job->ensemble, &copies) == 0;
    if (number && (copies < 1 || !job->input))
        return cli_wrong(
            copies < 1 ? "--ensemble: '%s' is not a positive number of systems"
                       : "--ensemble %s copies a system: add -i FILE with a star and its planets",
            job->ensemble);
    if (!number && job->input)
        return cli_wrong(
            "-i and --ensemble %s cannot be combined: the list's files are the systems",
            job->ensemble);
    return number ? make_perturbed_copies(job, e, (size_t)copies) : read_systems(job, e);
}

static int run_and_report(struct nbody_job *job, struct ensemble *e)
{
    struct resumed *const resumed = job->resumed;
    int status = check_ensemble_outputs(job);
    if (status != CLI_DONE)
        return status;
    if ((status = nbody_checkpoint_plan(job)) != CLI_DONE)
        return status;
    if ((status = nbody_resume_devices(job)) != CLI_DONE)
        return status;
    job->resumed = NULL; /* read bodies from files, not from the checkpoint */
    status = create_systems(job, e);
    job->resumed = resumed;
    if (status != CLI_DONE)
        return status;
    if ((status = choose_ensemble_step(job, e)) != CLI_DONE)
        return status;
    if ((status = plan_ensemble_steps(job)) != CLI_DONE)
        return status;
    if ((status = run_systems(job, e)) != CLI_DONE)
        return status;
    if ((status = find_energy_errors(e)) != CLI_DONE)
        return status;
    if ((status = write_ensemble_outputs(job, e)) != CLI_DONE)
        return status;
    return ensemble_report(job, e);
}

int nbody_job_ensemble(struct nbody_job *job)
{
    struct ensemble e = {.job = job};
    const int status = run_and_report(job, &e);
    nbody_checkpoint_wait(job);
    nbody_ensemble_free(e.engine);
    particles_free(&e.all);
    free(e.before);
    free(e.after);
    free(e.chaos);
    return status == CLI_DONE && job->interrupted ? cli_interrupt_status(CLI_DONE) : status;
}
