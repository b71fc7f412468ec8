/* check_faulty.c - program for test_check: launch the given kernel of kernels/faulty.cl twice,
 * in two contexts, and exit with the given status. Its blocks are zero-copy; the host writes the
 * input.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

#include <stdio.h>
#include <stdlib.h>

static int run_faulty(CLCONTEXT *cp, const char *name)
{
    enum { N = 8 };
    void *program = clopen(cp, "kernels/faulty.cl", CLLD_NOW);
    cl_kernel krn = program ? clsym(cp, program, name, 0) : NULL;
    int *x = clmalloc(cp, N * sizeof *x, CL_MEM_ZEROCOPY),
        *y = clmalloc(cp, N * sizeof *y, CL_MEM_ZEROCOPY);
    if (!krn || !x || !y)
        return fprintf(stderr, "%s\n", clerror()), -1;
    for (int i = 0; i < N; i++)
        y[i] = -i;
    clndrange_t ndr = clndrange_init1d(0, N, 4);
    clmsync(cp, 0, y, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, 0, krn, &ndr, CL_EVENT_NOWAIT, x, y);
    clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT))
        return fprintf(stderr, "%s\n", clerror()), -1;
    printf("%d\n", x[0]);
    clfree(x);
    clfree(y);
    return 0;
}

int main(int argc, char **argv)
{
    return argc < 3 || run_faulty(stdgpu ? stdgpu : stdcpu, argv[1]) || run_faulty(stddev, argv[1])
               ? 99
               : atoi(argv[2]);
}
