/* packed.h - what the files of the engine "packed" share.
 *
 * A share of the grid is a run of whole rows, one for each device. A share has two buffers, the
 * present and the next; a pass reads one, goes some generations on, and writes the other. With one
 * device the kernel itself finds the rows beyond a torus's edge. With several, each share also has
 * `halo` rows of its neighbours and computes them as if they were its own. After each generation
 * one row less of them is right. When they are used up, which takes several launches, they are
 * exchanged by way of the host: a copy of a share's last rows ("down") goes to the share below, and
 * one of its first rows ("up") to the share above.
 *
 *      share b          halo | rows ... last rows | halo
 *                               down --> |     ^ <-- up
 *      share b + 1                      halo | first rows ... rows | halo
 *
 * Ranks divide the grid in the same way, and each cuts its rows into shares. The edges between two
 * ranks go by mail. Many ranks have blocks, a part of rows each (packed_block.c).
 *
 *   packed.c       shares, kernels, memory, the host's rows, counting
 *   packed_open.c  the rule before a kernel file
 *   packed_step.c  launches, and rows on their way between devices
 *   packed_held.c  a small torus that stays in registers
 *   packed_block.c ranks in blocks, and columns on their way between them
 *   packed_look.c  rectangles for pictures
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_PACKED_H
#define LIFE_PACKED_H

#include "life/shape.h"

/* How a share is cut into tiles: the kernel's arguments. */
struct tiling {
    int own_words, own_rows; /* stored by a tile; words of 64 cells (rows.cl) or 32 (tile.cl) */
    size_t columns, bands;   /* of tiles: so many side by side, so many below one another */
    int whole;               /* tile.cl: its width is a whole number of the torus's widths */
    int stride;              /* rows.cl: words from row to row in local memory */
    size_t local;            /* rows.cl: bytes of it */
};

struct share {
    size_t first, rows;  /* of the grid, without the neighbours' */
    size_t above, below; /* its neighbours' rows in its buffers, before and after its own */
    uint64_t *grid[2];   /* [0] has the host's rows, [1] is scratch memory of the device */
    int now;             /* which of them is the present */
    uint64_t *sums; /* LIFE_SLOTS times (population, hash) of each group of the counting kernel */
    size_t groups;
    uint64_t *
        column[2]; /* of blocks: a word of each row, on its way to or from the left and the right */
    cl_int *turns; /* rows.cl: what its work-items share, 0 between launches */
    size_t units;  /* the device's compute units */
    struct life_shape shape;
    struct cltune_row row; /* the shape as a line of words, and where it comes from */
    struct tiling tiling;
    struct pace pace; /* in cells times generations */
    size_t band; /* those of the pass under way that were started, of `tiling.bands`: the first is
                    number `turn` */
    size_t turn, edges;      /* the first `edges` of them make the rows that the neighbours get */
    void *program, *counter; /* handles; shared between devices with the same options */
    cl_kernel step, count, copy, columns;
};

/* Rows on their way from a share to its neighbour, by way of the host and, between ranks, by
 * mail. */
struct hop {
    int from, to;           /* shares, or OTHER_RANK */
    int rank, tag;          /* the other rank, and of the mail */
    bool up;                /* the first rows of a share go up, the last go down */
    uint64_t *edge[2];      /* by turns */
    world_request *mail[2]; /* of each edge, under way */
    cl_event sent;          /* on their way to the host: ours until that is waited for, then NULL */
};
enum { OTHER_RANK = -1 };

/* A small torus that stays in registers. */
struct held {
    int words, rows, warps; /* of an item, an item, a group */
    size_t columns, tiles;  /* side by side, in all */
    cl_ulong *box;          /* their post */
    cl_uint *lost;          /* 1 once tiles have waited in vain */
    cl_uint round;          /* of the post, so far */
    cl_uint patience;       /* looks of a tile that waits */
    void *program;
    cl_kernel step;
};

