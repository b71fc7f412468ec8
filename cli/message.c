/* message.c - what the command says when something is wrong.
 *
 * Every message is one sentence on stderr behind "stdcl NAME: ". Text may come from the command
 * line or from files, so control characters are replaced before they reach a terminal; newline and
 * tab stay, for a compiler's log.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include <errno.h>

const char *cli_program = "stdcl";

/* Of a rank: failures are kept for its last word, and warnings are rank 0's. */
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

static void print(const char *kind, char *text)
{
    for (char *p = text; *p; p++)
        if (((unsigned char)*p < ' ' && *p != '\n' && *p != '\t') || *p == 127)
            *p = '?';
    cli_line_wipe();
    fprintf(stderr, "%s: %s%s\n", cli_program, kind, text);
}

void cli_message_print(const char *sentence)
{
    char text[2048];
    snprintf(text, sizeof text, "%s", sentence);
    print("", text);
}

static void say(const char *kind, const char *format, va_list ap)
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
    if (keeping && !*kind && !*kept) /* the first, of which others follow */
        snprintf(kept, sizeof kept, "%.*s", (int)sizeof kept - 1, text);
    else if (keeping && !*kind)
        ;
    else if (!silent)
        print(kind, text);
    if (text != small)
        free(text);
}

int cli_wrong(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say("", format, ap);
    va_end(ap);
    return CLI_WRONG;
}

int cli_failed(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say("", format, ap);
    va_end(ap);
    return CLI_FAILED;
}

/* The text without "NAME: " or "NAME_verb: " in front of it. */
static const char *without(const char *text, const char *name)
{
    const size_t length = strlen(name);
    if (!length || strncmp(text, name, length) != 0)
        return text;
    const char *end = text + length + strspn(text + length, "_abcdefghijklmnopqrstuvwxyz");
    return strncmp(end, ": ", 2) == 0 ? end + 2 : text;
}

/* "stdcl life: " is in front already; an engine's "life: " or "life_create: " behind it says
 * nothing more, and "arrays: ", by which an engine sums, or "hashlife_create: " nothing to who
 * typed a command. */
static const char *without_program(const char *text)
{
    const char *blank = strrchr(cli_program, ' ');
    return without(
        without(without(without(without(text, blank ? blank + 1 : ""), "arrays"), "world"),
                "hashlife"),
        "view");
}

const char *cli_reason(void)
{
    const char *text = clerror();
    return without_program(text ? text : clerror_str(clerrno));
}

bool cli_gave_up(void)
{
    if (clerrno != ECANCELED || !cli_interrupt_is_over())
        return false;
    cli_warn("%s (Ctrl-C waits two seconds, SIGTERM longer)", cli_reason());
    return true;
}

int cli_failed_call(const char *doing)
{
    if (cli_interrupt_broke_build() || cli_gave_up())
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
    say("warning: ", format, ap);
    va_end(ap);
}
