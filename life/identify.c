/* identify.c - identifies a pattern on HashLife's plane: still life, oscillator, spaceship, gun,
 * rake, puffer, or several objects that never influence each other.
 *
 * Repetition is found by R. P. Brent's algorithm (BIT 20, 1980, 176): the cells are compared with
 * those of generation 2^k, up to a displacement, until generation 2^(k+1) replaces them. Longer
 * periods are found by baby steps and giant steps (D. Shanks, Proc. Symp. Pure Math. 20, 1971,
 * 415): the plane jumps by JUMP generations, and its fingerprint is looked up among those of
 * JUMP generations in sequence. A period of p generations takes p / JUMP jumps.
 *
 * Now and then the populations so far are searched for a period: linear growth, if HashLife
 * confirms it far ahead, is a gun, a rake or a puffer; no growth may be objects that never
 * influence each other, which are then identified one by one. Without a period, HashLife looks far
 * ahead for quadratic growth, which needs none.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "core/handle.h"
#include "life/counting.h"
#include "life/engine.h"
#include "life/hash.h"
#include "life/hash_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_LIMIT = 100000,
    FIRST_SEARCH = 256,          /* generation of the first search in the populations */
    STEPPED = 1 << 15,           /* generations before the plane jumps */
    JUMP = 1 << 12,              /* generations of a jump */
    EVERY_PHASE = 1 << 14,       /* longest period all of whose generations are measured */
    PHASES = 1 << 8,             /* about the least number of measured generations of longer ones */
    GROWTH_EVERY_PHASE = 1 << 9, /* longest period, and generations, of growth */
    GROWTH_PHASES = 1 << 6,
    PHASES_TURNED = 256,   /* phases whose symmetry is determined */
    LOOK_FIRST = 1 << 10,  /* generation of the first look for quadratic growth */
    GROWN = 256,           /* cells, beside a quarter, in growth that is large */
    QUADRATIC = 1 << 17,   /* cells from which growth may be quadratic */
    LARGE = 1 << 17,       /* cells from which work is limited */
    MOST_RESULTS = 1 << 20 /* of nodes, in all generations with more than LARGE cells: a second */
};

/* Limits of the looks at a pattern, in results of nodes and in cells. A result takes HashLife as
 * long as four cells of a separation, 0.4 microseconds. The free part takes 0.4 and 0.03 s; beyond
 * it looks for growth take about an eighth of the simulation's time, separations a sixteenth. */
enum { LOOK_FREE = 1 << 20, LOOK_PART = 8, SEPARATE_FREE = 1 << 18, SEPARATE_PART = 4 };

static const char *const kind_names[] = {
    "not settled",      "extinct", "still life", "oscillator", "spaceship",
    "separate objects", "gun",     "rake",       "puffer",     "quadratic growth"};

const char *life_kind_name(enum life_kind kind)
{
    return (unsigned)kind < sizeof kind_names / sizeof *kind_names ? kind_names[kind] : "";
}

/* ---- A period. ------------------------------------------------------------------------------- */

/* Largest power of two that is at most n > 0. */
static uint64_t power_below(uint64_t n)
{
    return (uint64_t)1 << (63 - __builtin_clzll(n));
}

/* Advance by a period and measure its populations and changes: of all generations, or of some
 * hundred at equal distances. HashLife forgets its results when the size of a step changes, so the
 * distance is a power of two, and 1. `now` are the cells at its start. *group receives the symmetry
 * of the most symmetric phase; NULL: it is not determined. */
static int measure_period(life *lf, struct identify_cells *now, struct life_identity *id,
                          size_t *group)
{
    struct identify_cells next = {.n = 0};
    const uint64_t every = group ? EVERY_PHASE : GROWTH_EVERY_PHASE,
                   least = group ? PHASES : GROWTH_PHASES,
                   jump = id->period <= every ? 0 : power_below(id->period / least),
                   phases = id->period / (jump + 1);
    double population = 0, changes = 0;
    int status = 0;
    id->least = id->most = now->n;
    for (uint64_t g = 0; g < phases && status == 0; g++) {
        if (group && g < PHASES_TURNED) {
            const size_t phase = identify_cells_group(now);
            *group = phase > *group ? phase : *group;
        }
        population += (double)now->n;
        id->least = now->n < id->least ? now->n : id->least;
        id->most = now->n > id->most ? now->n : id->most;
        status = life_step(lf, 1) < 0 ? -1 : identify_cells_take(lf, &next);
        changes += status == 0 ? (double)identify_cells_changed(now, &next) : 0;
        const struct identify_cells t = *now;
        *now = next;
        next = t;
        if (jump && status == 0)
            status = life_step(lf, jump) < 0 ? -1 : identify_cells_take(lf, now);
    }
    identify_cells_free(&next);
    id->mean = population / (double)phases;
    id->heat = changes / (double)phases;
    return status;
}

