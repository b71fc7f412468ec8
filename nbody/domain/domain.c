/* domain.c - domains of the tree: creation.
 *
 * A domain is a range of keys on the Hilbert curve; each device owns one. The boundaries change no
 * bit of a result. A body that one device integrates may lie in another device's domain: it
 * migrates there for a sum, and its force returns through the host.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

/* Count a new block as memory of the devices. */
static void *domain_count_block(struct nbody *nb, void *block)
{
    EACH_TREE(nb, p)
    nbody_device_add_bytes(p, block ? clsizeofmem(block) : 0);
    return block;
}

/* Allocate a block that the host reads while kernels write it; NULL: out of memory. */
static void *domain_block(struct nbody *nb, size_t bytes)
{
    if (bytes < TREE_LEAST_BLOCK)
        bytes = TREE_LEAST_BLOCK;
    return domain_count_block(nb, clmalloc(nb->ctx, bytes, CL_MEM_PER_DEVICE));
}

/* Allocate the boxes of groups. The first rank of a host has them in its file. */
static void *boxes_alloc(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    int first = 0;
    while (first < world_size(nb->world) && !nbody_host_memory_shared(nb, first))
        first++;
    s->group_box_file = first < world_size(nb->world) ? first : -1;
    return domain_count_block(nb, nbody_host_memory_alloc(nb, s->group_box_file, REGION_BOXES,
                                                          nbody_let_max_boxes(nb) * 8 * nb->real));
}

/* Allocate the blocks of pairs and the devices' counters. */
static int pairs_open(struct nbody *nb)
{
    static const cl_uint first[PAIR_KINDS] = {
        [CELLS] = 3000, [BODIES] = 3000, [FLAGS] = TREE_FLAGS};
    const struct domains *s = nb->domain.tree;
    const size_t counts = TREE_COUNTS * s->n * sizeof(cl_uint);
    EACH_TREE(nb, p)
    {
        for (cl_uint k = p->domain.index, other = 0; other < s->n; other++) {
            *nbody_domain_pair(s, k, other) = (struct pair){.from = k, .to = other};
            *nbody_domain_pair(s, other, k) = (struct pair){.from = other, .to = k};
        }
        p->domain.counts = nbody_device_alloc(nb, p, TREE_LEAST_BLOCK + counts, CL_MEM_PER_DEVICE);
        if (!p->domain.counts)
            return -1;
    }
    EACH_PAIR(s, e)
    for (size_t kind = e->from == e->to ? PAIR_KINDS : 0; kind < PAIR_KINDS; kind++)
        if (nbody_domain_reserve(nb, e, (enum pair_kind)kind, first[kind]) != 0)
            return -1;
    return 0;
}

int nbody_domain_allocate(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    if (!s)
        return 0;
    const size_t n = s->n, exports = EXPORTS * s->owned * n,
                 messages = exports + n + s->owned * (size_t)world_size(nb->world);
    s->begin = calloc(n + 1, sizeof *s->begin);
    s->send_request = calloc(messages, sizeof *s->send_request);
    s->receive_request = calloc(messages, sizeof *s->receive_request);
    s->list = calloc(2 * exports + n, sizeof *s->list);
    s->pair = calloc(2 * s->owned * n + 1, sizeof *s->pair);
    s->npairs = s->pair ? s->owned * (2 * n - s->owned) : 0;
    s->arrived = calloc(n * (TREE_COUNTS * s->owned + 2 * TREE_LEVELS + 2), sizeof *s->arrived);
    s->cost = calloc(2 * n, sizeof *s->cost);
    s->rate = s->cost ? s->cost + n : NULL;
    s->numbers = calloc(n, sizeof *s->numbers);
    s->boundary = domain_block(nb, (n + 1) * sizeof *s->boundary);
    nb->domain.key_words = 1;
    s->samples = domain_block(nb, n * TREE_SAMPLES * sizeof *s->samples);
    s->edge = domain_block(nb, n * nbody_domain_edge_bytes(nb));
    s->toptree =
        domain_block(nb, n * (2 * TREE_LEVELS + 1) * TREE_TOP_CELLS * nbody_domain_cell_bytes(nb));
    s->group_box = boxes_alloc(nb);
    if (s->begin && s->list && s->pair && s->cost && s->numbers && s->send_request &&
        s->receive_request && s->boundary && s->samples && s->edge && s->toptree && s->group_box &&
        s->arrived && pairs_open(nb) == 0)
        return nbody_device_threads_open(nb);
    return clerror_set(ENOMEM, "nbody_create: out of memory for a tree of %u domains", s->n);
}

