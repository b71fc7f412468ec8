/* let.c - what the parts of a tree need of each other for their walks (Salmon's locally
 * essential tree), found as let.cl draws it: a device walks its own cells for each group of
 * the other parts.
 *
 * How much that is was about the same in the last sum; so there is room for a quarter more, and
 * what does not fit is found again. As much as it was then, and a little more, is sent with the
 * numbers that tell how much it is, so that nobody waits for these first.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "core/clock.h"

enum { SUMS_LONE = 512 }; /* for which it is kept which boxes of several groups met too much */

static int no_memory(void)
{
    return clerror_set(ENOMEM, "nbody: no memory on the host");
}

/* What a part found for another. */
static cl_uint *counts(const struct domains *s, cl_uint part, cl_uint other)
{
    return &s->found[part * s->most + TREE_COUNTS * other];
}

/* How many groups, or boxes of several, it flagged; and from where on they stand. */
enum flagged { GROUPS = 2, BOXES = 3 };

static cl_uint flags(const struct domains *s, cl_uint part, cl_uint other, enum flagged what)
{
    const cl_uint n = counts(s, part, other)[what];
    return part == other ? 0 : n < TREE_FLAGS ? n : TREE_FLAGS;
}

static size_t flags_at(const struct domains *s, cl_uint part, cl_uint other, enum flagged what)
{
    return ((size_t)(part * s->n + other) * 2 + (what == BOXES)) * TREE_FLAGS;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Boxes of UNITED groups each. */
static size_t united(size_t groups)
{
    return (groups + TREE_UNITED - 1) / TREE_UNITED;
}

size_t nbody_let_split_groups(const struct nbody *nb)
{
    return united(nb->n / TREE_GROUP + 2);
}

int nbody_let_allocate(struct nbody *nb)
{
    struct domains *s = nb->domains;
    const size_t n = s->n, groups = nb->n / TREE_GROUP + 1 + n, boxes = groups + united(groups) + n;
    s->box = nbody_domain_block(nb, boxes * 8 * nb->real);
    s->flag = nbody_domain_block(nb, n * n * 2 * TREE_FLAGS * sizeof *s->flag);
    s->fits = calloc(2 * n * n, sizeof *s->fits);
    s->guess = calloc(2 * n * n, sizeof *s->guess);
    s->had = calloc(2 * n * n, sizeof *s->had);
    s->early = calloc(2 * n * n, sizeof *s->early);
    s->begun = calloc(2 * n * n, sizeof *s->begun);
    s->boxing = calloc(3 * n, sizeof *s->boxing);
    s->counting = s->boxing ? s->boxing + n : NULL;
    s->packed = s->boxing ? s->boxing + 2 * n : NULL;
    s->apart = calloc(n, sizeof *s->apart);
    s->boxes_sent = calloc(n, sizeof *s->boxes_sent);
    for (size_t k = 0; s->fits && k < n * n; k++)
        s->fits[2 * k] = s->fits[2 * k + 1] = k / n == k % n ? 0 : 4096;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        p->bytes += p->tree ? boxes * 8 * nb->real : 0;
    return s->box && s->flag && s->fits && s->guess && s->had && s->early && s->begun &&
                   s->boxing && s->apart && s->boxes_sent
               ? 0
               : clerror_set(ENOMEM, "nbody_create: no memory for a tree in %u parts", s->n);
}

void nbody_let_free(struct nbody *nb)
{
    struct domains *s = nb->domains;
    void *const blocks[] = {s->box, s->flag, s->loose, s->cells, s->bodies};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    free(s->fits);
    free(s->guess);
    free(s->had);
    free(s->early);
    free(s->begun);
    free(s->boxing);
    free(s->apart);
    free(s->boxes_sent);
}

static int room_for(struct nbody *nb, size_t cells, size_t bodies)
{
    struct domains *s = nb->domains;
    if (cells > s->cells_room) {
        clfree(s->cells);
        s->cells = nbody_domain_block(nb, (cells + cells / 4) * nbody_domain_cell_bytes(nb));
        s->cells_room = s->cells ? cells + cells / 4 : 0;
    }
    if (bodies > s->bodies_room) {
        clfree(s->bodies);
        s->bodies = nbody_domain_block(nb, (bodies + bodies / 4) * nbody_domain_body_bytes(nb));
        s->bodies_room = s->bodies ? bodies + bodies / 4 : 0;
    }
    return s->cells && s->bodies ? 0 : -1;
}

/* Where what a part finds for another stands, by what fits. */
static void place_of(const struct domains *s, cl_uint part, cl_uint other, size_t at[2])
{
    at[0] = at[1] = 0;
    for (size_t k = 0; k < (size_t)part * s->n + other; k++)
        for (size_t w = 0; w < 2; w++)
            at[w] += s->fits[2 * k + w];
}

/* ---- Boxes. ---------------------------------------------------------------------------------- */

/* How many groups a part walks for, of which the first has this slot. */
static size_t groups_of(const struct domains *s, cl_uint part, size_t *slot)
{
    size_t some = 0;
    *slot = 0;
    for (cl_uint k = 0; k <= part; k++) {
        const cl_uint begin = s->begin[k], end = s->begin[k + 1];
        *slot += some + united(some);
        some = begin == end ? 0 : (end - 1) / TREE_GROUP + 1 - begin / TREE_GROUP;
    }
    return some;
}

/* Boxes of all groups of a part; alone where one of several met more than `much`. */
static int start_some(struct nbody *nb, struct nbody_device *p, cl_uint much)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    size_t slot;
    const size_t groups = groups_of(nb->domains, t->number, &slot);
    const cl_uint to = (cl_uint)slot, some = (cl_uint)groups,
                  counter = nbody_let_counter(nb, t->number);
    return nbody_tree_launch(nb, p, TREE_BOXES, united(groups), (size_t)p->shape.flat,
                             ARGS(t->body, t->feel, n, t->from, some, to, nb->domains->box, counter,
                                  nb->domains->found, t->info, much, t->lone));
}

