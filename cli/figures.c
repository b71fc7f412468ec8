/* figures.c - figures for publication: --figure and --paper of all programs. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "command_line.h"
#include "figures.h"
#include "files.h"
#include "message.h"

#include <errno.h>
#include <stdcl.h>
#include <stddef.h>

const char *const cli_paper_names[] = {"white", "black", NULL};

int cli_figure_check(const char *file)
{
    if (gnuplot_check(file) == 0)
        return cli_check_output(file);
    return clerrno == EINVAL ? cli_wrong("%s", clerror()) : cli_failed_call(NULL);
}

int cli_figures_check(const struct cli_strings *names)
{
    for (size_t i = 0; i < names->n; i++) {
        const int status = cli_figure_check(names->item[i]);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

int cli_figures_draw(struct cli_strings *names, int (*draw)(void *arg, const char *file), void *arg)
{
    int status = CLI_DONE;
    size_t written = 0;
    for (size_t i = 0; i < names->n; i++) {
        const int one = draw(arg, names->item[i]);
        if (one == CLI_DONE)
            names->item[written++] = names->item[i];
        else
            cli_message_release();
        status = cli_first_failure(status, one);
    }
    names->n = written;
    return status;
}

struct gnuplot_page cli_figure_page(const struct cli_figures *figures, const char *title)
{
    return (struct gnuplot_page){.title = title,
                                 .command = cli_command_line(figures->argc, figures->argv),
                                 .black = figures->paper == 1};
}

void cli_figures_report(const struct cli_figures *figures, int indent, FILE *fp)
{
    for (size_t i = 0; i < figures->names.n; i++)
        fprintf(fp, "%-*s%s\n", indent, "figure", figures->names.item[i]);
}
