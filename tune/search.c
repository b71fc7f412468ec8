/* search.c - cltune_search: a kernel's best launch shape, by trial.
 *
 *   start      the shape known so far
 *   random     candidates anywhere, to find the right region
 *   around     from the best: one knob moved by one value, then two at once, until no move helps
 *   playoff    the best and the start, measured alternately, so that a lucky run does not win
 *
 * Machines are noisy, and shapes that compute wrong results are fast. A candidate therefore becomes
 * the best only after its result was verified and after it beat the best once more, measured
 * alternately.
 * SPDX-License-Identifier: MIT
 */
#include "tune/tune.h"

#include "core/clock.h"
#include "core/reserved.h"

#include <limits.h>
#include <math.h>

enum { MAX_KNOBS = 32, MAX_VALUES = 32, RUNS = 3, TURNS = 3, LAST_TURNS = 7, SEEN_SLOTS = 1 << 14 };
static const double BETTER = 1.01; /* a smaller gain is noise */
static const double HOPELESS =
    0.5; /* fraction of the best rate below which a candidate is measured only once */
static const double RANDOM_SHARE = 0.4; /* largest fraction of the budget */

/* A shape as the index of each knob's value. */
struct candidate {
    size_t index[MAX_KNOBS];
    char shape[sizeof((struct cltune_row *)0)->shape];
    double rate; /* 0: not measured */
};

struct search {
    const struct cltune_kernel *kernel;
    void *problem;
    int values[MAX_KNOBS][MAX_VALUES + 1]; /* declared values of each knob, and the start's own */
    size_t count[MAX_KNOBS];
    char others[512]; /* words of the start that are not knobs, kept unchanged */
    struct candidate first, best;
    uint64_t random;
    double start, longest; /* seconds: time of the start; longest candidate so far */
    struct cltune_progress progress;
    int (*told)(void *, const struct cltune_progress *);
    void *arg;
    bool stopped;
    uint64_t *seen; /* hash set of candidates, open addressing */
    size_t nseen;
};

