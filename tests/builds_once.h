/* builds_once.h - build options of tests that build each program once (builds_once.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef BUILDS_ONCE_H
#define BUILDS_ONCE_H

#include <stdatomic.h>
#include <stdbool.h>

/* True: PoCL builds the following programs without optimisation. */
extern bool builds_unoptimised;

/* A further option of the following programs; NULL: none. */
extern const char *builds_option;

/* Calls of clBuildProgram so far. */
extern atomic_int builds_called;

#endif /* BUILDS_ONCE_H */
