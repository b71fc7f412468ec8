/* census_ash.c - separates the ash of a soup into objects.
 *
 * The cells are periodic. Cells that are ever alive form clusters, with at least two permanently
 * dead cells between any two clusters. No cell has neighbours in two clusters, so each cluster
 * evolves as if it were alone. Nearly all clusters have been seen before, and are found in a table
 * by their cells.
 *
 * A new cluster is separated further by Catagolue's rules: two blocks side by side are two
 * objects, although cells between them have neighbours in both. Cells belong together if they are
 * neighbours, if a cell is born from them, or if a cell would be born from some of them alone. This
 * is traced through a whole period, until no more cells are joined. Then no object depends on
 * another. Dying cells of Generations belong to the object of the cell that died, and to an object
 * that would give birth in their place.
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"
#include "life/counting.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_PLACES = 1 << 12, LONGEST_SHIP = 64, NO_LABEL = 0xffff };

int census_sorter_make(struct census_sorter *sorter, const struct census_rule *rule)
{
    enum { BOX = 64 * CENSUS_MOST_WORDS * CENSUS_MOST_WORDS };
    *sorter = (struct census_sorter){.rule = rule, .places = FIRST_PLACES};
    sorter->known = calloc(sorter->places, sizeof *sorter->known);
    sorter->scratch = malloc((1 + 2 * rule->planes) * BOX * sizeof *sorter->scratch);
    return sorter->known && sorter->scratch ? 0 : -1;
}

void census_sorter_free(struct census_sorter *sorter)
{
    for (size_t i = 0; i < sorter->objects; i++)
        free(sorter->object[i].name);
    free(sorter->object);
    free(sorter->seen);
    free(sorter->known);
    free(sorter->part);
    free(sorter->scratch);
    *sorter = (struct census_sorter){.rule = NULL};
}

/* ---- Counts. --------------------------------------------------------------------------------- */

static void sorter_see(struct census_sorter *sorter, uint32_t object)
{
    if (!sorter->object[object].here++)
        sorter->seen[sorter->seen_n++] = object;
}

void census_soup_counts(struct census_sorter *sorter, uint64_t soup)
{
    double all = 0;
    for (size_t i = 0; i < sorter->seen_n; i++)
        all += sorter->object[sorter->seen[i]].here;
    sorter->squares += all * all;
    for (size_t i = 0; i < sorter->seen_n; i++) {
        struct census_object *o = &sorter->object[sorter->seen[i]];
        o->first = o->count && o->first < soup ? o->first : soup;
        o->count += o->here;
        o->squares += (double)o->here * o->here;
        o->products += o->here * all;
        o->here = 0;
    }
    sorter->seen_n = 0;
}

void census_soup_forgotten(struct census_sorter *sorter)
{
    for (size_t i = 0; i < sorter->seen_n; i++)
        sorter->object[sorter->seen[i]].here = 0;
    sorter->seen_n = 0;
}

/* ---- Known clusters. ------------------------------------------------------------------------- */

/* Find an object by its name, or add it. False if out of memory. */
static bool object_of(struct census_sorter *sorter, const char *name,
                      const struct census_motion *motion, uint32_t *number)
{
    for (*number = 0; *number < sorter->objects; ++*number)
        if (strcmp(sorter->object[*number].name, name) == 0)
            return true;
    if (sorter->objects == sorter->room) {
        const size_t room = sorter->room ? 2 * sorter->room : 256;
        struct census_object *object = realloc(sorter->object, room * sizeof *object);
        sorter->object = object ? object : sorter->object;
        uint32_t *seen = object ? realloc(sorter->seen, room * sizeof *seen) : NULL;
        sorter->seen = seen ? seen : sorter->seen;
        if (!seen)
            return false;
        sorter->room = room;
    }
    struct census_object *o = &sorter->object[sorter->objects];
    *o = (struct census_object){.name = strdup(name), .motion = *motion};
    sorter->objects += o->name != NULL;
    return o->name != NULL;
}

void census_count(struct census_sorter *sorter, const char *name,
                  const struct census_motion *motion, uint64_t times)
{
    uint32_t number;
    if (object_of(sorter, name, motion, &number))
        sorter->object[number].count += times;
    else
        sorter->no_memory = true;
}

