/* test_ranks.c - engines on ranks that are threads of one process: equal bits on 1, 2, 3, 4, 5
 * and 8 ranks (a sample, deep.h), with one device or two each, although messages are late.
 * SPDX-License-Identifier: MIT
 */
#include "ranks.h"
#include "deep.h"
#include "leak_count.h"

#include "gas/engine.h"
#include "life/packed.h"
#include "nbody/domain/tree_domain.h"
#include "stdcl/gas.h"
#include "stdcl/life.h"
#include "stdcl/matmul.h"
#include "stdcl/nbody.h"

#include <malloc.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { MOST_DEVICES = 2 };
static cl_device_id device[MOST_DEVICES];
static size_t devices;
static const int sizes[] = {1, 2, 3, 4, 5, 8};
enum { SIZES = sizeof sizes / sizeof *sizes };

#define WRONG(...) clerror_set(EPROTO, __VA_ARGS__)

static bool thorough,
    orders; /* all numbers of ranks for each case; random arrival orders of messages */
static size_t counts = SIZES; /* number of tested sizes; on GPUs, where contexts and kernels take
                                 long to create, only few ranks */

/* Run with random arrival orders of messages: one, or many with the argument "orders". */
static void in_orders(int (*run)(struct rank_run *r), void *arg, size_t which)
{
    enum { MANY = 4 };
    const struct ranks_how how = {.arg = arg, .what = ORDER_COLLECTIVE};
    for (int size = 2; orders && size <= 3; size++) {
        ranks_in_every_order(size, run, how, MANY, 0, false);
        ranks_in_every_order(size, run, how, MANY, which + 1, false);
    }
    if (!orders && !thorough && sampled(which + 3, 6))
        ranks_in_every_order(2 + (int)which % 2, run, how, 1, which + 1, false);
}

/* Run a case on one number of ranks, a different one for each case. Every third run has its ranks
 * on two hosts. */
static void on_some(int (*run)(struct rank_run *r), void *arg, size_t which)
{
    static const char *const two[] = {"a", "b", "b", "a", "a", "b", "a", "b"};
    in_orders(run, arg, which);
    for (size_t k = 0; k < (thorough ? SIZES : counts) && !orders; k++)
        if (thorough || sampled(k + which, counts))
            ranks_work(sizes[k], run,
                       (struct ranks_how){.delay = 300,
                                          .seed = (unsigned)k,
                                          .polled = (k + which) % 2 == 0,
                                          .hosts = (k + which) % 3 == 0 ? two : NULL,
                                          .arg = arg});
}

static CLCONTEXT *open_rank_devices(void)
{
    return clcontext_create_from(device, devices);
}

/* ---- The gas. -------------------------------------------------------------------------------- */

struct gas_case {
    uint64_t n;
    enum gas_storage storage;
    enum gas_source source;
    enum arrays_type type;
    enum arrays_accumulator accumulator;
    struct gas_energy energy; /* alone */
    uint64_t count[33];
};

/* Give the gas this rank's velocities, as a gas of equal seed draws them; then the last of them
 * again. */
static int give(const struct gas_case *c, gas *g, CLCONTEXT *cp, stdcl_world *w)
{
    const struct gas_options options = {.ctx = cp, .n = c->n, .seed = 5};
    uint64_t first, count;
    gas_partition(w, world_rank(w), c->n, &first, &count);
    gas *drawn = c->source == GAS_GIVEN ? gas_create(&options) : NULL;
    double(*v)[3] = malloc((count + 1) * sizeof *v), last[1][3];
    int status = !drawn || (gas_velocities(drawn, first, count, v) == 0 &&
                            gas_set_velocities(g, (const double(*)[3])v) == 0)
                     ? 0
                     : -1;
    if (status == 0 && c->storage == GAS_STORED && drawn && count > 0 &&
        (gas_velocities(g, first + count - 1, 1, last) != 0 ||
         fabs(last[0][2] - v[count - 1][2]) > 1e-6))
        status = WRONG("the last velocity is %g, not %g", last[0][2], v[count - 1][2]);
    if (status == 0 && c->storage == GAS_STORED && first > 0 &&
        (gas_velocities(g, 0, 1, last) == 0 || clerrno != EINVAL))
        status = WRONG("a rank has velocities of another");
    gas_free(drawn);
    free(v);
    return status;
}

static int gas_alone(struct gas_case *c, CLCONTEXT *cp, stdcl_world *w)
{
    gas *g = gas_create(&(struct gas_options){.ctx = cp,
                                              .n = c->n,
                                              .seed = 5,
                                              .storage = c->storage,
                                              .source = c->source,
                                              .type = c->type,
                                              .accumulator = c->accumulator,
                                              .world = w});
    const int status = g && give(c, g, cp, w) == 0 && gas_measure(g, &c->energy) == 0 &&
                               gas_histogram(g, 6, 32, c->count) == 0
                           ? 0
                           : -1;
    gas_free(g);
    return status;
}

static int gas_ranks(struct rank_run *r)
{
    const struct gas_case *right = r->arg;
    struct gas_case own = {.n = right->n,
                           .storage = right->storage,
                           .source = right->source,
                           .type = right->type,
                           .accumulator = right->accumulator};
    CLCONTEXT *cp = open_rank_devices();
    if (!cp || gas_alone(&own, cp, r->world) != 0)
        return -1;
    clcontext_destroy(cp);
    if (memcmp(&own.energy, &right->energy, sizeof own.energy) != 0)
        return WRONG("%llu molecules: %.17g, not %.17g", (unsigned long long)own.n,
                     own.energy.mean_energy, right->energy.mean_energy);
    return memcmp(own.count, right->count, sizeof own.count) == 0 ? 0 : WRONG("other counts");
}

