/* stdcl/gas.h - the kinetic energy of a gas, and sums of arrays, on any OpenCL device or on several.
 *
 *   gas *g = gas_create(&(struct gas_options){.n = 1000000000});      drawn and summed, never stored
 *   gas_measure(g, &e);                                               e.mean_energy is near 3/2 k_B T
 *   gas_free(g);
 *
 *   gas_sums *s = gas_sums_create(&(struct gas_sums_options){.ctx = cp, .type = GAS_DOUBLE});
 *   gas_sums_place(s, x, n);                                          host to devices, each its share
 *   gas_sum(s, x, n, &total);                                         also dot, min, max, mean, variance
 *
 * Order: everything is added up in one fixed order, that of gas/order.h, which depends on the number of
 * elements and nothing else. The same numbers give the same bits in every run, on every device, on any
 * number of devices and for every work-group size. (Two exceptions: GAS_TREE has an order of its own, which
 * depends on its shape; and devices without double precision add in pairs of floats.)
 * int functions return 0, or -1 with clerrno set and a sentence in clerror(); pointers NULL likewise. All
 * block. One object is used by one thread at a time; different ones are independent of each other.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_H
#define STDCL_GAS_H

#include <stddef.h>
#include <stdint.h>
#include <stdcl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sums of arrays. ------------------------------------------------------------------------- */

/* Elements: float, double, int32_t, int64_t. */
enum gas_type { GAS_FLOAT, GAS_DOUBLE, GAS_INT, GAS_LONG };

/* What floating-point elements are added up in. Integers are always added exactly.
 *   GAS_WIDE         double. Of floats the sum is then right to about one unit of double precision; of
 *                    doubles the error is at most 41 + log2(n / 32768) roundings of the sum of |x|, as
 *                    nothing is added up in a longer chain than that. On a device without double
 *                    precision floats are compensated instead.
 *   GAS_COMPENSATED  pairs of the element's type, value and rounding error (Knuth's TwoSum; products by
 *                    TwoProduct: Ogita, Rump & Oishi 2005, doi:10.1137/030601818), as if in twice the
 *                    precision: 1 + 1e100 + 1 - 1e100 is 2. */
enum gas_accumulator { GAS_WIDE, GAS_COMPENSATED };

/* How. GAS_TUNED: in the fixed order, by vectors, a work-group to 32768 elements, one launch. GAS_TREE: the
 * classic tutorial's, kept for comparison: items stride over the input, groups halve their partial sums in
 * local memory, the host adds up what groups leave. It needs LuaJIT (ENOTSUP otherwise), and every device
 * the whole array. */
enum gas_method { GAS_TUNED, GAS_TREE };

/* Kernels for arrays of one type, on all devices of a context. */
typedef struct gas_sums gas_sums;

/* Zero means the default. */
struct gas_sums_options {
    CLCONTEXT *ctx; /* ALL its devices are used. NULL: stdgpu, else stdcpu. Not owned; must outlive this */
    enum gas_type type;
    enum gas_accumulator accumulator;
    enum gas_method method;
    const char *shape; /* words KEY=NUMBER that change the device's own row, see gas/README.md */
};

/* The caller frees it. Kernels are built at first use. EINVAL; ENODEV; ENOTSUP: doubles on a device that has
 * none. */
gas_sums *gas_sums_create(const struct gas_sums_options *options);
void gas_sums_free(gas_sums *s);

/* x is memory from clmalloc for the same context, or a place inside it that is aligned to 128 bytes. Its n
 * elements are read on the devices: device d reads elements *first ... *first + *count - 1, which must be
 * current there; shares depend on n. gas_sums_place copies each device's share from the host, which is all
 * there is to do for an array the host has written. */
int gas_sums_place(gas_sums *s, const void *x, size_t n);
void gas_sums_share(const gas_sums *s, size_t n, cl_uint dev, size_t *first, size_t *count);

/* The sum of n elements; of none, 0. Integers: exact, then rounded to double. */
int gas_sum(gas_sums *s, const void *x, size_t n, double *sum);

/* The exact sum of integers; ERANGE when 64 bits do not hold it, EINVAL for types that are no integers. */
int gas_sum_integer(gas_sums *s, const void *x, size_t n, int64_t *sum);

/* The sum of x[i] y[i]. Products are exact for floats in GAS_WIDE, fused for doubles. Integers: EINVAL. */
int gas_dot(gas_sums *s, const void *x, const void *y, size_t n, double *dot);

/* The smallest and the largest element; NaN if one is NaN. EINVAL for n = 0. GAS_LONG: rounded to double. */
int gas_min(gas_sums *s, const void *x, size_t n, double *min);
int gas_max(gas_sums *s, const void *x, size_t n, double *max);

/* The mean, and the variance of a sample, sum (x - mean)^2 / (n - 1), in two passes; `mean` may be NULL.
 * EINVAL for n = 0, and n = 1 for the variance. */
int gas_mean(gas_sums *s, const void *x, size_t n, double *mean);
int gas_variance(gas_sums *s, const void *x, size_t n, double *mean, double *variance);

/* The launch shape on a device as words KEY=NUMBER, and why that one. Owned by s. */
const char *gas_sums_shape(const gas_sums *s, cl_uint dev);
const char *gas_sums_explain(const gas_sums *s, cl_uint dev);

