/* balance.c - load balance among ranks: weights from the callers (matmul_set_weight), else the
 * devices' peaks if their models differ, else equal weights.
 *
 * An element of C has the same bits whichever rank computes it, if all devices are of one model:
 * shapes, panels and their order follow from sizes alone (matmul_grid_shape, matmul_grid_panel),
 * and our kernels round the same everywhere in a block. Other libraries promise no such thing, so
 * their products are divided equally.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

#include "core/handle.h"

#include <math.h>

/* What each rank sends to all ranks before a product. */
struct rank_info {
    double weight, devices;
    uint64_t models;
};

/* Hash of the list of device names: equal lists have equal hashes. */
static uint64_t hash_device_names(const struct matmul *mm)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (cl_uint d = 0; d < mm->ndev; d++)
        for (const char *c = mm->device[d].info.dev_name;; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
            if (!*c)
                break;
        }
    return hash;
}

static bool kernels_are_ours(enum matmul_kind kind)
{
    return kind != MATMUL_OPENBLAS && kind != MATMUL_SYCL && kind != MATMUL_CLBLAST;
}

static double rank_peak(struct matmul *mm)
{
    if (mm->peak > 0)
        return mm->peak;
    for (cl_uint d = 0; d < mm->ndev; d++)
        mm->peak += matmul_peak(mm->ctx, d, mm->precision);
    return mm->peak;
}

/* Fill in g->weight: the callers' weights if all ranks set one, else the peaks if models differ.
 * Leave it NULL (equal weights) if any weight is unknown. */
static int balance_weights(struct matmul_grid *g, const struct rank_info *each)
{
    bool given = true, alike = true, known = true;
    double most = 0;
    for (int r = 0; r < g->ranks; r++) {
        g->devices += each[r].devices;
        given = given && each[r].weight > 0;
        alike = alike && each[r].models == each[0].models;
    }
    if (!kernels_are_ours(g->mm->kind) || (!given && alike))
        return 0;
    g->weight = calloc((size_t)g->ranks, sizeof *g->weight);
    if (world_reduce_status(
            g->mm->world,
            g->weight ? 0 : clerror_set(ENOMEM, "matmul: out of memory for a list of ranks")) != 0)
        return -1;
    const double peak = given ? 0 : rank_peak(g->mm);
    if (!given && world_gather(g->mm->world, &peak, sizeof peak, g->weight) != 0)
        return -1;
    for (int r = 0; r < g->ranks; r++) {
        g->weight[r] = given ? each[r].weight : g->weight[r];
        known = known && g->weight[r] > 0;
        most = fmax(most, g->weight[r]);
    }
    for (int r = 0; r < g->ranks; r++) /* at least 1e-12, so that sums of weights are > 0 */
        g->weight[r] = fmax(g->weight[r] / most, 1e-12);
    if (!known) {
        free(g->weight);
        g->weight = NULL;
    }
    return 0;
}

static int balance_gathered(struct matmul_grid *g, struct rank_info *each)
{
    const struct rank_info own = {g->mm->weight, g->mm->ndev, hash_device_names(g->mm)};
    int status = each ? 0 : clerror_set(ENOMEM, "matmul: out of memory for a list of ranks");
    g->devices = 0;
    status = world_reduce_status(g->mm->world, status);
    if (status != 0)
        return status;
    status = world_gather(g->mm->world, &own, sizeof own, each);
    return status != 0 ? status : balance_weights(g, each);
}

int matmul_balance(struct matmul_grid *g)
{
    struct rank_info *each = calloc((size_t)g->ranks, sizeof *each);
    const int status = balance_gathered(g, each);
    free(each);
    return status;
}

int matmul_set_weight(matmul *mm, double weight)
{
    if (no_handle(mm, __func__))
        return -1;
    if (!isfinite(weight) || weight <= 0)
        return clerror_set(EINVAL, "matmul_set_weight: weight %g must be a number > 0", weight);
    bool measured = mm->world != NULL;
    for (cl_uint d = 0; d < mm->ndev; d++)
        measured =
            measured && mm->device[d].work_time.work > 0 && mm->device[d].work_time.seconds > 0;
    for (cl_uint d = 0; d < mm->ndev; d++) {
        struct matmul_device *p = &mm->device[d];
        p->weight = measured ? p->work_time.work / p->work_time.seconds : p->weight;
        p->work_time = (struct work_time){0};
    }
    mm->work_time = (struct work_time){0};
    mm->weight = weight;
    return 0;
}

double matmul_busy_time(const matmul *mm, double *work)
{
    if (no_handle(mm, __func__))
        return 0;
    double longest = 0;
    *work = mm->work_time.work;
    for (cl_uint d = 0; d < mm->ndev; d++) {
        *work += mm->device[d].work_time.work;
        longest = fmax(longest, mm->device[d].work_time.seconds);
    }
    return mm->work_time.seconds + longest;
}
