/* identify_objects.c - separates the cells of a pattern into objects and names them.
 *
 * Cells within four columns and rows of each other are a cluster. Each cluster is traced alone: a
 * spaceship is one object, and all others are separated as the ash of a census. Clusters are
 * independent if no two of them ever come near each other, which follows from their boxes and
 * velocities.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/census.h"
#include "life/engine.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEAR = 4,
    MOST_CLUSTERED = 1 << 16, /* cells */
    LONGEST_PERIOD = 1 << 14, /* of an object */
    CLUSTER_MARGIN = 16,      /* around the cells of a cluster that is traced */
    /* Limits while objects are named in a running grid. */
    SHORT_PERIOD = 1 << 10, /* of an object */
    SMALL_WORDS = 4         /* of the box around a cluster */
};

/* ---- Clusters. ------------------------------------------------------------------------------- */

/* The box includes all cells of the cluster during a period. */
struct cluster {
    long long left, top, right, bottom;
    double dx, dy; /* displacement per generation */
};

static size_t cluster_root(size_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Join cells i and j if they are within `near` columns of each other. */
static void join_columns(const struct identify_cells *s, size_t *parent, size_t i, size_t j,
                         int near)
{
    const long long apart = llabs(s->cell[j].x - s->cell[i].x);
    if (apart > near && (!s->width || s->width - apart > near))
        return;
    const size_t a = cluster_root(parent, i), b = cluster_root(parent, j);
    parent[a > b ? a : b] = a > b ? b : a;
}

/* Join cells within `near` columns and rows of each other: parent[i] of cell i. */
static void join_near_cells(const struct identify_cells *s, size_t *parent, int near)
{
    for (size_t i = 0; i < s->n; i++)
        parent[i] = i;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = i + 1; j < s->n && s->cell[j].y - s->cell[i].y <= near; j++)
            join_columns(s, parent, i, j, near);
    for (size_t i = s->n; s->height && i-- > 0 && s->cell[i].y + near >= s->height;)
        for (size_t j = 0; j < i && s->cell[j].y + s->height - s->cell[i].y <= near; j++)
            join_columns(s, parent, i, j, near);
}

uint64_t identify_components(const struct identify_cells *s)
{
    size_t *parent = malloc((s->n + 1) * sizeof *parent);
    uint64_t components = 0;
    if (!parent || s->n > MOST_CLUSTERED) {
        free(parent);
        return s->n;
    }
    join_near_cells(s, parent, 1);
    for (size_t i = 0; i < s->n; i++)
        components += parent[i] == i;
    free(parent);
    return components;
}

/* True if two boxes with velocities are ever within NEAR of each other. */
static bool clusters_meet(const struct cluster *a, const struct cluster *b)
{
    const double gap[2][2] = {
        {(double)(b->left - a->right) - NEAR, (double)(b->right - a->left) + NEAR},
        {(double)(b->top - a->bottom) - NEAR, (double)(b->bottom - a->top) + NEAR}};
    const double v[2] = {a->dx - b->dx, a->dy - b->dy};
    double from = 0, until = INFINITY;
    for (int i = 0; i < 2; i++) {
        if (v[i] == 0) {
            if (gap[i][0] > 0 || gap[i][1] < 0)
                return false;
            continue;
        }
        const double t[2] = {gap[i][0] / v[i], gap[i][1] / v[i]};
        from = fmax(from, fmin(t[0], t[1]));
        until = fmin(until, fmax(t[0], t[1]));
    }
    return from <= until;
}

/* ---- One cluster. ---------------------------------------------------------------------------- */

struct separation {
    struct census_rule rule;
    struct census_sorter sorter;
    const struct identify_cells *cells;
    size_t *parent;
    struct cluster *cluster;
    size_t n;
    size_t words;     /* largest box of a cluster */
    uint64_t longest; /* longest period */
};

