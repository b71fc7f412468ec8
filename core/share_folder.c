/* share_folder.c - finds the files that stdcl reads at run time, wherever it was moved.
 * SPDX-License-Identifier: MIT
 */
#include "core/share_folder.h"
#include "core/core.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

enum { FOLDERS_ABOVE = 3 }; /* parent folders that are searched */

static bool share_has(const char *above, const char *name, const char *file, char *path,
                      size_t size)
{
    char whole[PATH_MAX + 256];
    snprintf(path, size, "%s/stdcl/%s", above, name);
    snprintf(whole, sizeof whole, "%s/%s", path, file);
    if (access(whole, R_OK) != 0)
        path[0] = '\0';
    return path[0] != '\0';
}

/* Path of the library or program that contains this code; the caller frees it. NULL if unknown. */
static char *own_file(void)
{
    static const char here;
    Dl_info self;
    char *path = NULL;
    if (dladdr((void *)(uintptr_t)&here, &self) && self.dli_fname && strchr(self.dli_fname, '/'))
        path = realpath(self.dli_fname, NULL);
    return path ? path : realpath("/proc/self/exe", NULL); /* a program found through $PATH */
}

bool share_folder_find(const char *name, const char *file, char *path, size_t size)
{
    char *above = own_file(), share[PATH_MAX + 8], *slash;
    bool found = false;
    for (int level = 0; above && !found && level <= FOLDERS_ABOVE; level++) {
        if (!(slash = strrchr(above, '/')))
            break;
        *slash = '\0';
        snprintf(share, sizeof share, "%s/share", above);
        found = level > 0 && share_has(share, name, file, path, size);
    }
    free(above);
    return found || share_has(STDCL_INSTALL_SHARE, name, file, path, size);
}
