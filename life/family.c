/* family.c - rules given by any function of a cell and its eight neighbours, as a table.
 *
 *   B2-a/S12        isotropic: letters after a count name placements of the neighbours, up to
 *                   rotation and reflection; -a: all placements except a (A. Hensel's notation,
 *                   conwaylife.com/wiki/Isotropic_non-totalistic_rule)
 *   B2/S34H         the six neighbours of a hexagon: all but north-east and south-west
 *   B2/S013V        von Neumann's four: north, west, east, south
 *   W110            S. Wolfram's elementary rules, even numbers: a row computes the next row below
 *                   it, and live cells stay
 *   MAP...          all 512 bits in base 64, as in Golly
 *   345/2/4         Generations: survival, birth, number of states; B2/S345/C4 is equivalent, and
 *                   H or V may follow
 *
 * Bits of a block: 0 north-west, 1 north, 2 north-east, 3 west, 4 the cell, 5 east, 6 south-west,
 * 7 south, 8 south-east.
 * SPDX-License-Identifier: MIT
 */
#include "life/family.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { BLOCKS = 512, CELL = 1 << 4, MOORE = 0x1ef, HEXAGON = 0x1ab, NEUMANN = 0xaa };

/* For each number of neighbours, its letters and one placement for each letter; above four, the
 * dead neighbours have the placement of 8 - count. */
static const char *const letters[5] = {"", "ce", "ceaikn", "ceaiknjqry", "ceaiknjqrytwz"};
static const unsigned short places[5][13] = {
    {0},
    {1, 2},
    {5, 10, 3, 40, 33, 68},
    {69, 42, 11, 7, 98, 13, 14, 70, 41, 97},
    {325, 170, 15, 45, 99, 71, 106, 102, 43, 101, 105, 78, 108}};

static unsigned block_turned(unsigned block)
{
    static const unsigned char to[9] = {2, 5, 8, 1, 4, 7, 0, 3, 6};
    unsigned out = 0;
    for (int i = 0; i < 9; i++)
        out |= (block >> i & 1) << to[i];
    return out;
}

