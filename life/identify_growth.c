/* identify_growth.c - growth of a population: guns, rakes and puffers, and quadratic growth.
 *
 * The population of a regular pattern is linear or quadratic in time, which HashLife confirms for
 * many generations. The engine of linear growth is found by comparing the clusters of two
 * generations a period apart. Each shape of cluster that the engine emits occurs once more. The
 * number of the engine's own clusters is the same, and their displacement is the engine's.
 *
 *      generation g        E   o   o   o             E: engine, o: emitted
 *      generation g + T        E   o   o   o   o
 *
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/engine.h"
#include "life/hash.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    INFLUENCE = 2,            /* distance of cells that influence each other */
    CONFIRMED = 1 << 20,      /* generations of linear growth that are confirmed */
    MOST_CONFIRMED = 1 << 21, /* population at which this ends */
    MOST_MULTIPLE = 8,        /* periods of the population in a period of the cells */
    STEADY = 64,              /* generations that are compared for debris, at least */
    FRONT = 32,               /* columns or rows at a side of the box around all cells */
    LONGEST_LOOK = 1 << 28,   /* generations of a look for quadratic growth */
    LOOK_RESULTS = 1 << 22,   /* of nodes in a look: a second or two, if the growth is promising */
    SMALL_GROWTH = 64         /* a growth is small below this part of the population */
};

/* ---- Quadratic growth. ----------------------------------------------------------------------- */

/* When the time doubles, the growth divided by the previous one is 4 for a square, 2 for a line. */
static const double LEAST_RATIO = 3.5, MOST_RATIO = 4.5, PROMISING_RATIO = 2.5;

/* Double the time since the plane's generation until the growth is four times the previous one
 * twice in succession, small three times, until the next doubling, which may take as long as all
 * before, would take too long, or to the end. */
static int look_ahead(life *lf, uint64_t most, struct life_identity *id, bool *end)
{
    const uint64_t results = hash_results(lf);
    bool promising = false;
    uint64_t last, population, done = 256;
    double growth = 0;
    int quadratic = 0, small = 0; /* number of times in succession */
    if (life_step(lf, done) < 0 || life_population(lf, &last) < 0)
        return -1;
    while (done < LONGEST_LOOK && quadratic < 2 && small < 3 &&
           hash_results(lf) - results < (promising ? LOOK_RESULTS : most / 2)) {
        if (life_step(lf, done) < 0 || life_population(lf, &population) < 0)
            return clerrno == ENOMEM || clerrno == ERANGE ? 0 : -1;
        const double before = growth;
        growth = (double)population - (double)last;
        quadratic = before > 0 && growth >= LEAST_RATIO * before && growth <= MOST_RATIO * before
                        ? quadratic + 1
                        : 0;
        promising = before > 0 && growth >= PROMISING_RATIO * before;
        small = growth < (double)population / SMALL_GROWTH ? small + 1 : 0;
        done *= 2;
        last = population;
    }
    *end = done >= LONGEST_LOOK;
    if (quadratic < 2)
        return 0;
    id->least = id->most = last;
    return 1;
}

int identify_quadratic_growth(life *lf, uint64_t results, struct life_identity *id, bool *end)
{
    struct identify_snapshot start = {.n = 0};
    int status = identify_snapshot_take(lf, &start);
    status = status == 0 ? look_ahead(lf, results, id, end) : status;
    if (status == 1) {
        id->kind = LIFE_QUADRATIC;
        id->generation = lf->generation;
    } else if (status == 0) {
        status = identify_snapshot_restore(lf, &start);
    }
    identify_snapshot_free(&start);
    return status;
}

/* ---- Linear growth goes on. ------------------------------------------------------------------ */

/* Jump far ahead by multiples of `period`, each twice the previous one: 1 if the population always
 * follows the line. */
static int growth_goes_on(life *lf, uint64_t population, uint64_t period, uint64_t growth)
{
    uint64_t expected = population;
    for (uint64_t periods = 1, done = 0;
         done < CONFIRMED && expected + growth * periods < MOST_CONFIRMED; periods *= 2) {
        if (life_step(lf, period * periods) < 0 || life_population(lf, &population) < 0)
            return clerrno == ENOMEM ? 0 : -1;
        expected += growth * periods;
        if (population != expected)
            return 0;
        done += period * periods;
    }
    return 1;
}

