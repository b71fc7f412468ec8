/* let.c - locally essential trees (Salmon): cells and bodies exported because another domain's
 * walk opens them. let.cl has a diagram: a device walks its own cells for each group of the
 * other domains.
 *
 *   exchange_boxes   bounding boxes of groups to all domains
 *   walk_boxes       export walks; pack
 *   exchange_early   downloads that started during the walks
 *   exchange_predicted   counts, and as many cells and bodies as predicted
 *   walk_split       flagged groups again, by boxes of few bodies
 *   exchange_cells   the remainder
 *   import_and_walk  import; tree walks
 *
 * Capacities stay until an export overflows; then all become 1.25 times the counts plus 1,024, and
 * the export is repeated. Export counts change little from step to step. The predicted amount is
 * sent together with the exact counts, so no receiver has to wait for the counts first.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

enum { SUMS_PER_RESET = 512 }; /* sums after which split_groups is cleared */

static int let_no_memory(void)
{
    return clerror_set(ENOMEM, "nbody: out of memory on the host");
}

/* Return the counters of a domain's export to another domain. */
static cl_uint *let_counts(const struct domains *s, cl_uint domain, cl_uint other)
{
    return &s->counts[domain * s->counts_each + TREE_COUNTS * other];
}

enum flagged { FLAG_GROUPS = 2, FLAG_BOXES = 3 }; /* indices of counters */

/* Return the number of groups, or of merged boxes, that a domain flagged: at most TREE_FLAGS; 0 for
 * the own domain. */
static cl_uint let_flags(const struct domains *s, cl_uint domain, cl_uint other, enum flagged what)
{
    const cl_uint n = let_counts(s, domain, other)[what];
    return domain == other ? 0 : n < TREE_FLAGS ? n : TREE_FLAGS;
}

