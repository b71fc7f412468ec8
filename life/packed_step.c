/* packed_step.c - launches of the engine "packed", and halo transfers between its devices.
 *
 * Devices work independently until their halo rows are used up. Edges are double-buffered, so that
 * none is written while a device may still read it.
 *
 * A launch that uses up the halos computes the rows at both ends of a partition first. Their
 * transfer overlaps with the computation of the rows between, and has mostly finished before the
 * next launch needs them.
 * SPDX-License-Identifier: MIT
 */
#include "life/persistent.h"

#include "core/progress.h"
#include "core/round.h"

#include <errno.h>

enum { BACKLOG = 256 }; /* launches enqueued before the host waits */

/* ---- Launches. ------------------------------------------------------------------------------- */

/* Rows beyond a partition's buffers: wrapped around, dead, or else undefined. */
struct beyond {
    cl_int wrap, dead_above, dead_below;
};

static struct beyond beyond_part(const life *lf, size_t i)
{
    const struct packed *p = lf->state;
    const struct life_partition *s = &p->part[i];
    const bool plane = lf->bounds == LIFE_PLANE;
    return (struct beyond){!plane && !packed_is_divided(lf, p), plane && s->first == 0,
                           plane && s->first + s->rows == lf->height};
}

/* The area of a launch: columns x bands tiles from band `top` on, in buffers of `rows` rows. */
struct area {
    size_t columns, top, bands;
    int rows;
};

static cl_event enqueue_tiles(life *lf, size_t i, int generations, struct area a, int flags)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    const struct tiling *t = &s->tiling;
    const struct beyond b = beyond_part(lf, i);
    const size_t warps = (size_t)s->shape.warps;
    clndrange_t ndr =
        clndrange_init2d(0, 32 * a.columns, 32, a.top * warps, a.bands * warps, warps);
    return clforka(lf->ctx, (cl_uint)i, s->step, &ndr, flags, s->grid[s->current],
                   s->grid[!s->current], (cl_int)(2 * p->words), (cl_int)p->width, (cl_int)a.rows,
                   b.wrap, b.dead_above, b.dead_below, (cl_int)t->whole, (cl_int)t->own_words,
                   (cl_int)t->own_rows, (cl_int)generations, (cl_uint)2, (cl_uint)0x80000000u);
}

static cl_event enqueue_rows(life *lf, size_t i, int generations, struct area a, int flags)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    const struct tiling *t = &s->tiling;
    const struct beyond b = beyond_part(lf, i);
    clndrange_t ndr = clndrange_init2d(0, a.columns, 1, a.top, a.bands, 1);
    return clforka(lf->ctx, (cl_uint)i, s->step, &ndr, flags, s->grid[s->current],
                   s->grid[!s->current], clarg_local(t->local), (cl_int)p->words, (cl_int)p->width,
                   (cl_int)a.rows, b.wrap, b.dead_above, b.dead_below, (cl_int)t->own_words,
                   (cl_int)t->own_rows, (cl_int)t->stride, (cl_int)generations);
}

/* At most one work-item per compute unit takes tiles in turn and makes all passes of the launch. */
static cl_event enqueue_passes(life *lf, size_t i, int generations, struct area a, int flags)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    const struct tiling *t = &s->tiling;
    const struct beyond b = beyond_part(lf, i);
    const size_t tiles = a.columns * a.bands, items = tiles < s->units ? tiles : s->units;
    const int pass = generations < p->generations ? generations : p->generations;
    clndrange_t ndr = clndrange_init1d(0, items, 1);
    return clforka(lf->ctx, (cl_uint)i, s->step, &ndr, flags, s->grid[s->current],
                   s->grid[!s->current], clarg_local(t->local), (cl_int)p->words, (cl_int)p->width,
                   (cl_int)a.rows, b.wrap, b.dead_above, b.dead_below, (cl_int)t->own_words,
                   (cl_int)t->own_rows, (cl_int)t->stride, (cl_int)pass, s->pass_state,
                   (cl_int)a.columns, (cl_int)a.bands, (cl_int)generations);
}

static int enqueue_area(life *lf, size_t i, int generations, struct area a, int flags)
{
    const struct packed *p = lf->state;
    const bool tile = p->part[i].shape.tile;
    return life_event_status((tile            ? enqueue_tiles
                              : p->passes > 1 ? enqueue_passes
                                              : enqueue_rows)(lf, i, generations, a, flags));
}

static int pass_count(const struct packed *p, int generations)
{
    return (generations + p->generations - 1) / p->generations;
}

/* Enqueue the next bands of partition i, as many as fit a slice. A launch of many passes has all
 * bands. For profiles, a pass reads and writes each partition once. */
