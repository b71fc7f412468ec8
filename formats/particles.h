/* particles.h - files of bodies, recognised by content, written by suffix.
 *
 *   text    one body a line, `mass x y z vx vy vz`, separated by blanks or tabs; # starts a
 *           comment, blank lines and CRLF are fine; numbers as C or Fortran (1.5d-3) writes them,
 *           in any locale. Comments above the bodies give the time and the notes, `# time = 1.5`,
 *           and other columns, `# name mass x y z vx vy vz radius`, or orbital elements
 *           (particles_text.c). A comment of one word after the numbers is the body's name. Doubles
 *           survive exactly.
 *   tipsy   32-byte header (or 28, without the pad), then gas, dark and star records of 12, 9 and
 *           11 floats: big-endian, as the standard has it, or little-endian (tipsy_le).
 *   npy     numpy's: a matrix of N x 7 numbers, the columns of the text.
 *   hdf5    as GADGET-4, AREPO, SWIFT and GIZMO have it; needs libhdf5.
 *   gadget  GADGET's own formats 1 and 2, which are only read.
 *   rebound the last snapshot of a Simulationarchive of REBOUND 4 or 5, which is only read.
 *
 * All functions fail with -1, clerrno set and one sentence in clerror() that names the file, the
 * line or byte, the value, and what to do.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARTICLES_H
#define FORMATS_PARTICLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Metadata of the run that wrote a file: NOTE(name, kind). All are kept as text, numbers with all
 * digits. The units are those of the bodies' lengths, masses and velocities. */
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
    NOTE(device, TEXT)                                                                             \
    NOTE(names, TEXT)

#define PARTICLES_NOTE(name, kind) NOTE_##name,
enum particles_note { PARTICLES_NOTES(PARTICLES_NOTE) PARTICLES_NOTE_COUNT };
#undef PARTICLES_NOTE

/* Optional data of bodies besides mass, position and velocity. */
enum particles_also {
    PARTICLES_SOFTENING = 1,
    PARTICLES_POTENTIAL = 2,
    PARTICLES_ID = 4,
    PARTICLES_RADIUS = 8,
    PARTICLES_OUTSIDE = 16 /* no array: a body lies outside the box (particles_found) */
};

/* Primary of orbital elements: the centre of mass of all bodies before. */
#define PARTICLES_JACOBI SIZE_MAX

/* Bodies in the order of their file. In TIPSY the first `gas` bodies are gas, the last `star` are
 * stars and those between are dark matter; both counts are 0 for bodies from elsewhere. */
struct particles {
    size_t n;
    /* Of a rank's slice of `all` bodies: the first of its n bodies. gas and star count all bodies.
     * all = 0: these are all. */
    size_t first, all;
    double time;
    double *mass;
    double (*pos)[3];
    double (*vel)[3];
    size_t gas, star;
    int also;          /* which of the four optional arrays are present; the others are NULL */
    double *softening; /* length */
    double *potential; /* per unit mass */
    uint64_t *id;
    double *radius; /* length; only in text and HDF5 */
    size_t
        *primary; /* NULL, or pos is {a, e, inc} and vel {Omega, omega, M} about this body, before
                        it in the file, or PARTICLES_JACOBI; body 0 is at rest in the origin */
    char *note[PARTICLES_NOTE_COUNT]; /* NULL: not in the file */
    char *missing;                    /* list of what another program's file lacks; NULL: nothing */
    char *origin;  /* list of its G, units and softening, and where it has them; NULL: none */
    char *space;   /* why its bodies may not be isolated in static space, from the verb on; NULL:
                    they are */
    bool scale;    /* the time is the scale factor of a cosmological run */
    double box[3]; /* sides of its box, which may be periodic; 0: none */
    size_t files;  /* number of files of its snapshot; 0: one */
    double total;  /* bodies of all these files; 0: not said */
    const char *format; /* of the file: "text", "tipsy", ...; not owned */
};

/* Read `file`, "-" for standard input, into *p; free it with particles_free. Every number is
 * finite, every mass >= 0 and n >= 1, or the call fails and *p is empty. A snapshot of several
 * files NAME.0.hdf5 NAME.1.hdf5 ... is read whole, by the name of any of them, NAME or NAME.hdf5.
 * Errors: ENOENT EACCES EISDIR as open; EINVAL for content; ENOMEM; EIO. */
