/* about.c - copies the options, so that the caller may free them.
 * SPDX-License-Identifier: MIT
 */
#include "view/recording.h"

#include "core/reserved.h"
#include "stdcl/philox.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <sys/random.h>

/* ---- Checks. ------------------------------------------------------------------------------- */

static int check_names(const struct view_bodies *b)
{
    size_t n = 0;
    while (b->names && b->names[n])
        n++;
    if (b->names && (n != b->total || n > VIEW_NAMED))
        return clerror_set(EINVAL,
                           "view_open: %zu names of %zu bodies; give one for each of at most %d", n,
                           b->total, VIEW_NAMED);
    return 0;
}

static int about_check(const struct view_options *o)
{
    if (reserved_check("view_open", o->reserved) < 0)
        return -1;
    if (o->points.total > UINT32_MAX)
        return clerror_set(EINVAL,
                           "view_open: %zu bodies are too many; at most 2^32 - 1 can be shown",
                           o->points.total);
    if (!(o->rate == 0 || (o->rate >= 0.1 && o->rate <= 240)))
        return clerror_set(
            EINVAL, "view_open: %g pictures a second cannot be shown; give 0.1 to 240", o->rate);
    if (!(o->budget >= 0 && o->budget <= 100))
        return clerror_set(EINVAL, "view_open: a budget of %g %% makes no sense; give 0 to 100",
                           o->budget);
    if (o->cells.states > 256)
        return clerror_set(EINVAL, "view_open: cells of %u states cannot be shown; at most 256",
                           o->cells.states);
    return check_names(&o->points);
}

/* ---- Copies. ------------------------------------------------------------------------------- */

