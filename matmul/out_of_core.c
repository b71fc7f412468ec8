/* out_of_core.c - matrices that are not in memory: reads and writes for ranks.c.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"
#include "matmul/start.h"

#include "core/host_memory.h"

enum { SLOTS = 3 }; /* panels of each operand, as in ranks.c */

int matmul_out_of_core_read(const struct matmul_grid *g, int matrix, struct region r, void *to)
{
    const struct matmul_out_of_core *x = g->out_of_core[matrix];
    return x->read(x->arg, r.rows.first, r.rows.count, r.cols.first, r.cols.count, to);
}

int matmul_out_of_core_write(const struct matmul_grid *g, struct region r, const void *from)
{
    const struct matmul_out_of_core *c = g->out_of_core[OPERANDS];
    return c->write(c->arg, r.rows.first, r.rows.count, r.cols.first, r.cols.count, from);
}

void matmul_out_of_core_fit(const struct matmul *mm, size_t *area_rows, size_t *area_cols,
                            size_t *panel_depth)
{
    const int ranks = world_size(mm->world), hosts = mm->world ? world_hosts(mm->world) : 1;
    const double have = 0.5 * host_memory() / ((ranks + hosts - 1) / hosts);
    const double room = mm->memory ? (double)mm->memory : have;
    for (;;) {
        const double area = (double)*area_rows * (double)*area_cols,
                     panels =
                         (double)SLOTS * (double)(*area_rows + *area_cols) * (double)*panel_depth;
        size_t *most = area<panels && * panel_depth> 128 ? panel_depth
                       : *area_rows > *area_cols         ? area_rows
                                                         : area_cols;
        if ((area + panels) * (double)mm->real <= room || *most == 1)
            return;
        *most = divide_up(*most, 2);
    }
}

int matmul_out_of_core_check(const struct matmul_grid *g)
{
    for (int i = 0; i < 3; i++)
        if (!g->out_of_core[i] ||
            (i < OPERANDS || g->h.beta != 0 ? !g->out_of_core[i]->read : false) ||
            (i == OPERANDS && !g->out_of_core[i]->write))
            return clerror_set(EINVAL, "matmul_multiply_out_of_core: matrix %c has no %s function",
                               "ABC"[i], i < OPERANDS ? "read" : "read or write");
    return 0;
}

int matmul_out_of_core_scale(struct matmul_grid *g)
{
    enum { PIECE = 1 << 22 };
    const struct matmul_out_of_core *c = g->out_of_core[OPERANDS];
    const struct range slab = matmul_slab_of_c(g, g->rank);
    struct host_product x = g->h;
    const size_t most = min_size(x.n < PIECE ? PIECE / x.n : 1, slab.count);
    x.c = malloc(most * x.n * g->mm->real + 1);
    x.ldc = x.n;
    int status =
        x.c ? 0 : clerror_set(ENOMEM, "matmul_multiply_out_of_core: out of memory on the host");
    for (size_t row = slab.first; row < range_end(slab) && status == 0; row += x.m) {
        x.m = min_size(most, range_end(slab) - row);
        status = x.beta != 0 ? c->read(c->arg, row, x.m, 0, x.n, x.c) : 0;
        if (status == 0) {
            matmul_host_scale(g->mm, &x);
            status = c->write(c->arg, row, x.m, 0, x.n, x.c);
        }
    }
    free(x.c);
    return world_reduce_status(g->mm->world, status);
}
