/* series.c - numbered files of one run, their index, and XDMF for ParaView (see series.h).
 * SPDX-License-Identifier: MIT
 */
#include "formats/series.h"

#include "core/outfile.h"
#include "formats/number.h"
#include "formats/suffix.h"
#include "stdcl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names. ---------------------------------------------------------------------------------- */

/* Find the number's place, "%04d" or "%d", and its length; NULL if there is none from `at` on. */
static const char *find_place(const char *at, size_t *length)
{
    while ((at = strchr(at, '%'))) {
        const size_t digits = strspn(at + 1, "0123456789");
        *length = digits + 2;
        if (digits < 3 && at[1 + digits] == 'd')
            return at;
        at++;
    }
    return NULL;
}

bool series_is(const char *pattern)
{
    size_t length, more;
    const char *place = find_place(pattern, &length);
    return place && !find_place(place + length, &more);
}

bool series_is_wrong(const char *pattern)
{
    bool any = false;
    for (const char *at = pattern; (at = strchr(at, '%')); at++)
        any |= at[1 + strspn(at + 1, "0123456789")] == 'd';
    return any && !series_is(pattern);
}

/* The pattern with a text in that place, and another suffix unless that is NULL. */
static char *series_put_text(const char *pattern, const char *text, const char *suffix)
{
    size_t length = 0;
    const char *place = find_place(pattern, &length), *rest = place ? place + length : pattern;
    const size_t before = place ? (size_t)(place - pattern) : 0;
    const size_t tail = strlen(rest) - (suffix ? strlen(suffix_of(pattern)) : 0);
    const size_t size = before + strlen(text) + tail + (suffix ? strlen(suffix) : 0) + 1;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s%s%.*s%s", (int)before, pattern, text, (int)tail, rest,
                 suffix ? suffix : "");
    return name;
}

char *series_name(const char *pattern, size_t number)
{
    char text[128];
    size_t length = 0;
    const char *place = find_place(pattern, &length);
    const int width = place ? atoi(place + 1) : 0;
    snprintf(text, sizeof text, "%0*zu", width, number);
    return series_put_text(pattern, place ? text : "", NULL);
}

char *series_companion(const char *pattern, const char *suffix)
{
    return series_put_text(pattern, series_is(pattern) ? "series" : "", suffix);
}

/* A file's name as its companions in the same folder use it. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- The index. ------------------------------------------------------------------------------ */

static void series_put_quoted(FILE *fp, const char *name)
{
    putc('"', fp);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', fp);
        putc(*name, fp);
    }
    putc('"', fp);
}

static void put_row(FILE *fp, const struct series_file *f, const char *name)
{
    char time[NUMBER_SIZE];
    number_print(time, f->time);
    fprintf(fp, "%zu,", f->number);
    series_put_quoted(fp, last_part(name));
    fprintf(fp, ",%s,%zu\n", time, f->step);
}

/* ---- XDMF. ----------------------------------------------------------------------------------- */

static void put_xml(FILE *fp, const char *text)
{
    for (; *text; text++) {
        const char *coded = *text == '&'   ? "&amp;"
                            : *text == '<' ? "&lt;"
                            : *text == '>' ? "&gt;"
                            : *text == '"' ? "&quot;"
                                           : NULL;
        if (coded)
            fputs(coded, fp);
        else
            putc(*text, fp);
    }
}

static void put_data(FILE *fp, const char *file, int type, const char *set, size_t n, int columns)
{
    const bool whole = strcmp(set, "ParticleIDs") == 0;
    fprintf(fp, "<DataItem Format=\"HDF\" NumberType=\"%s\" Precision=\"8\" Dimensions=\"%zu",
            whole ? "UInt" : "Float", n);
    if (columns > 1)
        fprintf(fp, " %d", columns);
    fputs("\">", fp);
    put_xml(fp, last_part(file));
    fprintf(fp, ":/PartType%d/%s</DataItem>\n", type, set);
}

