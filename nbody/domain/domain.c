/* domain.c - domain decomposition: domain boundaries, load balancing, and transfers between
 * domains.
 *
 * A domain is a range of keys on the Hilbert curve; each device owns one. The boundaries change no
 * bit of a result. A body that one device integrates may lie in another device's domain: it
 * migrates there for a sum, and its force returns through the host.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

#include <math.h>

/* ---- Creation. ------------------------------------------------------------------------------- */

enum { LEAST_BLOCK = 32768 }; /* bytes */

void *nbody_domain_block(struct nbody *nb, size_t bytes)
{
    void *block = clmalloc(nb->ctx, bytes < LEAST_BLOCK ? LEAST_BLOCK : bytes, CL_MEM_PER_DEVICE);
    EACH_TREE(nb, p)
    nbody_device_add_bytes(p, block ? clsizeofmem(block) : 0);
    return block;
}

void nbody_domain_free_block(struct nbody *nb, void *block)
{
    EACH_TREE(nb, p)
    nbody_device_drop_bytes(p, block ? clsizeofmem(block) : 0);
    clfree(block);
}

/* Allocate a block of migrating bodies of one device again. */
static int migrants_allocate(struct nbody *nb, struct nbody_device *p, void **block, size_t bytes)
{
    if (*block)
        nbody_device_drop_bytes(p, clsizeofmem(*block));
    clfree(*block);
    *block = clmalloc(nb->ctx, bytes < LEAST_BLOCK ? LEAST_BLOCK : bytes, CL_MEM_PER_DEVICE);
    if (!*block)
        return -1;
    nbody_device_add_bytes(p, clsizeofmem(*block));
    return 0;
}

int nbody_domain_reserve(struct nbody *nb, struct nbody_device *p, struct migrants *m, size_t slots)
{
    if (slots <= m->room)
        return 0;
    const size_t room = slots < TREE_SAMPLES ? TREE_SAMPLES : slots + slots / 4;
    m->room = 0; /* until all are there */
    if (migrants_allocate(nb, p, &m->body, room * 8 * nb->real) != 0 ||
        migrants_allocate(nb, p, &m->force, room * 4 * nb->real) != 0 ||
        (m == &p->domain.sent && migrants_allocate(nb, p, &m->row, room * sizeof(cl_uint)) != 0))
        return -1;
    m->room = room;
    return 1;
}

/* Allocate the first blocks of migrating bodies of all devices. */
static int migrants_open(struct nbody *nb)
{
    EACH_TREE(nb, p)
    if (nbody_domain_reserve(nb, p, &p->domain.sent, 1) < 0 ||
        nbody_domain_reserve(nb, p, &p->domain.received, 1) < 0)
        return -1;
    return 0;
}

static void migrants_free(struct migrants *m)
{
    clfree(m->body);
    clfree(m->force);
    clfree(m->row);
    *m = (struct migrants){0};
}

