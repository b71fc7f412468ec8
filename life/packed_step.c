/* packed_step.c - the engine "packed" at work: launches, and rows on their way between devices.
 *
 * Devices work independently of each other until the rows that they have of their neighbours are
 * used up. There are two sets of edges, used by turns, so that none is written while a device may
 * still read it.
 *
 * A launch that uses them up computes the rows at both ends of a share first. These set out while
 * it computes those between, and so have mostly arrived before the next launch wants them.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"

#include "core/progress.h"
#include "core/round.h"

#include <errno.h>

enum { BACKLOG = 256 }; /* launches that are started before the first of them is waited for */

/* ---- Launches. ------------------------------------------------------------------------------- */

/* What lies beyond the rows of a share's buffers: their other end, or dead rows; else rows that do
 * not count. */
struct beyond {
    cl_int wrap, dead_above, dead_below;
};

static struct beyond beyond_share(const life *lf, size_t i)
{
    const struct packed *p = lf->state;
    const struct share *s = &p->share[i];
    const bool plane = lf->bounds == LIFE_PLANE;
    return (struct beyond){!plane && !packed_is_divided(lf, p), plane && s->first == 0,
                           plane && s->first + s->rows == lf->height};
}

/* A part of a share that a launch computes: columns x bands tiles from band `top` on, of the first
 * `rows` rows of its buffers. */
struct area {
    size_t columns, top, bands;
    int rows;
};

static cl_event start_tile(life *lf, size_t i, int generations, struct area a, int flags)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[i];
    const struct tiling *t = &s->tiling;
    const struct beyond b = beyond_share(lf, i);
    const size_t warps = (size_t)s->shape.warps;
    clndrange_t ndr =
        clndrange_init2d(0, 32 * a.columns, 32, a.top * warps, a.bands * warps, warps);
    return clforka(lf->ctx, (cl_uint)i, s->step, &ndr, flags, s->grid[s->now], s->grid[!s->now],
                   (cl_int)(2 * p->words), (cl_int)p->width, (cl_int)a.rows, b.wrap, b.dead_above,
                   b.dead_below, (cl_int)t->whole, (cl_int)t->own_words, (cl_int)t->own_rows,
                   (cl_int)generations, (cl_uint)2, (cl_uint)0x80000000u);
}

static cl_event start_rows(life *lf, size_t i, int generations, struct area a, int flags)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[i];
    const struct tiling *t = &s->tiling;
    const struct beyond b = beyond_share(lf, i);
    clndrange_t ndr = clndrange_init2d(0, a.columns, 1, a.top, a.bands, 1);
    return clforka(lf->ctx, (cl_uint)i, s->step, &ndr, flags, s->grid[s->now], s->grid[!s->now],
                   clarg_local(t->local), (cl_int)p->words, (cl_int)p->width, (cl_int)a.rows,
                   b.wrap, b.dead_above, b.dead_below, (cl_int)t->own_words, (cl_int)t->own_rows,
                   (cl_int)t->stride, (cl_int)generations);
}

/* The items are cores, which take tiles by turns. */
static cl_event start_passes(life *lf, size_t i, int generations, struct area a, int flags)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[i];
    const struct tiling *t = &s->tiling;
    const struct beyond b = beyond_share(lf, i);
    const size_t tiles = a.columns * a.bands, items = tiles < s->units ? tiles : s->units;
    const int pass = generations < p->generations ? generations : p->generations;
    clndrange_t ndr = clndrange_init1d(0, items, 1);
    return clforka(lf->ctx, (cl_uint)i, s->step, &ndr, flags, s->grid[s->now], s->grid[!s->now],
                   clarg_local(t->local), (cl_int)p->words, (cl_int)p->width, (cl_int)a.rows,
                   b.wrap, b.dead_above, b.dead_below, (cl_int)t->own_words, (cl_int)t->own_rows,
                   (cl_int)t->stride, (cl_int)pass, s->turns, (cl_int)a.columns, (cl_int)a.bands,
                   (cl_int)generations);
}

static int start(life *lf, size_t i, int generations, struct area a, int flags)
{
    const struct packed *p = lf->state;
    const bool tile = p->share[i].shape.tile;
    return packed_status((tile            ? start_tile
                          : p->passes > 1 ? start_passes
                                          : start_rows)(lf, i, generations, a, flags));
}

