/* engines.c - the table of engines: what each can compute, and how life_create chooses.
 *
 * A new engine is a file with its functions (struct life_backend) and a row here.
 * SPDX-License-Identifier: MIT
 */
#include "life/backend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

extern const struct life_backend life_packed_backend, life_topology_backend, life_bitplanes_backend,
    life_bytes_backend, life_padded_backend, life_reference_backend, life_large_host_backend,
    life_large_plane_backend, life_hashlife_backend, life_sparse_backend;

#define ON(x) (1u << LIFE_##x)
enum {
    FLAT = ON(TORUS) | ON(PLANE),
    GRIDS = FLAT | ON(JOINED),
    PLANES = ON(UNBOUNDED),
    TABLES = ON(FORM_TABLE),
    TREES = TABLES | ON(FORM_TREE),
    SUMS = ON(FORM_SUMS),
    PAIRS = ON(FORM_PAIR),
    ALL = TREES | SUMS
};

/* Faster engines first. */
/* clang-format off */
static const struct life_engine_row engines[] = {
    {LIFE_PACKED, &life_packed_backend, FLAT, TABLES, 2, LIFE_B0_ANY, LIFE_ALL_DEVICES, true,
     "a bit a cell, several generations a launch"},
    {LIFE_PACKED, &life_topology_backend, ON(JOINED), TABLES, 2, LIFE_B0_ANY, LIFE_ONE_DEVICE, false,
     "a bit a cell, with a margin of copies beyond the edges"},
    {LIFE_PACKED, &life_bitplanes_backend, FLAT, TABLES | PAIRS, 256, LIFE_B0_ANY, LIFE_ONE_DEVICE, false,
     "a bit plane for each bit of a state"},
    {LIFE_PACKED, &life_bytes_backend, GRIDS, ALL | PAIRS, 256, LIFE_B0_ANY, LIFE_ONE_DEVICE, false,
     "a byte a cell"},
    {LIFE_LOCAL, &life_padded_backend, GRIDS, TABLES, 2, LIFE_B0_ANY, LIFE_ONE_DEVICE, false,
     "an int a cell, in local memory"},
    {LIFE_GLOBAL, &life_padded_backend, GRIDS, TABLES, 2, LIFE_B0_ANY, LIFE_ONE_DEVICE, false,
     "an int a cell"},
    {LIFE_REFERENCE, &life_large_host_backend, FLAT, SUMS, 256, LIFE_B0_ANY, LIFE_HOST, false,
     "plain C, a byte a cell, by sums of rows"},
    {LIFE_REFERENCE, &life_reference_backend, GRIDS, ALL | PAIRS, 256, LIFE_B0_ANY, LIFE_HOST, false,
     "plain C, a byte a cell"},
    {LIFE_REFERENCE, &life_large_plane_backend, PLANES, SUMS, 256, LIFE_B0_INVERTED, LIFE_HOST, false,
     "plain C, a byte a cell around the live cells, by sums of rows"},
    {LIFE_HASHLIFE, &life_hashlife_backend, PLANES, TREES | PAIRS, 256, LIFE_B0_INVERTED, LIFE_HOST, false,
     "a quadtree of distinct squares"},
    {LIFE_SPARSE, &life_sparse_backend, PLANES, TABLES, 2, LIFE_B0_NONE, LIFE_ONE_DEVICE, false,
     "tiles of 48 x 48 cells, where cells change"},
};
/* clang-format on */

/* ---- The choice. ----------------------------------------------------------------------------- */

static const char *const bounds_names[] = {"a torus", "a plane with edges", "joined edges",
                                           "an unbounded plane"};

/* What a row does not have, in the order of the checks. */
enum absent { BOUNDS, B0, FORM, STATES, FAMILY_BOUNDS, RANKS, NOTHING };

