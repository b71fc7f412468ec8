/* test_life_rule.c - rules parsed, rejected, written, and compiled into logic. */
/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "stdcl/life.h"

#include "life/internal.h"

static struct life_rule parsed_rule(const char *text)
{
    struct life_rule rule = {0, 0};
    works(life_rule_parse(text, &rule));
    return rule;
}

static void rule_reads_notations(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"B3/S23", "B3/S23"},
        {"b3s23", "B3/S23"},
        {"S23/B3", "B3/S23"},
        {" B 36 / S 23 ", "B36/S23"},
        {"23/3", "B3/S23"},
        {"/2", "B2/S"},
        {"B2/S", "B2/S"},
        {"B/S", "B/S"},
        {"125/36", "B36/S125"},
        {"B33/S322", "B3/S23"},
        {"B012345678/S012345678", "B012345678/S012345678"},
        {"life", "B3/S23"},
        {"HighLife", "B36/S23"},
        {"Day & Night", "B3678/S34678"},
        {"seeds", "B2/S"},
        {"Live Free or Die", "B2/S0"},
        {"2x2", "B36/S125"},
        {"34 life", "B34/S34"},
        {"B234", "B234/S"},
        {"S23", "B/S23"},
        {"/S23", "B/S23"},
        {"B3/", "B3/S"},
        {"3/S23", "B3/S23"},
        {"23/B3", "B3/S23"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[24];
        struct life_rule rule = parsed_rule(cases[i].text);
        assert_string_equal(life_rule_string(&rule, text), cases[i].canonical);
    }
}

static void rule_names_are_rules(void **state)
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

static void rule_error_gives_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "B3/S23"},
        {"B3/B2", "B stands"},
        {"S3S2", "S stands"},
        {"23", "slash"},
        {"B9/S23", "0 to 8"},
        {"B2-a/S12", "of another family"},
        {"B3/S23/C3", "of another family"},
        {"23/3/3", "of another family"},
        {"B2/S34H", "of another family"},
        {"B3/S23V", "of another family"},
        {"WireWorld", "name"},
        {"B3/S23x", "as in"},
        {"12/34x", "as in"},
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

static void rule_suffix_gives_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *rule;
        enum life_bounds bounds;
        size_t width, height;
    } good[] = {
        {"B3/S23:T100,50", "B3/S23", LIFE_TORUS, 100, 50},
        {"B3/S23:P7", "B3/S23", LIFE_PLANE, 7, 7},
        {"23/3:t64,1", "23/3", LIFE_TORUS, 64, 1},
        {"B3/S23", "B3/S23", LIFE_TORUS, 0, 0},
    };
    static const char *const bad[] = {"B3/S23:K30*,20",
                                      "B3/S23:S30",
                                      "B3/S23:C30,20",
                                      "B3/S23:T30+5,20",
                                      "B3/S23:T30,0",
                                      "B3/S23:T0",
                                      "B3/S23:T",
                                      "B3/S23:T3,",
                                      "B3/S23:Q3,3",
                                      "B3/S23:T3,4x",
                                      "B3/S23:T99999999999999999999,3"};
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
static int rule_by_definition(const struct life_rule *rule, unsigned in, int *possible)
{
    const unsigned alive = (in & 1) + 2 * (in >> 1 & 1) + 2 * (in >> 2 & 1) + 4 * (in >> 3 & 1),
                   cell = in >> 4;
    *possible = alive >= cell && alive - cell <= 8;
    return *possible && (cell ? rule->survival : rule->birth) >> (alive - cell) & 1;
}

/* `pairs`: all steps but selections must be two-input operations. Return the number of
 * operations. */
