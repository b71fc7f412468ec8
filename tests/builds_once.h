/* builds_once.h - how tests that build a program once have it built (builds_once.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef BUILDS_ONCE_H
#define BUILDS_ONCE_H

#include <stdbool.h>

/* What PoCL builds from now on need not be optimised. */
extern bool builds_unoptimised;

#endif /* BUILDS_ONCE_H */
