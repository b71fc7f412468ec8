/* domain.c - a tree that several devices make: which has which part of it, and how bytes go
 * from one to another.
 *
 * Hilbert's curve is cut at keys, so that a part has the bodies of a stretch of it. Where cuts are
 * changes no bit. Bodies that are moved by one device and lie in the part of another go there and
 * their sums come back, by way of hosts.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "core/clock.h"

#include <math.h>

/* ---- Made and freed. ------------------------------------------------------------------------- */

void *nbody_domain_block(struct nbody *nb, size_t bytes)
{
    return clmalloc(nb->ctx, bytes < 32768 ? 32768 : bytes, CL_MEM_PER_DEVICE);
}

int nbody_domain_reserve(struct nbody *nb, size_t slots)
{
    struct domains *s = nb->domains;
    clfree(s->post);
    clfree(s->post_row);
    clfree(s->sums);
    s->room = slots;
    s->post = nbody_domain_block(nb, s->n * slots * 8 * nb->real);
    s->post_row = nbody_domain_block(nb, s->n * slots * sizeof(cl_uint));
    s->sums = nbody_domain_block(nb, s->n * slots * 4 * nb->real);
    return s->post && s->post_row && s->sums ? 0 : -1;
}

static int place(struct nbody *nb)
{
    struct domains *s = nb->domains;
    const size_t n = s->n, four = 4 * nb->real;
    const size_t counts = (TREE_COUNTS + 2) * n;
    s->most = (cl_uint)(counts > 2 * TREE_LEVELS + 2 ? counts : 2 * TREE_LEVELS + 2) +
              2; /* and two more: nbody_let_counter */
    s->begin = calloc(n + 1, sizeof *s->begin);
    s->start = calloc(n * (n + 1), sizeof *s->start);
    s->sent = calloc(8 * n * n + 8 * n * (size_t)world_size(nb->world), sizeof *s->sent);
    s->come = calloc(8 * n * n + 8 * n * (size_t)world_size(nb->world), sizeof *s->come);
    s->posted = calloc(n, sizeof *s->posted);
    s->down = calloc(3 * n, sizeof *s->down);
    s->topping = s->down ? s->down + n : NULL;
    s->rising = s->down ? s->down + 2 * n : NULL;
    s->homing = calloc(n * n, sizeof *s->homing);
    s->seconds = calloc(n, sizeof *s->seconds);
    s->timed = calloc(n, sizeof *s->timed);
    s->cut = nbody_domain_block(nb, (n + 1) * sizeof *s->cut);
    s->pulled = clmalloc(nb->ctx, nb->n * four, CL_MEM_DEVONLY);
    s->words = 1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        p->bytes += p->tree ? nb->n * four : 0;
    s->found = nbody_domain_block(nb, n * s->most * sizeof *s->found);
    s->samples = nbody_domain_block(nb, n * TREE_SAMPLES * sizeof *s->samples);
    s->edge = nbody_domain_block(nb, n * nbody_domain_edge_bytes(nb));
    s->tops =
        nbody_domain_block(nb, n * (2 * TREE_LEVELS + 1) * TREE_TOPS * nbody_domain_cell_bytes(nb));
    return s->begin && s->start && s->down && s->homing && s->seconds && s->timed && s->sent &&
                   s->come && s->cut && s->posted && s->pulled && s->found && s->samples &&
                   s->edge && s->tops
               ? nbody_domain_reserve(nb, TREE_SAMPLES)
               : clerror_set(ENOMEM, "nbody_create: no memory for a tree in %u parts", s->n);
}

int nbody_domain_open(struct nbody *nb)
{
    size_t n;
    struct holder *holder = nbody_ranks_holders(nb, &n);
    struct nbody_device *p = nb->device;
    if (!holder || n < 2)
        return free(holder), n < 2 ? 0 : clerror_set(ENOMEM, "nbody_create: no memory on the host");
    struct domains *s = nb->domains = calloc(1, sizeof *s);
    struct owner *owner = calloc(n, sizeof *owner);
    if (s) {
        s->n = (cl_uint)n;
        s->owner = owner;
    }
    for (size_t k = 0; s && owner && k < n; k++) {
        owner[k] = (struct owner){.rank = holder[k].rank,
                                  .first = holder[k].first,
                                  .count = holder[k].count,
                                  .speed = 1,
                                  .part = (double)holder[k].count / (double)nb->n};
        if (holder[k].rank != world_rank(nb->world))
            continue;
        while (!p->tree)
            p++;
        owner[k].share = p;
        p++->tree->number = (cl_uint)k;
    }
    free(holder);
    return s && owner ? 0 : clerror_set(ENOMEM, "nbody_create: no memory on the host");
}

