/* block.c - the block of C that a rank computes: its transfers from and to the slabs of the ranks
 * that own its rows.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

#include "core/parallel_for.h"

/* ---- Memory that devices reach. -------------------------------------------------------------- */

void *matmul_host_alloc(const struct matmul *mm, size_t size)
{
    void *p =
        mm->ctx ? clmalloc(mm->ctx, size ? size : 1, CL_MEM_ZEROCOPY) : malloc(size ? size : 1);
    if (!p && mm->ctx) /* larger than a buffer may be: memory of the host only */
        p = clmalloc(NULL, size ? size : 1, CL_MEM_ZEROCOPY | CL_MEM_DETACHED);
    if (!p)
        clerror_set(ENOMEM, "matmul_multiply: out of memory on the host for %zu bytes", size);
    return p;
}

void matmul_host_free(const struct matmul *mm, void *p)
{
    if (mm->ctx)
        clfree(p);
    else
        free(p);
}

struct copy {
    char *to;
    const char *from;
    size_t to_ld, from_ld, rows, bytes, parts;
};

static void copy_rows_part(void *arg, size_t part)
{
    const struct copy *c = arg;
    for (size_t i = c->rows * part / c->parts; i < c->rows * (part + 1) / c->parts; i++)
        memcpy(c->to + i * c->to_ld, c->from + i * c->from_ld, c->bytes);
}

/* Copy rows by several threads: one thread copies some 5 GB/s, less than GPUs consume. */
void matmul_copy_rows(char *to, size_t to_ld, const char *from, size_t from_ld, size_t rows,
                      size_t bytes)
{
    enum { PIECE = 1 << 24, MOST = 8 };
    const size_t pieces = min_size(rows * bytes / PIECE + 1, MOST);
    struct copy copy = {to, from, to_ld, from_ld, rows, bytes, min_size(pieces, rows)};
    if (copy.parts > 1)
        parallel_for(copy.parts, copy_rows_part, &copy);
    else if (rows)
        copy_rows_part(&copy, 0);
}

/* ---- The block of C. ------------------------------------------------------------------------- */

struct range matmul_slab_of_c(const struct matmul_grid *g, int rank)
{
    return matmul_range(g->h.m, rank, g->ranks);
}

static char *slab_row_address(const struct matmul_grid *g, size_t row, size_t col)
{
    return (char *)g->h.c +
           ((row - matmul_slab_of_c(g, g->rank).first) * g->h.ldc + col) * g->mm->real;
}

int matmul_block_make(const struct matmul_grid *g, const struct rank_plan *p,
                      struct matmul_block *b)
{
    *b = (struct matmul_block){.ld = p->cols.count};
    if (p->i < 0 || !p->rows.count || !p->cols.count)
        return 0;
    b->own =
        p->l > 0 || matmul_intersect(p->rows, matmul_slab_of_c(g, g->rank)).count < p->rows.count;
    b->c = b->own ? matmul_host_alloc(g->mm, p->rows.count * b->ld * g->mm->real)
                  : slab_row_address(g, p->rows.first, p->cols.first);
    b->ld = b->own ? b->ld : g->h.ldc;
    return b->c ? 0 : -1;
}

/* A transfer of rows of C between a slab and a block. One of the two is this rank's. */
struct row_transfer {
    world_request *request;
    char *place, *packed;       /* `place` in this rank's memory; `packed`: rows without gaps */
    size_t ld, rows, row_bytes; /* ld and row_bytes in bytes */
    bool sends;
};

static int row_transfer_start(const struct matmul_grid *g, struct row_transfer *transfer, int rank,
                              struct row_transfer model)
{
    *transfer = model;
    if (transfer->ld != transfer->row_bytes &&
        !(transfer->packed = malloc(transfer->rows * transfer->row_bytes)))
        return clerror_set(ENOMEM, "matmul_multiply: out of memory on the host for %zu bytes",
                           transfer->rows * transfer->row_bytes);
    if (transfer->packed && transfer->sends)
        matmul_copy_rows(transfer->packed, transfer->row_bytes, transfer->place, transfer->ld,
                         transfer->rows, transfer->row_bytes);
    char *bytes = transfer->packed ? transfer->packed : transfer->place;
    transfer->request =
        transfer->sends
            ? world_send(g->mm->world, rank, TAG_C, bytes, transfer->rows * transfer->row_bytes)
            : world_receive(g->mm->world, rank, TAG_C, bytes, transfer->rows * transfer->row_bytes);
    return transfer->request ? 0 : -1;
}

static int row_transfer_finish(const struct matmul_grid *g, struct row_transfer *transfer)
{
    const int status = transfer->request ? world_wait(g->mm->world, &transfer->request, 1) : -1;
    if (status == 0 && transfer->packed && !transfer->sends)
        matmul_copy_rows(transfer->place, transfer->ld, transfer->packed, transfer->row_bytes,
                         transfer->rows, transfer->row_bytes);
    free(transfer->packed);
    return status;
}

