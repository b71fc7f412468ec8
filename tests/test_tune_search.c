/* test_tune_search.c - the search of shapes, with mock kernels whose best shape is known.
 *
 * A mock kernel has a rate for every shape, shapes that cannot run and shapes that give wrong
 * answers. It records every call, so that the tests can check the path of the search.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include <math.h>

static CLCONTEXT *cp;

/* ---- Made-up kernels. ---- */

enum { MAX_CALLS = 20000 };
static struct {
    /* Properties of the kernel. */
    double (*rate)(const char *shape);
    bool (*allowed)(const char *shape);
    bool (*right)(const char *shape);
    double seconds; /* duration of a measurement; 0: real time */
    bool broken;    /* cannot be opened */
    /* Recorded calls. */
    size_t opened, closed, calls;
    struct {
        char what;
        char shape[100];
    } call[MAX_CALLS]; /* 'a'llowed, 'm'easure, 'v'erify */
} made;

/* The clock of the search (the linker's --wrap=clock_gettime): measurements take their mock
 * duration, everything else takes no time. */
static uint64_t passed; /* ns */
int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    if (made.seconds > 0)
        *t = (struct timespec){(time_t)(passed / 1000000000), (long)(passed % 1000000000)};
    return made.seconds > 0 ? 0 : __real_clock_gettime(clock, t);
}

static void note_candidate(char what, const char *shape)
{
    assert_true(made.calls < MAX_CALLS);
    made.call[made.calls].what = what;
    snprintf(made.call[made.calls++].shape, sizeof made.call->shape, "%s", shape);
}

static size_t calls_of(char what, const char *shape)
{
    size_t n = 0;
    for (size_t i = 0; i < made.calls; i++)
        n += made.call[i].what == what && (!shape || strcmp(made.call[i].shape, shape) == 0);
    return n;
}

static void *open_made(const struct cltune_kernel *its, CLCONTEXT *context, size_t size)
{
    assert_ptr_equal(its->arg, &made);
    assert_int_equal(clgetndev(context), 1);
    assert_ptr_equal(clgetdevice(context, 0), clgetdevice(cp, 0));
    assert_int_equal(size, 1000);
    made.opened++;
    return made.broken ? (clerror_set(ENOMEM, "made: out of memory for the problem"), NULL) : &made;
}

static void close_made(void *problem)
{
    assert_ptr_equal(problem, &made);
    made.closed++;
}

static int allowed_made(void *problem, const char *shape)
{
    assert_ptr_equal(problem, &made);
    note_candidate('a', shape);
    return !made.allowed || made.allowed(shape) ? 0 : clerror_set(EINVAL, "made: not allowed");
}

static int verify_made(void *problem, const char *shape)
{
    assert_ptr_equal(problem, &made);
    note_candidate('v', shape);
    return !made.right || made.right(shape) ? 0 : clerror_set(EINVAL, "made: wrong");
}

static int measure_made(void *problem, const char *shape, double *seconds, double *work)
{
    assert_ptr_equal(problem, &made);
    assert_true(!made.allowed || made.allowed(shape));
    note_candidate('m', shape);
    passed += (uint64_t)(1e9 * made.seconds);
    *work = 1000;
    *seconds = 1000 / made.rate(shape);
    return made.rate(shape) > 0 ? 0 : clerror_set(EIO, "made: does not run");
}

static const int powers[] = {1, 2, 4, 8, 16, 32, 64, 128}, few[] = {0, 1};
static const struct cltune_knob knobs[] = {
    {"a", powers, 8}, {"b", powers, 8}, {"c", powers, 8}, {"d", powers, 8}, {"flag", few, 2},
};
static const size_t sizes[] = {1000};
static const struct cltune_kernel kernel = {
    .name = "made.up",
    .unit = "items/s",
    .knob = knobs,
    .nknobs = 5,
    .sizes = sizes,
    .nsizes = 1,
    .arg = &made,
    .open = open_made,
    .close = close_made,
    .allowed = allowed_made,
    .verify = verify_made,
    .measure = measure_made,
};

static double octaves(const char *shape, const char *key, double best)
{
    return fabs(log2((double)cltune_value(shape, key, 0)) - best);
}

/* One maximum: the best is a=16 b=4 c=32 d=2 flag=1. */
static double hill(const char *shape)
{
    return 1e9 * (1 + 0.2 * (double)cltune_value(shape, "flag", 0)) *
           exp2(-octaves(shape, "a", 4) / 3 - octaves(shape, "b", 2) / 4 -
                octaves(shape, "c", 5) / 5 - octaves(shape, "d", 1) / 6);
}
#define HILLTOP "a=16 b=4 c=32 d=2 flag=1"