static int launch_next_bands(life *lf, size_t i, int generations)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    const size_t all = s->tiling.bands, wrap = all - s->first_band,
                 stop = s->bands_started < s->edge_bands ? s->edge_bands : all;
    const size_t left = (s->bands_started < wrap && wrap < stop ? wrap : stop) - s->bands_started;
    const double rows = (double)packed_rows(s) / (double)s->tiling.bands;
    const double band = rows * (double)p->width * generations, fit = pace_slice(&s->pace) / band;
    const size_t bands = fit >= (double)left || p->passes > 1 ? left : fit < 1 ? 1 : (size_t)fit;
    if (!pace_has_room(&s->pace, band * (double)bands))
        return 0;
    clprofile_work(s->step, 0,
                   16. * rows * (double)bands * (double)p->words * pass_count(p, generations),
                   CLPROF_SINGLE);
    pace_started(&s->pace, band * (double)bands);
    if (enqueue_area(lf, i, generations,
                     (struct area){s->tiling.columns, (s->first_band + s->bands_started) % all,
                                   bands, (int)packed_rows(s)},
                     UNWAITED) < 0)
        return -1;
    s->bands_started += bands;
    lf->launches++;
    return 0;
}

int packed_warm(life *lf)
{
    struct packed *p = lf->state;
    for (size_t i = 0; i < p->n; i++)
        if (life_event_status(clmsyncn(lf->ctx, (cl_uint)i, p->part[i].grid[0],
                                       p->words * sizeof(uint64_t), CL_MEM_DEVICE | UNWAITED)) ||
            enqueue_area(lf, i, 1, (struct area){1, 0, 1, 1}, UNWAITED | CL_EVENT_UNCOUNTED) < 0 ||
            clflush(lf->ctx, (cl_uint)i, 0) < 0)
            return -1;
    return packed_wait(lf);
}

/* ---- Halo exchange (edges: the rows that are sent). ------------------------------------------ */

/* Copy rows between partition i and an edge buffer on its device; `row` is a row of the
 * partition's buffers. With edges_from_next, edges are read from the buffer being written. */
static int copy_edge(life *lf, size_t i, size_t row, uint64_t *edge, bool to_edge)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    const cl_ulong place = (cl_ulong)(row * p->words), words = (cl_ulong)(p->halo * p->words);
    uint64_t *grid = s->grid[p->edges_from_next && to_edge ? !s->current : s->current];
    clndrange_t ndr =
        clndrange_init1d(0, s->groups * (size_t)s->shape.group, (size_t)s->shape.group);
    lf->launches++;
    return life_event_status(to_edge ? clforka(lf->ctx, (cl_uint)i, s->copy, &ndr, UNWAITED, grid,
                                               place, words, edge, (cl_ulong)0)
                                     : clforka(lf->ctx, (cl_uint)i, s->copy, &ndr, UNWAITED, edge,
                                               (cl_ulong)0, words, grid, place));
}

/* Block until an edge is on the host. The transfer owns the event, since waits in between release
 * all events of the library. */
static int await_edge(life *lf, struct halo_transfer *h)
{
    const cl_event sent = h->ev_download;
    h->ev_download = NULL;
    return sent ? life_event_status(clwaitev(lf->ctx, (cl_uint)h->from, sent, CL_EVENT_RELEASE))
                : 0;
}

/* Block until the request pending on this edge buffer is done: a send or receive two exchanges old,
 * or this exchange's receive. */
static int wait_edge_request(life *lf, struct halo_transfer *h, int parity)
{
    world_request *request = h->request[parity];
    h->request[parity] = NULL;
    return request ? world_wait(lf->world, &request, 1) : 0;
}

static int receive_edge(life *lf, struct halo_transfer *h, int parity, size_t bytes)
{
    if (wait_edge_request(lf, h, parity) != 0)
        return -1;
    h->request[parity] = world_receive(lf->world, h->rank, h->tag, h->edge[parity], bytes);
    return h->request[parity] ? 0 : -1;
}

/* Enqueue copies of the rows at both ends of every partition into the edges, and downloads of the
 * edges; post the receives from other ranks. */
