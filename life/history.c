/* history.c - rules of two states with annotations: RULEHistory, such as LifeHistory.
 *
 *   0 dead    1 alive   2 dead, and was alive   3 marked, alive   4 marked, dead
 *   5 alive, and 4 when it dies                 6 boundary: stays, and kills adjacent live cells
 *
 * Odd states are alive for the rule, even ones dead (conwaylife.com/wiki/OCA:LifeHistory). The tree
 * has a level for each neighbour and then the cell's. A node stands for the neighbours examined so
 * far: which are alive, and whether one is a boundary. Equal nodes of a level are one.
 * SPDX-License-Identifier: MIT
 */
#include "life/family.h"
#include "life/transitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEAD, ALIVE, WAS_ALIVE, MARKED_ALIVE, MARKED_DEAD, START, BOUNDARY, HISTORY_STATES };
enum { NEIGHBOURS = 8, MASKS = 1 << NEIGHBOURS };

static const char SUFFIX[] = "History";

/* Next state of a cell; `live`: the live cells of its block, `boundary`: a neighbour is one. */
static uint32_t history_next(const struct life_table *table, unsigned state, unsigned live,
                             bool boundary)
{
    const bool next = life_table_next(table, live | (state & 1) << 4);
    if (state == BOUNDARY)
        return BOUNDARY;
    if (state & 1)
        return next && !boundary ? state : state == ALIVE ? WAS_ALIVE : MARKED_DEAD;
    if (next)
        return state == MARKED_DEAD ? MARKED_ALIVE : ALIVE;
    return state;
}

/* The block of a mask of neighbours in the order of the tree. */
static unsigned block_of_mask(const struct life_transitions *t, unsigned mask)
{
    unsigned block = 0;
    for (int i = 0; i < NEIGHBOURS; i++)
        block |= (mask >> i & 1) << t->place[i];
    return block;
}

/* Replace the last node by an equal one from node `first` on, if there is one. */
static void share_last_node(struct life_transitions *t, size_t first, uint32_t *at)
{
    const size_t bytes = HISTORY_STATES * sizeof *t->branch;
    for (size_t n = first; n + 1 < t->nodes; n++)
        if (memcmp(t->branch + n * HISTORY_STATES, t->branch + *at, bytes) == 0) {
            *at = (uint32_t)(n * HISTORY_STATES);
            t->nodes--;
            return;
        }
}

/* Make the nodes for `depth` examined neighbours: node[mask][boundary] is replaced by those for one
 * neighbour less. */
static int make_level(struct life_transitions *t, const struct life_table *table, int depth,
                      uint32_t node[MASKS][2])
{
    const struct rule_text text = {.name = t->name};
    const size_t first = t->nodes;
    for (unsigned mask = 0; mask < 1u << depth; mask++)
        for (int boundary = 0; boundary < 2; boundary++) {
            uint32_t at, *branch = transitions_node(t, &text, &at);
            if (!branch)
                return -1;
            for (unsigned state = 0; state < HISTORY_STATES; state++)
                branch[state] =
                    depth == NEIGHBOURS
                        ? history_next(table, state, block_of_mask(t, mask), boundary)
                        : node[mask | (state & 1) << depth][boundary || state == BOUNDARY];
            share_last_node(t, first, &at);
            node[mask][boundary] = at; /* the entry of the level before is not needed again */
        }
    return 0;
}

/* Parse the rule before the suffix. */
static int history_parse(const char *text, struct life_family *rule)
{
    const size_t length = strlen(text), tail = strlen(SUFFIX);
    char head[LIFE_RULE_TEXT];
    if (length <= tail || length - tail >= sizeof head ||
        strcasecmp(text + length - tail, SUFFIX) != 0)
        return clerror_set(EINVAL, "'%.100s' is not a rule and History, as B36/S23History is",
                           text);
    snprintf(head, sizeof head, "%.*s", (int)(length - tail), text);
    if (life_family_parse(head, rule) < 0)
        return -1;
    if (rule->row->form != LIFE_FORM_TABLE || rule->states > 2 ||
        strlen(rule->text) + tail >= LIFE_RULE_TEXT)
        return clerror_set(EINVAL, "'%.100s' has no history: only rules of two states have", text);
    return 0;
}

life_transitions *life_transitions_history(const char *text)
{
    static const unsigned char colour[HISTORY_STATES][3] = {
        {0, 0, 0},   {0, 255, 0},   {0, 0, 128},  {216, 255, 216},
        {255, 0, 0}, {255, 255, 0}, {96, 96, 96},
    };
    static const char conway[] = "B3/S23";
    struct life_family rule;
    uint32_t node[MASKS][2];
    if (history_parse(text, &rule) < 0)
        return NULL;
    life_transitions *t = calloc(1, sizeof *t);
    if (!t) {
        clerror_set(ENOMEM, "%s: out of memory for a rule", text);
        return NULL;
    }
    const char *head = strcmp(rule.text, conway) == 0 ? "Life" : rule.text;
    snprintf(t->name, sizeof t->name, "%.*s%s", (int)(sizeof t->name - sizeof SUFFIX), head,
             SUFFIX);
    t->states = HISTORY_STATES;
    t->has_colours = true;
    memcpy(t->colour, colour, sizeof colour);
    transitions_places(t, NEIGHBOURS);
    for (int depth = NEIGHBOURS; depth >= 0; depth--)
        if (make_level(t, &rule.table, depth, node) < 0) {
            life_transitions_free(t);
            return NULL;
        }
    t->root = node[0][0];
    return t;
}