int nbody_domain_allocate(struct nbody *nb)
{
    return nb->domains ? place(nb) : 0;
}

void nbody_domain_free(struct nbody *nb)
{
    struct domains *s = nb->domains;
    if (!s)
        return;
    if (s->sent)
        world_wait(nb->world, s->sent, s->nsent);
    void *const blocks[] = {s->pulled, s->cut,     s->post, s->post_row, s->sums,
                            s->found,  s->samples, s->edge, s->tops};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    free(s->owner);
    free(s->posted);
    free(s->down);
    free(s->homing);
    free(s->seconds);
    free(s->timed);
    free(s->begin);
    free(s->start);
    free(s->sent);
    free(s->come);
    free(s);
    nb->domains = NULL;
}

/* ---- Bytes from one to another. -------------------------------------------------------------- */

static int start_copy(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                      int direction, cl_event *ev)
{
    *ev = clmsyncn(nb->ctx, p->dev, at, bytes, direction | CL_EVENT_NOWAIT | CL_EVENT_CHECKED);
    return *ev == (cl_event)-1 ? -1 : 0;
}

static int copy(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                int direction)
{
    cl_event ev;
    return start_copy(nb, p, at, bytes, direction, &ev);
}

int nbody_domain_await(struct nbody *nb, const struct nbody_device *p, cl_event ev)
{
    return clwaitev(nb->ctx, p->dev, ev, 0) == (cl_event)-1 ? -1 : 0;
}

int nbody_domain_upload(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes)
{
    return copy(nb, p, at, bytes, CL_MEM_DEVICE);
}

int nbody_domain_upload_side_queue(struct nbody *nb, const struct nbody_device *p, void *at,
                                   size_t bytes, cl_event *ev)
{
    return start_copy(nb, p, at, bytes, CL_MEM_DEVICE | CL_EVENT_SIDE_QUEUE, ev);
}

int nbody_domain_begin_download(struct nbody *nb, const struct nbody_device *p, void *at,
                                size_t bytes, bool after, cl_event *ev)
{
    return start_copy(nb, p, at, bytes,
                      CL_MEM_HOST | CL_EVENT_SIDE_QUEUE | (after ? CL_EVENT_BARRIER : 0), ev);
}

int nbody_domain_after(struct nbody *nb, const struct nbody_device *p)
{
    return copy(nb, p, nb->domains->found, 0, CL_MEM_HOST | CL_EVENT_BARRIER);
}

int nbody_domain_wait_uploads(struct nbody *nb, const struct nbody_device *p)
{
    const cl_event ev = nb->domains->rising[p->tree->number];
    nb->domains->rising[p->tree->number] = NULL;
    return ev ? nbody_domain_await(nb, p, ev) : 0;
}

int nbody_domain_mark(struct nbody *nb, const struct nbody_device *p, cl_event *ev)
{
    return start_copy(nb, p, nb->domains->found, 0, CL_MEM_HOST, ev);
}

/* Devices that have parts are waited for by turns: of the first it is known when it ended. */
static struct nbody_device *waited_first(const struct nbody *nb)
{
    const struct domains *s = nb->domains;
    for (cl_uint k = 0; k < s->n; k++) {
        const struct owner *o = &s->owner[(s->turn + k) % s->n];
        if (o->share)
            return o->share;
    }
    return NULL;
}

/* A device's walks have ended. */
static void note_seconds(struct domains *s, const struct nbody_device *first)
{
    if (first && s->walks_began > 0) {
        s->seconds[first->tree->number] += seconds_now() - s->walks_began;
        s->timed[first->tree->number]++;
        s->turn = first->tree->number + 1;
    }
    s->walks_began = 0;
}

int nbody_domain_wait(struct nbody *nb)
{
    struct nbody_device *const first = waited_first(nb);
    int status = first ? nbody_device_wait(nb, first) : 0;
    note_seconds(nb->domains, first);
    EACH_PART(nb, p)
    if (p != first && nbody_device_wait(nb, p) != 0)
        status = -1;
    return status;
}

/* What is complete is collected while devices walk, so that a device that has ended is not kept
 * waiting for that. Parcels go down as soon as walks have ended, beside what is started then. */
