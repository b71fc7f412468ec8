/* viewer.c - one viewer: its requests, and its next frame.
 *
 * A frame is encoded from the latest data when the viewer has granted a credit and its last message
 * was sent. A slow viewer therefore costs one frame of memory and is never more than one frame
 * late.
 * SPDX-License-Identifier: MIT
 */
#include "view/window.h"

#include "core/clock.h"

#include <assert.h>

enum { BAD_MESSAGE = 4400, DEFAULT_BODIES = 200000 };

void viewer_init(struct viewer *w, struct view *v, struct latest *latest, bool guest)
{
    *w = (struct viewer){.v = v,
                         .latest = latest,
                         .guest = guest,
                         .hello_due = true,
                         .end_due = true,
                         .says = latest->says,
                         .states = latest->states + 1,
                         .want.count = DEFAULT_BODIES,
                         .thinned = latest->rows.thinned};
}

void viewer_free(struct viewer *w)
{
    bytes_free(&w->out);
    quantised_drop(w->was[0]);
    quantised_drop(w->was[1]);
    bytes_free(&w->cells.body);
}

/* ---- Requests. ------------------------------------------------------------------------------- */

/* True if a rectangle lies in the grid. */
static bool is_in_grid(const struct view_field *field, const struct view_region *r)
{
    struct view_region clipped = *r;
    return region_clip(field, &clipped) && clipped.width == r->width && clipped.height == r->height;
}

/* The reason for a refusal; NULL: allowed. */
static const char *denial(const struct viewer *w, const struct client_message *ask)
{
    static const unsigned needs[] = {VIEW_CAN_PAUSE, VIEW_CAN_PAUSE, VIEW_CAN_STEP,
                                     VIEW_CAN_SPEED, VIEW_CAN_SEEK,  VIEW_CAN_QUIT,
                                     VIEW_CAN_AGAIN, VIEW_CAN_PUT,   VIEW_CAN_RULE};
    const struct view_options *o = &w->v->about.options;
    const enum view_ask what = ask->command.ask;
    const bool back = what == VIEW_STEP && ask->command.value < 1, over = w->latest->ending;
    if (w->guest)
        return "this link may only look";
    if (!(o->can & needs[what]) || (back && !o->frames && !(o->can & VIEW_CAN_BACK)))
        return "this run cannot do that";
    if (what == VIEW_AGAIN && !over)
        return "only a run that has ended can begin again";
    const bool change = what == VIEW_PUT || what == VIEW_RULE || (back && !o->frames);
    if (change && over)
        return "the run has ended, so it cannot be changed any more";
    if (change && !w->latest->state.paused)
        return "only a paused run can be changed; pause it first";
    if (what == VIEW_PUT && !is_in_grid(&o->cells, &ask->command.region))
        return "these cells lie outside the grid";
    return what == VIEW_QUIT && !ask->confirmed ? "ending the run must be confirmed" : NULL;
}

static bool viewer_pass_on(struct view *v, const struct view_command *command)
{
    pthread_mutex_lock(&v->lock);
    const bool room = v->commands < MOST_COMMANDS;
    if (room)
        v->command[v->commands++] = *command;
    pthread_cond_signal(&v->asked);
    pthread_mutex_unlock(&v->lock);
    return room;
}

/* Queue a refusal, unless an equal one waits to be sent. The queue therefore never holds more than
 * each command with each of its reasons. */
static void refuse(struct viewer *w, const char *what, const char *why)
{
    for (int i = 0; i < w->refusals; i++)
        if (w->refusal[i].what == what && strcmp(w->refusal[i].why, why) == 0)
            return;
    assert(w->refusals < MOST_REFUSALS);
    w->refusal[w->refusals].what = what;
    w->refusal[w->refusals++].why = why;
}

static void command(struct viewer *w, const struct client_message *ask)
{
    const char *why = denial(w, ask);
    if (!why && !viewer_pass_on(w->v, &ask->command))
        why = "too much was asked for at once";
    if (why)
        refuse(w, command_names[ask->command.ask], why);
}

/* Forget the first n former rectangles. */
static void forget_formers(struct viewer *w, int n)
{
    w->formers -= n;
    memmove(w->former, w->former + n, sizeof *w->former * (size_t)w->formers);
}

static size_t fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* True if both requests mean the same bodies in the same form; a viewer that does not know their
 * number requests more. */
static bool viewer_same_bodies(const struct want *a, const struct want *b, size_t total)
{
    return !a->cells && !b->cells && !a->inside && !b->inside && a->colour == b->colour &&
           a->coding == b->coding && fewer(a->count, total) == fewer(b->count, total);
}

