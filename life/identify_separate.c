/* identify_separate.c - separates cells into groups that never influence each other.
 *
 * All cells run together, each with the label of its group. Two groups around a cell are joined if
 * the cell's next state differs from what each group alone would make of it:
 *
 *      A A .        x has two neighbours of A and one of B. Alone, either group leaves it dead;
 *      . x .        together they make it alive.
 *      . . B
 *
 * They are also joined if three groups are around a cell. Groups that are never joined evolve as if
 * each were alone. A group that has recurred is left out of the computation if no unfinished group
 * has ever been within two cells of it. It returns, in its present phase, when another group comes
 * that near.
 *
 * Groups whose cells were ever near each other stay until all their phases have been together,
 * which takes the least common multiple of their periods. Spaceships stay until their boxes show
 * that they meet no other group.
 * SPDX-License-Identifier: MIT
 */
#include "life/engine.h"
#include "life/separate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- The end. -------------------------------------------------------------------------------- */

/* A group as a cluster whose box has all its phases. */
static struct identify_cluster group_cluster(const struct separation *s, const struct group *g)
{
    const struct group_box b = group_box_now(s, g);
    const int32_t x = g->motion.dx ? 1 : 0, y = g->motion.dy ? 1 : 0; /* the drift is rounded */
    return (struct identify_cluster){.n = g->n,
                                     .left = b.left - x,
                                     .top = b.top - y,
                                     .right = b.right + x,
                                     .bottom = b.bottom + y,
                                     .motion = g->motion};
}

/* Groups, and for each one the least common multiple of its period and the periods beside it. */
struct group_list {
    struct identify_cluster *cluster;
    uint64_t *wait;
    size_t n;
};

/* Take account of a pair of groups: false if they meet. */
static bool groups_are_beside(void *list, size_t a, size_t b, enum identify_meeting meeting)
{
    const struct group_list *l = list;
    if (meeting == IDENTIFY_MEET)
        return false;
    l->wait[a] = identify_common_multiple(l->wait[a], l->cluster[b].motion.period);
    l->wait[b] = identify_common_multiple(l->wait[b], l->cluster[a].motion.period);
    return true;
}

static bool group_list_make(struct separation *s, struct group_list *l)
{
    *l = (struct group_list){.cluster = malloc((s->groups + 1) * sizeof *l->cluster),
                             .wait = malloc((s->groups + 1) * sizeof *l->wait)};
    for (size_t i = 0; i < s->begin->n && l->cluster && l->wait; i++)
        if (s->parent[i] == i) {
            l->wait[l->n] = s->group[i].motion.period;
            l->cluster[l->n++] = group_cluster(s, &s->group[i]);
        }
    return l->cluster && l->wait;
}

/* True if no spaceship meets another group, and each has been beside others of its velocity in
 * every combination of their phases. */
static bool ships_are_free(struct separation *s)
{
    struct group_list l;
    int status = -1;
    if (group_list_make(s, &l))
        status = identify_pairs_see(l.cluster, l.n, SEPARATE_NEAR, groups_are_beside, &l);
    for (size_t i = 0; i < l.n && status == 1; i++)
        if (l.cluster[i].motion.dx || l.cluster[i].motion.dy)
            status = l.wait[i] && l.wait[i] <= s->generation;
    free(l.cluster);
    free(l.wait);
    s->no_memory |= status < 0;
    s->work += s->begin->n / 8;
    return status == 1;
}

/* True if all groups are left out, except spaceships that meet no other group. */
static bool all_is_separate(struct separation *s)
{
    for (size_t i = 0; i < s->actives; i++) {
        const struct group *g = &s->group[s->active[i]];
        if (!g->left_out && (!group_moves(g) || s->generation < 2 * g->motion.period))
            return false;
    }
    return s->left_out == s->groups || ships_are_free(s);
}

/* ---- The run. -------------------------------------------------------------------------------- */

static bool separation_alloc(struct separation *s)
{
    const size_t n = s->begin->n;
    s->parent = malloc((n + 1) * sizeof *s->parent);
    s->order = malloc((n + 1) * sizeof *s->order);
    s->active = malloc((n + 1) * sizeof *s->active);
    s->woken = malloc((n + 1) * sizeof *s->woken);
    s->group = calloc(n + 1, sizeof *s->group);
    return s->parent && s->order && s->active && s->woken && s->group;
}

static void separation_free(struct separation *s)
{
    free(s->parent);
    free(s->order);
    free(s->active);
    free(s->woken);
    free(s->group);
    free(s->tile);
    map_free(&s->place);
    free(s->now.cell);
    free(s->next.cell);
    free(s->alone[0].cell);
    free(s->alone[1].cell);
}