static enum absent absent_of(const struct life_engine_row *row, enum life_bounds bounds,
                             const struct life_family *rule, int ranks)
{
    if (!(row->bounds >> bounds & 1))
        return BOUNDS;
    if (rule->b0 && (row->b0 == LIFE_B0_NONE ||
                     (row->b0 == LIFE_B0_INVERTED &&
                      (rule->states > 2 ||
                       (rule->row->form != LIFE_FORM_TABLE && rule->row->form != LIFE_FORM_SUMS)))))
        return B0;
    if (!(row->forms >> rule->row->form & 1))
        return FORM;
    if (rule->states > row->states)
        return STATES;
    if (!(rule->row->bounds >> bounds & 1))
        return FAMILY_BOUNDS;
    return ranks > 1 && !row->ranks ? RANKS : NOTHING;
}

/* List the engines that have everything, for a message. */
static const char *others(enum life_bounds bounds, const struct life_family *rule, int ranks,
                          char *text, size_t size)
{
    const char *name[LIFE_ENGINES];
    size_t n = 0, used = 0;
    *text = '\0';
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const char *this = life_engine_name(engines[i].engine);
        if (absent_of(&engines[i], bounds, rule, ranks) == NOTHING && (!n || name[n - 1] != this))
            name[n++] = this;
    }
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0       ? "; use the engine "
                                 : i + 1 == n ? " or "
                                              : ", ",
                                 name[i]);
    return text;
}

static int engine_refuse(const struct life_engine_row *row, enum absent absent,
                         enum life_bounds bounds, const struct life_family *rule, int ranks)
{
    char use[120];
    const char *name = life_engine_name(row->engine),
               *instead = others(bounds, rule, ranks, use, sizeof use);
    switch (absent) {
    case BOUNDS:
        return clerror_set(ENOTSUP, "life: the engine %s does not compute %s%s", name,
                           bounds_names[bounds], instead);
    case FAMILY_BOUNDS:
        return clerror_set(ENOTSUP,
                           "life: the rule %s is %s; such rules are for a torus or a plane%s",
                           rule->text, rule->row->kind, instead);
    case B0:
        return clerror_set(ENOTSUP,
                           "life: under the rule %s (B0) an empty plane becomes alive, which the "
                           "engine %s cannot compute%s",
                           rule->text, name, instead);
    case RANKS:
        return clerror_set(
            ENOTSUP,
            "life: the engine %s runs the rule %s (%s) on a single rank; several ranks divide tori "
            "and planes of the engine packed, under rules of two states that look at nearest "
            "neighbours: start one process",
            name, rule->text, *rule->row->kind ? rule->row->kind : bounds_names[bounds]);
    default:
        return clerror_set(
            ENOTSUP, "life: the rule %s is %s, which the engine %s does not compute%s", rule->text,
            rule->row->kind, name, *instead ? instead : "; such rules need a grid");
    }
}

const struct life_engine_row *life_engine_find(enum life_engine engine, enum life_bounds bounds,
                                               const struct life_family *rule, int ranks)
{
    const struct life_engine_row *best = NULL;
    enum absent most = BOUNDS;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const struct life_engine_row *row = &engines[i];
        if (engine != LIFE_AUTO && engine != row->engine)
            continue;
        const enum absent absent = absent_of(row, bounds, rule, ranks);
        if (absent == NOTHING)
            return row;
        if (!best || absent > most) {
            best = row;
            most = absent;
        }
    }
    engine_refuse(best, most, bounds, rule, ranks);
    return NULL;
}

void life_choice_print(const struct life_engine_row *row, enum life_engine asked,
                       enum life_bounds bounds, const struct life_family *rule,
                       char text[LIFE_CHOICE])
{
    static const char *const where[] = {"the host", "one device", "all devices"};
    snprintf(text, LIFE_CHOICE, "%s, on %s; %s %s under a rule of %u states%s%s", row->how,
             where[row->devices], asked == LIFE_AUTO ? "the first engine for" : "selected, for",
             bounds_names[bounds], rule->states, *rule->row->kind ? ", " : "", rule->row->kind);
}
