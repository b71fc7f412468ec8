/* hash_result.c - what the middle of a square becomes.
 *
 * A node of level n is 4 x 4 squares of level n - 2. Nine overlapping squares of level n - 1 lie in
 * it, and what their middles become covers its middle with something around it:
 *
 *     +---+---+---+---+       +---+---+---+---+
 *     |   |   |   |   |       |   +--+--+--+  |      Four squares of level n - 1 are made of these
 *         nine, and
 *     +---+---+---+---+       +---|  |  |  |--+      their middles are the middle of the node. In
 *                             the lower
 *     |   |   |   |   |       |   +--+--+--+  |      levels both of these go half the time each,
 *         2^(n-3) and
 *     +---+---+---+---+  ->   +---|  |  |  |--+      2^(n-3) generations; in the levels where 2^k
 *                        generations
 *     |   |   |   |   |       |   +--+--+--+  |      are less than that, the nine go all of the
 *         time and the four go none.
 *     +---+---+---+---+       +---|  |  |  |--+
 *     |   |   |   |   |       |   +--+--+--+  |
 *     +---+---+---+---+       +---+---+---+---+
 *
 * Nearly all the time goes into waiting for memory, where a square is in the table and then for the
 * square, and into branches that a processor cannot foretell. So a thread has a batch of nodes of
 * one level at work, and each step is done for all of them before the next: where their squares are
 * is asked for, then the squares, then these are found. Results that are not known become the list
 * of the next lower level, which is done, batch by batch, before the nodes go on. Threads have
 * lists of their own, in opposite order, and put off what another has in its list; what one has
 * found all others read in the node.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 9")
#endif

/* Batches hold what is needed, and the stack nothing. */
static square_t find_leaf(struct worker *w, const void *leaf)
{
    w->depth = 0;
    return hash_leaf_find(w, leaf);
}

static square_t leaf_result(struct worker *w, const struct node *n)
{
    const struct hashlife *h = w->h;
    const int k = h->k < h->leaf_level - 1 ? h->k : h->leaf_level - 1;
    if (h->many) {
        const states_t *part[4] = {hash_states(h, n->part[0]), hash_states(h, n->part[1]),
                                   hash_states(h, n->part[2]), hash_states(h, n->part[3])};
        states_t out[STATES_MOST];
        hash_states_step(h, part, k, out);
        return find_leaf(w, out);
    }
    const struct leaf *part[4] = {hash_leaf(h, n->part[0]), hash_leaf(h, n->part[1]),
                                  hash_leaf(h, n->part[2]), hash_leaf(h, n->part[3])};
    struct leaf out;
    hash_leaf_step(h, part, k, &out);
    return find_leaf(w, &out);
}

