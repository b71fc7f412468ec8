/* tree_essence.c - what the parts of a tree need of each other for their walks (Salmon's locally essential tree), found as
 * essential.cl draws it: a device walks its own cells for each group of the other parts.
 *
 * How much that is was about the same in the last sum; so there is room for a quarter more, and what does not fit is found again. As
 * much as it was then, and a little more, is sent with the numbers that tell how much it is, so that nobody waits for these first.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

enum { SUMS_ALONE = 64 };

static int no_memory(void)
{
    return clerror_set(ENOMEM, "nbody: no memory on the host");
}

static cl_uint levels(const struct nbody *nb)
{
    return nb->parts->words * TREE_LEVELS + 1;
}

/* What a part found for another. */
static cl_uint *counts(const struct parts *s, cl_uint part, cl_uint other)
{
    return &s->found[part * s->most + TREE_COUNTS * other];
}

static cl_uint flags(const struct parts *s, cl_uint part, cl_uint other)
{
    const cl_uint n = counts(s, part, other)[2];
    return part == other ? 0 : n < TREE_FLAGS ? n : TREE_FLAGS;
}

/* ---- Memory. ---------------------------------------------------------------------------------- */

/* Boxes of UNITED groups each. */
static size_t united(size_t groups)
{
    return (groups + TREE_UNITED - 1) / TREE_UNITED;
}

int nbody_essence_place(struct nbody *nb)
{
    struct parts *s = nb->parts;
    const size_t n = s->n, groups = nb->n / TREE_GROUP + 1 + n, boxes = groups + united(groups) + n;
    s->box = nbody_parts_block(nb, boxes * 8 * nb->real);
    s->bridges = nbody_parts_block(nb, n * (2 * TREE_LEVELS + 1) * 4 * sizeof(cl_uint));
    s->flag = nbody_parts_block(nb, n * n * TREE_FLAGS * sizeof *s->flag);
    s->fits = calloc(2 * n * n, sizeof *s->fits);
    s->guess = calloc(2 * n * n, sizeof *s->guess);
    s->had = calloc(2 * n * n, sizeof *s->had);
    s->apart = calloc(n, sizeof *s->apart);
    s->boxes_sent = calloc(n, sizeof *s->boxes_sent);
    for (size_t k = 0; s->fits && k < n * n; k++)
        s->fits[2 * k] = s->fits[2 * k + 1] = k / n == k % n ? 0 : 4096;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        p->bytes += p->tree ? boxes * 8 * nb->real : 0;
    return s->box && s->bridges && s->flag && s->fits && s->guess && s->had && s->apart && s->boxes_sent ? 0 : clerror_set(ENOMEM, "nbody_create: no memory for a tree in %u parts", s->n);
}

void nbody_essence_free(struct nbody *nb)
{
    struct parts *s = nb->parts;
    void *const blocks[] = {s->box, s->bridges, s->flag, s->loose, s->head, s->number, s->some, s->index};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    free(s->fits);
    free(s->guess);
    free(s->had);
    free(s->apart);
    free(s->boxes_sent);
}

static int room_for(struct nbody *nb, size_t cells, size_t bodies)
{
    struct parts *s = nb->parts;
    if (cells > s->cells_room) {
        clfree(s->head);
        clfree(s->number);
        s->cells_room = cells + cells / 4;
        s->head = nbody_parts_block(nb, s->cells_room * 4 * sizeof(cl_uint));
        s->number = nbody_parts_block(nb, s->cells_room * nbody_parts_number_bytes(nb));
    }
    if (bodies > s->bodies_room) {
        clfree(s->some);
        clfree(s->index);
        s->bodies_room = bodies + bodies / 4;
        s->some = nbody_parts_block(nb, s->bodies_room * 4 * nb->real);
        s->index = nbody_parts_block(nb, s->bodies_room * sizeof(cl_uint));
    }
    return s->head && s->number && s->some && s->index ? 0 : -1;
}

/* Where what a part finds for another stands, by what fits. */
static void place_of(const struct parts *s, cl_uint part, cl_uint other, size_t at[2])
{
    at[0] = at[1] = 0;
    for (size_t k = 0; k < (size_t)part * s->n + other; k++)
        for (size_t w = 0; w < 2; w++)
            at[w] += s->fits[2 * k + w];
}

/* ---- Boxes. ----------------------------------------------------------------------------------- */

/* How many groups a part walks for, of which the first has this slot. */
static size_t groups_of(const struct parts *s, cl_uint part, size_t *slot)
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

