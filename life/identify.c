/* identify.c - identifies a pattern on HashLife's plane: still life, oscillator, spaceship, gun,
 * rake, puffer, or several objects that move apart.
 *
 * Repetition is found by R. P. Brent's algorithm (BIT 20, 1980, 176): the cells are compared with
 * those of generation 2^k, up to a displacement, until generation 2^(k+1) replaces them. Longer
 * periods are found by baby steps and giant steps (D. Shanks, Proc. Symp. Pure Math. 20, 1971,
 * 415): the plane jumps by JUMP generations, and its fingerprint is looked up among those of
 * JUMP generations in sequence. A period of p generations takes p / JUMP jumps.
 *
 * Now and then the populations so far are searched for a period: linear growth, if HashLife
 * confirms it far ahead, is a gun, a rake or a puffer; no growth may be objects that move apart,
 * which are then identified one by one.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "core/handle.h"
#include "life/census.h"
#include "life/counting.h"
#include "life/engine.h"
#include "life/hash.h"
#include "life/hash_map.h"

#include "stdcl/identify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_LIMIT = 100000,
    FIRST_SEARCH = 256,    /* generation of the first search in the populations */
    STEPPED = 1 << 15,     /* generations before the plane jumps */
    JUMP = 1 << 12,        /* generations of a jump */
    EVERY_PHASE = 1 << 14, /* longest period all of whose generations are measured */
    PHASES = 1 << 9,       /* about the least number of measured generations of longer ones */
    PHASES_TURNED = 256,   /* phases whose symmetry is determined */
    QUADRATIC = 1 << 17,   /* cells from which growth may be quadratic */
    MOST_CELLS = 1 << 20,
    LARGE = 1 << 17,      /* cells from which work is limited */
    MOST_STEPS = 1 << 20, /* of leaves, in all generations with more than LARGE cells: a second */
    CONFIRMED = 1 << 20,  /* generations for which growth is confirmed */
    MOST_CONFIRMED = 1 << 21, /* cells to which it is confirmed */
    MOST_MULTIPLE = 8,        /* periods of the population in a period of the cells */
    LEAST_STEADY = 64,        /* generations in which debris does not change */
    FRONT = 32,               /* columns or rows at a side of the box around all cells */
    SHIP_PERIODS = 60         /* generations after which most small spaceships recur */
};

static const char *const kind_names[] = {"not settled", "extinct",
                                         "still life",  "oscillator",
                                         "spaceship",   "objects that move apart",
                                         "gun",         "rake",
                                         "puffer",      "quadratic growth"};

const char *life_kind_name(enum life_kind kind)
{
    return (unsigned)kind < sizeof kind_names / sizeof *kind_names ? kind_names[kind] : "";
}

/* ---- Cells of a generation. ------------------------------------------------------------------ */

void identify_cells_free(struct identify_cells *s)
{
    free(s->cell);
    *s = (struct identify_cells){.cell = NULL};
}

static int identify_add_run(void *arg, long long x, long long y, uint64_t n, unsigned state)
{
    struct identify_cells *s = arg;
    if (n > MOST_CELLS || s->n + n > MOST_CELLS)
        return clerror_set(ERANGE, "life: a pattern to identify may have up to %d live cells",
                           MOST_CELLS);
    if (s->n + n > s->room) {
        const size_t room = 2 * (s->n + n);
        struct identify_cell *cell = realloc(s->cell, room * sizeof *cell);
        if (!cell)
            return clerror_set(ENOMEM, "life: out of memory for %zu cells", room);
        s->cell = cell;
        s->room = room;
    }
    for (uint64_t i = 0; i < n; i++)
        s->cell[s->n++] = (struct identify_cell){x + (long long)i, y, state};
    return 0;
}

static void identify_cells_measure(struct identify_cells *s)
{
    if (!s->n)
        return;
    s->left = s->right = s->cell[0].x;
    s->top = s->cell[0].y;
    s->bottom = s->cell[s->n - 1].y;
    for (size_t i = 0; i < s->n; i++) {
        s->left = s->cell[i].x < s->left ? s->cell[i].x : s->left;
        s->right = s->cell[i].x > s->right ? s->cell[i].x : s->right;
    }
}

