/* window.c - the view of a run in a browser: its options, and the commands of viewers.
 * SPDX-License-Identifier: MIT
 */
#include "browser.h"
#include "command.h"
#include "compiling.h"
#include "files.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "usage.h"
#include "window.h"

#include "core/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double POLL_SECONDS = 0.1,  /* between polls for Ctrl-C */
    SOON_SECONDS = 0.01,                 /* between polls for the delivery of a frame */
    SHORT_SECONDS = 0.001;               /* between polls for a free slot */
static const double VIEWER_SECONDS = 30, /* wait of an interactive run for its first viewer */
    GREET_SECONDS = 5,                   /* wait for the first frame of viewers */
    DELIVER_SECONDS = 2,                 /* wait for the last frame of viewers, */
    HURRIED_SECONDS = 0.3,               /* and after Ctrl-C, when files are still to be written */
    STAY_SECONDS = 60;                   /* without viewers after an interactive run */
static const double SLOW_SECONDS = 10,   /* an interactive run begins with SLOW_STEPS a second, */
    SLOW_STEPS = 20;                     /* doubled after each second */
static const double SUMS_SHARE = 0.25,
                    /* shares of the budget: sums; ending batches early for frames */
    BATCH_END_SHARE = 0.25;

/* ---- Run again. -------------------------------------------------------------------------------
 *
 * A run is begun again by a new process image, so that nothing of the old one is left: devices,
 * kernels, memory, files. The environment carries port and tokens; they are no arguments, which
 * other users can read. */

static const char AGAIN[] = "STDCL_VIEW_AGAIN";
static char again_link[160]; /* PORT TOKENS; "": none is wanted */

/* Offered to a person at a terminal: a job's standard input could not be read again, and ranks
 * belong to their launcher. */
static bool can_run_again(const struct cli_window *w)
{
    return w->wanted && !w->quiet && !w->frames && isatty(STDERR_FILENO) && isatty(STDIN_FILENO) &&
           world_size(cli_world) == 1;
}

/* Take the address and tokens of the view before this run; false: there was none. */
static bool take_again(struct cli_window *w, struct view_options *about)
{
    static char port[8], tokens[80];
    const char *link = getenv(AGAIN);
    const bool found = w->wanted && link && sscanf(link, "%7[0-9] %79[0-9a-f]", port, tokens) == 2;
    unsetenv(AGAIN);
    if (!found)
        return false;
    about->address = w->address && strncmp(w->address, "unix:", 5) == 0 ? w->address : port;
    about->tokens = tokens;
    return true;
}

static void keep_link(const struct cli_window *w)
{
    unsigned port = 0;
    if (sscanf(view_url(w->view, 0), "http://127.0.0.1:%u/", &port) == 1)
        snprintf(again_link, sizeof again_link, "%u %s", port, view_tokens(w->view));
    view_reopens(w->view);
}

bool cli_window_runs_again(void)
{
    return *again_link;
}

int cli_window_run_again(char **argv)
{
    fflush(NULL);
    if (setenv(AGAIN, again_link, 1) == 0)
        execv("/proc/self/exe", argv);
    return cli_failed("the run cannot begin again: %s", strerror(errno));
}

/* ---- Options. -------------------------------------------------------------------------------- */

static double window_budget(const struct cli_window *w)
{
    return w->budget > 0 ? w->budget : 1;
}

bool cli_read_window(const char *text, void *to, char *why, size_t size)
{
    struct cli_window *w = to;
    w->wanted = true;
    w->address = text;
    if (!text || strncmp(text, "unix:", 5) == 0 ||
        (*text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 6 &&
         atoi(text) < 65536))
        return true;
    snprintf(why, size,
             "'%s' is neither a port (0 to 65535) nor unix:PATH; from other machines use ssh -L",
             text);
    return false;
}

int cli_window_check(struct cli_window *window, bool quiet)
{
    window->wanted |= window->wait;
    window->quiet = quiet;
    if (window->record && !cli_has_suffix(window->record, ".view"))
        return cli_wrong(
            "--record: '%s' must end in .view; 'stdcl view' plays it or turns it into a page (-o FILE.html)",
            window->record);
    return window->record ? cli_check_output(window->record) : CLI_DONE;
}

