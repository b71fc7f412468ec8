/* identify_objects.c - separates the cells of a pattern into objects and names them.
 *
 * Cells within four columns and rows of each other are a cluster. Each shape of a cluster is traced
 * alone: a spaceship is one object, and all others are separated as the ash of a census. An object
 * that is too large for a census is traced on a plane of its own. Clusters are independent if no
 * two of them ever come near each other, which follows from their boxes and velocities.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/census.h"
#include "life/engine.h"
#include "life/hash_map.h"

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
    /* Limits while objects are named in a running grid, or beside an engine. */
    SHORT_PERIOD = 1 << 10, /* of an object */
    SMALL_WORDS = 4         /* of the box around a cluster */
};

/* ---- One cluster. ---------------------------------------------------------------------------- */

struct identify_namer {
    struct census_rule rule;
    struct census_sorter sorter;
    size_t words;     /* largest box of a cluster */
    uint64_t longest; /* longest period */
    struct map known; /* shapes: 1 if they are objects */
};

/* Displacement per generation. */
struct velocity {
    double x, y;
};

static int namer_make(struct identify_namer *s, const char *rule, size_t words, uint64_t longest)
{
    s->words = words;
    s->longest = longest;
    return census_rule_make(&s->rule, rule) < 0 ? -1 : census_sorter_make(&s->sorter, &s->rule);
}

/* Copy a cluster's cells into a box of `words`, in its middle. The caller frees it. */
static uint64_t *cluster_cells(const struct census_rule *rule, const struct identify_cluster *c,
                               size_t words)
{
    uint64_t *box = calloc(1, census_bytes(rule, words));
    const long long side = 64 * (long long)words, x = (side - (c->right - c->left)) / 2,
                    y = (side - (c->bottom - c->top)) / 2;
    for (size_t i = 0; i < c->n && box; i++) {
        const size_t u = (size_t)(c->cell[i].x - c->left + x),
                     v = (size_t)(c->cell[i].y - c->top + y);
        census_set_state(rule, words, box, u, v, c->cell[i].state);
    }
    return box;
}

static long long cluster_side(const struct identify_cluster *c)
{
    const long long width = c->right - c->left, height = c->bottom - c->top;
    return width > height ? width : height;
}

/* Trace a spaceship in a patch: true if the cluster is one. */
static bool see_spaceship(struct identify_namer *s, const struct identify_cluster *c,
                          struct velocity *velocity)
{
    struct census_motion motion;
    if (cluster_side(c) > CENSUS_PATCH - 2 * CLUSTER_MARGIN)
        return false;
    uint64_t *patch = cluster_cells(&s->rule, c, 1);
    const bool ship = patch && census_name(&s->rule, patch, CENSUS_PATCH, &motion, NULL) == 0 &&
                      (motion.dx || motion.dy) && census_add(&s->sorter, patch);
    s->sorter.no_memory |= !patch;
    free(patch);
    if (ship)
        *velocity =
            (struct velocity){(double)motion.dx / motion.period, (double)motion.dy / motion.period};
    return ship;
}

/* Separate a cluster that stays where it is; false if it does not. */
static bool see_stationary(struct identify_namer *s, const struct identify_cluster *c)
{
    const size_t words = (size_t)(cluster_side(c) + 2 * CLUSTER_MARGIN) / 64 + 1;
    if (words > s->words)
        return false;
    uint64_t *box = cluster_cells(&s->rule, c, words);
    const bool done = box && census_sort(&s->sorter, words, box, s->longest);
    s->sorter.no_memory |= !box;
    free(box);
    return done;
}

/* Count the objects of a cluster `times` times; false if it is none. */
static bool see_cluster(struct identify_namer *s, const struct identify_cluster *c, uint64_t times,
                        struct velocity *velocity)
{
    *velocity = (struct velocity){0, 0};
    const bool seen = see_spaceship(s, c, velocity) || see_stationary(s, c);
    if (!seen || !times) {
        census_soup_forgotten(&s->sorter);
        return seen;
    }
    for (size_t i = 0; i < s->sorter.seen_n; i++)
        s->sorter.object[s->sorter.seen[i]].here *= (uint32_t)times;
    census_soup_counts(&s->sorter, 0);
    return true;
}

