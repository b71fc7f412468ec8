/* packed.h - the engine "packed": one bit a cell, on one or several devices.
 *
 * Ranks divide the grid's rows as devices do, and each rank divides its rows among its devices
 * (partition.h). Messages carry the edges between two ranks. Many ranks have blocks, a part of each
 * row (packed_block.c).
 *
 *   packed.c             partitions, kernels, memory, the host's rows, counting
 *   packed_open.c        the rule in front of a kernel file
 *   packed_step.c        launches, halo transfers
 *   packed_persistent.c  a small torus that stays in registers
 *   packed_block.c       ranks in blocks, exchange of columns
 *   packed_raster.c      rectangles for pictures
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_PACKED_H
#define LIFE_PACKED_H

#include "life/engine.h"
#include "life/partition.h"

struct packed {
    size_t n; /* partitions; partition i is on device i of the context */
    struct life_partition *part;
    int generations;        /* of a pass over the grid, at most */
    int passes;             /* of a launch, at most; 1 except with rows.cl on a single device */
    size_t across, down;    /* the grid of ranks: blocks across and down */
    size_t words, width;    /* of a row of the buffers, in words and in cells */
    size_t side[2];         /* 1 where a block has a word of its left or right neighbour */
    uint64_t *column[2][2]; /* columns of this rank's rows by side: outgoing, incoming */
    size_t halo;            /* rows that a partition has of each neighbour */
    size_t halo_max;        /* generations that an exchange is good for */
    size_t halo_valid;      /* generations left of them */
    struct persistent *persistent;  /* NULL: launches of independent tiles */
    struct halo_transfer *transfer; /* NULL where one partition has all rows */
    size_t transfers;
    struct packed_raster *raster; /* packed_raster.c; NULL before it is first used */
    int parity;                   /* edge buffer of the next exchange */
    bool edges_from_next;         /* edges are read from the buffer being written */
    bool edges_in_flight;         /* edges of the present generation were sent early */
    uint64_t poll_every;          /* launches between two polls of all ranks for cancellation */
    double last_poll;             /* time of the last poll */
};

extern const struct life_backend life_packed_backend;

/* True if partitions have neighbours. */
static inline bool packed_is_divided(const life *lf, const struct packed *p)
{
    return p->n > 1 || lf->rows < lf->height;
}

/* True if another partition has the rows above partition i, or those below it. */
static inline bool packed_has_above(const life *lf, const struct packed *p, size_t i)
{
    return packed_is_divided(lf, p) && (lf->bounds == LIFE_TORUS || p->part[i].first > 0);
}
static inline bool packed_has_below(const life *lf, const struct packed *p, size_t i)
{
    return packed_is_divided(lf, p) &&
           (lf->bounds == LIFE_TORUS || p->part[i].first + p->part[i].rows < lf->height);
}

/* packed_block.c. Arrange the ranks in the grid: `across` blocks side by side, or the cheapest
 * number for 0. `exchange` is the greatest number of launches between two exchanges. */
int packed_arrange(const life *lf, struct packed *p, size_t devices, size_t across, int exchange);

/* Set the words of this rank. */
void packed_set_columns(life *lf, struct packed *p);

/* The rank `by` places below this one in its column of blocks. */
int packed_rank_below(const life *lf, const struct packed *p, size_t by);

/* Buffers for columns; exchange of columns. */
int packed_allocate_columns(life *lf, struct packed *p);
void packed_free_columns(struct packed *p);
int packed_exchange_columns(life *lf);

/* Enqueue generations. Block only until the backlog takes no longer than a launch should
 * (core/pace.h). ECANCELED if the caller cancels; lf->call.done has the generations that count. */
int packed_advance(life *lf, uint64_t generations);

/* Launch the kernel once on a partition of one dead row, and block until it is done. Drivers
 * compile at the first launch, which would otherwise delay the first generations. Writes scratch
 * memory only. */
int packed_warm(life *lf);

/* packed_open.c: build a kernel file with a line of options, the rule as text, and the first
 * `front` of ternary.h and sums.h. */
struct embedded;
void *packed_open_rule(life *lf, const char *line, bool ternary, const struct embedded *file,
                       size_t front);

/* Discard edges that were sent early: the cells have been replaced. */
int packed_discard_edges(life *lf);

/* packed_raster.c: see struct life_backend. */
int packed_window(life *lf, size_t x, size_t y, struct life_cells *cells);
int packed_squares(life *lf, const struct life_raster *q, uint64_t *count);
void packed_raster_free(life *lf);

#endif
