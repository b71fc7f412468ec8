/* A program that carries kernels which `stdcl embed` made an object of: both files are there, found by
 * clopen(cp, NULL, ...) and, by name, by clexec. The object is linked in by CMakeLists.txt.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

enum { N = 1000 };

static void kernels_are_found_and_run(void **state)
{
    CLCONTEXT *cp = stddev;
    (void)state;
    if (!cp) {
        print_message("no OpenCL device\n");
        skip();
    }
    void *program = clopen(cp, NULL, CLLD_NOW);
    ready(program);
    cl_kernel add = clsym(cp, program, "cli_add", 0), scale = clsym(cp, program, "cli_scale", 0);
    ready(add);
    ready(scale);
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    for (int i = 0; i < N; i++)
        x[i] = i;
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    started(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    started(clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT, x, 7));
    started(clforka(cp, 0, scale, &ndr, CL_EVENT_NOWAIT, x, 3));
    started(clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], 3 * (i + 7));
    done(clexecb(cp, 0, &ndr, cli_add, x, 1));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(x[5], 37);
    works(clfree(x));
    works(clclose(cp, program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_found_and_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
