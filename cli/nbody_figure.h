/* nbody_figure.h - figures of the bodies of `stdcl nbody` with axes: --figure.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_FIGURE_H
#define STDCL_CLI_NBODY_FIGURE_H

struct nbody_job;

/* Draw all figures of the bodies at the end of the run. Return an exit status, after printing a
 * message. */
int nbody_figures_draw(struct nbody_job *job);

#endif
