/* family.h - a rule of any family, and the table of families (families.c).
 *
 * A new family is a file that parses its rules and a row in FAMILIES. If a table of 512
 * neighbourhoods can express its rules, all engines compute them. If not, the family brings a
 * scalar reference and a kernel (bytes.h), and enum life_form a form of its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_FAMILY_H
#define LIFE_FAMILY_H

#include "life/circuit.h"
#include "stdcl/life.h"

#include <stdbool.h>

/* How the next state of a cell is defined; an engine has one or several of these forms. */
enum life_form {
    LIFE_FORM_TABLE, /* `table` of live neighbours; dying states count up (Generations) */
    LIFE_FORM_TREE,  /* a transition tree of the neighbours' states (transitions.h) */
    LIFE_FORM_SUMS,  /* sums of the neighbours' weights, of any range (large_rule.h) */
    LIFE_FORM_PAIR   /* `table` in even generations, `odd` in odd ones (alternating.c) */
};

/* Neighbourhoods as cells of a block of nine: bit 0 the north-west cell, row by row. */
enum { LIFE_MOORE = 0x1ef, LIFE_HEXAGON = 0x1ab, LIFE_TRIPOD = 0x10a, LIFE_NEUMANN = 0xaa };

struct life_family;

struct life_family_row {
    /* For messages: "the rule R5,... is Larger than Life"; "" if nothing is special. */
    const char *kind;
    enum life_form form;
    unsigned bounds; /* bit mask of enum life_bounds */
    /* Parse a rule: 0, or -1 with EINVAL, or 1 if the text is of another family. `rule` is empty
     * with two states and range 1. NULL: rules are not written out. */
    int (*parse)(const char *text, struct life_family *rule);
    /* Next state of the middle of a block of nine states, rows from the north; NULL: range > 1. */
    unsigned char (*next)(const struct life_family *rule, const unsigned char block[9]);
    /* Scalar reference, as life_ref_family_rows; NULL: by `next`. */
    void (*reference)(const struct life_family *rule, uint64_t generation, enum life_bounds bounds,
                      size_t width, size_t height, size_t y, size_t end, const unsigned char *from,
                      unsigned char *to);
    const struct bytes_method *bytes; /* its kernel for cells of a byte */
};

struct life_family {
    const struct life_family_row *row;
    bool counts;                  /* outer-totalistic: `rule` is complete */
    struct life_rule rule;        /* 0 unless `counts` */
    struct life_table table, odd; /* `odd`: LIFE_FORM_PAIR only */
    unsigned neighbourhood;       /* cells of a block that `table` depends on, without the middle */
    /* 2, or more. Dying cells count as dead in `table`. */
    unsigned states;
    unsigned range; /* of the neighbourhood in columns and rows */
    /* A cell with an empty neighbourhood becomes alive. LIFE_FORM_PAIR: an empty plane is not empty
     * again after two generations. */
    bool b0;
    /* Equal cells of a grid repeat only if the generations between them are even. */
    bool alternates;
    /* Transition tree of a rule file; NULL for all other families. */
    const struct life_transitions *transitions;
    char text[LIFE_RULE_TEXT]; /* in rule notation */
};

/* The families in the order in which they are tried. */
#define FAMILIES(X)                                                                                \
    X(life_alternating_family)                                                                     \
    X(life_large_family)                                                                           \
    X(life_generations_family)                                                                     \
    X(life_table_family)                                                                           \
    X(life_tree_family)
#define X(row) extern const struct life_family_row row;
FAMILIES(X)
#undef X

enum {
    LIFE_ON_FLAT = 1 << LIFE_TORUS | 1 << LIFE_PLANE,
    LIFE_ON_ANY = LIFE_ON_FLAT | 1 << LIFE_JOINED | 1 << LIFE_UNBOUNDED
};

/* Parse a rule. Fails with EINVAL and a message that says why. */
int life_family_parse(const char *text, struct life_family *family);

/* Take the rule of a caller's options: a rule file's transitions, else `text`, else B3/S23. */
int life_family_take(const char *text, const struct life_transitions *transitions,
                     struct life_family *family);

/* Rules with marks (annotations.c). */
enum life_annotation { LIFE_HISTORY, LIFE_SUPER, LIFE_INVESTIGATOR, LIFE_ANNOTATIONS };

/* Find the annotation that a text names at its end, after a rule, and the text that names it.
 * LIFE_ANNOTATIONS: none. */
enum life_annotation life_annotation_of(const char *text, const char **suffix);

/* Set EINVAL: the text is not a rule. Return -1. */
int life_family_refuse(const char *text, const char *why);

/* Copy a rule without blanks: B, S, H and V in upper case, all other letters in lower case; _
 * becomes /. False if it is too long. */
bool life_family_tidy(const char *text, char *out, size_t size);

/* Write the rule of a table as macros in front of a kernel. */
enum { LIFE_FAMILY_MACROS = LIFE_CIRCUIT_TEXT };
void life_family_macros(const struct life_family *rule, bool ternary,
                        char text[LIFE_FAMILY_MACROS]);

/* Parse a rule of two states by a table (family.c); as `parse` above. */
int life_table_parse(const char *text, struct life_family *rule);

/* Parse MAP and its 86, 22 or 6 characters; *rest: the text after them, without padding. Return as
 * `parse` above. */
int life_map_parse(const char *text, struct life_family *rule, const char **rest);

/* The rule of even or of odd generations: one table of LIFE_FORM_PAIR; else a copy of the rule. */
struct life_family life_family_half(const struct life_family *rule, bool odd);

/* `next` of the families with a table. */
unsigned char life_table_state(const struct life_family *rule, const unsigned char block[9]);

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