static int passes_of(const struct packed *p, int generations)
{
    return (generations + p->generations - 1) / p->generations;
}

/* Starts the next bands of share i, as many as a slice holds. A launch of many passes is of all
 * bands. Profiles are told that a pass reads a share once and writes it once. */
static int launch(life *lf, size_t i, int generations)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[i];
    const size_t all = s->tiling.bands, wrap = all - s->turn,
                 stop = s->band < s->edges ? s->edges : all;
    const size_t left = (s->band < wrap && wrap < stop ? wrap : stop) - s->band;
    const double part = (double)packed_rows(s) / (double)s->tiling.bands;
    const double band = part * (double)p->width * generations, fit = pace_slice(&s->pace) / band;
    const size_t bands = fit >= (double)left || p->passes > 1 ? left : fit < 1 ? 1 : (size_t)fit;
    if (!pace_has_room(&s->pace, band * (double)bands))
        return 0;
    clprofile_work(s->step, 0,
                   16. * part * (double)bands * (double)p->words * passes_of(p, generations),
                   CLPROF_SINGLE);
    if (start(
            lf, i, generations,
            (struct area){s->tiling.columns, (s->turn + s->band) % all, bands, (int)packed_rows(s)},
            UNWAITED) < 0)
        return -1;
    pace_started(&s->pace, band * (double)bands);
    s->band += bands;
    lf->launches++;
    return 0;
}

int packed_warm(life *lf)
{
    struct packed *p = lf->state;
    for (size_t i = 0; i < p->n; i++)
        if (packed_status(clmsyncn(lf->ctx, (cl_uint)i, p->share[i].grid[0],
                                   p->words * sizeof(uint64_t), CL_MEM_DEVICE | UNWAITED)) ||
            start(lf, i, 1, (struct area){1, 0, 1, 1}, UNWAITED | CL_EVENT_UNCOUNTED) < 0 ||
            clflush(lf->ctx, (cl_uint)i, 0) < 0)
            return -1;
    return packed_wait(lf);
}

/* ---- Edges. ---------------------------------------------------------------------------------- */

/* Copies rows between share i and an edge on its device, which get them from the image that is
 * computed; `row` is of the share's buffer. */
static int copy(life *lf, size_t i, size_t row, uint64_t *edge, bool to_edge)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[i];
    const cl_ulong place = (cl_ulong)(row * p->words), words = (cl_ulong)(p->halo * p->words);
    uint64_t *grid = s->grid[p->ahead && to_edge ? !s->now : s->now];
    clndrange_t ndr =
        clndrange_init1d(0, s->groups * (size_t)s->shape.group, (size_t)s->shape.group);
    lf->launches++;
    return packed_status(to_edge ? clforka(lf->ctx, (cl_uint)i, s->copy, &ndr, UNWAITED, grid,
                                           place, words, edge, (cl_ulong)0)
                                 : clforka(lf->ctx, (cl_uint)i, s->copy, &ndr, UNWAITED, edge,
                                           (cl_ulong)0, words, grid, place));
}

/* Waits until an edge is on the host. The event is ours, since waits in between forget all that the
 * library has. */
static int await_edge(life *lf, struct hop *h)
{
    const cl_event sent = h->sent;
    h->sent = NULL;
    return sent ? packed_status(clwaitev(lf->ctx, (cl_uint)h->from, sent, CL_EVENT_RELEASE)) : 0;
}

/* Mail of the exchange before the last, which had this edge, is done before that is used again. */
static int wait_mail(life *lf, struct hop *h, int parity)
{
    world_request *mail = h->mail[parity];
    h->mail[parity] = NULL;
    return mail ? world_wait(lf->world, &mail, 1) : 0;
}

static int receive_mail(life *lf, struct hop *h, int parity, size_t bytes)
{
    if (wait_mail(lf, h, parity) != 0)
        return -1;
    h->mail[parity] = world_receive(lf->world, h->rank, h->tag, h->edge[parity], bytes);
    return h->mail[parity] ? 0 : -1;
}

/* Starts copies of the rows at both ends of every share into the edges, and of the edges to the
 * host; and to receive the others'. */
