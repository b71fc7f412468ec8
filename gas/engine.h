/* engine.h - what the files of the gas engine share.
 *
 *   gas.c       a gas: made, measured, freed
 *   draw.c      velocities, histograms
 *   tune.c      what a search for better shapes needs
 *   arrays/     shapes, kernels on all devices, sums in the fixed order
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_ENGINE_H
#define STDCL_GAS_ENGINE_H

#include "arrays/blocks.h"
#include "stdcl/gas.h"

EMBEDDED(maxwell_text, "gas/maxwell.h", gas_maxwell_h);

struct gas {
    CLCONTEXT *ctx;
    cl_uint ndev;
    uint64_t n;
    double temperature, mass, boltzmann;
    double unit; /* of velocities inside, in the caller's units */
    cl_uint key[2];
    enum gas_storage storage;
    enum gas_source source;
    enum arrays_type type;
    enum arrays_method method;
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    stdcl_world *world;
    uint64_t first, blocks; /* of this rank; all of them alone */
    uint64_t own;           /* molecules in these */
    double *speed;   /* of each rank, in blocks a second, where they are unlike fast; NULL: equal
                        shares */
    uint64_t before; /* molecules of a rank in rounds before this one, for `progress`, */
    bool asked;      /* which has asked for an end */

    struct kernels fused, draw, count,
        sum; /* those that were needed; sum: of stored velocities of many ranks */
    struct arrays_partial kind; /* of fused and sum */
    void **partial;             /* of fused and sum; ndev of them */
    arrays *arrays;             /* stored */
    void *plane[3];             /* stored: x, y and z of this rank's velocities */
    bool ready;                 /* they hold velocities */
    cl_uint *counts;            /* of histograms */
};

/* draw.c: takes memory for velocities and, unless the caller gives them, draws them / frees it
 * all. */
int gas_draw_place(gas *g);
void gas_draw_free(gas *g);

#endif