static int download_edges(life *lf)
{
    struct packed *p = lf->state;
    for (size_t k = 0; k < p->transfers; k++) {
        struct halo_transfer *h = &p->transfer[k];
        uint64_t *edge = h->edge[p->parity];
        if (h->from == OTHER_RANK) {
            if (receive_edge(lf, h, p->parity, p->halo * p->words * sizeof *edge) != 0)
                return -1;
            continue;
        }
        const struct life_partition *s = &p->part[h->from];
        if (wait_edge_request(lf, h, p->parity) != 0 || await_edge(lf, h) != 0 ||
            copy_edge(lf, (size_t)h->from, h->up ? s->above : s->above + s->rows - p->halo, edge,
                      true))
            return -1;
        const cl_event sent =
            clmsync(lf->ctx, (cl_uint)h->from, edge, CL_MEM_HOST | CL_EVENT_OWN | UNWAITED);
        if (life_event_status(sent))
            return -1;
        h->ev_download = sent;
        if (clflush(lf->ctx, (cl_uint)h->from, 0) < 0)
            return -1;
    }
    return 0;
}

/* Send each edge for another rank once it is on the host. */
static int send_edges(life *lf)
{
    struct packed *p = lf->state;
    for (size_t k = 0; k < p->transfers; k++) {
        struct halo_transfer *h = &p->transfer[k];
        if (h->to != OTHER_RANK)
            continue;
        if (await_edge(lf, h) != 0)
            return -1;
        h->request[p->parity] = world_send(lf->world, h->rank, h->tag, h->edge[p->parity],
                                           p->halo * p->words * sizeof(uint64_t));
        if (!h->request[p->parity])
            return -1;
    }
    return 0;
}

/* Block until the edges are on the host, and enqueue their uploads and copies into the destination
 * partitions; those from other ranks last. */
static int upload_edges(life *lf)
{
    struct packed *p = lf->state;
    for (int from_rank = 0; from_rank < 2; from_rank++)
        for (size_t k = 0; k < p->transfers; k++) {
            struct halo_transfer *h = &p->transfer[k];
            uint64_t *edge = h->edge[p->parity];
            if (h->to == OTHER_RANK || (h->from == OTHER_RANK) != from_rank)
                continue;
            const struct life_partition *s = &p->part[h->to];
            if ((from_rank ? wait_edge_request(lf, h, p->parity) : await_edge(lf, h)) != 0 ||
                life_event_status(
                    clmsync(lf->ctx, (cl_uint)h->to, edge, CL_MEM_DEVICE | UNWAITED)) ||
                copy_edge(lf, (size_t)h->to, h->up ? s->above + s->rows : 0, edge, false))
                return -1;
        }
    p->parity = !p->parity;
    p->halo_valid = p->halo_max;
    p->edges_in_flight = false;
    return 0;
}

