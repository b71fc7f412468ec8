/* matmul_figure.h - the figure of `stdcl matmul --compare`: speeds as bars on a logarithmic axis.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_MATMUL_FIGURE_H
#define STDCL_CLI_MATMUL_FIGURE_H

struct matmul_job;

/* Draw all figures of --figure. Return an exit status, after printing a message. */
int matmul_figures_draw(struct matmul_job *job);

#endif
