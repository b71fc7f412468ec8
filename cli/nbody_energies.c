/* nbody_energies.c - energies of a run by the tree, with --direct-energies: the potential energy is
 * that of sums over all pairs.
 *
 * By the tree potentials are as good as --accuracy asks, which is enough to see that a run goes
 * wrong; what a step loses may be less.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

enum { MOST_BODIES = 1 << 20 };

/* An engine that sums over all pairs, of the same bodies where they are now. */
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
        clerror_set(ENOMEM, "--direct-energies: no memory for another %zu bodies", n);
    else if (nbody_state(job->engine, pos, vel) == 0)
        nb = nbody_create(&options, n, job->bodies.mass, (const double(*)[3])pos,
                          (const double(*)[3])vel);
    free(pos);
    free(vel);
    return nb;
}

int nbody_job_energies_check(const struct nbody_job *job)
{
    if (!job->direct_energies || job->n <= MOST_BODIES)
        return CLI_DONE;
    return cli_wrong(
        "--direct-energies: %zu bodies are too many for sums over all pairs; it is for up to %d",
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
