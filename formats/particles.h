/* particles.h - files of bodies: seven-column text and TIPSY, recognised by content, written by suffix.
 *
 *   text     one body a line, `mass x y z vx vy vz`, separated by blanks or tabs; # starts a comment,
 *           blank lines and CRLF are fine; numbers as C or Fortran (1.5d-3) writes them, in any
 *           locale. A comment `# time = 1.5` above the bodies gives the time. Doubles survive exactly.
 *   tipsy   32-byte header (or 28, without the pad), then gas, dark and star records of 12, 9 and
 *           11 floats: big-endian, as the standard has it, or little-endian (tipsy_le).
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

/* Bodies in the order of their file. In TIPSY the first `gas` bodies are gas, the last `star` are
 * stars and those between are dark matter; both counts are 0 for bodies from elsewhere. */
struct particles {
    size_t n;
    double time;
    double *mass;
    double (*pos)[3];
    double (*vel)[3];
    size_t gas, star;
    const char *format; /* of the file read: "text", "tipsy" or "tipsy_le"; not owned */
};

/* Reads `file`, "-" for the standard input, into *p, which the caller gives to particles_free. Every
 * number is finite, every mass >= 0 and n >= 1, or the call fails and *p is empty.
 * Errors: ENOENT EACCES EISDIR as open; EINVAL for content; ENOMEM; EIO. */
int particles_read(const char *file, struct particles *p);

/* The same from memory; `name` stands for the file in messages. */
int particles_read_memory(const char *name, const void *data, size_t size, struct particles *p);

/* Writes the bodies to `file` as a whole or not at all (see outfile.h; "-" is the standard output), in the
 * format of that name; NULL: the one that the suffix stands for.
 * TIPSY holds 2^31 - 1 bodies in single precision: a value beyond that range fails with ERANGE. */
int particles_write(const char *file, const struct particles *p, const char *format);

/* The name of the format that a file's suffix stands for, text when it has none. NULL with ENOTSUP, and a
 * sentence that lists the known ones, for any other suffix: text under such a name would mislead. */
const char *particles_format_of(const char *file);

/* The formats with their suffixes, for help texts: "text (.tab .txt .dat or no suffix), TIPSY (.tipsy)". The
 * calling thread's own, valid until its next call. */
const char *particles_formats(void);

/* Frees the arrays and empties *p; an empty one may be freed again. */
void particles_free(struct particles *p);

#ifdef __cplusplus
}
#endif
#endif
