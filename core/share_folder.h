/* share_folder.h - finds the files that stdcl reads at run time, wherever it was moved.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_SHARE_FOLDER_H
#define CORE_SHARE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Write the path of the folder share/stdcl/NAME that has the readable file FILE to path[size]. It
 * is searched above the library or program that contains this code: lib/libstdcl.so, bin/stdcl and
 * lib/x86_64-linux-gnu/libstdcl.so all have share/ in a folder above; the build folder has one,
 * too. The last place is the installation prefix. False, and an empty path, if there is none. */
bool share_folder_find(const char *name, const char *file, char *path, size_t size);

#endif
