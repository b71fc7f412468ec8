/* particles_tipsy.c - bodies as TIPSY: header, gas, dark matter, stars, all of fixed size.
 *
 *   header  double time; int n, dimensions, gas, dark, star; 4 bytes of padding, which some files
 *           lack
 *   gas     mass pos[3] vel[3] density temperature smoothing metals potential    12 floats
 *   dark    mass pos[3] vel[3] softening potential                                9 floats
 *   star    mass pos[3] vel[3] metals formation-time softening potential         11 floats
 *
 * The standard is XDR, that is big-endian; files in the order of the machine that wrote them are as
 * common. The dimensions, always 3, tell the order. Mass, position, velocity, softening (of gas:
 * the smoothing, which stands for it there) and potential are kept; the rest is written as 0.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_format.h"
#include "stdcl.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SHORT_HEADER = 28, HEADER = 32, USED_FLOATS = 7 };

enum kind { GAS, DARK, STAR, KINDS };

static const char *const kind_names[KINDS] = {"gas", "dark", "star"};
static const size_t record_size[KINDS] = {12 * 4, 9 * 4, 11 * 4};
static const size_t softening_at[KINDS] = {
    9, 7, 9}; /* index of the softening in a record; the potential is the last */

struct header {
    bool big; /* byte order */
    double time;
    int32_t n, count[KINDS];
};

/* ---- Bytes. ---------------------------------------------------------------------------------- */

static uint32_t get32(const char *at, bool big)
{
    uint8_t b[4];
    memcpy(b, at, 4);
    return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
               : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static void put32(char *at, uint32_t value, bool big)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(value >> (big ? 24 - 8 * i : 8 * i) & 255);
}

static float get_float(const char *at, bool big)
{
    uint32_t bits = get32(at, big);
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static void put_float(char *at, float value, bool big)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    put32(at, bits, big);
}

static double get_double(const char *at, bool big)
{
    uint64_t first = get32(at, big), second = get32(at + 4, big);
    uint64_t bits = big ? first << 32 | second : second << 32 | first;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static void put_double(char *at, double value, bool big)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    put32(at + (big ? 0 : 4), (uint32_t)(bits >> 32), big);
    put32(at + (big ? 4 : 0), (uint32_t)bits, big);
}

/* ---- Reading the header. --------------------------------------------------------------------- */

/* The dimensions in the header, or 0 if there is no whole header. */
static uint32_t dimensions(const char *start, size_t size, bool big)
{
    return size < SHORT_HEADER ? 0 : get32(start + 12, big);
}

/* Headers with one or two dimensions are TIPSY too; the reader refuses them. */
static bool tipsy_sniff(const char *start, size_t size, bool big)
{
    const uint32_t n = dimensions(start, size, big);
    return n >= 1 && n <= 3;
}

static int get_header(const struct reader *s, bool big, struct header *h)
{
    const char *at = s->begin;
    const uint32_t found = dimensions(at, reader_ready(s), big);
    if (found != 3)
        return clerror_set(EINVAL, "%s: its TIPSY header says %u dimensions; only 3 are read",
                           s->name, (unsigned)found);
    h->big = big;
    h->time = get_double(at, h->big);
    h->n = (int32_t)get32(at + 8, h->big);
    for (int kind = 0; kind < KINDS; kind++)
        h->count[kind] = (int32_t)get32(at + 16 + 4 * kind, h->big);
    return 0;
}

static int tipsy_check_header(const char *name, const struct header *h)
{
    int64_t sum = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        sum += h->count[kind];
        if (h->count[kind] < 0)
            return clerror_set(EINVAL, "%s: its header says %ld %s bodies", name,
                               (long)h->count[kind], kind_names[kind]);
    }
    if (sum != h->n)
        return clerror_set(
            EINVAL, "%s: its header says %ld bodies, but %ld gas + %ld dark + %ld star are %lld",
            name, (long)h->n, (long)h->count[GAS], (long)h->count[DARK], (long)h->count[STAR],
            (long long)sum);
    if (sum == 0)
        return clerror_set(EINVAL, "%s: its header says that it holds no bodies", name);
    if (!isfinite(h->time))
        return clerror_set(EINVAL, "%s: the time in its header is %g", name, h->time);
    return 0;
}

static long long tipsy_body_bytes(const struct header *h)
{
    long long bytes = 0;
    for (int kind = 0; kind < KINDS; kind++)
        bytes += (long long)h->count[kind] * (long long)record_size[kind];
    return bytes;
}

/* The file's size decides whether there is padding; a pipe's size is unknown, and padding is
 * assumed. 0 if the size fits neither. */
