/* nbody_checkpoint_read.c - bounds-checked reader of checkpoints.
 *
 * A checkpoint may come from anywhere, and its checksum can be computed by anyone. Every length is
 * compared with the bytes that are left before it is used, every value with its range.
 * nbody_resume_bodies checks the values of bodies.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_options.h"
#include "nbody_output.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdlib.h>

/* ---- Bytes. ---------------------------------------------------------------------------------- */

/* Unread bytes of the image. */
struct remainder {
    const char *at;
    size_t left;
};

/* Take `count` elements of `size` bytes; NULL if the image has fewer. They need not be aligned. */
static const char *remainder_take(struct remainder *r, size_t count, size_t size)
{
    const char *at = r->at;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > r->left)
        return NULL;
    r->at += bytes;
    r->left -= bytes;
    return at;
}

/* ---- The head. ------------------------------------------------------------------------------- */

static int check_checkpoint_head(const char *file, const char *image, size_t size, uint64_t sum,
                                 struct checkpoint_head *h)
{
    if (size < sizeof *h || memcmp(image, checkpoint_magic, sizeof h->magic) != 0)
        return cli_failed("--resume: %s is not a checkpoint of stdcl", file);
    memcpy(h, image, sizeof *h);
    if (h->format != CHECKPOINT_FORMAT)
        return cli_failed("--resume: %s is a checkpoint of format %llu; this version reads %d",
                          file, (unsigned long long)h->format, CHECKPOINT_FORMAT);
    if (h->size > size)
        return cli_failed("--resume: %s is truncated: %zu bytes of %llu", file, size,
                          (unsigned long long)h->size);
    if (h->size != size || sum != h->sum)
        return cli_failed("--resume: %s is damaged: its checksum does not match", file);
    return CLI_DONE;
}

/* ---- The JSON object. ------------------------------------------------------------------------ */

static bool all_are_texts(const json_t *array, bool or_null)
{
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item) if (!json_is_string(item) &&
                                           !(or_null && json_is_null(item))) return false;
    return true;
}

/* True for {"name": text}, and {"bodies": number, "shape": text} in addition if given. */
static bool is_checkpoint_device(const json_t *device)
{
    const json_t *bodies = json_object_get(device, "bodies"),
                 *shape = json_object_get(device, "shape");
    return json_is_string(json_object_get(device, "name")) && (!shape || json_is_string(shape)) &&
           (!bodies || (json_is_integer(bodies) && json_integer_value(bodies) >= 0));
}

/* Steps on the host may have no device. */
static bool are_checkpoint_devices(const json_t *devices, bool host)
{
    size_t i;
    json_t *device;
    json_array_foreach(devices, i, device) if (!is_checkpoint_device(device)) return false;
    return json_array_size(devices) > 0 || (json_is_array(devices) && host);
}

/* A version is quoted in messages. */
static bool is_checkpoint_version(const json_t *version)
{
    const char *text = json_string_value(version);
    return text && strlen(text) < 32 &&
           strspn(text, "0123456789.abcdefghijklmnopqrstuvwxyz-+~") == strlen(text);
}

/* Name of the first entry that is missing or of a wrong kind; NULL: all are right. */
static const char *bad_word(const json_t *words)
{
    const json_t *command = json_object_get(words, "command"),
                 *notes = json_object_get(words, "notes");
    if (!is_checkpoint_version(json_object_get(words, "version")))
        return "version";
    if (!are_checkpoint_devices(json_object_get(words, "devices"),
                                json_is_true(json_object_get(words, "host"))))
        return "devices";
    if (json_array_size(command) == 0 || !all_are_texts(command, false))
        return "command";
    if (!json_is_array(notes) || !all_are_texts(notes, true))
        return "notes";
    if (!json_is_string(json_object_get(words, "external")))
        return "external";
    if (!json_is_string(json_object_get(words, "forces")))
        return "forces";
    return json_is_boolean(json_object_get(words, "ensemble")) ? NULL : "ensemble";
}

