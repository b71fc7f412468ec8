/* builds_once.h - build options of tests that build each program once (builds_once.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef BUILDS_ONCE_H
#define BUILDS_ONCE_H

#include <stdbool.h>

/* True: PoCL builds the following programs without optimisation. */
extern bool builds_unoptimised;

#endif /* BUILDS_ONCE_H */
