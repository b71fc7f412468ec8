/* series.h - numbered files of one run: a name such as snap-%04d.hdf5, an index of them, and a file
 * that ParaView opens.
 *
 *   snap-0000.hdf5 snap-0001.hdf5 ...    what the caller writes under series_name
 *   snap-series.csv                      number, file, time and step of each
 *   snap-series.xdmf                     for HDF5: the same as XDMF, which ParaView opens as one
 *                                        film
 *
 * Both of the latter are written anew for each file, so that those of a run that was killed are
 * whole.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_SERIES_H
#define FORMATS_SERIES_H

#include "formats/particles.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a name stands for a series: it has one place for a number, %d or %04d. */
bool series_is(const char *pattern);

/* Whether it was meant to: several places, or one for a number of more than 99 digits. */
bool series_is_wrong(const char *pattern);

/* The name of file `number`, or with "series" in place of the number and another suffix (".csv").
 * From malloc; NULL without memory. */
char *series_name(const char *pattern, size_t number);
char *series_companion(const char *pattern, const char *suffix);

/* What is known of one file. */
struct series_file {
    size_t number, step;
    double time;
    size_t gas, other, star; /* bodies */
    int also;                /* as in struct particles */
};

struct series {
    const char *pattern; /* not owned */
    size_t n;
    struct series_file *file;
};

/* Adds a file of these bodies, and writes the companions. -1 with a sentence. */
int series_add(struct series *series, size_t step, const struct particles *p);

/* Writes both companions, or for `pattern` without a place for a number, FILE.xdmf beside
 * FILE.hdf5. */
int series_write(const struct series *series);

void series_free(struct series *series);

#ifdef __cplusplus
}
#endif
#endif
