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
    MOST_CLUSTERED = 1 << 18, /* cells */
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
    life *lf;         /* polled for a cancel; NULL: none */
    bool cancelled;
};

static bool namer_is_cancelled(struct identify_namer *s)
{
    if (s->lf && !s->cancelled)
        s->cancelled = life_call_tell(s->lf, 0) < 0;
    return s->cancelled;
}

static int out_of_memory_for_objects(void)
{
    return clerror_set(ENOMEM, "life: out of memory for the objects of a pattern");
}

static int namer_make(struct identify_namer *s, const char *rule, size_t words, uint64_t longest)
{
    s->words = words;
    s->longest = longest;
    if (census_rule_make(&s->rule, rule) < 0)
        return -1;
    return census_sorter_make(&s->sorter, &s->rule) < 0 ? out_of_memory_for_objects() : 0;
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
                          struct identify_motion *motion)
{
    struct census_motion ship;
    if (cluster_side(c) > CENSUS_PATCH - 2 * CLUSTER_MARGIN)
        return false;
    uint64_t *patch = cluster_cells(&s->rule, c, 1);
    const bool moves = patch && census_name(&s->rule, patch, CENSUS_PATCH, &ship, NULL) == 0 &&
                       (ship.dx || ship.dy) && census_add(&s->sorter, patch);
    s->sorter.no_memory |= !patch;
    free(patch);
    if (moves)
        *motion = (struct identify_motion){ship.period, ship.dx, ship.dy};
    return moves;
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
                        struct identify_motion *motion)
{
    *motion = (struct identify_motion){.period = 1}; /* or any other period: it stays */
    const bool seen = see_spaceship(s, c, motion) || see_stationary(s, c);
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
    struct identify_motion motion;
    const uint32_t known = map_get(&s->known, c->shape);
    if (known == 0 || (known == 1 && !times))
        return known;
    const bool seen = see_cluster(s, c, times, &motion);
    if (known == MAP_NONE && !map_put(&s->known, c->shape, seen))
        s->sorter.no_memory = true;
    return seen;
}

/* ---- All clusters. --------------------------------------------------------------------------- */

static bool cluster_moves(const struct identify_cluster *c)
{
    return c->motion.dx || c->motion.dy;
}

static bool pair_is_apart(void *unused, size_t a, size_t b, enum identify_meeting meeting)
{
    (void)unused, (void)a, (void)b;
    return meeting != IDENTIFY_MEET;
}

/* True if no two clusters ever meet that move differently. */
static bool all_stay_apart(struct identify_namer *s, const struct identify_clusters *c)
{
    const int status = identify_pairs_see(c->cluster, c->n, NEAR, pair_is_apart, NULL);
    s->sorter.no_memory |= status < 0;
    return status == 1;
}

/* See all clusters; false if one of them is no object, or two of them meet. */
static bool see_clusters(struct identify_namer *s, struct identify_clusters *c)
{
    for (size_t i = 0, n; i < c->n; i += n) {
        struct identify_motion motion;
        n = identify_clusters_alike(c, i);
        if (namer_is_cancelled(s) || !see_cluster(s, &c->cluster[i], n, &motion))
            return false;
        for (size_t k = 0; k < n; k++)
            c->cluster[i + k].motion = motion;
    }
    return all_stay_apart(s, c);
}

/* Count a cluster with a known motion, which is an object by itself: by its code, or as Catagolue
 * calls objects that are too large for one. */
static void count_large(struct identify_namer *s, const struct identify_cluster *c, uint64_t times)
{
    const struct identify_motion *m = &c->motion;
    struct census_motion motion = {(unsigned)m->period, (int)m->dx, (int)m->dy};
    const bool moves = cluster_moves(c);
    char name[CENSUS_NAME];
    uint64_t *patch = cluster_side(c) < CENSUS_PATCH ? cluster_cells(&s->rule, c, 1) : NULL;
    if (!patch || census_name(&s->rule, patch, motion.period, &motion, name) < 0)
        snprintf(name, sizeof name, "ov_%c%llu",
                 moves           ? 'q'
                 : m->period > 1 ? 'p'
                                 : 's',
                 (unsigned long long)(moves || m->period > 1 ? m->period : c->n));
    free(patch);
    census_count(&s->sorter, name, &motion, times);
}