static square_t middle_of_leaves(struct worker *w, const square_t four[4])
{
    const struct hashlife *h = w->h;
    if (h->many) {
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

static square_t result_of(const struct hashlife *h, square_t square)
{
    return atomic_load_explicit(&h->node[square].result, memory_order_acquire);
}

/* Nobody: 0. */
static void set_busy(const struct hashlife *h, square_t square, uint8_t thread)
{
    atomic_store_explicit(&h->node[square].busy, thread, memory_order_relaxed);
}

/* ---- Nodes that are looked for, of all items: asked for, then found. ------------------------- */

INLINE void ask(struct worker *w, unsigned item, int n)
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

/* When that has come: asks for the nodes. */
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

/* False: there is no memory left, or the work was given up. */
INLINE bool find(struct worker *w, unsigned item, int n, int level, square_t *out)
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

static bool is_slow(const struct hashlife *h, int level)
{
    return h->k < level - 2;
}

/* ---- Results that are wanted. ---------------------------------------------------------------- */

/* Puts a square into the list of its level, a thread's own once. */
static void want(struct worker *w, struct batch *lower, square_t square)
{
    const struct hashlife *h = w->h;
    const uint8_t busy = atomic_load_explicit(&h->node[square].busy, memory_order_relaxed);
    if (!busy) {
        set_busy(h, square, w->of);
        lower->result[lower->own] = NO_SQUARE;
        lower->wanted[lower->own++] = square;
    } else if (busy != w->of) {
        lower->taken++;
        lower->result[WANTED_MOST - lower->taken] = NO_SQUARE;
        lower->wanted[WANTED_MOST - lower->taken] = square;
    }
}

/* Reads which of the results of n squares are known: most, nearly always. */
INLINE void read_results(struct worker *w, struct batch *lower, struct item *item, int n)
{
    const struct hashlife *h = w->h;
    unsigned left = 0;
    UNROLLED for (int i = 0; i < n; i++)
    {
        item->held.result[i] = result_of(h, item->held.wanted[i]);
        left |= (unsigned)(item->held.result[i] == NO_SQUARE) << i;
    }
    item->left = left;
    for (; left; left &= left - 1)
        want(w, lower, item->held.wanted[__builtin_ctz(left)]);
}

static bool find_results(struct worker *w, int level);

/* Finds what is not known, and reads it. */
static bool find_rest(struct worker *w, struct batch *b, int level)
{
    const struct hashlife *h = w->h;
    struct batch *lower = &w->batch[level - 1];
    if (!(lower->own + lower->taken))
        return true;
    if (!find_results(w, level - 1))
        return false;
    for (unsigned i = 0; i < b->n; i++)
        for (unsigned left = b->item[i].left; left; left &= left - 1) {
            const int at = __builtin_ctz(left);
            b->item[i].held.result[at] = result_of(h, b->item[i].held.wanted[at]);
        }
    lower->own = lower->taken = 0;
    return true;
}

/* Leaves nodes whose own result another thread has found meanwhile. */
static void leave_known(struct worker *w, struct batch *b)
{
    const struct hashlife *h = w->h;
    for (unsigned i = 0; h->threads > 1 && i < b->n;) {
        struct item *item = &b->item[i];
        if ((b->result[item->at] = result_of(h, item->square)) == NO_SQUARE) {
            i++;
        } else {
            set_busy(h, item->square, 0);
            *item = b->item[--b->n];
        }
    }
}

/* ---- The nine, the four, the last. ----------------------------------------------------------- */

/* Five nodes lie between the parts of one: north, west, in the middle, east, south. */
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
        ask(w, i, 5);
    }
}

/* The nine are these five and the parts. */
static bool find_nine(struct worker *w, struct batch *b, int level)
{
    ask_five(w, b);
    ask_nodes(w, b->n, 5);
    for (unsigned i = 0; i < b->n; i++) {
        struct item *item = &b->item[i];
        if (!find(w, i, 5, level - 1, item->held.wanted))
            return false;
        memcpy(item->held.wanted + 5, w->h->node[item->square].part, sizeof(square_t[4]));
        read_results(w, &w->batch[level - 1], item, 9);
    }
    return find_rest(w, b, level);
}

static const unsigned char corner[4][4] = {{5, 0, 1, 2}, {0, 6, 2, 3}, {1, 2, 7, 4}, {2, 3, 4, 8}};

/* The four squares that results of the nine make, or where they have had all of the time, their
 * middles; of leaves at once. */
static bool ask_four(struct worker *w, unsigned at, struct item *item, int level)
{
    const struct hashlife *h = w->h;
    const bool slow = is_slow(h, level), leaves = slow && level - 2 == w->h->leaf_level;
    for (int i = 0; i < 4; i++) {
        square_t *part = w->part[at][i];
        for (int j = 0; j < 4; j++)
            part[j] = item->held.result[corner[i][j]];
        for (int j = 0; j < 4 && slow && !leaves; j++)
            part[j] = h->node[part[j]].part[3 - j];
        if (leaves && (item->held.four[i] = middle_of_leaves(w, part)) == NO_SQUARE)
            return false;
    }
    if (!leaves)
        ask(w, at, 4);
    return true;
}

static bool find_four(struct worker *w, struct batch *b, int level)
{
    const bool slow = is_slow(w->h, level);
    leave_known(w, b);
    for (unsigned i = 0; i < b->n; i++)
        if (!ask_four(w, i, &b->item[i], level))
            return false;
    if (slow && level - 2 == w->h->leaf_level)
        return true;
    ask_nodes(w, b->n, 4);
    for (unsigned i = 0; i < b->n; i++) {
        struct item *item = &b->item[i];
        if (!find(w, i, 4, slow ? level - 2 : level - 1,
                  slow ? item->held.four : item->held.wanted))
            return false;
        if (!slow)
            read_results(w, &w->batch[level - 1], item, 4);
    }
    return slow || find_rest(w, b, level);
}

