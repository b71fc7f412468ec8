/* progress.c - the progress line on the terminal.
 *
 *    42 % [########            ] 420/1000 steps, 35.1 steps/s, 17 s left, 10.2 G interactions/s
 *
 * It goes to stderr on rank 0, only if stderr is a terminal, cut at the terminal's width.
 * TERM=dumb: no bar. The rate is the mean since the first report of work, so that the time in which
 * kernels were compiled does not count; the time left follows from the rate. One line is printed
 * once, a second after the first report, if the run will exceed 10 s:
 *
 *    stdcl nbody: this takes about 3.0 min
 * SPDX-License-Identifier: MIT
 */
#include "compiling.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "text.h"

#include "core/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 20 };
static const double REDRAW_SECONDS = 0.1, SURE_SECONDS = 1, LONG_SECONDS = 10;
static bool is_estimated;

void cli_progress_start(struct cli_progress *p, const char *unit, double total, bool quiet)
{
    const char *terminal = getenv("TERM");
    const bool dumb = !terminal || strcmp(terminal, "dumb") == 0;
    quiet = quiet || !cli_ranks_first() || !isatty(STDERR_FILENO);
    *p = (struct cli_progress){
        .unit = unit, .total = total, .quiet = quiet, .started = seconds_now()};
    p->visible = !p->quiet && !dumb;
    if (p->visible)
        cli_compiling_watch();
}

/* Without decimals, which would flicker. */
static const char *time_left(struct cli_text *text, double seconds)
{
    if (seconds >= 59.5)
        return cli_text_duration(text, seconds);
    snprintf(text->s, sizeof text->s, "%.0f s", seconds);
    return text->s;
}

/* Work per second since the first call with work; 0 in that call. */
static double progress_rate(struct cli_progress_mark *first, double done, double now)
{
    if (first->at == 0 && done > 0)
        *first = (struct cli_progress_mark){now, done};
    return first->at > 0 && now > first->at ? (done - first->done) / (now - first->at) : 0;
}

static void progress_draw(const struct cli_progress *p, double done, double rate, const char *note)
{
    char line[512] = "";
    struct cli_text text;
    if (p->total > 0) {
        const double share = done < p->total ? done / p->total : 1;
        cli_text_append(line, sizeof line, "%3.0f %% [", 100 * share);
        for (int i = 0; i < BAR; i++)
            cli_text_append(line, sizeof line, "%c", i < (int)(share * BAR) ? '#' : ' ');
        cli_text_append(line, sizeof line, "] %.0f/%.0f %s", done, p->total, p->unit);
    } else {
        cli_text_append(line, sizeof line, "%.0f %s", done, p->unit);
    }
    if (rate > 0) {
        cli_text_append(line, sizeof line, ", %s/s", cli_text_rate(&text, rate, p->unit));
        if (p->total > done)
            cli_text_append(line, sizeof line, ", %s left",
                            time_left(&text, (p->total - done) / rate));
    }
    if (note)
        cli_text_append(line, sizeof line, ", %s", note);
    cli_line_draw(line);
}

/* Format a duration with the precision of an estimate. */
static const char *rough_duration(struct cli_text *text, double seconds)
{
    static const struct {
        double seconds;
        const char *name;
    } unit[] = {{1, "s"}, {60, "min"}, {3600, "h"}, {86400, "days"}, {31557600, "years"}};
    size_t i = 0;
    while (i + 1 < sizeof unit / sizeof *unit && seconds >= 1.5 * unit[i + 1].seconds)
        i++;
    const double value = seconds / unit[i].seconds;
    snprintf(text->s, sizeof text->s, "%.*f %s", value < 9.5 && i > 0 ? 1 : 0, value, unit[i].name);
    return text->s;
}

void cli_progress_without_estimate(void)
{
    is_estimated = true;
}

void cli_progress_estimate(struct cli_progress *p, double done)
{
    struct cli_text text;
    if (done > 0)
        cli_compiling_end();
    const double now = seconds_now(), rate = progress_rate(&p->estimate, done, now);
    if (p->quiet || is_estimated || !(rate > 0) || now - p->estimate.at < SURE_SECONDS)
        return;
    is_estimated = true;
    const double all = now - p->started + (1 - done) / rate;
    if (all < LONG_SECONDS)
        return;
    cli_line_wipe();
    fprintf(stderr, "%s: this takes about %s\n", cli_program, rough_duration(&text, all));
}

void cli_progress_update(struct cli_progress *p, double done, const char *note)
{
    if (done > 0)
        cli_compiling_end();
    else if (cli_compiling_shown())
        return;
    if (p->total > 0 && !p->partial)
        cli_progress_estimate(p, done / p->total);
    const double now = seconds_now(), rate = progress_rate(&p->first, done, now);
    if (!p->visible || now - p->drawn < REDRAW_SECONDS)
        return;
    p->drawn = now;
    progress_draw(p, done, rate, note);
}

void cli_progress_end(struct cli_progress *p)
{
    cli_compiling_end();
    p->visible = false;
    p->quiet = true;
    cli_line_wipe();
}
