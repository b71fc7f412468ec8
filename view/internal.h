/* internal.h - what the files of the window share. Each calls those below it:
 *
 *   view.c      opening and closing; the run's side: what is due, what was asked
 *   thread.c    the server's thread
 *   serve.c     sockets, by libwebsockets; serve_none.c where that was not found
 *   viewer.c    one viewer: its wishes, its credits, what it gets next
 *   latest.c     the newest of all that is shown, in the server's thread
 *   record.c    the recording
 *   frame.c     frames of bars, tables and rows; points.c and cells.c those of bodies and cells
 *   replay.c    recordings, read; decode.c: their frames
 *   page.c      a page without a server
 *   server_messages.c     the texts that the server sends
 *   client_messages.c       the messages that it gets
 *   about.c     what there is to see, copied from the options
 *   budget.c    how often pictures may come
 *   exchange_slot.c   how what is shown comes from the run's thread to this one
 *   listen.c    sockets of the loopback addresses, or a Unix socket
 *   http.c      who may ask: host, origin, token
 *   web.c       the page's files
 *   script.c    modules, shortened
 *   pack.c      deflate
 *
 * The run's thread never waits for the other: what both need goes through flags (exchange_slot.c),
 * or is guarded by a lock that the run's thread only tries. SPDX-License-Identifier: MIT
 */
#ifndef VIEW_INTERNAL_H
#define VIEW_INTERNAL_H

#include "stdcl/view.h"
#include "view/bytes.h"

#include <jansson.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum {
    MOST_VIEWERS = 8,
    MOST_CONNECTIONS = 32,
    MOST_CREDITS = 8,
    MOST_MESSAGE = 4096,
    MOST_ROWS = 4096,
    FORMER = 32,
    MOST_SQUARES = 1 << 22,
    MOST_ZOOM = 24,
    TOKEN = 33 /* 32 digits and a 0 */
};

enum kind { POINTS = 1, CELLS, BARS, GRID, ROWS, KINDS };
enum coding { RAW, DIFFERENCES, DIFFERENCES_PACKED, PACKED };
enum colour { NO_COLOUR, BY_SPEED, BY_MASS, BY_ACCELERATION, BY_GROUP, COLOURS };
enum { LAST = 1, SAMPLE = 2, REGION = 4, FORGET = 8 }; /* flags of a frame */

/* ---- What is shown. -------------------------------------------------------------------------- */

/* The newest of a kind, as the run gave it. */
struct shown {
    struct view_moment at;
    uint32_t sequence; /* 0: nothing yet */
    size_t n;          /* bodies, rectangles, bins or values */
    double top;        /* of bars */
    uint64_t population;
    unsigned states;                         /* of cells */
    bool raw;                                /* `first` is a frame already, of a recording */
    struct view_region region[VIEW_REGIONS]; /* of cells; their bodies one behind the other */
    struct bytes first,
        second; /* positions and velocities; bodies of cells; counts and what is expected; values */
};

/* Bytes of somebody else. */
struct span {
    const unsigned char *at;
    size_t size;
};

/* From the run's thread to the server's: whoever finds the flag in its state owns `shown`. */
struct mailbox {
    atomic_bool full;
    struct shown shown;
};

/* The texts and arrays of the options, copied. */
struct about {
    struct view_options options;
    char **text; /* all texts, to free */
    size_t texts;
    float *mass; /* of bodies in the order of view_sample_order; NULL: none */
    uint8_t *group;
    unsigned char *colours; /* of states of cells */
    float least_mass, most_mass;
    json_t *hello;  /* of a recording that is replayed; NULL: none */
    size_t columns; /* of rows */
    size_t grid_rows, grid_columns;
    char run[17];
};

/* ---- What a viewer wants. -------------------------------------------------------------------- */

struct want {
    size_t count; /* bodies */
    enum colour colour;
    int coding;
    bool inside; /* only bodies in `box` */
    double box[6];
    bool cells; /* a rectangle was asked for */
    struct view_region region;
};

/* A message of a page. */
enum ask_type { ASK_CREDIT, ASK_WANT, ASK_PING, ASK_DO };
struct ask {
    enum ask_type type;
    uint64_t number; /* credits; the ping's id */
    struct want want;
    struct view_command command;
    bool confirmed;
};

