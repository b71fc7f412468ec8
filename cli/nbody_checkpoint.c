/* nbody_checkpoint.c - write checkpoints in the background: the devices keep a snapshot of the
 * state between two steps, and a thread downloads it, writes it to a temporary file and renames
 * the file, while the run continues. Several ranks wait instead: each writes its own bodies. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "ranks_file.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_fields.h"
#include "nbody_output.h"

#include "core/clock.h"
#include "core/outfile.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double DEFAULT_MINUTES = 10;

struct checkpoint {
    pthread_t thread;
    bool running;
    bool begun;      /* a checkpoint whose success is not yet known */
    size_t at, step; /* its step; step of the file */
    bool there;      /* this run has written the file */
    struct piece {
        char *bytes;
        size_t size;
    } front, back; /* parts of the file before and after the arrays of bodies */
    bool whole;    /* front and back are the whole file */
    struct nbody_job *job;
    const char *name;
    char problem[512]; /* error of the last checkpoint, or "" */
    double written;    /* start time of the last checkpoint */
};

/* ---- The JSON object. ---------------------------------------------------------------------- */

char *checkpoint_device(CLCONTEXT *context, unsigned dev)
{
    char name[256] = "", driver[256] = "", *text = NULL;
    const cl_device_id id = clgetdevice(context, dev);
    if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof driver, driver, NULL) != CL_SUCCESS)
        return clerror_set(
                   EIO,
                   "cannot query the name and the driver version of device %u for the checkpoint",
                   dev),
               NULL;
    if (asprintf(&text, "%s, driver %s", name, driver) < 0)
        return clerror_set(ENOMEM, "out of memory for the name of device %u", dev), NULL;
    return text;
}

static void set_no_memory(const struct nbody_job *job)
{
    clerror_set(ENOMEM, "out of memory for a checkpoint of %zu bodies", job->n);
}

/* NULL with an error if a device query fails. */
static json_t *devices_json(const struct nbody_job *job)
{
    json_t *devices = json_array();
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++) {
        char *name = checkpoint_device(job->context, dev);
        if (!name) {
            json_decref(devices);
            return NULL;
        }
        json_array_append_new(
            devices, job->engine ? json_pack("{s:s, s:I, s:s}", "name", name, "bodies",
                                             (json_int_t)nbody_device_bodies(job->engine, dev),
                                             "shape", nbody_shape(job->engine, dev))
                                 : json_pack("{s:s}", "name", name));
        free(name);
    }
    return devices;
}

static json_t *notes_json(const struct nbody_job *job)
{
    json_t *notes = json_array();
    for (int k = 0; k < PARTICLES_NOTE_COUNT; k++)
        json_array_append_new(notes,
                              job->bodies.note[k] ? json_string(job->bodies.note[k]) : json_null());
    return notes;
}

static char *checkpoint_json(const struct nbody_job *job, size_t step, double time)
{
    json_t *devices = devices_json(job), *command = json_array();
    if (!devices) {
        json_decref(command);
        return NULL;
    }
    for (int i = 0; i < job->argc; i++)
        json_array_append_new(command, json_string(job->argv[i]));
    char *fields = nbody_fields_text(&job->fields);
    json_t *all = json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:s, s:I, s:f, s:b, s:b}", "version", STDCL_VERSION, "devices",
        devices, "command", command, "notes", notes_json(job), "external", fields, "forces",
        job->fields.engine, "step", (json_int_t)step, "time", time, "ensemble",
        job->ensemble != NULL, "host", job->engine && nbody_place(job->engine) == NBODY_ON_HOST);
    char *text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
    free(fields);
    json_decref(all);
    if (!text)
        set_no_memory(job);
    return text;
}

/* ---- The image of the file. ------------------------------------------------------------------ */