static void ranks_gas_bits_are_equal(void **state)
{
    (void)state;
    static const struct gas_case cases[] = {
        {.n = 1},
        {.n = 40000},
        {.n = 1500000}, /* less than a block, two blocks, many */
        {.n = 1, .storage = GAS_STORED},
        {.n = 1500000, .storage = GAS_STORED},
        {.n = 200000, .storage = GAS_STORED, .source = GAS_HOST},
        {.n = 200000,
         .storage = GAS_STORED,
         .source = GAS_GIVEN,
         .accumulator = ARRAYS_COMPENSATED},
        {.n = 200000, .storage = GAS_STORED, .type = ARRAYS_DOUBLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gas_case c = cases[i];
        CLCONTEXT *cp = open_rank_devices();
        bool doubles = false;
        works(arrays_have_doubles(cp, 0, clgetndev(cp), &doubles));
        c.type = doubles ? c.type : ARRAYS_FLOAT;
        works(gas_alone(&c, cp, NULL));
        works(clcontext_destroy(cp));
        on_some(gas_ranks, &c, i);
    }
}

/* Rank 1 is slow: it pauses at each progress call. The other ranks get more of the remaining
 * blocks, and no bit changes. */
static int gas_rest(void *arg, uint64_t done)
{
    (void)done;
    if (*(const int *)arg == 1)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return 0;
}

static int gas_unlike(struct rank_run *r)
{
    const struct gas_case *right = r->arg;
    struct gas_energy e;
    uint64_t count[33];
    CLCONTEXT *cp = open_rank_devices();
    gas *g = gas_create(&(struct gas_options){.ctx = cp,
                                              .n = right->n,
                                              .seed = 5,
                                              .world = r->world,
                                              .progress = gas_rest,
                                              .arg = &r->rank});
    int status = g ? gas_measure(g, &e) : -1;
    if (status == 0 && memcmp(&e, &right->energy, sizeof e) != 0)
        status = WRONG("%.17g, not %.17g", e.mean_energy, right->energy.mean_energy);
    if (status == 0 && (!g->speed || g->speed[1] <= 0))
        status = WRONG("shares were not revised");
    if (status == 0)
        status = gas_histogram(g, 6, 32, count);
    if (status == 0 && memcmp(count, right->count, sizeof count) != 0)
        status = WRONG("other counts");
    gas_free(g);
    clcontext_destroy(cp);
    return status;
}

static void ranks_gas_is_balanced_by_speed(void **state)
{
    (void)state;
    struct gas_case c = {
        .n = 8000000}; /* 123 blocks: some rounds on up to 5 ranks with two devices */
    CLCONTEXT *cp = open_rank_devices();
    works(gas_alone(&c, cp, NULL));
    works(clcontext_destroy(cp));
    setenv("STDCL_SLICE", "1e-9", 1); /* rounds of few blocks */
    for (int ranks = 2; ranks <= 5; ranks++)
        if (thorough || sampled((size_t)ranks, 2))
            ranks_work(ranks, gas_unlike,
                       (struct ranks_how){
                           .delay = 300, .seed = (unsigned)ranks, .polled = ranks == 3, .arg = &c});
    unsetenv("STDCL_SLICE");
}

/* The last rank is too slow to get any block, where the last bunch of blocks is short. */
static int gas_of_one_rank(struct rank_run *r)
{
    struct gas_case *right = r->arg;
    struct gas_energy e;
    uint64_t count[33], all = 0;
    CLCONTEXT *cp = open_rank_devices();
    gas *g =
        gas_create(&(struct gas_options){.ctx = cp, .n = right->n, .seed = 5, .world = r->world});
    int status = g && (g->speed = calloc(2, sizeof *g->speed)) ? 0 : -1;
    if (status == 0) {
        g->speed[0] = 1e6;
        g->speed[1] = 1;
        status = gas_measure(g, &e) == 0 ? gas_histogram(g, 6, 32, count) : -1;
    }
    for (int b = 0; b < 33 && status == 0; b++)
        all += count[b];
    if (status == 0 && (all != right->n || fabs(e.sigmas) > 6))
        status = WRONG("%llu molecules, %g sigmas", (unsigned long long)all, e.sigmas);
    gas_free(g);
    clcontext_destroy(cp);
    return status;
}

static void ranks_gas_leaves_slow_rank_out(void **state)
{
    (void)state;
    struct gas_case c = {.n = 513 * 32768 + 1}; /* two bunches of 256 blocks, and two blocks */
    ranks_work(2, gas_of_one_rank, (struct ranks_how){.arg = &c});
}

/* One rank's `progress` cancels the sum for all. */
static int leave_off(void *arg, uint64_t done)
{
    (void)done;
    return *(const int *)arg == 1;
}

static int gas_stops(struct rank_run *r)
{
    struct gas_energy e;
    CLCONTEXT *cp = open_rank_devices();
    gas *g = gas_create(&(struct gas_options){
        .ctx = cp, .n = 30000000, .world = r->world, .progress = leave_off, .arg = &r->rank});
    if (!g)
        return -1;
    const int status = gas_measure(g, &e), code = clerrno;
    gas_free(g);
    clcontext_destroy(cp);
    if (status != -1 || code != ECANCELED)
        return WRONG("status %d, clerrno %d", status, code);
    return 0;
}

static int gas_is_refused(struct rank_run *r)
{
    CLCONTEXT *cp = open_rank_devices();
    const bool made = gas_create(&(struct gas_options){.ctx = cp,
                                                       .n = 100,
                                                       .storage = GAS_STORED,
                                                       .method = ARRAYS_TREE,
                                                       .world = r->world}) != NULL;
    const int code = clerrno;
    clcontext_destroy(cp);
    return !made && code == ENOTSUP ? 0 : WRONG("clerrno %d", code);
}

static void ranks_gas_errors_end_all(void **state)
{
    (void)state;
    setenv("STDCL_SLICE", "1e-9", 1);
    ranks_work(3, gas_stops, (struct ranks_how){0});
    unsetenv("STDCL_SLICE");
    ranks_work(2, gas_is_refused, (struct ranks_how){0});
}

/* ---- Life. ----------------------------------------------------------------------------------- */

struct life_case {
    size_t width, height;
    enum life_bounds bounds;
    double density;
    const char *shape;
    struct life_cells cells; /* in plain C, after all generations */
    uint64_t population;
};
static const uint64_t steps[] = {1, 7, 70}; /* with halos of several launches, and a rest */
enum { STEPS = sizeof steps / sizeof *steps, TRACED = 5 };

/* A soup; a glider across the seam of bands in the middle; steps, then the bands are
 * rebalanced. The last steps are checked one by one. */
static int life_run(struct life_case *c, life *lf, struct life_sample *last)
{
    uint64_t glider[3] = {2, 4, 7};
    const struct life_cells cells = {3, 3, 1, glider};
    if (!lf || life_soup(lf, c->density, 3) != 0 ||
        life_put(lf, (long long)c->width / 2, (long long)c->height / 2 - 1, &cells) != 0)
        return -1;
    for (size_t k = 0; k < STEPS; k++)
        if (life_step(lf, steps[k]) != 0 ||
            life_set_weight(lf, 1 + (double)((size_t)world_rank(lf->world) + k) / 2) != 0)
            return -1;
    return life_trace(lf, TRACED, last);
}

static int life_end(struct life_case *c, life *lf)
{
    return life_get(lf, 0, 0, &c->cells) != 0 ? -1 : life_population(lf, &c->population);
}

static struct life_options life_case_options(const struct life_case *c, CLCONTEXT *cp,
                                             stdcl_world *w)
{
    return (struct life_options){.ctx = cp,
                                 .width = c->width,
                                 .height = c->height,
                                 .bounds = c->bounds,
                                 .shape = c->shape,
                                 .world = w};
}

static int compare_life(const struct life_case *own, const struct life_case *right, bool first)
{
    const size_t bytes = own->cells.stride * own->height * 8;
    if (first && memcmp(own->cells.word, right->cells.word, bytes) != 0)
        return WRONG("other cells, %zu x %zu", own->width, own->height);
    return own->population == right->population
               ? 0
               : WRONG("population %llu", (unsigned long long)own->population);
}

/* Events of edges sent early still exist, although other ranks have waited for them. */
static int check_events(const life *lf)
{
    const struct packed *p = lf->state;
    for (size_t k = 0; k < p->transfers; k++) {
        cl_uint owners = 0;
        const cl_event sent = p->transfer[k].ev_download;
        if (sent && (clGetEventInfo(sent, CL_EVENT_REFERENCE_COUNT, sizeof owners, &owners, NULL) !=
                         CL_SUCCESS ||
                     owners < 1))
            return WRONG("the event of edge %zu is kept and was released", k);
    }
    return 0;
}

/* Views of the current state, straight from the devices: a rectangle across a torus's edges, and
 * counts of squares. */
static int compare_pictures(life *lf, const struct life_case *right, bool first)
{
    enum { ZOOM = 3, SIDE = 1 << ZOOM, WIDTH = 60 };
    const size_t w = right->width, h = right->height, tall = h / 3, across = (w + SIDE - 1) / SIDE,
                 down = (h + SIDE - 1) / SIDE;
    const size_t x = right->bounds == LIFE_TORUS ? w - 7 : 3,
                 y = right->bounds == LIFE_TORUS ? h - tall / 2 : h / 2 - tall / 2;
    struct life_cells part;
    uint64_t *count = calloc(across * down, sizeof *count);
    if (life_cells_alloc(&part, WIDTH, tall) < 0 ||
        life_get(lf, (long long)x, (long long)y, &part) < 0 ||
        life_density(lf, 0, 0, across, down, ZOOM, count) < 0)
        return -1;
    int status = 0;
    for (size_t k = 0; first && k < WIDTH * tall; k++)
        if (life_cells_at(&part, k % WIDTH, k / WIDTH) !=
            life_cells_at(&right->cells, (x + k % WIDTH) % w, (y + k / WIDTH) % h))
            status = WRONG("another cell %zu of a rectangle", k);
    for (size_t k = 0; k < across * down; k++) {
        uint32_t live = 0;
        for (size_t c = 0; c < SIDE * SIDE; c++) {
            const size_t i = k % across * SIDE + c % SIDE, j = k / across * SIDE + c / SIDE;
            live += i < w && j < h && life_cells_at(&right->cells, i, j);
        }
        if (count[k] != live)
            status = WRONG("square %zu has %llu live cells, not %u", k,
                           (unsigned long long)count[k], live);
    }
    life_cells_free(&part);
    free(count);
    return status;
}

/* Fail unless the grid is divided as its shape requests. */
static int check_life_blocks(const life *lf, const struct life_case *c)
{
    const struct packed *p = lf->state;
    const char *across = c->shape ? strstr(c->shape, "across=") : NULL;
    return !across || (strtoul(across + 7, NULL, 10) == p->across && lf->own < lf->words)
               ? 0
               : WRONG("%zu blocks side by side", p->across);
}

static int life_ranks(struct rank_run *r)
{
    const struct life_case *right = r->arg;
    struct life_case own = *right;
    struct life_sample last[TRACED];
    CLCONTEXT *cp = open_rank_devices();
    const struct life_options options = life_case_options(&own, cp, r->world);
    life *lf = life_create(&options);
    int status = life_cells_alloc(&own.cells, own.width, own.height);
    if (status == 0)
        status = life_run(&own, lf, last);
    if (status == 0)
        status = compare_pictures(lf, right, r->rank == 0);
    if (status == 0)
        status = life_end(&own, lf);
    if (status == 0)
        status = check_events(lf);
    if (status == 0)
        status = check_life_blocks(lf, right);
    if (status == 0)
        status = compare_life(&own, right, r->rank == 0);
    if (status == 0 &&
        (last[TRACED - 1].population != right->population || last[0].generation != 79))
        status = WRONG("generation %llu was traced, with population %llu",
                       (unsigned long long)last[0].generation,
                       (unsigned long long)last[TRACED - 1].population);
    life_free(lf);
    life_cells_free(&own.cells);
    clcontext_destroy(cp);
    return status;
}

static void ranks_life_cells_are_equal(void **state)
{
    (void)state;
    struct life_case cases[] = {
        {100, 400, LIFE_TORUS, 0.3, NULL, {0}, 0},
        {130, 401, LIFE_PLANE, 0, NULL, {0}, 0}, /* rand(): one sequence for all ranks */
        {64, 2500, LIFE_TORUS, 0.5, "generations=4 exchange=4", {0}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct life_case *c = &cases[i];
        struct life_options options = life_case_options(c, NULL, NULL);
        struct life_sample last[TRACED];
        options.engine = LIFE_REFERENCE;
        options.shape = NULL;
        life *lf = life_create(&options);
        works(life_cells_alloc(&c->cells, c->width, c->height));
        works(life_run(c, lf, last));
        works(life_end(c, lf));
        life_free(lf);
        on_some(life_ranks, c, i);
        life_cells_free(&c->cells);
    }
}

/* Ranks in blocks: side by side and one below the other, with a partial word; glider and soup
 * cross the corners. */
static void ranks_life_blocks_cells_are_equal(void **state)
{
    (void)state;
    static const struct {
        int ranks;
        struct life_case c;
    } cases[] = {
        {2, {640, 200, LIFE_TORUS, 0.3, "across=2 generations=5", {0}, 0}}, /* each its own rows: no
                                                                               halo of rows */
        {4, {832, 401, LIFE_TORUS, 0.4, "across=2 generations=8", {0}, 0}},
        {4, {1024, 150, LIFE_PLANE, 0, "across=4", {0}, 0}},
        {3, {832, 90, LIFE_PLANE, 0.3, "across=3 generations=7", {0}, 0}},
        {8, {1024, 400, LIFE_PLANE, 0.5, "across=4 generations=3 exchange=9", {0}, 0}},
        {8, {576, 700, LIFE_TORUS, 0.3, "across=2", {0}, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct life_case c = cases[i].c;
        struct life_options options = life_case_options(&c, NULL, NULL);
        struct life_sample last[TRACED];
        if (!thorough && (!sampled(i, 2) || (cases[i].ranks > 3 && counts < SIZES)))
            continue;
        options.engine = LIFE_REFERENCE;
        options.shape = NULL;
        life *lf = life_create(&options);
        works(life_cells_alloc(&c.cells, c.width, c.height));
        works(life_run(&c, lf, last));
        works(life_end(&c, lf));
        life_free(lf);
        ranks_work(
            cases[i].ranks, life_ranks,
            (struct ranks_how){.delay = 300, .seed = (unsigned)i, .polled = i % 2, .arg = &c});
        life_cells_free(&c.cells);
    }
}

/* Wait for a repetition together, and cancel together when one rank's caller does. */
static int tell_life(void *arg, double fraction)
{
    (void)fraction;
    return *(const int *)arg == 2;
}

static int life_ends(struct rank_run *r)
{
    uint64_t period, from, blinker[1] = {7};
    CLCONTEXT *cp = open_rank_devices();
    const struct life_cells cells = {3, 1, 1, blinker};
    life *lf = life_create(
        &(struct life_options){.ctx = cp, .width = 64, .height = 200, .world = r->world});
    if (!lf || life_put(lf, 20, 66, &cells) != 0 ||
        life_until_stable(lf, 100, &period, &from, NULL, NULL) != 0)
        return -1;
    life_free(lf);
    if (period != 2 || from != 0)
        return WRONG("period %llu from %llu on", (unsigned long long)period,
                     (unsigned long long)from);
    lf = life_create(&(struct life_options){.ctx = cp,
                                            .width = 64,
                                            .height = 200,
                                            .world = r->world,
                                            .progress = tell_life,
                                            .arg = &r->rank});
    const int status = lf ? life_step(lf, (uint64_t)1 << 40) : 0, code = clerrno;
    const uint64_t done = lf ? life_generation(lf) : 0;
    life_free(lf);
    clcontext_destroy(cp);
    uint64_t sum = done;
    if (world_add(r->world, &sum, 1) != 0)
        return -1;
    return status == -1 && code == ECANCELED && done > 0 && sum == done * (uint64_t)r->size
               ? 0
               : WRONG("ended with %d", code);
}

static int life_refuses(struct rank_run *r)
{
    CLCONTEXT *cp = open_rank_devices();
    life *other = life_create(&(struct life_options){
        .ctx = cp, .engine = LIFE_GLOBAL, .width = 64, .height = 64, .world = r->world});
    const int code = clerrno;
    life *small =
        life_create(&(struct life_options){.ctx = cp, .width = 64, .height = 2, .world = r->world});
    const int rows = clerrno;
    clcontext_destroy(cp);
    return !other && code == ENOTSUP && !small && rows == EINVAL
               ? 0
               : WRONG("clerrno %d and %d", code, rows);
}

static void ranks_life_errors_end_all(void **state)
{
    (void)state;
    ranks_work(3, life_ends, (struct ranks_how){0});
    ranks_work(3, life_refuses, (struct ranks_how){0});
}

/* ---- Gravity. -------------------------------------------------------------------------------- */

enum { MOST_BODIES = 2900 };
struct nbody_case {
    size_t n;
    enum nbody_integrator integrator;
    enum nbody_precision precision;
    enum nbody_method method;
    bool one;    /* all on rank 0 */
    bool slices; /* each rank passes a part of the bodies */
    bool moves;  /* rows move between ranks */
    double mass[MOST_BODIES], pos[MOST_BODIES][3], vel[MOST_BODIES][3]; /* at the start */
    double end[MOST_BODIES][3], speed[MOST_BODIES][3], acc[MOST_BODIES][3], potential[MOST_BODIES];
    struct nbody_diagnostics energy;
};

/* A rank's slice of n bodies: rank 0's is the smallest, the last one's the largest. */
static size_t slice_first(const struct rank_run *r, int rank, size_t n)
{
    return n * (size_t)(rank * (rank + 1)) / (size_t)(r->size * (r->size + 1));
}

/* The arrays of results begin with body `first`. */
static int nbody_run(struct nbody_case *c, nbody *nb, size_t first)
{
    if (!nb)
        return -1;
    nbody_set_clock(nb, 0, 254); /* two steps before the bodies are sorted again */
    int status = nbody_step(nb, c->moves ? 24 : 3);
    if (status == 0)
        status = nbody_diagnose(nb, &c->energy);
    if (status == 0)
        status = nbody_step(nb, 2);
    if (status == 0)
        status = nbody_forces(nb, c->acc + first, c->potential + first);
    return status == 0 ? nbody_state(nb, c->end + first, c->speed + first) : -1;
}

/* Samples of some bodies in any order, as pictures need them, equal the whole state, rounded. */
static int compare_sample(nbody *nb, const struct nbody_case *right)
{
    enum { SOME = 37 };
    float pos[SOME][3], vel[SOME][3];
    uint32_t which[SOME];
    for (uint32_t k = 0; k < SOME; k++)
        which[k] = (uint32_t)(k * 7919 % right->n);
    if (nbody_positions(nb, SOME, which, pos, vel) != 0 ||
        nbody_positions(nb, 0, NULL, NULL, NULL) != 0)
        return -1;
    for (size_t k = 0; k < SOME; k++)
        for (int c = 0; c < 3; c++)
            if (pos[k][c] != (float)right->end[which[k]][c] ||
                vel[k][c] != (float)right->speed[which[k]][c])
                return WRONG("body %u of a picture is elsewhere, integrator %d", (unsigned)which[k],
                             (int)right->integrator);
    return 0;
}

enum { ON_A_CURVE = 1400 }; /* smallest number of bodies sorted along a curve in this test */

static struct nbody_options make_case_nbody(const struct nbody_case *c, CLCONTEXT *cp,
                                            stdcl_world *w)
{
    return (struct nbody_options){.ctx = cp,
                                  .eps = 0.05,
                                  .dt = 0.01,
                                  .integrator = c->integrator,
                                  .precision = c->precision,
                                  .burst = 2,
                                  .method = c->method,
                                  .accuracy = c->moves ? 0.02 : 0,
                                  .world = w,
                                  .shape = c->n == ON_A_CURVE ? "cluster_min=256" : NULL};
}

static nbody *open_case(const struct nbody_case *c, CLCONTEXT *cp, stdcl_world *w)
{
    const struct nbody_options options = make_case_nbody(c, cp, w);
    return nbody_create(&options, c->n, c->mass, (const double(*)[3])c->pos,
                        (const double(*)[3])c->vel);
}

/* Ranks of one host share memory, unless the size of files is limited. */
static int check_host_memory(const nbody *nb, const struct rank_run *r)
{
    struct rlimit most;
    bool alone = true;
    getrlimit(RLIMIT_FSIZE, &most);
    for (int other = 0; nb->domain.tree && other < r->size; other++) {
        const bool same = strcmp(world_host(r->world, other), world_host(r->world, r->rank)) == 0;
        alone &= !same || other == r->rank;
        if (other != r->rank &&
            nbody_host_memory_shared(nb, other) != (same && most.rlim_cur == RLIM_INFINITY))
            return WRONG("rank %d on host %s", other, world_host(r->world, other));
    }
    if (nb->domain.tree && !alone && most.rlim_cur == RLIM_INFINITY &&
        (nbody_host_memory_alloc(nb, r->rank, (size_t)1 << 40, 4096) || clerrno != ENOMEM ||
         !strstr(clerror(), "memory that ranks of a host share")))
        return WRONG("a region beyond the file: %s", clerror());
    return nb->domain.tree && alone && nbody_host_memory_shared(nb, r->rank) ? WRONG("a lone rank")
                                                                             : 0;
}

static int nbody_ranks(struct rank_run *r)
{
    const struct nbody_case *right = r->arg;
    struct nbody_case *own = malloc(sizeof *own);
    CLCONTEXT *cp = open_rank_devices();
    *own = *right;
    struct nbody_options options = make_case_nbody(own, cp, r->world);
    const double share[MOST_DEVICES] = {r->rank ? 1e-9 : 1, 1e-9}, equal[MOST_DEVICES] = {1, 1};
    options.shares = own->one ? share : own->moves ? equal : NULL;
    const size_t first = own->slices ? slice_first(r, r->rank, own->n) : 0,
                 end = own->slices ? slice_first(r, r->rank + 1, own->n) : MOST_BODIES,
                 count = end - first;
    options.first = first;
    options.count = own->slices ? count : 0;
    nbody *nb =
        nbody_create(&options, own->n, own->mass + first, (const double(*)[3])(own->pos + first),
                     (const double(*)[3])(own->vel + first));
    memset(own->end, 0, sizeof own->end);
    memset(own->speed, 0, sizeof own->speed);
    memset(own->acc, 0, sizeof own->acc);
    memset(own->potential, 0, sizeof own->potential);
    int status = nbody_run(own, nb, first);
    if (status == 0)
        status = check_host_memory(nb, r);
    if (status == 0)
        status = compare_sample(nb, right);
    if (status == 0 && own->moves && r->size > 1 && nb->domain.tree->repartitioned_at <= 0)
        status = WRONG("no rows have moved between %d ranks", r->size);
    if (status == 0 && memcmp(&own->energy, &right->energy, sizeof own->energy) != 0)
        status = WRONG("energy %.17g, not %.17g", own->energy.total, right->energy.total);
    if (status == 0 &&
        (memcmp(own->end[first], right->end[first], count * sizeof *own->end) != 0 ||
         memcmp(own->speed[first], right->speed[first], count * sizeof *own->speed) != 0))
        status = WRONG("%zu final positions at half the step differ, integrator %d", own->n,
                       (int)own->integrator);
    if (status == 0 && (memcmp(own->acc[first], right->acc[first], count * sizeof *own->acc) != 0 ||
                        memcmp(own->potential + first, right->potential + first,
                               count * sizeof *own->potential) != 0))
        status = WRONG("other forces");
    nbody_free(nb);
    clcontext_destroy(cp);
    free(own);
    return status;
}

/* Two ranks of one host exchange messages if the size of files is limited. */
static void two_ranks_without_host_memory(struct nbody_case *c)
{
    struct rlimit usual, limited;
    works(getrlimit(RLIMIT_FSIZE, &usual));
    limited = usual;
    limited.rlim_cur = (rlim_t)1 << 40;
    works(setrlimit(RLIMIT_FSIZE, &limited));
    ranks_work(2, nbody_ranks, (struct ranks_how){.arg = c});
    works(setrlimit(RLIMIT_FSIZE, &usual));
}

static void ranks_nbody_bits_are_equal(void **state)
{
    (void)state;
    enum { ON_ONE = 512, MOVES = 2800 }; /* as if all other devices were far slower; rows move */
    enum { TWO_DOMAINS = 100 };          /* a third rank has none */
    static const struct {
        size_t n;
        enum nbody_integrator integrator;
        enum nbody_precision precision;
        enum nbody_method method;
    } cases[] = {{MOST_BODIES, NBODY_LEAPFROG, NBODY_SINGLE, NBODY_AUTO},
                 {1001, NBODY_HERMITE4, NBODY_DOUBLE, NBODY_AUTO},
                 {1500, NBODY_YOSHIDA4, NBODY_MIXED, NBODY_AUTO},
                 {3, NBODY_TAYLOR, NBODY_SINGLE, NBODY_AUTO},
                 {MOST_BODIES, NBODY_LEAPFROG, NBODY_SINGLE, NBODY_TREE},
                 {40, NBODY_LEAPFROG, NBODY_SINGLE, NBODY_TREE},
                 {MOVES, NBODY_LEAPFROG, NBODY_SINGLE, NBODY_TREE},
                 {ON_ONE, NBODY_LEAPFROG, NBODY_MIXED, NBODY_DIRECT},
                 {ON_A_CURVE, NBODY_LEAPFROG, NBODY_MIXED, NBODY_DIRECT},
                 {TWO_DOMAINS, NBODY_LEAPFROG, NBODY_SINGLE, NBODY_TREE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nbody_case *c = calloc(1, sizeof *c);
        struct cldev_info info[64];
        CLCONTEXT *cp = open_rank_devices();
        works(clgetdevinfo(cp, info));
        c->n = cases[i].n;
        c->integrator = cases[i].integrator;
        c->method = cases[i].method;
        c->one = c->n == ON_ONE;
        c->moves = c->n == MOVES;
        c->precision = info[0].dev_pref_vec_double ? cases[i].precision : NBODY_SINGLE;
        works(nbody_initial(NBODY_PLUMMER, c->n, 4, c->mass, c->pos, c->vel));
        const struct nbody_options options = make_case_nbody(c, cp, NULL);
        nbody *nb = nbody_create(&options, c->n, c->mass, (const double(*)[3])c->pos,
                                 (const double(*)[3])c->vel);
        works(nbody_run(c, nb, 0));
        nbody_free(nb);
        works(clcontext_destroy(cp));
        on_some(nbody_ranks, c, i);
        if (c->moves && !orders)
            two_ranks_without_host_memory(c);
        c->slices = true;
        if (c->n >= 40 && !orders)
            ranks_work(counts < SIZES ? 2 : 3 + (int)i % 3, nbody_ranks,
                       (struct ranks_how){.delay = 300, .seed = (unsigned)i, .arg = c});
        free(c);
    }
}

/* Devices of small memory get the bodies that fit, the other devices the remainder. */
static int divide_by_memory(struct rank_run *r)
{
    enum { MANY = 1 << 20, FIT = 100000 }; /* FIT: bodies in the memory of a device of rank 0 */
    CLCONTEXT *cp = open_rank_devices();
    nbody *nb = open_case(r->arg, cp, r->world);
    struct nbody_device part[MOST_DEVICES] = {{0}};
    struct cldev_info info[MOST_DEVICES];
    struct nbody other = {0};
    int status = nb ? clgetdevinfo(cp, info) : -1;
    if (status == 0) {
        other = *nb;
        other.n = MANY;
        other.device = part;
        other.domain = (struct domain){0};
        for (size_t d = 0; d < devices; d++) {
            part[d].shape = nb->device[d].shape;
            info[d].dev_global_mem_sz = r->rank ? SIZE_MAX : FIT * 40 * nb->real;
        }
        const double share[MOST_DEVICES] = {1, 1};
        status =
            nbody_domain_divide(&other, info, &(struct nbody_options){.shares = share}, NULL, NULL);
    }
    for (size_t d = 0; d < devices && status == 0; d++) {
        const double right = r->rank ? ((double)MANY / (double)devices - FIT) / (r->size - 1) : FIT;
        if (fabs((double)part[d].count - right) > (double)other.domain.grain)
            status = WRONG("device %zu has %zu bodies, not %g", d, part[d].count, right);
    }
    nbody_allgather_free(&other);
    nbody_ranks_free(&other);
    nbody_free(nb);
    clcontext_destroy(cp);
    return status;
}

static void ranks_nbody_divides_by_memory(void **state)
{
    (void)state;
    struct nbody_case *c = calloc(1, sizeof *c);
    c->n = 300;
    c->method = NBODY_TREE;
    works(nbody_initial(NBODY_PLUMMER, c->n, 4, c->mass, c->pos, c->vel));
    ranks_work(3, divide_by_memory, (struct ranks_how){.arg = c});
    free(c);
}

/* A model drawn by slices has the bits of the model drawn at once. */
struct drawn_case {
    enum nbody_model model;
    size_t n;
    double *mass, (*pos)[3], (*vel)[3];
};

static int draw_slice(struct rank_run *r)
{
    const struct drawn_case *right = r->arg;
    const size_t first = slice_first(r, r->rank, right->n),
                 count = slice_first(r, r->rank + 1, right->n) - first;
    double *mass = malloc(count * sizeof *mass);
    double(*pos)[3] = malloc(count * sizeof *pos), (*vel)[3] = malloc(count * sizeof *vel);
    int status =
        nbody_initial_slice(r->world, right->model, right->n, 4, first, count, mass, pos, vel);
    if (status == 0 && (memcmp(mass, right->mass + first, count * sizeof *mass) != 0 ||
                        memcmp(pos, right->pos[first], count * sizeof *pos) != 0 ||
                        memcmp(vel, right->vel[first], count * sizeof *vel) != 0))
        status = WRONG("model %d: a slice differs from the model", (int)right->model);
    free(mass), free(pos), free(vel);
    return status;
}

static void ranks_nbody_models_are_drawn_by_slices(void **state)
{
    (void)state;
    static const enum nbody_model models[] = {NBODY_PLUMMER, NBODY_HERNQUIST, NBODY_COLLISION};
    const size_t n = 150001; /* blocks of sums that begin in one slice and end in another */
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct drawn_case c = {models[i], n, malloc(n * sizeof *c.mass), malloc(n * sizeof *c.pos),
                               malloc(n * sizeof *c.vel)};
        works(nbody_initial(c.model, n, 4, c.mass, c.pos, c.vel));
        for (int size = 2; size <= 5; size += 3)
            ranks_work(size, draw_slice, (struct ranks_how){.arg = &c});
        free(c.mass), free(c.pos), free(c.vel);
    }
}

static int put_nothing(void *arg, size_t offset, const void *bytes, size_t size)
{
    (void)arg, (void)offset, (void)bytes, (void)size;
    return 0;
}

/* True if the device is a GPU, or if its image of a block is the host's. */
static bool is_held_once(CLCONTEXT *cp, void *block)
{
    cl_device_type type = 0;
    void *host = NULL;
    return clGetDeviceInfo(device[0], CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
           clGetMemObjectInfo(clgetbuffer(cp, 0, block), CL_MEM_HOST_PTR, sizeof host, &host,
                              NULL) == CL_SUCCESS &&
           (type & CL_DEVICE_TYPE_GPU || host == block);
}

/* EPROTO if a CPU has a second image of a block that grows with the bodies. */
static int check_exchanged_blocks(const struct rank_run *r, CLCONTEXT *cp, nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    const struct pair *e =
        nbody_domain_pair(s, (cl_uint)r->rank, (cl_uint)((r->rank + 1) % r->size));
    for (size_t kind = 0; kind < PAIR_KINDS; kind++)
        if (e->block[kind] && !is_held_once(cp, e->block[kind]))
            return WRONG("the device has an image of its own of block %zu", kind);
    return is_held_once(cp, s->group_box) ? 0 : WRONG("the device has an image of the boxes");
}

/* Sort, sum, save and return the bodies of slices of equal length, on one device: messages of 16
 * domains would be as large as the blocks that this test looks for. */
static int run_in_slices(struct rank_run *r)
{
    enum { N = 48000, ANY = 3 };
    const size_t first = N * (size_t)r->rank / (size_t)r->size,
                 count = N * ((size_t)r->rank + 1) / (size_t)r->size - first;
    double *mass = malloc(count * sizeof *mass);
    double(*pos)[3] = malloc(count * sizeof *pos), (*vel)[3] = malloc(count * sizeof *vel);
    float sample[ANY][3];
    struct nbody_diagnostics d;
    CLCONTEXT *cp = clcontext_create_from(device, 1);
    const struct nbody_options o = {.ctx = cp,
                                    .world = r->world,
                                    .eps = 0.05,
                                    .dt = 0.01,
                                    .method = NBODY_TREE,
                                    .accuracy = 0.5,
                                    .first = first,
                                    .count = count};
    int status = nbody_initial_slice(r->world, NBODY_PLUMMER, N, 4, first, count, mass, pos, vel);
    nbody *nb = status == 0
                    ? nbody_create(&o, N, mass, (const double(*)[3])pos, (const double(*)[3])vel)
                    : NULL;
    if (r->rank == 0)
        (void)leak_count_largest();
    status = world_reduce_status(r->world, nb ? 0 : -1);
    const size_t marks = status == 0 ? clsizeofmem(nb->device[0].force.tree->split_groups) : 0;
    if (marks >= nbody_let_max_merged_boxes(N / 2) * sizeof(uint32_t))
        status = WRONG("%zu bytes mark the merged boxes of %zu bodies", marks, count);
    if (status == 0)
        nbody_set_clock(nb, 0, 255); /* a step before the bodies are sorted again */
    if (status == 0 && (nbody_step(nb, 2) != 0 || nbody_diagnose(nb, &d) != 0 ||
                        nbody_positions(nb, ANY, NULL, sample, NULL) != 0 ||
                        nbody_save_pieces(nb, put_nothing, NULL) != 0 ||
                        nbody_forces(nb, pos, mass) != 0 || nbody_state(nb, pos, vel) != 0))
        status = -1;
    if (status == 0)
        status = check_exchanged_blocks(r, cp, nb);
    if (world_reduce_status(r->world, status) == 0 && r->rank == 0) {
        const long most = leak_count_largest();
        if (most >= N * (long)sizeof(uint32_t))
            status = WRONG("a block of %ld bytes was allocated for %d bodies", most, N);
    }
    nbody_free(nb);
    clcontext_destroy(cp);
    free(mass), free(pos), free(vel);
    return status;
}

/* With slices no rank allocates a number for each of all bodies. */
static void ranks_nbody_arrays_are_of_own_bodies(void **state)
{
    (void)state;
    ranks_work(8, run_in_slices, (struct ranks_how){.seed = 1});
}

/* Bytes of rank 0's tables of pairs of domains, of transfers, messages and counters. */
enum { TABLES = 5 };
struct table_case {
    const struct nbody_case *start;
    size_t bytes[TABLES];
};

static int measure_tables(struct rank_run *r)
{
    struct table_case *c = r->arg;
    CLCONTEXT *cp = open_rank_devices();
    nbody *nb = open_case(c->start, cp, r->world);
    const struct domains *s = nb ? nb->domain.tree : NULL;
    int status = nb ? 0 : -1;
    if (status == 0 && s->n != devices * (size_t)r->size)
        status = WRONG("%u domains on %d ranks", s->n, r->size);
    if (status == 0 && r->rank == 0) {
        void *const table[TABLES] = {s->pair, s->list, s->send_request, s->receive_request,
                                     s->arrived};
        for (size_t k = 0; k < TABLES; k++)
            c->bytes[k] = malloc_usable_size(table[k]);
    }
    nbody_free(nb);
    clcontext_destroy(cp);
    return status;
}

/* Tables are 5/3 times as large with 5 ranks as with 3, and not the square of it, 2.8 times. */
static void ranks_nbody_tables_are_of_own_pairs(void **state)
{
    struct nbody_case *start = calloc(1, sizeof *start);
    struct table_case three = {.start = start}, five = {.start = start};
    (void)state;
    start->n = MOST_BODIES;
    start->method = NBODY_TREE;
    works(nbody_initial(NBODY_PLUMMER, start->n, 4, start->mass, start->pos, start->vel));
    ranks_work(3, measure_tables, (struct ranks_how){.arg = &three});
    ranks_work(5, measure_tables, (struct ranks_how){.arg = &five});
    for (size_t k = 0; k < TABLES; k++)
        assert_in_range(five.bytes[k], three.bytes[k] + 1, 2 * three.bytes[k]);
    free(start);
}

/* Slices that leave out a body, overlap or are empty end all ranks. */
static int refuse_slices(struct rank_run *r)
{
    static const size_t wrong[][2][2] = {
        {{0, 50}, {51, 49}}, {{0, 50}, {49, 51}}, {{0, 100}, {100, 0}}, {{0, 50}, {50, 49}}};
    double mass[100], pos[100][3], vel[100][3];
    if (nbody_initial(NBODY_PLUMMER, 100, 1, mass, pos, vel) != 0)
        return -1;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const size_t first = wrong[k][r->rank][0], count = wrong[k][r->rank][1];
        const struct nbody_options options = {
            .dt = 0.01, .world = r->world, .ctx = r->arg, .first = first, .count = count};
        for (size_t i = 0; i < 100; i++)
            mass[i] = i < count ? 0.01 : NAN; /* nothing reads beyond a slice */
        nbody *nb =
            nbody_create(&options, 100, mass, (const double(*)[3])pos, (const double(*)[3])vel);
        const bool refused = !nb && clerrno == EINVAL && strstr(clerror(), "slice");
        nbody_free(nb);
        if (!refused ||
            nbody_initial_slice(r->world, NBODY_PLUMMER, 100, 1, first, count, mass, pos, vel) == 0)
            return WRONG("slices %zu were not refused: %s", k, clerror());
    }
    return 0;
}

static void ranks_nbody_refuses_wrong_slices(void **state)
{
    (void)state;
    CLCONTEXT *cp = open_rank_devices();
    ranks_work(2, refuse_slices, (struct ranks_how){.arg = cp});
    works(clcontext_destroy(cp));
}

/* A state saved by any number of devices or ranks has equal bytes, and all of them can continue
 * from it. */
struct saved_case {
    struct nbody_case *start;
    char *bytes;
    size_t size;
};

/* Pieces of a state, compared with the state saved on one rank. */
struct pieces_seen {
    const struct saved_case *right;
    uint64_t sum[2];       /* bytes, and their offsets added up */
    size_t calls, refused; /* refused: the call that fails; 0: none */
};

static int see_piece(void *arg, size_t offset, const void *bytes, size_t size)
{
    struct pieces_seen *seen = arg;
    if (++seen->calls == seen->refused)
        return clerror_set(EDQUOT, "piece %zu is refused", seen->calls);
    for (size_t i = 0; i < size; i++)
        seen->sum[1] += offset + i;
    seen->sum[0] += size;
    return offset + size <= seen->right->size &&
                   memcmp(bytes, seen->right->bytes + offset, size) == 0
               ? 0
               : WRONG("other bytes than those of one rank at %zu", offset);
}

/* The ranks' pieces are all bytes, each once; if one rank refuses one, the call fails on all. */
static int check_pieces(const struct rank_run *r, nbody *nb, const struct saved_case *right)
{
    struct pieces_seen seen = {.right = right};
    const uint64_t n = right->size;
    if (nbody_save_pieces(nb, see_piece, &seen) != 0 || world_add(r->world, seen.sum, 2) != 0)
        return -1;
    if (seen.sum[0] != n || seen.sum[1] != n * (n - 1) / 2)
        return WRONG("the pieces have %zu bytes of %zu", (size_t)seen.sum[0], (size_t)n);
    seen = (struct pieces_seen){.right = right, .refused = r->rank == r->size - 1};
    return nbody_save_pieces(nb, see_piece, &seen) != 0 && clerrno == EDQUOT
               ? 0
               : WRONG("a refused piece was not reported");
}

static int nbody_goes_on(struct rank_run *r)
{
    const struct saved_case *saved = r->arg;
    const struct nbody_case *c = saved->start;
    double(*pos)[3] = calloc(c->n, sizeof *pos), (*vel)[3] = calloc(c->n, sizeof *vel);
    char *own = calloc(1, saved->size);
    CLCONTEXT *cp = open_rank_devices();
    nbody *nb = open_case(c, cp, r->world), *later = open_case(c, cp, r->world);
    int status = nb && later && nbody_step(nb, 3) == 0 && nbody_save(nb, own) == 0 &&
                         nbody_load(later, saved->bytes, saved->size) == 0 &&
                         nbody_step(later, 2) == 0 && nbody_state(later, pos, vel) == 0
                     ? 0
                     : -1;
    if (status == 0 &&
        (nbody_save_bytes(nb) != saved->size || memcmp(own, saved->bytes, saved->size) != 0))
        status = WRONG("other bytes were saved");
    if (status == 0)
        status = check_pieces(r, nb, saved);
    if (status == 0 && (memcmp(pos, c->end, c->n * sizeof *pos) != 0 ||
                        memcmp(vel, c->speed, c->n * sizeof *vel) != 0))
        status = WRONG("final positions at half the step differ");
    nbody_free(nb);
    nbody_free(later);
    clcontext_destroy(cp);
    free(pos), free(vel), free(own);
    return status;
}

static void ranks_nbody_saved_state_continues(void **state)
{
    (void)state;
    static const enum nbody_integrator integrators[] = {NBODY_LEAPFROG, NBODY_HERMITE4,
                                                        NBODY_YOSHIDA4};
    for (size_t i = 0; i < 3; i++) {
        struct nbody_case *c = calloc(1, sizeof *c);
        c->n = 1700;
        c->integrator = integrators[i];
        c->method = i == 2 ? NBODY_TREE : NBODY_DIRECT;
        works(nbody_initial(NBODY_PLUMMER, c->n, 4, c->mass, c->pos, c->vel));
        CLCONTEXT *cp = clcontext_create_from(device, 1);
        nbody *nb = open_case(c, cp, NULL);
        struct saved_case saved = {.start = c, .size = nbody_save_bytes(nb)};
        saved.bytes = malloc(saved.size);
        works(nbody_step(nb, 3));
        works(nbody_save(nb, saved.bytes));
        works(nbody_step(nb, 2));
        works(nbody_state(nb, c->end, c->speed));
        nbody_free(nb);
        works(clcontext_destroy(cp));
        ranks_work(1, nbody_goes_on, (struct ranks_how){.arg = &saved});
        ranks_work(i ? 2 : 3, nbody_goes_on,
                   (struct ranks_how){.arg = &saved, .delay = 300, .seed = 1});
        free(saved.bytes);
        free(c);
    }
}

/* One rank's caller cancels a run for all; one rank's error in a query ends it on all; options that
 * cannot be distributed are rejected. */
static int tell_nbody(void *arg, double fraction)
{
    (void)fraction;
    return *(const int *)arg == 1;
}

static int nbody_ends(struct rank_run *r)
{
    const struct nbody_case *c = r->arg;
    CLCONTEXT *cp = open_rank_devices();
    struct nbody_options options = {
        .ctx = cp, .dt = 1e-3, .world = r->world, .progress = tell_nbody, .arg = &r->rank};
    nbody *nb = nbody_create(&options, 100, c->mass, (const double(*)[3])c->pos,
                             (const double(*)[3])c->vel);
    const int status = nb ? nbody_step(nb, (size_t)1 << 40) : 0, code = clerrno;
    uint64_t done = nb ? nbody_steps(nb) : 0, all = done;
    const uint32_t which = r->rank == 1 ? 100 : 0;
    float pos[1][3];
    const int query = nb ? nbody_positions(nb, 1, &which, pos, NULL) : 0, query_code = clerrno;
    nbody_free(nb);
    options.stepping = NBODY_ADAPTIVE;
    nb = nbody_create(&options, 100, c->mass, (const double(*)[3])c->pos,
                      (const double(*)[3])c->vel);
    const int refused = clerrno;
    clcontext_destroy(cp);
    if (world_add(r->world, &all, 1) != 0)
        return -1;
    if (query != -1 || query_code != EINVAL)
        return WRONG("positions with one rank's wrong body: %d, clerrno %d", query, query_code);
    return status == -1 && code == ECANCELED && done > 0 && all == done * (uint64_t)r->size &&
                   !nb && refused == ENOTSUP
               ? 0
               : WRONG("status %d, clerrno %d and %d after %llu steps", status, code, refused,
                       (unsigned long long)done);
}

static void ranks_nbody_errors_end_all(void **state)
{
    (void)state;
    struct nbody_case *c = calloc(1, sizeof *c);
    works(nbody_initial(NBODY_PLUMMER, 100, 4, c->mass, c->pos, c->vel));
    ranks_work(3, nbody_ends, (struct ranks_how){.arg = c});
    free(c);
}

/* Rank 1 could not create its engine: all ranks have its message, and messages still arrive. */
static int check_failed_creation(struct rank_run *r, const void *engine, size_t which)
{
    const int status = engine || !strstr(clerror(), r->rank == 1 ? "" : "rank 1 on")
                           ? WRONG("case %zu: %s", which, clerror())
                           : 0;
    return world_barrier(r->world) == 0 ? status : -1;
}

static int nbody_creation_fails(struct rank_run *r)
{
    const struct nbody_case *c = r->arg;
    double softening[100] = {0};
    softening[3] = -1;
    CLCONTEXT *cp = open_rank_devices();
    const struct nbody_options wrong[] = {{.eps = -1},
                                          {.softening = softening},
                                          {.integrator = NBODY_HERMITE4, .method = NBODY_TREE},
                                          {.shape = "no_such_key=1"}};
    int status = 0;
    for (size_t k = 0; status == 0 && k < sizeof wrong / sizeof *wrong; k++) {
        struct nbody_options options = r->rank == 1 ? wrong[k] : (struct nbody_options){.eps = 0};
        options.ctx = cp;
        options.dt = 1e-3;
        options.world = r->world;
        nbody *nb = nbody_create(&options, 100, c->mass, (const double(*)[3])c->pos,
                                 (const double(*)[3])c->vel);
        status = check_failed_creation(r, nb, k);
        nbody_free(nb);
    }
    clcontext_destroy(cp);
    return status;
}

static void ranks_nbody_creation_fails_together(void **state)
{
    (void)state;
    struct nbody_case *c = calloc(1, sizeof *c);
    works(nbody_initial(NBODY_PLUMMER, 100, 4, c->mass, c->pos, c->vel));
    ranks_work(3, nbody_creation_fails, (struct ranks_how){.arg = c});
    free(c);
}

/* Receives in flight, or complete and not yet waited for. *tag: at least the largest of theirs. */
static size_t receives_in_flight(stdcl_world *w, int *tag)
{
    size_t n = 0;
    pthread_mutex_lock(&w->lock);
    for (const struct world_request *m = w->in_flight; m; m = m->next)
        if (!m->sends && !m->low_priority) {
            n++;
            *tag = m->tag > *tag ? m->tag : *tag;
        }
    pthread_mutex_unlock(&w->lock);
    return n;
}

/* Fail after the receives were posted. Their tags do not grow with the number of ranks. */
static int fail_launch(struct nbody *nb, struct nbody_device *p)
{
    int tag = 0;
    (void)p;
    if (receives_in_flight(nb->world, &tag) > 0 && tag >= 16 + (int)devices)
        return clerror_set(EPROTO, "a message has tag %d", tag);
    return clerror_set(EIO, "a launch fails");
}

/* Gather bytes of each domain, with a launch meanwhile that fails. */
static int gather_and_fail(nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    for (cl_uint k = 0; k < s->n; k++)
        nbody_domain_add(nb, k, TO_HOSTS, (char *)s->edge + k * nbody_domain_edge_bytes(nb), 8);
    return nbody_domain_exchange(nb, fail_launch);
}

/* An exchange between domains of the tree, or of all positions, fails after its receives were
 * posted. */
static int nbody_exchange_fails(struct rank_run *r)
{
    const struct nbody_case *c = r->arg;
    CLCONTEXT *cp = open_rank_devices();
    int tag = 0;
    const size_t before = receives_in_flight(r->world, &tag);
    nbody *nb = open_case(c, cp, r->world);
    size_t most = 0;
    int status = nb ? nbody_step(nb, 1) : -1;
    for (int turn = 0; turn < 40 && status == 0; turn++) { /* more than an array has room for */
        if (nb->domain.tree && (gather_and_fail(nb) == 0 || clerrno != EIO))
            status = WRONG("a failed launch is not reported: %s", clerror());
        if (!nb->domain.tree)
            status = nbody_allgather_begin(nb);
        const size_t now = receives_in_flight(r->world, &tag);
        most = now > most ? now : most;
    }
    const size_t allowed = nb && nb->domain.tree ? before : before + 3 * (size_t)r->size;
    nbody_free(nb);
    clcontext_destroy(cp);
    if (status == 0 && most > allowed)
        return WRONG("%zu receives are in flight after failed exchanges", most);
    if (status == 0 && receives_in_flight(r->world, &tag) > before)
        return WRONG("receives are in flight after nbody_free");
    return status;
}

static void ranks_nbody_failed_exchange_leaves_no_receive(void **state)
{
    (void)state;
    struct nbody_case *c = calloc(1, sizeof *c);
    c->n = ON_A_CURVE;
    works(nbody_initial(NBODY_PLUMMER, c->n, 4, c->mass, c->pos, c->vel));
    for (int tree = 0; tree < 2; tree++) {
        c->method = tree ? NBODY_TREE : NBODY_DIRECT;
        ranks_work(2, nbody_exchange_fails, (struct ranks_how){.arg = c});
    }
    free(c);
}

/* ---- Creation. ------------------------------------------------------------------------------- */

static int life_creation_fails(struct rank_run *r)
{
    CLCONTEXT *cp = open_rank_devices();
    const struct life_options good = {.width = 64, .height = 64},
                              wrong[] = {{.width = 64},
                                         {.width = 64, .height = 64, .rule = "none"},
                                         {.width = 64, .height = 64, .shape = "no_such_key=1"}};
    int status = 0;
    for (size_t k = 0; status == 0 && k < sizeof wrong / sizeof *wrong; k++) {
        struct life_options options = r->rank == 1 ? wrong[k] : good;
        options.ctx = cp;
        options.world = r->world;
        life *lf = life_create(&options);
        status = check_failed_creation(r, lf, k);
        life_free(lf);
    }
    clcontext_destroy(cp);
    return status;
}

static void ranks_life_creation_fails_together(void **state)
{
    (void)state;
    ranks_work(3, life_creation_fails, (struct ranks_how){.delay = 0});
}

/* ---- Products of matrices. ------------------------------------------------------------------- */

struct matmul_case {
    enum matmul_kind kind;
    enum matmul_precision precision;
    enum matmul_trans trans;
    size_t m, n, k;
    double alpha, beta;
    const char *shape;
    bool stays;                                /* on the devices */
    bool uneven;                               /* ranks get explicit weights */
    int fails;                                 /* a rank that cannot read; 0: none */
    void *a, *b, *c, *product[MOST_RANKS + 1]; /* product[n]: the result of n ranks */
};

static size_t matrix_bytes_of(const struct matmul_case *c, size_t rows, size_t cols)
{
    return rows * cols * (c->precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float));
}

static size_t rows_of_a(const struct matmul_case *c)
{
    return c->trans == MATMUL_TN || c->trans == MATMUL_TT ? c->k : c->m;
}
static size_t rows_of_b(const struct matmul_case *c)
{
    return c->trans == MATMUL_NT || c->trans == MATMUL_TT ? c->n : c->k;
}

/* Return this rank's slab of a matrix, in memory of its own, so that a sanitizer detects access
 * beyond it. */
static void *slab_of(const struct rank_run *r, const struct matmul_case *c, const void *x,
                     size_t rows, size_t cols)
{
    size_t first, count;
    matmul_partition(r->world, r->rank, rows, &first, &count);
    void *slab = malloc(matrix_bytes_of(c, count, cols) + 1);
    memcpy(slab, (const char *)x + matrix_bytes_of(c, first, cols),
           matrix_bytes_of(c, count, cols));
    return slab;
}

/* Set weights that give each rank another part, or one of many ranks everything. */
static int set_rank_weights(const struct matmul_case *c, matmul *mm, const struct rank_run *r)
{
    return c->uneven ? matmul_set_weight(mm, r->rank == 4 ? 1e308 : 1 + (double)(r->rank * 5 % 3))
                     : 0;
}

/* Multiply into c, in either way. */
static int multiply_slabs(const struct matmul_case *c, matmul *mm, const void *a, const void *b,
                          void *own)
{
    if (!c->stays)
        return matmul_multiply(mm, c->trans, c->m, c->n, c->k, c->alpha, a, 0, b, 0, c->beta, own,
                               0);
    if (matmul_load(mm, c->trans, c->m, c->n, c->k, a, 0, b, 0) != 0 ||
        (c->beta != 0 && matmul_load_result(mm, own, 0) != 0))
        return -1;
    return matmul_compute(mm, c->alpha, c->beta) == 0 ? matmul_result(mm, own, 0) : -1;
}

/* Matrices read and written by rectangles. */
struct far_case {
    const struct matmul_case *c;
    char *x;
    size_t ld, reads;
    bool fails;
};

static int far_read(void *arg, size_t row, size_t rows, size_t col, size_t cols, void *x)
{
    struct far_case *f = arg;
    if (f->fails && f->reads++ == 1)
        return clerror_set(EIO, "the disk is broken");
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)x + i * matrix_bytes_of(f->c, 1, cols),
               f->x + matrix_bytes_of(f->c, row + i, f->ld) + matrix_bytes_of(f->c, 1, col),
               matrix_bytes_of(f->c, 1, cols));
    return 0;
}

static int far_write(void *arg, size_t row, size_t rows, size_t col, size_t cols, const void *x)
{
    const struct far_case *f = arg;
    for (size_t i = 0; i < rows; i++)
        memcpy(f->x + matrix_bytes_of(f->c, row + i, f->ld) + matrix_bytes_of(f->c, 1, col),
               (const char *)x + i * matrix_bytes_of(f->c, 1, cols),
               matrix_bytes_of(f->c, 1, cols));
    return 0;
}

/* Multiply into the array of all ranks, in areas and panels small enough that there are several. */
static int matmul_far_ranks(struct rank_run *r)
{
    struct matmul_case *c = r->arg;
    CLCONTEXT *cp = open_rank_devices();
    char *right = c->product[r->size];
    struct far_case a = {c, c->a, c->m + c->k - rows_of_a(c), 0,
                         c->fails == r->rank && r->rank > 0};
    struct far_case b = {c, c->b, c->k + c->n - rows_of_b(c), 0, false},
                    product = {c, right, c->n, 0, false};
    const struct matmul_out_of_core far_a = {far_read, NULL, &a}, far_b = {far_read, NULL, &b},
                                    far_c = {far_read, far_write, &product};
    matmul *mm = matmul_create(
        &(struct matmul_options){.ctx = cp,
                                 .kind = c->kind,
                                 .precision = c->precision,
                                 .shape = c->shape,
                                 .world = r->world,
                                 .memory = matmul_kind_is_host(c->kind) ? 300000 : 0});
    int status = mm && set_rank_weights(c, mm, r) == 0
                     ? matmul_multiply_out_of_core(mm, c->trans, c->m, c->n, c->k, c->alpha, &far_a,
                                                   &far_b, c->beta, &far_c)
                     : -1;
    const int code = clerrno;
    if (c->fails)
        status = status != -1 || (a.fails && code != EIO) ? WRONG("ended with %d", code) : 0;
    matmul_free(mm);
    clcontext_destroy(cp);
    return status;
}

static int matmul_ranks(struct rank_run *r)
{
    struct matmul_case *right = r->arg, c = *right;
    CLCONTEXT *cp = open_rank_devices();
    const size_t ra = rows_of_a(&c), rb = rows_of_b(&c), ca = c.m + c.k - ra, cb = c.k + c.n - rb;
    void *a = slab_of(r, &c, c.a, ra, ca), *b = slab_of(r, &c, c.b, rb, cb),
         *own = slab_of(r, &c, c.c, c.m, c.n);
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = cp, .kind = c.kind, .precision = c.precision, .shape = c.shape, .world = r->world});
    size_t first, count;
    int status = mm && set_rank_weights(&c, mm, r) == 0 ? multiply_slabs(&c, mm, a, b, own) : -1;
    double work, seconds = status == 0 ? matmul_busy_time(mm, &work) : 0;
    if (status == 0 && !(work >= 0 && work <= (double)c.m * (double)c.n * (double)c.k &&
                         (seconds > 0 || work <= 0)))
        status = WRONG("busy for %g s with %g multiply-adds", seconds, work);
    matmul_partition(r->world, r->rank, c.m, &first, &count);
    if (status == 0)
        memcpy((char *)right->product[r->size] + matrix_bytes_of(&c, first, c.n), own,
               matrix_bytes_of(&c, count, c.n));
    matmul_free(mm);
    free(a), free(b), free(own);
    clcontext_destroy(cp);
    return status;
}

