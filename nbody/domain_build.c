/* domain_build.c - a tree in parts, step by step: as domain.cl draws it; what its parts need of
 * each other is found in let.c.
 *
 * After each step that others need to know of the host waits for what they get and tells all ranks.
 * Where it is not known how much that is, as much as the last time and a little more goes with the
 * number of it; what is missing follows.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"
#include "nbody/tree.h"

#include <math.h>

enum { MARGIN = TREE_MARGIN / sizeof(cl_ulong), NONE = -1 };

/* ---- The cube, and where it is cut. ---------------------------------------------------------- */

static int start_box(struct nbody *nb, struct nbody_device *p, cl_event *ev)
{
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, end = first + (cl_uint)p->count;
    if (nbody_tree_launch(nb, p, TREE_BOX, t->parts, (size_t)p->shape.flat,
                          ARGS(nb->posm, first, end, t->part)) != 0)
        return -1;
    *ev = clmsync(nb->ctx, p->dev, t->part, CL_MEM_HOST | CL_EVENT_NOWAIT | CL_EVENT_CHECKED);
    return *ev == (cl_event)-1 ? -1 : clflush(nb->ctx, p->dev, 0);
}

struct corners {
    double lo[3], hi[3];
};

static void join_corners(void *a, const void *b, void *arg)
{
    struct corners *one = a;
    const struct corners *two = b;
    (void)arg;
    for (int c = 0; c < 3; c++) {
        one->lo[c] = fmin(one->lo[c], two->lo[c]);
        one->hi[c] = fmax(one->hi[c], two->hi[c]);
    }
}

enum { CUBE_STEPS = 8 }; /* as in tree.cl */

static double side_of(const struct nbody *nb, double extent)
{
    const int least = nb->precision == NBODY_DOUBLE ? -1000 : -100,
              power = extent > 0 && isfinite(extent) ? ilogb(extent) : 0;
    return extent > 0 ? ldexp(1, (power > least ? power : least) + 1) : 1;
}

/* As `frame` in tree.cl, of which the host makes the same numbers. */
static void frame(const struct nbody *nb, const struct corners *all, double cube[4])
{
    double extent = 0;
    for (int c = 0; c < 3; c++) {
        const double d = all->hi[c] - all->lo[c];
        extent = fmax(extent, nb->real == sizeof(float) ? (float)d : d);
        cube[c] = all->lo[c];
    }
    cube[3] = side_of(nb, extent);
    if (!(extent > 0))
        return;
    const double step = cube[3] / CUBE_STEPS;
    for (int c = 0; c < 3; c++) {
        cube[c] = floor(all->lo[c] / step) * step;
        const double d = all->hi[c] - cube[c];
        extent = fmax(extent, nb->real == sizeof(float) ? (float)d : d);
    }
    cube[3] = side_of(nb, extent);
}

/* The cube around all bodies, whose boxes are at the host. */
static int join_boxes(struct nbody *nb, double cube[4])
{
    struct corners all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    EACH_PART(nb, p)
    for (size_t k = 0; k < p->tree->parts; k++) {
        struct corners some;
        for (size_t c = 0; c < 3; c++) {
            some.lo[c] = real_at(nb, p->tree->part, 8 * k + c);
            some.hi[c] = real_at(nb, p->tree->part, 8 * k + 4 + c);
        }
        join_corners(&all, &some, NULL);
    }
    if (world_reduce(nb->world, &all, sizeof all, join_corners, NULL) != 0)
        return -1;
    frame(nb, &all, cube);
    return 0;
}

static int set_cube(struct nbody *nb, const double cube[4])
{
    memcpy(nb->domains->cube, cube, sizeof nb->domains->cube);
    nb->domains->cube_known = true;
    EACH_PART(nb, p)
    {
        for (size_t c = 0; c < 4; c++)
            real_put(nb, p->tree->cube, c, cube[c]);
        if (nbody_domain_upload(nb, p, p->tree->cube, 4 * nb->real) != 0)
            return -1;
    }
    return 0;
}

