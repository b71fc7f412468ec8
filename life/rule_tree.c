/* rule_tree.c - the transition tree of a rule file, and the reader of a TREE:
 *
 *   num_states=3
 *   num_neighbors=4       or 8
 *   num_nodes=13
 *   1 0 1 2               nodes from the leaves up: the level, and a branch for each state.
 *   2 0 1 2               Branches of level 1 are states, above they are node numbers, from 0
 *
 * The first state examined is the north-western neighbour's, or the northern one's of four; the
 * last is the cell's. The last node is the root.
 * SPDX-License-Identifier: MIT
 */
#include "life/counting.h"
#include "life/transitions.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rule_text_error(const struct rule_text *t, const char *at, const char *format, ...)
{
    char what[300];
    size_t line = 1;
    va_list ap;
    for (const char *p = t->file; p < at; p++)
        line += *p == '\n';
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return clerror_set(EINVAL, "%s: line %zu: %s", t->name, line, what);
}

void transitions_places(struct life_transitions *t, int neighbours)
{
    enum { NORTH_WEST, NORTH, NORTH_EAST, WEST, CELL, EAST, SOUTH_WEST, SOUTH, SOUTH_EAST };
    static const unsigned char eight[] = {NORTH_WEST, NORTH_EAST, SOUTH_WEST, SOUTH_EAST, NORTH,
                                          WEST,       EAST,       SOUTH,      CELL},
                               six[] = {NORTH_WEST, SOUTH_EAST, NORTH, WEST, EAST, SOUTH, CELL},
                               two[] = {WEST, EAST, CELL};
    const unsigned char *from = neighbours == 8   ? eight
                                : neighbours == 6 ? six
                                : neighbours == 4 ? eight + 4
                                                  : two;
    t->places = neighbours + 1;
    memcpy(t->place, from, (size_t)t->places);
}

uint32_t *transitions_node(struct life_transitions *t, const struct rule_text *text, uint32_t *at)
{
    if ((t->nodes + 1) * t->states > TRANSITIONS_BRANCHES) {
        clerror_set(
            EINVAL,
            "%s: the rule needs a tree of more than %zu nodes of %u branches, which is too much",
            text->name, t->nodes, t->states);
        return NULL;
    }
    if (t->nodes == t->room) {
        const size_t room = t->room ? 2 * t->room : 64;
        uint32_t *more = realloc(t->branch, room * t->states * sizeof *more);
        if (!more) {
            clerror_set(ENOMEM, "%s: out of memory for a tree of more than %zu nodes", text->name,
                        t->nodes);
            return NULL;
        }
        t->branch = more;
        t->room = room;
    }
    *at = (uint32_t)(t->nodes * t->states);
    t->nodes++;
    return t->branch + *at;
}

int transitions_share(struct life_transitions *t, const struct rule_text *text, struct map *made,
                      const uint32_t *branch, uint32_t *at)
{
    uint64_t sum[2] = {0, 0};
    for (unsigned s = 0; s < t->states; s++) /* sums: no step waits for the one before */
        sum[s % 2] +=
            (branch[s] + (s + 1) * 0x9e3779b97f4a7c15u) * (branch[s] ^ 0xbf58476d1ce4e5b9u);
    const uint64_t key = life_mix(sum[0]) + sum[1];
    const uint32_t known = map_get(made, key);
    if (known != MAP_NONE &&
        memcmp(t->branch + known, branch, t->states * sizeof *t->branch) == 0) {
        *at = known;
        return 0;
    }
    uint32_t *node = transitions_node(t, text, at);
    if (!node)
        return -1;
    memcpy(node, branch, t->states * sizeof *node);
    return known != MAP_NONE || map_put(made, key, *at)
               ? 0
               : clerror_set(ENOMEM, "%s: out of memory for a tree", text->name);
}

