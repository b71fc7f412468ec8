/* particles_gadget.c - bodies from GADGET's own snapshots, formats 1 and 2; only read.
 *
 * A file is a row of blocks, each between two 32-bit numbers that tell its length:
 *
 *   header   256 bytes: int n[6]; double mass[6], time, redshift; int flags[2]; unsigned total[6];
 *            int cooling, files;
 *            double box, Omega0, ...
 *   POS VEL  3 floats or doubles a body       ID  4 or 8 bytes a body
 *   MASS     a number a body of the types whose mass[] is 0; the block is left out when there are
 *            none
 *
 * The six types follow each other in every block. Format 2 has a small block with a name of four
 * letters before each. Either byte order; more blocks may follow, and are passed over.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_format.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 256, TYPES = 6 };

struct gadget {
    struct reader *s;
    struct particles *p;
    bool big, named; /* byte order; format 2 */
    bool last;       /* the snapshot has bodies of the last type, after the stars */
    int64_t n[TYPES];
    double mass[TYPES];
    size_t total, weighed; /* bodies; bodies with individual masses */
};

/* ---- Bytes. ---------------------------------------------------------------------------------- */

static uint64_t gadget_get(const char *at, size_t size, bool big)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(uint8_t)at[big ? size - 1 - i : i] << 8 * i;
    return value;
}