int nbody_domain_allocate_all(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t n = s->n, counts = (TREE_COUNTS + 2) * n,
                 messages = 4 * n * n + 2 * n * (size_t)world_size(nb->world);
    s->counts_each = (cl_uint)(counts > 2 * TREE_LEVELS + 2 ? counts : 2 * TREE_LEVELS + 2) +
                     2; /* two more: nbody_let_single_index and nbody_let_stale_index */
    s->begin = calloc(n + 1, sizeof *s->begin);
    s->slot_begin = calloc(n * (n + 1), sizeof *s->slot_begin);
    s->send_request = calloc(messages, sizeof *s->send_request);
    s->receive_request = calloc(messages, sizeof *s->receive_request);
    s->list = calloc(4 * n * n + 2 * n, sizeof *s->list);
    s->ev = calloc(n, sizeof *s->ev);
    s->walk_seconds = calloc(n, sizeof *s->walk_seconds);
    s->walk_count = calloc(n, sizeof *s->walk_count);
    s->cost = calloc(2 * n, sizeof *s->cost);
    s->rate = s->cost ? s->cost + n : NULL;
    s->moved = calloc(n, sizeof *s->moved);
    s->boundary = nbody_domain_block(nb, (n + 1) * sizeof *s->boundary);
    nb->domain.key_words = 1;
    s->counts = nbody_domain_block(nb, n * s->counts_each * sizeof *s->counts);
    s->samples = nbody_domain_block(nb, n * TREE_SAMPLES * sizeof *s->samples);
    s->edge = nbody_domain_block(nb, n * nbody_domain_edge_bytes(nb));
    s->toptree = nbody_domain_block(nb, n * (2 * TREE_LEVELS + 1) * TREE_TOP_CELLS *
                                            nbody_domain_cell_bytes(nb));
    return s->begin && s->slot_begin && s->ev && s->list && s->walk_seconds && s->walk_count &&
                   s->cost && s->moved && s->send_request && s->receive_request && s->boundary &&
                   s->counts && s->samples && s->edge && s->toptree
               ? migrants_open(nb)
               : clerror_set(ENOMEM, "nbody_create: out of memory for a tree of %u domains", s->n);
}

int nbody_domain_open(struct nbody *nb)
{
    size_t n;
    struct holder *holder = nbody_ranks_holders(nb, &n);
    struct nbody_device *p = nb->device;
    if (!holder || n < 2)
        return free(holder),
               n < 2 ? 0 : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    struct domains *s = nb->domain.tree = calloc(1, sizeof *s);
    struct owner *owner = calloc(n, sizeof *owner);
    if (s) {
        s->n = nb->domain.ndomains = (cl_uint)n;
        s->owner = owner;
    }
    for (size_t k = 0; s && owner && k < n; k++) {
        owner[k] = (struct owner){.rank = holder[k].rank,
                                  .first = holder[k].first,
                                  .count = holder[k].count,
                                  .speed = 1,
                                  .fraction = (double)holder[k].count / (double)nb->n};
        if (holder[k].rank != world_rank(nb->world))
            continue;
        while (!p->force.tree)
            p++;
        owner[k].device = p;
        p++->domain.index = (cl_uint)k;
    }
    free(holder);
    return s && owner ? 0 : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
}

void nbody_domain_free_all(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    if (!s)
        return;
    if (s->send_request)
        world_wait(nb->world, s->send_request, s->nsend);
    void *const blocks[] = {s->boundary, s->counts, s->samples, s->edge, s->toptree};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    for (cl_uint k = 0; s->owner && k < s->n; k++)
        if (s->owner[k].device) {
            migrants_free(&s->owner[k].device->domain.sent);
            migrants_free(&s->owner[k].device->domain.received);
        }
    for (cl_uint k = 0; s->ev && k < s->n; k++) {
        nbody_domain_forget_event(&s->ev[k].box);
        nbody_domain_forget_event(&s->ev[k].boxes);
        nbody_domain_forget_event(&s->ev[k].toptree);
        nbody_domain_forget_event(&s->ev[k].packed);
        nbody_domain_forget_event(&s->ev[k].upload);
        nbody_domain_forget_event(&s->ev[k].walks);
    }
    nbody_domain_clear_list(s);
    free(s->owner);
    free(s->ev);
    free(s->list);
    free(s->walk_seconds);
    free(s->walk_count);
    free(s->cost);
    free(s->moved);
    free(s->begin);
    free(s->slot_begin);
    free(s->send_request);
    free(s->receive_request);
    free(s);
    nb->domain.tree = NULL;
}

/* ---- Transfers. ------------------------------------------------------------------------------ */

void nbody_domain_forget_event(cl_event *ev)
{
    if (*ev)
        clReleaseEvent(*ev);
    *ev = NULL;
}

/* Enqueue a copy. Events belong to the caller: ranks may share a device, and each rank's clwait
 * releases the events of the library. */