static int identify_cells_take(life *lf, struct identify_cells *s)
{
    s->n = 0;
    if (life_walk_runs(lf, identify_add_run, s) < 0)
        return -1;
    identify_cells_measure(s);
    return 0;
}

/* True if the cells are equal up to a displacement. */
static bool identify_cells_equal(const struct identify_cells *a, const struct identify_cells *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->cell[i].x - a->left != b->cell[i].x - b->left ||
            a->cell[i].y - a->top != b->cell[i].y - b->top || a->cell[i].state != b->cell[i].state)
            return false;
    return true;
}

/* Order of cells, row by row. */
static int cells_order(const void *a, const void *b)
{
    const struct identify_cell *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

/* Count the places with equal cells; `keep`, which may be `a`, receives these cells. */
static uint64_t equal_cells(const struct identify_cells *a, const struct identify_cells *b,
                            struct identify_cells *keep)
{
    uint64_t equal = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int order = cells_order(&a->cell[i], &b->cell[j]);
        if (order == 0 && a->cell[i].state == b->cell[j].state) {
            if (keep)
                keep->cell[equal] = a->cell[i];
            equal++;
        }
        i += order <= 0;
        j += order >= 0;
    }
    if (keep)
        keep->n = equal;
    return equal;
}

/* Count the places whose cells differ. */
static uint64_t changed_cells(const struct identify_cells *a, const struct identify_cells *b)
{
    uint64_t same_place = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int order = cells_order(&a->cell[i], &b->cell[j]);
        same_place += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return a->n + b->n - same_place - equal_cells(a, b, NULL);
}

/* ---- Symmetry. ------------------------------------------------------------------------------- */

/* True if the cells, turned and reflected by the bits of `way`, are the same cells: 1 and 2 reverse
 * columns and rows, 4 then exchanges them. */
static bool is_symmetric_by(const struct identify_cells *s, struct identify_cell *turned,
                            unsigned way)
{
    const long long right = s->right - s->left, bottom = s->bottom - s->top;
    if (way & 4 && right != bottom)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const long long u = s->cell[i].x - s->left, v = s->cell[i].y - s->top,
                        x = way & 1 ? right - u : u, y = way & 2 ? bottom - v : v;
        turned[i] = (struct identify_cell){s->left + (way & 4 ? y : x), s->top + (way & 4 ? x : y),
                                           s->cell[i].state};
    }
    qsort(turned, s->n, sizeof *turned, cells_order);
    for (size_t i = 0; i < s->n; i++)
        if (cells_order(&turned[i], &s->cell[i]) != 0 || turned[i].state != s->cell[i].state)
            return false;
    return true;
}

/* Groups in ascending order, each with the ways that it needs. */
static const struct {
    const char *name;
    unsigned ways; /* bit mask of `way` */
} groups[] = {{"C1", 0},
              {"C2", 1 << 3},
              {"D2+", 1 << 1},
              {"D2+", 1 << 2},
              {"D2x", 1 << 4},
              {"D2x", 1 << 7},
              {"C4", 1 << 3 | 1 << 5},
              {"D4+", 1 << 1 | 1 << 2},
              {"D4x", 1 << 4 | 1 << 7},
              {"D8", 1 << 1 | 1 << 4}};
enum { GROUPS = sizeof groups / sizeof *groups };

/* Return the place in groups[] of the cells' symmetry; 0 also if out of memory. */
static size_t identify_cells_group(const struct identify_cells *s)
{
    struct identify_cell *turned = malloc((s->n + 1) * sizeof *turned);
    unsigned ways = 0;
    size_t group = 0;
    for (unsigned way = 1; way < 8 && turned; way++)
        ways |= (unsigned)is_symmetric_by(s, turned, way) << way;
    free(turned);
    for (size_t i = 0; i < GROUPS; i++)
        group = (groups[i].ways & ~ways) == 0 ? i : group;
    return group;
}

