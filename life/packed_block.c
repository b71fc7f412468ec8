/* packed_block.c - the engine "packed" on several ranks: their arrangement, and exchange of
 * columns between them.
 *
 * Ranks form a grid, `down` x `across`. With across = 1 a rank has whole rows, a strip. Else it
 * has a block. Its buffers have one more word of 64 cells on each side with a neighbour. Kernels
 * treat a block as a torus, or a plane, of its own width. Cells become invalid from the sides
 * inward, one a generation, and an exchange makes them valid again.
 *
 *      halo | own words ... | halo        a row of a block's buffers
 *
 * Columns of a rank's own rows are exchanged first, then rows that include the received columns.
 * Corners therefore need no messages of their own.
 * SPDX-License-Identifier: MIT
 */
#include "life/persistent.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT, RIGHT, LEAST_WORDS = 4, TAG_COLUMNS = 2 };

/* ---- The grid of ranks. ---------------------------------------------------------------------- */

/* Relative cost of a generation; 1 without redundant cells. Halo rows and columns are computed
 * redundantly. Exchange of columns does not overlap with computation, unlike the exchange of rows,
 * and costs about a tenth (docs/cluster.md). */
static double block_cost(const life *lf, const struct packed *p, size_t across, size_t down,
                         size_t devices, int exchange)
{
    const double exposed = 0.1, rows = (double)lf->height / (double)(down * devices),
                 words = (double)lf->words / (double)across;
    const double halo = fmin((double)exchange * p->generations, 64);
    return (1 + (down * devices > 1 ? 2 * halo / rows : 0)) *
           (across > 1 ? 1 + 2 / words + exposed : 1);
}

static bool block_count_fits(const life *lf, size_t ranks, size_t across)
{
    return across == 1 ||
           (ranks % across == 0 && lf->width % 64 == 0 && lf->words / across >= LEAST_WORDS);
}

int packed_arrange(const life *lf, struct packed *p, size_t devices, size_t asked, int exchange)
{
    const size_t ranks = (size_t)world_size(lf->world);
    double least = block_cost(lf, p, 1, ranks, devices, exchange);
    if (asked && !block_count_fits(lf, ranks, asked))
        return clerror_set(
            EINVAL,
            "life: shape: across=%zu: blocks need a number that divides the %zu ranks, and a width that is a "
            "multiple of 64 cells with at least %d for each",
            asked, ranks, 64 * LEAST_WORDS);
    p->across = asked ? asked : 1;
    for (size_t across = 2; across <= ranks && !asked; across++) {
        const double time = block_count_fits(lf, ranks, across)
                                ? block_cost(lf, p, across, ranks / across, devices, exchange)
                                : least;
        p->across = time < least ? across : p->across;
        least = fmin(time, least);
    }
    p->down = ranks / p->across;
    return 0;
}

void packed_set_columns(life *lf, struct packed *p)
{
    const size_t column = (size_t)world_rank(lf->world) % p->across;
    const bool around = lf->bounds == LIFE_TORUS && p->across > 1;
    lf->from = lf->words * column / p->across;
    lf->own = lf->words * (column + 1) / p->across - lf->from;
    p->side[LEFT] = around || column > 0;
    p->side[RIGHT] = around || column + 1 < p->across;
    p->words = p->side[LEFT] + lf->own + p->side[RIGHT];
    p->width = p->across > 1 ? 64 * p->words : lf->width;
}

/* The rank `by` places further in its row of ranks. */
static int packed_rank_beside(const life *lf, const struct packed *p, size_t by)
{
    const size_t rank = (size_t)world_rank(lf->world), column = rank % p->across;
    return (int)(rank - column + (column + by) % p->across);
}

int packed_rank_below(const life *lf, const struct packed *p, size_t by)
{
    const size_t rank = (size_t)world_rank(lf->world), ranks = (size_t)world_size(lf->world);
    return (int)((rank + by * p->across) % ranks);
}

/* ---- Memory. --------------------------------------------------------------------------------- */

