/* figures.h - options, timing and output shared by bench_arrays, bench_sort and bench_gas.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_BENCH_FIGURES_H
#define STDCL_BENCH_FIGURES_H

#include "bench/common.h"

#include <stdbool.h>

struct bench_option {
    const char *program, *device, *shape, *bytes, *counts, *only, *sweep;
    uint64_t molecules;
    unsigned devices; /* maximum number of matching devices; 0 = 1 */
    int runs;
    bool json;
};

/* Options, set by bench_begin from the command line. */
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

/* Time option.runs runs and keep the shortest; also the kernel's by the device's clock, unless its
 * name is NULL. */
struct figure time_runs(struct figure f, const char *kernel, int (*run)(void *arg), void *arg);

#endif