/* ---- A period. ------------------------------------------------------------------------------- */

/* Largest power of two that is at most n > 0. */
static uint64_t power_below(uint64_t n)
{
    return (uint64_t)1 << (63 - __builtin_clzll(n));
}

/* Advance by a period and measure its populations and changes: of all generations, or of some
 * thousand at equal distances. HashLife forgets its results when the size of a step changes, so the
 * distance is a power of two, and 1. `now` are the cells at its start. */
static int measure_period(life *lf, struct identify_cells *now, struct life_identity *id)
{
    struct identify_cells next = {.n = 0};
    const uint64_t jump = id->period <= EVERY_PHASE ? 0 : power_below(id->period / PHASES),
                   phases = id->period / (jump + 1);
    double population = 0, changes = 0;
    size_t group = 0;
    int status = 0;
    id->least = id->most = now->n;
    for (uint64_t g = 0; g < phases && status == 0; g++) {
        if (g < PHASES_TURNED) {
            const size_t phase = identify_cells_group(now);
            group = phase > group ? phase : group;
        }
        population += (double)now->n;
        id->least = now->n < id->least ? now->n : id->least;
        id->most = now->n > id->most ? now->n : id->most;
        status = life_step(lf, 1) < 0 ? -1 : identify_cells_take(lf, &next);
        changes += status == 0 ? (double)changed_cells(now, &next) : 0;
        const struct identify_cells t = *now;
        *now = next;
        next = t;
        if (jump && status == 0)
            status = life_step(lf, jump) < 0 ? -1 : identify_cells_take(lf, now);
    }
    identify_cells_free(&next);
    id->mean = population / (double)phases;
    id->heat = changes / (double)phases;
    snprintf(id->symmetry, sizeof id->symmetry, "%s", groups[group].name);
    return status;
}

/* ---- The search. ----------------------------------------------------------------------------- */

struct search {
    life *lf;
    struct life_identity *id;
    struct identify_cells before, now; /* of generation 2^k, and the present one */
    struct identify_cells first;       /* cells at the beginning */
    uint64_t since, power;             /* generations from `before` on; 2^k */
    uint64_t *population;              /* of n generations from `origin` on */
    uint64_t origin, n, room, unit;    /* unit: 2 if odd generations are stored inverted */
    uint64_t steps;                    /* of leaves, in generations with more than LARGE cells */
};

/* The present generation. */
static uint64_t generation_of(const struct search *s)
{
    return s->origin + s->n - 1;
}

static int note_population(struct search *s)
{
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        uint64_t *more = realloc(s->population, s->room * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "life: out of memory for %llu populations",
                               (unsigned long long)s->room);
        s->population = more;
    }
    if (life_population(s->lf, &s->population[s->n]) < 0)
        return -1;
    if (s->population[s->n] > MOST_CELLS)
        return clerror_set(ERANGE, "life: a pattern to identify may have up to %d live cells",
                           MOST_CELLS);
    s->n++;
    return 0;
}

/* True if the populations of the second half grow by the same number in each `period`. */
static bool grows_by(const struct search *s, uint64_t period)
{
    const uint64_t last = s->n - 1, *p = s->population, growth = p[last] - p[last - period];
    for (uint64_t g = last; g >= last / 2 + period; g--)
        if (p[g] - p[g - period] != growth)
            return false;
    return true;
}

/* Smallest period of the populations, at most half of their second half; 0: none. */
static uint64_t period_of_growth(const struct search *s)
{
    for (uint64_t period = s->unit; period < s->n / 4; period += s->unit)
        if (grows_by(s, period))
            return period;
    return 0;
}

/* Advance by a period and count the cells that never change in it. */
static int count_steady(struct search *s, uint64_t period, uint64_t *steady)
{
    struct identify_cells kept = {.n = 0};
    int status = identify_cells_take(s->lf, &kept);
    for (uint64_t g = 0; g < period && status == 0; g++) {
        status = life_step(s->lf, 1) < 0 ? -1 : identify_cells_take(s->lf, &s->now);
        if (status == 0)
            equal_cells(&kept, &s->now, &kept);
    }
    *steady = kept.n;
    identify_cells_free(&kept);
    return status;
}

