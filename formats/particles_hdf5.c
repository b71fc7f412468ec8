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

#include "formats/hdf5_source.h"

#include <math.h>
#include <stdlib.h>

static const char *const type_names[TYPES] = {HDF5_TYPE_NAMES};

/* ---- Attributes, read. ----------------------------------------------------------------------- */

static hid_t open_attribute(const struct hdf5_source *s, const char *group, const char *name)
{
    if (H5Lexists(s->file, group, s->links) <= 0 ||
        H5Aexists_by_name(s->file, group, name, s->links) <= 0)
        return H5I_INVALID_HID;
    return H5Aopen_by_name(s->file, group, name, H5P_DEFAULT, s->links);
}

/* Read up to `most` numbers of an attribute; return their number, 0 if it is missing. */
static size_t get_numbers(const struct hdf5_source *s, const char *group, const char *name,
                          double *x, size_t most)
{
    enum { ROOM = 16 };
    double all[ROOM];
    const hid_t attribute = open_attribute(s, group, name);
    if (attribute < 0)
        return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const H5T_class_t class = H5Tget_class(type);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    size_t n = points > 0 && points <= ROOM ? (size_t)points : 0;
    if ((class != H5T_FLOAT && class != H5T_INTEGER) ||
        (n && H5Aread(attribute, H5T_NATIVE_DOUBLE, all) < 0))
        n = 0;
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    n = n < most ? n : most;
    memcpy(x, all, n * sizeof *x);
    return n;
}

static bool snapshot_get_number(const struct hdf5_source *s, const char *group, const char *name,
                                double *x)
{
    return get_numbers(s, group, name, x, 1) == 1;
}

/* Read a text of fixed or variable length; the caller frees it; NULL if missing. */
static char *get_text(const struct hdf5_source *s, const char *group, const char *name)
{
    char *text = NULL, *wandering = NULL;
    const hid_t attribute = open_attribute(s, group, name);
    if (attribute < 0)
        return NULL;
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const bool one = H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
    const hid_t memory = H5Tcopy(H5T_C_S1);
    const size_t size = H5Tget_size(type);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (one && H5Tis_variable_str(type) > 0) {
        H5Tset_size(memory, H5T_VARIABLE);
        if (H5Aread(attribute, memory, &wandering) >= 0 && wandering)
            text = strdup(wandering);
        H5free_memory(wandering);
    } else if (one && size < 65536 && (text = calloc(size + 1, 1))) {
        H5Tset_size(memory, size + 1);
        if (H5Aread(attribute, memory, text) < 0)
            *text = 0;
    }
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return text;
}

/* ---- Reading. -------------------------------------------------------------------------------- */

struct snapshot {
    struct hdf5_source source;
    const char *name;
    struct particles *p;
    double mass[TYPES];
    size_t n[TYPES], first[TYPES];
};

/* Read metadata: numbers or texts of /Parameters. */
static int read_notes(const struct snapshot *s)
{
    static const char *const places[] = {"Parameters", "Units", "Header"};
    double value;
    int status = 0;
    for (enum particles_note k = 0; k < PARTICLES_NOTE_COUNT && status == 0; k++)
        for (int at = 0; at < 3 && status == 0 && !s->p->note[k]; at++) {
            char *text = NULL;
            if (at > 0 && (k < NOTE_UnitLength_in_cm || k > NOTE_UnitVelocity_in_cm_per_s))
                continue;
            if (particles_note_kind(k) == PARTICLES_REAL &&
                snapshot_get_number(&s->source, places[at], particles_note_name(k), &value))
                status = particles_set_number(s->p, k, value);
            else if (particles_note_kind(k) != PARTICLES_REAL &&
                     (text = get_text(&s->source, places[at], particles_note_name(k))))
                status = particles_read_note(s->p, k, text, strlen(text));
            free(text);
        }
    return status;
}

/* SWIFT gives the time unit where others give the velocity unit. */
static int read_swift_units(const struct snapshot *s)
{
    double length, mass, time;
    if (s->p->note[NOTE_UnitLength_in_cm] ||
        !snapshot_get_number(&s->source, "Units", "Unit length in cgs (U_L)", &length) ||
        !snapshot_get_number(&s->source, "Units", "Unit mass in cgs (U_M)", &mass) ||
        !snapshot_get_number(&s->source, "Units", "Unit time in cgs (U_t)", &time))
        return 0;
    return particles_set_number(s->p, NOTE_UnitLength_in_cm, length) < 0 ||
                   particles_set_number(s->p, NOTE_UnitMass_in_g, mass) < 0 ||
                   particles_set_number(s->p, NOTE_UnitVelocity_in_cm_per_s, length / time) < 0
               ? -1
               : 0;
}

