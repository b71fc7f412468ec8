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
#include "core/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 20 };
static const double REDRAW_SECONDS = 0.1, SURE_SECONDS = 1, LONG_SECONDS = 10;
static bool is_estimated, is_unsteady, is_changed; /* see cli_progress_steady */

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

/* Without decimals from 1 s on, because they would flicker. */
static const char *time_left(struct cli_text *text, double seconds)
{
    if (seconds >= 59.5)
        return cli_text_duration(text, seconds);
    snprintf(text->s, sizeof text->s, "%.*f s", seconds < 0.95 ? 1 : 0, seconds);
    return text->s;
}

/* Work per second since the first call with work; 0 in that call. */
static double progress_rate(struct cli_progress_mark *first, double done, double now)
{
    if (first->at == 0 && done > 0)
        *first = (struct cli_progress_mark){now, done};
    return first->at > 0 && now > first->at ? (done - first->done) / (now - first->at) : 0;
}

/* Pieces of the line, the least important last: a narrow terminal shows the first of them. */
enum { PERCENT, LEFT, DONE, NOTE, RATE, BAR_PIECE, PIECES };

static void put_counts(const struct cli_progress *p, double done, char piece[PIECES][64])
{
    const double share = done < p->total ? done / p->total : 1;
    const bool percent = strcmp(p->unit, "%") == 0;
    char *bar = piece[BAR_PIECE];
    if (p->total > 0) {
        snprintf(piece[PERCENT], 64, "%3.0f %%", 100 * share);
        snprintf(bar, 64, "[%*s]", BAR, "");
        memset(bar + 1, '#', (size_t)(share * BAR));
    }
    if (p->total > 0 && !percent)
        snprintf(piece[DONE], 64, "%.0f/%.0f %s", done, p->total, p->unit);
    else if (p->total <= 0)
        snprintf(piece[DONE], 64, "%.0f %s", done, p->unit);
}

static void put_speed(const struct cli_progress *p, double done, double rate,
                      char piece[PIECES][64])
{
    struct cli_text text;
    char unit[40];
    if (!(rate > 0))
        return;
    snprintf(unit, sizeof unit, "%s/s", p->unit);
    if (strcmp(p->unit, "%") != 0)
        snprintf(piece[RATE], 64, "%s", cli_text_rate(&text, rate, unit));
    if (p->total > done && !p->growing && !is_unsteady)
        snprintf(piece[LEFT], 64, "%s left", time_left(&text, (p->total - done) / rate));
}

/* Put the pieces that are not empty into a line, in reading order. */
static void join_pieces(char piece[PIECES][64], char *line, size_t size)
{
    static const int order[PIECES] = {PERCENT, BAR_PIECE, DONE, RATE, LEFT, NOTE};
    *line = 0;
    for (int i = 0; i < PIECES; i++) {
        const bool beside_bar = order[i] == BAR_PIECE || (order[i] == DONE && *piece[BAR_PIECE]);
        if (*piece[order[i]])
            cli_text_append(line, size, "%s%s",
                            !*line       ? ""
                            : beside_bar ? " "
                                         : ", ",
                            piece[order[i]]);
    }
}

/* Columns of the rate and the time left if these are not known yet: without them a bar would fit
 * that disappears as soon as they are. */
static size_t later_columns(const struct cli_progress *p, double rate)
{
    return rate > 0 || !(p->total > 0) ? 0 : strlen(", 1.23 M /s, 12 s left") + strlen(p->unit);
}

static void progress_draw(const struct cli_progress *p, double done, double rate, const char *note)
{
    char line[512], piece[PIECES][64] = {{0}};
    put_counts(p, done, piece);
    put_speed(p, done, rate, piece);
    if (note)
        snprintf(piece[NOTE], sizeof piece[NOTE], "%s", note);
    join_pieces(piece, line, sizeof line);
    if (text_width(line) + later_columns(p, rate) > cli_line_columns())
        *piece[BAR_PIECE] = 0;
    join_pieces(piece, line, sizeof line);
    for (int last = PIECES - 1; last > PERCENT && text_width(line) > cli_line_columns(); last--) {
        *piece[last] = 0;
        join_pieces(piece, line, sizeof line);
    }
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

void cli_progress_steady(bool steady)
{
    is_estimated |= !steady; /* its time would include the unsteady beginning */
    is_changed = is_unsteady && steady;
    is_unsteady = !steady;
}

void cli_progress_estimate(struct cli_progress *p, double done)
{
    struct cli_text text;
    if (done > 0)
        cli_compiling_end();
    const double now = seconds_now(), rate = progress_rate(&p->estimate, done, now);
    if (p->quiet || p->growing || is_estimated || !(rate > 0) ||
        now - p->estimate.at < SURE_SECONDS)
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
    if (is_changed)
        p->first = (struct cli_progress_mark){0};
    is_changed = false;
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