bool identify_namer_see(struct identify_namer *s, const struct identify_cluster *c, uint64_t times)
{
    struct velocity velocity;
    const uint32_t known = map_get(&s->known, c->shape);
    if (known == 0 || (known == 1 && !times))
        return known;
    const bool seen = see_cluster(s, c, times, &velocity);
    if (known == MAP_NONE && !map_put(&s->known, c->shape, seen))
        s->sorter.no_memory = true;
    return seen;
}

/* ---- All clusters. --------------------------------------------------------------------------- */

/* True if two boxes with velocities are ever within NEAR of each other. */
static bool clusters_meet(const struct identify_cluster *a, struct velocity va,
                          const struct identify_cluster *b, struct velocity vb)
{
    const double gap[2][2] = {
        {(double)(b->left - a->right) - NEAR, (double)(b->right - a->left) + NEAR},
        {(double)(b->top - a->bottom) - NEAR, (double)(b->bottom - a->top) + NEAR}};
    const double v[2] = {va.x - vb.x, va.y - vb.y};
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

/* True if no two clusters of different velocities ever meet. */
static bool all_stay_apart(const struct identify_clusters *c, const struct velocity *velocity)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < i; j++)
            if ((velocity[i].x != velocity[j].x || velocity[i].y != velocity[j].y) &&
                clusters_meet(&c->cluster[i], velocity[i], &c->cluster[j], velocity[j]))
                return false;
    return true;
}

/* See all clusters; false if one of them is no object, or two of them meet. */
static bool see_clusters(struct identify_namer *s, const struct identify_clusters *c)
{
    struct velocity *velocity = malloc((c->n + 1) * sizeof *velocity);
    bool seen = velocity != NULL;
    s->sorter.no_memory |= !velocity;
    for (size_t i = 0, n; i < c->n && seen; i += n) {
        n = identify_clusters_alike(c, i);
        seen = see_cluster(s, &c->cluster[i], n, &velocity[i]);
        for (size_t k = 1; k < n; k++)
            velocity[i + k] = velocity[i];
    }
    seen = seen && all_stay_apart(c, velocity);
    free(velocity);
    return seen;
}

/* ---- The list. ------------------------------------------------------------------------------- */

static int objects_order(const void *a, const void *b)
{
    const struct life_object *p = a, *q = b;
    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    return strcmp(p->code, q->code);
}

static int out_of_memory_for_objects(void)
{
    return clerror_set(ENOMEM, "life: out of memory for the objects of a pattern");
}

int identify_namer_list(struct identify_namer *s, struct life_identity *id)
{
    const struct census_sorter *sorter = &s->sorter;
    id->object = sorter->no_memory ? NULL : calloc(sorter->objects + 1, sizeof *id->object);
    for (size_t i = 0; i < sorter->objects && id->object; i++) {
        const struct census_object *o = &sorter->object[i];
        if (!o->count)
            continue;
        char *code = strdup(o->name);
        if (!code)
            return out_of_memory_for_objects();
        id->object[id->objects++] = (struct life_object){.code = code,
                                                         .period = o->motion.period,
                                                         .dx = o->motion.dx,
                                                         .dy = o->motion.dy,
                                                         .count = o->count};
    }
    if (!id->object)
        return out_of_memory_for_objects();
    qsort(id->object, id->objects, sizeof *id->object, objects_order);
    return 0;
}

int identify_namer_open(life *lf, struct identify_namer **namer)
{
    const struct life_family *rule = &lf->rule;
    *namer = NULL;
    if (rule->row->form != LIFE_FORM_TABLE || rule->b0)
        return 0;
    *namer = calloc(1, sizeof **namer);
    if (*namer && namer_make(*namer, rule->text, SMALL_WORDS, SHORT_PERIOD) == 0)
        return 0;
    identify_namer_close(*namer);
    *namer = NULL;
    return out_of_memory_for_objects();
}