static cl_uint much_of(const struct nbody *nb)
{
    return nb->a_old_valid ? nbody_tree_expected_interactions(nb, 2) : 0;
}

/* Which boxes met too much is forgotten when parts are cut elsewhere, and after many sums, as
 * others are among them then. */
static int forget_lone(struct nbody *nb, struct nbody_device *p)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nbody_let_split_groups(nb), none = 0;
    return nbody_tree_launch_1d(nb, p, TREE_FORGET, n,
                                ARGS(t->lone, n, nb->domains->found, none, none));
}

/* Starts that nothing was found yet. */
static int forget(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint own = t->number * s->most, all = TREE_COUNTS * s->n;
    t->forgot = true;
    return nbody_tree_launch_1d(nb, p, TREE_FORGET, t->room > all ? t->room : all,
                                ARGS(t->mark, t->room, s->found, own, all));
}

/* Boxes that a part sends before it is known how many of single groups there are: a few more of
 * these than the last time. */
static size_t boxes_guessed(const struct domains *s, cl_uint part)
{
    size_t slot;
    const size_t groups = groups_of(s, part, &slot),
                 some = united(groups) + s->apart[part] + s->apart[part] / 4 + 64;
    return some < groups + united(groups) ? some : groups + united(groups);
}

/* Among the devices of one rank. */
static int send_boxes(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domains;
    const cl_uint part = p->tree->number;
    const size_t box = 8 * nb->real;
    size_t slot;
    groups_of(s, part, &slot);
    s->boxing[part] = s->counting[part] = NULL;
    return world_size(nb->world) > 1 || p->tree->bodies == 0 ||
                   (nbody_domain_begin_download(nb, p, (char *)s->box + slot * box,
                                                boxes_guessed(s, part) * box, true,
                                                &s->boxing[part]) == 0 &&
                    nbody_domain_begin_download(nb, p, &s->found[nbody_let_counter(nb, part)],
                                                sizeof *s->found, false, &s->counting[part]) == 0)
               ? 0
               : -1;
}

int nbody_let_start_boxes(struct nbody *nb, struct nbody_device *p)
{
    return (nb->domains->sums_lone == 0 && forget_lone(nb, p) != 0) ||
                   start_some(nb, p, much_of(nb)) != 0 || send_boxes(nb, p) != 0
               ? -1
               : forget(nb, p);
}