int nbody_essence_boxes(struct nbody *nb, struct share *p, cl_uint much)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    size_t slot;
    const size_t groups = groups_of(nb->parts, t->number, &slot);
    const cl_uint to = (cl_uint)slot, some = (cl_uint)groups, counter = nbody_essence_counter(nb, t);
    const struct stdcl_arg args[] = {BLOCK_ARG(t->body), BLOCK_ARG(t->feel), VALUE_ARG(n), VALUE_ARG(t->from), VALUE_ARG(some), VALUE_ARG(to),
                                     BLOCK_ARG(nb->parts->box), VALUE_ARG(counter), BLOCK_ARG(nb->parts->found), BLOCK_ARG(t->info), VALUE_ARG(much)};
    return nbody_tree_launch(nb, p, TREE_BOXES, united(groups), (size_t)p->shape.flat, COUNT_OF(args), args);
}

/* Of each part, boxes from[] .. to[] - 1 to all others. */
static int swap_boxes(struct nbody *nb, const struct gathered *with, const cl_uint *from, const cl_uint *to)
{
    const struct parts *s = nb->parts;
    const size_t box = 8 * nb->real;
    struct parcel *all = calloc((size_t)s->n * s->n, sizeof *all);
    size_t n = 0, slot;
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        groups_of(s, k / s->n, &slot);
        const size_t first = from ? from[k / s->n] : 0, end = to[k / s->n];
        if (k / s->n != k % s->n && end > first)
            all[n++] = (struct parcel){k / s->n, k % s->n, (char *)s->box + (slot + first) * box, (end - first) * box};
    }
    const int status = !all ? no_memory() : n || with ? nbody_parts_exchange(nb, with, with != NULL, false, all, n) : 0;
    free(all);
    return status;
}

