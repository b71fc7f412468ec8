/* particles_hdf5.c - bodies as HDF5 files of GADGET-4, SWIFT and their like, by libhdf5 where it
 * was found.
 *
 *   /Header       attributes: NumPart_ThisFile[6], MassTable[6], Time, ...
 *   /PartType1    Coordinates and Velocities (N x 3), Masses, ParticleIDs; where they are known,
 *                 Potential and Softenings.
 *                 0 is gas, 4 stars, 1 all other bodies
 *   /Parameters   attributes: what the file remembers of its run, and its units; /Units and /Header
 *                 have the units too
 *
 * Readers expect different things, of which ours has all: yt the counts in two places,
 * NumFilesPerSnapshot, BoxSize and units in /Units; pynbody the units in /Parameters, and a file
 * with a HubbleParam it takes for cosmological. They are read here, and written in
 * particles_hdf5_write.c.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_hdf5.h"

#include "core/host_memory.h"
#include "stdcl.h"

#include <errno.h>
#include <string.h>

static bool snapshot_sniff(const char *start, size_t size)
{
    return size >= 8 && memcmp(start, "\211HDF\r\n\032\n", 8) == 0;
}

#ifndef STDCL_HAVE_HDF5

static int snapshot_read_hdf5(struct reader *s, struct particles *p)
{
    (void)p;
    return clerror_set(ENOTSUP, "%s: " HDF5_MISSING, s->name);
}

#else

#include <math.h>
#include <stdlib.h>

static const char *const type_names[READ_TYPES] = {HDF5_TYPE_NAMES, "PartType6"};

/* ---- Reading. -------------------------------------------------------------------------------- */

static hid_t open_set(const struct snapshot *s, int type, const char *name)
{
    char path[64];
    if (H5Lexists(s->source.file, type_names[type], s->source.links) <= 0)
        return H5I_INVALID_HID;
    snprintf(path, sizeof path, "%s/%s", type_names[type], name);
    return H5Lexists(s->source.file, path, s->source.links) > 0
               ? H5Dopen2(s->source.file, path, s->source.sets)
               : H5I_INVALID_HID;
}

/* Rows of a data set of `columns` numbers each, of which `wanted` are to be read; -1 after an
 * error: a size that the file cannot hold, or wanted rows that the memory cannot. */
static long long snapshot_count_rows(const struct snapshot *s, int type, const char *name,
                                     hid_t set, hsize_t columns, size_t wanted)
{
    char path[64];
    hsize_t size[2] = {0, 1};
    snprintf(path, sizeof path, "%s/%s", type_names[type], name);
    if (hdf5_check_set(&s->source, path, set) < 0)
        return -1;
    const hid_t space = H5Dget_space(set), kind = H5Dget_type(set);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    const H5T_class_t class = H5Tget_class(kind);
    if (dimensions == 1 || dimensions == 2)
        H5Sget_simple_extent_dims(space, size, NULL);
    H5Tclose(kind);
    H5Sclose(space);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        return clerror_set(EINVAL, "%s: %s/%s does not hold numbers", s->name, type_names[type],
                           name);
    if (dimensions < 1 || dimensions > 2 || size[1] != columns)
        return clerror_set(EINVAL, "%s: %s/%s has %d dimensions, %llu x %llu; it must be N x %llu",
                           s->name, type_names[type], name, dimensions, (unsigned long long)size[0],
                           (unsigned long long)size[1], (unsigned long long)columns);
    if (size[0] > INT32_MAX)
        return clerror_set(EINVAL, "%s: %s has %llu rows; at most 2^31 - 1 are read", s->name, path,
                           (unsigned long long)size[0]);
    if (hdf5_check_size(&s->source, path, set, (double)size[0] * (double)columns,
                        (double)wanted * (double)columns * sizeof(double)) < 0)
        return -1;
    return (long long)size[0];
}

/* The bodies of a type that are to be read: the rows of its data sets, and the place of the first
 * in the arrays of *s->p. */
struct snapshot_rows {
    size_t first, count, at;
};

static struct snapshot_rows rows_to_read(const struct snapshot *s, int type)
{
    const size_t own = s->first[type], end = own + s->n[type],
                 first = s->begin > own ? s->begin : own, last = s->end < end ? s->end : end;
    return first < last
               ? (struct snapshot_rows){first - own, last - first, s->p->n + first - s->begin}
               : (struct snapshot_rows){0};
}

