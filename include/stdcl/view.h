/* stdcl/view.h - a window in the browser onto a run.
 *
 *   view *v = view_open(&(struct view_options){.program = "orbits", .points = {.total = n}});
 *   puts(view_url(v, 0));                                     http://127.0.0.1:41873/#t=9f3a...
 *   while (running) {
 *       step();
 *       if (view_due(v))                                      somebody looks, and it is time for a
 *                                                             picture
 *           view_show_points(v, &(struct view_points){.time = t, .count = k, .pos = pos});
 *   }
 *   view_close(v);
 *
 * A thread of its own serves pages; the run hands it what is to be shown, which is copied, and
 * never waits for it. Without viewers view_due is one atomic load. It listens on this machine's
 * loopback addresses (or a Unix socket) alone, and shows nothing to those who do not know the
 * link's token. view/WIRE.md is what goes over the wire. int functions return 0, or -1 with clerrno
 * set and a sentence in clerror(); pointers NULL likewise. All functions of a view are for one
 * thread, that of the run. A NULL view is one that nobody looks at, everywhere; a NULL recording is
 * EINVAL. A struct of options may grow in a later version 1, by its reserved words: they must be 0
 * (EINVAL). All other structs stay as they are. Their sizes and offsets: tests/install/layout.txt.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_VIEW_H
#define STDCL_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdcl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct view view;
typedef struct view_recording view_recording;

/* ---- What there is to see. Zero means: not this. Texts and arrays are copied. ---------------- */

/* Bodies in space. Lists of texts end with NULL. */
struct view_bodies {
    size_t total;                        /* bodies; at most 2^32 - 1 */
    const double *mass;                  /* of each; NULL: no colour by mass */
    const uint8_t *group;                /* of each; NULL: no groups */
    int moving;                          /* velocities are given, for colour by speed */
    const char *length, *speed, *weight; /* units; NULL: none */
};

/* A grid of cells; width 0 with a rule: a plane without edges. */
struct view_field {
    uint64_t width, height;
    const char *bounds, *rule; /* "torus" or "plane", "B3/S23" */
    unsigned states;           /* of a cell, at most 256; 0 or 1: 2 */
    const unsigned char
        *colours; /* red, green and blue of each state; NULL: the page has colours of its own */
};

/* A histogram of `quantity`, in `unit`; bars count `counted`, and `model` is what they are compared
 * with. */
struct view_histogram {
    const char *quantity, *unit, *counted, *model;
};

/* A table of values, one for each row and column, drawn as a map. */
struct view_table {
    const char *row, *column, *quantity, *unit;
    const char *const *rows;
    const char *const *columns;
};

enum view_can {
    VIEW_CAN_PAUSE = 1,
    VIEW_CAN_STEP = 2,
    VIEW_CAN_SPEED = 4,
    VIEW_CAN_QUIT = 8,
    VIEW_CAN_SEEK = 16
};

/* Zero means the default. */
struct view_options {
    const char *program, *title; /* "nbody"; a line */
    const char *address; /* "8080"; "unix:PATH"; "" or NULL: a free port; "-": none, for a recording
                            alone */
    const char *
        record; /* a file that keeps what is shown; NULL: none. It gets its name when it is whole */
    double rate;   /* pictures a second at most, 0.1 to 240; 0 = 30 */
    double budget; /* of the run's time for showing it, in percent, up to 100; 0 = 1 */
    unsigned can;  /* VIEW_CAN_...: what viewers may ask of the run */
    const view_recording *replay; /* what is shown is this, by view_show_recorded, and it says what
                                     there is to see; not owned */
    uint64_t frames; /* not 0: a replay of so many pictures, with times `from` to `to` */
    double from, to;
    const char *step, *time, *time_unit; /* what these are called; NULL: "step", "time", "" */
    const char *const *facts;            /* name, value, name, value, ..., NULL */
    struct view_bodies points;
    struct view_field cells;
    struct view_histogram bars;
    struct view_table grid;
    const char *const *rows; /* name, unit, name, unit, ..., NULL: of the columns of view_add_row */
    uintptr_t reserved[8];   /* must be 0 */
};

/* Starts to listen, and the thread. EINVAL: an option makes no sense; ENOTSUP: built without
 * libwebsockets, which only a recording does not need; EADDRINUSE, EACCES: of the port or the
 * socket; EIO: the recording cannot be made; ENOMEM. */
view *view_open(const struct view_options *options);

/* Ends the thread and all connections, and finishes the recording: -1 with EIO when that was not
 * possible, with the reason. NULL is fine. */
int view_close(view *v);

/* The link to give to people: of guests, who may only look, or with all rights; owned by the view.
 * Of a Unix socket the link works through the tunnel that view_tunnel tells. "" when it does not
 * listen. */