/* Derive G from the units. */
static int settle_units(const struct snapshot *s)
{
    struct particles *p = s->p;
    const double length = particles_number(p, NOTE_UnitLength_in_cm),
                 mass = particles_number(p, NOTE_UnitMass_in_g);
    const double speed = particles_number(p, NOTE_UnitVelocity_in_cm_per_s);
    if (p->note[NOTE_G])
        return 0;
    if (length > 0 && mass > 0 && speed > 0)
        return particles_set_number(p, NOTE_G, HDF5_G_CGS * mass / (length * speed * speed));
    return particles_miss(
        p,
        "no UnitLength_in_cm, UnitMass_in_g and UnitVelocity_in_cm_per_s in Parameters, Units or Header "
        "(G = 1 is taken)");
}

static int snapshot_read_header(struct snapshot *s)
{
    double value, n[TYPES];
    if (H5Lexists(s->source.file, "Header", s->source.links) <= 0)
        return clerror_set(EINVAL, "%s: is HDF5, but no snapshot: it has no group Header", s->name);
    if (snapshot_get_number(&s->source, "Header", "NumFilesPerSnapshot", &value) && value > 1)
        return clerror_set(EINVAL,
                           "%s: is one of %.0f files of a snapshot; only whole snapshots are read",
                           s->name, value);
    if ((snapshot_get_number(&s->source, "Header", "Omega0", &value) ||
         snapshot_get_number(&s->source, "Parameters", "Omega0", &value)) &&
        value > 0)
        return clerror_set(
            EINVAL,
            "%s: is of a cosmological run (Omega0 is %g): its coordinates expand, which is not "
            "simulated here",
            s->name, value);
    if (!snapshot_get_number(&s->source, "Header", "Time", &s->p->time) &&
        particles_miss(s->p, "no Header/Time (0 is taken)") < 0)
        return -1;
    if (!isfinite(s->p->time))
        return clerror_set(EINVAL, "%s: Header/Time is %g", s->name, s->p->time);
    if (!get_numbers(&s->source, "Header", "MassTable", s->mass, TYPES) &&
        particles_miss(s->p, "no Header/MassTable") < 0)
        return -1;
    if (get_numbers(&s->source, "Header", "NumPart_ThisFile", n, TYPES) < 2 &&
        particles_miss(s->p, "no Header/NumPart_ThisFile (the groups' own sizes are taken)") < 0)
        return -1;
    return read_notes(s) < 0 || read_swift_units(s) < 0 ? -1 : settle_units(s);
}

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

/* Rows of a data set of `columns` numbers each; -1 after an error. The claimed size is refused if
 * the file or the memory cannot hold it. */
static long long snapshot_count_rows(const struct snapshot *s, int type, const char *name,
                                     hid_t set, hsize_t columns)
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
    if (hdf5_check_size(&s->source, path, set, (double)size[0] * (double)columns, sizeof(double)) <
        0)
        return -1;
    return (long long)size[0];
}

