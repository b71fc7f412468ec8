/* unoptimised.c - kernels of tests that CMakeLists.txt calls UNOPTIMISED, and those of commands
 * they start, PoCL's front end does not optimise: before the program begins, since its tests and
 * PoCL read the environment.
 * SPDX-License-Identifier: MIT
 */
#include "pocl.h"

__attribute__((constructor)) static void choose(void)
{
    if (getenv("STDCL_TEST_UNOPTIMISED") && pocl_runs_unoptimised(pocl_version(NULL)))
        setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
}
