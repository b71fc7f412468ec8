/* roofline.c - how many interactions a second the devices could do at most.
 *
 * That is the measured rate of multiply-adds (clpeak) over the instructions that the formula of a
 * pair takes (README.md, "One pull"). Which of them count depends on the device:
 *
 *   GPUs    all of them: an instruction of any kind takes the place of a multiply-add
 *   CPUs    multiplications and multiply-adds: many CPUs add, compare and estimate roots in units
 *           beside the
 *           multipliers, and a limit must hold on those too
 *
 * What a kernel does beyond the formula counts against it: the correction of an estimate on CPUs,
 * leaving out pairs at one place, fetching bodies.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/device_info.h"
#include "core/handle.h"

static double instructions(const struct nbody *nb, cl_device_type type)
{
    const struct sum *sum = nbody_forces_sum(nb);
    const bool saved =
        nb->uniform && nb->integrator->sum == FORCES; /* the multiplication by the mass */
    if (type & CL_DEVICE_TYPE_CPU)
        return sum->multiplications - saved;
    if (nbody_is_clustered(nb) && nb->integrator->sum == FORCES) /* as if all bodies were far */
        return sum->instructions[NBODY_SINGLE] - saved;
    return sum->instructions[nb->precision] - (saved && nb->precision != NBODY_DOUBLE);
}

double nbody_peak_rate(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    double limit = 0;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        cl_device_type type = 0;
        if (!p->rows)
            continue;
        const double flops = clpeak_flops(
            nb->ctx, p->dev, nb->precision == NBODY_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE);
        if (flops <= 0 ||
            device_ask(nb->ctx, p->dev, CL_DEVICE_TYPE, sizeof type, &type, "nbody_peak_rate") != 0)
            return 0;
        limit += flops / 2 / instructions(nb, type);
    }
    return limit;
}