bool rule_text_number(const char **p, const char *end, unsigned long *n)
{
    while (*p < end && (isspace((unsigned char)**p) || **p == '#'))
        *p = **p == '#' ? rule_line_end(*p, end) : *p + 1;
    if (*p == end || !isdigit((unsigned char)**p))
        return false;
    for (*n = 0; *p < end && isdigit((unsigned char)**p); ++*p)
        *n = *n < 100000000 ? *n * 10 + (unsigned long)(**p - '0') : *n;
    return true;
}

/* Read num_NAME=N; blanks are allowed anywhere. */
static int tree_read_head(const struct rule_text *text, const char **p, const char *name,
                          unsigned long least, unsigned long most, unsigned long *n)
{
    while (*p < text->end && (isspace((unsigned char)**p) || **p == '#'))
        *p = **p == '#' ? rule_line_end(*p, text->end) : *p + 1;
    const char *at = *p;
    if ((size_t)(text->end - *p) < strlen(name) || strncmp(*p, name, strlen(name)) != 0)
        return rule_text_error(text, at, "%s= should stand here", name);
    *p += strlen(name);
    while (*p < text->end && (**p == ' ' || **p == '='))
        ++*p;
    if (!rule_text_number(p, text->end, n) || *n < least || *n > most)
        return rule_text_error(text, at, "%s is %lu to %lu", name, least, most);
    return 0;
}

/* Read a node: its level, and branches to nodes of the level below; level[] has the levels of all
 * nodes. */
static int tree_read_node(const struct rule_text *text, const char **p, struct life_transitions *t,
                          unsigned char *level, size_t number)
{
    const char *at = *p;
    unsigned long n;
    uint32_t place;
    if (!rule_text_number(p, text->end, &n) || n < 1 || n > (unsigned long)t->places)
        return rule_text_error(text, at, "node %zu should begin with its level, 1 to %d", number,
                               t->places);
    level[number] = (unsigned char)n;
    uint32_t *branch = transitions_node(t, text, &place);
    if (!branch)
        return -1;
    for (unsigned i = 0; i < t->states; i++) {
        unsigned long to;
        if (!rule_text_number(p, text->end, &to))
            return rule_text_error(text, *p, "node %zu should have %u branches", number, t->states);
        if (n == 1 && to >= t->states)
            return rule_text_error(text, *p, "%lu is no state; there are 0 to %u", to,
                                   t->states - 1);
        if (n > 1 && (to >= number || level[to] != n - 1))
            return rule_text_error(text, *p,
                                   "%lu is no node of the level below that stands before node %zu",
                                   to, number);
        branch[i] = (uint32_t)(n == 1 ? to : to * t->states);
    }
    t->root = place;
    return 0;
}

int rule_tree_read(const struct rule_text *text, struct life_transitions *t)
{
    const char *p = text->begin, *at;
    unsigned long states, neighbours, nodes;
    if (tree_read_head(text, &p, "num_states", 2, 256, &states) < 0)
        return -1;
    at = p;
    if (tree_read_head(text, &p, "num_neighbors", 4, 8, &neighbours) < 0)
        return -1;
    if (neighbours != 4 && neighbours != 8)
        return rule_text_error(text, at, "num_neighbors is 4 or 8");
    if (tree_read_head(text, &p, "num_nodes", 1, TRANSITIONS_BRANCHES, &nodes) < 0)
        return -1;
    if (nodes > (size_t)(text->end - p))
        return rule_text_error(text, p, "there are not %lu nodes here", nodes);
    t->states = (unsigned)states;
    transitions_places(t, (int)neighbours);
    unsigned char *level = calloc(nodes, 1);
    int status =
        level ? 0 : clerror_set(ENOMEM, "%s: out of memory for %lu nodes", text->name, nodes);
    for (size_t i = 0; i < nodes && status == 0; i++)
        status = tree_read_node(text, &p, t, level, i);
    if (status == 0 && level[nodes - 1] != t->places)
        status = rule_text_error(text, p, "the last node has level %d, and should have %d",
                                 level[nodes - 1], t->places);
    free(level);
    return status;
}
