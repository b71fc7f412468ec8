/* nbody_checkpoint.c - writes checkpoints of a run, in the background: the state is copied between two steps, and a thread
 * of its own writes it under another name and renames it, while the run goes on. */
/* SPDX-License-Identifier: MIT */
#include "nbody_checkpoint.h"

#include "core/outfile.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>

static const double USUAL_MINUTES = 10;

struct checkpoint {
    pthread_t thread;
    bool running;
    char *image; /* of the file */
    size_t size;
    const char *name;
    char problem[512]; /* why the last was not written; "" when it was */
    double written;    /* when the last was begun */
};

/* ---- What it says in words. ------------------------------------------------------------------- */

char *checkpoint_device(CLCONTEXT *context, unsigned dev)
{
    char name[256] = "", driver[256] = "", *text = NULL;
    const cl_device_id id = clgetdevice(context, dev);
    if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof driver, driver, NULL) != CL_SUCCESS)
        return clerror_set(EIO, "device %u does not tell its name and its driver's version, which a checkpoint needs", dev), NULL;
    if (asprintf(&text, "%s, driver %s", name, driver) < 0)
        return clerror_set(ENOMEM, "not enough memory for the name of device %u", dev), NULL;
    return text;
}

static void no_memory(const struct nbody_job *job)
{
    clerror_set(ENOMEM, "not enough memory for a checkpoint of %zu bodies", job->n);
}

/* NULL with an error when a device does not tell. */
static json_t *devices_json(const struct nbody_job *job)
{
    json_t *devices = json_array();
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++) {
        char *name = checkpoint_device(job->context, dev);
        if (!name) {
            json_decref(devices);
            return NULL;
        }
        json_array_append_new(devices, json_pack("{s:s, s:I, s:s}", "name", name, "share",
                                                 (json_int_t)nbody_share(job->engine, dev), "shape",
                                                 nbody_shape(job->engine, dev)));
        free(name);
    }
    return devices;
}

static json_t *notes_json(const struct nbody_job *job)
{
    json_t *notes = json_array();
    for (int k = 0; k < PARTICLES_NOTE_COUNT; k++)
        json_array_append_new(notes, job->bodies.note[k] ? json_string(job->bodies.note[k]) : json_null());
    return notes;
}

static char *words(const struct nbody_job *job)
{
    json_t *devices = devices_json(job), *command = json_array();
    if (!devices) {
        json_decref(command);
        return NULL;
    }
    for (int i = 0; i < job->argc; i++)
        json_array_append_new(command, json_string(job->argv[i]));
    char *fields = nbody_fields_text(&job->fields);
    json_t *all = json_pack("{s:s, s:o, s:o, s:o, s:s, s:I, s:f}", "version", STDCL_VERSION, "devices", devices,
                            "command", command, "notes", notes_json(job), "external", fields, "step",
                            (json_int_t)nbody_steps(job->engine), "time", job->time_start + nbody_time(job->engine));
    char *text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
    free(fields);
    json_decref(all);
    if (!text)
        no_memory(job);
    return text;
}

/* ---- The image of the file. ------------------------------------------------------------------- */

static struct kept kept_of(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    return (struct kept){.size = sizeof(struct kept), .n = job->n, .gas = b->gas, .star = b->star,
                         .frames_done = job->outputs.frames_done, .series = job->series_n, .rows = job->rows.n,
                         .history = job->history.n, .columns = job->history.columns, .text = job->history.bytes, .path = job->path.n,
                         .engine = nbody_save_bytes(job->engine), .seed = job->seed, .G = job->G, .eps = job->eps, .own_eps = job->own_eps, .n_start = job->n_start,
                         .events = job->events.n, .radius = job->radius, .energy_lost = job->energy_lost,
                         .interactions = job->interactions, .collide = job->collide,
                         .dt = job->dt, .accuracy = job->accuracy, .eta = job->eta, .stepping = job->stepping, .time_start = job->time_start, .seconds = job->seconds,
                         .integrator = job->integrator, .precision = job->precision, .kernel = job->kernel,
                         .method = (int)nbody_method(job->engine), .model = job->model,
                         .also = b->also & (PARTICLES_SOFTENING | PARTICLES_ID | PARTICLES_RADIUS), .picture = job->picture,
                         .start = job->start,
                         .shortened = nbody_steps(job->engine) == job->total && job->last_dt != job->dt};
}