const char *cli_window_number(char text[32], uint64_t number)
{
    char digits[32];
    const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *to = text;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return text;
}

const char *cli_window_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* ---- Opening. -------------------------------------------------------------------------------- */

static void print_links(const struct cli_window *w)
{
    cli_line_wipe();
    fprintf(stderr, "%s: view at %s\n", cli_program, view_url(w->view, 0));
    if (w->guest)
        fprintf(stderr, "%s: for viewers without control: %s\n", cli_program, view_url(w->view, 1));
    fprintf(stderr, "%s: from another machine, first run: %s\n", cli_program, view_tunnel(w->view));
}

bool cli_window_decide(const struct cli_window *w, bool word)
{
    return w->open && world_broadcast(cli_world, 0, &word, sizeof word) == 0 && word;
}

static void print_wait(const struct cli_window *w)
{
    if (w->quiet || !w->view)
        return;
    if (w->wait)
        fprintf(stderr, "%s: starting with the first viewer\n", cli_program);
    else
        fprintf(stderr, "%s: starting with the first viewer, or in %.0f s\n", cli_program,
                VIEWER_SECONDS);
}

/* Wait for the first viewer. Its first frame follows at the first visit. Nothing is compiled
 * meanwhile. */
static void wait_for_viewer(struct cli_window *w)
{
    const double until = w->wait ? INFINITY : seconds_now() + VIEWER_SECONDS;
    const bool watched = cli_compiling_end();
    print_wait(w);
    while (cli_window_decide(w, view_viewers(w->view) == 0 && seconds_now() < until) &&
           !cli_ranks_interrupted(false))
        view_wait(w->view, POLL_SECONDS);
    if (watched)
        cli_compiling_watch();
    w->greet_to = seconds_now() + GREET_SECONDS;
}

/* An interrupted wait ends the command before its first step: files of an earlier run stay. */
static int interrupted_wait(const struct cli_window *w)
{
    cli_line_wipe();
    if (cli_ranks_first() && !w->plays)
        fprintf(stderr, "%s: interrupted before the start; no file was written\n", cli_program);
    return cli_interrupt_status(CLI_FAILED);
}

/* On rank 0, the owner of the view. */
static int open_view(struct cli_window *w, struct view_options *about)
{
    about->address = w->wanted ? w->address : "-";
    about->record = w->record;
    about->rate = w->rate;
    about->budget =
        about->rows ? (1 - SUMS_SHARE - BATCH_END_SHARE) * window_budget(w) : window_budget(w);
    about->can |= can_run_again(w) ? VIEW_CAN_AGAIN : 0;
    const bool again = take_again(w, about);
    w->view = view_open(about);
    if (!w->view)
        return -1;
    w->interactive = w->wanted && !w->quiet && isatty(STDERR_FILENO);
    if (w->wanted && !again)
        print_links(w);
    if (w->interactive && !w->no_browser && !again)
        cli_browser_open(view_url(w->view, 0));
    return 0;
}

int cli_window_open(struct cli_window *w, struct view_options *about)
{
    if (!w->wanted && !w->record)
        return CLI_DONE;
    w->seek = -1;
    w->frames = about->frames;
    w->shown.step = w->every ? -1 : 0;
    if (world_reduce_status(cli_world, cli_ranks_first() ? open_view(w, about) : 0) != 0)
        return cli_refused_call();
    w->open = true;
    if (!cli_window_decide(w, w->wait || (w->interactive && !w->frames)))
        return CLI_DONE;
    wait_for_viewer(w);
    return cli_ranks_interrupted(false) ? interrupted_wait(w) : CLI_DONE;
}

/* ---- Commands of viewers. -------------------------------------------------------------------- */

static void restart_pace(struct cli_window *w, double step)
{
    w->from.time = seconds_now();
    w->from.step = step;
}

static void end_automatic_pace(struct cli_window *w)
{
    w->automatic = false;
    cli_progress_steady(true);
}