/* Begin with generation 0 and its groups, adjacent cells if parent is NULL. */
static void separation_begin(struct separation *s, const size_t *parent)
{
    const struct identify_cells *b = s->begin;
    if (parent)
        memcpy(s->parent, parent, b->n * sizeof *parent);
    else
        identify_join_near(b, s->parent, 1);
    separate_order(s);
    for (size_t i = 0; i < b->n; i++) {
        s->groups += s->parent[i] == i;
        separate_add_cell(s, &s->now, (int32_t)(b->cell[i].x - b->left),
                          (int32_t)(b->cell[i].y - b->top), (uint32_t)i);
    }
}

/* Poll for a cancel after each POLLED cells. False if the caller cancels, or if memory is short. */
static bool separation_goes_on(struct separation *s)
{
    enum { POLLED = 1 << 16 };
    if (s->work - s->polled >= POLLED && !s->cancelled) {
        s->polled = s->work;
        s->cancelled = life_call_tell(s->lf, 0) < 0;
    }
    return !s->no_memory && !s->cancelled;
}

/* Compute a generation and its groups. */
static void separation_step(struct separation *s)
{
    separate_compute(s, &s->now, &s->next);
    const struct group_cells swap = s->now;
    s->now = s->next;
    s->next = swap;
    s->generation++;
    s->work += s->now.n;
}

enum separation_end { SEPARATE, EXTINCT, UNKNOWN };

/* Take account of a generation: all groups are separate, a group is extinct, or neither. */
static enum separation_end separation_examine(struct separation *s, uint64_t *check)
{
    if (s->joined)
        separate_joined(s);
    for (size_t i = 0; i < s->now.n; i++)
        separate_note_cell(s, &s->now.cell[i]);
    for (size_t i = 0; i < s->wakes && !s->no_memory; i++)
        separate_return(s, s->woken[i]);
    s->wakes = 0;
    separate_measure(s);
    if (s->actives + s->left_out < s->groups)
        return EXTINCT;
    if (s->generation)
        separate_recur(s);
    if (s->generation < *check)
        return UNKNOWN;
    *check = s->generation + s->generation / 8 + 1;
    return all_is_separate(s) ? SEPARATE : UNKNOWN;
}

/* Displacement of alone[0] since generation 0, if it is the same cells. */
static bool alone_recurs(const struct separation *s, const struct group *g,
                         struct identify_motion *motion)
{
    const struct group_cells *now = &s->alone[0];
    const struct identify_cell *begin = s->begin->cell;
    if (now->n != g->n)
        return false;
    motion->dx = now->cell[0].x + s->begin->left - begin[s->order[g->first]].x;
    motion->dy = now->cell[0].y + s->begin->top - begin[s->order[g->first]].y;
    for (size_t i = 0; i < g->n; i++) {
        const struct identify_cell *b = &begin[s->order[g->first + i]];
        if (now->cell[i].x + s->begin->left - b->x != motion->dx ||
            now->cell[i].y + s->begin->top - b->y != motion->dy)
            return false;
    }
    return true;
}

/* Least period of a group. While it was not yet joined, a part might have taken the place of
 * another one after a period, and this is not seen. */
static struct identify_motion least_motion(struct separation *s, size_t root)
{
    const struct group *g = &s->group[root];
    struct identify_motion motion = g->motion;
    if (2 * g->joined < motion.period)
        return motion;
    separate_alone_begin(s, root);
    for (uint64_t t = 1; 2 * t <= g->motion.period && separation_goes_on(s); t++) {
        separate_alone_step(s);
        if (g->motion.period % t == 0 && alone_recurs(s, g, &motion)) {
            motion.period = t;
            return motion;
        }
    }
    return g->motion;
}

static int separation_clusters(struct separation *s, struct identify_clusters *clusters)
{
    size_t n = 0;
    for (size_t i = 0; i < s->begin->n; i++)
        s->parent[i] = identify_root(s->parent, i);
    if (identify_clusters_fill(clusters, s->begin, s->parent, 0) < 0)
        return -1;
    for (size_t i = 0; i < s->begin->n; i++)
        if (s->parent[i] == i)
            clusters->cluster[n++].motion = least_motion(s, i);
    identify_clusters_sort(clusters);
    return 1;
}

/* Run until all groups are separate or one of them is extinct, or the work is done: UNKNOWN. */
static enum separation_end separation_run(struct separation *s, const size_t *parent)
{
    uint64_t check = 0;
    enum separation_end end = UNKNOWN;
    if (separation_alloc(s))
        separation_begin(s, parent);
    else
        s->no_memory = true;
    while (separation_goes_on(s)) {
        end = separation_examine(s, &check);
        if (end != UNKNOWN || separate_work_is_done(s))
            break;
        separation_step(s);
    }
    return end;
}