static struct checkpoint_state current_state(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    struct checkpoint_state state = {
        .size = sizeof(struct checkpoint_state),
        .n = job->n,
        .gas = b->gas,
        .star = b->star,
        .frames_done = job->outputs.frames_done,
        .series = job->series_n,
        .rows = job->rows.n,
        .history = job->history.n,
        .columns = job->history.columns,
        .text = job->history.bytes,
        .path = job->path.n,
        .engine = nbody_save_bytes(job->engine),
        .seed = job->seed,
        .G = job->G,
        .eps = job->eps,
        .own_eps = job->own_eps,
        .n_start = job->n_start,
        .events = job->events.n,
        .orbits = job->orbits.n,
        .found = job->found.n,
        .radius = job->radius,
        .energy_lost = job->energy_lost,
        .interactions = job->interactions,
        .collide = job->collide,
        .coordinates = job->coordinates,
        .corrector = job->corrector,
        .safe_mode = job->safe_mode,
        .megno = job->megno,
        .hill = job->hill,
        .dt = job->dt,
        .accuracy = job->accuracy,
        .eta = job->eta,
        .stepping = job->stepping,
        .time_start = job->time_start,
        .seconds = job->seconds,
        .integrator = job->integrator,
        .precision = job->precision,
        .kernel = job->kernel,
        .method = (int)nbody_method(job->engine),
        .model = job->model,
        .also = b->also & (PARTICLES_SOFTENING | PARTICLES_ID | PARTICLES_RADIUS),
        .picture = job->picture,
        .start = job->start};
    state.picture.value = NULL; /* no address belongs into a file */
    state.picture.group = NULL;
    state.picture.path = NULL;
    state.picture.time_unit = state.picture.length_unit = state.picture.quantity = NULL;
    return state;
}

static bool make_piece(struct piece *piece, bool (*write)(const struct nbody_job *job, FILE *fp),
                       const struct nbody_job *job)
{
    FILE *fp = open_memstream(&piece->bytes, &piece->size);
    const bool made = fp && write(job, fp), closed = fp && fclose(fp) == 0;
    return made && closed;
}

/* Write the head and the JSON object. */
static bool write_words(const struct nbody_job *job, FILE *fp, size_t step, double time)
{
    struct checkpoint_head head = {.format = CHECKPOINT_FORMAT};
    char *text = checkpoint_json(job, step, time);
    const bool there = text;
    memcpy(head.magic, checkpoint_magic, sizeof head.magic);
    head.text = text ? strlen(text) : 0;
    if (text) {
        fwrite(&head, sizeof head, 1, fp);
        fwrite(text, head.text, 1, fp);
    }
    free(text);
    return there;
}

static bool write_front(const struct nbody_job *job, FILE *fp)
{
    const struct checkpoint_state state = current_state(job);
    const bool told = write_words(job, fp, nbody_steps(job->engine), nbody_time(job->engine));
    fwrite(&state, sizeof state, 1, fp);
    return told;
}

static bool write_back(const struct nbody_job *job, FILE *fp)
{
    if (job->rows.n)
        fwrite(job->rows.row, sizeof *job->rows.row, job->rows.n, fp);
    for (size_t i = 0; i < job->series_n; i++) {
        fwrite(&job->series[i].n, sizeof job->series[i].n, 1, fp);
        if (job->series[i].n)
            fwrite(job->series[i].file, sizeof *job->series[i].file, job->series[i].n, fp);
    }
    if (job->history.n) {
        fwrite(job->history.value, sizeof *job->history.value,
               job->history.n * job->history.columns, fp);
        fwrite(job->history.text, 1, job->history.bytes, fp);
    }
    if (job->path.n)
        fwrite(job->path.pos, sizeof *job->path.pos, job->path.n * job->n, fp);
    if (job->events.n)
        fwrite(job->events.event, sizeof *job->events.event, job->events.n, fp);
    if (job->orbits.n)
        fwrite(job->orbits.row, sizeof *job->orbits.row, job->orbits.n, fp);
    if (job->found.n)
        fwrite(job->found.row, sizeof *job->found.row, job->found.n, fp);
    return true;
}

static void drop_pieces(struct checkpoint *c)
{
    free(c->front.bytes);
    free(c->back.bytes);
    c->front = c->back = (struct piece){NULL, 0};
}

static bool by_ranks(void)
{
    return world_size(cli_world) > 1;
}

/* Save what changes while the run continues. Masses, softenings, identifiers and radii change
 * only when bodies merge, which waits for the file. */
