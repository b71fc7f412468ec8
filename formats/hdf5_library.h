/* hdf5_library.h - libhdf5, opened when the first HDF5 file is read or written (core/deferred.h).
 * Private to formats/. Include it instead of <hdf5.h>.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_HDF5_LIBRARY_H
#define FORMATS_HDF5_LIBRARY_H

#include <hdf5.h>

#ifdef STDCL_HDF5_LIBRARY

#include "core/deferred.h"

/* The functions in use, and variables, which end in _g. Add each new one here, else the program
 * does not link. */
/* clang-format off */
#define HDF5_NAMES(X)                                                                              \
    X(H5Aclose) X(H5Acreate2) X(H5Aexists_by_name) X(H5Aget_space) X(H5Aget_type)                  \
    X(H5Aopen_by_name) X(H5Aread) X(H5Awrite) X(H5Dclose) X(H5Dcreate2) X(H5Dget_create_plist)     \
    X(H5Dget_offset) X(H5Dget_space) X(H5Dget_storage_size) X(H5Dget_type) X(H5Dopen2)             \
    X(H5Dread) X(H5Dwrite) X(H5Eset_auto2) X(H5Fclose) X(H5Fcreate) X(H5Fopen) X(H5Gclose)         \
    X(H5Gcreate2) X(H5Lexists) X(H5PLset_loading_state) X(H5P_CLS_DATASET_ACCESS_ID_g)             \
    X(H5P_CLS_DATASET_CREATE_ID_g) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_FILE_CREATE_ID_g)         \
    X(H5P_CLS_GROUP_CREATE_ID_g) X(H5P_CLS_LINK_ACCESS_ID_g) X(H5Pclose) X(H5Pcreate)              \
    X(H5Pget_external_count) X(H5Pget_filter2) X(H5Pget_layout) X(H5Pget_nfilters)                 \
    X(H5Pset_alloc_time) X(H5Pset_elink_cb) X(H5Pset_fapl_core) X(H5Pset_file_image)               \
    X(H5Pset_file_locking) X(H5Pset_fill_time) X(H5Pset_libver_bounds) X(H5Pset_obj_track_times)   \
    X(H5Sclose) X(H5Screate) X(H5Screate_simple) X(H5Sget_simple_extent_dims)                      \
    X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_npoints) X(H5Sselect_hyperslab)           \
    X(H5T_C_S1_g) X(H5T_IEEE_F64LE_g) X(H5T_NATIVE_DOUBLE_g) X(H5T_NATIVE_FLOAT_g)                 \
    X(H5T_NATIVE_INT_g) X(H5T_NATIVE_UINT64_g) X(H5T_NATIVE_UINT_g) X(H5T_STD_I32LE_g)             \
    X(H5T_STD_U32LE_g) X(H5T_STD_U64LE_g) X(H5Tclose) X(H5Tcopy) X(H5Tget_class) X(H5Tget_cset)    \
    X(H5Tget_size) X(H5Tis_variable_str) X(H5Tset_cset) X(H5Tset_size) X(H5check_version)          \
    X(H5dont_atexit) X(H5free_memory) X(H5open)
/* clang-format on */

struct hdf5_symbols {
    HDF5_NAMES(DEFERRED_FIELD)
};
extern struct hdf5_symbols hdf5_symbols;

/* Open the library, once; called before any function of it. Fails with ENOENT, and the reason in
 * clerror().
 *
 * The library does nothing at exit. There it would wait for a thread that does not return from a
 * damaged file, and close again a file that could not be closed, which crashes. */
int hdf5_library_open(void);

