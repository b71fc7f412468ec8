/* describe.c - the options of a command as a table, the source of its man page and of shell
 * completions.
 *
 * `stdcl NAME --help=table`, and `stdcl --help=table` for all commands, print one record per
 * line. Fields are separated by tabs and may be empty:
 *
 *   command NAME SUMMARY          usage SYNOPSIS        about TEXT        operand NAME
 *   group HEADING                 example LINE
 *   option LETTER NAME ARGUMENT KIND CHOICES HELP      combination SENTENCE
 *
 * KIND is flag, number, choice, file, device or text, followed by ? if the value is optional.
 * CHOICES are separated by blanks. HELP is the text of --help, with choices and default.
 * tools/man1.awk and tools/completions.awk read the table.
 * SPDX-License-Identifier: MIT
 */
#include "usage.h"

#include <stdcl.h>
#include <stdio.h>
#include <string.h>

static const char *option_kind(const struct cli_option *o)
{
    switch (o->type) {
    case CLI_TYPE_FLAG:
        return "flag";
    case CLI_TYPE_INT:
    case CLI_TYPE_SIZE:
    case CLI_TYPE_U64:
    case CLI_TYPE_REAL:
        return "number";
    case CLI_TYPE_CHOICE:
        return "choice";
    default:
        break;
    }
    if (strcmp(o->argument, "FILE") == 0)
        return "file";
    return strcmp(o->argument, "DEVICE") == 0 ? "device" : "text";
}

static void describe_option(const struct cli_option *o, FILE *fp)
{
    char help[1024] = "";
    cli_help_text(o, help, sizeof help);
    fprintf(fp, "option\t%.*s\t%s\t%s\t%s%s\t", o->letter != 0, &o->letter, o->name ? o->name : "",
            o->argument ? o->argument : "", option_kind(o), o->optional ? "?" : "");
    for (int i = 0; o->type == CLI_TYPE_CHOICE && o->of.choices[i]; i++)
        fprintf(fp, "%s%s", i ? " " : "", o->of.choices[i]);
    fprintf(fp, "\t%s\n", help);
}

void cli_describe(const struct cli_usage *usage, FILE *fp)
{
    fprintf(fp, "usage\t%s\nabout\t%s\n", usage->synopsis, usage->about);
    if (usage->operands || usage->file)
        fprintf(fp, "operand\t%s\n", usage->operands ? usage->operand : "FILE");
    for (const struct cli_option *o = usage->options; o->type != CLI_TYPE_END; o++)
        if (o->type == CLI_TYPE_GROUP)
            fprintf(fp, "group\t%s\n", o->help);
        else
            describe_option(o, fp);
    for (const struct cli_combination *c = usage->combinations; c && c->option; c++) {
        char text[1024];
        cli_combination_text(usage, c, text, sizeof text);
        fprintf(fp, "combination\t%s\n", text);
    }
    for (const char *line = usage->examples; line && *line; line += strspn(line, "\n")) {
        line += strspn(line, " ");
        fprintf(fp, "example\t%.*s\n", (int)strcspn(line, "\n"), line);
        line += strcspn(line, "\n");
    }
}