/* ---- The engine. ----------------------------------------------------------------------------- */

/* Cells of the clusters that have moved by (dx, dy), and of those that have not moved. If some move
 * differently, the larger ones count. */
struct growth_engine {
    uint64_t period; /* generations between the two sets of clusters */
    long long dx, dy;
    size_t moving, staying;
    bool lost; /* a cluster has not recurred */
};

/* Clusters a->cluster[i ...] and b->cluster[j ...], n each, have one shape: add them. None moves
 * faster than light. */
static void engine_add(struct growth_engine *e, const struct identify_cluster *a,
                       const struct identify_cluster *b, size_t n)
{
    const long long most = (long long)e->period;
    for (size_t k = 0; k < n; k++) {
        const long long dx = b[k].left - a[k].left, dy = b[k].top - a[k].top;
        if (llabs(dx) > most || llabs(dy) > most) {
            e->lost = true;
        } else if (!dx && !dy) {
            e->staying += a[k].n;
        } else if (!e->moving || (dx == e->dx && dy == e->dy)) {
            e->dx = dx;
            e->dy = dy;
            e->moving += a[k].n;
        } else if (a[k].n > e->moving) {
            e->dx = dx;
            e->dy = dy;
            e->moving = a[k].n;
        }
    }
}

/* Find the engine among the clusters of two generations, without those that are objects if there is
 * a namer. */
static struct growth_engine engine_find(const struct identify_clusters *a,
                                        const struct identify_clusters *b, uint64_t period,
                                        struct identify_namer *namer)
{
    struct growth_engine e = {.period = period};
    for (size_t i = 0, j = 0, n; i < a->n; i += n) {
        const struct identify_cluster *c = &a->cluster[i];
        n = identify_clusters_alike(a, i);
        while (j < b->n && b->cluster[j].shape < c->shape)
            j += identify_clusters_alike(b, j);
        const bool recurs = j < b->n && b->cluster[j].shape == c->shape;
        const size_t later = recurs ? identify_clusters_alike(b, j) : 0;
        if (later > n || (namer && identify_namer_see(namer, c, 0)))
            continue; /* emitted, or an object */
        e.lost |= later < n;
        engine_add(&e, c, &b->cluster[j], later < n ? 0 : n);
    }
    return e;
}

/* Join the cells within FRONT columns or rows of a side of the box around all: 0 to 3 are left,
 * right, top and bottom. */
static int clusters_at_side(const struct identify_cells *s, int side, struct identify_clusters *c)
{
    const long long left = side == 1 ? s->right - FRONT : s->left,
                    right = side == 0 ? s->left + FRONT : s->right,
                    top = side == 3 ? s->bottom - FRONT : s->top,
                    bottom = side == 2 ? s->top + FRONT : s->bottom;
    struct identify_cells near = {.cell = malloc((s->n + 1) * sizeof *near.cell)};
    if (!near.cell)
        return clerror_set(ENOMEM, "life: out of memory for %zu cells", s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct identify_cell *p = &s->cell[i];
        if (p->x >= left && p->x <= right && p->y >= top && p->y <= bottom)
            near.cell[near.n++] = *p;
    }
    const int status = identify_clusters_make(c, &near, INFLUENCE);
    identify_cells_free(&near);
    return status;
}

/* Find an engine that moves at a side. */
static int engine_find_at_sides(const struct identify_cells *then, const struct identify_cells *now,
                                uint64_t period, struct identify_namer *namer,
                                struct growth_engine *e)
{
    for (int side = 0; side < 4; side++) {
        struct identify_clusters a, b = {.n = 0};
        if (clusters_at_side(then, side, &a) < 0)
            return -1;
        const int status = clusters_at_side(now, side, &b);
        if (status == 0) {
            const struct growth_engine found = engine_find(&a, &b, period, namer);
            *e = found.moving > e->moving ? found : *e;
        }
        identify_clusters_free(&a);
        identify_clusters_free(&b);
        if (status < 0)
            return -1;
    }
    return e->moving > 0;
}

