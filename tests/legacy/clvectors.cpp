/* clvectors.cpp - vectors that devices share, grown and used again.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdcl.h>
#include <clvector.h>

static CLCONTEXT *cp = 0;
static unsigned int devnum = 0;
static int wrong = 0;

static void expect(const char *what, size_t i, float is, float should)
{
    if (is != should && wrong++ < 10)
        printf("%s[%zu] is %g, should be %g\n", what, i, (double)is, (double)should);
}

/* c[i] = a[i] * b[n-1-i] */
static void vectors(cl_kernel krn)
{
    clvector<float> a, b, c;

    for (size_t n = 1024; n <= 3072; n *= 3) {

        for (size_t i = a.size(); i < n; i++)
            a.push_back(2.0f * i);
        for (size_t i = b.size(); i < n; i++)
            b.push_back(3.0f * i);
        for (size_t i = c.size(); i < n; i++)
            c.push_back(0.0f);

        if (n == 1024) {
            a.clmattach(cp);
            b.clmattach(cp);
            c.clmattach(cp);
        }

        clndrange_t ndr = clndrange_init1d(0, n, 16);

        a.clmsync(cp, devnum, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
        b.clmsync(cp, devnum, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

        a.clarg_set_global(cp, krn, 0);
        b.clarg_set_global(cp, krn, 1);
        c.clarg_set_global(cp, krn, 2);

        clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
        c.clmsync(cp, devnum, CL_MEM_HOST | CL_EVENT_NOWAIT);
        clflush(cp, devnum, 0);
        if (clwait(cp, devnum, CL_ALL_EVENT)) {
            printf("%s\n", clerror());
            wrong++;
        }

        for (size_t i = 0; i < n; i++)
            expect("c", i, c[i], a[i] * b[n - i - 1]);
    }

    c.clmdetach();
    if (clmctl(c.get_ptr(), CL_MCTL_GET_STATUS) != CL_MEM_DETACHED) {
        printf("c is attached\n");
        wrong++;
    }
}

static const char source[] =
    "__kernel void outerprod_kern(__global float* a, __global float* b, __global float* c)\n"
    "{ int i = get_global_id(0), n = get_global_size(0); c[i] = a[i]*b[n-i-1]; }\n";

int main()
{
    cp = (stdgpu) ? stdgpu : stdcpu;
    void *h = clsopen(cp, source, CLLD_NOW);
    if (!h) {
        printf("%s\n", clerror());
        return 1;
    }
    devnum = clgetndev(cp) - 1;

    vectors(clsym(cp, h, "outerprod_kern", 0));

    clclose(cp, h);
    return wrong != 0;
}