static int read_words(const char *file, struct remainder *r, size_t text,
                      struct checkpoint_parts *parts)
{
    const char *at = remainder_take(r, text, 1);
    parts->words = at ? json_loadb(at, text, 0, NULL) : NULL;
    const char *bad = bad_word(parts->words);
    return bad ? cli_failed("--resume: %s is damaged: it has no valid entry '%s'", file, bad)
               : CLI_DONE;
}

const char *checkpoint_word(const struct checkpoint_parts *parts, const char *key)
{
    const char *text = json_string_value(json_object_get(parts->words, key));
    return text ? text : "";
}

/* ---- The state. ------------------------------------------------------------------------------ */

static bool is_choice(int value, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (i == value)
            return true;
    return false;
}

static bool all_are_finite(const double *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(value[i]))
            return false;
    return true;
}

/* True if a picture can have these options. `caption` as a byte: a bool has no third value. */
static bool is_picture(const struct picture_options *p)
{
    enum { MOST_PIXELS = 16384 };
    unsigned char caption;
    memcpy(&caption, (const char *)p + offsetof(struct picture_options, caption), 1);
    const double all[] = {p->least,     p->most,   p->centre[0], p->centre[1],
                          p->centre[2], p->extent, p->low,       p->high};
    return p->width <= MOST_PIXELS && p->height <= MOST_PIXELS && caption <= 1 &&
           (unsigned)p->plane <= PICTURE_YZ && (unsigned)p->colours <= PICTURE_GREY &&
           (unsigned)p->by <= PICTURE_BY_GROUP && all_are_finite(all, sizeof all / sizeof *all) &&
           p->least <= p->most && p->extent >= 0 && p->low >= 0 && p->low <= p->high;
}

/* Name of the first value out of range; NULL: all are right. */
static const char *bad_value(const struct checkpoint_state *k)
{
    const double all[] = {k->G,          k->eps,     k->dt,          k->accuracy,    k->eta,
                          k->time_start, k->seconds, k->energy_lost, k->interactions};
    const int also = PARTICLES_SOFTENING | PARTICLES_ID | PARTICLES_RADIUS;
    if (k->n == 0 || k->n > k->n_start)
        return "number of bodies";
    if (k->gas > k->n || k->star > k->n - k->gas)
        return "number of stars";
    if (k->frames_done > UINT_MAX)
        return "number of pictures";
    if (!all_are_finite(all, sizeof all / sizeof *all) || k->eps < 0 || k->radius < 0 ||
        isinf(k->radius))
        return "options";
    if (!is_choice(k->integrator, nbody_integrator_names()) ||
        !is_choice(k->precision, nbody_precision_names) ||
        !is_choice(k->method, nbody_method_names) || !is_choice(k->stepping, nbody_stepping_names))
        return "method";
    if (k->also & ~also || (k->own_eps && !(k->also & PARTICLES_SOFTENING)) ||
        (k->collide && ~k->also & (PARTICLES_ID | PARTICLES_RADIUS)))
        return "arrays of bodies";
    return is_picture(&k->picture) ? NULL : "picture";
}

static int read_state(const char *file, struct remainder *r, struct checkpoint_parts *parts)
{
    struct checkpoint_state *k = &parts->state;
    const char *at = remainder_take(r, 1, sizeof *k);
    if (!at)
        return cli_failed("--resume: %s is damaged: it ends within the state of the run", file);
    memcpy(k, at, sizeof *k);
    if (k->size != sizeof *k) /* another version may store another state */
        return cli_failed("--resume: %s was written by version %s, which version " STDCL_VERSION
                          " cannot resume",
                          file, checkpoint_word(parts, "version"));
    k->picture.value = NULL; /* pointers of the process that wrote it */
    k->picture.group = NULL;
    k->picture.path = NULL;
    k->picture.time_unit = k->picture.length_unit = k->picture.quantity = NULL;
    k->picture.points = 0;
    const char *bad = bad_value(k);
    return bad ? cli_failed("--resume: %s is damaged: its value '%s' is out of range", file, bad)
               : CLI_DONE;
}