static size_t header_size(const struct reader *s, const struct header *h)
{
    long long expected = HEADER + tipsy_body_bytes(h);
    if (s->size < 0 || s->size == expected)
        return HEADER;
    if (s->size == expected - HEADER + SHORT_HEADER)
        return SHORT_HEADER;
    if (s->size < expected)
        clerror_set(EINVAL, "%s: is cut short: %lld bytes of the %lld that %ld bodies take",
                    s->name, s->size, expected, (long)h->n);
    else
        clerror_set(EINVAL, "%s: has %lld bytes left over after its %ld bodies", s->name,
                    s->size - expected, (long)h->n);
    return 0;
}

/* ---- Reading the bodies. --------------------------------------------------------------------- */

static int read_body(struct reader *s, struct particles *p, const struct header *h, enum kind kind)
{
    size_t i = p->n;
    if (reader_need(s, record_size[kind]) < 0)
        return -1;
    if (reader_ready(s) < record_size[kind])
        return clerror_set(EINVAL, "%s: is cut short in body %zu of %ld", s->name, p->first + i + 1,
                           (long)h->n);
    p->mass[i] = get_float(s->begin, h->big);
    for (int axis = 0; axis < 3; axis++) {
        p->pos[i][axis] = get_float(s->begin + 4 + 4 * axis, h->big);
        p->vel[i][axis] = get_float(s->begin + 16 + 4 * axis, h->big);
    }
    p->softening[i] = get_float(s->begin + 4 * softening_at[kind], h->big);
    p->potential[i] = get_float(s->begin + record_size[kind] - 4, h->big);
    s->begin += record_size[kind];
    p->n++;
    return particles_check_body(s->name, p, i, kind_names[kind]);
}

/* Memory for all bodies is allocated at once if the file's size is known; from a pipe it grows
 * with the data. */
static int tipsy_read_bodies(struct reader *s, struct particles *p, const struct header *h)
{
    size_t total = (size_t)h->n, room = s->size >= 0 || total < 1024 ? total : 1024;
    if (particles_reserve(p, room, s->name) < 0)
        return -1;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int32_t k = 0; k < h->count[kind]; k++) {
            if (p->n == room) {
                room = room < total / 2 ? 2 * room : total;
                if (particles_reserve(p, room, s->name) < 0)
                    return -1;
            }
            if (read_body(s, p, h, (enum kind)kind) < 0)
                return -1;
        }
    }
    return 0;
}

/* Read the header, up to the first body. */
static int tipsy_read_header(struct reader *s, struct particles *p, bool big, struct header *h)
{
    if (get_header(s, big, h) < 0 || tipsy_check_header(s->name, h) < 0)
        return -1;
    const size_t skip = header_size(s, h);
    if (skip == 0)
        return -1;
    if (reader_ready(s) < skip)
        return clerror_set(EINVAL, "%s: is cut short in its header", s->name);
    s->begin += skip;
    p->time = h->time;
    p->gas = (size_t)h->count[GAS];
    p->star = (size_t)h->count[STAR];
    p->also = PARTICLES_SOFTENING | PARTICLES_POTENTIAL;
    return 0;
}

static int read_tipsy(struct reader *s, struct particles *p, bool big)
{
    struct header h = {0};
    if (tipsy_read_header(s, p, big, &h) < 0 || tipsy_read_bodies(s, p, &h) < 0 ||
        reader_need(s, 1) < 0)
        return -1;
    if (reader_ready(s) > 0)
        return clerror_set(EINVAL, "%s: has bytes left over after its %ld bodies", s->name,
                           (long)h.n);
    return 0;
}

static int tipsy_survey(struct reader *s, struct particles *p, bool big)
{
    struct header h = {0};
    if (tipsy_read_header(s, p, big, &h) < 0)
        return -1;
    p->all = (size_t)h.n;
    return 0;
}