const char *view_url(const view *v, int guest);
/* The command that makes the link work from another machine: "ssh -N -L 8080:127.0.0.1:8080
 * node17". */
const char *view_tunnel(const view *v);

/* ---- Showing. -------------------------------------------------------------------------------- */

/* How many look now. One atomic load. */
int view_viewers(const view *v);

/* Whether a picture is wanted now: 1 or 0. Without viewers and recording one atomic load. */
int view_due(view *v);

/* Seconds until a picture is wanted, as far as is known now: 0 when one is, INFINITY when nobody
 * looks. So that a run goes on until then in one piece. */
double view_due_in(const view *v);

/* Of the current time, for all pictures. */
struct view_moment {
    double time;
    uint64_t step;
    int last; /* of the run: waits, up to ten seconds, until there is room for it */
};

/* How many bodies are wanted at most, and which: order[0] to order[count - 1], a fair sample of 0
 * to total - 1 however short; owned by the view. NULL with ENOMEM. */
size_t view_bodies_wanted(const view *v);
const uint32_t *view_sample_order(view *v);

/* The first `count` bodies of view_sample_order; vel may be NULL. */
struct view_points {
    struct view_moment at;
    size_t count;
    const float (*pos)[3];
    const float (*vel)[3];
};
int view_show_points(view *v, const struct view_points *points);

/* A rectangle of squares of 2^zoom x 2^zoom cells, its top left cell at (x, y). */
struct view_region {
    int64_t x, y;
    uint32_t width, height;
    uint32_t zoom;
};
enum { VIEW_REGIONS = 9 };
/* Which rectangles are wanted, at most VIEW_REGIONS of them; how many. */
int view_regions_wanted(view *v, struct view_region *region);

/* One rectangle: the body of a frame of cells of view/WIRE.md, uncompressed: at zoom 0 bits, or of
 * more than two states a byte a cell; else a byte a square. */
struct view_cells {
    struct view_region region;
    const uint8_t *body;
};
/* All that were wanted, at one time. population: of the whole grid, or UINT64_MAX. */
int view_show_cells(view *v, struct view_moment at, uint64_t population, int n,
                    const struct view_cells *cells);
/* The bytes of a rectangle's body, of cells of so many states; what a square of 4^zoom cells,
 * `live` of them not 0, is shown as. */
size_t view_cells_bytes(const struct view_region *region, unsigned states);
uint8_t view_cells_shade(uint64_t live, uint32_t zoom);

/* bins + 1 numbers each, the last for what is above top. */
int view_show_bars(view *v, struct view_moment at, uint32_t bins, double top, const uint64_t *count,
                   const double *expected);

/* All values, row by row; NAN where there is none. */
int view_show_grid(view *v, struct view_moment at, const float *value);

/* A row of numbers for the plots, NAN where one is not known; may be called at any time. */
int view_add_row(view *v, const double *value);

/* ---- Recordings. ----------------------------------------------------------------------------- */

/* Opens a recording; one that was cut plays up to the cut. EINVAL: it is none, or has no picture;
 * else as open(). */
view_recording *view_recording_open(const char *file);
void view_recording_close(view_recording *r);
/* How many pictures it has, and the time of one. */
size_t view_recording_frames(const view_recording *r);
double view_recording_time(const view_recording *r, size_t frame);
/* What is shown, a line; owned by the recording. */
const char *view_recording_title(const view_recording *r);

/* Shows one of its pictures in a view that was opened with `replay`; the rows of the plots come
 * with the first. EINVAL: it is damaged there. */
int view_show_recorded(view *v, view_recording *r, size_t frame);

/* Writes a page that needs no server, with a recording in it, of at most 256 MiB (EFBIG). */
int view_write_page(FILE *fp, const char *recording);

/* ---- What viewers ask. ----------------------------------------------------------------------- */

enum view_ask { VIEW_PAUSE, VIEW_RUN, VIEW_STEP, VIEW_SPEED, VIEW_SEEK, VIEW_QUIT };
struct view_command {
    enum view_ask ask;
    double value; /* steps, speed, or frame */
};
/* The next thing that a viewer asked for; 0: there is none. */
int view_next_command(view *v, struct view_command *command);

/* Sleeps until a viewer asks for something or for another picture, but at most so long. For a run
 * that is paused. */
void view_wait(view *v, double seconds);

/* How the run is doing, for the page's line of state. fraction: done of the whole, or NAN. */
struct view_state {
    int paused;
    double speed, steps, fraction;
    uint64_t frame; /* of a replay */
};
void view_set_state(view *v, const struct view_state *state);

/* The run is over: says so, and keeps on showing the last picture. */
void view_end(view *v, const char *sentence);

#ifdef __cplusplus
}
#endif
#endif