static void obey_command(struct cli_window *w, const struct view_command *c, double step)
{
    switch (c->ask) {
    case VIEW_PAUSE:
        w->pace.paused = true;
        w->pace.stop = step;
        break;
    case VIEW_RUN:
        w->pace.paused = false;
        w->slow_from = w->slow_from > 0 ? seconds_now() : 0;
        break;
    case VIEW_STEP:
        w->pace.paused = true;
        w->pace.stop = step + c->value;
        w->seek = c->value < 0 ? fmax(w->pace.stop, 0) : w->seek; /* replays only */
        break;
    case VIEW_SPEED:
        w->pace.speed = c->value;
        w->slow_from = 0;
        w->commanded = true;
        end_automatic_pace(w);
        break;
    case VIEW_SEEK:
        w->seek = c->value;
        w->pace.stop = c->value;
        break;
    case VIEW_QUIT:
        cli_interrupt_set(SIGINT);
        break;
    case VIEW_AGAIN: /* after the end */
    case VIEW_PUT:   /* change_run */
    case VIEW_RULE:  /* change_run */
        break;
    }
    if (w->frames) /* steps past the last frame, which no step would reach */
        w->pace.stop = fmin(w->pace.stop, (double)(w->frames - 1));
    restart_pace(w, step);
}

static bool is_stopped(const struct cli_window *w, double step)
{
    return w->pace.paused && step >= w->pace.stop;
}

/* True if a command changes the state of a run, which then stands at another step. */
static bool is_change(const struct cli_window *w, const struct view_command *c)
{
    return w->edit &&
           (c->ask == VIEW_PUT || c->ask == VIEW_RULE || (c->ask == VIEW_STEP && c->value < 0));
}

/* Change a paused run, on its only rank. */
static int change_run(struct cli_window *w, const struct view_command *c, void *job)
{
    uint64_t at = (uint64_t)w->step;
    w->changing = true;
    const int status = w->edit(job, c, &at);
    w->changing = false;
    w->step = w->pace.stop = w->shown.step = (double)at;
    return status;
}

/* Obey all commands; job: NULL during a batch, when the state cannot be changed. */
static int obey_all(struct cli_window *w, void *job)
{
    struct view_command command;
    int status = CLI_DONE;
    while (status == CLI_DONE && view_next_command(w->view, &command)) {
        if (!is_change(w, &command))
            obey_command(w, &command, w->step);
        else if (job && is_stopped(w, w->step))
            status = change_run(w, &command, job);
    }
    return status;
}

void cli_window_listen(struct cli_window *w)
{
    if (view_viewers(w->view) && !w->changing)
        obey_all(w, NULL);
}

static void window_set_state(struct cli_window *w, double step, double fraction)
{
    const double now = seconds_now();
    if (now >= w->since.time + 1) {
        w->steps = w->since.time > 0 ? (step - w->since.step) / (now - w->since.time) : 0;
        w->since.time = now;
        w->since.step = step;
    }
    view_set_state(w->view, &(struct view_state){.paused = is_stopped(w, step),
                                                 .speed = w->slow_from > 0 ? 0 : w->pace.speed,
                                                 .steps = w->steps,
                                                 .fraction = fraction,
                                                 .frame = w->frame});
}

void cli_window_progress(struct cli_window *w, double fraction)
{
    if (view_viewers(w->view) && fraction <= 1)
        window_set_state(w, w->step, fraction);
}

static void begin_automatic_pace(struct cli_window *w)
{
    w->automatic = true;
    w->seen = seconds_now();
    w->slow_from = w->start_speed > 0 ? 0 : w->seen;
    w->pace.speed = w->start_speed > 0 ? w->start_speed : SLOW_STEPS;
    cli_progress_steady(false);
}

/* An interactive run begins slowly, so that its viewer sees it begin. A run that its viewers have
 * left goes on at full speed; a page that is loaded again is back in time. */
static void update_automatic_pace(struct cli_window *w)
{
    const double now = seconds_now();
    if (!w->automatic)
        return;
    if (view_viewers(w->view))
        w->seen = now;
    const bool slow = w->slow_from > 0;
    if (now > w->seen + GREET_SECONDS || (slow && now > w->slow_from + SLOW_SECONDS)) {
        w->slow_from = w->pace.speed = 0;
        end_automatic_pace(w);
    } else if (slow) {
        w->pace.speed = SLOW_STEPS * exp2(now - w->slow_from);
    }
}

