/* 10_monte_carlo.c - the price of a European call option from 2^20 normal deviates.
 *
 * Philox gives random bits for every sample's number, so that work-items need no state. The price
 * is compared with Black and Scholes' formula (1973, doi:10.1086/260062). Lines: 5 of kernels, 16
 * of the host, 7 of its check.
 * SPDX-License-Identifier: MIT
 */
#include <err.h>
#include <math.h>
#include <stdcl/arrays.h>

/* price and strike 100, a year at r = 5 % with a volatility of v = 20 %: drift r - v^2 / 2 */
static const char kernels[] =
    "#include <stdcl/philox.h>\n"
    "kernel void pay(global float4 *gain)\n"
    "{ uint i = get_global_id(0);\n"
    "  float4 z = philox_normal_float4(philox4x32_10((uint4)(i, 0, 0, 0), 2026, 0));\n"
    "  gain[i] = exp(-0.05f) * fmax(100 * exp(0.03f + 0.2f * z) - 100, 0.0f); }\n";

static int check(double price, double error)
{
    const double exact = 10.450584;
    printf("price %.4f, formula %.4f: %s four standard errors\n", price, exact,
           fabs(price - exact) < 4 * error ? "within" : "beyond");
    return !(fabs(price - exact) < 4 * error);
}

int main(void)
{
    enum { N = 1 << 20 };
    double price, variance;
    CLCONTEXT *cp = stdgpu ? stdgpu : stddev;
    void *program = clsopen(cp, kernels, CLLD_NOW);
    float *gain = clmalloc(cp, N * sizeof *gain, 0);
    arrays *a = arrays_create(&(struct arrays_options){.ctx = cp, .devices = 1});
    if (!program || clexecb(cp, 0, clrange1(N / 4), pay, gain) ||
        arrays_variance(a, gain, N, &price, &variance))
        errx(1, "%s", clerror());
    arrays_free(a);
    return check(price, sqrt(variance / N));
}
