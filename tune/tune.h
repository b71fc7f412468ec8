/* tune.h - calls between the files of the tuning store.
 *
 *   tune.c        matching entries to devices, lookups, adding an entry
 *   tune_file.c   files of entries: path, validated reading, atomic replacement
 *   shape.c       words KEY=NUMBER; choice of a shape
 *   search.c      the best shape by trial
 * SPDX-License-Identifier: MIT
 */
#ifndef TUNE_TUNE_H
#define TUNE_TUNE_H

#include "core/core.h"

#include <jansson.h>

#define TUNE_FORMAT "stdcl-tuning-1"

/* ---- tune_file.c ---- */

/* Path of the user's file with a suffix; false if the environment names no place for it. */
bool tune_path(char *path, size_t size, const char *suffix);

/* Parse a file's text into entries, or NULL with the reason in why[]. The caller releases them. */
json_t *tune_parse(const char *text, size_t size, char *why, size_t room);

/* Read the entries of a file: empty if there is no file, NULL with why[] if it cannot be used. */
json_t *tune_read(const char *path, char *why, size_t room);

/* Put an entry into the user's file; it replaces the entry of the same kernel, device, driver and
 * power of two of the size. A file that cannot be used is kept as "...unreadable". */
int tune_put(const char *path, json_t *row);

/* True if a text is one or more words KEY=NUMBER that fit struct cltune_row. */
bool tune_is_shape(const char *text);

/* The power of two nearest to a size: entries are stored per power of two. */
int tune_bucket(size_t size);

/* ---- tune.c ---- */

/* How an entry matches a device, best first; families follow from TUNE_FAMILY on. */
enum tune_rank { TUNE_EXACT, TUNE_OTHER_DRIVER, TUNE_SHIPPED, TUNE_FAMILY, TUNE_NONE = 99 };
enum { TUNE_MAX_FAMILIES = 4 };

struct tune_device {
    const char *name, *driver;
    const char
        *family[TUNE_MAX_FAMILIES + 1]; /* "family:...", most specific first, NULL at the end */
};

/* The families of a device, by type, vendor and for NVIDIA's GPUs the major compute capability (0:
 * unknown). */
void tune_families(cl_device_type type, const char *vendor, cl_uint capability,
                   const char *family[TUNE_MAX_FAMILIES + 1]);

/* As cltune_find, among the shipped entries. */
int tune_find_shipped(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                      struct cltune_row *row);

/* The best entry for a kernel and size, or NULL. If *rank is a family: its number is rank -
 * TUNE_FAMILY. */
const json_t *tune_choose(const json_t *user, const json_t *shipped,
                          const struct tune_device *device, const char *kernel, size_t size,
                          int *rank);

#endif