static bool save_changing_parts(struct nbody_job *job, struct checkpoint *c)
{
    const bool made =
        make_piece(&c->front, write_front, job) && make_piece(&c->back, write_back, job);
    if (!made && c->front.bytes && clerrno != EIO)
        set_no_memory(job);
    if (world_reduce_status(cli_world, made ? 0 : -1) == 0 &&
        (by_ranks() || nbody_snapshot_begin(job->engine) == 0))
        return true;
    drop_pieces(c);
    return false;
}

/* Collect the arrays of bodies besides the engine's state. */
static size_t collect_arrays(const struct particles *b, const void *array[4])
{
    const void *const all[] = {b->mass, b->softening, b->id, b->radius};
    size_t n = 0;
    for (int i = 0; i < 4; i++)
        if (all[i])
            array[n++] = all[i];
    return n;
}

_Static_assert(sizeof *((struct particles *)0)->id == sizeof(double),
               "all arrays have elements of 8 bytes");

/* Assemble the file in memory; NULL with an error. */
static char *assemble_file(const struct checkpoint *c, size_t *size)
{
    const struct nbody_job *job = c->job;
    const void *array[4];
    const size_t arrays = c->whole ? 0 : collect_arrays(&job->bodies, array),
                 each = job->n * sizeof(double);
    *size = c->front.size + arrays * each + c->back.size +
            (c->whole ? 0 : nbody_save_bytes(job->engine));
    char *image = malloc(*size), *to = image;
    if (!image)
        return set_no_memory(job), NULL;
    memcpy(to, c->front.bytes, c->front.size);
    to += c->front.size;
    for (size_t i = 0; i < arrays; i++, to += each)
        memcpy(to, array[i], each);
    memcpy(to, c->back.bytes, c->back.size);
    if (c->whole || nbody_snapshot_read(job->engine, to + c->back.size) == 0)
        return image;
    free(image);
    return NULL;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

static int commit_image(const struct checkpoint *c, char *image, size_t size)
{
    struct outfile out;
    struct checkpoint_head head;
    memcpy(&head, image, sizeof head);
    head.size = size;
    head.sum = checkpoint_sum(image + sizeof head, size - sizeof head, sizeof head);
    memcpy(image, &head, sizeof head);
    if (outfile_open(&out, c->name) < 0)
        return -1;
    outfile_keep(&out); /* keep it after an interruption: the run resumes from it */
    fwrite(image, 1, size, out.fp);
    return outfile_commit(&out);
}

static void keep_problem(struct checkpoint *c, int status)
{
    snprintf(c->problem, sizeof c->problem, "%s", status < 0 ? clerror() : "");
}

static void *write_image(void *arg)
{
    struct checkpoint *c = arg;
    size_t size;
    char *image = assemble_file(c, &size);
    keep_problem(c, image ? commit_image(c, image, size) : -1);
    free(image);
    drop_pieces(c);
    return NULL;
}

static void join_writer(struct checkpoint *c)
{
    if (c->running)
        pthread_join(c->thread, NULL);
    c->running = false;
}

/* Wait for the checkpoint being written. Return CLI_FAILED if it failed, after an error if it is
 * the run's `last`, and a warning otherwise. */
static int end_writing(struct checkpoint *c, bool last)
{
    join_writer(c);
    if (!c->begun)
        return CLI_DONE;
    c->begun = false;
    if (!*c->problem) {
        c->there = true;
        c->step = c->at;
        return CLI_DONE;
    }
    const bool older = cli_output_is_regular(c->name) && access(c->name, F_OK) == 0;
    const char *kept = older ? "; the older checkpoint is kept" : "";
    if (last)
        return cli_failed("checkpoint not written: %s%s", c->problem, kept);
    if (cli_ranks_first())
        cli_warn("checkpoint not written: %s%s", c->problem, kept);
    return CLI_FAILED;
}

/* ---- Writing by several ranks. --------------------------------------------------------------- */

/* Rank 0 writes the parts that are not arrays of bodies; each rank writes its own bodies. */
struct common_file {
    struct cli_ranks_file file;
    uint64_t sum;    /* of this rank's pieces */
    uint64_t engine; /* offset of the engine's state */
};

static int write_checkpoint_piece(struct common_file *f, uint64_t at, const void *bytes,
                                  size_t size)
{
    f->sum += checkpoint_sum(bytes, size, at);
    return cli_ranks_file_write_at(&f->file, at, bytes, size);
}

static int write_engine_piece(void *arg, size_t offset, const void *bytes, size_t size)
{
    struct common_file *f = arg;
    return write_checkpoint_piece(f, f->engine + offset, bytes, size);
}

/* Write the parts before the engine. size: bytes of rank 0's front and back. */
static int write_parts(const struct checkpoint *c, struct common_file *f, const uint64_t size[2])
{
    const struct particles *b = &c->job->bodies;
    const bool first = world_rank(cli_world) == 0;
    const void *array[4];
    const size_t arrays = collect_arrays(b, array), each = sizeof(double),
                 head = sizeof(struct checkpoint_head);
    uint64_t at = size[0];
    int status =
        first ? write_checkpoint_piece(f, head, c->front.bytes + head, c->front.size - head) : 0;
    for (size_t i = 0; i < arrays; i++, at += c->job->n * each)
        if (status == 0 && (b->all || first)) /* a slice, or all bodies on every rank */
            status = write_checkpoint_piece(f, at + b->first * each, array[i], b->n * each);
    f->engine = at + size[1];
    return status == 0 && first ? write_checkpoint_piece(f, at, c->back.bytes, c->back.size)
                                : status;
}

/* Complete the head of the file, from the checksums of all ranks. Collective. */
static int write_checkpoint_head(const struct checkpoint *c, struct common_file *f)
{
    struct checkpoint_head head;
    if (world_add(cli_world, &f->sum, 1) != 0)
        return -1;
    if (world_rank(cli_world) > 0)
        return 0;
    memcpy(&head, c->front.bytes, sizeof head);
    head.size = f->engine + nbody_save_bytes(c->job->engine);
    head.sum = f->sum;
    return cli_ranks_file_write_at(&f->file, 0, &head, sizeof head);
}

static int write_by_ranks(const struct checkpoint *c)
{
    struct common_file f = {.sum = 0};
    uint64_t size[2] = {c->front.size, c->back.size};
    if (world_broadcast(cli_world, 0, size, sizeof size) != 0 ||
        cli_ranks_file_open(&f.file, c->name, NULL, NULL) != 0)
        return -1;
    outfile_keep(&f.file.out);
    int status = world_reduce_status(cli_world, write_parts(c, &f, size));
    if (status == 0)
        status = nbody_save_pieces(c->job->engine, write_engine_piece, &f);
    if (status == 0)
        status = world_reduce_status(cli_world, write_checkpoint_head(c, &f));
    if (status == 0)
        return cli_ranks_file_commit(&f.file);
    cli_ranks_file_discard(&f.file);
    return -1;
}

static void write_now(struct checkpoint *c)
{
    keep_problem(c, write_by_ranks(c));
    drop_pieces(c);
}

/* ---- Schedule. ------------------------------------------------------------------------------- */

/* Write in a thread, or synchronously if no thread can be created or with ranks. */
static void start_writing(struct checkpoint *c)
{
    if (by_ranks()) {
        write_now(c);
        return;
    }
    c->running = pthread_create(&c->thread, NULL, write_image, c) == 0;
    if (!c->running)
        write_image(c);
}

void nbody_checkpoint_wait(const struct nbody_job *job)
{
    if (job->saver)
        join_writer(job->saver);
}

int nbody_checkpoint_begin(struct nbody_job *job)
{
    return job->saver && !by_ranks() && nbody_snapshot_begin(job->engine) < 0
               ? cli_failed_call(NULL)
               : CLI_DONE;
}

/* Report the previous checkpoint and begin the one of this step. */
static void begin_checkpoint(struct checkpoint *c, size_t step)
{
    end_writing(c, false);
    c->begun = true;
    c->at = step;
    c->written = seconds_now();
}

void nbody_checkpoint_write(struct nbody_job *job)
{
    struct checkpoint *c = job->saver;
    begin_checkpoint(c, nbody_steps(job->engine));
    clprofile_begin(job->context, "checkpoint");
    const bool saved = save_changing_parts(job, c);
    clprofile_end(job->context);
    if (saved)
        start_writing(c);
    else
        keep_problem(c, -1);
}

void nbody_checkpoint_put(struct nbody_job *job, char *bytes, size_t size, size_t step, double time)
{
    struct checkpoint *c = job->saver;
    begin_checkpoint(c, step);
    if (!bytes) {
        keep_problem(c, -1);
        return;
    }
    c->whole = true;
    c->back = (struct piece){bytes, size};
    FILE *fp = open_memstream(&c->front.bytes, &c->front.size);
    const bool told = fp && write_words(job, fp, step, time), closed = fp && fclose(fp) == 0;
    if (!told || !closed) {
        if (clerrno != EIO)
            set_no_memory(job);
        drop_pieces(c);
        keep_problem(c, -1);
        return;
    }
    start_writing(c);
}

int nbody_checkpoint_plan(struct nbody_job *job)
{
    if (!job->checkpoint)
        return CLI_DONE;
    int status = cli_check_suffix("--checkpoint", job->checkpoint, "a checkpoint", ".ckpt");
    if (status != CLI_DONE)
        return status;
    if (by_ranks() && !cli_output_is_regular(job->checkpoint))
        return cli_wrong(
            "--checkpoint: %s is not a regular file; several ranks can write only a regular file",
            job->checkpoint);
    status =
        by_ranks() ? cli_ranks_check_output(job->checkpoint) : cli_check_output(job->checkpoint);
    if (status != CLI_DONE)
        return status;
    job->saver = cli_alloc(1, sizeof *job->saver);
    *job->saver =
        (struct checkpoint){.job = job, .name = job->checkpoint, .written = seconds_now()};
    if (!(job->checkpoint_time > 0) && !(job->checkpoint_minutes > 0))
        job->checkpoint_minutes = DEFAULT_MINUTES;
    return CLI_DONE;
}

size_t nbody_checkpoint_next(const struct nbody_job *job, size_t step)
{
    if (!job->checkpoint || !(job->checkpoint_time > 0))
        return SIZE_MAX;
    const double steps = fmax(job->checkpoint_time / fabs(job->dt), 1),
                 done = floor((double)step / steps + 1e-9);
    double next = floor((done + 1) * steps + 0.5);
    if (next <= (double)step)
        next = (double)step + 1;
    return next < 0x1p53 ? (size_t)next : SIZE_MAX;
}

bool nbody_checkpoint_late(const struct nbody_job *job)
{
    return job->saver && job->checkpoint_minutes > 0 &&
           seconds_now() - job->saver->written > 60 * job->checkpoint_minutes;
}

bool nbody_checkpoint_precedes_last(const struct nbody_job *job, size_t step)
{
    return job->last_dt != job->dt && step + 1 == job->total;
}

int nbody_checkpoint_visit(struct nbody_job *job, size_t before, size_t step)
{
    const bool by_clock = job->checkpoint && job->checkpoint_minutes > 0;
    bool late = nbody_checkpoint_late(job);
    if (by_clock &&
        world_broadcast(cli_world, 0, &late, sizeof late) != 0) /* rank 0's clock decides for all */
        return cli_failed_call(NULL);
    const bool ends = step == job->total || *job->stopped, /* nbody_checkpoint_end follows */
        follows = ends || nbody_checkpoint_precedes_last(job, step);
    if (!job->shortened && !follows && (late || nbody_checkpoint_next(job, before) == step))
        nbody_checkpoint_write(job);
    return CLI_DONE;
}

void nbody_checkpoint_done(struct nbody_job *job)
{
    if (job->saver)
        cli_outputs_keep_status(&job->outputs, NULL, end_writing(job->saver, true));
}

void nbody_checkpoint_end(struct nbody_job *job)
{
    if (job->checkpoint && !job->shortened)
        nbody_checkpoint_write(job);
    nbody_checkpoint_done(job);
}

void nbody_checkpoint_report(const struct nbody_job *job, FILE *fp)
{
    if (job->saver && job->saver->there)
        fprintf(fp, "%-14s%s, of step %zu\n", "checkpoint", job->checkpoint, job->saver->step);
}

void nbody_checkpoint_free(struct nbody_job *job)
{
    if (job->saver)
        end_writing(job->saver, false);
    free(job->saver);
    free(job->rows.row);
    free(job->path.pos);
}
