/* sweep_host.c - sweeps rules by a table and Generations on the host's processors.
 *
 * A rule is a circuit as data (circuit_rows.c). Live cells are a bit each; dying cells of
 * Generations have a counter of up to eight bit planes, state - 1.
 *
 * Most soups recur long before they are observed. Their cells are compared with a copy, which is
 * replaced after 1, 2, 4, 8, ... generations (R. P. Brent, BIT 20 (1980) 176-184); once they are
 * equal, whole periods are left out.
 * SPDX-License-Identifier: MIT
 */
#include "life/sweep.h"

#include "core/clock.h"
#include "core/parallel_for.h"
#include "life/family.h"
#include "life/isa.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    SWEEP_PLANES = 9,  /* live cells, and the counter */
    SWEEP_ORDERS = 24, /* of circuits tried: more take longer than they save */
    SWEEP_PART = 16,   /* soups of a rule that a thread takes at a time */
    SWEEP_POLL = 64    /* generations between two looks at the clock */
};
static const double SWEEP_POLL_SECONDS = 0.05;

/* Rows of the live cells, then of the counter's planes. */
struct soup_cells {
    uint64_t plane[SWEEP_PLANES][SWEEP_SIDE];
};

struct sweep_rule {
    struct circuit_code code;
    circuit_rows *rows;
    unsigned states;
    size_t planes;
};

struct sweep_threads {
    struct sweep *s;
    const size_t *number;
    size_t parts_of_rule, parts; /* a part: up to SWEEP_PART soups of a rule */
    atomic_size_t next, ended;   /* parts */
    atomic_bool stop;
    pthread_t caller;
    double reported;      /* by the caller: time of its last report */
    pthread_mutex_t lock; /* protects the sweep */
};

/* ---- A generation. --------------------------------------------------------------------------- */

/* Dying cells grow older; live cells that do not survive begin to die. */
static void age_cells(struct soup_cells *cells, const struct sweep_rule *rule,
                      const uint64_t next[SWEEP_SIDE])
{
    uint64_t(*const counter)[SWEEP_SIDE] = cells->plane + 1;
    const size_t planes = rule->planes - 1;
    for (size_t y = 0; y < SWEEP_SIDE; y++) {
        uint64_t dying = 0;
        for (size_t k = 0; k < planes; k++)
            dying |= counter[k][y];
        uint64_t carry = dying, dead = dying;
        for (size_t k = 0; k < planes; k++) {
            const uint64_t bit = counter[k][y];
            counter[k][y] = bit ^ carry;
            carry &= bit;
            dead &= (rule->states - 1) >> k & 1 ? counter[k][y] : ~counter[k][y];
        }
        for (size_t k = 0; k < planes; k++)
            counter[k][y] &= ~dead;
        counter[0][y] |= cells->plane[0][y] & ~next[y];
        cells->plane[0][y] = next[y] & ~dying;
    }
}

static void advance_soup(struct soup_cells *cells, const struct sweep_rule *rule)
{
    uint64_t left[SWEEP_SIDE + 2], cell[SWEEP_SIDE + 2], right[SWEEP_SIDE + 2], next[SWEEP_SIDE];
    for (size_t y = 0; y < SWEEP_SIDE + 2; y++) {
        const uint64_t row = cells->plane[0][(y + SWEEP_SIDE - 1) % SWEEP_SIDE];
        cell[y] = row;
        left[y] = row << 1 | row >> 63;
        right[y] = row >> 1 | row << 63;
    }
    rule->rows(&rule->code,
               (const void *const[]){left, cell, right, left + 1, cell + 1, right + 1, left + 2,
                                     cell + 2, right + 2},
               next, sizeof next);
    if (rule->planes > 1)
        age_cells(cells, rule, next);
    else
        memcpy(cells->plane[0], next, sizeof next);
}

static bool same_cells(const struct soup_cells *a, const struct soup_cells *b, size_t planes)
{
    return memcmp(a->plane, b->plane, planes * sizeof *a->plane) == 0;
}

/* Number of cells in different states. */
static uint32_t count_changed(const struct soup_cells *a, const struct soup_cells *b, size_t planes)
{
    uint32_t n = 0;
    for (size_t y = 0; y < SWEEP_SIDE; y++) {
        uint64_t differs = 0;
        for (size_t k = 0; k < planes; k++)
            differs |= a->plane[k][y] ^ b->plane[k][y];
        n += (uint32_t)__builtin_popcountll(differs);
    }
    return n;
}

/* ---- A universe. ----------------------------------------------------------------------------- */

