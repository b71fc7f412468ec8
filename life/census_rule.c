/* census_rule.c - a generation of a box of cells in plain C, 64 cells at a time.
 *
 * For an outer-totalistic rule, the cells of each block are summed to a four-bit number in four
 * words; the next generation is the union of a few terms, one for each count that the rule names.
 * Other rules use the same circuit as the kernels, as data. Under Generations this is the next
 * generation of the live cells, and a binary counter lets dying cells age.
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"
#include "life/isa.h"

#include <errno.h>
#include <string.h>

struct row {
    uint64_t cell, left, right;
};

static struct row rule_row(size_t words, const uint64_t *box, size_t y, size_t i)
{
    struct row r = {0, 0, 0};
    if (y >= 64 * words) /* true of -1, too */
        return r;
    const uint64_t *word = box + y * words + i;
    r.cell = *word;
    r.left = r.cell << 1 | (i > 0 ? word[-1] >> 63 : 0);
    r.right = r.cell >> 1 | (i + 1 < words ? word[1] << 63 : 0);
    return r;
}

static uint64_t rule_majority(uint64_t a, uint64_t b, uint64_t c)
{
    return (a & b) | (c & (a ^ b));
}

static uint64_t rule_count_sums(const struct census_rule *rule, const struct row r[3])
{
    uint64_t s[3], m[3], next = 0;
    for (int i = 0; i < 3; i++) {
        s[i] = r[i].left ^ r[i].cell ^ r[i].right;
        m[i] = rule_majority(r[i].left, r[i].cell, r[i].right);
    }
    const uint64_t k = rule_majority(s[0], s[1], s[2]), p = m[0] ^ m[1] ^ m[2],
                   q = rule_majority(m[0], m[1], m[2]);
    const uint64_t bit[4] = {s[0] ^ s[1] ^ s[2], k ^ p, q ^ (k & p), q & k & p};
    for (int t = 0; t < rule->terms; t++) {
        uint64_t term = rule->term[t].alive ? r[1].cell : ~r[1].cell;
        for (int i = 0; i < 4; i++)
            term &= rule->term[t].total >> i & 1 ? bit[i] : ~bit[i];
        next |= term;
    }
    return next;
}

/* The next generation of an outer-totalistic rule. */
static void step_counts(const struct census_rule *rule, size_t words, const uint64_t *from,
                        uint64_t *to)
{
    for (size_t i = 0; i < words; i++) {
        struct row r[3] = {{0, 0, 0}, rule_row(words, from, 0, i), rule_row(words, from, 1, i)};
        for (size_t y = 0; y < 64 * words; y++) {
            const uint64_t any = r[0].left | r[0].cell | r[0].right | r[1].left | r[1].cell |
                                 r[1].right | r[2].left | r[2].cell | r[2].right;
            to[y * words + i] = any ? rule_count_sums(rule, r) : 0;
            r[0] = r[1];
            r[1] = r[2];
            r[2] = rule_row(words, from, y + 2, i);
        }
    }
}

/* The next generation by the rule's circuit, 64 words of a column at a time. */
static void step_circuit(const struct census_rule *rule, size_t words, const uint64_t *from,
                         uint64_t *to)
{
    enum { ROWS = CIRCUIT_BLOCK / sizeof(uint64_t) };
    uint64_t left[ROWS + 2], cell[ROWS + 2], right[ROWS + 2], next[ROWS];
    for (size_t i = 0; i < words; i++)
        for (size_t y = 0; y < 64 * words; y += ROWS) {
            for (size_t j = 0; j < ROWS + 2; j++) {
                const struct row r = rule_row(words, from, y + j - 1, i);
                left[j] = r.left;
                cell[j] = r.cell;
                right[j] = r.right;
            }
            rule->rows(&rule->code,
                       (const void *const[]){left, cell, right, left + 1, cell + 1, right + 1,
                                             left + 2, cell + 2, right + 2},
                       next, sizeof next);
            for (size_t j = 0; j < ROWS; j++)
                to[(y + j) * words + i] = next[j];
        }
}

/* Under Generations, let cells age, given the next live cells by the table in plane 0 of `to`. */
static void step_ages(const struct census_rule *rule, size_t size, const uint64_t *from,
                      uint64_t *to)
{
    for (size_t i = 0; i < size; i++) {
        const uint64_t dying = from[size + i], next = to[i] & ~dying, fresh = from[i] & ~next;
        uint64_t lasts = 0;
        for (size_t k = 2; k < rule->planes; k++)
            lasts |= from[k * size + i];
        uint64_t borrow = lasts;
        for (size_t k = 2; k < rule->planes; k++) {
            const uint64_t digit = from[k * size + i];
            to[k * size + i] = (digit ^ borrow) | ((rule->states - 3) >> (k - 2) & 1 ? fresh : 0);
            borrow &= ~digit;
        }
        to[i] = next;
        to[size + i] = lasts | fresh;
    }
}

void census_step(const struct census_rule *rule, size_t words, const uint64_t *from, uint64_t *to)
{
    if (rule->rows)
        step_circuit(rule, words, from, to);
    else
        step_counts(rule, words, from, to);
    if (rule->planes > 1)
        step_ages(rule, 64 * words * words, from, to);
}

void census_set_state(const struct census_rule *rule, size_t words, uint64_t *box, size_t x,
                      size_t y, unsigned state)
{
    const size_t size = 64 * words * words, i = y * words + x / 64;
    const uint64_t bit = (uint64_t)1 << x % 64;
    if (state)
        box[(state > 1) * size + i] |= bit;
    for (size_t k = 2; k < rule->planes && state > 1; k++)
        box[k * size + i] |= (rule->states - state - 1) >> (k - 2) & 1 ? bit : 0;
}

