/* divide.c - the distribution of the bodies to devices, by the caller's shares or by speed.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/ranks.h"

#include "core/clock.h"

#include <float.h>
#include <math.h>

static bool devices_are_equal(const struct cldev_info *info, cl_uint ndev)
{
    for (cl_uint d = 1; d < ndev; d++)
        if (strcmp(info[d].dev_name, info[0].dev_name) != 0 ||
            info[d].dev_max_core != info[0].dev_max_core)
            return false;
    return true;
}

/* Return the interactions per second of one device alone, from the second of two evaluations for
 * up to 16,384 bodies; 0 on error. */
static double measure_device_rate(struct nbody *nb, cl_uint dev,
                                  const struct nbody_options *options, const double *mass,
                                  const double (*pos)[3], const double (*vel)[3])
{
    const size_t n = nb->n < 16384 ? nb->n : 16384;
    struct nbody_options trial = *options;
    double rate = 0, *shares = calloc(nb->ndev, sizeof *shares);
    if (!shares)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host"), 0;
    shares[dev] = 1;
    trial.ctx = nb->ctx;
    trial.shares = shares;
    trial.world = NULL;
    trial.progress = NULL;
    trial.integrator = NBODY_TAYLOR;
    trial.stepping = NBODY_FIXED;
    trial.dt = DBL_MIN; /* nothing moves, so that no position overflows */
    nbody *one = nbody_create(&trial, n, mass, pos, vel);
    if (one && nbody_step(one, 1) == 0) {
        const double start = seconds_now();
        if (nbody_step(one, 1) == 0)
            rate = (double)n * (double)n / (seconds_now() - start);
    }
    nbody_free(one);
    free(shares);
    return rate;
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

/* True if the kind of time steps is limited to one device. */
static bool stepping_needs_one_device(const struct nbody *nb)
{
    return nb->stepping == NBODY_BLOCK ||
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

/* Distribute the bodies by the caller's shares, or by the speed of the devices. */
int nbody_domain_divide(struct nbody *nb, const struct cldev_info *info,
                        const struct nbody_options *options, const double *mass,
                        const double (*pos)[3], const double (*vel)[3])
{
    const bool given = options->shares != NULL, alike = devices_are_equal(info, nb->ndev);
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
        weight[d] = taken   ? 0
                    : given ? options->shares[d]
                    : equal ? 1
                            : measure_device_rate(nb, d, options, mass, pos, vel);
        if (!given && weight[d] == 0 && !taken)
            status = -1;
        taken |= by_one && weight[d] > 0;
    }
    if (status == 0)
        status = nbody_check_weights(weight, nb->ndev);
    size_t tiles = 1;
    for (cl_uint d = 0; d < nb->ndev; d++)
        tiles = least_common_multiple(tiles, (size_t)nb->device[d].shape.tile);
    if (world_reduce_status(nb->world, status) != 0 || nbody_ranks_divide(nb, weight) != 0 ||
        nbody_ranks_multiple(nb, &tiles) != 0)
        status = -1;
    if (status == 0)
        nbody_forces_chunk(nb, tiles);
    free(weight);
    return status;
}