int packed_allocate_columns(life *lf, struct packed *p)
{
    for (int side = LEFT; side <= RIGHT && p->across > 1; side++) {
        for (int way = 0; way < 2; way++)
            if (!(p->column[side][way] = malloc(lf->rows * sizeof(uint64_t))))
                return clerror_set(ENOMEM, "life: out of memory for the exchange of columns");
        for (size_t i = 0; i < p->n; i++)
            if (!(p->part[i].column[side] =
                      clmalloc(lf->ctx, p->part[i].rows * sizeof(uint64_t), 0)))
                return -1;
    }
    return 0;
}

void packed_free_columns(struct packed *p)
{
    for (int side = LEFT; side <= RIGHT; side++) {
        for (int way = 0; way < 2; way++)
            free(p->column[side][way]);
        for (size_t i = 0; i < p->n && p->part; i++)
            clfree(p->part[i].column[side]);
    }
}

/* ---- An exchange. ---------------------------------------------------------------------------- */

/* Copy word `word` of all rows of a partition to its column of a side (`out`), or back. */
static int copy_column(life *lf, size_t i, int side, size_t word, bool out)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    clndrange_t ndr =
        clndrange_init1d(0, s->groups * (size_t)s->shape.group, (size_t)s->shape.group);
    lf->launches++;
    return life_event_status(clforka(lf->ctx, (cl_uint)i, s->columns, &ndr, UNWAITED,
                                     s->grid[s->current], (cl_ulong)(s->above * p->words + word),
                                     (cl_ulong)p->words, (cl_ulong)s->rows, s->column[side],
                                     (cl_int)out));
}

/* Download the first and the last own words of all rows. */
static int download_columns(life *lf)
{
    struct packed *p = lf->state;
    for (size_t i = 0; i < p->n; i++)
        for (int side = LEFT; side <= RIGHT; side++)
            if (p->side[side] &&
                (copy_column(lf, i, side, side == LEFT ? 1 : p->side[LEFT] + lf->own - 1, true) <
                     0 ||
                 life_event_status(clmsync(lf->ctx, (cl_uint)i, p->part[i].column[side],
                                           CL_MEM_HOST | UNWAITED))))
                return -1;
    if (packed_wait(lf) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++)
        for (int side = LEFT; side <= RIGHT; side++)
            if (p->side[side])
                memcpy(p->column[side][0] + p->part[i].first - lf->first, p->part[i].column[side],
                       p->part[i].rows * sizeof(uint64_t));
    return 0;
}

/* Send columns to the left and the right, and receive the neighbours' columns. Ranks side by side
 * have the same rows. */
static int transfer_columns(life *lf)
{
    struct packed *p = lf->state;
    const size_t bytes = lf->rows * sizeof(uint64_t);
    const int rank[2] = {packed_rank_beside(lf, p, p->across - 1), packed_rank_beside(lf, p, 1)};
    world_request *mail[4];
    size_t n = 0;
    for (int side = LEFT; side <= RIGHT; side++) {
        if (!p->side[side])
            continue;
        mail[n++] =
            world_receive(lf->world, rank[side], TAG_COLUMNS + !side, p->column[side][1], bytes);
        mail[n++] =
            world_send(lf->world, rank[side], TAG_COLUMNS + side, p->column[side][0], bytes);
    }
    return world_wait(lf->world, mail, n);
}

int packed_exchange_columns(life *lf)
{
    struct packed *p = lf->state;
    if (download_columns(lf) < 0 || transfer_columns(lf) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++)
        for (int side = LEFT; side <= RIGHT; side++) {
            struct life_partition *s = &p->part[i];
            if (!p->side[side])
                continue;
            memcpy(s->column[side], p->column[side][1] + s->first - lf->first,
                   s->rows * sizeof(uint64_t));
            if (life_event_status(
                    clmsync(lf->ctx, (cl_uint)i, s->column[side], CL_MEM_DEVICE | UNWAITED)) ||
                copy_column(lf, i, side, side == LEFT ? 0 : p->words - 1, false) < 0)
                return -1;
        }
    return 0;
}
