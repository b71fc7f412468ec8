/* stdcl/gas.h - the kinetic energy of a gas, on any OpenCL device or on several.
 *
 *   gas *g = gas_create(&(struct gas_options){.n = 1000000000});      drawn and summed, never
 *   stored
 *   gas_measure(g, &e);                                               e.mean_energy is near 3/2 k_B
 *                                                                     T
 *   gas_free(g);
 *
 * Order: energies are added up in the fixed order of arrays/fixed_reduce.h, which depends on the
 * number of molecules and nothing else. The same seed gives the same bits in every run, on every
 * device, on any number of devices and for every work-group size, and on any number of ranks. (Two
 * exceptions: ARRAYS_TREE has an order of its own, which depends on its shape; and devices without
 * double precision add in pairs of floats.) int functions return 0, or -1 with clerrno set and a
 * sentence in clerror(); pointers NULL likewise. All block. One object is used by one thread at a
 * time; different ones are independent of each other. A struct of options may grow in a later
 * version 1, by its reserved words: they must be 0 (EINVAL). All other structs stay as they are.
 * Their sizes and offsets: tests/install/layout.txt. A handle of NULL, which is what a call that
 * failed returns, is EINVAL: what is given back is -1, NULL, 0 or, of a text, "". It may be freed.
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

/* n molecules in equilibrium: velocity components are independent and normal, with the variance k_B
 * T / m (Maxwell and Boltzmann). Molecule i has its own from Philox4x32-10, counter i, and the seed
 * as key, by the transformation of Box and Muller in single precision, computed such that every
 * device and the host draw the same bits (gas/maxwell.h). */
typedef struct gas gas;

/* Where velocities are. GAS_FUSED: nowhere; they are drawn and summed in one kernel, so that a gas
 * of any size needs no memory. GAS_STORED: in the devices' memory, 12 or 24 bytes a molecule. */
enum gas_storage { GAS_FUSED, GAS_STORED };

/* Who draws stored velocities: the devices; the host, into memory that it shares with the devices
 * (zero-copy on CPU devices); or the caller, by gas_set_velocities. */
enum gas_source { GAS_DEVICE, GAS_HOST, GAS_GIVEN };

/* Zero means the default, everywhere but in n. */
struct gas_options {
    CLCONTEXT *ctx;     /* as in arrays_options */
    uint64_t n;         /* molecules, 1 to 2^53 */
    double temperature; /* > 0; 0 = 1 */
    double mass;        /* of a molecule, > 0; 0 = 1 */
    double boltzmann;   /* k_B in the caller's units; 0 = 1; SI: GAS_BOLTZMANN */
    uint64_t seed;      /* the key of Philox */
    enum gas_storage storage;
    enum gas_source source;              /* of a stored gas */
    enum arrays_type type;               /* of stored velocities: ARRAYS_FLOAT or ARRAYS_DOUBLE */
    enum arrays_accumulator accumulator; /* of the sum of a stored gas */
    enum arrays_method method;           /* of the sum of a stored gas */
    const char *shape; /* words KEY=NUMBER that change the device's own row, see gas/README.md */
    /* Called with the number of molecules that are done, now and then while velocities are drawn,
     * measured or counted. It returns 0, or something else to end the call soon, with ECANCELED.
     * May be NULL. */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    stdcl_world
        *world;            /* the ranks that divide the molecules among themselves, NULL: alone; not
                            * owned. gas_create, gas_measure and    gas_histogram are collective then,
                            * `progress` counts this rank's own    molecules, a stored gas has in a rank's
                            * memory the molecules of gas_partition    alone, and ARRAYS_TREE is ENOTSUP */
    uintptr_t reserved[8]; /* must be 0 */
};

/* Builds the kernels, takes memory, and draws the velocities of a stored gas unless they are given.
 * EINVAL: a bad number (named); ENODEV; ENOTSUP; ENOMEM; ENOEXEC; ECANCELED: `progress` ended it.
 * The caller frees it. `options` NULL is options of 0, in all libraries. */
gas *gas_create(const struct gas_options *options);
void gas_free(gas *g);

/* Of n molecules that are stored, those that a rank has: `count` of them, from number `first`
 * on. */
void gas_partition(const stdcl_world *world, int rank, uint64_t n, uint64_t *first,
                   uint64_t *count);

/* GAS_GIVEN: copies rows of three components in the caller's units, of all molecules or, with a
 * world, of this rank's (gas_partition); each call replaces the former. EDOM: a component that is
 * not finite (named). */
int gas_set_velocities(gas *g, const double (*velocity)[3]);
int gas_set_velocities_single(gas *g, const float (*velocity)[3]);

/* Copies out velocities of molecules first ... first + count - 1 in the caller's units; a fused gas
 * draws them anew on the host. EINVAL when there are no such molecules, or this rank has not stored
 * them. */
int gas_velocities(gas *g, uint64_t first, size_t count, double (*velocity)[3]);

/* The result of a measurement. Energies are the kinetic ones of translation. */
struct gas_energy {
    double mean_energy;    /* of a molecule: sum m v^2 / 2 over n */
    double expected;       /* 3/2 k_B T */
    double standard_error; /* of the mean: k_B T sqrt(3 / (2 n)) */
    double sigmas;         /* (mean_energy - expected) / standard_error */
    double temperature;    /* mean_energy / (3/2 k_B) */
};

/* Adds up all molecules, on the devices. Fails with ERANGE when the energy overflows or
 * vanishes. */
int gas_measure(gas *g, struct gas_energy *energy);

/* The pressure of an ideal gas of n molecules in a volume: 2/3 n mean_energy / volume. */
double gas_pressure(uint64_t n, double mean_energy, double volume);

/* Counts speeds in `bins` bins (1 to 4096) from 0 to `top`, in the caller's units, and faster ones
 * in count[bins]: bins + 1 numbers in all. */
int gas_histogram(gas *g, double top, unsigned bins, uint64_t *count);

/* The probability that a molecule is slower than `speed` (Maxwell's distribution). */
double gas_speed_cdf(double speed, double temperature, double mass, double boltzmann);

/* How many molecules the gas has. */
uint64_t gas_molecules(const gas *g);
/* Bytes of device memory that one gas_measure reads; 0 for a fused gas. */
double gas_bytes(const gas *g);
/* As arrays_shape, of the kernel that gas_measure uses. */
const char *gas_shape(const gas *g, cl_uint dev);
const char *gas_explain(const gas *g, cl_uint dev);

/* ---- Real gases. ----------------------------------------------------------------------------- */

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
