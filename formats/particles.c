/* particles.c - files of bodies: recognition of the format, and code common to all formats.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles.h"

#include "formats/unsupported.h"
#include "formats/particles_format.h"
#include "formats/suffix.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define POINTER(name) &particles_##name,
#define LABEL(name) &particles_##name.label,
static const struct particles_format *const formats[] = {PARTICLES_FORMATS(POINTER)};
enum { FORMATS = sizeof formats / sizeof *formats };

/* List the formats that can be written; with `all`, also those that can only be read. The last of
 * the table is the plainest and comes first. */
static void particles_list(bool all, char *text, size_t size)
{
    const struct format_label *some[FORMATS];
    size_t n = 0;
    for (int i = FORMATS - 1; i >= 0; i--)
        if (all || formats[i]->write)
            some[n++] = &formats[i]->label;
    format_list(some, n, text, size);
}

const char *particles_formats(void)
{
    static _Thread_local char text[300];
    particles_list(false, text, sizeof text);
    return text;
}

const char *particles_readable(void)
{
    static _Thread_local char text[400];
    particles_list(true, text, sizeof text);
    return text;
}

/* Find a format by name, or by the suffix if the name is NULL; NULL after an error. */
static const struct particles_format *particles_find(const char *file, const char *name)
{
    static const struct format_label *const labels[] = {PARTICLES_FORMATS(LABEL)};
    static const struct format_table table = {labels, FORMATS, "bodies", particles_formats};
    return (const struct particles_format *)format_find(&table, file, name);
}

/* ---- Reading. -------------------------------------------------------------------------------- */

/* Text, for everything not recognised, unless the file's suffix is another format's; NULL after an
 * error. */
static const struct particles_format *take_for_text(const char *name)
{
    const struct particles_format *text = formats[FORMATS - 1];
    for (size_t i = 0; i + 1 < FORMATS; i++)
        if (suffix_is_in(suffix_of(name), formats[i]->label.suffixes)) {
            clerror_set(
                EINVAL,
                "%s: does not begin as %s does, which its suffix says it is; text has one of the suffixes %s",
                name, formats[i]->label.title, text->label.suffixes);
            return NULL;
        }
    return text;
}

/* Find the format by the first bytes; NULL after an error. */
static const struct particles_format *particles_recognise(struct reader *s)
{
    enum { LOOK = 32 }; /* a TIPSY header */
    char known[500];
    if (reader_need(s, LOOK) < 0)
        return NULL;
    const size_t size = reader_ready(s) < LOOK ? reader_ready(s) : LOOK;
    if (size == 0) {
        clerror_set(EINVAL, "%s: is empty; bodies are lines of %s", s->name, "mass x y z vx vy vz");
        return NULL;
    }
    snprintf(known, sizeof known, "bodies are read as %s", particles_readable());
    for (size_t i = 0; i + 1 < FORMATS; i++)
        if (formats[i]->sniff(s->begin, size))
            return formats[i];
    if (unsupported_refuse(s->name, s->begin, size, known) < 0)
        return NULL;
    if (formats[FORMATS - 1]->sniff(s->begin, size)) /* unsupported formats may look like text */
        return take_for_text(s->name);
    clerror_set(EINVAL, "%s: is not a file of bodies; %s", s->name, known);
    return NULL;
}

static int read_and_close(struct reader *s, struct particles *p)
{
    const struct particles_format *format = particles_recognise(s);
    const int status = format ? format->read(s, p) : -1;
    if (status < 0)
        particles_free(p);
    else
        p->format = format->label.name;
    reader_close(s);
    return status;
}

static int particles_read_file(const char *file, struct particles *p)
{
    struct reader s;
    memset(p, 0, sizeof *p);
    return reader_open(&s, file) < 0 ? -1 : read_and_close(&s, p);
}

/* Finish unless reading failed with `status`. */
static int finish_reading(struct particles *p, int status)
{
    if (status == 0)
        status = particles_finish(p, particles_found(p));
    if (status < 0)
        particles_free(p);
    return status;
}

int particles_read(const char *file, struct particles *p)
{
    char *first = particles_first_file(file);
    const char *name = first ? first : file;
    int status = particles_read_file(name, p);
    if (status == 0 && p->files > 1)
        status = particles_read_others(name, particles_read_file, p);
    free(first);
    return finish_reading(p, status);
}

/* ---- Reading a part. ------------------------------------------------------------------------- */

/* Open a file whose format reads parts; NULL after an error. */
static const struct particles_format *particles_open_part(struct reader *s, const char *file)
{
    struct stat info;
    if (strcmp(file, "-") == 0 || (stat(file, &info) == 0 && !S_ISREG(info.st_mode))) {
        particles_refuse_parts(file); /* opening a pipe would take its bytes */
        return NULL;
    }
    if (reader_open(s, file) < 0)
        return NULL;
    const struct particles_format *format = particles_recognise(s);
    if (format && s->size >= 0 && format->survey)
        return format;
    if (format)
        particles_refuse_parts(file);
    reader_close(s);
    return NULL;
}

