/* kick.c - a part of a larger program: the kernels stand in a string, the context is a macro of the
 * program's own that happens to have the name of the library's type, and memory comes and goes with
 * each call.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdcl.h>

#define CLCONTEXT (stdgpu ? stdgpu : stdcpu)
#define CLFLOAT cl_float
#define CLFLOAT4 cl_float4
#define NTHREAD 64
#define BLOCKSIZE 64

static const char *srcstr =
    "__kernel void kick_kernel(unsigned int nj, int blocksize, float eps2, __global float4* ipos,\n"
    "   __global float4* jpos, __global float4* acc, __local float4* pblock)\n"
    "{\n"
    "   int i = get_global_id(0), ti = get_local_id(0);\n"
    "   float4 p = ipos[i], a = (float4)(0.0f,0.0f,0.0f,0.0f);\n"
    "   for(unsigned int first=0; first<nj; first+=blocksize) {\n"
    "      for(int k=ti; k<blocksize; k+=get_local_size(0))\n"
    "         pblock[k] = (first+k < nj)? jpos[first+k] : (float4)(0.0f,0.0f,0.0f,0.0f);\n"
    "      barrier(CLK_LOCAL_MEM_FENCE);\n"
    "      for(int k=0; k<blocksize && first+k<nj; k++) {\n"
    "         float4 d = pblock[k] - p;\n"
    "         d.w = 0.0f;\n"
    "         float r2 = dot(d,d) + eps2;\n"
    "         a += (pblock[k].w/(r2*sqrt(r2)))*d;\n"
    "      }\n"
    "      barrier(CLK_LOCAL_MEM_FENCE);\n"
    "   }\n"
    "   acc[i] = a;\n"
    "}\n";

struct particle {
    double mass, pos[3], vel[3];
};
struct sys {
    unsigned int n;
    struct particle *part;
};

static void *h;
static cl_kernel kick_krn;
static double eps2 = 0.01;

static void init_cl()
{
    h = clsopen(CLCONTEXT, srcstr, CLLD_NOW);
    kick_krn = clsym(CLCONTEXT, h, "kick_kernel", CLLD_NOW);
}

static void close_cl()
{
    clclose(CLCONTEXT, h);
}

static void kick_cl(struct sys s1, struct sys s2, double dt)
{
    int i;
    int groupsize, nthread, blocksize;
    CLFLOAT cleps2 = (CLFLOAT)eps2;

    if (s1.n == 0 || s2.n == 0)
        return;

    groupsize = NTHREAD;
    if (s1.n < NTHREAD)
        groupsize = s1.n;
    nthread = ((s1.n - 1) / groupsize + 1) * groupsize;
    blocksize = BLOCKSIZE;
    if (s2.n < blocksize)
        blocksize = s2.n;
    clndrange_t ndr = clndrange_init1d(0, nthread, groupsize);

    CLFLOAT4 *ipos = (CLFLOAT4 *)clmalloc(CLCONTEXT, nthread * sizeof(CLFLOAT4), 0);
    CLFLOAT4 *acc = (CLFLOAT4 *)clmalloc(CLCONTEXT, nthread * sizeof(CLFLOAT4), 0);
    CLFLOAT4 *jpos = (CLFLOAT4 *)clmalloc(CLCONTEXT, s2.n * sizeof(CLFLOAT4), 0);

    for (i = 0; i < s1.n; i++) {
        ipos[i].s0 = s1.part[i].pos[0];
        ipos[i].s1 = s1.part[i].pos[1];
        ipos[i].s2 = s1.part[i].pos[2];
        ipos[i].s3 = s1.part[i].mass;
    }
    for (i = s1.n; i < nthread; i++)
        ipos[i] = (CLFLOAT4){{0.0, 0.0, 0.0, 0.0}};
    for (i = 0; i < s2.n; i++) {
        jpos[i].s0 = s2.part[i].pos[0];
        jpos[i].s1 = s2.part[i].pos[1];
        jpos[i].s2 = s2.part[i].pos[2];
        jpos[i].s3 = s2.part[i].mass;
    }

    clarg_set(CLCONTEXT, kick_krn, 0, s2.n);
    clarg_set(CLCONTEXT, kick_krn, 1, blocksize);
    clarg_set(CLCONTEXT, kick_krn, 2, cleps2);
    clarg_set_global(CLCONTEXT, kick_krn, 3, ipos);
    clarg_set_global(CLCONTEXT, kick_krn, 4, jpos);
    clarg_set_global(CLCONTEXT, kick_krn, 5, acc);
    clarg_set_local(CLCONTEXT, kick_krn, 6, blocksize * sizeof(CLFLOAT4));

    clmsync(CLCONTEXT, 0, ipos, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(CLCONTEXT, 0, jpos, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clfork(CLCONTEXT, 0, kick_krn, &ndr, CL_EVENT_NOWAIT);
    clmsync(CLCONTEXT, 0, acc, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(CLCONTEXT, 0, CL_KERNEL_EVENT | CL_MEM_EVENT);

    for (i = 0; i < s1.n; i++) {
        s1.part[i].vel[0] += dt * acc[i].s0;
        s1.part[i].vel[1] += dt * acc[i].s1;
        s1.part[i].vel[2] += dt * acc[i].s2;
    }

    clfree(ipos);
    clfree(jpos);
    clfree(acc);
}

/* The same on the host; returns the largest difference from v, relative to the largest velocity. */
static double kick_check(struct sys s1, struct sys s2, double dt)
{
    double worst = 0, largest = 0;
    int i, j, k;
    for (i = 0; i < s1.n; i++) {
        double a[3] = {0, 0, 0};
        for (j = 0; j < s2.n; j++) {
            double d[3], r2 = eps2;
            for (k = 0; k < 3; k++) {
                d[k] = s2.part[j].pos[k] - s1.part[i].pos[k];
                r2 += d[k] * d[k];
            }
            for (k = 0; k < 3; k++)
                a[k] += s2.part[j].mass * d[k] / (r2 * sqrt(r2));
        }
        for (k = 0; k < 3; k++) {
            double error = fabs(s1.part[i].vel[k] - dt * a[k]);
            if (!(error <= worst))
                worst = error;
            if (fabs(dt * a[k]) > largest)
                largest = fabs(dt * a[k]);
        }
    }
    return worst / largest;
}

static struct sys make(unsigned int n, unsigned int seed)
{
    struct sys s = {n, (struct particle *)calloc(n, sizeof(struct particle))};
    int i, k;
    for (i = 0; i < n; i++) {
        s.part[i].mass = 1.0 / n;
        for (k = 0; k < 3; k++) {
            seed = 1664525 * seed + 1013904223;
            s.part[i].pos[k] = seed / 4294967296.0;
        }
    }
    return s;
}

int main()
{
    static unsigned int sizes[] = {1, 3, 63, 64, 65, 200};
    int i, j, wrong = 0;
    init_cl();
    if (!kick_krn)
        exit(__LINE__);
    for (i = 0; i < 6; i++)
        for (j = 0; j < 6; j++) {
            struct sys s1 = make(sizes[i], 1), s2 = make(sizes[j], 2);
            kick_cl(s1, s2, 0.5);
            double error = kick_check(s1, s2, 0.5);
            if (!(error < 1e-4)) {
                printf("%d on %d: error %e\n", sizes[j], sizes[i], error);
                wrong++;
            }
            free(s1.part);
            free(s2.part);
        }
    close_cl();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
