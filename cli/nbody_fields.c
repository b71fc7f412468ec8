/* nbody_fields.c - external fields and forces (--external): parsed, formatted, stored in metadata.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_bodies.h"
#include "nbody_fields.h"
#include "nbody_job.h"
#include "text.h"

#include "formats/number.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of fields, and their parameters. */
static const struct {
    const char *name, *numbers;
    int n;
} kinds[] = {
    [NBODY_FIELD_POINT] = {"point", "M", 1},
    [NBODY_FIELD_PLUMMER] = {"plummer", "M,a", 2},
    [NBODY_FIELD_LOGARITHMIC] = {"logarithmic", "v,r", 2},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Parse the parameters after the colon, all above 0. */
static bool read_parameters(const char *text, size_t length, int n, double value[2])
{
    for (int i = 0; i < n; i++) {
        const char *comma = memchr(text, ',', length);
        const size_t one = comma ? (size_t)(comma - text) : length;
        if ((comma != NULL) != (i < n - 1) || number_read(text, one, &value[i]) != NUMBER_OK ||
            !(value[i] > 0))
            return false;
        text += one + 1;
        length -= one + (comma != NULL);
    }
    return true;
}

/* True if the text is a force with named parameters, or a file. */
static bool is_force(const char *text, size_t length)
{
    const char *const dot = length > 2 ? memmem(text, length, ".cl", 3) : NULL;
    return memchr(text, '=', length) || (dot && (dot + 3 == text + length || dot[3] == ':'));
}

/* Append a force, whose parameters the library checks. */
static bool add_force(const char *text, size_t length, struct nbody_fields *fields)
{
    const size_t used = strlen(fields->forces);
    if (used + length + 2 > sizeof fields->forces || memchr(text, ' ', length) ||
        memchr(text, '\n', length))
        return false;
    snprintf(fields->forces + used, sizeof fields->forces - used, "%s%.*s", used ? "\n" : "",
             (int)length, text);
    return true;
}

static bool parse_kind(const char *text, size_t length, struct nbody_field *field)
{
    for (int k = 0; k < KINDS; k++) {
        const size_t name = strlen(kinds[k].name);
        double value[2] = {0};
        if (length > name && memcmp(text, kinds[k].name, name) == 0 && text[name] == ':' &&
            read_parameters(text + name + 1, length - name - 1, kinds[k].n, value)) {
            *field = (struct nbody_field){(enum nbody_field_kind)k, value[0], value[1]};
            return true;
        }
    }
    return false;
}

static bool parse_field(const char *text, size_t length, struct nbody_fields *fields)
{
    if (is_force(text, length))
        return add_force(text, length, fields);
    if (fields->n == NBODY_MOST_FIELDS || !parse_kind(text, length, &fields->field[fields->n]))
        return false;
    fields->n++;
    return true;
}

/* Parse fields separated by blanks. */
static bool parse_field_list(const char *text, struct nbody_fields *fields)
{
    fields->n = 0;
    *fields->forces = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        const size_t length = strcspn(text, " ");
        if (!parse_field(text, length, fields))
            return false;
        text += length;
    }
    return true;
}

bool nbody_fields_have_files(const struct nbody_fields *fields)
{
    return strstr(fields->forces, ".cl") != NULL;
}

/* ---- Bodies of forces. ----------------------------------------------------------------------- */

/* Find the number to write for the value of a key, KEY=VALUE; false: there is no such body. */
typedef bool body_map(const void *arg, const char *key, const char *value, size_t length,
                      size_t *number);

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool acts_from_body(const char *force)
{
    return starts_with(force, "relativity:") || starts_with(force, "oblate:") ||
           starts_with(force, "radiation:") || starts_with(force, "mass-loss:");
}

static bool is_body_key(const char *word)
{
    return starts_with(word, "body=") || starts_with(word, "first=") || starts_with(word, "last=");
}

/* Where mapped forces go, and the bodies that they act on. */
struct mapping {
    body_map *map;
    const void *arg;
    size_t n; /* bodies, by their mapped numbers */
    char *to;
    size_t size;
};

enum mapped { MAPPED, NO_BODY, NO_RANGE };

/* Append one force, with mapped bodies. Where no source is given it is the first body; where no
 * range is given it begins with the second body. NO_RANGE: no body is left in the range. */