/* A generation. */
struct growth_cells {
    struct identify_cells cells;
    struct identify_clusters clusters;
};

static int growth_cells_take(life *lf, struct growth_cells *g)
{
    return identify_cells_take(lf, &g->cells) < 0
               ? -1
               : identify_clusters_make(&g->clusters, &g->cells, INFLUENCE);
}

static void growth_cells_free(struct growth_cells *g)
{
    identify_cells_free(&g->cells);
    identify_clusters_free(&g->clusters);
}

/* 1 if the engine between two generations is found: by the clusters that are no objects, by all
 * clusters if all are objects, or at a side if a cluster has become longer. */
static int engine_is_found(const struct growth_cells *then, const struct growth_cells *now,
                           uint64_t period, struct identify_namer *namer, struct growth_engine *e)
{
    *e = engine_find(&then->clusters, &now->clusters, period, namer);
    if (!e->lost && !e->moving && !e->staying && namer)
        *e = engine_find(&then->clusters, &now->clusters, period, NULL);
    if (!e->lost && (e->moving || e->staying))
        return 1;
    *e = (struct growth_engine){.period = period};
    return engine_find_at_sides(&then->cells, &now->cells, period, namer, e);
}

/* ---- The exhaust. ---------------------------------------------------------------------------- */

/* Count the objects that occur more often after a period. True if their cells are the growth of the
 * population. */
static bool count_emitted(const struct growth_cells *then, const struct growth_cells *now,
                          struct identify_namer *namer)
{
    uint64_t cells = then->cells.n;
    for (size_t i = 0, j = 0, n; j < now->clusters.n; j += n) {
        const struct identify_cluster *c = &now->clusters.cluster[j];
        n = identify_clusters_alike(&now->clusters, j);
        while (i < then->clusters.n && then->clusters.cluster[i].shape < c->shape)
            i++;
        const size_t before = i < then->clusters.n && then->clusters.cluster[i].shape == c->shape
                                  ? identify_clusters_alike(&then->clusters, i)
                                  : 0;
        if (n > before && identify_namer_see(namer, c, n - before))
            cells += c->n * (n - before);
    }
    return cells == now->cells.n;
}

/* 1 if there are more groups of adjacent cells than before, 0 if one of them has become larger. */
static int has_more_groups(const struct identify_cells *then, const struct identify_cells *now)
{
    struct identify_clusters a, b;
    if (identify_clusters_make(&a, then, 1) < 0)
        return -1;
    const int status = identify_clusters_make(&b, now, 1);
    const int more = status < 0 ? -1 : b.n > a.n;
    identify_clusters_free(&a);
    identify_clusters_free(&b);
    return more;
}

/* An engine that recurs after a multiple of the population's period, and its cells then. */
struct growth_found {
    struct growth_engine engine;
    uint64_t multiple; /* 0: none */
    struct growth_cells now;
};

/* Advance by multiples of the population's period until a standing engine has recurred, else take
 * the first moving one. A gun may have a multiple of the population's period, and between two of
 * its phases its ships look like a moving engine. The engine of a rake or puffer never recurs where
 * it was. */
static int find_recurrence(life *lf, const struct growth_cells *then, uint64_t period,
                           struct identify_namer *namer, struct growth_found *found)
{
    for (uint64_t m = 1; m <= MOST_MULTIPLE; m++) {
        struct growth_found next = {.multiple = m};
        int status = life_step(lf, period) < 0 ? -1 : growth_cells_take(lf, &next.now);
        if (status == 0)
            status = engine_is_found(then, &next.now, m * period, namer, &next.engine);
        const bool standing = status == 1 && !next.engine.moving;
        if (standing || (status >= 0 && !found->engine.moving)) {
            next.multiple = status ? m : 0;
            growth_cells_free(&found->now);
            *found = next;
        } else {
            growth_cells_free(&next.now);
        }
        if (status < 0)
            return found->engine.moving && clerrno == ENOMEM ? 0 : -1;
        if (standing)
            return 0;
    }
    return 0;
}

/* Set kind, period, growth, displacement and objects of *id. Without an engine the period is the
 * population's. */
