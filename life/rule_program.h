/* rule_program.h - a transition tree from functions of a cell and its neighbours (transitions.h).
 *
 * The tree examines the cell first, then the neighbours in turn. A rule summarises the
 * neighbours examined so far in a number: cells and neighbours of equal summaries share a node.
 * The fewer summaries, the smaller the tree.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_RULE_PROGRAM_H
#define LIFE_RULE_PROGRAM_H

#include "life/transitions.h"

struct rule_program {
    const void *arg;
    unsigned states;
    int neighbours;                   /* 8, 6 or 4 */
    const unsigned char (*colour)[3]; /* of each state: red, green, blue */
    /* Summary after a further neighbour, at place i of rule_program_places, in `state`;
     * the first summary is 0. */
    uint32_t (*add)(const void *arg, unsigned cell, uint32_t summary, int i, unsigned state);
    /* Next state of the cell. */
    unsigned (*next)(const void *arg, unsigned cell, uint32_t summary);
    /* The lowest state that, as a neighbour of the cell, has the same effect as `state`. NULL: all
     * states differ. */
    unsigned (*alike)(unsigned cell, unsigned state);
};

/* The neighbours in the order of `add`, as places in a block of nine cells: 0 north-west, row by
 * row. Four neighbours: west, south, east, north. */
const unsigned char *rule_program_places(int neighbours);

/* Return the rule of a program as a tree named `name`. NULL with ENOMEM, or EINVAL: too large. */
life_transitions *rule_program_build(const struct rule_program *program, const char *name);

/* Create a rule of annotations.c or neumann.c: NULL with ENOENT if the text is not of this kind,
 * EINVAL if it is wrong, ENOMEM. */
life_transitions *life_annotated_rule(const char *text);
life_transitions *life_neumann_rule(const char *text);

#endif