static herr_t read_selection(hid_t set, hsize_t columns, hid_t kind, struct snapshot_rows rows,
                             void *to)
{
    const hsize_t start[2] = {rows.first, 0}, count[2] = {rows.count, columns},
                  numbers = rows.count * columns;
    const hid_t stored = H5Dget_space(set), memory = H5Screate_simple(1, &numbers, NULL);
    herr_t status = H5Sselect_hyperslab(stored, H5S_SELECT_SET, start, NULL, count, NULL);
    if (status >= 0)
        status = H5Dread(set, kind, memory, stored, H5P_DEFAULT, to);
    H5Sclose(memory);
    H5Sclose(stored);
    return status;
}

/* 1: the data set is missing. */
static int snapshot_read_set(const struct snapshot *s, int type, const char *name, hsize_t columns,
                             hid_t kind, void *to)
{
    const struct snapshot_rows wanted = rows_to_read(s, type);
    const hid_t set = open_set(s, type, name);
    if (set < 0)
        return 1;
    const long long rows = snapshot_count_rows(s, type, name, set, columns, wanted.count);
    int status = rows < 0 ? -1 : 0;
    if (rows >= 0 && (size_t)rows != s->n[type])
        status = clerror_set(EINVAL, "%s: %s/%s has %lld rows, but Coordinates %zu", s->name,
                             type_names[type], name, rows, s->n[type]);
    else if (rows > 0 && read_selection(set, columns, kind, wanted, to) < 0)
        status = clerror_set(EIO, "%s: %s/%s cannot be read; the file is damaged or cut short",
                             s->name, type_names[type], name);
    H5Dclose(set);
    return status;
}

/* Count the bodies of each type, and find the optional data sets that all types have. */
static int survey(struct snapshot *s)
{
    static const struct {
        const char *name;
        enum particles_also also;
    } sets[] = {{"Softenings", PARTICLES_SOFTENING},
                {"Potential", PARTICLES_POTENTIAL},
                {"ParticleIDs", PARTICLES_ID},
                {"Radii", PARTICLES_RADIUS}};
    struct particles *p = s->p;
    size_t n = 0;
    p->also = PARTICLES_SOFTENING | PARTICLES_POTENTIAL | PARTICLES_ID | PARTICLES_RADIUS;
    for (int type = 0; type < READ_TYPES; type++) {
        const hid_t set = open_set(s, type, "Coordinates");
        const long long rows = set < 0 ? 0 : snapshot_count_rows(s, type, "Coordinates", set, 3, 0);
        if (set >= 0)
            H5Dclose(set);
        if (rows < 0)
            return -1;
        s->n[type] = (size_t)rows;
        s->first[type] = n;
        n += s->n[type];
        for (int k = 0; rows && k < 4; k++) {
            const hid_t other = open_set(s, type, sets[k].name);
            if (other < 0)
                p->also &= ~(int)sets[k].also;
            else
                H5Dclose(other);
        }
    }
    s->end = n;
    return n > 0 || (p->files > 1 && p->total > 0) /* a file of a snapshot may have no bodies */
               ? 0
               : clerror_set(EINVAL,
                             "%s: has no bodies: no group PartType0 .. PartType6 with Coordinates",
                             s->name);
}

static int read_masses(const struct snapshot *s, int type)
{
    const struct snapshot_rows rows = rows_to_read(s, type);
    double *mass = s->p->mass + rows.at;
    int status = snapshot_read_set(s, type, "Masses", 1, H5T_NATIVE_DOUBLE, mass);
    if (status == 1) /* SWIFT's black holes */
        status = snapshot_read_set(s, type, "DynamicalMasses", 1, H5T_NATIVE_DOUBLE, mass);
    if (status == 1 && s->mass[type] > 0) {
        for (size_t i = 0; i < rows.count; i++)
            mass[i] = s->mass[type];
        status = 0;
    }
    return status == 1
               ? clerror_set(
                     EINVAL,
                     "%s: %s has no Masses, no DynamicalMasses, and Header/MassTable none for it",
                     s->name, type_names[type])
               : status;
}

