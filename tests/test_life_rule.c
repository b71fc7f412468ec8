/* test_life_rule.c - rules read, refused, written, and turned into logic. */
/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "stdcl/life.h"

#include "life/internal.h"

static struct life_rule parse(const char *text)
{
    struct life_rule rule = {0, 0};
    works(life_rule_parse(text, &rule));
    return rule;
}

static void reads_notations(void **state)
{
    (void)state;
    static const struct { const char *text, *canonical; } cases[] = {
        {"B3/S23", "B3/S23"},     {"b3s23", "B3/S23"},   {"S23/B3", "B3/S23"}, {" B 36 / S 23 ", "B36/S23"},
        {"23/3", "B3/S23"},       {"/2", "B2/S"},        {"B2/S", "B2/S"},     {"B/S", "B/S"},
        {"125/36", "B36/S125"},   {"B33/S322", "B3/S23"}, {"B012345678/S012345678", "B012345678/S012345678"},
        {"life", "B3/S23"},       {"HighLife", "B36/S23"}, {"Day & Night", "B3678/S34678"}, {"seeds", "B2/S"},
        {"Live Free or Die", "B2/S0"}, {"2x2", "B36/S125"}, {"34 life", "B34/S34"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[24];
        struct life_rule rule = parse(cases[i].text);
        assert_string_equal(life_rule_string(&rule, text), cases[i].canonical);
    }
}

static void every_name_is_a_rule(void **state)
{
    (void)state;
    size_t n = 0;
    struct life_rule by_list, by_name;
    for (const char *name; (name = life_rule_name(n, &by_list)); n++) {
        works(life_rule_parse(name, &by_name));
        assert_memory_equal(&by_list, &by_name, sizeof by_list);
    }
    assert_true(n > 40);
}

static void refuses_with_a_reason(void **state)
{
    (void)state;
    static const struct { const char *text, *reason; } cases[] = {
        {"", "B3/S23"},          {"B3", "begins with S"},     {"23", "slash"},       {"B9/S23", "0 to 8"},
        {"B2-a/S12", "non-totalistic"}, {"B3/S23/C3", "as in"}, {"23/3/3", "two states"}, {"B2/S34H", "hexagonal"},
        {"B3/S23V", "von Neumann"}, {"WireWorld", "name"},    {"B3/S23x", "as in"},  {"12/34x", "as in"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct life_rule rule = {1, 2};
        fails(EINVAL, life_rule_parse(cases[i].text, &rule));
        clerror_set(0, "x");
        life_rule_parse(cases[i].text, &rule);
        const char *sentence = clerror();
        if (!strstr(sentence, cases[i].reason))
            fail_msg("'%s': \"%s\" does not say \"%s\"", cases[i].text, sentence, cases[i].reason);
        assert_true(rule.birth == 1 && rule.survival == 2);
    }
}

static void splits_bounds(void **state)
{
    (void)state;
    static const struct { const char *text, *rule; enum life_bounds bounds; size_t width, height; } good[] = {
        {"B3/S23:T100,50", "B3/S23", LIFE_TORUS, 100, 50}, {"B3/S23:P7", "B3/S23", LIFE_PLANE, 7, 7},
        {"23/3:t64,1", "23/3", LIFE_TORUS, 64, 1},         {"B3/S23", "B3/S23", LIFE_TORUS, 0, 0},
    };
    static const char *const bad[] = {"B3/S23:K30*,20", "B3/S23:S30", "B3/S23:C30,20", "B3/S23:T30+5,20",
                                      "B3/S23:T30,0", "B3/S23:T0", "B3/S23:T", "B3/S23:T3,", "B3/S23:Q3,3",
                                      "B3/S23:T3,4x", "B3/S23:T99999999999999999999,3"};
    enum life_bounds bounds;
    size_t width, height;
    char text[64];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        strcpy(text, good[i].text);
        works(life_bounds_split(text, &bounds, &width, &height));
        assert_string_equal(text, good[i].rule);
        assert_true(bounds == good[i].bounds && width == good[i].width && height == good[i].height);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        strcpy(text, bad[i]);
        fails(EINVAL, life_bounds_split(text, &bounds, &width, &height));
        assert_string_equal(text, bad[i]);
    }
}

/* The rule by the definition: `in` holds b, k, p, q and the cell, see internal.h. */
static int by_definition(const struct life_rule *rule, unsigned in, int *possible)
{
    const unsigned alive = (in & 1) + 2 * (in >> 1 & 1) + 2 * (in >> 2 & 1) + 4 * (in >> 3 & 1), cell = in >> 4;
    *possible = alive >= cell && alive - cell <= 8;
    return *possible && (cell ? rule->survival : rule->birth) >> (alive - cell) & 1;
}

/* `pairs`: two-input operations; all of its steps but selections must be such. Returns how many operations. */
static int check_logic(const struct life_rule *rule, bool pairs)
{
    struct life_logic logic;
    char text[24];
    int possible, operations = 0;
    (pairs ? life_logic_pairs : life_logic_find)(rule, &logic);
    assert_in_range(logic.steps, 1, LIFE_STEPS_MAX);
    for (unsigned in = 0; in < 32; in++) {
        const int want = by_definition(rule, in, &possible);
        if (possible && life_logic_next(&logic, in) != want)
            fail_msg("%s: inputs %u give %d", life_rule_string(rule, text), in, !want);
    }
    for (int i = 0; i < logic.steps; i++)
        operations += pairs && logic.step[i].table >> 4 != (logic.step[i].table & 15) ? 3 : 1;
    return operations;
}

static void check_both(const struct life_rule *rule, int most_triples, int most_pairs)
{
    assert_in_range(check_logic(rule, false), 1, most_triples);
    assert_in_range(check_logic(rule, true), 1, most_pairs);
}

static int random_rules = 60; /* or as many as the argument says */

static void logic_is_right_and_short(void **state)
{
    (void)state;
    struct life_rule rule = parse("B3/S23");
    check_both(&rule, 3, 7);
    rule = parse("highlife");
    check_both(&rule, 5, 9);
    rule = parse("daynight");
    check_both(&rule, 6, 10);
    for (size_t i = 0; life_rule_name(i, &rule); i++)
        check_both(&rule, 7, 12);
    check_both(&(struct life_rule){0, 0}, 1, 1);
    check_both(&(struct life_rule){511, 511}, 1, 1);
    check_both(&(struct life_rule){0x19a, 0x1a5}, 7, 12); /* two selections, one in the other */
    uint64_t seed = 1;
    for (int i = 0; i < random_rules; i++) {
        seed = life_mix(seed + 1);
        check_both(&(struct life_rule){(unsigned)(seed & 511), (unsigned)(seed >> 9 & 511)}, 7, 12);
    }
}

int main(int argc, char **argv)
{
    random_rules = argc > 1 ? atoi(argv[1]) : random_rules;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_notations),       cmocka_unit_test(every_name_is_a_rule),
        cmocka_unit_test(refuses_with_a_reason), cmocka_unit_test(splits_bounds),
        cmocka_unit_test(logic_is_right_and_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
