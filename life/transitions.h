/* transitions.h - rules that a file lists: what the files that read and use them share.
 *
 *   rule_file.c    the sections of a .rule file: names, colours
 *   rule_table.c   a TABLE: transitions with variables and symmetries, made into a tree
 *   rule_tree.c    a TREE, and how trees grow
 *
 * A tree says what becomes of a cell. At its root the state of the first place of `place` chooses
 * one of `states` branches, and so on; the last node's branches are the cell's next state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_TRANSITIONS_H
#define LIFE_TRANSITIONS_H

#include "life/internal.h"

#include <string.h>

enum { TRANSITIONS_PLACES = 9, TRANSITIONS_BRANCHES = 1 << 26 };

struct life_transitions {
    char name[LIFE_RULE_TEXT];
    unsigned states;
    int places;                              /* 3, 5, 7 or 9, the cell last */
    unsigned char place[TRANSITIONS_PLACES]; /* of the block of nine, as in family.c */
    uint32_t *branch;   /* node n has branch[n * states] and so on: where the next node's begin, or
                           states */
    size_t nodes, room; /* of the array, in nodes */
    uint32_t root;      /* where its branches begin */
    bool has_colours;
    unsigned char colour[256][3];
};

/* A section of a file, or all of it, and where the file begins. */
struct rule_text {
    const char *name, *begin, *end, *file;
};

/* Fails with EINVAL: "NAME: line 3: ...", of a place in the text. */
int rule_text_error(const struct rule_text *t, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The places of so many neighbours, and the cell. */
void transitions_places(struct life_transitions *t, int neighbours);

/* A new node, its branches for the caller to set; NULL with ENOMEM, or EINVAL where there would be
 * too many. */
uint32_t *transitions_node(struct life_transitions *t, const struct rule_text *text, uint32_t *at);

/* The next number of a section, over line ends and comments; one that is too large stays so. */
bool rule_text_number(const char **p, const char *end, unsigned long *n);

static inline const char *rule_line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}

/* Reads a TABLE, or a TREE. */
int rule_tree_read(const struct rule_text *text, struct life_transitions *t);
int rule_table_read(const struct rule_text *text, struct life_transitions *t);

/* What becomes of the middle of a block of nine states. */
static inline unsigned char life_transit(const struct life_transitions *t,
                                         const unsigned char block[9])
{
    uint32_t at = t->root;
    for (int i = 0; i < t->places; i++)
        at = t->branch[at + block[t->place[i]]];
    return (unsigned char)at;
}

#endif