/* ---- Searching. ---- */

struct told {
    size_t calls, stop_at;
    struct cltune_progress last;
    char best[512], first[512];
};

/* Progress is consistent: rates only grow until the playoff, and every best was verified. */
static int stop_when_told(void *arg, const struct cltune_progress *p)
{
    struct told *t = arg;
    assert_true(p->refused + p->wrong <= p->tried);
    assert_true(p->tried >= t->last.tried && p->elapsed >= t->last.elapsed && p->elapsed >= 0);
    assert_true((p->best_rate > 0) == (*p->best_shape != 0));
    if (*p->best_shape) {
        assert_true(calls_of('v', p->best_shape) > 0);
        assert_true(!made.right || made.right(p->best_shape));
    }
    t->last = *p;
    snprintf(t->best, sizeof t->best, "%s", p->best_shape);
    snprintf(t->first, sizeof t->first, "%s", p->first_shape);
    return ++t->calls == t->stop_at;
}

static struct told last;
static struct cltune_row row;
static double rate;

static int search_shape(double budget, unsigned long seed)
{
    size_t stop_at = last.stop_at;
    memset(&last, 0, sizeof last);
    last.stop_at = stop_at;
    made.calls = made.opened = made.closed = 0;
    int status =
        cltune_search(&kernel, cp, 0, 1000, budget, seed, stop_when_told, &last, &row, &rate);
    assert_int_equal(made.opened, 1);
    assert_int_equal(made.closed, made.broken ? 0 : 1);
    return status;
}

static int a_new_kernel(void **unused)
{
    static int number;
    char folder[64];
    (void)unused;
    memset(&made, 0, sizeof made);
    memset(&last, 0, sizeof last);
    made.rate = hill;
    snprintf(folder, sizeof folder, "cache%d", number++);
    return setenv("XDG_CACHE_HOME", in_folder(folder), 1);
}

static void search_climbs_to_optimum(void **unused)
{
    (void)unused;
    for (unsigned long seed = 0; seed < 20; seed++) {
        works(search_shape(60, seed));
        assert_string_equal(row.shape, HILLTOP);
        assert_true(fabs(rate - hill(HILLTOP)) < 1e-6 * rate);
        contains(row.source, "made.up, size 1000: the best of ");
        assert_true(last.last.tried < 300); /* of 8192 */
        assert_true(last.last.wrong == 0 && last.last.refused == 0);
        assert_true(last.last.first_rate == hill(last.first));
    }
}

static void search_seed_fixes_result(void **unused)
{
    (void)unused;
    static struct {
        size_t calls;
        char what[MAX_CALLS], shape[MAX_CALLS][100];
    } once;
    works(search_shape(60, 7));
    once.calls = made.calls;
    for (size_t i = 0; i < made.calls; i++) {
        once.what[i] = made.call[i].what;
        memcpy(once.shape[i], made.call[i].shape, sizeof once.shape[i]);
    }
    works(search_shape(60, 7));
    assert_int_equal(made.calls, once.calls);
    for (size_t i = 0; i < made.calls; i++) {
        assert_int_equal(made.call[i].what, once.what[i]);
        assert_string_equal(made.call[i].shape, once.shape[i]);
    }
    works(search_shape(60, 8));
    bool differs = made.calls != once.calls;
    for (size_t i = 0; i < made.calls && !differs; i++)
        differs = strcmp(made.call[i].shape, once.shape[i]) != 0;
    assert_true(differs);
}

/* Coupled knobs: b must be a multiple of a, and at most 16 a. */
static bool b_of_a(const char *shape)
{
    long a = cltune_value(shape, "a", 0), b = cltune_value(shape, "b", 0);
    return b % a == 0 && b <= 16 * a;
}
static double diagonal(const char *shape)
{
    return 1e9 * exp2(-octaves(shape, "a", 6) / 2 - octaves(shape, "b", 6) / 2 -
                      octaves(shape, "c", 3) / 2);
}

static void search_passes_constraints(void **unused)
{
    (void)unused;
    made.rate = diagonal;
    made.allowed = b_of_a;
    for (unsigned long seed = 0; seed < 20; seed++) {
        works(search_shape(60, seed));
        assert_int_equal(cltune_value(row.shape, "a", 0), 64);
        assert_int_equal(cltune_value(row.shape, "b", 0), 64);
        assert_int_equal(cltune_value(row.shape, "c", 0), 8);
    }
}

