/* hash_map.h - a hash map of numbers, for walks over HashLife's tree.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_HASH_MAP_H
#define LIFE_HASH_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAP_NONE UINT32_MAX

/* Zero-initialized: empty. */
struct map {
    struct map_entry {
        uint64_t key;
        uint32_t value; /* MAP_NONE: the place is free */
    } * entry;
    size_t n, places; /* a power of two */
};

static inline struct map_entry *map_place(const struct map *m, uint64_t key)
{
    uint64_t x = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(x ^ x >> 32) & (m->places - 1);
    while (m->entry[at].value != MAP_NONE && m->entry[at].key != key)
        at = (at + 1) & (m->places - 1);
    return &m->entry[at];
}

/* Return the number of a key, or MAP_NONE. */
static inline uint32_t map_get(const struct map *m, uint64_t key)
{
    if (!m->places)
        return MAP_NONE;
    return map_place(m, key)->value;
}

/* Add a key that is not present, with a value below MAP_NONE. False if out of memory. */
static inline bool map_put(struct map *m, uint64_t key, uint32_t value)
{
    if (4 * m->n >= 3 * m->places) {
        struct map more = {.n = m->n, .places = m->places ? 2 * m->places : 1024};
        more.entry = malloc(more.places * sizeof *more.entry);
        if (!more.entry)
            return false;
        memset(more.entry, 0xff, more.places * sizeof *more.entry);
        for (size_t i = 0; i < m->places; i++)
            if (m->entry[i].value != MAP_NONE)
                *map_place(&more, m->entry[i].key) = m->entry[i];
        free(m->entry);
        *m = more;
    }
    *map_place(m, key) = (struct map_entry){key, value};
    m->n++;
    return true;
}

static inline void map_free(struct map *m)
{
    free(m->entry);
    *m = (struct map){.entry = NULL};
}

#endif