static void patch_key(size_t planes, const uint64_t *patch, uint64_t key[2])
{
    key[0] = key[1] = 1;
    for (size_t y = 0; y < planes * CENSUS_PATCH; y++)
        if (patch[y]) {
            key[0] += life_mix(patch[y] + (y + 1) * 0x9e3779b97f4a7c15u);
            key[1] += life_mix(patch[y] ^ (y + 1) * 0xd1342543de82ef95u);
        }
}

static size_t sorter_find_place(const struct census_sorter *sorter, const uint64_t key[2])
{
    size_t at = key[0] & (sorter->places - 1);
    while (sorter->known[at].n &&
           (sorter->known[at].key[0] != key[0] || sorter->known[at].key[1] != key[1]))
        at = (at + 1) & (sorter->places - 1);
    return at;
}

static bool grow_known(struct census_sorter *sorter)
{
    struct census_sorter more = *sorter;
    more.places *= 2;
    more.known = calloc(more.places, sizeof *more.known);
    if (!more.known)
        return false;
    for (size_t i = 0; i < sorter->places; i++)
        if (sorter->known[i].n)
            more.known[sorter_find_place(&more, sorter->known[i].key)] = sorter->known[i];
    free(sorter->known);
    *sorter = more;
    return true;
}

/* Add an object to the cluster being learned. */
static bool add_part(struct census_sorter *sorter, const uint64_t *patch, unsigned most)
{
    struct census_motion motion;
    char name[CENSUS_NAME];
    uint32_t number;
    if (census_name(sorter->rule, patch, most, &motion, name) < 0)
        return false;
    if (sorter->part_n == sorter->part_room) {
        const size_t room = sorter->part_room ? 2 * sorter->part_room : 1024;
        uint32_t *more = realloc(sorter->part, room * sizeof *more);
        sorter->no_memory |= !more;
        sorter->part = more ? more : sorter->part;
        sorter->part_room = more ? room : sorter->part_room;
    }
    if (sorter->no_memory || !object_of(sorter, name, &motion, &number)) {
        sorter->no_memory = true;
        return false;
    }
    sorter->part[sorter->part_n++] = number;
    return true;
}

/* ---- Taking a cluster apart. ----------------------------------------------------------------- */

/* Union-find: cells that belong together have labels with one root. */
struct labels {
    uint16_t parent[CENSUS_PATCH * CENSUS_PATCH];
    uint16_t of[CENSUS_PATCH][CENSUS_PATCH],
        next[CENSUS_PATCH][CENSUS_PATCH]; /* labels of live and dying cells */
    bool joined;
};

static uint16_t label_root(struct labels *l, uint16_t label)
{
    while (l->parent[label] != label)
        label = l->parent[label] = l->parent[l->parent[label]];
    return label;
}

static void labels_join(struct labels *l, uint16_t a, uint16_t b)
{
    a = label_root(l, a);
    b = label_root(l, b);
    if (a == b)
        return;
    l->parent[a > b ? a : b] = a > b ? b : a;
    l->joined = true;
}

/* Roots around a dead cell, each with the block that its live neighbours would make alone. */
struct around {
    int n;
    struct {
        uint16_t root;
        unsigned block;
    } part[8];
};

static struct around look_around(struct labels *l, const uint64_t *patch, int x, int y)
{
    struct around a = {.n = 0};
    for (int i = 0; i < 9; i++) {
        const int u = x + i % 3 - 1, v = y + i / 3 - 1;
        if (i == 4 || !census_cell(1, 1, patch, u, v)) /* plane 0: live cells */
            continue;
        const uint16_t root = label_root(l, l->of[v][u]);
        int k = 0;
        while (k < a.n && a.part[k].root != root)
            k++;
        if (k == a.n) {
            a.part[a.n].block = 0;
            a.part[a.n++].root = root;
        }
        a.part[k].block |= 1u << i;
    }
    return a;
}

/* Join a dying cell with objects that would give birth in its place. Cells die and become dead by
 * themselves, so that other neighbours of a dying cell do not matter. */
static void follow_dying(struct labels *l, const struct census_rule *rule, const uint64_t *now,
                         int x, int y)
{
    struct around a = look_around(l, now, x, y);
    for (int k = 0; k < a.n; k++)
        if (life_table_next(&rule->family.table, a.part[k].block))
            labels_join(l, l->of[y][x], a.part[k].root);
    l->next[y][x] = l->of[y][x];
}