static int send_edges(life *lf)
{
    struct packed *p = lf->state;
    for (size_t k = 0; k < p->hops; k++) {
        struct hop *h = &p->hop[k];
        uint64_t *edge = h->edge[p->parity];
        if (h->from == OTHER_RANK) {
            if (receive_mail(lf, h, p->parity, p->halo * p->words * sizeof *edge) != 0)
                return -1;
            continue;
        }
        const struct share *s = &p->share[h->from];
        if (wait_mail(lf, h, p->parity) != 0 || await_edge(lf, h) != 0 ||
            copy(lf, (size_t)h->from, h->up ? s->above : s->above + s->rows - p->halo, edge, true))
            return -1;
        const cl_event sent =
            clmsync(lf->ctx, (cl_uint)h->from, edge, CL_MEM_HOST | CL_EVENT_OWN | UNWAITED);
        if (packed_status(sent))
            return -1;
        h->sent = sent;
        if (clflush(lf->ctx, (cl_uint)h->from, 0) < 0)
            return -1;
    }
    return 0;
}

/* As soon as an edge for another rank is on the host, it goes by mail. */
static int mail_edges(life *lf)
{
    struct packed *p = lf->state;
    for (size_t k = 0; k < p->hops; k++) {
        struct hop *h = &p->hop[k];
        if (h->to != OTHER_RANK)
            continue;
        if (await_edge(lf, h) != 0)
            return -1;
        h->mail[p->parity] = world_send(lf->world, h->rank, h->tag, h->edge[p->parity],
                                        p->halo * p->words * sizeof(uint64_t));
        if (!h->mail[p->parity])
            return -1;
    }
    return 0;
}

/* Waits for the edges to arrive on the host, and starts copies into the shares that they are for;
 * last for those that come by mail. */
static int receive_edges(life *lf)
{
    struct packed *p = lf->state;
    for (int by_mail = 0; by_mail < 2; by_mail++)
        for (size_t k = 0; k < p->hops; k++) {
            struct hop *h = &p->hop[k];
            uint64_t *edge = h->edge[p->parity];
            if (h->to == OTHER_RANK || (h->from == OTHER_RANK) != by_mail)
                continue;
            const struct share *s = &p->share[h->to];
            if ((by_mail ? wait_mail(lf, h, p->parity) : await_edge(lf, h)) != 0 ||
                packed_status(clmsync(lf->ctx, (cl_uint)h->to, edge, CL_MEM_DEVICE | UNWAITED)) ||
                copy(lf, (size_t)h->to, h->up ? s->above + s->rows : 0, edge, false))
                return -1;
        }
    p->parity = !p->parity;
    p->good = p->reach;
    p->early = false;
    return 0;
}