static int tipsy_read_rows(struct reader *s, size_t first, size_t count, struct particles *p,
                           bool big)
{
    struct particles whole = {.n = 0};
    struct header h = {0};
    if (tipsy_read_header(s, &whole, big, &h) < 0)
        return -1;
    long long at = (long long)header_size(s, &h);
    size_t begin = 0; /* first body of a kind */
    int status = 0;
    for (int kind = 0; kind < KINDS && status == 0; kind++) {
        const size_t end = begin + (size_t)h.count[kind], from = first > begin ? first : begin,
                     last = first + count < end ? first + count : end;
        if (from < last)
            status = reader_seek(s, at + (long long)((from - begin) * record_size[kind]));
        for (size_t k = from; k < last && status == 0; k++)
            status = read_body(s, p, &h, (enum kind)kind);
        at += (long long)((end - begin) * record_size[kind]);
        begin = end;
    }
    return status;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

static void tipsy_put_header(char *at, const struct particles *p, bool big)
{
    const size_t all = particles_all(p),
                 words[] = {all, 3, p->gas, all - p->gas - p->star, p->star, 0};
    put_double(at, p->time, big);
    for (int i = 0; i < 6; i++)
        put32(at + 8 + 4 * i, (uint32_t)words[i], big);
}

static int out_of_range(const char *name, const char *what, size_t i, double value)
{
    return clerror_set(ERANGE,
                       "%s: %s of body %zu, %g, is beyond single precision; write text instead",
                       name, what, i + 1, value);
}

static int tipsy_check_range(const char *name, const struct particles *p)
{
    if (particles_all(p) > INT32_MAX)
        return clerror_set(ERANGE,
                           "%s: TIPSY holds %ld bodies at most, not %zu; write text instead", name,
                           (long)INT32_MAX, particles_all(p));
    for (size_t i = 0; i < p->n; i++) {
        for (int c = 0; c < USED_FLOATS; c++)
            if (fabs(particles_value(p, i, c)) > FLT_MAX)
                return out_of_range(name, particles_columns[c], p->first + i,
                                    particles_value(p, i, c));
        if (p->softening && p->softening[i] > FLT_MAX)
            return out_of_range(name, "the softening", p->first + i, p->softening[i]);
        if (p->potential && fabs(p->potential[i]) > FLT_MAX)
            return out_of_range(name, "the potential", p->first + i, p->potential[i]);
    }
    return 0;
}

static enum kind tipsy_kind(const struct particles *p, size_t i)
{
    const size_t place = p->first + i;
    return place < p->gas ? GAS : place < particles_all(p) - p->star ? DARK : STAR;
}

/* Bytes of the records of *p. */
static unsigned long long tipsy_record_bytes(const struct particles *p)
{
    unsigned long long bytes = 0;
    for (size_t i = 0; i < p->n; i++)
        bytes += record_size[tipsy_kind(p, i)];
    return bytes;
}

static int write_tipsy(struct outfile *out, const struct particles *p, bool big)
{
    char bytes[12 * 4] = {0};
    const int checked = tipsy_check_range(out->name, p);
    if ((p->all ? outfile_agree(checked) : checked) < 0)
        return -1;
    tipsy_put_header(bytes, p, big);
    fwrite(bytes, 1, HEADER, out->fp);
    if (p->all && outfile_divide(out, tipsy_record_bytes(p)) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++) {
        const enum kind kind = tipsy_kind(p, i);
        for (int c = 0; c < USED_FLOATS; c++)
            put_float(bytes + 4 * c, (float)particles_value(p, i, c), big);
        memset(bytes + 4 * USED_FLOATS, 0, sizeof bytes - 4 * USED_FLOATS);
        put_float(bytes + 4 * softening_at[kind], p->softening ? (float)p->softening[i] : 0, big);
        put_float(bytes + record_size[kind] - 4, p->potential ? (float)p->potential[i] : 0, big);
        fwrite(bytes, 1, record_size[kind], out->fp);
        if (i % 4096 == 0 && outfile_check(out) < 0)
            return -1;
    }
    return 0;
}

/* ---- The two byte orders. -------------------------------------------------------------------- */

static bool sniff_big(const char *start, size_t size)
{
    return tipsy_sniff(start, size, true);
}

static int read_big(struct reader *s, struct particles *p)
{
    return read_tipsy(s, p, true);
}

static int survey_big(struct reader *s, struct particles *p)
{
    return tipsy_survey(s, p, true);
}

static int read_rows_big(struct reader *s, size_t first, size_t count, struct particles *p)
{
    return tipsy_read_rows(s, first, count, p, true);
}

static int write_big(struct outfile *out, const struct particles *p)
{
    return write_tipsy(out, p, true);
}

static bool sniff_little(const char *start, size_t size)
{
    return tipsy_sniff(start, size, false);
}

static int read_little(struct reader *s, struct particles *p)
{
    return read_tipsy(s, p, false);
}

static int survey_little(struct reader *s, struct particles *p)
{
    return tipsy_survey(s, p, false);
}

static int read_rows_little(struct reader *s, size_t first, size_t count, struct particles *p)
{
    return tipsy_read_rows(s, first, count, p, false);
}

static int write_little(struct outfile *out, const struct particles *p)
{
    return write_tipsy(out, p, false);
}

const struct particles_format particles_tipsy = {
    .label = {.name = "tipsy", .title = "TIPSY", .suffixes = ".tipsy .std .tip"},
    .sniff = sniff_big,
    .read = read_big,
    .survey = survey_big,
    .read_rows = read_rows_big,
    .write = write_big,
    .bytes = 44,
};

const struct particles_format particles_tipsy_le = {
    .label = {.name = "tipsy_le", .title = "little-endian TIPSY", .suffixes = ".bin"},
    .sniff = sniff_little,
    .read = read_little,
    .survey = survey_little,
    .read_rows = read_rows_little,
    .write = write_little,
    .bytes = 44,
};
