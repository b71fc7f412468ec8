/* nbody_resume.c - read a checkpoint and restore the state of its run. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "mapped.h"
#include "message.h"
#include "ranks.h"
#include "text.h"
#include "nbody_bodies.h"
#include "usage.h"
#include "nbody_checkpoint.h"
#include "nbody_fields.h"
#include "nbody_history.h"
#include "nbody_output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
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
#include <unistd.h>

struct resumed {
    char *image; /* the file */
    size_t size;
    struct checkpoint_parts parts; /* within the image */
    char **argv;                   /* merged command line */
    struct cli_stored stored;      /* words of `argv` that the checkpoint holds */
    double *shares;
};

/* ---- The file. ------------------------------------------------------------------------------- */

/* Map a file of *size bytes into memory, so that each rank reads only the parts that it uses. NULL
 * after a message. */
static char *map_checkpoint(const char *file, size_t *size)
{
    struct stat info = {0};
    const bool pipe =
        stat(file, &info) == 0 && S_ISFIFO(info.st_mode); /* opening a pipe would block */
    const int fd = pipe ? -1 : open(file, O_RDONLY | O_CLOEXEC);
    char *bytes = NULL;
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        cli_failed("--resume: %s: %s", file,
                   pipe                    ? "is a pipe"
                   : fd < 0                ? strerror(errno)
                   : S_ISDIR(info.st_mode) ? "is a directory; give the name of a checkpoint in it"
                                           : "not a regular file");
    else if (info.st_size == 0)
        cli_failed("--resume: %s is not a checkpoint of stdcl", file);
    else if (!(bytes = cli_map(fd, (size_t)info.st_size, "--resume", file)))
        cli_failed("--resume: %s: cannot read the file: %s", file, strerror(errno));
    *size = (size_t)info.st_size;
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* Compute the checksum of all bytes after the head, of which each rank reads a part. */
static int sum_checkpoint(const struct resumed *r, uint64_t *sum)
{
    const size_t ranks = (size_t)world_size(cli_world), rank = (size_t)world_rank(cli_world),
                 head = sizeof(struct checkpoint_head),
                 part = r->size > head ? (r->size - head) / ranks : 0, first = head + rank * part,
                 end = rank + 1 == ranks ? r->size : first + part;
    *sum = end > first ? checkpoint_sum(r->image + first, end - first, first) : 0;
    return world_add(cli_world, sum, 1) == 0 ? CLI_DONE : cli_failed_call(NULL);
}

const char *nbody_resume_ensemble(const struct nbody_job *job, size_t *size)
{
    *size = job->resumed->parts.ensemble_size;
    return job->resumed->parts.ensemble;
}

/* ---- The command line. ----------------------------------------------------------------------- */

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

/* True for outputs, which may be repeated. Any other option counts where it is given last. */
static bool is_repeatable(const char *word)
{
    static const char *const names[] = {"-o", "--output", "--plot", "--figure"};
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        any |= strcmp(word, names[i]) == 0;
    return any;
}

/* Number of words of the option `name`, followed by `next`, and its value; 0: a different
 * option. */
static size_t option_words(const char *name, const char *word, const char *next, const char **value)
{
    const size_t length = strlen(name);
    const bool joined = strncmp(word, name, length) == 0 && word[length] == '=';
    *value = joined ? word + length + 1 : next;
    return joined ? 1 : strcmp(word, name) == 0 && next ? 2 : 0;
}

/* ---- Options that make a list: a new list replaces the whole saved one. ---------------------- */

enum { LISTS = 4 };
static const char *const list_names[LISTS] = {"--device", "--event", "--external", "--stop-event"};

/* Number of words of an option with a list; 0: a different option. *list: its place in
 * list_names. */
static size_t list_words(const char *word, const char *next, size_t *list)
{
    const char *value;
    size_t words = 0;
    for (*list = 0; *list < LISTS; ++*list)
        if ((words = option_words(list_names[*list], word, next, &value)) > 0)
            break;
    return words;
}

/* Return the value of the next option `name` from word *at on and advance *at; NULL: none. */
static const char *next_value(const char *name, size_t n, const char *const *word, size_t *at)
{
    const char *value;
    while (*at < n) {
        const size_t i = *at,
                     words = option_words(name, word[i], i + 1 < n ? word[i + 1] : NULL, &value);
        *at += words ? words : 1;
        if (words)
            return value;
    }
    return NULL;
}

/* True if the command line has a list `name` and it differs from the saved one. */
static bool is_new_list(const char *name, const struct cli_stored *saved, int argc, char **argv)
{
    const char *given, *old;
    size_t i = 1, k = 0;
    bool named = false;
    do {
        given = next_value(name, (size_t)argc, (const char *const *)argv, &i);
        old = next_value(name, saved->n, saved->word, &k);
        named |= given != NULL;
    } while (given && old && strcmp(given, old) == 0);
    return named && (given || old);
}

/* Number of words from word `i` on that the saved command line already contains: an option, and
 * its value if any. *at: their position there. */
static int known_words(json_t *command, int argc, char **argv, int i, size_t *at)
{
    const bool value = i + 1 < argc && !is_option(argv[i + 1]);
    bool said = false;
    for (size_t k = 0; is_option(argv[i]) && k < json_array_size(command); k++) {
        const char *next = json_string_value(json_array_get(command, k + 1));
        if (strcmp(json_string_value(json_array_get(command, k)), argv[i]) != 0)
            continue;
        const bool same = !value || (next && strcmp(next, argv[i + 1]) == 0);
        said = (said && is_repeatable(argv[i])) || same;
        *at = same ? k : *at;
    }
    return said ? 1 + value : 0;
}

/* Number of words of an option -o or --output, followed by `next`, and its file; 0: a different
 * option. */
static size_t output_words(const char *word, const char *next, const char **file)
{
    const size_t words = option_words("--output", word, next, file);
    return words ? words : strcmp(word, "-o") == 0 && next ? 2 : 0;
}

/* Outputs of this command line; `added`: some are not among the saved ones. */
struct new_outputs {
    int argc;
    char **argv;
    bool added, table; /* table: a table of energies is added */
};

static bool has_output(const struct new_outputs *o, const char *file)
{
    const char *name;
    for (int i = 1; i < o->argc; i++)
        if (output_words(o->argv[i], i + 1 < o->argc ? o->argv[i + 1] : NULL, &name) &&
            strcmp(name, file) == 0)
            return true;
    return false;
}

static bool has_saved_output(json_t *command, const char *file)
{
    const char *name;
    for (size_t i = 0; i < json_array_size(command); i++)
        if (output_words(json_string_value(json_array_get(command, i)),
                         json_string_value(json_array_get(command, i + 1)), &name) &&
            strcmp(name, file) == 0)
            return true;
    return false;
}

static struct new_outputs find_new_outputs(json_t *command, int argc, char **argv)
{
    struct new_outputs o = {.argc = argc, .argv = argv};
    const char *name;
    for (int i = 1; i < argc; i++)
        if (output_words(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &name) &&
            !has_saved_output(command, name)) {
            o.added = true;
            o.table |= cli_output_kind(name) == CLI_OUTPUT_TABLE;
        }
    return o;
}

/* True if a new output replaces the saved one: any replaces a file that shows the end of the run,
 * and a table a table. Series and films continue. */
static bool is_replaced(json_t *command, const struct new_outputs *o, const char *file)
{
    bool frames = false;
    for (size_t i = 0; i < json_array_size(command); i++)
        frames |= strncmp(json_string_value(json_array_get(command, i)), "--frames", 8) == 0;
    const enum cli_output_kind kind = cli_output_kind(file);
    const bool shows_end =
        (kind == CLI_OUTPUT_STATE && !series_is(file)) || (kind == CLI_OUTPUT_PICTURE && !frames);
    return ((o->added && shows_end) || (o->table && kind == CLI_OUTPUT_TABLE)) &&
           !has_output(o, file);
}

/* Append the saved command line; a new end of the run replaces the old one, new lists and outputs
 * replace old ones. `word` receives the place of each word in `all`, or SIZE_MAX. */
static size_t put_saved_words(json_t *command, bool ends, const bool new_list[LISTS],
                              const struct new_outputs *outputs, char **all, size_t *word)
{
    size_t count = 0;
    for (size_t i = 0, leave = 0; i < json_array_size(command); i++) {
        const char *text = json_string_value(json_array_get(command, i)), *file;
        const char *next = json_string_value(json_array_get(command, i + 1));
        size_t list;
        const size_t output = output_words(text, next, &file),
                     listed = list_words(text, next, &list);
        if (leave == 0 && ends)
            leave = end_option_words(text);
        if (leave == 0 && listed && new_list[list])
            leave = listed;
        if (leave == 0 && output && is_replaced(command, outputs, file))
            leave = output;
        word[i] = leave ? SIZE_MAX : count;
        if (leave)
            leave--;
        else
            all[count++] = (char *)(uintptr_t)text;
    }
    return count;
}

/* Merge the saved command line with this one, without --resume. An option that the run already has
 * takes the place of the saved one, so that files record equal command lines. */
static void merge_command_lines(struct resumed *r, const char *file, int argc, char **argv,
                                int *count)
{
    json_t *command = json_object_get(r->parts.words, "command");
    const size_t old = json_array_size(command);
    size_t *word = cli_alloc(old, sizeof *word), at = 0;
    char **all = r->argv = cli_alloc(old + (size_t)argc + 1, sizeof *all);
    bool ends = false, new_list[LISTS];
    r->stored = (struct cli_stored){file, cli_alloc(old, sizeof *r->stored.word), old};
    for (size_t i = 0; i < old; i++)
        r->stored.word[i] = json_string_value(json_array_get(command, i));
    for (size_t i = 0; i < LISTS; i++)
        new_list[i] = is_new_list(list_names[i], &r->stored, argc, argv);
    for (int i = 1; i < argc; i++)
        ends |= end_option_words(argv[i]) > 0 && !known_words(command, argc, argv, i, &at);
    const struct new_outputs outputs = find_new_outputs(command, argc, argv);
    size_t n = put_saved_words(command, ends, new_list, &outputs, all, word);
    for (int i = 1; i < argc; i++) {
        size_t list;
        const size_t listed = list_words(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &list);
        const int said = listed ? 0 : known_words(command, argc, argv, i, &at);
        if (!strcmp(argv[i], "--resume"))
            i++;
        else if (listed && !new_list[list])
            i += (int)listed - 1; /* the saved list stays in its place */
        else if (said) {
            for (int k = 0; k < said && word[at + (size_t)k] != SIZE_MAX; k++)
                all[word[at + (size_t)k]] = argv[i + k];
            i += said - 1;
        } else if (strncmp(argv[i], "--resume", 8) != 0)
            all[n++] = argv[i];
    }
    free(word);
    *count = (int)n;
}

/* Check that the version is this one, or that the user does not mind. */
static int check_version(const struct nbody_job *job, const char *version)
{
    if (strcmp(version, STDCL_VERSION) == 0 || job->resume_anyway)
        return CLI_DONE;
    return cli_failed("--resume: %s was written by version %s, but this is version " STDCL_VERSION
                      ", which may change bits; use --resume-anyway to resume",
                      job->resume, version);
}

int nbody_resume_open(struct nbody_job *job, int argc, char **argv)
{
    struct resumed *r = cli_alloc(1, sizeof *r);
    uint64_t sum;
    job->resumed = r;
    r->image = map_checkpoint(job->resume, &r->size);
    if (!r->image)
        return CLI_FAILED;
    int status = sum_checkpoint(r, &sum);
    if (status == CLI_DONE)
        status = checkpoint_parse(job->resume, r->image, r->size, sum, &r->parts);
    if (status == CLI_DONE)
        status = check_version(job, checkpoint_word(&r->parts, "version"));
    if (status != CLI_DONE)
        return status;
    merge_command_lines(r, job->resume, argc, argv, &job->argc);
    job->argv = r->argv;
    if (!r->parts.ensemble) { /* options are judged by the run's integrator, whoever chose it */
        job->integrator = r->parts.state.integrator;
        job->stepping = r->parts.state.stepping;
    }
    return CLI_DONE;
}

const struct cli_stored *nbody_resume_stored(const struct nbody_job *job)
{
    return job->resumed ? &job->resumed->stored : NULL;
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
    if (!job->resumed)
        return CLI_DONE;
    const struct checkpoint_state *k = &job->resumed->parts.state;
    char list[200] = "";
    if (job->resumed->parts.ensemble)
        return cli_failed("--resume: %s is a checkpoint of an ensemble", job->resume);
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
                    job->external.n &&
                        strcmp(fields, checkpoint_word(&job->resumed->parts, "external")) != 0,
                    "--external");
    free(fields);
    list_difference(list, sizeof list, job->given.stepping && job->stepping != k->stepping,
                    "--stepping");
    list_difference(list, sizeof list, job->eta > 0 && job->eta != k->eta, "--eta");
    list_difference(list, sizeof list, job->coordinates != k->coordinates, "--coordinates");
    list_difference(list, sizeof list, job->corrector != k->corrector, "--corrector");
    list_difference(list, sizeof list, job->safe_mode != k->safe_mode, "--safe-mode");
    list_difference(list, sizeof list, job->megno != k->megno, "--megno");
    list_difference(list, sizeof list, job->hill != k->hill, "--hill");
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
    nbody_fields_restore(&job->fields, checkpoint_word(&job->resumed->parts, "forces"));
    return nbody_fields_take(job, checkpoint_word(&job->resumed->parts, "external"));
}