/* From the data set, else the softening of the type. */
static int read_softenings(const struct snapshot *s, int type)
{
    if (!s->p->softening)
        return 0;
    const struct snapshot_rows rows = rows_to_read(s, type);
    double *softening = s->p->softening + rows.at;
    if (!*s->softening_name)
        return snapshot_read_set(s, type, "Softenings", 1, H5T_NATIVE_DOUBLE, softening);
    for (size_t i = 0; i < rows.count; i++)
        softening[i] = s->softening[type];
    return 0;
}

static int snapshot_read_type(const struct snapshot *s, int type)
{
    struct particles *p = s->p;
    const struct snapshot_rows rows = rows_to_read(s, type);
    const size_t first = rows.at;
    if (rows.count == 0)
        return 0;
    if (snapshot_read_set(s, type, "Coordinates", 3, H5T_NATIVE_DOUBLE, p->pos + first) != 0 ||
        read_masses(s, type) != 0)
        return -1;
    const int moving =
        snapshot_read_set(s, type, "Velocities", 3, H5T_NATIVE_DOUBLE, p->vel + first);
    if (moving == 1)
        return clerror_set(EINVAL, "%s: %s has no Velocities", s->name, type_names[type]);
    if (moving < 0 || read_softenings(s, type) != 0 ||
        (p->potential && snapshot_read_set(s, type, "Potential", 1, H5T_NATIVE_DOUBLE,
                                           p->potential + first) != 0) ||
        (p->radius &&
         snapshot_read_set(s, type, "Radii", 1, H5T_NATIVE_DOUBLE, p->radius + first) != 0) ||
        (p->id &&
         snapshot_read_set(s, type, "ParticleIDs", 1, H5T_NATIVE_UINT64, p->id + first) != 0))
        return -1;
    for (size_t i = first; i < first + rows.count; i++)
        if (particles_check_body(s->name, p, i, type_names[type]) < 0)
            return -1;
    return 0;
}

/* Without softenings per body, take the softenings of the types: one number if they are equal. */
static int take_type_softenings(struct snapshot *s)
{
    struct particles *p = s->p;
    const bool known = (s->end > 0 && p->also & PARTICLES_SOFTENING) || p->note[NOTE_softening];
    if (known || !snapshot_find_softenings(s)) {
        *s->softening_name = 0;
        return 0;
    }
    double one = 0;
    for (int type = 0; type < READ_TYPES; type++)
        one = snapshot_has_type(s, type) ? s->softening[type] : one;
    if (!s->one_softening) {
        p->also |= PARTICLES_SOFTENING;
        return particles_tell(p, "softenings by type from %s", s->softening_name);
    }
    return particles_set_number(p, NOTE_softening, one) < 0
               ? -1
               : particles_tell(p, "softening %g from %s", one, s->softening_name);
}

/* Stars come last, so that they can be told apart. */
static int snapshot_survey(struct snapshot *s)
{
    struct particles *p = s->p;
    if (snapshot_read_header(s) < 0 || survey(s) < 0 || take_type_softenings(s) < 0)
        return -1;
    p->gas = s->n[GAS];
    p->star = snapshot_has_type(s, 5) || snapshot_has_type(s, 6) ? 0 : s->n[STAR];
    return 0;
}

/* Append the bodies s->begin .. s->end - 1. */
static int snapshot_read_bodies(struct snapshot *s)
{
    for (int type = 0; type < READ_TYPES; type++)
        if (snapshot_read_type(s, type) != 0)
            return -1;
    s->p->n += s->end - s->begin;
    return 0;
}

/* Read the remainder of a source; the caller frees it. */
static char *snapshot_slurp(struct reader *s, size_t *size)
{
    char *all = NULL;
    for (*size = 0; reader_need(s, 1) == 0;) {
        const size_t ready = reader_ready(s);
        char *grown = (double)ready <= host_memory_left() ? realloc(all, *size + ready + 1) : NULL;
        if (!grown)
            clerror_set(ENOMEM, "%s: out of memory for all of it", s->name);
        if (!grown)
            break;
        all = grown;
        if (!ready)
            return all;
        memcpy(all + *size, s->begin, ready);
        s->begin += ready;
        *size += ready;
    }
    free(all);
    return NULL;
}