/* Box around the cells with root `root`. */
static struct cluster cluster_box(const struct separation *s, size_t root)
{
    const struct identify_cell *first = &s->cells->cell[root];
    struct cluster c = {first->x, first->y, first->x, first->y, 0, 0};
    for (size_t i = root; i < s->cells->n; i++)
        if (s->parent[i] == root) {
            const struct identify_cell *p = &s->cells->cell[i];
            c.left = p->x < c.left ? p->x : c.left;
            c.right = p->x > c.right ? p->x : c.right;
            c.top = p->y < c.top ? p->y : c.top;
            c.bottom = p->y > c.bottom ? p->y : c.bottom;
        }
    return c;
}

/* Copy a cluster's cells into a box of `words`, in its middle. The caller frees it. */
static uint64_t *cluster_cells(const struct separation *s, size_t root, const struct cluster *c,
                               size_t words)
{
    uint64_t *box = calloc(64 * words * words, sizeof *box);
    const long long side = 64 * (long long)words, x = (side - (c->right - c->left)) / 2,
                    y = (side - (c->bottom - c->top)) / 2;
    for (size_t i = root; i < s->cells->n && box; i++)
        if (s->parent[i] == root) {
            const size_t u = (size_t)(s->cells->cell[i].x - c->left + x),
                         v = (size_t)(s->cells->cell[i].y - c->top + y);
            box[v * words + u / 64] |= (uint64_t)1 << u % 64;
        }
    return box;
}

/* Trace a spaceship in a patch: true if the cluster is one. */
static bool see_spaceship(struct separation *s, size_t root, struct cluster *c)
{
    struct census_motion motion;
    char name[CENSUS_NAME];
    if (c->right - c->left > CENSUS_PATCH - 2 * CLUSTER_MARGIN ||
        c->bottom - c->top > CENSUS_PATCH - 2 * CLUSTER_MARGIN)
        return false;
    uint64_t *patch = cluster_cells(s, root, c, 1);
    const bool ship = patch && census_name(&s->rule, patch, CENSUS_PATCH, &motion, name) == 0 &&
                      (motion.dx || motion.dy) && census_add(&s->sorter, patch);
    s->sorter.no_memory |= !patch;
    free(patch);
    if (!ship)
        return false;
    c->dx = (double)motion.dx / motion.period;
    c->dy = (double)motion.dy / motion.period;
    return true;
}

/* Separate a cluster that stays where it is; false if it does not. */
static bool see_stationary(struct separation *s, size_t root, const struct cluster *c)
{
    const long long across =
        c->right - c->left > c->bottom - c->top ? c->right - c->left : c->bottom - c->top;
    const size_t words = (size_t)(across + 2 * CLUSTER_MARGIN) / 64 + 1;
    if (words > s->words)
        return false;
    uint64_t *box = cluster_cells(s, root, c, words);
    const bool done = box && census_sort(&s->sorter, words, box, s->longest);
    s->sorter.no_memory |= !box;
    free(box);
    return done;
}

static bool see_cluster(struct separation *s, size_t root)
{
    struct cluster c = cluster_box(s, root);
    if (!see_spaceship(s, root, &c) && !see_stationary(s, root, &c))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if ((c.dx != s->cluster[i].dx || c.dy != s->cluster[i].dy) &&
            clusters_meet(&s->cluster[i], &c))
            return false;
    s->cluster[s->n++] = c;
    return true;
}

/* See all clusters; false if one of them is no object, or two of them meet. */
static bool see_clusters(struct separation *s)
{
    join_near_cells(s->cells, s->parent, NEAR);
    for (size_t i = 0; i < s->cells->n; i++)
        s->parent[i] = cluster_root(s->parent, i);
    for (size_t i = 0; i < s->cells->n; i++)
        if (s->parent[i] == i && !see_cluster(s, i))
            return false;
    return true;
}

/* ---- The list. ------------------------------------------------------------------------------- */

static int objects_order(const void *a, const void *b)
{
    const struct life_object *p = a, *q = b;
    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    return strcmp(p->code, q->code);
}

/* Copy the counts of the sorter into *id. */
static int list_separated(struct census_sorter *sorter, struct life_identity *id)
{
    census_soup_counts(sorter, 0);
    id->object = calloc(sorter->objects + 1, sizeof *id->object);
    for (size_t i = 0; i < sorter->objects && id->object; i++) {
        const struct census_object *o = &sorter->object[i];
        char *code = strdup(o->name);
        if (!code)
            return -1;
        id->object[id->objects++] = (struct life_object){.code = code,
                                                         .period = o->motion.period,
                                                         .dx = o->motion.dx,
                                                         .dy = o->motion.dy,
                                                         .count = o->count};
    }
    if (!id->object)
        return -1;
    qsort(id->object, id->objects, sizeof *id->object, objects_order);
    return 0;
}

