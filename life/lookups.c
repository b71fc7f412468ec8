/* lookups.c - rules as tables of bytes.
 *
 * The size of a tree's level is the number of its nodes times the kinds of states. The order of the
 * cells determines the sizes. Neighbouring levels are exchanged while they become smaller
 * (R. Rudell's sifting of decision diagrams, ICCAD 1993). An exchange changes no other level, and
 * no kind of states.
 * SPDX-License-Identifier: MIT
 */
#include "life/lookups.h"
#include "life/counting.h"

struct life_columns life_columns_of(const struct life_table *rule)
{
    static const unsigned column[8] = {0, 1, 8, 9, 64, 65, 72, 73}; /* bits 0, 3, 6 of a block */
    struct life_columns columns = {{0}};
    for (unsigned at = 0; at < 64; at++)
        for (unsigned right = 0; right < 8; right++)
            columns.next[at] |=
                (uint8_t)(life_table_next(rule,
                                          column[at % 8] | column[at / 8] << 1 | column[right] << 2)
                          << right);
    return columns;
}

/* ---- Levels of a tree. ----------------------------------------------------------------------- */

enum { LEVEL_MOST = 2048 };
struct level {
    int place, nodes, kinds;
    uint8_t kind[LOOKUPS_MOST];
    uint16_t next[LEVEL_MOST]; /* [node * kinds + kind]: node of the next level, or next state */
};

struct levels {
    int n;
    struct level level[TRANSITIONS_PLACES], exchanged[2];
    uint32_t node[2]
                 [LEVEL_MOST]; /* offsets of the branches of a level's nodes, and of the next's */
};

/* Find the kinds of states, and a state of each kind. */
static void level_find_kinds(const struct life_transitions *t, const uint32_t *node,
                             struct level *level, unsigned of[LOOKUPS_MOST])
{
    level->kinds = 0;
    for (unsigned s = 0; s < t->states; s++) {
        int k = 0;
        for (; k < level->kinds; k++) {
            int i = 0;
            while (i < level->nodes && t->branch[node[i] + s] == t->branch[node[i] + of[k]])
                i++;
            if (i == level->nodes)
                break;
        }
        level->kind[s] = (uint8_t)k;
        if (k == level->kinds)
            of[level->kinds++] = s;
    }
}

/* Add a number unless it is known. Return its index, or -1: there are too many. */
static int index_of(struct map *known, uint32_t number, uint32_t *list, int *n)
{
    const uint32_t at = map_get(known, number);
    if (at != MAP_NONE)
        return (int)at;
    if (*n == LEVEL_MOST || !map_put(known, number, (uint32_t)*n))
        return -1;
    list[*n] = number;
    return (*n)++;
}

/* Fill a level for its nodes, and list the nodes of the next level in `lower`. Return the number of
 * listed nodes; -1: there are too many. */
static int level_fill(const struct life_transitions *t, const uint32_t *node, bool last,
                      struct level *level, uint32_t *lower)
{
    struct map known = {.entry = NULL};
    unsigned of[LOOKUPS_MOST];
    int n = 0, next = 0;
    level_find_kinds(t, node, level, of);
    const int size = level->nodes * level->kinds;
    for (int i = 0; size <= LEVEL_MOST && i < size && next >= 0; i++) {
        const uint32_t branch = t->branch[node[i / level->kinds] + of[i % level->kinds]];
        next = last ? (int)branch : index_of(&known, branch, lower, &n);
        level->next[i] = (uint16_t)next;
    }
    map_free(&known);
    return size > LEVEL_MOST || next < 0 ? -1 : n;
}

static bool levels_fill(const struct life_transitions *t, struct levels *levels)
{
    int nodes = 1;
    levels->node[0][0] = t->root;
    for (levels->n = 0; levels->n < t->places; levels->n++) {
        struct level *level = &levels->level[levels->n];
        const int now = levels->n % 2;
        level->place = t->place[levels->n];
        level->nodes = nodes;
        nodes = level_fill(t, levels->node[now], levels->n == t->places - 1, level,
                           levels->node[1 - now]);
        if (nodes < 0)
            return false;
    }
    return true;
}

