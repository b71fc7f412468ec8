/* bench_gas.c - throughput of drawing and summing gases.
 *
 *   bench_gas [--device cpu|gpu|NAME] [--devices K] [--bytes B] [--molecules N]
 *             [--shape "KEY=NUMBER ..."] [--runs K] [--json]
 *
 * The energy of a gas, stored in B (2^28) bytes, and fused (--molecules, 1e8). The energy must be
 * statistically plausible before it is timed. Figures are as in bench_arrays.c.
 * SPDX-License-Identifier: MIT
 */
#include "bench/figures.h"
#include "stdcl/gas.h"

#include <math.h>

static int run_gas(void *arg)
{
    struct gas_energy e;
    return gas_measure(arg, &e);
}

static void bench_gas(const char *name, uint64_t n, enum gas_storage storage, enum arrays_type type,
                      int runs)
{
    const int asked = option.runs;
    const struct gas_options options = {
        .ctx = cp, .n = n, .storage = storage, .type = type, .shape = option.shape};
    gas *g = gas_create(&options);
    struct gas_energy e;
    if (!g || gas_measure(g, &e) != 0)
        die(name);
    if (fabs(e.sigmas) > 5)
        die("an unlikely energy");
    struct figure f = {.name = name, .n = n, .bytes = gas_bytes(g), .shape = gas_shape(g, 0)};
    option.runs = runs;
    f = time_runs(f, storage == GAS_STORED ? "reduce" : NULL, run_gas, g);
    option.runs = asked;
    print_figure(&f);
    gas_free(g);
}

int main(int argc, char **argv)
{
    bench_begin(
        &(struct bench_option){
            .program = "bench_gas", .bytes = "2^28", .molecules = 100000000, .runs = 20},
        argc, argv);
    const uint64_t bytes = (uint64_t)bench_number(option.bytes);
    bench_gas("gas.stored.single", bytes / 12, GAS_STORED, ARRAYS_FLOAT, option.runs);
    if (info.dev_pref_vec_double)
        bench_gas("gas.stored.double", bytes / 24, GAS_STORED, ARRAYS_DOUBLE, option.runs);
    bench_gas("gas.fused", option.molecules, GAS_FUSED, ARRAYS_FLOAT, 3);
    return clcontext_destroy(cp) == 0 ? 0 : 1;
}
