/* rule_program.c - a transition tree from functions of a cell and its neighbours.
 * SPDX-License-Identifier: MIT
 */
#include "life/rule_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_CELL = 4, PROGRAM_STATES = 256 };

struct program_builder {
    const struct rule_program *program;
    struct life_transitions *t;
    struct rule_text text;
    struct map seen; /* nodes by cell, depth and summary */
    struct map made; /* nodes by branches */
};

const unsigned char *rule_program_places(int neighbours)
{
    static const unsigned char eight[] = {0, 2, 6, 8, 1, 3, 5, 7}, six[] = {0, 8, 1, 3, 5, 7},
                               four[] = {3, 7, 5, 1};
    return neighbours == 8 ? eight : neighbours == 6 ? six : four;
}

/* Return in *at the node that examines neighbour i, or the next state after the last one. */
static int program_node(struct program_builder *u, unsigned cell, int i, uint32_t summary,
                        uint32_t *at)
{
    const struct rule_program *p = u->program;
    if (i == p->neighbours) {
        *at = p->next(p->arg, cell, summary);
        return 0;
    }
    const uint64_t key = (uint64_t)(cell * 16 + (unsigned)i) << 32 | summary;
    uint32_t branch[PROGRAM_STATES], after[PROGRAM_STATES];
    unsigned known[PROGRAM_STATES], n = 0, j; /* states with different summaries */
    *at = map_get(&u->seen, key);
    if (*at != MAP_NONE)
        return 0;
    for (unsigned s = 0; s < p->states; s++) {
        const unsigned alike = p->alike ? p->alike(cell, s) : s;
        if (alike < s) {
            branch[s] = branch[alike];
            continue;
        }
        after[n] = p->add(p->arg, cell, summary, i, s);
        for (j = 0; after[j] != after[n];)
            j++;
        if (j < n)
            branch[s] = branch[known[j]];
        else if (program_node(u, cell, i + 1, after[n], &branch[s]) < 0)
            return -1;
        else
            known[n++] = s;
    }
    if (transitions_share(u->t, &u->text, &u->made, branch, at) < 0)
        return -1;
    return map_put(&u->seen, key, *at)
               ? 0
               : clerror_set(ENOMEM, "%s: out of memory for a tree", u->t->name);
}

static int program_root(struct program_builder *u)
{
    uint32_t branch[PROGRAM_STATES];
    for (unsigned cell = 0; cell < u->program->states; cell++)
        if (program_node(u, cell, 0, 0, &branch[cell]) < 0)
            return -1;
    return transitions_share(u->t, &u->text, &u->made, branch, &u->t->root);
}

life_transitions *rule_program_build(const struct rule_program *program, const char *name)
{
    life_transitions *t = calloc(1, sizeof *t);
    if (!t) {
        clerror_set(ENOMEM, "%s: out of memory for a rule", name);
        return NULL;
    }
    snprintf(t->name, sizeof t->name, "%s", name);
    t->states = program->states;
    t->has_colours = true;
    memcpy(t->colour, program->colour, t->states * sizeof *t->colour);
    t->places = program->neighbours + 1;
    t->place[0] = PROGRAM_CELL;
    memcpy(t->place + 1, rule_program_places(program->neighbours), (size_t)program->neighbours);
    struct program_builder u = {.program = program, .t = t, .text = {.name = t->name}};
    const int status = program_root(&u);
    map_free(&u.seen);
    map_free(&u.made);
    if (status == 0)
        return t;
    life_transitions_free(t);
    return NULL;
}