static int domain_copy(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                       int flags, cl_event *ev)
{
    const cl_event copied =
        clmsyncn(nb->ctx, p->dev, at, bytes,
                 flags | CL_EVENT_NOWAIT | CL_EVENT_CHECKED | (ev ? CL_EVENT_OWN : 0));
    if (copied == (cl_event)-1)
        return -1;
    if (!ev)
        return 0;
    nbody_domain_forget_event(ev);
    *ev = copied;
    return 0;
}

int nbody_domain_wait_event(struct nbody *nb, const struct nbody_device *p, cl_event *ev)
{
    const cl_event it = *ev;
    *ev = NULL;
    return it && clwaitev(nb->ctx, p->dev, it, CL_EVENT_RELEASE) == (cl_event)-1 ? -1 : 0;
}

int nbody_domain_upload(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes)
{
    return domain_copy(nb, p, at, bytes, CL_MEM_DEVICE, NULL);
}

int nbody_domain_download(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                          enum download when, cl_event *ev)
{
    static const int flags[] = {[IN_ORDER] = 0,
                                [BESIDE] = CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER,
                                [READY] = CL_EVENT_SIDE_QUEUE};
    return domain_copy(nb, p, at, bytes, CL_MEM_HOST | flags[when], ev);
}

int nbody_domain_barrier(struct nbody *nb, const struct nbody_device *p)
{
    return domain_copy(nb, p, nb->domain.tree->counts, 0, CL_MEM_HOST | CL_EVENT_BARRIER, NULL);
}

int nbody_domain_wait_uploads(struct nbody *nb, const struct nbody_device *p)
{
    return nbody_domain_wait_event(nb, p, &nb->domain.tree->ev[p->domain.index].upload);
}

static int domain_flush_all(struct nbody *nb)
{
    EACH_TREE(nb, p)
    if (clflush(nb->ctx, p->dev, 0) != 0)
        return -1;
    return 0;
}

void nbody_domain_clear_list(struct domains *s)
{
    for (size_t c = 0; c < s->nlist; c++)
        nbody_domain_forget_event(&s->list[c].ev_download);
    s->nlist = 0;
}

void nbody_domain_add(struct nbody *nb, cl_uint from, cl_uint to, void *at, size_t bytes,
                      enum download when, cl_event *ev)
{
    struct domains *s = nb->domain.tree;
    if (bytes == 0 || from == to ||
        (!s->owner[from].device && to != TO_HOSTS && !s->owner[to].device))
        return;
    s->list[s->nlist++] = (struct transfer){from, to, at, at, bytes, when, ev ? *ev : NULL};
    if (ev)
        *ev = NULL;
}

void nbody_domain_add_to(struct nbody *nb, cl_uint from, cl_uint to, void *at, void *to_at,
                         size_t bytes, enum download when)
{
    struct domains *s = nb->domain.tree;
    const size_t before = s->nlist;
    nbody_domain_add(nb, from, to, s->owner[from].device ? at : to_at, bytes, when, NULL);
    if (s->nlist > before)
        s->list[before].to_at = to_at;
}

/* Post a message with the bytes of a transfer. */
static int transfer_post(struct nbody *nb, const struct transfer *c, bool send, int rank)
{
    struct domains *s = nb->domain.tree;
    const int tag = 16 + (int)c->from;
    world_request *request = send ? world_send(nb->world, rank, tag, c->at, c->bytes)
                                  : world_receive(nb->world, rank, tag, c->at, c->bytes);
    if (!request)
        return -1;
    if (send)
        s->send_request[s->nsend++] = request;
    else
        s->receive_request[s->nreceive++] = request;
    return 0;
}

static int domain_wait_requests(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t come = s->nreceive, sent = s->nsend;
    s->nreceive = s->nsend = 0;
    const int status = world_wait(nb->world, s->receive_request, come);
    return world_wait(nb->world, s->send_request, sent) == 0 ? status : -1;
}

