/* quickly.c - probe for CMakeLists.txt: exits with 0 if kernels that PoCL's front end did not
 * optimise run.
 * SPDX-License-Identifier: MIT
 */
#include "pocl.h"

int main(void)
{
    return !pocl_runs_unoptimised(pocl_version(NULL));
}
