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
    return kind == 0 ? 0 : kind == 1 ? p->gas : kind == 2 ? p->n - p->star : p->n;
}

static int join_files(const char *name, const struct particles *part, size_t files,
                      struct particles *all)
{
    size_t n = 0;
    all->also = part[0].also;
    for (size_t k = 0; k < files; k++) {
        n += part[k].n;
        all->gas += part[k].gas;
        all->star += part[k].star;
        all->also &= part[k].also;
    }
    if (part[0].total > 0 && (double)n != part[0].total)
        return clerror_set(EINVAL,
                           "%s: the %zu files of its snapshot have %zu bodies, but its header says "
                           "%.0f",
                           name, files, n, part[0].total);
    if (particles_reserve(all, n, name) < 0)
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

int particles_read_others(const char *file, particles_file_reader *read, struct particles *p)
{
    const char *suffix;
    const size_t stem = stem_of(file, &suffix), files = p->files;
    if (!stem)
        return clerror_set(EINVAL,
                           "%s: is one of %zu files of a snapshot, but its name is not NAME.K or "
                           "NAME.K.hdf5, by which the others are found",
                           file, files);
    struct particles *part = calloc(files, sizeof *part), all = {.n = 0};
    if (!part)
        return clerror_set(ENOMEM, "%s: out of memory for %zu files", file, files);
    int status = read_all_parts(file, stem, suffix, read, p, part);
    if (status == 0)
        status = join_files(file, part, files, &all);
    if (status == 0)
        take_bodies(p, &all);
    for (size_t k = 0; k < files; k++)
        particles_free(&part[k]);
    particles_free(&all);
    free(part);
    return status;
}
