/* let.c - locally essential trees (Salmon): cells and bodies exported because another domain's
 * walk opens them. let.cl has a diagram: a device walks its own cells for each group of the
 * other domains.
 *
 *   add_boxes        transfers of the bounding boxes of groups, to all domains
 *   walk             export walks; their counts
 *   refine           flagged boxes again, by smaller boxes, until none is flagged
 *   pack             data of the exported cells and bodies; exchange
 *   import_and_walk  import; tree walks
 *
 * The walks run while the top tree is exchanged, with the root cell of the previous sum. If the
 * root cell has changed, or an export does not fit, all walks are repeated.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

/* Return the number of boxes that a domain has flagged and that have not been refined. */
static cl_uint let_new_flags(const struct pair *e)
{
    return (e->exported[FLAGS] < TREE_FLAGS ? e->exported[FLAGS] : TREE_FLAGS) - e->refined;
}

/* ---- Bounding boxes of groups. --------------------------------------------------------------- */

/* The part of a domain in group_box: a counter, merged boxes, and room for boxes of single groups.
 */
struct box_part {
    cl_uint at, groups, merged, single;
};

/* Boxes for the groups of a 32nd of the merged boxes. */
static cl_uint single_boxes(cl_uint merged)
{
    return merged ? merged / 4 + 2 * TREE_MERGED : 0;
}

/* Advance *b from the part of domain - 1 to the part of `domain`. */
static void let_next_box_part(const struct domains *s, cl_uint domain, struct box_part *b)
{
    const cl_uint begin = s->begin[domain], end = s->begin[domain + 1];
    b->at += domain ? 1 + b->merged + b->single : 0;
    b->groups = begin == end ? 0 : (end - 1) / TREE_GROUP + 1 - begin / TREE_GROUP;
    b->merged = (b->groups + TREE_MERGED - 1) / TREE_MERGED;
    b->single = single_boxes(b->merged);
}

static struct box_part let_box_part(const struct domains *s, cl_uint domain)
{
    struct box_part b = {.at = 0};
    for (cl_uint k = 0; k <= domain; k++)
        let_next_box_part(s, k, &b);
    return b;
}

size_t nbody_let_max_merged_boxes(size_t bodies)
{
    return (bodies / TREE_GROUP + 2) / TREE_MERGED + 1;
}

size_t nbody_let_max_boxes(const struct nbody *nb)
{
    const cl_uint merged = (cl_uint)nbody_let_max_merged_boxes(nb->n) + 2 * nb->domain.ndomains;
    return merged + single_boxes(merged) + nb->domain.ndomains * (1 + single_boxes(1));
}

size_t nbody_let_box_counter(const struct nbody *nb, cl_uint domain)
{
    return let_box_part(nb->domain.tree, domain).at;
}

