/* hash_result.c - computes the result of a node: its middle, some generations later.
 *
 * A node of level n is 4 x 4 squares of level n - 2. It contains nine overlapping squares of level
 * n - 1, whose results cover its middle with a border:
 *
 *     +---+---+---+---+       +---+---+---+---+
 *     |   |   |   |   |       |   +--+--+--+  |
 *     +---+---+---+---+       +---|  |  |  |--+
 *     |   |   |   |   |       |   +--+--+--+  |
 *     +---+---+---+---+  ->   +---|  |  |  |--+
 *     |   |   |   |   |       |   +--+--+--+  |
 *     +---+---+---+---+       +---|  |  |  |--+
 *     |   |   |   |   |       |   +--+--+--+  |
 *     +---+---+---+---+       +---+---+---+---+
 *
 * Four squares of level n - 1 are assembled from the nine, and their results are the middle of the
 * node. In the lower levels the nine and the four advance half the time each, 2^(n-3) generations.
 * In levels where 2^k is less than 2^(n-3), the nine advance the whole time and the four not at
 * all.
 *
 * Most time goes into cache misses, for a place in the table and then for the square there, and
 * into mispredicted branches. A thread therefore processes a batch of nodes of one level, and each
 * stage is done for the whole batch: prefetch the hash buckets, then the nodes, then look them up.
 * Unknown results become the list of the next lower level, which is processed batch by batch
 * before the nodes continue. Every other thread processes its lists in opposite order, and threads
 * defer nodes that another thread has begun; a finished result is stored in the node, where all
 * threads find it.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_leaf.h"
#include "life/hash_nodes.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 9")
#endif

enum { LEAVES_AT_ONCE = 16 };

/* Batches keep the squares alive, so the stack is not needed. */
static square_t find_leaf(struct worker *w, const void *leaf)
{
    w->depth = 0;
    return hash_leaf_find(w, leaf);
}

static void leaf_result(struct worker *w, const struct node *n, void *out)
{
    const struct hashlife *h = w->h;
    const int k = h->k < h->leaf_level - 1 ? h->k : h->leaf_level - 1;
    if (h->multistate) {
        const states_t *part[4] = {hash_states(h, n->part[0]), hash_states(h, n->part[1]),
                                   hash_states(h, n->part[2]), hash_states(h, n->part[3])};
        hash_states_step(h, part, k, out, w->block);
        return;
    }
    const struct leaf *part[4] = {hash_leaf(h, n->part[0]), hash_leaf(h, n->part[1]),
                                  hash_leaf(h, n->part[2]), hash_leaf(h, n->part[3])};
    hash_leaf_step(h, part, k, out);
}

static square_t middle_of_leaves(struct worker *w, const square_t four[4])
{
    const struct hashlife *h = w->h;
    if (h->multistate) {
        const states_t *leaf[4] = {hash_states(h, four[0]), hash_states(h, four[1]),
                                   hash_states(h, four[2]), hash_states(h, four[3])};
        states_t middle[STATES_MOST];
        hash_states_middle(h, leaf, middle);
        return find_leaf(w, middle);
    }
    const struct leaf *leaf[4] = {hash_leaf(h, four[0]), hash_leaf(h, four[1]),
                                  hash_leaf(h, four[2]), hash_leaf(h, four[3])};
    struct leaf middle;
    hash_leaf_middle(leaf, &middle);
    return find_leaf(w, &middle);
}

static square_t batch_result_of(const struct hashlife *h, square_t square)
{
    return atomic_load_explicit(&h->node[square].result, memory_order_acquire);
}

/* id 0: none. */
static void set_busy(const struct hashlife *h, square_t square, uint8_t thread)
{
    atomic_store_explicit(&h->node[square].busy, thread, memory_order_relaxed);
}

/* ---- Nodes that are looked for, of all items: asked for, then found. ------------------------- */

INLINE void items_prefetch(struct worker *w, unsigned item, int n)
{
    const struct pool *nodes = &w->h->nodes;
    const _Atomic(square_t) *head = nodes->head;
    const size_t mask = nodes->places - 1;
    UNROLLED for (int i = 0; i < n; i++)
    {
        w->place[item][i] = hash_place(w->part[item][i]);
        __builtin_prefetch((const void *)&head[w->place[item][i] & mask]);
    }
}

