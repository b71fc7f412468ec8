/* nbody_resume.c - read a checkpoint and restore the state of its run. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "text.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_fields.h"
#include "nbody_history.h"
#include "nbody_output.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct resumed {
    char *image;
    size_t size;
    json_t *words;
    struct checkpoint_state state;
    /* in the image: after struct checkpoint_state, from the masses on */
    const char *rest;
    const char *table; /* in the image: rows and series */
    const char *engine;
    char **argv; /* merged command line */
    double *shares;
};

/* ---- The file. ------------------------------------------------------------------------------- */

static char *read_checkpoint(const char *file, size_t *size)
{
    struct stat info = {0};
    const bool pipe =
        stat(file, &info) == 0 && S_ISFIFO(info.st_mode); /* opening a pipe would block */
    FILE *fp = pipe ? NULL : fopen(file, "rb");
    if (!fp || fstat(fileno(fp), &info) != 0 || !S_ISREG(info.st_mode)) {
        cli_failed("--resume: %s: %s", file,
                   pipe                    ? "is a pipe"
                   : !fp                   ? strerror(errno)
                   : S_ISDIR(info.st_mode) ? "is a directory; give the name of a checkpoint in it"
                                           : "not a regular file");
        if (fp)
            fclose(fp);
        return NULL;
    }
    *size = (size_t)info.st_size;
    char *bytes = NULL;
    if (cli_memory_for(*size, 1, "bytes of a checkpoint") == CLI_DONE &&
        !(bytes = malloc(*size + 1)))
        cli_failed("--resume: %s: out of memory for its %zu bytes", file, *size);
    if (bytes && fread(bytes, 1, *size, fp) != *size) {
        cli_failed("--resume: %s: cannot read the file", file);
        free(bytes);
        bytes = NULL;
    }
    fclose(fp);
    return bytes;
}

/* Check magic, format, size and checksum of the file. */
static int check_checkpoint_head(const char *file, const struct resumed *r,
                                 struct checkpoint_head *h)
{
    if (r->size < sizeof *h || memcmp(r->image, checkpoint_magic, sizeof h->magic) != 0)
        return cli_failed("--resume: %s is not a checkpoint of stdcl", file);
    memcpy(h, r->image, sizeof *h);
    if (h->format != CHECKPOINT_FORMAT)
        return cli_failed("--resume: %s is a checkpoint of format %llu; this version reads %d",
                          file, (unsigned long long)h->format, CHECKPOINT_FORMAT);
    if (h->size > r->size)
        return cli_failed("--resume: %s is truncated: %zu bytes of %llu", file, r->size,
                          (unsigned long long)h->size);
    if (h->size != r->size || checkpoint_sum(r->image + sizeof *h, r->size - sizeof *h) != h->sum ||
        h->text > r->size - sizeof *h)
        return cli_failed("--resume: %s is damaged: its checksum does not match", file);
    return CLI_DONE;
}

static const char *json_text(const struct resumed *r, const char *key)
{
    const char *text = json_string_value(json_object_get(r->words, key));
    return text ? text : "";
}

/* Find the parts of the image. A different version may store a different state. */
static int find_parts(const char *file, struct resumed *r, size_t at)
{
    if (r->words && json_is_true(json_object_get(r->words, "ensemble"))) {
        r->rest = r->image + at;
        return CLI_DONE;
    }
    if (r->words && r->size - at >= sizeof r->state)
        memcpy(&r->state, r->image + at, sizeof r->state);
    const struct checkpoint_state *k = &r->state;
    if (k->size != sizeof *k)
        return cli_failed("--resume: %s was written by version %s, which version " STDCL_VERSION
                          " cannot resume",
                          file, json_text(r, "version"));
    const int arrays = 1 + !!(k->also & PARTICLES_SOFTENING) + !!(k->also & PARTICLES_ID) +
                       !!(k->also & PARTICLES_RADIUS);
    r->rest = r->image + at + sizeof *k;
    r->table = r->rest + k->n * sizeof(double) * (size_t)arrays;
    r->engine = r->image + r->size - k->engine;
    return CLI_DONE;
}