/* ---- Exchange of two levels. ----------------------------------------------------------------- */

static int level_size(const struct level *level)
{
    return level->nodes * level->kinds;
}

/* Append the last row, of node `level->nodes`, unless it equals a row. Return its node. */
static int level_share(struct level *level, struct map *known)
{
    const uint16_t *row = level->next + level_size(level);
    uint64_t key = 0;
    for (int i = 0; i < level->kinds; i++)
        key = (key ^ row[i]) * 0x9e3779b97f4a7c15u;
    key = life_mix(key);
    const uint32_t node = map_get(known, key);
    if (node != MAP_NONE && memcmp(level->next + (int)node * level->kinds, row,
                                   (size_t)level->kinds * sizeof *row) == 0)
        return (int)node;
    if (node == MAP_NONE)
        map_put(known, key, (uint32_t)level->nodes); /* or it is not shared */
    return level->nodes++;
}

/* Make two levels that examine the cells of `upper` and `lower` in the other order. False if they
 * are not smaller. */
static bool levels_exchange(const struct level *upper, const struct level *lower,
                            struct level to[2])
{
    struct map known = {.entry = NULL};
    const int most = level_size(upper) + level_size(lower) - upper->nodes * lower->kinds;
    to[0] = *lower;
    to[1] = *upper;
    to[0].nodes = upper->nodes;
    to[1].nodes = 0;
    bool smaller = level_size(&to[0]) <= LEVEL_MOST;
    for (int i = 0; smaller && i < level_size(&to[0]); i++) {
        smaller = level_size(&to[1]) + upper->kinds <= LEVEL_MOST;
        for (int k = 0; smaller && k < upper->kinds; k++)
            to[1].next[level_size(&to[1]) + k] =
                lower->next[upper->next[i / lower->kinds * upper->kinds + k] * lower->kinds +
                            i % lower->kinds];
        to[0].next[i] = (uint16_t)(smaller ? level_share(&to[1], &known) : 0);
        smaller = smaller && level_size(&to[1]) < most;
    }
    map_free(&known);
    return smaller;
}

static void levels_sift(struct levels *levels)
{
    bool again = true;
    while (again) {
        again = false;
        for (int d = 0; d + 1 < levels->n; d++)
            if (levels_exchange(&levels->level[d], &levels->level[d + 1], levels->exchanged)) {
                memcpy(&levels->level[d], levels->exchanged, sizeof levels->exchanged);
                again = true;
            }
    }
}

/* ---- Tables of bytes. ------------------------------------------------------------------------ */

static int table_size(int entries)
{
    int size = 16;
    while (size < entries)
        size *= 2;
    return size;
}

static void lookups_set(const struct life_transitions *t, const struct levels *levels,
                        struct life_lookups *lookups)
{
    for (int d = 0; d < levels->n; d++)
        if (level_size(&levels->level[d]) > LOOKUPS_MOST)
            return;
    for (int d = 0; d < levels->n; d++) {
        const struct level *from = &levels->level[d];
        struct life_lookups_level *to = &lookups->level[d];
        const int kinds = d + 1 < levels->n ? from[1].kinds : 1;
        to->place = from->place;
        to->states = table_size((int)t->states);
        to->branches = table_size(level_size(from));
        memcpy(to->kind, from->kind, t->states);
        for (int i = 0; i < level_size(from); i++)
            to->next[i] = (uint8_t)(from->next[i] * kinds);
    }
    lookups->levels = levels->n;
}

void life_lookups_make(const struct life_transitions *t, struct life_lookups *lookups)
{
    struct levels *levels = malloc(sizeof *levels);
    *lookups = (struct life_lookups){.levels = 0};
    if (levels && levels_fill(t, levels)) {
        levels_sift(levels);
        lookups_set(t, levels, lookups);
    }
    free(levels);
}
