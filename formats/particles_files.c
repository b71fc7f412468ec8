/* particles_files.c - snapshots of several files, NAME.0.hdf5 NAME.1.hdf5 ... or NAME.0 NAME.1 ...
 *
 * GADGET, AREPO, GIZMO and SWIFT write such files, one for each group of processes. Every file has
 * bodies of all types, so that types are collected over all files.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_format.h"
#include "stdcl.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const suffixes[] = {".hdf5", ".h5", ""};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

/* ---- Names. ---------------------------------------------------------------------------------- */

/* Length of `file` without the suffix; 0 if it ends differently. */
static size_t length_without(const char *file, const char *suffix)
{
    const size_t all = strlen(file), end = strlen(suffix);
    return all > end && strcmp(file + all - end, suffix) == 0 ? all - end : 0;
}

static char *numbered_name(const char *file, size_t stem, size_t number, const char *suffix)
{
    char *name = NULL;
    return asprintf(&name, "%.*s.%zu%s", (int)stem, file, number, suffix) < 0 ? NULL : name;
}

/* Length of the stem of NAME.K or NAME.K.hdf5, and the suffix; 0: a different name. */
static size_t stem_of(const char *file, const char **suffix)
{
    for (int i = 0; i < SUFFIXES; i++) {
        size_t at = length_without(file, suffixes[i]);
        const size_t end = at;
        while (at > 0 && isdigit((unsigned char)file[at - 1]))
            at--;
        *suffix = suffixes[i];
        if (at > 1 && at < end && file[at - 1] == '.')
            return at - 1;
    }
    return 0;
}

char *particles_first_file(const char *file)
{
    if (strcmp(file, "-") == 0 || access(file, F_OK) == 0)
        return NULL;
    for (int i = 0; i < 2 * SUFFIXES; i++) { /* NAME, then NAME.hdf5 */
        const char *suffix = suffixes[i % SUFFIXES];
        const size_t stem = i < SUFFIXES ? strlen(file) : length_without(file, suffix);
        char *name = stem ? numbered_name(file, stem, 0, suffix) : NULL;
        if (name && access(name, F_OK) == 0)
            return name;
        free(name);
    }
    return NULL;
}

/* ---- Bodies. --------------------------------------------------------------------------------- */

/* Copy n bodies from `first` on. Both have the arrays of to->also. */
static void copy_bodies(struct particles *to, const struct particles *from, size_t first, size_t n)
{
    const size_t at = to->n;
    if (n == 0)
        return; /* a file without bodies has no arrays */
    memcpy(to->mass + at, from->mass + first, n * sizeof *to->mass);
    memcpy(to->pos + at, from->pos + first, n * sizeof *to->pos);
    memcpy(to->vel + at, from->vel + first, n * sizeof *to->vel);
    if (to->softening)
        memcpy(to->softening + at, from->softening + first, n * sizeof *to->softening);
    if (to->potential)
        memcpy(to->potential + at, from->potential + first, n * sizeof *to->potential);
    if (to->id)
        memcpy(to->id + at, from->id + first, n * sizeof *to->id);
    if (to->radius)
        memcpy(to->radius + at, from->radius + first, n * sizeof *to->radius);
    to->n += n;
}

/* Bodies of a file before its gas, its other bodies and its stars; 3: all. */
static size_t kind_begin(const struct particles *p, int kind)
{
    const size_t n = particles_all(p);
    return kind == 0 ? 0 : kind == 1 ? p->gas : kind == 2 ? n - p->star : n;
}

/* Set *n to the bodies of all files, and their kinds and optional arrays in *all. */
static int count_bodies(const char *name, const struct particles *part, size_t files,
                        struct particles *all, size_t *n)
{
    *n = all->gas = all->star = 0;
    all->also = part[0].also;
    for (size_t k = 0; k < files; k++) {
        *n += particles_all(&part[k]);
        all->gas += part[k].gas;
        all->star += part[k].star;
        all->also &= part[k].also;
    }
    if (part[0].total > 0 && (double)*n != part[0].total)
        return clerror_set(EINVAL,
                           "%s: the %zu files of its snapshot have %zu bodies, but its header says "
                           "%.0f",
                           name, files, *n, part[0].total);
    return 0;
}

static int join_files(const char *name, const struct particles *part, size_t files,
                      struct particles *all)
{
    size_t n;
    if (count_bodies(name, part, files, all, &n) < 0 || particles_reserve(all, n, name) < 0)
        return -1;
    for (int kind = 0; kind < 3; kind++)
        for (size_t k = 0; k < files; k++)
            copy_bodies(all, &part[k], kind_begin(&part[k], kind),
                        kind_begin(&part[k], kind + 1) - kind_begin(&part[k], kind));
    return 0;
}