static void *random_matrix(const struct matmul_case *c, uint32_t which, size_t rows, size_t cols)
{
    void *x = malloc(matrix_bytes_of(c, rows, cols));
    matmul_random(c->precision, 7, which, rows, cols, x, cols);
    return x;
}

static void check_product(const struct matmul_case *c, const void *product)
{
    const size_t ca = c->m + c->k - rows_of_a(c), cb = c->k + c->n - rows_of_b(c);
    const double error = matmul_error(c->precision, c->trans, c->m, c->n, c->k, c->alpha, c->a, ca,
                                      c->b, cb, c->beta, c->c, product, c->n, c->m);
    assert_true(error <= matmul_tolerance(c->precision, c->k, 1));
}

/* Products are right on every number of ranks, with equal bits for every delay of messages. */
static void ranks_matmul_products_are_right(void **state)
{
    (void)state;
    struct matmul_case cases[] = {
        {.kind = MATMUL_TUNED,
         .precision = MATMUL_SINGLE,
         .trans = MATMUL_NN,
         .m = 300,
         .n = 200,
         .k = 400,
         .alpha = 1},
        {.kind = MATMUL_TUNED,
         .precision = MATMUL_SINGLE,
         .trans = MATMUL_TT,
         .m = 70,
         .n = 90,
         .k = 50,
         .alpha = -2,
         .beta = 0.5},
        {.kind = MATMUL_TUNED,
         .precision = MATMUL_SINGLE,
         .trans = MATMUL_NT,
         .m = 130,
         .n = 100,
         .k = 1500,
         .alpha = 3,
         .beta = 0.7,
         .shape = "path=1 split_k_min=16"},
        {.kind = MATMUL_CPU_BLOCKED,
         .precision = MATMUL_SINGLE,
         .trans = MATMUL_NN,
         .m = 200,
         .n = 150,
         .k = 100,
         .alpha = 1},
        {.kind = MATMUL_CPU_BLOCKED,
         .precision = MATMUL_DOUBLE,
         .trans = MATMUL_TN,
         .m = 9,
         .n = 12,
         .k = 9000,
         .alpha = 1,
         .beta = 1}, /* the depth is cut */
        {.kind = MATMUL_CPU_BLOCKED,
         .precision = MATMUL_DOUBLE,
         .trans = MATMUL_NT,
         .m = 5,
         .n = 6,
         .k = 3,
         .alpha = 1}, /* less than ranks */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matmul_case *c = &cases[i];
        const bool host = matmul_kind_is_host(c->kind);
        if (!host && !thorough && !sampled(i, 3))
            continue;
        const size_t ra = rows_of_a(c), rb = rows_of_b(c), ca = c->m + c->k - ra,
                     cb = c->k + c->n - rb;
        c->a = random_matrix(c, 0, ra, ca);
        c->b = random_matrix(c, 1, rb, cb);
        c->c = random_matrix(c, 2, c->m, c->n);
        for (size_t s = host ? 0 : 2; s < SIZES; s += host ? 1 : 3) {
            const int size = sizes[s];
            if (host && !thorough && !sampled(s + i, 3))
                continue;
            if (orders && size > 2)
                continue;
            void *first = calloc(1, matrix_bytes_of(c, c->m, c->n)),
                 *again = calloc(1, matrix_bytes_of(c, c->m, c->n));
            c->product[size] = first;
            ranks_work(size, matmul_ranks, (struct ranks_how){.arg = c, .polled = true});
            c->product[size] = again;
            ranks_work(size, matmul_ranks,
                       (struct ranks_how){.arg = c, .delay = 300, .seed = (unsigned)s});
            check_product(c, again);
            assert_memory_equal(first, again, matrix_bytes_of(c, c->m, c->n));
            c->product[2] = c->product[3] = again;
            in_orders(matmul_ranks, c, s + i);
            c->product[size] = again;
            c->uneven = true; /* other parts, the same bits */
            ranks_work(size, matmul_ranks,
                       (struct ranks_how){.arg = c, .delay = 300, .seed = (unsigned)s});
            assert_memory_equal(first, again, matrix_bytes_of(c, c->m, c->n));
            c->stays = true; /* on few ranks, and on many */
            if ((s + i) % 2 == 0) {
                ranks_work(size, matmul_ranks,
                           (struct ranks_how){.arg = c, .delay = 300, .seed = (unsigned)s});
                check_product(c, again);
                c->uneven = false;
                c->product[size] = first;
                ranks_work(size, matmul_ranks, (struct ranks_how){.arg = c, .polled = true});
                assert_memory_equal(first, again, matrix_bytes_of(c, c->m, c->n));
            }
            c->stays = false;
            for (int uneven = 0; uneven < 2 && ((s + i) % 2 != 0 || thorough); uneven++) {
                c->uneven = uneven;
                c->product[size] = uneven ? first : again;
                memcpy(c->product[size], c->c, matrix_bytes_of(c, c->m, c->n));
                ranks_work(size, matmul_far_ranks,
                           (struct ranks_how){.arg = c, .delay = 300, .seed = (unsigned)s});
                check_product(c, c->product[size]);
            }
            if ((s + i) % 2 != 0 || thorough)
                assert_memory_equal(first, again, matrix_bytes_of(c, c->m, c->n));
            c->uneven = false;
            free(first), free(again);
        }
        free(c->a), free(c->b), free(c->c);
    }
}