static int find_cube(struct nbody *nb)
{
    double cube[4];
    cl_event *ev = calloc(nb->ndev, sizeof *ev);
    int status = ev ? 0 : clerror_set(ENOMEM, "nbody: no memory on the host");
    EACH_PART(nb, p)
    if (status == 0)
        status = start_box(nb, p, &ev[p - nb->device]);
    EACH_PART(nb, p)
    if (status == 0)
        status = nbody_domain_await(nb, p, ev[p - nb->device]);
    free(ev);
    return status != 0 || join_boxes(nb, cube) != 0 ? -1 : set_cube(nb, cube);
}

struct sampled {
    cl_ulong key;
    double weight;
};

static int by_key(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Cuts at which each part has as many bodies as its device moves, nearly. */
static int cut_by_samples(struct nbody *nb)
{
    struct domains *s = nb->domains;
    const size_t n = (size_t)s->n * TREE_SAMPLES;
    struct sampled *all = malloc(n * sizeof *all);
    if (!all)
        return clerror_set(ENOMEM, "nbody: no memory on the host");
    for (size_t k = 0; k < n; k++)
        all[k] = (struct sampled){s->samples[k],
                                  (double)s->owner[k / TREE_SAMPLES].count / TREE_SAMPLES};
    qsort(all, n, sizeof *all, by_key);
    double before = 0;
    s->cut[0] = 0;
    for (size_t part = 1, k = 0; part < s->n; part++) {
        for (; k + 1 < n && before < (double)s->owner[part].first; k++)
            before += all[k].weight;
        s->cut[part] = all[k].key;
    }
    s->moved = true;
    free(all);
    return 0;
}

/* Where the side of the cube is another, keys say nothing of where they were. */
static int find_cuts(struct nbody *nb, double side)
{
    struct domains *s = nb->domains;
    if (s->cut_known && !(side < s->side) && !(side > s->side))
        return 0;
    EACH_PART(nb, p)
    {
        const cl_uint first = (cl_uint)p->first, count = (cl_uint)p->count, some = TREE_SAMPLES,
                      at = some * p->tree->number;
        if (nbody_tree_launch_1d(
                nb, p, TREE_SAMPLE, some,
                ARGS(nb->posm, first, count, p->tree->cube, some, at, s->samples)) != 0)
            return -1;
    }
    const struct gathered g = {s->samples, TREE_SAMPLES * sizeof *s->samples};
    if (nbody_domain_gather(nb, &g, 1, NULL) != 0 || cut_by_samples(nb) != 0)
        return -1;
    s->cut_known = true;
    s->side = side;
    return 0;
}

/* ---- Bodies to their parts. ------------------------------------------------------------------ */

/* How many work-groups look at a device's rows. */
static cl_uint groups_of_rows(const struct nbody_device *p)
{
    return p->count ? nbody_tree_groups(p, p->count) : 1;
}

/* The keys of a device's rows, and how many of them go where. */
static int start_keys(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const size_t room = nb->n + TREE_SPARE - p->count;
    t->low = t->low < room ? t->low : (cl_uint)room;
    const cl_uint first = (cl_uint)p->first, count = (cl_uint)p->count, n = s->n,
                  groups = groups_of_rows(p), at = s->most * t->number;
    const struct arrays_scan_job scan = {
        .x = t->count, .sums = t->count, .total = t->cells, .bytes = 4, .most = (size_t)groups * n};
    return nbody_tree_launch(nb, p, TREE_ROUTE_KEYS, groups, (size_t)p->shape.flat,
                             ARGS(nb->posm, first, count, t->low, t->cube, s->cut, n, t->number,
                                  t->key, t->order, groups, t->count)) != 0 ||
                   arrays_scan_start(t->sorter, &scan) != 0 ||
                   nbody_tree_launch_1d(nb, p, TREE_STARTS, n + 1,
                                        ARGS(t->count, groups, n, t->cells, at, s->found)) != 0
               ? -1
               : 0;
}

/* Those that go, to their slots. */
static int start_posts(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    (void)none;
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, count = (cl_uint)p->count, n = s->n,
                  groups = groups_of_rows(p), room = (cl_uint)s->room, to = t->number * room,
                  leaving = groups * n;
    return nbody_tree_launch(nb, p, TREE_ROUTE_WRITE, groups, (size_t)p->shape.flat,
                             ARGS(nb->posm, t->felt, first, count, t->low, t->cube, s->cut, n,
                                  t->order, groups, t->count, leaving, to, room, s->post,
                                  s->post_row));
}

/* The bodies that a device sends to a part: how many, and the slot of the first. */
static size_t sent(const struct domains *s, cl_uint from, cl_uint to, size_t *slot)
{
    const cl_uint *start = &s->start[from * (s->n + 1)];
    *slot = from * s->room + start[to];
    return start[to + 1] - start[to];
}

static cl_uint sent_in_all(const struct domains *s, cl_uint from)
{
    return s->start[from * (s->n + 1) + s->n];
}

/* Between all pairs: `bytes` a slot of bodies that lie in the part of another, but for the first
 * posted[] of each part; back: of all of them, as sums return. How many parcels that is. */
static size_t list_slots(const struct domains *s, void *block, size_t bytes, bool back,
                         struct transfer *all)
{
    size_t n = 0;
    for (cl_uint from = 0; from < s->n; from++)
        for (cl_uint to = 0; to < s->n; to++) {
            size_t slot, count = sent(s, from, to, &slot);
            const size_t begin = from * s->room + (back ? 0 : s->posted[from]), end = slot + count;
            slot = slot > begin ? slot : begin;
            if (from != to && end > slot)
                all[n++] = (struct transfer){back ? to : from,
                                             back ? from : to,
                                             (char *)block + slot * bytes,
                                             (end - slot) * bytes,
                                             false,
                                             NULL};
        }
    return n;
}

static int swap_posts_left(struct nbody *nb)
{
    const struct domains *s = nb->domains;
    struct transfer *all = calloc((size_t)s->n * s->n, sizeof *all);
    const size_t n = all ? list_slots(s, s->post, 8 * nb->real, false, all) : 0;
    const int status = !all ? clerror_set(ENOMEM, "nbody: no memory on the host")
                       : n  ? nbody_domain_exchange_transfers(nb, all, n)
                            : 0;
    free(all);
    return status;
}

static int start_box_meanwhile(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    cl_event ev;
    (void)none;
    return start_box(nb, p, &ev);
}

/* How many go where; and of two parts the first posted[] of those that go. Meanwhile devices find
 * the box that was guessed: among those of one rank all copies go beside it, as it would wait for
 * posts otherwise, behind which NVIDIA's driver puts the numbers. */
static int swap_posts(struct nbody *nb)
{
    struct domains *s = nb->domains;
    const size_t body = 8 * nb->real;
    const struct gathered found = {s->found, s->most * sizeof *s->found};
    const bool beside = world_size(nb->world) == 1;
    struct transfer all[2];
    size_t n = 0;
    EACH_PART(nb, p)
    if (beside && nbody_domain_begin_download(nb, p, &s->found[p->tree->number * s->most],
                                              found.each, true, &s->counting[p->tree->number]) != 0)
        return -1;
    for (cl_uint from = 0; s->n == 2 && from < 2; from++) {
        struct transfer *c = &all[n];
        if (s->posted[from] == 0)
            continue;
        *c = (struct transfer){
            from,   1 - from, (char *)s->post + from * s->room * body, s->posted[from] * body,
            beside, NULL};
        if (beside && nbody_domain_begin_download(nb, s->owner[from].share, c->at, c->bytes, false,
                                                  &c->begun) != 0)
            return -1;
        n++;
    }
    if (nbody_domain_exchange(nb, &found, !beside, all, n,
                              s->guessing ? start_box_meanwhile : NULL) != 0)
        return -1;
    EACH_PART(nb, p)
    if (beside && nbody_domain_await(nb, p, s->counting[p->tree->number]) != 0)
        return -1;
    for (cl_uint from = 0; from < s->n; from++)
        memcpy(&s->start[from * (s->n + 1)], &s->found[from * s->most],
               (s->n + 1) * sizeof *s->start);
    return 0;
}

/* The others, for which there may be no room yet. */
static int swap_rest(struct nbody *nb)
{
    struct domains *s = nb->domains;
    size_t most = 0;
    for (cl_uint k = 0; k < s->n; k++)
        most = sent_in_all(s, k) > most ? sent_in_all(s, k) : most;
    if (most > s->room) {
        if (nbody_domain_reserve(nb, most + most / 4) != 0)
            return -1;
        memset(s->posted, 0, s->n * sizeof *s->posted);
        if (nbody_device_threads_all(nb, start_posts, 0) != 0)
            return -1;
    }
    if (swap_posts_left(nb) != 0)
        return -1;
    for (cl_uint k = 0; s->n == 2 && k < s->n; k++) {
        const size_t all = sent_in_all(s, k), next = all + all / 16 + 64;
        s->posted[k] = (cl_uint)(next < s->room ? next : s->room);
    }
    return 0;
}

/* Rows of others, among the keys of a part: where those of devices before this one end, its own
 * begin. */
static int start_arrivals(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    size_t slot, low = 0, high = 0;
    (void)none;
    for (cl_uint from = 0; from < s->n; from++)
        *(from < t->number ? &low : &high) += sent(s, from, t->number, &slot);
    const size_t most = nb->n + TREE_SPARE - p->count - high, more = low + low / 2 + 64;
    if (low > t->low || t->low > most) {
        t->low = (cl_uint)(more < most ? more : most);
        if (start_keys(nb, p) != 0)
            return -1;
    }
    if (nbody_domain_after(nb, p) != 0)
        return -1;
    cl_uint before = t->low - (cl_uint)low, behind = t->low + (cl_uint)p->count;
    for (cl_uint from = 0; from < s->n; from++) {
        const cl_uint count = (cl_uint)sent(s, from, t->number, &slot), first = (cl_uint)slot,
                      to = from < t->number ? before : behind;
        if (nbody_tree_launch_1d(nb, p, TREE_ARRIVE, count,
                                 ARGS(s->post, first, count, to, t->cube, nb->posm, t->felt,
                                      t->slot, t->key, t->order)) != 0)
            return -1;
        *(from < t->number ? &before : &behind) += count;
    }
    t->keyed = behind;
    return 0;
}

static int start_route(struct nbody *nb, struct nbody_device *p, cl_uint moved)
{
    const struct domains *s = nb->domains;
    return (moved && nbody_domain_upload(nb, p, s->cut, s->n * sizeof *s->cut) != 0) ||
                   start_keys(nb, p) != 0
               ? -1
               : start_posts(nb, p, 0);
}

static int route(struct nbody *nb)
{
    struct domains *s = nb->domains;
    if (nbody_device_threads_all(nb, start_route, s->moved) != 0)
        return -1;
    s->moved = false;
    if (swap_posts(nb) != 0 || swap_rest(nb) != 0)
        return -1;
    memset(s->begin, 0, (s->n + 1) * sizeof *s->begin);
    for (cl_uint to = 0; to < s->n; to++) {
        size_t slot;
        s->begin[to + 1] = s->begin[to] + (cl_uint)s->owner[to].count - sent_in_all(s, to);
        for (cl_uint from = 0; from < s->n; from++)
            s->begin[to + 1] += (cl_uint)sent(s, from, to, &slot);
    }
    return 0;
}

/* ---- A part in order. ------------------------------------------------------------------------ */

/* A word of the keys of a part's bodies, in the order that there is. */
static int start_word(struct nbody *nb, struct nbody_device *p, cl_uint word, cl_uint n, void *to)
{
    struct tree *t = p->tree;
    const cl_uint again = true;
    return nbody_tree_launch(nb, p, TREE_KEYS, nbody_tree_groups(p, n), (size_t)p->shape.flat,
                             ARGS(nb->posm, n, t->cube, word, again, to, t->order));
}

static int sort_part(const struct nbody_device *p)
{
    const struct tree *t = p->tree;
    const struct arrays_sort_job sort = {.keys = t->key,
                                         .values = t->order,
                                         .bytes = 8,
                                         .bits = 64,
                                         .most = t->keyed,
                                         .work = t->sort};
    return arrays_sort_start(t->sorter, &sort);
}

static int start_part(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint from = MARGIN;
    if (start_arrivals(nb, p, none) != 0)
        return -1;
    if (t->bodies == 0)
        return 0;
    if ((t->words > 1 && (start_word(nb, p, 1, t->keyed, t->key) != 0 || sort_part(p) != 0 ||
                          start_word(nb, p, 0, t->keyed, t->key) != 0)) ||
        sort_part(p) != 0 || (t->words > 1 && start_word(nb, p, 1, t->bodies, t->second) != 0))
        return -1;
    return nbody_tree_launch_1d(
               nb, p, TREE_GATHER, t->bodies,
               ARGS(nb->posm, t->felt, t->bodies, t->order, t->begin, t->body, t->feel)) != 0 ||
                   nbody_tree_launch_1d(nb, p, TREE_EDGES, 2 * TREE_GROUP,
                                        ARGS(t->keys, t->seconds, from, t->bodies, t->body, t->feel,
                                             t->begin, t->number, s->edge)) != 0
               ? -1
               : 0;
}

/* ---- Neighbours. ----------------------------------------------------------------------------- */

/* Of a body near the end of a part: its place among those that all see, by parts. */
static size_t seen_at(const struct domains *s, cl_uint body, cl_uint *part)
{
    cl_uint k = 0;
    while (body >= s->begin[k + 1])
        k++;
    const cl_uint j = body - s->begin[k];
    *part = k;
    return j < TREE_GROUP ? j : TREE_GROUP + (s->begin[k + 1] - 1 - body);
}

/* What stands before and after a part: from the nearest on. */
static int start_halo(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n, end = t->begin + t->bodies, from = MARGIN;
    const cl_uint before = t->begin < TREE_GROUP ? t->begin : TREE_GROUP,
                  after = n - end < TREE_GROUP ? n - end : TREE_GROUP;
    const cl_uint counter = nbody_let_counter(nb, t->number);
    const size_t body = 8 * nb->real, key = 2 * sizeof(cl_ulong), bodies = TREE_SEEN * key,
                 edge = nbody_domain_edge_bytes(nb);
    if (t->bodies == 0)
        return 0;
    for (cl_uint j = 0; j < before + after; j++) {
        cl_uint part;
        const size_t to = j < before ? j : TREE_GROUP + (j - before);
        const size_t at = seen_at(s, j < before ? t->begin - 1 - j : end + (j - before), &part);
        const char *const its = (char *)s->edge + part * edge;
        memcpy((char *)t->halo + to * key, its + at * key, key);
        memcpy((char *)t->halo + bodies + to * body, its + bodies + at * body, body);
    }
    return nbody_domain_upload(nb, p, t->halo, edge) != 0
               ? -1
               : nbody_tree_launch_1d(nb, p, TREE_HALO, TREE_SEEN,
                                      ARGS(t->halo, before, after, from, t->bodies, t->begin,
                                           t->keys, t->seconds, t->body, t->feel, counter,
                                           s->found));
}

static struct key_range range_of(const struct nbody *nb, const struct tree *t)
{
    const cl_uint n = (cl_uint)nb->n, end = t->begin + t->bodies, from = MARGIN,
                  to = from + t->bodies;
    return (struct key_range){.lo = from - (t->begin < TREE_GROUP ? t->begin : TREE_GROUP),
                              .n = to + (n - end < TREE_GROUP ? n - end : TREE_GROUP),
                              .from = from,
                              .to = to};
}

/* Work-groups that count cells while what neighbours see is on its way: none near a cut. */
static cl_uint counted_early(const struct nbody_device *p)
{
    const cl_uint groups = nbody_tree_groups(p, p->tree->bodies);
    return groups >= 4 * TREE_AT_CUT ? groups / 2 - TREE_AT_CUT : 0;
}

static int start_count_early(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    const cl_uint early = counted_early(p);
    (void)none;
    if (early == 0)
        return 0;
    return nbody_tree_count_some(nb, p, range_of(nb, p->tree), early, 0, TREE_AT_CUT) != 0
               ? -1
               : clflush(nb->ctx, p->dev, 0);
}

/* 1 when the cube is another than was guessed. */
static int check_guess(struct nbody *nb)
{
    struct domains *s = nb->domains;
    double cube[4];
    if (s->guessing && join_boxes(nb, cube) != 0)
        return -1;
    s->cube_known = !s->guessing || memcmp(cube, s->cube, sizeof cube) == 0;
    return !s->cube_known;
}

/* 1 when all is to be done again. */
static int order(struct nbody *nb)
{
    struct domains *s = nb->domains;
    EACH_PART(nb, p)
    {
        struct tree *t = p->tree;
        t->begin = s->begin[t->number];
        t->bodies = s->begin[t->number + 1] - t->begin;
        t->runs = (t->bodies + TREE_RUN - 1) / TREE_RUN;
        t->from = t->begin / TREE_GROUP;
        t->groups = t->bodies ? (t->begin + t->bodies - 1) / TREE_GROUP + 1 - t->from : 0;
        t->gathered = true;
    }
    if (nbody_device_threads_all(nb, start_part, 0) != 0)
        return -1;
    const struct gathered g = {s->edge, nbody_domain_edge_bytes(nb)};
    return nbody_domain_gather(nb, &g, 1, start_count_early) == 0 ? check_guess(nb) : -1;
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

static cl_uint levels(const struct nbody *nb)
{
    return nb->domains->words * TREE_LEVELS + 1;
}

/* Cells of a level, of a part: there are none of one without bodies. */
static cl_uint cells_of(const struct domains *s, cl_uint part, cl_uint level)
{
    const cl_uint *at = &s->found[part * s->most + level];
    return s->begin[part] == s->begin[part + 1] ? 0 : at[1] - at[0];
}

/* What is to be added to a part's numbers of cells: all others that stand before, and not its own
 * of levels above. Returns the number of all cells. */
static cl_uint number_cells(const struct domains *s, cl_uint part, cl_uint all_levels, cl_uint *add)
{
    cl_uint all = 0, own = 0;
    for (cl_uint l = 0; l < all_levels; l++) {
        add[l] = all - own;
        for (cl_uint k = 0; k < s->n; k++) {
            add[l] += k < part ? cells_of(s, k, l) : 0;
            all += cells_of(s, k, l);
        }
        own += cells_of(s, part, l);
    }
    return all;
}

/* The cells that all have; on one rank they go down at once, since walks for boxes may follow. */
static int start_tops(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const size_t bytes = (size_t)levels(nb) * TREE_TOPS * nbody_domain_cell_bytes(nb);
    if (nbody_tree_launch_1d(nb, p, TREE_TOPS_WRITE, (size_t)levels(nb) * TREE_TOPS,
                             ARGS(t->bodies, t->span, t->bridge, t->cells, t->down, t->link, t->com,
                                  t->poles, t->size, t->body, t->number, s->tops)) != 0)
        return -1;
    return world_size(nb->world) > 1
               ? 0
               : nbody_domain_begin_download(nb, p, (char *)s->tops + t->number * bytes, bytes,
                                             true, &s->topping[t->number]);
}

static int start_cells(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    struct tree *t = p->tree;
    const cl_uint all = t->all = number_cells(nb->domains, t->number, levels(nb), t->add);
    for (cl_uint l = 0; l < levels(nb); l++)
        t->on_level[l] = cells_of(nb->domains, t->number, l);
    if (all > t->room && nbody_tree_grow(nb, p, all + all / 4) != 0)
        return -1;
    if (t->bodies && (nbody_domain_upload(nb, p, t->add, levels(nb) * sizeof(cl_uint)) != 0 ||
                      nbody_tree_write(nb, p, range_of(nb, t), all) != 0 ||
                      nbody_tree_moments(nb, p, geometric) != 0))
        return -1;
    return start_tops(nb, p);
}

static bool any_bridge(const struct nbody *nb, cl_uint level)
{
    bool any = false;
    for (cl_uint k = 0; k < nb->domains->n; k++)
        any |= nbody_domain_shared_node(nb, k, level, 0) != (cl_uint)NONE;
    return any;
}

/* Cells of other parts that all have, to a device; beside its walks, when the last of them has its
 * event in s->topping. */
static int bring_tops(struct nbody *nb, struct nbody_device *p, bool beside)
{
    struct domains *s = nb->domains;
    const cl_uint own = p->tree->number;
    const size_t bytes = (size_t)levels(nb) * TREE_TOPS * nbody_domain_cell_bytes(nb);
    int status = 0;
    for (cl_uint k = 0; k < s->n; k++)
        if (status == 0 && k != own)
            status = beside ? nbody_domain_upload_side_queue(nb, p, (char *)s->tops + k * bytes,
                                                             bytes, &s->topping[own])
                            : nbody_domain_upload(nb, p, (char *)s->tops + k * bytes, bytes);
    return status != 0 ? -1 : clflush(nb->ctx, p->dev, 0);
}

/* Cells of other parts that all have; and moments of bridges, from the deepest. */
static int join_parts(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const size_t each = (size_t)levels(nb) * TREE_TOPS;
    if (s->begun_walks ? nbody_domain_await(nb, p, s->topping[t->number]) != 0
                       : bring_tops(nb, p, false) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        if (k != t->number && nbody_domain_import_nodes(nb, p, s->tops, k * each, each) != 0)
            return -1;
    cl_uint deepest = levels(nb);
    const cl_uint off = nbody_let_off(nb, t->number);
    while (deepest > 0 && !any_bridge(nb, deepest - 1))
        deepest--;
    t->rooted = true;
    return nbody_tree_launch(nb, p, TREE_MOMENTS_OF_BRIDGES, 1, (size_t)p->shape.flat,
                             ARGS(t->body, t->cube, deepest, geometric,
                                  REAL(nb, nbody_tree_com_margin(nb)), s->tops, s->n, t->down,
                                  t->link, t->com, t->poles, t->size, s->found, off));
}

/* What neighbours see has come: boxes of groups, and how many cells there are, of so many
 * levels. */
static int start_count(struct nbody *nb, struct nbody_device *p, cl_uint n)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint at = s->most * t->number;
    if (start_halo(nb, p) != 0)
        return -1;
    return t->bodies == 0 ? 0
           : nbody_tree_count(nb, p, range_of(nb, t), counted_early(p)) != 0
               ? -1
               : nbody_tree_launch_1d(nb, p, TREE_STARTS, n + 1,
                                      ARGS(t->count, t->runs, n, t->cells, at, s->found));
}

/* What devices do while numbers of cells are on their way. */
static int start_boxes(struct nbody *nb, struct nbody_device *p, cl_uint none)
{
    (void)none;
    return nbody_let_start_boxes(nb, p) != 0 ? -1 : clflush(nb->ctx, p->dev, 0);
}

/* Whether devices can walk for boxes before they have the cells that all have, when only that of
 * the last sum is known of all bodies. */
static bool is_rooted(const struct nbody *nb, bool geometric)
{
    bool all = world_size(nb->world) == 1;
    EACH_PART(nb, p)
    all &= p->tree->rooted || geometric;
    return all;
}

/* Among one rank's devices, which walk for boxes meanwhile. */
static int pass_tops(struct nbody *nb)
{
    EACH_PART(nb, p)
    if (nbody_domain_await(nb, p, nb->domains->topping[p->tree->number]) != 0)
        return -1;
    EACH_PART(nb, p)
    if (bring_tops(nb, p, true) != 0)
        return -1;
    return 0;
}

/* 1 when bodies are crowded, and keys get a second word. */
static int cells(struct nbody *nb, bool geometric)
{
    struct domains *s = nb->domains;
    const cl_uint n = levels(nb);
    s->begun_walks = false;
    if (nbody_device_threads_all(nb, start_count, n) != 0)
        return -1;
    const struct gathered found = {s->found, s->most * sizeof *s->found};
    if (nbody_domain_gather(nb, &found, 1, start_boxes) != 0 ||
        nbody_device_threads_all(nb, start_cells, geometric) != 0)
        return -1;
    const struct gathered tops[] = {{s->tops, (size_t)n * TREE_TOPS * nbody_domain_cell_bytes(nb)},
                                    found};
    if (is_rooted(nb, geometric) ? nbody_let_begin(nb, geometric) != 0 || pass_tops(nb) != 0
                                 : nbody_let_exchange_boxes(nb, tops, COUNT_OF(tops)) != 0)
        return -1;
    bool crowded = false;
    for (cl_uint k = 0; k < s->n; k++)
        crowded |= nbody_domain_shared_node(nb, k, 0, 2) != 0;
    if (crowded && s->words == 1 && !s->shallow)
        return nbody_tree_extend_keys(nb) < 0 ? -1 : 1;
    return 0;
}

/* ---- All of it. ------------------------------------------------------------------------------ */

int nbody_domain_build(struct nbody *nb, enum kernel sum, bool geometric)
{
    nb->domains->recut = false;
    struct domains *s = nb->domains;
    int status = 1;
    s->sum = sum;
    EACH_PART(nb, p)
    {
        p->tree->walked = false;
        s->rising[p->tree->number] = NULL; /* of a sum that was given up */
        if (nbody_tree_discard_deferred(nb, p) != 0)
            return -1;
    }
    while (status == 1) {
        s->guessing = s->cube_known;
        if ((!s->guessing && (find_cube(nb) != 0 || find_cuts(nb, s->cube[3]) != 0)) ||
            route(nb) != 0)
            return -1;
        status = order(nb);
        status = status == 0 ? cells(nb, geometric) : status;
    }
    return status == 0 ? nbody_let_find(nb, geometric, join_parts) : -1;
}

/* Sums of a part to rows of this device, and to slots. */
static int start_home(struct nbody *nb, struct nbody_device *p, enum kernel sum)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    t->walking = false;
    return sum == FORCES
               ? nbody_tree_launch_1d(nb, p, TREE_HOME, t->bodies,
                                      ARGS(nb->forces_sorted, t->bodies, t->order, t->begin, first,
                                           rows, count, p->partial, t->felt, t->slot, s->sums,
                                           t->again, p->bad))
               : nbody_tree_launch_1d(nb, p, TREE_HOME_POTENTIALS, t->bodies,
                                      ARGS(nb->forces_sorted, t->bodies, t->order, t->begin, first,
                                           count, p->phi, t->slot, s->sums, t->again));
}

/* What came back to slots, to rows. */
static int start_slots(struct nbody *nb, struct nbody_device *p, enum kernel sum)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  from = t->number * (cl_uint)s->room, n = sent_in_all(s, t->number);
    return sum == FORCES ? nbody_tree_launch_1d(nb, p, TREE_HOME_SLOTS, n,
                                                ARGS(s->sums, from, n, s->post_row, first, rows,
                                                     p->partial, t->felt, p->bad))
                         : nbody_tree_launch_1d(nb, p, TREE_HOME_SLOTS_POTENTIALS, n,
                                                ARGS(s->sums, from, n, s->post_row, first, p->phi));
}

