/* layer.c - a program outside the repository that uses an installed libstdcl: doubles some numbers.
 *
 * The test puts a line that defines INSTALLED_COPY into the installed header; only with that line
 * does this compile, and with the argument "same-header" its kernel must have seen it as well.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

#ifndef INSTALLED_COPY
#error "this is not the installed stdcl.h"
#endif

static const char source[] = "#include <stdcl.h>\n"
                             "kernel void twice(global float *x)\n"
                             "{\n"
                             "    x[get_global_id(0)] *= 2.0f;\n"
                             "#ifdef INSTALLED_COPY\n"
                             "    if (get_global_id(0) == 0) x[0] = -1.0f;\n"
                             "#endif\n"
                             "}\n";

enum { N = 1000 };

int main(int argc, char **argv)
{
    const float first = argc > 1 && strcmp(argv[1], "same-header") == 0 ? -1.0f : 0.0f;
    CLCONTEXT *cp = stddev;
    if (!cp) {
        puts("no OpenCL device here");
        return 77;
    }
    void *h = clsopen(cp, source, CLLD_NOW);
    cl_kernel twice = h ? clsym(cp, h, "twice", 0) : NULL;
    float *x = clmalloc(cp, N * sizeof *x, 0);
    if (!twice || !x) {
        fprintf(stderr, "%s\n", clerror());
        return 1;
    }
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, 0, twice, &ndr, CL_EVENT_NOWAIT, x);
    clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT) != 0) {
        fprintf(stderr, "%s\n", clerror());
        return 1;
    }
    if (argc > 1 && x[0] != first) {
        fprintf(stderr, "the kernel did not include the installed <stdcl.h>\n");
        return 1;
    }
    for (int i = 1; i < N; i++)
        if (x[i] != 2.0f * (float)i) {
            fprintf(stderr, "twice %d is %g\n", i, (double)x[i]);
            return 1;
        }
    puts("1998 is twice 999");
    return 0;
}