/* Of each part, boxes from[] .. to[] - 1 to all others. */
static int swap_boxes(struct nbody *nb, const struct gathered *with, size_t nwith,
                      const cl_uint *from, const cl_uint *to)
{
    struct domains *s = nb->domains;
    const size_t box = 8 * nb->real;
    struct transfer *all = calloc((size_t)s->n * s->n, sizeof *all);
    size_t n = 0, slot;
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        const cl_uint part = k / s->n;
        groups_of(s, part, &slot);
        const size_t first = from ? from[part] : 0, end = to[part];
        if (part == k % s->n || end <= first)
            continue;
        all[n++] = (struct transfer){
            part, k % s->n,       (char *)s->box + (slot + first) * box, (end - first) * box,
            true, s->boxing[part]};
        s->boxing[part] = NULL;
    }
    const int status = !all         ? no_memory()
                       : n || nwith ? nbody_domain_exchange(nb, with, nwith, all, n, NULL)
                                    : 0;
    free(all);
    return status;
}

int nbody_let_exchange_boxes(struct nbody *nb, const struct gathered *with, size_t nwith)
{
    struct domains *s = nb->domains;
    size_t slot;
    for (cl_uint k = 0; k < s->n; k++)
        s->boxes_sent[k] = (cl_uint)boxes_guessed(s, k);
    if (swap_boxes(nb, with, nwith, NULL, s->boxes_sent) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++) {
        if (s->counting[k] && nbody_domain_await(nb, s->owner[k].share, s->counting[k]) != 0)
            return -1;
        s->counting[k] = NULL;
        s->apart[k] = s->begin[k] == s->begin[k + 1] ? 0 : s->found[nbody_let_counter(nb, k)];
    }
    cl_uint *all = malloc(s->n * sizeof *all);
    for (cl_uint k = 0; all && k < s->n; k++)
        all[k] = (cl_uint)united(groups_of(s, k, &slot)) + s->apart[k];
    const int status = all ? swap_boxes(nb, NULL, 0, s->boxes_sent, all) : no_memory();
    free(all);
    return status;
}

/* ---- Walks. ---------------------------------------------------------------------------------- */

/* Walks for `count` boxes of another part, as let.cl numbers them. A CPU looks at the limit
 * after every 256 entries (BLOCK in walk.cl), which are added here. */
static int walk(struct nbody *nb, struct nbody_device *p, cl_uint other, void *box, size_t first_,
                size_t united_, cl_uint odd, size_t count, bool limited, cl_uint geometric)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const size_t pair = (size_t)t->number * s->n + other;
    size_t at[2];
    bool none;
    place_of(s, t->number, other, at);
    const cl_uint first = (cl_uint)first_, several = (cl_uint)united_, stamp = other + 1,
                  limit = limited ? nbody_tree_expected_interactions(nb, 0.2 * s->limit) + 256 : 0,
                  to = t->number * s->most + TREE_COUNTS * other, cells_to = (cl_uint)at[0],
                  bodies_to = (cl_uint)at[1],
                  flags_to = (cl_uint)flags_at(s, t->number, other, GROUPS);
    const double eps2 = nbody_forces_softening(nb, FORCES, &none);
    return nbody_tree_launch(
        nb, p, TREE_ESSENTIAL, count, (size_t)nbody_tree_items(&p->shape),
        ARGS(t->body, t->link, t->down, t->com, t->poles, t->size, t->span, t->bridge, box, first,
             several, odd, REAL(nb, nbody_tree_opening(nb, geometric)), geometric, REAL(nb, eps2),
             limit, stamp, t->mark, s->found, to, cells_to, s->fits[2 * pair], bodies_to,
             s->fits[2 * pair + 1], s->cells, s->bodies, s->flag, flags_to));
}

/* What was found for a part, as it is sent; `more`: since it was noted. */
static int pack(struct nbody *nb, struct nbody_device *p, cl_uint other, cl_uint more)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const size_t pair = (size_t)t->number * s->n + other, flat = (size_t)p->shape.flat;
    size_t at[2];
    place_of(s, t->number, other, at);
    const cl_uint to = t->number * s->most + TREE_COUNTS * other,
                  noted = t->number * s->most + TREE_COUNTS * s->n + 2 * other,
                  cells_to = (cl_uint)at[0], bodies_to = (cl_uint)at[1];
    return nbody_tree_launch(nb, p, TREE_PACK, 8 * (size_t)p->units, flat,
                             ARGS(t->body, t->link, t->down, t->com, t->poles, t->size, more,
                                  s->found, to, noted, cells_to, s->fits[2 * pair], bodies_to,
                                  s->fits[2 * pair + 1], s->cells, s->bodies));
}

