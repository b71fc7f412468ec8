/* quickly.c - for CMakeLists.txt: ends with 0 where kernels run that PoCL's front end did not
 * optimise.
 * SPDX-License-Identifier: MIT
 */
#include "pocl.h"

int main(void)
{
    return !pocl_runs_unoptimised(pocl_version(NULL));
}