int packed_forget_edges(life *lf)
{
    struct packed *p = lf->state;
    for (size_t k = 0; k < p->hops && p->early; k++)
        if (await_edge(lf, &p->hop[k]) != 0 ||
            (p->hop[k].from == OTHER_RANK && wait_mail(lf, &p->hop[k], p->parity) != 0))
            return -1;
    p->parity = p->early ? !p->parity : p->parity;
    p->early = false;
    return 0;
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* Which part of the bands that a pass has on all devices were started. */
static double part_of_pass(const struct packed *p)
{
    double started = 0, all = 0;
    for (size_t i = 0; i < p->n; i++) {
        started += (double)p->share[i].band;
        all += (double)p->share[i].tiling.bands;
    }
    return started / all;
}

/* A rank alone may end within a launch; ranks together end between two (talk). */
static int tell_within(life *lf, double part)
{
    return life_call_tell(lf, part) < 0 && world_size(lf->world) == 1 ? -1 : 0;
}

/* Bands are computed from the one on that has the last rows which go down, around to those with the
 * first that go up. */
static void order_bands(const struct packed *p, struct share *s, bool early)
{
    const size_t height = (size_t)s->tiling.own_rows, bands = s->tiling.bands;
    const size_t top = divide_up(s->above + p->halo, height),
                 bottom = (s->above + s->rows - p->halo) / height;
    s->band = 0;
    s->turn = early && top < bottom ? bottom : 0;
    s->edges = early && top < bottom ? bands - bottom + top : bands;
}

/* Starts the bands that are left, up to the edges or all of them. Until all are done, their result
 * does not count. */
static int launch_bands(life *lf, int generations, bool edges)
{
    struct packed *p = lf->state;
    bool left = true;
    while (left) {
        bool started = false;
        left = false;
        for (size_t i = 0; i < p->n; i++) {
            const struct share *s = &p->share[i];
            const size_t end = edges ? s->edges : s->tiling.bands, before = s->band;
            if (s->band < end &&
                (launch(lf, i, generations) < 0 ||
                 (packed_is_divided(lf, p) && clflush(lf->ctx, (cl_uint)i, 0) < 0)))
                return -1;
            started = started || s->band > before;
            left = left || s->band < end;
        }
        if (left && !started &&
            (packed_wait(lf) < 0 || tell_within(lf, generations * part_of_pass(p)) < 0))
            return -1;
    }
    return 0;
}

static int send_early(life *lf)
{
    struct packed *p = lf->state;
    p->ahead = true;
    const int status = send_edges(lf);
    p->ahead = false;
    return status;
}

/* So many generations on every device; before them the edges arrive, if these were sent, or too few
 * of the neighbours' rows are right. */
static int launch_all(life *lf, int generations)
{
    struct packed *p = lf->state;
    if (p->held)
        return packed_held_launch(lf, generations);
    const bool blocks = p->across > 1, divided = blocks || packed_is_divided(lf, p);
    const bool exchange = divided && (p->early || p->good < (size_t)generations);
    if (exchange && blocks && packed_exchange_columns(lf) < 0)
        return -1;
    if (exchange &&
        ((!p->early && (send_edges(lf) < 0 || mail_edges(lf) < 0)) || receive_edges(lf) < 0))
        return -1;
    const bool early = divided && !blocks && p->good - (size_t)generations < (size_t)p->generations;
    for (size_t i = 0; i < p->n; i++)
        order_bands(p, &p->share[i], early);
    if (launch_bands(lf, generations, true) < 0 || (early && send_early(lf) < 0) ||
        launch_bands(lf, generations, false) < 0 || (early && mail_edges(lf) < 0))
        return -1;
    for (size_t i = 0; i < p->n; i++)
        p->share[i].now ^= passes_of(p, generations) & 1;
    p->good -= divided ? (size_t)generations : 0;
    p->early = early;
    lf->call.done += generations;
    return 0;
}

/* How many generations a launch is to go on: with many passes, so many as a slice holds; else a
 * pass, whose bands are divided if need be. */
static int generations_at_once(const life *lf, const struct packed *p)
{
    const double cells = (double)lf->width * (double)lf->height,
                 fit = pace_slice(&p->share[0].pace) / cells;
    const int most = p->generations * p->passes;
    if (p->held)
        return packed_held_most(lf);
    if (p->passes == 1 || fit >= most)
        return most;
    return fit < 1                ? 1
           : fit < p->generations ? (int)fit
                                  : (int)(fit / p->generations) * p->generations;
}

struct talk {
    uint64_t next; /* so many launches on ranks talk again: the least of all */
    int32_t end;   /* one of them was told to end */
};

static void join_talk(void *a, const void *b, void *arg)
{
    struct talk *one = a;
    const struct talk *two = b;
    (void)arg;
    one->next = two->next < one->next ? two->next : one->next;
    one->end |= two->end;
}

/* Ranks end together, and so often that a caller is heard in time: some times a second. */
static int talk(life *lf)
{
    struct packed *p = lf->state;
    const double now = seconds_now(), took = now - p->talked, wanted = 0.3;
    const double next = took > 0 ? (double)p->talk * wanted / took : BACKLOG;
    struct talk all = {next > BACKLOG ? BACKLOG
                       : next < 1     ? 1
                                      : (uint64_t)next,
                       life_call_tell(lf, 0) < 0};
    if (world_reduce(lf->world, &all, sizeof all, join_talk, NULL) != 0)
        return -1;
    p->talk = all.next;
    p->talked = now;
    return all.end ? progress_cancelled("life") : 0;
}

int packed_advance(life *lf, uint64_t generations)
{
    struct packed *p = lf->state;
    p->talked = seconds_now();
    for (uint64_t launches = 1; generations; launches++) {
        const int most = generations_at_once(lf, p);
        const int now = generations < (uint64_t)most ? (int)generations : most;
        generations -= (uint64_t)now;
        if (launch_all(lf, now) < 0)
            return -1;
        if (launches % (world_size(lf->world) > 1 ? p->talk : BACKLOG) == 0 &&
            (packed_wait(lf) < 0 ||
             (generations && (world_size(lf->world) > 1 ? talk(lf) : life_call_tell(lf, 0)) < 0)))
            return -1;
    }
    return 0;
}