/* Prefetch the nodes, once their places have arrived. */
INLINE void ask_nodes(const struct worker *w, unsigned items, int n)
{
    const struct hashlife *h = w->h;
    const _Atomic(square_t) *head = h->nodes.head;
    const size_t mask = h->nodes.places - 1;
    const struct node *node = h->node;
    for (unsigned item = 0; item < items; item++)
        UNROLLED for (int i = 0; i < n; i++)
        {
            const square_t first =
                ~atomic_load_explicit(&head[w->place[item][i] & mask], memory_order_relaxed);
            __builtin_prefetch(&node[first & (0u - (first != NO_SQUARE))]);
        }
}

/* False: out of memory, or the work was abandoned. */
INLINE bool items_find(struct worker *w, unsigned item, int n, int level, square_t *out)
{
    const struct hashlife *h = w->h;
    UNROLLED for (int i = 0; i < n; i++)
    {
        const size_t place = w->place[item][i] & (h->nodes.places - 1);
        const square_t first = hash_first(&h->nodes, place);
        if ((out[i] = hash_find(h, level, w->part[item][i], first)) == NO_SQUARE &&
            (out[i] = hash_node_add(w, level, w->part[item][i], place, first)) == NO_SQUARE)
            return false;
    }
    return true;
}

static bool worker_is_slow(const struct hashlife *h, int level)
{
    return h->k < level - 2;
}

/* ---- Results that are wanted. ---------------------------------------------------------------- */

/* Add a square to the list of its level; a thread's own only once. */
static void batch_want(struct worker *w, struct batch *lower, square_t square)
{
    const struct hashlife *h = w->h;
    const uint8_t busy = atomic_load_explicit(&h->node[square].busy, memory_order_relaxed);
    if (!busy) {
        set_busy(h, square, w->id);
        lower->result[lower->own] = NO_SQUARE;
        lower->wanted[lower->own++] = square;
    } else if (busy != w->id) {
        lower->deferred++;
        lower->result[WANTED_MOST - lower->deferred] = NO_SQUARE;
        lower->wanted[WANTED_MOST - lower->deferred] = square;
    }
}

/* Read the known results of n squares; nearly always most of them. */
INLINE void read_results(struct worker *w, struct batch *lower, struct item *item, int n)
{
    const struct hashlife *h = w->h;
    unsigned left = 0;
    UNROLLED for (int i = 0; i < n; i++)
    {
        item->need.result[i] = batch_result_of(h, item->need.wanted[i]);
        left |= (unsigned)(item->need.result[i] == NO_SQUARE) << i;
    }
    item->left = left;
    for (; left; left &= left - 1)
        batch_want(w, lower, item->need.wanted[__builtin_ctz(left)]);
}

static bool find_results(struct worker *w, int level);

/* Compute the unknown results and read them. */
static bool find_rest(struct worker *w, struct batch *b, int level)
{
    const struct hashlife *h = w->h;
    struct batch *lower = &w->batch[level - 1];
    if (!(lower->own + lower->deferred))
        return true;
    if (!find_results(w, level - 1))
        return false;
    for (unsigned i = 0; i < b->n; i++)
        for (unsigned left = b->item[i].left; left; left &= left - 1) {
            const int at = __builtin_ctz(left);
            b->item[i].need.result[at] = batch_result_of(h, b->item[i].need.wanted[at]);
        }
    lower->own = lower->deferred = 0;
    return true;
}

/* Drop nodes whose result another thread has found meanwhile. */
static void leave_known(struct worker *w, struct batch *b)
{
    const struct hashlife *h = w->h;
    for (unsigned i = 0; h->threads > 1 && i < b->n;) {
        struct item *item = &b->item[i];
        if ((b->result[item->at] = batch_result_of(h, item->square)) == NO_SQUARE) {
            i++;
        } else {
            set_busy(h, item->square, 0);
            *item = b->item[--b->n];
        }
    }
}

/* ---- The nine, the four, the last. ----------------------------------------------------------- */

/* Prefetch the five nodes between the parts of one: north, west, centre, east, south. */
static void ask_five(struct worker *w, const struct batch *b)
{
    const struct node *node = w->h->node;
    for (unsigned i = 0; i < b->n; i++)
        for (int j = 0; j < 4; j++)
            __builtin_prefetch(&node[node[b->item[i].square].part[j]]);
    for (unsigned i = 0; i < b->n; i++) {
        const square_t *part = node[b->item[i].square].part;
        const square_t *nw = node[part[NW]].part, *ne = node[part[NE]].part,
                       *sw = node[part[SW]].part, *se = node[part[SE]].part;
        const square_t five[5][4] = {{nw[NE], ne[NW], nw[SE], ne[SW]},
                                     {nw[SW], nw[SE], sw[NW], sw[NE]},
                                     {nw[SE], ne[SW], sw[NE], se[NW]},
                                     {ne[SW], ne[SE], se[NW], se[NE]},
                                     {sw[NE], se[NW], sw[SE], se[SW]}};
        memcpy(w->part[i], five, sizeof five);
        items_prefetch(w, i, 5);
    }
}

