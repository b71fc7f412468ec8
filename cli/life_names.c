/* life_names.c - the names that the command line and the reports have for engines and bounds.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

const char *const life_engine_names[] = {"packed",   "local",  "global", "reference",
                                         "hashlife", "sparse", "auto",   NULL};
const char *const life_bounds_names[] = {"torus", "plane", NULL};
