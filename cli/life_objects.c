/* life_objects.c - names of the objects among few cells, for the view's status.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "life_output.h"
#include "life_plane.h"
#include "life_run.h"
#include "text.h"

#include "core/clock.h"
#include "stdcl/identify.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/view.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NAMED_SECONDS = 0.5; /* between two looks at a running grid */
enum { NAMED_CELLS = 2000, NAMED_SIDE = 2048, KINDS_NAMED = 5, NAME_BYTES = 64 };

/* Get all cells of the grid, or of the plane's bounding box; false: there are too many. */
static bool get_cells(const struct life_job *job, struct life_cells *cells)
{
    life *lf = job->engine_of_run;
    struct life_box box;
    long long x = 0, y = 0;
    double width = (double)life_width(lf), height = (double)life_height(lf);
    if (life_job_unbounded(job)) {
        if (life_bounding_box(lf, &box) <= 0)
            return false;
        x = (long long)life_number_double(box.left);
        y = (long long)life_number_double(box.top);
        width = life_number_double(box.right) - life_number_double(box.left);
        height = life_number_double(box.bottom) - life_number_double(box.top);
    }
    if (!(width <= NAMED_SIDE && height <= NAMED_SIDE) ||
        life_cells_alloc(cells, (size_t)width, (size_t)height) < 0)
        return false;
    if (life_get(lf, x, y, cells) == 0)
        return true;
    life_cells_free(cells);
    return false;
}

/* Write the common name of an object, or its kind and period. */
static void describe_object(const struct life_job *job, const struct life_object *o, char *text)
{
    const char *name = life_object_name(job, o->code);
    if (name)
        snprintf(text, NAME_BYTES, "%s", name);
    else if (o->dx || o->dy)
        snprintf(text, NAME_BYTES, "p%u spaceship", o->period);
    else if (o->period > 1)
        snprintf(text, NAME_BYTES, "p%u oscillator", o->period);
    else
        snprintf(text, NAME_BYTES, "still life of %d cells",
                 atoi(o->code + strcspn(o->code, "s") + 1));
}

static void append_object(char *names, size_t size, uint64_t count, const char *name)
{
    cli_text_append(names, size, *names ? ", " : "");
    if (count > 1)
        cli_text_append(names, size, "%llu × ", (unsigned long long)count);
    cli_text_append(names, size, "%s", name);
}

static void list_objects(const struct life_job *job, const struct life_identity *id,
                         uint64_t others, char *names, size_t size)
{
    size_t kinds = 0;
    char(*name)[NAME_BYTES] = cli_alloc(id->objects + 1, sizeof *name);
    uint64_t *count = cli_alloc(id->objects + 1, sizeof *count);
    for (size_t i = 0; i < id->objects; i++) {
        size_t k = 0;
        describe_object(job, &id->object[i], name[kinds]);
        while (strcmp(name[k], name[kinds]) != 0)
            k++;
        kinds += k == kinds;
        count[k] += id->object[i].count;
    }
    for (size_t k = 0; k < kinds && k < KINDS_NAMED; k++)
        append_object(names, size, count[k], name[k]);
    if (kinds > KINDS_NAMED)
        cli_text_append(names, size, ", %zu more kinds", kinds - KINDS_NAMED);
    if (others && kinds)
        append_object(names, size, others, others > 1 ? "other groups" : "another group");
    free(name);
    free(count);
}

/* Write the rule, with the size of a torus. */
static void write_rule(const struct life_job *job, char *rule, size_t size)
{
    const int length = (int)strcspn(job->rule, ":");
    if (life_bounds_of(job->engine_of_run) == LIFE_TORUS)
        snprintf(rule, size, "%.*s:T%zu,%zu", length, job->rule, life_width(job->engine_of_run),
                 life_height(job->engine_of_run));
    else
        snprintf(rule, size, "%.*s", length, job->rule);
}

void life_objects_show(struct life_job *job, uint64_t population)
{
    char rule[LIFE_RULE_TEXT + 48], names[VIEW_OBJECTS_BYTES] = "";
    struct life_cells cells;
    uint64_t others;
    const double now = seconds_now();
    if (life_states(job->engine_of_run) > 2 ||
        (!job->window.agreed.paused && now < job->named + NAMED_SECONDS))
        return;
    job->named = now;
    write_rule(job, rule, sizeof rule);
    if (population > 0 && population <= NAMED_CELLS && get_cells(job, &cells)) {
        struct life_identity *id = life_identify_cells(rule, &cells, &others);
        if (id)
            list_objects(job, id, others, names, sizeof names);
        life_identity_free(id);
        life_cells_free(&cells);
    }
    view_set_objects(job->window.view, life_job_generation(job), names);
}
