/* let.c - locally essential trees (Salmon): cells and bodies exported because another domain's
 * walk opens them. let.cl has a diagram: a device walks its own cells for each group of the
 * other domains.
 *
 *   exchange_boxes   numbers of bounding boxes of groups, then the boxes, to all domains
 *   walk_boxes       export walks in two passes; pack
 *   exchange         the first pass's exports, counts, the remainder
 *   walk_split       flagged groups again, by boxes of few bodies
 *   import_and_walk  import; tree walks
 *
 * An export has room until it overflows; then its room becomes 1.25 times the count plus 1,024, and
 * all exports are repeated. Most of an export is found in the first pass. A part of it, of the size
 * of the last sum's first pass, is downloaded while the second pass runs.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

#include <limits.h>

enum { SUMS_PER_RESET = 512 }; /* sums after which split_groups is cleared */

/* Return the counters of a domain's export to another domain. */
static cl_uint *let_counts(const struct domains *s, cl_uint domain, cl_uint other)
{
    return &s->counts[domain * s->counts_each + TREE_COUNTS * other];
}

static struct let_export *let_pair(const struct domains *s, cl_uint domain, cl_uint other)
{
    return &s->let[domain * s->n + other];
}

enum flagged { FLAG_GROUPS = 2, FLAG_BOXES = 3 }; /* indices of counters */

/* Return the number of groups, or of merged boxes, that a domain flagged: at most TREE_FLAGS; 0 for
 * the own domain. */
static cl_uint let_flags(const struct domains *s, cl_uint domain, cl_uint other, enum flagged what)
{
    const cl_uint n = let_counts(s, domain, other)[what];
    return domain == other ? 0 : n < TREE_FLAGS ? n : TREE_FLAGS;
}

/* Return the place of the first flagged one in a pair's flags. */
static cl_uint let_flags_at(enum flagged what)
{
    return what == FLAG_BOXES ? TREE_FLAGS : 0;
}

/* Return the index in s->counts of the number of cells that the first pass packed for another
 * domain; the number of bodies follows. */
