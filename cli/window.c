/* window.c - the window onto a run: what its options mean, and how a run obeys those who look.
 * SPDX-License-Identifier: MIT
 */
#include "window.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const double LOOK_SECONDS = 0.1; /* between looks for Ctrl-C */

bool cli_read_window(const char *text, void *to, char *why, size_t size)
{
    struct cli_window *w = to;
    w->wanted = true;
    w->address = text;
    if (!text || strncmp(text, "unix:", 5) == 0 || (*text && strspn(text, "0123456789") == strlen(text)))
        return true;
    snprintf(why, size, "'%s' is neither a port nor unix:PATH; other machines reach the window by ssh -L", text);
    return false;
}

int cli_window_check(const struct cli_window *window, const struct cli_option *options)
{
    static const char *const of_windows[] = {"view-wait", "view-guest", "view-rate", "view-budget"};
    for (size_t i = 0; !window->wanted && i < sizeof of_windows / sizeof *of_windows; i++)
        if (cli_given(options, of_windows[i]) && !(i >= 2 && window->record))
            return cli_wrong("--%s is for windows: add --view", of_windows[i]);
    if ((window->wanted || window->record) && world_size(cli_world) > 1)
        return cli_wrong("--%s is for one rank", window->wanted ? "view" : "record");
    return window->record ? cli_check_output(window->record) : CLI_DONE;
}

/* ---- Opening. ---------------------------------------------------------------------------------- */

static void print_links(const struct cli_window *w)
{
    fprintf(stderr, "%s: look at %s\n", cli_program, view_url(w->view, 0));
    if (w->guest)
        fprintf(stderr, "%s: for guests, who may only look: %s\n", cli_program, view_url(w->view, 1));
    fprintf(stderr, "%s: from another machine first: %s\n", cli_program, view_tunnel(w->view));
}

static void wait_for_viewer(const struct cli_window *w)
{
    while (view_watched(w->view) == 0 && !cli_interrupted())
        view_wait(w->view, LOOK_SECONDS);
}

int cli_window_open(struct cli_window *w, struct view_options *about)
{
    if (!w->wanted && !w->record)
        return CLI_DONE;
    about->address = w->wanted ? w->address : "-";
    about->record = w->record;
    about->rate = w->rate;
    about->budget = w->budget;
    w->seek = -1;
    w->view = view_open(about);
    if (!w->view)
        return cli_failed_call(NULL);
    if (w->wanted)
        print_links(w);
    if (w->wait)
        wait_for_viewer(w);
    return CLI_DONE;
}

/* ---- Obeying. ---------------------------------------------------------------------------------- */

static void restart_pace(struct cli_window *w, double step)
{
    w->from.time = seconds_now();
    w->from.step = step;
}

static void obey(struct cli_window *w, const struct view_command *c, double step)
{
    switch (c->ask) {
    case VIEW_PAUSE:
        w->paused = true;
        w->stop = step;
        break;
    case VIEW_RUN:
        w->paused = false;
        break;
    case VIEW_STEP:
        w->paused = true;
        w->stop = step + c->value;
        w->seek = c->value < 0 ? fmax(w->stop, 0) : w->seek; /* of a replay */
        break;
    case VIEW_SPEED:
        w->speed = c->value;
        break;
    case VIEW_SEEK:
        w->seek = c->value;
        w->stop = c->value;
        break;
    case VIEW_QUIT:
        cli_interrupt_take(SIGINT);
        break;
    }
    restart_pace(w, step);
}

static void obey_all(struct cli_window *w, double step)
{
    struct view_command command;
    while (view_next_command(w->view, &command))
        obey(w, &command, step);
}

void cli_window_listen(struct cli_window *w)
{
    if (view_watched(w->view))
        obey_all(w, w->step);
}

static bool stands(const struct cli_window *w, double step)
{
    return w->paused && step >= w->stop;
}

static void tell(struct cli_window *w, double step, double fraction)
{
    const double now = seconds_now();
    if (now >= w->since.time + 1) {
        w->steps = w->since.time > 0 ? (step - w->since.step) / (now - w->since.time) : 0;
        w->since.time = now;
        w->since.step = step;
    }
    view_tell(w->view, &(struct view_state){.paused = stands(w, step), .speed = w->speed, .steps = w->steps,
                                            .fraction = fraction, .frame = w->frame});
}

/* Seconds until the pace allows the next burst; a paused run waits for a command. */
static double to_wait(const struct cli_window *w, double step)
{
    if (w->seek >= 0)
        return 0;
    if (w->paused)
        return stands(w, step) ? LOOK_SECONDS : 0;
    if (w->speed <= 0)
        return 0;
    return fmin(w->from.time + (step - w->from.step) / w->speed - seconds_now(), LOOK_SECONDS);
}

int cli_window_visit(struct cli_window *w, uint64_t at, double fraction, int (*show)(void *job, int last), void *job)
{
    const double step = w->step = (double)at;
    int status = CLI_DONE;
    if (!w->view)
        return CLI_DONE;
    for (double wait = 0; status == CLI_DONE; view_wait(w->view, wait)) {
        obey_all(w, step);
        tell(w, step, fraction);
        if (view_due(w->view))
            status = show(job, 0);
        wait = to_wait(w, step);
        if (wait <= 0 || cli_interrupted())
            break;
    }
    return status;
}

uint64_t cli_window_burst(const struct cli_window *w, uint64_t step, uint64_t wanted)
{
    double most = 0x1p62;
    if (!w->view)
        return wanted;
    if (w->paused && w->stop > (double)step)
        most = w->stop - (double)step;
    else if (w->speed > 0)
        most = fmax(1, w->speed / (w->rate > 0 ? w->rate : 30));
    return (double)wanted < most ? wanted : (uint64_t)most;
}

double cli_window_seconds(const struct cli_window *w, double seconds)
{
    return view_watched(w->view) ? fmin(seconds, 1 / (w->rate > 0 ? w->rate : 30)) : seconds;
}

/* ---- The end. ---------------------------------------------------------------------------------- */

void cli_window_end(struct cli_window *w, const char *sentence)
{
    if (!w->view)
        return;
    view_end(w->view, sentence);
    if (!view_watched(w->view) || !isatty(STDERR_FILENO) || cli_interrupted())
        return;
    fprintf(stderr, "%s: %s; the window stays until it is closed, or Ctrl-C\n", cli_program, sentence);
    while (view_watched(w->view) && !cli_interrupted())
        view_wait(w->view, LOOK_SECONDS);
}

int cli_window_close(struct cli_window *w)
{
    const int status = view_close(w->view) < 0 ? cli_failed_call("recording") : CLI_DONE;
    w->view = NULL;
    return status;
}