/* True while a viewer waits for the first frame of a run that waited for viewers. */
static bool is_greeting(struct cli_window *w, double step)
{
    if (w->greet_to <= 0)
        return false;
    if (view_behind(w->view) && seconds_now() < w->greet_to)
        return true;
    w->greet_to = 0;
    if (w->interactive && w->pace.speed <= 0 && !w->commanded && view_viewers(w->view))
        begin_automatic_pace(w);
    restart_pace(w, step);
    return false;
}

/* Seconds until the pace allows the next batch; a paused run waits for a command. */
static double seconds_to_wait(struct cli_window *w, double step)
{
    if (is_greeting(w, step))
        return SOON_SECONDS;
    if (w->seek >= 0)
        return 0;
    if (w->every)
        return step > w->shown.step ? fmax(view_due_in(w->view), SHORT_SECONDS) : 0;
    if (w->pace.paused)
        return is_stopped(w, step) ? POLL_SECONDS : 0;
    if (w->pace.speed <= 0)
        return 0;
    return fmin(w->from.time + (step - w->from.step) / w->pace.speed - seconds_now(), POLL_SECONDS);
}

/* Decisions of a visit, equal on all ranks. */
struct visit {
    bool show, stay;
    int status;
    struct cli_pace pace;
};

/* True if a frame is due. A run that waits for its pace has time for every frame that the rate
 * allows. */
static bool is_frame_due(struct cli_window *w, double step, bool waits)
{
    const double now = seconds_now(), rate = w->rate > 0 ? w->rate : 30;
    const bool news = step > w->shown.step && now >= w->shown.time + 1 / rate;
    if (w->every && step <= w->shown.step)
        return false;
    if (!view_due(w->view) && !(waits && news && !w->pace.paused && view_viewers(w->view)))
        return false;
    w->shown.time = now;
    w->shown.step = step;
    return true;
}

static struct visit window_poll(struct cli_window *w, double fraction, void *job)
{
    const int status = obey_all(w, job);
    update_automatic_pace(w);
    window_set_state(w, w->step, fraction);
    const bool waits = seconds_to_wait(w, w->step) > 0;
    w->waited = waits;
    return (struct visit){is_frame_due(w, w->step, waits), waits, status, w->pace};
}

int cli_window_visit(struct cli_window *w, uint64_t at, double fraction, cli_window_show *show,
                     void *job)
{
    struct visit visit = {.stay = w->open};
    int status = CLI_DONE;
    w->step = (double)at;
    while (visit.stay) {
        if (cli_ranks_first())
            visit = window_poll(w, fraction, job);
        if (world_broadcast(cli_world, 0, &visit, sizeof visit) != 0)
            return cli_failed_call(NULL);
        w->agreed = visit.pace;
        if ((status = visit.status) == CLI_DONE && visit.show) {
            status = show(job, 0);
            w->interval = view_due_in(w->view);
        }
        if (status != CLI_DONE || !visit.stay || cli_ranks_interrupted(false))
            break;
        view_wait(w->view, seconds_to_wait(w, w->step));
    }
    return status;
}

uint64_t cli_window_batch(const struct cli_window *w, uint64_t step, uint64_t wanted)
{
    double most = 0x1p62;
    if (!w->open)
        return wanted;
    if (w->every)
        return 1;
    if (w->agreed.paused && w->agreed.stop > (double)step)
        most = w->agreed.stop - (double)step;
    else if (w->agreed.speed > 0)
        most = fmax(1, w->agreed.speed / (w->rate > 0 ? w->rate : 30));
    return (double)wanted < most ? wanted : (uint64_t)most;
}

/* Ending a batch leaves the device idle for a moment. Shorten batches only if frames are due
 * more often than batches end; otherwise a frame waits for the next end. */