/* The nine squares are these five and the parts. */
static bool find_nine(struct worker *w, struct batch *b, int level)
{
    ask_five(w, b);
    ask_nodes(w, b->n, 5);
    for (unsigned i = 0; i < b->n; i++) {
        struct item *item = &b->item[i];
        if (!items_find(w, i, 5, level - 1, item->need.wanted))
            return false;
        memcpy(item->need.wanted + 5, w->h->node[item->square].part, sizeof(square_t[4]));
        read_results(w, &w->batch[level - 1], item, 9);
    }
    return find_rest(w, b, level);
}

static const unsigned char corner[4][4] = {{5, 0, 1, 2}, {0, 6, 2, 3}, {1, 2, 7, 4}, {2, 3, 4, 8}};

/* Prefetch the four squares that the nine results make, or their middles if the whole time has
 * passed. Leaves are built at once. */
static bool ask_four(struct worker *w, unsigned at, struct item *item, int level)
{
    const struct hashlife *h = w->h;
    const bool slow = worker_is_slow(h, level), leaves = slow && level - 2 == w->h->leaf_level;
    for (int i = 0; i < 4; i++) {
        square_t *part = w->part[at][i];
        for (int j = 0; j < 4; j++)
            part[j] = item->need.result[corner[i][j]];
        for (int j = 0; j < 4 && slow && !leaves; j++)
            part[j] = h->node[part[j]].part[3 - j];
        if (leaves && (item->need.four[i] = middle_of_leaves(w, part)) == NO_SQUARE)
            return false;
    }
    if (!leaves)
        items_prefetch(w, at, 4);
    return true;
}

static bool find_four(struct worker *w, struct batch *b, int level)
{
    const bool slow = worker_is_slow(w->h, level);
    leave_known(w, b);
    for (unsigned i = 0; i < b->n; i++)
        if (!ask_four(w, i, &b->item[i], level))
            return false;
    if (slow && level - 2 == w->h->leaf_level)
        return true;
    ask_nodes(w, b->n, 4);
    for (unsigned i = 0; i < b->n; i++) {
        struct item *item = &b->item[i];
        if (!items_find(w, i, 4, slow ? level - 2 : level - 1,
                        slow ? item->need.four : item->need.wanted))
            return false;
        if (!slow)
            read_results(w, &w->batch[level - 1], item, 4);
    }
    return slow || find_rest(w, b, level);
}

static void result_known(struct worker *w, struct batch *b, const struct item *item,
                         square_t result)
{
    w->results++;
    b->result[item->at] = result;
    atomic_store_explicit(&w->h->node[item->square].result, result, memory_order_release);
    set_busy(w->h, item->square, 0);
}

static bool find_last(struct worker *w, struct batch *b, int level)
{
    const bool slow = worker_is_slow(w->h, level);
    leave_known(w, b);
    for (unsigned i = 0; i < b->n; i++) {
        memcpy(w->part[i][0], slow ? b->item[i].need.four : b->item[i].need.result,
               sizeof w->part[i][0]);
        items_prefetch(w, i, 1);
    }
    ask_nodes(w, b->n, 1);
    for (unsigned i = 0; i < b->n; i++) {
        square_t out;
        if (!items_find(w, i, 1, level - 1, &out))
            return false;
        result_known(w, b, &b->item[i], out);
    }
    return true;
}

/* Compute the results of some nodes, and prefetch their places in the table; then prefetch the
 * leaves there; then look them up. */
