/* common.h - helpers shared by the benchmarks: choice of the device, errors, medians, and sweeps
 * over shapes.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_BENCH_COMMON_H
#define STDCL_BENCH_COMMON_H

#include <stdcl.h>

#include <string.h>

#ifndef STDCL_COMMIT
#define STDCL_COMMIT "unknown"
#endif

/* Open a context of the first `count` (0: one) devices that match `device`, as the command's
 * --device: cpu, gpu or part of a name; NULL: any. NULL with clerror() if fewer match. */
CLCONTEXT *bench_open(const char *device, size_t count);

/* Print "PROGRAM: what: clerror()" on stderr and exit with status 1. */
_Noreturn void die(const char *what);

/* Sort numbers, the least first. */
void sort_up(double *values, size_t n);

/* Return the median of n > 0 numbers; sorts them. */
double bench_median(double *values, size_t n);

/* Call run(arg, shape) for every combination of the values in `text`, words "KEY=V,V,...
 * KEY=V,..." (NULL: none). The shape is `words` (NULL: none) and a word KEY=V of each key. */
void sweep_shapes(const char *words, const char *text, void (*run)(void *arg, const char *shape),
                  void *arg);

#endif
