/* gas_bins.c - counts of speeds in bins, compared with Maxwell's distribution. */
/* SPDX-License-Identifier: MIT */
#include "gas_bins.h"
#include "gas_job.h"

#include <math.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>

static double fraction_slower(const struct gas_bins *b, double speed)
{
    return gas_speed_cdf(speed, b->job->temperature, b->job->mass, b->job->boltzmann);
}

double gas_bins_fraction(const struct gas_bins *b, int i)
{
    const double below = fraction_slower(b, i * b->width);
    return i == b->n ? 1 - below : fraction_slower(b, (i + 1) * b->width) - below;
}

double gas_bins_density(const struct gas_bins *b, int i)
{
    return (double)b->count[i] / ((double)b->job->n * b->width);
}

double gas_bins_residual(const struct gas_bins *b, int i)
{
    const double p = gas_bins_fraction(b, i), mean = p * (double)b->job->n;
    return mean >= GAS_BINS_LEAST ? ((double)b->count[i] - mean) / sqrt(mean * (1 - p)) : NAN;
}

double gas_bins_chi_squared(const struct gas_bins *b, int *freedom)
{
    double sum = 0, few_count = 0, few_mean = 0;
    int bins = 0;
    for (int i = 0; i <= b->n; i++) {
        const double mean = gas_bins_fraction(b, i) * (double)b->job->n,
                     count = (double)b->count[i];
        if (mean < GAS_BINS_LEAST) {
            few_mean += mean;
            few_count += count;
            continue;
        }
        sum += (count - mean) * (count - mean) / mean;
        bins++;
    }
    if (few_mean >= 1) { /* Cochran (1954): one bin may have one or more */
        sum += (few_count - few_mean) * (few_count - few_mean) / few_mean;
        bins++;
    }
    *freedom = bins > 1 ? bins - 1 : 0;
    return sum;
}
