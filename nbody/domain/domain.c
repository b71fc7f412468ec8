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

void *nbody_domain_block(struct nbody *nb, size_t bytes)
{
    void *block = clmalloc(nb->ctx, bytes < 32768 ? 32768 : bytes, CL_MEM_PER_DEVICE);
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

int nbody_domain_reserve(struct nbody *nb, size_t slots)
{
    struct domains *s = nb->domain.tree;
    nbody_domain_free_block(nb, s->send_buffer);
    nbody_domain_free_block(nb, s->send_row);
    nbody_domain_free_block(nb, s->return_buffer);
    s->slot_capacity = slots;
    s->send_buffer = nbody_domain_block(nb, s->n * slots * 8 * nb->real);
    s->send_row = nbody_domain_block(nb, s->n * slots * sizeof(cl_uint));
    s->return_buffer = nbody_domain_block(nb, s->n * slots * 4 * nb->real);
    return s->send_buffer && s->send_row && s->return_buffer ? 0 : -1;
}

int nbody_domain_allocate_all(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t n = s->n;
    const size_t counts = (TREE_COUNTS + 2) * n;
    s->counts_each = (cl_uint)(counts > 2 * TREE_LEVELS + 2 ? counts : 2 * TREE_LEVELS + 2) +
                     2; /* two more: nbody_let_single_index and nbody_let_stale_index */
    s->begin = calloc(n + 1, sizeof *s->begin);
    s->slot_begin = calloc(n * (n + 1), sizeof *s->slot_begin);
    s->send_request =
        calloc(8 * n * n + 8 * n * (size_t)world_size(nb->world), sizeof *s->send_request);
    s->receive_request =
        calloc(8 * n * n + 8 * n * (size_t)world_size(nb->world), sizeof *s->receive_request);
    s->sent_early = calloc(n, sizeof *s->sent_early);
    s->ev_return = calloc(3 * n, sizeof *s->ev_return);
    s->ev_toptree = s->ev_return ? s->ev_return + n : NULL;
    s->ev_upload = s->ev_return ? s->ev_return + 2 * n : NULL;
    s->returns = calloc(n * n, sizeof *s->returns);
    s->walk_seconds = calloc(n, sizeof *s->walk_seconds);
    s->walk_count = calloc(n, sizeof *s->walk_count);
    s->boundary = nbody_domain_block(nb, (n + 1) * sizeof *s->boundary);
    nb->domain.key_words = 1;
    s->counts = nbody_domain_block(nb, n * s->counts_each * sizeof *s->counts);
    s->samples = nbody_domain_block(nb, n * TREE_SAMPLES * sizeof *s->samples);
    s->edge = nbody_domain_block(nb, n * nbody_domain_edge_bytes(nb));
    s->toptree = nbody_domain_block(nb, n * (2 * TREE_LEVELS + 1) * TREE_TOP_CELLS *
                                            nbody_domain_cell_bytes(nb));
    return s->begin && s->slot_begin && s->ev_return && s->returns && s->walk_seconds &&
                   s->walk_count && s->send_request && s->receive_request && s->boundary &&
                   s->sent_early && s->counts && s->samples && s->edge && s->toptree
               ? nbody_domain_reserve(nb, TREE_SAMPLES)
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
    void *const blocks[] = {s->boundary, s->send_buffer, s->send_row, s->return_buffer,
                            s->counts,   s->samples,     s->edge,     s->toptree};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    free(s->owner);
    free(s->sent_early);
    free(s->ev_return);
    free(s->returns);
    free(s->walk_seconds);
    free(s->walk_count);
    free(s->begin);
    free(s->slot_begin);
    free(s->send_request);
    free(s->receive_request);
    free(s);
    nb->domain.tree = NULL;
}

/* ---- Transfers. ------------------------------------------------------------------------------ */

static int domain_copy_event(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                             int direction, cl_event *ev)
{
    *ev = clmsyncn(nb->ctx, p->dev, at, bytes, direction | CL_EVENT_NOWAIT | CL_EVENT_CHECKED);
    return *ev == (cl_event)-1 ? -1 : 0;
}

static int domain_copy(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes,
                       int direction)
{
    cl_event ev;
    return domain_copy_event(nb, p, at, bytes, direction, &ev);
}

int nbody_domain_wait_event(struct nbody *nb, const struct nbody_device *p, cl_event ev)
{
    return clwaitev(nb->ctx, p->dev, ev, 0) == (cl_event)-1 ? -1 : 0;
}

int nbody_domain_upload(struct nbody *nb, const struct nbody_device *p, void *at, size_t bytes)
{
    return domain_copy(nb, p, at, bytes, CL_MEM_DEVICE);
}

int nbody_domain_upload_side_queue(struct nbody *nb, const struct nbody_device *p, void *at,
                                   size_t bytes, cl_event *ev)
{
    return domain_copy_event(nb, p, at, bytes, CL_MEM_DEVICE | CL_EVENT_SIDE_QUEUE, ev);
}

int nbody_domain_begin_download(struct nbody *nb, const struct nbody_device *p, void *at,
                                size_t bytes, bool after, cl_event *ev)
{
    return domain_copy_event(
        nb, p, at, bytes, CL_MEM_HOST | CL_EVENT_SIDE_QUEUE | (after ? CL_EVENT_BARRIER : 0), ev);
}

int nbody_domain_barrier(struct nbody *nb, const struct nbody_device *p)
{
    return domain_copy(nb, p, nb->domain.tree->counts, 0, CL_MEM_HOST | CL_EVENT_BARRIER);
}

int nbody_domain_wait_uploads(struct nbody *nb, const struct nbody_device *p)
{
    const cl_event ev = nb->domain.tree->ev_upload[p->domain.index];
    nb->domain.tree->ev_upload[p->domain.index] = NULL;
    return ev ? nbody_domain_wait_event(nb, p, ev) : 0;
}

int nbody_domain_mark_event(struct nbody *nb, const struct nbody_device *p, cl_event *ev)
{
    return domain_copy_event(nb, p, nb->domain.tree->counts, 0, CL_MEM_HOST, ev);
}

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

int nbody_domain_wait(struct nbody *nb)
{
    struct nbody_device *const first = domain_timed_device(nb);
    int status = first ? nbody_device_wait(nb, first) : 0;
    domain_record_walk_time(nb->domain.tree, first);
    EACH_TREE(nb, p)
    if (p != first && nbody_device_wait(nb, p) != 0)
        status = -1;
    return status;
}

/* Finished events are collected while the devices walk, so that no device idles later for that.
 * The downloads are enqueued on side queues and start when the walks end. */
int nbody_domain_begin_return(struct nbody *nb, const struct transfer *transfer, size_t n)
{
    cl_event ev;
    EACH_TREE(nb, p)
    {
        bool after = true;
        if (clwait(nb->ctx, p->dev, CL_ALL_EVENT | CL_EVENT_NOWAIT) == (cl_event)-1)
            return -1;
        for (const struct transfer *c = transfer; c < transfer + n; c++) {
            if (c->from != p->domain.index)
                continue;
            if (nbody_domain_begin_download(nb, p, c->at, c->bytes, after, &ev) != 0)
                return -1;
            after = false;
        }
        if (nbody_domain_begin_download(nb, p, nb->domain.tree->counts, 0, after,
                                        &nb->domain.tree->ev_return[p->domain.index]) != 0 ||
            clflush(nb->ctx, p->dev, 0) != 0)
            return -1;
    }
    return 0;
}

int nbody_domain_end_return(struct nbody *nb, const struct transfer *transfer, size_t n)
{
    struct nbody_device *const first = domain_timed_device(nb);
    const struct owner *o = nb->domain.tree->owner;
    cl_event ev;
    int status = 0;
    if (first)
        status =
            nbody_domain_wait_event(nb, first, nb->domain.tree->ev_return[first->domain.index]);
    domain_record_walk_time(nb->domain.tree, first);
    EACH_TREE(nb, p)
    {
        if (status == 0 && p != first)
            status = nbody_domain_wait_event(nb, p, nb->domain.tree->ev_return[p->domain.index]);
        nbody_device_mark_idle(nb, p);
    }
    for (const struct transfer *c = transfer; status == 0 && c < transfer + n; c++)
        status = nbody_domain_upload_side_queue(nb, o[c->to].device, c->at, c->bytes, &ev);
    EACH_TREE(nb, p)
    if (status == 0)
        status = nbody_domain_barrier(nb, p);
    return status;
}

static int domain_flush_all(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree && clflush(nb->ctx, p->dev, 0) != 0)
            return -1;
    return 0;
}

