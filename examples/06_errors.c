/* 06_errors.c - five common mistakes and their error messages.
 *
 * The layer never prints or exits by itself. A failing call returns NULL, -1 or (cl_event)-1, sets
 * clerrno to an errno value and oclerrno to OpenCL's code, and clerror() returns the message, once,
 * as dlerror does. STDCL_DEBUG=1 in the environment prints each error as it happens.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

static void tell(const char *what)
{
    const char *text = clerror();
    printf("%s (clerrno %d, oclerrno %d)\n    %s\n", what, clerrno, oclerrno,
           text ? text : "no error?");
}

int main(void)
{
    CLCONTEXT *cp = stddev;
    clndrange_t ndr = clndrange_init1d(0, 64, 0);
    float on_the_stack[64];

    if (!clsopen(cp, "__kernel void k(__global float *x)\n{\n    x[0] = y;\n}\n", CLLD_NOW))
        tell("a kernel that does not build");

    void *h = clsopen(cp,
                      "__kernel void fill(__global float *x, float value)"
                      "{ x[get_global_id(0)] = value; }",
                      CLLD_NOW);
    if (!clsym(cp, h, "full", 0))
        tell("a kernel by a wrong name");

    cl_kernel fill = clsym(cp, h, "fill", 0);
    float *x = clmalloc(cp, 64 * sizeof *x, 0);
    if (!fill || !x)
        return fprintf(stderr, "06_errors: %s\n", clerror()), 1;
    if (clarg_set(fill, 1, 1.0) != 0)
        tell("a double for a float");
    if (clforka(cp, 0, fill, &ndr, CL_EVENT_WAIT, on_the_stack, 1.0f) == (cl_event)-1)
        tell("memory that is not from clmalloc");
    clfree(x);
    if (clfree(x) != 0)
        tell("memory freed twice");
    return 0;
}
