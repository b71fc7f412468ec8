/* hash_result.c - what the middle of a square becomes.
 *
 * A node of level n is 4 x 4 squares of level n - 2. Nine overlapping squares of level n - 1 lie in it, and what their middles become
 * covers its middle with something around it:
 *
 *     +---+---+---+---+       +---+---+---+---+
 *     |   |   |   |   |       |   +--+--+--+  |      Four squares of level n - 1 are made of these nine, and
 *     +---+---+---+---+       +---|  |  |  |--+      their middles are the middle of the node. In the lower
 *     |   |   |   |   |       |   +--+--+--+  |      levels both of these go half the time each, 2^(n-3) and
 *     +---+---+---+---+  ->   +---|  |  |  |--+      2^(n-3) generations; in the levels where 2^k generations
 *     |   |   |   |   |       |   +--+--+--+  |      are less than that, the nine go all of the time and the four go none.
 *     +---+---+---+---+       +---|  |  |  |--+
 *     |   |   |   |   |       |   +--+--+--+  |
 *     +---+---+---+---+       +---+---+---+---+
 *
 * Nearly all the time goes into waiting for memory: where a square is in the table, and then for the square. So a thread has up to six
 * workers, each with its own frames in place of a stack of calls, and goes on with another whenever one has asked for memory. Each takes the nine in another order, and puts off
 * those at which another is at work, of this thread or another one; what one has found all others read in the node.
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

/* What a worker does next with a node; before it finds nodes others go on. Loops have as many turns as the compiler knows, and every step is a part of its own: with several
 * workers a processor cannot foretell which way such branches go. */
enum { BEGIN, FIND_FIVE, NINE, FIND_FOUR, FOUR, FIND_LAST };

/* Up to this level a square at which another worker of the thread is at work is waited for; it has lower ones to do only, so that no two wait for each other. Of others
 * the parts are shared. */
enum { WAIT_LEVEL = 8 };

/* Frames hold what a worker needs, and its stack nothing. */
static square_t find_leaf(struct worker *w, const void *leaf)
{
    w->depth = 0;
    return hash_leaf_find(w, leaf);
}

static square_t leaf_result(struct worker *w, const struct node *n)
{
    const struct hashlife *h = w->h;
    const int k = h->k < LEAF_LEVEL - 1 ? h->k : LEAF_LEVEL - 1;
    if (h->many) {
        const struct leaf_states *part[4] = {hash_states(h, n->part[0]), hash_states(h, n->part[1]), hash_states(h, n->part[2]), hash_states(h, n->part[3])};
        struct leaf_states out;
        hash_states_step(h, part, k, &out);
        return find_leaf(w, &out);
    }
    const struct leaf *part[4] = {hash_leaf(h, n->part[0]), hash_leaf(h, n->part[1]), hash_leaf(h, n->part[2]), hash_leaf(h, n->part[3])};
    struct leaf out;
    hash_leaf_step(h, part, k, &out);
    return find_leaf(w, &out);
}

