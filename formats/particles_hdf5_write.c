/* particles_hdf5_write.c - writes bodies to HDF5 files, with the layout of particles_hdf5.c.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_hdf5.h"
#include "stdcl.h"

#include <errno.h>
#include <string.h>

#ifndef STDCL_HAVE_HDF5

int particles_hdf5_write(struct outfile *out, const struct particles *p)
{
    (void)p;
    return particles_hdf5_can_write(out->name);
}

int particles_hdf5_can_write(const char *file)
{
    return clerror_set(ENOTSUP, "%s: " HDF5_MISSING, file);
}

#else

#include "formats/hdf5_library.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const type_names[TYPES] = {HDF5_TYPE_NAMES};

/* Length and mass units of a file of bodies without units: kpc and 10^10 solar masses, as GADGET
 * has them; the velocity unit then follows from the run's G. And 10^9 years in seconds. */
static const double KPC = 3.085678e21, MASS_UNIT = 1.989e43, GYR = 3.15576e16;

/* Records the first failure of libhdf5. */
struct writer {
    hid_t file;
    const struct particles *p;
    bool failed;
    bool first; /* this process calls libhdf5: it is alone, or the first of several that write
                   together */
    const struct outfile_ranks *ranks; /* the processes that write together, or NULL */
    int fd, lost;                      /* lost: errno of this process's first failed write */
    struct outfile *out;
};

static void note_failure(struct writer *w, bool failed)
{
    w->failed = w->failed || failed;
}