/* Join labels through one generation, and leave the next generation's labels in `next`. Only cells
 * with a live cell in their block matter, and dying cells. */
static void labels_follow(struct labels *l, const struct census_rule *rule, const uint64_t *now,
                          const uint64_t *then)
{
    memset(l->next, 0xff, sizeof l->next); /* NO_LABEL */
    for (int y = 0; y < CENSUS_PATCH; y++) {
        const uint64_t rows =
            now[y] | (y > 0 ? now[y - 1] : 0) | (y + 1 < CENSUS_PATCH ? now[y + 1] : 0);
        const uint64_t dying = rule->planes > 1 ? now[CENSUS_PATCH + y] : 0;
        for (uint64_t near = rows | rows << 1 | rows >> 1 | dying; near; near &= near - 1) {
            const int x = __builtin_ctzll(near);
            const bool lives = now[y] >> x & 1, will = then[y] >> x & 1;
            if (dying >> x & 1) {
                follow_dying(l, rule, now, x, y);
                continue;
            }
            struct around a = look_around(l, now, x, y);
            bool together = lives || will;
            for (int k = 0; k < a.n; k++)
                together |=
                    a.n > 1 && life_table_next(&rule->family.table, a.part[k].block) != will;
            for (int k = 1; k < a.n && together; k++)
                labels_join(l, a.part[0].root, a.part[k].root);
            if (lives && a.n)
                labels_join(l, l->of[y][x], a.part[0].root);
            if (will || (lives && rule->planes > 1)) /* a cell that dies keeps its label */
                l->next[y][x] = lives ? l->of[y][x] : a.part[0].root;
        }
    }
    memcpy(l->of, l->next, sizeof l->of);
}

/* Period of a cluster; 0 if it exceeds `most`. */
static unsigned cluster_period(const struct census_rule *rule, const uint64_t *patch, unsigned most)
{
    const size_t bytes = census_bytes(rule, 1);
    uint64_t now[CENSUS_CELLS], next[CENSUS_CELLS];
    memcpy(now, patch, bytes);
    for (unsigned p = 1; p <= most; p++) {
        census_step(rule, 1, now, next);
        if (memcmp(next, patch, bytes) == 0)
            return p;
        memcpy(now, next, bytes);
    }
    return 0;
}

/* Trace the cells through whole periods until no more labels are joined. */
static void find_objects(struct labels *l, const struct census_rule *rule, const uint64_t *patch,
                         const struct census_motion *motion)
{
    const size_t bytes = census_bytes(rule, 1);
    uint16_t begin[CENSUS_PATCH][CENSUS_PATCH];
    for (int y = 0; y < CENSUS_PATCH; y++)
        for (int x = 0; x < CENSUS_PATCH; x++) {
            const uint16_t label = (uint16_t)(y * CENSUS_PATCH + x);
            l->parent[label] = label;
            begin[y][x] = census_cell(rule->planes, 1, patch, x, y) ? label : NO_LABEL;
        }
    do {
        uint64_t now[CENSUS_CELLS], next[CENSUS_CELLS];
        l->joined = false;
        memcpy(l->of, begin, sizeof begin);
        memcpy(now, patch, bytes);
        for (unsigned g = 0; g < motion->period; g++) {
            census_step(rule, 1, now, next);
            labels_follow(l, rule, now, next);
            memcpy(now, next, bytes);
        }
        for (int y = 0; y < CENSUS_PATCH; y++)
            for (uint64_t cells = census_word(rule->planes, 1, patch, (size_t)y); cells;
                 cells &= cells - 1) {
                const int x = __builtin_ctzll(cells);
                labels_join(l, begin[y][x], l->of[y + motion->dy][x + motion->dx]);
            }
    } while (l->joined);
    memcpy(l->of, begin, sizeof begin);
}

/* True if a ship stays in its patch for a period, with dead cells around it. */
static bool ship_stays_inside(size_t planes, const uint64_t *patch,
                              const struct census_motion *motion)
{
    enum { AROUND = 4 };
    struct census_rectangle r;
    const int dx = motion->dx, dy = motion->dy;
    return census_bounds(planes, 1, patch, &r) && r.left + (dx < 0 ? dx : 0) >= AROUND &&
           r.top + (dy < 0 ? dy : 0) >= AROUND &&
           r.right + (dx > 0 ? dx : 0) <= CENSUS_PATCH - AROUND &&
           r.bottom + (dy > 0 ? dy : 0) <= CENSUS_PATCH - AROUND;
}