static double gadget_get_number(const char *at, size_t size, bool big)
{
    const uint64_t bits = gadget_get(at, size, big);
    const uint32_t half = (uint32_t)bits;
    float narrow;
    double wide;
    memcpy(&narrow, &half, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return size == sizeof narrow ? (double)narrow : wide;
}

static int gadget_need(const struct gadget *g, size_t size, const char *what)
{
    if (reader_need(g->s, size) < 0)
        return -1;
    return reader_ready(g->s) >= size
               ? 0
               : clerror_set(EINVAL, "%s: is cut short in %s", g->s->name, what);
}

/* Read the length before or after a block. */
static int take_length(struct gadget *g, uint32_t *length, const char *what)
{
    if (gadget_need(g, 4, what) < 0)
        return -1;
    *length = (uint32_t)gadget_get(g->s->begin, 4, g->big);
    g->s->begin += 4;
    return 0;
}

static int gadget_end_block(struct gadget *g, uint32_t length, const char *what)
{
    uint32_t again;
    if (take_length(g, &again, what) < 0)
        return -1;
    return again == length
               ? 0
               : clerror_set(
                     EINVAL,
                     "%s: %s is said to have %u bytes before and %u after it; it is damaged, "
                     "or no GADGET snapshot",
                     g->s->name, what, (unsigned)length, (unsigned)again);
}

static int gadget_skip(struct gadget *g, uint32_t length, const char *what)
{
    while (length) {
        const size_t some = length < READER_ROOM ? length : READER_ROOM;
        if (gadget_need(g, some, what) < 0)
            return -1;
        g->s->begin += some;
        length -= (uint32_t)some;
    }
    return 0;
}

/* ---- The header. ----------------------------------------------------------------------------- */

/* True if the file begins with a block of `length` bytes. */
static bool gadget_begins(const char *start, size_t size, uint32_t length, bool big)
{
    return size >= 8 && gadget_get(start, 4, big) == length;
}

static bool gadget_is_named(const char *start, size_t size, bool big)
{
    return gadget_begins(start, size, 8, big) && memcmp(start + 4, "HEAD", 4) == 0;
}

static bool gadget_sniff(const char *start, size_t size)
{
    for (int big = 0; big < 2; big++)
        if (gadget_begins(start, size, HEADER, big) || gadget_is_named(start, size, big))
            return true;
    return false;
}

/* Format 2: read the name before a block. 1 at the end of the file. */
static int gadget_take_name(struct gadget *g, char name[5])
{
    uint32_t length;
    strcpy(name, "");
    if (!g->named)
        return 0;
    if (reader_need(g->s, 1) < 0)
        return -1;
    if (reader_ready(g->s) == 0)
        return 1;
    if (take_length(g, &length, "the name of a block") < 0)
        return -1;
    if (length != 8)
        return clerror_set(EINVAL, "%s: the name of a block has %u bytes, not 8; it is damaged",
                           g->s->name, (unsigned)length);
    if (gadget_need(g, 8, "the name of a block") < 0)
        return -1;
    memcpy(name, g->s->begin, 4);
    name[4] = 0;
    g->s->begin += 8;
    return gadget_end_block(g, length, "the name of a block");
}

static int gadget_check_header(struct gadget *g, const char *at)
{
    const int files = (int)gadget_get(at + 124, 4, g->big);
    const double box = gadget_get_number(at + 128, 8, g->big);
    for (int type = 0; type < TYPES; type++) {
        g->n[type] = (int32_t)gadget_get(at + 4 * type, 4, g->big);
        g->mass[type] = gadget_get_number(at + 24 + 8 * type, 8, g->big);
        if (g->n[type] < 0 || !(g->mass[type] >= 0 && isfinite(g->mass[type])))
            return clerror_set(EINVAL, "%s: its header says %ld bodies of type %d, of mass %g",
                               g->s->name, (long)g->n[type], type, g->mass[type]);
        g->total += (size_t)g->n[type];
        g->weighed += g->mass[type] == 0 ? (size_t)g->n[type] : 0;
    }
    g->p->time = gadget_get_number(at + 72, 8, g->big);
    if (!isfinite(g->p->time))
        return clerror_set(EINVAL, "%s: the time in its header is %g", g->s->name, g->p->time);
    if (g->total == 0)
        return clerror_set(EINVAL, "%s: its header says that it holds no bodies", g->s->name);
    if (g->total > INT32_MAX)
        return clerror_set(EINVAL, "%s: its header says %zu bodies, too many for one file",
                           g->s->name, g->total);
    if (files > 1)
        g->p->files = (size_t)files;
    for (int type = 0; files > 1 && type < TYPES; type++) {
        const uint32_t n = (uint32_t)gadget_get(at + 96 + 4 * type, 4, g->big);
        g->p->total += (double)n;
        g->last |= type == 5 && n > 0;
    }
    g->last |= g->n[5] > 0;
    return particles_set_space(
        g->p, &(struct particles_space){.comoving = NAN,
                                        .periodic = NAN,
                                        .omega = gadget_get_number(at + 136, 8, g->big),
                                        .omega_name = "Omega0",
                                        .redshift = gadget_get_number(at + 80, 8, g->big),
                                        .box = {box, box, box}});
}

static int gadget_read_header(struct gadget *g)
{
    uint32_t length;
    char name[5];
    if (gadget_take_name(g, name) < 0 || take_length(g, &length, "its header") < 0)
        return -1;
    if (length != HEADER)
        return clerror_set(EINVAL, "%s: its header has %u bytes, not %d", g->s->name,
                           (unsigned)length, HEADER);
    if (gadget_need(g, HEADER, "its header") < 0 || gadget_check_header(g, g->s->begin) < 0)
        return -1;
    g->s->begin += HEADER;
    return gadget_end_block(g, length, "its header");
}

/* ---- The blocks. ----------------------------------------------------------------------------- */

enum block { POS, VEL, ID, MASS, BLOCKS };

static const struct {
    const char *name, *what;
    size_t numbers; /* per body */
} blocks[BLOCKS] = {{"POS ", "the positions", 3},
                    {"VEL ", "the velocities", 3},
                    {"ID  ", "the names", 1},
                    {"MASS", "the masses", 1}};

static size_t gadget_rows_of(const struct gadget *g, enum block block)
{
    return block == MASS ? g->weighed : g->total;
}

/* Positions come first; from a pipe, memory grows with the data. */
static int gadget_make_room(const struct gadget *g, size_t *room, size_t i)
{
    if (i < *room)
        return 0;
    *room = g->s->size >= 0 || 2 * i + 1024 > g->total ? g->total : 2 * i + 1024;
    return particles_reserve(g->p, *room, g->s->name);
}

/* The body of entry i: the mass block leaves out types with a mass in the header. */
static size_t body_of(const struct gadget *g, enum block block, size_t i)
{
    size_t body = i;
    for (int type = 0; block == MASS && type < TYPES; type++) {
        const size_t n = (size_t)g->n[type];
        if (g->mass[type] == 0 && i < n)
            break;
        if (g->mass[type] == 0)
            i -= n;
        else
            body += n;
    }
    return body;
}

static void gadget_put(struct particles *p, enum block block, size_t i, const char *at, size_t size,
                       bool big)
{
    if (block == ID)
        p->id[i] = gadget_get(at, size, big);
    else if (block == MASS)
        p->mass[i] = gadget_get_number(at, size, big);
    for (int axis = 0; block <= VEL && axis < 3; axis++)
        (block == POS ? p->pos : p->vel)[i][axis] =
            gadget_get_number(at + (size_t)axis * size, size, big);
}

static int gadget_read_rows(struct gadget *g, enum block block, size_t size, size_t *room)
{
    const size_t bytes = blocks[block].numbers * size;
    for (size_t i = 0; i < gadget_rows_of(g, block); i++) {
        if (gadget_need(g, bytes, blocks[block].what) < 0 || gadget_make_room(g, room, i) < 0)
            return -1;
        gadget_put(g->p, block, body_of(g, block, i), g->s->begin, size, g->big);
        g->s->begin += bytes;
        if (block == POS)
            g->p->n++;
    }
    return 0;
}

/* Read a block; its length modulo 2^32 implies 4 or 8 bytes per number. */
static int read_block(struct gadget *g, enum block block, size_t *room)
{
    uint32_t length;
    if (take_length(g, &length, blocks[block].what) < 0)
        return -1;
    const size_t numbers = gadget_rows_of(g, block) * blocks[block].numbers;
    const size_t size = length == (uint32_t)(4 * numbers)   ? 4
                        : length == (uint32_t)(8 * numbers) ? 8
                                                            : 0;
    if (!size)
        return clerror_set(EINVAL, "%s: %s take %u bytes; %zu bodies have %zu or %zu", g->s->name,
                           blocks[block].what, (unsigned)length, gadget_rows_of(g, block),
                           4 * numbers, 8 * numbers);
    if (gadget_read_rows(g, block, size, room) < 0)
        return -1;
    return gadget_end_block(g, length, blocks[block].what);
}

/* In format 1 the order is fixed; in format 2 blocks have names, and unknown blocks are skipped. */
static int read_blocks(struct gadget *g)
{
    size_t room = 0;
    char name[5];
    int status = 0, next = POS;
    while (status == 0 && next < (g->weighed ? BLOCKS : MASS)) {
        uint32_t length;
        status = gadget_take_name(g, name);
        if (status == 1)
            return clerror_set(EINVAL, "%s: has no block %.4s, %s", g->s->name, blocks[next].name,
                               blocks[next].what);
        if (status == 0 && (!g->named || memcmp(name, blocks[next].name, 4) == 0))
            status = read_block(g, (enum block)next++, &room);
        else if (status == 0)
            status = take_length(g, &length, "a block") < 0 ||
                             gadget_skip(g, length, "a block") < 0 ||
                             gadget_end_block(g, length, "a block") < 0
                         ? -1
                         : 0;
    }
    return status;
}

static int gadget_finish(struct gadget *g)
{
    struct particles *p = g->p;
    size_t i = 0;
    for (int type = 0; type < TYPES; type++)
        for (int64_t k = 0; k < g->n[type]; k++, i++) {
            char kind[16];
            snprintf(kind, sizeof kind, "type %d", type);
            if (g->mass[type] > 0)
                p->mass[i] = g->mass[type];
            if (particles_check_body(g->s->name, p, i, kind) < 0)
                return -1;
        }
    p->gas = (size_t)g->n[0];
    p->star = g->last ? 0 : (size_t)g->n[4];
    return 0;
}

static int read_gadget(struct reader *s, struct particles *p)
{
    struct gadget g = {.s = s, .p = p};
    const size_t ready = reader_ready(s);
    g.big = gadget_begins(s->begin, ready, HEADER, true) || gadget_is_named(s->begin, ready, true);
    g.named = gadget_is_named(s->begin, ready, g.big);
    if (gadget_read_header(&g) < 0)
        return -1;
    if (s->size >= 0 &&
        (long long)(g.total * 28) > s->size) /* the minimum: floats, and IDs of 4 bytes */
        return clerror_set(EINVAL, "%s: is cut short: %lld bytes, and %zu bodies take %zu or more",
                           s->name, s->size, g.total, g.total * 28);
    p->also = PARTICLES_ID;
    return read_blocks(&g) < 0 ? -1 : gadget_finish(&g);
}

const struct particles_format particles_gadget = {
    .label = {.name = "gadget", .title = "GADGET 1 and 2", .suffixes = ""},
    .sniff = gadget_sniff,
    .read = read_gadget,
};
