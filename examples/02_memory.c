/* 02_memory.c - one pointer, several images: what clmsync copies, and what it does not.
 *
 * A block from clmalloc has an image on the host and one on each device. Only clmsync copies
 * between them, so the host may fill its array with the next problem while a device uses the
 * previous one.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

static const char source[] = "__kernel void square(__global float *x)"
                             "{ x[get_global_id(0)] *= x[get_global_id(0)]; }";

static int failed(void)
{
    fprintf(stderr, "02_memory: %s\n", clerror());
    return 1;
}

int main(void)
{
    enum { N = 4096 };
    CLCONTEXT *cp = stddev;
    float *x = clmalloc(cp, N * sizeof *x, 0);
    cl_kernel square = x ? clsym(cp, clsopen(cp, source, CLLD_NOW), "square", 0) : NULL;
    if (!square)
        return failed();
    clndrange_t all = clndrange_init1d(0, N, 0), upper = clndrange_init1d(0, N / 2, 0);

    for (int i = 0; i < N; i++)
        x[i] = 3;
    if (clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_WAIT)) /* blocking calls return 0 on success */
        return failed();
    x[0] = 100; /* the host's image only */
    if (clforka(cp, 0, square, &all, CL_EVENT_WAIT, x))
        return failed();
    printf("on the host, before the copy back: %g %g\n", x[0], x[1]);
    if (clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_WAIT))
        return failed();
    printf("after it:                          %g %g\n", x[0], x[1]);

    /* A pointer into a block works, too: the kernel sees a buffer that starts there. */
    clforka(cp, 0, square, &upper, CL_EVENT_NOWAIT, x + N / 2);
    clmsyncn(cp, 0, x + N / 2, N / 2 * sizeof *x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT)) /* reports failures since the last wait */
        return failed();
    printf("the upper half squared again:      %g %g\n", x[0], x[N - 1]);

    /* On a CPU, CL_MEM_ZEROCOPY makes host and device share one image: a sync then moves
     * nothing. */
    float *y = clmalloc(cp, N * sizeof *y, CL_MEM_ZEROCOPY);
    if (!y)
        return failed();
    y[5] = 7;
    clmsync(cp, 0, y, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(cp, 0, square, &all, CL_EVENT_NOWAIT, y);
    clmsync(cp, 0, y, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT))
        return failed();
    printf("zero-copy:                         %g, %zu bytes\n", y[5], clsizeofmem(y));
    clfree(x);
    clfree(y);
    return 0;
}
