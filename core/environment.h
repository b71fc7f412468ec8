/* environment.h - environment variables that change how the library works.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_ENVIRONMENT_H
#define CORE_ENVIRONMENT_H

#include "core/core.h"

/* ---- debug.c ---- */

/* True if each error is printed as it happens ($STDCL_DEBUG). */
bool debug_prints(void);

/* Print a line to standard error, after "stdcl: ". Lines equal to the last one are counted, and
 * the number is printed before the next line or at exit. */
void debug_print(const char *line);

/* ---- environment.c ---- */

/* -1 after fail() if a variable that configures the library is invalid. */
int environment_check(void);
/* Parse a variable that must be an integer in a range. */
int environment_number(const char *name, const char *value, long least, long most, long *number);

#endif
