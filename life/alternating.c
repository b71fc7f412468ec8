/* alternating.c - pairs of rules that alternate, in LifeViewer's notation: B3/S23|B36/S23 computes
 * generation 1 by the first rule, generation 2 by the second, generation 3 by the first.
 *
 * Both are rules by a table (family.c, generations.c) with equal numbers of states. A plane stays
 * empty in even generations unless the second rule turns the first rule's empty plane alive.
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"
#include "life/family.h"
#include "life/reference.h"

#include <stdio.h>
#include <string.h>

/* Parse one of the two rules. */
static int alternating_part(const char *text, const char *part, size_t length,
                            struct life_family *rule)
{
    char copy[LIFE_RULE_TEXT];
    if (length >= sizeof copy)
        return life_family_refuse(text, "it is too long");
    snprintf(copy, sizeof copy, "%.*s", (int)length, part);
    *rule = (struct life_family){.row = &life_table_family, .states = 2, .range = 1};
    int status = life_generations_family.parse(copy, rule);
    if (status > 0)
        status = life_table_parse(copy, rule);
    if (status < 0)
        return -1;
    rule->b0 = life_table_next(&rule->table, 0);
    if (status > 0 || rule->text[0] == 'W')
        return life_family_refuse(text, "rules that alternate are two rules by a cell's nearest "
                                        "neighbours, as in B3/S23|B36/S23");
    return 0;
}

/* True if an empty plane is not empty after both rules. */
static bool alternating_fills_plane(const struct life_family *first,
                                    const struct life_family *second)
{
    const unsigned between = life_table_next(&first->table, 0);
    if (first->states > 2)
        return between || second->b0;
    return life_table_next(&second->table, between ? 511 : 0);
}

static int alternating_parse(const char *text, struct life_family *rule)
{
    struct life_family second;
    const char *bar = strchr(text, '|');
    if (!bar)
        return 1;
    if (strchr(bar + 1, '|'))
        return life_family_refuse(text, "two rules can alternate, as in B3/S23|B36/S23, not more");
    if (alternating_part(text, text, (size_t)(bar - text), rule) < 0 ||
        alternating_part(text, bar + 1, strlen(bar + 1), &second) < 0)
        return -1;
    if (rule->states != second.states)
        return life_family_refuse(text, "rules that alternate have equal numbers of states");
    if (memcmp(&rule->table, &second.table, sizeof rule->table) == 0)
        return 0; /* one rule */
    const size_t used = strlen(rule->text);
    if (used + 1 + strlen(second.text) >= sizeof rule->text)
        return life_family_refuse(text, "it is too long");
    rule->b0 = alternating_fills_plane(rule, &second);
    sprintf(rule->text + used, "|%s", second.text);
    rule->odd = second.table;
    rule->row = &life_alternating_family;
    rule->counts = false;
    rule->rule = (struct life_rule){0, 0};
    rule->neighbourhood |= second.neighbourhood;
    rule->alternates = true;
    return 0;
}

static void alternating_reference(const struct life_family *rule, uint64_t generation,
                                  enum life_bounds bounds, size_t width, size_t height, size_t y,
                                  size_t end, const unsigned char *from, unsigned char *to)
{
    const struct life_family half = life_family_half(rule, generation & 1);
    life_ref_family_rows(&half, generation, bounds, width, height, y, end, from, to);
}

const struct life_family_row life_alternating_family = {.kind = "of two rules that alternate",
                                                        .form = LIFE_FORM_PAIR,
                                                        .bounds = LIFE_ON_ANY,
                                                        .parse = alternating_parse,
                                                        .reference = alternating_reference,
                                                        .bytes = &life_table_bytes};