/* What is essential: cells, and bodies. */
enum { KINDS = 2 };

static char *essence_at(const struct nbody *nb, cl_uint part, cl_uint other, size_t kind,
                        size_t first, size_t *bytes)
{
    const struct domains *s = nb->domains;
    size_t at[KINDS];
    place_of(s, part, other, at);
    *bytes = kind == 0 ? nbody_domain_cell_bytes(nb) : nbody_domain_body_bytes(nb);
    return (char *)(kind == 0 ? s->cells : s->bodies) + (at[kind] + first) * *bytes;
}

/* What was found goes down, from number from[] on (NULL: 0, once that is packed) up to to[], as
 * much as it was the last time, or nearly. Where it is for other ranks, nothing does. */
static int begin_down(struct nbody *nb, struct nbody_device *p, const cl_uint *from,
                      const cl_uint *to)
{
    struct domains *s = nb->domains;
    const struct tree *t = p->tree;
    bool after = !from;
    for (cl_uint other = 0; other < s->n; other++)
        for (size_t kind = 0; kind < KINDS; kind++) {
            const size_t number = KINDS * ((size_t)t->number * s->n + other) + kind;
            const cl_uint first = from ? from[number] : 0,
                          end = other == t->number || t->bodies == 0 ? 0 : to[number];
            size_t bytes;
            char *const at = essence_at(nb, t->number, other, kind, first, &bytes);
            s->begun[number] = NULL;
            if (world_size(nb->world) > 1 || end <= first)
                continue;
            if (nbody_domain_begin_download(nb, p, at, (end - first) * bytes, after,
                                            &s->begun[number]) != 0)
                return -1;
            after = false;
        }
    return clflush(nb->ctx, p->dev, 0);
}

/* For every second box of several groups, and then for the others. */
static int walk_groups(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    if ((!t->forgot && forget(nb, p) != 0) || nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    t->forgot = false;
    for (cl_uint odd = 0; odd < 2; odd++) {
        for (cl_uint other = 0; other < s->n; other++) {
            size_t slot;
            const size_t several = united(groups_of(s, other, &slot)),
                         count = odd ? several / 2 + s->apart[other] : (several + 1) / 2;
            if (other != t->number && t->bodies &&
                (walk(nb, p, other, s->box, slot, several, odd, count, true, geometric) != 0 ||
                 pack(nb, p, other, odd) != 0))
                return -1;
        }
        if (!odd && begin_down(nb, p, NULL, s->early) != 0)
            return -1;
    }
    return nbody_domain_mark(nb, p, &s->packed[t->number]) != 0 ? -1 : clflush(nb->ctx, p->dev, 0);
}

static int join_and_walk(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    return nb->domains->join(nb, p, geometric) != 0 ? -1 : walk_groups(nb, p, geometric);
}

/* ---- Groups that are put off in any case. ---------------------------------------------------- */

/* Boxes of few bodies of the groups that a part flagged stand from here on. */
static size_t loose_at(const struct domains *s, cl_uint part, cl_uint other)
{
    size_t at = 0;
    for (cl_uint k = 0; k < part * s->n + other; k++)
        at += (size_t)flags(s, k / s->n, k % s->n, GROUPS) * TREE_GROUP;
    return at;
}

static int loosen(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    for (cl_uint part = 0; part < s->n; part++) {
        const cl_uint count = flags(s, part, t->number, GROUPS),
                      from = (cl_uint)flags_at(s, part, t->number, GROUPS),
                      to = (cl_uint)loose_at(s, part, t->number);
        if (nbody_tree_launch_1d(nb, p, TREE_LOOSEN, (size_t)count * TREE_GROUP,
                                 ARGS(t->body, t->feel, n, s->flag, from, count, t->from, s->loose,
                                      to, t->info)) != 0)
            return -1;
    }
    return 0;
}

/* Flags go to the parts whose groups they are, and these groups' boxes come back. */
static int swap_loose(struct nbody *nb, bool back)
{
    struct domains *s = nb->domains;
    const size_t box = 8 * nb->real;
    struct transfer *all = calloc((size_t)s->n * s->n, sizeof *all);
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        const cl_uint part = k / s->n, other = k % s->n, count = flags(s, part, other, GROUPS);
        char *const boxes = (char *)s->loose + loose_at(s, part, other) * box;
        all[k] = back ? (struct transfer){other, part, boxes, count * TREE_GROUP * box, false, NULL}
                      : (struct transfer){part,
                                          other,
                                          &s->flag[flags_at(s, part, other, GROUPS)],
                                          count * sizeof *s->flag,
                                          false,
                                          NULL};
    }
    const int status =
        all ? nbody_domain_exchange_transfers(nb, all, (size_t)s->n * s->n) : no_memory();
    free(all);
    return status;
}

