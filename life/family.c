/* family.c - rules given by any function of a cell and its eight neighbours, as a table.
 *
 *   B2-a/S12        isotropic: letters after a count name placements of the neighbours, up to
 *                   rotation and reflection; -a: all placements except a (A. Hensel's notation,
 *                   conwaylife.com/wiki/Isotropic_non-totalistic_rule)
 *   B2/S34H         the six neighbours of a hexagon: all but north-east and south-west
 *   B2o/S2m34H      isotropic on hexagons (LifeViewer): of 2, 3 or 4 neighbours o are adjacent, p
 *                   are two opposite, three apart or all but two opposite, m are all others
 *   B1/S2HT         the tripod of a hexagon: north, west and south-east (LifeViewer)
 *   B2/S013V        von Neumann's four: north, west, east, south
 *   W110            S. Wolfram's elementary rules, even numbers: a row computes the next row below
 *                   it, and live cells stay
 *   MAP...          all 512 bits in base 64, as in Golly; 128 bits for the hexagon, 32 for von
 *                   Neumann's four neighbours
 *
 * Bits of a block: 0 north-west, 1 north, 2 north-east, 3 west, 4 the cell, 5 east, 6 south-west,
 * 7 south, 8 south-east.
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"
#include "life/logic.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    BLOCKS = 512,
    CELL = 1 << 4,
    MOORE = LIFE_MOORE,
    HEXAGON = LIFE_HEXAGON,
    TRIPOD = LIFE_TRIPOD,
    NEUMANN = LIFE_NEUMANN
};

/* Placements of neighbours up to rotation and reflection. For each number of neighbours up to half
 * of them, its letters and one placement for each letter; above half, the dead neighbours have the
 * placement of neighbours - count. */
static const struct placements {
    unsigned neighbours;
    int turns;                            /* rotations of the neighbourhood */
    unsigned char turned[9], mirrored[9]; /* new place of each cell of a block */
    const char *letters[5];
    unsigned short place[5][13];
} moore = {MOORE,
           4,
           {2, 5, 8, 1, 4, 7, 0, 3, 6},
           {2, 1, 0, 5, 4, 3, 8, 7, 6},
           {"", "ce", "ceaikn", "ceaiknjqry", "ceaiknjqrytwz"},
           {{0},
            {1, 2},
            {5, 10, 3, 40, 33, 68},
            {69, 42, 11, 7, 98, 13, 14, 70, 41, 97},
            {325, 170, 15, 45, 99, 71, 106, 102, 43, 101, 105, 78, 108}}},
  hexagon = {HEXAGON,
             6,
             {1, 5, 2, 0, 4, 8, 6, 3, 7},
             {0, 3, 6, 1, 4, 7, 2, 5, 8},
             {"", "", "omp", "omp", ""},
             {{0}, {0}, {0x003, 0x021, 0x101}, {0x023, 0x103, 0x0a1}, {0}}};

static const char BASE_64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Move each cell of a block to its new place. */
static unsigned block_moved(unsigned block, const unsigned char to[9])
{
    unsigned out = 0;
    for (int i = 0; i < 9; i++)
        out |= (block >> i & 1) << to[i];
    return out;
}

static void table_set(struct life_table *t, unsigned block, bool on)
{
    t->on[block / 64] = (t->on[block / 64] & ~((uint64_t)1 << block % 64)) | (uint64_t)on
                                                                                 << block % 64;
}

/* The letters of `count` neighbours. rest: `count`, or the number of dead neighbours if fewer. */
static const char *letters_of(const struct placements *p, unsigned count, unsigned *rest)
{
    const unsigned most = (unsigned)__builtin_popcount(p->neighbours);
    *rest = count <= most / 2 ? count : most - count;
    return p->letters[*rest];
}

/* Set a block, whatever its cells outside the neighbourhood. */
static void set_everywhere(struct life_table *t, unsigned neighbours, unsigned block, bool on)
{
    const unsigned outside = MOORE & ~neighbours;
    unsigned others = outside;
    for (; others; others = (others - 1) & outside)
        table_set(t, block | others, on);
    table_set(t, block, on);
}

