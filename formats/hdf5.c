/* hdf5.c - arrays of rows from HDF5 files, by libhdf5 where it was found.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/hdf5.h"

#include <stdcl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool hdf5_is(const char *file)
{
    unsigned char start[8];
    struct stat info;
    const bool regular = stat(file, &info) == 0 && S_ISREG(info.st_mode);
    FILE *fp = regular ? fopen(file, "rb") : NULL; /* reading a pipe would consume its bytes */
    const bool is = fp && fread(start, 1, sizeof start, fp) == sizeof start &&
                    !memcmp(start, signature, sizeof start);
    if (fp)
        fclose(fp);
    return is;
}

#ifndef STDCL_HAVE_HDF5

int hdf5_read_rows(const char *file, const char *const names[], size_t columns,
                   struct hdf5_rows *rows)
{
    (void)names, (void)columns;
    *rows = (struct hdf5_rows){0, false, NULL};
    return clerror_set(ENOTSUP,
                       "%s is an HDF5 file, and this was built without libhdf5: install it "
                       "(Debian: libhdf5-dev) and build again",
                       file);
}

#else

#include "formats/hdf5_source.h"

#include <errno.h>

/* What the thread with the time limit reads. */
struct hdf5_request {
    const char *const *names;
    size_t columns;
    struct hdf5_rows rows;
    char file[];
};

/* Open the first of the named data sets that the file has; `all` receives the list for messages. */
static hid_t open_first(const struct hdf5_source *s, const char *const names[], const char **name,
                        char *all, size_t room)
{
    hid_t set = H5I_INVALID_HID;
    *all = '\0';
    for (size_t i = 0; names[i] && set < 0; i++) {
        const size_t used = strlen(all);
        snprintf(all + used, room - used, "%s%s", i ? ", " : "", names[i]);
        set = H5Dopen2(s->file, names[i], s->sets);
        *name = names[i];
    }
    return set;
}

static int hdf5_check_shape(const char *file, const char *name, hid_t set, size_t columns,
                            size_t *n)
{
    hsize_t size[2] = {0, 0};
    const hid_t space = H5Dget_space(set);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    if (dimensions == 2)
        H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space);
    if (dimensions != 2)
        return clerror_set(EINVAL,
                           "%s: the data set %s has %d dimensions; rows of %zu numbers have two",
                           file, name, dimensions, columns);
    if (size[1] != columns || size[0] == 0 || size[0] > SIZE_MAX / columns / sizeof(double))
        return clerror_set(
            EINVAL, "%s: the data set %s is %llu x %llu; it must be N x %zu with N > 0", file, name,
            (unsigned long long)size[0], (unsigned long long)size[1], columns);
    *n = (size_t)size[0];
    return 0;
}

static int hdf5_read_set(const struct hdf5_source *s, const char *name, hid_t set, size_t columns,
                         struct hdf5_rows *rows)
{
    if (hdf5_check_set(s, name, set) != 0 ||
        hdf5_check_shape(s->name, name, set, columns, &rows->n) != 0)
        return -1;
    const hid_t type = H5Dget_type(set);
    const H5T_class_t kind = H5Tget_class(type);
    rows->wide = kind != H5T_FLOAT || H5Tget_size(type) > sizeof(float);
    H5Tclose(type);
    if (kind != H5T_FLOAT && kind != H5T_INTEGER)
        return clerror_set(EINVAL, "%s: the data set %s does not hold numbers", s->name, name);
    const size_t each = rows->wide ? sizeof(double) : sizeof(float);
    const double numbers = (double)rows->n * (double)columns;
    if (hdf5_check_size(s, name, set, numbers, numbers * (double)each) != 0)
        return -1;
    if (!(rows->data = malloc(rows->n * columns * each)))
        return clerror_set(ENOMEM, "%s: out of memory for %zu rows of %s", s->name, rows->n, name);
    if (H5Dread(set, rows->wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL,
                H5P_DEFAULT, rows->data) >= 0)
        return 0;
    free(rows->data);
    rows->data = NULL;
    return clerror_set(EIO, "%s: the data set %s cannot be read; the file is damaged or cut short",
                       s->name, name);
}

static int read_rows(struct watchdog *w, void *arg)
{
    struct hdf5_request *r = arg;
    struct hdf5_source s;
    const char *name = NULL;
    char all[512];
    if (!hdf5_source_open(&s, w, r->file, NULL, 0))
        return hdf5_source_close(
            &s,
            clerror_set(
                ENOENT,
                "%s cannot be opened as an HDF5 file; it is not there, damaged, or something else",
                r->file));
    const hid_t set = open_first(&s, r->names, &name, all, sizeof all);
    const int status =
        set < 0 ? clerror_set(ENOENT,
                              "%s has no data set %s; `h5ls -r` lists what it has, and a name "
                              "can be given",
                              r->file, all)
                : hdf5_read_set(&s, name, set, r->columns, &r->rows);
    if (set >= 0)
        H5Dclose(set);
    return hdf5_source_close(&s, status);
}

int hdf5_read_rows(const char *file, const char *const names[], size_t columns,
                   struct hdf5_rows *rows)
{
    struct hdf5_request *r = calloc(1, sizeof *r + strlen(file) + 1);
    *rows = (struct hdf5_rows){0, false, NULL};
    if (!r)
        return clerror_set(ENOMEM, "%s: out of memory", file);
    r->names = names;
    r->columns = columns;
    strcpy(r->file, file);
    const int status = hdf5_run(r->file, read_rows, r);
    if (status > 0) /* the thread uses the request */
        return -1;
    if (status == 0)
        *rows = r->rows;
    else
        free(r->rows.data);
    free(r);
    return status;
}

#endif