int nbody_essence_swap_boxes(struct nbody *nb, const struct gathered *with)
{
    struct parts *s = nb->parts;
    size_t slot;
    for (cl_uint k = 0; k < s->n; k++) {
        const size_t groups = groups_of(s, k, &slot), some = united(groups) + s->apart[k] + s->apart[k] / 4 + 64;
        s->boxes_sent[k] = (cl_uint)(some < groups + united(groups) ? some : groups + united(groups));
    }
    if (swap_boxes(nb, with, NULL, s->boxes_sent) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        s->apart[k] = s->begin[k] == s->begin[k + 1] ? 0 : s->found[k * s->most + levels(nb) + 1];
    cl_uint *all = malloc(s->n * sizeof *all);
    for (cl_uint k = 0; all && k < s->n; k++)
        all[k] = (cl_uint)united(groups_of(s, k, &slot)) + s->apart[k];
    const int status = all ? swap_boxes(nb, NULL, s->boxes_sent, all) : no_memory();
    free(all);
    return status;
}

/* ---- Walks. ----------------------------------------------------------------------------------- */

/* Number w of {cell, first body} of a part's bridge of a level. */
static cl_uint bridge_of(const struct nbody *nb, cl_uint part, cl_uint level, size_t w)
{
    const cl_uint *heads = nb->parts->heads;
    return heads[4 * ((size_t)(part * levels(nb) + level + 1) * TREE_TOPS - 1) + w];
}

/* s->bridges, as essential.cl has them: level by level, and in their order. Returns how many there are. */
static cl_uint list_bridges(const struct nbody *nb)
{
    const struct parts *s = nb->parts;
    cl_uint(*list)[4] = s->bridges, n = 0, above = 0, here = 0;
    for (cl_uint level = 0; level < levels(nb); level++, above = here, here = n)
        for (cl_uint part = 0; part < s->n; part++) {
            const cl_uint cell = bridge_of(nb, part, level, 0), body = bridge_of(nb, part, level, 1);
            if (cell == ~0u)
                continue;
            cl_uint parent = above;
            while (parent + 1 < here && list[parent + 1][3] <= body)
                parent++;
            if (level > 0 && list[parent][2]++ == 0)
                list[parent][1] = n;
            list[n][0] = cell;
            list[n][1] = list[n][2] = 0;
            list[n++][3] = body;
        }
    return n;
}

/* list[][3] is the first body until all are there, and then the level. */
static void put_levels(const struct nbody *nb)
{
    cl_uint(*list)[4] = nb->parts->bridges, n = 0;
    for (cl_uint level = 0; level < levels(nb); level++)
        for (cl_uint part = 0; part < nb->parts->n; part++)
            if (bridge_of(nb, part, level, 0) != ~0u)
                list[n++][3] = level;
}

/* Walks for `count` boxes of another part, of which the first are of several groups each. A CPU looks at the limit after every 256 entries (BLOCK in walk.cl); twice the limit is
 * surely more than that. */
static int walk(struct nbody *nb, struct share *p, cl_uint other, void *box, size_t first_, size_t united_, size_t count, bool limited,
                cl_uint geometric)
{
    struct parts *s = nb->parts;
    struct tree *t = p->tree;
    const size_t pair = (size_t)t->number * s->n + other;
    size_t at[2];
    bool none;
    place_of(s, t->number, other, at);
    const cl_uint first = (cl_uint)first_, several = (cl_uint)united_, limit = limited ? nbody_tree_usual(nb, 0.2 * s->limit) + 256 : 0, stamp = other + 1,
                  to = t->number * s->most + TREE_COUNTS * other, cells_to = (cl_uint)at[0], bodies_to = (cl_uint)at[1],
                  flags_to = (cl_uint)pair * TREE_FLAGS;
    REAL_NUMBER(eps2, nbody_forces_softening(nb, FORCES, &none));
    REAL_NUMBER(opening, nbody_tree_opening(nb, geometric));
    const struct stdcl_arg args[] = {
        BLOCK_ARG(t->body),  BLOCK_ARG(t->link),    BLOCK_ARG(t->down),     BLOCK_ARG(t->com),    BLOCK_ARG(t->poles),
        BLOCK_ARG(t->size),  BLOCK_ARG(t->span),    BLOCK_ARG(t->bridge),   BLOCK_ARG(s->bridges), BLOCK_ARG(box),
        VALUE_ARG(first),    VALUE_ARG(several),    REAL_ARG(nb, opening),  VALUE_ARG(geometric), REAL_ARG(nb, eps2), VALUE_ARG(limit),
        VALUE_ARG(stamp),    BLOCK_ARG(t->mark),    BLOCK_ARG(s->found),    VALUE_ARG(to),        VALUE_ARG(cells_to),
        VALUE_ARG(s->fits[2 * pair]), VALUE_ARG(bodies_to), VALUE_ARG(s->fits[2 * pair + 1]),     BLOCK_ARG(s->head),
        BLOCK_ARG(s->number), BLOCK_ARG(s->some),   BLOCK_ARG(s->index),    BLOCK_ARG(s->flag),   VALUE_ARG(flags_to)};
    return nbody_tree_launch(nb, p, TREE_ESSENTIAL, count, (size_t)nbody_tree_items(&p->shape), COUNT_OF(args), args);
}

static int walk_groups(struct nbody *nb, struct share *p, cl_uint geometric)
{
    struct parts *s = nb->parts;
    struct tree *t = p->tree;
    const cl_uint own = t->number * s->most, all = TREE_COUNTS * s->n;
    const struct stdcl_arg forget[] = {BLOCK_ARG(t->mark), VALUE_ARG(t->all), BLOCK_ARG(s->found), VALUE_ARG(own), VALUE_ARG(all)};
    if (nbody_tree_visit(nb, p, TREE_FORGET, t->all > all ? t->all : all, COUNT_OF(forget), forget) != 0)
        return -1;
    for (cl_uint other = 0; other < s->n; other++) {
        size_t slot;
        const size_t several = united(groups_of(s, other, &slot));
        if (other != t->number && t->bodies && walk(nb, p, other, s->box, slot, several, several + s->apart[other], true, geometric) != 0)
            return -1;
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* ---- Groups that are put off in any case. ----------------------------------------------------- */

/* Boxes of few bodies of the groups that a part flagged stand from here on. */
static size_t loose_at(const struct parts *s, cl_uint part, cl_uint other)
{
    size_t at = 0;
    for (cl_uint k = 0; k < part * s->n + other; k++)
        at += (size_t)flags(s, k / s->n, k % s->n) * TREE_GROUP;
    return at;
}

static int loosen(struct nbody *nb, struct share *p)
{
    struct parts *s = nb->parts;
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    for (cl_uint part = 0; part < s->n; part++) {
        const cl_uint count = flags(s, part, t->number), from = (part * s->n + t->number) * TREE_FLAGS,
                      to = (cl_uint)loose_at(s, part, t->number);
        const struct stdcl_arg args[] = {BLOCK_ARG(t->body), BLOCK_ARG(t->feel), VALUE_ARG(n),       BLOCK_ARG(s->flag),
                                         VALUE_ARG(from),    VALUE_ARG(count),   VALUE_ARG(t->from),
                                         BLOCK_ARG(s->loose), VALUE_ARG(to),     BLOCK_ARG(t->info)};
        if (nbody_tree_visit(nb, p, TREE_LOOSEN, (size_t)count * TREE_GROUP, COUNT_OF(args), args) != 0)
            return -1;
    }
    return 0;
}

/* Flags go to the parts whose groups they are, and these groups' boxes come back. */
static int swap_loose(struct nbody *nb, bool back)
{
    struct parts *s = nb->parts;
    const size_t box = 8 * nb->real;
    struct parcel *all = calloc((size_t)s->n * s->n, sizeof *all);
    for (cl_uint k = 0; all && k < s->n * s->n; k++) {
        const cl_uint part = k / s->n, other = k % s->n, count = flags(s, part, other);
        char *const boxes = (char *)s->loose + loose_at(s, part, other) * box;
        all[k] = back ? (struct parcel){other, part, boxes, count * TREE_GROUP * box}
                      : (struct parcel){part, other, &s->flag[k * TREE_FLAGS], count * sizeof *s->flag};
    }
    const int status = all ? nbody_parts_swap(nb, all, (size_t)s->n * s->n) : no_memory();
    free(all);
    return status;
}

static int gather_counts(struct nbody *nb)
{
    const struct gathered g = {nb->parts->found, nb->parts->most * sizeof *nb->parts->found};
    return nbody_parts_gather(nb, &g, 1, false);
}

static int walk_loose(struct nbody *nb, cl_uint geometric)
{
    struct parts *s = nb->parts;
    const size_t all = loose_at(s, s->n, 0);
    if (all == 0)
        return 0;
    if (all > s->loose_room) {
        clfree(s->loose);
        s->loose_room = 2 * all;
        if (!(s->loose = nbody_parts_block(nb, s->loose_room * 8 * nb->real)))
            return -1;
    }
    if (swap_loose(nb, false) != 0)
        return -1;
    EACH_PART (nb, p)
        if (loosen(nb, p) != 0)
            return -1;
    if (swap_loose(nb, true) != 0)
        return -1;
    EACH_PART (nb, p)
        for (cl_uint other = 0; other < s->n; other++) {
            const cl_uint part = p->tree->number;
            const size_t count = (size_t)flags(s, part, other) * TREE_GROUP;
            if (count && walk(nb, p, other, s->loose, loose_at(s, part, other), 0, count, false, geometric) != 0)
                return -1;
        }
    return gather_counts(nb);
}

/* ---- What was found. -------------------------------------------------------------------------- */

/* The next sum finds about as much. False when not all of this one's had room. */
static bool measure(struct parts *s)
{
    bool fits = true;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++)
            fits &= counts(s, k / s->n, k % s->n)[w] <= s->fits[2 * k + w];
    for (cl_uint k = 0; !fits && k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++) {
            const cl_uint found = counts(s, k / s->n, k % s->n)[w];
            s->fits[2 * k + w] = found + found / 4 + 1024;
            s->guess[2 * k + w] = s->guess[2 * k + w] < s->fits[2 * k + w] ? s->guess[2 * k + w] : s->fits[2 * k + w];
        }
    return fits;
}

/* From number from[] on, up to to[] (NULL: all that was found): of what each part has found for each other. With `counted`, the
 * numbers of these, too. */
static int swap_found(struct nbody *nb, const cl_uint *from, const cl_uint *to, bool counted)
{
    const struct parts *s = nb->parts;
    const struct gathered found = {s->found, s->most * sizeof *s->found};
    const struct {
        void *block;
        size_t bytes, which;
    } each[] = {{s->head, 4 * sizeof(cl_uint), 0}, {s->number, nbody_parts_number_bytes(nb), 0}, {s->some, 4 * nb->real, 1},
                {s->index, sizeof(cl_uint), 1}};
    struct parcel *all = calloc(COUNT_OF(each) * s->n * s->n, sizeof *all);
    size_t n = 0;
    for (size_t b = 0; all && b < COUNT_OF(each); b++)
        for (cl_uint k = 0; k < s->n * s->n; k++) {
            if (k / s->n == k % s->n)
                continue;
            const size_t w = each[b].which, bytes = each[b].bytes, first = from ? from[2 * k + w] : 0;
            const size_t end = to ? to[2 * k + w] : counts(s, k / s->n, k % s->n)[w];
            size_t at[2];
            place_of(s, k / s->n, k % s->n, at);
            if (end > first)
                all[n++] = (struct parcel){k / s->n, k % s->n, (char *)each[b].block + (at[w] + first) * bytes, (end - first) * bytes};
        }
    const int status = !all ? no_memory() : n || counted ? nbody_parts_exchange(nb, &found, counted, false, all, n) : 0;
    free(all);
    return status;
}

/* Numbers that were found, and what was guessed of it. */
static int swap_guess(struct nbody *nb)
{
    struct parts *s = nb->parts;
    if (swap_found(nb, NULL, s->guess, true) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2; w++) {
            const cl_uint found = k / s->n == k % s->n ? 0 : counts(s, k / s->n, k % s->n)[w];
            s->had[2 * k + w] = s->guess[2 * k + w] < found ? s->guess[2 * k + w] : found;
        }
    return 0;
}

/* What the next sum sends with its numbers: as much as this one's, and a little more, where there is room. */
static void guess_next(struct parts *s)
{
    for (cl_uint k = 0; k < s->n * s->n; k++)
        for (size_t w = 0; w < 2 && k / s->n != k % s->n; w++) {
            const cl_uint found = counts(s, k / s->n, k % s->n)[w], some = found + found / 64 + 64;
            s->guess[2 * k + w] = some < s->fits[2 * k + w] ? some : s->fits[2 * k + w];
        }
}

static int take(struct nbody *nb, struct share *p, cl_uint none)
{
    struct parts *s = nb->parts;
    (void)none;
    struct tree *t = p->tree;
    for (cl_uint part = 0; part < s->n; part++) {
        size_t at[2];
        place_of(s, part, t->number, at);
        const cl_uint *found = counts(s, part, t->number), first = (cl_uint)at[1], count = found[1];
        const struct stdcl_arg bodies[] = {BLOCK_ARG(s->some), BLOCK_ARG(s->index), VALUE_ARG(first), VALUE_ARG(count), BLOCK_ARG(t->body)};
        if (part != t->number && (nbody_parts_adopt(nb, p, s->head, s->number, at[0], found[0]) != 0 ||
                                  nbody_tree_visit(nb, p, TREE_ADOPT_BODIES, count, COUNT_OF(bodies), bodies) != 0))
            return -1;
    }
    return 0;
}

/* Whether boxes of several groups met so much that none of these is known to be put off. */
static bool too_large(const struct parts *s)
{
    bool any = false;
    for (cl_uint k = 0; k < s->n * s->n; k++)
        any |= k / s->n != k % s->n && counts(s, k / s->n, k % s->n)[3] > 0;
    return any;
}

static int start_apart(struct nbody *nb, struct share *p, cl_uint much)
{
    const struct tree *t = p->tree;
    const cl_uint none = 0, one = 1, counter = nbody_essence_counter(nb, t);
    const struct stdcl_arg forget[] = {BLOCK_ARG(t->mark), VALUE_ARG(none), BLOCK_ARG(nb->parts->found), VALUE_ARG(counter), VALUE_ARG(one)};
    return nbody_tree_visit(nb, p, TREE_FORGET, 1, COUNT_OF(forget), forget) != 0 ? -1 : nbody_essence_boxes(nb, p, much);
}

/* Each group's box to all others. */
static int swap_apart(struct nbody *nb)
{
    const struct gathered found = {nb->parts->found, nb->parts->most * sizeof *nb->parts->found};
    return nbody_hands_all(nb, start_apart, 0) != 0 ? -1 : nbody_essence_swap_boxes(nb, &found);
}

int nbody_essence_find(struct nbody *nb, bool geometric)
{
    struct parts *s = nb->parts;
    const cl_uint bridges = list_bridges(nb);
    put_levels(nb);
    if (bridges == 0)
        return 0;
    EACH_PART (nb, p)
        if (nbody_parts_bring(nb, p, s->bridges, bridges * 4 * sizeof(cl_uint)) != 0)
            return -1;
    s->alone -= s->alone > 0;
    for (bool again = true; again;) {
        size_t all[2];
        place_of(s, s->n, 0, all);
        if (room_for(nb, all[0], all[1]) != 0 || nbody_hands_all(nb, walk_groups, geometric) != 0 || swap_guess(nb) != 0)
            return -1;
        again = too_large(s);
        s->alone = again ? SUMS_ALONE : s->alone;
        if (again ? swap_apart(nb) != 0 : walk_loose(nb, geometric) != 0)
            return -1;
        again = !again ? !measure(s) : true;
    }
    if (swap_found(nb, s->had, NULL, false) != 0)
        return -1;
    guess_next(s);
    return nbody_hands_all(nb, take, 0);
}
