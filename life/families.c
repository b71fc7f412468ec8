/* families.c - the families of rules: parsing, and what is common to all rules.
 * SPDX-License-Identifier: MIT
 */
#include "life/family.h"
#include "life/transitions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define X(row) &row,
static const struct life_family_row *const families[] = {FAMILIES(X)};
#undef X

enum life_annotation life_annotation_of(const char *text, const char **suffix)
{
    static const char *const known[LIFE_ANNOTATIONS] = {"History", "Super", "Investigator"};
    const size_t length = strlen(text);
    for (size_t i = 0; i < LIFE_ANNOTATIONS; i++) {
        const size_t tail = strlen(known[i]);
        *suffix = known[i];
        if (length > tail && strcasecmp(text + length - tail, known[i]) == 0)
            return (enum life_annotation)i;
    }
    return LIFE_ANNOTATIONS;
}

/* Refuse a text of no family. */
static int families_refuse(const char *text)
{
    const char *suffix;
    if (life_annotation_of(text, &suffix) != LIFE_ANNOTATIONS)
        return clerror_set(EINVAL, "'%.100s': rules with %s are created by life_transitions_named",
                           text, suffix);
    return life_family_refuse(
        text, "write B, the counts that give birth, /S, and the counts that survive, as in B3/S23, "
              "a rule of another family, such as 345/2/4 or B2-a/S12, or a name such as highlife");
}

int life_family_parse(const char *text, struct life_family *family)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct life_family rule = {.row = families[i], .states = 2, .range = 1};
        const int status = families[i]->parse ? families[i]->parse(text, &rule) : 1;
        if (status < 0)
            return -1;
        if (status > 0)
            continue;
        if (rule.row->form == LIFE_FORM_TABLE)
            rule.b0 = life_table_next(&rule.table, 0);
        *family = rule;
        return 0;
    }
    return families_refuse(text);
}

int life_family_take(const char *text, const struct life_transitions *transitions,
                     struct life_family *family)
{
    if (!transitions)
        return life_family_parse(text ? text : "B3/S23", family);
    if (text)
        return clerror_set(EINVAL, "the rule %s is of a file, so '%.60s' cannot be the rule, too",
                           life_transitions_name(transitions), text);
    *family = (struct life_family){.row = &life_tree_family,
                                   .states = life_transitions_states(transitions),
                                   .range = 1,
                                   .transitions = transitions};
    family->b0 = life_transit(transitions, (const unsigned char[9]){0}) != 0;
    snprintf(family->text, sizeof family->text, "%s", life_transitions_name(transitions));
    return 0;
}

int life_rule_states(const char *text)
{
    struct life_family f;
    return life_family_parse(text, &f) < 0 ? -1 : (int)f.states;
}

int life_rule_normal(const char *text, char normal[LIFE_RULE_TEXT])
{
    struct life_family f;
    if (life_family_parse(text, &f) < 0)
        return -1;
    strcpy(normal, f.text);
    return 0;
}

int life_rule_range(const char *text)
{
    struct life_family f;
    return life_family_parse(text, &f) < 0 ? -1 : (int)f.range;
}
