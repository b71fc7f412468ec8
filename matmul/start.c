/* start.c - start a product on one device, by kind and path.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/program.h"
#include "matmul/start.h"

int matmul_start(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    if (x->k == 0 || x->alpha == 0)
        return x->beta == 1 ? 0 : matmul_launch_scale(mm, p, x->m, x->n, x->beta, &x->c);
    if (mm->kind == MATMUL_CLBLAST)
        return matmul_clblast_start(mm, p, x);
    if (mm->kind != MATMUL_TUNED)
        return matmul_baseline_start(mm, p, x);
    if (matmul_shape_choose(mm, p, x->m, x->n, x->k, matmul_gpu_alignment(mm, x)) != 0)
        return -1;
    return p->shape.path == PATH_PANELS   ? matmul_cpu_start(mm, p, x)
           : p->shape.path == PATH_SKINNY ? matmul_skinny_start(mm, p, &p->shape, x)
                                          : matmul_gpu_start(mm, p, x);
}