/* Write n numbers, or a scalar for 0. */
static void put_numbers(struct writer *w, hid_t group, const char *name, hid_t stored, hid_t kind,
                        size_t n, const void *x)
{
    const hsize_t size = n;
    const hid_t space = n ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(group, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    note_failure(w, attribute < 0 || H5Awrite(attribute, kind, x) < 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void snapshot_put_real(struct writer *w, hid_t group, const char *name, double x)
{
    put_numbers(w, group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &x);
}

static void put_int(struct writer *w, hid_t group, const char *name, int x)
{
    put_numbers(w, group, name, H5T_STD_I32LE, H5T_NATIVE_INT, 0, &x);
}

static void snapshot_put_text(struct writer *w, hid_t group, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    put_numbers(w, group, name, type, type, 0, text);
    H5Tclose(type);
}

/* Units of length, mass and velocity: those of the file read, or such that G is the run's. */
static void find_units(const struct particles *p, double unit[3])
{
    const double G = particles_number(p, NOTE_G);
    for (int k = 0; k < 3; k++)
        unit[k] = particles_number(p, (enum particles_note)(NOTE_UnitLength_in_cm + k));
    if (unit[0] > 0 && unit[1] > 0 && unit[2] > 0)
        return;
    unit[0] = KPC;
    unit[1] = MASS_UNIT;
    unit[2] = sqrt(HDF5_G_CGS * MASS_UNIT / (KPC * (G > 0 ? G : 1)));
}

static void put_units(struct writer *w, hid_t group)
{
    double unit[3];
    find_units(w->p, unit);
    for (int k = 0; k < 3; k++)
        snapshot_put_real(w, group,
                          particles_note_name((enum particles_note)(NOTE_UnitLength_in_cm + k)),
                          unit[k]);
}

/* The same bodies give the same bytes: no time stamps. */
static hid_t without_times(hid_t what)
{
    const hid_t how = H5Pcreate(what);
    H5Pset_obj_track_times(how, false);
    return how;
}

static hid_t make_group(struct writer *w, const char *name)
{
    const hid_t how = without_times(H5P_GROUP_CREATE),
                group = H5Gcreate2(w->file, name, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Pclose(how);
    note_failure(w, group < 0);
    return group;
}

static void snapshot_put_header(struct writer *w, const size_t n[TYPES])
{
    static const char *const flags[] = {"Flag_Sfr",    "Flag_Cooling",  "Flag_StellarAge",
                                        "Flag_Metals", "Flag_Feedback", "Flag_DoublePrecision"};
    const double none[TYPES] = {0};
    const unsigned high[TYPES] = {0};
    unsigned count[TYPES];
    double unit[3];
    const hid_t group = make_group(w, "Header");
    find_units(w->p, unit);
    for (int type = 0; type < TYPES; type++)
        count[type] = (unsigned)n[type];
    put_numbers(w, group, "NumPart_ThisFile", H5T_STD_U32LE, H5T_NATIVE_UINT, TYPES, count);
    put_numbers(w, group, "NumPart_Total", H5T_STD_U32LE, H5T_NATIVE_UINT, TYPES, count);
    put_numbers(w, group, "NumPart_Total_HighWord", H5T_STD_U32LE, H5T_NATIVE_UINT, TYPES, high);
    put_numbers(w, group, "MassTable", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, TYPES, none);
    snapshot_put_real(w, group, "Time", w->p->time);
    snapshot_put_real(w, group, "Time_GYR", w->p->time * (unit[0] / unit[2]) / GYR);
    snapshot_put_real(w, group, "Redshift", 0);
    snapshot_put_real(w, group, "BoxSize", 0);
    put_int(w, group, "NumFilesPerSnapshot", 1);
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        put_int(w, group, flags[k], k == 5);
    put_units(w, group);
    H5Gclose(group);
}

static void put_notes(struct writer *w)
{
    const struct particles *p = w->p;
    const hid_t group = make_group(w, "Parameters");
    put_units(w, group);
    for (enum particles_note k = 0; k < PARTICLES_NOTE_COUNT; k++)
        if (p->note[k] && (k < NOTE_UnitLength_in_cm || k > NOTE_UnitVelocity_in_cm_per_s)) {
            if (particles_note_kind(k) == PARTICLES_REAL)
                snapshot_put_real(w, group, particles_note_name(k), particles_number(p, k));
            else
                snapshot_put_text(w, group, particles_note_name(k), p->note[k]);
        }
    H5Gclose(group);
}

/* Create a data set, allocated at once. */
static hid_t make_set(struct writer *w, hid_t group, const char *name, size_t n, hsize_t columns,
                      hid_t stored)
{
    const hsize_t size[] = {n, columns};
    const hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL),
                how = without_times(H5P_DATASET_CREATE);
    note_failure(w, H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) < 0 ||
                        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) < 0);
    const hid_t set = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Pclose(how);
    H5Sclose(space);
    return set;
}

/* A data set has n rows; this process has the rows first .. first + own - 1. */
struct set_rows {
    size_t n, first, own;
};

/* Write `size` bytes at a position: all of them, or this process's blocks. */
static void put_bytes(struct writer *w, uint64_t at, const void *x, size_t size)
{
    for (size_t done = 0, skip = 0; done < size && x && !w->lost;) {
        const size_t own =
            w->p->all ? size - done : outfile_own_part(w->ranks, at + done, size - done, &skip);
        const ssize_t n =
            own ? pwrite(w->fd, (const char *)x + done + skip, own, (off_t)(at + done + skip)) : 0;
        if (n < 0 && errno != EINTR)
            w->lost = errno;
        done += n < 0 ? 0 : skip + (size_t)n;
    }
    w->lost = x ? w->lost : ENOMEM; /* reported at the end: all processes continue together */
}

/* Each process writes its slice or its blocks of the numbers, which are contiguous from a position
 * that the first process knows. */
static void put_together(struct writer *w, hid_t set, const void *x, struct set_rows rows,
                         size_t row)
{
    const haddr_t offset = set >= 0 && !w->failed ? H5Dget_offset(set) : HADDR_UNDEF;
    uint64_t at = offset == HADDR_UNDEF ? UINT64_MAX : (uint64_t)offset;
    if (w->ranks->broadcast(w->ranks->arg, &at, sizeof at) != 0 || at == UINT64_MAX) {
        w->failed = true;
        return;
    }
    put_bytes(w, at + rows.first * row, x, rows.own * row);
}

/* Write rows piece by piece, so that a file that takes too long can be given up. */
static void put_alone(struct writer *w, hid_t set, hid_t kind, size_t n, hsize_t columns,
                      const char *x)
{
    enum { PIECE = 1 << 17 };
    const size_t row = columns * H5Tget_size(kind);
    const hid_t space = H5Dget_space(set);
    for (size_t done = 0, rows; done < n && !w->failed; done += rows) {
        rows = n - done < PIECE ? n - done : PIECE;
        if (outfile_ask(w->out, rows * row) < 0) {
            w->failed = true;
            break;
        }
        const hsize_t from[] = {done, 0}, size[] = {rows, columns};
        const hid_t piece = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL);
        note_failure(w, H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) < 0 ||
                            H5Dwrite(set, kind, piece, space, H5P_DEFAULT, x + done * row) < 0);
        H5Sclose(piece);
    }
    H5Sclose(space);
}

static void put_set(struct writer *w, hid_t group, const char *name, struct set_rows rows,
                    hsize_t columns, hid_t stored, hid_t kind, const void *x)
{
    const hid_t set = w->first && !w->failed && x
                          ? make_set(w, group, name, rows.n, columns, stored)
                          : H5I_INVALID_HID;
    note_failure(w, w->first && set < 0);
    if (w->ranks)
        put_together(w, set, x, rows, columns * H5Tget_size(kind));
    else if (!w->failed)
        put_alone(w, set, kind, rows.n, columns, x);
    if (set >= 0)
        H5Dclose(set);
}