double cli_window_seconds(const struct cli_window *w, double seconds)
{
    const double least = 0.25 / (w->rate > 0 ? w->rate : 30);
    return view_viewers(w->view) && w->interval < seconds
               ? fmin(seconds, fmax(least, view_due_in(w->view)))
               : seconds;
}

/* Median of three durations: one outlier, such as a compilation, does not count. */
static double median3(const double s[3])
{
    return fmax(fmin(s[0], s[1]), fmin(fmax(s[0], s[1]), s[2]));
}

bool cli_window_sums_due(const struct cli_window *w, const struct cli_sums *sums)
{
    const double rate = w->rate > 0 ? w->rate : 30,
                 share = w->waited ? SUMS_SHARE : SUMS_SHARE * window_budget(w) / 100;
    return (view_viewers(w->view) || w->record) &&
           seconds_now() >= sums->at + fmax(1 / rate, median3(sums->seconds) / share);
}

void cli_window_sums_made(struct cli_sums *sums, double began)
{
    const double now = seconds_now();
    *sums = (struct cli_sums){now, {sums->seconds[1], sums->seconds[2], now - began}};
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* Commands that still have a meaning after the run. */
static void obey_after_end(struct cli_window *w)
{
    struct view_command command;
    while (view_next_command(w->view, &command)) {
        if (command.ask == VIEW_QUIT)
            cli_interrupt_set(SIGINT);
        w->again |= command.ask == VIEW_AGAIN;
    }
}

/* Serve a state that does not change any more. `enough`, on rank 0, ends it. */
static int serve_end(struct cli_window *w, bool (*enough)(struct cli_window *w), double poll,
                     cli_window_show *show, void *job)
{
    struct visit visit = {.stay = true};
    while (visit.stay) {
        if (cli_ranks_first()) {
            obey_after_end(w);
            visit = (struct visit){.stay = !enough(w), .pace = w->pace};
        }
        if (cli_ranks_first() && visit.stay) {
            view_set_state(w->view, &(struct view_state){.paused = 1, .fraction = NAN});
            visit.show = view_due(w->view);
        }
        if (world_broadcast(cli_world, 0, &visit, sizeof visit) != 0)
            return cli_failed_call(NULL);
        const int status = visit.show ? show(job, 1) : CLI_DONE;
        if (status != CLI_DONE)
            return status;
        if (visit.stay)
            view_wait(w->view, poll);
    }
    return CLI_DONE;
}

static bool all_delivered(struct cli_window *w)
{
    return view_behind(w->view) == 0 || seconds_now() > w->patient;
}

/* True if there has been no viewer for a minute. */
static bool is_deserted(struct cli_window *w)
{
    if (view_viewers(w->view))
        w->patient = seconds_now() + STAY_SECONDS;
    return w->again || seconds_now() > w->patient || cli_interrupted();
}

int cli_window_end(struct cli_window *w, const char *sentence, cli_window_show *show, void *job)
{
    if (!w->open)
        return CLI_DONE;
    const int status = show(job, 1);
    if (status != CLI_DONE)
        return status;
    w->ended = true;
    view_end(w->view, sentence);
    w->patient = seconds_now() + (cli_interrupted() ? HURRIED_SECONDS : DELIVER_SECONDS);
    return serve_end(w, all_delivered, SOON_SECONDS, show, job);
}

int cli_window_stay(struct cli_window *w, cli_window_show *show, void *job)
{
    if (!w->ended || !cli_window_decide(w, w->interactive) || cli_ranks_interrupted(false))
        return CLI_DONE;
    cli_interrupt_idle();
    if (w->view)
        fprintf(stderr, "%s: the view stays open until Ctrl-C, or a minute after its last viewer\n",
                cli_program);
    w->patient = seconds_now() + STAY_SECONDS;
    return serve_end(w, is_deserted, POLL_SECONDS, show, job);
}

int cli_window_close(struct cli_window *w)
{
    int status = CLI_DONE;
    if (w->again)
        keep_link(w);
    if (view_close(w->view) < 0 && (w->ended || clerrno != ENODATA)) /* a failed run has said why */
        status = cli_failed_call("recording");
    w->view = NULL;
    w->open = false;
    cli_browser_close();
    return status;
}