/* Return the index of the first flagged one in s->flag. */
static size_t let_flags_at(const struct domains *s, cl_uint domain, cl_uint other,
                           enum flagged what)
{
    return ((size_t)(domain * s->n + other) * 2 + (what == FLAG_BOXES)) * TREE_FLAGS;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Number of merged boxes for `groups` groups. */
static size_t merged_boxes(size_t groups)
{
    return (groups + TREE_MERGED - 1) / TREE_MERGED;
}

size_t nbody_let_max_merged_boxes(const struct nbody *nb)
{
    return merged_boxes(nb->n / TREE_GROUP + 2);
}

int nbody_let_allocate(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t n = s->n, groups = nb->n / TREE_GROUP + 1 + n,
                 boxes = groups + merged_boxes(groups) + n;
    s->group_box = nbody_domain_block(nb, boxes * 8 * nb->real);
    s->flag = nbody_domain_block(nb, n * n * 2 * TREE_FLAGS * sizeof *s->flag);
    s->let_capacity = calloc(2 * n * n, sizeof *s->let_capacity);
    s->predicted = calloc(2 * n * n, sizeof *s->predicted);
    s->received = calloc(2 * n * n, sizeof *s->received);
    s->early = calloc(2 * n * n, sizeof *s->early);
    s->ev_download = calloc(2 * n * n, sizeof *s->ev_download);
    s->ev_boxes = calloc(3 * n, sizeof *s->ev_boxes);
    s->ev_counts = s->ev_boxes ? s->ev_boxes + n : NULL;
    s->ev_packed = s->ev_boxes ? s->ev_boxes + 2 * n : NULL;
    s->nsingle = calloc(n, sizeof *s->nsingle);
    s->boxes_sent = calloc(n, sizeof *s->boxes_sent);
    for (size_t k = 0; s->let_capacity && k < n * n; k++)
        s->let_capacity[2 * k] = s->let_capacity[2 * k + 1] = k / n == k % n ? 0 : 4096;
    return s->group_box && s->flag && s->let_capacity && s->predicted && s->received && s->early &&
                   s->ev_download && s->ev_boxes && s->nsingle && s->boxes_sent
               ? 0
               : clerror_set(ENOMEM, "nbody_create: out of memory for a tree of %u domains", s->n);
}

void nbody_let_free(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    void *const blocks[] = {s->group_box, s->flag, s->split_box, s->let_cells, s->let_bodies};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    free(s->let_capacity);
    free(s->predicted);
    free(s->received);
    free(s->early);
    free(s->ev_download);
    free(s->ev_boxes);
    free(s->nsingle);
    free(s->boxes_sent);
}

static int let_reserve(struct nbody *nb, size_t cells, size_t bodies)
{
    struct domains *s = nb->domain.tree;
    if (cells > s->cell_capacity) {
        nbody_domain_free_block(nb, s->let_cells);
        s->let_cells = nbody_domain_block(nb, (cells + cells / 4) * nbody_domain_cell_bytes(nb));
        s->cell_capacity = s->let_cells ? cells + cells / 4 : 0;
    }
    if (bodies > s->body_capacity) {
        nbody_domain_free_block(nb, s->let_bodies);
        s->let_bodies = nbody_domain_block(nb, (bodies + bodies / 4) * nbody_domain_body_bytes(nb));
        s->body_capacity = s->let_bodies ? bodies + bodies / 4 : 0;
    }
    return s->let_cells && s->let_bodies ? 0 : -1;
}

/* Return the offsets in let_cells and let_bodies of a domain's export to another domain. A rank has
 * room for exports from or to its own domains only. */
static void let_offset(const struct domains *s, cl_uint domain, cl_uint other, size_t at[2])
{
    at[0] = at[1] = 0;
    for (size_t k = 0; k < (size_t)domain * s->n + other; k++)
        for (size_t w = 0; w < 2 && (s->owner[k / s->n].device || s->owner[k % s->n].device); w++)
            at[w] += s->let_capacity[2 * k + w];
}

/* ---- Bounding boxes of groups. --------------------------------------------------------------- */

/* Return the number of groups that a domain walks; *slot: index of its first bounding box. */
static size_t domain_groups(const struct domains *s, cl_uint domain, size_t *slot)
{
    size_t some = 0;
    *slot = 0;
    for (cl_uint k = 0; k <= domain; k++) {
        const cl_uint begin = s->begin[k], end = s->begin[k + 1];
        *slot += some + merged_boxes(some);
        some = begin == end ? 0 : (end - 1) / TREE_GROUP + 1 - begin / TREE_GROUP;
    }
    return some;
}

/* Launch the bounding boxes of a domain's groups. A merged box is split if a group had no or
 * more than split_above interactions, if split_groups marks it, or if it is much longer than its
 * shortest group. */
static int let_launch_boxes(struct nbody *nb, struct nbody_device *p, cl_uint split_above)
{
    const struct tree *t = p->force.tree;
    const cl_uint n = t->target.n;
    size_t slot;
    const size_t groups = domain_groups(nb->domain.tree, p->domain.index, &slot);
    const cl_uint to = (cl_uint)slot, some = (cl_uint)groups,
                  counter = nbody_let_single_index(nb, p->domain.index);
    return nbody_tree_launch(
        nb, p, TREE_GROUP_BOXES, merged_boxes(groups), (size_t)p->shape.group_1d,
        ARGS(t->body, t->a_old_sorted, n, t->first_group, some, to, nb->domain.tree->group_box,
             counter, nb->domain.tree->counts, t->info, split_above, t->split_groups));
}

static cl_uint let_split_threshold(const struct nbody *nb)
{
    return nb->force.a_old_valid ? nbody_tree_expected_interactions(nb, 2) : 0;
}

/* Clear split_groups: when boundaries have moved, and after SUMS_PER_RESET sums, because other
 * boxes need splitting then. */
static int let_launch_clear_split(struct nbody *nb, struct nbody_device *p)
{
    const struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)nbody_let_max_merged_boxes(nb), none = 0;
    return nbody_tree_launch_1d(nb, p, TREE_LET_CLEAR, n,
                                ARGS(t->split_groups, n, nb->domain.tree->counts, none, none));
}

/* Clear the export marks and counters. */
static int let_launch_clear(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const cl_uint own = p->domain.index * s->counts_each, all = TREE_COUNTS * s->n;
    p->domain.mark_cleared = true;
    return nbody_tree_launch_1d(nb, p, TREE_LET_CLEAR, t->capacity > all ? t->capacity : all,
                                ARGS(t->mark, t->capacity, s->counts, own, all));
}

/* Return the number of boxes to send before the number of single boxes is known: the previous
 * number plus a margin. */
static size_t let_predict_boxes(const struct domains *s, cl_uint domain)
{
    size_t slot;
    const size_t groups = domain_groups(s, domain, &slot),
                 some = merged_boxes(groups) + s->nsingle[domain] + s->nsingle[domain] / 4 + 64;
    return some < groups + merged_boxes(groups) ? some : groups + merged_boxes(groups);
}

