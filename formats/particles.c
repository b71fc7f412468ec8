/* particles.c - files of bodies: which format a file has, and what all formats share.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles.h"

#include "formats/outfile.h"
#include "formats/source.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const particles_columns[7] = {"mass", "x", "y", "z", "vx", "vy", "vz"};

double particles_value(const struct particles *p, size_t i, int column)
{
    return column == 0 ? p->mass[i] : column < 4 ? p->pos[i][column - 1] : p->vel[i][column - 4];
}

void particles_free(struct particles *p)
{
    free(p->mass);
    free(p->pos);
    free(p->vel);
    memset(p, 0, sizeof *p);
}

int particles_reserve(struct particles *p, size_t room, const char *name)
{
    if (room <= SIZE_MAX / sizeof *p->pos) {
        double *mass = realloc(p->mass, room * sizeof *mass);
        p->mass = mass ? mass : p->mass;
        double(*pos)[3] = realloc(p->pos, room * sizeof *pos);
        p->pos = pos ? pos : p->pos;
        double(*vel)[3] = realloc(p->vel, room * sizeof *vel);
        p->vel = vel ? vel : p->vel;
        if (mass && pos && vel)
            return 0;
    }
    return clerror_set(ENOMEM, "%s: no memory for %zu bodies (%.0f MiB)", name, room,
                       (double)room * 7 * sizeof(double) / 1048576);
}

/* ---- Reading. -------------------------------------------------------------------------------- */

/* What people hand over by mistake, told by its first bytes. */
static const char *other_content(const char *start, size_t size)
{
    static const struct {
        const char *magic;
        size_t length;
        const char *what;
    } others[] = {
        {"\037\213", 2, "is compressed by gzip; unpack it first"},
        {"BZh", 3, "is compressed by bzip2; unpack it first"},
        {"\3757zXZ", 5, "is compressed by xz; unpack it first"},
        {"\050\265\057\375", 4, "is compressed by zstd; unpack it first"},
        {"PK\003\004", 4, "is a zip archive; unpack it first"},
        {"\211HDF", 4, "is an HDF5 file; only seven-column text and TIPSY are read"},
        {"\211PNG", 4, "is a PNG picture, not a file of bodies"},
        {"\377\376", 2, "is UTF-16 text; save it as UTF-8 or ASCII"},
        {"\376\377", 2, "is UTF-16 text; save it as UTF-8 or ASCII"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (size >= others[i].length && memcmp(start, others[i].magic, others[i].length) == 0)
            return others[i].what;
    return NULL;
}

/* A TIPSY header has zero bytes in its small integers; text has none anywhere. */
static int read_by_content(struct source *s, struct particles *p)
{
    if (source_need(s, 32) < 0)
        return -1;
    size_t start = source_ready(s) < 32 ? source_ready(s) : 32;
    const char *other = other_content(s->begin, start);
    if (start == 0)
        return clerror_set(EINVAL, "%s: is empty; bodies are lines of %s", s->name, "mass x y z vx vy vz");
    if (other)
        return clerror_set(EINVAL, "%s: %s", s->name, other);
    return memchr(s->begin, 0, start) ? particles_read_tipsy(s, p) : particles_read_text(s, p);
}

static int read_and_close(struct source *s, struct particles *p)
{
    int status = read_by_content(s, p);
    if (status < 0)
        particles_free(p);
    source_close(s);
    return status;
}

int particles_read(const char *file, struct particles *p)
{
    struct source s;
    memset(p, 0, sizeof *p);
    return source_open(&s, file) < 0 ? -1 : read_and_close(&s, p);
}

int particles_read_memory(const char *name, const void *data, size_t size, struct particles *p)
{
    struct source s;
    memset(p, 0, sizeof *p);
    source_open_memory(&s, name, data, size);
    return read_and_close(&s, p);
}

/* ---- Writing. -------------------------------------------------------------------------------- */

int particles_format_of(const char *file)
{
    static const struct {
        const char *suffix;
        int format;
    } known[] = {
        {".tipsy", PARTICLES_TIPSY},
        {".std", PARTICLES_TIPSY},
        {".tip", PARTICLES_TIPSY},
        {".bin", PARTICLES_TIPSY_LE},
        {".h5", -1},
        {".hdf5", -1},
        {".npy", -1},
        {".png", -1},
    };
    const char *slash = strrchr(file, '/'), *suffix = strrchr(slash ? slash : file, '.');
    for (size_t i = 0; suffix && i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(suffix, known[i].suffix) != 0)
            continue;
        if (known[i].format < 0)
            return clerror_set(ENOTSUP,
                               "%s: bodies are not written as %s; use .tab (text), .tipsy or .bin (TIPSY)",
                               file, suffix);
        return known[i].format;
    }
    return PARTICLES_TEXT;
}

/* What is written can be read again: the same conditions hold for both. */
static int check(const char *file, const struct particles *p)
{
    if (p->n == 0)
        return clerror_set(EINVAL, "%s: there are no bodies to write", file);
    if (p->gas > p->n || p->star > p->n - p->gas)
        return clerror_set(EINVAL, "%s: %zu gas and %zu star bodies are more than all %zu", file, p->gas,
                           p->star, p->n);
    if (!isfinite(p->time))
        return clerror_set(EINVAL, "%s: the time is %g; nothing was written", file, p->time);
    for (size_t i = 0; i < p->n; i++) {
        for (int c = 0; c < 7; c++)
            if (!isfinite(particles_value(p, i, c)))
                return clerror_set(EINVAL, "%s: %s of body %zu is %g; nothing was written", file,
                                   particles_columns[c], i + 1, particles_value(p, i, c));
        if (p->mass[i] < 0)
            return clerror_set(EINVAL, "%s: mass of body %zu is %g; nothing was written", file, i + 1,
                               p->mass[i]);
    }
    return 0;
}

int particles_write(const char *file, const struct particles *p, enum particles_format format)
{
    struct outfile out;
    int chosen = format == PARTICLES_AUTO ? particles_format_of(file) : (int)format;
    if (chosen < 0 || check(file, p) < 0 || outfile_open(&out, file) < 0)
        return -1;
    int status = chosen == PARTICLES_TEXT ? particles_write_text(&out, p)
                                          : particles_write_tipsy(&out, p, (enum particles_format)chosen);
    if (status == 0)
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}
