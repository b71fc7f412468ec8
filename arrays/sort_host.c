/* sort_host.c - a stable radix sort on the host: passes of 8 bits, the lowest first, by threads.
 *
 *     keys      | part 0 | part 1 | part 2 |        1. threads count the digits of the parts
 *     place     part 0: p00 p01 ...; part 1: ...    2. the caller adds the counts: keys of a digit
 *                                                      in part 0 come before those in part 1
 *     to        | digit 0 | digit 1 | ...           3. threads move the keys of the parts
 *
 * A pass moves nothing if all keys have one digit. Collecting lines of the cache and writing
 * them past the caches, as sort.cl does, was no faster (bench/studies/cpu-sorts.json).
 * SPDX-License-Identifier: MIT
 */
#include "arrays/sort_host.h"

#include "core/thread_pool.h"
#include "stdcl/arrays.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS,
    LINE = 64,      /* bytes of a line of the cache */
    PARTS_EACH = 2, /* parts for each thread */
    PARTS_MAX = PARTS_EACH * (THREAD_POOL_MOST + 1),
    THREADS_COUNT = 1 << 15, /* least number of elements of a pass by threads */
};

/* A pass from arrays `from` to arrays `to`; index 0: keys, 1: values. */
struct sort_host_pass {
    const struct sort_host *sort;
    char *from[2], *to[2];
    unsigned shift, mask;
    size_t parts;
    /* Of each part: numbers of keys with each digit, then the place of the next one. */
    uint32_t place[PARTS_MAX][DIGITS];
};

/* ---- Keys. ----------------------------------------------------------------------------------- */

/* In the functions below `bytes` is 4 or 8 and a constant, after inlining. */

INLINE uint64_t number_at(const void *p, size_t bytes)
{
    return bytes == 4 ? *(const uint32_t *)p : *(const uint64_t *)p;
}

INLINE void number_put(void *p, size_t bytes, uint64_t v)
{
    if (bytes == 4)
        *(uint32_t *)p = (uint32_t)v;
    else
        *(uint64_t *)p = v;
}

/* Return an unsigned number whose low bits compare as the key does: as `ordered` of sort.cl. */
INLINE uint64_t ordered_key(uint64_t key, size_t bytes, int order, uint64_t flip)
{
    const uint64_t all = bytes == 4 ? UINT32_MAX : UINT64_MAX, top = all / 2 + 1,
                   twice_infinity = bytes == 4 ? 0xff000000u : 0xffe0000000000000u;
    if (order == ARRAYS_FLOATING && (key << 1 & all) > twice_infinity)
        return all;
    if (order == ARRAYS_FLOATING)
        return key ^ (key & top ? all : top) ^ flip;
    return order == ARRAYS_SIGNED ? key ^ top ^ flip : key ^ flip;
}

INLINE unsigned digit_of(uint64_t key, size_t bytes, int order, const struct sort_host_pass *p)
{
    const uint64_t all = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    return (unsigned)(ordered_key(key, bytes, order, p->sort->descending ? all : 0) >> p->shift) &
           p->mask;
}

static size_t part_start(const struct sort_host_pass *p, size_t part)
{
    return p->sort->n * part / p->parts;
}

/* ---- Counts. --------------------------------------------------------------------------------- */

INLINE void count_digits(struct sort_host_pass *p, size_t part, size_t bytes, int order)
{
    uint32_t *count = p->place[part];
    memset(count, 0, DIGITS * sizeof *count);
    const char *end = p->from[0] + part_start(p, part + 1) * bytes;
    for (const char *key = p->from[0] + part_start(p, part) * bytes; key < end; key += bytes)
        count[digit_of(number_at(key, bytes), bytes, order, p)]++;
}

/* Turn counts into places. True if keys have several digits. */
static bool place_digits(struct sort_host_pass *p)
{
    uint32_t before = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        const uint32_t start = before;
        for (size_t part = 0; part < p->parts; part++) {
            const uint32_t own = p->place[part][d];
            p->place[part][d] = before;
            before += own;
        }
        if (before - start == p->sort->n)
            return false;
    }
    return true;
}

/* ---- Moves. ---------------------------------------------------------------------------------- */

INLINE void move_keys(struct sort_host_pass *p, size_t part, size_t bytes, size_t value_bytes,
                      int order)
{
    uint32_t *place = p->place[part];
    const size_t end = part_start(p, part + 1);
    for (size_t i = part_start(p, part); i < end; i++) {
        const uint64_t key = number_at(p->from[0] + i * bytes, bytes);
        const size_t to = place[digit_of(key, bytes, order, p)]++;
        number_put(p->to[0] + to * bytes, bytes, key);
        if (value_bytes)
            number_put(p->to[1] + to * value_bytes, value_bytes,
                       number_at(p->from[1] + i * value_bytes, value_bytes));
    }
}

