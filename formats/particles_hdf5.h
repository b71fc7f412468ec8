/* particles_hdf5.h - shared by the reader and the writer of HDF5 snapshots.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARTICLES_HDF5_H
#define FORMATS_PARTICLES_HDF5_H

#include "formats/particles_format.h"

#define HDF5_MISSING                                                                               \
    "HDF5 needs libhdf5, which this was built without: install it (Debian: libhdf5-dev) and build again"

/* Particle types. SWIFT has a seventh, neutrinos, which is only read. */
enum { TYPES = 6, READ_TYPES = 7, GAS = 0, STAR = 4, LAST_READ = 6 };
#define HDF5_TYPE_NAMES "PartType0", "PartType1", "PartType2", "PartType3", "PartType4", "PartType5"

#define HDF5_G_CGS 6.67430e-8 /* gravitational constant in cgs units */

#ifdef STDCL_HAVE_HDF5

#include "formats/hdf5_source.h"

/* A file being read. */
struct snapshot {
    struct hdf5_source source;
    const char *name;
    struct particles *p;
    double mass[READ_TYPES], total[READ_TYPES]; /* of the header; total: bodies in all files */
    double softening[READ_TYPES];
    bool one_softening; /* equal for all types with bodies */
    char softening_name[80];
    size_t n[READ_TYPES], first[READ_TYPES];
    size_t begin, end; /* bodies to read, appended to those of *p */
};

/* particles_header.c. Read the header, with units, G and the kind of space. -1 with a message. */
int snapshot_read_header(struct snapshot *s);

/* True if the snapshot has bodies of the type, in any of its files. s->n is known. */
bool snapshot_has_type(const struct snapshot *s, int type);

/* Find the softening of every type with bodies. False if any has none. */
bool snapshot_find_softenings(struct snapshot *s);

#endif

int particles_hdf5_write(struct outfile *out, const struct particles *p);
int particles_hdf5_can_write(const char *file);

#endif
