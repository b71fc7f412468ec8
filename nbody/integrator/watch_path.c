/* watch_path.c - inner steps that all bodies make together: contacts and events along cubics
 * through their ends.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"
#include "nbody/structure/contacts.h"

#include <math.h>

static int watch_download(struct nbody *nb, double (*x)[3], double (*v)[3])
{
    const double length = nbody_units_factor(&nb->units, -1, 0),
                 speed = nbody_units_factor(&nb->units, -1, 1);
    if (nbody_state(nb, x, v) != 0)
        return -1;
    for (size_t i = 0; i < 3 * nb->n; i++) {
        x[i / 3][i % 3] *= length;
        v[i / 3][i % 3] *= speed;
    }
    return 0;
}

int nbody_watch_open(struct nbody *nb, struct watch_path *p, watch_reader *read)
{
    *p = (struct watch_path){.read = read ? read : watch_download, .time = nbody_time(nb)};
    if (!nb->integration.watch.radius && !nb->integration.events.rule)
        return 0;
    p->old_x = malloc(7 * nb->n * sizeof *p->old_x);
    if (!p->old_x)
        return clerror_set(ENOMEM, "nbody_step: out of memory on the host for %zu bodies", nb->n);
    p->old_v = p->old_x + nb->n;
    p->x = p->old_v + nb->n;
    p->v = p->x + nb->n;
    p->cubic = p->old_x[4 * nb->n];
    return p->read(nb, p->x, p->v);
}

int nbody_watch_inner_step(struct nbody *nb, struct watch_path *p, double dt)
{
    double h;
    if (!p->old_x)
        return 0;
    memcpy(p->old_x, p->x, 2 * nb->n * sizeof *p->x);
    if (p->read(nb, p->x, p->v) != 0)
        return -1;
    const struct contact_paths paths =
        contacts_cubic(nb->n, dt, p->old_x[0], p->old_v[0], p->x[0], p->v[0], p->cubic);
    const int stop =
        nb->integration.events.rule ? nbody_events_cubic(nb, &paths, p->old_v[0], p->time) : 0;
    p->time += dt / nbody_units_factor(&nb->units, 0, -1);
    if (stop < 0 || p->events_only)
        return stop;
    const int contact = nbody_watch_paths(nb, &paths, false, &h);
    return contact != 0 ? contact : stop;
}

void nbody_watch_close(struct watch_path *p)
{
    free(p->old_x);
    p->old_x = NULL;
}

cl_ulong nbody_watch_tick(const struct nbody *nb)
{
    return (cl_ulong)llround(nb->integration.elapsed / nb->integration.dt * (double)TICKS);
}

void nbody_watch_set_tick(struct nbody *nb, cl_ulong tick)
{
    nb->integration.elapsed =
        tick < TICKS ? nb->integration.dt * ((double)tick / (double)TICKS) : 0;
    nb->integration.steps += tick >= TICKS;
}