static enum mapped map_force(const char *force, size_t length, const struct mapping *m)
{
    const char *const end = force + length, *const colon = memchr(force, ':', length);
    const char *at = colon ? colon + 1 : end;
    const bool ranges = starts_with(force, "radiation:");
    bool given = false;
    size_t first = 1, last = m->n - 1;
    cli_text_append(m->to, m->size, "%.*s", (int)(at - force), force);
    while (at < end) {
        const char *const stop = at + nbody_word_length(at, end), *const value =
                                                                      at + strcspn(at, "=") + 1;
        size_t number = 0;
        if (!is_body_key(at))
            cli_text_append(m->to, m->size, "%.*s", (int)(stop - at), at);
        else if (m->map(m->arg, at, value, (size_t)(stop - value), &number))
            cli_text_append(m->to, m->size, "%.*s%zu", (int)(value - at), at, number);
        else
            return NO_BODY;
        given |= starts_with(at, "body=");
        first = starts_with(at, "first=") ? number : first;
        last = starts_with(at, "last=") ? number : last;
        cli_text_append(m->to, m->size, "%s", stop < end ? "," : "");
        at = stop < end ? stop + 1 : end;
    }
    if (!given)
        cli_text_append(m->to, m->size, ",body=0");
    return ranges && first > last ? NO_RANGE : MAPPED;
}

/* Map all forces, one a line. Without *wrong, forces without bodies are left out; else return why
 * the first force, then *wrong, is none. */
static enum mapped map_forces(const char *forces, const struct mapping *m, const char **wrong)
{
    *m->to = 0;
    for (; *forces; forces += *forces == '\n') {
        const size_t length = strcspn(forces, "\n"), before = strlen(m->to);
        enum mapped is = MAPPED;
        cli_text_append(m->to, m->size, "%s", before ? "\n" : "");
        if (acts_from_body(forces))
            is = map_force(forces, length, m);
        else
            cli_text_append(m->to, m->size, "%.*s", (int)length, forces);
        if (is != MAPPED && wrong) {
            *wrong = forces;
            return is;
        }
        if (is != MAPPED)
            m->to[before] = 0;
        forces += length;
    }
    return MAPPED;
}

/* Bodies as given, by name or number from 1 on. */
struct given_bodies {
    const struct particles *bodies;
    char *why;
};

static bool body_as_given(const void *arg, const char *key, const char *value, size_t length,
                          size_t *number)
{
    const struct given_bodies *const given = arg;
    (void)key;
    return nbody_find_body(given->bodies, value, length, number, given->why);
}

int nbody_fields_plan(struct nbody_job *job)
{
    struct nbody_fields *const f = &job->fields;
    char why[NBODY_WHY] = "";
    const char *wrong = NULL;
    if (job->resumed)
        return CLI_DONE;
    const enum mapped is = map_forces(
        f->forces,
        &(struct mapping){.map = body_as_given,
                          .arg = &(struct given_bodies){.bodies = &job->bodies, .why = why},
                          .n = job->bodies.n,
                          .to = f->engine,
                          .size = sizeof f->engine},
        &wrong);
    if (is == MAPPED)
        return CLI_DONE;
    const int length = (int)strcspn(wrong, "\n");
    if (is == NO_RANGE)
        return cli_wrong(
            "--external: '%.*s' acts on none of the %zu bodies: its last body is before the first",
            length, wrong, job->bodies.n);
    if (*why)
        return cli_wrong("--external: '%.*s': %s", length, wrong, why);
    return cli_wrong(
        "--external: '%.*s' names none of the %zu bodies; give a name (in quotes if it has a comma), or a number from 1 on",
        length, wrong, job->bodies.n);
}

void nbody_fields_restore(struct nbody_fields *fields, const char *engine)
{
    snprintf(fields->engine, sizeof fields->engine, "%s", engine);
}

/* n bodies after mergers: body i is now part of body is[i]. */
struct merged {
    size_t n;
    const size_t *is;
};

/* Number of bodies left among the first `end`. */
static size_t count_left(const struct merged *m, size_t end)
{
    size_t left = 0;
    for (size_t i = 0; i < end && i < m->n; i++)
        left += m->is[i] == i;
    return left;
}