int nbody_domain_begin_return(struct nbody *nb, const struct transfer *parcel, size_t n)
{
    cl_event ev;
    EACH_PART(nb, p)
    {
        bool after = true;
        if (clwait(nb->ctx, p->dev, CL_ALL_EVENT | CL_EVENT_NOWAIT) == (cl_event)-1)
            return -1;
        for (const struct transfer *c = parcel; c < parcel + n; c++) {
            if (c->from != p->tree->number)
                continue;
            if (nbody_domain_begin_download(nb, p, c->at, c->bytes, after, &ev) != 0)
                return -1;
            after = false;
        }
        if (nbody_domain_begin_download(nb, p, nb->domains->found, 0, after,
                                        &nb->domains->down[p->tree->number]) != 0 ||
            clflush(nb->ctx, p->dev, 0) != 0)
            return -1;
    }
    return 0;
}

int nbody_domain_end_return(struct nbody *nb, const struct transfer *parcel, size_t n)
{
    struct nbody_device *const first = waited_first(nb);
    const struct owner *o = nb->domains->owner;
    cl_event ev;
    int status = 0;
    if (first)
        status = nbody_domain_await(nb, first, nb->domains->down[first->tree->number]);
    note_seconds(nb->domains, first);
    EACH_PART(nb, p)
    {
        if (status == 0 && p != first)
            status = nbody_domain_await(nb, p, nb->domains->down[p->tree->number]);
        nbody_device_mark_idle(nb, p);
    }
    for (const struct transfer *c = parcel; status == 0 && c < parcel + n; c++)
        status = nbody_domain_upload_side_queue(nb, o[c->to].share, c->at, c->bytes, &ev);
    EACH_PART(nb, p)
    if (status == 0)
        status = nbody_domain_after(nb, p);
    return status;
}

static int flush_all(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->tree && clflush(nb->ctx, p->dev, 0) != 0)
            return -1;
    return 0;
}

/* Mail of a part's bytes. */
static int post(struct nbody *nb, bool send, int rank, cl_uint part, void *bytes, size_t size)
{
    struct domains *s = nb->domains;
    world_request *mail = send ? world_send(nb->world, rank, 16 + (int)part, bytes, size)
                               : world_receive(nb->world, rank, 16 + (int)part, bytes, size);
    if (!mail)
        return -1;
    if (send)
        s->sent[s->nsent++] = mail;
    else
        s->come[s->ncome++] = mail;
    return 0;
}

static int wait_mail(struct nbody *nb)
{
    struct domains *s = nb->domains;
    const size_t come = s->ncome, sent = s->nsent;
    s->ncome = s->nsent = 0;
    const int status = world_wait(nb->world, s->come, come);
    return world_wait(nb->world, s->sent, sent) == 0 ? status : -1;
}

/* Whether a parcel's bytes are on their way already, since another part gets them, too: to the
 * host, or to a rank. */
static bool follows(const struct transfer *c, const struct transfer *first, int rank,
                    const struct owner *o)
{
    return c > first && c[-1].from == c->from && c[-1].at == c->at &&
           (rank < 0 || o[c[-1].to].rank == rank);
}

/* All that goes from this rank's devices to the host, and room for what comes from other ranks. */
static int start_down(struct nbody *nb, const struct gathered *g, size_t ng,
                      const struct transfer *parcel, size_t n)
{
    const struct domains *s = nb->domains;
    const struct owner *o = s->owner;
    for (size_t b = 0; b < ng; b++)
        for (cl_uint k = 0; k < s->n; k++) {
            char *const at = (char *)g[b].block + k * g[b].each;
            if (o[k].share ? copy(nb, o[k].share, at, g[b].each, CL_MEM_HOST) != 0
                           : post(nb, false, o[k].rank, k, at, g[b].each) != 0)
                return -1;
        }
    for (const struct transfer *c = parcel; c < parcel + n; c++)
        if (c->bytes && o[c->from].share && !follows(c, parcel, -1, o) &&
            copy(nb, o[c->from].share, c->at, c->bytes, CL_MEM_HOST) != 0)
            return -1;
    for (const struct transfer *c = parcel; c < parcel + n; c++)
        if (c->bytes && !o[c->from].share && o[c->to].share &&
            !follows(c, parcel, o[c->to].rank, o) &&
            post(nb, false, o[c->from].rank, c->from, c->at, c->bytes) != 0)
            return -1;
    return 0;
}

