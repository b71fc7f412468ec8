/* server_messages.c - JSON messages to viewers: what is shown, the state of the run, errors.
 * SPDX-License-Identifier: MIT
 */
#include "view/messages.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

/* Digits of positions, which are floats, and of the times between them; of distributions. */
enum { PATH_DIGITS = 12, PROFILE_DIGITS = 6 };

static char *finished_with(json_t *object, size_t flags)
{
    char *text = object ? json_dumps(object, flags) : NULL;
    json_decref(object);
    return text;
}

static char *finished(json_t *object)
{
    return finished_with(object, JSON_COMPACT);
}

/* Texts from outside may not be valid UTF-8. */
static json_t *json_words(const char *text)
{
    json_t *string = json_string(text ? text : "");
    return string ? string : json_string("?");
}

static json_t *json_list(const char *const *text)
{
    json_t *array = json_array();
    for (size_t i = 0; text && text[i]; i++)
        json_array_append_new(array, json_words(text[i]));
    return array;
}

static json_t *json_pairs(const char *const *text)
{
    json_t *array = json_array();
    for (size_t i = 0; text && text[i] && text[i + 1]; i += 2)
        json_array_append_new(array,
                              json_pack("[o, o]", json_words(text[i]), json_words(text[i + 1])));
    return array;
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* ---- hello. ---------------------------------------------------------------------------------- */

/* Names and masses of few bodies, in the order of frames. */
static json_t *json_bodies(const struct about *about)
{
    const struct view_bodies *b = &about->options.points;
    json_t *names = json_array(), *masses = json_array();
    uint32_t *order = about_order(b->total);
    for (size_t i = 0; order && i < b->total; i++) {
        json_array_append_new(names, json_words(b->names ? b->names[order[i]] : ""));
        json_array_append_new(masses, json_real((double)about->mass[i]));
    }
    free(order);
    return json_pack("{s:f, s:o, s:o}", "G", b->gravity, "names", names, "masses", masses);
}

static json_t *json_points(const struct about *about, bool live)
{
    const struct view_bodies *b = &about->options.points;
    json_t *colours = json_pack("[s]", colour_names[NO_COLOUR]);
    const bool has[COLOURS] = {[BY_SPEED] = b->moving,
                               [BY_MASS] = about->mass && about->most_mass > about->least_mass,
                               [BY_GROUP] = about->group};
    for (enum colour c = BY_SPEED; c < COLOURS; c++)
        if (has[c] && (live || c == about_recorded(about)))
            json_array_append_new(colours, json_string(colour_names[c]));
    json_t *points = json_pack("{s:I, s:o, s:{s:o, s:o, s:o}}", "total", (json_int_t)b->total,
                               "colours", colours, "units", "length", json_words(b->length),
                               "speed", json_words(b->speed), "mass", json_words(b->weight));
    if (live && about_has_orbits(about))
        json_object_set_new(points, "bodies", json_bodies(about));
    return points;
}

static json_t *state_colours(const struct view_field *c)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < c->states; i++) {
        char hex[8];
        snprintf(hex, sizeof hex, "%02x%02x%02x", c->colours[3 * i], c->colours[3 * i + 1],
                 c->colours[3 * i + 2]);
        json_array_append_new(array, json_string(hex));
    }
    return array;
}

static json_t *json_cells(const struct view_field *c)
{
    json_t *o = json_pack("{s:I, s:I, s:o, s:o}", "width", (json_int_t)c->width, "height",
                          (json_int_t)c->height, "bounds", json_words(c->bounds), "rule",
                          json_words(c->rule));
    if (c->states > 2)
        json_object_set_new(o, "states", json_integer(c->states));
    if (c->states > 2 && c->colours)
        json_object_set_new(o, "colours", state_colours(c));
    return o;
}

static json_t *bars(const struct view_histogram *h)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "quantity", json_words(h->quantity), "unit",
                     json_words(h->unit), "count", json_words(h->counted), "model",
                     json_words(h->model));
}

