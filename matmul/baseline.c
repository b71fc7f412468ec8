/* baseline.c - the kinds NAIVE and BLOCKED, the baseline kernels, on any device.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/program.h"
#include "matmul/start.h"

/* On GPUs a group covers neighbours along a row, for coalesced loads. PoCL runs the items of a
 * group in sequence. */
static void baseline_naive_range(const struct matmul_device *p, const struct product *x,
                                 clndrange_t *ndr)
{
    const size_t across =
        p->is_cpu ? min_size(64, p->info.dev_max_wg_sz) : min_size(32, p->info.dev_max_wg_sz);
    const size_t down = p->is_cpu || p->info.dev_max_wg_sz < 256 ? 1 : 8;
    clndrange_set2d(*ndr, 0, round_up(x->n, across), across, 0, round_up(x->m, down), down);
}

int matmul_baseline_start(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    const bool blocked = mm->kind == MATMUL_BLOCKED;
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, k = (cl_int)x->k;
    const cl_ulong a0 = x->a.offset, a_row = x->trans_a ? 1 : x->a.ld,
                   a_col = x->trans_a ? x->a.ld : 1;
    const cl_ulong b0 = x->b.offset, b_row = x->trans_b ? 1 : x->b.ld,
                   b_col = x->trans_b ? x->b.ld : 1;
    const cl_ulong c0 = x->c.offset, ldc = x->c.ld;
    const stdcl_local_t tile = clarg_local(mm->block * mm->block * mm->real);
    const struct stdcl_arg args[] = {ARG(m),
                                     ARG(n),
                                     ARG(k),
                                     ARG(REAL(mm, x->alpha)),
                                     ARG(operand_arg(&x->a)),
                                     ARG(a0),
                                     ARG(a_row),
                                     ARG(a_col),
                                     ARG(operand_arg(&x->b)),
                                     ARG(b0),
                                     ARG(b_row),
                                     ARG(b_col),
                                     ARG(REAL(mm, x->beta)),
                                     ARG(operand_arg(&x->c)),
                                     ARG(c0),
                                     ARG(ldc),
                                     ARG(tile),
                                     ARG(tile)};
    clndrange_t ndr = clndrange_init2d(0, round_up(x->n, mm->block), mm->block, 0,
                                       round_up(x->m, mm->block), mm->block);
    if (!blocked)
        baseline_naive_range(p, x, &ndr);
    cl_kernel kernel =
        matmul_kernel(mm, SOURCE_BASELINE, "", blocked ? "matmul_blocked" : "matmul_naive");
    const double work = (double)x->m * (double)x->n * (double)x->k;
    return kernel
               ? matmul_launch(mm, p, kernel, &ndr, work, COUNT_OF(args) - (blocked ? 0 : 2), args)
               : -1;
}

size_t matmul_block_limit(CLCONTEXT *ctx, enum matmul_precision precision)
{
    const size_t real = precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float);
    struct cldev_info *info = calloc(clgetndev(ctx) + 1, sizeof *info);
    size_t block = 1024;
    if (!info || clgetdevinfo(ctx, info) != 0)
        block = 0;
    for (cl_uint d = 0; block && d < clgetndev(ctx); d++)
        while (block > 1 && (block * block > info[d].dev_max_wg_sz ||
                             block > info[d].dev_max_wi_sz[0] || block > info[d].dev_max_wi_sz[1] ||
                             2 * block * block * real > info[d].dev_local_mem_sz))
            block--;
    free(info);
    return block;
}
