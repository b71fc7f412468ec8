/* unoptimised.c - PoCL's front end does not optimise the kernels of a test that links this file,
 * nor those of commands that the test starts. With STDCL_TEST_DEEP in the environment it does.
 *
 * A constructor sets the variable, since the tests and PoCL read the environment.
 * SPDX-License-Identifier: MIT
 */
#include "deep.h"
#include "pocl.h"

__attribute__((constructor)) static void choose(void)
{
    if (!deep_tests() && pocl_runs_unoptimised(pocl_version(NULL)))
        setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
}