/* Rows whose sums come later. */
static int start_expect(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domains;
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  from = t->number * (cl_uint)s->room, n = sent_in_all(s, t->number);
    return nbody_tree_launch_1d(nb, p, TREE_EXPECT, n,
                                ARGS(from, n, s->post_row, first, rows, p->partial));
}

int nbody_domain_return(struct nbody *nb, enum kernel sum)
{
    struct domains *s = nb->domains;
    EACH_PART(nb, p)
    if (start_home(nb, p, sum) != 0)
        return -1;
    s->nhoming = list_slots(s, s->sums, 4 * nb->real, true, s->homing);
    s->late = nb->in_batch && sum == FORCES && nb->integrator->late && world_size(nb->world) == 1;
    if (world_size(nb->world) > 1 ? nbody_domain_exchange_transfers(nb, s->homing, s->nhoming) != 0
                                  : nbody_domain_begin_return(nb, s->homing, s->nhoming) != 0)
        return -1;
    if (!s->late && world_size(nb->world) == 1 &&
        nbody_domain_end_return(nb, s->homing, s->nhoming) != 0)
        return -1;
    EACH_PART(nb, p)
    if ((s->late ? start_expect(nb, p) : start_slots(nb, p, sum)) != 0)
        return -1;
    return 0;
}

int nbody_domain_update_late(struct nbody *nb, cl_uint phases, int step)
{
    struct domains *s = nb->domains;
    int status = 0;
    if (!s || !s->late)
        return 0;
    s->late = false;
    if (nbody_domain_end_return(nb, s->homing, s->nhoming) != 0)
        return -1;
    EACH_PART(nb, p)
    {
        const cl_uint n = sent_in_all(s, p->tree->number);
        if (n == 0)
            continue;
        p->late.list = s->post_row;
        p->late.from = p->tree->number * (cl_uint)s->room;
        p->late.n = n;
        status = start_slots(nb, p, FORCES) != 0 ||
                         nb->integrator->visit(nb, p, (cl_uint)p->count, phases, step) != 0 ||
                         clflush(nb->ctx, p->dev, 0) != 0
                     ? -1
                     : status;
        p->late.list = NULL;
    }
    return status;
}