static void known(struct worker *w, struct batch *b, const struct item *item, square_t result)
{
    b->result[item->at] = result;
    atomic_store_explicit(&w->h->node[item->square].result, result, memory_order_release);
    set_busy(w->h, item->square, 0);
}

static bool find_last(struct worker *w, struct batch *b, int level)
{
    const bool slow = is_slow(w->h, level);
    leave_known(w, b);
    for (unsigned i = 0; i < b->n; i++) {
        memcpy(w->part[i][0], slow ? b->item[i].held.four : b->item[i].held.result,
               sizeof w->part[i][0]);
        ask(w, i, 1);
    }
    ask_nodes(w, b->n, 1);
    for (unsigned i = 0; i < b->n; i++) {
        square_t out;
        if (!find(w, i, 1, level - 1, &out))
            return false;
        known(w, b, &b->item[i], out);
    }
    return true;
}

static bool find_leaves(struct worker *w, struct batch *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        const square_t out = leaf_result(w, &w->h->node[b->item[i].square]);
        if (out == NO_SQUARE)
            return false;
        known(w, b, &b->item[i], out);
    }
    return true;
}

/* ---- Batch by batch. ------------------------------------------------------------------------- */

/* Squares between looks at the clock, a millisecond or less. */
enum { LOOK = 1 << 11 };

/* Lets others do what they cannot do beside this thread; false: it is to leave. */
static bool stays(struct worker *w)
{
    if (atomic_load_explicit(&w->h->stop, memory_order_relaxed) && !hash_pause(w))
        return false;
    if (!w->look || w->items < LOOK)
        return true;
    w->items = 0;
    return w->look(w);
}

/* Adds those to the batch that are not known yet; false: it is full. */
static bool take(struct worker *w, struct batch *b, unsigned at, unsigned most)
{
    if (b->n == most)
        return false;
    const square_t square = b->wanted[at];
    if ((b->result[at] = result_of(w->h, square)) != NO_SQUARE) {
        set_busy(w->h, square, 0); /* it may have been found before this thread named itself */
        return true;
    }
    struct item *item = &b->item[b->n++];
    item->square = square;
    item->at = at;
    memset(&item->held, 0xff, sizeof item->held); /* NO_SQUARE */
    return true;
}

/* Finds results of n of the wanted, so many at a time, from number `at` on or up to it. */
static bool find_batches(struct worker *w, int level, unsigned at, unsigned n, unsigned most,
                         bool up)
{
    struct batch *b = &w->batch[level];
    while (n) {
        if (!stays(w))
            return false;
        for (; n && take(w, b, at, most); n--)
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

/* Of the level's list, where those that another thread has begun come last and one at a time. Every
 * other thread goes the other way round. */
static bool find_results(struct worker *w, int level)
{
    struct hashlife *h = w->h;
    struct batch *b = &w->batch[level];
    const uint64_t collections = h->collections;
    if (!find_batches(w, level, w->back ? b->own - 1 : 0, b->own, BATCH, !w->back) ||
        !find_batches(w, level, w->back ? WANTED_MOST - b->taken : WANTED_MOST - 1, b->taken, 1,
                      w->back))
        return false;
    for (unsigned i = 0; collections != h->collections && i < WANTED_MOST;
         i++) /* nodes may have forgotten them */
        if (i < b->own || i >= WANTED_MOST - b->taken)
            atomic_store_explicit(&h->node[b->wanted[i]].result, b->result[i],
                                  memory_order_release);
    return true;
}

bool hash_result(struct worker *w, bool (*look)(struct worker *w))
{
    struct hashlife *h = w->h;
    w->look = look;
    w->depth = 0;
    want(w, &w->batch[h->level], h->root);
    const bool found = find_results(w, h->level);
    for (int level = h->leaf_level + 1; level < NODE_LEVELS; level++) {
        struct batch *b = &w->batch[level];
        for (unsigned i = 0; i < b->own; i++)
            set_busy(h, b->wanted[i], 0);
        b->own = b->taken = b->n = 0;
    }
    return found;
}
