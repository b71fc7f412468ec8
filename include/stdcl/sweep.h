/* stdcl/sweep.h - thousands of rules on the same soups, by one program: rules are data.
 *
 *   const char *const rule[] = {"B3/S23", "B2-a/S12", "345/2/4"};
 *   struct life_sweep_result result[3];
 *   life_sweep(&(struct life_sweep_options){.soups = 16}, rule, 3, result);
 *   printf("%g of the cells of Life are alive\n", result[0].density);
 *
 * Each soup is a torus of 64 x 64 cells, which runs for some generations and is then observed for
 * up to 120 more: it recurs, or it is still active. Results are equal on every device.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_SWEEP_H
#define STDCL_SWEEP_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LIFE_SWEEP_SIDE = 64, LIFE_SWEEP_PERIOD = 120 };

/* Options of life_sweep. Zero means the default. */
struct life_sweep_options {
    /* Its first device runs the rules of the B/S family. All other rules run on the host's
     * processors. NULL: stdgpu, else stdcpu. Not owned. */
    CLCONTEXT *ctx;
    unsigned soups;       /* for each rule; 0 = 4 */
    double density;       /* fraction of live cells at the start; 0 = 1/2 */
    uint64_t seed;        /* soup n has columns 64 n to 64 n + 63 of life_soup's cells */
    uint32_t generations; /* before the soups are observed; 0 = 1,000 */
    /* Progress callback in the calling thread, about four times a second or more often, with the
     * fraction done, 0 to 1. A nonzero return value cancels the call, with ECANCELED. May be
     * NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Results of a rule. */
struct life_sweep_result {
    double density;   /* fraction of cells that are not 0 after `generations`, mean of the soups */
    double activity;  /* fraction of cells that change in the next generation, likewise */
    uint32_t soups;   /* of the rule; 0: the call failed before all of them were run */
    uint32_t extinct; /* soups without live cells */
    uint32_t settled; /* soups that recur within 120 generations, the extinct ones included */
    uint32_t period;  /* the longest period of these; 0: none recurs */
};

/* Run all soups under each of n rules: result[i] is of rule[i]. Rules are as for life_rule_normal:
 * of two states on the nearest neighbours (B/S, isotropic, hexagonal, von Neumann, MAP, W), or
 * Generations. Blocks. Returns 0, or -1 with clerrno set and a message in clerror(): EINVAL for an
 * option out of range or another rule; ENODEV: no device for the B/S family; ENOMEM; ENOEXEC: the
 * kernel does not build; ECANCELED: rules with all their soups have results. */
int life_sweep(const struct life_sweep_options *options, const char *const *rule, size_t n,
               struct life_sweep_result *result);

/* Return the class of a result: "extinct", "still" (period 1), "periodic" if all soups recur, or
 * "active"; static. */
const char *life_sweep_class(const struct life_sweep_result *result);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_SWEEP_H */
