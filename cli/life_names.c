/* life_names.c - names of engines and bounds.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

#include <stddef.h>

const char *const life_engine_names[] = {"packed",   "local",  "global", "reference",
                                         "hashlife", "sparse", "auto",   NULL};
const char *const life_bounds_names[] = {"torus", "plane", NULL};