static int gather_counts(struct nbody *nb)
{
    const struct gathered g = {nb->domains->found, nb->domains->most * sizeof *nb->domains->found};
    return nbody_domain_gather(nb, &g, 1, NULL);
}

static int walk_loose(struct nbody *nb, cl_uint geometric)
{
    struct domains *s = nb->domains;
    const size_t all = loose_at(s, s->n, 0);
    if (all == 0)
        return 0;
    if (all > s->loose_room) {
        clfree(s->loose);
        s->loose = nbody_domain_block(nb, 2 * all * 8 * nb->real);
        s->loose_room = s->loose ? 2 * all : 0;
        if (!s->loose)
            return -1;
    }
    if (swap_loose(nb, false) != 0)
        return -1;
    EACH_PART(nb, p)
    if (loosen(nb, p) != 0)
        return -1;
    if (swap_loose(nb, true) != 0)
        return -1;
    EACH_PART(nb, p)
    for (cl_uint other = 0; other < s->n; other++) {
        const cl_uint part = p->tree->number;
        const size_t count = (size_t)flags(s, part, other, GROUPS) * TREE_GROUP;
        if (count && (walk(nb, p, other, s->loose, loose_at(s, part, other), 0, 0, count, false,
                           geometric) != 0 ||
                      pack(nb, p, other, true) != 0))
            return -1;
    }
    return gather_counts(nb);
}

/* ---- What was found. ------------------------------------------------------------------------- */

/* The next sum finds about as much. False when not all of this one's had room. */
static bool measure(struct domains *s)
{
    bool fits = true;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++)
            fits &= counts(s, k / s->n, k % s->n)[w] <= s->fits[2 * k + w];
    for (cl_uint k = 0; !fits && k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++) {
            const cl_uint found = counts(s, k / s->n, k % s->n)[w];
            s->fits[2 * k + w] = found + found / 4 + 1024;
            s->guess[2 * k + w] =
                s->guess[2 * k + w] < s->fits[2 * k + w] ? s->guess[2 * k + w] : s->fits[2 * k + w];
            s->early[2 * k + w] = s->early[2 * k + w] < s->guess[2 * k + w] ? s->early[2 * k + w]
                                                                            : s->guess[2 * k + w];
        }
    return fits;
}

/* Parcels of what each part has found of a kind for each other, from number from[] on (NULL: 0), up
 * to to[] (NULL: all of it), with the copies that are begun. How many these are. */
static size_t list_found(const struct nbody *nb, size_t kind, const cl_uint *from,
                         const cl_uint *to, struct transfer *all)
{
    const struct domains *s = nb->domains;
    size_t n = 0, bytes;
    for (cl_uint k = 0; k < s->n * s->n; k++) {
        const size_t number = KINDS * k + kind, first = from ? from[number] : 0;
        const size_t end = to ? to[number] : counts(s, k / s->n, k % s->n)[kind];
        char *const at = essence_at(nb, k / s->n, k % s->n, kind, first, &bytes);
        if (k / s->n != k % s->n && end > first)
            all[n++] = (struct transfer){k / s->n, k % s->n,        at, (end - first) * bytes,
                                         true,     s->begun[number]};
        s->begun[number] = NULL;
    }
    return n;
}

