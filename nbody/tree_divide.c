/* tree_divide.c - which device walks which groups.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

/* What the walks of each group cost on all devices: 1 where nothing is known. */
static int costs(struct nbody *nb, double *cost, size_t groups)
{
    for (size_t g = 0; g < groups; g++)
        cost[g] = 1;
    for (struct share *p = nb->share; nb->known && p < nb->share + nb->ndev; p++) {
        const struct tree *t = p->tree;
        if (!t || !t->groups)
            continue;
        const cl_uint(*info)[4] = t->info;
        if (nbody_device_fetch(nb, p, (void *)(uintptr_t)(info + t->from), t->groups * sizeof *info) != 0)
            return -1;
        for (cl_uint g = t->from; g < t->from + t->groups; g++)
            cost[g] = 32.0 * info[g][0] + 13.0 * info[g][1] + 1000;
    }
    return 0;
}

/* Each device gets groups until it has its part of the cost. */
static void divide(struct nbody *nb, const double *cost, size_t groups)
{
    double all = 0, speeds = 0, wanted = 0, done = 0;
    size_t g = 0;
    for (size_t k = 0; k < groups; k++)
        all += cost[k];
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        speeds += p->tree ? 1 / pace_time(&p->pace, 1) : 0;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++) {
        if (!p->tree)
            continue;
        wanted += all / pace_time(&p->pace, 1) / speeds;
        p->tree->from = (cl_uint)g;
        while (g < groups && done + cost[g] / 2 < wanted)
            done += cost[g++];
        p->tree->groups = (cl_uint)g - p->tree->from;
    }
    for (struct share *p = nb->share + nb->ndev; g < groups && p-- > nb->share;)
        if (p->tree) { /* what rounding left */
            p->tree->groups += (cl_uint)(groups - g);
            g = groups;
        }
}

int nbody_tree_divide(struct nbody *nb)
{
    const size_t groups = (nb->n + TREE_GROUP - 1) / TREE_GROUP;
    struct share *p = nb->share;
    if (nbody_devices(nb) < 2) {
        while (!p->tree)
            p++;
        p->tree->from = 0;
        p->tree->groups = (cl_uint)groups;
        return 0;
    }
    double *cost = malloc(groups * sizeof *cost);
    if (!cost)
        return clerror_set(ENOMEM, "nbody: no memory on the host");
    const int status = costs(nb, cost, groups);
    if (status == 0)
        divide(nb, cost, groups);
    free(cost);
    return status;
}