/* ---- A function for each size and order. ----------------------------------------------------- */

INLINE void count_for_size(struct sort_host_pass *p, size_t part, int order)
{
    if (p->sort->key_bytes == 4)
        count_digits(p, part, 4, order);
    else
        count_digits(p, part, 8, order);
}

static void sort_host_count(void *pass, size_t part)
{
    struct sort_host_pass *p = pass;
    if (p->sort->order == ARRAYS_UNSIGNED)
        count_for_size(p, part, ARRAYS_UNSIGNED);
    else if (p->sort->order == ARRAYS_SIGNED)
        count_for_size(p, part, ARRAYS_SIGNED);
    else
        count_for_size(p, part, ARRAYS_FLOATING);
}

INLINE void move_for_order(struct sort_host_pass *p, size_t part, size_t bytes, size_t value_bytes)
{
    if (p->sort->order == ARRAYS_UNSIGNED)
        move_keys(p, part, bytes, value_bytes, ARRAYS_UNSIGNED);
    else if (p->sort->order == ARRAYS_SIGNED)
        move_keys(p, part, bytes, value_bytes, ARRAYS_SIGNED);
    else
        move_keys(p, part, bytes, value_bytes, ARRAYS_FLOATING);
}

static void move_32(struct sort_host_pass *p, size_t part)
{
    if (p->sort->value_bytes == 0)
        move_for_order(p, part, 4, 0);
    else if (p->sort->value_bytes == 4)
        move_for_order(p, part, 4, 4);
    else
        move_for_order(p, part, 4, 8);
}

static void move_64(struct sort_host_pass *p, size_t part)
{
    if (p->sort->value_bytes == 0)
        move_for_order(p, part, 8, 0);
    else if (p->sort->value_bytes == 4)
        move_for_order(p, part, 8, 4);
    else
        move_for_order(p, part, 8, 8);
}

static void sort_host_move(void *pass, size_t part)
{
    struct sort_host_pass *p = pass;
    (p->sort->key_bytes == 4 ? move_32 : move_64)(p, part);
}

/* ---- The sort. ------------------------------------------------------------------------------- */

static size_t align_line(size_t bytes)
{
    return (bytes + (LINE - 1)) / LINE * LINE;
}

size_t arrays_sort_host_workspace(const struct sort_host *sort)
{
    return align_line(sizeof(struct sort_host_pass)) + align_line(sort->n * sort->key_bytes) +
           align_line(sort->n * sort->value_bytes);
}

static void sort_host_parts(struct thread_pool *pool, struct sort_host_pass *p,
                            void (*work)(void *pass, size_t part))
{
    if (pool)
        thread_pool_for(pool, p->parts, true, work, p);
    else
        work(p, 0);
}

static void sort_host_run_pass(struct sort_host_pass *p, struct thread_pool *pool, int bit)
{
    const int left = p->sort->bits - bit;
    p->shift = (unsigned)(p->sort->first_bit + bit);
    p->mask = left < DIGIT_BITS ? (1u << left) - 1 : DIGITS - 1;
    sort_host_parts(pool, p, sort_host_count);
    if (!place_digits(p))
        return;
    sort_host_parts(pool, p, sort_host_move);
    for (int a = 0; a < 2; a++) {
        char *const now = p->to[a];
        p->to[a] = p->from[a];
        p->from[a] = now;
    }
}

void arrays_sort_host(const struct sort_host *sort, struct thread_pool **pool, void *work)
{
    const size_t size = sort->n * sort->key_bytes, value_size = sort->n * sort->value_bytes;
    struct sort_host_pass *p = work;
    if (sort->n >= THREADS_COUNT && !*pool)
        *pool = thread_pool_create(THREAD_POOL_MOST);
    struct thread_pool *team = sort->n >= THREADS_COUNT && *pool && (*pool)->threads ? *pool : NULL;
    p->sort = sort;
    p->parts = team ? PARTS_EACH * (team->threads + 1) : 1;
    p->from[0] = sort->keys;
    p->from[1] = sort->values;
    p->to[0] = (char *)work + align_line(sizeof *p);
    p->to[1] = p->to[0] + align_line(size);
    for (int bit = 0; bit < sort->bits; bit += DIGIT_BITS)
        sort_host_run_pass(p, team, bit);
    if (p->from[0] == sort->keys)
        return;
    memcpy(sort->keys, p->from[0], size);
    if (value_size)
        memcpy(sort->values, p->from[1], value_size);
}
