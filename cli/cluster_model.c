/* cluster_model.c - how long a step takes on so many GPUs: what is computed, or what travels
 * meanwhile, whichever is longer, and what is not hidden.
 *
 * The constants are of H200s: 16 us for a step's last launches; with several devices 30 us and 27
 * us for each, for events; 140 us for an exchange of Life's edges, of which 60 us are not hidden;
 * 52 us of each launch of Life, of 16 generations, however few cells it has (what a grid of
 * 16,384^2 takes longer on one GPU than a large one would), and one launch more for each exchange;
 * 6.6 us for a launch of sums on what has arrived. All but the last are fitted to measured points
 * of one host (docs/cluster.md); what concerns several hosts was measured by nobody.
 * SPDX-License-Identifier: MIT
 */
#include "cluster_model.h"

#include <math.h>

double cluster_work(const struct cluster *c)
{
    switch (c->program) {
    case CLUSTER_NBODY:
    case CLUSTER_LIFE:
        return c->n * c->n;
    case CLUSTER_MATMUL:
        return 2 * c->n * c->n * c->n;
    default:
        return c->n;
    }
}

static double hosts_of(const struct cluster *c)
{
    return ceil(c->gpus / c->of_host);
}

static double devices_of(const struct cluster *c)
{
    return fmin(c->gpus, c->of_host);
}

/* Direct sums: every host gets all positions, 16 bytes a body, in two rounds over a grid of hosts,
 * and every device over PCIe. A device sums rows in groups of 512. */
static void nbody(const struct cluster *c, struct cluster_time *t)
{
    const double hosts = hosts_of(c), devices = devices_of(c), rows = c->n / c->gpus,
                 messages = 2 * (sqrt(hosts) - 1);
    const double sums =
        cluster_work(c) / (c->gpus * c->rate) * (c->gpus > 1 ? ceil(rows / 512) * 512 / rows : 1);
    const double events = devices > 1 || hosts > 1 ? 30e-6 + 27e-6 * devices : 0;
    const double pcie = c->gpus > 1 ? 16 * c->n * (1 - 1 / c->gpus) / c->pcie : 0;
    t->mail = hosts > 1 ? 16 * c->n * (1 - 1 / hosts) / c->network + messages * c->latency : 0;
    t->alone = cluster_work(c) / c->rate + 16e-6;
    if (hosts > 1)
        t->seconds = fmax(sums, fmax(t->mail, pcie)) + 16e-6 + events +
                     6.6e-6 * fmin(2 * ceil(sqrt(hosts)), 16);
    else
        t->seconds = sums + 16e-6 + events + pcie;
}

/* A square of n x n cells, hosts' blocks `across` of them side by side, cut into strips for their
 * GPUs. Halos of up to four launches of 16 generations, at most a hundredth of a strip, are
 * computed twice, and so are 64 cells on either side of a block. Edges travel while the rows
 * between are computed; the columns of blocks do not. */
static double life_in(const struct cluster *c, double across, double *mail)
{
    enum { LAUNCH = 16, MOST = 4, SHARE = 100, SIDES = 128 };
    const double rows = c->n * across / c->gpus, width = c->n / across;
    const double fit = floor(rows / SHARE / LAUNCH), halo = LAUNCH * fmax(1, fmin(fit, MOST));
    const double fixed = fmin(52e-6, 0.5 * LAUNCH * cluster_work(c) / c->rate);
    const double edges = 2 * halo * width / 8,
                 columns = across > 1 ? SIDES / 8 * rows : 0; /* bytes of a GPU */
    const double generation =
        (cluster_work(c) / c->rate - fixed / LAUNCH) / c->gpus + fixed / LAUNCH;
    const double twice = 2 * halo / rows + (across > 1 ? SIDES / width : 0);
    *mail = hosts_of(c) > 1 ? 60e-6 + 4 * c->latency * (across > 1 ? 2 : 1) +
                                  (edges + columns * devices_of(c)) / c->network
                            : 0;
    const double exchange = 140e-6 + 2 * (edges + columns) / c->pcie + *mail;
    const double seen = across > 1 ? fixed + exchange
                                   : 60e-6 + fixed + fmax(0, exchange - 0.9 * LAUNCH * generation);
    *mail /= halo;
    return rows < LAUNCH ? INFINITY
           : c->gpus > 1 ? generation * (1 + twice) + seen / halo
                         : generation;
}

/* In strips, or in the blocks of least time. */
static int life(const struct cluster *c, struct cluster_time *t)
{
    enum { LEAST_WIDTH = 256 };
    const double hosts = hosts_of(c);
    t->alone = cluster_work(c) / c->rate;
    t->seconds = life_in(c, 1, &t->mail);
    for (double across = 2, mail; across <= hosts && c->n / across >= LEAST_WIDTH; across++) {
        const double seconds = fmod(hosts, across) == 0 ? life_in(c, across, &mail) : INFINITY;
        if (seconds < t->seconds) {
            t->seconds = seconds;
            t->mail = mail;
        }
    }
    return isinf(t->seconds) ? -1 : 0;
}

/* The grid of hosts of least time (matmul/grid.c), which get panels of A and B while they multiply
 * others. */
static void matmul(const struct cluster *c, struct cluster_time *t)
{
    const double hosts = hosts_of(c), devices = devices_of(c), n = c->n;
    t->alone = cluster_work(c) / c->rate;
    t->seconds = INFINITY;
    for (double pm = 1; pm <= hosts; pm++)
        for (double pn = 1; pm * pn <= hosts; pn++)
            for (double pk = floor(hosts / pm / pn), last = fmax(1, pk - 1); pk >= last; pk--) {
                const double rows = n / pm, cols = n / pn, depth = n / pk,
                             panels = ceil(depth / 4096);
                const double sums = 2 * rows * cols * depth / (devices * c->rate);
                const double mail = 8 * (depth * (rows + cols) - 2 * n * n / hosts) / c->network,
                             side = sqrt(devices);
                const double pcie =
                    8 * (depth * (rows + cols) / side + rows * cols / devices) / c->pcie;
                const double parts = 8 * (pk - 1) * rows * cols / c->network;
                const double seconds = fmax(sums, fmax(mail, pcie)) + (mail + pcie) / panels +
                                       parts + (pm + pn) * panels * c->latency;
                if (seconds >= t->seconds)
                    continue;
                t->seconds = seconds;
                t->mail = mail + parts;
            }
}

static void gas(const struct cluster *c, struct cluster_time *t)
{
    const double hosts = hosts_of(c);
    t->mail =
        hosts > 1 ? 4 * ceil(log2(hosts)) * c->latency + hosts * 20 * (48 / c->network + 10e-9) : 0;
    t->alone = c->n / c->rate;
    t->seconds = c->n / (c->gpus * c->rate) + (c->gpus > 1 ? 60e-6 : 0) + t->mail;
}

int cluster_predict(const struct cluster *c, struct cluster_time *t)
{
    int status = 0;
    *t = (struct cluster_time){0};
    if (c->program == CLUSTER_NBODY)
        nbody(c, t);
    else if (c->program == CLUSTER_LIFE)
        status = life(c, t);
    else if (c->program == CLUSTER_MATMUL)
        matmul(c, t);
    else
        gas(c, t);
    t->efficiency = t->alone / (c->gpus * t->seconds);
    return status;
}