/* ---- The run. -------------------------------------------------------------------------------- */

/* Copy the slice of an array of 8 bytes a body. */
static void *copy_slice(const struct particles *b, const char *from)
{
    void *array = from ? malloc(b->n * sizeof(double)) : NULL;
    if (array)
        memcpy(array, from + b->first * sizeof(double), b->n * sizeof(double));
    return array;
}

/* Check that an array, if any, has numbers >= 0. */
static int check_array(const struct nbody_job *job, const double *array, const char *what)
{
    for (size_t i = 0; array && i < job->bodies.n; i++)
        if (!isfinite(array[i]) || array[i] < 0)
            return cli_failed("--resume: %s is damaged: body %zu of its part '%s' is out of range",
                              job->resume, job->bodies.first + i + 1, what);
    return CLI_DONE;
}

int nbody_resume_bodies(struct nbody_job *job, bool divided)
{
    const struct checkpoint_parts *parts = &job->resumed->parts;
    const struct checkpoint_state *k = &parts->state;
    struct particles *b = &job->bodies;
    json_t *notes = json_object_get(parts->words, "notes");
    *b = (struct particles){
        .n = k->n, .time = k->time_start, .gas = k->gas, .star = k->star, .also = k->also};
    if (divided)
        particles_set_part(b, k->n, (size_t)world_rank(cli_world), (size_t)world_size(cli_world));
    b->mass = copy_slice(b, parts->mass);
    b->softening = copy_slice(b, parts->softening);
    b->id = copy_slice(b, parts->id);
    b->radius = copy_slice(b, parts->radius);
    b->pos = calloc(b->n, sizeof *b->pos);
    b->vel = calloc(b->n, sizeof *b->vel);
    job->time_start = k->time_start;
    if (!b->mass || !b->pos || !b->vel || !parts->softening != !b->softening ||
        !parts->id != !b->id || !parts->radius != !b->radius)
        return cli_failed("out of memory for %zu bodies", b->n);
    if (check_array(job, b->mass, "masses") != CLI_DONE ||
        check_array(job, b->softening, "softenings") != CLI_DONE ||
        check_array(job, b->radius, "radii") != CLI_DONE)
        return CLI_FAILED;
    for (int i = 0; i < PARTICLES_NOTE_COUNT; i++)
        if (particles_set_note(b, (enum particles_note)i,
                               json_string_value(json_array_get(notes, (size_t)i))) < 0)
            return cli_failed_call(NULL);
    return CLI_DONE;
}

