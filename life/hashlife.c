/* hashlife.c - the functions of stdcl/hashlife.h that are not about the tree. */
/* SPDX-License-Identifier: MIT */
#include "life/hash.h"

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

static int check(const struct hashlife_options *o, struct life_rule *rule)
{
    if (life_rule_parse(o->rule ? o->rule : "B3/S23", rule) < 0)
        return -1;
    if (o->memory && o->memory < LEAST_MEMORY)
        return clerror_set(EINVAL, "hashlife_create: %zu bytes of memory are too few; give %zu or more", o->memory, LEAST_MEMORY);
    if (o->threads > MOST_THREADS)
        return clerror_set(EINVAL, "hashlife_create: %u threads are too many; give 1 to %d", o->threads, MOST_THREADS);
    return 0;
}

/* The counts n for which `set` has 8 - n. */
static unsigned mirrored(unsigned set)
{
    unsigned out = 0;
    for (int n = 0; n <= 8; n++)
        out |= (set >> (8 - n) & 1) << n;
    return out;
}

/* With B0 all of an empty plane becomes alive. So that it can stay empty here, cells are kept the other way round: with S8 as well,
 * where nothing of that dies again, always; otherwise in odd generations. Other rules do not change. Golly does the same. */
static void take_rule(struct hashlife *h, const struct life_rule *rule)
{
    enum { ALL = (1 << 9) - 1 };
    const unsigned b = rule->birth, s = rule->survival;
    struct life_rule even = *rule, odd = *rule;
    h->rule = *rule;
    h->alternates = (b & 1) && !(s >> 8);
    if (h->alternates) {
        even = (struct life_rule){ALL & ~b, ALL & ~s};
        odd = (struct life_rule){mirrored(s), mirrored(b)};
    } else if (b & 1) {
        even = odd = (struct life_rule){mirrored(ALL & ~s), mirrored(ALL & ~b)};
    }
    h->conway = !h->alternates && even.birth == 1 << 3 && even.survival == (1 << 2 | 1 << 3);
    life_logic_find(&even, &h->logic[0]);
    life_logic_find(&odd, &h->logic[1]);
}

static unsigned processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

hashlife *hashlife_create(const struct hashlife_options *options)
{
    struct life_rule rule;
    const struct hashlife_options none = {.rule = NULL}, *o = options ? options : &none;
    if (reserved_check("hashlife_create", o->reserved) < 0 || check(o, &rule) < 0)
        return NULL;
    struct hashlife *h = calloc(1, sizeof *h);
    if (!h) {
        clerror_set(ENOMEM, "hashlife_create: no memory");
        return NULL;
    }
    take_rule(h, &rule);
    h->memory = o->memory ? o->memory : (size_t)(life_host_memory() / 2);
    h->threads = o->threads ? o->threads : processors();
    h->progress = o->progress;
    h->arg = o->arg;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->change, NULL);
    for (int i = 0; i < NODE_LEVELS; i++)
        h->empty[i] = NO_SQUARE;
    h->root = NO_SQUARE;
    h->working = 1;
    h->worker = calloc(h->threads, sizeof *h->worker);
    for (unsigned t = 0; h->worker && t < h->threads; t++) {
        h->worker[t].h = h;
        h->worker[t].number = t;
    }
    if (!h->worker)
        clerror_set(ENOMEM, "hashlife_create: no memory");
    if (!h->worker || hash_nodes_open(h) < 0 || hash_clear(h) < 0) {
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
    free(h->added);
    free(h);
}

static int step_failed(const struct hashlife *h)
{
    if (h->error == ECANCELED)
        return clerror_set(ECANCELED, "hashlife_step: ended by the caller at generation %llu", (unsigned long long)h->generation);
    if (h->error == ERANGE)
        return clerror_set(ERANGE, "hashlife_step: at generation %llu the plane would become more than 2^%d cells across",
                           (unsigned long long)h->generation, LEVEL_MAX);
    return clerror_set(ENOMEM,
                       "hashlife_step: at generation %llu the tree needs more than the %zu MiB it was given; give it more, or go on in "
                       "smaller steps", (unsigned long long)h->generation, h->memory >> 20);
}

int hashlife_step(hashlife *h, uint64_t generations)
{
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
    return h->generation;
}

struct life_rule hashlife_rule(const hashlife *h)
{
    return h->rule;
}

size_t hashlife_bytes(const hashlife *h)
{
    return hash_bytes(h);
}

uint64_t hashlife_collections(const hashlife *h)
{
    return h->collections;
}
