/* nbody2.c - the N-body tutorial for two devices: halves a and b, one kernel object, and the new
 * halves exchanged by way of the host every step. As the original, it waits on a context that it
 * does not use,
 * and closes its kernels there.  usage: nbody2 [bodies [steps]]
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>
#include "nbody.h"

/* The trajectories of one device, to compare with. */
static void one_device(CLCONTEXT *cp, int n, int nstep, int nthread, float dt, float eps,
                       cl_float4 *result)
{
    int i;
    void *h = clopen(cp, "nbody_kern.cl", CLLD_NOW);
    cl_kernel krn = clsym(cp, h, "nbody_kern", CLLD_NOW);
    cl_float4 *pos1 = (cl_float4 *)clmalloc(cp, n * sizeof(cl_float4), 0);
    cl_float4 *pos2 = (cl_float4 *)clmalloc(cp, n * sizeof(cl_float4), 0);
    cl_float4 *vel = (cl_float4 *)clmalloc(cp, n * sizeof(cl_float4), 0);
    clndrange_t ndr = clndrange_init1d(0, n, nthread);
    nbody_init(n, pos1, vel);
    clmsync(cp, 0, pos1, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, vel, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clarg_set_local(cp, krn, 5, nthread * sizeof(cl_float4));
    for (i = 0; i < nstep; i += 2) {
        clforka(cp, 0, krn, &ndr, CL_EVENT_NOWAIT, dt, eps, pos1, pos2, vel);
        clforka(cp, 0, krn, &ndr, CL_EVENT_NOWAIT, dt, eps, pos2, pos1, vel);
    }
    clmsync(cp, 0, pos1, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(cp, 0, CL_ALL_EVENT);
    memcpy(result, pos1, n * sizeof(cl_float4));
    clfree(pos1);
    clfree(pos2);
    clfree(vel);
    clclose(cp, h);
}

int main(int argc, char **argv)
{
    int step, burst, i;

    int nparticle = (argc > 1) ? atoi(argv[1]) : 1024; /* a multiple of twice nthread */
    int nparticle2 = nparticle / 2;
    int nstep = (argc > 2) ? atoi(argv[2]) : 20;
    int nburst = 10; /* even, and divides nstep */
    int nthread = 64;

    float dt = 0.001;
    float eps = 0.0001;

    CLCONTEXT *cp = (clgetndev(stdgpu) > 1) ? stdgpu : stdcpu;
    CLCONTEXT *mistaken = (cp == stdcpu) ? stdgpu : stdcpu;
    if (clgetndev(cp) < 2) {
        printf("SKIPPED: needs two devices\n");
        exit(77);
    }

    cl_float4 *pos1 = (cl_float4 *)clmalloc(cp, nparticle * sizeof(cl_float4), 0);
    cl_float4 *pos1a = (cl_float4 *)clmalloc(cp, nparticle2 * sizeof(cl_float4), 0);
    cl_float4 *pos1b = (cl_float4 *)clmalloc(cp, nparticle2 * sizeof(cl_float4), 0);
    cl_float4 *pos2a = (cl_float4 *)clmalloc(cp, nparticle2 * sizeof(cl_float4), 0);
    cl_float4 *pos2b = (cl_float4 *)clmalloc(cp, nparticle2 * sizeof(cl_float4), 0);
    cl_float4 *vel = (cl_float4 *)clmalloc(cp, nparticle * sizeof(cl_float4), 0);
    cl_float4 *vela = (cl_float4 *)clmalloc(cp, nparticle2 * sizeof(cl_float4), 0);
    cl_float4 *velb = (cl_float4 *)clmalloc(cp, nparticle2 * sizeof(cl_float4), 0);

    nbody_init(nparticle, pos1, vel);

    memcpy(pos1a, pos1, nparticle2 * sizeof(cl_float4));
    memcpy(pos1b, pos1 + nparticle2, nparticle2 * sizeof(cl_float4));
    memcpy(vela, vel, nparticle2 * sizeof(cl_float4));
    memcpy(velb, vel + nparticle2, nparticle2 * sizeof(cl_float4));

    void *h = clopen(cp, "nbody2_kern.cl", CLLD_NOW);
    cl_kernel krn = clsym(cp, h, "nbody2_kern", CLLD_NOW);

    clndrange_t ndr2 = clndrange_init1d(0, nparticle2, nthread);

    clarg_set(cp, krn, 0, dt);
    clarg_set(cp, krn, 1, eps);
    clarg_set_local(cp, krn, 5, nthread * sizeof(cl_float4));

    clmsync(cp, 0, pos1a, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, pos1b, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, vela, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

    clmsync(cp, 1, pos1a, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 1, pos1b, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 1, velb, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

    for (step = 0; step < nstep; step += nburst) {

        for (burst = 0; burst < nburst; burst += 2) {

            clarg_set_global(cp, krn, 2, pos1a);
            clarg_set_global(cp, krn, 3, pos2a);
            clarg_set_global(cp, krn, 4, vela);
            clarg_set_global(cp, krn, 6, pos1b);
            clfork(cp, 0, krn, &ndr2, CL_EVENT_NOWAIT);

            clarg_set_global(cp, krn, 2, pos1b);
            clarg_set_global(cp, krn, 3, pos2b);
            clarg_set_global(cp, krn, 4, velb);
            clarg_set_global(cp, krn, 6, pos1a);
            clfork(cp, 1, krn, &ndr2, CL_EVENT_NOWAIT);

            clmsync(cp, 0, pos2a, CL_MEM_HOST | CL_EVENT_NOWAIT);
            clmsync(cp, 1, pos2b, CL_MEM_HOST | CL_EVENT_NOWAIT);

            clflush(cp, 0, 0);
            clflush(cp, 1, 0);

            clwait(cp, 0, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);
            clwait(cp, 1, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);

            clmsync(cp, 0, pos2b, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
            clmsync(cp, 1, pos2a, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

            clarg_set_global(cp, krn, 2, pos2a);
            clarg_set_global(cp, krn, 3, pos1a);
            clarg_set_global(cp, krn, 4, vela);
            clarg_set_global(cp, krn, 6, pos2b);
            clfork(cp, 0, krn, &ndr2, CL_EVENT_NOWAIT);

            clarg_set_global(cp, krn, 2, pos2b);
            clarg_set_global(cp, krn, 3, pos1b);
            clarg_set_global(cp, krn, 4, velb);
            clarg_set_global(cp, krn, 6, pos2a);
            clfork(cp, 1, krn, &ndr2, CL_EVENT_NOWAIT);

            clmsync(cp, 0, pos1a, CL_MEM_HOST | CL_EVENT_NOWAIT);
            clmsync(cp, 1, pos1b, CL_MEM_HOST | CL_EVENT_NOWAIT);

            clflush(cp, 0, 0);
            clflush(cp, 1, 0);

            clwait(cp, 0, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);
            clwait(cp, 1, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);

            clmsync(cp, 0, pos1b, CL_MEM_DEVICE | CL_EVENT_WAIT | CL_EVENT_RELEASE);
            clmsync(cp, 1, pos1a, CL_MEM_DEVICE | CL_EVENT_WAIT | CL_EVENT_RELEASE);
        }

        clflush(cp, 0, 0);
        clflush(cp, 1, 0);
        clwait(mistaken, 0, CL_MEM_EVENT | CL_EVENT_RELEASE);
        clwait(mistaken, 1, CL_MEM_EVENT | CL_EVENT_RELEASE);
    }

    memcpy(pos1, pos1a, nparticle2 * sizeof(cl_float4));
    memcpy(pos1 + nparticle2, pos1b, nparticle2 * sizeof(cl_float4));

    /* compare with one device, and with the host */

    cl_float4 *p = (cl_float4 *)malloc(nparticle * sizeof(cl_float4));
    cl_float4 *q = (cl_float4 *)malloc(nparticle * sizeof(cl_float4));
    cl_float4 *v = (cl_float4 *)malloc(nparticle * sizeof(cl_float4));
    nbody_init(nparticle, p, v);
    double moved = nbody_distance(nparticle, p, pos1);
    for (i = 0; i < nstep; i += 2) {
        nbody_step(nparticle, dt, eps, p, q, v);
        nbody_step(nparticle, dt, eps, q, p, v);
    }
    double error = nbody_distance(nparticle, p, pos1);
    one_device(cp, nparticle, nstep, nthread, dt, eps, q);
    double difference = nbody_distance(nparticle, q, pos1);
    printf("moved %e, error %e, difference from one device %e\n", moved, error, difference);

    clclose(mistaken, h);

    clfree(pos1);
    clfree(pos1a);
    clfree(pos1b);
    clfree(pos2a);
    clfree(pos2b);
    clfree(vel);
    clfree(vela);
    clfree(velb);
    free(p);
    free(q);
    free(v);

    return (moved > 1e-3 && error < 1e-5 && difference < 1e-5 && error < 0.01 * moved) ? 0 : 1;
}
