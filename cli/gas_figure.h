/* gas_figure.h - the figure of `stdcl gas`: speeds, Maxwell's distribution, and their difference.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_GAS_FIGURE_H
#define STDCL_CLI_GAS_FIGURE_H

#include "gas_bins.h"

/* Draw a figure of --figure. Return an exit status, after printing a message. */
int gas_figure_draw(const struct gas_bins *b, const char *file);

#endif