const char *nbody_resume_ensemble(const struct nbody_job *job, size_t *size)
{
    const struct resumed *r = job->resumed;
    *size = (size_t)(r->image + r->size - r->rest);
    return json_is_true(json_object_get(r->words, "ensemble")) ? r->rest : NULL;
}

/* Number of words of an option that ends the run (--steps, --until), from `word` on; 0: a
 * different option. */
static size_t end_option_words(const char *word)
{
    static const char *const names[] = {"--steps", "--until"};
    for (size_t i = 0; i < 2; i++)
        if (strncmp(word, names[i], 7) == 0 && (!word[7] || word[7] == '='))
            return word[7] ? 1 : 2;
    return 0;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && isalpha((unsigned char)word[word[1] == '-' ? 2 : 1]);
}

/* True for repeatable options; of all others the last one holds. */
static bool is_repeatable(const char *word)
{
    static const char *const names[] = {"-o", "--output", "--plot", "--external", "--device"};
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        any |= strcmp(word, names[i]) == 0;
    return any;
}

/* Number of words from word `i` on that the saved command line already contains: an option, and
 * its value if any. */
static int known_words(json_t *command, int argc, char **argv, int i)
{
    const bool value = i + 1 < argc && !is_option(argv[i + 1]);
    bool said = false;
    for (size_t k = 0; is_option(argv[i]) && k < json_array_size(command); k++) {
        const char *next = json_string_value(json_array_get(command, k + 1));
        if (strcmp(json_string_value(json_array_get(command, k)), argv[i]) == 0)
            said = (said && is_repeatable(argv[i])) || !value ||
                   (next && strcmp(next, argv[i + 1]) == 0);
    }
    return said ? 1 + value : 0;
}

/* Merge the saved command line with this one, without --resume and without options that the run
 * already has, so that files record equal command lines. A new end of the run replaces the old
 * one. */
static char **merge_command_lines(const struct resumed *r, int argc, char **argv, int *count)
{
    json_t *command = json_object_get(r->words, "command");
    const size_t old = json_array_size(command);
    char **all = cli_alloc(old + (size_t)argc + 1, sizeof *all);
    bool ends = false;
    for (int i = 1; i < argc; i++)
        ends |= end_option_words(argv[i]) > 0 && !known_words(command, argc, argv, i);
    *count = 0;
    for (size_t i = 0; i < old; i++) {
        const char *word = json_string_value(json_array_get(command, i));
        if (ends && end_option_words(word))
            i += end_option_words(word) - 1;
        else
            all[(*count)++] = (char *)(uintptr_t)word;
    }
    for (int i = 1; i < argc; i++) {
        const bool file = !strcmp(argv[i], "--resume");
        const int said = known_words(command, argc, argv, i);
        if (file)
            i++;
        else if (said)
            i += said - 1;
        else if (strncmp(argv[i], "--resume", 8) != 0)
            all[(*count)++] = argv[i];
    }
    all[*count] = NULL;
    return all;
}

int nbody_resume_open(struct nbody_job *job, int argc, char **argv)
{
    struct checkpoint_head h = {.text = 0};
    struct resumed *r = cli_alloc(1, sizeof *r);
    const char *file = job->resume;
    int status;
    *r = (struct resumed){.image = NULL};
    job->resumed = r;
    r->image = read_checkpoint(file, &r->size);
    if (!r->image)
        return CLI_FAILED;
    if ((status = check_checkpoint_head(file, r, &h)) != CLI_DONE)
        return status;
    r->words = json_loadb(r->image + sizeof h, (size_t)h.text, 0, NULL);
    if ((status = find_parts(file, r, sizeof h + (size_t)h.text)) != CLI_DONE)
        return status;
    if (strcmp(json_text(r, "version"), STDCL_VERSION) != 0 && !job->resume_anyway)
        return cli_failed(
            "--resume: %s was written by version %s, but this is version " STDCL_VERSION
            ", which may change bits; use --resume-anyway to resume",
            file, json_text(r, "version"));
    job->argv = r->argv = merge_command_lines(r, argc, argv, &job->argc);
    return CLI_DONE;
}

