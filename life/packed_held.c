/* packed_held.c - a small torus that stays in a GPU's registers for a whole launch (persistent.cl):
 * its tiles, the trial, launches.
 *
 * Only where a row of tuning/ says held=1, on one device that has the whole grid. Whether all tiles
 * are at work at once a trial tells: the same kernel, with as many groups. If they are not,
 * launches of tile.cl do the same work.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"

#include "core/device_info.h"
#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(held_file, "life/persistent.cl", life_persistent_cl);

enum { DEPTH = 16, WARP = 32 }; /* as in persistent.cl */
enum { MOST_WORDS = 96 };       /* of an item, so that they and the sums fit its registers */
enum {
    REGISTERS = 60000,
    MOST_TURNS = 4
}; /* of a multiprocessor; warps of each of its four parts */

/* ---- Tiles. ---------------------------------------------------------------------------------- */

static bool is_cpu(const struct cldev_info *info)
{
    return info->dev_type & CL_DEVICE_TYPE_CPU;
}

/* How long a generation takes with such tiles, in clocks of one part of a multiprocessor: 10
 * operations a word, two clocks each, and some more that nothing hides; 0 where the grid cannot be
 * cut so, or the device has no room. */
static size_t time_of(const life *lf, const struct cldev_info *info, const struct held *h)
{
    const size_t own_words = (size_t)h->words - 1, own_rows = (size_t)(WARP * h->rows - 2 * DEPTH);
    const size_t words = (size_t)(h->words * h->rows),
                 parts = is_cpu(info) ? info->dev_max_core : 4 * (size_t)info->dev_max_core;
    if (lf->width % (32 * own_words) || lf->height % own_rows || words > MOST_WORDS || !parts)
        return 0;
    const size_t tiles = lf->width / 32 / own_words * (lf->height / own_rows),
                 turns = divide_up(tiles, parts);
    if (turns > (is_cpu(info) ? 1 : MOST_TURNS) || 4 * WARP * turns * (2 * words + 64) > REGISTERS)
        return 0;
    return turns * words * 20 + 60;
}

/* The tiles of least time, of equal ones the widest, which was found faster; false where the grid
 * has none. Numbers of the shape that are not 0 are kept. */
static bool choose(struct held *h, const life *lf, const struct life_shape *shape,
                   const struct cldev_info *info)
{
    size_t best = 0;
    struct held now = *h;
    for (now.words = 3; now.words <= 9; now.words = 2 * now.words - 1)
        for (now.rows = 2; now.rows <= MOST_WORDS / now.words; now.rows++) {
            const size_t time = time_of(lf, info, &now);
            if (!time || (best && time > best) ||
                (shape->held_words && shape->held_words != now.words) ||
                (shape->held_rows && shape->held_rows != now.rows))
                continue;
            best = time;
            h->words = now.words;
            h->rows = now.rows;
        }
    if (!best)
        return false;
    h->columns = lf->width / 32 / (size_t)(h->words - 1);
    h->tiles = h->columns * (lf->height / (size_t)(WARP * h->rows - 2 * DEPTH));
    h->warps = !vendor_is_nvidia(info->dev_vendor) ? 1 : shape->held_warps ? shape->held_warps : 4;
    while (h->tiles % (size_t)h->warps)
        h->warps--;
    return true;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

static int start(life *lf, int generations)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[0];
    struct held *h = p->held;
    clndrange_t ndr = clndrange_init2d(0, WARP * h->tiles / (size_t)h->warps, WARP, 0,
                                       (size_t)h->warps, (size_t)h->warps);
    const cl_uint round = h->round;
    h->round += (cl_uint)((generations - 1) / DEPTH);
    return packed_status(clforka(lf->ctx, 0, h->step, &ndr, UNWAITED, s->grid[s->now],
                                 s->grid[!s->now], h->box, h->lost, (cl_int)(2 * p->words),
                                 (cl_int)lf->height, (cl_int)h->columns, (cl_int)generations, round,
                                 h->patience, (cl_uint)2, (cl_uint)0x80000000u));
}

int packed_held_launch(life *lf, int generations)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[0];
    const double work = (double)lf->width * (double)lf->height * generations;
    if (!pace_has_room(&s->pace, work) && (packed_wait(lf) < 0 || life_call_tell(lf, 0) < 0))
        return -1;
    clprofile_work(p->held->step, 0, 16. * (double)lf->height * (double)p->words, CLPROF_SINGLE);
    if (start(lf, generations) < 0)
        return -1;
    pace_started(&s->pace, work);
    s->now = !s->now;
    lf->launches++;
    lf->call.done += generations;
    return 0;
}

int packed_held_most(const life *lf)
{
    const struct packed *p = lf->state;
    const double fit = pace_slice(&p->share[0].pace) / ((double)lf->width * (double)lf->height);
    return fit < 1 ? 1 : fit < 1 << 20 ? (int)fit : 1 << 20;
}