/* Within one rank, enqueue the download of the boxes and of their number. */
static int let_download_boxes(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    const cl_uint domain = p->domain.index;
    const size_t box = 8 * nb->real;
    size_t slot;
    domain_groups(s, domain, &slot);
    s->ev_boxes[domain] = s->ev_counts[domain] = NULL;
    if (world_size(nb->world) > 1 || p->force.tree->bodies == 0)
        return 0;
    if (nbody_domain_begin_download(nb, p, (char *)s->group_box + slot * box,
                                    let_predict_boxes(s, domain) * box, true,
                                    &s->ev_boxes[domain]) != 0)
        return -1;
    return nbody_domain_begin_download(nb, p, &s->counts[nbody_let_single_index(nb, domain)],
                                       sizeof *s->counts, false, &s->ev_counts[domain]);
}

int nbody_let_start_boxes(struct nbody *nb, struct nbody_device *p)
{
    if (nb->domain.tree->sums_since_reset == 0 && let_launch_clear_split(nb, p) != 0)
        return -1;
    if (let_launch_boxes(nb, p, let_split_threshold(nb)) != 0)
        return -1;
    if (let_download_boxes(nb, p) != 0)
        return -1;
    return let_launch_clear(nb, p);
}

/* Send each domain's boxes from[] to to[] - 1 to all other domains. */
static int let_send_boxes(struct nbody *nb, const struct gathered *with, size_t nwith,
                          const cl_uint *from, const cl_uint *to)
{
    struct domains *s = nb->domain.tree;
    const size_t box = 8 * nb->real;
    struct transfer *all = calloc((size_t)s->n * s->n, sizeof *all);
    size_t n = 0, slot;
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        const cl_uint domain = k / s->n;
        domain_groups(s, domain, &slot);
        const size_t first = from ? from[domain] : 0, end = to[domain];
        if (domain == k % s->n || end <= first)
            continue;
        all[n++] = (struct transfer){domain,
                                     k % s->n,
                                     (char *)s->group_box + (slot + first) * box,
                                     (end - first) * box,
                                     true,
                                     s->ev_boxes[domain]};
        s->ev_boxes[domain] = NULL;
    }
    const int status = !all         ? let_no_memory()
                       : n || nwith ? nbody_domain_exchange(nb, with, nwith, all, n, NULL)
                                    : 0;
    free(all);
    return status;
}

int nbody_let_exchange_boxes(struct nbody *nb, const struct gathered *with, size_t nwith)
{
    struct domains *s = nb->domain.tree;
    size_t slot;
    for (cl_uint k = 0; k < s->n; k++)
        s->boxes_sent[k] = (cl_uint)let_predict_boxes(s, k);
    if (let_send_boxes(nb, with, nwith, NULL, s->boxes_sent) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++) {
        if (s->ev_counts[k] &&
            nbody_domain_wait_event(nb, s->owner[k].device, s->ev_counts[k]) != 0)
            return -1;
        s->ev_counts[k] = NULL;
        s->nsingle[k] =
            s->begin[k] == s->begin[k + 1] ? 0 : s->counts[nbody_let_single_index(nb, k)];
    }
    cl_uint *all = malloc(s->n * sizeof *all);
    for (cl_uint k = 0; all && k < s->n; k++)
        all[k] = (cl_uint)merged_boxes(domain_groups(s, k, &slot)) + s->nsingle[k];
    const int status = all ? let_send_boxes(nb, NULL, 0, s->boxes_sent, all) : let_no_memory();
    free(all);
    return status;
}

/* ---- Export walks. --------------------------------------------------------------------------- */

/* Launch the export walks for `count` boxes of another domain, as let.cl numbers them. A CPU
 * checks the limit once every 256 entries (BLOCK in walk.cl), so 256 is added to the limit.
 * limited: flag groups above the limit for a second pass. */
