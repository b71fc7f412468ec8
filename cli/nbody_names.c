/* nbody_names.c - the names that the command line and the reports have for models, integrators, precisions and kernels.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

const char *const nbody_model_names[] = {"plummer", "uniform", "cold", "collision", "figure8",
                                         "pythagorean", NULL};
const char *const nbody_integrator_names[] = {"leapfrog", "hermite4", "taylor", NULL};
const char *const nbody_precision_names[] = {"single", "double", NULL};
const char *const nbody_kernel_names[] = {"tuned", "naive", "branchless", "tiled", NULL};