/* ---- The search. ----------------------------------------------------------------------------- */

struct search {
    life *lf;
    struct life_identity *id;
    struct identify_cells before, now; /* of generation 2^k, and the present one */
    uint64_t since, power;             /* generations from `before` on; 2^k */
    uint64_t *population;              /* of n generations from `origin` on */
    uint64_t origin, n, room, unit;    /* unit: 2 if odd generations are stored inverted */
    uint64_t limit;                    /* generation at which the search ends */
    uint64_t results;                  /* of nodes, in generations with more than LARGE cells */
    uint64_t look_results, last_look;  /* of nodes, in all looks for growth; in the last one */
    uint64_t separate_work;            /* cells */
    bool looked;                       /* for quadratic growth, to the end */
    bool recurs; /* all consists of objects that recur together before the limit */
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
    if (s->population[s->n] > IDENTIFY_MOST_CELLS)
        return clerror_set(ERANGE, "life: a pattern to identify may have up to %d live cells",
                           IDENTIFY_MOST_CELLS);
    s->n++;
    return 0;
}

/* Note the population after a jump to a generation, as the only one. If this fails, the last
 * population before the jump remains, with its generation. */
static int note_jump(struct search *s, uint64_t generation)
{
    if (note_population(s) < 0)
        return -1;
    s->population[0] = s->population[s->n - 1];
    s->origin = generation;
    s->n = 1;
    return 0;
}

/* True if the populations grow by the same number in each `period`, or by a number for each of its
 * phases: their second differences are 0 in the second half, and for three periods at least. */
static bool grows_by(const struct search *s, uint64_t period)
{
    const uint64_t last = s->n - 1, span = last / 2 > 3 * period ? last / 2 : 3 * period,
                   *p = s->population;
    for (uint64_t g = last; g >= last - span + 2 * period; g--)
        if (p[g] - p[g - period] != p[g - period] - p[g - 2 * period])
            return false;
    return true;
}

/* Smallest period of the growth, at most a fourth of the populations; 0: none. */
static uint64_t period_of_growth(const struct search *s)
{
    for (uint64_t period = s->unit; period < s->n / 4; period += s->unit)
        if (grows_by(s, period))
            return period;
    return 0;
}

/* Growth in a period, the mean of its phases. */
static double mean_growth(const struct search *s, uint64_t period)
{
    const uint64_t *p = s->population + s->n - 1;
    double sum = 0;
    for (uint64_t i = 0; i < period; i++)
        sum += (double)p[-(long long)i] - (double)p[-(long long)(i + period)];
    return sum / (double)period;
}

/* ---- Results of a search. -------------------------------------------------------------------- */

/* Results of nodes in the simulation, without looks. */
static uint64_t simulated_results(const struct search *s)
{
    return hash_results(s->lf) - s->look_results;
}

/* Separate the cells into objects, as far as work is left. */
static int separate_objects(struct search *s, struct identify_parts *parts)
{
    const uint64_t most = SEPARATE_FREE + simulated_results(s) / SEPARATE_PART;
    parts->work = most > s->separate_work ? most - s->separate_work : 0;
    const int status = identify_objects(s->lf, &s->now, parts, s->id);
    s->separate_work += parts->work;
    return status;
}

/* The cells have recurred. */
static int identify_recurrence(struct search *s)
{
    struct identify_parts parts = {.near = true};
    struct life_identity *id = s->id;
    id->period = s->since;
    id->dx = s->now.left - s->before.left;
    id->dy = s->now.top - s->before.top;
    id->generation = generation_of(s) - s->since;
    id->kind = id->dx || id->dy ? LIFE_SPACESHIP : s->since > 1 ? LIFE_OSCILLATOR : LIFE_STILL;
    size_t group = 0;
    if (measure_period(s->lf, &s->now, id, &group) < 0 || separate_objects(s, &parts) < 0)
        return -1;
    snprintf(id->symmetry, sizeof id->symmetry, "%s", identify_group_name(group));
    return 1;
}

/* The population grows regularly: 1 if the growth goes on. */
static int identify_growth(struct search *s, uint64_t period, double mean)
{
    const uint64_t *p = s->population + s->n - 1, growth = *p - p[-(long long)period];
    s->id->generation = s->origin + s->n / 2;
    const uint64_t before = hash_results(s->lf);
    const int status = identify_linear_growth(s->lf, &s->now, period, growth, mean, s->id);
    s->look_results += hash_results(s->lf) - before;
    if (status != 1)
        return status;
    return identify_cells_take(s->lf, &s->now) < 0 ||
                   measure_period(s->lf, &s->now, s->id, NULL) < 0
               ? -1
               : 1;
}

