/* 10_monte_carlo.c - the price of a European call option from 2^20 normal deviates.
 *
 * Philox gives random bits for every sample's number, so that work-items need no state; Box and
 * Muller's transformation makes normal deviates of them (1958, doi:10.1214/aoms/1177706645). The
 * price is compared with Black and Scholes' formula (1973, doi:10.1086/260062).
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdcl.h>

static const char source[] =
    "#include <stdcl/philox.h>\n"
    "kernel void pay(global float *sum, float start, float strike, float drift, float spread)\n"
    "{ uint i = get_global_id(0); float total = 0;\n"
    "  for (uint j = 0; j < 256; j++) {\n"
    "      uint4 bits = philox4x32_10((uint4)(j, i, 0, 0), 2026, 0);\n"
    "      float2 radius = sqrt(-2 * log(1 - (float2)(philox_float(bits.x), philox_float(bits.y))));\n"
    "      float2 angle = 2 * M_PI_F * (float2)(philox_float(bits.z), philox_float(bits.w));\n"
    "      float4 normal = (float4)(radius * cos(angle), radius * sin(angle));\n"
    "      float4 gain = fmax(start * exp(drift + spread * normal) - strike, 0.0f);\n"
    "      total += gain.x + gain.y + gain.z + gain.w; }\n"
    "  sum[i] = total; }\n";

int main(void)
{
    enum { ITEMS = 1024, SAMPLES = 1024 * ITEMS };
    CLCONTEXT *cp = stdgpu ? stdgpu : stddev;
    cl_kernel pay = clsym(cp, clsopen(cp, source, CLLD_NOW), "pay", 0);
    float *sum = clmalloc(cp, ITEMS * sizeof *sum, 0);
    if (!pay || !sum)
        return fprintf(stderr, "10_monte_carlo: %s\n", clerror()), 1;
    clndrange_t ndr = clndrange_init1d(0, ITEMS, 0);
    /* price and strike 100, a year at 5 % with a volatility of 20 %: drift r - v^2 / 2, spread v */
    clforka(cp, 0, pay, &ndr, CL_EVENT_NOWAIT, sum, 100.0f, 100.0f, 0.05f - 0.02f, 0.2f);
    clmsync(cp, 0, sum, CL_MEM_HOST | CL_EVENT_NOWAIT);
    if (clwait(cp, 0, CL_ALL_EVENT))
        return fprintf(stderr, "10_monte_carlo: %s\n", clerror()), 1;
    double price = 0;
    for (int i = 0; i < ITEMS; i++)
        price += exp(-0.05) * (double)sum[i] / SAMPLES;
    const double exact = 10.450584, error = 0.0144; /* one standard error: 14.7 / sqrt(SAMPLES) */
    printf("price %.4f, formula %.4f: %s four standard errors\n", price, exact,
           fabs(price - exact) < 4 * error ? "within" : "beyond");
    return !(fabs(price - exact) < 4 * error);
}
