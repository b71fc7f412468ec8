/* json.c - the report of a command as one JSON object, alone on standard output.
 *
 * jansson builds the object; we write it, because jansson prints reals with a fixed number of
 * digits: 15 would lose bits, and 17 would print 0.1 as 0.10000000000000001. number_print finds
 * the fewest digits that give the same double back.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "json.h"
#include "message.h"
#include "progress.h"

#include "formats/number.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_write_value(const json_t *value, int indent, FILE *fp);

static void json_write_string(const char *text, FILE *fp)
{
    json_t *string = json_string(text);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "null", fp); /* null: not UTF-8 */
    free(quoted);
    json_decref(string);
}

static void write_real(double value, FILE *fp)
{
    char text[NUMBER_SIZE];
    number_print(text, value);
    fputs(text, fp);
    if (!strpbrk(text, ".eE")) /* keeps the type real in typed readers */
        fputs(".0", fp);
}

static void write_object(const json_t *object, int indent, FILE *fp)
{
    const char *key, *separator = "";
    json_t *value;
    json_t *borrowed = (json_t *)(uintptr_t)object; /* jansson's iterators are not const */
    fputc('{', fp);
    json_object_foreach(borrowed, key, value)
    {
        fprintf(fp, "%s\n%*s", separator, indent + 2, "");
        json_write_string(key, fp);
        fputs(": ", fp);
        json_write_value(value, indent + 2, fp);
        separator = ",";
    }
    if (*separator)
        fprintf(fp, "\n%*s", indent, "");
    fputc('}', fp);
}

/* Arrays of numbers take one line; arrays of objects one line per object. */
static void write_array(const json_t *array, int indent, FILE *fp)
{
    const size_t n = json_array_size(array);
    const bool flat = n == 0 || !json_is_object(json_array_get(array, 0));
    fputc('[', fp);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? (flat ? ", " : ",") : "", fp);
        if (!flat)
            fprintf(fp, "\n%*s", indent + 2, "");
        json_write_value(json_array_get(array, i), indent + 2, fp);
    }
    if (!flat)
        fprintf(fp, "\n%*s", indent, "");
    fputc(']', fp);
}

static void json_write_value(const json_t *value, int indent, FILE *fp)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(value, indent, fp);
        break;
    case JSON_ARRAY:
        write_array(value, indent, fp);
        break;
    case JSON_STRING:
        json_write_string(json_string_value(value), fp);
        break;
    case JSON_INTEGER:
        fprintf(fp, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        write_real(json_real_value(value), fp);
        break;
    case JSON_TRUE:
        fputs("true", fp);
        break;
    case JSON_FALSE:
        fputs("false", fp);
        break;
    case JSON_NULL:
        fputs("null", fp);
        break;
    }
}

int cli_json_print(const json_t *object)
{
    if (!object)
        return cli_failed("out of memory for the report");
    cli_line_wipe();
    json_write_value(object, 0, stdout);
    fputc('\n', stdout);
    fflush(stdout);  /* the deadline of an interrupt may end the command before it exits */
    return CLI_DONE; /* main checks that standard output was written */
}

char *cli_json_text(const json_t *object)
{
    char *text = NULL;
    size_t size;
    FILE *fp = object ? open_memstream(&text, &size) : NULL;
    if (!fp)
        return NULL;
    json_write_value(object, 0, fp);
    fputc('\n', fp);
    fclose(fp);
    return text;
}

json_t *cli_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_reals(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, cli_json_real(values[i]));
    return array;
}

void cli_json_add_units(json_t *report, const struct cli_json_unit *unit, size_t n)
{
    json_t *units = json_object();
    for (size_t i = 0; i < n; i++)
        if (json_object_get(report, unit[i].key))
            json_object_set_new(units, unit[i].key, json_string(unit[i].unit));
    json_object_set_new(report, "units", units);
}

json_t *cli_json_digits(const char *digits)
{
    errno = 0;
    const long long value = strtoll(digits, NULL, 10);
    return errno ? json_string(digits) : json_integer(value);
}
