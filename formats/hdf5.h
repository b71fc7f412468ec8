/* hdf5.h - arrays of rows from HDF5 files, such as velocities of particles.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_HDF5_H
#define FORMATS_HDF5_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hdf5_rows {
    size_t n;
    bool wide;  /* doubles, else floats */
    void *data; /* n rows of `columns` numbers, contiguous; the caller frees it */
};

/* True if the first eight bytes are HDF5's signature. False for unreadable files, and for pipes,
 * which are not opened. */
bool hdf5_is(const char *file);

/* Reads a data set of n x columns numbers, of any type that HDF5 converts: floats of at most 32
 * bits as floats, everything else as doubles. `names` are tried in order, up to a NULL. Errors:
 * ENOENT (no such file, none of the data sets: the message lists the names), EINVAL (another shape,
 * no numbers), EIO, ENOMEM, and ENOTSUP when this was built without libhdf5. */
int hdf5_read_rows(const char *file, const char *const names[], size_t columns,
                   struct hdf5_rows *rows);

#ifdef __cplusplus
}
#endif
#endif