/* ---- about.c --------------------------------------------------------------------------------- */

int about_copy(struct about *about, const struct view_options *options);
void about_free(struct about *about);
/* What colour recordings keep: one only. */
enum colour about_recorded(const struct about *about);
/* order[n]: 0 to n - 1 in a random order, the same for every n bodies; NULL: no memory. */
uint32_t *about_order(size_t n);

/* ---- client_messages.c: false where the text is no message of the protocol; *ask is then not
 * defined. ---- */
bool ask_read(const char *text, size_t size, struct ask *ask);
extern const char *const ask_names[]; /* of enum view_ask */
extern const char *const colour_names[];

/* ---- server_messages.c: texts from malloc; NULL: no memory.
 * -------------------------------------------- */
char *hello_text(const struct about *about, bool guest, bool live);
char *state_text(const struct about *about, const struct view_state *state, int viewers, bool ended,
                 bool recording);
char *say_text(const char *level, const char *text);
char *end_text(const char *text);
char *refused_text(const char *what, const char *why);
char *pong_text(uint64_t id);

/* ---- pack.c ---------------------------------------------------------------------------------- */

/* Appends `size` bytes by deflate without a header. False: there is no zlib, or no memory. */
bool pack(struct bytes *to, const unsigned char *from, size_t size);
/* The same as a file of gzip. */
bool pack_gzip(struct bytes *to, const unsigned char *from, size_t size);
/* The other way, of exactly `size` bytes. False: they are not that. */
bool unpack(unsigned char *to, size_t size, const unsigned char *from, size_t packed);
bool can_pack(void);

/* ---- frame.c: append a whole frame; false: no memory (to->failed). --------------------------- */
enum { FRAME_HEAD = 24, POINTS_HEAD = 112, CELLS_HEAD = 64 };
void frame_head(struct bytes *to, enum kind kind, int flags, const struct shown *shown);
bool frame_bars(struct bytes *to, const struct shown *shown);
bool frame_grid(struct bytes *to, const struct shown *shown, const struct about *about);

/* The rows so far, thinned by two when there are MOST_ROWS. */
struct rows {
    size_t columns, n, every, skipped;
    uint64_t thinned; /* how often */
    double *value;
};
void rows_add(struct rows *rows, const double *value);
bool frame_rows(struct bytes *to, const struct rows *rows, size_t first, bool forget);

/* ---- points.c -------------------------------------------------------------------------------- */

/* Bodies in 16 bits a coordinate, as a frame has them; shared by those who sent them. */
struct quantised {
    int users;
    uint32_t sequence;
    size_t count;
    enum colour colour;
    double box[6];
    float lo, hi;
    uint16_t *at; /* x of all, y of all, z of all */
    uint8_t *shade;
};
void quantised_drop(struct quantised *q);

/* The box of all bodies, which stays until they leave it or fill little of it. */
struct frame_box {
    double box[6];
    float lo, hi; /* of speeds */
    bool set, speeds;
};
/* Appends the frame that `want` asks for. *was are the two frames sent last, the newer first (may
 * be NULL), and become the new ones. */
bool frame_points(struct bytes *to, const struct shown *shown, const struct about *about,
                  const struct want *want, struct frame_box *box, struct quantised *was[2]);

/* ---- cells.c --------------------------------------------------------------------------------- */

/* The body of the frame of cells sent last. */
struct sent_cells {
    uint32_t sequence;
    struct view_region region;
    struct bytes body;
};
/* Whether the rectangle that is wanted is among those shown; appends its frame. */
int cells_find(const struct shown *shown, const struct view_region *region);
bool frame_cells(struct bytes *to, const struct shown *shown, int i, int coding,
                 struct sent_cells *last);
bool region_same(const struct view_region *a, const struct view_region *b);
/* Brings a rectangle into the grid; false: nothing is left of it. */
bool region_clip(const struct view_field *field, struct view_region *region);
/* What recordings have: all of a small grid, or all of it from afar; of a plane without edges its
 * middle, in squares of 2^zoom. */
struct view_region region_whole(const struct view_field *field, uint32_t zoom);
/* Whether a cell lives at its edge. */
bool region_reached(const struct view_region *region, unsigned states, const unsigned char *body);

