/* gas_bins.h - counts of speeds in bins, compared with Maxwell's distribution.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_GAS_BINS_H
#define STDCL_CLI_GAS_BINS_H

#include <stdint.h>

struct gas_job;

/* Bins of equal width from speed 0 to TOP thermal speeds sqrt(k_B T / m); the last count has
 * the faster molecules. */
struct gas_bins {
    const struct gas_job *job;
    int n;
    double width;          /* of a bin, in the caller's units */
    const uint64_t *count; /* n + 1 */
};

/* Fraction of molecules that Maxwell's distribution has in bin i; i = n: above all bins. */
double gas_bins_fraction(const struct gas_bins *b, int i);

/* Probability density of a bin, as counted. */
double gas_bins_density(const struct gas_bins *b, int i);

/* Deviation of a count from its mean, in standard deviations of the binomial distribution; NAN if
 * fewer than GAS_BINS_LEAST molecules are expected, too few for a normal distribution. */
enum { GAS_BINS_LEAST = 5 };
double gas_bins_residual(const struct gas_bins *b, int i);

/* Pearson's chi squared. Bins with fewer than GAS_BINS_LEAST expected molecules are one. Store the
 * degrees of freedom, the number of bins less 1; 0: too few molecules. */
double gas_bins_chi_squared(const struct gas_bins *b, int *freedom);

#endif