/* 1: the data set is missing. */
static int snapshot_read_set(const struct snapshot *s, int type, const char *name, hsize_t columns,
                             hid_t kind, void *to)
{
    const hid_t set = open_set(s, type, name);
    if (set < 0)
        return 1;
    const long long rows = snapshot_count_rows(s, type, name, set, columns);
    int status = rows < 0 ? -1 : 0;
    if (rows >= 0 && (size_t)rows != s->n[type])
        status = clerror_set(EINVAL, "%s: %s/%s has %lld rows, but Coordinates %zu", s->name,
                             type_names[type], name, rows, s->n[type]);
    else if (rows > 0 && H5Dread(set, kind, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
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
    p->also = PARTICLES_SOFTENING | PARTICLES_POTENTIAL | PARTICLES_ID | PARTICLES_RADIUS;
    for (int type = 0; type < TYPES; type++) {
        const hid_t set = open_set(s, type, "Coordinates");
        const long long rows = set < 0 ? 0 : snapshot_count_rows(s, type, "Coordinates", set, 3);
        if (set >= 0)
            H5Dclose(set);
        if (rows < 0)
            return -1;
        s->n[type] = (size_t)rows;
        s->first[type] = p->n;
        p->n += s->n[type];
        for (int k = 0; rows && k < 4; k++) {
            const hid_t other = open_set(s, type, sets[k].name);
            if (other < 0)
                p->also &= ~(int)sets[k].also;
            else
                H5Dclose(other);
        }
    }
    if (p->n == 0)
        return clerror_set(
            EINVAL, "%s: has no bodies: no group PartType0 .. PartType5 with Coordinates", s->name);
    return 0;
}

static int read_masses(const struct snapshot *s, int type)
{
    double *mass = s->p->mass + s->first[type];
    int status = snapshot_read_set(s, type, "Masses", 1, H5T_NATIVE_DOUBLE, mass);
    if (status == 1 && s->mass[type] > 0) {
        for (size_t i = 0; i < s->n[type]; i++)
            mass[i] = s->mass[type];
        status = 0;
    }
    return status == 1
               ? clerror_set(EINVAL, "%s: %s has no Masses, and Header/MassTable none for it",
                             s->name, type_names[type])
               : status;
}

static int snapshot_read_type(const struct snapshot *s, int type)
{
    struct particles *p = s->p;
    const size_t first = s->first[type];
    if (s->n[type] == 0)
        return 0;
    if (snapshot_read_set(s, type, "Coordinates", 3, H5T_NATIVE_DOUBLE, p->pos + first) != 0 ||
        read_masses(s, type) != 0)
        return -1;
    const int moving =
        snapshot_read_set(s, type, "Velocities", 3, H5T_NATIVE_DOUBLE, p->vel + first);
    if (moving == 1)
        return clerror_set(EINVAL, "%s: %s has no Velocities", s->name, type_names[type]);
    if (moving < 0 ||
        (p->softening && snapshot_read_set(s, type, "Softenings", 1, H5T_NATIVE_DOUBLE,
                                           p->softening + first) != 0) ||
        (p->potential && snapshot_read_set(s, type, "Potential", 1, H5T_NATIVE_DOUBLE,
                                           p->potential + first) != 0) ||
        (p->radius &&
         snapshot_read_set(s, type, "Radii", 1, H5T_NATIVE_DOUBLE, p->radius + first) != 0) ||
        (p->id &&
         snapshot_read_set(s, type, "ParticleIDs", 1, H5T_NATIVE_UINT64, p->id + first) != 0))
        return -1;
    for (size_t i = first; i < first + s->n[type]; i++)
        if (particles_check_body(s->name, p, i, type_names[type]) < 0)
            return -1;
    return 0;
}

/* Stars come last, so that they can be told apart. */
static int snapshot_read_bodies(struct snapshot *s)
{
    struct particles *p = s->p;
    if (snapshot_read_header(s) < 0 || survey(s) < 0)
        return -1;
    const size_t n = p->n;
    p->n = 0;
    if (particles_reserve(p, n, s->name) < 0)
        return -1;
    p->n = n;
    for (int type = 0; type < TYPES; type++)
        if (snapshot_read_type(s, type) != 0)
            return -1;
    p->gas = s->n[GAS];
    p->star = s->n[LAST] ? 0 : s->n[STAR];
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
    const char *image; /* NULL: the file `name` */
    char *slurped;     /* the image, if it is owned */
    size_t size;
    struct particles p;
    char name[];
};

static int read_snapshot(struct watchdog *w, void *arg)
{
    struct snapshot_request *r = arg;
    struct snapshot s = {.name = r->name, .p = &r->p};
    clerror_set(EINVAL, "%s: is HDF5, but damaged or cut short", r->name);
    const bool opened = hdf5_source_open(&s.source, w, r->name, r->image, r->size);
    const int status = hdf5_source_close(&s.source, opened ? snapshot_read_bodies(&s) : -1);
    free(r->slurped);
    return status;
}

/* Read a file by name; a pipe or memory as an image. */
static int snapshot_read_hdf5(struct reader *source, struct particles *p)
{
    struct snapshot_request *r = calloc(1, sizeof *r + strlen(source->name) + 1);
    if (!r)
        return clerror_set(ENOMEM, "%s: out of memory", source->name);
    strcpy(r->name, source->name);
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
    const int status = hdf5_run(r->name, read_snapshot, r);
    if (status > 0) /* the thread uses the request */
        return -1;
    *p = r->p; /* after a failure the caller frees it */
    free(r);
    return status;
}

#endif

const struct particles_format particles_hdf5 = {
    .label = {.name = "hdf5", .title = "HDF5 of GADGET", .suffixes = ".hdf5 .h5"},
    .sniff = snapshot_sniff,
    .read = snapshot_read_hdf5,
    .write = particles_hdf5_write,
    .bytes = 64,
    .more = 8,
};