/* ---- A plane to return to. ------------------------------------------------------------------- */

/* The tree of the plane. Squares have the numbers of the walk, from 1 on. */
struct snapshot_square {
    int level; /* 3: `bits`, if the rule has two states; 1: `state` */
    uint64_t bits;
    uint32_t part[4];
    unsigned char state[4];
};
struct snapshot {
    struct snapshot_square *square;
    size_t n, room;
    bool multistate;
    uint64_t generation;
};

static int snapshot_add(struct snapshot *t, const struct snapshot_square *square)
{
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 1024;
        struct snapshot_square *more = realloc(t->square, room * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "life: out of memory for %zu squares", room);
        t->square = more;
        t->room = room;
    }
    t->square[t->n++] = *square;
    return 0;
}

static int snapshot_bits(void *arg, uint64_t cells)
{
    return snapshot_add(arg, &(struct snapshot_square){.level = 3, .bits = cells});
}

static int snapshot_states(void *arg, const unsigned char state[4])
{
    struct snapshot_square square = {.level = 1};
    struct snapshot *t = arg;
    t->multistate = true;
    memcpy(square.state, state, sizeof square.state);
    return snapshot_add(t, &square);
}

static int snapshot_square(void *arg, int level, const uint32_t part[4])
{
    struct snapshot_square square = {.level = level};
    memcpy(square.part, part, sizeof square.part);
    return snapshot_add(arg, &square);
}

static int snapshot_take(life *lf, struct snapshot *t)
{
    int level;
    t->generation = lf->generation;
    return life_tree_walk(lf, &level, snapshot_bits, snapshot_states, snapshot_square, t);
}

static int snapshot_restore(life *lf, const struct snapshot *t)
{
    uint32_t number = 0, first = 0; /* squares that the caller added come before the first */
    for (size_t i = 0; i < t->n; i++) {
        const struct snapshot_square *q = &t->square[i];
        uint32_t part[4];
        for (int k = 0; k < 4; k++)
            part[k] = q->part[k] ? q->part[k] + first : 0;
        const int status = q->level == 3 && !t->multistate
                               ? life_tree_add_bits(lf, q->bits, &number)
                           : q->level == 1 ? life_tree_add_states(lf, q->state, &number)
                                           : life_tree_add_square(lf, q->level, part, &number);
        if (status < 0)
            return -1;
        first = i == 0 ? number - 1 : first;
    }
    return life_tree_set(lf, number, t->generation);
}

/* ---- Growth. --------------------------------------------------------------------------------- */

/* Jump far ahead by multiples of `period`, each twice the previous one: 1 if the population always
 * follows the line. */
static int growth_goes_on(struct search *s, uint64_t period, uint64_t growth)
{
    uint64_t expected = s->now.n, population;
    for (uint64_t periods = 1, done = 0;
         done < CONFIRMED && expected + growth * periods < MOST_CONFIRMED; periods *= 2) {
        if (life_step(s->lf, period * periods) < 0 || life_population(s->lf, &population) < 0)
            return clerrno == ENOMEM ? 0 : -1;
        expected += growth * periods;
        if (population != expected)
            return 0;
        done += period * periods;
    }
    return 1;
}

/* Cells within a box. */
struct box_cells {
    long long left, top, right, bottom;
    struct identify_cells cells;
};

static int add_run_in_box(void *arg, long long x, long long y, uint64_t n, unsigned state)
{
    struct box_cells *b = arg;
    const long long from = x > b->left ? x : b->left, last = x + (long long)n - 1,
                    to = last < b->right ? last : b->right;
    if (y < b->top || y > b->bottom || from > to)
        return 0;
    return identify_add_run(&b->cells, from, y, (uint64_t)(to - from + 1), state);
}

/* Take the cells within the box in which the pattern began, or at a side of the box around all
 * cells: 0 to 3 are left, right, top and bottom. No cells if there are more than MOST_CELLS. */
