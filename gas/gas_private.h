/* gas_private.h - a gas, for gas.c and draw.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_PRIVATE_H
#define STDCL_GAS_PRIVATE_H

#include "gas/engine.h"

struct gas {
    CLCONTEXT *ctx;
    cl_uint ndev;
    uint64_t n;
    double temperature, mass, boltzmann;
    double unit; /* of velocities inside, in the caller's units */
    cl_uint key[2];
    enum gas_storage storage;
    enum gas_source source;
    enum gas_type type;
    enum gas_method method;
    char *words; /* the caller's of the shape, or NULL */
    int (*told)(void *arg, uint64_t done);
    void *arg;

    struct kernels fused, draw, count; /* those that were needed */
    struct gas_partial kind;           /* of fused */
    void **partial;                    /* of fused; ndev of them */
    gas_sums *sums;                    /* stored */
    void *plane[3];                    /* stored: x, y and z of the velocities */
    bool ready;                        /* they hold velocities */
    cl_uint *counts;                   /* of histograms */
};

/* draw.c: takes memory for velocities and, unless the caller gives them, draws them / frees it all. */
int gas_draw_place(gas *g);
void gas_draw_free(gas *g);

#endif
