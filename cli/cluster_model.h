/* cluster_model.h - how long a step takes on so many GPUs, by reckoning (cluster_model.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_CLUSTER_MODEL_H
#define STDCL_CLI_CLUSTER_MODEL_H

enum cluster_program { CLUSTER_NBODY, CLUSTER_LIFE, CLUSTER_MATMUL, CLUSTER_GAS, CLUSTER_PROGRAMS };

struct cluster {
    enum cluster_program program;
    double n;             /* bodies; cells of a side; rows of a square matrix; molecules */
    double gpus, of_host; /* all; of a host, which is a rank */
    double rate; /* of one GPU alone at this size, a second: interactions, cells, operations,
                    molecules */
    double pcie, network,
        latency; /* bytes a second each way of a GPU and of a host; seconds a message */
};

struct cluster_time {
    double seconds;    /* of a step, a generation, a product, a sum */
    double alone;      /* of one GPU */
    double mail;       /* of what goes between hosts, were nothing hidden */
    double efficiency; /* of a GPU: 1 is what it does alone */
};

/* Units of work a step has, by which `rate` counts. */
double cluster_work(const struct cluster *c);
/* -1: there are too few rows for so many GPUs. */
int cluster_predict(const struct cluster *c, struct cluster_time *t);

#endif