enum { HOME_PLACE = 4, BOX_PLACES };
static int take_place(struct search *s, int place, struct identify_cells *cells)
{
    const struct identify_cells *f = &s->first;
    struct box_cells b = {f->left, f->top, f->right, f->bottom, *cells};
    struct life_box all;
    if (place != HOME_PLACE) {
        if (life_bounding_box(s->lf, &all) < 0)
            return -1;
        const long long left = (long long)all.left.low, right = (long long)all.right.low - 1,
                        top = (long long)all.top.low, bottom = (long long)all.bottom.low - 1;
        b.left = place == 1 ? right - FRONT : left;
        b.right = place == 0 ? left + FRONT : right;
        b.top = place == 3 ? bottom - FRONT : top;
        b.bottom = place == 2 ? top + FRONT : bottom;
    }
    b.cells.n = 0;
    int status = life_walk_runs(s->lf, add_run_in_box, &b);
    if (status < 0 && clerrno == ERANGE) {
        b.cells.n = 0;
        status = 0;
    }
    *cells = b.cells;
    identify_cells_measure(cells);
    return status;
}

/* Advance by `step` up to `most` times until the cells at each place have recurred: at home in
 * place, at a side elsewhere. times[place] is 0 if they have not, or if there are none. */
static int find_recurrences(struct search *s, uint64_t step, uint64_t most,
                            uint64_t times[BOX_PLACES])
{
    struct identify_cells then[BOX_PLACES] = {{.n = 0}}, now = {.n = 0};
    int status = 0;
    memset(times, 0, BOX_PLACES * sizeof *times);
    for (int i = 0; i < BOX_PLACES && status == 0; i++)
        status = take_place(s, i, &then[i]);
    for (uint64_t m = 1; m <= most && status == 0; m++) {
        status = life_step(s->lf, step);
        for (int i = 0; i < BOX_PLACES && status == 0; i++) {
            if (times[i] || !then[i].n)
                continue;
            status = take_place(s, i, &now);
            if (status == 0 && identify_cells_equal(&then[i], &now) &&
                (i == HOME_PLACE) == (now.left == then[i].left && now.top == then[i].top))
                times[i] = m;
        }
    }
    for (int i = 0; i < BOX_PLACES; i++)
        identify_cells_free(&then[i]);
    identify_cells_free(&now);
    return status;
}

/* Return the number of the population's periods after which the cells recur: those at home, or the
 * first of the sides that move, without sides at which small spaceships lead. 1: unknown. */
static uint64_t multiple_of_period(uint64_t period, const uint64_t of[BOX_PLACES],
                                   const uint64_t ship[BOX_PLACES])
{
    uint64_t least = 0;
    if (of[HOME_PLACE])
        return of[HOME_PLACE];
    for (int i = 0; i < HOME_PLACE; i++)
        if (of[i] && (SHIP_PERIODS % period == 0 || !ship[i]) && (!least || of[i] < least))
            least = of[i];
    return least ? least : 1;
}

/* Name the growth of a population by the cells, far ahead and then from `start` on: 1 if the growth
 * goes on. Unsettled: a single object that becomes larger. Advances the plane. */
static int name_growth(struct search *s, uint64_t period, const struct snapshot *start)
{
    struct life_identity *id = s->id;
    const uint64_t growth = s->population[s->n - 1] - s->population[s->n - 1 - period];
    uint64_t of[BOX_PLACES], ship[BOX_PLACES], still[BOX_PLACES], steady[2];
    const int status = growth_goes_on(s, period, growth);
    if (status <= 0)
        return status;
    if (find_recurrences(s, period, MOST_MULTIPLE, of) < 0 ||
        find_recurrences(s, SHIP_PERIODS, 1, ship) < 0 ||
        find_recurrences(s, s->unit, 1, still) < 0 || snapshot_restore(s->lf, start) < 0)
        return -1;
    if (still[HOME_PLACE])
        of[HOME_PLACE] = 0; /* debris, not a gun */
    const uint64_t multiple = multiple_of_period(period, of, ship), cells = period * multiple,
                   span = cells * ((LEAST_STEADY - 1) / cells + 1);
    const uint64_t components = identify_components(&s->now);
    if (count_steady(s, span, &steady[0]) < 0 || count_steady(s, span, &steady[1]) < 0)
        return -1;
    id->kind = steady[1] > steady[0]                        ? LIFE_PUFFER
               : of[HOME_PLACE]                             ? LIFE_GUN
               : identify_components(&s->now) <= components ? LIFE_UNSETTLED
                                                            : LIFE_RAKE;
    id->period = cells;
    id->growth = growth * multiple;
    id->generation = s->origin + s->n / 2;
    return 1;
}

