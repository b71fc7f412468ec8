/* packed_step.c - the engine "packed" at work: launches, and edges on their way between devices.
 *
 * The tiles at both ends of a strip are launched first; while the inner ones run, the new edges travel. There
 * are two sets of edges by turns, so that none is written while a device may still read it.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"

enum { BACKLOG = 256 }; /* launches in flight, at most */

int packed_wait(life *lf)
{
    struct packed *p = lf->state;
    int status = 0;
    for (size_t i = 0; i < p->n; i++)
        if (packed_status(clwait(lf->ctx, (cl_uint)i, CL_ALL_EVENT)))
            status = -1;
    return status;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* Starts `count` lines of tiles of strip i: first, first + step, ... */
static int launch(life *lf, size_t i, size_t first, size_t step, size_t count, int generations)
{
    struct packed *p = lf->state;
    struct strip *s = &p->strip[i];
    const struct tiling *t = &s->tiling;
    const uint64_t *from = s->grid[s->now], *above = from, *below = from;
    const int plane = lf->bounds == LIFE_PLANE, wrap = p->n == 1 && !plane;
    const int dead_above = plane && i == 0, dead_below = plane && i == p->n - 1;
    if (p->n > 1 && !dead_above)
        above = p->edge[2 * ((i + p->n - 1) % p->n) + (size_t)p->parity][0];
    if (p->n > 1 && !dead_below)
        below = p->edge[2 * i + (size_t)p->parity][1];
    cl_event event;
    if (s->shape.tile) {
        clndrange_t ndr = clndrange_init2d(0, 32 * t->columns, 32, 0, count * (size_t)s->shape.warps,
                                           (size_t)s->shape.warps);
        event = clforka(lf->ctx, (cl_uint)i, s->step, &ndr, CL_EVENT_NOWAIT, from, s->grid[!s->now], above,
                        below, (cl_int)(2 * lf->words), (cl_int)lf->width, (cl_int)s->rows, (cl_int)p->halo,
                        (cl_int)wrap, (cl_int)dead_above, (cl_int)dead_below, (cl_int)t->whole,
                        (cl_int)t->own_words, (cl_int)t->own_rows, (cl_int)first, (cl_int)step,
                        (cl_int)generations, (cl_uint)2, (cl_uint)0x80000000u);
    } else {
        clndrange_t ndr = clndrange_init2d(0, t->columns, 1, 0, count, 1);
        event = clforka(lf->ctx, (cl_uint)i, s->step, &ndr, CL_EVENT_NOWAIT, from, s->grid[!s->now], above,
                        below, clarg_local(t->local), (cl_int)lf->words, (cl_int)lf->width, (cl_int)s->rows,
                        (cl_int)p->halo, (cl_int)wrap, (cl_int)dead_above, (cl_int)dead_below,
                        (cl_int)t->own_words, (cl_int)t->own_rows, (cl_int)first, (cl_int)step,
                        (cl_int)t->stride, (cl_int)generations);
    }
    lf->launches++;
    return packed_status(event);
}

/* ---- Edges. ---------------------------------------------------------------------------------- */

/* Starts copying the rows of grid `which` at all boundaries into the edges of a parity, and these to the
 * host. */
static int send_edges(life *lf, int which_of_now, int parity)
{
    struct packed *p = lf->state;
    const size_t words = (size_t)p->halo * lf->words;
    for (size_t b = 0; b < p->n; b++)
        for (int way = 0; way < 2 && packed_has_boundary(lf, p, b); way++) {
            const size_t i = way ? (b + 1) % p->n : b; /* the strip that the rows are copied from */
            struct strip *s = &p->strip[i];
            const size_t start = way ? 0 : (s->rows - (size_t)p->halo) * lf->words;
            uint64_t *edge = p->edge[2 * b + (size_t)parity][way];
            clndrange_t ndr = clndrange_init1d(0, s->groups * (size_t)s->shape.group, (size_t)s->shape.group);
            if (packed_status(clforka(lf->ctx, (cl_uint)i, s->copy, &ndr, CL_EVENT_NOWAIT,
                                      s->grid[s->now ^ which_of_now], (cl_ulong)start, (cl_ulong)words,
                                      edge)))
                return -1;
            lf->launches++;
            p->sent[b][way] = clmsync(lf->ctx, (cl_uint)i, edge, CL_MEM_HOST | CL_EVENT_NOWAIT);
            if (packed_status(p->sent[b][way]) || clflush(lf->ctx, (cl_uint)i, 0) < 0)
                return -1;
        }
    return 0;
}

/* Waits for the edges on their way and starts handing them to the devices that read them. */
static int receive_edges(life *lf, int parity)
{
    struct packed *p = lf->state;
    for (size_t b = 0; b < p->n; b++)
        for (int way = 0; way < 2 && packed_has_boundary(lf, p, b); way++) {
            const size_t from = way ? (b + 1) % p->n : b, to = way ? b : (b + 1) % p->n;
            if (packed_status(clwaitev(lf->ctx, (cl_uint)from, p->sent[b][way], 0)) ||
                packed_status(clmsync(lf->ctx, (cl_uint)to, p->edge[2 * b + (size_t)parity][way],
                                      CL_MEM_DEVICE | CL_EVENT_NOWAIT)))
                return -1;
        }
    p->parity = parity;
    return 0;
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* Whether the tiles at the ends of a strip make its new edges on their own. */
static bool ends_suffice(const struct packed *p, const struct strip *s)
{
    const struct tiling *t = &s->tiling;
    const size_t last = s->rows - (t->lines - 1) * (size_t)t->own_rows;
    return t->lines > 2 && last >= (size_t)p->halo && t->own_rows >= p->halo;
}

/* One launch on every device; edges for the next one are exchanged if `more` will follow. */
static int launch_all(life *lf, int generations, bool more)
{
    struct packed *p = lf->state;
    const bool exchange = p->n > 1 && more;
    const int parity = p->parity; /* edges are read by this launch under it, and the next ones made */
    for (size_t i = 0; i < p->n; i++) {
        const size_t lines = p->strip[i].tiling.lines;
        const bool ends = exchange && ends_suffice(p, &p->strip[i]);
        if (ends ? launch(lf, i, 0, lines - 1, 2, generations) : launch(lf, i, 0, 1, lines, generations))
            return -1;
    }
    if (exchange && send_edges(lf, 1, !parity) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++)
        if (exchange && ends_suffice(p, &p->strip[i]) &&
            (launch(lf, i, 1, 1, p->strip[i].tiling.lines - 2, generations) < 0 ||
             clflush(lf->ctx, (cl_uint)i, 0) < 0))
            return -1;
    if (exchange && receive_edges(lf, !parity) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++)
        p->strip[i].now = !p->strip[i].now;
    return 0;
}

int packed_advance(life *lf, uint64_t generations)
{
    struct packed *p = lf->state;
    const int most = p->n > 1 ? p->halo : p->strip[0].shape.generations;
    if (p->n > 1 && (send_edges(lf, 0, p->parity) < 0 || receive_edges(lf, p->parity) < 0))
        return -1;
    for (uint64_t launches = 1; generations; launches++) {
        const int now = generations < (uint64_t)most ? (int)generations : most;
        generations -= (uint64_t)now;
        if (launch_all(lf, now, generations > 0) < 0)
            return -1;
        if (launches % BACKLOG == 0 && packed_wait(lf) < 0)
            return -1;
    }
    return 0;
}