int particles_read(const char *file, struct particles *p);

/* As particles_read, but only part `part` of `parts` nearly equal ones: p->first, p->n and p->all
 * say which, and memory is proportional to the part. Text is searched from its beginning for the
 * part's lines; other formats seek. Call particles_finish with the findings of all parts. ENOTSUP:
 * read all of the file. The causes are pipes, fewer bodies than parts, .npy in Fortran order, text
 * with names or orbital elements, GADGET's own formats and REBOUND's. */
int particles_read_part(const char *file, size_t part, size_t parts, struct particles *p);

/* Findings of a part; the OR of all parts decides. They are the bits of optional arrays with a
 * number other than 0, and PARTICLES_OUTSIDE. particles_finish drops arrays without their bit, and
 * sets p->space if all bodies lie in the box. particles_read calls both. -1: ENOMEM. */
int particles_found(const struct particles *p);
int particles_finish(struct particles *p, int found);

/* As particles_read, from memory; `name` stands for the file in messages. */
int particles_read_memory(const char *name, const void *data, size_t size, struct particles *p);

/* Copy the name of body i, a word of at most 63 bytes; false: it has none. Names are the note
 * `names`, with a word for each body ("-": none), in text and HDF5. */
enum { PARTICLES_NAME_SIZE = 64, PARTICLES_NAMES_MOST = 60000 /* bytes of all */ };
bool particles_name(const struct particles *p, size_t i, char name[PARTICLES_NAME_SIZE]);

/* Remove the name of body i from the note. -1: ENOMEM. */
int particles_remove_name(struct particles *p, size_t i);

/* Metadata as a number; NAN if there is none. */
double particles_number(const struct particles *p, enum particles_note note);

/* Set metadata; NULL removes it. A number is written with all digits; NAN means none. -1: ENOMEM.
 */
int particles_set_note(struct particles *p, enum particles_note note, const char *text);
int particles_set_number(struct particles *p, enum particles_note note, double value);

/* Write the bodies to `file`, whole or not at all (outfile.h; "-" is standard output), in the
 * named format; NULL: by the suffix. Ranks write their slices together (outfile_together), in a
 * regular file. TIPSY holds at most 2^31 - 1 bodies in single precision: a value beyond its range
 * fails with ERANGE. */
int particles_write(const char *file, const struct particles *p, const char *format);

/* The format for a file's suffix, text if it has none. NULL with ENOTSUP, and a message that lists
 * the known suffixes, for any other: text under such a name would mislead. */
const char *particles_format_of(const char *file);

/* Check, before there is anything to write, that this system can write the format for a file's
 * suffix. -1: ENOTSUP, unknown suffix or built without the library; ENOENT, the library is gone. */
int particles_can_write(const char *file);

/* Approximate bytes per body in a file of that name; 0 for an unknown suffix. */
size_t particles_bytes(const char *file, const struct particles *p);

/* The formats that can be written, with their suffixes, for help texts: "text (.tab .txt .dat or
 * no suffix), TIPSY (.tipsy)"; and all that can be read. Valid until the calling thread's next
 * call. */
const char *particles_formats(void);
const char *particles_readable(void);

/* Set p->first, p->n and p->all to part `part` of `parts` of n bodies: equal numbers, with one more
 * for the first parts. */
static inline void particles_set_part(struct particles *p, size_t n, size_t part, size_t parts)
{
    const size_t more = n % parts;
    p->all = n;
    p->n = n / parts + (part < more);
    p->first = part * (n / parts) + (part < more ? part : more);
}

/* Return the number of all bodies, also if *p is a slice. */
static inline size_t particles_all(const struct particles *p)
{
    return p->all ? p->all : p->n;
}

/* Free the arrays and empty *p; an empty struct may be freed again. */
void particles_free(struct particles *p);

/* Return the index of the heaviest body, the first of equally heavy ones. */
static inline size_t particles_heaviest(const struct particles *p)
{
    size_t heaviest = 0;
    for (size_t i = 1; i < p->n; i++)
        heaviest = p->mass[i] > p->mass[heaviest] ? i : heaviest;
    return heaviest;
}

#ifdef __cplusplus
}
#endif
#endif
