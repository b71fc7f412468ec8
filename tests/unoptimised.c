/* unoptimised.c - build the kernels of the test that links this file, and of commands it starts,
 * without PoCL's front-end optimisation. With STDCL_TEST_DEEP in the environment they are
 * optimised.
 *
 * A constructor sets the variable, since both the tests and PoCL read the environment.
 * SPDX-License-Identifier: MIT
 */
#include "deep.h"
#include "pocl.h"

__attribute__((constructor)) static void choose(void)
{
    if (!deep_tests() && pocl_runs_unoptimised(pocl_version(NULL)))
        setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
}