/* Rows of this rank's slab that are 2^31 + 5 elements apart, in memory of which only the rows
 * exist. *bytes: of the mapping. NULL on failure. */
static const size_t far_slab_ld = ((size_t)1 << 31) + 5;

static double *far_slab(const struct rank_run *r, size_t rows, size_t cols, size_t *bytes)
{
    size_t first, count;
    matmul_partition(r->world, r->rank, rows, &first, &count);
    *bytes = (count * far_slab_ld + cols) * sizeof(double);
    double *x = mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 0; x != MAP_FAILED && i < count; i++)
        for (size_t j = 0; j < cols; j++)
            x[i * far_slab_ld + j] = (double)(1 + 3 * (first + i) + j);
    return x == MAP_FAILED ? NULL : x;
}

/* Integers, whose sums are exact: C = 2 A B - C with the elements of far_slab. */
static int matmul_far_slabs(struct rank_run *r)
{
    enum { M = 6, N = 4, K = 7 };
    size_t first, count, bytes[3], wrong = 0;
    double *a = far_slab(r, M, K, &bytes[0]), *b = far_slab(r, K, N, &bytes[1]),
           *c = far_slab(r, M, N, &bytes[2]);
    matmul *mm = matmul_create(&(struct matmul_options){
        .kind = *(const enum matmul_kind *)r->arg, .precision = MATMUL_DOUBLE, .world = r->world});
    if (!a || !b || !c || !mm)
        return WRONG("no memory or no engine");
    if (matmul_multiply(mm, MATMUL_NN, M, N, K, 2, a, far_slab_ld, b, far_slab_ld, -1, c,
                        far_slab_ld) != 0)
        return WRONG("the product failed: %s", clerror());
    matmul_partition(r->world, r->rank, M, &first, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = -(double)(1 + 3 * (first + i) + j);
            for (size_t k = 0; k < K; k++)
                sum += 2 * (double)((1 + 3 * (first + i) + k) * (1 + 3 * k + j));
            wrong += c[i * far_slab_ld + j] != sum;
        }
    matmul_free(mm);
    munmap(a, bytes[0]), munmap(b, bytes[1]), munmap(c, bytes[2]);
    return wrong ? WRONG("%zu elements are wrong", wrong) : 0;
}