/* Create the domains if there are several. */
static int domain_create(struct nbody *nb)
{
    const size_t n = nb->domain.holders;
    const struct holder *const holder = nb->domain.holder;
    struct nbody_device *p = nb->device;
    if (n < 2)
        return 0;
    struct domains *s = nb->domain.tree = calloc(1, sizeof *s);
    struct owner *owner = calloc(n, sizeof *owner);
    struct host_file *file = calloc((size_t)world_size(nb->world), sizeof *file);
    if (s) {
        s->n = nb->domain.ndomains = (cl_uint)n;
        s->owner = owner;
        s->file = file;
    }
    for (int r = 0; file && r < world_size(nb->world); r++)
        file[r].descriptor = -1;
    for (size_t k = 0; s && owner && k < n; k++) {
        const bool next = k > 0 && holder[k].rank == holder[k - 1].rank;
        owner[k] = (struct owner){.rank = holder[k].rank,
                                  .number = next ? owner[k - 1].number + 1 : 0,
                                  .speed = 1,
                                  .fraction = (double)holder[k].count / (double)nb->n};
        if (holder[k].rank != world_rank(nb->world))
            continue;
        while (!p->force.tree)
            p++;
        owner[k].device = p;
        s->owned = owner[k].number + 1;
        s->own = (cl_uint)k - owner[k].number;
        p++->domain.index = (cl_uint)k;
    }
    return s && owner && file ? 0 : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
}

int nbody_domain_open(struct nbody *nb)
{
    const int status = world_reduce_status(nb->world, domain_create(nb));
    return status == 0 && nb->domain.tree ? nbody_host_memory_open(nb) : status;
}

void nbody_domain_free(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    if (!s)
        return;
    if (s->send_request)
        world_wait(nb->world, s->send_request, s->nsend);
    void *const blocks[] = {s->boundary, s->samples, s->edge, s->toptree};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    nbody_host_memory_free(s->group_box_file, s->group_box);
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        clfree(p->domain.counts);
        clfree(p->domain.received);
        nbody_domain_forget_event(&p->domain.ev_box);
        nbody_domain_forget_event(&p->domain.ev_upload);
        nbody_domain_forget_event(&p->domain.ev_walks);
    }
    nbody_domain_clear_list(s);
    EACH_PAIR(s, e)
    for (size_t kind = 0; kind < PAIR_KINDS; kind++)
        nbody_domain_free_block(nb, e, (enum pair_kind)kind);
    nbody_host_memory_close(nb);
    free(s->file);
    free(s->pair);
    free(s->owner);
    free(s->list);
    free(s->cost);
    free(s->numbers);
    free(s->arrived);
    free(s->begin);
    free(s->send_request);
    free(s->receive_request);
    free(s);
    nb->domain.tree = NULL;
}

void nbody_domain_stop_threads(struct nbody *nb)
{
    if (nb->domain.tree)
        nbody_device_threads_free(nb);
}

void nbody_domain_set_key_words(struct nbody *nb, cl_uint words)
{
    struct domains *s = nb->domain.tree;
    s->side = 0;
    nb->domain.key_words = words;
    s->cannot_extend_keys = words == 1;
}

size_t nbody_domain_edge_bytes(const struct nbody *nb)
{
    return TREE_EDGE_BODIES * (2 * sizeof(cl_ulong) + 8 * nb->real);
}
