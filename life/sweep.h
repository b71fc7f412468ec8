/* sweep.h - internals of a sweep of rules.
 *
 *   sweep.c          options, rules and soups
 *   sweep_result.c   adds up the results of soups; progress
 *   sweep_device.c   rules of the B/S family, by a kernel
 *   sweep_host.c     other rules by a table, and Generations, on the host's processors
 *
 * A universe is a soup under a rule.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SWEEP_H
#define LIFE_SWEEP_H

#include "stdcl/sweep.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SWEEP_SIDE = LIFE_SWEEP_SIDE };

struct sweep {
    const struct life_sweep_options *options;
    const char *const *rule;
    struct life_sweep_result *result; /* sums over soups until a rule is complete */
    unsigned soups;
    uint32_t generations;
    uint64_t *rows;   /* SWEEP_SIDE of each soup */
    size_t universes; /* number of universes of all rules */
    size_t ended;     /* number of universes added to results */
};

/* Result of a universe: cells that are not 0 and cells that change after `generations`, and the
 * period; 0: it does not recur. */
struct sweep_universe {
    uint32_t population, changed, period;
};

/* Add a universe to its rule's result. */
void sweep_add(struct sweep *s, size_t rule, const struct sweep_universe *u);

/* Report progress; `unfinished`: universes' worth of work done on universes not yet added. Return
 * -1 with ECANCELED if the caller cancels. */
int sweep_progress(struct sweep *s, double unfinished);

/* Run n rules of the B/S family: number[i] is the rule's number, code[i] is birth | survival << 9.
 */
int sweep_device(struct sweep *s, size_t n, const size_t *number, const uint32_t *code);

/* Run n rules by a table. */
int sweep_host(struct sweep *s, size_t n, const size_t *number);

#endif
