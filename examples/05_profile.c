/* 05_profile.c - rows of a profile as data, host phases, and a timeline for ui.perfetto.dev.
 *
 * To profile any program without changes: STDCL_PROFILE=1 STDCL_TRACE=trace.json ./program
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

static const char source[] =
    "__kernel void saxpy(__global float *y, __global const float *x, float a)\n"
    "{ size_t i = get_global_id(0); y[i] += a * x[i]; }\n";

static int failed(void)
{
    fprintf(stderr, "05_profile: %s\n", clerror());
    return 1;
}

int main(int argc, char **argv)
{
    const size_t n = 1 << 20;
    CLCONTEXT *cp = stddev;
    if (clprofile(cp, 1) != 0)
        return failed();
    clprofile_begin(cp, "prepare");
    float *x = clmalloc(cp, n * sizeof *x, 0), *y = clmalloc(cp, n * sizeof *y, 0);
    cl_kernel saxpy = clsym(cp, clsopen(cp, source, CLLD_NOW), "saxpy", 0);
    clprofile_end(cp);
    if (!x || !y || !saxpy)
        return failed();
    clndrange_t ndr = clndrange_init1d(0, n, 0);
    clprofile_work(saxpy, 2.0 * (double)n, 12.0 * (double)n, CLPROF_SINGLE);
    clprofile_begin(cp, "steps");
    clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, y, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    for (int step = 0; step < 100; step++)
        clforka(cp, 0, saxpy, &ndr, CL_EVENT_NOWAIT, y, x, 0.5f);
    if (clwait(cp, 0, CL_ALL_EVENT))
        return failed();
    clprofile_end(cp);

    struct clprofile_row row[8];
    size_t rows = clprofile_rows(cp, row, 8);
    if (rows == 0)
        return fprintf(stderr, "05_profile: the device measured nothing\n"), 1;
    for (size_t i = 0; i < rows && i < 8; i++)
        printf("%-16s %4zu times, mean %.1f us, %.2f GB/s\n", row[i].name, row[i].count,
               1e6 * row[i].total / (double)row[i].count, 1e-9 * row[i].bytes / row[i].total);
    return argc > 1 && clprofile_trace(cp, argv[1]) != 0 ? failed() : 0;
}