/* Post a message with bytes of a domain. */
static int domain_post_request(struct nbody *nb, bool send, int rank, cl_uint domain, void *bytes,
                               size_t size)
{
    struct domains *s = nb->domain.tree;
    world_request *request = send ? world_send(nb->world, rank, 16 + (int)domain, bytes, size)
                                  : world_receive(nb->world, rank, 16 + (int)domain, bytes, size);
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

/* True if the preceding transfer already moves these bytes: to the host (rank < 0), or to `rank`.
 */
static bool transfer_repeats_bytes(const struct transfer *c, const struct transfer *first, int rank,
                                   const struct owner *o)
{
    return c > first && c[-1].from == c->from && c[-1].at == c->at &&
           (rank < 0 || o[c[-1].to].rank == rank);
}

/* Enqueue the downloads of this rank's devices and post the receives from other ranks. */
static int domain_start_downloads(struct nbody *nb, const struct gathered *g, size_t ng,
                                  const struct transfer *transfer, size_t n)
{
    const struct domains *s = nb->domain.tree;
    const struct owner *o = s->owner;
    for (size_t b = 0; b < ng; b++)
        for (cl_uint k = 0; k < s->n; k++) {
            char *const at = (char *)g[b].block + k * g[b].each;
            if (o[k].device ? domain_copy(nb, o[k].device, at, g[b].each, CL_MEM_HOST) != 0
                            : domain_post_request(nb, false, o[k].rank, k, at, g[b].each) != 0)
                return -1;
        }
    for (const struct transfer *c = transfer; c < transfer + n; c++)
        if (c->bytes && o[c->from].device && !transfer_repeats_bytes(c, transfer, -1, o) &&
            domain_copy(nb, o[c->from].device, c->at, c->bytes, CL_MEM_HOST) != 0)
            return -1;
    for (const struct transfer *c = transfer; c < transfer + n; c++)
        if (c->bytes && !o[c->from].device && o[c->to].device &&
            !transfer_repeats_bytes(c, transfer, o[c->to].rank, o) &&
            domain_post_request(nb, false, o[c->from].rank, c->from, c->at, c->bytes) != 0)
            return -1;
    return 0;
}

/* Send a domain's bytes of a block to all other ranks. */
static int domain_send_to_ranks(struct nbody *nb, const struct gathered *g, cl_uint domain)
{
    const struct owner *o = &nb->domain.tree->owner[domain];
    for (int r = 0; r < world_size(nb->world); r++)
        if (o->device && r != world_rank(nb->world) &&
            domain_post_request(nb, true, r, domain, (char *)g->block + domain * g->each,
                                g->each) != 0)
            return -1;
    return 0;
}

/* Send the downloaded bytes to other ranks and enqueue their uploads to this rank's devices. */
static int domain_forward_downloads(struct nbody *nb, const struct gathered *g, size_t ng,
                                    const struct transfer *transfer, size_t n)
{
    const struct owner *o = nb->domain.tree->owner;
    for (size_t b = 0; b < ng; b++)
        for (cl_uint k = 0; k < nb->domain.tree->n; k++)
            if (domain_send_to_ranks(nb, &g[b], k) != 0)
                return -1;
    for (const struct transfer *c = transfer; c < transfer + n; c++) {
        if (c->bytes && o[c->from].device && !o[c->to].device &&
            !transfer_repeats_bytes(c, transfer, o[c->to].rank, o) &&
            domain_post_request(nb, true, o[c->to].rank, c->from, c->at, c->bytes) != 0)
            return -1;
        if (c->bytes && o[c->from].device && o[c->to].device &&
            domain_copy(nb, o[c->to].device, c->at, c->bytes, CL_MEM_DEVICE) != 0)
            return -1;
    }
    return domain_flush_all(nb);
}

static int transfer_upload(struct nbody *nb, const struct transfer *c, cl_event down)
{
    const struct owner *o = nb->domain.tree->owner;
    if (c->bytes == 0)
        return 0;
    if (down && nbody_domain_wait_event(nb, o[c->from].device, down) != 0)
        return -1;
    cl_event ev;
    if (domain_copy_event(nb, o[c->to].device, c->at, c->bytes,
                          CL_MEM_DEVICE | (c->side_queue ? CL_EVENT_SIDE_QUEUE : 0), &ev) != 0)
        return -1;
    if (c->side_queue)
        nb->domain.tree->ev_upload[c->to] = ev;
    return clflush(nb->ctx, o[c->to].device->dev, 0);
}

/* Exchange among the devices of one rank: upload each transfer as soon as its download ends, first
 * the transfers whose download was started before. The function waits for these copies only.
 * Collecting all finished events takes time, which a sum cannot spare here. */
static int domain_exchange_in_rank(struct nbody *nb, const struct gathered *g, size_t ng,
                                   const struct transfer *transfer, size_t n, launch_fn meanwhile)
{
    const struct owner *o = nb->domain.tree->owner;
    cl_event *ev = calloc(n + ng * nb->domain.tree->n + 1, sizeof *ev), *next = ev;
    int status = ev ? 0 : clerror_set(ENOMEM, "nbody: out of memory on the host");
    for (size_t b = 0; status == 0 && b < ng; b++)
        for (cl_uint k = 0; status == 0 && k < nb->domain.tree->n; k++)
            status = domain_copy_event(nb, o[k].device, (char *)g[b].block + k * g[b].each,
                                       g[b].each, CL_MEM_HOST, next++);
    for (size_t c = 0; status == 0 && c < n; c++, next++)
        if (transfer[c].ev_download)
            *next = transfer[c].ev_download;
        else if (transfer[c].bytes && !transfer_repeats_bytes(&transfer[c], transfer, -1, o))
            status = domain_copy_event(nb, o[transfer[c].from].device, transfer[c].at,
                                       transfer[c].bytes, CL_MEM_HOST, next);
    if (status == 0)
        status = domain_flush_all(nb);
    if (status == 0 && meanwhile)
        status = nbody_device_threads_all(nb, meanwhile, 0);
    next = ev + ng * nb->domain.tree->n;
    for (size_t c = 0; status == 0 && c < n; c++)
        status = transfer[c].ev_download ? transfer_upload(nb, &transfer[c], next[c]) : 0;
    for (size_t k = 0; status == 0 && k < ng * nb->domain.tree->n; k++)
        status = nbody_domain_wait_event(nb, o[k % nb->domain.tree->n].device, ev[k]);
    for (size_t c = 0; status == 0 && c < n; c++)
        status = transfer[c].ev_download ? 0 : transfer_upload(nb, &transfer[c], next[c]);
    free(ev);
    return status;
}

int nbody_domain_exchange(struct nbody *nb, const struct gathered *g, size_t ng,
                          const struct transfer *transfer, size_t n, launch_fn meanwhile)
{
    const struct owner *o = nb->domain.tree->owner;
    if (world_size(nb->world) == 1)
        return domain_exchange_in_rank(nb, g, ng, transfer, n, meanwhile);
    if (domain_start_downloads(nb, g, ng, transfer, n) != 0 || domain_flush_all(nb) != 0 ||
        (meanwhile && nbody_device_threads_all(nb, meanwhile, 0) != 0) ||
        nbody_domain_wait(nb) != 0 || domain_forward_downloads(nb, g, ng, transfer, n) != 0 ||
        domain_wait_requests(nb) != 0)
        return -1;
    for (const struct transfer *c = transfer; c < transfer + n; c++)
        if (c->bytes && !o[c->from].device && o[c->to].device &&
            domain_copy(nb, o[c->to].device, c->at, c->bytes, CL_MEM_DEVICE) != 0)
            return -1;
    return 0;
}

int nbody_domain_exchange_transfers(struct nbody *nb, const struct transfer *transfer, size_t n)
{
    return nbody_domain_exchange(nb, NULL, 0, transfer, n, NULL);
}

int nbody_domain_gather(struct nbody *nb, const struct gathered *g, size_t n, launch_fn meanwhile)
{
    return nbody_domain_exchange(nb, g, n, NULL, 0, meanwhile);
}

static void join_bitwise_or(void *a, const void *b, void *arg)
{
    for (size_t k = 0; k < *(const size_t *)arg; k++)
        ((uint64_t *)a)[k] |= ((const uint64_t *)b)[k];
}

int nbody_domain_reduce_or(struct nbody *nb, uint64_t *words, size_t n)
{
    return world_reduce(nb->world, words, n * sizeof *words, join_bitwise_or, &n);
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

static uint64_t double_to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double bits_to_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

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

/* Compute the costs of this rank's domains and gather all; cost[] holds the bits of doubles. */
static int domain_costs(struct nbody *nb, uint64_t *cost)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        const struct tree *t = p->force.tree;
        if (!t || !t->groups)
            continue;
        const cl_uint(*info)[4] = t->info;
        double sum = 0;
        if (nbody_device_download(nb, p, (void *)(uintptr_t)(info + t->first_group),
                                  t->groups * sizeof *info) != 0)
            return -1;
        for (cl_uint g = domain_first_group(t); g < t->first_group + t->groups; g++)
            sum += group_cost(nb, info[g]);
        cost[p->domain.index] = double_to_bits(sum);
    }
    return nbody_domain_reduce_or(nb, cost, nb->domain.tree->n);
}

