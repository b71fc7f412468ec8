/* matmul_names.c - the names that the command line and the reports have for precisions and of what
 * is transposed.
 * SPDX-License-Identifier: MIT
 */
#include "matmul_job.h"

const char *const matmul_precision_names[] = {"single", "double", NULL};
const char *const matmul_trans_names[] = {"NN", "NT", "TN", "TT", NULL};