/* A later generation, and the first cell of each cell's group. */
struct group_start {
    struct identify_cells cells;
    size_t *parent;
};

static void start_free(struct group_start *start)
{
    identify_cells_free(&start->cells);
    free(start->parent);
    *start = (struct group_start){.parent = NULL};
}

/* Copy the present generation. */
static bool start_copy(struct separation *s, struct group_start *start)
{
    const size_t n = s->now.n;
    struct group_start later = {.cells = {.cell = malloc((n + 1) * sizeof *later.cells.cell)},
                                .parent = malloc((n + 1) * sizeof *later.parent)};
    size_t *first = malloc((s->begin->n + 1) * sizeof *first);
    const bool done = later.cells.cell && later.parent && first;
    for (size_t i = 0; i < s->begin->n && done; i++)
        first[i] = n;
    for (size_t i = 0; i < n && done; i++) {
        const struct group_cell *c = &s->now.cell[i];
        const size_t root = identify_root(s->parent, c->member);
        first[root] = first[root] < n ? first[root] : i;
        later.parent[i] = first[root];
        later.cells.cell[later.cells.n++] =
            (struct identify_cell){s->begin->left + c->x, s->begin->top + c->y, 1};
    }
    free(first);
    identify_cells_measure(&later.cells);
    start_free(start);
    *start = later;
    return done;
}

/* Compute the groups after some more generations: sparks that die are then their ships'. */
static void start_advance(struct separation *s, uint64_t generations, struct group_start *start)
{
    bool done = separation_alloc(s);
    if (done)
        separation_begin(s, start->parent);
    for (uint64_t g = 0; g < generations && done && s->work < s->limit && separation_goes_on(s);
         g++)
        separation_step(s);
    s->no_memory |= !done || !(s->cancelled || start_copy(s, start));
}

static struct separation separation_of(life *lf, const struct identify_cells *cells,
                                       const struct identify_parts *parts, uint64_t limit)
{
    return (struct separation){.lf = lf,
                               .table = &lf->rule.table,
                               .begin = cells,
                               .last = NO_TILE,
                               .work = parts->work,
                               .limit = limit,
                               .polled = parts->work};
}

/* Least limit of the work: 1,024 generations of all cells, up to 0.2 s, or 128, up to 0.8 s. */
static uint64_t least_work(uint64_t n)
{
    enum { SHORT = 1 << 21, LONG = 1 << 23 };
    const uint64_t many = 1024 * n < SHORT ? 1024 * n : SHORT,
                   few = 128 * n < LONG ? 128 * n : LONG;
    return many > few ? many : few;
}

/* Status of a separation: -1 if memory was short, or if the caller has cancelled. */
static int separation_status(const struct separation *s, const struct identify_cells *cells,
                             int status)
{
    if (s->cancelled)
        return -1;
    return s->no_memory
               ? clerror_set(ENOMEM, "life: out of memory for the groups of %zu cells", cells->n)
               : status;
}

int identify_separate(life *lf, const struct identify_cells *cells, struct identify_parts *parts,
                      struct identify_clusters *clusters)
{
    const uint64_t least = least_work(cells->n),
                   limit = parts->work && parts->work < least ? least : parts->work;
    struct group_start start = {.parent = NULL};
    const struct identify_cells *begin = cells;
    enum separation_end end = EXTINCT;
    int status = 0;
    parts->work = parts->after = 0;
    *clusters = (struct identify_clusters){.n = 0};
    if (cells->right - cells->left > WIDEST_BOX || cells->bottom - cells->top > WIDEST_BOX)
        return 0;
    while (end == EXTINCT && begin->n && parts->work < limit && status == 0) {
        struct separation s = separation_of(lf, begin, parts, limit);
        end = separation_run(&s, start.parent);
        if (end == SEPARATE && separation_goes_on(&s))
            status = separation_clusters(&s, clusters);
        status = separation_status(&s, cells, status);
        parts->work = s.work;
        const uint64_t more = parts->after + s.generation + 1;
        separation_free(&s);
        if (end == EXTINCT && status == 0) {
            s = separation_of(lf, begin, parts, limit);
            start_advance(&s, more, &start);
            status = separation_status(&s, cells, 0);
            parts->work = s.work;
            parts->after += more;
            begin = &start.cells;
            separation_free(&s);
        }
    }
    if (status < 0)
        identify_clusters_free(clusters);
    start_free(&start);
    return status;
}