/* Name of the checkpoint's device that device `dev` replaces. */
static const char *device_then(const struct nbody_job *job, unsigned dev)
{
    json_t *devices = json_object_get(job->resumed->parts.words, "devices");
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

bool nbody_resume_uses_host(const struct nbody_job *job)
{
    return json_is_true(json_object_get(job->resumed->parts.words, "host"));
}

/* Check that the devices and drivers equal the checkpoint's. The number of devices of one model may
 * differ, and steps on the host have equal bits everywhere. */
int nbody_resume_devices(struct nbody_job *job)
{
    if (!job->resumed)
        return CLI_DONE;
    if (nbody_resume_uses_host(job) && world_size(cli_world) > 1)
        return cli_failed(
            "--resume: the run of %s computes on the host, which ranks do not divide; resume it without mpirun",
            job->resume);
    if (job->resume_anyway || !job->context)
        return CLI_DONE;
    const unsigned had = (unsigned)json_array_size(
                       json_object_get(job->resumed->parts.words, "devices")),
                   have = clgetndev(job->context);
    if (nbody_resume_uses_host(job) && !strstr(job->fields.forces, ".cl"))
        return CLI_DONE;
    if (had == 0 || (had != have && !have_one_model(job, had)))
        return cli_failed(
            "--resume: the run of %s used %u device%s%s, but this%s uses %u, which may change bits; select the devices with --device, or use --resume-anyway",
            job->resume, had, had == 1 ? "" : "s", had > 1 ? " of different models" : "",
            world_size(cli_world) > 1 ? " rank" : " one", have);
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
    json_t *devices = json_object_get(job->resumed->parts.words, "devices");
    const size_t n = json_array_size(devices);
    double *shares = cli_alloc(n ? n : 1, sizeof *shares);
    bool one_shape = true;
    options->place = nbody_resume_uses_host(job) ? NBODY_ON_HOST : NBODY_ON_DEVICES;
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
    if (n > 0 && n == clgetndev(job->context) && world_size(cli_world) == 1)
        options->shares = shares;
    job->resumed->shares = shares;
}

int nbody_resume_state(struct nbody_job *job)
{
    const struct checkpoint_state *k = &job->resumed->parts.state;
    if (nbody_load(job->engine, job->resumed->parts.engine, k->engine) < 0)
        return cli_failed("--resume: %s: %s", job->resume, cli_reason());
    if (nbody_steps(job->engine) < job->total ||
        (nbody_steps(job->engine) == job->total && job->last_dt == job->dt))
        return CLI_DONE;
    return cli_wrong(
        "--resume: %s is at step %zu and time %g, but the run ends %s step %zu; give a later --until or more --steps",
        job->resume, nbody_steps(job->engine), nbody_time(job->engine),
        job->last_dt == job->dt ? "at" : "within", job->total);
}

/* Different --fractions: the history starts empty. */
static void restore_history(struct nbody_job *job)
{
    const struct checkpoint_parts *parts = &job->resumed->parts;
    const struct checkpoint_state *k = &parts->state;
    struct nbody_history *h = &job->history;
    const size_t bytes = k->history * k->columns * sizeof *h->value;
    if (!k->history || k->columns != h->columns)
        return;
    h->n = k->history;
    h->bytes = k->text;
    h->value = cli_alloc(1, bytes);
    h->text = cli_alloc(1, h->bytes);
    memcpy(h->value, parts->history, bytes);
    memcpy(h->text, parts->text, h->bytes);
}

/* Restore the files written of each series. With a new time between them, or in a new series, the
 * next file is due at the next multiple of that time. */
static void restore_series(struct nbody_job *job)
{
    const char *from = job->resumed->parts.series;
    for (size_t i = 0; i < job->resumed->parts.state.series; i++) {
        size_t n;
        memcpy(&n, from, sizeof n);
        from += sizeof n;
        const size_t bytes = n * sizeof(struct series_file);
        if (i < job->series_n && n) {
            job->series[i].file = cli_alloc(1, bytes);
            job->series[i].n = n;
            memcpy(job->series[i].file, from, bytes);
        }
        from += bytes;
    }
    nbody_series_resume(job, nbody_steps(job->engine));
}

/* Continue the pictures of --frames. If the run ends later than before, warn if all are drawn, or
 * if the intervals between the remaining ones are longer. */
static void restore_frames(struct nbody_job *job)
{
    struct cli_outputs *o = &job->outputs;
    const double step = (double)nbody_steps(job->engine), total = (double)job->total;
    o->frames_done = o->frames_before = (unsigned)job->resumed->parts.state.frames_done;
    if (!o->frames || !(step < total) || job->common.quiet)
        return;
    const double done = o->frames_done, most = floor(total / step * (done - 1) + 1.5),
                 equal = fmin(fmax(most, done + 1), total + 1);
    if (o->frames_done >= o->frames)
        cli_warn(
            "no picture is due, because all %u of --frames were drawn before the checkpoint; give --frames %.0f to draw them up to the end",
            o->frames_done, equal);
    else if (o->frames_done > 1 &&
             (double)cli_outputs_due(o, o->frames_done - 1, job->total) > step)
        cli_warn(
            "pictures before the checkpoint have shorter intervals than those after it, because the run ends later now; give --frames %.0f for equal intervals",
            equal);
}

int nbody_resume_outputs(struct nbody_job *job)
{
    const struct checkpoint_parts *parts = &job->resumed->parts;
    const struct checkpoint_state *k = &parts->state;
    job->start = k->start;
    job->seconds = k->seconds;
    restore_frames(job);
    for (size_t i = 0; i < k->rows; i++) {
        struct nbody_row row;
        memcpy(&row, parts->rows + i * sizeof row, sizeof row);
        const int status = nbody_output_again(job, &row);
        if (status != CLI_DONE)
            return status;
    }
    restore_series(job);
    restore_history(job);
    job->path.n = k->path;
    job->path.pos = cli_alloc(k->path * k->n + 1, sizeof *job->path.pos);
    memcpy(job->path.pos, parts->path, k->path * k->n * sizeof *job->path.pos);
    job->events.n = k->events;
    job->events.event = cli_alloc(k->events + 1, sizeof *job->events.event);
    memcpy(job->events.event, parts->events, k->events * sizeof *job->events.event);
    job->orbits.n = k->orbits;
    job->orbits.row = cli_alloc(k->orbits + 1, sizeof *job->orbits.row);
    memcpy(job->orbits.row, parts->orbits, k->orbits * sizeof *job->orbits.row);
    for (size_t i = 0; i < k->orbits; i++)
        job->orbits.row[i].name[PARTICLES_NAME_SIZE - 1] = 0;
    job->found.n = k->found;
    job->found.row = cli_alloc(k->found + 1, sizeof *job->found.row);
    memcpy(job->found.row, parts->found, k->found * sizeof *job->found.row);
    for (size_t i = 0; i < k->found; i++)
        if ((unsigned)job->found.row[i].kind > NBODY_ESCAPE)
            return cli_failed("%s: event %zu has the kind %d, which there is not", job->resume,
                              i + 1, job->found.row[i].kind);
    return CLI_DONE;
}

void nbody_resume_free(struct nbody_job *job)
{
    struct resumed *r = job->resumed;
    if (!r)
        return;
    if (r->image)
        cli_unmap(r->image, r->size);
    free(r->shares);
    free(r->argv);
    free(r->stored.word);
    json_decref(r->parts.words);
    free(r);
    job->resumed = NULL;
}
