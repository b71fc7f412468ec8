/* help.c - the --help of a command, from its table of options.
 *
 *   usage: stdcl nbody [options]
 *
 *   About, wrapped.
 *
 *   Heading
 *     -n, --bodies N        help text, wrapped in its own column, with the choices and the
 *                           default
 * SPDX-License-Identifier: MIT
 */
#include "message.h"
#include "text.h"
#include "usage.h"

#include "core/terminal.h"

#include <inttypes.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { HELP_WIDTH = 80, HELP_COLUMN = 26 };

/* Columns of the text: the width of a narrower terminal, else HELP_WIDTH. */
static size_t help_width(FILE *fp)
{
    const size_t columns = terminal_columns(fp);
    return columns && columns < HELP_WIDTH ? columns : HELP_WIDTH;
}

/* Append " (default VALUE)", or nothing if the variable holds no default; see "Entries" in
 * options.h. */
static void append_default(char *text, size_t size, const struct cli_option *o)
{
    switch (o->type) {
    case CLI_TYPE_INT:
        if (*o->to.integer >= o->of.integer.min && *o->to.integer <= o->of.integer.max)
            cli_text_append(text, size, " (default %d)", *o->to.integer);
        break;
    case CLI_TYPE_SIZE:
        if (*o->to.size >= o->of.natural.min && *o->to.size <= o->of.natural.max)
            cli_text_append(text, size, " (default %zu)", *o->to.size);
        break;
    case CLI_TYPE_U64:
        if (*o->to.u64 >= o->of.natural.min && *o->to.u64 <= o->of.natural.max)
            cli_text_append(text, size, " (default %" PRIu64 ")", *o->to.u64);
        break;
    case CLI_TYPE_REAL:
        if (*o->to.real >= o->of.real.min && *o->to.real <= o->of.real.max)
            cli_text_append(text, size, " (default %g)", *o->to.real);
        break;
    case CLI_TYPE_CHOICE:
        if (*o->to.integer >= 0)
            cli_text_append(text, size, " (default %s)", o->of.choices[*o->to.integer]);
        break;
    case CLI_TYPE_STRING:
        if (*o->to.string)
            cli_text_append(text, size, " (default %s)", *o->to.string);
        break;
    default:
        break;
    }
}

/* Append the help of an entry, with the choices at its "{}", or at its end. */
static void append_help(char *text, size_t size, const struct cli_option *o)
{
    const char *place = strstr(o->help, "{}");
    const int head = place ? (int)(place - o->help) : (int)strlen(o->help);
    cli_text_append(text, size, "%.*s", head, o->help);
    if (o->type == CLI_TYPE_CHOICE)
        for (int i = 0; o->of.choices[i]; i++)
            cli_text_append(text, size, "%s%s", i ? ", " : place ? "" : ": ", o->of.choices[i]);
    cli_text_append(text, size, "%s", place ? place + 2 : "");
}

void cli_help_text(const struct cli_option *option, char *text, size_t size)
{
    append_help(text, size, option);
    append_default(text, size, option);
}

static void help_option(const struct cli_option *o, FILE *fp)
{
    char left[128] = "", right[1024] = "";
    if (o->letter)
        cli_text_append(left, sizeof left, "-%c", o->letter);
    else
        cli_text_append(left, sizeof left, "  ");
    if (o->name)
        cli_text_append(left, sizeof left, "%s--%s", o->letter ? ", " : "  ", o->name);
    if (o->optional)
        cli_text_append(left, sizeof left, "[=%s]", o->argument);
    else if (o->argument)
        cli_text_append(left, sizeof left, " %s", o->argument);

    cli_help_text(o, right, sizeof right);

    fprintf(fp, "  %-*s", HELP_COLUMN - 2, left);
    if (strlen(left) + 4 > HELP_COLUMN)
        fprintf(fp, "\n%*s", HELP_COLUMN, "");
    text_wrap(fp, right, HELP_COLUMN, help_width(fp));
}

static void help_combinations(const struct cli_usage *usage, FILE *fp)
{
    char text[1024];
    if (usage->combinations)
        fputs("\nCombinations\n", fp);
    for (const struct cli_combination *c = usage->combinations; c && c->option; c++) {
        cli_combination_text(usage, c, text, sizeof text);
        fputs("  ", fp);
        text_wrap(fp, text, 4, help_width(fp));
    }
}

void cli_help(const struct cli_usage *usage, FILE *fp)
{
    fprintf(fp, "usage: %s %s\n\n", cli_program, usage->synopsis);
    text_wrap(fp, usage->about, 0, help_width(fp));
    if (usage->options->type != CLI_TYPE_GROUP)
        fputc('\n', fp);
    for (const struct cli_option *o = usage->options; o->type != CLI_TYPE_END; o++)
        if (o->type == CLI_TYPE_GROUP)
            fprintf(fp, "\n%s\n", o->help);
        else
            help_option(o, fp);
    fprintf(fp, "      --help              this text\n");
    help_combinations(usage, fp);
    if (usage->examples)
        fprintf(fp, "\nExamples\n%s", usage->examples);
}
