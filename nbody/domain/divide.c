/* divide.c - the distribution of the bodies to devices, by the caller's shares or by speed, within
 * the devices' memory.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/ranks.h"

#include <math.h>

static bool devices_are_equal(const struct cldev_info *info, cl_uint ndev)
{
    for (cl_uint d = 1; d < ndev; d++)
        if (strcmp(info[d].dev_name, info[0].dev_name) != 0 ||
            info[d].dev_max_core != info[0].dev_max_core)
            return false;
    return true;
}

static int nbody_check_weights(const double *weight, cl_uint ndev)
{
    double all = 0;
    for (cl_uint d = 0; d < ndev; d++) {
        if (!(weight[d] >= 0) || isinf(weight[d]))
            return clerror_set(EINVAL,
                               "nbody_create: the share of device %u is %g; shares must be numbers "
                               ">= 0",
                               d, weight[d]);
        all += weight[d];
    }
    return all > 0 && !isinf(all)
               ? 0
               : clerror_set(EINVAL, "nbody_create: the shares add up to %g", all);
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

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Devices of all ranks. A device is bounded if its share exceeds its memory. */
struct bounded {
    double weight;             /* sum over the devices that are not bounded */
    double bodies;             /* that bounded devices hold */
    uint32_t devices, changed; /* bounded devices; newly bounded devices */
};

static void join_bounded(void *a, const void *b, void *arg)
{
    struct bounded *one = a;
    const struct bounded *two = b;
    (void)arg;
    one->weight += two->weight;
    one->bodies += two->bodies;
    one->devices += two->devices;
    one->changed += two->changed;
}

/* Bound the devices whose share, with `rate` bodies per unit of weight, exceeds most[]. bound[d]:
 * the device is bounded. */
static int bound_by(struct nbody *nb, const double *weight, const double *most, double rate,
                    bool *bound, struct bounded *all)
{
    *all = (struct bounded){.weight = 0};
    for (cl_uint d = 0; d < nb->ndev; d++) {
        const bool exceeds = !bound[d] && rate * weight[d] > most[d];
        all->changed += exceeds;
        bound[d] |= exceeds;
        all->devices += bound[d];
        *(bound[d] ? &all->bodies : &all->weight) += bound[d] ? most[d] : weight[d];
    }
    return world_reduce(nb->world, all, sizeof *all, join_bounded, NULL);
}

/* Collective. Give a device at most most[] bodies, and the remainder to the other devices in
 * proportion to their weights. Weights stay if all shares fit, or if all devices are bounded: then
 * the tree is refused later, with a message. */
static int bound_weights(struct nbody *nb, const double *most, bool *bound, double *weight)
{
    struct bounded all;
    double rate = 0;
    if (bound_by(nb, weight, most, 0, bound, &all) != 0)
        return -1;
    do {
        rate = ((double)nb->n - all.bodies) / all.weight;
        if (bound_by(nb, weight, most, rate, bound, &all) != 0)
            return -1;
    } while (all.changed && all.weight > 0);
    for (cl_uint d = 0; all.devices && all.weight > 0 && d < nb->ndev; d++)
        weight[d] = bound[d] ? most[d] : rate * weight[d];
    return 0;
}

/* Bytes of a tree per body of a device's domain, with imports and some slack. */
static double tree_bytes_of_body(const struct nbody *nb)
{
    return 40. * (double)nb->real;
}

static int bound_by_memory(struct nbody *nb, const struct cldev_info *info, double *weight)
{
    if (nb->method != NBODY_TREE)
        return 0;
    double *most = calloc(nb->ndev, sizeof *most);
    bool *bound = calloc(nb->ndev, sizeof *bound);
    int status = most && bound ? 0 : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    status = world_reduce_status(nb->world, status);
    for (cl_uint d = 0; status == 0 && d < nb->ndev; d++)
        most[d] = floor((double)info[d].dev_global_mem_sz / tree_bytes_of_body(nb));
    if (status == 0)
        status = bound_weights(nb, most, bound, weight);
    free(most);
    free(bound);
    return status;
}

/* ---- Distribution. --------------------------------------------------------------------------- */

/* Distribute the bodies by the caller's shares, or by the speed of the devices. */
int nbody_domain_divide(struct nbody *nb, const struct cldev_info *info,
                        const struct nbody_options *options, nbody_rate_fn rate, const void *arg)
{
    const bool given = options->shares && nb->ctx, alike = devices_are_equal(info, nb->ndev);
    const bool by_one =
        stepping_needs_one_device(nb) || (alike && single_device_is_faster(nb, options));
    bool equal = alike || by_one;
    if (nbody_ranks_alike(nb, info, &equal) != 0)
        return -1;
    double *weight = calloc(nb->ndev, sizeof *weight);
    if (!weight)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    int status = 0;
    bool taken = false; /* by the single device */
    for (cl_uint d = 0; d < nb->ndev && status == 0; d++) {
        weight[d] = taken ? 0 : given ? options->shares[d] : equal ? 1 : rate(nb, d, arg);
        if (!given && weight[d] == 0 && !taken)
            status = -1;
        taken |= by_one && weight[d] > 0;
    }
    if (status == 0)
        status = nbody_check_weights(weight, nb->ndev);
    size_t tiles = 1;
    for (cl_uint d = 0; d < nb->ndev; d++)
        tiles = least_common_multiple(tiles, (size_t)nb->device[d].shape.tile);
    if (world_reduce_status(nb->world, status) != 0 || bound_by_memory(nb, info, weight) != 0 ||
        nbody_ranks_divide(nb, weight) != 0 || nbody_ranks_multiple(nb, &tiles) != 0)
        status = -1;
    if (status == 0)
        nbody_forces_chunk(nb, tiles);
    free(weight);
    return status;
}