/* Move the cells to the middle of the patch. */
static void patch_centre(size_t planes, uint64_t *patch)
{
    uint64_t moved[CENSUS_PATCH];
    struct census_rectangle r;
    if (!census_bounds(planes, 1, patch, &r))
        return;
    const int dx = (CENSUS_PATCH - r.left - r.right) / 2,
              dy = (CENSUS_PATCH - r.top - r.bottom) / 2;
    for (size_t k = 0; k < planes; k++, patch += CENSUS_PATCH) {
        memset(moved, 0, sizeof moved);
        for (int y = r.top; y < r.bottom; y++)
            moved[y + dy] = dx < 0 ? patch[y] >> -dx : patch[y] << dx;
        memcpy(patch, moved, sizeof moved);
    }
}

/* Replace a patch by one of its phases, the same whichever phase it is in. Where objects nearly
 * touch, the order of joins decides which of them are one, and it depends on the first phase. */
static void patch_first_phase(const struct census_rule *rule, unsigned period, bool moves,
                              uint64_t *patch)
{
    const size_t bytes = census_bytes(rule, 1);
    uint64_t now[CENSUS_CELLS], next[CENSUS_CELLS];
    if (moves)
        patch_centre(rule->planes, patch);
    memcpy(now, patch, bytes);
    for (unsigned g = 1; g < period; g++) {
        census_step(rule, 1, now, next);
        memcpy(now, next, bytes);
        if (moves)
            patch_centre(rule->planes, now);
        if (memcmp(now, patch, bytes) < 0)
            memcpy(patch, now, bytes);
    }
}

/* Copy the cells whose labels have root i to an object. */
static void take_object(struct labels *l, size_t planes, int i, const uint64_t *patch,
                        uint64_t *object)
{
    memset(object, 0, planes * CENSUS_PATCH * sizeof *object);
    for (size_t y = (size_t)i / CENSUS_PATCH; y < CENSUS_PATCH; y++)
        for (uint64_t cells = census_word(planes, 1, patch, y); cells; cells &= cells - 1)
            if (label_root(l, l->of[y][__builtin_ctzll(cells)]) == i)
                for (size_t at = y; at < planes * CENSUS_PATCH; at += CENSUS_PATCH)
                    object[at] |= patch[at] & cells & (0 - cells);
}

/* Separate a new cluster, or ships that fly together, into objects. */
static bool sorter_learn(struct census_sorter *sorter, const uint64_t *seen, unsigned most,
                         bool moves)
{
    const size_t planes = sorter->rule->planes;
    struct labels *l = malloc(sizeof *l);
    uint64_t patch[CENSUS_CELLS], object[CENSUS_CELLS];
    memcpy(patch, seen, census_bytes(sorter->rule, 1));
    struct census_motion motion = {.period = 0};
    bool done = l && (moves ? census_name(sorter->rule, patch, most, &motion, NULL) == 0
                            : (motion.period = cluster_period(sorter->rule, patch, most)) > 0);
    sorter->no_memory |= !l;
    if (done)
        patch_first_phase(sorter->rule, motion.period, moves, patch);
    if (done && moves && !ship_stays_inside(planes, patch, &motion)) {
        free(l);
        return add_part(sorter, patch, most);
    }
    if (done)
        find_objects(l, sorter->rule, patch, &motion);
    for (int i = 0; i < CENSUS_PATCH * CENSUS_PATCH && done; i++) {
        if (l->parent[i] != i || !census_cell(planes, 1, patch, i % CENSUS_PATCH, i / CENSUS_PATCH))
            continue; /* a root is the first of its cells */
        take_object(l, planes, i, patch, object);
        done = add_part(sorter, object, moves ? most : motion.period);
    }
    free(l);
    return done;
}

/* Count the objects of a patch; learn the patch if it is new. */
static bool see_patch(struct census_sorter *sorter, const uint64_t *patch, unsigned most,
                      bool moves)
{
    uint64_t key[2];
    patch_key(sorter->rule->planes, patch, key);
    size_t at = sorter_find_place(sorter, key);
    if (!sorter->known[at].n) {
        const size_t first = sorter->part_n;
        if (2 * sorter->known_n >= sorter->places && !grow_known(sorter)) {
            sorter->no_memory = true;
            return false;
        }
        at = sorter_find_place(sorter, key);
        if (!sorter_learn(sorter, patch, most, moves)) {
            sorter->part_n = first;
            return false;
        }
        sorter->known[at].key[0] = key[0];
        sorter->known[at].key[1] = key[1];
        sorter->known[at].first = (uint32_t)first;
        sorter->known[at].n = (uint32_t)(sorter->part_n - first);
        sorter->known_n++;
    }
    for (uint32_t i = 0; i < sorter->known[at].n; i++)
        sorter_see(sorter, sorter->part[sorter->known[at].first + i]);
    return true;
}

