/* frame.h - frames of the protocol (WIRE.md): the data shown, its encoding and compression.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIEW_FRAME_H
#define VIEW_FRAME_H

#include "stdcl/view.h"
#include "view/bytes.h"
#include <jansson.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum {
    MOST_VIEWERS = 8,
    MOST_CONNECTIONS = 32,
    MOST_STRANGERS = 8, /* connections of other users of the machine */
    MOST_CREDITS = 8,
    MOST_MESSAGE = 4096,
    MOST_ROWS = 4096,
    FORMER = 32,
    MOST_SQUARES = 1 << 22,
    MOST_ZOOM = 53, /* 1,024 squares of 2^53 cells are a plane from -2^62 to 2^62 */
    TOKEN = 33      /* 32 hexadecimal digits and a terminating 0 */
};

enum kind { POINTS = 1, CELLS, BARS, GRID, ROWS, KINDS };
enum coding { RAW, DIFFERENCES, DIFFERENCES_PACKED, PACKED };
enum colour { NO_COLOUR, BY_SPEED, BY_MASS, BY_ACCELERATION, BY_GROUP, COLOURS };
enum { LAST = 1, SAMPLE = 2, REGION = 4, FORGET = 8 }; /* flags of a frame */

/* Latest data of a kind, as the run provided it. */
struct shown {
    struct view_moment at;
    uint32_t sequence; /* 0: nothing yet */
    size_t n;          /* bodies, rectangles, bins or values */
    double top;        /* of bars */
    uint64_t population;
    unsigned states;                         /* of cells */
    bool raw;                                /* `first` is an encoded frame of a recording */
    bool repeated;                           /* the last state, which was shown before */
    struct view_region region[VIEW_REGIONS]; /* of cells; their bodies are contiguous */
    struct bytes first,
        second; /* positions and velocities; bodies of cells; counts and expected values; values */
    struct bytes path; /* of bodies: a double and n positions of float[3] at each time */
};

/* Bytes that are not owned. */
struct span {
    const unsigned char *at;
    size_t size;
};

/* One-slot exchange from the run's thread to the server's. full: the server owns `shown`; else the
 * run. */
struct exchange_slot {
    atomic_bool full;
    struct shown shown;
};

/* Copies of the options' texts and arrays. */
struct about {
    struct view_options options;
    char **text; /* all texts, to be freed */
    size_t texts;
    float *mass; /* of bodies in the order of view_sample_order; NULL: none */
    uint8_t *group;
    unsigned char *colours; /* of states of cells */
    float least_mass, most_mass;
    json_t *hello;  /* of a replayed recording; NULL: none */
    size_t columns; /* of rows */
    size_t grid_rows, grid_columns;
    char run[17];
};

struct want {
    size_t count; /* bodies */
    enum colour colour;
    int coding;
    bool inside; /* only bodies in `box` */
    double box[6];
    bool cells; /* a rectangle was requested */
    struct view_region region;
};

/* ---- frame.c ---- */

enum { FRAME_HEAD = 24, POINTS_HEAD = 112, CELLS_HEAD = 64 };
void frame_head(struct bytes *to, enum kind kind, int flags, const struct shown *shown);
bool frame_bars(struct bytes *to, const struct shown *shown);
bool frame_grid(struct bytes *to, const struct shown *shown, const struct about *about);

/* Rows so far; every second one is dropped when there are MOST_ROWS. */
struct rows {
    size_t columns, n, every, skipped;
    uint64_t thinned; /* number of times rows were dropped */
    double *value;
};
void rows_add(struct rows *rows, const double *value);
bool frame_rows(struct bytes *to, const struct rows *rows, size_t first, bool forget);

/* ---- points.c ---- */

/* Bodies quantised to 16 bits per coordinate, as in a frame; reference counted. */
struct quantised {
    int users;
    uint32_t sequence;
    size_t count;
    enum colour colour;
    double box[6];
    float lo, hi;
    uint16_t *at; /* all x, all y, all z */
    uint8_t *shade;
};
void quantised_drop(struct quantised *q);

/* Bounding box of all bodies; it stays until bodies leave it or fill little of it. */
struct frame_box {
    double box[6];
    float lo, hi; /* of speeds */
    bool set, speeds;
};
/* Append the frame that `want` requests. *was: the two frames sent last, the newer first (may be
 * NULL); updated. */
bool frame_points(struct bytes *to, const struct shown *shown, const struct about *about,
                  const struct want *want, struct frame_box *box, struct quantised *was[2]);

/* ---- cells.c ---- */

/* Body of the frame of cells sent last. */
struct previous_cells {
    uint32_t sequence;
    struct view_region region;
    struct bytes body;
};
/* Index of the wanted rectangle among those shown, -1 if it is missing. frame_cells appends its
 * frame. */
int cells_find(const struct shown *shown, const struct view_region *region);
bool frame_cells(struct bytes *to, const struct shown *shown, int i, int coding,
                 struct previous_cells *last);
bool region_same(const struct view_region *a, const struct view_region *b);
/* Clip a rectangle to the grid; false if nothing is left. */
bool region_clip(const struct view_field *field, struct view_region *region);
/* The rectangle that is recorded: the whole grid, zoomed out if it is large; of an unbounded plane
 * its middle, in squares of 2^zoom. */
struct view_region region_whole(const struct view_field *field, uint32_t zoom);
/* True if a cell at the rectangle's edge lives. */
bool region_touches_edge(const struct view_region *region, unsigned states,
                         const unsigned char *body);

/* ---- pack.c ---- */

/* Append `size` bytes compressed by raw deflate. False without zlib or if out of memory. */
bool pack(struct bytes *to, const unsigned char *from, size_t size);
/* As pack, in gzip format. */
bool pack_gzip(struct bytes *to, const unsigned char *from, size_t size);
/* Decompress exactly `size` bytes. False if the data does not give as many. */
bool unpack(unsigned char *to, size_t size, const unsigned char *from, size_t packed);
bool can_pack(void);

#endif