/* Count clusters that never influence each other, until the caller cancels. A spaceship is one
 * object. */
static void count_separate(struct identify_namer *s, const struct identify_clusters *c)
{
    for (size_t i = 0, n; i < c->n && !namer_is_cancelled(s); i += n) {
        const struct identify_cluster *first = &c->cluster[i];
        struct identify_motion motion;
        n = identify_clusters_alike(c, i);
        if (cluster_moves(first) || first->motion.period > LONGEST_PERIOD ||
            cluster_side(first) > CENSUS_PATCH || !see_cluster(s, first, n, &motion))
            count_large(s, first, n);
    }
}

/* ---- The list. ------------------------------------------------------------------------------- */

static int objects_order(const void *a, const void *b)
{
    const struct life_object *p = a, *q = b;
    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    return strcmp(p->code, q->code);
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
    const struct identify_cluster whole = {.cell = now->cell,
                                           .n = now->n,
                                           .left = now->left,
                                           .top = now->top,
                                           .right = now->right,
                                           .bottom = now->bottom};
    if (cluster_side(&whole) > CENSUS_PATCH - 2 * CLUSTER_MARGIN)
        return 0;
    uint64_t *patch = cluster_cells(&s->rule, &whole, 1);
    const bool named = patch && census_name(&s->rule, patch, LONGEST_PERIOD, &motion, name) == 0;
    id->code = named ? strdup(name) : NULL;
    const bool failed = !patch || (named && !id->code);
    free(patch);
    return failed ? out_of_memory_for_objects() : 0;
}

static bool all_move_equally(const struct identify_clusters *c)
{
    for (size_t i = 1; i < c->n; i++)
        if (!identify_moves_equally(&c->cluster[0].motion, &c->cluster[i].motion))
            return false;
    return c->n > 0;
}

/* Least common multiple of the objects' periods; 0 if it is 2^63 or more. */
static uint64_t common_period(const struct life_identity *id)
{
    uint64_t period = 1;
    for (size_t i = 0; i < id->objects && period; i++)
        period = identify_common_multiple(period, id->object[i].period);
    return period;
}

/* Separate cells into near groups, or, of two states, into groups that never influence each other,
 * and count them. Return 1 if this was possible. */
static int separate_cells(struct identify_namer *s, const struct identify_cells *now,
                          struct identify_parts *parts, struct identify_clusters *c)
{
    if (parts->near && identify_clusters_make(c, now, NEAR) < 0)
        return -1;
    parts->near = parts->near && see_clusters(s, c);
    if (s->cancelled)
        return -1;
    if (parts->near || s->sorter.no_memory) {
        parts->work = 0;
        return 1;
    }
    identify_clusters_free(c);
    if (s->rule.states > 2) {
        parts->work = 0;
        return 0;
    }
    for (size_t i = 0; i < s->sorter.objects; i++)
        s->sorter.object[i].count = 0;
    const int status = identify_separate(s->lf, now, parts, c);
    if (status == 1)
        count_separate(s, c);
    return s->cancelled ? -1 : status;
}

int identify_objects(life *lf, const struct identify_cells *now, struct identify_parts *parts,
                     struct life_identity *id)
{
    struct identify_namer *s;
    struct identify_clusters c = {.n = 0};
    const struct identify_parts given = *parts;
    *parts = (struct identify_parts){.work = 0};
    if (now->n > MOST_CLUSTERED)
        return 0;
    if (identify_namer_open(lf, &s) < 0)
        return -1;
    if (!s)
        return 0;
    life_call_begin(lf, 0);
    s->lf = lf;
    s->words = CENSUS_MOST_WORDS;
    s->longest = LONGEST_PERIOD;
    *parts = given;
    int status = separate_cells(s, now, parts, &c);
    if (status == 1)
        status = identify_namer_list(s, id);
    for (size_t i = 0; i < c.n; i++)
        parts->cells += c.cluster[i].n;
    parts->together = id->objects && all_move_equally(&c) ? common_period(id) : 0;
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