static void wish(struct viewer *w, const struct want *want)
{
    const bool same = viewer_same_bodies(&w->want, want, w->v->about.options.points.total);
    if (w->formers == FORMER)
        forget_formers(w, 1);
    if (w->want.cells)
        w->former[w->formers++] = w->want.region;
    w->want = *want;
    w->again |= !same;
    if (want->cells && !region_clip(&w->v->about.options.cells, &w->want.region))
        w->want.cells = false;
}

int viewer_receive(struct viewer *w, const char *text, size_t size)
{
    struct client_message ask;
    if (!client_message_parse(text, size, &ask))
        return BAD_MESSAGE;
    if (ask.type == MESSAGE_CREDIT)
        w->credits = w->credits + ask.number < MOST_CREDITS ? w->credits + (unsigned)ask.number
                                                            : MOST_CREDITS;
    else if (ask.type == MESSAGE_WANT)
        wish(w, &ask.want);
    else if (ask.type == MESSAGE_DO)
        command(w, &ask);
    else {
        w->pong_due = true;
        w->pong = ask.number;
    }
    return 0;
}

/* ---- Frames. --------------------------------------------------------------------------------- */

static void viewer_fresh(struct viewer *w, bool binary)
{
    w->out.used = 0;
    w->out.failed = false;
    w->binary = binary;
    bytes_more(&w->out, HEADROOM);
}

static bool viewer_text(struct viewer *w, char *t)
{
    viewer_fresh(w, false);
    if (t)
        bytes_put(&w->out, t, strlen(t));
    free(t);
    return t && !w->out.failed;
}

static bool next_refusal(struct viewer *w)
{
    const char *what = w->refusal[0].what, *why = w->refusal[0].why;
    memmove(w->refusal, w->refusal + 1, sizeof *w->refusal * (size_t)--w->refusals);
    return viewer_text(w, refused_text(what, why));
}

static bool next_text(struct viewer *w)
{
    const struct latest *s = w->latest;
    const struct view *v = w->v;
    if (w->hello_due)
        return w->hello_due = false,
               viewer_text(w, hello_text(&v->about, w->guest, v->about.options.frames == 0));
    if (w->refusals)
        return next_refusal(w);
    if (w->pong_due)
        return w->pong_due = false, viewer_text(w, pong_text(w->pong));
    if (w->says != s->says)
        return w->says = s->says, viewer_text(w, say_text(s->level, s->say));
    if (w->profiles != s->profiles_shown && s->profiles)
        return w->profiles = s->profiles_shown, viewer_text(w, strdup(s->profiles));
    if (w->bodies != s->shown[POINTS].sequence && about_has_orbits(&v->about) &&
        !s->shown[POINTS].raw)
        return w->bodies = s->shown[POINTS].sequence,
               viewer_text(w, bodies_text(&s->shown[POINTS]));
    if (w->end_due && s->ending)
        return w->end_due = false, viewer_text(w, end_text(s->ending));
    if (w->states == s->states)
        return false;
    w->states = s->states;
    return viewer_text(w, state_text(&v->about, &s->state, s->box_of_cells, s->rule, s->objects,
                                     s->objects_step, atomic_load(&v->viewers), s->ending,
                                     v->recording && !recording_failed(v->recording)));
}

static bool rows_due(const struct viewer *w)
{
    const struct rows *r = &w->latest->rows;
    return r->thinned != w->thinned || w->rows_sent < r->n;
}

static bool next_rows(struct viewer *w)
{
    const struct rows *r = &w->latest->rows;
    const bool forget = r->thinned != w->thinned;
    viewer_fresh(w, true);
    const bool made = frame_rows(&w->out, r, forget ? 0 : w->rows_sent, forget);
    w->rows_sent = r->n;
    w->thinned = r->thinned;
    return made;
}

/* The rectangle to send. The wanted one, with *former the number of requests before it; or,
 * because a viewer that moves wants another before the first arrives, the most recently wanted one
 * that is available. NULL: none. */
static const struct view_region *rectangle_due(const struct viewer *w, const struct shown *s,
                                               int *former)
{
    *former = w->formers;
    if (w->want.cells && cells_find(s, &w->want.region) >= 0)
        return &w->want.region;
    while (s->sequence != w->sent[CELLS] && --*former >= 0)
        if (cells_find(s, &w->former[*former]) >= 0)
            return &w->former[*former];
    return NULL;
}

