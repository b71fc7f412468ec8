/* backend.h - the functions of an engine, and the table of engines (engines.c).
 *
 * life.c does what all engines share: options, the generation counter, copying of rectangles. An
 * engine is a table of functions and a state of its own.
 *
 * Cells enter and leave an engine of bounded grids through rows in host memory, packed as in struct
 * life_cells. An engine of unbounded planes has functions of its own for rectangles.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_BACKEND_H
#define LIFE_BACKEND_H

#include "life/family.h"

/* Flags of asynchronous commands: engines check what each call returns, and wait later. */
enum { UNWAITED = CL_EVENT_NOWAIT | CL_EVENT_CHECKED };

/* Return 0, or -1 for the event that stands for a failure. */
static inline int life_event_status(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* width x height squares of 2^zoom cells a side, covering a rectangle of across x down cells at
 * x, y. */
struct life_raster {
    size_t x, y, width, height, across, down;
    unsigned zoom;
};

/* A rectangle of an unbounded plane: bits in `cells`, or `state`, a byte a cell. */
struct life_window {
    long long x, y;
    size_t width, height;
    struct life_cells *cells;
    unsigned char *state; /* NULL: bits */
};

/* A count of up to 2^256 - 1 cells: a plane of HashLife may be 2^120 cells across. */
__extension__ typedef unsigned __int128 life_uwide;
struct life_tally {
    life_uwide low, high;
};

struct life_backend {
    int (*create)(life *lf, const struct life_options *options);
    void (*free)(life *lf);
    /* On a grid. On a plane the engine also counts lf->generation. */
    int (*step)(life *lf, uint64_t generations);
    unsigned (*devices)(const life *lf);                  /* NULL: none */
    const char *(*shape)(const life *lf, unsigned dev);   /* NULL: "" */
    const char *(*explain)(const life *lf, unsigned dev); /* NULL: "" */

    /* ---- Bounded grids. ---- */

    /* The words of row y of the grid that this rank has; y must be one of the rank's rows. */
    uint64_t *(*row)(life *lf, size_t y);
    /* The same words of a bit plane (planes.cl); plane 0 is `row`. NULL: two states only. */
    uint64_t *(*plane)(life *lf, unsigned plane, size_t y);
    int (*upload)(life *lf);   /* from the host's rows to the engine */
    int (*download)(life *lf); /* from the engine to the host's rows */
    /* Advance n times one generation and sample population and hash after each; n = 0: sample the
     * present generation once. */
    int (*trace)(life *lf, size_t n, struct life_sample *sample);
    /* life_get and life_density directly from the devices, in coordinates of the grid; NULL: from
     * the host's rows. */
    int (*window)(life *lf, size_t x, size_t y, struct life_cells *cells);
    int (*squares)(life *lf, const struct life_raster *q, uint64_t *count);

    /* ---- Unbounded planes: the public functions of these names. ---- */

    int (*clear)(life *lf);
    int (*put)(life *lf, const struct life_window *w);
    int (*get)(life *lf, const struct life_window *w);
    int (*zoomed)(life *lf, unsigned zoom, long long x, long long y, struct life_cells *cells);
    int (*density)(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                   uint64_t *count);
    int (*population)(life *lf, struct life_tally *population);
    int (*bounding_box)(life *lf, struct life_box *box);
    /* life_walk_runs; NULL: ENOTSUP */
    int (*runs)(life *lf,
                int (*run)(void *arg, long long x, long long y, uint64_t n, unsigned state),
                void *arg);
    size_t (*bytes)(const life *lf); /* life_device_bytes; NULL: lf->device_bytes */
    struct life_statistics (*statistics)(const life *lf);
};

/* ---- The table of engines. ------------------------------------------------------------------- */

enum life_devices_used { LIFE_HOST, LIFE_ONE_DEVICE, LIFE_ALL_DEVICES };

/* Rules that turn an empty neighbourhood alive (B0): all; by inverting cells, rules of two states
 * by a table or by sums; none. */
enum life_b0 { LIFE_B0_ANY, LIFE_B0_INVERTED, LIFE_B0_NONE };

struct life_engine_row {
    enum life_engine engine;
    const struct life_backend *backend;
    unsigned bounds; /* bit mask of enum life_bounds */
    unsigned forms;  /* of rules: bit mask of enum life_form */
    unsigned states; /* at most */
    enum life_b0 b0;
    enum life_devices_used devices;
    bool ranks;      /* several ranks */
    const char *how; /* how it computes, for --explain */
};

/* Find the first row that has the grid, the rule and the number of ranks, among those of an engine,
 * or of all with LIFE_AUTO. NULL with ENOTSUP, and the message of the row that fits best. */
const struct life_engine_row *life_engine_find(enum life_engine engine, enum life_bounds bounds,
                                               const struct life_family *rule, int ranks);

/* Print the reason for a choice. */
enum { LIFE_CHOICE = 200 };
void life_choice_print(const struct life_engine_row *row, enum life_engine asked,
                       enum life_bounds bounds, const struct life_family *rule,
                       char text[LIFE_CHOICE]);

#endif
