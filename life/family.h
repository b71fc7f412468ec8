/* family.h - a rule of any family that the engines have (family.c, larger_than_life.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_FAMILY_H
#define LIFE_FAMILY_H

#include "life/circuit.h"
#include "stdcl/life.h"

#include <stdbool.h>

/* A rule of the family Larger than Life: births and survivals by the number of live cells in a
 * neighbourhood of radius `range`. */
enum { LIFE_RANGE_MAX = 500 };
struct life_large {
    unsigned range;                 /* 0: the rule is of another family */
    unsigned middle;                /* 1: the cell itself counts */
    unsigned survival[2], birth[2]; /* least and greatest count */
    char shape;                     /* M, N or C: square, diamond, circle */
};

/* Half width of the neighbourhood in the row `dy` rows away: columns to either side of the cell. */
unsigned life_large_half(const struct life_large *large, unsigned dy);

struct life_family {
    bool counts;           /* outer-totalistic: `rule` is complete */
    struct life_rule rule; /* 0 unless `counts` */
    struct life_table table;
    /* 2, or more in the family Generations. Dying cells count as dead in `table`. */
    unsigned states;
    struct life_large large; /* with a range, `table` and `counts` are unused */
    /* Transition tree of a rule file; NULL for all other families. When set, `table` and `counts`
     * are unused. */
    const struct life_transitions *transitions;
    char text[LIFE_RULE_TEXT]; /* in rule notation */
};

/* Parse a rule. Fails with EINVAL and a message that says why. */
int life_family_parse(const char *text, struct life_family *family);

/* Take the rule of a caller's options: a rule file's transitions, else `text`, else B3/S23. */
int life_family_take(const char *text, const struct life_transitions *transitions,
                     struct life_family *family);

/* Parse a rule of Larger than Life. Return 1 if the text is of another family. */
int life_large_parse(const char *text, struct life_family *family);

/* Next state of a cell in `state`, given the table's answer `next` for its block of live cells. */
static inline unsigned char life_next_state(const struct life_family *rule, unsigned char state,
                                            unsigned next)
{
    return (unsigned char)(state > 1                   ? (state + 1u) % rule->states
                           : next                      ? 1u
                           : state && rule->states > 2 ? 2u
                                                       : 0u);
}

#endif