static int particles_survey(const char *file, struct particles *p)
{
    struct reader s;
    memset(p, 0, sizeof *p);
    const struct particles_format *format = particles_open_part(&s, file);
    if (!format)
        return -1;
    const int status = format->survey(&s, p);
    reader_close(&s);
    if (status < 0)
        particles_free(p);
    else
        p->format = format->label.name;
    return status;
}

/* Messages number the bodies within the file: p->first is such that body p->n is body `first`. */
static int particles_read_rows(const char *file, size_t first, size_t count, struct particles *p)
{
    struct reader s;
    const struct particles_format *format = particles_open_part(&s, file);
    if (!format)
        return -1;
    const size_t end = p->n + count, whole = p->first;
    p->first = first - p->n;
    const int status = format->read_rows(&s, first, count, p);
    p->first = whole;
    reader_close(&s);
    if (status == 0 && p->n < end)
        return clerror_set(EINVAL, "%s: is cut short: it ends before its body %zu", file,
                           first + count - (end - p->n) + 1);
    return status;
}

static int read_one_part(const char *name, size_t part, size_t parts, struct particles *p)
{
    const size_t n = particles_begin_part(name, part, parts, p);
    return n ? particles_read_rows(name, p->first, n, p) : -1;
}

int particles_read_part(const char *file, size_t part, size_t parts, struct particles *p)
{
    char *first = particles_first_file(file);
    const char *name = first ? first : file;
    int status = particles_survey(name, p);
    if (status == 0)
        status = p->files > 1 ? particles_read_others_part(name, particles_survey,
                                                           particles_read_rows, part, parts, p)
                              : read_one_part(name, part, parts, p);
    free(first);
    if (status < 0)
        particles_free(p);
    return status;
}

int particles_read_memory(const char *name, const void *data, size_t size, struct particles *p)
{
    struct reader s;
    memset(p, 0, sizeof *p);
    reader_open_memory(&s, name, data, size);
    int status = read_and_close(&s, p);
    if (status == 0 && p->files > 1)
        status = clerror_set(
            EINVAL, "%s: is one of %zu files of a snapshot; give a file's name to read all of them",
            name, p->files);
    return finish_reading(p, status);
}

/* ---- Writing. -------------------------------------------------------------------------------- */

const char *particles_format_of(const char *file)
{
    const struct particles_format *format = particles_find(file, NULL);
    return format ? format->label.name : NULL;
}

int particles_can_write(const char *file)
{
    const struct particles_format *format = particles_find(file, NULL);
    if (!format)
        return -1;
    return format->can_write ? format->can_write(file) : 0;
}

size_t particles_bytes(const char *file, const struct particles *p)
{
    const struct particles_format *format = particles_find(file, NULL);
    const int more =
        (p->softening != NULL) + (p->potential != NULL) + (p->id != NULL) + (p->radius != NULL);
    return format ? format->bytes + (size_t)more * format->more : 0;
}

/* What is written must be readable: the same conditions hold for both. */
static int particles_check(const char *file, const struct particles *p)
{
    if (p->n == 0)
        return clerror_set(EINVAL, "%s: there are no bodies to write", file);
    const size_t all = particles_all(p);
    if (p->gas > all || p->star > all - p->gas)
        return clerror_set(EINVAL,
                           "%s: %zu gas and %zu star bodies are more than the %zu bodies in all",
                           file, p->gas, p->star, all);
    if (!isfinite(p->time))
        return clerror_set(EINVAL, "%s: the time is %g; nothing was written", file, p->time);
    for (size_t i = 0; i < p->n; i++) {
        for (int c = 0; c < 7; c++)
            if (!isfinite(particles_value(p, i, c)))
                return clerror_set(EINVAL, "%s: %s of body %zu is %g; nothing was written", file,
                                   particles_columns[c], p->first + i + 1,
                                   particles_value(p, i, c));
        if (p->mass[i] < 0)
            return clerror_set(EINVAL, "%s: mass of body %zu is %g; nothing was written", file,
                               p->first + i + 1, p->mass[i]);
    }
    return 0;
}

int particles_write(const char *file, const struct particles *p, const char *name)
{
    struct outfile out;
    const struct particles_format *format = particles_find(file, name);
    if (format && !format->write)
        return clerror_set(ENOTSUP, "%s: %s is only read; bodies are written as %s", file,
                           format->label.title, particles_formats());
    if (!format)
        return -1;
    const int checked = particles_check(file, p);
    if ((p->all ? outfile_agree(checked) : checked) < 0 || outfile_open(&out, file) < 0)
        return -1;
    if (p->all && !out.ranks) {
        outfile_discard(&out);
        return clerror_set(ESPIPE, "%s: several ranks can write only a regular file", file);
    }
    if (format->write(&out, p) == 0)
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}
