/* large_field.h - cells of Larger than Life in plain C, and their generations (large_field.c).
 *
 *   large_rows.h    loops over rows of counts, for counts of 1, 2 and 4 bytes
 *   large_field.c   a generation
 *   large_host.c    the engine "reference" on tori and planes with edges
 *   large_regions.c fields on unbounded planes
 *   large_plane.c   the engine "reference" on unbounded planes
 *
 * A row of cells has a margin on either side, which is 0, or on a torus repeats the cells of the
 * opposite side, and is padded to whole blocks:
 *
 *   | margin | cells 0 ... width - 1 | padding and margin |      stride bytes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_LARGE_FIELD_H
#define LIFE_LARGE_FIELD_H

#include "life/large_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LARGE_BLOCK = 64,              /* cells */
    LARGE_ROWS = 16,               /* rows that share one range of columns to compute */
    LARGE_TERMS = 12,              /* summands of a window of up to 1,001 columns */
    LARGE_CELLS_A_REPORT = 1 << 24 /* of a thread, between two reports of progress */
};

/* Whole blocks of columns, first ... end - 1, that have all nonzero cells of a row; empty if
 * first = end. */
struct large_extent {
    size_t first, end;
};

/* A generation. */
struct large_cells {
    unsigned char *state, *value; /* rows of states, and of their weights; one array if both are
                                     equal */
    struct large_extent *extent;  /* of each row */
    size_t top, bottom;           /* rows top ... bottom - 1 have all nonzero cells */
};

/* A rule for the loops over rows. The count of a cell is ((sum - middle) ^ flip) + plus. A dead
 * cell is born if its count is in `birth`, a live one stays if it is in `stay`. */
struct large_decision {
    struct large_interval birth, stay;           /* most: number of counts after the least */
    unsigned flip, plus;                         /* of an inverted cell ~0 and total + 1, else 0 */
    unsigned char middle;                        /* 255: the cell itself does not count; else 0 */
    unsigned char inverted, next_inverted, last; /* last state */
};

/* Scratch memory for a band of rows. */
struct large_work {
    void *sums; /* of columns; of runs: 2 reach + 1 rows of prefix sums, `stride` apart */
    size_t stride;
    bool *row_lives; /* true if a row of prefix sums is not 0 throughout */
    void *spare[LARGE_TERMS], *count, *zeros;
    unsigned char *born, *stays;
};

struct large_field {
    struct life_large rule;
    enum large_inverted how;
    int total;
    size_t columns, reach; /* of the neighbourhood to either side, and up and down */
    struct large_run *run; /* NULL: a square */
    size_t runs, odd_runs; /* around even cells, and the following ones around odd cells */
    unsigned count_bytes;
    bool simple;               /* at most one interval of births and one of survivals */
    unsigned char weight[256]; /* of a state */
    bool torus;
    unsigned parity; /* column + row of the cell that is cell 0,0 here, if cells have a parity */
    size_t width, height, margin, stride;
    unsigned char *no_cells;      /* a row of dead cells */
    struct large_extent *reached; /* columns to compute, for each LARGE_ROWS rows */
    struct large_cells gen[2];    /* present and next generation: gen[now], gen[!now] */
    int now;
    struct large_decision decision; /* of the generation that is computed */
    struct large_work *work;        /* of each band */
    size_t works;
    unsigned threads;  /* at most */
    size_t most_bands; /* that have scratch memory; 0: by the number of threads */
    struct thread_pool *pool;
};

/* Take a rule, and use at most `threads` threads, 0: one per processor, at most 16. Then allocate a
 * field of dead cells. Free all, also after a failure. Return 0, or -1 with ENOMEM. */
int large_field_open(struct large_field *f, const char *rule, unsigned threads);
int large_field_allocate(struct large_field *f, size_t width, size_t height, bool torus);
void large_field_free_cells(struct large_field *f);
void large_field_close(struct large_field *f);

/* Bytes of a field and of scratch memory for all threads. */
double large_field_bytes(const struct large_field *f, size_t width, size_t height);

/* Estimate the number of cells that the next generation computes. A cell with more than 32 runs
 * counts once for each 32. */
size_t large_field_cells(const struct large_field *f);

/* States of a row of a generation. */
static inline unsigned char *large_field_row(const struct large_field *f, int gen, size_t y)
{
    return f->gen[gen].state + y * f->stride + f->margin;
}

/* Set all cells to 0. */
void large_field_clear(struct large_field *f);

/* Update a row of the present generation after its states were written. */
void large_field_written(struct large_field *f, size_t y);

/* Compute the generation after one with an odd or even number. Call `tell` with the
 * fraction done after each LARGE_CELLS_A_REPORT cells of a thread, or after a band of rows if it
 * has more cells. If `tell` returns -1, the present generation stays, and the result is -1. */
int large_field_step(struct large_field *f, bool odd, int (*tell)(void *arg, double done),
                     void *arg);

/* Return to the generation before large_field_step; once after a step. */
void large_field_undo(struct large_field *f);

#endif