/* ---- A gas. ---------------------------------------------------------------------------------- */

/* n molecules in equilibrium: velocity components are independent and normal, with the variance k_B T / m
 * (Maxwell and Boltzmann). Molecule i has its own from Philox4x32-10, counter i, and the seed as key, by
 * the transformation of Box and Muller in single precision, computed such that every device and the host
 * draw the same bits (gas/maxwell.h). */
typedef struct gas gas;

/* Where velocities are. GAS_FUSED: nowhere; they are drawn and summed in one kernel, so that a gas of any
 * size needs no memory. GAS_STORED: in the devices' memory, 12 or 24 bytes a molecule. */
enum gas_storage { GAS_FUSED, GAS_STORED };

/* Who draws stored velocities: the devices; the host, into memory that it shares with the devices (zero-copy
 * on CPU devices); or the caller, by gas_set_velocities. */
enum gas_source { GAS_DEVICE, GAS_HOST, GAS_GIVEN };

/* Zero means the default, everywhere but in n. */
struct gas_options {
    CLCONTEXT *ctx;     /* as in gas_sums_options */
    uint64_t n;         /* molecules, 1 to 2^53 */
    double temperature; /* > 0; 0 = 1 */
    double mass;        /* of a molecule, > 0; 0 = 1 */
    double boltzmann;   /* k_B in the caller's units; 0 = 1; SI: GAS_BOLTZMANN */
    uint64_t seed;      /* the key of Philox */
    enum gas_storage storage;
    enum gas_source source;           /* of a stored gas */
    enum gas_type type;               /* of stored velocities: GAS_FLOAT or GAS_DOUBLE */
    enum gas_accumulator accumulator; /* of the sum of a stored gas */
    enum gas_method method;           /* of the sum of a stored gas */
    const char *shape;                /* as in gas_sums_options */
    /* Told how many molecules are done, now and then during draws and measurements; non-zero ends the call
     * with ECANCELED. May be NULL. */
    int (*told)(void *arg, uint64_t done);
    void *arg;
};

/* Builds the kernels, takes memory, and draws the velocities of a stored gas unless they are given. EINVAL: a
 * bad number (named); ENODEV; ENOTSUP; ENOMEM; ENOEXEC. The caller frees it. */
gas *gas_create(const struct gas_options *options);
void gas_free(gas *g);

/* GAS_GIVEN: copies n rows of three components in the caller's units; each call replaces the former. EDOM:
 * a component that is not finite (named). */
int gas_set_velocities(gas *g, const double (*velocity)[3]);
int gas_set_velocities_single(gas *g, const float (*velocity)[3]);

/* Copies out velocities of molecules first ... first + count - 1 in the caller's units; a fused gas draws
 * them anew on the host. EINVAL when there are no such molecules. */
int gas_velocities(gas *g, uint64_t first, size_t count, double (*velocity)[3]);

/* What a gas tells. Energies are the kinetic ones of translation. */
struct gas_energy {
    double mean_energy;    /* of a molecule: sum m v^2 / 2 over n */
    double expected;       /* 3/2 k_B T */
    double standard_error; /* of the mean: k_B T sqrt(3 / (2 n)) */
    double sigmas;         /* (mean_energy - expected) / standard_error */
    double temperature;    /* mean_energy / (3/2 k_B) */
};

/* Adds up all molecules, on the devices. */
int gas_measure(gas *g, struct gas_energy *energy);

/* The pressure of an ideal gas of n molecules in a volume: 2/3 n mean_energy / volume. */
double gas_pressure(uint64_t n, double mean_energy, double volume);

/* Counts speeds in `bins` bins (1 to 4096) from 0 to `top`, in the caller's units, and faster ones in
 * count[bins]: bins + 1 numbers in all. */
int gas_histogram(gas *g, double top, unsigned bins, uint64_t *count);

/* The probability that a molecule is slower than `speed` (Maxwell's distribution). */
double gas_slower(double speed, double temperature, double mass, double boltzmann);

uint64_t gas_molecules(const gas *g);
/* Bytes of device memory that one gas_measure reads; 0 for a fused gas. */
double gas_bytes(const gas *g);
/* As gas_sums_shape, of the kernel that gas_measure uses. */
const char *gas_shape(const gas *g, cl_uint dev);
const char *gas_explain(const gas *g, cl_uint dev);

/* ---- Gases of the real world. ---------------------------------------------------------------- */

#define GAS_BOLTZMANN 1.380649e-23   /* J/K, exact: the SI of 2019 */
#define GAS_DALTON 1.66053906660e-27 /* kg: CODATA 2018 */

/* A molecule's mass by the abridged standard atomic weights of IUPAC 2021 (Prohaska et al. 2022,
 * doi:10.1515/pac-2019-0603): He 4.0026, Ne 20.180, Ar 39.95, N2 2 x 14.007, O2 2 x 15.999. */
struct gas_species {
    const char *name;    /* "he" */
    const char *formula; /* "He" */
    double mass;         /* kg */
};
/* The list, ended by a NULL name; static. */
const struct gas_species *gas_species_list(void);

/* What `stdcl tune` searches. Static; *count of them. */
const struct cltune_kernel *gas_tune_kernels(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
