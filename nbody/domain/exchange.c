/* exchange.c - blocks of pairs of domains; transfers between domains, through the hosts and by
 * messages or shared memory between ranks; walk times.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

/* ---- Blocks of pairs. ------------------------------------------------------------------------ */

/* Bytes of an element. */
static size_t pair_bytes(const struct nbody *nb, enum pair_kind kind)
{
    const size_t each[PAIR_KINDS] = {[MIGRANTS] = 8 * nb->real,
                                     [FORCE_SUMS] = 4 * nb->real,
                                     [CELLS] = nbody_domain_cell_bytes(nb),
                                     [BODIES] = nbody_domain_body_bytes(nb),
                                     [FLAGS] = sizeof(cl_uint),
                                     [BOXES] = 8 * nb->real};
    return each[kind];
}

/* Return the rank that has the blocks of a pair in its file; -1: none. */
static int pair_file(const struct nbody *nb, const struct pair *e)
{
    const struct owner *const owner = nb->domain.tree->owner;
    const int from = owner[e->from].rank, to = owner[e->to].rank;
    return from != to && nbody_host_memory_shared(nb, from) && nbody_host_memory_shared(nb, to)
               ? from
               : -1;
}

void nbody_domain_free_block(const struct nbody *nb, struct pair *e, enum pair_kind kind)
{
    struct nbody_device *const both[] = {nb->domain.tree->owner[e->from].device,
                                         nb->domain.tree->owner[e->to].device};
    void *const block = e->block[kind];
    for (size_t b = 0; b < 2; b++)
        if (both[b] && block)
            nbody_device_drop_bytes(both[b], clsizeofmem(block));
    nbody_host_memory_free(pair_file(nb, e), block);
    e->block[kind] = NULL;
}

int nbody_domain_reserve(struct nbody *nb, struct pair *e, enum pair_kind kind, cl_uint count)
{
    struct nbody_device *const both[] = {nb->domain.tree->owner[e->from].device,
                                         nb->domain.tree->owner[e->to].device};
    void **const block = &e->block[kind];
    if (count <= e->room[kind])
        return 0;
    nbody_domain_free_block(nb, e, kind);
    e->room[kind] = count + count / 4 + 1024;
    const struct domains *const s = nb->domain.tree;
    const size_t pair = (size_t)s->owner[e->from].number * s->n + e->to;
    *block = nbody_host_memory_alloc(nb, pair_file(nb, e), REGION_PAIRS + pair * PAIR_KINDS + kind,
                                     e->room[kind] * pair_bytes(nb, kind));
    for (size_t b = 0; b < 2; b++)
        if (both[b] && *block)
            nbody_device_add_bytes(both[b], clsizeofmem(*block));
    if (*block)
        return 0;
    e->room[kind] = 0;
    return -1;
}

int nbody_domain_reserve_received(struct nbody *nb, struct nbody_device *p, size_t count)
{
    void **const block = &p->domain.received;
    if (count <= p->domain.received_room)
        return 0;
    if (*block)
        nbody_device_drop_bytes(p, clsizeofmem(*block));
    clfree(*block);
    const size_t room = count + count / 4 + TREE_SAMPLES;
    *block = nbody_device_alloc(nb, p, room * 8 * nb->real, CL_MEM_DEVONLY);
    p->domain.received_room = *block ? room : 0;
    return *block ? 0 : -1;
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
                          bool beside, cl_event *ev)
{
    return domain_copy(nb, p, at, bytes,
                       CL_MEM_HOST | (beside ? CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER : 0), ev);
}

int nbody_domain_barrier(struct nbody *nb, const struct nbody_device *p)
{
    return domain_copy(nb, p, p->domain.counts, 0, CL_MEM_HOST | CL_EVENT_BARRIER, NULL);
}