bool census_add(struct census_sorter *sorter, const uint64_t *patch)
{
    return see_patch(sorter, patch, LONGEST_SHIP, true);
}

bool census_see(struct census_sorter *sorter, const uint64_t *patch, unsigned period)
{
    return see_patch(sorter, patch, period, false);
}

/* ---- Clusters. ------------------------------------------------------------------------------- */

/* Take a cluster out of the cells that are ever alive, from one of them to all within two cells of
 * it. Its present cells go into a patch. */
static bool take_cluster(size_t planes, size_t words, uint64_t *ever, const uint64_t *now, int x,
                         int y, uint64_t *patch)
{
    enum { MOST = CENSUS_PATCH * CENSUS_PATCH };
    struct place {
        short x, y;
    } list[MOST];
    int n = 0, left = x, right = x, top = y, bottom = y;
    list[n++] = (struct place){(short)x, (short)y};
    ever[(size_t)y * words + (size_t)x / 64] &= ~((uint64_t)1 << x % 64);
    for (int i = 0; i < n; i++)
        for (int v = list[i].y - 2; v <= list[i].y + 2; v++)
            for (int u = list[i].x - 2; u <= list[i].x + 2; u++) {
                if (!census_cell(1, words, ever, u, v))
                    continue;
                if (n == MOST)
                    return false;
                list[n++] = (struct place){(short)u, (short)v};
                ever[(size_t)v * words + (size_t)u / 64] &= ~((uint64_t)1 << u % 64);
                left = u < left ? u : left;
                right = u > right ? u : right;
                top = v < top ? v : top;
                bottom = v > bottom ? v : bottom;
            }
    if (right - left >= CENSUS_PATCH - 2 * CENSUS_MARGIN ||
        bottom - top >= CENSUS_PATCH - 2 * CENSUS_MARGIN)
        return false;
    memset(patch, 0, planes * CENSUS_PATCH * sizeof *patch);
    for (size_t k = 0; k < planes; k++, patch += CENSUS_PATCH, now += 64 * words * words)
        for (int i = 0; i < n; i++)
            if (census_cell(1, words, now, list[i].x, list[i].y))
                patch[list[i].y - top + CENSUS_MARGIN] |= (uint64_t)1
                                                          << (list[i].x - left + CENSUS_MARGIN);
    return true;
}

bool census_sort(struct census_sorter *sorter, size_t words, const uint64_t *box, uint64_t most)
{
    const size_t size = 64 * words * words, planes = sorter->rule->planes,
                 bytes = census_bytes(sorter->rule, words);
    uint64_t *ever = sorter->scratch, *now = ever + size, *next = now + planes * size;
    uint64_t period = 0;
    for (size_t i = 0; i < size; i++)
        ever[i] = census_word(planes, words, box, i);
    memcpy(now, box, bytes);
    do {
        census_step(sorter->rule, words, now, next);
        uint64_t *t = now;
        now = next;
        next = t;
        for (size_t i = 0; i < size; i++)
            ever[i] |= census_word(planes, words, now, i);
        if (++period > most)
            return false;
    } while (memcmp(now, box, bytes) != 0);
    return census_sort_clusters(sorter, words, ever, box, period);
}

bool census_sort_clusters(struct census_sorter *sorter, size_t words, uint64_t *ever,
                          const uint64_t *now, uint64_t period)
{
    const size_t size = 64 * words * words;
    for (size_t i = 0; i < size; i++)
        while (ever[i]) {
            uint64_t patch[CENSUS_CELLS];
            const int x = (int)(i % words) * 64 + __builtin_ctzll(ever[i]), y = (int)(i / words);
            if (!take_cluster(sorter->rule->planes, words, ever, now, x, y, patch) ||
                !census_see(sorter, patch, (unsigned)period))
                return false;
        }
    return true;
}
