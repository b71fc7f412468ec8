/* divide.c - the initial distribution of the bodies to the devices of all ranks, by the caller's
 * shares or by speed, within the devices' memory.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/round.h"

#include <math.h>

enum { MOST_DEVICES = 64 }; /* of a rank among several: message tags 16 to 79 (exchange.c) */

/* ---- Kinds of devices. ----------------------------------------------------------------------- */

/* Properties of one device, or of all devices of a rank or of the job. */
struct traits {
    uint64_t grain;   /* a common multiple of tiles, work-groups and blocks that energies are
                         summed in */
    uint64_t tile;    /* a common multiple of tiles */
    uint32_t devices; /* of a rank, at most */
    uint32_t units;   /* compute units of the first device */
    char model[256];  /* name of the first device */
    uint64_t alike;   /* 1 if all devices are of this model */
};

static void join_traits(void *a, const void *b, void *arg)
{
    struct traits *one = a;
    const struct traits *two = b;
    (void)arg;
    one->grain = least_common_multiple(one->grain, two->grain);
    one->tile = least_common_multiple(one->tile, two->tile);
    one->devices = one->devices > two->devices ? one->devices : two->devices;
    one->alike &= two->alike && one->units == two->units && strcmp(one->model, two->model) == 0;
}

/* Collective. Find the properties of the devices of all ranks. */
static int find_traits(const struct nbody *nb, const struct cldev_info *info, struct traits *all)
{
    for (cl_uint d = 0; d < nb->ndev; d++) {
        const struct nbody_shape *const shape = &nb->device[d].shape;
        struct traits t = {.grain = nbody_is_clustered(nb) ? CLUSTER : SUM_BLOCK,
                           .tile = (uint64_t)shape->tile,
                           .devices = nb->ndev,
                           .units = info[d].dev_max_core,
                           .alike = 1};
        t.grain = least_common_multiple(t.grain, nbody_shape_group_bodies(shape));
        t.grain = least_common_multiple(t.grain, t.tile);
        snprintf(t.model, sizeof t.model, "%s", info[d].dev_name);
        if (d == 0)
            *all = t;
        else
            join_traits(all, &t, NULL);
    }
    return world_reduce(nb->world, all, sizeof *all, join_traits, NULL);
}

/* True if the kind of time steps is limited to one device; or runs on the host, where a division
 * brings nothing. */
static bool stepping_needs_one_device(const struct nbody *nb)
{
    return nbody_runs_on_host(nb) || nb->stepping == NBODY_BLOCK ||
           (nb->stepping == NBODY_ADAPTIVE && nb->integrator->block_steps);
}

/* Round to two significant digits. */
static double round_to_two_digits(double x)
{
    const double unit = x > 0 ? pow(10, floor(log10(x)) - 1) : 1;
    return unit * floor(x / unit + 0.5);
}

/* True if N is so small that one of several equal devices is faster than a distributed tree. Adds
 * the reason to nb->method_text. */
static bool single_device_is_faster(struct nbody *nb, const struct nbody_options *options)
{
    const double least = nb->device[0].shape.single_device_max * sqrt(nb->accuracy / 1e-3);
    if (options->shares || nb->ndev == 1 || world_size(nb->world) > 1 || nb->method != NBODY_TREE ||
        (double)nb->n >= least)
        return false;
    const size_t used = strlen(nb->method_text);
    snprintf(nb->method_text + used, sizeof nb->method_text - used,
             "; on one device, as several are faster from about %.0f bodies on",
             round_to_two_digits(least));
    return true;
}

/* ---- Shares. --------------------------------------------------------------------------------- */

/* A device of any rank; zero where a rank has fewer devices than another rank. */
struct share {
    double weight;    /* the device's bodies are in proportion to it */
    double most;      /* bodies that fit into the device's memory */
    uint64_t bounded; /* 1: the device has `most` bodies */
};

static int nbody_check_weights(const struct share *share, cl_uint ndev)
{
    double all = 0;
    for (cl_uint d = 0; d < ndev; d++) {
        if (!(share[d].weight >= 0) || isinf(share[d].weight))
            return clerror_set(EINVAL,
                               "nbody_create: the share of device %u is %g; shares must be numbers "
                               ">= 0",
                               d, share[d].weight);
        all += share[d].weight;
    }
    return all > 0 && !isinf(all)
               ? 0
               : clerror_set(EINVAL, "nbody_create: the shares add up to %g", all);
}

/* Bytes of a tree per body of a device's domain, with imports and some slack. */
static double tree_bytes_of_body(const struct nbody *nb)
{
    return 40. * (double)nb->real;
}

/* Give a device at most `most` bodies, and the remainder to the other devices in proportion to
 * their weights. Weights stay if all shares fit, or if all devices are bounded: then the tree is
 * refused later, with a message. */
