/* cluster_model.c - predicted time of a step on many GPUs: the larger of computing and
 * communication, plus the communication that is not hidden.
 *
 * The constants are of H200s: 16 us for the last launches of a step; with several devices 30 us
 * plus 27 us per device for events; 140 us for an exchange of Life's halos, of which 60 us are
 * not hidden; 52 us per launch of Life (16 generations) for any number of cells (a grid of
 * 16,384^2 takes that much longer than a large one would), and one more launch per exchange; 6.6
 * us per launch that sums received bodies; for the tree with several devices 0.8 ms for ten waits
 * of the host for the devices, and 29 imported entries of 32 bytes per face of a domain and (bodies
 * of the domain)^(2/3). All but the launch that sums are fitted to
 * measurements on one host (docs/cluster.md). Nothing was measured on several hosts.
 * SPDX-License-Identifier: MIT
 */
#include "cluster_model.h"

#include <math.h>
#include <stdcl.h>

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

static double cluster_hosts(const struct cluster *c)
{
    return ceil(c->gpus / c->gpus_per_host);
}

static double devices_per_host(const struct cluster *c)
{
    return fmin(c->gpus, c->gpus_per_host);
}

/* Direct sums. Every host receives all positions, 16 bytes per body, in two phases over a grid
 * of hosts, and every device over PCIe. A device sums bodies in groups of 512. */
static void predict_nbody(const struct cluster *c, struct cluster_time *t)
{
    const double hosts = cluster_hosts(c), devices = devices_per_host(c), rows = c->n / c->gpus,
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

/* ---- The tree. ------------------------------------------------------------------------------- */

/* 5 % more than the device memory that the driver reports per body: 131.4 bytes on two H200s with
 * 2*10^9 bodies, and 99.3 on one with 2^27 (bench/studies/nvidia-h200-several.json). */
double cluster_tree_bytes(double gpus)
{
    return gpus > 1 ? 138 : 105;
}

/* Bytes of the cells and bodies that a domain of n bodies imports, one of `domains`. Domains are
 * ranges of the Hilbert curve: halves share one face, quarters have two, and a domain inside has
 * six. */
static double tree_imports(double n, double domains)
{
    enum { ENTRIES = 29, BYTES = 32 };
    return ENTRIES * BYTES * fmin(log2(domains), 6) * pow(n, 2. / 3);
}

/* Imports and top-level trees pass the memory of each host, one device at a time, and are not
 * hidden. Every domain sends 64 nodes of its top to all. */
static int predict_tree(const struct cluster *c, struct cluster_time *t)
{
    enum { TOP = 64 * 32 };
    const double hosts = cluster_hosts(c), devices = devices_per_host(c), n = c->n / c->gpus;
    t->alone = c->n / c->rate;
    t->mail = hosts > 1 ? (tree_imports(c->n / hosts, hosts) + TOP * c->gpus) / c->network +
                              (2 * ceil(log2(hosts)) + 2 * fmin(hosts - 1, 26)) * c->latency
                        : 0;
    t->seconds = t->alone / c->gpus + t->mail;
    if (c->gpus > 1)
        t->seconds += 0.8e-3 + devices * (tree_imports(n, c->gpus) + TOP * c->gpus) / c->pcie;
    return n * cluster_tree_bytes(c->gpus) > c->memory ? -1 : 0;
}

/* ---- Life. ----------------------------------------------------------------------------------- */

/* Time per generation of n x n cells, in blocks of hosts, `across` of them side by side, cut
 * into strips for their GPUs. Halos of up to four launches of 16 generations, at most 1/100 of a
 * strip, are computed twice, as are 64 cells on either side of a block. Halo rows travel while
 * the interior is computed; halo columns of blocks do not. */
static double life_block_time(const struct cluster *c, double across, double *mail)
{
    enum { LAUNCH = 16, MOST = 4, SHARE = 100, SIDES = 128 };
    const double rows = c->n * across / c->gpus, width = c->n / across;
    const double fit = floor(rows / SHARE / LAUNCH), halo = LAUNCH * fmax(1, fmin(fit, MOST));
    const double fixed = fmin(52e-6, 0.5 * LAUNCH * cluster_work(c) / c->rate);
    const double edges = 2 * halo * width / 8,
                 columns = across > 1 ? SIDES / 8 * rows : 0; /* bytes per GPU */
    const double generation =
        (cluster_work(c) / c->rate - fixed / LAUNCH) / c->gpus + fixed / LAUNCH;
    const double twice = 2 * halo / rows + (across > 1 ? SIDES / width : 0);
    *mail = cluster_hosts(c) > 1 ? 60e-6 + 4 * c->latency * (across > 1 ? 2 : 1) +
                                       (edges + columns * devices_per_host(c)) / c->network
                                 : 0;
    const double exchange = 140e-6 + 2 * (edges + columns) / c->pcie + *mail;
    const double seen = across > 1 ? fixed + exchange
                                   : 60e-6 + fixed + fmax(0, exchange - 0.9 * LAUNCH * generation);
    *mail /= halo;
    return rows < LAUNCH ? INFINITY
           : c->gpus > 1 ? generation * (1 + twice) + seen / halo
                         : generation;
}

/* Strips, or the fastest arrangement of blocks. */
static int predict_life(const struct cluster *c, struct cluster_time *t)
{
    enum { LEAST_WIDTH = 256 };
    const double hosts = cluster_hosts(c);
    t->alone = cluster_work(c) / c->rate;
    t->seconds = life_block_time(c, 1, &t->mail);
    for (double across = 2, mail; across <= hosts && c->n / across >= LEAST_WIDTH; across++) {
        const double seconds =
            fmod(hosts, across) == 0 ? life_block_time(c, across, &mail) : INFINITY;
        if (seconds < t->seconds) {
            t->seconds = seconds;
            t->mail = mail;
        }
    }
    return isinf(t->seconds) ? -1 : 0;
}

/* The fastest grid of hosts (matmul/grid.c). Hosts receive the next panels of A and B while
 * multiplying the current ones. */
static void predict_matmul(const struct cluster *c, struct cluster_time *t)
{
    const double hosts = cluster_hosts(c), devices = devices_per_host(c), n = c->n;
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

static void predict_gas(const struct cluster *c, struct cluster_time *t)
{
    const double hosts = cluster_hosts(c);
    t->mail =
        hosts > 1 ? 4 * ceil(log2(hosts)) * c->latency + hosts * 20 * (48 / c->network + 10e-9) : 0;
    t->alone = c->n / c->rate;
    t->seconds = c->n / (c->gpus * c->rate) + (c->gpus > 1 ? 60e-6 : 0) + t->mail;
}

int cluster_predict(const struct cluster *c, struct cluster_time *t)
{
    int status = 0;
    *t = (struct cluster_time){0};
    if (c->n < c->gpus)
        return -1;
    if (c->program == CLUSTER_NBODY)
        predict_nbody(c, t);
    else if (c->program == CLUSTER_TREE)
        status = predict_tree(c, t);
    else if (c->program == CLUSTER_LIFE)
        status = predict_life(c, t);
    else if (c->program == CLUSTER_MATMUL)
        predict_matmul(c, t);
    else
        predict_gas(c, t);
    t->efficiency = t->alone / (c->gpus * t->seconds);
    return status;
}