/* Look for quadratic growth at generations 2^k from 2^10 on, if the look can be twice as long as
 * the last one: 1 if there is some. */
static int identify_far_ahead(struct search *s)
{
    const uint64_t last = s->n - 1, begin = s->lf->generation - generation_of(s),
                   before = hash_results(s->lf),
                   most = LOOK_FREE + simulated_results(s) / LOOK_PART;
    if (s->looked || s->origin || last < LOOK_FIRST || (last & (last - 1)) ||
        most < s->look_results + 2 * s->last_look)
        return 0;
    const int status = identify_quadratic_growth(s->lf, most - s->look_results, s->id, &s->looked);
    s->last_look = hash_results(s->lf) - before;
    s->look_results += s->last_look;
    s->id->generation -= status == 1 ? begin : 0;
    return status;
}

/* True if the population has become much larger in the last quarter of the time. */
static bool has_grown(const struct search *s)
{
    const uint64_t last = s->n - 1, before = s->population[3 * last / 4];
    return s->population[last] > before + before / 4 + GROWN;
}

/* 1 if the pattern consists of separate objects; `periodic`: its population is periodic. If all of
 * them recur together before the limit, the search goes on until they do. */
static int identify_apart(struct search *s, bool periodic)
{
    struct identify_parts parts = {.near = periodic};
    struct life_identity *id = s->id;
    if (s->recurs || (!periodic && has_grown(s)))
        return 0;
    if (separate_objects(s, &parts) < 0)
        return -1;
    s->recurs = parts.together && parts.together <= (s->limit - generation_of(s)) / 4;
    if (s->recurs)
        identify_forget(id);
    if (!id->objects)
        return 0;
    id->kind = LIFE_OBJECTS;
    id->period = parts.together;
    id->least = id->most = parts.cells;
    id->generation = parts.near ? s->origin + s->n / 2 : generation_of(s) + parts.after;
    return 1;
}

/* Search the populations: 1 if the pattern is identified. */
static int identify_population(struct search *s)
{
    const uint64_t period = period_of_growth(s);
    const double mean = period ? mean_growth(s, period) : -1;
    const int status = mean > 0 ? identify_growth(s, period, mean) : identify_apart(s, period > 0);
    return status ? status : identify_far_ahead(s);
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

/* All cells are dead. After a jump they may have died in an earlier generation. */
static int identify_extinct(struct search *s)
{
    s->id->kind = LIFE_EXTINCT;
    s->id->generation = generation_of(s);
    return 1;
}

/* Examine a generation: 1 if the pattern is identified. Cells are compared if the populations are
 * equal. */
static int examine_generation(struct search *s)
{
    const uint64_t population = s->population[s->n - 1];
    if (!population)
        return identify_extinct(s);
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
        if (!s->population[j])
            return identify_extinct(s);
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
        if (identify_cells_take(s->lf, &s->now) < 0 || note_jump(s, begin + i * JUMP) < 0)
            return -1;
        if (!s->population[0])
            return identify_extinct(s);
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
    status = note_jump(s, limit);
    return status == 0 && !s->population[0] ? identify_extinct(s) : status;
}

/* Advance by a generation. Fails with ERANGE if the pattern has too many cells, or many so
 * irregular that HashLife computes most of them again in each generation. */
static int search_step(struct search *s)
{
    const uint64_t before = hash_results(s->lf);
    if (life_step(s->lf, 1) < 0 || note_population(s) < 0)
        return -1;
    if (s->population[s->n - 1] > LARGE)
        s->results += hash_results(s->lf) - before;
    return s->results <= MOST_RESULTS
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
    identify_forget(s->id);
    return 0;
}

static int search_run(struct search *s)
{
    const uint64_t limit = s->limit;
    int status = identify_cells_take(s->lf, &s->before);
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
    struct search s = {.lf = lf,
                       .power = 1,
                       .unit = stores_alternate(lf) ? 2 : 1,
                       .limit = limit ? limit : DEFAULT_LIMIT};
    s.id = calloc(1, sizeof *s.id);
    if (!s.id) {
        clerror_set(ENOMEM, "life: out of memory for an identity");
        return NULL;
    }
    const int status = search_run(&s);
    if (status >= 0 && (!s.id->period || s.id->kind == LIFE_OBJECTS)) {
        if (!s.id->most)
            s.id->least = s.id->most = s.population[s.n - 1];
        s.id->mean = (double)s.id->most;
    }
    if (status == 0)
        s.id->generation = generation_of(&s);
    identify_cells_free(&s.before);
    identify_cells_free(&s.now);
    free(s.population);
    if (status >= 0)
        return s.id;
    life_identity_free(s.id);
    return NULL;
}
