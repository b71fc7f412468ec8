/* generations.c - rules of the family Generations: a live cell that does not survive passes through
 * states 2, 3, ..., in which it counts as dead but blocks births.
 *
 *   345/2/4         survival, birth, number of states; B2/S345/C4 is equivalent, and H or V may
 *                   follow
 *   MAP.../4        births and survivals of a table, and the number of states
 *
 * Births and survivals are a rule of two states of another family (family.c).
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Split off the number of states of S/B/4, B/S/C4 or S/B/4V; *head gets the text before it, with
 * the letter of the neighbourhood. Return 1 if there is none. */
static int split_states(const char *text, char head[LIFE_RULE_TEXT], unsigned *states)
{
    static const struct {
        const char *name, *rule;
    } names[] = {{"brain", "/2/3"}, {"briansbrain", "/2/3"}, {"starwars", "345/2/4"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(text, names[i].name) == 0)
            text = names[i].rule;
    char copy[LIFE_RULE_TEXT - 4];
    const char *first = life_family_tidy(text, copy, sizeof copy) ? strchr(copy, '/') : NULL,
               *second = first ? strchr(first + 1, '/') : NULL;
    if (!second)
        return 1;
    const char *p = second + 1;
    unsigned n = 0;
    p += *p == 'c' || *p == 'g';
    if (!isdigit((unsigned char)*p))
        return life_family_refuse(
            text, "after the second slash there should be the number of states, as in 345/2/4");
    for (; isdigit((unsigned char)*p) && n < 1000; p++)
        n = 10 * n + (unsigned)(*p - '0');
    if (n < 2 || n > 256)
        return life_family_refuse(text, "a rule has from 2 to 256 states");
    if (*p && strcmp(p, "H") != 0 && strcmp(p, "Ht") != 0 && strcmp(p, "V") != 0)
        return life_family_refuse(
            text, "after the number of states there may be only H, HT or V, as in 013/2/4V");
    *states = n;
    snprintf(head, LIFE_RULE_TEXT, "%.*s%s", (int)(second - copy), copy, p);
    return 0;
}

/* Write B2/S345 with four states as 345/2/4, B2/S013V as 013/2/4V. The text must be short enough
 * to be read again. */
static int family_write_states(const char *given, struct life_family *f)
{
    char text[LIFE_RULE_TEXT];
    snprintf(text, sizeof text, "%s", f->text);
    char *end = text + strcspn(text, "HV"), *slash = strchr(text, '/'), suffix[4];
    snprintf(suffix, sizeof suffix, "%s", end);
    *end = '\0';
    *slash = '\0';
    const int length =
        snprintf(f->text, sizeof f->text, "%s/%s/%u%s", slash + 2, text + 1, f->states, suffix);
    return length < LIFE_RULE_TEXT - 4
               ? 0
               : life_family_refuse(given, "it is too long; write each count and each letter once");
}

/* Read the number of states at the end of MAP.../4. */
static int map_states(const char *text, const char *rest, unsigned *states)
{
    char *end;
    const unsigned long n = isdigit((unsigned char)rest[1]) ? strtoul(rest + 1, &end, 10) : 0;
    if (n < 2 || n > 256 || end[strspn(end, " \t")])
        return life_family_refuse(
            text, "after MAP and the slash there should be the number of states, from 2 to 256");
    *states = (unsigned)n;
    return 0;
}

/* Parse MAP.../4. Return 1 if the text has no number of states. */
static int map_generations(const char *text, struct life_family *rule)
{
    const char *rest;
    char number[8];
    const int status = life_map_parse(text, rule, &rest);
    if (status != 0 || *rest != '/')
        return status < 0 ? -1 : 1;
    if (map_states(text, rest, &rule->states) < 0)
        return -1;
    if (rule->states == 2) {
        rule->row = &life_table_family;
        return 0;
    }
    snprintf(number, sizeof number, "/%u", rule->states);
    strcat(rule->text, number); /* at most 100 characters */
    return 0;
}

static int generations_parse(const char *text, struct life_family *rule)
{
    char head[LIFE_RULE_TEXT];
    unsigned states = 2;
    if (strncasecmp(text, "MAP", 3) == 0)
        return map_generations(text, rule);
    const int status = split_states(text, head, &states);
    if (status != 0)
        return status;
    if (life_table_parse(head, rule) != 0) /* life_rule_parse has refused the text */
        return -1;
    rule->states = states;
    rule->row = states > 2 ? &life_generations_family : &life_table_family;
    return states > 2 ? family_write_states(text, rule) : 0;
}

const struct life_family_row life_generations_family = {.kind = "of more than two states",
                                                        .form = LIFE_FORM_TABLE,
                                                        .bounds = LIFE_ON_ANY,
                                                        .parse = generations_parse,
                                                        .next = life_table_state,
                                                        .bytes = &life_table_bytes};
