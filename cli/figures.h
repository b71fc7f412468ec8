/* figures.h - figures for publication, drawn by gnuplot: --figure and --paper of all programs.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_FIGURES_H
#define STDCL_CLI_FIGURES_H

#include "options.h"

#include "formats/gnuplot.h"

struct cli_figures {
    /* From the command line. */
    struct cli_strings names;
    int paper; /* index in cli_paper_names */

    int argc; /* the command line itself, which is stored in each file; not owned */
    char **argv;
};

extern const char *const cli_paper_names[];

/* Options --figure and --paper. */
#define CLI_FIGURE_OPTIONS(figures, help)                                                          \
    CLI_STRINGS(0, "figure", "FILE", &(figures)->names, help),                                     \
        CLI_CHOICE(0, "paper", "COLOUR", &(figures)->paper, cli_paper_names, "paper of figures")

/* Check one name before the run, or the names of --figure: their suffixes, their folders, and that
 * gnuplot is there. Return an exit status, after printing a message. */
int cli_figure_check(const char *file);
int cli_figures_check(const struct cli_strings *names);

/* A page with this title, which is not owned. Free its `command`. */
struct gnuplot_page cli_figure_page(const struct cli_figures *figures, const char *title);

/* Draw each file: draw(arg, file). Names that fail are removed, so that the report lists written
 * files. Return the first failure. */
int cli_figures_draw(struct cli_strings *names, int (*draw)(void *arg, const char *file),
                     void *arg);

/* List the written figures in a report, with texts in column `indent`. */
void cli_figures_report(const struct cli_figures *figures, int indent, FILE *fp);

#endif