int nbody_let_launch_boxes(struct nbody *nb, struct nbody_device *p)
{
    const struct tree *t = p->force.tree;
    const struct domains *s = nb->domain.tree;
    const struct box_part b = let_box_part(s, p->domain.index);
    if (nbody_tree_launch(nb, p, TREE_GROUP_BOXES, b.merged, (size_t)p->shape.group_1d,
                          ARGS(t->body, t->a_old_sorted, t->target.n, t->first_group, b.groups,
                               s->group_box, b.at, b.single, t->info, t->split_groups)) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

void nbody_let_add_boxes(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    const size_t box = 8 * nb->real;
    struct box_part b = {.at = 0};
    for (cl_uint k = 0; k < s->n; k++) {
        let_next_box_part(s, k, &b);
        nbody_domain_add_region(nb, k, TO_DOMAINS, (char *)s->group_box + b.at * box,
                                (1 + b.merged + b.single) * box, true);
    }
}

/* ---- Export walks. --------------------------------------------------------------------------- */

/* Launch the export walks for boxes of another domain: with b its boxes of groups, otherwise
 * `count` refined boxes. A CPU checks the limit once every 256 entries (BLOCK in walk.cl), so 256
 * is added to the limit. */
static int let_launch_export(struct nbody *nb, struct nbody_device *p, cl_uint other,
                             const struct box_part *b, size_t count)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const struct pair *const e = nbody_domain_pair(s, p->domain.index, other);
    void *const box = b ? s->group_box : e->block[BOXES];
    bool none;
    const cl_uint first = b ? b->at : 0, merged = b ? b->merged : 0, stamp = other + 1,
                  limit = nbody_tree_expected_interactions(nb, 0.2 * nb->force.defer_factor) + 256,
                  to = TREE_COUNTS * other;
    const double eps2 = nbody_forces_softening(nb, FORCES, &none);
    return nbody_tree_launch(
        nb, p, TREE_LET_EXPORT, b ? b->merged + b->single : count,
        (size_t)nbody_tree_items(&p->shape),
        ARGS(t->body, t->link, t->child_begin, t->com, t->multipoles, t->size, t->span,
             t->shared_node, box, first, merged, REAL(nb, nbody_tree_opening(nb, s->geometric)),
             s->geometric, REAL(nb, eps2), limit, stamp, t->mark, p->domain.counts, to,
             e->room[CELLS], e->room[BODIES], e->block[CELLS], e->block[BODIES], e->block[FLAGS]));
}

/* Set the marks and places of an export: walks for further domains have used both arrays. */
static int let_launch_place(struct nbody *nb, struct nbody_device *p, cl_uint other)
{
    const struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    const struct pair *const e = nbody_domain_pair(s, p->domain.index, other);
    const cl_uint to = TREE_COUNTS * other, stamp = other + 1;
    return nbody_tree_launch(
        nb, p, TREE_LET_PLACE, 8 * (size_t)p->compute_units, (size_t)p->shape.group_1d,
        ARGS(p->domain.counts, to, e->block[CELLS], e->block[BODIES], stamp, t->mark, t->place));
}

/* Pack the data of all exports. */
static int let_launch_packs(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    for (cl_uint other = 0; other < s->n; other++) {
        const struct pair *const e = nbody_domain_pair(s, p->domain.index, other);
        const cl_uint to = TREE_COUNTS * other;
        if (other == p->domain.index || t->bodies == 0)
            continue;
        if (let_launch_place(nb, p, other) != 0 ||
            nbody_tree_launch(nb, p, TREE_LET_PACK, 8 * (size_t)p->compute_units,
                              (size_t)p->shape.group_1d,
                              ARGS(t->body, t->link, t->place, t->com, t->multipoles, t->size,
                                   p->domain.counts, to, e->block[CELLS], e->block[BODIES])) != 0)
            return -1;
    }
    return clflush(nb->ctx, p->dev, 0);
}

int nbody_let_walk(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    const cl_uint all = TREE_COUNTS * s->n + 1;
    struct box_part b = {.at = 0};
    if (nbody_domain_wait_uploads(nb, p) != 0 ||
        nbody_tree_launch_1d(nb, p, TREE_LET_CLEAR, t->capacity > all ? t->capacity : all,
                             ARGS(t->mark, t->capacity, p->domain.counts, all)) != 0)
        return -1;
    for (cl_uint other = 0; other < s->n; other++) {
        let_next_box_part(s, other, &b);
        if (other != p->domain.index && t->bodies && let_launch_export(nb, p, other, &b, 0) != 0)
            return -1;
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* ---- Flagged boxes. -------------------------------------------------------------------------- */

/* Compute smaller boxes for the boxes of a device's groups that other domains flagged. */
static int let_launch_refine(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    const cl_uint groups = let_box_part(s, p->domain.index).groups;
    if (nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    for (cl_uint domain = 0; domain < s->n; domain++) {
        const struct pair *const e = nbody_domain_pair(s, domain, p->domain.index);
        const cl_uint count = let_new_flags(e);
        if (nbody_tree_launch_1d(nb, p, TREE_REFINE_BOXES, (size_t)count * TREE_GROUP,
                                 ARGS(t->body, t->a_old_sorted, t->target.n, e->block[FLAGS],
                                      e->refined, count, t->first_group, groups, e->block[BOXES],
                                      t->info, t->split_groups)) != 0)
            return -1;
    }
    return clflush(nb->ctx, p->dev, 0);
}

static int let_walk_refined(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    if (nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    for (cl_uint other = 0; other < s->n; other++) {
        const size_t count =
            (size_t)let_new_flags(nbody_domain_pair(s, p->domain.index, other)) * TREE_GROUP;
        if (count && (let_launch_place(nb, p, other) != 0 ||
                      let_launch_export(nb, p, other, NULL, count) != 0))
            return -1;
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* Exchange the new flags, or in return the refined boxes. */
static int let_exchange_flagged(struct nbody *nb, enum pair_kind kind, cl_uint each)
{
    const struct domains *s = nb->domain.tree;
    EACH_PAIR(s, e)
    nbody_domain_add_block(nb, e, kind, kind == FLAGS ? e->refined : 0, each * let_new_flags(e));
    return nbody_domain_exchange(nb, NULL);
}

/* Walk flagged boxes by smaller ones: a merged box by the boxes of its groups, a group by boxes of
 * few bodies. */
static int let_refine(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    EACH_PAIR(s, e)
    if (nbody_domain_reserve(nb, e, BOXES, TREE_GROUP * let_new_flags(e)) != 0)
        return -1;
    if (let_exchange_flagged(nb, FLAGS, 1) != 0 ||
        nbody_device_threads_all(nb, let_launch_refine) != 0 ||
        let_exchange_flagged(nb, BOXES, TREE_GROUP) != 0 ||
        nbody_device_threads_all(nb, let_walk_refined) != 0)
        return -1;
    EACH_PAIR(s, e)
    e->refined += let_new_flags(e);
    return 0;
}

/* ---- Exchange of exports. -------------------------------------------------------------------- */

/* Results of the last walks of any domain: the root cell was another one, an export did not fit, or
 * boxes were flagged. */
enum { LET_STALE = 1, LET_OVERFLOW = 2, LET_FLAGGED = 4 };

/* Exchange the counts of the exports, and make room for these. Return 0, or what happened on any
 * rank; -1: an error. */
static int let_count(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    cl_uint found = 0;
    if (nbody_domain_exchange_counts(nb, TO_PAIRS, TREE_COUNTS) != 0)
        return -1;
    EACH_TREE(nb, p)
    found |= p->domain.counts[TREE_COUNTS * s->n] ? LET_STALE : 0;
    EACH_PAIR(s, e)
    {
        memcpy(e->exported, nbody_domain_pair_counts(s, e), sizeof e->exported);
        found |= let_new_flags(e) ? LET_FLAGGED : 0;
    }
    EACH_EXPORT(s, e, kind)
    found |= e->exported[kind] > e->room[kind] ? LET_OVERFLOW : 0;
    if (nbody_ranks_reduce_or(nb, &found, 1) != 0)
        return -1;
    EACH_EXPORT(s, e, kind)
    if (!(found & LET_STALE) &&
        nbody_domain_reserve(nb, e, (enum pair_kind)kind, e->exported[kind]) != 0)
        return -1;
    return (int)found;
}

int nbody_let_import_nodes(struct nbody *nb, struct nbody_device *p, cl_uint domain, void *cells,
                           size_t first_, size_t count_, cl_uint to)
{
    struct tree *t = p->force.tree;
    const cl_uint *const begin = nb->domain.tree->begin;
    const cl_uint first = (cl_uint)first_, count = (cl_uint)count_, own = domain == p->domain.index,
                  shift = nbody_tree_base(begin[domain]) - t->base, end = t->begin + t->bodies,
                  before =
                      begin[p->domain.index] < TREE_GROUP ? begin[p->domain.index] : TREE_GROUP,
                  after = t->target.n - end < TREE_GROUP ? t->target.n - end : TREE_GROUP,
                  lo = t->begin - before, hi = t->bodies ? end + after : lo;
    return nbody_tree_launch_1d(
        nb, p, TREE_IMPORT_NODES, count,
        ARGS(cells, first, count, to, own, shift, lo, hi, t->link, t->com, t->multipoles, t->size));
}

/* Import the exports of all other domains. Start the walks if they fit in one launch. */
static int let_import_and_walk(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    size_t all[EXPORTS] = {0};
    for (cl_uint domain = 0; domain < s->n; domain++)
        for (size_t kind = 0; kind < EXPORTS && domain != p->domain.index; kind++)
            all[kind] += nbody_domain_pair(s, domain, p->domain.index)->exported[kind];
    if (nbody_domain_wait_uploads(nb, p) != 0 ||
        nbody_tree_reserve_imports(nb, p, all[CELLS], all[BODIES]) != 0)
        return -1;
    cl_uint to = nbody_tree_imports_begin(t), cells_to = t->imports_begin;
    for (cl_uint domain = 0; domain < s->n; domain++) {
        if (domain == p->domain.index)
            continue;
        const struct pair *const e = nbody_domain_pair(s, domain, p->domain.index);
        const cl_uint count = e->exported[BODIES];
        if (nbody_let_import_nodes(nb, p, domain, e->block[CELLS], 0, e->exported[CELLS],
                                   cells_to) != 0 ||
            nbody_tree_launch_1d(nb, p, TREE_IMPORT_BODIES, count,
                                 ARGS(e->block[BODIES], count, to, cells_to, t->body, t->link)) !=
                0)
            return -1;
        to += count;
        cells_to += e->exported[CELLS];
    }
    return nbody_tree_walk_now(nb, p, s->sum, s->geometric);
}

/* Complete the exports of the last walks. Return 0; -1: an error; else these must be repeated. */
static int let_complete(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    EACH_PAIR(s, e)
    e->refined = 0;
    int found = let_count(nb);
    while (found == LET_FLAGGED)
        found = let_refine(nb) == 0 ? let_count(nb) : -1;
    return found;
}

int nbody_let_find(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    int found = let_complete(nb);
    while (found > 0)
        found = nbody_device_threads_all(nb, nbody_let_walk) == 0 ? let_complete(nb) : -1;
    if (found != 0 || nbody_device_threads_all(nb, let_launch_packs) != 0)
        return -1;
    EACH_EXPORT(s, e, kind)
    nbody_domain_add_block(nb, e, (enum pair_kind)kind, 0, e->exported[kind]);
    if (nbody_domain_exchange(nb, NULL) != 0)
        return -1;
    s->walks_began = seconds_now();
    return nbody_device_threads_all(nb, let_import_and_walk);
}
