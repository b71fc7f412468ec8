/* packed_persistent.c - a small torus that stays in a GPU's registers for a whole launch
 * (persistent.cl): tiles, start-up test, launches.
 *
 * Used only where a tuning row says persistent=1, on a single device that has the whole grid. The
 * start-up test finds out whether all tiles are resident at once: it runs the same kernel with the
 * same number of groups. If they are not, launches of tile.cl do the work.
 * SPDX-License-Identifier: MIT
 */
#include "life/persistent.h"

#include "core/device_info.h"
#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(persistent_file, "life/persistent.cl", life_persistent_cl);

enum { DEPTH = 16, WARP = 32 }; /* as in persistent.cl */
enum { MOST_WORDS = 96 };       /* of an item; with their sums they fit its registers */
enum {
    REGISTERS = 60000,
    MOST_TURNS = 4
}; /* registers of a multiprocessor; max. warps of each of its four parts */

/* ---- Tiles. ---------------------------------------------------------------------------------- */

static bool device_is_cpu(const struct cldev_info *info)
{
    return info->dev_type & CL_DEVICE_TYPE_CPU;
}

/* Clocks that a generation takes on one part of a multiprocessor: 10 operations a word, two clocks
 * each, plus exposed latency. Return 0 if the grid cannot be cut into such tiles or the device
 * cannot hold them at once. */
static size_t persistent_cost(const life *lf, const struct cldev_info *info,
                              const struct persistent *h)
{
    const size_t own_words = (size_t)h->words - 1, own_rows = (size_t)(WARP * h->rows - 2 * DEPTH);
    const size_t words = (size_t)(h->words * h->rows),
                 parts = device_is_cpu(info) ? info->dev_max_core : 4 * (size_t)info->dev_max_core;
    if (lf->width % (32 * own_words) || lf->height % own_rows || words > MOST_WORDS || !parts)
        return 0;
    const size_t tiles = lf->width / 32 / own_words * (lf->height / own_rows),
                 turns = divide_up(tiles, parts);
    if (turns > (device_is_cpu(info) ? 1 : MOST_TURNS) ||
        4 * WARP * turns * (2 * words + 64) > REGISTERS)
        return 0;
    return turns * words * 20 + 60;
}

/* Choose the tiles of least cost; among equals the widest, which measured fastest. Numbers of the
 * shape that are not 0 are kept. Return false if no tiles fit the grid. */
static bool persistent_choose_tiles(struct persistent *h, const life *lf,
                                    const struct life_shape *shape, const struct cldev_info *info)
{
    size_t best = 0;
    struct persistent now = *h;
    for (now.words = 3; now.words <= 9; now.words = 2 * now.words - 1)
        for (now.rows = 2; now.rows <= MOST_WORDS / now.words; now.rows++) {
            const size_t time = persistent_cost(lf, info, &now);
            if (!time || (best && time > best) ||
                (shape->persistent_words && shape->persistent_words != now.words) ||
                (shape->persistent_rows && shape->persistent_rows != now.rows))
                continue;
            best = time;
            h->words = now.words;
            h->rows = now.rows;
        }
    if (!best)
        return false;
    h->columns = lf->width / 32 / (size_t)(h->words - 1);
    h->tiles = h->columns * (lf->height / (size_t)(WARP * h->rows - 2 * DEPTH));
    h->warps = !vendor_is_nvidia(info->dev_vendor) ? 1
               : shape->persistent_warps           ? shape->persistent_warps
                                                   : 4;
    while (h->tiles % (size_t)h->warps)
        h->warps--;
    return true;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

static int persistent_start(life *lf, int generations)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[0];
    struct persistent *h = p->persistent;
    clndrange_t ndr = clndrange_init2d(0, WARP * h->tiles / (size_t)h->warps, WARP, 0,
                                       (size_t)h->warps, (size_t)h->warps);
    const cl_uint round = h->epoch;
    h->epoch += (cl_uint)((generations - 1) / DEPTH);
    return life_event_status(clforka(
        lf->ctx, 0, h->step, &ndr, UNWAITED, s->grid[s->current], s->grid[!s->current], h->mailbox,
        h->timed_out, (cl_int)(2 * p->words), (cl_int)lf->height, (cl_int)h->columns,
        (cl_int)generations, round, h->max_polls, (cl_uint)2, (cl_uint)0x80000000u));
}

int packed_persistent_launch(life *lf, int generations)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[0];
    const double work = (double)lf->width * (double)lf->height * generations;
    if (!pace_has_room(&s->pace, work) && (packed_wait(lf) < 0 || life_call_tell(lf, 0) < 0))
        return -1;
    clprofile_work(p->persistent->step, 0, 16. * (double)lf->height * (double)p->words,
                   CLPROF_SINGLE);
    pace_started(&s->pace, work);
    if (persistent_start(lf, generations) < 0)
        return -1;
    s->current = !s->current;
    lf->launches++;
    lf->call.done += generations;
    return 0;
}

int packed_persistent_max_generations(const life *lf)
{
    const struct packed *p = lf->state;
    const double fit = pace_slice(&p->part[0].pace) / ((double)lf->width * (double)lf->height);
    return fit < 1 ? 1 : fit < 1 << 20 ? (int)fit : 1 << 20;
}

