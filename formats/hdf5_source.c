/* hdf5_source.c - see hdf5_source.h.
 * SPDX-License-Identifier: MIT
 */
#include "formats/hdf5_source.h"

#include "core/host_memory.h"
#include "stdcl.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEFLATED_MOST = 1100 };              /* deflate compresses by a factor of at most 1032 */
static const double BYTES_PER_SECOND = 1e7; /* of numbers, decompressed and converted, at least */

double hdf5_seconds = 10;

/* ---- The time limit. ------------------------------------------------------------------------- */

static atomic_bool lost; /* a thread is in libhdf5 for ever, and the library has no locks */

int hdf5_run(const char *name, int (*work)(struct watchdog *w, void *arg), void *arg)
{
    if (atomic_load(&lost))
        return clerror_set(EBUSY, "%s: cannot be read: libhdf5 is still busy with a damaged file",
                           name);
    if (hdf5_library_open() < 0)
        return -1;
    const int status = watchdog_run(work, arg, hdf5_seconds);
    if (status <= 0)
        return status;
    atomic_store(&lost, true);
    clerror_set(ETIMEDOUT, "%s: libhdf5 had not read it after %g seconds; the file is damaged",
                name, hdf5_seconds);
    return 1;
}

/* ---- Opening. -------------------------------------------------------------------------------- */

/* Called by libhdf5 before it follows a link to another file: do not. */
static herr_t refuse_link(const char *parent, const char *group, const char *file,
                          const char *object, unsigned *flags, hid_t access, void *source)
{
    struct hdf5_source *s = source;
    (void)parent, (void)group, (void)file, (void)object, (void)flags, (void)access;
    s->outside = true;
    return -1;
}

static hid_t make_access(struct hdf5_source *s, hid_t kind)
{
    const hid_t access = H5Pcreate(kind);
    H5Pset_elink_cb(access, refuse_link, s);
    return access;
}

