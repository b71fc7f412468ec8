/* stdcl/view.h - live view of a running program in a web browser.
 *
 *   view *v = view_open(&(struct view_options){.program = "orbits", .points = {.total = n}});
 *   puts(view_url(v, 0));                                     http://127.0.0.1:41873/#t=9f3a...
 *   while (running) {
 *       step();
 *       if (view_due(v))                                      a viewer is ready for a frame
 *           view_show_points(v, &(struct view_points){.time = t, .count = k, .pos = pos});
 *   }
 *   view_close(v);
 *
 * A server thread serves the page. The run hands it frames, which are copied, and never waits for
 * the server. Without viewers view_due is one atomic load. The server listens on loopback addresses
 * or on a Unix socket only, and shows nothing without the link's token. view/WIRE.md describes the
 * protocol.
 *
 * int functions return 0, or -1 with clerrno set and a message in clerror(); pointer functions
 * return NULL likewise. All functions of a view belong to one thread, the run's. A NULL view is
 * allowed everywhere and has no viewers; a NULL recording gives EINVAL.
 *
 * Structs of options may grow in a later version 1 by their reserved words, which must be 0
 * (EINVAL). All other structs are fixed. tests/install/layout.txt lists sizes and offsets.
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

/* ---- Contents of the view. Zero means absent. Texts and arrays are copied. ------------------- */

/* The greatest number of bodies that viewers see one by one. */
enum { VIEW_NAMED = 64 };

/* Bodies in space. Lists of texts end with NULL. */
struct view_bodies {
    size_t total;                        /* bodies; at most 2^32 - 1 */
    const double *mass;                  /* masses; NULL: no colour by mass */
    const uint8_t *group;                /* groups; NULL: none */
    int moving;                          /* nonzero: velocities are given, for colour by speed */
    const char *length, *speed, *weight; /* units; NULL: none */
    /* Constant of gravity, in the units of the masses, positions and velocities. Above 0, with all
     * three given and at most VIEW_NAMED bodies: viewers see each body's speed and osculating
     * orbit. */
    double gravity;
    const char *const *names; /* of all bodies, at most VIEW_NAMED, "" for none; NULL: none */
};

/* A grid of cells; width 0 with a rule: an unbounded plane. */
struct view_field {
    uint64_t width, height;
    const char *bounds, *rule; /* "torus" or "plane", "B3/S23" */
    unsigned states;           /* per cell, at most 256; 0 or 1 means 2 */
    /* Red, green and blue of each state; NULL: the page's own colours. */
    const unsigned char *colours;
};

/* A histogram of `quantity`, in `unit`; `counted` names the items counted, `model` the reference
 * curve. */
struct view_histogram {
    const char *quantity, *unit, *counted, *model;
};

/* A table of values, one per row and column, drawn as a heat map. */
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
    VIEW_CAN_SEEK = 16,
    VIEW_CAN_AGAIN = 32, /* after view_end: begin the run again */
    VIEW_CAN_PUT = 64,   /* while paused: set cells */
    VIEW_CAN_BACK = 128, /* step back: VIEW_STEP with a negative value */
    VIEW_CAN_RULE = 256  /* while paused: change the rule of cells */
};