/* Name a pattern that is one object by its code. */
static int name_whole(struct separation *s, struct life_identity *id)
{
    struct census_motion motion;
    char name[CENSUS_NAME];
    int status = 0;
    const struct identify_cells *now = s->cells;
    if (now->right - now->left > CENSUS_PATCH - 2 * CLUSTER_MARGIN ||
        now->bottom - now->top > CENSUS_PATCH - 2 * CLUSTER_MARGIN)
        return 0;
    memset(s->parent, 0, now->n * sizeof *s->parent);
    const struct cluster c = {now->left, now->top, now->right, now->bottom, 0, 0};
    uint64_t *patch = cluster_cells(s, 0, &c, 1);
    if (!patch)
        return -1;
    if (census_name(&s->rule, patch, LONGEST_PERIOD, &motion, name) == 0) {
        id->code = strdup(name);
        status = id->code ? 0 : -1;
    }
    free(patch);
    return status;
}

int identify_objects(life *lf, const struct identify_cells *now, struct life_identity *id)
{
    struct separation s = {.cells = now, .words = CENSUS_MOST_WORDS, .longest = LONGEST_PERIOD};
    const struct life_family *rule = &lf->rule;
    if (rule->row->form != LIFE_FORM_TABLE || rule->states > 2 || rule->b0 ||
        now->n > MOST_CLUSTERED || census_rule_make(&s.rule, rule->text) < 0)
        return 0;
    s.parent = malloc((now->n + 1) * sizeof *s.parent);
    s.cluster = malloc((now->n + 1) * sizeof *s.cluster);
    int status = s.parent && s.cluster && census_sorter_make(&s.sorter, &s.rule) == 0 ? 0 : -1;
    if (status == 0 && see_clusters(&s))
        status = list_separated(&s.sorter, id);
    if (status == 0 && s.sorter.no_memory)
        status = -1;
    if (status == 0 && id->period)
        status = name_whole(&s, id);
    census_sorter_free(&s.sorter);
    free(s.parent);
    free(s.cluster);
    return status < 0 ? clerror_set(ENOMEM, "life: out of memory for the objects of a pattern") : 0;
}

void life_identity_free(struct life_identity *identity)
{
    if (!identity)
        return;
    for (size_t i = 0; i < identity->objects; i++)
        free((char *)identity->object[i].code);
    free(identity->object);
    free((char *)identity->code);
    free(identity);
}

/* ---- Cells as they are. ---------------------------------------------------------------------- */

static int cells_of_rectangle(const struct life_cells *from, struct identify_cells *to)
{
    size_t live = 0;
    for (size_t y = 0; y < from->height; y++)
        for (size_t x = 0; x < from->width; x++)
            live += from->word[y * from->stride + x / 64] >> x % 64 & 1;
    to->cell = malloc((live + 1) * sizeof *to->cell);
    for (size_t y = 0; y < from->height && to->cell; y++)
        for (size_t x = 0; x < from->width; x++)
            if (from->word[y * from->stride + x / 64] >> x % 64 & 1)
                to->cell[to->n++] = (struct identify_cell){(long long)x, (long long)y, 1};
    return to->cell ? 0 : -1;
}

static long long *cell_coordinate(struct identify_cell *cell, bool vertical)
{
    return vertical ? &cell->y : &cell->x;
}

/* Put the parts of a cluster on both sides of a torus' edge together: the cells before the
 * cluster's first gap move by the torus' `side`. False: the cluster surrounds the torus. */