/* ---- Options. ---------------------------------------------------------------------------- */

static void list_difference(char *list, size_t size, bool differ, const char *name)
{
    if (differ)
        cli_text_append(list, size, "%s%s", *list ? ", " : "", name);
}

/* Check that the options equal those of the run, and restore its values. */
int nbody_resume_options(struct nbody_job *job)
{
    const struct checkpoint_state *k = job->resumed ? &job->resumed->state : NULL;
    char list[200] = "";
    if (!k)
        return CLI_DONE;
    list_difference(list, sizeof list, job->n && job->n != k->n_start, "-n");
    list_difference(list, sizeof list, job->model != k->model, "--ic");
    list_difference(list, sizeof list, job->seed != k->seed, "--seed");
    list_difference(list, sizeof list, job->given.G && job->G != k->G, "-G");
    list_difference(list, sizeof list, !isnan(job->eps) && (k->own_eps || job->eps != k->eps),
                    "--eps");
    list_difference(list, sizeof list, !isnan(job->dt) && job->dt != k->dt, "--dt");
    list_difference(list, sizeof list, job->given.integrator && job->integrator != k->integrator,
                    "--integrator");
    list_difference(list, sizeof list,
                    job->precision != NOT_GIVEN && job->precision != k->precision, "--precision");
    list_difference(list, sizeof list, job->kernel != k->kernel, "--kernel");
    list_difference(list, sizeof list,
                    job->given.method && job->method != k->method && job->method != NBODY_AUTO,
                    "--method");
    list_difference(list, sizeof list, job->accuracy > 0 && job->accuracy != k->accuracy,
                    "--accuracy");
    list_difference(list, sizeof list, job->collide != k->collide, "--collide");
    list_difference(list, sizeof list, !isnan(job->radius) && job->radius != k->radius, "--radius");
    char *fields = nbody_fields_text(&job->fields);
    list_difference(list, sizeof list,
                    job->external.n && strcmp(fields, json_text(job->resumed, "external")) != 0,
                    "--external");
    free(fields);
    list_difference(list, sizeof list, job->given.stepping && job->stepping != k->stepping,
                    "--stepping");
    list_difference(list, sizeof list, job->eta > 0 && job->eta != k->eta, "--eta");
    if (*list)
        return cli_wrong(
            "--resume: the run of %s had different values of %s; to change them, start a new run from a snapshot with -i",
            job->resume, list);
    job->n = k->n;
    job->n_start = k->n_start;
    job->radius = k->radius;
    job->energy_lost = k->energy_lost;
    job->interactions = k->interactions;
    job->G = k->G;
    job->eps = k->eps;
    job->own_eps = k->own_eps;
    job->dt = k->dt;
    job->accuracy = k->accuracy;
    job->stepping = k->stepping;
    job->eta = k->eta;
    job->integrator = k->integrator;
    job->precision = k->precision;
    job->method = k->method;
    job->picture = k->picture;
    job->fitted = k->frames_done > 0;
    return nbody_fields_take(job, json_text(job->resumed, "external"));
}

/* ---- The run. -------------------------------------------------------------------------------- */

static void *copy_array(const char **from, size_t n)
{
    void *array = malloc(n * sizeof(double));
    if (array)
        memcpy(array, *from, n * sizeof(double));
    *from += n * sizeof(double);
    return array;
}