/* Options of view_open. Zero means the default. */
struct view_options {
    const char *program, *title; /* program name, "nbody"; title, one line */
    /* "8080"; "unix:PATH"; "" or NULL: a free port; "-": no server, recording only. */
    const char *address;
    /* Recording file; NULL: none. It replaces a file of this name when it is complete. */
    const char *record;
    double rate;   /* maximum frame rate, 0.1 to 240 per second; 0 = 30 */
    double budget; /* maximum share of run time for the view, in percent; 0 = 1 */
    unsigned can;  /* VIEW_CAN_...: commands that viewers may send */
    /* Recording to replay with view_show_recorded, which also describes the contents; not owned. */
    const view_recording *replay;
    uint64_t frames; /* not 0: a replay of `frames` frames, time `from` to `to` */
    double from, to;
    const char *step, *time, *time_unit; /* labels; NULL: "step", "time", "" */
    double step_time;         /* time of a step: viewers set speeds in time; 0: in steps */
    const char *const *facts; /* name, value, name, value, ..., NULL */
    struct view_bodies points;
    struct view_field cells;
    struct view_histogram bars;
    struct view_table grid;
    /* Columns of view_add_row: name, unit, name, unit, ..., NULL. */
    const char *const *rows;
    const char *tokens; /* view_tokens of an earlier view: its links stay valid; NULL: new */
    /* nonzero: pages of servers on this machine, such as notebooks, may show the view in a frame */
    int framed;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Open a view: start the server thread and the recording. EINVAL: an invalid option. ENOTSUP: built
 * without libwebsockets (not needed for a recording alone). EADDRINUSE, EACCES: the port or socket
 * is not available. EIO: the recording cannot be created. ENOMEM. */
view *view_open(const struct view_options *options);

/* Close a view: stop the server thread and all connections, and complete the recording. -1 if that
 * fails, with the reason: ENOSPC, EIO, ENOMEM; ENODATA: nothing was shown, and no file is written.
 * NULL is allowed. */
int view_close(view *v);

/* Return the link for viewers: for guests, who may only watch, or with all rights. With a Unix
 * socket the link works through the tunnel of view_tunnel. "" without a server. Owned by the
 * view. */
const char *view_url(const view *v, int guest);
/* Return the command that makes the link work from another machine: "ssh -N -L 8080:127.0.0.1:8080
 * node17". Owned by the view. */
const char *view_tunnel(const view *v);

/* Return the secrets of both links, 64 hexadecimal digits, for `tokens` of a later view: whoever
 * knows them can connect. "" without a server. Owned by the view. */
const char *view_tokens(const view *v);
/* From now on view_close tells viewers that a view with the same address and tokens opens soon:
 * they connect again by themselves. */
void view_reopens(view *v);

/* ---- Frames. --------------------------------------------------------------------------------- */

/* Return the number of viewers. One atomic load. */
int view_viewers(const view *v);

/* Return the number of viewers that have not received the newest state, or have requested nothing
 * yet. A run that is about to close its view first polls this until it is 0, with a time limit, and
 * shows a frame whenever view_due says so. */
int view_behind(view *v);

/* True if a frame is due now. One atomic load without viewers and recording. */
int view_due(view *v);

/* Return the seconds until the next frame is due, as far as known now: 0 if it is due, INFINITY
 * without viewers. The run can compute without interruption until then. */
double view_due_in(const view *v);

/* Time of a frame. */
struct view_moment {
    double time;
    uint64_t step;
    /* nonzero for the last frame: wait up to ten seconds for a free buffer */
    int last;
};

/* Return the maximum number of bodies in a frame; and the sampling order: any prefix of order[] is
 * a fair sample of bodies 0 to total - 1. Owned by the view. NULL with ENOMEM. */
size_t view_bodies_wanted(const view *v);
const uint32_t *view_sample_order(view *v);

/* Show the first `count` bodies of view_sample_order; vel may be NULL.
 *
 * path: the bodies at `instants` times since the last frame, in increasing order: count positions
 * at each time, path[i * count + k] of body k at path_time[i]. Viewers draw the trails of at most
 * VIEW_NAMED bodies with a known constant of gravity through them; the path of more bodies is
 * ignored. At most VIEW_INSTANTS (EINVAL). 0: frames alone are the trails. */
enum { VIEW_INSTANTS = 32 };
struct view_points {
    struct view_moment at;
    size_t count;
    const float (*pos)[3];
    const float (*vel)[3];
    size_t instants;
    const double *path_time;
    const float (*path)[3];
};
int view_show_points(view *v, const struct view_points *points);

/* A rectangle of squares of 2^zoom x 2^zoom cells, with its top left cell at (x, y). */
struct view_region {
    int64_t x, y;
    uint32_t width, height;
    uint32_t zoom;
};
enum { VIEW_REGIONS = 9 };
/* Get the rectangles that viewers request, at most VIEW_REGIONS; return their number. */
int view_regions_wanted(view *v, struct view_region *region);

/* Contents of one rectangle: the body of a cell frame of view/WIRE.md, uncompressed. At zoom 0 one
 * bit per cell, or one byte with more than two states; else one byte per square. */
struct view_cells {
    struct view_region region;
    const uint8_t *body;
};
/* Show all requested rectangles at one time. population: of the whole grid; UINT64_MAX: unknown. */
int view_show_cells(view *v, struct view_moment at, uint64_t population, int n,
                    const struct view_cells *cells);
/* Return the bytes of a rectangle's body for cells of `states` states; and the byte that shows a
 * square of 4^zoom cells with `live` nonzero cells. */
size_t view_cells_bytes(const struct view_region *region, unsigned states);
uint8_t view_cells_shade(uint64_t live, uint32_t zoom);

/* Show a histogram: bins + 1 counts and bins + 1 expected values, the last for values above top. */
int view_show_bars(view *v, struct view_moment at, uint32_t bins, double top, const uint64_t *count,
                   const double *expected);

/* Show a table's values row by row; NAN: no value. */
int view_show_grid(view *v, struct view_moment at, const float *value);

/* Add a row of values to the plots, NAN if unknown; allowed at any time. */
int view_add_row(view *v, const double *value);

/* A distribution over `bins` intervals: value[k] is the mean from edge[k] to edge[k + 1]. Edges
 * ascend. logarithmic: nonzero for two logarithmic axes; a first edge of 0 is allowed. */
struct view_profile {
    const char *title, *x, *unit; /* title, with the unit of values; name and unit of edges */
    int logarithmic;
    size_t bins; /* at most VIEW_PROFILE_BINS */
    const double *edge, *value;
};
enum { VIEW_PROFILES = 4, VIEW_PROFILE_BINS = 64 };
/* Show n distributions, at most VIEW_PROFILES, of one time, as small plots; they replace the former
 * ones. EINVAL: too many; ENOMEM. */
int view_show_profiles(view *v, double time, size_t n, const struct view_profile *profile);

/* ---- Recordings. ----------------------------------------------------------------------------- */

/* Open a recording; a truncated one plays up to the cut. EINVAL: not a recording, or without
 * frames; otherwise errors of open(). */
view_recording *view_recording_open(const char *file);
void view_recording_close(view_recording *r);
/* Return the number of frames; and the time of a frame. */
size_t view_recording_frames(const view_recording *r);
double view_recording_time(const view_recording *r, size_t frame);
/* Return the title, one line; owned by the recording. */
const char *view_recording_title(const view_recording *r);

/* Overlay the plots of `r` with the plots of `other`, which has equal columns: viewers draw the
 * lines of both. name: names of the two recordings for viewers. Pictures come from `r`. Call it
 * once, before a view is opened with r; `other` is not owned and must outlive r. EINVAL: one of
 * them has no table, or the tables have different columns. ENOMEM. */
int view_recording_overlay(view_recording *r, view_recording *other, const char *const name[2]);

/* Show a frame of a recording in a view opened with `replay`; the first call also sends the plots'
 * rows. EINVAL: the frame is damaged. */
int view_show_recorded(view *v, view_recording *r, size_t frame);

/* Write a self-contained page with an embedded recording of at most 256 MiB (EFBIG). */
int view_write_page(FILE *fp, const char *recording);

/* ---- Commands from viewers. ------------------------------------------------------------------ */

enum view_ask {
    VIEW_PAUSE,
    VIEW_RUN,
    VIEW_STEP,
    VIEW_SPEED,
    VIEW_SEEK,
    VIEW_QUIT,
    VIEW_AGAIN,
    VIEW_PUT,
    VIEW_RULE
};
enum { VIEW_PUT_BYTES = 1536, VIEW_RULE_BYTES = 512 };
struct view_command {
    enum view_ask ask;
    double value; /* steps, speed, or frame */
    /* VIEW_PUT: the cells of this rectangle, at zoom 0, get the states in `bits`: (width + 7) / 8
     * bytes a row, bit x % 8 of byte x / 8 is column x; at most VIEW_PUT_BYTES bytes. The rectangle
     * lies in the grid; on a torus it may cross an edge. */
    struct view_region region;
    uint8_t bits[VIEW_PUT_BYTES];
    /* VIEW_RULE: printable ASCII characters as the viewer typed them, at least one; the run checks
     * them, and answers by view_set_rule or view_say. */
    char rule[VIEW_RULE_BYTES];
};
/* Get the next command of a viewer; 0: none. */
int view_next_command(view *v, struct view_command *command);

/* Sleep until a viewer sends a command or a frame is due, at most `seconds`. For a paused run. */
void view_wait(view *v, double seconds);

/* State of the run, for the page's status line. fraction: done of the whole, or NAN. */
struct view_state {
    int paused;
    double speed, steps, fraction;
    uint64_t frame; /* of a replay */
};
void view_set_state(view *v, const struct view_state *state);

/* Set the smallest rectangle that has all live cells of an unbounded plane: left, top, right and
 * bottom, in cells, the last two exclusive; or NULL: none is alive. Viewers fit it into their
 * windows. */
void view_set_box(view *v, const double box[4]);

/* Set the rule of the cells, shorter than VIEW_RULE_BYTES, after a change; viewers show it. */
void view_set_rule(view *v, const char *rule);

/* Set the names of the objects among the cells at a step, in less than VIEW_OBJECTS_BYTES, such as
 * "2 blocks, glider"; "": none is known. Viewers show them beside the population. */
enum { VIEW_OBJECTS_BYTES = 256 };
void view_set_objects(view *v, uint64_t step, const char *names);

/* Show a sentence of less than 512 bytes to all viewers, such as the reason why a command was not
 * carried out. It replaces one that was not sent yet. */
void view_say(view *v, const char *sentence);

/* Mark the run as finished with a message; the last frame stays visible. */
void view_end(view *v, const char *sentence);

#ifdef __cplusplus
}
#endif
#endif