static void bound_shares(double bodies, struct share *share, size_t n)
{
    double rate, weight; /* bodies per unit of weight; weight of the devices that are not bounded */
    bool any = false, changed;
    do {
        double left = bodies;
        weight = 0;
        for (size_t k = 0; k < n; k++)
            if (share[k].bounded)
                left -= share[k].most;
            else
                weight += share[k].weight;
        rate = left / weight;
        changed = false;
        for (size_t k = 0; k < n; k++)
            if (!share[k].bounded && rate * share[k].weight > share[k].most) {
                share[k].bounded = 1;
                any = changed = true;
            }
    } while (changed);
    for (size_t k = 0; any && weight > 0 && k < n; k++)
        share[k].weight = share[k].bounded ? share[k].most : rate * share[k].weight;
}

/* ---- Distribution. --------------------------------------------------------------------------- */

static int divide_no_memory(void)
{
    return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
}

/* Return the rows to allocate: domains of equal cost may have different numbers of bodies. Bodies
 * above the capacity migrate for each sum. */
static size_t row_capacity(const struct nbody *nb, size_t rows)
{
    const size_t more = rows + (rows / 8 + nb->domain.grain) / nb->domain.grain * nb->domain.grain;
    return nb->method != NBODY_TREE || rows == nb->padded ? rows
           : more < nb->padded                            ? more
                                                          : nb->padded;
}

/* Divide the rows among all devices in proportion to their weights; share[]: `devices` of each
 * rank. */
static int divide_rows(struct nbody *nb, const struct share *share, size_t devices)
{
    const size_t ranks = (size_t)world_size(nb->world), n = ranks * devices,
                 grains = nb->padded / nb->domain.grain;
    size_t end = 0, *const first = calloc(n + 1, sizeof *first);
    struct holder *const holder = nb->domain.holder = calloc(n, sizeof *holder);
    nb->domain.first_row = calloc(ranks + 1, sizeof *nb->domain.first_row);
    if (!first || !holder || !nb->domain.first_row)
        return free(first), divide_no_memory();
    double all = 0, below = 0;
    for (size_t k = 0; k < n; k++)
        all += share[k].weight;
    for (size_t k = 0; k < n; k++) {
        const size_t begin = end, h = nb->domain.holders;
        below += share[k].weight;
        end = below < all ? (size_t)floor((double)grains * (below / all) + 0.5) : grains;
        if (end == begin)
            continue;
        first[h] = begin * nb->domain.grain;
        holder[h] = (struct holder){.rank = (int)(k / devices),
                                    .rows = row_capacity(nb, (end - begin) * nb->domain.grain)};
        if (holder[h].rank == world_rank(nb->world))
            nb->device[k % devices].rows = holder[h].rows;
        nb->domain.holders++;
    }
    first[nb->domain.holders] = nb->n;
    nbody_ranks_redivide(nb, first);
    free(first);
    return 0;
}

/* Fill the shares of this rank's devices: given by the caller, or by speed. */
static int choose_shares(struct nbody *nb, const struct cldev_info *info,
                         const struct nbody_options *options, bool alike, nbody_rate_fn rate,
                         const void *arg, struct share *own)
{
    const bool given = options->shares && nb->ctx,
               by_one =
                   stepping_needs_one_device(nb) || (alike && single_device_is_faster(nb, options));
    bool taken = false; /* by the single device */
    for (cl_uint d = 0; d < nb->ndev; d++) {
        own[d].most = nb->method == NBODY_TREE
                          ? floor((double)info[d].dev_global_mem_sz / tree_bytes_of_body(nb))
                          : INFINITY;
        own[d].weight = taken             ? 0
                        : given           ? options->shares[d]
                        : alike || by_one ? 1
                                          : rate(nb, d, arg);
        if (!given && own[d].weight == 0 && !taken)
            return -1;
        taken |= by_one && own[d].weight > 0;
    }
    return nbody_check_weights(own, nb->ndev);
}

int nbody_domain_divide(struct nbody *nb, const struct cldev_info *info,
                        const struct nbody_options *options, nbody_rate_fn rate, const void *arg)
{
    struct traits all;
    if (find_traits(nb, info, &all) != 0)
        return -1;
    if (all.devices > MOST_DEVICES && world_size(nb->world) > 1)
        return clerror_set(EINVAL,
                           "nbody_create: a rank has %u devices; of several ranks, each has at "
                           "most %d",
                           all.devices, MOST_DEVICES);
    const size_t n = (size_t)world_size(nb->world) * all.devices;
    struct share *const own = calloc(all.devices, sizeof *own);
    struct share *const each = calloc(n, sizeof *each);
    int status = own && each ? choose_shares(nb, info, options, all.alike, rate, arg, own)
                             : divide_no_memory();
    status = world_reduce_status(nb->world, status);
    if (status == 0)
        status = world_gather(nb->world, own, all.devices * sizeof *own, each);
    if (status == 0) {
        bound_shares((double)nb->n, each, n);
        nb->domain.grain = all.grain;
        nb->padded = round_up(nb->n, all.grain);
        nbody_forces_chunk(nb, all.tile);
        status = divide_rows(nb, each, all.devices);
        status = world_reduce_status(nb->world, status == 0 ? nbody_allgather_open(nb) : -1);
    }
    free(own);
    free(each);
    return status;
}