/* splitmix64 (Steele, Lea & Flood 2014). */
static uint64_t search_random(struct search *s)
{
    uint64_t z = s->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* True if there is no time for another candidate as long as the longest and for the playoff. */
static bool over(const struct search *s, double share)
{
    return s->stopped || seconds_now() - s->start + 2 * s->longest > share * s->progress.budget ||
           s->nseen > SEEN_SLOTS / 2;
}

static void search_report_progress(struct search *s)
{
    s->progress.elapsed = seconds_now() - s->start;
    s->progress.first_rate = s->first.rate;
    s->progress.first_shape = s->first.shape;
    s->progress.best_rate = s->best.rate;
    s->progress.best_shape = s->best.shape;
    if (s->told && s->told(s->arg, &s->progress) != 0)
        s->stopped = true;
}

/* ---- Candidates. ---- */

static void write_shape(const struct search *s, struct candidate *c)
{
    size_t n = 0;
    for (size_t i = 0; i < s->kernel->nknobs && n < sizeof c->shape; i++)
        n += (size_t)snprintf(c->shape + n, sizeof c->shape - n, "%s%s=%d", i ? " " : "",
                              s->kernel->knob[i].key, s->values[i][c->index[i]]);
    if (n < sizeof c->shape)
        snprintf(c->shape + n, sizeof c->shape - n, "%s", s->others);
}

/* True if a shape has not been tried. */
static bool search_is_new(struct search *s, const char *shape)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (const char *c = shape; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    h |= 1;
    size_t i = h % SEEN_SLOTS;
    while (s->seen[i] && s->seen[i] != h)
        i = (i + 1) % SEEN_SLOTS;
    if (s->seen[i] == h || s->nseen > SEEN_SLOTS / 2)
        return false;
    s->seen[i] = h;
    s->nseen++;
    return true;
}

/* Work per second of one measurement; 0 if the shape cannot run. */
static double rate_once(struct search *s, const char *shape)
{
    double seconds = 0, work = 0;
    if (s->kernel->measure(s->problem, shape, &seconds, &work) != 0)
        return 0;
    double rate = work / seconds;
    return seconds > 0 && isfinite(rate) && rate > 0 ? rate : 0;
}

/* The best of RUNS measurements, or of one if that is hopeless. */
static double search_rate_of(struct search *s, const char *shape)
{
    double best = 0;
    for (int i = 0; i < RUNS; i++) {
        double rate = rate_once(s, shape);
        if (rate == 0)
            return 0;
        best = rate > best ? rate : best;
        if (best < HOPELESS * s->best.rate)
            break;
    }
    return best;
}

/* Measure two shapes alternately; set both rates to the best of each. The first keeps its old rate
 * if it fails now. */
static void search_playoff_rounds(struct search *s, struct candidate *a, struct candidate *b,
                                  int turns)
{
    double best[2] = {0, 0};
    for (int i = 0; i < turns; i++) {
        best[0] = fmax(best[0], rate_once(s, a->shape));
        best[1] = fmax(best[1], rate_once(s, b->shape));
    }
    a->rate = best[0] > 0 ? best[0] : a->rate;
    b->rate = best[1];
}

/* True if a candidate that runs becomes the best. */
static bool wins(struct search *s, struct candidate *c)
{
    if (c->rate < BETTER * s->best.rate)
        return false;
    if (s->kernel->verify(s->problem, c->shape) != 0) {
        s->progress.wrong++;
        return false;
    }
    if (s->best.rate > 0)
        search_playoff_rounds(s, &s->best, c, TURNS);
    return c->rate > 0 && c->rate >= BETTER * s->best.rate;
}

/* Try a new candidate. Return true if it is the new best. */
static bool try_candidate(struct search *s, const size_t *index)
{
    struct candidate c = {.rate = 0};
    memcpy(c.index, index, sizeof c.index);
    write_shape(s, &c);
    if (!search_is_new(s, c.shape))
        return false;
    const double began = seconds_now();
    bool better = false;
    s->progress.tried++;
    if (!s->kernel->allowed || s->kernel->allowed(s->problem, c.shape) == 0)
        c.rate = search_rate_of(s, c.shape);
    if (c.rate == 0)
        s->progress.refused++;
    else if ((better = wins(s, &c)))
        s->best = c;
    if (s->progress.tried == 1)
        s->first.rate = s->best.rate;
    s->longest = fmax(s->longest, seconds_now() - began);
    search_report_progress(s);
    return better;
}

/* ---- Where the search begins. ---- */

/* Collect a knob's declared values, ascending, and the start's if it differs. Return the index of
 * the start's value. */
static size_t take_values(struct search *s, size_t i, const char *shape)
{
    const struct cltune_knob *knob = &s->kernel->knob[i];
    long start = cltune_value(shape, knob->key, knob->values[knob->count / 2]);
    size_t place = 0, n = 0;
    start = start > INT_MAX ? INT_MAX : start < INT_MIN ? INT_MIN : start;
    while (place < knob->count && knob->values[place] < start)
        place++;
    for (size_t v = 0; v < knob->count; v++) {
        if (v == place && knob->values[v] != start)
            s->values[i][n++] = (int)start;
        s->values[i][n++] = knob->values[v];
    }
    if (place == knob->count)
        s->values[i][n++] = (int)start;
    s->count[i] = n;
    return place;
}

/* Collect the words of a shape that are not knobs, each preceded by a space. */
static void take_others(struct search *s, const char *shape)
{
    size_t n = 0;
    for (const char *word = shape; *word; word += strcspn(word, " ")) {
        word += strspn(word, " ");
        const int length = (int)strcspn(word, " "), key = (int)strcspn(word, "= ");
        bool knob = length == 0;
        for (size_t i = 0; i < s->kernel->nknobs; i++)
            knob = knob || (strlen(s->kernel->knob[i].key) == (size_t)key &&
                            strncmp(s->kernel->knob[i].key, word, (size_t)key) == 0);
        if (!knob && n < sizeof s->others)
            n += (size_t)snprintf(s->others + n, sizeof s->others - n, " %.*s", length, word);
    }
}

static void search_start(struct search *s, const char *shape)
{
    for (size_t i = 0; i < s->kernel->nknobs; i++)
        s->first.index[i] = take_values(s, i, shape);
    take_others(s, shape);
    write_shape(s, &s->first);
    try_candidate(s, s->first.index);
}

/* ---- How it goes on. ---- */

/* Try random candidates, in proportion to the size of the space; impossible shapes do not count. */
static void search_at_random(struct search *s)
{
    const size_t most = 8 + 4 * s->kernel->nknobs;
    size_t index[MAX_KNOBS] = {0};
    for (size_t draws = 0; draws < 50 * most && !over(s, RANDOM_SHARE); draws++) {
        if (s->progress.tried - s->progress.refused >= most)
            return;
        for (size_t i = 0; i < s->kernel->nknobs; i++)
            index[i] = search_random(s) % s->count[i];
        try_candidate(s, index);
    }
}

/* Move a knob by one value; false at the end of its values. */
static bool search_move(const struct search *s, size_t *index, size_t knob, int step)
{
    if (step < 0 ? index[knob] == 0 : index[knob] + 1 >= s->count[knob])
        return false;
    index[knob] = step < 0 ? index[knob] - 1 : index[knob] + 1;
    return true;
}

/* Move one knob by one value, starting from a random knob. Return true if a move helped. */
static bool search_singles(struct search *s)
{
    const size_t n = s->kernel->nknobs, from = search_random(s) % n;
    bool better = false;
    for (size_t k = 0; k < 2 * n && !over(s, 1); k++) {
        size_t index[MAX_KNOBS];
        memcpy(index, s->best.index, sizeof index);
        if (search_move(s, index, (from + k / 2) % n, k % 2 ? 1 : -1))
            better = try_candidate(s, index) || better;
    }
    return better;
}

/* Move two knobs at once, which gets past constraints that tie them, until a move helps. */
static bool search_pairs(struct search *s)
{
    const size_t n = s->kernel->nknobs, from = search_random(s) % n;
    for (size_t k = 0; k < 4 * n * n && !over(s, 1); k++) {
        const size_t a = (from + k / (4 * n)) % n, b = k / 4 % n;
        size_t index[MAX_KNOBS];
        memcpy(index, s->best.index, sizeof index);
        if (a < b && search_move(s, index, a, k & 1 ? 1 : -1) &&
            search_move(s, index, b, k & 2 ? 1 : -1) && try_candidate(s, index))
            return true;
    }
    return false;
}

static void search_around(struct search *s)
{
    bool better = s->best.rate > 0;
    while (better && !over(s, 1))
        better = search_singles(s) || search_pairs(s);
}

/* Keep the start unless the best beats it once more. */
static void playoff(struct search *s)
{
    if (s->stopped || s->first.rate == 0)
        return;
    if (strcmp(s->first.shape, s->best.shape) != 0) {
        search_playoff_rounds(s, &s->first, &s->best, LAST_TURNS);
        if (s->best.rate < BETTER * s->first.rate)
            s->best = s->first;
    } else {
        s->first = s->best; /* with the rate of the last rounds */
    }
    search_report_progress(s);
}

static void search_every_shape(struct search *s, const char *shape)
{
    search_start(s, shape);
    search_at_random(s);
    search_around(s);
    playoff(s);
}

static int search_check(const struct cltune_kernel *k, double budget, const struct cltune_row *row,
                        const double *rate)
{
    if (!k || !row || !rate)
        return fail(EINVAL, 0, "cltune_search: the kernel or the result is NULL");
    if (!k->name || !k->open || !k->close || !k->verify || !k->measure)
        return fail(EINVAL, 0,
                    "cltune_search: the kernel lacks its name, open, close, verify or measure");
    if (reserved_check_some("cltune_search", k->reserved, 7) != 0)
        return -1;
    if (k->nknobs == 0 || k->nknobs > MAX_KNOBS)
        return fail(EINVAL, 0, "cltune_search: %s has %zu knobs; there must be 1 to %d", k->name,
                    k->nknobs, MAX_KNOBS);
    for (size_t i = 0; i < k->nknobs; i++)
        if (k->knob[i].count == 0 || k->knob[i].count > MAX_VALUES)
            return fail(EINVAL, 0,
                        "cltune_search: knob %s of %s has %zu values; there must be 1 to %d",
                        k->knob[i].key, k->name, k->knob[i].count, MAX_VALUES);
    return budget >= 0
               ? 0
               : fail(EINVAL, 0, "cltune_search: a budget of %g s; it must be >= 0", budget);
}

STDCL_API int cltune_time(int (*run)(void *, size_t), void *problem, double *seconds)
{
    static const double ENOUGH = 0.05;
    double took = 0;
    if (run(problem, 1) != 0)
        return -1;
    for (size_t n = 1; took < ENOUGH; n *= 2) {
        const double start = seconds_now();
        if (run(problem, n) != 0)
            return -1;
        took = seconds_now() - start;
        *seconds = took / (double)n;
    }
    return 0;
}

/* Report that a finished search found nothing. */
static int nothing_found(const struct search *s, const char *device)
{
    if (s->progress.refused == s->progress.tried)
        return fail(ENOENT, 0,
                    "cltune_search: %s can run none of the %zu shapes of %s that were tried",
                    device, s->progress.tried, s->kernel->name);
    return fail(
        ENOENT, 0,
        "cltune_search: of %zu shapes of %s none gives a right answer (%zu cannot run, %zu are wrong)",
        s->progress.tried, s->kernel->name, s->progress.refused, s->progress.wrong);
}

/* Search from a shape, in a context of the one device. */
static int search_on(struct search *s, CLCONTEXT *one, size_t size, const char *shape)
{
    s->problem = s->kernel->open(s->kernel, one, size);
    if (!s->problem)
        return -1;
    search_every_shape(s, shape);
    s->kernel->close(s->problem);
    return s->best.rate > 0 ? 0 : nothing_found(s, device_name(one, 0));
}

STDCL_API int cltune_search(const struct cltune_kernel *kernel, CLCONTEXT *cp, cl_uint dev,
                            size_t size, double budget, unsigned long seed,
                            int (*told)(void *, const struct cltune_progress *), void *arg,
                            struct cltune_row *row, double *rate)
{
    if (search_check(kernel, budget, row, rate) != 0 ||
        cltune_find(cp, dev, kernel->name, size, row) != 0 ||
        (!*row->shape && kernel->like && cltune_find(cp, dev, kernel->like, size, row) != 0))
        return -1;
    const cl_device_id device = clgetdevice(cp, dev);
    CLCONTEXT *one = clcontext_create_from(&device, 1);
    struct search *s = calloc(1, sizeof *s);
    uint64_t *seen = calloc(SEEN_SLOTS, sizeof *seen);
    int status = one ? 0 : -1;
    if (status == 0 && (!s || !seen))
        status = fail(ENOMEM, 0, "cltune_search: out of memory on the host");
    if (status == 0) {
        *s = (struct search){.kernel = kernel,
                             .start = seconds_now(),
                             .random = seed,
                             .told = told,
                             .arg = arg,
                             .progress.budget = budget,
                             .seen = seen};
        status = search_on(s, one, size, row->shape);
    }
    if (status == 0) {
        memcpy(row->shape, s->best.shape, sizeof row->shape);
        snprintf(row->source, sizeof row->source, "%.60s, size %zu: the best of %zu shapes",
                 kernel->name, size, s->progress.tried - s->progress.refused);
        *rate = s->best.rate;
    }
    if (one)
        clcontext_destroy(one);
    free(seen);
    free(s);
    return status;
}
