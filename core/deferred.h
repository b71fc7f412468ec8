/* deferred.h - libraries that are opened at their first use, not at the start of the program.
 *
 * Loading libhdf5 and libwebsockets, with the forty libraries which they need in turn, takes four
 * times as long as the whole rest of a short run. A file that uses such a library lists its symbols
 * in a macro NAMES(X), has a struct of pointers to them, made by DEFERRED_FIELD, and replaces each
 * name by its field. CMake (stdcl_defer) gives the name of the library. Where CMake finds no shared
 * library with a name, the program is linked as usual.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_DEFERRED_H
#define CORE_DEFERRED_H

#include <stdcl.h>

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define DEFERRED_FIELD(name) __typeof__(&(name)) name;
#define DEFERRED_NAME(name) #name,

/* Open a library, and write the addresses of n symbols to an array of pointers. The library stays
 * open. Fails with ENOENT, and the reason in clerror().
 *
 * A program that is linked with the library, too, may have moved its variables into itself (copy
 * relocation); the search in all of the program finds these. */
static inline int deferred_open(const char *library, const char *const names[], size_t n,
                                void *pointers)
{
    void *linked = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *symbol = handle;
    for (size_t i = 0; i < n && symbol; i++) {
        symbol = linked ? dlsym(RTLD_DEFAULT, names[i]) : NULL;
        if (!symbol)
            symbol = dlsym(handle, names[i]);
        memcpy((char *)pointers + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return symbol ? 0
                  : clerror_set(ENOENT, "the library %s cannot be opened: %s; install it again",
                                library, dlerror());
}

#endif