/* True if the sweep is to stop. The calling thread reports progress. */
static bool sweep_poll(struct sweep_threads *t)
{
    const double now = seconds_now();
    if (pthread_equal(t->caller, pthread_self()) && now - t->reported > SWEEP_POLL_SECONDS) {
        t->reported = now;
        pthread_mutex_lock(&t->lock);
        if (!atomic_load(&t->stop) && sweep_progress(t->s, 0) < 0)
            atomic_store(&t->stop, true);
        pthread_mutex_unlock(&t->lock);
    }
    return atomic_load(&t->stop);
}

/* Advance a soup until its observation begins. Return false if the sweep stops. */
static bool reach_observation(struct sweep_threads *t, const struct sweep_rule *rule,
                              struct soup_cells *now)
{
    const uint64_t end = t->s->generations;
    struct soup_cells mark;
    memcpy(mark.plane, now->plane, rule->planes * sizeof *now->plane);
    for (uint64_t g = 0, marked = 0, lap = 1; g < end;) {
        if (g % SWEEP_POLL == 0 && sweep_poll(t))
            return false;
        advance_soup(now, rule);
        g++;
        if (same_cells(now, &mark, rule->planes)) {
            g += (end - g) / (g - marked) * (g - marked);
        } else if (g - marked == lap) {
            memcpy(mark.plane, now->plane, rule->planes * sizeof *now->plane);
            marked = g;
            lap *= 2;
        }
    }
    return true;
}

static bool run_universe(struct sweep_threads *t, const struct sweep_rule *rule,
                         const uint64_t rows[SWEEP_SIDE], struct sweep_universe *u)
{
    static const struct soup_cells empty;
    struct soup_cells now, mark;
    memset(now.plane, 0, rule->planes * sizeof *now.plane);
    memcpy(now.plane[0], rows, sizeof *now.plane);
    *u = (struct sweep_universe){.period = 0};
    if (!reach_observation(t, rule, &now))
        return false;
    memcpy(mark.plane, now.plane, rule->planes * sizeof *now.plane);
    u->population = count_changed(&mark, &empty, rule->planes);
    for (uint32_t g = 1; g <= LIFE_SWEEP_PERIOD && !u->period; g++) {
        advance_soup(&now, rule);
        if (g == 1)
            u->changed = count_changed(&now, &mark, rule->planes);
        u->period = same_cells(&now, &mark, rule->planes) ? g : 0;
    }
    return true;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

static struct sweep_rule sweep_rule_of(const char *text)
{
    struct sweep_rule rule = {.rows = life_isa(0)->circuit_rows, .planes = 1};
    struct life_family family;
    struct life_circuit circuit;
    life_family_parse(text, &family); /* has been parsed before */
    life_circuit_search(&family.table, SWEEP_ORDERS, &circuit);
    circuit_code_make(&circuit, &rule.code);
    rule.states = family.states;
    for (unsigned last = rule.states - 1; rule.states > 2 && last; last >>= 1)
        rule.planes++;
    return rule;
}

static void run_part(struct sweep_threads *t, size_t part)
{
    struct sweep *s = t->s;
    const size_t number = t->number[part / t->parts_of_rule];
    const struct sweep_rule rule = sweep_rule_of(s->rule[number]);
    const size_t first = part % t->parts_of_rule * SWEEP_PART;
    for (size_t i = first; i < first + SWEEP_PART && i < s->soups; i++) {
        struct sweep_universe u;
        if (!run_universe(t, &rule, s->rows + i * SWEEP_SIDE, &u))
            return;
        pthread_mutex_lock(&t->lock);
        sweep_add(s, number, &u);
        pthread_mutex_unlock(&t->lock);
    }
    atomic_fetch_add(&t->ended, 1);
}

/* A thread's work. All threads stay until the end: none takes the part of the caller, which
 * reports progress. */
static void run_parts(void *threads, size_t thread)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    struct sweep_threads *t = threads;
    (void)thread;
    for (size_t part; !sweep_poll(t) && (part = atomic_fetch_add(&t->next, 1)) < t->parts;)
        run_part(t, part);
    while (!sweep_poll(t) && atomic_load(&t->ended) < t->parts)
        nanosleep(&moment, NULL);
}

int sweep_host(struct sweep *s, size_t n, const size_t *number)
{
    const size_t parts = (s->soups + SWEEP_PART - 1) / SWEEP_PART;
    struct sweep_threads t = {.s = s,
                              .number = number,
                              .parts_of_rule = parts,
                              .parts = n * parts,
                              .caller = pthread_self(),
                              .reported = seconds_now()};
    pthread_mutex_init(&t.lock, NULL);
    parallel_for(parallel_for_threads(PARALLEL_FOR_MOST), run_parts, &t);
    pthread_mutex_destroy(&t.lock);
    return atomic_load(&t.stop) ? -1 : sweep_progress(s, 0);
}
