/* hash_nodes.c - memory of HashLife's squares.
 *
 * Leaves and nodes have a block of addresses each, as large as the memory limit; the system
 * commits pages when they are touched. A hash table of lists finds a square by its content.
 * Threads add squares concurrently: a new one is prepended to its list by compare-and-swap, and if
 * another thread was first, the list is searched again.
 *
 * When memory runs out, all threads pause where they hold only squares of their batches and
 * stacks, and one of them marks the squares that the plane, the workers and the results still
 * need. The others are freed. If too little becomes free, results are forgotten, which costs time
 * but changes no result.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_leaf.h"
#include "life/hash_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Squares that a thread reserves at a time; prefetch distance while the table grows. */
enum {
    BLOCK = 256,
    AHEAD = 16,
    FIRST_PLACES = 1 << 12,
    SMALL_PAGES = 1 << 21,
    SMALL_TREE = 1 << 20
};

static const size_t NODE_BYTES = sizeof(struct node);

/* Bytes of a leaf, including its link. */
static size_t leaf_bytes(const struct hashlife *h)
{
    return h->leaf_bytes + sizeof(square_t);
}

/* ---- Memory. --------------------------------------------------------------------------------- */

static void *addresses(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Reserve addresses for the largest possible table, at most a quarter of the memory; it grows in
 * place. */
static int open_table(struct pool *pool, size_t memory)
{
    for (pool->most_places = FIRST_PLACES; 8 * pool->most_places * sizeof *pool->head <= memory;)
        pool->most_places *= 2;
    pool->places = FIRST_PLACES;
    pool->head = addresses(pool->most_places * sizeof *pool->head);
    return pool->head ? 0 : -1;
}

int hash_nodes_open(struct hashlife *h)
{
    const size_t most = UINT32_MAX - 1;
    h->leaf_content = h->multistate ? (size_t)1 << 2 * h->leaf_level : sizeof(struct leaf);
    h->leaf_bytes = h->leaf_content + (h->transitions ? SIDE_OF_FILES : 0);
    h->nodes.most = h->memory / NODE_BYTES < most ? h->memory / NODE_BYTES : most;
    h->leaves.most = h->memory / leaf_bytes(h) < most ? h->memory / leaf_bytes(h) : most;
    h->nodes.free = h->leaves.free = NO_SQUARE;
    h->node = addresses(h->nodes.most * sizeof *h->node);
    h->leaf = addresses(h->leaves.most * h->leaf_bytes);
    h->leaf_next = addresses(h->leaves.most * sizeof *h->leaf_next);
    h->nodes.stride = sizeof *h->node;
    h->nodes.next = h->node ? &h->node->next : NULL;
    h->leaves.stride = sizeof *h->leaf_next;
    h->leaves.next = h->leaf_next;
    if (!h->node || !h->leaf || !h->leaf_next || open_table(&h->nodes, h->memory) < 0 ||
        open_table(&h->leaves, h->memory) < 0)
        return clerror_set(ENOMEM, "life: the system has no addresses for a tree of %zu MiB",
                           h->memory >> 20);
    return 0;
}

/* The blocks of addresses; `at` NULL: not open. */
enum { AREAS = 5 };
struct area {
    void *at;
    size_t bytes;
};

static void find_areas(const struct hashlife *h, struct area area[AREAS])
{
    const struct area all[AREAS] = {
        {h->node, h->nodes.most * sizeof *h->node},
        {h->leaf, h->leaves.most * h->leaf_bytes},
        {h->leaf_next, h->leaves.most * sizeof *h->leaf_next},
        {(void *)h->nodes.head, h->nodes.most_places * sizeof *h->nodes.head},
        {(void *)h->leaves.head, h->leaves.most_places * sizeof *h->leaves.head}};
    memcpy(area, all, sizeof all);
}

void hash_nodes_close(struct hashlife *h)
{
    struct area area[AREAS];
    find_areas(h, area);
    for (int i = 0; i < AREAS; i++)
        if (area[i].at)
            munmap(area[i].at, area[i].bytes);
}

/* Access to a large tree is random: use fewer, larger pages. */
static void use_large_pages(struct hashlife *h)
{
#ifdef MADV_HUGEPAGE
    struct area area[AREAS];
    find_areas(h, area);
    for (int i = 0; i < AREAS; i++)
        if (area[i].bytes > SMALL_PAGES)
            madvise((char *)area[i].at + SMALL_PAGES, area[i].bytes - SMALL_PAGES, MADV_HUGEPAGE);
#endif
    h->large_pages = true;
}

size_t hash_bytes(const struct hashlife *h)
{
    return (h->nodes.used - h->nodes.n_free) * NODE_BYTES +
           (h->leaves.used - h->leaves.n_free) * leaf_bytes(h) +
           (h->nodes.places + h->leaves.places) * sizeof(square_t);
}

static square_t *pool_next(const struct pool *pool, square_t i)
{
    return (square_t *)((char *)pool->next + i * pool->stride);
}

/* ---- Content. -------------------------------------------------------------------------------- */

/* Nodes that are created in sequence have consecutive numbers, and are looked up in sequence
 * later. The hash therefore keeps neighbours near each other, where caches hold them. This saves
 * 10 % to 33 % of the time of sparse patterns. */
static size_t place_of_node(const struct hashlife *h, const square_t part[4])
{
    return hash_place(part) & (h->nodes.places - 1);
}

uint32_t hash_leaf_place(const struct hashlife *h, const void *leaf)
{
    uint64_t word[4], x = 0;
    for (size_t at = 0; at == 0 || (h->multistate && at < h->leaf_content); at += sizeof word) {
        memcpy(word, (const char *)leaf + at, sizeof word);
        for (int i = 0; i < 4; i++)
            x = ((x << 23 | x >> 41) ^ word[i]) * 0x9e3779b97f4a7c15u;
    }
    x ^= x >> 29;
    return (uint32_t)(x ^ x >> 32);
}

/* Compare leaves of either kind, with constant sizes for the compiler: a hot spot. */
static bool same_leaf(const struct hashlife *h, square_t i, const void *leaf)
{
    return (!h->multistate   ? memcmp(hash_leaf(h, i), leaf, sizeof(struct leaf))
            : h->transitions ? memcmp(hash_states(h, i), leaf, STATES_OF_FILES)
                             : memcmp(hash_states(h, i), leaf, STATES_MOST)) == 0;
}

/* ---- Marking, and using again. --------------------------------------------------------------- */

struct marks {
    struct hashlife *h;
    uint64_t *node, *leaf;
    size_t nodes, leaves; /* marked */
    bool results;
};

static bool mark_once(uint64_t *marks, square_t i)
{
    const uint64_t bit = (uint64_t)1 << (i & 63);
    const bool was = marks[i >> 6] & bit;
    marks[i >> 6] |= bit;
    return !was;
}

/* Mark recursively. Depth is at most the number of levels: results and parts are one level lower.
 */
static void mark(struct marks *m, square_t square, int level)
{
    if (square == NO_SQUARE)
        return;
    if (level == m->h->leaf_level) {
        m->leaves += mark_once(m->leaf, square);
        return;
    }
    if (!mark_once(m->node, square))
        return;
    m->nodes++;
    const struct node *n = &m->h->node[square];
    for (int i = 0; i < 4; i++)
        mark(m, n->part[i], level - 1);
    if (m->results)
        mark(m, atomic_load_explicit(&n->result, memory_order_relaxed), level - 1);
}

static void mark_item(struct marks *m, const struct item *item, int level)
{
    mark(m, item->square, level);
    for (int i = 0; i < 9; i++) {
        mark(m, item->need.wanted[i], level - 1);
        mark(m, item->need.result[i], level - 2);
    }
    for (int i = 0; i < 4; i++)
        mark(m, item->need.four[i], level - 2);
}

static void mark_batch(struct marks *m, const struct batch *b, int level)
{
    for (unsigned i = 0; i < WANTED_MOST; i++)
        if (i < b->own || i >= WANTED_MOST - b->deferred) {
            mark(m, b->wanted[i], level);
            mark(m, b->result[i], level - 1);
        }
    for (unsigned i = 0; i < b->n; i++)
        mark_item(m, &b->item[i], level);
}

static void mark_needed(struct marks *m)
{
    struct hashlife *h = m->h;
    m->nodes = m->leaves = 0;
    memset(m->node, 0, (h->nodes.used / 64 + 1) * sizeof *m->node);
    memset(m->leaf, 0, (h->leaves.used / 64 + 1) * sizeof *m->leaf);
    for (int level = h->leaf_level; level < NODE_LEVELS; level++)
        mark(m, h->empty[level], level);
    mark(m, h->root, h->level);
    for (size_t i = 1; i < h->n_added; i++)
        if (h->added[i].level >= h->leaf_level)
            mark(m, h->added[i].square, h->added[i].level);
    for (unsigned t = 0; t < h->threads; t++) {
        for (size_t i = 0; i < h->worker[t].depth; i++)
            mark(m, h->worker[t].stack[i].square, h->worker[t].stack[i].level);
        for (int level = h->leaf_level + 1; level < NODE_LEVELS; level++)
            mark_batch(m, &h->worker[t].batch[level], level);
    }
}

static size_t marked_bytes(const struct marks *m)
{
    return m->nodes * NODE_BYTES + m->leaves * leaf_bytes(m->h);
}

static bool node_is_marked(const uint64_t *marks, size_t i)
{
    return marks[i >> 6] >> (i & 63) & 1;
}

/* Insert entry i into the table, while no other thread reads it. */
static void pool_put(const struct hashlife *h, struct pool *pool, square_t i)
{
    const size_t place = pool == &h->nodes
                             ? place_of_node(h, h->node[i].part)
                             : hash_leaf_place(h, h->leaf + i * h->leaf_bytes) & (pool->places - 1);
    *pool_next(pool, i) = hash_first(pool, place);
    atomic_store_explicit(&pool->head[place], ~i, memory_order_relaxed);
}

/* Rebuild the table from the marked entries, and put all others on the free list. */
static void pool_sweep(struct hashlife *h, struct pool *pool, const uint64_t *marks, size_t marked)
{
    memset((void *)pool->head, 0, pool->places * sizeof *pool->head);
    pool->free = NO_SQUARE;
    pool->n_free = pool->used - marked;
    for (size_t i = pool->used; i-- > 0;)
        if (node_is_marked(marks, i)) {
            pool_put(h, pool, (square_t)i);
        } else {
            *pool_next(pool, (square_t)i) = pool->free;
            pool->free = (square_t)i;
        }
}

/* Forget results that are not marked. */
static void forget_results(struct hashlife *h, const struct marks *m)
{
    for (size_t i = 0; i < h->nodes.used; i++) {
        struct node *n = &h->node[i];
        const square_t result = atomic_load_explicit(&n->result, memory_order_relaxed);
        if (!node_is_marked(m->node, i))
            n->level = 0;
        else if (result != NO_SQUARE &&
                 !(m->results &&
                   node_is_marked(n->level == h->leaf_level + 1 ? m->leaf : m->node, result)))
            atomic_store_explicit(&n->result, NO_SQUARE, memory_order_relaxed);
    }
}

/* Collect garbage; ENOMEM if that frees too little. Results are kept if 3/8 of the memory become
 * free nevertheless; without results half of it must, or the work would repeat forever. */
static int nodes_collect(struct hashlife *h)
{
    struct marks m = {.h = h};
    m.node = malloc((h->nodes.used / 64 + 1) * sizeof *m.node);
    m.leaf = malloc((h->leaves.used / 64 + 1) * sizeof *m.leaf);
    int error = m.node && m.leaf ? 0 : ENOMEM;
    const size_t tables = (h->nodes.places + h->leaves.places) * sizeof(square_t);
    if (!error) {
        m.results = true;
        mark_needed(&m);
        if (marked_bytes(&m) + tables > h->memory / 8 * 5) {
            m.results = false;
            mark_needed(&m);
        }
        forget_results(h, &m);
        pool_sweep(h, &h->nodes, m.node, m.nodes);
        pool_sweep(h, &h->leaves, m.leaf, m.leaves);
        for (unsigned t = 0; t < h->threads; t++)
            h->worker[t].nodes.n = h->worker[t].leaves.n = 0;
        h->collections++;
        h->needed = 2 * (marked_bytes(&m) + tables);
        if (h->needed > h->memory)
            error = ENOMEM;
    }
    free(m.node);
    free(m.leaf);
    return error;
}

/* Double the table: a leaf stays in its place, or moves up by the previous number of places. */
static void grow_leaves(struct hashlife *h)
{
    struct pool *pool = &h->leaves;
    const size_t places = pool->places;
    pool->places *= 2;
    for (size_t at = 0; at < places; at++) {
        square_t i = hash_first(pool, at);
        atomic_store_explicit(&pool->head[at], 0, memory_order_relaxed);
        for (square_t next; i != NO_SQUARE; i = next) {
            next = h->leaf_next[i];
            pool_put(h, pool, i);
        }
    }
}

/* Quadruple the table if memory allows, else double it. Nodes are reinserted in the order of their
 * numbers with prefetching, in a fraction of the time of a walk over the lists. */
static void grow_nodes(struct hashlife *h)
{
    struct pool *pool = &h->nodes;
    const size_t times =
        hash_bytes(h) < h->memory / 8 && 4 * pool->places <= pool->most_places ? 4 : 2;
    memset((void *)pool->head, 0, pool->places * sizeof *pool->head);
    pool->places *= times;
    for (size_t i = 0; i < pool->used; i++) {
        if (i + AHEAD < pool->used)
            __builtin_prefetch((void *)&pool->head[place_of_node(h, h->node[i + AHEAD].part)], 1);
        if (h->node[i].level)
            pool_put(h, pool, (square_t)i);
    }
}

/* ---- Work that suspends all threads. --------------------------------------------------------- */

/* Call with the lock held. */
static void wait_for_others(struct hashlife *h)
{
    h->waiting++;
    pthread_cond_broadcast(&h->change);
    while (h->suspended)
        pthread_cond_wait(&h->change, &h->lock);
    h->waiting--;
}

bool hash_pause(struct worker *w)
{
    struct hashlife *h = w->h;
    pthread_mutex_lock(&h->lock);
    if (h->suspended)
        wait_for_others(h);
    const bool stay = !h->abandon;
    pthread_mutex_unlock(&h->lock);
    return stay;
}

/* Run `change` while all other threads are suspended. Call with the lock held. */
static void nodes_hold_all(struct hashlife *h, void (*change)(struct hashlife *h))
{
    if (h->suspended) { /* another thread is collecting or growing; the reason may be gone after it
                         */
        wait_for_others(h);
        return;
    }
    h->suspended = true;
    atomic_store(&h->stop, 1);
    while (h->waiting + 1 < h->working)
        pthread_cond_wait(&h->change, &h->lock);
    change(h);
    h->suspended = false;
    atomic_store(&h->stop, h->abandon);
    pthread_cond_broadcast(&h->change);
}

static bool is_full(const struct hashlife *h)
{
    const size_t block = BLOCK * (NODE_BYTES + leaf_bytes(h));
    return hash_bytes(h) + block > h->memory || h->nodes.used + BLOCK > h->nodes.most ||
           h->leaves.used + BLOCK > h->leaves.most;
}

/* True if there are fewer than two places a square; lists are short then, and most searches end at
 * the first entry. */
static bool is_crowded(const struct pool *pool)
{
    return 2 * (pool->used - pool->n_free) > pool->places && pool->places < pool->most_places;
}

static void nodes_make_room(struct hashlife *h)
{
    if (!h->large_pages && hash_bytes(h) > SMALL_TREE)
        use_large_pages(h);
    if (is_crowded(&h->nodes))
        grow_nodes(h);
    if (is_crowded(&h->leaves))
        grow_leaves(h);
    if (is_full(h)) {
        const int error = nodes_collect(h);
        if (error) {
            h->error = error;
            h->abandon = true;
        }
    }
}

void hash_give_up(struct hashlife *h, int error)
{
    pthread_mutex_lock(&h->lock);
    if (!h->abandon)
        h->error = error;
    h->abandon = true;
    atomic_store(&h->stop, 1);
    pthread_mutex_unlock(&h->lock);
}

/* ---- Finding and making. --------------------------------------------------------------------- */

/* Reserve entries for a thread, from the free list first. Call with the lock held. */
static void pool_take(struct pool *pool, struct spare *spare)
{
    for (spare->first = NO_SQUARE, spare->n = 0; spare->n < BLOCK; spare->n++) {
        square_t i = pool->free;
        if (i != NO_SQUARE) {
            pool->free = *pool_next(pool, i);
            pool->n_free--;
        } else if (pool->used < pool->most) {
            i = (square_t)pool->used++;
        } else {
            return;
        }
        *pool_next(pool, i) = spare->first;
        spare->first = i;
    }
}

/* False if there are no more entries, or if this thread must leave. */
static bool refill(struct worker *w, struct pool *pool, struct spare *spare)
{
    struct hashlife *h = w->h;
    pthread_mutex_lock(&h->lock);
    while (!h->abandon && (is_crowded(pool) || is_full(h)))
        nodes_hold_all(h, nodes_make_room);
    if (!h->abandon)
        pool_take(pool, spare);
    const bool done = !h->abandon && spare->n > 0;
    pthread_mutex_unlock(&h->lock);
    return done;
}

/* Prepend the thread's spare entry, already filled, to the list that began with `first`. False if
 * another thread has changed the list. */
static bool publish(const struct hashlife *h, struct pool *pool, struct spare *spare, size_t place,
                    square_t first)
{
    const square_t i = spare->first, after = *pool_next(pool, i);
    *pool_next(pool, i) = first;
    square_t was = ~first;
    if (h->threads == 1) { /* no other threads: no atomic operation needed */
        atomic_store_explicit(&pool->head[place], ~i, memory_order_relaxed);
    } else if (!atomic_compare_exchange_strong_explicit(
                   &pool->head[place], &was, ~i, memory_order_release, memory_order_relaxed)) {
        *pool_next(pool, i) = after;
        return false;
    }
    spare->first = after;
    spare->n--;
    return true;
}

/* Create a node in the list that begins with `first`. NO_SQUARE: the list has changed, or out of
 * memory (h->error). */
static square_t make_node(struct worker *w, int level, const square_t part[4], size_t place,
                          square_t first)
{
    struct hashlife *h = w->h;
    const square_t i = w->nodes.first;
    struct node *n = &h->node[i];
    memcpy(n->part, part, sizeof n->part);
    atomic_store_explicit(&n->result, NO_SQUARE, memory_order_relaxed);
    atomic_store_explicit(&n->busy, 0, memory_order_relaxed);
    n->level = (uint8_t)level;
    if (publish(h, &h->nodes, &w->nodes, place, first))
        return i;
    n->level = 0;
    return NO_SQUARE;
}

static square_t find_or_make(struct worker *w, int level, const square_t part[4])
{
    struct hashlife *h = w->h;
    for (;;) {
        const size_t place = place_of_node(h, part);
        const square_t first = hash_first(&h->nodes, place);
        square_t i = hash_find(h, level, part, first);
        if (i != NO_SQUARE)
            return i;
        if (w->nodes.n) {
            if ((i = make_node(w, level, part, place, first)) != NO_SQUARE)
                return i;
        } else if (!refill(w, &h->nodes, &w->nodes)) { /* the tables may have changed after this */
            return NO_SQUARE;
        }
    }
}

square_t hash_node_find(struct worker *w, int level, square_t nw, square_t ne, square_t sw,
                        square_t se)
{
    const square_t part[4] = {nw, ne, sw, se}, i = find_or_make(w, level, part);
    if (i != NO_SQUARE)
        hash_keep(w, i, level);
    return i;
}

square_t hash_node_add(struct worker *w, int level, const square_t part[4], size_t place,
                       square_t first)
{
    const square_t i = w->nodes.n ? make_node(w, level, part, place, first) : NO_SQUARE;
    return i != NO_SQUARE ? i : find_or_make(w, level, part);
}

square_t hash_leaf_find(struct worker *w, const void *leaf)
{
    return hash_leaf_find_at(w, leaf, hash_leaf_place(w->h, leaf));
}

square_t hash_leaf_find_at(struct worker *w, const void *leaf, uint32_t hash)
{
    struct hashlife *h = w->h;
    for (;;) {
        const size_t place = hash & (h->leaves.places - 1);
        const square_t first = hash_first(&h->leaves, place);
        square_t i = first;
        while (i != NO_SQUARE && !same_leaf(h, i, leaf))
            i = h->leaf_next[i];
        if (i != NO_SQUARE) {
            hash_keep(w, i, h->leaf_level);
            return i;
        }
        if (!w->leaves.n) {
            if (!refill(w, &h->leaves, &w->leaves))
                return NO_SQUARE;
            continue;
        }
        i = w->leaves.first;
        unsigned char *to = h->leaf + i * h->leaf_bytes;
        memcpy(to, leaf, h->multistate ? h->leaf_content : sizeof(struct leaf));
        if (h->transitions)
            hash_states_find_moves(h, to, w->block);
        if (publish(h, &h->leaves, &w->leaves, place, first)) {
            hash_keep(w, i, h->leaf_level);
            return i;
        }
    }
}

square_t hash_empty(struct worker *w, int level)
{
    static const states_t none[STATES_MOST]; /* as large as the largest kind */
    square_t *empty = w->h->empty;
    if (empty[level] == NO_SQUARE && level == w->h->leaf_level) {
        empty[level] = hash_leaf_find(w, none);
    } else if (empty[level] == NO_SQUARE) {
        const square_t part = hash_empty(w, level - 1);
        if (part != NO_SQUARE)
            empty[level] = hash_node_find(w, level, part, part, part, part);
    }
    return empty[level];
}

void hash_set_k(struct hashlife *h, int k)
{
    const int odd = h->alternates ? (int)(h->lf->generation & 1) : 0,
              shared = (k < h->k ? k : h->k) + 2;
    const int same = odd == h->odd ? shared : 0; /* results up to this level do not depend on k */
    for (size_t i = 0; (k != h->k || odd != h->odd) && i < h->nodes.used; i++)
        if (h->node[i].level > same)
            atomic_store_explicit(&h->node[i].result, NO_SQUARE, memory_order_relaxed);
    h->k = k;
    h->odd = odd;
}
