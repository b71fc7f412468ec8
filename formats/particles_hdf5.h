/* particles_hdf5.h - shared by the reader and the writer of HDF5 snapshots.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARTICLES_HDF5_H
#define FORMATS_PARTICLES_HDF5_H

#include "formats/particles_format.h"

#define HDF5_MISSING                                                                               \
    "HDF5 needs libhdf5, which this was built without: install it (Debian: libhdf5-dev) and build again"

/* Particle types. */
enum { TYPES = 6, GAS = 0, STAR = 4, LAST = 5 };
#define HDF5_TYPE_NAMES "PartType0", "PartType1", "PartType2", "PartType3", "PartType4", "PartType5"

#define HDF5_G_CGS 6.67430e-8 /* gravitational constant in cgs units */

int particles_hdf5_write(struct outfile *out, const struct particles *p);

#endif
