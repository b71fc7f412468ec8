/* compiling.h - a line on the terminal while kernels are compiled.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_COMPILING_H
#define STDCL_CLI_COMPILING_H

#include <stdbool.h>

/* From now on, draw "compiling kernels, first run only" half a second after a compiler began.
 * cli_progress_start calls it if progress is visible. */
void cli_compiling_watch(void);

/* True while the line is drawn: a bar at 0 % would hide it. */
bool cli_compiling_shown(void);

/* Kernels run, or the command waits for a viewer: erase the line, and draw no more until
 * cli_compiling_watch. Return true if compilers were watched. */
bool cli_compiling_end(void);

#endif
