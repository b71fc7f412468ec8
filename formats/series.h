/* series.h - numbered files of one run: a name such as snap-%04d.hdf5, an index, and an XDMF file
 * for ParaView.
 *
 *   snap-0000.hdf5 snap-0001.hdf5 ...    written by the caller under series_name
 *   snap-series.csv                      number, file, time and step of each
 *   snap-series.xdmf                     for HDF5: ParaView opens it as one film
 *
 * The index and the XDMF file are rewritten for each file, so that they are complete after a run
 * was killed.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_SERIES_H
#define FORMATS_SERIES_H

#include "formats/particles.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if a name stands for a series: it has one place for a number, %d or %04d. */
bool series_is(const char *pattern);

/* True if a name is an invalid series: several places, or one for a number of more than 99 digits.
 */
bool series_is_wrong(const char *pattern);

/* The name of file `number`, or with "series" in place of the number and another suffix (".csv").
 * The caller frees it; NULL: out of memory. */
char *series_name(const char *pattern, size_t number);
char *series_companion(const char *pattern, const char *suffix);

/* One file of a series. */
struct series_file {
    size_t number, step;
    double time;
    size_t gas, other, star; /* number of bodies */
    int also;                /* as in struct particles */
    int unused;              /* 0, in place of padding: checkpoints contain it */
};

struct series {
    const char *pattern; /* not owned */
    size_t n;
    struct series_file *file;
};

/* Add a file with these bodies and rewrite the companions. -1 with a message. */
int series_add(struct series *series, size_t step, const struct particles *p);

/* Write both companions, or for a `pattern` without a number's place FILE.xdmf beside FILE.hdf5. */
int series_write(const struct series *series);

void series_free(struct series *series);

#ifdef __cplusplus
}
#endif
#endif