/* ---- The arrays. ----------------------------------------------------------------------------- */

static bool take_series(struct remainder *r, size_t series)
{
    for (size_t i = 0; i < series; i++) {
        size_t files;
        const char *at = remainder_take(r, 1, sizeof files);
        if (!at)
            return false;
        memcpy(&files, at, sizeof files);
        if (!remainder_take(r, files, sizeof(struct series_file)))
            return false;
    }
    return true;
}

/* The text of the history has a line per row. */
static bool take_history(struct remainder *r, const struct checkpoint_state *k,
                         struct checkpoint_parts *parts)
{
    size_t lines = 0;
    if (k->history == 0)
        return true;
    if (k->columns > r->left)
        return false;
    parts->history = remainder_take(r, k->history, k->columns * sizeof(double));
    parts->text = parts->history ? remainder_take(r, k->text, 1) : NULL;
    for (size_t i = 0; parts->text && i < k->text; i++)
        lines += parts->text[i] == '\n';
    return parts->text && lines == k->history && parts->text[k->text - 1] == '\n';
}

/* Name of the first part that does not fit; NULL: all do, and nothing is left. */
static const char *take_parts(struct remainder *r, struct checkpoint_parts *parts)
{
    const struct checkpoint_state *k = &parts->state;
    if (!(parts->mass = remainder_take(r, k->n, sizeof(double))))
        return "masses";
    if (k->also & PARTICLES_SOFTENING &&
        !(parts->softening = remainder_take(r, k->n, sizeof(double))))
        return "softenings";
    if (k->also & PARTICLES_ID && !(parts->id = remainder_take(r, k->n, sizeof(uint64_t))))
        return "identifiers";
    if (k->also & PARTICLES_RADIUS && !(parts->radius = remainder_take(r, k->n, sizeof(double))))
        return "radii";
    if (!(parts->rows = remainder_take(r, k->rows, sizeof(struct nbody_row))))
        return "table";
    parts->series = r->at;
    if (!take_series(r, k->series))
        return "series";
    if (!take_history(r, k, parts))
        return "history";
    if (!(parts->path = remainder_take(r, k->path, k->n * 3 * sizeof(double))))
        return "paths";
    if (!(parts->events = remainder_take(r, k->events, sizeof(struct nbody_event))))
        return "collisions";
    if (!(parts->orbits = remainder_take(r, k->orbits, sizeof(struct nbody_orbit))))
        return "orbits";
    if (!(parts->found = remainder_take(r, k->found, sizeof(struct nbody_found))))
        return "events";
    parts->engine = r->at;
    return r->left == k->engine ? NULL : "engine";
}

int checkpoint_parse(const char *file, const char *image, size_t size, uint64_t sum,
                     struct checkpoint_parts *parts)
{
    struct checkpoint_head h;
    *parts = (struct checkpoint_parts){.words = NULL};
    int status = check_checkpoint_head(file, image, size, sum, &h);
    if (status != CLI_DONE)
        return status;
    struct remainder r = {image + sizeof h, size - sizeof h};
    if ((status = read_words(file, &r, (size_t)h.text, parts)) != CLI_DONE)
        return status;
    if (json_is_true(json_object_get(parts->words, "ensemble"))) {
        parts->ensemble = r.at;
        parts->ensemble_size = r.left;
        return CLI_DONE;
    }
    if ((status = read_state(file, &r, parts)) != CLI_DONE)
        return status;
    const char *bad = take_parts(&r, parts);
    return bad ? cli_failed("--resume: %s is damaged: its part '%s' does not fit the file", file,
                            bad)
               : CLI_DONE;
}