/* Set a letter's placements in all rotations and reflections. */
static void set_letter(struct life_table *t, const struct placements *p, unsigned cell,
                       unsigned count, int letter, bool on)
{
    unsigned rest;
    letters_of(p, count, &rest);
    const unsigned place = p->place[rest][letter];
    unsigned block = (rest == count ? place : p->neighbours ^ place) | cell;
    for (int i = 0; i < 2 * p->turns; i++) {
        set_everywhere(t, p->neighbours, block, on);
        block = block_moved(block, p->turned);
        if (i == p->turns - 1)
            block = block_moved(block, p->mirrored);
    }
}

static void set_count(struct life_table *t, unsigned cell, unsigned neighbours, unsigned count)
{
    for (unsigned block = 0; block < BLOCKS; block++)
        if ((block & CELL) == cell && (unsigned)__builtin_popcount(block & neighbours) == count)
            table_set(t, block, true);
}

int life_family_refuse(const char *text, const char *why)
{
    return clerror_set(EINVAL, "'%.100s' is not a rule this engine knows: %s", text, why);
}

bool life_family_tidy(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text; text++) {
        const char c = (char)tolower((unsigned char)*text);
        if (isspace((unsigned char)c))
            continue;
        if (n + 1 >= size)
            return false;
        out[n++] = (char)(c == '_' ? '/' : strchr("bshv", c) ? toupper((unsigned char)c) : c);
    }
    out[n] = 0;
    return true;
}

/* Read the letters after a count; von Neumann's neighbours and the tripod have none. `but`: set all
 * placements except theirs. */
static int read_letters(const char *text, const char **p, struct life_table *t, unsigned cell,
                        unsigned neighbours, unsigned count, bool but)
{
    const struct placements *placements = neighbours == MOORE     ? &moore
                                          : neighbours == HEXAGON ? &hexagon
                                                                  : NULL;
    if (!placements)
        return life_family_refuse(text,
                                  "letters after a count are for the eight neighbours and for "
                                  "a hexagon's six, not for a tripod's three or von Neumann's "
                                  "four");
    unsigned rest;
    const char *known = letters_of(placements, count, &rest);
    for (; islower((unsigned char)**p); ++*p) {
        const char *letter = strchr(known, **p);
        if (!letter)
            return life_family_refuse(
                text,
                neighbours == HEXAGON
                    ? "a hexagon's neighbours have letters for 2, 3 and 4 only, o, m or p, as "
                      "in B2o/S2m34H"
                    : "there is a letter that its count does not have, as in B2-a/S12, where "
                      "2 may have c e a i k n");
        set_letter(t, placements, cell, count, (int)(letter - known), !but);
    }
    return 0;
}

/* Read the counts of B or S with their letters, from *p on. */
static int family_read_part(const char *text, const char **p, struct life_table *t, unsigned cell,
                            unsigned neighbours)
{
    const unsigned most = (unsigned)__builtin_popcount(neighbours);
    while (isdigit((unsigned char)**p)) {
        const unsigned count = (unsigned)(*(*p)++ - '0');
        if (count > most)
            return life_family_refuse(
                text, most == 8   ? "a cell has 8 neighbours, so counts go from 0 to 8"
                      : most == 6 ? "a cell has 6 neighbours of a hexagon, so counts go from 0 to 6"
                      : most == 3
                          ? "a cell has 3 neighbours of a tripod, so counts go from 0 to 3"
                          : "a cell has 4 neighbours of von Neumann, so counts go from 0 to 4");
        const bool but = **p == '-';
        *p += but;
        const bool any = islower((unsigned char)**p);
        if (but && !any)
            return life_family_refuse(text, "after a minus there should be letters");
        if (but || !any)
            set_count(t, cell, neighbours, count);
        if (any && read_letters(text, p, t, cell, neighbours, count, but) < 0)
            return -1;
    }
    return 0;
}

/* Cut off the name of the neighbourhood at the end of a tidy rule; *suffix receives it. */
static unsigned take_neighbourhood(char *rule, const char **suffix)
{
    static const struct {
        const char *end, *suffix;
        unsigned cells;
    } named[] = {{"Ht", "HT", TRIPOD}, {"H", "H", HEXAGON}, {"V", "V", NEUMANN}, {"", "", MOORE}};
    const size_t length = strlen(rule);
    size_t i = 0;
    while (length < strlen(named[i].end) ||
           strcmp(rule + length - strlen(named[i].end), named[i].end) != 0)
        i++;
    rule[length - strlen(named[i].end)] = '\0';
    *suffix = named[i].suffix;
    return named[i].cells;
}