/* ---- exchange_slot.c
 * ------------------------------------------------------------------------------- */

/* The run's side: to fill in; NULL: the last has not been taken yet. Then posted. */
struct shown *mailbox_open(struct mailbox *box);
void mailbox_post(struct mailbox *box);
/* The server's: exchanges *shown with what has come; false: nothing has. */
bool mailbox_take(struct mailbox *box, struct shown *shown);
void shown_free(struct shown *shown);

/* ---- record.c -------------------------------------------------------------------------------- */

struct recording;
struct recording *recording_open(const struct about *about);
/* Adds a record; after a failure nothing more, and recording_close tells it. */
void recording_text(struct recording *r, const char *text);
void recording_frame(struct recording *r, const struct shown *shown, enum kind kind,
                     struct frame_box *box);
void recording_rows(struct recording *r, const struct rows *rows);
bool recording_failed(const struct recording *r);
int recording_close(struct recording *r);

/* ---- decode.c, replay.c ---------------------------------------------------------------------- */

/* A frame by coding 0; `was`: the two before it, the newer first. False: it is damaged. */
bool frame_decode(struct bytes *out, const struct span *frame, const struct bytes was[2]);
/* Whether it builds on others. */
bool frame_builds(const struct span *frame);

/* From memory, which stays the caller's. */
view_recording *recording_read(const void *bytes, size_t size);
/* A picture, whole; NULL with EINVAL: it is damaged. Stays until the next. */
const struct bytes *recording_picture(view_recording *r, size_t frame);
size_t recording_columns(const view_recording *r);
void recording_each_row(const view_recording *r, void (*take)(void *arg, const double *row),
                        void *arg);
json_t *recording_hello(const view_recording *r);

/* ---- budget.c -------------------------------------------------------------------------------- */

struct budget {
    double cost[3], owed; /* of the last pictures, in seconds; what was above the usual and is not
                             paid back yet */
};
/* How long the next picture may not come, after one that cost so many seconds began, so that all of
 * them take at most `share` of the time. Of the last three the median counts. What is above it is
 * paid back by those that follow, no more at a time than that, and in all at most sixteen times: so
 * a kernel that is compiled once puts little off. */
double budget_wait(struct budget *budget, double cost, double share);
/* The part of the server's thread's time that the run feels. */
double budget_felt(double busy, double cores);

/* ---- http.c ---------------------------------------------------------------------------------- */

/* Whether a Host is one of this machine's own names, with any port; whether an Origin is "http://"
 * and that Host. */
bool http_host_ok(const char *host);
bool http_origin_ok(const char *origin, const char *host);
/* Whether one of the offered subprotocols is "token." and this token; in a time that does not
 * depend on how much of it is right. */
bool http_token_ok(const char *offered, const char *token);
bool http_token_make(char token[TOKEN]);

/* ---- web.c ----------------------------------------------------------------------------------- */

struct web_file {
    const char *name, *type; /* NULL: not for viewers, or a module, which is in main.js */
    const unsigned char *text;
    unsigned long size;
    unsigned char *own;  /* text of malloc; NULL: as it is embedded */
    struct bytes packed; /* by gzip; empty: it cannot be */
};
struct web_file *web_open(
    size_t *n); /* NULL: no memory, or a file cannot be read (the sentence says which) */
struct web_file *web_find(struct web_file *files, size_t n, const char *name,
                          size_t length); /* NULL: there is none */
void web_close(struct web_file *files, size_t n);

/* ---- script.c: appends a module to others; an end of line. ----------------------------------- */
void script_put(struct bytes *to, const void *text, size_t size);

/* ---- listen.c -------------------------------------------------------------------------------- */

struct listening {
    int fd[2]; /* -1: none */
    int port;
    char *path; /* of a Unix socket, removed at the end */
};
int listen_open(struct listening *l, const char *address);
void listen_close(struct listening *l);
/* A connection that is allowed here, non-blocking; -1: none. */
int listen_accept(const struct listening *l, int fd);

/* ---- latest.c ---------------------------------------------------------------------------------
 */

