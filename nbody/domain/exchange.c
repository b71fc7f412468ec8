/* exchange.c - blocks of pairs of domains; transfers between domains, through the hosts and as
 * messages between ranks; walk times.
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

int nbody_domain_reserve(struct nbody *nb, cl_uint from, cl_uint to, enum pair_kind kind,
                         cl_uint count)
{
    struct pair *const e = nbody_domain_pair(nb->domain.tree, from, to);
    struct nbody_device *const both[] = {nb->domain.tree->owner[from].device,
                                         nb->domain.tree->owner[to].device};
    void **const block = &e->block[kind];
    if (count <= e->room[kind])
        return 0;
    e->room[kind] = count + count / 4 + 1024;
    if (!both[0] && !both[1])
        return 1;
    for (size_t b = 0; b < 2; b++)
        if (both[b] && *block)
            nbody_device_drop_bytes(both[b], clsizeofmem(*block));
    clfree(*block);
    const size_t bytes = e->room[kind] * pair_bytes(nb, kind);
    *block =
        clmalloc(nb->ctx, bytes < TREE_LEAST_BLOCK ? TREE_LEAST_BLOCK : bytes, CL_MEM_ZEROCOPY);
    for (size_t b = 0; b < 2; b++)
        if (both[b] && *block)
            nbody_device_add_bytes(both[b], clsizeofmem(*block));
    if (*block)
        return 1;
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
    return domain_copy(nb, p, nb->domain.tree->counts, 0, CL_MEM_HOST | CL_EVENT_BARRIER, NULL);
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

static bool transfer_reaches(const struct domains *s, cl_uint to, int rank)
{
    return to >= s->n || s->owner[to].rank == rank;
}

void nbody_domain_add(struct nbody *nb, cl_uint from, cl_uint to, void *at, size_t bytes)
{
    struct domains *s = nb->domain.tree;
    if (bytes && from != to &&
        (s->owner[from].device || transfer_reaches(s, to, world_rank(nb->world))))
        s->list[s->nlist++] = (struct transfer){from, to, at, bytes, NULL};
}

void nbody_domain_add_block(struct nbody *nb, cl_uint from, cl_uint to, enum pair_kind kind,
                            cl_uint first, cl_uint count)
{
    const size_t bytes = pair_bytes(nb, kind);
    const bool back = kind == BOXES || kind == FORCE_SUMS;
    nbody_domain_add(nb, back ? to : from, back ? from : to,
                     (char *)nbody_domain_pair(nb->domain.tree, from, to)->block[kind] +
                         first * bytes,
                     count * bytes);
}

/* Post a message with the bytes of a transfer. Tags 16 to 79 belong to the sender's domains: a rank
 * has at most 64 (ranks.c, which uses lower tags). */
static int transfer_post(struct nbody *nb, const struct transfer *c, bool send, int rank)
{
    struct domains *s = nb->domain.tree;
    const int tag = 16 + (int)s->owner[c->from].number;
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

/* Enqueue the download of a transfer's bytes, or post their receive. */
static int transfer_start(struct nbody *nb, struct transfer *c, bool beside)
{
    const struct owner *from = &nb->domain.tree->owner[c->from];
    return from->device
               ? nbody_domain_download(nb, from->device, c->at, c->bytes, beside, &c->ev_download)
               : transfer_post(nb, c, false, from->rank);
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
    for (int r = 0; r < world_size(nb->world); r++)
        if (r != world_rank(nb->world) && transfer_reaches(s, c->to, r) &&
            transfer_post(nb, c, true, r) != 0)
            return -1;
    return transfer_upload(nb, c);
}

/* Enqueue the downloads and post the receives. First wait for the sends of a failed exchange: long
 * ones cannot be cancelled. */
static int exchange_begin(struct nbody *nb, bool beside)
{
    struct domains *s = nb->domain.tree;
    if (s->nsend > 0 && domain_wait_requests(nb) != 0)
        return -1;
    for (struct transfer *c = s->list; c < s->list + s->nlist; c++)
        if (transfer_start(nb, c, beside) != 0)
            return -1;
    return domain_flush_all(nb);
}

/* Each transfer is forwarded as soon as its download ends. The function waits for these copies
 * only: collecting all finished events takes time, which a sum cannot spare here. status: of the
 * exchange so far; if it failed, or fails here, cancel its receives. */
static int exchange_end(struct nbody *nb, int status)
{
    struct domains *s = nb->domain.tree;
    struct transfer *const end = s->list + s->nlist;
    for (struct transfer *c = s->list; status == 0 && c < end; c++)
        status = transfer_forward(nb, c);
    if (status == 0)
        status = domain_wait_requests(nb);
    for (struct transfer *c = s->list; status == 0 && c < end; c++)
        if (!s->owner[c->from].device)
            status = transfer_upload(nb, c);
    nbody_ranks_cancel(nb->world, s->receive_request, &s->nreceive);
    nbody_domain_clear_list(s);
    return status;
}

int nbody_domain_exchange(struct nbody *nb, launch_fn meanwhile)
{
    int status = exchange_begin(nb, meanwhile != NULL);
    if (status == 0 && meanwhile)
        status = nbody_device_threads_all(nb, meanwhile);
    return exchange_end(nb, status);
}

int nbody_domain_gather(struct nbody *nb, void *block, size_t stride, size_t bytes)
{
    for (cl_uint k = 0; k < nb->domain.tree->n; k++)
        nbody_domain_add(nb, k, TO_HOSTS, (char *)block + k * stride, bytes);
    return nbody_domain_exchange(nb, NULL);
}

int nbody_domain_gather_counts(struct nbody *nb, size_t words)
{
    struct domains *s = nb->domain.tree;
    const size_t word = sizeof *s->counts;
    return nbody_domain_gather(nb, s->counts, s->counts_each * word, words * word);
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

/* Wait until all walks have ended, and record the time of the first. */
static int domain_wait_walks(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    struct nbody_device *const first = domain_timed_device(nb);
    EACH_TREE(nb, p)
    if (nbody_domain_download(nb, p, s->counts, 0, false, &p->domain.ev_walks) != 0 ||
        clflush(nb->ctx, p->dev, 0) != 0)
        return -1;
    if (first && nbody_domain_wait_event(nb, first, &first->domain.ev_walks) != 0)
        return -1;
    domain_record_walk_time(s, first);
    EACH_TREE(nb, p)
    {
        if (nbody_domain_wait_event(nb, p, &p->domain.ev_walks) != 0)
            return -1;
        nbody_device_mark_idle(nb, p);
    }
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