static int let_launch_export(struct nbody *nb, struct nbody_device *p, cl_uint other, void *box,
                             size_t first_, size_t merged_, cl_uint odd, size_t count, bool limited,
                             cl_uint geometric)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const size_t pair = (size_t)p->domain.index * s->n + other;
    size_t at[2];
    bool none;
    let_offset(s, p->domain.index, other, at);
    const cl_uint first = (cl_uint)first_, merged = (cl_uint)merged_, stamp = other + 1,
                  limit =
                      limited
                          ? nbody_tree_expected_interactions(nb, 0.2 * nb->force.defer_factor) + 256
                          : 0,
                  to = p->domain.index * s->counts_each + TREE_COUNTS * other,
                  cells_to = (cl_uint)at[0], bodies_to = (cl_uint)at[1],
                  flags_to = (cl_uint)let_flags_at(s, p->domain.index, other, FLAG_GROUPS);
    const double eps2 = nbody_forces_softening(nb, FORCES, &none);
    return nbody_tree_launch(
        nb, p, TREE_LET_EXPORT, count, (size_t)nbody_tree_items(&p->shape),
        ARGS(t->body, t->link, t->child_begin, t->com, t->multipoles, t->size, t->span,
             t->shared_node, box, first, merged, odd, REAL(nb, nbody_tree_opening(nb, geometric)),
             geometric, REAL(nb, eps2), limit, stamp, t->mark, t->place, s->counts, to, cells_to,
             s->let_capacity[2 * pair], bodies_to, s->let_capacity[2 * pair + 1], s->let_cells,
             s->let_bodies, s->flag, flags_to));
}

/* Pack the exported cells and bodies; rest: only those found since the previous call. */
static int let_launch_pack(struct nbody *nb, struct nbody_device *p, cl_uint other, cl_uint rest)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const size_t pair = (size_t)p->domain.index * s->n + other, flat = (size_t)p->shape.group_1d;
    size_t at[2];
    let_offset(s, p->domain.index, other, at);
    const cl_uint to = p->domain.index * s->counts_each + TREE_COUNTS * other,
                  packed = p->domain.index * s->counts_each + TREE_COUNTS * s->n + 2 * other,
                  cells_to = (cl_uint)at[0], bodies_to = (cl_uint)at[1];
    return nbody_tree_launch(nb, p, TREE_LET_PACK, 8 * (size_t)p->compute_units, flat,
                             ARGS(t->body, t->link, t->place, t->com, t->multipoles, t->size, rest,
                                  s->counts, to, packed, cells_to, s->let_capacity[2 * pair],
                                  bodies_to, s->let_capacity[2 * pair + 1], s->let_cells,
                                  s->let_bodies));
}

/* Restore the marks of an export before further launches add to it. With two domains no other
 * export has used the marks. */
static int let_launch_resume(struct nbody *nb, struct nbody_device *p, cl_uint other)
{
    struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    const size_t pair = (size_t)p->domain.index * s->n + other;
    size_t at[2];
    let_offset(s, p->domain.index, other, at);
    const cl_uint to = p->domain.index * s->counts_each + TREE_COUNTS * other,
                  cells_to = (cl_uint)at[0], bodies_to = (cl_uint)at[1], stamp = other + 1;
    if (s->n == 2)
        return 0;
    return nbody_tree_launch(
        nb, p, TREE_LET_RESUME, 8 * (size_t)p->compute_units, (size_t)p->shape.group_1d,
        ARGS(s->counts, to, cells_to, s->let_capacity[2 * pair], bodies_to,
             s->let_capacity[2 * pair + 1], s->let_cells, s->let_bodies, t->top_begin,
             p->domain.index, s->n, t->span, stamp, t->mark, t->place));
}

/* kinds of exports: cells and bodies */
enum { KINDS = 2 };

static char *let_address(const struct nbody *nb, cl_uint domain, cl_uint other, size_t kind,
                         size_t first, size_t *bytes)
{
    const struct domains *s = nb->domain.tree;
    size_t at[KINDS];
    let_offset(s, domain, other, at);
    *bytes = kind == 0 ? nbody_domain_cell_bytes(nb) : nbody_domain_body_bytes(nb);
    return (char *)(kind == 0 ? s->let_cells : s->let_bodies) + (at[kind] + first) * *bytes;
}

/* Enqueue downloads of an export from number from[] (NULL: 0, after packing) up to to[]. With
 * several ranks, do nothing: their exchange downloads by itself. */
