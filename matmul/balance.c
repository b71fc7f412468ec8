/* balance.c - how much of a product each rank computes: by the weights that callers give
 * (matmul_set_weight), by the best speeds of devices where they are unlike, or all alike.
 *
 * An element has the same bits whatever rank computes it, if their devices are of one model:
 * shapes, panels and the order in which these are added up follow from sizes alone
 * (matmul_grid_shape, matmul_grid_panel), and no kernel of ours rounds otherwise where a block
 * ends. Of other libraries' products that is not known, so ranks have equal parts of these.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

#include "core/handle.h"

#include <math.h>

/* What each rank tells the others before a product. */
struct telling {
    double weight, devices;
    uint64_t models;
};

/* A number that lists of the same devices share. */
static uint64_t models_of(const struct matmul *mm)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (cl_uint d = 0; d < mm->ndev; d++)
        for (const char *c = mm->share[d].info.dev_name;; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
            if (!*c)
                break;
        }
    return hash;
}

static bool is_ours(enum matmul_kind kind)
{
    return kind != MATMUL_OPENBLAS && kind != MATMUL_SYCL && kind != MATMUL_CLBLAST;
}

static double peak_of(struct matmul *mm)
{
    if (mm->peak > 0)
        return mm->peak;
    for (cl_uint d = 0; d < mm->ndev; d++)
        mm->peak += matmul_peak(mm->ctx, d, mm->precision);
    return mm->peak;
}

/* Weights that callers gave, if all did; else peaks, if models are unlike. Where one is not known,
 * all are alike. */
static int weigh(struct matmul_grid *g, const struct telling *each)
{
    bool given = true, alike = true, known = true;
    double most = 0;
    for (int r = 0; r < g->ranks; r++) {
        g->devices += each[r].devices;
        given = given && each[r].weight > 0;
        alike = alike && each[r].models == each[0].models;
    }
    if (!is_ours(g->mm->kind) || (!given && alike))
        return 0;
    g->weight = calloc((size_t)g->ranks, sizeof *g->weight);
    if (world_reduce_status(
            g->mm->world,
            g->weight ? 0 : clerror_set(ENOMEM, "matmul: no memory for a list of ranks")) != 0)
        return -1;
    const double peak = given ? 0 : peak_of(g->mm);
    if (!given && world_gather(g->mm->world, &peak, sizeof peak, g->weight) != 0)
        return -1;
    for (int r = 0; r < g->ranks; r++) {
        g->weight[r] = given ? each[r].weight : g->weight[r];
        known = known && g->weight[r] > 0;
        most = fmax(most, g->weight[r]);
    }
    for (int r = 0; r < g->ranks; r++) /* whose sums are numbers */
        g->weight[r] = fmax(g->weight[r] / most, 1e-12);
    if (!known) {
        free(g->weight);
        g->weight = NULL;
    }
    return 0;
}

int matmul_divide_look(struct matmul_grid *g)
{
    const struct telling own = {g->mm->weight, g->mm->ndev, models_of(g->mm)};
    struct telling *each = calloc((size_t)g->ranks, sizeof *each);
    int status = each ? 0 : clerror_set(ENOMEM, "matmul: no memory for a list of ranks");
    g->devices = 0;
    status = world_reduce_status(g->mm->world, status);
    if (status == 0)
        status = world_gather(g->mm->world, &own, sizeof own, each);
    if (status == 0)
        status = weigh(g, each);
    free(each);
    return status;
}

int matmul_set_weight(matmul *mm, double weight)
{
    if (no_handle(mm, __func__))
        return -1;
    if (!isfinite(weight) || weight <= 0)
        return clerror_set(EINVAL, "matmul_set_weight: a weight of %g; it must be a number > 0",
                           weight);
    bool measured = mm->world != NULL;
    for (cl_uint d = 0; d < mm->ndev; d++)
        measured = measured && mm->share[d].effort.work > 0 && mm->share[d].effort.seconds > 0;
    for (cl_uint d = 0; d < mm->ndev; d++) {
        struct share *p = &mm->share[d];
        p->weight = measured ? p->effort.work / p->effort.seconds : p->weight;
        p->effort = (struct effort){0};
    }
    mm->effort = (struct effort){0};
    mm->weight = weight;
    return 0;
}

double matmul_busy_time(const matmul *mm, double *work)
{
    if (no_handle(mm, __func__))
        return 0;
    double longest = 0;
    *work = mm->effort.work;
    for (cl_uint d = 0; d < mm->ndev; d++) {
        *work += mm->share[d].effort.work;
        longest = fmax(longest, mm->share[d].effort.seconds);
    }
    return mm->effort.seconds + longest;
}