int nbody_domain_wait_uploads(struct nbody *nb, struct nbody_device *p)
{
    return nbody_domain_wait_event(nb, p, &p->domain.ev_upload);
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

void nbody_domain_add_region(struct nbody *nb, cl_uint from, cl_uint to, void *at, size_t bytes,
                             bool in_region)
{
    struct domains *s = nb->domain.tree;
    if (bytes && from != to)
        s->list[s->nlist++] = (struct transfer){from, to, at, bytes, in_region, NULL};
}

void nbody_domain_add(struct nbody *nb, cl_uint from, cl_uint to, void *at, size_t bytes)
{
    nbody_domain_add_region(nb, from, to, at, bytes, false);
}

void nbody_domain_add_block(struct nbody *nb, const struct pair *e, enum pair_kind kind,
                            cl_uint first, cl_uint count)
{
    const size_t bytes = pair_bytes(nb, kind);
    const bool back = kind == BOXES || kind == FORCE_SUMS;
    nbody_domain_add_region(nb, back ? e->to : e->from, back ? e->from : e->to,
                            (char *)e->block[kind] + first * bytes, count * bytes,
                            pair_file(nb, e) >= 0);
}

/* Post a message with the bytes of a transfer. Tags 16 to 79 belong to the sender's domains: a rank
 * has at most 64 (divide.c). Positions have lower tags (allgather.c). */
static int transfer_post(struct nbody *nb, const struct transfer *c, bool send, int rank)
{
    struct domains *s = nb->domain.tree;
    const int tag = 16 + (int)s->owner[c->from].number;
    const size_t bytes = c->in_region && nbody_host_memory_shared(nb, rank) ? 0 : c->bytes;
    world_request *request = send ? world_send(nb->world, rank, tag, c->at, bytes)
                                  : world_receive(nb->world, rank, tag, c->at, bytes);
    if (!request)
        return -1;
    if (send)
        s->send_request[s->nsend++] = request;
    else
        s->receive_request[s->nreceive++] = request;
    return 0;
}

static int domain_wait_sends(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t sent = s->nsend;
    s->nsend = 0;
    return world_wait(nb->world, s->send_request, sent);
}

/* Enqueue the download of a transfer's bytes, or post their receive. */
static int transfer_start(struct nbody *nb, struct transfer *c, bool beside)
{
    const struct owner *from = &nb->domain.tree->owner[c->from];
    return from->device
               ? nbody_domain_download(nb, from->device, c->at, c->bytes, beside, &c->ev_download)
               : transfer_post(nb, c, false, from->rank);
}

/* Bytes of a domain's counters for the `owned` domains of a rank, TO_PAIRS. */
static size_t pair_counts_bytes(const struct domains *s, cl_uint owned)
{
    return owned ? (s->counts_each * owned + 1) * sizeof(cl_uint) : 0;
}

/* Send the bytes of a transfer to other ranks. */
static int transfer_send(struct nbody *nb, const struct transfer *c)
{
    const struct domains *s = nb->domain.tree;
    cl_uint end = 0;
    if (c->to < s->n)
        return s->owner[c->to].device ? 0 : transfer_post(nb, c, true, s->owner[c->to].rank);
    for (int r = 0; r < world_size(nb->world); r++) {
        struct transfer part = *c;
        const cl_uint first = end;
        while (end < s->n && s->owner[end].rank == r)
            end++;
        if (c->to == TO_PAIRS) {
            part.at = (cl_uint *)c->at + s->counts_each * first;
            part.bytes = pair_counts_bytes(s, end - first);
        }
        if (r != world_rank(nb->world) && part.bytes && transfer_post(nb, &part, true, r) != 0)
            return -1;
    }
    return 0;
}

/* Enqueue the uploads to this rank's devices that receive the bytes. */
static int transfer_upload(struct nbody *nb, const struct transfer *c)
{
    EACH_TREE(nb, p)
    if (p->domain.index == c->to || (c->to == TO_DOMAINS && p->domain.index != c->from))
        if (domain_copy(nb, p, c->at, c->bytes, CL_MEM_DEVICE | CL_EVENT_SIDE_QUEUE,
                        &p->domain.ev_upload) != 0 ||
            clflush(nb->ctx, p->dev, 0) != 0)
            return -1;
    return 0;
}

/* Wait for the download of the bytes, send them to other ranks, and enqueue the uploads. */
static int transfer_forward(struct nbody *nb, struct transfer *c)
{
    const struct domains *s = nb->domain.tree;
    if (!s->owner[c->from].device)
        return 0;
    if (nbody_domain_wait_event(nb, s->owner[c->from].device, &c->ev_download) != 0)
        return -1;
    return transfer_send(nb, c) == 0 ? transfer_upload(nb, c) : -1;
}

/* Enqueue the downloads and post the receives. First wait for the sends of a failed exchange: long
 * ones cannot be cancelled. */
static int exchange_begin(struct nbody *nb, bool beside)
{
    struct domains *s = nb->domain.tree;
    if (domain_wait_sends(nb) != 0)
        return -1;
    for (struct transfer *c = s->list; c < s->list + s->nlist; c++)
        if (transfer_start(nb, c, beside) != 0)
            return -1;
    return domain_flush_all(nb);
}

/* Each transfer is forwarded as soon as its download ends, and uploaded as soon as it arrives. The
 * function waits for these copies only: collecting all finished events takes time, which a sum
 * cannot spare here. status: of the exchange so far; if it failed, or fails here, cancel the
 * receives that are left. */
static int exchange_end(struct nbody *nb, int status)
{
    struct domains *s = nb->domain.tree;
    struct transfer *const end = s->list + s->nlist;
    world_request **request = s->receive_request;
    for (struct transfer *c = s->list; status == 0 && c < end; c++)
        status = transfer_forward(nb, c);
    for (struct transfer *c = s->list; status == 0 && c < end; c++)
        if (!s->owner[c->from].device)
            status = world_wait(nb->world, request++, 1) == 0 ? transfer_upload(nb, c) : -1;
    s->nreceive -= (size_t)(request - s->receive_request);
    nbody_ranks_cancel(nb->world, request, &s->nreceive);
    nbody_domain_clear_list(s);
    return status == 0 ? domain_wait_sends(nb) : -1;
}

int nbody_domain_exchange(struct nbody *nb, launch_fn meanwhile)
{
    int status = exchange_begin(nb, meanwhile != NULL);
    if (status == 0 && meanwhile)
        status = nbody_device_threads_all(nb, meanwhile);
    return exchange_end(nb, status);
}

int nbody_domain_gather(struct nbody *nb, void *block, size_t bytes)
{
    for (cl_uint k = 0; k < nb->domain.tree->n; k++)
        nbody_domain_add(nb, k, TO_HOSTS, (char *)block + k * bytes, bytes);
    return nbody_domain_exchange(nb, NULL);
}

int nbody_domain_exchange_counts(struct nbody *nb, cl_uint to, cl_uint each)
{
    struct domains *s = nb->domain.tree;
    s->counts_each = each;
    s->arrived_words = to == TO_PAIRS ? each * s->owned + 1 : each;
    for (cl_uint k = 0; k < s->n; k++) {
        const cl_uint others = s->owner[k].device ? s->n : s->owned;
        nbody_domain_add(nb, k, to, nbody_domain_counts(s, k),
                         to == TO_PAIRS ? pair_counts_bytes(s, others) : each * sizeof(cl_uint));
    }
    return nbody_domain_exchange(nb, NULL);
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
        s->owner[first->domain.index].walk_seconds += seconds_now() - s->walks_began;
        s->owner[first->domain.index].walks++;
        s->wait_first = first->domain.index + 1;
    }
    s->walks_began = 0;
}