/* Each part's to all other ranks. */
static int tell(struct nbody *nb, const struct gathered *g, cl_uint part)
{
    const struct owner *o = &nb->domains->owner[part];
    for (int r = 0; r < world_size(nb->world); r++)
        if (o->share && r != world_rank(nb->world) &&
            post(nb, true, r, part, (char *)g->block + part * g->each, g->each) != 0)
            return -1;
    return 0;
}

/* What is there now goes to other ranks, and to this one's devices. */
static int pass_on(struct nbody *nb, const struct gathered *g, size_t ng,
                   const struct transfer *parcel, size_t n)
{
    const struct owner *o = nb->domains->owner;
    for (size_t b = 0; b < ng; b++)
        for (cl_uint k = 0; k < nb->domains->n; k++)
            if (tell(nb, &g[b], k) != 0)
                return -1;
    for (const struct transfer *c = parcel; c < parcel + n; c++) {
        if (c->bytes && o[c->from].share && !o[c->to].share &&
            !follows(c, parcel, o[c->to].rank, o) &&
            post(nb, true, o[c->to].rank, c->from, c->at, c->bytes) != 0)
            return -1;
        if (c->bytes && o[c->from].share && o[c->to].share &&
            copy(nb, o[c->to].share, c->at, c->bytes, CL_MEM_DEVICE) != 0)
            return -1;
    }
    return flush_all(nb);
}

static int pass(struct nbody *nb, const struct transfer *c, cl_event down)
{
    const struct owner *o = nb->domains->owner;
    if (c->bytes == 0)
        return 0;
    if (down && nbody_domain_await(nb, o[c->from].share, down) != 0)
        return -1;
    cl_event ev;
    if (start_copy(nb, o[c->to].share, c->at, c->bytes,
                   CL_MEM_DEVICE | (c->beside ? CL_EVENT_SIDE_QUEUE : 0), &ev) != 0)
        return -1;
    if (c->beside)
        nb->domains->rising[c->to] = ev;
    return clflush(nb->ctx, o[c->to].share->dev, 0);
}

/* Among the devices of one rank: each piece goes on as soon as it has come to the host, in the
 * order of parcels, first those that were under way. Only these copies are waited for: to collect
 * all that was started takes time, for which nobody should wait in the middle of a sum. */
static int pass_each(struct nbody *nb, const struct gathered *g, size_t ng,
                     const struct transfer *parcel, size_t n, start_on meanwhile)
{
    const struct owner *o = nb->domains->owner;
    cl_event *ev = calloc(n + ng * nb->domains->n + 1, sizeof *ev), *next = ev;
    int status = ev ? 0 : clerror_set(ENOMEM, "nbody: no memory on the host");
    for (size_t b = 0; status == 0 && b < ng; b++)
        for (cl_uint k = 0; status == 0 && k < nb->domains->n; k++)
            status = start_copy(nb, o[k].share, (char *)g[b].block + k * g[b].each, g[b].each,
                                CL_MEM_HOST, next++);
    for (size_t c = 0; status == 0 && c < n; c++, next++)
        if (parcel[c].begun)
            *next = parcel[c].begun;
        else if (parcel[c].bytes && !follows(&parcel[c], parcel, -1, o))
            status = start_copy(nb, o[parcel[c].from].share, parcel[c].at, parcel[c].bytes,
                                CL_MEM_HOST, next);
    if (status == 0)
        status = flush_all(nb);
    if (status == 0 && meanwhile)
        status = nbody_device_threads_all(nb, meanwhile, 0);
    next = ev + ng * nb->domains->n;
    for (size_t c = 0; status == 0 && c < n; c++)
        status = parcel[c].begun ? pass(nb, &parcel[c], next[c]) : 0;
    for (size_t k = 0; status == 0 && k < ng * nb->domains->n; k++)
        status = nbody_domain_await(nb, o[k % nb->domains->n].share, ev[k]);
    for (size_t c = 0; status == 0 && c < n; c++)
        status = parcel[c].begun ? 0 : pass(nb, &parcel[c], next[c]);
    free(ev);
    return status;
}

int nbody_domain_exchange(struct nbody *nb, const struct gathered *g, size_t ng,
                          const struct transfer *parcel, size_t n, start_on meanwhile)
{
    const struct owner *o = nb->domains->owner;
    if (world_size(nb->world) == 1)
        return pass_each(nb, g, ng, parcel, n, meanwhile);
    if (start_down(nb, g, ng, parcel, n) != 0 || flush_all(nb) != 0 ||
        (meanwhile && nbody_device_threads_all(nb, meanwhile, 0) != 0) ||
        nbody_domain_wait(nb) != 0 || pass_on(nb, g, ng, parcel, n) != 0 || wait_mail(nb) != 0)
        return -1;
    for (const struct transfer *c = parcel; c < parcel + n; c++)
        if (c->bytes && !o[c->from].share && o[c->to].share &&
            copy(nb, o[c->to].share, c->at, c->bytes, CL_MEM_DEVICE) != 0)
            return -1;
    return 0;
}