static void put_attribute(FILE *fp, const char *file, int type, const char *set, size_t n,
                          int columns)
{
    fprintf(fp, "   <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">", set,
            columns > 1 ? "Vector" : "Scalar");
    put_data(fp, file, type, set, n, columns);
    fputs("   </Attribute>\n", fp);
}

static void put_points(FILE *fp, const char *file, int type, size_t n, int also)
{
    if (!n)
        return;
    fprintf(fp, "  <Grid Name=\"PartType%d\" GridType=\"Uniform\">\n", type);
    fprintf(
        fp,
        "   <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%zu\"/>\n   <Geometry GeometryType=\"XYZ\">",
        n);
    put_data(fp, file, type, "Coordinates", n, 3);
    fputs("   </Geometry>\n", fp);
    put_attribute(fp, file, type, "Velocities", n, 3);
    put_attribute(fp, file, type, "Masses", n, 1);
    put_attribute(fp, file, type, "ParticleIDs", n, 1);
    if (also & PARTICLES_POTENTIAL)
        put_attribute(fp, file, type, "Potential", n, 1);
    fputs("  </Grid>\n", fp);
}

/* Write one time: the bodies of each type. */
static void put_time(FILE *fp, const struct series_file *f, const char *file)
{
    char time[NUMBER_SIZE];
    number_print(time, f->time);
    fprintf(
        fp,
        " <Grid Name=\"bodies\" GridType=\"Collection\" CollectionType=\"Spatial\">\n  <Time Value=\"%s\"/>\n",
        time);
    put_points(fp, file, 0, f->gas, f->also);
    put_points(fp, file, 1, f->other, f->also);
    put_points(fp, file, 4, f->star, f->also);
    fputs(" </Grid>\n", fp);
}

/* ---- Both. ----------------------------------------------------------------------------------- */

/* Write a companion file with one line per file of the series. */
static int write_companion(const struct series *s, const char *suffix, const char *head,
                           const char *tail,
                           void (*put)(FILE *, const struct series_file *, const char *))
{
    struct outfile out;
    char *companion = series_companion(s->pattern, suffix);
    if (!companion)
        return clerror_set(ENOMEM, "%s: out of memory for its name", s->pattern);
    int status = outfile_open(&out, companion);
    free(companion);
    if (status < 0)
        return -1;
    out.nosync = true;
    fputs(head, out.fp);
    for (size_t i = 0; i < s->n && status == 0; i++) {
        char *name = series_name(s->pattern, s->file[i].number);
        if (!name)
            status = clerror_set(ENOMEM, "%s: out of memory for its name", s->pattern);
        else
            put(out.fp, &s->file[i], name);
        free(name);
    }
    fputs(tail, out.fp);
    if (status == 0)
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}

static bool is_hdf5(const char *pattern)
{
    return suffix_is_in(suffix_of(pattern), ".hdf5 .h5");
}

int series_write(const struct series *s)
{
    static const char head[] =
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n"
        "<Grid Name=\"series\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
    static const char tail[] = "</Grid>\n</Domain>\n</Xdmf>\n";
    if (series_is(s->pattern) &&
        write_companion(s, ".csv", "number,file,time,step\n", "", put_row) < 0)
        return -1;
    return is_hdf5(s->pattern) ? write_companion(s, ".xdmf", head, tail, put_time) : 0;
}

int series_add(struct series *s, size_t step, const struct particles *p)
{
    struct series_file *grown = realloc(s->file, (s->n + 1) * sizeof *grown);
    if (!grown)
        return clerror_set(ENOMEM, "%s: out of memory for its index", s->pattern);
    s->file = grown;
    s->file[s->n] = (struct series_file){
        s->n, step, p->time, p->gas, particles_all(p) - p->gas - p->star, p->star, p->also, 0};
    s->n++;
    return series_write(s);
}

void series_free(struct series *s)
{
    free(s->file);
    s->file = NULL;
    s->n = 0;
}