/* Knobs in pairs, so that no single one can be moved. */
static bool in_pairs(const char *shape)
{
    return cltune_value(shape, "a", 0) == cltune_value(shape, "b", 0) &&
           cltune_value(shape, "c", 0) == cltune_value(shape, "d", 0);
}
static double hill_of_pairs(const char *shape)
{
    return 1e9 * exp2(-octaves(shape, "a", 6) / 2 - octaves(shape, "c", 1) / 2);
}

static void search_moves_two_knobs(void **unused)
{
    (void)unused;
    made.rate = hill_of_pairs;
    made.allowed = in_pairs;
    for (unsigned long seed = 0; seed < 20; seed++) {
        works(search_shape(60, seed));
        assert_int_equal(cltune_value(row.shape, "a", 0), 64);
        assert_int_equal(cltune_value(row.shape, "c", 0), 2);
    }
}

/* ---- Wrong answers. ---- */

static uint64_t landscape;
static double noise_of(const char *shape, uint64_t salt)
{
    uint64_t h = 1469598103934665603u ^ salt ^ landscape * 0x9E3779B97F4A7C15u;
    for (; *shape; shape++)
        h = (h ^ (unsigned char)*shape) * 1099511628211u;
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    return (double)((h ^ h >> 27) * 0x94D049BB133111EBu >> 11) * 0x1p-53;
}

/* Shapes with wrong results are the fastest of all. */
static bool right_by_chance(const char *shape)
{
    return noise_of(shape, 1) < 0.6;
}
static bool allowed_by_chance(const char *shape)
{
    return noise_of(shape, 2) < 0.8;
}
static double faster_when_wrong(const char *shape)
{
    return noise_of(shape, 3) < 0.05
               ? -1
               : (right_by_chance(shape) ? 1 : 10) * (0.1 + noise_of(shape, 4));
}

static void search_rejects_wrong_answers(void **unused)
{
    (void)unused;
    made.rate = faster_when_wrong;
    made.right = right_by_chance;
    made.allowed = allowed_by_chance;
    size_t wrong = 0, refused = 0;
    for (landscape = 0; landscape < 300; landscape++) {
        works(search_shape(60, landscape));
        assert_true(right_by_chance(row.shape) && allowed_by_chance(row.shape) &&
                    faster_when_wrong(row.shape) > 0);
        assert_true(calls_of('v', row.shape) > 0);
        wrong += last.last.wrong;
        refused += last.last.refused;
    }
    assert_true(wrong > 300 && refused > 300); /* there was something to get wrong */
}

static bool never(const char *shape)
{
    return !shape;
}
static double not_at_all(const char *shape)
{
    return shape ? -1 : 0;
}

static void search_reports_no_valid_shape(void **unused)
{
    (void)unused;
    made.right = never;
    fails(ENOENT, search_shape(60, 1));
    contains((search_shape(60, 1), clerror()), "made.up none gives a right answer");
    assert_int_equal(last.last.wrong, last.last.tried);
    made.right = NULL;
    made.allowed = never;
    fails(ENOENT, search_shape(60, 1));
    assert_int_equal(last.last.refused, last.last.tried);
    assert_int_equal(calls_of('m', NULL) + calls_of('v', NULL), 0);
    contains((search_shape(60, 1), clerror()), "can run none of the ");
    made.allowed = NULL;
    made.rate = not_at_all;
    fails(ENOENT, search_shape(60, 1));
    assert_int_equal(calls_of('v', NULL), 0);
    made.broken = true;
    fails(ENOMEM, search_shape(60, 1));
    contains((search_shape(60, 1), clerror()), "made: out of memory for the problem");
}

static double nonsense(const char *shape)
{
    static const double value[] = {NAN, INFINITY, 0, -5};
    double x = noise_of(shape, 9);
    return x < 0.4 ? value[(int)(10 * x)] : hill(shape);
}

static void search_rejects_bad_rates(void **unused)
{
    (void)unused;
    made.rate = nonsense;
    for (landscape = 0; landscape < 30; landscape++) {
        works(search_shape(60, landscape));
        assert_true(isfinite(rate) && rate > 0);
        assert_true(noise_of(row.shape, 9) >= 0.4);
    }
}

/* ---- Time. ---- */