static json_t *grid(const struct view_table *t)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "row", json_words(t->row), "rows",
                     json_list(t->rows), "column", json_words(t->column), "columns",
                     json_list(t->columns), "quantity", json_words(t->quantity), "unit",
                     json_words(t->unit));
}

static json_t *columns(const char *const *text)
{
    json_t *array = json_array();
    for (size_t i = 0; text[i] && text[i + 1]; i += 2)
        json_array_append_new(array, json_pack("{s:o, s:o}", "name", json_words(text[i]), "unit",
                                               json_words(text[i + 1])));
    return json_pack("{s:i, s:o}", "x", 0, "columns", array);
}

static json_t *abilities(unsigned can)
{
    static const struct {
        unsigned bit;
        const char *name;
    } of[] = {{VIEW_CAN_PAUSE, "pause"}, {VIEW_CAN_STEP, "step"}, {VIEW_CAN_SPEED, "speed"},
              {VIEW_CAN_SEEK, "seek"},   {VIEW_CAN_QUIT, "quit"}, {VIEW_CAN_AGAIN, "again"},
              {VIEW_CAN_PUT, "put"},     {VIEW_CAN_BACK, "back"}, {VIEW_CAN_RULE, "rule"}};
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (can & of[i].bit)
            json_array_append_new(array, json_string(of[i].name));
    return array;
}

/* The recorded message, with the parts that apply now. */
static char *of_recording(const struct about *about, bool guest)
{
    const struct view_options *o = &about->options;
    json_t *h = json_deep_copy(about->hello),
           *now = json_pack("{s:s, s:s, s:b, s:s, s:o, s:f, s:I, s:o, s:o}", "type", "hello", "run",
                            about->run, "live", false, "rights", guest ? "guest" : "all", "can",
                            abilities(o->can), "rate", o->rate, "frames", (json_int_t)o->frames,
                            "from", real(o->from), "to", real(o->to));
    if (h && now)
        json_object_update(h, now);
    json_decref(now);
    return finished(h);
}

char *hello_text(const struct about *about, bool guest, bool live)
{
    const struct view_options *o = &about->options;
    if (about->hello)
        return of_recording(about, guest);
    json_t *h =
        json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:b, s:s, s:o, s:f, s:o, s:{s:o, s:o}, s:o}",
                  "type", "hello", "version", 1, "stdcl", STDCL_VERSION, "run", about->run,
                  "program", json_words(o->program), "title", json_words(o->title), "live", live,
                  "rights", guest ? "guest" : "all", "can", abilities(o->can), "rate", o->rate,
                  "step", json_words(o->step), "time", "name", json_words(o->time), "unit",
                  json_words(o->time_unit), "facts", json_pairs(o->facts));
    if (!live)
        json_object_update_new(h, json_pack("{s:I, s:o, s:o}", "frames", (json_int_t)o->frames,
                                            "from", real(o->from), "to", real(o->to)));
    if (o->step_time > 0)
        json_object_set_new(h, "step_time", json_real(o->step_time));
    if (o->points.total)
        json_object_set_new(h, "points", json_points(about, live));
    if (o->cells.rule)
        json_object_set_new(h, "cells", json_cells(&o->cells));
    if (o->bars.quantity)
        json_object_set_new(h, "bars", bars(&o->bars));
    if (o->grid.rows)
        json_object_set_new(h, "grid", grid(&o->grid));
    if (o->rows)
        json_object_set_new(h, "rows", columns(o->rows));
    return finished(h);
}

/* ---- The others. ----------------------------------------------------------------------------- */

