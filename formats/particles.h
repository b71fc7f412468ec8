/* particles.h - files of bodies: seven-column text and TIPSY, read by content, written by name.
 *
 *   Text    one body a line, `mass x y z vx vy vz`, separated by blanks or tabs; # starts a comment,
 *           blank lines and CRLF are fine; numbers as C or Fortran (1.5d-3) writes them, in any
 *           locale. A comment `# time = 1.5` above the bodies gives the time.
 *   TIPSY   32-byte header (or 28, without the pad), then gas, dark and star records of 12, 9 and
 *           11 floats; either byte order.
 *
 * All functions fail with -1, clerrno set and one sentence in clerror() that names the file, the line
 * or byte, the value, and what to do.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARTICLES_H
#define FORMATS_PARTICLES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum particles_format {
    PARTICLES_AUTO,     /* to write: by the suffix, see particles_format_of */
    PARTICLES_TEXT,     /* doubles survive text exactly */
    PARTICLES_TIPSY,    /* big-endian, the standard; single precision */
    PARTICLES_TIPSY_LE, /* little-endian */
};

/* Bodies in the order of their file. In TIPSY the first `gas` bodies are gas, the last `star` are
 * stars and those between are dark matter; both counts are 0 for bodies from elsewhere. */
struct particles {
    size_t n;
    double time;
    double *mass;
    double (*pos)[3];
    double (*vel)[3];
    size_t gas, star;
    enum particles_format format; /* of the file read, never PARTICLES_AUTO */
};

/* Reads `file`, "-" for the standard input, into *p, which the caller gives to particles_free. Every
 * number is finite, every mass >= 0 and n >= 1, or the call fails and *p is empty.
 * Errors: ENOENT EACCES EISDIR as open; EINVAL for content; ENOMEM; EIO. */
int particles_read(const char *file, struct particles *p);

/* The same from memory; `name` stands for the file in messages. */
int particles_read_memory(const char *name, const void *data, size_t size, struct particles *p);

/* Writes the bodies to `file` as a whole or not at all (see outfile.h; "-" is the standard output).
 * TIPSY holds 2^31 - 1 bodies in single precision: a value beyond that range fails with ERANGE. */
int particles_write(const char *file, const struct particles *p, enum particles_format format);

/* The format a suffix stands for: .tipsy .std and .tip big-endian TIPSY, .bin little-endian TIPSY,
 * every other, or none, text; but -1 with ENOTSUP for those of formats that are not written here (.h5
 * .hdf5 .npy .png), since text under such a name would mislead. */
int particles_format_of(const char *file);

/* Frees the arrays and empties *p; an empty one may be freed again. */
void particles_free(struct particles *p);

#ifdef __cplusplus
}
#endif
#endif
