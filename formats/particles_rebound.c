/* particles_rebound.c - bodies from a Simulationarchive of REBOUND 4 or 5; only read.
 *
 *   "REBOUND Binary File. Version: 4.6.0"    64 bytes
 *   fields until `end`    REBOUND 4: 32-bit number, 4 bytes of padding, 64-bit size, data
 *                         REBOUND 5: 64-bit sizes of name and data, name, data
 *   blob                  int32_t index, bytes of the previous and of the next snapshot, 0: none
 *   fields and blob of the next snapshot, ...
 *
 * The last snapshot is read. A snapshot has the fields that differ from the first one. Bodies are
 * records of doubles x y z vx vy vz ax ay az m r, and more. Numbers are little-endian. Source:
 * docs/binaryformat.md of REBOUND, and its structs; H. Rein, D. Tamayo, MNRAS 467, 2377 (2017).
 * SPDX-License-Identifier: MIT
 */
#include "core/host_memory.h"
#include "formats/particles_format.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 64, BLOB_BYTES = 12, NAME_MOST = 256 };
static const char start_of_archive[] = "REBOUND Binary File. Version: ";

/* Fields that are used. */
enum archive_field {
    TIME,
    CONSTANT,
    SOFTENING,
    VARIATIONS,
    ACTIVE,
    TEST_TYPE,
    BOX,
    BOUNDARY,
    SCALARS,
    ROWS = SCALARS,
    NAMES,
    END,
    OTHER
};
static const struct {
    const char *name; /* REBOUND 5 */
    uint32_t number;  /* REBOUND 4 */
} archive_fields[OTHER] = {{"t", 0},          {"G", 1},
                           {"softening", 2},  {"N_var", 5},
                           {"N_active", 7},   {"testparticle_type", 8},
                           {"boxsize", 22},   {"boundary", 52},
                           {"particles", 85}, {"name_list", UINT32_MAX},
                           {"end", 9999}};

/* Layout of a record of bodies. */
enum { OFFSET_MASS = 72, OFFSET_RADIUS = 80, OFFSET_NAME = 88 };

struct bytes {
    char *at;
    size_t size;
};

struct archive_snapshot {
    char scalar[SCALARS][8];
    size_t scalar_size[SCALARS]; /* 0: no such field */
    struct bytes rows, names;    /* names: each ended by 0, then the pointer that records have */
    bool has_rows, has_names;
};

struct archive {
    struct reader *s;
    struct particles *p;
    long version;
    size_t snapshots; /* read so far */
    struct archive_snapshot first, last;
};

/* ---- Bytes. ---------------------------------------------------------------------------------- */

static uint64_t archive_number(const char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(uint8_t)at[i] << 8 * i;
    return value;
}