int packed_held_ask(life *lf)
{
    const struct packed *p = lf->state;
    return p->held ? packed_status(clmsync(lf->ctx, 0, p->held->lost, CL_MEM_HOST | UNWAITED)) : 0;
}

int packed_held_answer(const life *lf)
{
    const struct packed *p = lf->state;
    if (!p->held || !*p->held->lost)
        return 0;
    return clerror_set(
        EIO,
        "life: tiles waited in vain for each other, though a trial was good: does something else use the device? The "
        "cells are lost; --shape held=0 does without");
}

/* ---- The beginning and the end. -------------------------------------------------------------- */

static int open_kernel(life *lf, struct held *h, const struct life_shape *shape,
                       const struct cldev_info *info)
{
    char line[256];
    const bool nvidia = vendor_is_nvidia(info->dev_vendor);
    snprintf(line, sizeof line,
             "-D WORDS=%d -D ROWS=%d -D WARPS=%d -D SHUFFLE=%d -D TERNARY=%d -D MULTIPLY=%d%s\n",
             h->words, h->rows, h->warps, nvidia, shape->ternary, shape->multiply,
             nvidia ? "" : " -cl-std=CL3.0");
    h->program = packed_open_rule(lf, line, shape->ternary, &held_file, 2);
    h->step = h->program ? clsym(lf->ctx, h->program, "life_held", 0) : NULL;
    return h->step ? 0 : -1;
}

static int allocate(life *lf, struct held *h)
{
    const struct packed *p = lf->state;
    const size_t bytes = 2 * lf->height * 2 * p->words * sizeof *h->box;
    h->box = clmalloc(lf->ctx, bytes, 0);
    h->lost = clmalloc(lf->ctx, sizeof *h->lost, 0);
    if (!h->box || !h->lost)
        return -1;
    memset(h->box, 0, bytes);
    *h->lost = 0;
    lf->device_bytes += bytes;
    return packed_status(clmsync(lf->ctx, 0, h->box, CL_MEM_DEVICE | CL_EVENT_WAIT)) ||
                   packed_status(clmsync(lf->ctx, 0, h->lost, CL_MEM_DEVICE | CL_EVENT_WAIT))
               ? -1
               : 0;
}

void packed_held_free(life *lf)
{
    struct packed *p = lf->state;
    if (!p->held)
        return;
    clfree(p->held->box);
    clfree(p->held->lost);
    if (p->held->program)
        clclose(lf->ctx, p->held->program);
    free(p->held);
    p->held = NULL;
}

/* Some rounds of whatever the memory has. 1: all tiles were at work at once. */
static int trial(life *lf)
{
    const struct packed *p = lf->state;
    if (packed_status(clmsyncn(lf->ctx, 0, p->share[0].grid[0], p->words * sizeof(uint64_t),
                               CL_MEM_DEVICE | UNWAITED)) ||
        start(lf, 4 * DEPTH) < 0 || packed_held_ask(lf) < 0 ||
        packed_status(clwait(lf->ctx, 0, CL_ALL_EVENT)))
        return -1;
    return !*p->held->lost;
}

/* Says in the sentence of --explain what became of held=1. */
static void tell(struct share *s, const char *what)
{
    const size_t n = strlen(s->row.source);
    snprintf(s->row.source + n, sizeof s->row.source - n, "; %s", what);
}

int packed_hold(life *lf, const struct cldev_info *info)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[0];
    struct held plan = {0};
    if (!s->shape.held)
        return 0;
    if (clgetndev(lf->ctx) > 1 || world_size(lf->world) > 1 || lf->bounds != LIFE_TORUS ||
        !choose(&plan, lf, &s->shape, info)) {
        tell(s, "not held: that is for a torus on one device, which tiles must fit");
        return 0;
    }
    if (!life_hands_over(clgetdevice(lf->ctx, 0), info)) {
        tell(
            s,
            "not held: the device does not order memory between work-groups, or was never tested with it");
        return 0;
    }
    plan.patience = is_cpu(info) ? 1u << 30 : 1u << 21; /* seconds */
    if (!(p->held = malloc(sizeof plan)))
        return clerror_set(ENOMEM, "life: no memory for a list of tiles");
    *p->held = plan;
    if (open_kernel(lf, p->held, &s->shape, info) < 0 || allocate(lf, p->held) < 0)
        return -1;
    const int good = trial(lf);
    char text[128];
    snprintf(text, sizeof text, "held in %zu tiles of %d words and %d rows an item", plan.tiles,
             plan.words, plan.rows);
    tell(s, good > 0 ? text : "not held: not all tiles were at work at once");
    if (good <= 0)
        packed_held_free(lf);
    return good < 0 ? -1 : 0;
}
