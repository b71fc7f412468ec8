/* engine_bitplanes.c - the engine "packed" for rules of the family Generations, and for two rules
 * that alternate: bit planes on the context's first device (planes.cl).
 * SPDX-License-Identifier: MIT
 */
#include "life/device_grid.h"

#include "core/embedded.h"
#include "core/round.h"

#include <stdio.h>
#include <string.h>

EMBEDDED(ternary_text, "life/ternary.h", life_ternary_h);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(planes_file, "life/planes.cl", life_planes_cl);

enum { ACROSS = 16, DOWN = 4, COUNTERS = 64 };

static void *bitplanes_program(life *lf, const struct life_family *rule)
{
    const struct embedded *const front[] = {&ternary_text, &mix_text};
    enum { OPTIONS = 128 };
    char text[OPTIONS + LIFE_FAMILY_MACROS];
    snprintf(text, OPTIONS, "-D PLANES=%u -D LAST=%u\n", life_planes_of(lf), rule->states - 2);
    life_family_macros(rule, true, text + strlen(text));
    return embedded_open(lf->ctx, text, &planes_file, 2, front);
}

static int bitplanes_open(life *lf, const struct cldev_info *info)
{
    struct device_grid *g = lf->state;
    const double bytes =
        (double)life_planes_of(lf) * (double)lf->words * (double)lf->height * sizeof(uint64_t);
    g->pace = pace_of(1e9);
    g->slice = DOWN;
    snprintf(g->explain, sizeof g->explain,
             "fixed: a word of 64 cells an item, a generation a launch");
    device_grid_count(g, info, COUNTERS, 1, false);
    if (device_grid_allocate(lf, info, bytes, 0, true) < 0)
        return -1;
    return device_grid_open_kernels(lf, "life_planes", "life_count_planes", bitplanes_program);
}

static cl_event bitplanes_start(life *lf, size_t y, size_t rows)
{
    const struct device_grid *g = lf->state;
    clndrange_t ndr =
        clndrange_init2d(0, round_up(lf->words, ACROSS), ACROSS, y, round_up(rows, DOWN), DOWN);
    clprofile_work(g->step, 0, 16. * (double)life_planes_of(lf) * (double)rows * (double)lf->words,
                   CLPROF_SINGLE);
    return clforka(lf->ctx, DEVICE, g->step, &ndr, UNWAITED, g->grid[g->current],
                   g->grid[!g->current], (cl_ulong)lf->words, (cl_ulong)lf->width,
                   (cl_ulong)lf->height, (cl_int)(lf->bounds == LIFE_TORUS));
}

static cl_event bitplanes_count(life *lf, clndrange_t *ndr, cl_ulong at)
{
    const struct device_grid *g = lf->state;
    return clforka(lf->ctx, DEVICE, g->counter, ndr, UNWAITED, g->grid[g->current],
                   (cl_ulong)(lf->words * lf->height), g->sums, at);
}

static int bitplanes_create(life *lf, const struct life_options *options)
{
    static const struct device_grid_how how = {.start = bitplanes_start, .count = bitplanes_count};
    (void)options;
    return device_grid_create(lf, sizeof(struct device_grid), &how, bitplanes_open);
}

const struct life_backend life_bitplanes_backend = DEVICE_GRID_BACKEND(bitplanes_create);