static void put_reals(struct writer *w, hid_t group, const char *name, struct set_rows rows,
                      hsize_t columns, const double *x)
{
    put_set(w, group, name, rows, columns, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, x);
}

/* Bodies without IDs are numbered from 1, in their order. from: first of the rows in the arrays. */
static void put_ids(struct writer *w, hid_t group, struct set_rows rows, size_t from)
{
    uint64_t *id = malloc((rows.own + 1) * sizeof *id);
    note_failure(w, !id && !w->ranks);
    for (size_t i = 0; id && i < rows.own; i++)
        id[i] = w->p->id ? w->p->id[from + i] : w->p->first + from + i + 1;
    if (id || w->ranks)
        put_set(w, group, "ParticleIDs", rows, 1, H5T_STD_U64LE, H5T_NATIVE_UINT64, id);
    free(id);
}

/* Rows of the bodies first .. first + n - 1 of all, and *from: the first of them in the arrays. */
static struct set_rows own_rows(const struct particles *p, size_t first, size_t n, size_t *from)
{
    const size_t begin = first > p->first ? first : p->first,
                 ends = p->first + p->n < first + n ? p->first + p->n : first + n;
    *from = ends > begin ? begin - p->first : 0;
    return (struct set_rows){n, ends > begin ? begin - first : 0, ends > begin ? ends - begin : 0};
}

static void put_type(struct writer *w, int type, size_t first, size_t n)
{
    const struct particles *p = w->p;
    size_t from;
    const struct set_rows rows = own_rows(p, first, n, &from);
    if (!n)
        return;
    const hid_t group = w->first ? make_group(w, type_names[type]) : H5I_INVALID_HID;
    put_reals(w, group, "Coordinates", rows, 3, p->pos[from]);
    put_reals(w, group, "Velocities", rows, 3, p->vel[from]);
    put_reals(w, group, "Masses", rows, 1, p->mass + from);
    put_ids(w, group, rows, from);
    if (p->potential)
        put_reals(w, group, "Potential", rows, 1, p->potential + from);
    if (p->softening)
        put_reals(w, group, "Softenings", rows, 1, p->softening + from);
    if (p->radius)
        put_reals(w, group, "Radii", rows, 1, p->radius + from);
    if (group >= 0)
        H5Gclose(group);
}

static void put_front(struct writer *w, const size_t n[TYPES])
{
    const hid_t group = make_group(w, "Units");
    put_units(w, group);
    H5Gclose(group);
    snapshot_put_header(w, n);
    put_notes(w);
}

static void put_all(struct writer *w)
{
    const struct particles *p = w->p;
    const size_t n[TYPES] = {p->gas, particles_all(p) - p->gas - p->star, 0, 0, p->star, 0};
    if (w->first)
        put_front(w, n);
    put_type(w, GAS, 0, p->gas);
    put_type(w, 1, p->gas, n[1]);
    put_type(w, STAR, p->gas + n[1], p->star);
}

/* libhdf5 opens files by name and seeks: use the temporary file, which is ours and locked. */
int particles_hdf5_write(struct outfile *out, const struct particles *p)
{
    const bool first = !out->ranks || out->ranks->rank == 0;
    if (first && !out->temporary)
        return clerror_set(ESPIPE, "%s: HDF5 cannot be written to a pipe or device; name a file",
                           out->name);
    if (hdf5_library_open() < 0)
        return -1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = without_times(H5P_FILE_CREATE);
    H5Pset_file_locking(access, false, true);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18,
                         H5F_LIBVER_V18); /* any reader of the last 15 years */
    struct writer w = {.file = first ? H5Fcreate(out->temporary, H5F_ACC_TRUNC, how, access)
                                     : H5I_INVALID_HID,
                       .p = p,
                       .fd = out->fd,
                       .first = first,
                       .ranks = out->ranks,
                       .out = out};
    H5Pclose(access);
    H5Pclose(how);
    note_failure(&w, first && w.file < 0);
    if (!w.failed || w.ranks)
        put_all(&w);
    errno = 0;
    if (w.file >= 0)
        note_failure(&w, H5Fclose(w.file) < 0);
    if (!w.failed && !w.lost)
        return 0;
    if (outfile_ask(out, 0) < 0)
        return -1;
    errno = w.lost ? w.lost : errno;
    return clerror_set(errno ? errno : EIO, "%s: cannot be written: %s; nothing was written",
                       out->name, errno ? strerror(errno) : "the disk is full or failed");
}

int particles_hdf5_can_write(const char *file)
{
    (void)file;
    return hdf5_library_open();
}

#endif
