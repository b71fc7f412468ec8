/* engine.h - the engine object, struct matmul, and the libraries that some kinds of engine open.
 *
 *   matmul.c     create and free an engine; products of host arrays and of device memory
 *   kinds.c      kinds of engine: names, requirements
 *   product.h    a product and its checks (check.c)
 *   device.h     one device: partition, loaded matrices, workspaces, shape
 *   shape.h      tuning keys and the choice of a shape (shape.c)
 *   plan.h       predicted cost: split-K, edges, entries (plan.c)
 *   program.h    kernels, workspaces, launches (program.c)
 *   start.h      start a product on a device: gpu.c, cpu.c, skinny.c, batch.c, baseline.c,
 *                clblast.c; products on the host: host.c, sycl.cpp
 *   small.h      small products on CPUs, by the host (small.c, small_kernel.c)
 *   partition.h  blocks of C of devices, transfers (partition.c, place.c)
 *   stream.h     pipelined products of host arrays (stream.c)
 *   grid.h       several ranks (grid.c, balance.c, block.c, ranks.c, out_of_core.c)
 *   reference.c  random matrices and the error of a result
 *   tune.c       kernels for the search of tuning entries
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_ENGINE_H
#define STDCL_MATMUL_ENGINE_H

#include <pthread.h>

#include "core/handle.h"
#include "core/round.h"
#include "matmul/device.h"

struct matmul {
    CLCONTEXT *ctx; /* NULL if the host computes */
    enum matmul_kind kind;
    enum matmul_precision precision;
    size_t real; /* bytes of an element */
    size_t block, memory;
    char *shape_words; /* the caller's changes to a shape, or NULL */
    int (*progress)(void *arg, double fraction);
    void *arg; /* of progress */

    stdcl_world *world;         /* NULL: one rank */
    struct matmul_ranks *ranks; /* matrices loaded by several ranks, or NULL (ranks.c) */
    double weight;              /* of this rank (matmul_set_weight); 0: not set */
    double peak;                /* of its devices; 0: not yet queried */
    struct work_time work_time; /* of the host, and of devices that are awaited together */
    /* Sizes that shapes are chosen for while ranks multiply; 0: the product's sizes. */
    size_t shape_mnk[3];

    cl_uint ndev;
    struct matmul_device *device;
    pthread_mutex_t lock; /* of programs: each device has a host thread */
    struct program *programs;

    const struct small_kernels *small; /* for products by the host, or NULL */
    struct thread_pool *team;          /* of small.c; NULL until needed */

    bool loaded, has_result;      /* since matmul_load */
    struct host_product resident; /* the loaded product; c: own memory if the host computes */
};

/* True, with the reason in clerror(), if there is no engine or if its devices cannot be used: those
 * of a process before fork(). */
static inline bool matmul_unusable(const struct matmul *mm, const char *call)
{
    return no_handle(mm, call) || (mm->ctx && !clgetqueue(mm->ctx, 0));
}

/* Open a library on first use. Return NULL if it is not installed. */
void *matmul_openblas(void);
void *matmul_clblast(void);

#endif