/* Read B.../S..., S.../B..., one of them, or survival/birth, optionally followed by H, HT or V.
 * Return 1 if the text is none of these. */
static int read_parts(const char *text, struct life_table *t, unsigned *neighbourhood,
                      char normal[LIFE_RULE_TEXT])
{
    char copy[LIFE_RULE_TEXT - 4];
    if (!life_family_tidy(text, copy, sizeof copy) ||
        strspn(copy, "0123456789-aceijkmnopqrtwyzBSHV/") != strlen(copy) || !copy[0])
        return 1;
    const char *suffix;
    const unsigned neighbours = take_neighbourhood(copy, &suffix);
    char *slash = strchr(copy, '/');
    const char *first = copy, *second = slash ? slash + 1
                                        : *copy == 'B' || *copy == 'S'
                                            ? copy + 1 + strcspn(copy + 1, "BS")
                                            : NULL;
    if (!second || (slash && strchr(second, '/')) ||
        (*first == *second && (*first == 'B' || *first == 'S')))
        return life_family_refuse(
            text,
            "write B, the counts that give birth, /S, and the counts that survive, as in B2-a/S12");
    const bool named = *first == 'B' || *first == 'S',
               birth_first = *first == 'B' || *second == 'S';
    const char *part[2] = {first + named, second + (*second == 'B' || *second == 'S')}, *end[2];
    for (int i = 0; i < 2; i++) {
        const char *p = part[i];
        if (family_read_part(text, &p, t, (i == 0) == birth_first ? 0 : CELL, neighbours) < 0)
            return -1;
        end[i] = p;
        if (*p && !(i == 0 && (p == slash || p == second)))
            return life_family_refuse(
                text,
                "write B, the counts that give birth, /S, and the counts that survive, as in B2-a/S12");
    }
    const int b = !birth_first, s = birth_first;
    const int length = snprintf(normal, LIFE_RULE_TEXT, "B%.*s/S%.*s%s", (int)(end[b] - part[b]),
                                part[b], (int)(end[s] - part[s]), part[s], suffix);
    *neighbourhood = neighbours;
    return length >= (int)sizeof copy; /* too long to be read again */
}

/* Number of characters of base 64 after MAP that `text` begins with, 86, 22 or 6; 0: neither. */
static size_t map_digits(const char *text)
{
    const size_t n = strspn(text, BASE_64);
    static const size_t known[] = {86, 22, 6};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n == known[i] || (n > known[i] && text[known[i]] == '/'))
            return known[i];
    return 0;
}

/* Set the table from the digits: a bit for each block of the cell and its neighbours, first the
 * empty block's. A block's number has the north-west cell as the most significant digit. */
static void map_table(const char *digits, unsigned cells, struct life_table *table)
{
    for (unsigned block = 0; block < BLOCKS; block++) {
        unsigned bit = 0;
        for (int i = 0; i < 9; i++)
            if (cells >> i & 1)
                bit = 2 * bit + (block >> i & 1);
        const long digit = strchr(BASE_64, digits[bit / 6]) - BASE_64;
        table_set(table, block, digit >> (5 - bit % 6) & 1);
    }
}

int life_map_parse(const char *text, struct life_family *rule, const char **rest)
{
    if (strncasecmp(text, "MAP", 3) != 0)
        return 1;
    const char *digits = text + 3;
    const size_t n = map_digits(digits);
    if (!n)
        return life_family_refuse(text,
                                  "after MAP there should be 86 characters of base 64, 22 for a "
                                  "hexagon or 6 for von Neumann's neighbours");
    rule->neighbourhood = n == 86 ? MOORE : n == 22 ? HEXAGON : NEUMANN;
    map_table(digits, rule->neighbourhood | CELL, &rule->table);
    snprintf(rule->text, LIFE_RULE_TEXT, "MAP%.*s", (int)n, digits);
    *rest = digits + n + strspn(digits + n, "=");
    return 0;
}

