/* partition.h - a device's partition of the grid, and halo transfers between partitions.
 *
 * A partition is a run of whole rows, one for each device. It has two buffers: a pass reads one,
 * computes some generations and writes the other. A device that has the whole torus wraps around by
 * itself. With several, each partition also has `halo` rows of either neighbour and computes them
 * redundantly; each generation invalidates one row of them, from the outer end. After several
 * launches all are invalid, and partitions exchange them through the host: a copy of a partition's
 * last rows ("down") goes to the next partition, a copy of its first rows ("up") to the previous.
 *
 *      partition b      halo | rows ... last rows | halo
 *                               down --> |     ^ <-- up
 *      partition b + 1                  halo | first rows ... rows | halo
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_PARTITION_H
#define LIFE_PARTITION_H

#include "core/pace.h"
#include "life/shape.h"
#include "stdcl/world.h"

/* How a partition is cut into tiles: arguments of the kernels. */
struct tiling {
    int own_words, own_rows; /* a tile stores; words of 64 cells (rows.cl) or 32 (tile.cl) */
    size_t columns, bands;   /* number of tiles across and down */
    int whole;               /* tile.cl: its width is a multiple of the torus's */
    int stride;              /* rows.cl: words from row to row in local memory */
    size_t local;            /* rows.cl: bytes of local memory */
};

struct life_partition {
    size_t first, rows;  /* of the grid, without halos */
    size_t above, below; /* halo rows in the buffers, before and after the own rows */
    uint64_t *grid[2];   /* [0] has the host's rows, [1] is scratch memory of the device */
    int current;         /* index of the buffer with the present generation */
    uint64_t *sums;      /* LIFE_SLOTS x groups pairs (population, hash) of the counting kernel */
    size_t groups;       /* of the counting kernel */
    uint64_t *column[2]; /* with blocks: a word of each row, to or from the left and the right */
    cl_int *pass_state;  /* rows.cl: shared by its work-items; 0 between launches */
    size_t units;        /* compute units of the device */
    struct life_shape shape;
    struct cltune_row row; /* the shape as text, and its source */
    struct tiling tiling;
    struct pace pace; /* in cells times generations */
    /* Progress of the running pass over tiling.bands bands, which starts with first_band. The first
     * edge_bands bands contain the rows that the neighbours get. */
    size_t bands_started, first_band, edge_bands;
    void *program, *counter; /* NULL where an earlier partition with the same shape has them */
    cl_kernel step, count, copy, columns;
};

/* Rows from a partition to its neighbour: through the host and, between ranks, by messages. */
struct halo_transfer {
    int from, to;              /* partitions, or OTHER_RANK */
    int rank;                  /* the other rank */
    int tag;                   /* of the message */
    bool up;                   /* from the first rows of a partition, else from the last */
    uint64_t *edge[2];         /* double-buffered */
    world_request *request[2]; /* message in flight of each edge */
    /* Download of the edge; owned by the transfer, since waits in between release all events of the
     * library. NULL after it was awaited. */
    cl_event ev_download;
};
enum { OTHER_RANK = -1 };

/* Rows of a partition's buffers. */
static inline size_t packed_rows(const struct life_partition *s)
{
    return s->above + s->rows + s->below;
}

#endif
