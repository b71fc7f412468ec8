/* hdf5_source.h - HDF5 files as input, which may come from anywhere. Private to formats/.
 *
 * A file of HDF5 can refer to other files: links to their objects, data sets whose bytes are
 * theirs, virtual data sets; and it can name filters, for which libhdf5 loads code. All of these
 * are refused. What libhdf5 itself does with a damaged file is bounded by a time limit.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_HDF5_SOURCE_H
#define FORMATS_HDF5_SOURCE_H

#include "formats/watchdog.h"

#include "formats/hdf5_library.h"
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hdf5_source {
    const char *name; /* for messages; not owned */
    hid_t file;
    hid_t links;     /* access property list for names of groups and attributes ... */
    hid_t sets;      /* ... and of data sets */
    long long bytes; /* of the file */
    bool outside;    /* a name led to another file, and was not followed */
    struct watchdog *watchdog;
};

/* Processor seconds that libhdf5 may take for a file besides those for its numbers. Tests lower
 * it. */
extern double hdf5_seconds;

/* Run work(arg) with the time limit, as watchdog_run; `name` is the file's, for the message. 1 with
 * ETIMEDOUT: the work goes on, and `arg` must stay. */
int hdf5_run(const char *name, int (*work)(struct watchdog *w, void *arg), void *arg);

/* Open a file by its name, or, if `image` is given, an image of `size` bytes. False, with
 * clerror() unchanged, if libhdf5 cannot. Close it in both cases. */
bool hdf5_source_open(struct hdf5_source *s, struct watchdog *w, const char *name,
                      const void *image, size_t size);

/* Return `status`; but -1 with EINVAL if a name led to another file. */
int hdf5_source_close(struct hdf5_source *s, int status);

/* True if the file has the group, and, unless `name` is NULL, the group this attribute. For a group
 * in a group the outer one must exist. */
bool hdf5_has(const struct hdf5_source *s, const char *group, const char *name);

/* Read up to `most` numbers of an attribute with at most 16. Return their number; 0: missing, or no
 * numbers. */
size_t hdf5_numbers(const struct hdf5_source *s, const char *group, const char *name, double *x,
                    size_t most);

/* Read an attribute that is one number, or an array of one; false: missing. */
bool hdf5_number(const struct hdf5_source *s, const char *group, const char *name, double *x);

/* Read a text of fixed or variable length; the caller frees it; NULL: missing. */
char *hdf5_text(const struct hdf5_source *s, const char *group, const char *name);

/* -1 with EINVAL if the data set's bytes are in other files or pass a filter of others. Before any
 * other question to the data set. */
int hdf5_check_set(const struct hdf5_source *s, const char *name, hid_t set);

/* -1 with EINVAL if the file does not hold `numbers` numbers of the data set, compressed or not;
 * with ENOMEM if there is no memory for the `need` bytes to be read. Allows the time that reading
 * takes. */
int hdf5_check_size(const struct hdf5_source *s, const char *name, hid_t set, double numbers,
                    double need);

#ifdef __cplusplus
}
#endif
#endif
