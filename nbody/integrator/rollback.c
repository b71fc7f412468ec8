/* rollback.c - undo of a cancelled step.
 *
 * A sum over all pairs can be cancelled between two launches. In the middle of a step the bodies
 * have already moved, so the state would be lost. Before a long step the regions of memory that it
 * changes are copied to the host, and a cancelled step restores them. Short steps are not
 * cancelled.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

static int rollback_save_device(struct nbody *nb, struct nbody_device *p)
{
    const struct changes c = nbody_particles_changes(nb, p);
    if (!p->integration.saved)
        p->integration.saved = malloc((12 + nb->planes) * p->rows * nb->real); /* upper bound */
    char *to = p->integration.saved;
    for (int i = 0; to && i < CHANGES; to += c.bytes[i++]) {
        if (c.bytes[i] && nbody_device_download(nb, p, c.at[i], c.bytes[i]) != 0)
            return -1;
        if (c.bytes[i])
            memcpy(to, c.at[i], c.bytes[i]);
    }
    return to ? 0 : 1;
}

int nbody_rollback_save(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->rows)
            status = rollback_save_device(nb, p);
    nb->integration.saved = nb->integration.valid;
    return status;
}

int nbody_rollback_restore(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        const struct changes c = nbody_particles_changes(nb, p);
        const char *from = p->integration.saved;
        for (int i = 0; p->rows && i < CHANGES; from += c.bytes[i++]) {
            if (!c.bytes[i])
                continue;
            memcpy(c.at[i], from, c.bytes[i]);
            if (clmsyncn(nb->ctx, p->dev, c.at[i], c.bytes[i], CL_MEM_DEVICE) == (cl_event)-1)
                return -1;
        }
    }
    nb->integration.valid = nb->integration.saved;
    nbody_particles_moved(nb);
    return 0;
}

int nbody_rollback_run(struct nbody *nb, int (*step)(struct nbody *nb, double done), double done)
{
    const int saved = nbody_rollback_save(nb);
    if (saved < 0)
        return -1;
    nbody_progress_set_stoppable(nb, saved == 0);
    if (step(nb, done) == 0)
        return 0;
    const int code = clerrno;
    char *sentence = saved == 0 && (nb->task.stopped || code == EDOM) ? strdup(clerror()) : NULL;
    if (sentence && nbody_rollback_restore(nb) == 0)
        clerror_set(code, "%s", sentence);
    free(sentence);
    return -1;
}