static void ranks_matmul_takes_far_rows(void **state)
{
    (void)state;
    static enum matmul_kind kinds[] = {MATMUL_CPU_BLOCKED, MATMUL_TUNED};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        ranks_work(3, matmul_far_slabs, (struct ranks_how){.arg = &kinds[k]});
}

/* A failure of a rank's device, or a cancelling caller, ends the product of all ranks. */
static int tell_matmul(void *arg, double fraction)
{
    (void)fraction;
    return *(const int *)arg == 1;
}

static int matmul_ends(struct rank_run *r)
{
    enum { SIDE = 600 };
    double *x = calloc(2 * SIDE * SIDE, sizeof *x), *c = calloc(SIDE * SIDE, sizeof *c);
    matmul *mm = matmul_create(&(struct matmul_options){.kind = MATMUL_CPU_BLOCKED,
                                                        .precision = MATMUL_DOUBLE,
                                                        .world = r->world,
                                                        .progress = tell_matmul,
                                                        .arg = &r->rank});
    int status = mm ? matmul_multiply(mm, MATMUL_NN, SIDE, SIDE, SIDE, 1, x, 0, x, 0, 0, c, 0) : 0,
        code = clerrno;
    if (status == -1 && code == ECANCELED)
        status = 0;
    else
        status = WRONG("ended with %d", code);
    if (status != 0)
        return status;
    const bool wrong = mm &&
                       matmul_multiply(mm, MATMUL_NN, SIDE, SIDE, SIDE, 1, x, r->rank ? 1 : 0, x, 0,
                                       0, c, 0) == -1 &&
                       clerrno == EINVAL && matmul_set_weight(mm, 0) == -1 && clerrno == EINVAL &&
                       matmul_set_weight(mm, NAN) == -1 && clerrno == EINVAL;
    matmul_free(mm);
    free(x), free(c);
    return wrong ? 0 : WRONG("wrong calls were taken");
}