#define H5Aclose hdf5_symbols.H5Aclose
#define H5Acreate2 hdf5_symbols.H5Acreate2
#define H5Aexists_by_name hdf5_symbols.H5Aexists_by_name
#define H5Aget_space hdf5_symbols.H5Aget_space
#define H5Aget_type hdf5_symbols.H5Aget_type
#define H5Aopen_by_name hdf5_symbols.H5Aopen_by_name
#define H5Aread hdf5_symbols.H5Aread
#define H5Awrite hdf5_symbols.H5Awrite
#define H5Dclose hdf5_symbols.H5Dclose
#define H5Dcreate2 hdf5_symbols.H5Dcreate2
#define H5Dget_create_plist hdf5_symbols.H5Dget_create_plist
#define H5Dget_offset hdf5_symbols.H5Dget_offset
#define H5Dget_space hdf5_symbols.H5Dget_space
#define H5Dget_storage_size hdf5_symbols.H5Dget_storage_size
#define H5Dget_type hdf5_symbols.H5Dget_type
#define H5Dopen2 hdf5_symbols.H5Dopen2
#define H5Dread hdf5_symbols.H5Dread
#define H5Dwrite hdf5_symbols.H5Dwrite
#define H5Eset_auto2 hdf5_symbols.H5Eset_auto2
#define H5Fclose hdf5_symbols.H5Fclose
#define H5Fcreate hdf5_symbols.H5Fcreate
#define H5Fopen hdf5_symbols.H5Fopen
#define H5Gclose hdf5_symbols.H5Gclose
#define H5Gcreate2 hdf5_symbols.H5Gcreate2
#define H5Lexists hdf5_symbols.H5Lexists
#define H5PLset_loading_state hdf5_symbols.H5PLset_loading_state
#define H5P_CLS_DATASET_ACCESS_ID_g (*hdf5_symbols.H5P_CLS_DATASET_ACCESS_ID_g)
#define H5P_CLS_DATASET_CREATE_ID_g (*hdf5_symbols.H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g (*hdf5_symbols.H5P_CLS_FILE_ACCESS_ID_g)
#define H5P_CLS_FILE_CREATE_ID_g (*hdf5_symbols.H5P_CLS_FILE_CREATE_ID_g)
#define H5P_CLS_GROUP_CREATE_ID_g (*hdf5_symbols.H5P_CLS_GROUP_CREATE_ID_g)
#define H5P_CLS_LINK_ACCESS_ID_g (*hdf5_symbols.H5P_CLS_LINK_ACCESS_ID_g)
#define H5Pclose hdf5_symbols.H5Pclose
#define H5Pcreate hdf5_symbols.H5Pcreate
#define H5Pget_external_count hdf5_symbols.H5Pget_external_count
#define H5Pget_filter2 hdf5_symbols.H5Pget_filter2
#define H5Pget_layout hdf5_symbols.H5Pget_layout
#define H5Pget_nfilters hdf5_symbols.H5Pget_nfilters
#define H5Pset_alloc_time hdf5_symbols.H5Pset_alloc_time
#define H5Pset_elink_cb hdf5_symbols.H5Pset_elink_cb
#define H5Pset_fapl_core hdf5_symbols.H5Pset_fapl_core
#define H5Pset_file_image hdf5_symbols.H5Pset_file_image
#define H5Pset_file_locking hdf5_symbols.H5Pset_file_locking
#define H5Pset_fill_time hdf5_symbols.H5Pset_fill_time
#define H5Pset_libver_bounds hdf5_symbols.H5Pset_libver_bounds
#define H5Pset_obj_track_times hdf5_symbols.H5Pset_obj_track_times
#define H5Sclose hdf5_symbols.H5Sclose
#define H5Screate hdf5_symbols.H5Screate
#define H5Screate_simple hdf5_symbols.H5Screate_simple
#define H5Sget_simple_extent_dims hdf5_symbols.H5Sget_simple_extent_dims
#define H5Sget_simple_extent_ndims hdf5_symbols.H5Sget_simple_extent_ndims
#define H5Sget_simple_extent_npoints hdf5_symbols.H5Sget_simple_extent_npoints
#define H5Sselect_hyperslab hdf5_symbols.H5Sselect_hyperslab
#define H5T_C_S1_g (*hdf5_symbols.H5T_C_S1_g)
#define H5T_IEEE_F64LE_g (*hdf5_symbols.H5T_IEEE_F64LE_g)
#define H5T_NATIVE_DOUBLE_g (*hdf5_symbols.H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_FLOAT_g (*hdf5_symbols.H5T_NATIVE_FLOAT_g)
#define H5T_NATIVE_INT_g (*hdf5_symbols.H5T_NATIVE_INT_g)
#define H5T_NATIVE_UINT64_g (*hdf5_symbols.H5T_NATIVE_UINT64_g)
#define H5T_NATIVE_UINT_g (*hdf5_symbols.H5T_NATIVE_UINT_g)
#define H5T_STD_I32LE_g (*hdf5_symbols.H5T_STD_I32LE_g)
#define H5T_STD_U32LE_g (*hdf5_symbols.H5T_STD_U32LE_g)
#define H5T_STD_U64LE_g (*hdf5_symbols.H5T_STD_U64LE_g)
#define H5Tclose hdf5_symbols.H5Tclose
#define H5Tcopy hdf5_symbols.H5Tcopy
#define H5Tget_class hdf5_symbols.H5Tget_class
#define H5Tget_cset hdf5_symbols.H5Tget_cset
#define H5Tget_size hdf5_symbols.H5Tget_size
#define H5Tis_variable_str hdf5_symbols.H5Tis_variable_str
#define H5Tset_cset hdf5_symbols.H5Tset_cset
#define H5Tset_size hdf5_symbols.H5Tset_size
#define H5check_version hdf5_symbols.H5check_version
#define H5dont_atexit hdf5_symbols.H5dont_atexit
#define H5free_memory hdf5_symbols.H5free_memory
#define H5open hdf5_symbols.H5open

#else
static inline int hdf5_library_open(void)
{
    H5dont_atexit();
    return 0;
}
#endif

#endif
