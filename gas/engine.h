/* engine.h - the gas object.
 *
 *   gas.c       create, measure, free
 *   draw.c      velocities, histograms
 *   tune.c      kernels for the search of tuning entries
 *   arrays/     shapes, kernels on all devices, the fixed-order reduction
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_ENGINE_H
#define STDCL_GAS_ENGINE_H

#include "arrays/reduce.h"
#include "stdcl/gas.h"

EMBEDDED(maxwell_text, "gas/maxwell.h", gas_maxwell_h);

struct gas {
    CLCONTEXT *ctx;
    cl_uint ndev;
    uint64_t n;
    double temperature, mass, boltzmann;
    double unit; /* internal unit of velocities, in the caller's units */
    cl_uint key[2];
    enum gas_storage storage;
    enum gas_source source;
    enum arrays_type type;
    enum arrays_method method;
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    stdcl_world *world;
    uint64_t first, blocks; /* of this rank; all blocks without a world */
    uint64_t own;           /* molecules of these blocks */
    double *speed;          /* of each rank, in blocks/s; NULL: equal parts */
    uint64_t done_before;   /* molecules of earlier rounds, for `progress` */
    bool cancel_requested;  /* progress returned non-zero */

    /* Opened on first use; sum: of velocities stored by several ranks. */
    struct kernels fused, draw, count, sum;
    struct arrays_partial kind; /* of fused and sum */
    void **partial;             /* of fused and sum; ndev of them */
    arrays *arrays;             /* GAS_STORED */
    void *plane[3];             /* GAS_STORED: x, y and z of this rank's velocities */
    bool ready;                 /* the planes hold velocities */
    cl_uint *counts;            /* of histograms */
};

/* Allocate memory for velocities and, unless the caller sets them, draw them (draw.c). */
int gas_draw_place(gas *g);
void gas_draw_free(gas *g);

#endif