static int check_logic(const struct life_rule *rule, bool pairs)
{
    struct life_logic logic;
    char text[24];
    int possible, operations = 0;
    (pairs ? life_logic_pairs : life_logic_find)(rule, &logic);
    assert_in_range(logic.steps, 1, LIFE_STEPS_MAX);
    for (unsigned in = 0; in < 32; in++) {
        const int want = rule_by_definition(rule, in, &possible);
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

/* A chain from the sums of rows is right for all neighbourhoods of three rows and a cell. */
static void rule_chain_is_right_for_all_neighbourhoods(void **state)
{
    (void)state;
    const struct life_rule rule = parsed_rule("B3/S23"), other = parsed_rule("B36/S23");
    const struct life_whole *whole = life_logic_whole(&rule);
    assert_non_null(whole);
    assert_null(life_logic_whole(&other));
    for (unsigned block = 0; block < 512; block++) {
        const unsigned row[3] = {block & 7, block >> 3 & 7, block >> 6}, cell = row[1] >> 1 & 1;
        unsigned in = cell << 6, alive = 0;
        for (int r = 0; r < 3; r++) {
            const unsigned sum = (row[r] & 1) + (row[r] >> 1 & 1) + (row[r] >> 2);
            in |= (sum & 1) << 2 * r | (sum >> 1) << (2 * r + 1);
            alive += sum;
        }
        assert_int_equal(life_whole_next(whole, in),
                         (cell ? rule.survival : rule.birth) >> (alive - cell) & 1);
    }
    char text[LIFE_RULE_MACROS];
    life_rule_macros(&rule, true, text);
    assert_non_null(strstr(text, "#define WHOLE_RULE("));
    life_rule_macros(&rule, false, text);
    assert_null(strstr(text, "WHOLE_RULE"));
}

static int random_rules = 60; /* or the number in the argument */

static void rule_logic_is_right_and_short(void **state)
{
    (void)state;
    struct life_rule rule = parsed_rule("B3/S23");
    check_both(&rule, 3, 7);
    rule = parsed_rule("highlife");
    check_both(&rule, 5, 9);
    rule = parsed_rule("daynight");
    check_both(&rule, 6, 10);
    for (size_t i = 0; life_rule_name(i, &rule); i++)
        check_both(&rule, 7, 12);
    check_both(&(struct life_rule){0, 0}, 1, 1);
    check_both(&(struct life_rule){511, 511}, 1, 1);
    check_both(&(struct life_rule){0x19a, 0x1a5}, 7, 12); /* two nested selections */
    uint64_t seed = 1;
    for (int i = 0; i < random_rules; i++) {
        seed = life_mix(seed + 1);
        check_both(&(struct life_rule){(unsigned)(seed & 511), (unsigned)(seed >> 9 & 511)}, 7, 12);
    }
}

/* ---- Rules that look at places. -------------------------------------------------------------- */

static void rule_isotropic_families_are_tables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *normal;
    } good[] = {{"B2-a/S12", "B2-a/S12"},
                {"b2-A_s12", "B2-a/S12"},
                {"S23/B3-a", "B3-a/S23"},
                {"23-a/3", "B3/S23-a"},
                {"B2/S34H", "B2/S34H"},
                {"b1s2ht", "B1/S2HT"},
                {"12/1/4ht", "12/1/4HT"},
                {"b2s013v", "B2/S013V"},
                {"B3/S23", "B3/S23"},
                {"highlife", "B36/S23"},
                {"B2cek3i_S12cei", "B2cek3i/S12cei"},
                {"B2-a", "B2-a/S"},
                {"S12-a", "B/S12-a"},
                {"/S2-a", "B/S2-a"},
                {"3/S2-a", "B3/S2-a"},
                {"2-a/B3", "B3/S2-a"},
                {"B2H", "B2/SH"},
                {"b2O3-m/s4Mh", "B2o3-m/S4mH"},
                {"w22", "W22"},
                {"highlife | b2s", "B36/S23|B2/S"},
                {"/2/3|23/3/3", "/2/3|23/3/3"},
                {"B3/S23|23/3", "B3/S23"}};
    static const struct {
        const char *text, *reason;
    } bad[] = {{"B2x/S3", "as in"},
               {"B2q/S3", "a letter that its count"},
               {"B2/S9H", "0 to 6"},
               {"B5/S1V", "0 to 4"},
               {"B2a/S1H", "2, 3 and 4 only"},
               {"B5o/S1H", "2, 3 and 4 only"},
               {"B2o/S1V", "von Neumann's four"},
               {"B2o/S1", "a letter that its count"},
               {"B2-/S12", "after a minus"},
               {"MAPx", "base 64"},
               {"2-a", "as in B2-a"},
               {"B2-a/B3", "as in B2-a"},
               {"W3", "even numbers"},
               {"W256", "even numbers"},
               {"B3/S23/4e", "as in"},
               {"B3/S23|B2/S|B3/S", "two rules"},
               {"B3/S23|345/2/4", "numbers of states"},
               {"B3/S23|W110", "nearest neighbours"},
               {"B3/S23|", "as in"},
               {"B3/S23|R2,C0,S2,B3", "nearest neighbours"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char normal[LIFE_RULE_TEXT];
        struct life_family a, b;
        works(life_rule_normal(good[i].text, normal));
        assert_string_equal(normal, good[i].normal);
        works(life_family_parse(good[i].text, &a));
        works(life_family_parse(normal, &b));
        assert_memory_equal(&a.table, &b.table, sizeof a.table);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char normal[LIFE_RULE_TEXT] = "as it was";
        fails(EINVAL, life_rule_normal(bad[i].text, normal));
        assert_int_equal(life_rule_normal(bad[i].text, normal), -1);
        if (!strstr(clerror(), bad[i].reason))
            fail_msg("'%s': \"%s\" does not say \"%s\"", bad[i].text, clerror(), bad[i].reason);
        assert_string_equal(normal, "as it was");
    }
}

/* A table of a hexagon's or of von Neumann's neighbours is the rule of their counts, with any
 * number of states. A Python program made the digits by the definition in Golly's help. */
static void rule_maps_match_counts(void **state)
{
    static const struct {
        const char *map, *counts, *normal;
    } same[] = {
        {"MAPFgFoF2gXgH5oF4B+gH4A6A", "B2/S34H", "MAPFgFoF2gXgH5oF4B+gH4A6A"},
        {"mapFn5p6GnoloBp6JaAloBoAA==", "B24/S12H", "MAPFn5p6GnoloBp6JaAloBoAA"},
        {"MAPHmlphg", "B2/S013V", "MAPHmlphg"},
        {"MAPZpmZZg ", "B13/S13V", "MAPZpmZZg"},
        {"MAPHmlphg/2", "B2/S013V", "MAPHmlphg"},
        {"MAPHmlphg/4", "013/2/4V", "MAPHmlphg/4"},
        {"MAPFgFoF2gXgH5oF4B+gH4A6A==/256", "34/2/256H", "MAPFgFoF2gXgH5oF4B+gH4A6A/256"},
        {"MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH7oaIDogGiA6ICAAIAAaIDogIAAgACAAIAAAAAA"
         "AA/3",
         "23/3/3",
         "MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH7oaIDogGiA6ICAAIAAaIDogIAAgACAAIAAAAAA"
         "AA/3"}};
    static const char *const bad[] = {"MAPHmlph",      "MAPHmlphgg",   "MAPHmlphg/",  "MAPHmlphg/1",
                                      "MAPHmlphg/257", "MAPHmlphg/4V", "MAPHmlphg x", "MAP"};
    char normal[LIFE_RULE_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct life_family map, counts;
        works(life_family_parse(same[i].map, &map));
        works(life_family_parse(same[i].counts, &counts));
        assert_memory_equal(&map.table, &counts.table, sizeof map.table);
        assert_int_equal(map.states, counts.states);
        assert_int_equal(map.neighbourhood, counts.neighbourhood);
        works(life_rule_normal(same[i].map, normal));
        assert_string_equal(normal, same[i].normal);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails(EINVAL, life_rule_normal(bad[i], normal));
}

/* A table with a single bit, for each bit. As in Golly's help, the bit's number has the north-west
 * or the north cell as the most significant digit. */
static void expect_map_order(size_t digits, const int *place, int places)
{
    for (unsigned bit = 0; bit < 1u << places; bit++) {
        char text[32] = "MAP";
        struct life_family map;
        memset(text + 3, 'A', digits);
        text[3 + bit / 6] = "gQIECB"[bit % 6];
        works(life_family_parse(text, &map));
        for (unsigned block = 0; block < 512; block++) {
            unsigned number = 0;
            for (int i = 0; i < places; i++)
                number = number << 1 | (block >> place[i] & 1);
            if (life_table_next(&map.table, block) != (number == bit))
                fail_msg("%s has a wrong cell after block %u", text, block);
        }
    }
}

static void rule_maps_have_documented_order(void **state)
{
    /* In a block: 0 is north-west, 1 north, 2 north-east, 3 west and so on. */
    static const int hexagon[] = {0, 1, 3, 4, 5, 7, 8}, neumann[] = {1, 3, 4, 5, 7};
    (void)state;
    expect_map_order(22, hexagon, 7);
    expect_map_order(6, neumann, 5);
}

/* All letters of a count together are the count; each block belongs to one letter. */
static void rule_hensel_letters_partition_counts(void **state)
{
    (void)state;
    static const char *const letters[9] = {
        "", "ce", "ceaikn", "ceaiknjqry", "ceaiknjqrytwz", "ceaiknjqry", "ceaikn", "ce", ""};
    for (int count = 1; count < 8; count++) {
        struct life_table all = {{0}};
        char text[64];
        struct life_family f;
        for (const char *l = letters[count]; *l; l++) {
            snprintf(text, sizeof text, "B%d%c/S", count, *l);
            works(life_family_parse(text, &f));
            for (int i = 0; i < 8; i++) {
                assert_true((all.on[i] & f.table.on[i]) == 0);
                all.on[i] |= f.table.on[i];
            }
        }
        snprintf(text, sizeof text, "B%d/S", count);
        works(life_family_parse(text, &f));
        assert_memory_equal(&all, &f.table, sizeof all);
    }
}

/* Offsets of a hexagon's neighbours in turn, and the letter of a set of them by its definition: o,
 * all adjacent; p, none adjacent or, of four, the complement of such a pair; m, all others. */
static char hexagon_letter(unsigned ring, int count)
{
    int pairs = 0; /* adjacent neighbours that are both alive */
    for (int i = 0; i < 6; i++)
        pairs += (ring >> i & 1) && (ring >> (i + 1) % 6 & 1);
    if (pairs == count - 1)
        return 'o';
    const bool opposite = (ring & 9) == 9 || (ring & 18) == 18 || (ring & 36) == 36;
    return count == 2                                                     ? opposite ? 'p' : 'm'
           : count == 3                                                   ? pairs == 0 ? 'p' : 'm'
           : (~ring & 9) == 9 || (~ring & 18) == 18 || (~ring & 36) == 36 ? 'p'
                                                                          : 'm';
}

static void rule_hexagon_letters_match_definition(void **state)
{
    static const int place[6] = {0, 1, 5, 8, 7, 3}; /* of a block: north-west, north, east, ... */
    (void)state;
    for (int count = 2; count <= 4; count++)
        for (const char *letter = "omp"; *letter; letter++)
            for (int but = 0; but < 2; but++) {
                char text[32];
                struct life_family f;
                snprintf(text, sizeof text, "B%d%s%cH", count, but ? "-" : "", *letter);
                works(life_family_parse(text, &f));
                assert_int_equal(f.neighbourhood, LIFE_HEXAGON);
                for (unsigned block = 0; block < 512; block++) {
                    unsigned ring = 0;
                    for (int i = 0; i < 6; i++)
                        ring |= (block >> place[i] & 1) << i;
                    const bool want = !(block & 16) && __builtin_popcount(ring) == count &&
                                      (hexagon_letter(ring, count) == *letter) != but;
                    if (life_table_next(&f.table, block) != want)
                        fail_msg("%s: a wrong cell after block %u", text, block);
                }
            }
}

static void check_circuit(const struct life_table *t, int most)
{
    struct life_circuit c;
    life_circuit_find(t, &c);
    assert_in_range(c.steps, 1, most);
    for (unsigned block = 0; block < 512; block++)
        assert_int_equal(life_circuit_next(&c, block), life_table_next(t, block));
    static char text[LIFE_CIRCUIT_TEXT];
    life_circuit_text(&c, text);
    assert_non_null(strstr(text, "(next, "));
}

/* The tripod is north, west and south-east (LifeViewer, whose names are B1/S12HT and, as HROT,
 * R1,C2,S1-2,B1,N3). */
static void rule_tripod_matches_definition(void **state)
{
    enum { N = 24 };
    struct life_family tripod, sums;
    unsigned char cells[N * N], to[2][N * N];
    (void)state;
    works(life_family_parse("B1/S12HT", &tripod));
    works(life_family_parse("R1,C2,S1-2,B1,N3", &sums));
    for (unsigned block = 0; block < 512; block++) {
        const unsigned count = (block >> 1 & 1) + (block >> 3 & 1) + (block >> 8 & 1);
        assert_int_equal(life_table_next(&tripod.table, block),
                         count == 1 || (count == 2 && block >> 4 & 1));
    }
    for (size_t i = 0; i < N * N; i++)
        cells[i] = life_mix(i) & 1;
    life_ref_family_rows(&tripod, 0, LIFE_TORUS, N, N, 0, N, cells, to[0]);
    life_ref_family_rows(&sums, 0, LIFE_TORUS, N, N, 0, N, cells, to[1]);
    assert_memory_equal(to[0], to[1], sizeof to[0]);
    fails(EINVAL, life_family_parse("B4/S2HT", &tripod));
    fails(EINVAL, life_family_parse("B2o/S2HT", &tripod));
}

static void rule_circuits_are_right(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        int most;
    } rules[] = {{"B2-a/S12", 40}, {"B3/S23", 30},
                 {"B2/S34H", 20},  {"B2o3-m/S34mH", 40},
                 {"B2/S013V", 10}, {"B2ein3cijn4cnrwy5cnq6e/S1c2-ai3acny4anqy5c6ek8", 100}};
    struct life_family f;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        works(life_family_parse(rules[i].rule, &f));
        check_circuit(&f.table, rules[i].most);
    }
    static const uint64_t plain[] = {0, ~(uint64_t)0, 0xaaaaaaaaaaaaaaaa,
                                     ~(uint64_t)0xcccccccccccccccc};
    for (uint64_t i = 0; i < 12; i++) {
        struct life_table t;
        for (uint64_t j = 0; j < 8; j++)
            t.on[j] = i < 4 ? plain[i] : life_mix(8 * i + j);
        check_circuit(&t, 127);
    }
}

int main(int argc, char **argv)
{
    random_rules = argc > 1 ? atoi(argv[1]) : random_rules;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_reads_notations),
        cmocka_unit_test(rule_names_are_rules),
        cmocka_unit_test(rule_error_gives_reason),
        cmocka_unit_test(rule_suffix_gives_bounds),
        cmocka_unit_test(rule_isotropic_families_are_tables),
        cmocka_unit_test(rule_hensel_letters_partition_counts),
        cmocka_unit_test(rule_hexagon_letters_match_definition),
        cmocka_unit_test(rule_tripod_matches_definition),
        cmocka_unit_test(rule_maps_match_counts),
        cmocka_unit_test(rule_maps_have_documented_order),
        cmocka_unit_test(rule_circuits_are_right),
        cmocka_unit_test(rule_logic_is_right_and_short),
        cmocka_unit_test(rule_chain_is_right_for_all_neighbourhoods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
