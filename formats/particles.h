/* particles.h - files of bodies, recognised by content, written by suffix.
 *
 *   text     one body a line, `mass x y z vx vy vz`, separated by blanks or tabs; # starts a
 *            comment,
 *           blank lines and CRLF are fine; numbers as C or Fortran (1.5d-3) writes them, in any
 *           locale; an eighth is the radius, where a comment above the bodies is `# mass x y z vx
 *           vy vz radius`. Comments above the bodies give the time and the notes, `# time = 1.5`.
 *           Doubles survive exactly.
 *   tipsy   32-byte header (or 28, without the pad), then gas, dark and star records of 12, 9 and
 *           11 floats: big-endian, as the standard has it, or little-endian (tipsy_le).
 *   npy     numpy's: a matrix of N x 7 numbers, the columns of the text.
 *   hdf5    as GADGET-4, SWIFT and their like have it; needs libhdf5.
 *   gadget  GADGET's own formats 1 and 2, which are only read.
 *
 * All functions fail with -1, clerrno set and one sentence in clerror() that names the file, the
 * line or byte, the value, and what to do.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARTICLES_H
#define FORMATS_PARTICLES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a file may tell of the run that made it: NOTE(name, kind). All are kept as text, numbers
 * with all their digits. The units are those in which the bodies' lengths, masses and velocities
 * stand. */
#define PARTICLES_NOTES(NOTE)                                                                      \
    NOTE(G, REAL)                                                                                  \
    NOTE(softening, REAL)                                                                          \
    NOTE(step, REAL)                                                                               \
    NOTE(integrator, TEXT)                                                                         \
    NOTE(precision, TEXT)                                                                          \
    NOTE(method, TEXT)                                                                             \
    NOTE(accuracy, REAL)                                                                           \
    NOTE(external, TEXT)                                                                           \
    NOTE(stepping, TEXT)                                                                           \
    NOTE(eta, REAL)                                                                                \
    NOTE(model, TEXT)                                                                              \
    NOTE(seed, WHOLE)                                                                              \
    NOTE(UnitLength_in_cm, REAL)                                                                   \
    NOTE(UnitMass_in_g, REAL)                                                                      \
    NOTE(UnitVelocity_in_cm_per_s, REAL)                                                           \
    NOTE(command, TEXT)                                                                            \
    NOTE(version, TEXT)                                                                            \
    NOTE(device, TEXT)

#define PARTICLES_NOTE(name, kind) NOTE_##name,
enum particles_note { PARTICLES_NOTES(PARTICLES_NOTE) PARTICLES_NOTE_COUNT };
#undef PARTICLES_NOTE

/* What bodies may have besides mass, position and velocity. */
enum particles_also {
    PARTICLES_SOFTENING = 1,
    PARTICLES_POTENTIAL = 2,
    PARTICLES_ID = 4,
    PARTICLES_RADIUS = 8
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
    int also;          /* which of these four there are; the others are NULL */
    double *softening; /* length */
    double *potential; /* per unit of mass */
    uint64_t *id;
    double *radius;                   /* length; only in text and HDF5 */
    char *note[PARTICLES_NOTE_COUNT]; /* NULL: the file does not say */
    char
        *missing; /* a sentence on what a file of another program should have said; NULL: nothing */
    const char *format; /* of the file read: "text", "tipsy", ...; not owned */
};

/* Reads `file`, "-" for the standard input, into *p, which the caller gives to particles_free.
 * Every number is finite, every mass >= 0 and n >= 1, or the call fails and *p is empty.
 * Errors: ENOENT EACCES EISDIR as open; EINVAL for content; ENOMEM; EIO. */
int particles_read(const char *file, struct particles *p);

/* The same from memory; `name` stands for the file in messages. */
int particles_read_memory(const char *name, const void *data, size_t size, struct particles *p);

/* A note as a number; NAN when there is none. */
double particles_number(const struct particles *p, enum particles_note note);

/* Sets a note; NULL takes it away. A number is written with all its digits, NAN is no number. -1:
 * ENOMEM. */
int particles_set_note(struct particles *p, enum particles_note note, const char *text);
int particles_set_number(struct particles *p, enum particles_note note, double value);

/* Writes the bodies to `file` as a whole or not at all (see outfile.h; "-" is the standard output),
 * in the format of that name; NULL: the one that the suffix stands for.
 * TIPSY holds 2^31 - 1 bodies in single precision: a value beyond that range fails with ERANGE. */
int particles_write(const char *file, const struct particles *p, const char *format);

/* The name of the format that a file's suffix stands for, text when it has none. NULL with ENOTSUP,
 * and a sentence that lists the known ones, for any other suffix: text under such a name would
 * mislead. */
const char *particles_format_of(const char *file);

/* About how many bytes a body takes in a file of that name; 0 when no format has such a suffix. */
size_t particles_bytes(const char *file, const struct particles *p);

/* The formats that are written, with their suffixes, for help texts: "text (.tab .txt .dat or no
 * suffix), TIPSY (.tipsy)"; and all that are read. The calling thread's own, valid until its next
 * call. */
const char *particles_formats(void);
const char *particles_readable(void);

/* Frees the arrays and empties *p; an empty one may be freed again. */
void particles_free(struct particles *p);

#ifdef __cplusplus
}
#endif
#endif