static void search_keeps_budget(void **unused)
{
    (void)unused;
    made.seconds = 0.01;
    static const double budgets[] = {0.3, 0.6, 1.2};
    for (int i = 0; i < 3; i++) {
        const double start = seconds_now();
        works(search_shape(budgets[i], 3));
        const double took = seconds_now() - start;
        if (took > budgets[i] + 0.15 || took < 0.4 * budgets[i])
            fail_msg("%g s for a budget of %g s", took, budgets[i]);
    }
    works(search_shape(0, 3)); /* no time: the starting entry is verified and measured */
    assert_int_equal(last.last.tried, 1);
    assert_string_equal(row.shape, last.first);
}

static void search_progress_can_cancel(void **unused)
{
    (void)unused;
    for (last.stop_at = 1; last.stop_at < 40; last.stop_at += 6) {
        size_t stop_at = last.stop_at;
        works(search_shape(60, 5));
        assert_int_equal(last.calls, stop_at);
        assert_string_equal(row.shape, last.best); /* the best so far */
        assert_true(rate == last.last.best_rate);
    }
}

/* Hopeless candidates are not measured again. */
static void search_drops_slow_candidates(void **unused)
{
    (void)unused;
    works(search_shape(60, 11));
    double best = 0;
    size_t dropped = 0, kept = 0;
    for (size_t i = 0; i < made.calls; i++) {
        const char *shape = made.call[i].shape;
        bool again = made.call[i].what != 'm';
        for (size_t k = 0; k < i && !again; k++)
            again = made.call[k].what == 'm' && strcmp(made.call[k].shape, shape) == 0;
        if (again)
            continue;
        if (hill(shape) < 0.5 * best) {
            assert_int_equal(calls_of('m', shape), 1);
            dropped++;
        } else {
            assert_true(calls_of('m', shape) >= 3);
            kept++;
        }
        best = fmax(best, hill(shape));
    }
    assert_true(dropped > 5 && kept > 5);
}

/* ---- Where it begins, and what it keeps. ---- */

static void search_begins_with_known_entry(void **unused)
{
    (void)unused;
    works(cltune_store(cp, 0, "made.up", 1000, "chunk=38 d=2 a=48 c=8 b=4 flag=0 z=-7", 1,
                       "items/s"));
    last.stop_at = 1;
    works(search_shape(60, 1));
    assert_string_equal(row.shape,
                        "a=48 b=4 c=8 d=2 flag=0 chunk=38 z=-7"); /* 48 is no value of the knob's */
    assert_true(last.last.first_rate == hill(row.shape));
    last.stop_at = 0;
    works(search_shape(60, 1));
    assert_string_equal(row.shape, HILLTOP " chunk=38 z=-7"); /* words that are no knobs stay */
    works(cltune_store(cp, 0, "made.up", 1000, row.shape, rate, "items/s"));
    works(search_shape(60, 2));
    assert_string_equal(row.shape, HILLTOP " chunk=38 z=-7"); /* nothing is better */
    assert_string_equal(last.first, row.shape);
    assert_true(last.last.first_rate == last.last.best_rate);
}

/* A known entry that no longer runs does not end the search. */
static void search_leaves_wrong_entry(void **unused)
{
    (void)unused;
    made.right = right_by_chance;
    for (landscape = 0; noise_of("a=1 b=1 c=1 d=1 flag=0", 1) < 0.6;)
        landscape++;
    works(cltune_store(cp, 0, "made.up", 1000, "a=1 b=1 c=1 d=1 flag=0", 1, "items/s"));
    works(search_shape(60, 1));
    assert_true(right_by_chance(row.shape));
    assert_true(last.last.first_rate == 0 && last.last.wrong > 0);
}

/* A noisy machine: the result is never slower than the start. */
static uint64_t moment;
static double noisy(const char *shape)
{
    moment = moment * 6364136223846793005u + 1442695040888963407u;
    return hill(shape) * exp2(0.4 * ((double)(moment >> 11) * 0x1p-53 - 0.5)); /* +- 15 % */
}

static void search_withstands_noise(void **unused)
{
    (void)unused;
    made.rate = noisy;
    double sum = 0, least = 1;
    works(cltune_store(cp, 0, "made.up", 1000, "a=16 b=4 c=32 d=2 flag=0", 1, "items/s"));
    for (unsigned long seed = 0; seed < 100; seed++) {
        works(search_shape(60, seed));
        double real = hill(row.shape) / hill(HILLTOP);
        sum += real;
        least = fmin(least, real);
    }
    assert_true(least > 0.75); /* the start is 0.83 of the best */
    assert_true(sum / 100 > 0.9);
}

/* Occasionally a measurement is three times too fast. */
static double lucky(const char *shape)
{
    moment = moment * 6364136223846793005u + 1442695040888963407u;
    return hill(shape) * ((moment >> 33) % 50 == 0 ? 3 : 1);
}

