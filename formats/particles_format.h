/* particles_format.h - the table of formats of bodies, and what their files share. Private to
 * formats/.
 *
 * A new format is a file particles_NAME.c, which defines `const struct particles_format
 * particles_NAME`, and its name in the list below. Messages and help texts are generated from the
 * table.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARTICLES_FORMAT_H
#define FORMATS_PARTICLES_FORMAT_H

#include "core/outfile.h"
#include "formats/particles.h"
#include "formats/reader.h"
#include "formats/suffix.h"

/* Formats are recognised in this order; text, which accepts the remainder, is last. */
#define PARTICLES_FORMATS(FORMAT)                                                                  \
    FORMAT(hdf5)                                                                                   \
    FORMAT(npy)                                                                                    \
    FORMAT(rebound)                                                                                \
    FORMAT(gadget)                                                                                 \
    FORMAT(tipsy_le)                                                                               \
    FORMAT(tipsy)                                                                                  \
    FORMAT(text)

struct particles_format {
    struct format_label label; /* comes first */

    /* True if the first bytes look like this format. `size` is 32, or the size of a shorter file.
     */
    bool (*sniff)(const char *start, size_t size);

    /* Read from the start of the content into *p, which is empty. On failure the caller frees *p.
     */
    int (*read)(struct reader *s, struct particles *p);

    /* Read part of a file that is not a pipe; NULL: only all of it can be read. survey: read the
     * metadata, gas, star and also into *p, which is empty, and the number of bodies into p->all;
     * ENOTSUP: this file can only be read whole. read_rows, from the start of the content again:
     * append the bodies first .. first + count - 1 to *p; its arrays have room. */
    int (*survey)(struct reader *s, struct particles *p);
    int (*read_rows)(struct reader *s, size_t first, size_t count, struct particles *p);

    /* Write bodies that particles_write has checked. Disk errors may also surface later, in
     * outfile_commit. NULL: read-only. */
    int (*write)(struct outfile *out, const struct particles *p);

    /* -1 with a message if this system cannot write the format. NULL: it always can. */
    int (*can_write)(const char *file);

    /* approximate bytes per body, and per optional value */
    size_t bytes, more;
};

#define PARTICLES_DECLARE(name_) extern const struct particles_format particles_##name_;
PARTICLES_FORMATS(PARTICLES_DECLARE)

/* ---- particles_array.c: bodies in memory. ---- */

/* Reserve space for `room` bodies in the arrays of *p, optional arrays included, keeping the first
 * p->n. `name` is for the message. */
int particles_reserve(struct particles *p, size_t room, const char *name);

/* "mass", "x" .. "vz": names of the columns 0 .. 6, and the value of body i in each. */
extern const char *const particles_columns[7];
double particles_value(const struct particles *p, size_t i, int column);

/* -1 with a message if a value of body i is not finite, or its mass negative. `kind`: "gas",
 * "dark", ... or NULL. */
int particles_check_body(const char *name, const struct particles *p, size_t i, const char *kind);

/* -1 with ENOTSUP: the file can only be read whole. */
int particles_refuse_parts(const char *name);

/* Set p->first to the first body of part `part` of `parts` of p->all bodies, and reserve its
 * arrays. Return its number of bodies; 0 with ENOTSUP: fewer bodies than parts; 0 with ENOMEM. */
size_t particles_begin_part(const char *name, size_t part, size_t parts, struct particles *p);

/* ---- particles_files.c: snapshots of several files. ---- */

/* The first file of a snapshot that `file` is the stem of, if there is no such file. The caller
 * frees it; NULL: read `file` itself. */
char *particles_first_file(const char *file);

/* Read all p->files files of a snapshot by `read`, and replace *p by their bodies: first the gas of
 * all files, last their stars. `file` is the name of the file that *p is. -1 with a message. */
typedef int particles_file_reader(const char *file, struct particles *p);
int particles_read_others(const char *file, particles_file_reader *read, struct particles *p);

/* Read part `part` of `parts` of such a snapshot. survey and read_rows: as in struct
 * particles_format; *p is the survey of `file`. */
typedef int particles_rows_reader(const char *file, size_t first, size_t count,
                                  struct particles *p);
int particles_read_others_part(const char *file, particles_file_reader *survey,
                               particles_rows_reader *read_rows, size_t part, size_t parts,
                               struct particles *p);

/* ---- particles_metadata.c ---- */

enum particles_kind { PARTICLES_REAL, PARTICLES_TEXT, PARTICLES_WHOLE };

/* The name of a metadata entry in files, and its kind. */
const char *particles_note_name(enum particles_note note);
enum particles_kind particles_note_kind(enum particles_note note);

/* Set metadata from a file's text; an invalid value is ignored. -1: ENOMEM. */
int particles_read_note(struct particles *p, enum particles_note note, const char *text,
                        size_t length);

/* Append half a sentence, such as "no Header/Time (0 is taken)", to p->missing. -1: ENOMEM. */
int particles_miss(struct particles *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append an item, such as "G 1 from Parameters", to p->origin. -1: ENOMEM. */
int particles_tell(struct particles *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- particles_space.c ---- */

/* Data of a header on the space of its bodies. */
struct particles_space {
    double comoving, periodic; /* flags, 0 or 1; NAN: the file has none */
    double omega, redshift;    /* matter's density; NAN: the file has none */
    double box[3];             /* sides; 0: none */
    const char *comoving_name, *periodic_name, *omega_name; /* of the attributes */
};

/* Set p->space if coordinates expand or the box is periodic; p->box if the header does not decide.
 * p->time is known. -1: ENOMEM. */
int particles_set_space(struct particles *p, const struct particles_space *space);

/* True if a body lies outside p->box. */
bool particles_leave_box(const struct particles *p);

/* Set p->space if no body of the file lies outside p->box. -1: ENOMEM. */
int particles_check_box(struct particles *p, bool outside);

#endif
