/* added.h - forces of the caller: built-in laws, functions from files, and a function in C.
 *
 *   law_table.c      names and parameters of the laws; texts such as "nfw:M=1,a=2"
 *   added_forces.c   evaluation on the host
 *   added_kernel.c   evaluation on devices
 *   newhall.c        relativity between all bodies
 *   laws.cl          the laws, for host and devices
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_ADDED_H
#define STDCL_NBODY_ADDED_H

#include "nbody/engine.h"

enum { LAW_PARAMETERS = 12, LAW_MOST = 64 };

/* A force as the caller gives it. */
struct added_force {
    int law;                      /* enum law of laws.cl */
    const char *name;             /* of the law, or `file` */
    bool of_source, of_velocity;  /* acts from a body; depends on velocities */
    double given[LAW_PARAMETERS]; /* numbers in the caller's units */
    char *file, *text;            /* path and contents; NULL for laws */
    char *before, *after;         /* lines that define and undefine its parameters */
};

struct added_forces {
    size_t n; /* of `force`; files come last */
    struct added_force force[LAW_MOST];
    size_t laws;         /* how many are not files */
    double (*table)[16]; /* of the laws in engine units, for the host */

    force_function *function; /* of nbody_set_force_callback; NULL: none */
    void *arg;
    enum nbody_force_kind kind;

    bool failed;                        /* in this call of the engine; clerror() says why */
    double (*pos)[3], (*vel)[3], *mass; /* of all bodies, in the caller's units */
    double (*acc)[3];
    double *posm; /* {x, y, z, G m} in engine units */
    double *work; /* 4 n numbers for newhall.c */

    /* added_kernel.c */
    void *program;
    cl_kernel kernel;
    void *device_table, *order;                         /* order: of sorted bodies */
    size_t sorts;                                       /* particles.sort_count of `order` */
    void *host_posm, *host_state, *host_out, *host_own; /* bodies of the host, for files */
};

/* Parse the texts of options, one force a line. EINVAL: the message names the error. */
int law_parse(const char *text, struct added_force force[LAW_MOST], size_t *n);
void law_free(struct added_force *force, size_t n);

/* Write the parameters of a law in engine units, as laws.cl has them. */
void law_convert(const struct nbody *nb, const struct added_force *force, double p[16]);

/* Return a field as strong as the force, to choose units by. Without mass its strength is 0. */
struct nbody_field law_field(const struct added_force *force);

/* Add relativity between all bodies to a, engine units; `work`: 4 n numbers. */
void newhall_add(size_t n, double c, const double *posm, const double (*v)[3], double *work,
                 double (*a)[3]);

/* Evaluate the functions of files for bodies on the host, into acc, in engine units. Blocks. */
int added_kernel_evaluate(struct nbody *nb, double time, const double (*v)[3], double (*a)[3]);
void added_kernel_free(struct nbody *nb);

#endif
