/* stdcl/gas.h - kinetic energy of an ideal gas by Monte Carlo, on one or several OpenCL devices.
 *
 *   gas *g = gas_create(&(struct gas_options){.n = 1000000000});   drawn and summed, never stored
 *   gas_measure(g, &e);                                            e.mean_energy is about 3/2 k_B T
 *   gas_free(g);
 *
 * Order of additions: fixed, and dependent on n only (arrays/fixed_reduce.h). One seed gives equal
 * bits in every run, on every device, on any number of devices and ranks and for every work-group
 * size. Two exceptions: the order of ARRAYS_TREE depends on its shape, and devices without double
 * precision add in pairs of floats.
 *
 * int functions return 0, or -1 with clerrno set and a message in clerror(); pointer functions
 * return NULL likewise. All functions block. One object is used by one thread at a time; different
 * objects are independent. A NULL handle gives EINVAL, and the function returns -1, NULL, 0 or "".
 * NULL may be freed.
 *
 * Structs of options may grow in a later version 1 by their reserved words, which must be 0
 * (EINVAL). All other structs are fixed. tests/install/layout.txt lists sizes and offsets.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_H
#define STDCL_GAS_H

#include <stddef.h>
#include <stdint.h>
#include <stdcl.h>
#include <stdcl/arrays.h>
#include <stdcl/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A gas. ---------------------------------------------------------------------------------- */

/* n molecules in equilibrium: velocity components are independent and normal with variance k_B T /
 * m (Maxwell-Boltzmann). Molecule i is drawn from Philox4x32-10 with counter i and the seed as key,
 * by the Box-Muller transform in single precision, computed so that every device and the host draw
 * equal bits (gas/maxwell.h). */
typedef struct gas gas;

/* Storage of velocities. GAS_FUSED: none; one kernel draws and sums them, so a gas of any size
 * needs no memory. GAS_STORED: device memory, 12 or 24 bytes per molecule. */
enum gas_storage { GAS_FUSED, GAS_STORED };

/* Source of stored velocities: drawn on the devices; drawn on the host, in memory shared with the
 * devices (zero-copy on CPU devices); or given by the caller with gas_set_velocities. */
enum gas_source { GAS_DEVICE, GAS_HOST, GAS_GIVEN };

/* Options of gas_create. Zero means the default, except in n. */
struct gas_options {
    CLCONTEXT *ctx;     /* as in arrays_options */
    uint64_t n;         /* molecules, 1 to 2^53 */
    double temperature; /* > 0; 0 = 1 */
    double mass;        /* of a molecule, > 0; 0 = 1 */
    double boltzmann;   /* k_B in the caller's units; 0 = 1; SI: GAS_BOLTZMANN */
    uint64_t seed;      /* key of Philox */
    enum gas_storage storage;
    enum gas_source source;              /* of a stored gas */
    enum arrays_type type;               /* of stored velocities: ARRAYS_FLOAT or ARRAYS_DOUBLE */
    enum arrays_accumulator accumulator; /* of the sum of a stored gas */
    enum arrays_method method;           /* of the sum of a stored gas */
    /* KEY=NUMBER words that override the device's launch shape, see gas/README.md. */
    const char *shape;
    /* Progress callback while velocities are drawn, measured or counted, with the number of
     * molecules done. A nonzero return value cancels the call soon, with ECANCELED. May be NULL. */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    /* Ranks that divide the molecules; NULL: alone. Not owned. gas_create, gas_measure and
     * gas_histogram are then collective, `progress` counts this rank's molecules, a stored gas
     * holds only this rank's molecules (gas_partition), and ARRAYS_TREE gives ENOTSUP. */
    stdcl_world *world;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Create a gas: build the kernels, allocate memory and draw the velocities of a stored gas, unless
 * GAS_GIVEN. The caller frees it. `options` NULL means all defaults, in every library. EINVAL: an
 * invalid number (named); ENODEV; ENOTSUP; ENOMEM; ENOEXEC; ECANCELED: `progress` cancelled. */
gas *gas_create(const struct gas_options *options);
void gas_free(gas *g);

/* Get a rank's partition of n stored molecules: `count` molecules from number `first` on. */
void gas_partition(const stdcl_world *world, int rank, uint64_t n, uint64_t *first,
                   uint64_t *count);

/* Set velocities of a GAS_GIVEN gas: rows of three components in the caller's units, of all
 * molecules or, with a world, of this rank's partition; collective then. Each call replaces all
 * velocities. Components smaller than the largest by 2^126 in floats, by 2^1022 in doubles, may
 * become 0. EDOM: a component is not finite (named). */
int gas_set_velocities(gas *g, const double (*velocity)[3]);
int gas_set_velocities_single(gas *g, const float (*velocity)[3]);

/* Copy velocities of molecules first ... first + count - 1 to the host in the caller's units; a
 * fused gas draws them again on the host. EINVAL: molecules out of range, or not stored on this
 * rank. */
int gas_velocities(gas *g, uint64_t first, size_t count, double (*velocity)[3]);

/* Result of a measurement. Energies are translational kinetic energies. */
struct gas_energy {
    double mean_energy;    /* per molecule: sum m v^2 / 2 over n */
    double expected;       /* 3/2 k_B T */
    double standard_error; /* of the mean: k_B T sqrt(3 / (2 n)) */
    double sigmas;         /* (mean_energy - expected) / standard_error */
    double temperature;    /* mean_energy / (3/2 k_B) */
};

/* Sum the energy of all molecules on the devices. Squares of velocities do not overflow or
 * underflow. ERANGE: a result is above DBL_MAX, or below DBL_MIN and not 0. */
int gas_measure(gas *g, struct gas_energy *energy);

/* Return the pressure of an ideal gas of n molecules in a volume: 2/3 n mean_energy / volume. */
double gas_pressure(uint64_t n, double mean_energy, double volume);

/* Count speeds in `bins` bins (1 to 4096) from 0 to `top`, in the caller's units, and faster
 * molecules in count[bins]: bins + 1 entries in all. */
int gas_histogram(gas *g, double top, unsigned bins, uint64_t *count);

/* Return the probability that a molecule is slower than `speed` (Maxwell distribution). */
double gas_speed_cdf(double speed, double temperature, double mass, double boltzmann);

/* Return the number of molecules. */
uint64_t gas_molecules(const gas *g);
/* Return the bytes of device memory that gas_measure reads; 0 for a fused gas. */
double gas_bytes(const gas *g);
/* Return the launch shape of gas_measure's kernel, and the reason for its choice, as
 * arrays_shape. */
const char *gas_shape(const gas *g, cl_uint dev);
const char *gas_explain(const gas *g, cl_uint dev);

/* ---- Real gases. ----------------------------------------------------------------------------- */

#define GAS_BOLTZMANN 1.380649e-23   /* J/K, exact: the SI of 2019 */
#define GAS_DALTON 1.66053906660e-27 /* kg: CODATA 2018 */

/* A species. Mass by the abridged standard atomic weights of IUPAC 2021 (Prohaska et al. 2022,
 * doi:10.1515/pac-2019-0603): He 4.0026, Ne 20.180, Ar 39.95, N2 2 x 14.007, O2 2 x 15.999. */
struct gas_species {
    const char *name;    /* "he" */
    const char *formula; /* "He" */
    double mass;         /* kg */
};
/* Return the list of species, terminated by a NULL name; static. */
const struct gas_species *gas_species_list(void);

/* Return the kernels that `stdcl tune` can tune. Static; *count entries. */
const struct cltune_kernel *gas_tune_kernels(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
