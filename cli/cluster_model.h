/* cluster_model.h - predicted time of a step on many GPUs (cluster_model.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_CLUSTER_MODEL_H
#define STDCL_CLI_CLUSTER_MODEL_H

#include <stdcl.h>
enum cluster_program {
    CLUSTER_NBODY, /* direct sums */
    CLUSTER_TREE,
    CLUSTER_LIFE,
    CLUSTER_MATMUL,
    CLUSTER_GAS,
    CLUSTER_PROGRAMS
};

struct cluster {
    enum cluster_program program;
    double n;                   /* bodies; cells per side; rows of a square matrix; molecules */
    double gpus, gpus_per_host; /* in total; per host, which is one rank */
    /* of one GPU alone at this size, per second: interactions, bodies (of the tree), cells,
     * operations or molecules */
    double rate;
    double memory; /* bytes of a GPU; only the tree's is compared with it */
    double pcie, network,
        latency; /* bytes/s each way of a GPU and of a host; seconds per message */
};

struct cluster_time {
    double seconds;    /* per step, generation, product or sum */
    double alone;      /* the same on one GPU */
    double mail;       /* of the traffic between hosts, without overlap */
    double efficiency; /* speed per GPU relative to one GPU alone */
};

/* Units of work per step, as counted by `rate`. */
double cluster_work(const struct cluster *c);
/* Bytes of GPU memory per body of the tree. On several GPUs they include imported bodies. */
double cluster_tree_bytes(double gpus);
/* Predict the time. -1: too few rows of cells for the GPUs, n below the number of GPUs, or too many
 * bodies for their memory. */
int cluster_predict(const struct cluster *c, struct cluster_time *t);

#endif