static int domain_wait_walk(struct nbody *nb, struct nbody_device *p)
{
    const double began = seconds_now();
    if (nbody_domain_wait_event(nb, p, &p->domain.ev_walks) != 0)
        return -1;
    nbody_device_mark_idle(nb, p, seconds_now() - began);
    return 0;
}

/* Wait until all walks have ended, and record the time of the first. */
static int domain_wait_walks(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    struct nbody_device *const first = domain_timed_device(nb);
    EACH_TREE(nb, p)
    if (nbody_domain_download(nb, p, p->domain.counts, 0, false, &p->domain.ev_walks) != 0 ||
        clflush(nb->ctx, p->dev, 0) != 0)
        return -1;
    if (first && domain_wait_walk(nb, first) != 0)
        return -1;
    domain_record_walk_time(s, first);
    EACH_TREE(nb, p)
    if (p != first && domain_wait_walk(nb, p) != 0)
        return -1;
    return 0;
}

/* Finished events are collected while the devices walk, so that no device idles later for that. */
int nbody_domain_exchange_return(struct nbody *nb)
{
    EACH_TREE(nb, p)
    if (clwait(nb->ctx, p->dev, CL_ALL_EVENT | CL_EVENT_NOWAIT) == (cl_event)-1)
        return -1;
    int status = exchange_begin(nb, false);
    if (status == 0)
        status = domain_wait_walks(nb);
    return exchange_end(nb, status);
}