/* The kind of picture newer than the viewer's; 0: none. */
static int picture_due(const struct viewer *w)
{
    int former;
    for (int kind = POINTS; kind < ROWS; kind++) {
        const struct shown *s = &w->latest->shown[kind];
        const bool newer = s->sequence && (w->again || s->sequence != w->sent[kind]);
        if (newer && (kind != CELLS || s->raw || rectangle_due(w, s, &former)))
            return kind;
    }
    return 0;
}

/* Send a recorded frame, which becomes part of this connection's sequence. */
static bool viewer_recorded(struct viewer *w, const struct shown *s)
{
    bytes_put(&w->out, s->first.at, s->first.used);
    if (!w->out.failed)
        bytes_at(w->out.at + HEADROOM + 4, s->sequence, 4);
    return !w->out.failed;
}

/* A request stays until it is answered. */
static bool next_cells(struct viewer *w, const struct shown *s)
{
    int former;
    const struct view_region *r = rectangle_due(w, s, &former);
    const int i = cells_find(s, r);
    w->again = r != &w->want.region;
    w->sent[CELLS] = s->sequence;
    forget_formers(w, w->again ? former + 1 : former);
    return frame_cells(&w->out, s, i, w->want.coding, &w->cells);
}

static bool next_picture(struct viewer *w, int kind)
{
    const struct shown *s = &w->latest->shown[kind];
    const struct about *about = &w->v->about;
    viewer_fresh(w, true);
    if (kind == CELLS && !s->raw)
        return next_cells(w, s);
    w->again = false;
    w->sent[kind] = s->sequence;
    if (s->raw)
        return viewer_recorded(w, s);
    if (kind == POINTS)
        return frame_points(&w->out, s, about, &w->want, &w->latest->box, w->was);
    return kind == BARS ? frame_bars(&w->out, s) : frame_grid(&w->out, s, about);
}

bool viewer_next(struct viewer *w)
{
    if (next_text(w))
        return true;
    if (w->credits == 0)
        return false;
    const int kind = picture_due(w);
    const bool rows = rows_due(w) && (!kind || !w->rows_last);
    if (!kind && !rows)
        return false;
    w->credits--;
    w->rows_last = rows;
    return rows ? next_rows(w) : next_picture(w, kind);
}

bool viewer_behind(const struct viewer *w)
{
    const struct latest *s = w->latest;
    const bool cells = w->v->about.options.cells.rule != NULL;
    if (w->hello_due || rows_due(w) || picture_due(w))
        return true;
    if (cells && !s->shown[CELLS].raw)
        return !w->want.cells || cells_find(&s->shown[CELLS], &w->want.region) < 0;
    for (int kind = POINTS; kind < ROWS; kind++)
        if (w->sent[kind])
            return false;
    return true;
}

/* ---- What all of them want. ------------------------------------------------------------------ */

static bool has_region(const struct view_region *all, int n, const struct view_region *r)
{
    for (int i = 0; i < n; i++)
        if (region_same(&all[i], r))
            return true;
    return false;
}

void viewers_want(struct view *v, const struct latest *latest, struct viewer *const *viewers, int n)
{
    const size_t total = v->about.options.points.total;
    struct view_region region[VIEW_REGIONS];
    int regions = 0;
    size_t bodies = v->recording ? DEFAULT_BODIES : 0;
    bool missing = false;
    if (v->recording && v->about.options.cells.rule)
        region[regions++] = region_whole(&v->about.options.cells, latest->zoom);
    for (int i = 0; i < n; i++) {
        const struct want *w = &viewers[i]->want;
        bodies = w->count > bodies ? w->count : bodies;
        if (w->cells && cells_find(&latest->shown[CELLS], &w->region) < 0) {
            missing = true;
            atomic_store_explicit(&v->moved, ns_now(), memory_order_relaxed);
        }
        if (w->cells && !has_region(region, regions, &w->region))
            region[regions++] = w->region;
    }
    bodies = bodies < total ? bodies : total;
    missing |= n > 0 && total && !v->about.hello && latest->shown[POINTS].n < bodies;
    missing |= n > 0 && !latest->shown[POINTS].sequence && !latest->shown[CELLS].sequence &&
               !latest->shown[BARS].sequence && !latest->shown[GRID].sequence;
    atomic_store(&v->bodies, bodies);
    pthread_mutex_lock(&v->lock);
    memcpy(v->region, region, sizeof *region * (size_t)regions);
    v->regions = regions;
    if (missing)
        atomic_store(&v->changed, true);
    pthread_cond_signal(&v->asked);
    pthread_mutex_unlock(&v->lock);
}