/* The population grows: 1 if the growth goes on. */
static int identify_growth(struct search *s, uint64_t period)
{
    struct snapshot start = {.n = 0};
    int status = snapshot_take(s->lf, &start);
    status = status == 0 ? name_growth(s, period, &start) : status;
    if (status == 0 &&
        (snapshot_restore(s->lf, &start) < 0 || identify_cells_take(s->lf, &s->now) < 0))
        status = -1;
    free(start.square);
    if (status == 1 && measure_period(s->lf, &s->now, s->id) < 0)
        status = -1;
    *s->id->symmetry = '\0';
    return status;
}

/* The cells have recurred. */
static int identify_recurrence(struct search *s)
{
    struct life_identity *id = s->id;
    id->period = s->since;
    id->dx = s->now.left - s->before.left;
    id->dy = s->now.top - s->before.top;
    id->generation = generation_of(s) - s->since;
    id->kind = id->dx || id->dy ? LIFE_SPACESHIP : s->since > 1 ? LIFE_OSCILLATOR : LIFE_STILL;
    if (measure_period(s->lf, &s->now, id) < 0 || identify_objects(s->lf, &s->now, id) < 0)
        return -1;
    return 1;
}

/* Search the populations: 1 if the pattern is identified. */
static int identify_population(struct search *s)
{
    const uint64_t period = period_of_growth(s);
    if (!period)
        return 0;
    const uint64_t last = s->n - 1, before = last - period;
    if (s->population[last] > s->population[before])
        return identify_growth(s, period);
    if (s->population[last] < s->population[before])
        return 0;
    const int status = identify_objects(s->lf, &s->now, s->id);
    if (status < 0 || !s->id->objects)
        return status;
    s->id->kind = LIFE_OBJECTS;
    s->id->generation = s->origin + s->n / 2;
    return 1;
}

/* True if the population has become large, and its growth in the third and in the last quarter of
 * the time so far is 1.1 to 4 times that in the quarter before. A square has 1.67 and 1.4; a line
 * has 1, or a factor without bound if it begins late. */
static bool grows_quadratically(const struct search *s)
{
    const uint64_t last = s->n - 1, *p = s->population;
    if (s->origin || last % 64 || p[last] < QUADRATIC || p[last] < 8 * p[0])
        return false;
    for (uint64_t i = 2; i < 4; i++) {
        const double before = (double)p[i * last / 4] - (double)p[(i - 1) * last / 4],
                     after = (double)p[(i + 1) * last / 4] - (double)p[i * last / 4];
        if (after < 1.1 * before || after > 4 * before)
            return false;
    }
    return true;
}

/* True at generations 2^k and 3 2^k, whose populations are searched. */
static bool is_search_due(const struct search *s)
{
    const uint64_t last = s->n - 1, odd = last >> __builtin_ctzll(last | 1ull << 63);
    return last > FIRST_SEARCH && (odd == 1 || odd == 3);
}

/* Examine a generation: 1 if the pattern is identified. Cells are compared if the populations are
 * equal. */