static bool find_few_leaves(struct worker *w, struct batch *b, unsigned first, unsigned n)
{
    const struct hashlife *h = w->h;
    const size_t bytes = h->leaf_content, mask = h->leaves.places - 1;
    _Alignas(32) unsigned char leaf[LEAVES_AT_ONCE * STATES_MOST];
    uint32_t place[LEAVES_AT_ONCE];
    for (unsigned i = 0; i < n; i++) {
        leaf_result(w, &h->node[b->item[first + i].square], leaf + i * bytes);
        place[i] = hash_leaf_place(h, leaf + i * bytes);
        __builtin_prefetch((const void *)&h->leaves.head[place[i] & mask]);
    }
    for (unsigned i = 0; i < n; i++) {
        const square_t at = hash_first(&h->leaves, place[i]);
        __builtin_prefetch(h->leaf + (at == NO_SQUARE ? 0 : at) * h->leaf_bytes);
    }
    for (unsigned i = 0; i < n; i++) {
        w->depth = 0;
        const square_t out = hash_leaf_find_at(w, leaf + i * bytes, place[i]);
        if (out == NO_SQUARE)
            return false;
        result_known(w, b, &b->item[first + i], out);
    }
    return true;
}

static bool find_leaves(struct worker *w, struct batch *b)
{
    for (unsigned i = 0; i < b->n; i += LEAVES_AT_ONCE) {
        const unsigned n = b->n - i < LEAVES_AT_ONCE ? b->n - i : LEAVES_AT_ONCE;
        if (!find_few_leaves(w, b, i, n))
            return false;
    }
    return true;
}

/* ---- Batch by batch. ------------------------------------------------------------------------- */

/* Squares between two polls of the clock, about a millisecond. */
enum { POLL_EVERY = 1 << 11 };

/* Safe point. False if this thread must leave. */
static bool result_is_middle(struct worker *w)
{
    if (atomic_load_explicit(&w->h->stop, memory_order_relaxed) && !hash_pause(w))
        return false;
    if (!w->poll || w->items < POLL_EVERY)
        return true;
    w->items = 0;
    return w->poll(w);
}

/* Add squares whose results are unknown to the batch. False if it is full. */
static bool batch_take(struct worker *w, struct batch *b, unsigned at, unsigned most)
{
    if (b->n == most)
        return false;
    const square_t square = b->wanted[at];
    if ((b->result[at] = batch_result_of(w->h, square)) != NO_SQUARE) {
        set_busy(w->h, square,
                 0); /* the result may have been stored before this thread registered */
        return true;
    }
    struct item *item = &b->item[b->n++];
    item->square = square;
    item->at = at;
    memset(&item->need, 0xff, sizeof item->need); /* NO_SQUARE */
    return true;
}

/* Compute the results of n wanted squares, a batch at a time, from index `at` upward or downward.
 */
static bool find_batches(struct worker *w, int level, unsigned at, unsigned n, unsigned most,
                         bool up)
{
    struct batch *b = &w->batch[level];
    while (n) {
        if (!result_is_middle(w))
            return false;
        for (; n && batch_take(w, b, at, most); n--)
            at += up ? 1 : -1u;
        w->items += b->n;
        if (level == w->h->leaf_level + 1
                ? !find_leaves(w, b)
                : !(find_nine(w, b, level) && find_four(w, b, level) && find_last(w, b, level)))
            return false;
        b->n = 0;
    }
    return true;
}

/* Compute the level's list. Squares that another thread has begun come last, one at a time. Every
 * other thread uses the opposite order. */
static bool find_results(struct worker *w, int level)
{
    struct hashlife *h = w->h;
    struct batch *b = &w->batch[level];
    const uint64_t collections = h->collections;
    if (!find_batches(w, level, w->reverse ? b->own - 1 : 0, b->own, BATCH, !w->reverse) ||
        !find_batches(w, level, w->reverse ? WANTED_MOST - b->deferred : WANTED_MOST - 1,
                      b->deferred, 1, w->reverse))
        return false;
    for (unsigned i = 0; collections != h->collections && i < WANTED_MOST;
         i++) /* a collection may have forgotten them */
        if (i < b->own || i >= WANTED_MOST - b->deferred)
            atomic_store_explicit(&h->node[b->wanted[i]].result, b->result[i],
                                  memory_order_release);
    return true;
}

bool hash_result(struct worker *w, bool (*poll)(struct worker *w))
{
    struct hashlife *h = w->h;
    w->poll = poll;
    w->depth = 0;
    batch_want(w, &w->batch[h->level], h->root);
    const bool found = find_results(w, h->level);
    for (int level = h->leaf_level + 1; level <= h->level; level++) {
        struct batch *b = &w->batch[level];
        for (unsigned i = 0; i < b->own; i++)
            set_busy(h, b->wanted[i], 0);
        b->own = b->deferred = b->n = 0;
    }
    return found;
}
