/* nbody_fields.c - external fields and forces (--external): parsed, formatted, stored in metadata.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_fields.h"
#include "nbody_job.h"

#include "formats/number.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
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

bool nbody_fields_name_bodies(const struct nbody_fields *fields)
{
    static const char *const words[] = {"body=", "first=", "last=", ".cl"};
    bool any = false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        any |= strstr(fields->forces, words[k]) != NULL;
    return any;
}

int nbody_fields_read(struct nbody_job *job)
{
    struct nbody_fields *f = &job->fields;
    const bool none = job->external.n == 1 && strcmp(job->external.item[0], "none") == 0;
    f->n = 0;
    *f->forces = 0;
    if (job->external.n > NBODY_MOST_FIELDS)
        return cli_wrong("--external: %zu fields are more than %d", job->external.n,
                         NBODY_MOST_FIELDS);
    for (size_t i = 0; i < job->external.n && !none; i++)
        if (!parse_field(job->external.item[i], strlen(job->external.item[i]), f))
            return cli_wrong(
                "--external: '%s' is not a field; give plummer:M,a, logarithmic:v,r or point:M with positive numbers, a force such as nfw:M=1,a=2 or FILE.cl (no blanks), or none",
                job->external.item[i]);
    return CLI_DONE;
}

int nbody_fields_take(struct nbody_job *job, const char *text)
{
    return parse_field_list(text, &job->fields)
               ? CLI_DONE
               : cli_failed("%s: invalid metadata external '%s'; give --external", job->input,
                            text);
}

char *nbody_fields_text(const struct nbody_fields *fields)
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
    for (const char *c = fields->forces; fp && *c; c++)
        fprintf(fp, "%s%c", c == fields->forces && fields->n ? " " : "", *c == '\n' ? ' ' : *c);
    if (!fp || fclose(fp) != 0)
        cli_out_of_memory("the words of --external");
    return text;
}

bool nbody_fields_bind(const struct nbody_fields *fields)
{
    for (size_t i = 0; i < fields->n; i++)
        if (fields->field[i].kind == NBODY_FIELD_LOGARITHMIC)
            return true;
    return strncmp(fields->forces, "logarithmic:", 12) == 0 ||
           strstr(fields->forces, "\nlogarithmic:");
}