int nbody_domain_exchange_transfers(struct nbody *nb, const struct transfer *parcel, size_t n)
{
    return nbody_domain_exchange(nb, NULL, 0, parcel, n, NULL);
}

int nbody_domain_gather(struct nbody *nb, const struct gathered *g, size_t n, start_on meanwhile)
{
    return nbody_domain_exchange(nb, g, n, NULL, 0, meanwhile);
}

static void either(void *a, const void *b, void *arg)
{
    for (size_t k = 0; k < *(const size_t *)arg; k++)
        ((uint64_t *)a)[k] |= ((const uint64_t *)b)[k];
}

int nbody_domain_fill(struct nbody *nb, uint64_t *words, size_t n)
{
    return world_reduce(nb->world, words, n * sizeof *words, either, &n);
}

int nbody_domain_import_nodes(struct nbody *nb, struct nbody_device *p, void *cells, size_t first_,
                              size_t count_)
{
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)first_, count = (cl_uint)count_;
    return nbody_tree_launch_1d(
        nb, p, TREE_ADOPT, count,
        ARGS(cells, first, count, t->down, t->link, t->com, t->poles, t->size, t->body));
}

/* ---- Where to cut. --------------------------------------------------------------------------- */

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double number_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What a group costs: instructions a body of its walk, and of what else is done for it (on an H200
 * with 2^24 bodies a fifth of all). */
static double cost_of(const struct nbody *nb, const cl_uint *info)
{
    return (nb->moments == 2 ? 32.0 : 110.0) * info[0] + 13.0 * info[1] + 9000;
}

/* The groups whose first body is this part's. */
static cl_uint first_group(const struct tree *t)
{
    return (t->begin + TREE_GROUP - 1) / TREE_GROUP;
}

/* The group that a part of the whole cost, `wanted`, falls into; `before`: what the parts before
 * this one cost. */
static cl_uint group_at(const struct nbody *nb, const struct tree *t, double wanted, double before)
{
    const cl_uint(*info)[4] = t->info;
    cl_uint g = first_group(t);
    while (g + 1 < t->from + t->groups && before + cost_of(nb, info[g]) / 2 < wanted)
        before += cost_of(nb, info[g++]);
    return g;
}

/* The costs of all parts. */
static int costs(struct nbody *nb, uint64_t *cost)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        const struct tree *t = p->tree;
        if (!t || !t->groups)
            continue;
        const cl_uint(*info)[4] = t->info;
        double sum = 0;
        if (nbody_device_download(nb, p, (void *)(uintptr_t)(info + t->from),
                                  t->groups * sizeof *info) != 0)
            return -1;
        for (cl_uint g = first_group(t); g < t->from + t->groups; g++)
            sum += cost_of(nb, info[g]);
        cost[t->number] = bits_of(sum);
    }
    return nbody_domain_fill(nb, cost, nb->domains->n);
}

/* Walks that end sooner tell how fast the host is. */
static const double LEAST_SECONDS = 4e-3;

/* How fast devices were beside each other in the last walks, by costs: as much as before and half
 * as much as now, or later an eighth, and at most a tenth more or less than 1, since what costs are
 * is a guess and times are those of a busy machine. With the caller's shares nothing depends on
 * times. */
static int speeds(struct nbody *nb, const uint64_t *cost)
{
    struct domains *s = nb->domains;
    uint64_t *each = calloc(s->n, sizeof *each);
    double mean = 0;
    bool all = true;
    if (!each)
        return clerror_set(ENOMEM, "nbody: no memory on the host");
    for (cl_uint k = 0; k < s->n && !nb->shares_given; k++)
        if (s->owner[k].share && s->timed[k] && s->seconds[k] > LEAST_SECONDS * s->timed[k])
            each[k] = bits_of(number_of(cost[k]) * s->timed[k] / s->seconds[k]);
    const int status = nbody_domain_fill(nb, each, s->n);
    for (cl_uint k = 0; k < s->n; k++) {
        all &= number_of(each[k]) > 0;
        mean += number_of(each[k]) / s->owner[k].part / s->n;
    }
    for (cl_uint k = 0; status == 0 && all && k < s->n; k++) {
        const double now = number_of(each[k]) / s->owner[k].part / mean;
        s->owner[k].speed +=
            (fmin(fmax(now, 0.9), 1.1) - s->owner[k].speed) / (nbody_domain_balanced(nb) ? 8 : 2);
        s->seconds[k] = 0;
        s->timed[k] = 0;
    }
    free(each);
    return status;
}

