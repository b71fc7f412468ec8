/* hash_step.c - what the middle of a square becomes.
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
 * Several threads compute the same root. Each takes the nine in another order, and puts off those at which another is at
 * work; what one has found all others read in the node. When the first has the root, the others leave.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash.h"

#include "core/clock.h"

#include <errno.h>
#include <string.h>

/* Calls of `result` between looks at the clock; helpers start after that many. */
enum { LOOK = 1 << 16 };
static const double TELL = 0.1; /* seconds */

static void start_helpers(struct hashlife *h);

/* In the calling thread, now and then: lets others help, and tells the caller. */
static bool look(struct worker *w)
{
    struct hashlife *h = w->h;
    const double now = seconds_now();
    start_helpers(h);
    if (!h->progress || now - h->told < TELL)
        return true;
    h->told = now;
    if (h->progress(h->arg, h->done / h->total) == 0)
        return true;
    hash_give_up(h, ECANCELED);
    return false;
}

static square_t result(struct worker *w, square_t square, int level);

static square_t leaf_result(struct worker *w, const struct node *n)
{
    const struct hashlife *h = w->h;
    const int k = h->k < LEAF_LEVEL - 1 ? h->k : LEAF_LEVEL - 1;
    if (h->many) {
        const struct leaf_states *part[4] = {hash_states(h, n->part[0]), hash_states(h, n->part[1]), hash_states(h, n->part[2]), hash_states(h, n->part[3])};
        struct leaf_states out;
        hash_states_step(h, part, k, &out);
        return hash_leaf_find(w, &out);
    }
    const struct leaf *part[4] = {hash_leaf(h, n->part[0]), hash_leaf(h, n->part[1]), hash_leaf(h, n->part[2]), hash_leaf(h, n->part[3])};
    struct leaf out;
    hash_leaf_step(h, part, k, &out);
    return hash_leaf_find(w, &out);
}

/* Has another thread begun with this one, and not ended? */
static bool is_taken(const struct hashlife *h, square_t square)
{
    const struct node *n = &h->node[square];
    return atomic_load_explicit(&n->busy, memory_order_relaxed) &&
           atomic_load_explicit(&n->result, memory_order_relaxed) == NO_SQUARE;
}

/* The results of n squares of one level, put on the stack, in an order of this thread's own; false: give up. Nearly always most are known. */
static bool results(struct worker *w, int n, int level, const square_t *square, square_t *out)
{
    const struct hashlife *h = w->h;
    struct held *kept = &w->stack[w->depth];
    unsigned left = 0;
    for (int i = 0; i < n; i++) {
        out[i] = atomic_load_explicit(&h->node[square[i]].result, memory_order_acquire);
        left |= (unsigned)(out[i] == NO_SQUARE) << i;
        kept[i] = (struct held){out[i], level - 1};
    }
    w->depth += (size_t)n;
    for (int turn = 0; left; turn++)
        for (int i = 0; i < n && left; i++) {
            const int at = w->number % 2 ? n - 1 - i : i;
            if (!(left >> at & 1) || (turn == 0 && h->threads > 1 && is_taken(h, square[at])))
                continue;
            left &= ~(1u << at);
            if ((out[at] = result(w, square[at], level)) == NO_SQUARE)
                return false;
            kept[at].square = out[at];
        }
    return true;
}

static square_t middle_of_leaves(struct worker *w, const square_t four[4])
{
    const struct hashlife *h = w->h;
    if (h->many) {
        const struct leaf_states *leaf[4] = {hash_states(h, four[0]), hash_states(h, four[1]), hash_states(h, four[2]), hash_states(h, four[3])};
        struct leaf_states middle;
        hash_states_middle(leaf, &middle);
        return hash_leaf_find(w, &middle);
    }
    const struct leaf *leaf[4] = {hash_leaf(h, four[0]), hash_leaf(h, four[1]), hash_leaf(h, four[2]), hash_leaf(h, four[3])};
    struct leaf middle;
    hash_leaf_middle(leaf, &middle);
    return hash_leaf_find(w, &middle);
}

/* The middles of the four squares that nine squares of a level make, as they are. */
static bool middles(struct worker *w, int level, const square_t *r, square_t *out)
{
    const struct hashlife *h = w->h;
    square_t part[4][4];
    for (int i = 0; i < 4; i++) {
        const square_t *q = r + i % 2 + 3 * (i / 2), four[4] = {q[0], q[1], q[3], q[4]};
        if (level > LEAF_LEVEL) {
            for (int j = 0; j < 4; j++)
                part[i][j] = h->node[four[j]].part[3 - j];
            continue;
        }
        if ((out[i] = middle_of_leaves(w, four)) == NO_SQUARE)
            return false;
    }
    return level == LEAF_LEVEL || hash_nodes_find(w, 4, level, (const square_t(*)[4])part, out);
}