static int examine_generation(struct search *s)
{
    const uint64_t population = s->population[s->n - 1];
    if (!population) {
        s->id->kind = LIFE_EXTINCT;
        s->id->generation = s->n - 1;
        return 1;
    }
    if (grows_quadratically(s)) {
        s->id->kind = LIFE_QUADRATIC;
        s->id->generation = s->n - 1;
        return 1;
    }
    const bool compare = s->since && s->since % s->unit == 0 && population == s->before.n,
               search = is_search_due(s);
    if (!compare && !search && s->since < s->power)
        return 0;
    if (identify_cells_take(s->lf, &s->now) < 0)
        return -1;
    if (compare && identify_cells_equal(&s->before, &s->now))
        return identify_recurrence(s);
    if (s->since >= s->power) {
        s->since = 0;
        s->power *= 2;
        if (identify_cells_take(s->lf, &s->before) < 0)
            return -1;
    }
    return search ? identify_population(s) : 0;
}

/* ---- Long periods. --------------------------------------------------------------------------- */

/* Fingerprint of cells, equal after a displacement. */
static uint64_t fingerprint(const struct identify_cells *s)
{
    uint64_t all = s->n;
    for (size_t i = 0; i < s->n; i++)
        all = life_mix(all ^ (uint64_t)(s->cell[i].x - s->left)) +
              life_mix((uint64_t)(s->cell[i].y - s->top) * 256 + s->cell[i].state);
    return all;
}

/* Advance by `generations`; 1 if the cells are those of `before`, up to a displacement. */
static int recurs_after(struct search *s, uint64_t generations)
{
    if (life_step(s->lf, generations) < 0 || identify_cells_take(s->lf, &s->now) < 0)
        return -1;
    return identify_cells_equal(&s->before, &s->now);
}

/* The fingerprint has recurred after `period` generations: 1 if the cells recur, with the pattern
 * identified by their least period. */
static int identify_long_period(struct search *s, uint64_t period)
{
    int status = period % s->unit ? 0 : identify_cells_take(s->lf, &s->before) < 0 ? -1 : 1;
    const uint64_t begin = generation_of(s);
    uint64_t done = 0;
    if (status == 1) {
        status = recurs_after(s, period);
        done += period;
    }
    for (uint64_t factor = 2, rest = period; factor <= rest && status == 1; factor++) {
        factor = factor * factor > rest ? rest : factor;
        while (rest % factor == 0 && status == 1) {
            rest /= factor;
            if (period / factor % s->unit)
                continue;
            status = recurs_after(s, period / factor);
            done += period / factor;
            period = status == 1 ? period / factor : period;
            /* back to a multiple of the period */
            if (status == 0) {
                status = recurs_after(s, period - period / factor);
                done += period - period / factor;
            }
        }
    }
    s->origin += done;
    if (status != 1)
        return status;
    s->since = period;
    status = identify_cells_take(s->lf, &s->before) < 0 ? -1 : recurs_after(s, period);
    status = status == 1 ? identify_recurrence(s) : status;
    if (status == 1)
        s->id->generation = begin;
    return status;
}

/* Take the populations and the fingerprints of the next JUMP generations. */
static int take_window(struct search *s, struct map *seen)
{
    s->origin += s->n - 1;
    s->n = 0;
    for (uint32_t j = 0; j < JUMP; j++) {
        if (identify_cells_take(s->lf, &s->now) < 0 || note_population(s) < 0)
            return -1;
        const uint64_t key = fingerprint(&s->now);
        if (map_get(seen, key) == MAP_NONE && !map_put(seen, key, j))
            return clerror_set(ENOMEM, "life: out of memory for %d generations", JUMP);
        if (j + 1 < JUMP && life_step(s->lf, 1) < 0)
            return -1;
    }
    return 0;
}

/* Jump until the fingerprint is one of the window's, at most `most` times. */
static int jump_to_recurrence(struct search *s, const struct map *seen, uint64_t most)
{
    const uint64_t begin = s->origin;
    int status = life_step(s->lf, 1);
    for (uint64_t i = 1; i <= most && status == 0; i++) {
        s->origin = begin + i * JUMP;
        s->n = 1;
        if (identify_cells_take(s->lf, &s->now) < 0)
            return -1;
        const uint32_t j = map_get(seen, fingerprint(&s->now));
        if (j != MAP_NONE)
            return identify_long_period(s, i * JUMP - j);
        status = i < most ? life_step(s->lf, JUMP) : 0;
    }
    return status;
}