/* What a part is to cost, of all; that of the parts before it. */
static double wanted(const struct domains *s, cl_uint part)
{
    return s->owner[part].part * s->owner[part].speed;
}

static double wanted_before(const struct domains *s, cl_uint part)
{
    double before = 0;
    for (cl_uint k = 0; k < part; k++)
        before += wanted(s, k);
    return before;
}

/* The body of a part at which it is cut in a group: where a share may begin, so that devices can
 * move just the bodies of their parts. */
static cl_uint cut_in(const struct nbody *nb, const struct tree *t, cl_uint group)
{
    const size_t body = (size_t)group * TREE_GROUP, even = body / nb->grain * nb->grain;
    return (cl_uint)((t->bodies / 64 > nb->grain && even > t->begin ? even : body) - t->begin);
}

/* Fills the cuts that fall into a part; they are the keys of the first bodies of groups. */
static int cut_part(struct nbody *nb, struct nbody_device *p, const uint64_t *cost, double all,
                    uint64_t *cut)
{
    struct tree *t = p->tree;
    const struct domains *s = nb->domains;
    const double own = number_of(cost[t->number]);
    double before = 0;
    cl_uint *which = t->which, n = 0, *number = malloc(s->n * sizeof *number);
    if (!number)
        return clerror_set(ENOMEM, "nbody: no memory on the host");
    for (cl_uint k = 0; k < t->number; k++)
        before += number_of(cost[k]);
    for (cl_uint k = 1; k < s->n; k++) {
        const double at = all * wanted_before(s, k) / wanted_before(s, s->n);
        if (at < before || at >= before + own)
            continue;
        number[n] = k;
        which[n++] = cut_in(nb, t, group_at(nb, t, at, before));
    }
    const cl_uint from = TREE_MARGIN / sizeof(cl_ulong);
    int status = n == 0                                                              ? 0
                 : clmsync(nb->ctx, p->dev, t->which, CL_MEM_DEVICE) == (cl_event)-1 ? -1
                                                                                     : 0;
    if (n && status == 0)
        status =
            nbody_tree_launch_1d(nb, p, TREE_PICK, n, ARGS(t->keys, from, t->which, n, t->picked));
    if (n && status == 0)
        status = nbody_device_download(nb, p, t->picked, n * sizeof(cl_ulong));
    for (cl_uint k = 0; k < n; k++)
        cut[number[k]] = ((const cl_ulong *)t->picked)[k];
    free(number);
    return status;
}

/* Whether parts differ from what they should cost by more than four thousandths. */
static bool uneven(const struct nbody *nb, const uint64_t *cost, double all)
{
    const struct domains *s = nb->domains;
    const double most = 1.004;
    bool any = false;
    for (cl_uint k = 0; k < s->n; k++)
        any |= number_of(cost[k]) > most * all * wanted(s, k) / wanted_before(s, s->n);
    return any;
}

int nbody_domain_cut(struct nbody *nb)
{
    struct domains *s = nb->domains;
    s->checks++;
    uint64_t *cost = calloc(2 * s->n, sizeof *cost), *cut = cost ? cost + s->n : NULL;
    double all = 0;
    int status = cost ? costs(nb, cost) : clerror_set(ENOMEM, "nbody: no memory on the host");
    if (status == 0)
        status = speeds(nb, cost);
    for (cl_uint k = 0; status == 0 && k < s->n; k++)
        all += number_of(cost[k]);
    if (status != 0 || !uneven(nb, cost, all))
        return free(cost), status;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->tree && p->tree->groups)
            status = cut_part(nb, p, cost, all, cut);
    if (status == 0)
        status = nbody_domain_fill(nb, cut, s->n);
    s->recut = s->moved = true;
    s->sums_lone = 0;
    for (cl_uint k = 1; status == 0 && k < s->n; k++)
        s->cut[k] = cut[k] > s->cut[k - 1] ? cut[k] : s->cut[k - 1];
    free(cost);
    return status;
}