bool census_bounds(size_t planes, size_t words, const uint64_t *box, struct census_rectangle *r)
{
    bool any = false;
    for (int y = 0; y < 64 * (int)words; y++)
        for (int i = 0; i < (int)words; i++) {
            const uint64_t w = census_word(planes, words, box, (size_t)y * words + (size_t)i);
            if (!w)
                continue;
            const int left = 64 * i + __builtin_ctzll(w), right = 64 * i + 64 - __builtin_clzll(w);
            r->top = any ? r->top : y;
            r->left = any && r->left < left ? r->left : left;
            r->right = any && r->right > right ? r->right : right;
            r->bottom = y + 1;
            any = true;
        }
    return any;
}

/* ---- Symmetries. ----------------------------------------------------------------------------- */

/* Cells of a block on which the next state depends, bit 3 y + x each. */
static unsigned table_uses(const struct life_table *table)
{
    unsigned used = 0;
    for (unsigned block = 0; block < 512; block++)
        for (int i = 0; i < 9; i++)
            used |=
                (unsigned)(life_table_next(table, block) != life_table_next(table, block ^ 1u << i))
                << i;
    return used;
}

/* Move the used cells of a block; 512 if one leaves the block. */
static unsigned move_block(unsigned block, struct census_way w)
{
    unsigned moved = 0;
    for (; block; block &= block - 1) {
        const int i = __builtin_ctz(block), x = i % 3 - 1, y = i / 3 - 1, u = w.xx * x + w.xy * y,
                  v = w.yx * x + w.yy * y;
        if (u < -1 || u > 1 || v < -1 || v > 1)
            return 512;
        moved |= 1u << (3 * (v + 1) + u + 1);
    }
    return moved;
}

static bool table_is_symmetric(const struct life_table *table, unsigned used, struct census_way w)
{
    for (unsigned block = 0; block < 512; block++) {
        const unsigned moved = move_block(block & used, w);
        if (moved > 511 || life_table_next(table, block) != life_table_next(table, moved))
            return false;
    }
    return true;
}

/* Add the matrices under which the rule is symmetric: rotations and reflections of the square, or
 * shears. */
static void add_ways(struct census_rule *rule, unsigned used, bool shears)
{
    for (int i = 0; i < 81; i++) {
        const struct census_way w = {(signed char)(i % 3 - 1), (signed char)(i / 3 % 3 - 1),
                                     (signed char)(i / 9 % 3 - 1), (signed char)(i / 27 - 1)};
        const int determinant = w.xx * w.yy - w.xy * w.yx;
        const bool square = w.xx * w.xy == 0 && w.yx * w.yy == 0;
        if (square != shears && (determinant == 1 || determinant == -1) &&
            table_is_symmetric(&rule->family.table, used, w))
            rule->way[rule->ways++] = w;
    }
}

void census_rule_ways(struct census_rule *rule)
{
    const unsigned used = table_uses(&rule->family.table);
    rule->ways = 0;
    add_ways(rule, used, false);
    if (rule->ways < 8)
        add_ways(rule, used, true);
}

/* ---- The rule. ------------------------------------------------------------------------------- */

/* True if a glider goes through the same phases as in B3/S23. */
static bool has_gliders(const struct census_rule *rule)
{
    static const uint64_t form[5][4] = {
        {2, 4, 7, 0}, {0, 5, 6, 2}, {0, 4, 5, 6}, {0, 2, 12, 6}, {0, 4, 8, 14}};
    uint64_t now[CENSUS_PATCH] = {0}, next[CENSUS_PATCH];
    for (int i = 0; i < 4; i++)
        now[30 + i] = form[0][i] << 30;
    for (int g = 1; g <= 4; g++) {
        census_step(rule, 1, now, next);
        memcpy(now, next, sizeof now);
        for (int y = 0; y < CENSUS_PATCH; y++)
            if (now[y] != (y >= 30 && y < 34 ? form[g][y - 30] << 30 : 0))
                return false;
    }
    return true;
}

int census_rule_make(struct census_rule *rule, const char *text)
{
    *rule = (struct census_rule){.terms = 0};
    if (life_family_parse(text, &rule->family) < 0)
        return -1;
    if (rule->family.row->form != LIFE_FORM_TABLE)
        return clerror_set(EINVAL,
                           "life: a census needs a rule of two states on the nearest neighbours, "
                           "or of Generations; '%s' is %s",
                           text, rule->family.row->kind);
    if (rule->family.b0)
        return clerror_set(
            EINVAL, "life: a census of '%s' is not possible: B0 turns empty space alive", text);
    for (unsigned n = 0; n <= 8; n++)
        for (int alive = 0; alive < 2; alive++)
            if ((alive ? rule->family.rule.survival : rule->family.rule.birth) >> n & 1) {
                rule->term[rule->terms].total = (unsigned char)(n + (unsigned)alive);
                rule->term[rule->terms++].alive = alive;
            }
    if (!rule->family.counts) {
        life_circuit_find(&rule->family.table, &rule->circuit);
        circuit_code_make(&rule->circuit, &rule->code);
        rule->rows = life_isa(0)->circuit_rows;
    }
    rule->states = rule->family.states;
    rule->planes = rule->states > 2 ? 2 : 1;
    for (unsigned left = rule->states > 2 ? rule->states - 3 : 0; left; left >>= 1)
        rule->planes++;
    rule->gliders = rule->planes == 1 && has_gliders(rule);
    census_rule_ways(rule);
    return 0;
}