/* What the thread with the time limit reads. */
struct snapshot_request {
    enum { SNAPSHOT_ALL, SNAPSHOT_SURVEY, SNAPSHOT_ROWS } what;
    size_t first, count; /* of SNAPSHOT_ROWS */
    const char *image;   /* NULL: the file `name` */
    char *slurped;       /* the image, if it is owned */
    size_t size;
    struct particles p;
    char name[];
};

static int snapshot_do(struct snapshot *s, const struct snapshot_request *r)
{
    struct particles *p = s->p, metadata = {.n = 0};
    if (r->what == SNAPSHOT_ROWS)
        s->p = &metadata; /* *p has them already; *s keeps the counts, masses and softenings */
    const int status = snapshot_survey(s);
    particles_free(&metadata);
    s->p = p;
    if (status < 0)
        return -1;
    if (r->what == SNAPSHOT_SURVEY) {
        p->all = s->end;
        return 0;
    }
    if (r->what == SNAPSHOT_ALL && particles_reserve(p, s->end, s->name) < 0)
        return -1;
    if (r->what == SNAPSHOT_ROWS) {
        s->begin = r->first < s->end ? r->first : s->end;
        s->end = r->count < s->end - s->begin ? s->begin + r->count : s->end;
    }
    return snapshot_read_bodies(s);
}

static int read_snapshot(struct watchdog *w, void *arg)
{
    struct snapshot_request *r = arg;
    struct snapshot s = {.name = r->name, .p = &r->p};
    clerror_set(EINVAL, "%s: is HDF5, but damaged or cut short", r->name);
    const bool opened = hdf5_source_open(&s.source, w, r->name, r->image, r->size);
    const int status = hdf5_source_close(&s.source, opened ? snapshot_do(&s, r) : -1);
    free(r->slurped);
    return status;
}

static struct snapshot_request *make_request(const struct reader *source,
                                             const struct snapshot_request *request)
{
    struct snapshot_request *r = malloc(sizeof *r + strlen(source->name) + 1);
    if (!r) {
        clerror_set(ENOMEM, "%s: out of memory", source->name);
        return NULL;
    }
    *r = *request;
    strcpy(r->name, source->name);
    return r;
}

/* Carry out the request, and free it. */
static int run_request(struct snapshot_request *r, struct particles *p)
{
    memset(p, 0, sizeof *p); /* the request has its arrays */
    const int status = hdf5_run(r->name, read_snapshot, r);
    if (status > 0) /* the thread uses the request */
        return -1;
    *p = r->p; /* after a failure the caller frees it */
    free(r);
    return status;
}

static int snapshot_survey_hdf5(struct reader *source, struct particles *p)
{
    struct snapshot_request *r =
        make_request(source, &(struct snapshot_request){.what = SNAPSHOT_SURVEY});
    return r ? run_request(r, p) : -1;
}

static int snapshot_read_rows(struct reader *source, size_t first, size_t count,
                              struct particles *p)
{
    struct snapshot_request *r = make_request(
        source,
        &(struct snapshot_request){.what = SNAPSHOT_ROWS, .first = first, .count = count, .p = *p});
    return r ? run_request(r, p) : -1;
}

/* Read a file by name; a pipe or memory as an image. */
static int snapshot_read_hdf5(struct reader *source, struct particles *p)
{
    struct snapshot_request *r = make_request(source, &(struct snapshot_request){.size = 0});
    if (!r)
        return -1;
    if (source->fd < 0) {
        r->image = source->begin;
        r->size = reader_ready(source);
    } else if (source->size < 0 || strcmp(source->name, "standard input") == 0) {
        r->image = r->slurped = snapshot_slurp(source, &r->size);
        if (!r->image) {
            free(r);
            return -1;
        }
    }
    return run_request(r, p);
}

#endif

const struct particles_format particles_hdf5 = {
    .label = {.name = "hdf5", .title = "HDF5 of GADGET", .suffixes = ".hdf5 .h5"},
    .sniff = snapshot_sniff,
    .read = snapshot_read_hdf5,
#ifdef STDCL_HAVE_HDF5
    .survey = snapshot_survey_hdf5,
    .read_rows = snapshot_read_rows,
#endif
    .write = particles_hdf5_write,
    .can_write = particles_hdf5_can_write,
    .bytes = 64,
    .more = 8,
};
