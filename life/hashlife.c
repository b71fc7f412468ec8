/* hashlife.c - the engine "hashlife": options, rule, steps. */
/* SPDX-License-Identifier: MIT */
#include "life/hash_leaf.h"
#include "life/hash_nodes.h"
#include "life/cells.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };
enum { LOOKUPS_AFTER = 100 }; /* results of nodes */
static const size_t LEAST_MEMORY = (size_t)16 << 20;

static int hashlife_check_options(const struct life_options *o)
{
    if (o->memory && o->memory < LEAST_MEMORY)
        return clerror_set(EINVAL, "life: %zu bytes of memory are too few; give %zu or more",
                           o->memory, LEAST_MEMORY);
    if (o->threads > MOST_THREADS)
        return clerror_set(EINVAL, "life: %u threads are too many; give 1 to %d", o->threads,
                           MOST_THREADS);
    return 0;
}

/* Invert a table's input cells or its output cells. */
static struct life_table inverted(const struct life_table *t, bool in, bool out)
{
    struct life_table made = {{0}};
    for (unsigned block = 0; block < 512; block++)
        made.on[block / 64] |= (uint64_t)(life_table_next(t, in ? block ^ 511 : block) ^ out)
                               << block % 64;
    return made;
}

/* Neighbour counts for birth and survival of an outer-totalistic table. */
static struct life_rule counts_of(const struct life_table *t)
{
    static const unsigned short with[9] = {0, 1, 3, 7, 15, 47, 111, 239, 495};
    struct life_rule rule = {0, 0};
    for (int n = 0; n <= 8; n++) {
        rule.birth |= life_table_next(t, with[n]) << n;
        rule.survival |= life_table_next(t, with[n] | 16) << n;
    }
    return rule;
}

/* B0 turns empty space alive. To keep it empty here, cells are stored inverted: always if the rule
 * has S8, else in odd generations, as in Golly. If two rules alternate, the first may have
 * B0, and the second turns space empty again. Other rules are not changed. */
static int hashlife_set_rule(struct hashlife *h, const struct life_family *rule)
{
    const bool pair = rule->row->form == LIFE_FORM_PAIR, birth = life_table_next(&rule->table, 0),
               stays = !pair && life_table_next(&rule->table, 511);
    const struct life_table even = inverted(&rule->table, birth && stays, birth),
                            odd = inverted(pair ? &rule->odd : &rule->table, birth, birth && stays),
                            *const of[2] = {&even, &odd};
    h->transitions = rule->transitions;
    h->multistate = rule->states > 2 || rule->transitions;
    h->leaf_level = rule->transitions ? LEAF_LEVEL_OF_FILES : LEAF_LEVEL_MOST;
    h->isa = life_isa(0);
    if (rule->transitions)
        return 0;
    h->alternates = pair || (birth && !stays);
    for (int i = 0; i < 2 && !rule->counts && h->isa->lookups_bits; i++)
        h->columns[i] = life_columns_of(of[i]);
    for (int i = 0; i < 2 && !rule->counts && !h->isa->lookups_bits; i++) {
        if (i && !h->alternates)
            h->middle[i] = h->middle[0];
        else if (!(h->middle[i] = malloc(1 << 16)))
            return clerror_set(ENOMEM, "life: out of memory for an engine");
        else
            hash_leaf_table(of[i], h->middle[i]);
    }
    for (int i = 0; i < 2 && rule->counts; i++) {
        const struct life_rule counts = counts_of(of[i]);
        h->conway =
            !h->alternates && counts.birth == 1 << 3 && counts.survival == (1 << 2 | 1 << 3);
        hash_leaf_counts(&counts, &h->counts[i]);
    }
    return 0;
}

static unsigned processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

static void hashlife_free(life *lf)
{
    struct hashlife *h = lf->state;
    if (!h)
        return;
    hash_nodes_close(h);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->change);
    if (h->worker)
        munmap(h->worker, h->threads * sizeof *h->worker);
    if (h->middle[1] != h->middle[0])
        free(h->middle[1]);
    free(h->middle[0]);
    free(h->added);
    free(h);
    lf->state = NULL;
}

/* Pages of workers that are never touched cost nothing: most batches of a small run. */
static int hashlife_create_workers(struct hashlife *h)
{
    h->worker = mmap(NULL, h->threads * sizeof *h->worker, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (h->worker == MAP_FAILED) {
        h->worker = NULL;
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    }
    for (unsigned t = 0; t < h->threads; t++) {
        struct worker *w = &h->worker[t];
        w->h = h;
        w->id = (uint8_t)(t + 1);
        w->reverse = t % 2 != 0;
    }
    return 0;
}

static int hashlife_create(life *lf, const struct life_options *o)
{
    if (hashlife_check_options(o) < 0)
        return -1;
    struct hashlife *h = lf->state = calloc(1, sizeof *h);
    if (!h)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    h->lf = lf;
    h->memory = o->memory ? o->memory : (size_t)(life_host_memory() / 2);
    h->threads = o->threads ? o->threads : processors();
    h->helper_delay = 0.1;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->change, NULL);
    for (int i = 0; i < NODE_LEVELS; i++)
        h->empty[i] = NO_SQUARE;
    h->root = NO_SQUARE;
    h->working = 1;
    if (hashlife_create_workers(h) == 0 && hashlife_set_rule(h, &lf->rule) == 0 &&
        hash_nodes_open(h) == 0 && hash_clear(h) == 0)
        return 0;
    hashlife_free(lf);
    return -1;
}

static int hashlife_clear(life *lf)
{
    return hash_clear(lf->state) < 0 ? hash_failed(lf->state) : 0;
}

/* Convert a rule file's tree to tables once a run is long enough for it. */
static void hashlife_make_lookups(struct hashlife *h)
{
    if (!h->transitions || h->lookups_tried || hash_results(h->lf) < LOOKUPS_AFTER)
        return;
    h->lookups_tried = true;
    if (h->isa->lookups_states)
        life_lookups_make(h->transitions, &h->lookups);
}

static int hashlife_step(life *lf, uint64_t generations)
{
    struct hashlife *h = lf->state;
    for (int k = 0; k < 64; k++)
        if (generations >> k & 1) {
            hashlife_make_lookups(h);
            if (hash_step(h, k) < 0)
                return hash_failed(h);
            lf->call.done += ldexp(1, k);
        }
    return 0;
}

uint64_t hash_results(const life *lf)
{
    const struct hashlife *h = lf->state;
    uint64_t results = 0;
    for (unsigned t = 0; t < h->threads; t++)
        results += h->worker[t].results;
    return results;
}

static size_t hashlife_bytes(const life *lf)
{
    return hash_bytes(lf->state);
}

static struct life_statistics hashlife_statistics(const life *lf)
{
    return (struct life_statistics){.collections =
                                        ((const struct hashlife *)lf->state)->collections};
}

const struct life_backend life_hashlife_backend = {
    .create = hashlife_create,
    .free = hashlife_free,
    .step = hashlife_step,
    .clear = hashlife_clear,
    .put = hash_put,
    .get = hash_get,
    .zoomed = hash_zoomed,
    .density = hash_density,
    .population = hash_population,
    .bounding_box = hash_bounding_box,
    .runs = hash_runs,
    .bytes = hashlife_bytes,
    .statistics = hashlife_statistics,
};