/* Search up to generation `limit`, each time for twice as long. */
static int search_long_periods(struct search *s, uint64_t limit)
{
    int status = 0;
    while (status == 0 && generation_of(s) + 2 * JUMP <= limit) {
        struct map seen = {.entry = NULL};
        const uint64_t left = (limit - generation_of(s)) / JUMP, twice = generation_of(s) / JUMP;
        status = take_window(s, &seen);
        status = status == 0 ? identify_population(s) : status;
        status = status == 0 ? jump_to_recurrence(s, &seen, twice < left ? twice : left) : status;
        map_free(&seen);
    }
    if (status != 0 || generation_of(s) >= limit)
        return status;
    if (life_step(s->lf, limit - generation_of(s)) < 0)
        return -1;
    s->origin = limit;
    s->n = 0;
    return note_population(s);
}

/* Advance by a generation. Fails with ERANGE if the pattern has too many cells, or many so
 * irregular that HashLife computes most of them again in each generation. */
static int search_step(struct search *s)
{
    const uint64_t before = hash_steps(s->lf);
    if (life_step(s->lf, 1) < 0 || note_population(s) < 0)
        return -1;
    if (s->population[s->n - 1] > LARGE)
        s->steps += hash_steps(s->lf) - before;
    return s->steps <= MOST_STEPS
               ? 0
               : clerror_set(ERANGE,
                             "life: a pattern of more than %d cells changes too much to be "
                             "identified",
                             LARGE);
}

/* Leave a pattern unsettled that has too many cells. */
static int leave_large(struct search *s, int status)
{
    if (status >= 0 || clerrno != ERANGE)
        return status;
    *s->id = (struct life_identity){.kind = LIFE_UNSETTLED};
    return 0;
}

static int search_run(struct search *s, uint64_t limit)
{
    int status = identify_cells_take(s->lf, &s->first);
    status = status == 0 ? identify_cells_take(s->lf, &s->before) : status;
    status = status == 0 ? note_population(s) : status;
    status = status == 0 ? examine_generation(s) : status;
    for (uint64_t g = 0; g < limit && g < STEPPED && status == 0; g++) {
        s->since++;
        status = search_step(s);
        status = status == 0 ? examine_generation(s) : status;
        if (status < 0)
            return leave_large(s, status);
    }
    if (status != 0 || s->n <= FIRST_SEARCH)
        return status;
    if (limit > STEPPED)
        return leave_large(s, search_long_periods(s, limit));
    status = identify_cells_take(s->lf, &s->now);
    return leave_large(s, status == 0 ? identify_population(s) : status);
}

/* True if equal cells of even and of odd generations have different futures: two rules alternate,
 * or odd generations are stored inverted, B0 without S8. */
static bool stores_alternate(const life *lf)
{
    return lf->rule.alternates || (lf->rule.b0 && !life_table_next(&lf->rule.table, 511));
}

struct life_identity *life_identify(life *lf, uint64_t limit)
{
    if (no_handle(lf, "life_identify"))
        return NULL;
    if (lf->engine != LIFE_HASHLIFE) {
        clerror_set(ENOTSUP,
                    "life: patterns are identified on an unbounded plane by the engine "
                    "hashlife, not %s",
                    life_engine_name(lf->engine));
        return NULL;
    }
    struct search s = {.lf = lf, .power = 1, .unit = stores_alternate(lf) ? 2 : 1};
    s.id = calloc(1, sizeof *s.id);
    if (!s.id) {
        clerror_set(ENOMEM, "life: out of memory for an identity");
        return NULL;
    }
    const int status = search_run(&s, limit ? limit : DEFAULT_LIMIT);
    if (status >= 0 && !s.id->period) {
        s.id->least = s.id->most = s.population[s.n - 1];
        s.id->mean = (double)s.id->most;
    }
    if (status == 0)
        s.id->generation = generation_of(&s);
    identify_cells_free(&s.first);
    identify_cells_free(&s.before);
    identify_cells_free(&s.now);
    free(s.population);
    if (status >= 0)
        return s.id;
    life_identity_free(s.id);
    return NULL;
}