int packed_discard_edges(life *lf)
{
    struct packed *p = lf->state;
    for (size_t k = 0; k < p->transfers && p->edges_in_flight; k++)
        if (await_edge(lf, &p->transfer[k]) != 0 ||
            (p->transfer[k].from == OTHER_RANK &&
             wait_edge_request(lf, &p->transfer[k], p->parity) != 0))
            return -1;
    p->parity = p->edges_in_flight ? !p->parity : p->parity;
    p->edges_in_flight = false;
    return 0;
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* Fraction of the running pass, over all devices, that was enqueued. */
static double pass_fraction(const struct packed *p)
{
    double started = 0, all = 0;
    for (size_t i = 0; i < p->n; i++) {
        started += (double)p->part[i].bands_started;
        all += (double)p->part[i].tiling.bands;
    }
    return started / all;
}

/* Report progress within a launch. A single rank may cancel here; several ranks cancel together
 * between launches (poll_ranks). */
static int poll_within_launch(life *lf, double fraction)
{
    return life_call_tell(lf, fraction) < 0 && world_size(lf->world) == 1 ? -1 : 0;
}

/* Set the launch order. early: first the bands at the bottom, then, wrapping around, those at the
 * top, which the neighbours need; then the inner bands. */
static void order_bands(const struct packed *p, struct life_partition *s, bool early)
{
    const size_t height = (size_t)s->tiling.own_rows, bands = s->tiling.bands;
    const size_t top = divide_up(s->above + p->halo, height),
                 bottom = (s->above + s->rows - p->halo) / height;
    s->bands_started = 0;
    s->first_band = early && top < bottom ? bottom : 0;
    s->edge_bands = early && top < bottom ? bands - bottom + top : bands;
}

/* Enqueue the remaining bands, up to the edges or all of them. The result is valid once all are
 * done. */
static int launch_bands(life *lf, int generations, bool edges)
{
    struct packed *p = lf->state;
    bool left = true;
    while (left) {
        bool started = false;
        left = false;
        for (size_t i = 0; i < p->n; i++) {
            const struct life_partition *s = &p->part[i];
            const size_t end = edges ? s->edge_bands : s->tiling.bands, before = s->bands_started;
            if (s->bands_started < end &&
                (launch_next_bands(lf, i, generations) < 0 ||
                 (packed_is_divided(lf, p) && clflush(lf->ctx, (cl_uint)i, 0) < 0)))
                return -1;
            started = started || s->bands_started > before;
            left = left || s->bands_started < end;
        }
        if (left && !started &&
            (packed_wait(lf) < 0 || poll_within_launch(lf, generations * pass_fraction(p)) < 0))
            return -1;
    }
    return 0;
}

static int download_edges_of_next(life *lf)
{
    struct packed *p = lf->state;
    p->edges_from_next = true;
    const int status = download_edges(lf);
    p->edges_from_next = false;
    return status;
}

/* Advance all devices by `generations`. Exchange edges first if they were sent early or too few
 * halo rows are valid. If the halo is used up afterwards, the next exchange is started early. */
static int packed_launch(life *lf, int generations)
{
    struct packed *p = lf->state;
    if (p->persistent)
        return packed_persistent_launch(lf, generations);
    const bool blocks = p->across > 1, divided = blocks || packed_is_divided(lf, p);
    const bool exchange = divided && (p->edges_in_flight || p->halo_valid < (size_t)generations);
    if (exchange && blocks && packed_exchange_columns(lf) < 0)
        return -1;
    if (exchange && ((!p->edges_in_flight && (download_edges(lf) < 0 || send_edges(lf) < 0)) ||
                     upload_edges(lf) < 0))
        return -1;
    const bool early =
        divided && !blocks && p->halo_valid - (size_t)generations < (size_t)p->generations;
    for (size_t i = 0; i < p->n; i++)
        order_bands(p, &p->part[i], early);
    if (launch_bands(lf, generations, true) < 0 || (early && download_edges_of_next(lf) < 0) ||
        launch_bands(lf, generations, false) < 0 || (early && send_edges(lf) < 0))
        return -1;
    for (size_t i = 0; i < p->n; i++)
        p->part[i].current ^= pass_count(p, generations) & 1;
    p->halo_valid -= divided ? (size_t)generations : 0;
    p->edges_in_flight = early;
    lf->call.done += generations;
    return 0;
}

/* Generations of the next launch: with many passes as many as fit a slice, else a pass, which is
 * split into bands if necessary. */
static int generations_per_launch(const life *lf, const struct packed *p)
{
    const double cells = (double)lf->width * (double)lf->height,
                 fit = pace_slice(&p->part[0].pace) / cells;
    const int most = p->generations * p->passes;
    if (p->persistent)
        return packed_persistent_max_generations(lf);
    if (p->passes == 1 || fit >= most)
        return most;
    return fit < 1                ? 1
           : fit < p->generations ? (int)fit
                                  : (int)(fit / p->generations) * p->generations;
}

struct rank_poll {
    uint64_t next; /* launches until the next poll: the least of all ranks */
    int32_t end;   /* a rank's caller has cancelled */
};

static void reduce_rank_poll(void *a, const void *b, void *arg)
{
    struct rank_poll *one = a;
    const struct rank_poll *two = b;
    (void)arg;
    one->next = two->next < one->next ? two->next : one->next;
    one->end |= two->end;
}

/* Let all ranks cancel together. Polls adapt to about three a second, so that a caller's request
 * is seen in time. */
static int poll_ranks(life *lf)
{
    struct packed *p = lf->state;
    const double now = seconds_now(), took = now - p->last_poll, wanted = 0.3;
    const double next = took > 0 ? (double)p->poll_every * wanted / took : BACKLOG;
    struct rank_poll all = {next > BACKLOG ? BACKLOG
                            : next < 1     ? 1
                                           : (uint64_t)next,
                            life_call_tell(lf, 0) < 0};
    if (world_reduce(lf->world, &all, sizeof all, reduce_rank_poll, NULL) != 0)
        return -1;
    p->poll_every = all.next;
    p->last_poll = now;
    return all.end ? progress_cancelled("life") : 0;
}

int packed_advance(life *lf, uint64_t generations)
{
    struct packed *p = lf->state;
    p->last_poll = seconds_now();
    for (uint64_t launches = 1; generations; launches++) {
        const int most = generations_per_launch(lf, p);
        const int now = generations < (uint64_t)most ? (int)generations : most;
        generations -= (uint64_t)now;
        if (packed_launch(lf, now) < 0)
            return -1;
        if (launches % (world_size(lf->world) > 1 ? p->poll_every : BACKLOG) == 0 &&
            (packed_wait(lf) < 0 ||
             (generations &&
              (world_size(lf->world) > 1 ? poll_ranks(lf) : life_call_tell(lf, 0)) < 0)))
            return -1;
    }
    return 0;
}
