/* 03_devices.c - all devices concurrently: launch on each, then wait for each.
 *
 * Each device of a context has its own in-order queue, and queues of different devices run
 * concurrently. With one device, `POCL_DEVICES="pthread pthread"` makes PoCL show two.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>

static const char source[] = "__kernel void count_primes(__global int *found, int from)\n"
                             "{\n"
                             "    int n = from + (int)get_global_id(0), divisor = 2;\n"
                             "    while (divisor * divisor <= n && n % divisor)\n"
                             "        divisor++;\n"
                             "    found[get_global_id(0)] = n > 1 && divisor * divisor > n;\n"
                             "}\n";

int main(void)
{
    enum { N = 100000 };
    CLCONTEXT *cp = stddev;
    cl_uint ndev = clgetndev(cp);
    cl_kernel primes = clsym(cp, clsopen(cp, source, CLLD_NOW), "count_primes", 0);
    int *found[ndev + 1];
    cl_uint share = ndev ? N / ndev + 1 : 1;
    clndrange_t ndr = clndrange_init1d(0, share, 0);
    if (!primes) {
        fprintf(stderr, "03_devices: %s\n", clerror());
        return 1;
    }
    for (cl_uint dev = 0; dev < ndev; dev++) { /* no call in this loop blocks */
        found[dev] = clmalloc(cp, share * sizeof *found[dev], 0);
        if (!found[dev]) {
            fprintf(stderr, "03_devices: %s\n", clerror());
            return 1;
        }
        clforka(cp, dev, primes, &ndr, CL_EVENT_NOWAIT, found[dev], (int)(dev * share));
        clmsync(cp, dev, found[dev], CL_MEM_HOST | CL_EVENT_NOWAIT);
        clflush(cp, dev, 0);
    }
    int count = 0;
    for (cl_uint dev = 0; dev < ndev; dev++) {
        if (clwait(cp, dev, CL_ALL_EVENT)) { /* kernel and copy of this device */
            fprintf(stderr, "03_devices: %s\n", clerror());
            return 1;
        }
        for (cl_uint i = 0; i < share && dev * share + i < N; i++)
            count += found[dev][i];
        clfree(found[dev]);
    }
    printf("%d primes below %d\n", count, N);
    return 0;
}