static void search_withstands_outliers(void **unused)
{
    (void)unused;
    made.rate = lucky;
    double sum = 0;
    works(cltune_store(cp, 0, "made.up", 1000, "a=1 b=64 c=1 d=128 flag=0", 1, "items/s"));
    for (unsigned long seed = 0; seed < 200;
         seed++) { /* from far away: luck does not stand in the way */
        works(search_shape(60, seed));
        sum += hill(row.shape) / hill(HILLTOP);
    }
    print_message("from far away: %.3f\n", sum / 200);
    assert_true(sum / 200 > 0.75); /* 0.54 when rivals are not measured in turns */
    size_t left = 0;
    works(cltune_store(cp, 0, "made.up", 1000, HILLTOP, 1, "items/s"));
    for (unsigned long seed = 0; seed < 200; seed++) { /* from the best: it is not left */
        works(search_shape(60, seed));
        left += strcmp(row.shape, HILLTOP) != 0;
    }
    print_message("from the best: left %zu times\n", left);
    assert_true(left <= 6);
}

static void search_rejects_bad_arguments(void **unused)
{
    (void)unused;
    static int many[40];
    struct cltune_kernel bad = kernel;
    struct cltune_knob empty = {"a", powers, 0}, long_one = {"a", many, 40};
    fails(EINVAL, cltune_search(NULL, cp, 0, 1, 1, 1, NULL, NULL, &row, &rate));
    fails(EINVAL, cltune_search(&kernel, cp, 0, 1, 1, 1, NULL, NULL, NULL, &rate));
    fails(EINVAL, cltune_search(&kernel, cp, 0, 1, 1, 1, NULL, NULL, &row, NULL));
    fails(EINVAL, cltune_search(&kernel, NULL, 0, 1, 1, 1, NULL, NULL, &row, &rate));
    fails(EINVAL, cltune_search(&kernel, cp, 99, 1, 1, 1, NULL, NULL, &row, &rate));
    fails(EINVAL, cltune_search(&kernel, cp, 0, 1, -1, 1, NULL, NULL, &row, &rate));
    fails(EINVAL, cltune_search(&kernel, cp, 0, 1, NAN, 1, NULL, NULL, &row, &rate));
    bad.nknobs = 0;
    fails(EINVAL, cltune_search(&bad, cp, 0, 1, 1, 1, NULL, NULL, &row, &rate));
    bad.nknobs = 1;
    bad.knob = &empty;
    fails(EINVAL, cltune_search(&bad, cp, 0, 1, 1, 1, NULL, NULL, &row, &rate));
    bad.knob = &long_one;
    fails(EINVAL, cltune_search(&bad, cp, 0, 1, 1, 1, NULL, NULL, &row, &rate));
    bad = kernel;
    bad.reserved[6] = 1;
    fails(EINVAL, cltune_search(&bad, cp, 0, 1, 1, 1, NULL, NULL, &row, &rate));
    bad = kernel;
    bad.verify = NULL;
    fails(EINVAL, cltune_search(&bad, cp, 0, 1, 1, 1, NULL, NULL, &row, &rate));
    assert_int_equal(made.opened, 0);
    bad = kernel;
    bad.allowed = NULL; /* everything is */
    works(cltune_search(&bad, cp, 0, 1000, 60, 1, NULL, NULL, &row, &rate));
    assert_string_equal(row.shape, HILLTOP);
}

static int open_search_context(void **state)
{
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    return setup_done(cp) == 0 ? files_create(state) : -1;
}

static int close_search_context(void **state)
{
    return clcontext_destroy(cp) | files_remove(state);
}

int main(void)
{
#define MADE(test) cmocka_unit_test_setup(test, a_new_kernel)
    const struct CMUnitTest tests[] = {
        MADE(search_climbs_to_optimum),       MADE(search_seed_fixes_result),
        MADE(search_passes_constraints),      MADE(search_moves_two_knobs),
        MADE(search_rejects_wrong_answers),   MADE(search_reports_no_valid_shape),
        MADE(search_rejects_bad_rates),       MADE(search_keeps_budget),
        MADE(search_progress_can_cancel),     MADE(search_drops_slow_candidates),
        MADE(search_begins_with_known_entry), MADE(search_leaves_wrong_entry),
        MADE(search_withstands_noise),        MADE(search_withstands_outliers),
        MADE(search_rejects_bad_arguments),
    };
    return cmocka_run_group_tests(tests, open_search_context, close_search_context);
}
