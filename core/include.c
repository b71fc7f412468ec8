/* include.c - finds <stdcl.h> for kernels that include it.
 *
 * The header is installed as share/stdcl/include/stdcl.h, so it is there without the development
 * files. It is searched relative to this code, wherever that was moved: lib/libstdcl.so, bin/stdcl
 * and lib/x86_64-linux-gnu/libstdcl.so all have share/ in a folder above. The build folder has one
 * too.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

#include <dlfcn.h>
#include <unistd.h>

enum { LEVELS = 3 }; /* parent folders that are searched */

static char folder[4096];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool try(const char *above, const char *rest)
{
    char path[sizeof folder + 16];
    snprintf(folder, sizeof folder, "%s%s", above, rest);
    snprintf(path, sizeof path, "%s/stdcl.h", folder);
    if (access(path, R_OK) != 0)
        folder[0] = '\0';
    return folder[0] != '\0';
}

/* Path of the library or program that contains this code; the caller frees it. NULL if unknown. */
static char *own_file(void)
{
    Dl_info self;
    char *path = NULL;
    if (dladdr((void *)&once, &self) && self.dli_fname && strchr(self.dli_fname, '/'))
        path = realpath(self.dli_fname, NULL);
    return path ? path : realpath("/proc/self/exe", NULL); /* a program found through $PATH */
}

/* $STDCL_INCLUDE, then relative to this code, then the installation prefix. */
static void find_include_folder(void)
{
    const char *wish = secure_getenv("STDCL_INCLUDE");
    char *path = own_file();
    bool found = wish && try(wish, "");
    for (int level = 0; path && !found && level <= LEVELS; level++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            break;
        *slash = '\0';
        found = level > 0 && try(path, "/share/stdcl/include");
    }
    if (!found)
        (void)try(STDCL_INSTALL_INCLUDE, "");
    free(path);
}

const char *include_folder(void)
{
    pthread_once(&once, find_include_folder);
    return folder;
}
