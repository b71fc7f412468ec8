/* hdf5_library.c - see hdf5_library.h.
 * SPDX-License-Identifier: MIT
 */
#include "formats/hdf5_library.h"

#ifdef STDCL_HDF5_LIBRARY

#include <pthread.h>
#include <stdbool.h>

struct hdf5_symbols hdf5_symbols;

static const char *const hdf5_symbols_names[] = {HDF5_NAMES(DEFERRED_NAME)};
enum { HDF5_NAMES_COUNT = sizeof hdf5_symbols_names / sizeof *hdf5_symbols_names };
_Static_assert(sizeof hdf5_symbols == HDF5_NAMES_COUNT * sizeof(void *), "a pointer for each name");

static pthread_mutex_t hdf5_symbols_lock = PTHREAD_MUTEX_INITIALIZER;
static bool hdf5_symbols_is_open;

int hdf5_library_open(void)
{
    pthread_mutex_lock(&hdf5_symbols_lock);
    const int status = hdf5_symbols_is_open ? 0
                                            : deferred_open(STDCL_HDF5_LIBRARY, hdf5_symbols_names,
                                                            HDF5_NAMES_COUNT, &hdf5_symbols);
    if (status == 0 && !hdf5_symbols_is_open)
        H5dont_atexit();
    hdf5_symbols_is_open = status == 0;
    pthread_mutex_unlock(&hdf5_symbols_lock);
    return status;
}

#endif