int nbody_resume_bodies(struct nbody_job *job)
{
    const struct resumed *r = job->resumed;
    const struct checkpoint_state *k = &r->state;
    struct particles *b = &job->bodies;
    const char *from = r->rest;
    *b = (struct particles){
        .n = k->n, .time = k->time_start, .gas = k->gas, .star = k->star, .also = k->also};
    b->mass = copy_array(&from, k->n);
    b->softening = k->also & PARTICLES_SOFTENING ? copy_array(&from, k->n) : NULL;
    b->id = k->also & PARTICLES_ID ? copy_array(&from, k->n) : NULL;
    b->radius = k->also & PARTICLES_RADIUS ? copy_array(&from, k->n) : NULL;
    b->pos = calloc(k->n, sizeof *b->pos);
    b->vel = calloc(k->n, sizeof *b->vel);
    job->time_start = k->time_start;
    if (!b->mass || !b->pos || !b->vel || (k->also & PARTICLES_SOFTENING && !b->softening) ||
        (k->also & PARTICLES_ID && !b->id) || (k->also & PARTICLES_RADIUS && !b->radius))
        return cli_failed("out of memory for %zu bodies", k->n);
    for (int i = 0; i < PARTICLES_NOTE_COUNT; i++)
        if (particles_set_note(b, (enum particles_note)i,
                               json_string_value(json_array_get(json_object_get(r->words, "notes"),
                                                                (size_t)i))) < 0)
            return cli_failed_call(NULL);
    return CLI_DONE;
}

/* True for direct sums, which any number of devices of the same model may continue. */
static bool is_direct(const struct nbody_job *job)
{
    return job->resumed->state.method == NBODY_DIRECT;
}

/* Name of the checkpoint's device that device `dev` replaces. */
static const char *device_then(const struct nbody_job *job, unsigned dev)
{
    json_t *devices = json_object_get(job->resumed->words, "devices");
    const unsigned had = (unsigned)json_array_size(devices);
    const char *name = json_string_value(
        json_object_get(json_array_get(devices, dev < had ? dev : had - 1), "name"));
    return name ? name : "?";
}

static bool have_one_model(const struct nbody_job *job, unsigned had)
{
    for (unsigned dev = 1; dev < had; dev++)
        if (strcmp(device_then(job, dev), device_then(job, 0)) != 0)
            return false;
    return true;
}

static int check_device(const struct nbody_job *job, unsigned dev)
{
    const char *was = device_then(job, dev);
    char *is = checkpoint_device(job->context, dev);
    if (!is)
        return cli_failed_call(NULL);
    const int status =
        strcmp(was, is) == 0
            ? CLI_DONE
            : cli_failed(
                  "--resume: the run of %s used %s, but this is %s, which may change bits; select the device with --device, or use --resume-anyway",
                  job->resume, was, is);
    free(is);
    return status;
}

/* Check that the devices and drivers equal the checkpoint's. For direct sums on one model their
 * number may differ. */