char *state_text(const struct about *about, const struct view_state *s, const double box[4],
                 const char *rule, const char *objects, uint64_t objects_step, int viewers,
                 bool ended, bool recording)
{
    json_t *o =
        json_pack("{s:s, s:b, s:f, s:b, s:i, s:b, s:o, s:o}", "type", "state", "paused", s->paused,
                  "speed", s->speed, "ended", ended, "viewers", viewers, "recording", recording,
                  "steps", real(s->steps), "fraction", real(s->fraction));
    if (about->options.frames)
        json_object_set_new(o, "frame", json_integer((json_int_t)s->frame));
    if (box && box[2] > box[0])
        json_object_set_new(o, "box", json_pack("[f, f, f, f]", box[0], box[1], box[2], box[3]));
    if (*rule)
        json_object_set_new(o, "rule", json_words(rule));
    if (*objects)
        json_object_set_new(o, "objects",
                            json_pack("{s:I, s:o}", "step", (json_int_t)objects_step, "names",
                                      json_words(objects)));
    return finished(o);
}

static json_t *vectors(const struct bytes *from, size_t n)
{
    json_t *array = json_array();
    float v[3];
    for (size_t i = 0; i < n && (i + 1) * sizeof v <= from->used; i++) {
        memcpy(v, from->at + i * sizeof v, sizeof v);
        json_array_append_new(array, json_pack("[o, o, o]", real((double)v[0]), real((double)v[1]),
                                               real((double)v[2])));
    }
    return array;
}

/* The bodies at earlier times: a list of [time, x, y, z, x, y, z, ...]. */
static json_t *json_path(const struct shown *shown)
{
    const size_t instant = sizeof(double) + shown->n * 3 * sizeof(float);
    json_t *array = json_array();
    for (size_t at = 0; at + instant <= shown->path.used; at += instant) {
        const unsigned char *from = shown->path.at + at;
        json_t *one = json_array();
        double time;
        float v;
        memcpy(&time, from, sizeof time);
        json_array_append_new(one, real(time));
        for (size_t i = 0; i < 3 * shown->n; i++) {
            memcpy(&v, from + sizeof time + i * sizeof v, sizeof v);
            json_array_append_new(one, real((double)v));
        }
        json_array_append_new(array, one);
    }
    return array;
}

char *bodies_text(const struct shown *shown)
{
    json_t *o =
        json_pack("{s:s, s:f, s:I, s:o, s:o}", "type", "bodies", "time", shown->at.time, "step",
                  (json_int_t)shown->at.step, "pos", vectors(&shown->first, shown->n), "vel",
                  vectors(&shown->second, shown->n));
    if (shown->path.used)
        json_object_set_new(o, "path", json_path(shown));
    return finished_with(o, JSON_COMPACT | JSON_REAL_PRECISION(PATH_DIGITS));
}

static json_t *reals(const double *value, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, real(value[i]));
    return array;
}

char *profiles_text(double time, size_t n, const struct view_profile *profile)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct view_profile *p = &profile[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:b, s:o, s:o}", "title",
                                              json_words(p->title), "x", json_words(p->x), "unit",
                                              json_words(p->unit), "log", p->logarithmic, "edge",
                                              reals(p->edge, p->bins + 1), "value",
                                              reals(p->value, p->bins)));
    }
    return finished_with(
        json_pack("{s:s, s:o, s:o}", "type", "profiles", "time", real(time), "list", list),
        JSON_COMPACT | JSON_REAL_PRECISION(PROFILE_DIGITS));
}

char *say_text(const char *level, const char *text)
{
    return finished(
        json_pack("{s:s, s:s, s:o}", "type", "say", "level", level, "text", json_words(text)));
}

char *end_text(const char *text)
{
    return finished(json_pack("{s:s, s:o}", "type", "end", "text", json_words(text)));
}

char *refused_text(const char *what, const char *why)
{
    return finished(json_pack("{s:s, s:s, s:s}", "type", "refused", "what", what, "text", why));
}

char *pong_text(uint64_t id)
{
    return finished(json_pack("{s:s, s:I}", "type", "pong", "id", (json_int_t)id));
}
