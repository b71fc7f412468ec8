/* particles_format.h - the table of formats of bodies, and what they share. Private to formats/.
 *
 * A new format is a file particles_NAME.c, which defines `const struct particles_format
 * particles_NAME`, and its name in the list below. Messages and help texts follow from the table.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARTICLES_FORMAT_H
#define FORMATS_PARTICLES_FORMAT_H

#include "core/outfile.h"
#include "formats/particles.h"
#include "formats/reader.h"
#include "formats/suffix.h"

/* In this order a file's first bytes are shown to the formats; text, which takes what is left, is
 * last. */
#define PARTICLES_FORMATS(FORMAT)                                                                  \
    FORMAT(hdf5)                                                                                   \
    FORMAT(npy)                                                                                    \
    FORMAT(gadget)                                                                                 \
    FORMAT(tipsy_le)                                                                               \
    FORMAT(tipsy)                                                                                  \
    FORMAT(text)

struct particles_format {
    struct format_label label; /* comes first */

    /* Do the first bytes look like this format? `size` is 32, or less when that is all there is. */
    bool (*sniff)(const char *start, size_t size);

    /* Reads from the start of the content. On failure *p, which was empty, is for the caller to
     * free. */
    int (*read)(struct source *s, struct particles *p);

    /* Writes bodies that particles_write has checked. Errors of the disk also come later, from
     * outfile_commit. NULL: the format is only read. */
    int (*write)(struct outfile *out, const struct particles *p);

    /* About how many bytes a body takes, and each thing more that it has. */
    size_t bytes, more;
};

#define PARTICLES_DECLARE(name_) extern const struct particles_format particles_##name_;
PARTICLES_FORMATS(PARTICLES_DECLARE)

/* ---- particles_array.c: bodies in memory. ---- */

/* Gives the arrays of *p, those of p->also among them, room for `room` bodies, keeping the first
 * p->n. `name` is for the message. */
int particles_reserve(struct particles *p, size_t room, const char *name);

/* "mass", "x" .. "vz": the columns, 0 .. 6, and the value of body i in each. */
extern const char *const particles_columns[7];
double particles_value(const struct particles *p, size_t i, int column);

/* -1 with a sentence when a value of body i is not finite, or its mass negative. `kind`: "gas",
 * "dark", ... or NULL. */
int particles_check_body(const char *name, const struct particles *p, size_t i, const char *kind);

/* Takes arrays away that say nothing: softenings and potentials that are all 0. */
void particles_drop_zeros(struct particles *p);

/* ---- particles_metadata.c ---- */

enum particles_kind { PARTICLES_REAL, PARTICLES_TEXT, PARTICLES_WHOLE };

/* The name of a note in files, and its kind. */
const char *particles_note_name(enum particles_note note);
enum particles_kind particles_note_kind(enum particles_note note);

/* Sets a note from what a file says; what is no value of its kind is passed over. -1: ENOMEM. */
int particles_read_note(struct particles *p, enum particles_note note, const char *text,
                        size_t length);

/* Adds half a sentence, such as "no Header/Time (0 is taken)", to p->missing. -1: ENOMEM. */
int particles_miss(struct particles *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
