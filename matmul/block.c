/* block.c - the block of C that a rank computes: from the ranks that have its rows, and back to
 * them.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

#include "core/parallel_for.h"

/* ---- Memory that devices reach. -------------------------------------------------------------- */

void *matmul_room_of(const struct matmul *mm, size_t size)
{
    void *p =
        mm->ctx ? clmalloc(mm->ctx, size ? size : 1, CL_MEM_ZEROCOPY) : malloc(size ? size : 1);
    if (!p)
        clerror_set(ENOMEM, "matmul_multiply: no memory on the host for %zu bytes", size);
    return p;
}

void matmul_leave_room(const struct matmul *mm, void *p)
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

static void copy_part(void *arg, size_t part)
{
    const struct copy *c = arg;
    for (size_t i = c->rows * part / c->parts; i < c->rows * (part + 1) / c->parts; i++)
        memcpy(c->to + i * c->to_ld, c->from + i * c->from_ld, c->bytes);
}

/* One thread copies some 5 GB a second, which is less than GPUs use up. */
void matmul_copy_rows(char *to, size_t to_ld, const char *from, size_t from_ld, size_t rows,
                      size_t bytes)
{
    enum { PIECE = 1 << 24, MOST = 8 };
    const size_t pieces = smaller(rows * bytes / PIECE + 1, MOST);
    struct copy copy = {to, from, to_ld, from_ld, rows, bytes, smaller(pieces, rows)};
    if (copy.parts > 1)
        parallel_for(copy.parts, copy_part, &copy);
    else if (rows)
        copy_part(&copy, 0);
}

/* ---- The block of C. ------------------------------------------------------------------------- */

struct part matmul_slab_of_c(const struct matmul_grid *g, int rank)
{
    return matmul_part(g->h.m, rank, g->ranks);
}

static char *row_of_slab(const struct matmul_grid *g, size_t row, size_t col)
{
    return (char *)g->h.c +
           ((row - matmul_slab_of_c(g, g->rank).first) * g->h.ldc + col) * g->mm->real;
}

int matmul_block_make(const struct matmul_grid *g, const struct plan *p, struct matmul_block *b)
{
    *b = (struct matmul_block){.ld = p->cols.count};
    if (p->i < 0 || !p->rows.count || !p->cols.count)
        return 0;
    b->own = p->l > 0 || matmul_meet(p->rows, matmul_slab_of_c(g, g->rank)).count < p->rows.count;
    b->c = b->own ? matmul_room_of(g->mm, p->rows.count * b->ld * g->mm->real)
                  : row_of_slab(g, p->rows.first, p->cols.first);
    b->ld = b->own ? b->ld : g->h.ldc;
    return b->c ? 0 : -1;
}

/* Rows of C on their way between a slab and a block, of which one is this rank's: `place` is in
 * that. */
struct leg {
    world_request *mail;
    char *place, *packed; /* packed: rows that do not lie in one piece */
    size_t ld, rows, row; /* row: its bytes; ld, too */
    bool sends;
};

static int post_leg(const struct matmul_grid *g, struct leg *leg, int rank, struct leg like)
{
    *leg = like;
    if (leg->ld != leg->row && !(leg->packed = malloc(leg->rows * leg->row)))
        return clerror_set(ENOMEM, "matmul_multiply: no memory on the host for %zu bytes",
                           leg->rows * leg->row);
    if (leg->packed && leg->sends)
        matmul_copy_rows(leg->packed, leg->row, leg->place, leg->ld, leg->rows, leg->row);
    char *bytes = leg->packed ? leg->packed : leg->place;
    leg->mail = leg->sends ? world_send(g->mm->world, rank, TAG_C, bytes, leg->rows * leg->row)
                           : world_receive(g->mm->world, rank, TAG_C, bytes, leg->rows * leg->row);
    return leg->mail ? 0 : -1;
}

static int settle_leg(const struct matmul_grid *g, struct leg *leg)
{
    const int status = leg->mail ? world_wait(g->mm->world, &leg->mail, 1) : -1;
    if (status == 0 && leg->packed && !leg->sends)
        matmul_copy_rows(leg->place, leg->ld, leg->packed, leg->row, leg->rows, leg->row);
    free(leg->packed);
    return status;
}