static square_t node_result(struct worker *w, const struct node *n, int level)
{
    const struct hashlife *h = w->h;
    const square_t *a = h->node[n->part[NW]].part, *b = h->node[n->part[NE]].part, *c = h->node[n->part[SW]].part,
                   *d = h->node[n->part[SE]].part;
    const square_t between[5][4] = {{a[NE], b[NW], a[SE], b[SW]},
                                    {a[SW], a[SE], c[NW], c[NE]},
                                    {a[SE], b[SW], c[NE], d[NW]},
                                    {b[SW], b[SE], d[NW], d[NE]},
                                    {c[NE], d[NW], c[SE], d[SW]}};
    square_t found[5], r[9], part[4][4], four[4], out[4];
    if (!hash_nodes_find(w, 5, level - 1, between, found))
        return NO_SQUARE;
    const square_t nine[9] = {n->part[NW], found[0], n->part[NE], found[1], found[2], found[3], n->part[SW], found[4], n->part[SE]};
    if (!results(w, 9, level - 1, nine, r))
        return NO_SQUARE;
    if (h->k < level - 2)
        return middles(w, level - 2, r, out) ? hash_node_find(w, level - 1, out[NW], out[NE], out[SW], out[SE]) : NO_SQUARE;
    for (int i = 0; i < 4; i++) {
        const square_t *q = r + i % 2 + 3 * (i / 2);
        memcpy(part[i], (square_t[4]){q[0], q[1], q[3], q[4]}, sizeof part[i]);
    }
    if (!hash_nodes_find(w, 4, level - 1, (const square_t(*)[4])part, four) || !results(w, 4, level - 1, four, out))
        return NO_SQUARE;
    return hash_node_find(w, level - 1, out[NW], out[NE], out[SW], out[SE]);
}

/* What the middle of a square becomes; the square is on some stack, the result is put on none. NO_SQUARE: give up. */
static square_t result(struct worker *w, square_t square, int level)
{
    struct hashlife *h = w->h;
    struct node *n = &h->node[square];
    square_t out = atomic_load_explicit(&n->result, memory_order_acquire);
    if (out != NO_SQUARE)
        return out;
    if (atomic_load_explicit(&h->stop, memory_order_relaxed) && !hash_pause(w))
        return NO_SQUARE;
    if (w->number == 0 && ++w->calls % LOOK == 0 && !look(w))
        return NO_SQUARE;
    const size_t depth = w->depth;
    atomic_store_explicit(&n->busy, 1, memory_order_relaxed);
    out = level == LEAF_LEVEL + 1 ? leaf_result(w, n) : node_result(w, n, level);
    if (out != NO_SQUARE)
        atomic_store_explicit(&n->result, out, memory_order_release);
    atomic_store_explicit(&n->busy, 0, memory_order_relaxed);
    w->depth = depth;
    return out;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

static void *help(void *arg)
{
    struct worker *w = arg;
    struct hashlife *h = w->h;
    w->depth = 0;
    result(w, h->root, h->level);
    w->depth = 0;
    pthread_mutex_lock(&h->lock);
    h->working--;
    pthread_cond_broadcast(&h->change);
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static void start_helpers(struct hashlife *h)
{
    pthread_mutex_lock(&h->lock);
    while (h->helpers + 1 < h->threads && !h->leave) {
        struct worker *w = &h->worker[h->helpers + 1];
        if (pthread_create(&w->thread, NULL, help, w) != 0)
            break;
        h->working++;
        h->helpers++;
    }
    pthread_mutex_unlock(&h->lock);
}

/* The calling thread has what it wants, or nobody will: lets the others leave, and waits for that. */
static void end_helpers(struct hashlife *h)
{
    pthread_mutex_lock(&h->lock);
    h->working--;
    h->leave = true;
    atomic_store(&h->stop, 1);
    pthread_cond_broadcast(&h->change);
    pthread_mutex_unlock(&h->lock);
    for (; h->helpers > 0; h->helpers--)
        pthread_join(h->worker[h->helpers].thread, NULL);
    h->leave = false;
    atomic_store(&h->stop, 0);
}

int hash_step(struct hashlife *h, int k)
{
    struct worker *w = &h->worker[0];
    h->error = 0;
    while (h->level < LEAF_LEVEL + 3 || h->level < k + 3 || !hash_has_room(h))
        if (hash_grow(h) < 0)
            return -1;
    hash_set_k(h, k);
    w->calls = 0;
    w->depth = 0;
    h->working = 1;
    const square_t out = result(w, h->root, h->level);
    end_helpers(h);
    if (out == NO_SQUARE)
        return -1;
    h->root = out;
    h->level--;
    h->generation += (uint64_t)1 << k;
    return 0;
}