/* True if a transfer before c moves the same bytes: to the host (rank < 0), or to `rank`. */
static bool transfer_repeats_bytes(const struct domains *s, const struct transfer *c, int rank)
{
    for (; c > s->list && c[-1].from == c->from && c[-1].at == c->at; c--)
        if (rank < 0 || c[-1].to == TO_HOSTS || s->owner[c[-1].to].rank == rank)
            return true;
    return false;
}

/* Enqueue the download of a transfer's bytes, or post their receive. */
static int transfer_start(struct nbody *nb, struct transfer *c)
{
    const struct domains *s = nb->domain.tree;
    const struct owner *from = &s->owner[c->from];
    if (from->device)
        return c->ev_download || transfer_repeats_bytes(s, c, -1)
                   ? 0
                   : nbody_domain_download(nb, from->device, c->at, c->bytes, c->when,
                                           &c->ev_download);
    return transfer_repeats_bytes(s, c, world_rank(nb->world))
               ? 0
               : transfer_post(nb, c, false, from->rank);
}

/* Enqueue the upload to the receiving domain's device, if it is this rank's. */
static int transfer_upload(struct nbody *nb, const struct transfer *c)
{
    struct domains *s = nb->domain.tree;
    const struct nbody_device *p = c->to == TO_HOSTS ? NULL : s->owner[c->to].device;
    if (!p)
        return 0;
    if (c->to_at != c->at)
        memcpy(c->to_at, c->at, c->bytes);
    if (domain_copy(nb, p, c->to_at, c->bytes, CL_MEM_DEVICE | CL_EVENT_SIDE_QUEUE,
                    &s->ev[c->to].upload) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

/* Wait for the download of a transfer's bytes, send them to other ranks, and enqueue the upload. */
static int transfer_forward(struct nbody *nb, struct transfer *c)
{
    const struct domains *s = nb->domain.tree;
    if (!s->owner[c->from].device)
        return 0;
    if (nbody_domain_wait_event(nb, s->owner[c->from].device, &c->ev_download) != 0)
        return -1;
    const int first = c->to == TO_HOSTS ? 0 : s->owner[c->to].rank,
              end = c->to == TO_HOSTS ? world_size(nb->world) : first + 1;
    for (int r = first; r < end; r++)
        if (r != world_rank(nb->world) && !transfer_repeats_bytes(s, c, r) &&
            transfer_post(nb, c, true, r) != 0)
            return -1;
    return transfer_upload(nb, c);
}

/* Each transfer is forwarded as soon as its download ends. The function waits for these copies
 * only: collecting all finished events takes time, which a sum cannot spare here. */
int nbody_domain_exchange(struct nbody *nb, launch_fn meanwhile)
{
    struct domains *s = nb->domain.tree;
    struct transfer *const end = s->list + s->nlist;
    int status = 0;
    if (s->nlist == 0 && !meanwhile)
        return 0;
    if (s->nsend > 0) /* sends of a failed exchange: long ones cannot be cancelled */
        status = domain_wait_requests(nb);
    for (struct transfer *c = s->list; status == 0 && c < end; c++)
        status = transfer_start(nb, c);
    if (status == 0)
        status = domain_flush_all(nb);
    if (status == 0 && meanwhile)
        status = nbody_device_threads_all(nb, meanwhile, 0);
    for (struct transfer *c = s->list; status == 0 && c < end; c++)
        status = transfer_forward(nb, c);
    if (status == 0)
        status = domain_wait_requests(nb);
    for (struct transfer *c = s->list; status == 0 && c < end; c++)
        if (!s->owner[c->from].device)
            status = transfer_upload(nb, c);
    nbody_ranks_cancel(nb->world, s->receive_request, &s->nreceive); /* of a failed exchange */
    nbody_domain_clear_list(s);
    return status;
}

int nbody_domain_gather(struct nbody *nb, void *block, size_t stride, size_t bytes,
                        enum download when, launch_fn meanwhile)
{
    for (cl_uint k = 0; k < nb->domain.tree->n; k++)
        nbody_domain_add(nb, k, TO_HOSTS, (char *)block + k * stride, bytes, when, NULL);
    return nbody_domain_exchange(nb, meanwhile);
}

int nbody_domain_gather_counts(struct nbody *nb, size_t words, enum download when,
                               launch_fn meanwhile)
{
    struct domains *s = nb->domain.tree;
    const size_t word = sizeof *s->counts;
    return nbody_domain_gather(nb, s->counts, s->counts_each * word, words * word, when, meanwhile);
}

/* ---- Walk times; return of forces. ----------------------------------------------------------- */

/* Return the device to wait for first. The domains take turns because the host knows only the
 * first device's end time. */
static struct nbody_device *domain_timed_device(const struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    for (cl_uint k = 0; k < s->n; k++) {
        const struct owner *o = &s->owner[(s->wait_first + k) % s->n];
        if (o->device)
            return o->device;
    }
    return NULL;
}

/* Add the walk time of the device that was waited for first. */
static void domain_record_walk_time(struct domains *s, const struct nbody_device *first)
{
    if (first && s->walks_began > 0) {
        s->walk_seconds[first->domain.index] += seconds_now() - s->walks_began;
        s->walk_count[first->domain.index]++;
        s->wait_first = first->domain.index + 1;
    }
    s->walks_began = 0;
}

/* Finished events are collected while the devices walk, so that no device idles later for that.
 * The downloads are enqueued on side queues and start when the walks end. */
int nbody_domain_begin_return(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    EACH_TREE(nb, p)
    {
        enum download when = BESIDE;
        if (clwait(nb->ctx, p->dev, CL_ALL_EVENT | CL_EVENT_NOWAIT) == (cl_event)-1)
            return -1;
        for (struct transfer *c = s->list; c < s->list + s->nlist; c++) {
            if (c->from != p->domain.index)
                continue;
            if (nbody_domain_download(nb, p, c->at, c->bytes, when, &c->ev_download) != 0)
                return -1;
            when = READY;
        }
        if (nbody_domain_download(nb, p, s->counts, 0, when, &s->ev[p->domain.index].walks) != 0 ||
            clflush(nb->ctx, p->dev, 0) != 0)
            return -1;
    }
    return 0;
}

int nbody_domain_end_return(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    struct nbody_device *const first = domain_timed_device(nb);
    int status = first ? nbody_domain_wait_event(nb, first, &s->ev[first->domain.index].walks) : 0;
    domain_record_walk_time(s, first);
    EACH_TREE(nb, p)
    {
        if (status == 0 && p != first)
            status = nbody_domain_wait_event(nb, p, &s->ev[p->domain.index].walks);
        nbody_device_mark_idle(nb, p);
    }
    if (status == 0)
        status = nbody_domain_exchange(nb, NULL);
    EACH_TREE(nb, p)
    if (status == 0)
        status = nbody_domain_barrier(nb, p);
    return status;
}

static void join_bitwise_or(void *a, const void *b, void *arg)
{
    for (size_t k = 0; k < *(const size_t *)arg; k++)
        ((uint64_t *)a)[k] |= ((const uint64_t *)b)[k];
}

/* Collective. Set the numbers of 64 bits that other ranks have: each is nonzero on one rank. */
static int domain_spread_numbers(struct nbody *nb, void *numbers)
{
    size_t n = nb->domain.tree->n;
    return world_reduce(nb->world, numbers, n * sizeof(uint64_t), join_bitwise_or, &n);
}

int nbody_domain_import_nodes(struct nbody *nb, struct nbody_device *p, cl_uint domain, void *cells,
                              size_t first_, size_t count_, cl_uint to)
{
    struct tree *t = p->force.tree;
    const cl_uint *const begin = nb->domain.tree->begin;
    const cl_uint first = (cl_uint)first_, count = (cl_uint)count_, own = domain == p->domain.index,
                  shift = nbody_tree_base(begin[domain]) - t->base, end = t->begin + t->bodies,
                  before =
                      begin[p->domain.index] < TREE_GROUP ? begin[p->domain.index] : TREE_GROUP,
                  after = t->target.n - end < TREE_GROUP ? t->target.n - end : TREE_GROUP,
                  lo = t->begin - before, hi = t->bodies ? end + after : lo;
    return nbody_tree_launch_1d(
        nb, p, TREE_IMPORT_NODES, count,
        ARGS(cells, first, count, to, own, shift, lo, hi, t->link, t->com, t->multipoles, t->size));
}

/* ---- Load balancing. ------------------------------------------------------------------------- */

/* Return the estimated cost of a group: instructions per body of its walk, plus a constant for the
 * other work per group (a fifth of the total with 2^24 bodies on an H200). */
static double group_cost(const struct nbody *nb, const cl_uint *info)
{
    return (nb->moments == 2 ? 32.0 : 110.0) * info[0] + 13.0 * info[1] + 9000;
}

/* Return the first group that begins in this domain. */
static cl_uint domain_first_group(const struct tree *t)
{
    return (t->begin + TREE_GROUP - 1) / TREE_GROUP;
}

/* Return the group whose beginning is nearest to the accumulated cost `wanted` (never past the last
 * group); before: cost of all lower domains. */
static cl_uint domain_group_at_cost(const struct nbody *nb, const struct tree *t, double wanted,
                                    double before)
{
    const cl_uint(*info)[4] = t->info;
    cl_uint g = domain_first_group(t);
    while (g + 1 < t->first_group + t->groups && before + group_cost(nb, info[g]) / 2 < wanted)
        before += group_cost(nb, info[g++]);
    return g;
}

/* Compute the costs of all domains. */
static int domain_costs(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    memset(s->cost, 0, s->n * sizeof *s->cost);
    EACH_TREE(nb, p)
    {
        const struct tree *t = p->force.tree;
        const cl_uint(*info)[4] = t->info;
        if (t->groups && nbody_device_download(nb, p, (void *)(uintptr_t)(info + t->first_group),
                                               t->groups * sizeof *info) != 0)
            return -1;
        for (cl_uint g = domain_first_group(t); g < t->first_group + t->groups; g++)
            s->cost[p->domain.index] += group_cost(nb, info[g]);
    }
    return domain_spread_numbers(nb, s->cost);
}

/* shorter walks measure the host rather than the device */
static const double LEAST_SECONDS = 4e-3;

/* Update the relative speeds of the devices from cost and duration of the last walks. The new
 * value is smoothed (weight 1/2, later 1/8) and limited to 0.9 to 1.1, because costs are estimates
 * and times vary on a busy machine. Changes nothing until the walks of every domain take more than
 * LEAST_SECONDS each. With shares given by the caller, nothing depends on measured times. */
static int domain_update_speeds(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    double mean = 0;
    bool all = true;
    for (cl_uint k = 0; k < s->n; k++)
        s->rate[k] = !nb->shares_given && s->owner[k].device && s->walk_count[k] &&
                             s->walk_seconds[k] > LEAST_SECONDS * s->walk_count[k]
                         ? s->cost[k] * s->walk_count[k] / s->walk_seconds[k]
                         : 0;
    if (domain_spread_numbers(nb, s->rate) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++) {
        all &= s->rate[k] > 0;
        mean += s->rate[k] / s->owner[k].fraction / s->n;
    }
    for (cl_uint k = 0; all && k < s->n; k++) {
        const double now = s->rate[k] / s->owner[k].fraction / mean;
        s->owner[k].speed +=
            (fmin(fmax(now, 0.9), 1.1) - s->owner[k].speed) / (nbody_domain_balanced(nb) ? 8 : 2);
        s->walk_seconds[k] = 0;
        s->walk_count[k] = 0;
    }
    return 0;
}

/* Return a domain's wanted cost, not normalised, and the sum of those of all lower domains. */
static double domain_target(const struct domains *s, cl_uint domain)
{
    return s->owner[domain].fraction * s->owner[domain].speed;
}

static double domain_target_before(const struct domains *s, cl_uint domain)
{
    double before = 0;
    for (cl_uint k = 0; k < domain; k++)
        before += domain_target(s, k);
    return before;
}

/* Return the body (index from t->begin) at which a group's boundary is placed: if possible a
 * multiple of nb->domain.grain, so that a device can integrate just the bodies of its domain. */
static cl_uint domain_boundary_body(const struct nbody *nb, const struct tree *t, cl_uint group)
{
    const cl_uint first = t->base + t->begin;
    const size_t body = t->base + group * TREE_GROUP,
                 even = body / nb->domain.grain * nb->domain.grain;
    return (cl_uint)((t->bodies / 64 > nb->domain.grain && even > first ? even : body) - first);
}

/* Find the keys of the bodies at the boundaries that fall into this domain. */
static int domain_find_boundaries(struct nbody *nb, struct nbody_device *p, double all)
{
    struct tree *t = p->force.tree;
    const struct domains *s = nb->domain.tree;
    double before = 0;
    for (cl_uint k = 0; k < p->domain.index; k++)
        before += s->cost[k];
    for (cl_uint k = 0; k < s->n; k++) {
        const double at = all * domain_target_before(s, k) / domain_target_before(s, s->n);
        t->boundary_bodies[k] =
            k == 0 || at < before || at >= before + s->cost[p->domain.index]
                ? (cl_uint)-1
                : domain_boundary_body(nb, t, domain_group_at_cost(nb, t, at, before));
    }
    if (nbody_domain_upload(nb, p, t->boundary_bodies, s->n * sizeof(cl_uint)) != 0 ||
        nbody_tree_launch_1d(
            nb, p, TREE_BOUNDARY_KEYS, s->n,
            ARGS(t->body, t->begin, t->cube, t->boundary_bodies, s->n, t->boundary_keys)) != 0 ||
        nbody_device_download(nb, p, t->boundary_keys, s->n * sizeof(cl_ulong)) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        if (t->boundary_bodies[k] != (cl_uint)-1)
            s->moved[k] = ((const cl_ulong *)t->boundary_keys)[k];
    return 0;
}

/* True if a domain's cost exceeds its target by more than 0.4 %. */
static bool domains_are_unbalanced(const struct domains *s, double all)
{
    const double most = 1.004;
    bool any = false;
    for (cl_uint k = 0; k < s->n; k++)
        any |= s->cost[k] > most * all * domain_target(s, k) / domain_target_before(s, s->n);
    return any;
}

int nbody_domain_balance(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    double all = 0;
    s->balance_checks++;
    if (domain_costs(nb) != 0 || domain_update_speeds(nb) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        all += s->cost[k];
    if (!domains_are_unbalanced(s, all))
        return 0;
    memset(s->moved, 0, s->n * sizeof *s->moved);
    EACH_TREE(nb, p)
    if (p->force.tree->groups && domain_find_boundaries(nb, p, all) != 0)
        return -1;
    if (domain_spread_numbers(nb, s->moved) != 0)
        return -1;
    s->boundaries_changed = s->boundaries_moved = true;
    s->sums_since_reset = 0;
    for (cl_uint k = 1; k < s->n; k++)
        s->boundary[k] = s->moved[k] > s->boundary[k - 1] ? s->moved[k] : s->boundary[k - 1];
    return 0;
}

void nbody_domain_forget_cells(struct nbody_device *p)
{
    p->domain.mark_cleared = p->domain.root_known = false;
}

void nbody_domain_set_key_words(struct nbody *nb, cl_uint words)
{
    struct domains *s = nb->domain.tree;
    s->boundaries_known = false;
    nb->domain.key_words = words;
    s->cannot_extend_keys = words == 1;
}

bool nbody_domain_balanced(const struct nbody *nb)
{
    return !nb->domain.tree || nb->domain.tree->balance_checks > 8;
}

size_t nbody_domain_edge_bytes(const struct nbody *nb)
{
    return TREE_EDGE_BODIES * (2 * sizeof(cl_ulong) + 8 * nb->real);
}