static void ranks_matmul_errors_end_all(void **state)
{
    (void)state;
    ranks_work(3, matmul_ends, (struct ranks_how){0});
    /* A rank with a failing read. */
    struct matmul_case c = {.kind = MATMUL_CPU_BLOCKED,
                            .precision = MATMUL_SINGLE,
                            .m = 300,
                            .n = 200,
                            .k = 400,
                            .alpha = 1,
                            .fails = 1};
    c.a = random_matrix(&c, 0, c.m, c.k);
    c.b = random_matrix(&c, 1, c.k, c.n);
    c.product[3] = calloc(1, matrix_bytes_of(&c, c.m, c.n));
    ranks_work(3, matmul_far_ranks, (struct ranks_how){.arg = &c, .delay = 300, .seed = 1});
    free(c.a), free(c.b), free(c.product[3]);
}

/* Find devices of one model: equal bits are promised for them. */
static void find_devices(void)
{
    char first[256] = "", name[256] = "";
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    for (cl_uint d = 0; stddev && devices < MOST_DEVICES && d < clgetndev(stddev); d++) {
        const cl_device_id id = clgetdevice(stddev, d);
        clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL);
        if (devices == 0)
            memcpy(first, name, sizeof first);
        if (strcmp(first, name) == 0)
            device[devices++] = id;
    }
    if (devices)
        clGetDeviceInfo(device[0], CL_DEVICE_TYPE, sizeof type, &type, NULL);
    counts = type & CL_DEVICE_TYPE_CPU ? SIZES : 3;
}

