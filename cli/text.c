/* text.c - text in buffers, and numbers for people. Nothing here prints: messages, progress and
 * tables all use it.
 * SPDX-License-Identifier: MIT
 */
#include "text.h"

#include "core/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void cli_text_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(text + used, size - used, format, ap);
    va_end(ap);
}

/* ---- Numbers for people. --------------------------------------------------------------------- */

/* Three significant digits, as in 1.23, 12.3 and 123. */
static int decimals(double value)
{
    return fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
}

const char *cli_text_number(struct cli_text *text, int digits, double value)
{
    text_number(text->s, digits, value);
    return text->s;
}

const char *cli_text_bytes(struct cli_text *text, double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;
    for (; bytes >= 1023.5 && i + 1 < sizeof unit / sizeof *unit; i++)
        bytes /= 1024;
    const bool whole = i == 0 || fabs(bytes - round(bytes)) < 0.05;
    snprintf(text->s, sizeof text->s, "%.*f %s", whole ? 0 : 1, bytes, unit[i]);
    return text->s;
}

const char *cli_text_rate(struct cli_text *text, double value, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    for (; fabs(value) >= 999.5 && i + 1 < sizeof prefix / sizeof *prefix; i++)
        value /= 1000;
    const bool word = strcspn(unit, "/") > 4;
    snprintf(text->s, sizeof text->s, "%.*f %s%s%s", decimals(value), value, prefix[i],
             word && i ? " " : "", unit);
    return text->s;
}

const char *cli_text_time(struct cli_text *text, double seconds)
{
    if (!(seconds < 0.1))
        return cli_text_duration(text, seconds);
    const bool milli = seconds >= 0.9995e-3;
    text_number(text->s, 3, seconds * (milli ? 1e3 : 1e6));
    cli_text_append(text->s, sizeof text->s, milli ? " ms" : " us");
    return text->s;
}

const char *cli_text_duration(struct cli_text *text, double seconds)
{
    if (seconds < 59.95) {
        snprintf(text->s, sizeof text->s, "%.*f s", seconds < 9.995 ? 2 : 1, seconds);
        return text->s;
    }
    const double minutes = floor((seconds + 0.5) / 60), hours = floor((seconds + 30) / 3600);
    if (seconds < 3599.5)
        snprintf(text->s, sizeof text->s, "%.0f min %02.0f s", minutes,
                 floor(seconds + 0.5 - minutes * 60));
    else if (seconds < 1e9)
        snprintf(text->s, sizeof text->s, "%.0f h %02.0f min", hours,
                 floor((seconds + 30 - hours * 3600) / 60));
    else
        snprintf(text->s, sizeof text->s, "%.3g years", seconds / 31557600);
    return text->s;
}