static double archive_real(const char *at)
{
    const uint64_t bits = archive_number(at, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int archive_cut_short(const struct archive *a)
{
    return clerror_set(EINVAL, "%s: is cut short in snapshot %zu", a->s->name, a->snapshots);
}

/* Copy `size` bytes to `to`, or skip them if it is NULL. */
static int archive_take(struct archive *a, char *to, uint64_t size)
{
    while (size > 0) {
        if (reader_need(a->s, 1) < 0)
            return -1;
        const size_t ready = reader_ready(a->s), some = size < ready ? (size_t)size : ready;
        if (some == 0)
            return archive_cut_short(a);
        if (to) {
            memcpy(to, a->s->begin, some);
            to += some;
        }
        a->s->begin += some;
        size -= some;
    }
    return 0;
}

/* Take the data of a field into memory that grows with the content: a size may be a lie. */
static int archive_take_bytes(struct archive *a, struct bytes *b, uint64_t size)
{
    b->size = 0;
    while (b->size < size) {
        const uint64_t left = size - b->size, some = left < 1 << 20 ? left : 1 << 20;
        char *grown =
            (double)some <= host_memory_left() ? realloc(b->at, b->size + (size_t)some) : NULL;
        if (!grown)
            return clerror_set(ENOMEM, "%s: out of memory for a snapshot of %llu bytes", a->s->name,
                               (unsigned long long)size);
        b->at = grown;
        if (archive_take(a, b->at + b->size, some) < 0)
            return -1;
        b->size += (size_t)some;
    }
    return 0;
}

/* ---- Fields. --------------------------------------------------------------------------------- */

static int read_archive_header(struct archive *a)
{
    char header[HEADER_BYTES + 1] = "";
    if (archive_take(a, header, HEADER_BYTES) < 0)
        return -1;
    a->version = strtol(header + sizeof start_of_archive - 1, NULL, 10);
    return a->version == 4 || a->version == 5
               ? 0
               : clerror_set(EINVAL,
                             "%s: is of version %ld of REBOUND; archives of versions 4 and 5 are "
                             "read: load and save it with one of these",
                             a->s->name, a->version);
}

/* Read the head of a field: which it is, and the size of its data. */
static int read_field_head(struct archive *a, enum archive_field *field, uint64_t *size)
{
    char head[16], name[NAME_MOST + 1] = "";
    int k = 0;
    if (archive_take(a, head, sizeof head) < 0)
        return -1;
    const uint64_t length = archive_number(head, a->version == 4 ? 4 : 8);
    *size = archive_number(head + 8, 8);
    if (a->version > 4 && (length == 0 || length > NAME_MOST))
        return clerror_set(EINVAL, "%s: is damaged: a name in snapshot %zu has %llu bytes",
                           a->s->name, a->snapshots, (unsigned long long)length);
    if (a->version > 4 && archive_take(a, name, length) < 0)
        return -1;
    while (k < OTHER && (a->version > 4 ? strcmp(archive_fields[k].name, name) != 0
                                        : archive_fields[k].number != length))
        k++;
    *field = (enum archive_field)k;
    return 0;
}

/* A scalar, or the first number of a vector. */
static int read_scalar(struct archive *a, enum archive_field field, uint64_t size)
{
    struct archive_snapshot *s = &a->last;
    const size_t kept = size < 8 ? (size_t)size : 8;
    s->scalar_size[field] = kept;
    return archive_take(a, s->scalar[field], kept) < 0 ? -1 : archive_take(a, NULL, size - kept);
}

static int read_field(struct archive *a, enum archive_field field, uint64_t size)
{
    if (field < SCALARS)
        return read_scalar(a, field, size);
    if (field == ROWS) {
        a->last.has_rows = true;
        return archive_take_bytes(a, &a->last.rows, size);
    }
    if (field == NAMES) {
        a->last.has_names = true;
        return archive_take_bytes(a, &a->last.names, size);
    }
    return archive_take(a, NULL, size);
}

/* Read one snapshot and the blob after it; *more: another one follows. */
static int read_archive_snapshot(struct archive *a, bool *more)
{
    enum archive_field field = OTHER;
    uint64_t size;
    char blob[BLOB_BYTES];
    memset(a->last.scalar_size, 0, sizeof a->last.scalar_size);
    a->last.has_rows = a->last.has_names = false;
    while (field != END)
        if (read_field_head(a, &field, &size) < 0 || read_field(a, field, size) < 0)
            return -1;
    if (archive_take(a, blob, sizeof blob) < 0)
        return -1;
    *more = archive_number(blob + 8, 4) != 0;
    if (a->snapshots++ == 0) {
        a->first = a->last;
        a->last = (struct archive_snapshot){.has_rows = false};
    }
    return 0;
}

/* ---- Bodies. --------------------------------------------------------------------------------- */

/* The scalar of the last snapshot, or, if it has none, of the first. */
static const char *scalar_at(const struct archive *a, enum archive_field field, size_t *size)
{
    const struct archive_snapshot *s = a->last.scalar_size[field] ? &a->last : &a->first;
    *size = s->scalar_size[field];
    return s->scalar[field];
}

static double scalar_real(const struct archive *a, enum archive_field field, double otherwise)
{
    size_t size;
    const char *at = scalar_at(a, field, &size);
    return size == 8 ? archive_real(at) : otherwise;
}

static int64_t scalar_whole(const struct archive *a, enum archive_field field, int64_t otherwise)
{
    size_t size;
    const char *at = scalar_at(a, field, &size);
    return size == 4   ? (int32_t)archive_number(at, 4)
           : size == 8 ? (int64_t)archive_number(at, 8)
                       : otherwise;
}

static size_t archive_row_bytes(const struct archive *a)
{
    return a->version == 4 ? 128 : 112;
}

static const struct bytes *archive_rows(const struct archive *a)
{
    return a->last.has_rows ? &a->last.rows : &a->first.rows;
}

static int count_archive_bodies(const struct archive *a, size_t *n)
{
    const struct bytes *rows = archive_rows(a);
    const size_t all = rows->size / archive_row_bytes(a);
    const int64_t more = a->version == 4 ? scalar_whole(a, VARIATIONS, 0) : 0;
    if (rows->size % archive_row_bytes(a) != 0 || more < 0 || (uint64_t)more > all)
        return clerror_set(EINVAL, "%s: is damaged: %zu bytes are no bodies of REBOUND %ld",
                           a->s->name, rows->size, a->version);
    *n = all - (size_t)more; /* variational particles come last */
    return *n > 0 ? 0 : clerror_set(EINVAL, "%s: its last snapshot has no bodies", a->s->name);
}

static int put_archive_bodies(const struct archive *a, size_t n)
{
    struct particles *p = a->p;
    p->also = PARTICLES_RADIUS;
    if (particles_reserve(p, n, a->s->name) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *row = archive_rows(a)->at + i * archive_row_bytes(a);
        for (size_t k = 0; k < 3; k++) {
            p->pos[i][k] = archive_real(row + 8 * k);
            p->vel[i][k] = archive_real(row + 24 + 8 * k);
        }
        p->mass[i] = archive_real(row + OFFSET_MASS);
        p->radius[i] = archive_real(row + OFFSET_RADIUS);
        p->n++;
        if (particles_check_body(a->s->name, p, i, NULL) < 0)
            return -1;
    }
    return 0;
}

/* Bodies from N_active on are test particles, which exert no forces, or, of type 1, none on each
 * other. */
static int put_test_particles(const struct archive *a)
{
    struct particles *p = a->p;
    const int64_t active = scalar_whole(a, ACTIVE, -1);
    double mass = 0;
    for (size_t i = active < 0 || (uint64_t)active > p->n ? p->n : (size_t)active; i < p->n; i++) {
        mass += p->mass[i];
        if (scalar_whole(a, TEST_TYPE, 0) == 0)
            p->mass[i] = 0;
    }
    return mass > 0 && scalar_whole(a, TEST_TYPE, 0) != 0
               ? particles_miss(p, "test particles of type 1, which here attract each other, too")
               : 0;
}

/* Name with this pointer, in the list of a snapshot; NULL: there is none. */
static const char *find_archive_name(const struct bytes *list, uint64_t pointer)
{
    for (size_t at = 0; at < list->size;) {
        const char *name = list->at + at, *zero = memchr(name, 0, list->size - at);
        const size_t next = zero ? (size_t)(zero - list->at) + 9 : SIZE_MAX;
        if (next > list->size)
            return NULL;
        if (archive_number(zero + 1, 8) == pointer)
            return name;
        at = next;
    }
    return NULL;
}

static const char *archive_name_of(const struct archive *a, size_t i)
{
    const char *row = archive_rows(a)->at + i * archive_row_bytes(a);
    const uint64_t pointer = a->version > 4 ? archive_number(row + OFFSET_NAME, 8) : 0;
    const char *name = pointer ? find_archive_name(&a->last.names, pointer) : NULL;
    return name || !pointer ? name : find_archive_name(&a->first.names, pointer);
}

/* REBOUND 4 has hashes in place of names. Blanks in a name become underlines. */
static int put_archive_names(const struct archive *a)
{
    char *all = NULL;
    size_t size = 0;
    bool any = false;
    FILE *fp = open_memstream(&all, &size);
    for (size_t i = 0; fp && i < a->p->n && ftell(fp) <= PARTICLES_NAMES_MOST; i++) {
        const char *name = archive_name_of(a, i);
        any |= name && *name;
        fputs(i ? " " : "", fp);
        for (const char *c = name && *name ? name : "-"; *c; c++)
            putc(*c == ' ' || *c == '\t' ? '_' : *c, fp);
    }
    if (!fp || fclose(fp) != 0)
        return clerror_set(ENOMEM, "%s: out of memory for names", a->s->name);
    const int status = !any ? 0
                       : size > PARTICLES_NAMES_MOST
                           ? particles_miss(a->p, "names of more than %d bytes (none is kept)",
                                            PARTICLES_NAMES_MOST)
                           : particles_set_note(a->p, NOTE_names, all);
    free(all);
    return status;
}

static int put_archive(const struct archive *a)
{
    struct particles *p = a->p;
    const double G = scalar_real(a, CONSTANT, 1), eps = scalar_real(a, SOFTENING, 0),
                 box = scalar_real(a, BOX, 0);
    size_t n;
    p->time = scalar_real(a, TIME, 0);
    if (!isfinite(p->time) || !isfinite(G) || !(eps >= 0 && isfinite(eps)))
        return clerror_set(EINVAL, "%s: its time is %g, its G %g and its softening %g", a->s->name,
                           p->time, G, eps);
    const struct particles_space space = {.comoving = NAN,
                                          .omega = NAN,
                                          .redshift = NAN,
                                          .periodic = scalar_whole(a, BOUNDARY, 0) > 1,
                                          .periodic_name = "boundary",
                                          .box = {box, box, box}};
    if (count_archive_bodies(a, &n) < 0 || put_archive_bodies(a, n) < 0 ||
        put_test_particles(a) < 0 || put_archive_names(a) < 0)
        return -1;
    if (particles_set_number(p, NOTE_G, G) < 0 || particles_set_number(p, NOTE_softening, eps) < 0)
        return -1;
    return particles_tell(p, "the last of %zu snapshots, G %g, softening %g", a->snapshots, G,
                          eps) < 0
               ? -1
               : particles_set_space(p, &space);
}

static bool sniff_archive(const char *start, size_t size)
{
    return size >= sizeof start_of_archive - 1 &&
           memcmp(start, start_of_archive, sizeof start_of_archive - 1) == 0;
}

static int read_archive(struct reader *s, struct particles *p)
{
    struct archive a = {.s = s, .p = p};
    bool more = true;
    int status = read_archive_header(&a);
    while (status == 0 && more)
        status = read_archive_snapshot(&a, &more);
    if (status == 0)
        status = put_archive(&a);
    free(a.first.rows.at);
    free(a.first.names.at);
    free(a.last.rows.at);
    free(a.last.names.at);
    return status;
}

const struct particles_format particles_rebound = {
    .label = {.name = "rebound", .title = "archives of REBOUND 4 and 5", .suffixes = ""},
    .sniff = sniff_archive,
    .read = read_archive,
};