/* A source is where its mass is; a range keeps the bodies that are left in it. */
static bool body_after_merging(const void *arg, const char *key, const char *value, size_t length,
                               size_t *number)
{
    const struct merged *const m = arg;
    size_t body = strtoul(value, NULL, 10);
    (void)length;
    if (*key == 'l') {
        const size_t left = count_left(m, body + 1);
        *number = left - 1;
        return left > 0;
    }
    while (*key == 'b' && m->is[body] != body)
        body = m->is[body];
    *number = count_left(m, body);
    return true;
}

void nbody_fields_merge(struct nbody_fields *fields, size_t n, const size_t *is)
{
    char before[sizeof fields->engine];
    memcpy(before, fields->engine, sizeof before);
    const struct merged merged = {n, is};
    (void)map_forces(before,
                     &(struct mapping){.map = body_after_merging,
                                       .arg = &merged,
                                       .n = count_left(&merged, n),
                                       .to = fields->engine,
                                       .size = sizeof fields->engine},
                     NULL);
}

/* ---- Texts. ---------------------------------------------------------------------------------- */

int nbody_fields_read(struct nbody_job *job)
{
    struct nbody_fields *f = &job->fields;
    size_t first = 0; /* after the last none */
    f->n = 0;
    *f->forces = 0;
    if (job->external.n > NBODY_MOST_FIELDS)
        return cli_wrong("--external: %zu fields are more than %d", job->external.n,
                         NBODY_MOST_FIELDS);
    for (size_t i = 0; i < job->external.n; i++)
        if (strcmp(job->external.item[i], "none") == 0)
            first = i + 1;
    for (size_t i = first; i < job->external.n; i++)
        if (!parse_field(job->external.item[i], strlen(job->external.item[i]), f))
            return cli_wrong(
                "--external: '%s' is not a field; give plummer:M,a, logarithmic:v,r or point:M with positive numbers, a force such as nfw:M=1,a=2 or FILE.cl (no blanks), or none",
                job->external.item[i]);
    return CLI_DONE;
}

int nbody_fields_take(struct nbody_job *job, const char *text)
{
    if (parse_field_list(text, &job->fields))
        return CLI_DONE;
    if (job->resumed)
        return cli_failed("--resume: %s is damaged: its value 'external' is '%s'", job->resume,
                          text);
    return cli_failed("%s: invalid metadata external '%s'; give --external", job->input, text);
}

static char *fields_text(const struct nbody_fields *fields, const char *forces)
{
    char *text = NULL, number[2][NUMBER_SIZE];
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    for (size_t i = 0; fp && i < fields->n; i++) {
        const struct nbody_field *f = &fields->field[i];
        number_print(number[0], f->strength);
        number_print(number[1], f->scale);
        fprintf(fp, "%s%s:%s", i ? " " : "", kinds[f->kind].name, number[0]);
        if (kinds[f->kind].n > 1)
            fprintf(fp, ",%s", number[1]);
    }
    for (const char *c = forces; fp && *c; c++)
        fprintf(fp, "%s%c", c == forces && fields->n ? " " : "", *c == '\n' ? ' ' : *c);
    if (!fp || fclose(fp) != 0)
        cli_out_of_memory("the words of --external");
    return text;
}

char *nbody_fields_text(const struct nbody_fields *fields)
{
    return fields_text(fields, fields->forces);
}

static bool body_from_1(const void *arg, const char *key, const char *value, size_t length,
                        size_t *number)
{
    (void)arg;
    (void)key;
    (void)length;
    *number = strtoul(value, NULL, 10) + 1;
    return true;
}

char *nbody_fields_text_now(const struct nbody_fields *fields)
{
    char forces[sizeof fields->engine];
    (void)map_forces(
        fields->engine,
        &(struct mapping){.map = body_from_1, .n = SIZE_MAX, .to = forces, .size = sizeof forces},
        NULL);
    return fields_text(fields, forces);
}

bool nbody_fields_bind(const struct nbody_fields *fields)
{
    for (size_t i = 0; i < fields->n; i++)
        if (fields->field[i].kind == NBODY_FIELD_LOGARITHMIC)
            return true;
    return strncmp(fields->forces, "logarithmic:", 12) == 0 ||
           strstr(fields->forces, "\nlogarithmic:");
}
