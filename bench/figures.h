/* figures.h - what bench_arrays, bench_sort and bench_gas share: their options, timing, and how
 * figures are printed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_BENCH_FIGURES_H
#define STDCL_BENCH_FIGURES_H

#include "bench/common.h"

#include <stdbool.h>

struct bench_option {
    const char *program, *device, *shape, *bytes, *counts, *only, *sweep;
    uint64_t molecules;
    unsigned devices; /* at most so many of those that match; 0 = 1 */
    int runs;
    bool json;
};

/* What is measured, on which device; bench_begin reads the command line and fills them in. */
extern struct bench_option option;
extern CLCONTEXT *cp;
extern struct cldev_info info;
extern struct clpeak_info peak;

void bench_begin(const struct bench_option *defaults, int argc, char **argv);
double bench_number(const char *text); /* 1048576, 1e6 or 2^20 */

struct figure {
    const char *name;
    uint64_t n;
    double bytes, seconds, device_seconds;
    const char *shape;
};
void print_figure(const struct figure *f);

/* The shortest of option.runs runs; and of the kernel by the device's clock, unless its name is
 * NULL. */
struct figure time_runs(struct figure f, const char *kernel, int (*run)(void *arg), void *arg);

#endif
