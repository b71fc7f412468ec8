/* nbody_figure.h - figures of `stdcl nbody` with axes: --figure, --plot, --paper, --units.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_FIGURE_H
#define STDCL_CLI_NBODY_FIGURE_H

#include "formats/gnuplot.h"

struct nbody_job;

extern const char *const nbody_paper_names[]; /* of --paper */

/* Functions that return int return an exit status, after printing a message. */

/* Check the file names of --figure. */
int nbody_figures_plan(struct nbody_job *job);

/* Use the constant of gravity of --units, or refuse a contradiction with -G. */
int nbody_units_plan(struct nbody_job *job);

/* Draw all figures of the bodies at the end of the run. */
int nbody_figures_draw(struct nbody_job *job);

/* A page with this title, and the paper and command line of the run; free the command. */
struct gnuplot_page nbody_figure_page(const struct nbody_job *job, const char *title);

#endif
