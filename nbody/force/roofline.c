/* roofline.c - upper bound of the interactions per second of the devices.
 *
 * The bound is the measured rate of multiply-adds (clpeak) over the instructions that the formula
 * of a pair takes (README.md, "One interaction"). The instructions that count depend on the device:
 *
 *   GPUs    all of them: any instruction takes the issue slot of a multiply-add
 *   CPUs    multiplications and multiply-adds: many CPUs add, compare and estimate roots in other
 *           units than those that multiply, and the bound must hold for them, too
 *
 * A kernel's work beyond the formula counts against it: the correction of an estimate on CPUs, the
 * exclusion of pairs at distance zero, loads of bodies.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/device_info.h"
#include "core/handle.h"

static double instructions(const struct nbody *nb, cl_device_type type)
{
    const struct sum *sum = nbody_forces_sum(nb);
    const bool saved =
        nb->uniform && nb->integrator->sum == FORCES; /* no multiplication by the mass */
    if (type & CL_DEVICE_TYPE_CPU)
        return sum->multiplications - saved;
    if (nbody_is_clustered(nb) && nb->integrator->sum == FORCES) /* as if all bodies were far */
        return sum->instructions[NBODY_SINGLE] - saved;
    return sum->instructions[nb->precision] - (saved && nb->precision != NBODY_DOUBLE);
}

double nbody_peak_rate(const nbody *nb)
{
    if (no_handle(nb, __func__) || !nb->ctx)
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