/* All but the engine, which is large. NULL with an error. */
static char *make_front(const struct nbody_job *job, size_t *size)
{
    const struct particles *b = &job->bodies;
    const struct kept kept = kept_of(job);
    struct checkpoint_head head = {.format = CHECKPOINT_FORMAT};
    char *front = NULL, *text = words(job);
    FILE *fp = text ? open_memstream(&front, size) : NULL;
    bool whole = fp;
    memcpy(head.magic, checkpoint_magic, sizeof head.magic);
    head.text = text ? strlen(text) : 0;
    if (fp) {
        fwrite(&head, sizeof head, 1, fp);
        fwrite(text, head.text, 1, fp);
        fwrite(&kept, sizeof kept, 1, fp);
        fwrite(b->mass, sizeof *b->mass, job->n, fp);
        if (b->softening)
            fwrite(b->softening, sizeof *b->softening, job->n, fp);
        if (b->id)
            fwrite(b->id, sizeof *b->id, job->n, fp);
        if (b->radius)
            fwrite(b->radius, sizeof *b->radius, job->n, fp);
        if (kept.rows)
            fwrite(job->rows.row, sizeof *job->rows.row, kept.rows, fp);
        for (size_t i = 0; i < job->series_n; i++) {
            fwrite(&job->series[i].n, sizeof job->series[i].n, 1, fp);
            if (job->series[i].n)
                fwrite(job->series[i].file, sizeof *job->series[i].file, job->series[i].n, fp);
        }
        if (kept.history) {
            fwrite(job->history.value, sizeof *job->history.value, kept.history * kept.columns, fp);
            fwrite(job->history.text, 1, kept.text, fp);
        }
        if (kept.path)
            fwrite(job->path.pos, sizeof *job->path.pos, kept.path * job->n, fp);
        if (kept.events)
            fwrite(job->events.event, sizeof *job->events.event, kept.events, fp);
        whole = fclose(fp) == 0;
    }
    if (text && !whole) {
        no_memory(job);
        free(front);
        front = NULL;
    }
    free(text);
    return front;
}

static int make_image(struct nbody_job *job, struct checkpoint *c)
{
    size_t size = 0;
    const size_t engine = nbody_save_bytes(job->engine);
    char *front = make_front(job, &size), *grown = front ? realloc(front, size + engine) : NULL;
    if (!grown) {
        if (front)
            no_memory(job);
        free(front);
        return cli_failed_call(NULL);
    }
    c->image = grown;
    c->size = size + engine;
    return nbody_save(job->engine, grown + size) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* ---- Writing. --------------------------------------------------------------------------------- */

static void *write_image(void *arg)
{
    struct checkpoint *c = arg;
    struct outfile out;
    struct checkpoint_head head;
    memcpy(&head, c->image, sizeof head);
    head.size = c->size;
    head.sum = checkpoint_sum(c->image + sizeof head, c->size - sizeof head);
    memcpy(c->image, &head, sizeof head);
    int status = outfile_open(&out, c->name);
    if (status == 0) {
        fwrite(c->image, 1, c->size, out.fp);
        status = outfile_commit(&out);
    }
    snprintf(c->problem, sizeof c->problem, "%s", status < 0 ? clerror() : "");
    free(c->image);
    c->image = NULL;
    return NULL;
}

/* Waits for the one under way; false, with a warning, when it could not be written. */
static bool wait_for(struct checkpoint *c)
{
    if (!c->running)
        return true;
    pthread_join(c->thread, NULL);
    c->running = false;
    if (*c->problem)
        cli_warn("no checkpoint was written: %s", c->problem);
    return !*c->problem;
}

int nbody_checkpoint_write(struct nbody_job *job)
{
    struct checkpoint *c = job->saver;
    wait_for(c);
    const int status = make_image(job, c);
    if (status != CLI_DONE)
        return status;
    c->written = seconds_now();
    c->running = pthread_create(&c->thread, NULL, write_image, c) == 0;
    if (!c->running) /* then at once */
        write_image(c);
    return CLI_DONE;
}

/* ---- When. ------------------------------------------------------------------------------------ */

int nbody_checkpoint_plan(struct nbody_job *job)
{
    if (!job->checkpoint)
        return CLI_DONE;
    int status = cli_outputs_check(&job->outputs, job->checkpoint);
    if (status == CLI_DONE)
        status = cli_check_output(job->checkpoint);
    job->saver = cli_alloc(1, sizeof *job->saver);
    *job->saver = (struct checkpoint){.name = job->checkpoint, .written = seconds_now()};
    if (!(job->checkpoint_time > 0) && !(job->checkpoint_minutes > 0))
        job->checkpoint_minutes = USUAL_MINUTES;
    return status;
}

size_t nbody_checkpoint_next(const struct nbody_job *job, size_t step)
{
    if (!job->checkpoint || !(job->checkpoint_time > 0))
        return SIZE_MAX;
    const double steps = fmax(job->checkpoint_time / fabs(job->dt), 1), done = floor((double)step / steps + 1e-9);
    double next = floor((done + 1) * steps + 0.5);
    if (next <= (double)step)
        next = (double)step + 1;
    return next < 0x1p53 ? (size_t)next : SIZE_MAX;
}

int nbody_checkpoint_visit(struct nbody_job *job, size_t before, size_t step)
{
    const bool by_clock = job->checkpoint && job->checkpoint_minutes > 0;
    bool late = by_clock && seconds_now() - job->saver->written > 60 * job->checkpoint_minutes;
    if (by_clock && world_broadcast(cli_world, 0, &late, sizeof late) != 0) /* by one clock */
        return cli_failed_call(NULL);
    return late || nbody_checkpoint_next(job, before) == step ? nbody_checkpoint_write(job) : CLI_DONE;
}

int nbody_checkpoint_end(struct nbody_job *job)
{
    if (!job->checkpoint)
        return CLI_DONE;
    const int status = nbody_checkpoint_write(job);
    return status == CLI_DONE && !wait_for(job->saver) ? CLI_FAILED : status;
}

void nbody_checkpoint_free(struct nbody_job *job)
{
    if (job->saver) {
        wait_for(job->saver);
        free(job->saver->image);
    }
    free(job->saver);
    free(job->rows.row);
    free(job->path.pos);
}