/* With `counted`, the numbers of these, too. */
static int swap_found(struct nbody *nb, const cl_uint *from, const cl_uint *to, bool counted)
{
    const struct domains *s = nb->domains;
    const struct gathered found = {s->found, s->most * sizeof *s->found};
    struct transfer *all = calloc(KINDS * s->n * s->n, sizeof *all);
    size_t n = 0;
    for (size_t kind = 0; all && kind < KINDS; kind++)
        n += list_found(nb, kind, from, to, all + n);
    const int status = !all           ? no_memory()
                       : n || counted ? nbody_domain_exchange(nb, &found, counted, all, n, NULL)
                                      : 0;
    free(all);
    return status;
}

/* What was found since the first went down follows it, when it is packed. It is the host that waits
 * for that, as NVIDIA's driver has one line of a device's copies: one that waits for a kernel holds
 * up those that were started behind it, in other queues, too, and itself waits until those before
 * it have ended. */
static int send_rest(struct nbody *nb)
{
    const struct domains *s = nb->domains;
    EACH_PART(nb, p)
    if (nbody_domain_await(nb, p, s->packed[p->tree->number]) != 0 ||
        begin_down(nb, p, s->early, s->guess) != 0)
        return -1;
    return 0;
}

/* Of one rank's devices: what is on its way down goes up as soon as it is there; the rest is sent
 * before the last of that, which comes down while devices find it. */
static int pass_early(struct nbody *nb)
{
    const struct domains *s = nb->domains;
    if (world_size(nb->world) > 1)
        return 0;
    struct transfer *all = calloc(KINDS * s->n * s->n, sizeof *all);
    const size_t cells = all ? list_found(nb, 0, NULL, s->early, all) : 0,
                 bodies = all ? list_found(nb, 1, NULL, s->early, all + cells) : 0;
    const int status = !all ? no_memory()
                       : nbody_domain_exchange_transfers(nb, all, cells) != 0 || send_rest(nb)
                           ? -1
                           : nbody_domain_exchange_transfers(nb, all + cells, bodies);
    free(all);
    return status;
}

/* Numbers that were found, and what was guessed of it. */
static int swap_guess(struct nbody *nb)
{
    struct domains *s = nb->domains;
    if (swap_found(nb, s->early, s->guess, true) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2; w++) {
            const cl_uint found = k / s->n == k % s->n ? 0 : counts(s, k / s->n, k % s->n)[w];
            const cl_uint noted =
                s->found[k / s->n * s->most + TREE_COUNTS * s->n + 2 * (k % s->n) + w];
            const cl_uint had = s->guess[2 * k + w] < found ? s->guess[2 * k + w] : found;
            s->had[2 * k + w] = s->early[2 * k + w] > noted
                                    ? noted
                                    : had; /* behind it nothing was there when it went */
        }
    return 0;
}

/* What the next sum sends with its numbers: as much as this one's, and a little more, where there
 * is room. */
static void guess_next(struct nbody *nb)
{
    struct domains *s = nb->domains;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++) {
            const cl_uint found = counts(s, k / s->n, k % s->n)[w], some = found + found / 64 + 64;
            s->guess[2 * k + w] = some < s->fits[2 * k + w] ? some : s->fits[2 * k + w];
            const cl_uint noted =
                s->found[k / s->n * s->most + TREE_COUNTS * s->n + 2 * (k % s->n) + w];
            s->early[2 * k + w] = world_size(nb->world) == 1 ? noted - noted / 64 : 0;
            s->early[2 * k + w] = s->early[2 * k + w] < s->guess[2 * k + w] ? s->early[2 * k + w]
                                                                            : s->guess[2 * k + w];
        }
}