static unsigned mirrored(unsigned block)
{
    static const unsigned char to[9] = {2, 1, 0, 5, 4, 3, 8, 7, 6};
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

/* Set a letter's placements in all rotations and reflections. */
static void set_letter(struct life_table *t, unsigned cell, unsigned count, int letter, bool on)
{
    const unsigned place = places[count <= 4 ? count : 8 - count][letter];
    unsigned block = (count <= 4 ? place : MOORE ^ place) | cell;
    for (int i = 0; i < 8; i++) {
        table_set(t, block, on);
        block = i == 3 ? mirrored(block_turned(block)) : block_turned(block);
    }
}

static void set_count(struct life_table *t, unsigned cell, unsigned neighbours, unsigned count)
{
    for (unsigned block = 0; block < BLOCKS; block++)
        if ((block & CELL) == cell && (unsigned)__builtin_popcount(block & neighbours) == count)
            table_set(t, block, true);
}

static int family_refuse(const char *text, const char *why)
{
    return clerror_set(EINVAL, "'%.100s' is not a rule this engine knows: %s", text, why);
}

/* Read the counts of B or S with their letters, from *p on. */
static int family_read_part(const char *text, const char **p, struct life_table *t, unsigned cell,
                            unsigned neighbours)
{
    const unsigned most = (unsigned)__builtin_popcount(neighbours);
    while (isdigit((unsigned char)**p)) {
        const unsigned count = (unsigned)(*(*p)++ - '0');
        if (count > most)
            return family_refuse(
                text, most == 8 ? "a cell has 8 neighbours, so counts go from 0 to 8"
                      : most == 6
                          ? "a cell has 6 neighbours of a hexagon, so counts go from 0 to 6"
                          : "a cell has 4 neighbours of von Neumann, so counts go from 0 to 4");
        const bool but = **p == '-';
        *p += but;
        const char *known = letters[count <= 4 ? count : 8 - count];
        if (but || !islower((unsigned char)**p))
            set_count(t, cell, neighbours, count);
        if (but && !islower((unsigned char)**p))
            return family_refuse(text, "after a minus there should be letters");
        for (; islower((unsigned char)**p); ++*p) {
            const char *letter = strchr(known, **p);
            if (most != 8)
                return family_refuse(
                    text,
                    "letters after a count are for all eight neighbours, not for a hexagon's or von Neumann's");
            if (!letter)
                return family_refuse(
                    text,
                    "there is a letter that its count does not have, as in B2-a/S12, where 2 may have c e a i k n");
            set_letter(t, cell, count, (int)(letter - known), !but);
        }
    }
    return 0;
}

/* Normalize: remove blanks; B, S, H and V in upper case, all other letters in lower case; _
 * becomes /. */
static bool tidy(const char *text, char *out, size_t size)
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

/* Read B.../S..., S.../B..., one of them, or survival/birth, optionally followed by H or V. Return
 * 1 if the text is none of these. */
static int read_parts(const char *text, struct life_table *t, char normal[LIFE_RULE_TEXT])
{
    char copy[LIFE_RULE_TEXT - 4];
    if (!tidy(text, copy, sizeof copy) ||
        strspn(copy, "0123456789-aceijknqrtwyzBSHV/") != strlen(copy) || !copy[0])
        return 1;
    char *last = copy + strlen(copy) - 1;
    const unsigned neighbours = *last == 'H' ? HEXAGON : *last == 'V' ? NEUMANN : MOORE;
    char suffix[2] = {neighbours != MOORE ? *last : '\0', '\0'}, *slash = strchr(copy, '/');
    *last = suffix[0] ? '\0' : *last;
    const char *first = copy, *second = slash ? slash + 1
                                        : *copy == 'B' || *copy == 'S'
                                            ? copy + 1 + strcspn(copy + 1, "BS")
                                            : NULL;
    if (!second || (slash && strchr(second, '/')) ||
        (*first == *second && (*first == 'B' || *first == 'S')))
        return family_refuse(
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
            return family_refuse(
                text,
                "write B, the counts that give birth, /S, and the counts that survive, as in B2-a/S12");
    }
    const int b = !birth_first, s = birth_first;
    const int length = snprintf(normal, LIFE_RULE_TEXT, "B%.*s/S%.*s%s", (int)(end[b] - part[b]),
                                part[b], (int)(end[s] - part[s]), part[s], suffix);
    return length >= (int)sizeof copy; /* too long to be read again */
}

/* Read MAP and 86 characters of base 64: 512 bits. The first bit is the empty block's; the north-
 * west cell is the most significant digit of a block's number. */
static int read_map(const char *text, struct life_table *t, char normal[LIFE_RULE_TEXT])
{
    static const char base[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { DIGITS = (BLOCKS + 5) / 6 };
    if (strncmp(text, "MAP", 3) != 0)
        return 1;
    for (unsigned bit = 0; bit < BLOCKS; bit++) {
        const char *digit = text[3 + bit / 6] ? strchr(base, text[3 + bit / 6]) : NULL;
        unsigned block = 0;
        if (!digit)
            return family_refuse(
                text,
                "after MAP there should be 86 characters of base 64, for all eight neighbours");
        for (int i = 0; i < 9; i++)
            block |= (bit >> i & 1) << (8 - i);
        table_set(t, block, (digit - base) >> (5 - bit % 6) & 1);
    }
    const char *rest = text + 3 + DIGITS;
    if (rest[strspn(rest, "= \t")])
        return family_refuse(
            text, "after MAP there should be 86 characters of base 64, for all eight neighbours");
    snprintf(normal, LIFE_RULE_TEXT, "%.*s", 3 + DIGITS, text);
    return 0;
}

/* Read W and an even number below 256: bit 4 l + 2 m + r is 1 if a cell is born below these three.
 * Return 1 if the text is no such rule. */
static int read_wolfram(const char *text, struct life_table *t, char normal[LIFE_RULE_TEXT])
{
    unsigned rule = 0;
    const char *p = text + 1;
    if (toupper((unsigned char)*text) != 'W' || !isdigit((unsigned char)*p))
        return 1;
    for (; isdigit((unsigned char)*p) && rule < 1000; p++)
        rule = 10 * rule + (unsigned)(*p - '0');
    if (*p || rule > 254 || rule % 2)
        return family_refuse(text, "of Wolfram's rules there are the even numbers, W0 to W254");
    for (unsigned block = 0; block < BLOCKS; block++)
        table_set(t, block,
                  (block & CELL) ||
                      rule >> ((block & 1) << 2 | (block & 2) | (block >> 2 & 1)) & 1);
    snprintf(normal, LIFE_RULE_TEXT, "W%u", rule);
    return 0;
}

static int parse_two_states(const char *text, struct life_family *family)
{
    struct life_family f = {.counts = true, .states = 2};
    if (life_rule_parse(text, &f.rule) == 0) {
        life_rule_string(&f.rule, f.text);
        for (unsigned count = 0; count <= 8; count++) {
            if (f.rule.birth >> count & 1)
                set_count(&f.table, 0, MOORE, count);
            if (f.rule.survival >> count & 1)
                set_count(&f.table, CELL, MOORE, count);
        }
        *family = f;
        return 0;
    }
    f = (struct life_family){.counts = false, .states = 2};
    int status = read_map(text, &f.table, f.text);
    if (status == 1)
        status = read_wolfram(text, &f.table, f.text);
    if (status == 1)
        status = read_parts(text, &f.table, f.text);
    if (status != 0)
        return -1; /* life_rule_parse has refused the text */
    struct life_rule counts;
    if (life_rule_parse(f.text, &counts) == 0) /* such as 3_23, now normalized */
        return parse_two_states(f.text, family);
    *family = f;
    return 0;
}

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
    const char *first = tidy(text, copy, sizeof copy) ? strchr(copy, '/') : NULL,
               *second = first ? strchr(first + 1, '/') : NULL;
    if (!second || strncmp(text, "MAP", 3) == 0)
        return 1;
    const char *p = second + 1;
    unsigned n = 0;
    p += *p == 'c' || *p == 'g';
    if (!isdigit((unsigned char)*p))
        return family_refuse(
            text, "after the second slash there should be the number of states, as in 345/2/4");
    for (; isdigit((unsigned char)*p) && n < 1000; p++)
        n = 10 * n + (unsigned)(*p - '0');
    if (n < 2 || n > 256)
        return family_refuse(text, "a rule has from 2 to 256 states");
    if (*p && strcmp(p, "H") != 0 && strcmp(p, "V") != 0)
        return family_refuse(text,
                             "after the number of states there may be only H or V, as in 013/2/4V");
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
    char *last = text + strlen(text) - 1;
    const char suffix[2] = {!f->counts && strchr("HV", *last) ? *last : '\0', '\0'};
    if (suffix[0])
        *last = '\0';
    char *slash = strchr(text, '/');
    *slash = '\0';
    const int length =
        snprintf(f->text, sizeof f->text, "%s/%s/%u%s", slash + 2, text + 1, f->states, suffix);
    return length < LIFE_RULE_TEXT - 4
               ? 0
               : family_refuse(given, "it is too long; write each count and each letter once");
}

int life_family_parse(const char *text, struct life_family *family)
{
    char head[LIFE_RULE_TEXT];
    unsigned states = 2;
    const int large = life_large_parse(text, family);
    if (large <= 0)
        return large;
    const int status = split_states(text, head, &states);
    if (status < 0 || parse_two_states(status == 0 ? head : text, family) < 0)
        return -1;
    family->states = states;
    return states > 2 ? family_write_states(text, family) : 0;
}

int life_family_take(const char *text, const struct life_transitions *transitions,
                     struct life_family *family)
{
    if (!transitions)
        return life_family_parse(text ? text : "B3/S23", family);
    if (text)
        return clerror_set(EINVAL, "the rule %s is of a file, so '%.60s' cannot be the rule, too",
                           life_transitions_name(transitions), text);
    *family = (struct life_family){.states = life_transitions_states(transitions),
                                   .transitions = transitions};
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
