/* nbody1.c - the N-body tutorial for one device: one kernel object whose arguments change places
 * every
 * step, bursts of steps without a visit to the host.  usage: nbody1 [bodies [steps]]
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.h>
#include "nbody.h"

int main(int argc, char **argv)
{
    int step, burst, i;

    int nparticle = (argc > 1) ? atoi(argv[1]) : 1024; /* a multiple of nthread */
    int nstep = (argc > 2) ? atoi(argv[2]) : 20;
    int nburst = 10; /* even, and divides nstep */
    int nthread = 64;

    float dt = 0.001;
    float eps = 0.0001;

    CLCONTEXT *cp = (stdgpu) ? stdgpu : stdcpu;

    cl_float4 *pos1 = (cl_float4 *)clmalloc(cp, nparticle * sizeof(cl_float4), 0);
    cl_float4 *pos2 = (cl_float4 *)clmalloc(cp, nparticle * sizeof(cl_float4), 0);
    cl_float4 *vel = (cl_float4 *)clmalloc(cp, nparticle * sizeof(cl_float4), 0);

    nbody_init(nparticle, pos1, vel);

    void *h = clopen(cp, "nbody_kern.cl", CLLD_NOW);
    cl_kernel krn = clsym(cp, h, "nbody_kern", CLLD_NOW);

    clndrange_t ndr = clndrange_init1d(0, nparticle, nthread);

    clarg_set(cp, krn, 0, dt);
    clarg_set(cp, krn, 1, eps);
    clarg_set_global(cp, krn, 4, vel);
    clarg_set_local(cp, krn, 5, nthread * sizeof(cl_float4));

    clmsync(cp, 0, pos1, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clmsync(cp, 0, vel, CL_MEM_DEVICE | CL_EVENT_NOWAIT);

    for (step = 0; step < nstep; step += nburst) {

        for (burst = 0; burst < nburst; burst += 2) {

            clarg_set_global(cp, krn, 2, pos1);
            clarg_set_global(cp, krn, 3, pos2);
            clfork(cp, 0, krn, &ndr, CL_EVENT_NOWAIT);

            clarg_set_global(cp, krn, 2, pos2);
            clarg_set_global(cp, krn, 3, pos1);
            clfork(cp, 0, krn, &ndr, CL_EVENT_NOWAIT);
        }

        clmsync(cp, 0, pos1, CL_MEM_HOST | CL_EVENT_NOWAIT);

        clwait(cp, 0, CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE);
    }

    /* the same on the host */

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
    printf("moved %e, error %e\n", moved, error);

    clclose(cp, h);

    clfree(pos1);
    clfree(pos2);
    clfree(vel);
    free(p);
    free(q);
    free(v);

    return (moved > 1e-3 && error < 1e-5 && error < 0.01 * moved) ? 0 : 1;
}