int packed_persistent_check(life *lf)
{
    const struct packed *p = lf->state;
    return p->persistent ? life_event_status(clmsync(lf->ctx, 0, p->persistent->timed_out,
                                                     CL_MEM_HOST | UNWAITED))
                         : 0;
}

int packed_persistent_status(const life *lf)
{
    const struct packed *p = lf->state;
    if (!p->persistent || !*p->persistent->timed_out)
        return 0;
    return clerror_set(
        EIO,
        "life: tiles timed out waiting for each other although the start-up test passed; is another "
        "program using the device? The grid is lost. Use --shape persistent=0 to avoid this kernel.");
}

/* ---- Create and free. ------------------------------------------------------------------------ */

static int persistent_open_kernel(life *lf, struct persistent *h, const struct life_shape *shape,
                                  const struct cldev_info *info)
{
    char line[256];
    const bool nvidia = vendor_is_nvidia(info->dev_vendor);
    snprintf(line, sizeof line,
             "-D WORDS=%d -D ROWS=%d -D WARPS=%d -D SHUFFLE=%d -D TERNARY=%d -D MULTIPLY=%d%s\n",
             h->words, h->rows, h->warps, nvidia, shape->ternary, shape->multiply,
             nvidia ? "" : " -cl-std=CL3.0");
    h->program = packed_open_rule(lf, line, shape->ternary, &persistent_file, 2);
    h->step = h->program ? clsym(lf->ctx, h->program, "life_persistent", 0) : NULL;
    return h->step ? 0 : -1;
}

static int persistent_allocate(life *lf, struct persistent *h)
{
    const struct packed *p = lf->state;
    const size_t bytes = 2 * lf->height * 2 * p->words * sizeof *h->mailbox;
    h->mailbox = clmalloc(lf->ctx, bytes, 0);
    h->timed_out = clmalloc(lf->ctx, sizeof *h->timed_out, 0);
    if (!h->mailbox || !h->timed_out)
        return -1;
    memset(h->mailbox, 0, bytes);
    *h->timed_out = 0;
    lf->device_bytes += bytes;
    if (life_event_status(clmsync(lf->ctx, 0, h->mailbox, CL_MEM_DEVICE | CL_EVENT_WAIT)))
        return -1;
    if (life_event_status(clmsync(lf->ctx, 0, h->timed_out, CL_MEM_DEVICE | CL_EVENT_WAIT)))
        return -1;
    return 0;
}

void packed_persistent_free(life *lf)
{
    struct packed *p = lf->state;
    if (!p->persistent)
        return;
    clfree(p->persistent->mailbox);
    clfree(p->persistent->timed_out);
    if (p->persistent->program)
        clclose(lf->ctx, p->persistent->program);
    free(p->persistent);
    p->persistent = NULL;
}

/* Run some epochs on arbitrary cells. Return 1 if all tiles were resident at once, 0 if they timed
 * out, -1 on an error. */
static int persistent_trial(life *lf)
{
    const struct packed *p = lf->state;
    if (life_event_status(clmsyncn(lf->ctx, 0, p->part[0].grid[0], p->words * sizeof(uint64_t),
                                   CL_MEM_DEVICE | UNWAITED)) ||
        persistent_start(lf, 4 * DEPTH) < 0 || packed_persistent_check(lf) < 0 ||
        life_event_status(clwait(lf->ctx, 0, CL_ALL_EVENT)))
        return -1;
    return !*p->persistent->timed_out;
}

/* Append the outcome of persistent=1 to the text of --explain. */
static void persistent_explain(struct life_partition *s, const char *what)
{
    const size_t n = strlen(s->row.source);
    snprintf(s->row.source + n, sizeof s->row.source - n, "; %s", what);
}

int packed_persistent_open(life *lf, const struct cldev_info *info)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[0];
    struct persistent plan = {0};
    if (!s->shape.persistent)
        return 0;
    if (clgetndev(lf->ctx) > 1 || world_size(lf->world) > 1 || lf->bounds != LIFE_TORUS ||
        !persistent_choose_tiles(&plan, lf, &s->shape, info)) {
        persistent_explain(
            s, "not persistent: needs a torus on one device, of a size that tiles divide");
        return 0;
    }
    if (!life_orders_memory(clgetdevice(lf->ctx, 0), info)) {
        persistent_explain(
            s,
            "not persistent: the device does not order memory between work-groups, or is untested");
        return 0;
    }
    plan.max_polls = device_is_cpu(info) ? 1u << 30 : 1u << 21; /* some seconds */
    if (!(p->persistent = malloc(sizeof plan)))
        return clerror_set(ENOMEM, "life: out of memory for the state of the persistent kernel");
    *p->persistent = plan;
    if (persistent_open_kernel(lf, p->persistent, &s->shape, info) < 0 ||
        persistent_allocate(lf, p->persistent) < 0)
        return -1;
    const int good = persistent_trial(lf);
    char text[128];
    snprintf(text, sizeof text, "persistent in %zu tiles of %d words and %d rows an item",
             plan.tiles, plan.words, plan.rows);
    persistent_explain(s, good > 0 ? text : "not persistent: not all tiles were resident at once");
    if (good <= 0)
        packed_persistent_free(lf);
    return good < 0 ? -1 : 0;
}
