/* simulation.h - the public calls: nbody.c creates, forces.c sums, diagnose.c adds energies, save.c
 * saves.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_SIMULATION_H
#define STDCL_NBODY_SIMULATION_H

#include <stdbool.h>

#include "stdcl/nbody.h"

struct nbody_device;

/* Sums of energies and momenta, and bodies per block of them; as in diagnose.cl. */
enum { SUM_TERMS = 9, SUM_BLOCK = 64 };

/* Bytes of a device's sums. */
static inline size_t nbody_diagnose_bytes(size_t bodies)
{
    return (bodies + SUM_BLOCK - 1) / SUM_BLOCK * SUM_TERMS * sizeof(double);
}

struct device_diagnosis {
    void *program; /* NULL: the device's twin has it */
    cl_kernel kernel;
    void *sums; /* [blocks][SUM_TERMS] */
};

struct simulation {
    bool sums_are_open;
    struct snapshot *snapshot; /* save.c; NULL until first used */
};

/* Build the kernels of sums and updates and allocate their memory, unless that has been done:
 * nbody_create leaves it out for steps on the host. */
int nbody_simulation_open_sums(struct nbody *nb);

void nbody_save_free(struct nbody *nb);

/* Reduce the partial sums [npartial][planes][rows] of p in `from` and store the first `wanted`
 * components times factor to out[i][wanted], i counting the bodies of all devices. Blocks. */
int nbody_forces_collect(struct nbody *nb, struct nbody_device *p, void *from, cl_uint npartial,
                         cl_uint planes, cl_uint wanted, double factor, double *out);

/* open: build the kernels of nbody_diagnose. allocate: a device's memory, once its rows are known.
 */
int nbody_diagnose_open(struct nbody *nb);
int nbody_diagnose_allocate(struct nbody *nb, struct nbody_device *p);
void nbody_diagnose_free(struct nbody *nb);

#endif