static int let_begin_downloads(struct nbody *nb, struct nbody_device *p, cl_uint other,
                               const cl_uint *from, const cl_uint *to)
{
    struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    bool after = !from;
    for (size_t kind = 0; kind < KINDS; kind++) {
        const size_t number = KINDS * ((size_t)p->domain.index * s->n + other) + kind;
        const cl_uint first = from ? from[number] : 0,
                      end = other == p->domain.index || t->bodies == 0 ? 0 : to[number];
        size_t bytes;
        char *const at = let_address(nb, p->domain.index, other, kind, first, &bytes);
        s->ev_download[number] = NULL;
        if (world_size(nb->world) > 1 || end <= first)
            continue;
        if (nbody_domain_begin_download(nb, p, at, (end - first) * bytes, after,
                                        &s->ev_download[number]) != 0)
            return -1;
        after = false;
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* Walk and pack for another domain in two passes: every second merged box first, then all other
 * boxes. The first pass finds most of the export, and its download overlaps the second. */
static int let_walk_domain(struct nbody *nb, struct nbody_device *p, cl_uint other,
                           cl_uint geometric)
{
    struct domains *s = nb->domain.tree;
    size_t slot;
    const size_t merged = merged_boxes(domain_groups(s, other, &slot));
    if (let_launch_export(nb, p, other, s->group_box, slot, merged, 0, (merged + 1) / 2, true,
                          geometric) != 0)
        return -1;
    if (let_launch_pack(nb, p, other, false) != 0)
        return -1;
    if (let_begin_downloads(nb, p, other, NULL, s->early) != 0)
        return -1;
    if (let_launch_export(nb, p, other, s->group_box, slot, merged, 1,
                          merged / 2 + s->nsingle[other], true, geometric) != 0)
        return -1;
    return let_launch_pack(nb, p, other, true);
}

static int let_walk_boxes(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    if ((!p->domain.mark_cleared && let_launch_clear(nb, p) != 0) ||
        nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    p->domain.mark_cleared = false;
    for (cl_uint other = 0; other < s->n; other++)
        if (other != p->domain.index && t->bodies && let_walk_domain(nb, p, other, geometric) != 0)
            return -1;
    if (nbody_domain_mark_event(nb, p, &s->ev_packed[p->domain.index]) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

static int let_join_and_walk(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    if (nb->domain.tree->join_toptree(nb, p, geometric) != 0)
        return -1;
    return let_walk_boxes(nb, p, geometric);
}

/* ---- Flagged groups. ------------------------------------------------------------------------- */

/* Return the offset of the boxes of few bodies for the groups that a domain flagged. */
static size_t split_box_offset(const struct domains *s, cl_uint domain, cl_uint other)
{
    size_t at = 0;
    for (cl_uint k = 0; k < domain * s->n + other; k++)
        at += (size_t)let_flags(s, k / s->n, k % s->n, FLAG_GROUPS) * TREE_GROUP;
    return at;
}

static int let_launch_split(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const cl_uint n = t->target.n;
    for (cl_uint domain = 0; domain < s->n; domain++) {
        const cl_uint count = let_flags(s, domain, p->domain.index, FLAG_GROUPS),
                      from = (cl_uint)let_flags_at(s, domain, p->domain.index, FLAG_GROUPS),
                      to = (cl_uint)split_box_offset(s, domain, p->domain.index);
        if (nbody_tree_launch_1d(nb, p, TREE_SPLIT_GROUPS, (size_t)count * TREE_GROUP,
                                 ARGS(t->body, t->a_old_sorted, n, s->flag, from, count,
                                      t->first_group, s->split_box, to, t->info)) != 0)
            return -1;
    }
    return 0;
}

/* Send the flags to the groups' domains; back: return the boxes of these groups. */
static int let_exchange_split(struct nbody *nb, bool back)
{
    struct domains *s = nb->domain.tree;
    const size_t box = 8 * nb->real;
    struct transfer *all = calloc((size_t)s->n * s->n, sizeof *all);
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        const cl_uint domain = k / s->n, other = k % s->n,
                      count = let_flags(s, domain, other, FLAG_GROUPS);
        char *const boxes = (char *)s->split_box + split_box_offset(s, domain, other) * box;
        all[k] =
            back ? (struct transfer){other, domain, boxes, count * TREE_GROUP * box, false, NULL}
                 : (struct transfer){domain,
                                     other,
                                     &s->flag[let_flags_at(s, domain, other, FLAG_GROUPS)],
                                     count * sizeof *s->flag,
                                     false,
                                     NULL};
    }
    const int status =
        all ? nbody_domain_exchange_transfers(nb, all, (size_t)s->n * s->n) : let_no_memory();
    free(all);
    return status;
}

static int let_gather_counts(struct nbody *nb)
{
    const struct gathered g = {nb->domain.tree->counts,
                               nb->domain.tree->counts_each * sizeof *nb->domain.tree->counts};
    return nbody_domain_gather(nb, &g, 1, NULL);
}

static int let_walk_split(struct nbody *nb, cl_uint geometric)
{
    struct domains *s = nb->domain.tree;
    const size_t all = split_box_offset(s, s->n, 0);
    if (all == 0)
        return 0;
    if (all > s->split_capacity) {
        nbody_domain_free_block(nb, s->split_box);
        s->split_box = nbody_domain_block(nb, 2 * all * 8 * nb->real);
        s->split_capacity = s->split_box ? 2 * all : 0;
        if (!s->split_box)
            return -1;
    }
    if (let_exchange_split(nb, false) != 0)
        return -1;
    EACH_TREE(nb, p)
    if (let_launch_split(nb, p) != 0)
        return -1;
    if (let_exchange_split(nb, true) != 0)
        return -1;
    EACH_TREE(nb, p)
    for (cl_uint other = 0; other < s->n; other++) {
        const cl_uint domain = p->domain.index;
        const size_t count = (size_t)let_flags(s, domain, other, FLAG_GROUPS) * TREE_GROUP;
        if (count &&
            (let_launch_resume(nb, p, other) != 0 ||
             let_launch_export(nb, p, other, s->split_box, split_box_offset(s, domain, other), 0, 0,
                               count, false, geometric) != 0 ||
             let_launch_pack(nb, p, other, true) != 0))
            return -1;
    }
    return let_gather_counts(nb);
}

/* ---- Exchange of exports. -------------------------------------------------------------------- */

/* Return true if all exports fit. Otherwise set all capacities from the counts. */
static bool let_check_capacity(struct domains *s)
{
    bool fits = true;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++)
            fits &= let_counts(s, k / s->n, k % s->n)[w] <= s->let_capacity[2 * k + w];
    for (cl_uint k = 0; !fits && k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++) {
            const cl_uint count = let_counts(s, k / s->n, k % s->n)[w];
            s->let_capacity[2 * k + w] = count + count / 4 + 1024;
            s->predicted[2 * k + w] = s->predicted[2 * k + w] < s->let_capacity[2 * k + w]
                                          ? s->predicted[2 * k + w]
                                          : s->let_capacity[2 * k + w];
            s->early[2 * k + w] = s->early[2 * k + w] < s->predicted[2 * k + w]
                                      ? s->early[2 * k + w]
                                      : s->predicted[2 * k + w];
        }
    return fits;
}

/* List the transfers of one kind from each domain to each other, from number from[] (NULL: 0) up
 * to to[] (NULL: the count), including downloads in flight. Return the number of transfers. */
static size_t let_list_transfers(const struct nbody *nb, size_t kind, const cl_uint *from,
                                 const cl_uint *to, struct transfer *all)
{
    const struct domains *s = nb->domain.tree;
    size_t n = 0, bytes;
    for (cl_uint k = 0; k < s->n * s->n; k++) {
        const size_t number = KINDS * k + kind, first = from ? from[number] : 0;
        const size_t end = to ? to[number] : let_counts(s, k / s->n, k % s->n)[kind];
        char *const at = let_address(nb, k / s->n, k % s->n, kind, first, &bytes);
        if (k / s->n != k % s->n && end > first)
            all[n++] = (struct transfer){
                k / s->n, k % s->n, at, (end - first) * bytes, true, s->ev_download[number]};
        s->ev_download[number] = NULL;
    }
    return n;
}

/* Exchange exports of both kinds; counted: gather the counters, too. */
static int let_exchange_cells(struct nbody *nb, const cl_uint *from, const cl_uint *to,
                              bool counted)
{
    const struct domains *s = nb->domain.tree;
    const struct gathered counts = {s->counts, s->counts_each * sizeof *s->counts};
    struct transfer *all = calloc(KINDS * s->n * s->n, sizeof *all);
    size_t n = 0;
    for (size_t kind = 0; all && kind < KINDS; kind++)
        n += let_list_transfers(nb, kind, from, to, all + n);
    const int status = !all           ? let_no_memory()
                       : n || counted ? nbody_domain_exchange(nb, &counts, counted, all, n, NULL)
                                      : 0;
    free(all);
    return status;
}

/* Enqueue the download of exports found since the early download, once they are packed. The host
 * waits for the packing, not the copy: NVIDIA's driver runs all copies of a device in one queue.
 * There a copy that waits for a kernel blocks every later copy, also on other queues. */
static int let_download_rest(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    EACH_TREE(nb, p)
    {
        if (nbody_domain_wait_event(nb, p, s->ev_packed[p->domain.index]) != 0)
            return -1;
        for (cl_uint other = 0; other < s->n; other++)
            if (let_begin_downloads(nb, p, other, s->early, s->predicted) != 0)
                return -1;
    }
    return 0;
}

/* Within one rank, upload the early exports as their downloads end. The downloads of the rest are
 * enqueued before the early bodies are waited for, so that they overlap. */
static int let_exchange_early(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    if (world_size(nb->world) > 1)
        return 0;
    struct transfer *all = calloc(KINDS * s->n * s->n, sizeof *all);
    if (!all)
        return let_no_memory();
    const size_t cells = let_list_transfers(nb, 0, NULL, s->early, all),
                 bodies = let_list_transfers(nb, 1, NULL, s->early, all + cells);
    int status = nbody_domain_exchange_transfers(nb, all, cells);
    if (status == 0)
        status = let_download_rest(nb);
    if (status == 0)
        status = nbody_domain_exchange_transfers(nb, all + cells, bodies);
    free(all);
    return status;
}

/* Exchange the counters and the predicted exports; record how many of these are valid. */
static int let_exchange_predicted(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    if (let_exchange_cells(nb, s->early, s->predicted, true) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2; w++) {
            const cl_uint count = k / s->n == k % s->n ? 0 : let_counts(s, k / s->n, k % s->n)[w];
            const cl_uint packed =
                s->counts[k / s->n * s->counts_each + TREE_COUNTS * s->n + 2 * (k % s->n) + w];
            const cl_uint valid = s->predicted[2 * k + w] < count ? s->predicted[2 * k + w] : count;
            s->received[2 * k + w] =
                s->early[2 * k + w] > packed
                    ? packed
                    : valid; /* later entries were not packed when the early download started */
        }
    return 0;
}

/* Predict the next sum's exports: this sum's count plus a margin, within the capacity. */
static void let_predict_next(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++) {
            const cl_uint count = let_counts(s, k / s->n, k % s->n)[w],
                          some = count + count / 64 + 64;
            s->predicted[2 * k + w] =
                some < s->let_capacity[2 * k + w] ? some : s->let_capacity[2 * k + w];
            const cl_uint packed =
                s->counts[k / s->n * s->counts_each + TREE_COUNTS * s->n + 2 * (k % s->n) + w];
            s->early[2 * k + w] = world_size(nb->world) == 1 ? packed - packed / 64 : 0;
            s->early[2 * k + w] = s->early[2 * k + w] < s->predicted[2 * k + w]
                                      ? s->early[2 * k + w]
                                      : s->predicted[2 * k + w];
        }
}

/* Import the exports of all other domains. Start the walks if they fit in one launch. */
static int let_import_and_walk(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    size_t all[KINDS] = {0};
    for (cl_uint domain = 0; domain < s->n; domain++)
        for (size_t kind = 0; kind < KINDS && domain != p->domain.index; kind++)
            all[kind] += let_counts(s, domain, p->domain.index)[kind];
    if (nbody_domain_wait_uploads(nb, p) != 0 ||
        nbody_tree_reserve_imports(nb, p, all[0], all[1]) != 0)
        return -1;
    cl_uint to = nbody_tree_imports_begin(t), cells_to = t->imports_begin;
    for (cl_uint domain = 0; domain < s->n; domain++) {
        if (domain == p->domain.index)
            continue;
        size_t at[2];
        let_offset(s, domain, p->domain.index, at);
        const cl_uint *exported = let_counts(s, domain, p->domain.index), first = (cl_uint)at[1],
                      count = exported[1];
        if (nbody_domain_import_nodes(nb, p, domain, s->let_cells, at[0], exported[0], cells_to) !=
                0 ||
            nbody_tree_launch_1d(
                nb, p, TREE_IMPORT_BODIES, count,
                ARGS(s->let_bodies, first, count, to, cells_to, t->body, t->link)) != 0)
            return -1;
        to += count;
        cells_to += exported[0];
    }
    return nbody_tree_walk_now(nb, p, s->sum, geometric);
}

/* True if a merged box reached the limit: its groups need boxes of their own. */
static bool let_any_box_flagged(const struct domains *s)
{
    bool any = false;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        any |= k / s->n != k % s->n && let_counts(s, k / s->n, k % s->n)[3] > 0;
    return any;
}

/* Compute the boxes again; flagged merged boxes are split into boxes of single groups. */
static int let_rebuild_boxes(struct nbody *nb, struct nbody_device *p, cl_uint split_above)
{
    const struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    const cl_uint none = 0, one = 1, counter = nbody_let_single_index(nb, p->domain.index);
    for (cl_uint domain = 0; domain < s->n; domain++) {
        const cl_uint count = let_flags(s, domain, p->domain.index, FLAG_BOXES),
                      from = (cl_uint)let_flags_at(s, domain, p->domain.index, FLAG_BOXES);
        if (nbody_tree_launch_1d(nb, p, TREE_MARK_SPLIT, count,
                                 ARGS(s->flag, from, count, t->split_groups)) != 0)
            return -1;
    }
    if (nbody_tree_launch_1d(nb, p, TREE_LET_CLEAR, 1,
                             ARGS(t->mark, none, s->counts, counter, one)) != 0)
        return -1;
    return let_launch_boxes(nb, p, split_above);
}

static int let_split_boxes(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    const struct gathered counts = {s->counts, s->counts_each * sizeof *s->counts};
    struct transfer *all = calloc((size_t)s->n * s->n, sizeof *all);
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        const cl_uint domain = k / s->n, other = k % s->n;
        all[k] = (struct transfer){domain,
                                   other,
                                   &s->flag[let_flags_at(s, domain, other, FLAG_BOXES)],
                                   let_flags(s, domain, other, FLAG_BOXES) * sizeof *s->flag,
                                   false,
                                   NULL};
    }
    const int status =
        all ? nbody_domain_exchange_transfers(nb, all, (size_t)s->n * s->n) : let_no_memory();
    free(all);
    if (status != 0)
        return -1;
    if (nbody_device_threads_all(nb, let_rebuild_boxes, let_split_threshold(nb)) != 0)
        return -1;
    return nbody_let_exchange_boxes(nb, &counts, 1);
}

/* Reserve let_cells and let_bodies according to let_capacity. */
static int let_reserve_all(struct nbody *nb)
{
    size_t all[2];
    let_offset(nb->domain.tree, nb->domain.tree->n, 0, all);
    return let_reserve(nb, all[0], all[1]);
}

int nbody_let_begin(struct nbody *nb, bool geometric)
{
    nb->domain.tree->walks_begun = true;
    if (nbody_let_exchange_boxes(nb, NULL, 0) != 0)
        return -1;
    if (let_reserve_all(nb) != 0)
        return -1;
    return nbody_device_threads_all(nb, let_walk_boxes, geometric);
}

/* True if the export walks used a root cell that differs from the actual one. Their result is
 * discarded. */
static bool let_root_was_stale(const struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    bool off = false;
    for (cl_uint k = 0; k < s->n && s->walks_begun; k++)
        off |= s->counts[nbody_let_stale_index(nb, k)] != 0;
    return off;
}

int nbody_let_find(struct nbody *nb, bool geometric, launch_fn join)
{
    struct domains *s = nb->domain.tree;
    s->join_toptree = join;
    launch_fn start = let_join_and_walk;
    s->sums_since_reset = (s->sums_since_reset + 1) % SUMS_PER_RESET;
    for (bool repeat = true; repeat;) {
        if (let_reserve_all(nb) != 0 ||
            nbody_device_threads_all(nb, s->walks_begun ? join : start, geometric) != 0 ||
            let_exchange_early(nb) != 0 || let_exchange_predicted(nb) != 0)
            return -1;
        start = let_walk_boxes;
        repeat = let_root_was_stale(nb);
        s->walks_begun = false;
        if (!repeat) {
            repeat = let_any_box_flagged(s);
            if (repeat && let_split_boxes(nb) != 0)
                return -1;
            repeat = !let_check_capacity(s) || repeat;
            if (!repeat && let_walk_split(nb, geometric) != 0)
                return -1;
            repeat = !let_check_capacity(s) || repeat;
        }
        EACH_TREE(
            nb, p) /* a repeated export moves to other offsets: uploads in flight must end first */
        if (repeat && nbody_domain_barrier(nb, p) != 0)
            return -1;
    }
    if (let_exchange_cells(nb, s->received, NULL, false) != 0)
        return -1;
    let_predict_next(nb);
    s->walks_began = seconds_now();
    return nbody_device_threads_all(nb, let_import_and_walk, geometric);
}

/* ---- Memory of domains. ---------------------------------------------------------------------- */

int nbody_domain_allocate(struct nbody *nb)
{
    if (!nb->domain.tree)
        return 0;
    if (nbody_domain_allocate_all(nb) != 0 || nbody_let_allocate(nb) != 0)
        return -1;
    return nbody_device_threads_open(nb);
}

void nbody_domain_free(struct nbody *nb)
{
    if (!nb->domain.tree)
        return;
    nbody_let_free(nb);
    nbody_domain_free_all(nb);
}

void nbody_domain_stop_threads(struct nbody *nb)
{
    if (nb->domain.tree)
        nbody_device_threads_free(nb);
}