void identify_namer_close(struct identify_namer *s)
{
    if (!s)
        return;
    census_sorter_free(&s->sorter);
    map_free(&s->known);
    free(s);
}

/* Name a pattern that is one object by its code. */
static int name_whole(const struct identify_namer *s, const struct identify_cells *now,
                      struct life_identity *id)
{
    struct census_motion motion;
    char name[CENSUS_NAME];
    const struct identify_cluster whole = {now->cell,  now->n,      now->left, now->top,
                                           now->right, now->bottom, 0,         false};
    if (cluster_side(&whole) > CENSUS_PATCH - 2 * CLUSTER_MARGIN)
        return 0;
    uint64_t *patch = cluster_cells(&s->rule, &whole, 1);
    const bool named = patch && census_name(&s->rule, patch, LONGEST_PERIOD, &motion, name) == 0;
    id->code = named ? strdup(name) : NULL;
    const bool failed = !patch || (named && !id->code);
    free(patch);
    return failed ? out_of_memory_for_objects() : 0;
}

int identify_objects(life *lf, const struct identify_cells *now, struct life_identity *id)
{
    struct identify_namer *s;
    struct identify_clusters c = {.n = 0};
    if (now->n > MOST_CLUSTERED)
        return 0;
    if (identify_namer_open(lf, &s) < 0)
        return -1;
    if (!s)
        return 0;
    s->words = CENSUS_MOST_WORDS;
    s->longest = LONGEST_PERIOD;
    int status = identify_clusters_make(&c, now, NEAR);
    if (status == 0 && (see_clusters(s, &c) || s->sorter.no_memory))
        status = identify_namer_list(s, id);
    if (status == 0 && id->period)
        status = name_whole(s, now, id);
    identify_clusters_free(&c);
    identify_namer_close(s);
    return status;
}

void identify_forget(struct life_identity *id)
{
    for (size_t i = 0; i < id->objects; i++)
        free((char *)id->object[i].code);
    free(id->object);
    free((char *)id->code);
    *id = (struct life_identity){.kind = LIFE_UNSETTLED};
}

void life_identity_free(struct life_identity *identity)
{
    if (identity)
        identify_forget(identity);
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
    return to->cell ? 0 : out_of_memory_for_objects();
}

/* Name each cluster by itself, and return the number of those that are no object. */
static uint64_t name_clusters(struct identify_namer *s, const struct identify_clusters *c)
{
    uint64_t others = 0;
    for (size_t i = 0, n; i < c->n; i += n) {
        const struct identify_cluster *first = &c->cluster[i];
        n = identify_clusters_alike(c, i);
        if (first->surrounds || !identify_namer_see(s, first, n))
            others += n;
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
    struct identify_namer s = {.words = 0};
    struct identify_cells now = {.n = 0};
    struct identify_clusters c = {.n = 0};
    char alone[LIFE_RULE_TEXT];
    if (split_rule_of_cells(rule, cells, alone, &now) < 0)
        return NULL;
    struct life_identity *id = calloc(1, sizeof *id);
    int status =
        id ? namer_make(&s, alone, SMALL_WORDS, SHORT_PERIOD) : out_of_memory_for_objects();
    if (status == 0 && s.rule.states > 2)
        status = clerror_set(EINVAL, "life: the cells are of two states, but the rule %s has %u",
                             alone, s.rule.states);
    status = status == 0 ? cells_of_rectangle(cells, &now) : status;
    status = status == 0 ? identify_clusters_make(&c, &now, NEAR) : status;
    if (status == 0) {
        id->kind = LIFE_OBJECTS;
        id->least = id->most = now.n;
        id->mean = (double)now.n;
        *others = name_clusters(&s, &c);
        status = identify_namer_list(&s, id);
    }
    identify_clusters_free(&c);
    census_sorter_free(&s.sorter);
    map_free(&s.known);
    free(now.cell);
    if (status == 0)
        return id;
    life_identity_free(id);
    return NULL;
}
