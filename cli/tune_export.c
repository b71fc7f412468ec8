/* tune_export.c - a file of entries in the format of tuning/.
 *
 * Existing entries of the file stay, except those measured again.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "message.h"
#include "tune_job.h"

#include "core/outfile.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FORMAT "stdcl-tuning-1"

int tune_export_open(struct tune_job *job)
{
    json_error_t error;
    int status =
        cli_check_suffix("--export", job->export_file, "a file of tuning entries (JSON)", ".json");
    job->exported = json_array();
    if (status != CLI_DONE)
        return status;
    if ((status = cli_check_output(job->export_file)) != CLI_DONE)
        return status;
    struct stat about;
    const bool has_rows = stat(job->export_file, &about) == 0 &&
                          S_ISREG(about.st_mode); /* reading a pipe would block */
    FILE *fp = has_rows ? fopen(job->export_file, "r") : NULL;
    if (!fp)
        return CLI_DONE;
    json_t *root = json_loadf(fp, JSON_REJECT_DUPLICATES, &error);
    fclose(fp);
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *rows = json_object_get(root, "rows");
    if (!format || strcmp(format, FORMAT) != 0 || !json_is_array(rows))
        status = cli_wrong("--export: %s exists, but is not a file of format " FORMAT "%s%s",
                           job->export_file, root ? "" : ": ", root ? "" : error.text);
    else
        json_array_extend(job->exported, rows);
    json_decref(root);
    return status;
}

static const char *json_word(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static bool is_same_entry(const json_t *a, const json_t *b)
{
    const double size_a = json_number_value(json_object_get(a, "size"));
    const double size_b = json_number_value(json_object_get(b, "size"));
    return !strcmp(json_word(a, "kernel"), json_word(b, "kernel")) &&
           !strcmp(json_word(a, "device"), json_word(b, "device")) &&
           round(log2(fmax(size_a, 1))) == round(log2(fmax(size_b, 1)));
}

void tune_export_add(struct tune_job *job, const struct tune_search *s)
{
    const struct cldev_info *info = &job->info[s->dev];
    json_t *row =
        json_pack("{s:s, s:s, s:I, s:s, s:f, s:s, s:s, s:s}", "kernel", s->kernel->name, "device",
                  job->export_as ? job->export_as : info->dev_name, "size", (json_int_t)s->size,
                  "shape", s->after.shape, "rate", s->rate_after, "unit", s->kernel->unit,
                  "measured", info->dev_name, "driver", info->dev_drv_version);
    size_t place = 0;
    while (place < json_array_size(job->exported) &&
           !is_same_entry(json_array_get(job->exported, place), row))
        place++;
    if (place < json_array_size(job->exported))
        json_array_set_new(job->exported, place, row);
    else
        json_array_append_new(job->exported, row);
}

/* Write an entry on two lines; the second starts at the shape. */
static void write_entry(FILE *fp, const json_t *row)
{
    const char *key, *separator = "";
    json_t *value, *borrowed = (json_t *)(uintptr_t)row; /* jansson's iterators are not const */
    fputs("\n {", fp);
    json_object_foreach(borrowed, key, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(4));
        fprintf(fp, "%s%s\"%s\": %s", separator,
                *separator ? strcmp(key, "shape") ? " " : "\n  " : "", key, text ? text : "null");
        separator = ",";
        free(text);
    }
    fputs("}", fp);
}

int tune_export_write(const struct tune_job *job)
{
    struct outfile out;
    json_t *row;
    size_t i;
    if (outfile_open(&out, job->export_file) < 0)
        return cli_failed_call(NULL);
    fputs("{\"format\": \"" FORMAT "\", \"rows\": [", out.fp);
    json_array_foreach(job->exported, i, row)
    {
        fputs(i ? "," : "", out.fp);
        write_entry(out.fp, row);
    }
    fputs("\n]}\n", out.fp);
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}