static square_t middle_of_leaves(struct worker *w, const square_t four[4])
{
    const struct hashlife *h = w->h;
    if (h->many) {
        const struct leaf_states *leaf[4] = {hash_states(h, four[0]), hash_states(h, four[1]), hash_states(h, four[2]), hash_states(h, four[3])};
        struct leaf_states middle;
        hash_states_middle(leaf, &middle);
        return find_leaf(w, &middle);
    }
    const struct leaf *leaf[4] = {hash_leaf(h, four[0]), hash_leaf(h, four[1]), hash_leaf(h, four[2]), hash_leaf(h, four[3])};
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

static void push(struct worker *w, square_t square, int level)
{
    struct frame *f = ++w->top;
    f->square = square;
    f->level = level;
    f->todo = BEGIN;
    memset(&f->held, 0xff, sizeof f->held); /* NO_SQUARE */
}

/* The result of a node is known: the frame that wanted it, now the last, will read it. */
static enum hash_went pop(struct worker *w)
{
    return --w->top > w->frame ? HASH_GOES : HASH_KNOWN;
}

static enum hash_went known(struct worker *w, const struct frame *f, square_t result)
{
    if (result == NO_SQUARE)
        return HASH_LEAVES;
    atomic_store_explicit(&w->h->node[f->square].result, result, memory_order_release);
    set_busy(w->h, f->square, 0);
    return pop(w);
}

/* ---- Nodes that are looked for: asked for, then found. --------------------------------------- */

/* Asks for the memory where n nodes are in the table. */
INLINE enum hash_went ask_for(struct worker *w, int n)
{
    const struct pool *nodes = &w->h->nodes;
    const _Atomic(square_t) *head = nodes->head;
    const size_t mask = nodes->places - 1;
    UNROLLED for (int i = 0; i < n; i++) {
        w->place[i] = hash_place(w->part[i]);
        __builtin_prefetch((const void *)&head[w->place[i] & mask]);
    }
    return HASH_ASKED;
}

/* All five, however many are looked for: what is there of others costs less than a branch. */
void hash_ask(const struct worker *w)
{
    const struct hashlife *h = w->h;
    const _Atomic(square_t) *head = h->nodes.head;
    const size_t mask = h->nodes.places - 1;
    const struct node *node = h->node;
    UNROLLED for (int i = 0; i < 5; i++) {
        const square_t first = ~atomic_load_explicit(&head[w->place[i] & mask], memory_order_relaxed);
        __builtin_prefetch(&node[first & (0u - (first != NO_SQUARE))]);
    }
}

/* False: there is no memory left, or the work was given up. */
INLINE bool find(struct worker *w, int n, int level, square_t *out)
{
    const struct hashlife *h = w->h;
    UNROLLED for (int i = 0; i < n; i++) {
        const size_t place = w->place[i] & (h->nodes.places - 1);
        const square_t first = hash_first(&h->nodes, place);
        if ((out[i] = hash_find(h, level, w->part[i], first)) == NO_SQUARE && (out[i] = hash_node_add(w, level, w->part[i], place, first)) == NO_SQUARE)
            return false;
    }
    return true;
}

/* Five nodes lie between the parts of one: north, west, in the middle, east, south. */
static enum hash_went ask_five(struct worker *w, struct frame *f)
{
    const struct hashlife *h = w->h;
    const struct node *n = &h->node[f->square];
    const square_t *a = h->node[n->part[NW]].part, *b = h->node[n->part[NE]].part, *c = h->node[n->part[SW]].part,
                   *d = h->node[n->part[SE]].part;
    const square_t part[5][4] = {{a[NE], b[NW], a[SE], b[SW]},
                                 {a[SW], a[SE], c[NW], c[NE]},
                                 {a[SE], b[SW], c[NE], d[NW]},
                                 {b[SW], b[SE], d[NW], d[NE]},
                                 {c[NE], d[NW], c[SE], d[SW]}};
    memcpy(w->part, part, sizeof part);
    f->todo = FIND_FIVE;
    return ask_for(w, 5);
}

static bool is_slow(const struct hashlife *h, const struct frame *f)
{
    return h->k < f->level - 2;
}

static enum hash_went ask_last(struct worker *w, struct frame *f)
{
    memcpy(w->part[0], is_slow(w->h, f) ? f->held.four : f->held.result, sizeof w->part[0]);
    f->todo = FIND_LAST;
    return ask_for(w, 1);
}

static const unsigned char corner[4][4] = {{5, 0, 1, 2}, {0, 6, 2, 3}, {1, 2, 7, 4}, {2, 3, 4, 8}};

/* The four squares that results of the nine make, or where they have had all of the time, their middles; of leaves at once. */
static enum hash_went ask_four(struct worker *w, struct frame *f)
{
    const struct hashlife *h = w->h;
    const bool slow = is_slow(h, f), leaves = slow && f->level - 2 == LEAF_LEVEL;
    for (int i = 0; i < 4; i++) {
        square_t *four = w->part[i];
        for (int j = 0; j < 4; j++)
            four[j] = f->held.result[corner[i][j]];
        for (int j = 0; j < 4 && slow && !leaves; j++)
            four[j] = h->node[four[j]].part[3 - j];
        if (leaves && (f->held.four[i] = middle_of_leaves(w, four)) == NO_SQUARE)
            return HASH_LEAVES;
    }
    if (leaves)
        return ask_last(w, f);
    f->todo = FIND_FOUR;
    return ask_for(w, 4);
}

/* ---- Results that are wanted. ---------------------------------------------------------------- */

/* Begins with a node, unless another worker has the result by now. */
static enum hash_went begin(struct worker *w, struct frame *f)
{
    const struct hashlife *h = w->h;
    if (result_of(h, f->square) != NO_SQUARE)
        return pop(w);
    set_busy(h, f->square, w->of);
    if (f->level == LEAF_LEVEL + 1)
        return known(w, f, leaf_result(w, &h->node[f->square]));
    return ask_five(w, f);
}

/* Reads which of the results of n squares are known: most, nearly always. */
INLINE void begin_results(const struct hashlife *h, struct frame *f, int n)
{
    f->left = 0;
    UNROLLED for (int i = 0; i < n; i++) {
        f->held.result[i] = result_of(h, f->held.wanted[i]);
        f->left |= (unsigned)(f->held.result[i] == NO_SQUARE) << i;
    }
}

/* Of some bits of nine one: every worker of a thread begins with another, and every other thread goes the other way round. */
static inline int choose(const struct worker *w, unsigned bits)
{
    if (w->back) {
        const unsigned back = bits & ((2u << (8 - w->start)) - 1);
        return 31 - __builtin_clz(back ? back : bits);
    }
    const unsigned from = bits & ~0u << w->start;
    return __builtin_ctz(from ? from : bits);
}

static enum hash_went begin_other(struct worker *w, square_t square, int level)
{
    push(w, square, level);
    return begin(w, w->top);
}

/* Goes on with one of those that are not known; with f->left 0, all are. A node whose own result another worker has found meanwhile is left. */
static enum hash_went more_results(struct worker *w, struct frame *f)
{
    const struct hashlife *h = w->h;
    square_t taken = NO_SQUARE;
    uint8_t by = 0, busy;
    if (result_of(h, f->square) != NO_SQUARE) {
        set_busy(h, f->square, 0);
        return pop(w);
    }
    for (unsigned todo = f->left; todo;) {
        const int at = choose(w, todo);
        const square_t square = f->held.wanted[at];
        todo &= ~(1u << at);
        if ((f->held.result[at] = result_of(h, square)) != NO_SQUARE) {
            f->left &= ~(1u << at);
        } else if ((busy = atomic_load_explicit(&h->node[square].busy, memory_order_relaxed)) != 0) {
            taken = square;
            by = busy;
        } else {
            return begin_other(w, square, f->level - 1);
        }
    }
    if (!f->left || (f->level - 1 <= WAIT_LEVEL && by == w->of))
        return HASH_ASKED;
    return begin_other(w, taken, f->level - 1);
}

/* ---- One thing after the other. -------------------------------------------------------------- */

/* Nine squares, five that lie between the parts and the parts. */
static bool find_nine(struct worker *w, struct frame *f)
{
    if (!find(w, 5, f->level - 1, f->held.wanted))
        return false;
    memcpy(f->held.wanted + 5, w->h->node[f->square].part, sizeof(square_t[4]));
    begin_results(w->h, f, 9);
    f->todo = NINE;
    return true;
}

static bool find_four(struct worker *w, struct frame *f)
{
    const bool slow = is_slow(w->h, f);
    if (!find(w, 4, slow ? f->level - 2 : f->level - 1, slow ? f->held.four : f->held.wanted))
        return false;
    f->left = 0;
    if (!slow)
        begin_results(w->h, f, 4);
    f->todo = FOUR;
    return true;
}

static enum hash_went find_last(struct worker *w, struct frame *f)
{
    square_t out;
    return find(w, 1, f->level - 1, &out) ? known(w, f, out) : HASH_LEAVES;
}

/* Until it has asked for memory, or another frame is the last one. */
static enum hash_went go_on(struct worker *w, struct frame *f)
{
    enum hash_went went;
    switch (f->todo) {
    case BEGIN:
        return begin(w, f);
    case FIND_FIVE:
        if (!find_nine(w, f))
            return HASH_LEAVES;
        /* fall through */
    case NINE:
        if (f->left && (went = more_results(w, f), f->left))
            return went;
        return ask_four(w, f);
    case FIND_FOUR:
        if (!find_four(w, f))
            return HASH_LEAVES;
        /* fall through */
    case FOUR:
        if (f->left && (went = more_results(w, f), f->left))
            return went;
        return ask_last(w, f);
    default:
        return find_last(w, f);
    }
}

enum hash_went hash_go(struct worker *w)
{
    enum hash_went went;
    do
        went = go_on(w, w->top);
    while (went == HASH_GOES);
    return went;
}

void hash_begin(struct worker *w, square_t square, int level)
{
    w->top = w->frame;
    w->depth = 0;
    push(w, square, level);
}

void hash_end(struct worker *w)
{
    for (; w->top > w->frame; w->top--)
        set_busy(w->h, w->top->square, 0);
    w->depth = 0;
}