/* The rows of C that rank `slab` has and rank `block` adds up. */
static struct part shared_rows(const struct matmul_grid *g, int slab, int block)
{
    const struct plan *p = &g->plan[block];
    const bool has = p->i >= 0 && p->l == 0 && p->cols.count;
    return has ? matmul_meet(p->rows, matmul_slab_of_c(g, slab)) : (struct part){0};
}

static struct leg leg_of_block(const struct matmul_grid *g, const struct matmul_block *b,
                               struct part rows)
{
    const struct plan *own = &g->plan[g->rank];
    const size_t ld = b->ld * g->mm->real;
    return (struct leg){.place = b->c + (rows.first - own->rows.first) * ld,
                        .ld = ld,
                        .rows = rows.count,
                        .row = own->cols.count * g->mm->real};
}

static struct leg leg_of_slab(const struct matmul_grid *g, const struct plan *p, struct part rows)
{
    return (struct leg){.place = row_of_slab(g, rows.first, p->cols.first),
                        .ld = g->h.ldc * g->mm->real,
                        .rows = rows.count,
                        .row = p->cols.count * g->mm->real};
}

static void move_own(const struct matmul_grid *g, const struct matmul_block *b, bool to_blocks)
{
    const struct part rows = shared_rows(g, g->rank, g->rank);
    if (!rows.count || !b->own)
        return;
    const struct leg block = leg_of_block(g, b, rows),
                     slab = leg_of_slab(g, &g->plan[g->rank], rows);
    if (to_blocks)
        matmul_copy_rows(block.place, block.ld, slab.place, slab.ld, rows.count, slab.row);
    else
        matmul_copy_rows(slab.place, slab.ld, block.place, block.ld, rows.count, slab.row);
}

/* Between slabs and blocks: to blocks the C that is added to, or from them the result. */
int matmul_block_move(const struct matmul_grid *g, const struct matmul_block *b, bool to_blocks)
{
    struct leg *leg = calloc(2 * (size_t)g->ranks, sizeof *leg);
    size_t n = 0;
    int status = leg ? 0 : clerror_set(ENOMEM, "matmul_multiply: no memory on the host");
    if (world_reduce_status(g->mm->world, status) != 0)
        return free(leg), -1;
    move_own(g, b, to_blocks);
    for (int k = 0; k < g->ranks && status == 0; k++) {
        const struct part to_own = shared_rows(g, k, g->rank),
                          to_other = shared_rows(g, g->rank, k);
        if (k == g->rank)
            continue;
        if (to_own.count) {
            struct leg like = leg_of_block(g, b, to_own);
            like.sends = !to_blocks;
            status = post_leg(g, &leg[n++], k, like);
        }
        if (to_other.count && status == 0) {
            struct leg like = leg_of_slab(g, &g->plan[k], to_other);
            like.sends = to_blocks;
            status = post_leg(g, &leg[n++], k, like);
        }
    }
    for (size_t i = 0; i < n; i++)
        if (settle_leg(g, &leg[i]) != 0)
            status = -1;
    free(leg);
    return status;
}

static void add_rows(const struct matmul *mm, char *to, size_t ld, const char *from, size_t rows,
                     size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            if (mm->precision == MATMUL_DOUBLE)
                ((double *)to)[i * ld + j] += ((const double *)from)[i * cols + j];
            else
                ((float *)to)[i * ld + j] += ((const float *)from)[i * cols + j];
}

/* Blocks of the parts l > 0 of the depth are added to that of part 0, in their order. */
int matmul_block_add(const struct matmul_grid *g, const struct matmul_block *b)
{
    const struct plan *p = &g->plan[g->rank];
    const size_t size = p->rows.count * p->cols.count * g->mm->real;
    const int layer = g->pm * g->pn;
    world_request *mail;
    if (p->i < 0 || g->pk == 1 || size == 0)
        return 0;
    if (p->l > 0) {
        mail = world_send(g->mm->world, g->rank - p->l * layer, TAG_PART, b->c, size);
        return world_wait(g->mm->world, &mail, 1);
    }
    char *part = malloc(size ? size : 1);
    int status =
        part ? 0
             : clerror_set(ENOMEM, "matmul_multiply: no memory on the host for %zu bytes", size);
    for (int l = 1; l < g->pk && status == 0; l++) {
        mail = world_receive(g->mm->world, g->rank + l * layer, TAG_PART, part, size);
        status = world_wait(g->mm->world, &mail, 1);
        if (status == 0)
            add_rows(g->mm, b->c, b->ld, part, p->rows.count, p->cols.count);
    }
    free(part);
    return status;
}