bool hdf5_source_open(struct hdf5_source *s, struct watchdog *w, const char *name,
                      const void *image, size_t size)
{
    struct stat info;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* libhdf5 prints nothing */
    H5PLset_loading_state(0);              /* and loads no code that a file names */
    *s = (struct hdf5_source){.name = name, .watchdog = w, .bytes = (long long)size};
    if (!image && stat(name, &info) == 0)
        s->bytes = info.st_size;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (image) {
        H5Pset_fapl_core(access, 1 << 16, 0);
        H5Pset_file_image(access, (void *)(uintptr_t)image, size);
    } else /* other processes may read it, or its disk may lack locks */
        H5Pset_file_locking(access, false, true);
    s->file = H5Fopen(image ? "memory" : name, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    s->links = make_access(s, H5P_LINK_ACCESS);
    s->sets = make_access(s, H5P_DATASET_ACCESS);
    return s->file >= 0;
}

int hdf5_source_close(struct hdf5_source *s, int status)
{
    H5Pclose(s->links);
    H5Pclose(s->sets);
    if (s->file >= 0)
        H5Fclose(s->file);
    return s->outside
               ? clerror_set(EINVAL,
                             "%s: has a link to another file, which is not followed; copy all into "
                             "one file first, by h5copy -f ext",
                             s->name)
               : status;
}

/* ---- Attributes. ----------------------------------------------------------------------------- */

bool hdf5_has(const struct hdf5_source *s, const char *group, const char *name)
{
    return H5Lexists(s->file, group, s->links) > 0 &&
           (!name || H5Aexists_by_name(s->file, group, name, s->links) > 0);
}

static hid_t open_attribute(const struct hdf5_source *s, const char *group, const char *name)
{
    return hdf5_has(s, group, name) ? H5Aopen_by_name(s->file, group, name, H5P_DEFAULT, s->links)
                                    : H5I_INVALID_HID;
}

size_t hdf5_numbers(const struct hdf5_source *s, const char *group, const char *name, double *x,
                    size_t most)
{
    enum { ROOM = 16 };
    double all[ROOM];
    const hid_t attribute = open_attribute(s, group, name);
    if (attribute < 0)
        return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const H5T_class_t class = H5Tget_class(type);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    size_t n = points > 0 && points <= ROOM ? (size_t)points : 0;
    if ((class != H5T_FLOAT && class != H5T_INTEGER) ||
        (n && H5Aread(attribute, H5T_NATIVE_DOUBLE, all) < 0))
        n = 0;
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    n = n < most ? n : most;
    memcpy(x, all, n * sizeof *x);
    return n;
}

bool hdf5_number(const struct hdf5_source *s, const char *group, const char *name, double *x)
{
    return hdf5_numbers(s, group, name, x, 1) == 1;
}

char *hdf5_text(const struct hdf5_source *s, const char *group, const char *name)
{
    char *text = NULL, *wandering = NULL;
    const hid_t attribute = open_attribute(s, group, name);
    if (attribute < 0)
        return NULL;
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const bool one = H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
    const hid_t memory = H5Tcopy(H5T_C_S1);
    const size_t size = H5Tget_size(type);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (one && H5Tis_variable_str(type) > 0) {
        H5Tset_size(memory, H5T_VARIABLE);
        if (H5Aread(attribute, memory, &wandering) >= 0 && wandering)
            text = strdup(wandering);
        H5free_memory(wandering);
    } else if (one && size < 65536 && (text = calloc(size + 1, 1))) {
        H5Tset_size(memory, size + 1);
        if (H5Aread(attribute, memory, text) < 0)
            *text = 0;
    }
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return text;
}

/* ---- Data sets. ------------------------------------------------------------------------------ */

/* The first filter of a data set that is not libhdf5's own; H5Z_FILTER_NONE: there is none. */
static H5Z_filter_t foreign_filter(hid_t plist)
{
    const int filters = H5Pget_nfilters(plist);
    for (int i = 0; i < filters; i++) {
        unsigned flags, config;
        size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(plist, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
            filter != H5Z_FILTER_FLETCHER32)
            return filter;
    }
    return filters < 0 ? H5Z_FILTER_ERROR : H5Z_FILTER_NONE;
}

int hdf5_check_set(const struct hdf5_source *s, const char *name, hid_t set)
{
    const hid_t plist = H5Dget_create_plist(set);
    const bool outside =
        plist < 0 || H5Pget_external_count(plist) != 0 || H5Pget_layout(plist) == H5D_VIRTUAL;
    const H5Z_filter_t filter = outside ? H5Z_FILTER_NONE : foreign_filter(plist);
    if (plist >= 0)
        H5Pclose(plist);
    if (outside)
        return clerror_set(EINVAL,
                           "%s: the bytes of %s are in other files, which are not read; copy them "
                           "into one file first, by h5repack",
                           s->name, name);
    return filter == H5Z_FILTER_NONE
               ? 0
               : clerror_set(EINVAL,
                             "%s: %s is stored through filter %d; only deflate, shuffle and "
                             "fletcher32 are read; convert it by h5repack -f GZIP=1",
                             s->name, name, (int)filter);
}

int hdf5_check_size(const struct hdf5_source *s, const char *name, hid_t set, double numbers,
                    double need)
{
    const hid_t type = H5Dget_type(set);
    const double stored = (double)H5Dget_storage_size(set),
                 held = stored < (double)s->bytes ? stored : (double)s->bytes,
                 wanted = numbers * (double)H5Tget_size(type), left = host_memory_left();
    H5Tclose(type);
    if (wanted > DEFLATED_MOST * held)
        return clerror_set(EINVAL,
                           "%s: %s is said to have %.0f numbers, more than the file can hold",
                           s->name, name, numbers);
    if (need > left)
        return clerror_set(ENOMEM,
                           "%s: the %.0f numbers of %s need %.0f MB of memory, of which "
                           "%.0f may be used",
                           s->name, numbers, name, need / 1e6, left / 1e6);
    watchdog_allow(s->watchdog, (wanted + need) / BYTES_PER_SECOND);
    return 0;
}