int nbody_resume_devices(struct nbody_job *job)
{
    if (!job->resumed || job->resume_anyway)
        return CLI_DONE;
    const unsigned had = (unsigned)json_array_size(json_object_get(job->resumed->words, "devices")),
                   have = clgetndev(job->context);
    if (had == 0 || (had != have && !(is_direct(job) && have_one_model(job, had))))
        return cli_failed(
            "--resume: the run of %s used %u device%s, but this one uses %u, which may change bits; select the devices with --device, or use --resume-anyway",
            job->resume, had, had == 1 ? "" : "s", have);
    for (unsigned dev = 0; dev < have; dev++) {
        const int status = check_device(job, dev);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

/* Use the checkpoint's kernel shape and division of the bodies. */
void nbody_resume_engine(struct nbody_job *job, struct nbody_options *options)
{
    json_t *devices = json_object_get(job->resumed->words, "devices");
    const size_t n = json_array_size(devices);
    double *shares = cli_alloc(n ? n : 1, sizeof *shares);
    bool one_shape = true;
    for (size_t dev = 0; dev < n; dev++) {
        json_t *device = json_array_get(devices, dev);
        const char *shape = json_string_value(json_object_get(device, "shape"));
        shares[dev] = (double)json_integer_value(json_object_get(device, "bodies"));
        one_shape = one_shape && shape && (!options->shape || !strcmp(shape, options->shape));
        options->shape = shape;
    }
    /* different devices use their own shapes; nbody_load detects changed ones */
    if (!one_shape)
        options->shape = NULL;
    if (n == clgetndev(job->context) && world_size(cli_world) == 1)
        options->shares = shares;
    job->resumed->shares = shares;
}

int nbody_resume_state(struct nbody_job *job)
{
    const struct checkpoint_state *k = &job->resumed->state;
    if (nbody_load(job->engine, job->resumed->engine, k->engine) < 0)
        return cli_failed_call(NULL);
    if (nbody_steps(job->engine) > job->total)
        return cli_wrong(
            "--resume: %s is at step %zu and time %g, but the run ends at step %zu; give a later --until or more --steps",
            job->resume, nbody_steps(job->engine), job->time_start + nbody_time(job->engine),
            job->total);
    if (k->shortened && nbody_steps(job->engine) < job->total &&
        nbody_set_dt(job->engine, job->dt) < 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

static void restore_history(struct nbody_job *job, const char *from)
{
    const struct checkpoint_state *k = &job->resumed->state;
    struct nbody_history *h = &job->history;
    const size_t bytes = k->history * k->columns * sizeof *h->value;
    h->n = k->history;
    h->bytes = k->text;
    h->value = cli_alloc(1, bytes);
    h->text = cli_alloc(1, h->bytes);
    memcpy(h->value, from, bytes);
    memcpy(h->text, from + bytes, h->bytes);
}

int nbody_resume_outputs(struct nbody_job *job)
{
    const struct checkpoint_state *k = &job->resumed->state;
    const char *from = job->resumed->table;
    job->start = k->start;
    job->seconds = k->seconds;
    job->outputs.frames_done = (unsigned)k->frames_done;
    for (size_t i = 0; i < k->rows; i++, from += sizeof(struct nbody_row)) {
        struct nbody_row row;
        memcpy(&row, from, sizeof row);
        const int status = nbody_output_again(job, &row);
        if (status != CLI_DONE)
            return status;
    }
    for (size_t i = 0; i < k->series; i++) {
        struct series old = {.pattern = NULL};
        memcpy(&old.n, from, sizeof old.n);
        from += sizeof old.n;
        const size_t bytes = old.n * sizeof *old.file;
        if (i < job->series_n && old.n) {
            job->series[i].file = cli_alloc(old.n, sizeof *old.file);
            job->series[i].n = old.n;
            memcpy(job->series[i].file, from, bytes);
        }
        from += bytes;
    }
    if (k->history &&
        k->columns == job->history.columns) /* different --fractions: the history starts empty */
        restore_history(job, from);
    from += k->history * k->columns * sizeof(double) + (k->history ? k->text : 0);
    job->path.n = k->path;
    job->path.pos = cli_alloc(k->path * k->n + 1, sizeof *job->path.pos);
    memcpy(job->path.pos, from, k->path * k->n * sizeof *job->path.pos);
    from += k->path * k->n * sizeof *job->path.pos;
    job->events.n = k->events;
    job->events.event = cli_alloc(k->events + 1, sizeof *job->events.event);
    memcpy(job->events.event, from, k->events * sizeof *job->events.event);
    return CLI_DONE;
}

void nbody_resume_free(struct nbody_job *job)
{
    struct resumed *r = job->resumed;
    if (!r)
        return;
    free(r->image);
    free(r->shares);
    free(r->argv);
    json_decref(r->words);
    free(r);
    job->resumed = NULL;
}
