/* nbody_energies.c - --direct-energies: potential energies by direct sums in a run with the
 * tree.
 *
 * The tree's potentials are as accurate as --accuracy, enough to detect a run that goes wrong;
 * but the integration error may be smaller.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "nbody_bodies.h"

#include <errno.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST_BODIES = 1 << 20 };

/* Create an engine of direct sums for the current bodies. */
static nbody *direct_engine(struct nbody_job *job)
{
    const size_t n = nbody_bodies(job->engine);
    double(*pos)[3] = malloc(n * sizeof *pos), (*vel)[3] = malloc(n * sizeof *vel);
    struct nbody_options options = nbody_job_options(job);
    nbody *nb = NULL;
    options.method = NBODY_DIRECT;
    options.stepping = NBODY_FIXED;
    options.eta = 0;
    options.burst = 0;
    if (!pos || !vel)
        clerror_set(ENOMEM, "--direct-energies: out of memory for a copy of %zu bodies", n);
    else if (nbody_state(job->engine, pos, vel) == 0)
        nb = nbody_create(&options, n, job->bodies.mass, (const double(*)[3])pos,
                          (const double(*)[3])vel);
    free(pos);
    free(vel);
    return nb;
}

int nbody_job_energies_check(struct nbody_job *job)
{
    if (!job->direct_energies || job->n <= MOST_BODIES)
        return CLI_DONE;
    return cli_wrong("--direct-energies: %zu bodies are too many for direct sums; the limit is %d",
                     job->n, MOST_BODIES);
}

int nbody_job_energies(struct nbody_job *job, struct nbody_diagnostics *d)
{
    struct nbody_diagnostics direct;
    int status = nbody_diagnose(job->engine, d);
    if (status != 0 || !job->direct_energies || nbody_method(job->engine) != NBODY_TREE)
        return status;
    nbody *nb = direct_engine(job);
    status = nb ? nbody_diagnose(nb, &direct) : -1;
    if (status == 0) {
        d->potential = direct.potential;
        d->total = d->kinetic + d->potential;
        d->virial_ratio = direct.virial_ratio;
    }
    nbody_free(nb);
    return status;
}