/* Read MAP and its digits: 512, 128 or 32 bits. */
static int map_parse(const char *text, struct life_family *rule)
{
    const char *rest;
    const int status = life_map_parse(text, rule, &rest);
    if (status == 0 && rest[strspn(rest, " \t")])
        return life_family_refuse(
            text, "after the characters of MAP there may be only a slash and the number of states");
    return status;
}

/* Read W and an even number below 256: bit 4 l + 2 m + r is 1 if a cell is born below these three.
 * Return 1 if the text is no such rule. */
static int wolfram_parse(const char *text, struct life_family *rule)
{
    unsigned number = 0;
    const char *p = text + 1;
    if (toupper((unsigned char)*text) != 'W' || !isdigit((unsigned char)*p))
        return 1;
    for (; isdigit((unsigned char)*p) && number < 1000; p++)
        number = 10 * number + (unsigned)(*p - '0');
    if (*p || number > 254 || number % 2)
        return life_family_refuse(text,
                                  "of Wolfram's rules there are the even numbers, W0 to W254");
    for (unsigned block = 0; block < BLOCKS; block++)
        table_set(&rule->table, block,
                  (block & CELL) ||
                      number >> ((block & 1) << 2 | (block & 2) | (block >> 2 & 1)) & 1);
    snprintf(rule->text, LIFE_RULE_TEXT, "W%u", number);
    return 0;
}

/* An outer-totalistic rule (rule.c). */
static int counts_parse(const char *text, struct life_family *rule)
{
    if (life_rule_parse(text, &rule->rule) < 0)
        return 1;
    rule->counts = true;
    life_rule_string(&rule->rule, rule->text);
    for (unsigned count = 0; count <= 8; count++) {
        if (rule->rule.birth >> count & 1)
            set_count(&rule->table, 0, MOORE, count);
        if (rule->rule.survival >> count & 1)
            set_count(&rule->table, CELL, MOORE, count);
    }
    return 0;
}

static int placed_parse(const char *text, struct life_family *rule)
{
    struct life_rule counts;
    const int status = read_parts(text, &rule->table, &rule->neighbourhood, rule->text);
    if (status != 0 || life_rule_parse(rule->text, &counts) < 0)
        return status;
    rule->table = (struct life_table){{0}};
    return counts_parse(rule->text, rule); /* such as 3_23, now normalized */
}

int life_table_parse(const char *text, struct life_family *rule)
{
    static int (*const parse[])(const char *text, struct life_family *rule) = {
        counts_parse, map_parse, wolfram_parse, placed_parse};
    int status = 1;
    for (size_t i = 0; i < sizeof parse / sizeof *parse && status > 0; i++) {
        rule->table = (struct life_table){{0}};
        rule->neighbourhood = MOORE;
        status = parse[i](text, rule);
    }
    return status;
}

const struct life_family_row life_table_family = {.kind = "",
                                                  .form = LIFE_FORM_TABLE,
                                                  .bounds = LIFE_ON_ANY,
                                                  .parse = life_table_parse,
                                                  .next = life_table_state,
                                                  .bytes = &life_table_bytes};

/* ---- Tables. --------------------------------------------------------------------------------- */

unsigned char life_table_state(const struct life_family *rule, const unsigned char block[9])
{
    unsigned live = 0;
    for (int i = 0; i < 9; i++)
        live |= (unsigned)(block[i] == 1) << i;
    return life_next_state(rule, block[4], life_table_next(&rule->table, live));
}

void life_family_macros(const struct life_family *rule, bool ternary, char text[LIFE_FAMILY_MACROS])
{
    struct life_circuit circuit;
    if (rule->counts) {
        life_rule_macros(&rule->rule, ternary, text);
        return;
    }
    life_circuit_find(&rule->table, &circuit);
    life_circuit_text(&circuit, text);
}

struct life_family life_family_half(const struct life_family *rule, bool odd)
{
    struct life_family half = *rule;
    if (rule->row->form != LIFE_FORM_PAIR)
        return half;
    half.row = &life_table_family;
    half.table = odd ? rule->odd : rule->table;
    half.b0 = life_table_next(&half.table, 0);
    return half;
}
