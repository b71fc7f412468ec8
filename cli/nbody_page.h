/* nbody_page.h - what all figures of `stdcl nbody` have: --paper, --units, the command line.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_PAGE_H
#define STDCL_CLI_NBODY_PAGE_H

#include "formats/gnuplot.h"

struct nbody_job;

/* Use the constant of gravity of --units, or refuse a contradiction with -G. Return an exit
 * status. */
int nbody_units_plan(struct nbody_job *job);

/* Refuse a file if its G contradicts --units. Return an exit status. */
int nbody_units_match(const struct nbody_job *job);

/* A page with this title, and the paper and command line of the run. Free its `command`. */
struct gnuplot_page nbody_figure_page(const struct nbody_job *job, const char *title);

#endif