/* shorter walks measure the host rather than the device */
static const double LEAST_SECONDS = 4e-3;

/* Update the relative speeds of the devices from cost and duration of the last walks. The new
 * value is smoothed (weight 1/2, later 1/8) and limited to 0.9 to 1.1, because costs are estimates
 * and times vary on a busy machine. Changes nothing until
 * the walks of every domain take more than LEAST_SECONDS each. With shares given by the caller,
 * nothing depends on measured times. */
static int domain_update_speeds(struct nbody *nb, const uint64_t *cost)
{
    struct domains *s = nb->domain.tree;
    uint64_t *each = calloc(s->n, sizeof *each);
    double mean = 0;
    bool all = true;
    if (!each)
        return clerror_set(ENOMEM, "nbody: out of memory on the host");
    for (cl_uint k = 0; k < s->n && !nb->shares_given; k++)
        if (s->owner[k].device && s->walk_count[k] &&
            s->walk_seconds[k] > LEAST_SECONDS * s->walk_count[k])
            each[k] =
                double_to_bits(bits_to_double(cost[k]) * s->walk_count[k] / s->walk_seconds[k]);
    const int status = nbody_domain_reduce_or(nb, each, s->n);
    for (cl_uint k = 0; k < s->n; k++) {
        all &= bits_to_double(each[k]) > 0;
        mean += bits_to_double(each[k]) / s->owner[k].fraction / s->n;
    }
    for (cl_uint k = 0; status == 0 && all && k < s->n; k++) {
        const double now = bits_to_double(each[k]) / s->owner[k].fraction / mean;
        s->owner[k].speed +=
            (fmin(fmax(now, 0.9), 1.1) - s->owner[k].speed) / (nbody_domain_balanced(nb) ? 8 : 2);
        s->walk_seconds[k] = 0;
        s->walk_count[k] = 0;
    }
    free(each);
    return status;
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

/* Fill the boundaries that fall into this domain with the keys of the bodies there. */
static int domain_find_boundaries(struct nbody *nb, struct nbody_device *p, const uint64_t *cost,
                                  double all, uint64_t *boundary)
{
    struct tree *t = p->force.tree;
    const struct domains *s = nb->domain.tree;
    const double own = bits_to_double(cost[p->domain.index]);
    double before = 0;
    cl_uint *body = t->boundary_bodies, n = 0, *number = malloc(s->n * sizeof *number);
    if (!number)
        return clerror_set(ENOMEM, "nbody: out of memory on the host");
    for (cl_uint k = 0; k < p->domain.index; k++)
        before += bits_to_double(cost[k]);
    for (cl_uint k = 1; k < s->n; k++) {
        const double at = all * domain_target_before(s, k) / domain_target_before(s, s->n);
        if (at < before || at >= before + own)
            continue;
        number[n] = k;
        body[n++] = domain_boundary_body(nb, t, domain_group_at_cost(nb, t, at, before));
    }
    int status = 0;
    if (n && clmsync(nb->ctx, p->dev, t->boundary_bodies, CL_MEM_DEVICE) == (cl_event)-1)
        status = -1;
    if (n && status == 0)
        status = nbody_tree_launch_1d(
            nb, p, TREE_BOUNDARY_KEYS, n,
            ARGS(t->body, t->begin, t->cube, t->boundary_bodies, n, t->boundary_keys));
    if (n && status == 0)
        status = nbody_device_download(nb, p, t->boundary_keys, n * sizeof(cl_ulong));
    for (cl_uint k = 0; k < n; k++)
        boundary[number[k]] = ((const cl_ulong *)t->boundary_keys)[k];
    free(number);
    return status;
}

/* True if a domain's cost exceeds its target by more than 0.4 %. */
static bool domains_are_unbalanced(const struct nbody *nb, const uint64_t *cost, double all)
{
    const struct domains *s = nb->domain.tree;
    const double most = 1.004;
    bool any = false;
    for (cl_uint k = 0; k < s->n; k++)
        any |= bits_to_double(cost[k]) >
               most * all * domain_target(s, k) / domain_target_before(s, s->n);
    return any;
}

int nbody_domain_balance(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    s->balance_checks++;
    uint64_t *cost = calloc(2 * s->n, sizeof *cost), *boundary = cost ? cost + s->n : NULL;
    double all = 0;
    int status =
        cost ? domain_costs(nb, cost) : clerror_set(ENOMEM, "nbody: out of memory on the host");
    if (status == 0)
        status = domain_update_speeds(nb, cost);
    for (cl_uint k = 0; status == 0 && k < s->n; k++)
        all += bits_to_double(cost[k]);
    if (status != 0 || !domains_are_unbalanced(nb, cost, all))
        return free(cost), status;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->force.tree && p->force.tree->groups)
            status = domain_find_boundaries(nb, p, cost, all, boundary);
    if (status == 0)
        status = nbody_domain_reduce_or(nb, boundary, s->n);
    s->boundaries_changed = s->boundaries_moved = true;
    s->sums_since_reset = 0;
    for (cl_uint k = 1; status == 0 && k < s->n; k++)
        s->boundary[k] = boundary[k] > s->boundary[k - 1] ? boundary[k] : s->boundary[k - 1];
    free(cost);
    return status;
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
