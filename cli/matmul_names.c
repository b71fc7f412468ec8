/* matmul_names.c - names of precisions and of transpositions.
 * SPDX-License-Identifier: MIT
 */
#include "matmul_job.h"

#include <stddef.h>

const char *const matmul_precision_names[] = {"single", "double", NULL};
const char *const matmul_trans_names[] = {"NN", "NT", "TN", "TT", NULL};
