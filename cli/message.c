/* message.c - what the command says when something is wrong, and memory that cannot be missing.
 *
 * Every message is one sentence on stderr behind "stdcl NAME: ". Text may come from the command line
 * or from files, so control characters are replaced before they reach a terminal; newline and tab
 * stay, for a compiler's log.
 */
#include "cli.h"

#include <unistd.h>

const char *cli_program = "stdcl";

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
    for (char *p = text; *p; p++)
        if (((unsigned char)*p < ' ' && *p != '\n' && *p != '\t') || *p == 127)
            *p = '?';
    cli_progress_hide();
    fprintf(stderr, "%s: %s%s\n", cli_program, kind, text);
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

int cli_failed_call(const char *doing)
{
    const char *text = clerror();
    if (!text)
        text = clerror_str(clerrno);
    return doing ? cli_failed("while %s: %s", doing, text) : cli_failed("%s", text);
}

void cli_warn(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say("warning: ", format, ap);
    va_end(ap);
}

static void *checked(void *memory, size_t count, size_t size)
{
    if (!memory) {
        cli_failed("not enough memory for %zu x %zu bytes", count, size);
        exit(CLI_FAILED);
    }
    return memory;
}

void *cli_alloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size), count, size);
}

void *cli_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size, &bytes))
        return checked(NULL, count, size);
    return checked(realloc(old, bytes), count, size);
}

int cli_memory_for(size_t count, size_t size, const char *what)
{
    const double need = (double)count * (double)size;
    const double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct cli_text a, b;
    if (have <= 0 || need <= have)
        return CLI_DONE;
    return cli_failed("%zu %s need %s of memory, and this machine has %s", count, what,
                      cli_text_bytes(&a, need), cli_text_bytes(&b, have));
}
