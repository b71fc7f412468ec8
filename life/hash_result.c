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

/* What a worker does next with a node; between two of these others go on. */
enum { BEGIN, ASK_FIVE, FIND_FIVE, NINE, ASK_FOUR, FIND_FOUR, FOUR, LAST, ASK_LAST, FIND_LAST };

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

/* Reads which of the results of n squares are known: most, nearly always. */
static inline void begin_results(const struct hashlife *h, struct frame *f, int n)
{
    f->left = 0;
    for (int i = 0; i < n; i++) {
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
            push(w, square, f->level - 1);
            return HASH_GOES;
        }
    }
    if (!f->left)
        return HASH_GOES;
    if (f->level - 1 <= WAIT_LEVEL && by == w->of)
        return HASH_ASKED;
    push(w, taken, f->level - 1);
    return HASH_GOES;
}

/* Five nodes lie between the parts of one: north, west, in the middle, east, south. */
static void ask_five(const struct hashlife *h, struct frame *f)
{
    const struct node *n = &h->node[f->square];
    const square_t *a = h->node[n->part[NW]].part, *b = h->node[n->part[NE]].part, *c = h->node[n->part[SW]].part,
                   *d = h->node[n->part[SE]].part;
    const square_t part[5][4] = {{a[NE], b[NW], a[SE], b[SW]},
                                 {a[SW], a[SE], c[NW], c[NE]},
                                 {a[SE], b[SW], c[NE], d[NW]},
                                 {b[SW], b[SE], d[NW], d[NE]},
                                 {c[NE], d[NW], c[SE], d[SW]}};
    memcpy(f->part, part, sizeof part);
    hash_ask(h, 5, f->part, f->place);
}

/* Nine squares, these five and the parts; and which of them lie in each corner. */
static bool begin_nine(struct worker *w, struct frame *f)
{
    if (!hash_nodes_find(w, 5, f->level - 1, f->part, f->place, f->held.wanted))
        return false;
    memcpy(f->held.wanted + 5, w->h->node[f->square].part, sizeof(square_t[4]));
    begin_results(w->h, f, 9);
    return true;
}

static const unsigned char corner[4][4] = {{5, 0, 1, 2}, {0, 6, 2, 3}, {1, 2, 7, 4}, {2, 3, 4, 8}};

static bool is_slow(const struct hashlife *h, const struct frame *f)
{
    return h->k < f->level - 2;
}

/* The four squares that results of the nine make, or where they have had all of the time, their middles; of leaves at once. */
static bool ask_four(struct worker *w, struct frame *f)
{
    const struct hashlife *h = w->h;
    const bool slow = is_slow(h, f), leaves = slow && f->level - 2 == LEAF_LEVEL;
    for (int i = 0; i < 4; i++) {
        square_t *four = f->part[i];
        for (int j = 0; j < 4; j++)
            four[j] = f->held.result[corner[i][j]];
        for (int j = 0; j < 4 && slow && !leaves; j++)
            four[j] = h->node[four[j]].part[3 - j];
        if (leaves && (f->held.four[i] = middle_of_leaves(w, four)) == NO_SQUARE)
            return false;
    }
    f->todo = leaves ? LAST : ASK_FOUR;
    if (!leaves)
        hash_ask(h, 4, f->part, f->place);
    return true;
}

static bool find_four(struct worker *w, struct frame *f)
{
    const bool slow = is_slow(w->h, f);
    if (!hash_nodes_find(w, 4, slow ? f->level - 2 : f->level - 1, f->part, f->place, slow ? f->held.four : f->held.wanted))
        return false;
    f->todo = slow ? LAST : FOUR;
    if (!slow)
        begin_results(w->h, f, 4);
    return true;
}

static void ask_last(const struct hashlife *h, struct frame *f)
{
    memcpy(f->part[0], is_slow(h, f) ? f->held.four : f->held.result, sizeof f->part[0]);
    hash_ask(h, 1, f->part, f->place);
}

static enum hash_went find_last(struct worker *w, struct frame *f)
{
    square_t out;
    return hash_nodes_find(w, 1, f->level - 1, f->part, f->place, &out) ? known(w, f, out) : HASH_LEAVES;
}

/* Begins with a node, unless another worker has the result by now. */
static enum hash_went begin(struct worker *w, struct frame *f)
{
    const struct hashlife *h = w->h;
    if (result_of(h, f->square) != NO_SQUARE)
        return pop(w);
    set_busy(h, f->square, w->of);
    if (f->level == LEAF_LEVEL + 1)
        return known(w, f, leaf_result(w, &h->node[f->square]));
    ask_five(h, f);
    f->todo = ASK_FIVE;
    return HASH_ASKED;
}

/* One thing after the other, until it has asked for memory. */
static enum hash_went go_on(struct worker *w, struct frame *f)
{
    switch (f->todo) {
    case BEGIN:
        return begin(w, f);
    case ASK_FIVE:
    case ASK_FOUR:
    case ASK_LAST:
        hash_ask_nodes(w->h, f->todo == ASK_FIVE ? 5 : f->todo == ASK_FOUR ? 4 : 1, f->place);
        f->todo++;
        return HASH_ASKED;
    case FIND_FIVE:
        if (!begin_nine(w, f))
            return HASH_LEAVES;
        f->todo = NINE;
        /* fall through */
    case NINE:
        if (f->left)
            return more_results(w, f);
        return !ask_four(w, f) ? HASH_LEAVES : f->todo == LAST ? HASH_GOES : HASH_ASKED;
    case FIND_FOUR:
        return find_four(w, f) ? HASH_GOES : HASH_LEAVES;
    case FOUR:
        if (f->left)
            return more_results(w, f);
        /* fall through */
    case LAST:
        ask_last(w->h, f);
        f->todo = ASK_LAST;
        return HASH_ASKED;
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
