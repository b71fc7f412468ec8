/* search.c - cltune_search: the best shape of a kernel, by trial.
 *
 * First candidates at random, for half of the time, then the neighbours of the best: one knob moved by one
 * value, until no neighbour is better. No candidate becomes the best before its answer was verified.
 */
#include "internal.h"

#include <time.h>

enum { MAX_KNOBS = 32, GIVE_UP_AFTER = 4000 };

struct search {
    const struct cltune_kernel *kernel;
    void *problem;
    double start, budget;
    uint64_t random;
    size_t best[MAX_KNOBS]; /* indices into each knob's values */
    double best_rate;       /* 0: none yet */
    char best_shape[512];
    struct cltune_progress progress;
    int (*told)(void *, const struct cltune_progress *);
    void *arg;
    bool stopped;
    uint64_t *seen; /* hashes of candidates tried, an open-addressed set */
    size_t nseen;
};
enum { SEEN_SLOTS = 1 << 14 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64 (Steele, Lea & Flood 2014). */
static uint64_t draw(struct search *s)
{
    uint64_t z = s->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static bool over(const struct search *s)
{
    return s->stopped || now() - s->start >= s->budget || s->progress.tried >= GIVE_UP_AFTER;
}

static void write_shape(const struct cltune_kernel *k, const size_t *index, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < k->nknobs && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s=%d", i ? " " : "", k->knob[i].key,
                              k->knob[i].values[index[i]]);
}

/* Whether a shape is met for the first time. */
static bool is_new(struct search *s, const char *shape)
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

static void tell(struct search *s)
{
    s->progress.elapsed = now() - s->start;
    s->progress.best_rate = s->best_rate;
    s->progress.best_shape = s->best_shape;
    if (s->told && s->told(s->arg, &s->progress) != 0)
        s->stopped = true;
}

/* The best of three measurements, or of one when that is hopeless; 0 when it cannot run. */
static double rate_of(struct search *s, const char *shape)
{
    double best = 0, seconds, work;
    for (int i = 0; i < 3; i++) {
        if (s->kernel->measure(s->problem, shape, &seconds, &work) != 0 || seconds <= 0)
            return 0;
        double rate = work / seconds;
        best = rate > best ? rate : best;
        if (best < 0.5 * s->best_rate)
            break;
    }
    return best;
}

/* Tries a candidate. Returns whether it is the new best. */
static bool try_candidate(struct search *s, const size_t *index)
{
    char shape[512];
    write_shape(s->kernel, index, shape, sizeof shape);
    if (!is_new(s, shape))
        return false;
    s->progress.tried++;
    bool better = false;
    if (s->kernel->allowed && s->kernel->allowed(s->problem, shape) != 0) {
        s->progress.refused++;
    } else {
        double rate = rate_of(s, shape);
        if (rate == 0)
            s->progress.refused++;
        better = rate > 1.005 * s->best_rate; /* less is noise */
        if (better && s->kernel->verify(s->problem, shape) != 0) {
            s->progress.wrong++;
            better = false;
        }
        if (better) {
            s->best_rate = rate;
            memcpy(s->best, index, sizeof s->best);
            memcpy(s->best_shape, shape, sizeof shape);
        }
    }
    tell(s);
    return better;
}

/* The index of the value nearest to what a shape says, so that the search starts from the known row. */
static void start_from(const struct cltune_kernel *k, const char *shape, size_t *index)
{
    for (size_t i = 0; i < k->nknobs; i++) {
        long wish = cltune_value(shape, k->knob[i].key, k->knob[i].values[k->knob[i].count / 2]);
        index[i] = 0;
        for (size_t v = 1; v < k->knob[i].count; v++)
            if (labs(k->knob[i].values[v] - wish) < labs(k->knob[i].values[index[i]] - wish))
                index[i] = v;
    }
}

static void search_at_random(struct search *s)
{
    size_t index[MAX_KNOBS] = {0};
    while (!over(s) && now() - s->start < 0.5 * s->budget && s->progress.tried < GIVE_UP_AFTER / 2) {
        size_t before = s->progress.tried;
        for (int misses = 0; s->progress.tried == before && misses < 1000; misses++) {
            for (size_t i = 0; i < s->kernel->nknobs; i++)
                index[i] = draw(s) % s->kernel->knob[i].count;
            try_candidate(s, index);
        }
        if (s->progress.tried == before)
            return; /* all seen */
    }
}

/* Moves one knob at a time until no move helps. */
static void search_around(struct search *s)
{
    bool better = s->best_rate > 0;
    while (better && !over(s)) {
        better = false;
        size_t from = draw(s) % s->kernel->nknobs;
        for (size_t n = 0; n < s->kernel->nknobs && !over(s); n++) {
            size_t knob = (from + n) % s->kernel->nknobs, index[MAX_KNOBS];
            for (int step = -1; step <= 1 && !over(s); step += 2) {
                memcpy(index, s->best, sizeof index);
                if ((step < 0 && index[knob] == 0) || (step > 0 && index[knob] + 1 >= s->kernel->knob[knob].count))
                    continue;
                index[knob] += (size_t)step;
                better = try_candidate(s, index) || better;
            }
        }
    }
}

STDCL_API int cltune_search(const struct cltune_kernel *kernel, CLCONTEXT *cp, cl_uint dev, size_t size,
                            double budget, unsigned long seed,
                            int (*told)(void *, const struct cltune_progress *), void *arg,
                            struct cltune_row *row, double *rate)
{
    if (!kernel || !row || !rate || kernel->nknobs == 0 || kernel->nknobs > MAX_KNOBS)
        return fail(EINVAL, 0, "cltune_search: the kernel, its knobs (1 to %d) or the result is missing", MAX_KNOBS);
    if (cltune_find(cp, dev, kernel->name, size, row) != 0)
        return -1;
    struct search s = {.kernel = kernel, .start = now(), .budget = budget, .random = seed, .told = told, .arg = arg};
    size_t first[MAX_KNOBS] = {0};
    s.progress.budget = budget;
    s.seen = calloc(SEEN_SLOTS, sizeof *s.seen);
    if (!s.seen)
        return fail(ENOMEM, 0, "cltune_search: no memory on the host");
    s.problem = kernel->open(cp, dev, size);
    if (s.problem) {
        start_from(kernel, row->shape, first);
        try_candidate(&s, first);
        search_at_random(&s);
        search_around(&s);
        kernel->close(s.problem);
    }
    free(s.seen);
    if (!s.problem)
        return -1;
    if (s.best_rate <= 0)
        return fail(ENOENT, 0, "cltune_search: of %zu shapes of %s none gives a right answer (%zu cannot run, %zu "
                    "are wrong)", s.progress.tried, kernel->name, s.progress.refused, s.progress.wrong);
    snprintf(row->shape, sizeof row->shape, "%s", s.best_shape);
    snprintf(row->source, sizeof row->source, "%s, size %zu: the best of %zu shapes tried", kernel->name, size,
             s.progress.tried);
    *rate = s.best_rate;
    return 0;
}
