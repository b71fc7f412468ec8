/* identify_pairs.c - pairs of clusters that come near each other, now or later.
 *
 * The clusters are the leaves of a binary tree, in ascending order of velocity and then along a
 * Z-curve (G. Morton, IBM, 1966). An inner node has the box around its clusters, and their velocity
 * if all have the same one. Nodes whose boxes stay apart have no pair of clusters that meet.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"

#include <errno.h>
#include <stdlib.h>

/* A cluster's place in the order. */
struct pair_place {
    double across, down; /* columns and rows in a generation */
    uint64_t curve;
    size_t cluster;
};

struct pair_tree {
    struct identify_cluster *node; /* node 1 is the root; 2 k and 2 k + 1 are the children of k */
    size_t leaves;                 /* a power of two; node `leaves` is the first leaf */
    const struct pair_place *place;
    int near;
    identify_pair *see;
    void *arg;
};

static int pair_places_order(const void *a, const void *b)
{
    const struct pair_place *p = a, *q = b;
    if (p->across != q->across)
        return p->across < q->across ? -1 : 1;
    if (p->down != q->down)
        return p->down < q->down ? -1 : 1;
    return (p->curve > q->curve) - (p->curve < q->curve);
}

/* Spread 32 bits over the even bits. */
static uint64_t bits_spread(uint64_t x)
{
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
}

static void pair_places_sort(struct pair_place *place, const struct identify_cluster *c, size_t n)
{
    long long left = c->left, top = c->top, right = c->left, bottom = c->top;
    int shift = 0;
    for (size_t i = 0; i < n; i++) {
        left = c[i].left < left ? c[i].left : left;
        top = c[i].top < top ? c[i].top : top;
        right = c[i].left > right ? c[i].left : right;
        bottom = c[i].top > bottom ? c[i].top : bottom;
    }
    while ((right - left) >> shift > UINT32_MAX || (bottom - top) >> shift > UINT32_MAX)
        shift++;
    for (size_t i = 0; i < n; i++)
        place[i] = (struct pair_place){(double)c[i].motion.dx / (double)c[i].motion.period,
                                       (double)c[i].motion.dy / (double)c[i].motion.period,
                                       bits_spread((uint64_t)(c[i].left - left) >> shift) |
                                           bits_spread((uint64_t)(c[i].top - top) >> shift) << 1,
                                       i};
    qsort(place, n, sizeof *place, pair_places_order);
}

/* Join two nodes, of which b may be empty: n = 0. Period 0: their clusters move differently. */
static struct identify_cluster node_join(const struct identify_cluster *a,
                                         const struct identify_cluster *b)
{
    struct identify_cluster all = *a;
    if (!b->n)
        return all;
    all.n += b->n;
    all.left = b->left < a->left ? b->left : a->left;
    all.top = b->top < a->top ? b->top : a->top;
    all.right = b->right > a->right ? b->right : a->right;
    all.bottom = b->bottom > a->bottom ? b->bottom : a->bottom;
    if (!b->motion.period || !identify_moves_equally(&a->motion, &b->motion))
        all.motion.period = 0;
    return all;
}

static bool node_stands(const struct identify_cluster *c)
{
    return c->motion.period && !c->motion.dx && !c->motion.dy;
}

/* See the pairs of a cluster of node a and one of node b, in the same level of the tree. */
static bool nodes_see(const struct pair_tree *t, size_t a, size_t b)
{
    const struct identify_cluster *p = &t->node[a], *q = &t->node[b];
    enum identify_meeting meeting = IDENTIFY_MEET;
    if (!p->n || !q->n || (node_stands(p) && node_stands(q)) || (a == b && a >= t->leaves))
        return true;
    if (a != b && p->motion.period && q->motion.period)
        meeting = identify_clusters_meet(p, q, t->near);
    if (meeting == IDENTIFY_APART)
        return true;
    if (a >= t->leaves)
        return t->see(t->arg, t->place[a - t->leaves].cluster, t->place[b - t->leaves].cluster,
                      meeting);
    return nodes_see(t, 2 * a, 2 * b) && nodes_see(t, 2 * a, 2 * b + 1) &&
           (a == b || nodes_see(t, 2 * a + 1, 2 * b)) && nodes_see(t, 2 * a + 1, 2 * b + 1);
}

int identify_pairs_see(const struct identify_cluster *c, size_t n, int near, identify_pair *see,
                       void *arg)
{
    size_t leaves = 1;
    int status = -1;
    while (leaves < n)
        leaves *= 2;
    struct identify_cluster *node = calloc(2 * leaves, sizeof *node);
    struct pair_place *place = malloc((n + 1) * sizeof *place);
    if (node && place) {
        if (n)
            pair_places_sort(place, c, n);
        for (size_t i = 0; i < n; i++)
            node[leaves + i] = c[place[i].cluster];
        for (size_t i = leaves; i-- > 1;)
            node[i] = node_join(&node[2 * i], &node[2 * i + 1]);
        status = nodes_see(&(struct pair_tree){node, leaves, place, near, see, arg}, 1, 1);
    }
    free(node);
    free(place);
    return status < 0 ? clerror_set(ENOMEM, "life: out of memory for %zu objects", n) : status;
}