/* The server's thread's own. */
struct stage {
    struct shown shown[KINDS];
    struct rows rows;
    struct frame_box box;
    uint32_t zoom; /* of what is recorded of a plane without edges: as far as its cells have come */
    struct view_state state;
    unsigned states; /* how often it changed */
    bool closing;
    char *ending;
    unsigned says; /* how many sentences were said so far; the last of them: */
    const char *level;
    char say[256];
    bool recording_told;
};
/* Takes what has come, and records it. */
void stage_take(struct stage *stage, struct view *v);
void stage_free(struct stage *stage);

/* ---- viewer.c -------------------------------------------------------------------------------- */

enum { HEADROOM = 64 }; /* before every message, for whoever sends it */

struct viewer {
    struct view *v;
    struct stage *stage;
    bool guest, hello_due, pong_due, end_due, again, rows_last;
    uint64_t pong;
    const char *refused, *why; /* static */
    struct want want;
    struct view_region former[FORMER]; /* rectangles of cells that it wanted before, and neither
                                          these nor later ones came */
    int formers;
    unsigned credits, states, says;
    uint32_t sent[KINDS];
    size_t rows_sent;
    uint64_t thinned;
    struct bytes out; /* HEADROOM, then a message on its way */
    bool binary;
    struct quantised *was[2];
    struct sent_cells cells;
};
void viewer_init(struct viewer *w, struct view *v, struct stage *stage, bool guest);
void viewer_free(struct viewer *w);
/* A message came. 0, or the code to close with. */
int viewer_hear(struct viewer *w, const char *text, size_t size);
/* Puts the next message into w->out; false: there is none now. */
bool viewer_next(struct viewer *w);
/* What all of them want is told to the run. */
void viewers_want(struct view *v, const struct stage *stage, struct viewer *const *viewers, int n);

/* ---- serve.c --------------------------------------------------------------------------------- */

/* made in the run's thread, so that it tells what is wrong; run in the server's, until view_close;
 * NULL: it cannot. */
struct server *server_make(struct view *v);
void server_run(struct server *s, struct stage *stage);
void server_wake(struct server *s);
void server_free(struct server *s);

/* ---- thread.c -------------------------------------------------------------------------------- */

int thread_start(struct view *v);
void thread_wake(struct view *v);
void thread_join(struct view *v);

/* ---- view.c ---------------------------------------------------------------------------------- */

enum { MOST_COMMANDS = 16, ROWS_ON_THE_WAY = 1024 };

struct view {
    struct about about;
    char token[2][TOKEN]; /* of all rights, of guests */
    char url[2][160], tunnel[320];
    struct listening listening;
    struct recording *recording;
    struct server *server; /* NULL: it does not listen */
    pthread_t thread;
    bool started;

    /* For both threads. */
    atomic_int wanted;    /* viewers, and 1 for a recording */
    atomic_int watched;   /* viewers */
    atomic_bool changed;  /* a viewer wants what is not shown yet */
    atomic_ullong moved;  /* when one wanted cells that are not, in ns */
    atomic_size_t bodies; /* wanted at most */
    atomic_ullong worked; /* ns that the server's thread worked */
    struct mailbox box[KINDS];
    atomic_size_t rows_in, rows_out; /* of `row`, a ring */
    double *row;
    sem_t waked;          /* of a thread that has no sockets */
    pthread_mutex_t lock; /* of what follows; the run's thread only tries it */
    pthread_cond_t asked;
    struct view_command command[MOST_COMMANDS];
    size_t commands;
    struct view_region region[VIEW_REGIONS];
    int regions;
    struct view_state state;
    unsigned states; /* how often it changed */
    char *ending;    /* the run's last sentence; NULL: it goes on */
    bool closing;

    /* The run's alone. */
    uint32_t *order;
    struct budget budget;
    double beat, due, due_soon, began,
        told; /* by seconds_now: when the rate allows the next picture; when it may come, and one
               that a viewer moved to; when this was asked for; the state, last */
    struct view_state said;
    bool rows_given; /* of a replay */
    bool shown;      /* the state of a run that is paused */
    bool stood;      /* the run was paused when it last told its state */
    unsigned long long worked_before,
        used_before;       /* at the last picture, in ns: the server's thread; all threads */
    double settled, cores; /* when that was; processors */
};

#endif
