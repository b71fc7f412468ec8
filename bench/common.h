/* common.h - what the benchmarks share: the device that they measure, how they end, medians, and
 * sweeps over shapes.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_BENCH_COMMON_H
#define STDCL_BENCH_COMMON_H

#include <stdcl.h>

#include <string.h>

#ifndef STDCL_COMMIT
#define STDCL_COMMIT "unknown"
#endif

/* The device that --device names, as the command's does: cpu, gpu or part of a name; NULL: any. A
 * context of the first `count` (0: one) that match. NULL with clerror() where there are fewer. */
CLCONTEXT *bench_open(const char *device, size_t count);

/* Prints "PROGRAM: what: clerror()" on stderr and ends with status 1. */
_Noreturn void die(const char *what);

/* Sorts numbers, the least first. */
void sort_up(double *values, size_t n);

/* The median of n > 0 numbers, which it sorts. */
double median(double *values, size_t n);

/* Calls run(arg, shape) for every combination of the values in `text`, words "KEY=V,V,...
 * KEY=V,..." (NULL: none). The shape is `words` (NULL: none) and a word KEY=V of each key. */
void sweep(const char *words, const char *text, void (*run)(void *arg, const char *shape),
           void *arg);

#endif
