/* message.c - errors and warnings of the command: one sentence on stderr after "stdcl NAME: ".
 *
 * Text may come from the command line or from files: control characters are replaced before it
 * reaches a terminal, except newline and tab, which compiler logs contain.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"

#include "core/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_program = "stdcl";

/* On a rank: the first failure is kept for world_abort; only rank 0 warns. */
static bool keeping, silent;
static char kept[900];

void cli_message_keep(bool first)
{
    keeping = true;
    silent = !first;
}

const char *cli_message_kept(void)
{
    return kept;
}

void cli_message_forget(void)
{
    *kept = 0;
}

/* Cut the middle out of every long line: a sentence may quote an argument of any length. */
static void shorten_lines(char *text)
{
    enum { LINE = 3000, BEGIN = 1000, END = 300 };
    for (char *line = text; *line; line += strspn(line, "\n")) {
        const size_t length = strcspn(line, "\n");
        if (length > LINE) {
            memcpy(line + BEGIN, "...", 3);
            memmove(line + BEGIN + 3, line + length - END, strlen(line + length - END) + 1);
        }
        line += strcspn(line, "\n");
    }
}

/* Print a text that begins in column `indent`. On a terminal, wrap its first line between words;
 * further lines are of logs, such as a compiler's. */
static void print_wrapped(char *text, size_t indent)
{
    const size_t columns = terminal_columns(stderr), first = strcspn(text, "\n");
    const bool more = text[first] != 0;
    text[first] = 0;
    if (columns > indent && indent + text_width(text) > columns)
        text_wrap(stderr, text, indent, columns);
    else
        fprintf(stderr, "%s\n", text);
    if (more)
        fprintf(stderr, "%s\n", text + first + 1);
}

static void message_print(const char *kind, char *text)
{
    shorten_lines(text);
    for (char *p = text; *p; p++)
        if (((unsigned char)*p < ' ' && *p != '\n' && *p != '\t') || *p == 127)
            *p = '?';
    cli_line_wipe();
    fprintf(stderr, "%s: %s", cli_program, kind);
    print_wrapped(text, text_width(cli_program) + 2 + text_width(kind));
}

void cli_message_print(const char *sentence)
{
    char text[2048];
    snprintf(text, sizeof text, "%s", sentence);
    message_print("", text);
}

void cli_message_release(void)
{
    if (silent || !*kept)
        return;
    cli_message_print(kept);
    cli_message_forget();
}

static void message_vprint(const char *kind, const char *format, va_list ap)
{
    char small[1024], *text = small;
    va_list again;
    va_copy(again, ap);
    const int length = vsnprintf(small, sizeof small, format, ap);
    if (length >= (int)sizeof small) {
        text = malloc((size_t)length + 1);
        if (text)
            vsnprintf(text, (size_t)length + 1, format, again);
        else
            text = small;
    }
    va_end(again);
    if (keeping && !*kind && !*kept) /* later failures are consequences */
        snprintf(kept, sizeof kept, "%.*s", (int)sizeof kept - 1, text);
    else if (keeping && !*kind)
        ;
    else if (!silent)
        message_print(kind, text);
    if (text != small)
        free(text);
}

int cli_wrong(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    message_vprint("", format, ap);
    va_end(ap);
    return CLI_WRONG;
}

int cli_failed(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    message_vprint("", format, ap);
    va_end(ap);
    return CLI_FAILED;
}

/* `text` without a leading "NAME: " or "NAME_verb: ". */
static const char *strip_prefix(const char *text, const char *name)
{
    const size_t length = strlen(name);
    if (!length || strncmp(text, name, length) != 0)
        return text;
    const char *end = text + length + strspn(text + length, "_abcdefghijklmnopqrstuvwxyz");
    return strncmp(end, ": ", 2) == 0 ? end + 2 : text;
}

/* The prefix "stdcl life: " makes an engine's "life: " or "life_create: " redundant. The names
 * of libraries that engines use, as "arrays: ", mean nothing to a user of the command; stdcl bgolly
 * uses life. */
static const char *strip_known_prefixes(const char *text)
{
    const char *blank = strrchr(cli_program, ' ');
    return strip_prefix(
        strip_prefix(
            strip_prefix(strip_prefix(strip_prefix(text, blank ? blank + 1 : ""), "arrays"),
                         "world"),
            "life"),
        "view");
}

const char *cli_reason(void)
{
    const char *text = clerror();
    return strip_known_prefixes(text ? text : clerror_str(clerrno));
}

bool cli_write_abandoned(void)
{
    if (clerrno != ECANCELED || !cli_interrupt_deadline_passed())
        return false;
    cli_warn("%s (Ctrl-C waits two seconds, SIGTERM longer)", cli_reason());
    return true;
}

int cli_failed_call(const char *doing)
{
    if (cli_interrupt_broke_build() || cli_write_abandoned())
        return cli_interrupt_status(CLI_FAILED);
    const char *text = cli_reason();
    return doing ? cli_failed("while %s: %s", doing, text) : cli_failed("%s", text);
}

int cli_refused_call(void)
{
    const bool wrong = clerrno == EINVAL && oclerrno == CL_SUCCESS;
    const int status = cli_failed_call(NULL);
    return wrong ? CLI_WRONG : status;
}

void cli_warn(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    message_vprint("warning: ", format, ap);
    va_end(ap);
}
