/* out_of_core.c - matrices that are not in memory: what ranks.c reads and writes of them.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

#include <unistd.h>

enum { SLOTS = 3 }; /* panels of each operand, as in ranks.c */

int matmul_far_read(const struct matmul_grid *g, int matrix, struct region r, void *to)
{
    const struct matmul_far *x = g->far[matrix];
    return x->read(x->arg, r.rows.first, r.rows.count, r.cols.first, r.cols.count, to);
}

int matmul_far_write(const struct matmul_grid *g, struct region r, const void *from)
{
    const struct matmul_far *c = g->far[OPERANDS];
    return c->write(c->arg, r.rows.first, r.rows.count, r.cols.first, r.cols.count, from);
}

void matmul_far_fit(const struct matmul *mm, size_t *high, size_t *wide, size_t *deep)
{
    const int ranks = world_size(mm->world), hosts = mm->world ? world_hosts(mm->world) : 1;
    const double have = 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) /
                        ((ranks + hosts - 1) / hosts);
    const double room = mm->memory ? (double)mm->memory : have;
    for (;;) {
        const double area = (double)*high * (double)*wide,
                     panels = (double)SLOTS * (double)(*high + *wide) * (double)*deep;
        size_t *most = area<panels && * deep> 128 ? deep : *high > *wide ? high : wide;
        if ((area + panels) * (double)mm->real <= room || *most == 1)
            return;
        *most = divide_up(*most, 2);
    }
}

int matmul_far_check(const struct matmul_grid *g)
{
    for (int i = 0; i < 3; i++)
        if (!g->far[i] || (i < OPERANDS || g->h.beta != 0 ? !g->far[i]->read : false) ||
            (i == OPERANDS && !g->far[i]->write))
            return clerror_set(EINVAL, "matmul_multiply_out_of_core: %c has no function that %s it",
                               "ABC"[i], i < OPERANDS ? "reads" : "reads or writes");
    return 0;
}

int matmul_far_scale(struct matmul_grid *g)
{
    enum { PIECE = 1 << 22 };
    const struct matmul_far *c = g->far[OPERANDS];
    const struct part slab = matmul_slab_of_c(g, g->rank);
    struct host_product x = g->h;
    const size_t most = smaller(x.n < PIECE ? PIECE / x.n : 1, slab.count);
    x.c = malloc(most * x.n * g->mm->real + 1);
    x.ldc = x.n;
    int status =
        x.c ? 0 : clerror_set(ENOMEM, "matmul_multiply_out_of_core: no memory on the host");
    for (size_t row = slab.first; row < end_of(slab) && status == 0; row += x.m) {
        x.m = smaller(most, end_of(slab) - row);
        status = x.beta != 0 ? c->read(c->arg, row, x.m, 0, x.n, x.c) : 0;
        if (status == 0) {
            matmul_host_scale(g->mm, &x);
            status = c->write(c->arg, row, x.m, 0, x.n, x.c);
        }
    }
    free(x.c);
    return world_reduce_status(g->mm->world, status);
}