static size_t about_length(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* Copy *text for the life of the view; "" for NULL. */
static int about_keep(struct about *about, const char **text, const char *otherwise)
{
    char **all = realloc(about->text, (about->texts + 1) * sizeof *all);
    if (all)
        about->text = all;
    char *copy = all ? strdup(*text ? *text : otherwise) : NULL;
    if (!copy)
        return clerror_set(ENOMEM, "view_open: out of memory");
    about->text[about->texts++] = copy;
    *text = copy;
    return 0;
}

/* The list is kept, and freed, like a text. */
static int keep_list(struct about *about, const char *const **list)
{
    const size_t n = about_length(*list);
    const char **copy = calloc(n + 1, sizeof *copy);
    char **all = realloc(about->text, (about->texts + 1) * sizeof *all);
    if (all)
        about->text = all;
    if (!copy || !all) {
        free(copy);
        return clerror_set(ENOMEM, "view_open: out of memory");
    }
    about->text[about->texts++] = (char *)copy;
    for (size_t i = 0; i < n; i++) {
        copy[i] = (*list)[i];
        if (about_keep(about, &copy[i], "") < 0)
            return -1;
    }
    *list = copy;
    return 0;
}

static int keep_texts(struct about *about)
{
    struct view_options *o = &about->options;
    struct {
        const char **text, *otherwise;
    } all[] = {{&o->program, ""},      {&o->title, ""},         {&o->step, "step"},
               {&o->time, "time"},     {&o->time_unit, ""},     {&o->points.length, ""},
               {&o->points.speed, ""}, {&o->points.weight, ""}, {&o->cells.bounds, ""},
               {&o->bars.unit, ""},    {&o->bars.counted, ""},  {&o->bars.model, ""},
               {&o->grid.row, ""},     {&o->grid.column, ""},   {&o->grid.quantity, ""},
               {&o->grid.unit, ""}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (about_keep(about, all[i].text, all[i].otherwise) < 0)
            return -1;
    if ((o->record && about_keep(about, &o->record, "") < 0) ||
        (o->cells.rule && about_keep(about, &o->cells.rule, "") < 0) ||
        (o->bars.quantity && about_keep(about, &o->bars.quantity, "") < 0))
        return -1;
    const char *const **lists[] = {&o->facts, &o->grid.rows, &o->grid.columns, &o->rows,
                                   &o->points.names};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (*lists[i] && keep_list(about, lists[i]) < 0)
            return -1;
    return 0;
}

/* ---- Bodies. ------------------------------------------------------------------------------- */

uint32_t *about_order(size_t n)
{
    uint32_t *order = malloc((n + 1) * sizeof *order);
    for (size_t i = 0; order && i < n; i++) { /* Fisher-Yates shuffle, inside-out */
        const philox4 r = philox4x32_10((philox4){(uint32_t)i, 0, 0, 0}, 0x76696577u, 1);
        const size_t j = (size_t)(((uint64_t)r.x * (i + 1)) >> 32);
        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    return order;
}

static int keep_bodies(struct about *about)
{
    const struct view_bodies *b = &about->options.points;
    uint32_t *order = b->mass || b->group ? about_order(b->total) : NULL;
    about->mass = b->mass ? malloc((b->total + 1) * sizeof *about->mass) : NULL;
    about->group = b->group ? malloc(b->total + 1) : NULL;
    if (((b->mass || b->group) && !order) || (b->mass && !about->mass) ||
        (b->group && !about->group)) {
        free(order);
        return clerror_set(ENOMEM, "view_open: out of memory for %zu bodies", b->total);
    }
    about->least_mass = FLT_MAX;
    for (size_t i = 0; order && i < b->total; i++) {
        if (b->group)
            about->group[i] = b->group[order[i]];
        if (!b->mass)
            continue;
        const float mass = about->mass[i] = (float)b->mass[order[i]];
        about->least_mass = mass > 0 && mass < about->least_mass ? mass : about->least_mass;
        about->most_mass = mass > about->most_mass ? mass : about->most_mass;
    }
    about->least_mass = fminf(about->least_mass, about->most_mass);
    free(order);
    return 0;
}

static int keep_colours(struct about *about)
{
    struct view_field *c = &about->options.cells;
    const size_t size = 3 * (size_t)c->states;
    about->colours = c->colours && size ? malloc(size) : NULL;
    if (about->colours)
        memcpy(about->colours, c->colours, size);
    const bool failed = c->colours && size && !about->colours;
    c->colours = about->colours;
    return failed ? clerror_set(ENOMEM, "view_open: out of memory") : 0;
}

bool about_has_orbits(const struct about *about)
{
    const struct view_bodies *b = &about->options.points;
    return b->gravity > 0 && b->total <= VIEW_NAMED && about->mass && b->moving;
}

enum colour about_recorded(const struct about *about)
{
    return about->options.points.moving ? BY_SPEED
           : about->group               ? BY_GROUP
           : about->mass                ? BY_MASS
                                        : NO_COLOUR;
}

/* Take the options from a recording. */
static int keep_replay(struct about *about)
{
    struct view_options *o = &about->options;
    if (!o->replay)
        return 0;
    about->hello = recording_hello(o->replay);
    o->frames = view_recording_frames(o->replay);
    o->from = view_recording_time(o->replay, 0);
    o->to = view_recording_time(o->replay, o->frames - 1);
    return about->hello ? 0 : clerror_set(ENOMEM, "view_open: out of memory");
}

int about_copy(struct about *about, const struct view_options *options)
{
    uint64_t run;
    *about = (struct about){.options = *options};
    struct view_options *o = &about->options;
    if (about_check(options) < 0)
        return -1;
    o->rate = o->rate > 0 ? o->rate : 30;
    o->budget = o->budget > 0 ? o->budget : 1;
    if (keep_texts(about) < 0 || keep_bodies(about) < 0 || keep_colours(about) < 0)
        return -1;
    if (keep_replay(about) < 0)
        return -1;
    about->columns = o->replay ? recording_columns(o->replay) : about_length(o->rows) / 2;
    about->grid_rows = about_length(o->grid.rows);
    about->grid_columns = about_length(o->grid.columns);
    if (getrandom(&run, sizeof run, 0) != sizeof run)
        return clerror_set(errno, "view_open: no random numbers: %s", strerror(errno));
    snprintf(about->run, sizeof about->run, "%016llx", (unsigned long long)run);
    return 0;
}

void about_free(struct about *about)
{
    for (size_t i = 0; i < about->texts; i++)
        free(about->text[i]);
    free(about->text);
    json_decref(about->hello);
    free(about->mass);
    free(about->group);
    free(about->colours);
}
