/* header_alone.c - compiled only, by several compilers as several dialects of C and C++.
 * <stdcl.h> needs no header before it, includes the headers its users rely on, and every macro
 * expands without a warning.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

struct pair {
    int a;
    float b;
}; /* C++98 has no templates of types without a name */

int use_all(CLCONTEXT *cp, cl_kernel krn, float *x, FILE *fp);

int use_all(CLCONTEXT *cp, cl_kernel krn, float *x, FILE *fp)
{
    clndrange_t ndr = clndrange_init1d(0, 1024, 64);
    clndrange_t two = clndrange_init2d(0, 8, 4, 0, 8, 4),
                three = clndrange_init3d(0, 8, 4, 0, 8, 4, 0, 8, 4);
    clndrange_t four = clndrange_init4d(0, 8, 4, 0, 8, 4, 0, 8, 4, 0, 8, 4);
    CONTEXT *old_name = stdgpu ? stdgpu : stdcpu;
    const float *constant = x;
    short s = 1;
    cl_float4 v;
    struct pair pair = {1, 2.0f};
    int n = 0;
    memset(&v, 0, sizeof v); /* <string.h> */
    clndrange_set1d(ndr, 0, 512, 64);
    n += clforka(cp, 0, krn, clrange2(8, n), CL_EVENT_NOWAIT, x) == (cl_event)-1;
    clndrange_set2d(two, 0, 8, 4, 0, 8, 4);
    clndrange_set3d(three, 0, 8, 4, 0, 8, 4, 0, 8, 4);
    clndrange_set4d(four, 0, 8, 4, 0, 8, 4, 0, 8, 4, 0, 8, 4);

    n += clarg_set(krn, 0, s) + clarg_set(cp, krn, 1, 2.0f) + clarg_set(krn, 2, v) +
         clarg_set(cp, krn, 3, pair);
    n += clarg_set(krn, 4, 1) + clarg_set(krn, 5, 'c') + clarg_set(krn, 6, 1ul) +
         clarg_set(krn, 7, 1.0);
    n += (int)clarg_set_global(krn, 8, x) + (int)clarg_set_global(cp, krn, 9, x + 16);
    n += (int)clarg_set_global(krn, 10, constant);
    n += clarg_set_local(krn, 11, 64 * sizeof *x) + clarg_set_local(cp, krn, 12, 1024);

    clfork(cp, 0, krn, &ndr, CL_EVENT_NOWAIT);
    clforka(cp, 0, krn, &ndr, CL_EVENT_NOWAIT);
    clforka(old_name, 0, krn, &two, CL_EVENT_NOWAIT | CL_EVENT_NORELEASE, x);
    clforka(cp, 0, krn, &three, CL_EVENT_WAIT, x, constant, x + 1, s, 2.0f, 1, v, pair,
            clarg_local(64));
    clforka(cp, 0, krn, &four, CL_EVENT_WAIT, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n,
            n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n,
            n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
    clexec(cp, 0, &ndr, some_kernel);
    clexecb(cp, 0, &ndr, some_kernel, x, n, 1.5f);
    clwait(cp, 0, CL_ALL_EVENT | CL_EVENT_RELEASE | CL_FAST);
    if (clerrno != 0 || oclerrno != 0) {
        clerrno = 0;
        oclerrno = 0;
        fprintf(fp, "%s %s %s\n", clerror(), clerror_str(EINVAL), oclerror_str(CL_INVALID_VALUE));
    }
    return n + (stddev == stdacc) + (stdnpu == stdrpu);
}
