/* hashlife.c - the functions of stdcl/hashlife.h that are not about the tree. */
/* SPDX-License-Identifier: MIT */
#include "life/hash_leaf.h"
#include "life/hash_nodes.h"
#include "core/handle.h"
#include "life/transitions.h"
#include "life/cells.h"
#include "life/logic.h"

#include "core/reserved.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };
static const size_t LEAST_MEMORY = (size_t)16 << 20;

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

char *hashlife_number_string(struct hashlife_number number, char *text)
{
    char digits[48], *p = digits + sizeof digits;
    const bool negative = number.high < 0;
    uwide value = (uwide)(uint64_t)number.high << 64 | number.low;
    if (negative)
        value = 0 - value;
    *--p = 0;
    do
        *--p = (char)('0' + (int)(value % 10));
    while (value /= 10);
    if (negative)
        *--p = '-';
    return strcpy(text, p);
}

double hashlife_number_double(struct hashlife_number number)
{
    return (double)(wide)((uwide)(uint64_t)number.high << 64 | number.low);
}

static int hashlife_check_options(const struct hashlife_options *o, struct life_family *rule)
{
    static const unsigned char none[9] = {0};
    if (life_family_take(o->rule, o->transitions, rule) < 0)
        return -1;
    if (rule->large.range)
        return clerror_set(
            EINVAL,
            "hashlife: the rule %s is Larger than Life, which is for grids; a plane without edges has rules of the nearest neighbours",
            rule->text);
    if (rule->transitions ? life_transit(rule->transitions, none) != 0
                          : rule->states > 2 && life_table_next(&rule->table, 0))
        return clerror_set(
            EINVAL,
            "hashlife: under the rule %s all of an empty plane becomes alive, which a plane without edges cannot be; give it a grid",
            rule->text);
    if (o->memory && o->memory < LEAST_MEMORY)
        return clerror_set(EINVAL,
                           "hashlife_create: %zu bytes of memory are too few; give %zu or more",
                           o->memory, LEAST_MEMORY);
    if (o->threads > MOST_THREADS)
        return clerror_set(EINVAL, "hashlife_create: %u threads are too many; give 1 to %d",
                           o->threads, MOST_THREADS);
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
 * has S8, else in odd generations, as in Golly. Other rules are not changed. */
static int hashlife_set_rule(struct hashlife *h, const struct life_family *rule)
{
    const bool birth = life_table_next(&rule->table, 0), stays = life_table_next(&rule->table, 511);
    const struct life_table even = inverted(&rule->table, birth && stays, birth),
                            odd = inverted(&rule->table, birth, birth && stays),
                            *const of[2] = {&even, &odd};
    h->rule = *rule;
    h->multistate = rule->states > 2 || rule->transitions;
    h->leaf_level = rule->transitions ? LEAF_LEVEL_OF_FILES : LEAF_LEVEL_MOST;
    if (rule->transitions)
        return 0;
    h->alternates = birth && !stays;
    for (int i = 0; i < 2 && !rule->counts; i++) {
        if (!(h->middle[i] = malloc(1 << 16)))
            return clerror_set(ENOMEM, "hashlife_create: out of memory");
        hash_leaf_table(of[i], h->middle[i]);
    }
    for (int i = 0; i < 2 && rule->counts; i++) {
        const struct life_rule counts = counts_of(of[i]);
        h->conway =
            !h->alternates && counts.birth == 1 << 3 && counts.survival == (1 << 2 | 1 << 3);
        if (!h->conway)
            life_logic_find(&counts, &h->logic[i]);
    }
    return 0;
}

static unsigned processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

hashlife *hashlife_create(const struct hashlife_options *options)
{
    struct life_family rule;
    const struct hashlife_options none = {.rule = NULL}, *o = options ? options : &none;
    if (reserved_check("hashlife_create", o->reserved) < 0 || hashlife_check_options(o, &rule) < 0)
        return NULL;
    struct hashlife *h = calloc(1, sizeof *h);
    if (!h) {
        clerror_set(ENOMEM, "hashlife_create: out of memory");
        return NULL;
    }
    h->memory = o->memory ? o->memory : (size_t)(life_host_memory() / 2);
    h->threads = o->threads ? o->threads : processors();
    h->helper_delay = 0.02;
    h->progress = o->progress;
    h->arg = o->arg;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->change, NULL);
    for (int i = 0; i < NODE_LEVELS; i++)
        h->empty[i] = NO_SQUARE;
    h->root = NO_SQUARE;
    h->working = 1;
    h->worker = aligned_alloc(64, h->threads * sizeof *h->worker);
    for (unsigned t = 0; h->worker && t < h->threads; t++) {
        struct worker *w = &h->worker[t];
        w->h = h;
        w->id = (uint8_t)(t + 1);
        w->reverse = t % 2 != 0;
        w->items = 0;
        for (int i = 0; i < NODE_LEVELS; i++)
            w->batch[i].own = w->batch[i].deferred = w->batch[i].n = 0;
        w->depth = w->nodes.n = w->leaves.n = 0;
    }
    if (!h->worker)
        clerror_set(ENOMEM, "hashlife_create: out of memory");
    if (!h->worker || hashlife_set_rule(h, &rule) < 0 || hash_nodes_open(h) < 0 ||
        hash_clear(h) < 0) {
        hashlife_free(h);
        return NULL;
    }
    return h;
}

void hashlife_free(hashlife *h)
{
    if (!h)
        return;
    hash_nodes_close(h);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->change);
    free(h->worker);
    free(h->middle[0]);
    free(h->middle[1]);
    free(h->added);
    free(h);
}

static int step_failed(const struct hashlife *h)
{
    if (h->error == ECANCELED)
        return clerror_set(ECANCELED, "hashlife_step: ended by the caller at generation %llu",
                           (unsigned long long)h->generation);
    if (h->error == ERANGE)
        return clerror_set(
            ERANGE,
            "hashlife_step: at generation %llu the plane would become more than 2^%d cells across",
            (unsigned long long)h->generation, LEVEL_MAX);
    return clerror_set(
        ENOMEM,
        "hashlife_step: at generation %llu the tree needs at least %zu MiB of memory, and was given %zu; give it more, or go on in "
        "smaller steps",
        (unsigned long long)h->generation, hash_needed(h), h->memory >> 20);
}

int hashlife_step(hashlife *h, uint64_t generations)
{
    if (no_handle(h, __func__))
        return -1;
    if (generations > UINT64_MAX - h->generation)
        return clerror_set(ERANGE, "hashlife_step: generations are counted up to 2^64 - 1");
    h->total = (double)generations;
    h->done = 0;
    for (int k = 0; k < 64; k++)
        if (generations >> k & 1) {
            if (hash_step(h, k) < 0)
                return step_failed(h);
            h->done += ldexp(1, k);
        }
    return 0;
}

uint64_t hashlife_generation(const hashlife *h)
{
    if (no_handle(h, __func__))
        return 0;
    return h->generation;
}

unsigned hashlife_states(const hashlife *h)
{
    if (no_handle(h, __func__))
        return 0;
    return h->rule.states;
}

struct life_rule hashlife_rule(const hashlife *h)
{
    if (no_handle(h, __func__))
        return (struct life_rule){0};
    return h->rule.rule;
}

size_t hashlife_bytes(const hashlife *h)
{
    if (no_handle(h, __func__))
        return 0;
    return hash_bytes(h);
}

uint64_t hashlife_collections(const hashlife *h)
{
    if (no_handle(h, __func__))
        return 0;
    return h->collections;
}