/* Replace the arrays of *p, with the bodies of one file, by the arrays of `all`. */
static void take_bodies(struct particles *p, struct particles *all)
{
    const struct particles one = *p;
    *p = *all;
    *all = one; /* frees the arrays of one file */
    memcpy(p->note, one.note, sizeof p->note);
    memset(all->note, 0, sizeof all->note);
    p->time = one.time;
    p->missing = one.missing, p->origin = one.origin, p->space = one.space;
    all->missing = all->origin = all->space = NULL;
    memcpy(p->box, one.box, sizeof p->box);
    p->files = one.files, p->total = one.total, p->format = one.format;
}

/* Read a file of the snapshot that *first is of. */
static int read_part(const char *name, particles_file_reader *read, const struct particles *first,
                     struct particles *part)
{
    if (read(name, part) < 0)
        return -1;
    if (part->files == first->files && part->time == first->time && part->format == first->format)
        return 0;
    return clerror_set(EINVAL,
                       "%s: is of another snapshot than the files beside it: its time is %g, "
                       "not %g, or its number of files %zu, not %zu",
                       name, part->time, first->time, part->files, first->files);
}

static int read_all_parts(const char *file, size_t stem, const char *suffix,
                          particles_file_reader *read, const struct particles *first,
                          struct particles *part)
{
    for (size_t k = 0; k < first->files; k++) {
        char *name = numbered_name(file, stem, k, suffix);
        if (!name)
            return clerror_set(ENOMEM, "%s: out of memory for a name", file);
        const int status = read_part(name, read, first, &part[k]);
        free(name);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* Survey or read all files of a snapshot; *p: its first file. Return the length of the stem and its
 * *suffix, as stem_of; 0 after an error. */
static size_t read_parts_beside(const char *file, particles_file_reader *read,
                                const struct particles *p, const char **suffix,
                                struct particles **part)
{
    const size_t stem = stem_of(file, suffix), files = p->files;
    *part = NULL;
    if (!stem) {
        clerror_set(EINVAL,
                    "%s: is one of %zu files of a snapshot, but its name is not NAME.K or "
                    "NAME.K.hdf5, by which the others are found",
                    file, files);
        return 0;
    }
    *part = calloc(files, sizeof **part);
    if (*part)
        return read_all_parts(file, stem, *suffix, read, p, *part) == 0 ? stem : 0;
    clerror_set(ENOMEM, "%s: out of memory for %zu files", file, files);
    return 0;
}

static void free_parts(struct particles *part, size_t files)
{
    for (size_t k = 0; part && k < files; k++)
        particles_free(&part[k]);
    free(part);
}

int particles_read_others(const char *file, particles_file_reader *read, struct particles *p)
{
    const char *suffix;
    const size_t files = p->files;
    struct particles *part, all = {.n = 0};
    int status = read_parts_beside(file, read, p, &suffix, &part) ? 0 : -1;
    if (status == 0)
        status = join_files(file, part, files, &all);
    if (status == 0)
        take_bodies(p, &all);
    free_parts(part, files);
    particles_free(&all);
    return status;
}

/* ---- A part of the bodies. ------------------------------------------------------------------- */

/* Append the bodies begin .. end - 1 of a file that are among the next ones of the part *p, which
 * ends at body `last`. *at: first of these bodies in the snapshot, and after the call the next. */
static int read_kind(const char *name, particles_rows_reader *read_rows, size_t begin, size_t end,
                     size_t last, size_t *at, struct particles *p)
{
    const size_t from = *at, n = end - begin, next = p->first + p->n;
    *at += n;
    if (next < from || next >= from + n || next >= last)
        return 0;
    const size_t most = from + n - next, left = last - next;
    return read_rows(name, begin + (next - from), most < left ? most : left, p);
}

int particles_read_others_part(const char *file, particles_file_reader *survey,
                               particles_rows_reader *read_rows, size_t part, size_t parts,
                               struct particles *p)
{
    const char *suffix;
    const size_t files = p->files;
    struct particles *each;
    const size_t stem = read_parts_beside(file, survey, p, &suffix, &each);
    int status = stem ? count_bodies(file, each, files, p, &p->all) : -1;
    const size_t n = status == 0 ? particles_begin_part(file, part, parts, p) : 0;
    status = n ? 0 : -1;
    size_t at = 0;
    for (int kind = 0; kind < 3; kind++)
        for (size_t k = 0; k < files && status == 0; k++) {
            char *name = numbered_name(file, stem, k, suffix);
            status = name ? read_kind(name, read_rows, kind_begin(&each[k], kind),
                                      kind_begin(&each[k], kind + 1), p->first + n, &at, p)
                          : clerror_set(ENOMEM, "%s: out of memory for a name", file);
            free(name);
        }
    free_parts(each, files);
    return status;
}
