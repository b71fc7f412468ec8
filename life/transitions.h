/* transitions.h - rules of rule files, as a tree.
 *
 *   rule_file.c    the sections of a .rule file: name, colours
 *   rule_table.c   a TABLE: transitions with variables and symmetries, converted to a tree
 *   rule_tree.c    a TREE; construction of trees
 *   rule_program.c a tree from functions of a cell and its neighbours: annotations.c, neumann.c
 *
 * A tree gives the next state of a cell. At its root the state at the first place of `place`
 * selects one of `states` branches, and so on; the branches of the last node are next states.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_TRANSITIONS_H
#define LIFE_TRANSITIONS_H

#include "life/hash_map.h"
#include "stdcl/life.h"

#include <stdbool.h>
#include <string.h>

enum { TRANSITIONS_PLACES = 9, TRANSITIONS_BRANCHES = 1 << 26 };

struct life_transitions {
    char name[LIFE_RULE_TEXT];
    unsigned states;
    int places;                              /* 3, 5, 7 or 9 */
    unsigned char place[TRANSITIONS_PLACES]; /* in the block of nine, as in family.c */
    uint32_t *branch; /* branches of node n begin at branch[n * states]: offsets of the next nodes'
                         branches, or states */
    size_t nodes, room; /* used; allocated */
    uint32_t root;      /* offset of its branches */
    bool has_colours;
    unsigned char colour[256][3];
};

/* A section of a file, or all of it; `file` is the beginning of the file. */
struct rule_text {
    const char *name, *begin, *end, *file;
};

/* Set EINVAL with a message "NAME: line 3: ..." for a place in the text. Return -1. */
int rule_text_error(const struct rule_text *t, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Set the places for a number of neighbours, and the cell. */
void transitions_places(struct life_transitions *t, int neighbours);

/* Append a node, whose branches the caller sets. NULL with ENOMEM, or with EINVAL if there are too
 * many. */
uint32_t *transitions_node(struct life_transitions *t, const struct rule_text *text, uint32_t *at);

/* Return in *at a node with these branches, `states` of them: an equal one, which `made` knows by a
 * hash of its branches, or a new one. -1 as transitions_node. */
int transitions_share(struct life_transitions *t, const struct rule_text *text, struct map *made,
                      const uint32_t *branch, uint32_t *at);

/* Read the next number of a section, across line ends and comments; large numbers saturate. */
bool rule_text_number(const char **p, const char *end, unsigned long *n);

static inline const char *rule_line_end(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}

/* Read a TREE, or a TABLE. */
int rule_tree_read(const struct rule_text *text, struct life_transitions *t);
int rule_table_read(const struct rule_text *text, struct life_transitions *t);

/* Next state of the middle of a block of nine states. */
static inline unsigned char life_transit(const struct life_transitions *t,
                                         const unsigned char block[9])
{
    uint32_t at = t->root;
    for (int i = 0; i < t->places; i++)
        at = t->branch[at + block[t->place[i]]];
    return (unsigned char)at;
}

#endif