static bool join_across_edge(struct separation *s, size_t root, long long side, bool vertical)
{
    long long first = side, last = -1, end;
    bool *taken = calloc((size_t)side + 1, sizeof *taken);
    s->sorter.no_memory |= !taken;
    for (size_t i = root; i < s->cells->n && taken; i++)
        if (s->parent[i] == root) {
            const long long at = *cell_coordinate(&s->cells->cell[i], vertical);
            taken[at] = true;
            first = at < first ? at : first;
            last = at > last ? at : last;
        }
    end = first; /* of the part at the beginning of the torus */
    for (long long at = first; at <= last && at - end <= NEAR && taken; at++)
        end = taken[at] ? at : end;
    free(taken);
    if (first + side - last > NEAR)
        return true;
    for (size_t i = root; i < s->cells->n && end < last; i++)
        if (s->parent[i] == root && *cell_coordinate(&s->cells->cell[i], vertical) <= end)
            *cell_coordinate(&s->cells->cell[i], vertical) += side;
    return end < last;
}

static bool is_joined(struct separation *s, size_t root)
{
    return !s->cells->width || (join_across_edge(s, root, s->cells->width, false) &&
                                join_across_edge(s, root, s->cells->height, true));
}

/* Name each cluster by itself, and return the number of those that are no object. */
static uint64_t name_clusters(struct separation *s)
{
    uint64_t others = 0;
    join_near_cells(s->cells, s->parent, NEAR);
    for (size_t i = 0; i < s->cells->n; i++)
        s->parent[i] = cluster_root(s->parent, i);
    for (size_t i = 0; i < s->cells->n; i++) {
        if (s->parent[i] != i)
            continue;
        const bool joined = is_joined(s, i);
        struct cluster c = cluster_box(s, i);
        if (joined && (see_spaceship(s, i, &c) || see_stationary(s, i, &c))) {
            census_soup_counts(&s->sorter, 0);
        } else {
            census_soup_forgotten(&s->sorter);
            others++;
        }
    }
    return others;
}

/* Split the rule of cells from their torus, if it names one. */
static int split_rule_of_cells(const char *text, const struct life_cells *cells,
                               char rule[LIFE_RULE_TEXT], struct identify_cells *now)
{
    enum life_bounds bounds;
    size_t width, height;
    if (snprintf(rule, LIFE_RULE_TEXT, "%s", text) >= LIFE_RULE_TEXT)
        return clerror_set(EINVAL, "life: the rule '%.40s...' is too long", text);
    if (life_bounds_split(rule, &bounds, &width, &height) < 0)
        return -1;
    if (!width)
        return 0;
    if (width != cells->width || height != cells->height)
        return clerror_set(
            EINVAL, "life: the grid of rule '%s' has %zu x %zu cells, but %zu x %zu are given",
            text, width, height, cells->width, cells->height);
    if (bounds == LIFE_TORUS) {
        now->width = (long long)width;
        now->height = (long long)height;
    }
    return 0;
}

struct life_identity *life_identify_cells(const char *rule, const struct life_cells *cells,
                                          uint64_t *others)
{
    struct separation s = {.words = SMALL_WORDS, .longest = SHORT_PERIOD};
    struct identify_cells now = {.n = 0};
    char alone[LIFE_RULE_TEXT];
    if (split_rule_of_cells(rule, cells, alone, &now) < 0)
        return NULL;
    struct life_identity *id = calloc(1, sizeof *id);
    if (!id || census_rule_make(&s.rule, alone) < 0) {
        free(id);
        return id ? NULL : (clerror_set(ENOMEM, "life: out of memory for an identity"), NULL);
    }
    s.cells = &now;
    int status = cells_of_rectangle(cells, &now);
    s.parent = malloc((now.n + 1) * sizeof *s.parent);
    status = status == 0 && s.parent && census_sorter_make(&s.sorter, &s.rule) == 0 ? 0 : -1;
    if (status == 0) {
        id->kind = LIFE_OBJECTS;
        id->least = id->most = now.n;
        id->mean = (double)now.n;
        *others = name_clusters(&s);
        status = s.sorter.no_memory ? -1 : list_separated(&s.sorter, id);
    }
    census_sorter_free(&s.sorter);
    free(s.parent);
    free(now.cell);
    if (status == 0)
        return id;
    life_identity_free(id);
    clerror_set(ENOMEM, "life: out of memory for the objects of a pattern");
    return NULL;
}