/* What came from others; and all walks, where they are one launch. */
static int take(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    if (nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    for (cl_uint part = 0; part < s->n; part++) {
        size_t at[2];
        place_of(s, part, t->number, at);
        const cl_uint *found = counts(s, part, t->number), first = (cl_uint)at[1], count = found[1];
        if (part != t->number &&
            (nbody_domain_import_nodes(nb, p, s->cells, at[0], found[0]) != 0 ||
             nbody_tree_launch_1d(nb, p, TREE_ADOPT_BODIES, count,
                                  ARGS(s->bodies, first, count, t->body)) != 0))
            return -1;
    }
    return nbody_tree_walk_now(nb, p, s->sum, geometric);
}

/* Whether boxes of several groups met so much that none of these is known to be put off. */
static bool too_large(const struct domains *s)
{
    bool any = false;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        any |= k / s->n != k % s->n && counts(s, k / s->n, k % s->n)[3] > 0;
    return any;
}

/* Boxes again, of which those that met too much are those of single groups. */
static int start_apart(struct nbody *nb, struct nbody_device *p, cl_uint much)
{
    const struct domains *s = nb->domains;
    const struct tree *t = p->tree;
    const cl_uint none = 0, one = 1, counter = nbody_let_counter(nb, t->number);
    for (cl_uint part = 0; part < s->n; part++) {
        const cl_uint count = flags(s, part, t->number, BOXES),
                      from = (cl_uint)flags_at(s, part, t->number, BOXES);
        if (nbody_tree_launch_1d(nb, p, TREE_PART_WITH, count,
                                 ARGS(s->flag, from, count, t->lone)) != 0)
            return -1;
    }
    return nbody_tree_launch_1d(nb, p, TREE_FORGET, 1,
                                ARGS(t->mark, none, s->found, counter, one)) != 0
               ? -1
               : start_some(nb, p, much);
}

static int swap_apart(struct nbody *nb)
{
    const struct domains *s = nb->domains;
    const struct gathered found = {s->found, s->most * sizeof *s->found};
    struct transfer *all = calloc((size_t)s->n * s->n, sizeof *all);
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        const cl_uint part = k / s->n, other = k % s->n;
        all[k] = (struct transfer){part,
                                   other,
                                   &s->flag[flags_at(s, part, other, BOXES)],
                                   flags(s, part, other, BOXES) * sizeof *s->flag,
                                   false,
                                   NULL};
    }
    const int status =
        all ? nbody_domain_exchange_transfers(nb, all, (size_t)s->n * s->n) : no_memory();
    free(all);
    return status != 0 || nbody_device_threads_all(nb, start_apart, much_of(nb)) != 0
               ? -1
               : nbody_let_exchange_boxes(nb, &found, 1);
}

/* Room for what is found, by what fits. */
static int room_for_all(struct nbody *nb)
{
    size_t all[2];
    place_of(nb->domains, nb->domains->n, 0, all);
    return room_for(nb, all[0], all[1]);
}

int nbody_let_begin(struct nbody *nb, bool geometric)
{
    nb->domains->begun_walks = true;
    return nbody_let_exchange_boxes(nb, NULL, 0) != 0 || room_for_all(nb) != 0
               ? -1
               : nbody_device_threads_all(nb, walk_groups, geometric);
}

/* What was found with the cell of all bodies of the sum before is of no use where that was
 * another. */
static bool begun_in_vain(const struct nbody *nb)
{
    const struct domains *s = nb->domains;
    bool off = false;
    for (cl_uint k = 0; k < s->n && s->begun_walks; k++)
        off |= s->found[nbody_let_off(nb, k)] != 0;
    return off;
}

int nbody_let_find(struct nbody *nb, bool geometric, start_on join)
{
    struct domains *s = nb->domains;
    s->join = join;
    start_on start = join_and_walk;
    s->sums_lone = (s->sums_lone + 1) % SUMS_LONE;
    for (bool again = true; again;) {
        if (room_for_all(nb) != 0 ||
            nbody_device_threads_all(nb, s->begun_walks ? join : start, geometric) != 0 ||
            pass_early(nb) != 0 || swap_guess(nb) != 0)
            return -1;
        start = walk_groups;
        again = begun_in_vain(nb);
        s->begun_walks = false;
        if (!again) {
            again = too_large(s);
            if (again ? swap_apart(nb) != 0 : walk_loose(nb, geometric) != 0)
                return -1;
            again = again || !measure(s);
        }
        EACH_PART(nb, p) /* all is found in other places now, which may be those of what is still on
                            its way up beside */
        if (again && nbody_domain_after(nb, p) != 0)
            return -1;
    }
    if (swap_found(nb, s->had, NULL, false) != 0)
        return -1;
    guess_next(nb);
    s->walks_began = seconds_now();
    return nbody_device_threads_all(nb, take, geometric);
}