static cl_uint let_packed_index(const struct domains *s, cl_uint domain, cl_uint other)
{
    return domain * s->counts_each + TREE_COUNTS * s->n + 2 * other;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Number of merged boxes for `groups` groups. */
static size_t merged_boxes(size_t groups)
{
    return (groups + TREE_MERGED - 1) / TREE_MERGED;
}

size_t nbody_let_max_merged_boxes(size_t bodies)
{
    return merged_boxes(bodies / TREE_GROUP + 2);
}

/* Allocate the bounding boxes again: the merged ones of all domains, and room for `single` boxes of
 * single groups of each domain. */
static int let_reserve_boxes(struct nbody *nb, size_t single)
{
    struct domains *s = nb->domain.tree;
    const size_t merged = merged_boxes(nb->n / TREE_GROUP + 1 + s->n) + s->n;
    nbody_domain_free_block(nb, s->group_box);
    s->single_room = (cl_uint)single;
    s->group_box = nbody_domain_block(nb, (merged + s->n * single) * 8 * nb->real, CL_MEM_ZEROCOPY);
    return s->group_box ? 0 : -1;
}

int nbody_let_allocate(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t n = s->n;
    s->let = calloc(n * n, sizeof *s->let);
    s->nsingle = calloc(n, sizeof *s->nsingle);
    for (size_t k = 0; s->let && k < n * n; k++)
        s->let[k].room[CELLS] = s->let[k].room[BODIES] = 4096;
    return s->let && s->nsingle && let_reserve_boxes(nb, 64) == 0
               ? 0
               : clerror_set(ENOMEM, "nbody_create: out of memory for a tree of %u domains", s->n);
}

void nbody_let_free(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    for (size_t k = 0; s->let && k < (size_t)s->n * s->n; k++) {
        for (size_t kind = 0; kind < KINDS; kind++) {
            nbody_domain_forget_event(&s->let[k].ev_download[kind]);
            clfree(s->let[k].block[kind]);
        }
        clfree(s->let[k].flag);
    }
    clfree(s->group_box);
    clfree(s->split_box);
    free(s->let);
    free(s->nsingle);
}

static size_t let_bytes(const struct nbody *nb, size_t kind)
{
    return kind == CELLS ? nbody_domain_cell_bytes(nb) : nbody_domain_body_bytes(nb);
}

/* Allocate a block for `bytes` of an export again, on the devices of both domains. */
static int let_allocate_block(struct nbody *nb, cl_uint domain, cl_uint other, void **block,
                              size_t bytes)
{
    struct nbody_device *const both[] = {nb->domain.tree->owner[domain].device,
                                         nb->domain.tree->owner[other].device};
    for (size_t b = 0; b < 2; b++)
        if (both[b] && *block)
            nbody_device_drop_bytes(both[b], clsizeofmem(*block));
    clfree(*block);
    *block = clmalloc(nb->ctx, bytes, CL_MEM_ZEROCOPY);
    for (size_t b = 0; b < 2; b++)
        if (both[b] && *block)
            nbody_device_add_bytes(both[b], clsizeofmem(*block));
    return *block ? 0 : -1;
}

/* Make room for the exports from or to this rank's domains. */
static int let_reserve(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    EACH_EXPORT(s, k, other, kind)
    {
        struct let_export *const e = let_pair(s, k, other);
        const size_t bytes = e->room[kind] * let_bytes(nb, kind),
                     flags = 2 * TREE_FLAGS * sizeof(cl_uint);
        if (!s->owner[k].device && !s->owner[other].device)
            continue;
        if (!e->flag && let_allocate_block(nb, k, other, &e->flag, flags) != 0)
            return -1;
        if (!(e->block[kind] && clsizeofmem(e->block[kind]) >= bytes) &&
            let_allocate_block(nb, k, other, &e->block[kind], bytes) != 0)
            return -1;
    }
    return 0;
}

/* ---- Bounding boxes of groups. --------------------------------------------------------------- */

/* Return the number of groups that a domain walks; *slot: index of its first bounding box. */
static size_t domain_groups(const struct domains *s, cl_uint domain, size_t *slot)
{
    size_t some = 0;
    *slot = 0;
    for (cl_uint k = 0; k <= domain; k++) {
        const cl_uint begin = s->begin[k], end = s->begin[k + 1];
        *slot += k ? merged_boxes(some) + s->single_room : 0;
        some = begin == end ? 0 : (end - 1) / TREE_GROUP + 1 - begin / TREE_GROUP;
    }
    return some;
}

/* Launch the bounding boxes of a domain's groups. A merged box is split if a group was deferred or
 * had more than twice the expected interactions, if split_groups marks it, or if it is much longer
 * than its shortest group. */
static int let_launch_boxes(struct nbody *nb, struct nbody_device *p)
{
    const struct tree *t = p->force.tree;
    const struct domains *s = nb->domain.tree;
    size_t slot;
    const size_t groups = domain_groups(s, p->domain.index, &slot);
    const cl_uint to = (cl_uint)slot, some = (cl_uint)groups, n = t->target.n,
                  counter = nbody_let_single_index(nb, p->domain.index),
                  split_above =
                      nb->force.a_old_valid ? nbody_tree_expected_interactions(nb, 2) : UINT_MAX;
    return nbody_tree_launch(
        nb, p, TREE_GROUP_BOXES, merged_boxes(groups), (size_t)p->shape.group_1d,
        ARGS(t->body, t->a_old_sorted, n, t->first_group, some, to, s->group_box, s->single_room,
             counter, s->counts, t->info, split_above, t->split_groups));
}

/* Compute the boxes again. */
static int let_relaunch_boxes(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    const cl_uint cells = 0, one = 1, counter = nbody_let_single_index(nb, p->domain.index);
    (void)none;
    if (nbody_tree_launch_1d(
            nb, p, TREE_LET_CLEAR, 1,
            ARGS(p->force.tree->mark, cells, nb->domain.tree->counts, counter, one)) != 0)
        return -1;
    return let_launch_boxes(nb, p);
}

void nbody_let_forget_splits(struct nbody *nb)
{
    if (nb->domain.tree)
        nb->domain.tree->sums_since_reset = 0;
}

/* Clear split_groups: when it is new, when boundaries have moved, and after SUMS_PER_RESET sums,
 * because other boxes need splitting then. */
static int let_launch_clear_split(struct nbody *nb, struct nbody_device *p)
{
    const struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)nbody_let_max_merged_boxes(t->sorted_room), none = 0;
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

int nbody_let_start_boxes(struct nbody *nb, struct nbody_device *p)
{
    if (nb->domain.tree->sums_since_reset == 0 && let_launch_clear_split(nb, p) != 0)
        return -1;
    if (let_launch_boxes(nb, p) != 0)
        return -1;
    if (nbody_domain_download(
            nb, p, &nb->domain.tree->counts[nbody_let_single_index(nb, p->domain.index)],
            sizeof(cl_uint), BESIDE, &nb->domain.tree->ev[p->domain.index].boxes) != 0)
        return -1;
    return let_launch_clear(nb, p);
}

/* Exchange the numbers of boxes of single groups. */
static int let_exchange_box_counts(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    size_t slot;
    for (cl_uint k = 0; k < s->n; k++)
        nbody_domain_add(nb, k, TO_HOSTS, &s->counts[nbody_let_single_index(nb, k)],
                         sizeof *s->counts, IN_ORDER, &s->ev[k].boxes);
    if (nbody_domain_exchange(nb, NULL) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        s->nsingle[k] = domain_groups(s, k, &slot) ? s->counts[nbody_let_single_index(nb, k)] : 0;
    return 0;
}

/* The boxes are complete when their number has come; they are computed again if they do not fit. */
int nbody_let_exchange_boxes(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t box = 8 * nb->real;
    size_t most = 0, slot;
    if (let_exchange_box_counts(nb) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        most = s->nsingle[k] > most ? s->nsingle[k] : most;
    if (most > s->single_room) {
        if (let_reserve_boxes(nb, most + most / 4) != 0 ||
            nbody_device_threads_all(nb, let_relaunch_boxes, 0) != 0 ||
            let_exchange_box_counts(nb) != 0)
            return -1;
    }
    for (cl_uint k = 0; k < s->n; k++) {
        const size_t boxes = merged_boxes(domain_groups(s, k, &slot)) + s->nsingle[k];
        for (cl_uint other = 0; other < s->n; other++)
            nbody_domain_add(nb, k, other, (char *)s->group_box + slot * box, boxes * box, READY,
                             NULL);
    }
    return nbody_domain_exchange(nb, NULL);
}

/* ---- Export walks. --------------------------------------------------------------------------- */

/* Launch the export walks for `count` boxes of another domain, as let.cl numbers them. A CPU
 * checks the limit once every 256 entries (BLOCK in walk.cl), so 256 is added to the limit.
 * limited: flag groups above the limit for a second pass. Until the root cell is known, exports are
 * discarded, and the geometric criterion serves. */
static int let_launch_export(struct nbody *nb, struct nbody_device *p, cl_uint other, void *box,
                             size_t first_, size_t merged_, cl_uint odd, size_t count, bool limited,
                             cl_uint geometric_)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const struct let_export *const e = let_pair(s, p->domain.index, other);
    bool none;
    const cl_uint first = (cl_uint)first_, merged = (cl_uint)merged_, stamp = other + 1,
                  geometric = geometric_ || !p->domain.root_known,
                  limit =
                      limited
                          ? nbody_tree_expected_interactions(nb, 0.2 * nb->force.defer_factor) + 256
                          : 0,
                  to = p->domain.index * s->counts_each + TREE_COUNTS * other;
    const double eps2 = nbody_forces_softening(nb, FORCES, &none);
    return nbody_tree_launch(
        nb, p, TREE_LET_EXPORT, count, (size_t)nbody_tree_items(&p->shape),
        ARGS(t->body, t->link, t->child_begin, t->com, t->multipoles, t->size, t->span,
             t->shared_node, box, first, merged, odd, REAL(nb, nbody_tree_opening(nb, geometric)),
             geometric, REAL(nb, eps2), limit, stamp, t->mark, t->place, s->counts, to,
             e->room[CELLS], e->room[BODIES], e->block[CELLS], e->block[BODIES], e->flag));
}

/* Pack the exported cells and bodies; rest: only those found since the previous call. */
static int let_launch_pack(struct nbody *nb, struct nbody_device *p, cl_uint other, cl_uint rest)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const struct let_export *const e = let_pair(s, p->domain.index, other);
    const cl_uint to = p->domain.index * s->counts_each + TREE_COUNTS * other,
                  packed = let_packed_index(s, p->domain.index, other);
    return nbody_tree_launch(
        nb, p, TREE_LET_PACK, 8 * (size_t)p->compute_units, (size_t)p->shape.group_1d,
        ARGS(t->body, t->link, t->place, t->com, t->multipoles, t->size, rest, s->counts, to,
             packed, e->room[CELLS], e->room[BODIES], e->block[CELLS], e->block[BODIES]));
}

/* Restore the marks of an export before further launches add to it. With two domains no other
 * export has used the marks. */
static int let_launch_resume(struct nbody *nb, struct nbody_device *p, cl_uint other)
{
    struct domains *s = nb->domain.tree;
    const struct tree *t = p->force.tree;
    const struct let_export *const e = let_pair(s, p->domain.index, other);
    const cl_uint to = p->domain.index * s->counts_each + TREE_COUNTS * other, stamp = other + 1;
    if (s->n == 2)
        return 0;
    return nbody_tree_launch(
        nb, p, TREE_LET_RESUME, 8 * (size_t)p->compute_units, (size_t)p->shape.group_1d,
        ARGS(s->counts, to, e->room[CELLS], e->room[BODIES], e->block[CELLS], e->block[BODIES],
             t->top_begin, p->domain.index, s->n, t->span, stamp, t->mark, t->place));
}

/* Enqueue the downloads of the early exports, after packing. */
static int let_begin_early(struct nbody *nb, struct nbody_device *p, cl_uint other)
{
    struct let_export *const e = let_pair(nb->domain.tree, p->domain.index, other);
    enum download when = BESIDE;
    for (size_t kind = 0; kind < KINDS; kind++) {
        if (e->early[kind] == 0)
            continue;
        if (nbody_domain_download(nb, p, e->block[kind], e->early[kind] * let_bytes(nb, kind), when,
                                  &e->ev_download[kind]) != 0)
            return -1;
        when = READY;
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
    if (let_begin_early(nb, p, other) != 0)
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
    if (nbody_domain_download(nb, p, s->counts, 0, IN_ORDER, &s->ev[p->domain.index].packed) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

int nbody_let_walk(struct nbody *nb, bool geometric)
{
    return let_reserve(nb) == 0 ? nbody_device_threads_all(nb, let_walk_boxes, geometric) : -1;
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
    if (nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    for (cl_uint domain = 0; domain < s->n; domain++) {
        const cl_uint count = let_flags(s, domain, p->domain.index, FLAG_GROUPS),
                      from = let_flags_at(FLAG_GROUPS),
                      to = (cl_uint)split_box_offset(s, domain, p->domain.index);
        if (nbody_tree_launch_1d(nb, p, TREE_SPLIT_GROUPS, (size_t)count * TREE_GROUP,
                                 ARGS(t->body, t->a_old_sorted, n,
                                      let_pair(s, domain, p->domain.index)->flag, from, count,
                                      t->first_group, s->split_box, to, t->info)) != 0)
            return -1;
    }
    return 0;
}

/* Send the flags to the groups' domains. */
static int let_exchange_flags(struct nbody *nb, enum flagged what)
{
    const struct domains *s = nb->domain.tree;
    EACH_PAIR(s, k, other)
    nbody_domain_add(nb, k, other, (cl_uint *)let_pair(s, k, other)->flag + let_flags_at(what),
                     let_flags(s, k, other, what) * sizeof(cl_uint), READY, NULL);
    return nbody_domain_exchange(nb, NULL);
}

/* Return the boxes of few bodies to the domains that flagged the groups. */
static int let_exchange_split_boxes(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    size_t at = 0;
    EACH_PAIR(s, k, other)
    {
        const size_t bytes = let_flags(s, k, other, FLAG_GROUPS) * TREE_GROUP * 8 * nb->real;
        nbody_domain_add(nb, other, k, (char *)s->split_box + at, bytes, IN_ORDER, NULL);
        at += bytes;
    }
    return nbody_domain_exchange(nb, NULL);
}

/* Walk the flagged groups by boxes of few bodies. Nothing to do without flags. */
static int let_walk_split(struct nbody *nb, cl_uint geometric)
{
    struct domains *s = nb->domain.tree;
    const size_t all = split_box_offset(s, s->n, 0);
    if (all == 0)
        return 0;
    if (all > s->split_capacity) {
        nbody_domain_free_block(nb, s->split_box);
        s->split_box = nbody_domain_block(nb, 2 * all * 8 * nb->real, CL_MEM_ZEROCOPY);
        s->split_capacity = s->split_box ? 2 * all : 0;
        if (!s->split_box)
            return -1;
    }
    if (let_exchange_flags(nb, FLAG_GROUPS) != 0)
        return -1;
    EACH_TREE(nb, p)
    if (let_launch_split(nb, p) != 0)
        return -1;
    if (let_exchange_split_boxes(nb) != 0)
        return -1;
    EACH_TREE(nb, p)
    {
        if (nbody_domain_wait_uploads(nb, p) != 0)
            return -1;
        for (cl_uint other = 0; other < s->n; other++) {
            const cl_uint domain = p->domain.index;
            const size_t count = (size_t)let_flags(s, domain, other, FLAG_GROUPS) * TREE_GROUP;
            if (count &&
                (let_launch_resume(nb, p, other) != 0 ||
                 let_launch_export(nb, p, other, s->split_box, split_box_offset(s, domain, other),
                                   0, 0, count, false, geometric) != 0 ||
                 let_launch_pack(nb, p, other, true) != 0))
                return -1;
        }
    }
    return nbody_domain_gather_counts(nb, s->counts_each, IN_ORDER, NULL);
}

/* ---- Exchange of exports. -------------------------------------------------------------------- */

/* Return true if all exports fit. Otherwise make room for the counts. */
static bool let_fits(struct domains *s)
{
    bool fits = true;
    EACH_EXPORT(s, k, other, kind)
    {
        const cl_uint count = let_counts(s, k, other)[kind];
        if (count <= let_pair(s, k, other)->room[kind])
            continue;
        fits = false;
        let_pair(s, k, other)->room[kind] = count + count / 4 + 1024;
    }
    return fits;
}

/* List the early exports of one kind. Their downloads have begun. Bodies: only the valid ones. The
 * remainder is received at the same time, and MPI does not allow receive buffers to overlap. Cells
 * that are not valid yet are sent again with the remainder; a CPU may write them meanwhile. */
static void let_add_early(struct nbody *nb, size_t kind)
{
    const struct domains *s = nb->domain.tree;
    EACH_PAIR(s, k, other)
    {
        struct let_export *const e = let_pair(s, k, other);
        const cl_uint count = kind == CELLS ? e->early[kind] : e->sent[kind];
        nbody_domain_add(nb, k, other, e->block[kind], count * let_bytes(nb, kind), IN_ORDER,
                         &e->ev_download[kind]);
    }
}

/* List the exports that have not been sent. */
static void let_add_rest(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    EACH_EXPORT(s, k, other, kind)
    {
        struct let_export *const e = let_pair(s, k, other);
        const cl_uint count = let_counts(s, k, other)[kind],
                      end = count < e->room[kind] ? count : e->room[kind];
        const size_t bytes = let_bytes(nb, kind);
        if (end <= e->sent[kind])
            continue;
        nbody_domain_add(nb, k, other, (char *)e->block[kind] + e->sent[kind] * bytes,
                         (end - e->sent[kind]) * bytes, READY, NULL);
        e->sent[kind] = end;
    }
}

/* Return the number of exports that the first pass packed. */
static cl_uint let_packed(const struct domains *s, cl_uint domain, cl_uint other, size_t kind)
{
    const cl_uint packed = s->counts[let_packed_index(s, domain, other) + kind],
                  count = let_counts(s, domain, other)[kind];
    return packed < count ? packed : count;
}

/* Set the numbers of valid early exports, which were packed when their download began. */
static void let_set_sent(struct domains *s)
{
    EACH_EXPORT(s, k, other, kind)
    {
        struct let_export *const e = let_pair(s, k, other);
        const cl_uint packed = let_packed(s, k, other, kind);
        e->sent[kind] = e->early[kind] < packed ? e->early[kind] : packed;
    }
}

/* Choose the next sum's early exports: a little less than the first pass packed. */
static void let_choose_early(struct domains *s)
{
    EACH_EXPORT(s, k, other, kind)
    {
        struct let_export *const e = let_pair(s, k, other);
        const cl_uint packed = let_packed(s, k, other, kind), some = packed - packed / 64;
        e->early[kind] = some < e->room[kind] ? some : e->room[kind];
    }
}

/* Exchange the exports. The downloads of the remainder are enqueued before the early bodies are
 * waited for, so that they overlap. The host waits for the packing, not for a copy after it:
 * NVIDIA's driver runs all copies of a device in one queue, where a copy that waits for a kernel
 * blocks every later copy, also on other queues. */
static int let_exchange(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    let_add_early(nb, CELLS);
    if (nbody_domain_exchange(nb, NULL) != 0)
        return -1;
    EACH_TREE(nb, p)
    if (nbody_domain_wait_event(nb, p, &s->ev[p->domain.index].packed) != 0)
        return -1;
    if (nbody_domain_gather_counts(nb, s->counts_each, READY, NULL) != 0)
        return -1;
    let_set_sent(s);
    let_add_early(nb, BODIES);
    let_add_rest(nb);
    for (cl_uint k = 0; k < s->n; k++)
        nbody_domain_add(nb, k, TO_HOSTS, &s->counts[nbody_let_stale_index(nb, k)],
                         sizeof *s->counts, IN_ORDER, NULL);
    return nbody_domain_exchange(nb, NULL);
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
        nbody_tree_reserve_imports(nb, p, all[CELLS], all[BODIES]) != 0)
        return -1;
    cl_uint to = nbody_tree_imports_begin(t), cells_to = t->imports_begin;
    for (cl_uint domain = 0; domain < s->n; domain++) {
        if (domain == p->domain.index)
            continue;
        const struct let_export *const e = let_pair(s, domain, p->domain.index);
        const cl_uint *exported = let_counts(s, domain, p->domain.index), count = exported[BODIES];
        if (nbody_domain_import_nodes(nb, p, domain, e->block[CELLS], 0, exported[CELLS],
                                      cells_to) != 0 ||
            nbody_tree_launch_1d(nb, p, TREE_IMPORT_BODIES, count,
                                 ARGS(e->block[BODIES], count, to, cells_to, t->body, t->link)) !=
                0)
            return -1;
        to += count;
        cells_to += exported[CELLS];
    }
    return nbody_tree_walk_now(nb, p, s->sum, geometric);
}

/* True if a merged box reached the limit: its groups need boxes of their own. */
static bool let_any_box_flagged(const struct domains *s)
{
    bool any = false;
    EACH_PAIR(s, k, other)
    any |= let_flags(s, k, other, FLAG_BOXES) > 0;
    return any;
}

/* Compute the boxes again; flagged merged boxes are split into boxes of single groups. */
static int let_rebuild_boxes(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    const struct domains *s = nb->domain.tree;
    if (nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    for (cl_uint domain = 0; domain < s->n; domain++) {
        const cl_uint count = let_flags(s, domain, p->domain.index, FLAG_BOXES),
                      from = let_flags_at(FLAG_BOXES);
        if (nbody_tree_launch_1d(nb, p, TREE_MARK_SPLIT, count,
                                 ARGS(let_pair(s, domain, p->domain.index)->flag, from, count,
                                      p->force.tree->split_groups)) != 0)
            return -1;
    }
    return let_relaunch_boxes(nb, p, none);
}

/* Split the flagged merged boxes into boxes of single groups, and exchange all boxes again. */
static int let_split_boxes(struct nbody *nb)
{
    if (let_exchange_flags(nb, FLAG_BOXES) != 0)
        return -1;
    if (nbody_device_threads_all(nb, let_rebuild_boxes, 0) != 0)
        return -1;
    return nbody_let_exchange_boxes(nb);
}

/* True if the export walks used a root cell that differs from the actual one. */
static bool let_root_was_stale(const struct nbody *nb)
{
    bool off = false;
    for (cl_uint k = 0; k < nb->domain.tree->n; k++)
        off |= nb->domain.tree->counts[nbody_let_stale_index(nb, k)] != 0;
    return off;
}

/* Complete the exports of the last walks. Return 1 if the walks must be repeated: with the actual
 * root cell, with smaller boxes, or with more room. */
static int let_complete(struct nbody *nb, bool first, bool geometric)
{
    struct domains *s = nb->domain.tree;
    if (let_exchange(nb) != 0)
        return -1;
    if (first && let_root_was_stale(nb))
        return 1;
    const bool fits = let_fits(s);
    if (let_any_box_flagged(s))
        return let_split_boxes(nb) == 0 ? 1 : -1;
    if (!fits)
        return 1;
    if (let_walk_split(nb, geometric) != 0)
        return -1;
    if (!let_fits(s))
        return 1;
    let_add_rest(nb);
    return nbody_domain_exchange(nb, NULL);
}

int nbody_let_find(struct nbody *nb, bool geometric, launch_fn join)
{
    struct domains *s = nb->domain.tree;
    s->sums_since_reset = (s->sums_since_reset + 1) % SUMS_PER_RESET;
    if (nbody_device_threads_all(nb, join, geometric) != 0)
        return -1;
    int status = let_complete(nb, true, geometric);
    while (status == 1)
        status = nbody_let_walk(nb, geometric) == 0 ? let_complete(nb, false, geometric) : -1;
    if (status != 0)
        return -1;
    let_choose_early(s);
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