/* Rows of C that are in the slab of rank `slab` and in the block of rank `block`. */
static struct range shared_rows(const struct matmul_grid *g, int slab, int block)
{
    const struct rank_plan *p = &g->plan[block];
    const bool has = p->i >= 0 && p->l == 0 && p->cols.count;
    return has ? matmul_intersect(p->rows, matmul_slab_of_c(g, slab)) : (struct range){0};
}

static struct row_transfer transfer_of_block(const struct matmul_grid *g,
                                             const struct matmul_block *b, struct range rows)
{
    const struct rank_plan *own = &g->plan[g->rank];
    const size_t ld = b->ld * g->mm->real;
    return (struct row_transfer){.place = b->c + (rows.first - own->rows.first) * ld,
                                 .ld = ld,
                                 .rows = rows.count,
                                 .row_bytes = own->cols.count * g->mm->real};
}

static struct row_transfer transfer_of_slab(const struct matmul_grid *g, const struct rank_plan *p,
                                            struct range rows)
{
    return (struct row_transfer){.place = slab_row_address(g, rows.first, p->cols.first),
                                 .ld = g->h.ldc * g->mm->real,
                                 .rows = rows.count,
                                 .row_bytes = p->cols.count * g->mm->real};
}

static void block_copy_own(const struct matmul_grid *g, const struct matmul_block *b,
                           bool to_blocks)
{
    const struct range rows = shared_rows(g, g->rank, g->rank);
    if (!rows.count || !b->own)
        return;
    const struct row_transfer block = transfer_of_block(g, b, rows),
                              slab = transfer_of_slab(g, &g->plan[g->rank], rows);
    if (to_blocks)
        matmul_copy_rows(block.place, block.ld, slab.place, slab.ld, rows.count, slab.row_bytes);
    else
        matmul_copy_rows(slab.place, slab.ld, block.place, block.ld, rows.count, slab.row_bytes);
}

/* Transfer C: to the blocks before a product with beta, from them after it. */
int matmul_block_move(const struct matmul_grid *g, const struct matmul_block *b, bool to_blocks)
{
    struct row_transfer *transfer = calloc(2 * (size_t)g->ranks, sizeof *transfer);
    size_t n = 0;
    int status = transfer ? 0 : clerror_set(ENOMEM, "matmul_multiply: out of memory on the host");
    if (world_reduce_status(g->mm->world, status) != 0)
        return free(transfer), -1;
    block_copy_own(g, b, to_blocks);
    for (int k = 0; k < g->ranks && status == 0; k++) {
        const struct range to_own = shared_rows(g, k, g->rank),
                           to_other = shared_rows(g, g->rank, k);
        if (k == g->rank)
            continue;
        if (to_own.count) {
            struct row_transfer model = transfer_of_block(g, b, to_own);
            model.sends = !to_blocks;
            status = row_transfer_start(g, &transfer[n++], k, model);
        }
        if (to_other.count && status == 0) {
            struct row_transfer model = transfer_of_slab(g, &g->plan[k], to_other);
            model.sends = to_blocks;
            status = row_transfer_start(g, &transfer[n++], k, model);
        }
    }
    for (size_t i = 0; i < n; i++)
        if (row_transfer_finish(g, &transfer[i]) != 0)
            status = -1;
    free(transfer);
    return status;
}

static void block_add_rows(const struct matmul *mm, char *to, size_t ld, const char *from,
                           size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            if (mm->precision == MATMUL_DOUBLE)
                ((double *)to)[i * ld + j] += ((const double *)from)[i * cols + j];
            else
                ((float *)to)[i * ld + j] += ((const float *)from)[i * cols + j];
}

/* Reduce the partial blocks of the depth's parts l > 0 into the block of part 0, in ascending
 * order of l. */
int matmul_block_add(const struct matmul_grid *g, const struct matmul_block *b)
{
    const struct rank_plan *p = &g->plan[g->rank];
    const size_t size = p->rows.count * p->cols.count * g->mm->real;
    const int layer = g->pm * g->pn;
    world_request *request;
    if (p->i < 0 || g->pk == 1 || size == 0)
        return 0;
    if (p->l > 0) {
        request = world_send(g->mm->world, g->rank - p->l * layer, TAG_PARTIAL, b->c, size);
        return world_wait(g->mm->world, &request, 1);
    }
    char *part = malloc(size ? size : 1);
    int status =
        part
            ? 0
            : clerror_set(ENOMEM, "matmul_multiply: out of memory on the host for %zu bytes", size);
    for (int l = 1; l < g->pk && status == 0; l++) {
        request = world_receive(g->mm->world, g->rank + l * layer, TAG_PARTIAL, part, size);
        status = world_wait(g->mm->world, &request, 1);
        if (status == 0)
            block_add_rows(g->mm, b->c, b->ld, part, p->rows.count, p->cols.count);
    }
    free(part);
    return status;
}