static int find_engine(life *lf, uint64_t period, double mean, struct identify_namer *namer,
                       struct life_identity *id)
{
    struct growth_cells then = {.cells = {.n = 0}};
    struct growth_found found = {.multiple = 0};
    int status = growth_cells_take(lf, &then);
    if (status == 0)
        status = find_recurrence(lf, &then, period, namer, &found);
    const struct growth_engine *e = &found.engine;
    const uint64_t multiple = found.multiple ? found.multiple : 1;
    id->period = multiple * period;
    id->growth = (uint64_t)llround(mean * (double)multiple);
    if (found.multiple && e->moving) {
        id->dx = e->dx;
        id->dy = e->dy;
    }
    if (status == 0 && found.multiple && namer && count_emitted(&then, &found.now, namer))
        status = identify_namer_list(namer, id);
    const int groups = status < 0 ? -1 : has_more_groups(&then.cells, &found.now.cells);
    id->kind = found.multiple && !e->moving ? LIFE_GUN : groups ? LIFE_RAKE : LIFE_UNSETTLED;
    growth_cells_free(&then);
    growth_cells_free(&found.now);
    return groups < 0 ? -1 : 0;
}

/* ---- Debris. --------------------------------------------------------------------------------- */

/* Generations from one sample to the next: STEADY times 1, then powers of two up to a period, since
 * a slow spaceship, too, has cells that are alive for many generations. */
static uint64_t steady_jump(uint64_t period, uint64_t done)
{
    uint64_t jump = 1;
    while (done >= STEADY && 2 * STEADY * jump <= period)
        jump *= 2;
    return jump;
}

/* Count the cells that are equal in all samples of a period, and advance by *generations. */
static int count_steady(life *lf, uint64_t period, uint64_t *steady, uint64_t *generations)
{
    struct identify_cells kept = {.n = 0}, now = {.n = 0};
    int status = identify_cells_take(lf, &kept);
    *generations = 0;
    while ((*generations < STEADY || *generations < period) && status == 0) {
        const uint64_t jump = steady_jump(period, *generations);
        status = life_step(lf, jump) < 0 ? -1 : identify_cells_take(lf, &now);
        *generations += jump;
        if (status == 0)
            identify_cells_common(&kept, &now, &kept);
    }
    *steady = kept.n;
    identify_cells_free(&kept);
    identify_cells_free(&now);
    return status;
}

/* 1 if there are more steady cells after some periods than before, else 0. */
static int leaves_debris(life *lf, uint64_t period)
{
    uint64_t before, after, done;
    if (count_steady(lf, period, &before, &done) < 0 ||
        life_step(lf, (period - done % period) % period) < 0 ||
        count_steady(lf, period, &after, &done) < 0)
        return -1;
    return after > before;
}

/* True if an emitted object stays where it is. */
static bool emits_stationary(const struct life_identity *id)
{
    for (size_t i = 0; i < id->objects; i++)
        if (!id->object[i].dx && !id->object[i].dy)
            return true;
    return false;
}

/* Name the growth. */
static int name_growth(life *lf, uint64_t period, double mean, struct life_identity *id)
{
    struct identify_namer *namer;
    if (identify_namer_open(lf, &namer) < 0)
        return -1;
    const int status = find_engine(lf, period, mean, namer, id);
    identify_namer_close(namer);
    const int debris = status < 0 ? -1 : leaves_debris(lf, id->period);
    if (debris == 1 || emits_stationary(id))
        id->kind = LIFE_PUFFER;
    return debris < 0 ? -1 : 1;
}

int identify_linear_growth(life *lf, const struct identify_cells *now, uint64_t period,
                           uint64_t growth, double mean, struct life_identity *id)
{
    struct identify_snapshot start = {.n = 0};
    int status = identify_snapshot_take(lf, &start);
    status = status == 0 ? growth_goes_on(lf, now->n, period, growth) : status;
    if (status >= 0 && identify_snapshot_restore(lf, &start) < 0)
        status = -1;
    identify_snapshot_free(&start);
    return status == 1 ? name_growth(lf, period, mean, id) : status;
}
