/* tune.h - what the files of the tuning store share.
 *
 *   tune.c        which row fits a device, lookups, adding a row
 *   tune_file.c   the files of rows: where, read with suspicion, replaced as a whole
 *   shape.c       words KEY=NUMBER into numbers and back; the choice of a shape
 *   search.c      the best shape by trial
 * SPDX-License-Identifier: MIT
 */
#ifndef TUNE_TUNE_H
#define TUNE_TUNE_H

#include "core/core.h"

#include <jansson.h>

#define TUNE_FORMAT "stdcl-tuning-1"

/* ---- tune_file.c ---- */

/* The user's file, with a suffix; false when the environment names no place for it. */
bool tune_path(char *path, size_t size, const char *suffix);

/* The rows of a file's text, or NULL with half a sentence in why[]. The caller releases them. */
json_t *tune_parse(const char *text, size_t size, char *why, size_t room);

/* The rows of a file; empty when there is none; NULL with why[] when it is not to be used. */
json_t *tune_read(const char *path, char *why, size_t room);

/* Puts a row into the user's file, in place of the one of the same kernel, device, driver and power
 * of two of the size. A file that cannot be used is kept beside the new one, as "...unreadable". */
int tune_put(const char *path, json_t *row);

/* Whether a text is words KEY=NUMBER that fit struct cltune_row; at least one. */
bool tune_is_shape(const char *text);

/* The power of two that a size is nearest to: rows of one power of two are for the same sizes. */
int tune_bucket(size_t size);

/* ---- tune.c ---- */

/* What a row may match by, best first; families follow each other from TUNE_FAMILY on. */
enum tune_rank { TUNE_EXACT, TUNE_OTHER_DRIVER, TUNE_SHIPPED, TUNE_FAMILY, TUNE_NONE = 99 };
enum { TUNE_MAX_FAMILIES = 4 };

struct tune_device {
    const char *name, *driver;
    const char
        *family[TUNE_MAX_FAMILIES + 1]; /* "family:...", most special first, NULL at the end */
};

/* The families of a device by its type, its vendor and, of NVIDIA's GPUs, the major number of their
 * compute capability (0: not known). */
void tune_families(cl_device_type type, const char *vendor, cl_uint capability,
                   const char *family[TUNE_MAX_FAMILIES + 1]);

/* The best row for a kernel and size, or NULL. `family` of *rank: rank - TUNE_FAMILY. */
const json_t *tune_choose(const json_t *user, const json_t *shipped,
                          const struct tune_device *device, const char *kernel, size_t size,
                          int *rank);

#endif
