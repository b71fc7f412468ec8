/* engine_bitplanes.c - the engine "packed" for rules of the family Generations: bit planes on the
 * context's first device (planes.cl).
 * SPDX-License-Identifier: MIT
 */
#include "life/counting.h"
#include "life/engine.h"
#include "life/generation.h"
#include "life/logic.h"

#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(ternary_text, "life/ternary.h", life_ternary_h);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(planes_file, "life/planes.cl", life_planes_cl);

enum { DEVICE = 0, ACROSS = 16, DOWN = 4, COUNTERS = 64 };

struct bitplanes {
    unsigned n;
    size_t plane;      /* words of a plane */
    uint64_t *grid[2]; /* [0] has the host's rows, [1] is scratch memory of the device */
    int current;
    uint64_t *sums;
    size_t counters;
    struct pace pace; /* in cells */
    void *program;
    cl_kernel step, count;
};

static int bitplanes_failed(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* ---- Create and free. ------------------------------------------------------------------------ */

static void bitplanes_free(life *lf)
{
    struct bitplanes *p = lf->state;
    if (!p)
        return;
    clfree(p->grid[0]);
    clfree(p->grid[1]);
    clfree(p->sums);
    if (p->program)
        clclose(lf->ctx, p->program);
    free(p);
    lf->state = NULL;
}

static int bitplanes_open_kernels(life *lf, struct bitplanes *p)
{
    const struct embedded *const front[] = {&ternary_text, &mix_text};
    enum { OPTIONS = 128 };
    char text[OPTIONS + LIFE_CIRCUIT_TEXT];
    struct life_circuit circuit;
    snprintf(text, OPTIONS, "-D PLANES=%u -D LAST=%u\n", p->n, lf->rule.states - 2);
    if (lf->rule.counts) {
        life_rule_macros(&lf->rule.rule, true, text + strlen(text));
    } else {
        life_circuit_find(&lf->rule.table, &circuit);
        life_circuit_text(&circuit, text + strlen(text));
    }
    p->program = embedded_open(lf->ctx, text, &planes_file, 2, front);
    p->step = p->program ? clsym(lf->ctx, p->program, "life_planes", 0) : NULL;
    p->count = p->step ? clsym(lf->ctx, p->program, "life_count_planes", 0) : NULL;
    return p->count ? 0 : -1;
}

static int bitplanes_allocate(life *lf, struct bitplanes *p, const struct cldev_info *info)
{
    const double need = (double)p->n * (double)lf->words * (double)lf->height * sizeof(uint64_t);
    if (need > (double)info->dev_max_mem_alloc_sz || 2 * need > (double)info->dev_global_mem_sz)
        return clerror_set(
            ENOMEM,
            "life: %zu x %zu cells of %u states need two buffers of %.4g MB, and %s has %.4g MB of memory",
            lf->width, lf->height, lf->rule.states, need / 1e6, info->dev_name,
            (double)info->dev_global_mem_sz / 1e6);
    p->plane = lf->words * lf->height;
    p->counters = COUNTERS * (info->dev_max_core ? info->dev_max_core : 1);
    p->grid[0] = clmalloc(lf->ctx, (size_t)need, CL_MEM_ZEROCOPY);
    p->grid[1] = clmalloc(lf->ctx, (size_t)need, CL_MEM_DEVONLY);
    p->sums = clmalloc(lf->ctx, LIFE_SLOTS * p->counters * 2 * sizeof(uint64_t), 0);
    lf->device_bytes = 2 * (size_t)need;
    return p->grid[0] && p->grid[1] && p->sums ? 0 : -1;
}

static int bitplanes_create(life *lf, const struct life_options *options)
{
    (void)options;
    struct bitplanes *p = calloc(1, sizeof *p);
    struct cldev_info *info = calloc(clgetndev(lf->ctx), sizeof *info);
    lf->state = p;
    int status = -1;
    if (!p || !info) {
        clerror_set(ENOMEM, "life: out of memory for an engine");
    } else if (clgetdevinfo(lf->ctx, info) == 0) {
        p->n = life_planes_of(lf);
        p->pace = pace_of(1e9);
        status = bitplanes_allocate(lf, p, &info[DEVICE]) < 0 ? -1 : bitplanes_open_kernels(lf, p);
    }
    free(info);
    if (status < 0)
        bitplanes_free(lf);
    return status;
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

static uint64_t *bitplanes_plane(life *lf, unsigned plane, size_t y)
{
    struct bitplanes *p = lf->state;
    return p->grid[0] + plane * p->plane + y * lf->words;
}

static uint64_t *bitplanes_row(life *lf, size_t y)
{
    return bitplanes_plane(lf, 0, y);
}

static int bitplanes_upload(life *lf)
{
    struct bitplanes *p = lf->state;
    p->current = 0;
    return bitplanes_failed(clmsync(lf->ctx, DEVICE, p->grid[0], CL_MEM_DEVICE));
}

static int bitplanes_download(life *lf)
{
    struct bitplanes *p = lf->state;
    if (p->current && bitplanes_failed(clmcopy(lf->ctx, DEVICE, p->grid[1], p->grid[0], UNWAITED)))
        return -1;
    p->current = 0;
    return bitplanes_failed(clmsync(lf->ctx, DEVICE, p->grid[0], CL_MEM_HOST));
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

static int bitplanes_wait(life *lf)
{
    struct bitplanes *p = lf->state;
    return life_rows_wait(lf, &p->pace);
}

/* Enqueue rows y ... y + rows - 1, rounded up to whole groups: the next launch writes the surplus
 * rows again, with equal values. */
static int bitplanes_start_rows(life *lf, size_t y, size_t rows)
{
    struct bitplanes *p = lf->state;
    clndrange_t ndr =
        clndrange_init2d(0, round_up(lf->words, ACROSS), ACROSS, y, round_up(rows, DOWN), DOWN);
    clprofile_work(p->step, 0, 16. * (double)p->n * (double)rows * (double)lf->words,
                   CLPROF_SINGLE);
    return bitplanes_failed(clforka(lf->ctx, DEVICE, p->step, &ndr, UNWAITED, p->grid[p->current],
                                    p->grid[!p->current], (cl_ulong)lf->words, (cl_ulong)lf->width,
                                    (cl_ulong)lf->height, (cl_int)(lf->bounds == LIFE_TORUS)));
}

static int bitplanes_generation(life *lf)
{
    struct bitplanes *p = lf->state;
    if (life_rows_generation(lf, &p->pace, DOWN, bitplanes_start_rows) < 0)
        return -1;
    p->current = !p->current;
    return 0;
}

static int bitplanes_advance(life *lf, uint64_t generations)
{
    struct bitplanes *p = lf->state;
    return life_rows_advance(lf, &p->pace, generations, bitplanes_generation);
}

static int bitplanes_step(life *lf, uint64_t generations)
{
    const int status = bitplanes_advance(lf, generations);
    return bitplanes_wait(lf) < 0 ? -1 : status;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

static int bitplanes_count(life *lf, size_t slot)
{
    struct bitplanes *p = lf->state;
    clndrange_t ndr = clndrange_init1d(0, p->counters, COUNTERS);
    lf->launches++;
    return bitplanes_failed(clforka(lf->ctx, DEVICE, p->count, &ndr, UNWAITED, p->grid[p->current],
                                    (cl_ulong)p->plane, p->sums, (cl_ulong)(slot * p->counters)));
}

static int bitplanes_collect(life *lf, size_t slots, struct life_sample *sample)
{
    struct bitplanes *p = lf->state;
    if (bitplanes_failed(clmsync(lf->ctx, DEVICE, p->sums, CL_MEM_HOST | UNWAITED)) ||
        bitplanes_wait(lf) < 0)
        return -1;
    for (size_t slot = 0; slot < slots; slot++) {
        sample[slot].population = sample[slot].hash = 0;
        life_sample_add(&sample[slot], p->sums + 2 * slot * p->counters, p->counters);
    }
    return 0;
}

static int bitplanes_trace(life *lf, size_t n, struct life_sample *sample)
{
    static const struct life_counting by = {bitplanes_advance, bitplanes_count, bitplanes_collect};
    return life_trace_slots(lf, &by, n, sample);
}

static unsigned bitplanes_devices(const life *lf)
{
    (void)lf;
    return 1;
}

static const char *bitplanes_explain(const life *lf, unsigned dev)
{
    (void)lf;
    return dev == 0 ? "fixed: a word of 64 cells an item, a generation a launch" : "";
}

const struct life_backend life_bitplanes_backend = {
    .create = bitplanes_create,
    .free = bitplanes_free,
    .row = bitplanes_row,
    .plane = bitplanes_plane,
    .upload = bitplanes_upload,
    .download = bitplanes_download,
    .step = bitplanes_step,
    .trace = bitplanes_trace,
    .devices = bitplanes_devices,
    .explain = bitplanes_explain,
};