/* With an argument: every case, or "orders". */
int main(int argc, char **argv)
{
    orders = argc > 1 && strcmp(argv[1], "orders") == 0;
    thorough = argc > 1 && !orders;
    find_devices();
    if (devices == 0) {
        puts("SKIPPED: there is no OpenCL device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_gas_bits_are_equal),
        cmocka_unit_test(ranks_gas_is_balanced_by_speed),
        cmocka_unit_test(ranks_gas_leaves_slow_rank_out),
        cmocka_unit_test(ranks_gas_errors_end_all),
        cmocka_unit_test(ranks_life_cells_are_equal),
        cmocka_unit_test(ranks_life_blocks_cells_are_equal),
        cmocka_unit_test(ranks_life_errors_end_all),
        cmocka_unit_test(ranks_nbody_bits_are_equal),
        cmocka_unit_test(ranks_nbody_divides_by_memory),
        cmocka_unit_test(ranks_nbody_models_are_drawn_by_slices),
        cmocka_unit_test(ranks_nbody_arrays_are_of_own_bodies),
        cmocka_unit_test(ranks_nbody_tables_are_of_own_pairs),
        cmocka_unit_test(ranks_nbody_refuses_wrong_slices),
        cmocka_unit_test(ranks_nbody_saved_state_continues),
        cmocka_unit_test(ranks_nbody_errors_end_all),
        cmocka_unit_test(ranks_nbody_creation_fails_together),
        cmocka_unit_test(ranks_life_creation_fails_together),
        cmocka_unit_test(ranks_nbody_failed_exchange_leaves_no_receive),
        cmocka_unit_test(ranks_matmul_products_are_right),
        cmocka_unit_test(ranks_matmul_takes_far_rows),
        cmocka_unit_test(ranks_matmul_errors_end_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
