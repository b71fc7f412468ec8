/* clmulti_arrays.cpp - a matrix and vectors that devices share, resized and used again.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>
#include <clmulti_array.h>

static CLCONTEXT *cp = 0;
static unsigned int devnum = 0;
static int wrong = 0;

static void expect(const char *what, size_t i, float is, float should)
{
    if (is != should && wrong++ < 10)
        printf("%s[%zu] is %g, should be %g\n", what, i, (double)is, (double)should);
}

/* y = A x */
static void matrices(cl_kernel krn)
{
    cl_uint n = 64;
    typedef clmulti_array<cl_float, 1> array1_t;
    typedef clmulti_array<cl_float, 2> array2_t;
    array2_t aa(boost::extents[n][n]);
    array1_t x(boost::extents[n]);
    array1_t y(boost::extents[n]);

    aa.clmattach(cp);
    x.clmattach(cp);
    y.clmattach(cp);

    for (int pass = 0; pass < 2; pass++, n *= 3) {

        if (pass) {
            aa.resize(boost::extents[n][n]);
            x.resize(boost::extents[n]);
            y.resize(boost::extents[n]);
        }

        for (cl_uint i = 0; i < n; i++)
            for (cl_uint j = 0; j < n; j++)
                aa[i][j] = (float)((i + 2 * j) % 7);
        for (cl_uint i = 0; i < n; i++)
            x[i] = (float)(i % 5);
        for (cl_uint i = 0; i < n; i++)
            y[i] = -1.0f;

        clndrange_t ndr = clndrange_init1d(0, n, 16);

        aa.clmsync(cp, devnum, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
        x.clmsync(cp, devnum, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

        clarg_set(cp, krn, 0, n);
        aa.clarg_set_global(cp, krn, 1);
        x.clarg_set_global(cp, krn, 2);
        y.clarg_set_global(cp, krn, 3);

        clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
        y.clmsync(cp, devnum, CL_MEM_HOST | CL_EVENT_NOWAIT);
        if (clwait(cp, devnum, CL_ALL_EVENT)) {
            printf("%s\n", clerror());
            wrong++;
        }

        for (cl_uint i = 0; i < n; i++) {
            float sum = 0;
            for (cl_uint j = 0; j < n; j++)
                sum += aa[i][j] * x[j];
            expect("y", i, y[i], sum);
        }
    }
}

static const char source[] =
    "__kernel void matvec_kern(uint n, __global float* aa, __global float* x, __global float* y)\n"
    "{ int i = get_global_id(0); float s = 0; for(int j=0;j<n;j++) s += aa[i*n+j]*x[j]; y[i] = s; }\n";

int main()
{
    cp = (stdgpu) ? stdgpu : stdcpu;
    void *h = clsopen(cp, source, CLLD_NOW);
    if (!h) {
        printf("%s\n", clerror());
        return 1;
    }
    devnum = clgetndev(cp) - 1;
    matrices(clsym(cp, h, "matvec_kern", 0));
    clclose(cp, h);
    return wrong != 0;
}