struct packed {
    size_t n; /* shares; share i is on device i of the context */
    struct share *share;
    int generations; /* of a pass over the grid, at most */
    int passes; /* of a launch, at most; more than 1 with rows.cl and a context of one device only
                 */
    size_t across, down; /* the grid of ranks: blocks side by side, and below one another */
    size_t words,
        width; /* of a row of the buffers, and its cells: the grid's, unless ranks have blocks */
    size_t side[2]; /* 1 where a block has a word of its left or right neighbour */
    uint64_t
        *column[2][2]; /* of the rank's rows: what goes to a side, and what has come from there */
    size_t halo;       /* rows that a share has of each neighbour */
    size_t reach; /* generations that can follow an exchange: as many as the halo has rows, or a
                     side cells */
    size_t good;  /* of these so many are left */
    struct held
        *held; /* packed_held.c; NULL where launches are of tiles that know nothing of each other */
    struct hop *hop; /* NULL where one share has all rows */
    size_t hops;
    struct packed_look *look; /* packed_look.c; NULL until it is asked for */
    int parity;               /* of the edges that the next exchange takes */
    bool ahead;               /* edges are taken from the image that is computed */
    bool early;               /* these are on their way, of the present generation */
    uint64_t talk; /* ranks ask each other after so many launches whether one of them is to end; */
    double talked; /* they did at that time */
};

/* Whether a share has neighbours. */
static inline bool packed_is_divided(const life *lf, const struct packed *p)
{
    return p->n > 1 || lf->rows < lf->height;
}

/* Rows of a share's buffers. */
static inline size_t packed_rows(const struct share *s)
{
    return s->above + s->rows + s->below;
}

/* Whether there are rows above share i, or below it, that are another's. */
static inline bool packed_has_above(const life *lf, const struct packed *p, size_t i)
{
    return packed_is_divided(lf, p) && (lf->bounds == LIFE_TORUS || p->share[i].first > 0);
}
static inline bool packed_has_below(const life *lf, const struct packed *p, size_t i)
{
    return packed_is_divided(lf, p) &&
           (lf->bounds == LIFE_TORUS || p->share[i].first + p->share[i].rows < lf->height);
}

/* packed_block.c: how ranks with so many devices lie in the grid, `across` side by side if it is
 * not 0, when up to `exchange` launches go without an exchange; which words this one has; the rank
 * so many places below it in its column. Memory for columns; their exchange. */
int packed_arrange(const life *lf, struct packed *p, size_t devices, size_t across, int exchange);
void packed_take_columns(life *lf, struct packed *p);
int packed_rank_below(const life *lf, const struct packed *p, size_t by);
int packed_allocate_columns(life *lf, struct packed *p);
void packed_free_columns(struct packed *p);
int packed_exchange_columns(life *lf);

/* Starts so many generations, and waits only until what is left takes no longer than a launch
 * should (core/pace.h). ECANCELED when the caller ends it meanwhile: those that count are in
 * lf->call.done. */
int packed_advance(life *lf, uint64_t generations);

/* Starts the kernel once, on a share of one dead row, and waits: drivers compile at the first
 * launch, which would otherwise be part of the first generations. What it writes is scratch
 * memory. */
int packed_warm(life *lf);

/* packed_held.c: sets p->held where the shape asks for it and it works; says why not in the row's
 * source. Starts so many generations, as many as are good at once; starts a look at whether tiles
 * waited in vain, and says so once that has ended. */
int packed_hold(life *lf, const struct cldev_info *info);
void packed_held_free(life *lf);
int packed_held_launch(life *lf, int generations);
int packed_held_most(const life *lf);
int packed_held_ask(life *lf);
int packed_held_answer(const life *lf);

/* packed_open.c: opens a kernel file behind a line of options, the rule as text, and the first
 * `front` of ternary.h and sums.h. */
struct embedded;
void *packed_open_rule(life *lf, const char *line, bool ternary, const struct embedded *file,
                       size_t front);

/* Edges that were sent early are of cells that are no more. */
int packed_forget_edges(life *lf);

/* packed_look.c: see struct life_backend. */
int packed_window(life *lf, size_t x, size_t y, struct life_cells *cells);
int packed_squares(life *lf, const struct life_raster *q, uint32_t *count);
void packed_look_free(life *lf);

/* 0, or -1 for the event that stands for a failure. */
static inline int packed_status(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* Waits for everything on all devices. */
static inline int packed_wait(life *lf)
{
    struct packed *p = lf->state;
    int status = packed_held_ask(lf);
    for (size_t i = 0; i < p->n; i++)
        if (packed_status(clwait(lf->ctx, (cl_uint)i, CL_ALL_EVENT)))
            status = -1;
        else
            pace_waited(&p->share[i].pace);
    return status < 0 ? -1 : packed_held_answer(lf);
}

#endif
