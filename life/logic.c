/* logic.c - turns a rule into a short circuit of three-input logic operations.
 *
 * Bit-sliced Life adds the nine cells of a block in 6 such operations (see logic.h); the rest is a
 * function of five bits, the rule. NVIDIA's lop3 and AVX-512's vpternlog compute any function of
 * three bits in one instruction, so this file searches for circuits of such operations; pairs.c
 * searches for circuits without them. First all circuits of one, two and three steps are tried,
 * then the function is split at one of its bits. B3/S23 takes three steps, so a generation costs 2
 * (row sums) + 4 + 3 = 9 operations for a whole word of cells. A circuit for 4 + 3 together takes
 * six: see whole.c.
 *
 * Functions are truth tables: bit i is the value for b = i & 1, k = i >> 1 & 1, p = i >> 2 & 1, q
 * = i >> 3 & 1, cell = i >> 4 & 1.
 * SPDX-License-Identifier: MIT
 */
#include "life/logic.h"

#include <string.h>

/* The function to compute: `value`, wherever `care` is 1. */
struct target {
    uint32_t value, care;
};

/* The circuit under construction: truth tables of its variables, inputs first. */
struct chain {
    uint32_t var[LIFE_INPUTS + LIFE_STEPS_MAX];
    struct life_logic logic;
};

static const uint32_t inputs[LIFE_INPUTS] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00,
                                             0xffff0000};

void life_logic_target(const struct life_rule *rule, uint32_t *value, uint32_t *care)
{
    *value = *care = 0;
    for (unsigned i = 0; i < 32; i++) {
        unsigned alive = (i & 1) + 2 * (i >> 1 & 1) + 2 * (i >> 2 & 1) + 4 * (i >> 3 & 1);
        unsigned cell = i >> 4;
        if (alive < cell || alive - cell > 8)
            continue; /* a live cell is in its own block; a dead cell leaves at most 8 */
        *care |= 1u << i;
        if ((cell ? rule->survival : rule->birth) >> (alive - cell) & 1)
            *value |= 1u << i;
    }
}

/* Truth-table places at which inputs a, b, c have the three bits of m. */
static uint32_t minterm(uint32_t a, uint32_t b, uint32_t c, unsigned m)
{
    return (m & 4 ? a : ~a) & (m & 2 ? b : ~b) & (m & 1 ? c : ~c);
}

static uint32_t logic_apply(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
    uint32_t out = 0;
    for (unsigned m = 0; m < 8; m++)
        if (table >> m & 1)
            out |= minterm(a, b, c, m);
    return out;
}

/* Append a step and return its variable. */
static int logic_append(struct chain *ch, int a, int b, int c, unsigned table)
{
    int i = ch->logic.steps++;
    ch->logic.step[i].in[0] = (unsigned char)a;
    ch->logic.step[i].in[1] = (unsigned char)b;
    ch->logic.step[i].in[2] = (unsigned char)c;
    ch->logic.step[i].table = (unsigned char)table;
    ch->var[LIFE_INPUTS + i] = logic_apply(ch->var[a], ch->var[b], ch->var[c], table);
    return LIFE_INPUTS + i;
}

/* Return the table of a function of a, b, c that matches the target, or -1. */
static int table_of(struct target t, uint32_t a, uint32_t b, uint32_t c)
{
    int table = 0;
    for (unsigned m = 0; m < 8; m++) {
        uint32_t place = minterm(a, b, c, m) & t.care, ones = place & t.value;
        if (ones && ones != place)
            return -1;
        if (ones)
            table |= 1 << m;
    }
    return table;
}

/* Search for one step on the n variables. Return its variable, or -1. */
static int find_one(struct chain *ch, struct target t, int n)
{
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            for (int c = b + 1; c < n; c++) {
                int table = table_of(t, ch->var[a], ch->var[b], ch->var[c]);
                if (table >= 0)
                    return logic_append(ch, a, b, c, (unsigned)table);
            }
    return -1;
}

/* Find a table g of variables a, b, c such that the target is a function of (g, x, y); 0 if there
 * is none. At each of the four values of (x, y), all minterms where the target is 1 must have one
 * value of g, and all where it is 0 the opposite value. `ones` and `zeros`: the minterms of a, b, c
 * where the target is 1, and where it is 0. */
static unsigned inner_table(const uint32_t ones[8], const uint32_t zeros[8], uint32_t x, uint32_t y)
{
    unsigned one[4], zero[4];
    for (unsigned cell = 0; cell < 4; cell++) {
        const uint32_t place = (cell & 2 ? x : ~x) & (cell & 1 ? y : ~y);
        one[cell] = zero[cell] = 0;
        for (unsigned m = 0; m < 8; m++) {
            one[cell] |= (unsigned)!!(ones[m] & place) << m;
            zero[cell] |= (unsigned)!!(zeros[m] & place) << m;
        }
        if (one[cell] & zero[cell])
            return 0;
    }
    for (unsigned g = 1; g < 128; g++) { /* the complements 128 .. 254 are equivalent */
        bool good = true;
        for (int cell = 0; cell < 4 && good; cell++)
            good = !one[cell] || !zero[cell] || (!(one[cell] & ~g) && !(zero[cell] & g)) ||
                   (!(one[cell] & g) && !(zero[cell] & ~g));
        if (good)
            return g;
    }
    return 0;
}

/* Search for two steps: an inner one of a, b, c, and an outer one of its result and two variables.
 * `with_last`: only such that use variable n - 1; all others have been tried. */
static int find_two(struct chain *ch, struct target t, int n, bool with_last)
{
    const uint32_t *v = ch->var;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            for (int c = b + 1; c < n; c++) {
                uint32_t ones[8], zeros[8];
                for (unsigned m = 0; m < 8; m++) {
                    const uint32_t place = minterm(v[a], v[b], v[c], m) & t.care;
                    ones[m] = place & t.value;
                    zeros[m] = place & ~t.value;
                }
                for (int x = 0; x < n - 1; x++)
                    for (int y = with_last && c < n - 1 ? n - 1 : x + 1; y < n; y++) {
                        unsigned g = inner_table(ones, zeros, v[x], v[y]);
                        if (!g)
                            continue;
                        int inner = logic_append(ch, a, b, c, g);
                        int table = table_of(t, v[inner], v[x], v[y]);
                        return logic_append(ch, inner, x, y, (unsigned)table);
                    }
            }
    return -1;
}

/* Search for three steps: any first one, then two that may use it. */
static int find_three(struct chain *ch, struct target t, int n)
{
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            for (int c = b + 1; c < n; c++)
                for (unsigned g = 1; g < 128; g++) {
                    int steps = ch->logic.steps;
                    logic_append(ch, a, b, c, g);
                    int found = find_two(ch, t, n + 1, true);
                    if (found >= 0)
                        return found;
                    ch->logic.steps = steps;
                }
    return -1;
}

/* Split at one variable: find both halves, then select. A function of four variables is always two
 * functions of three and a selection, so at most 3 + 3 + 1 steps result. */
static int find_split(struct chain *ch, struct target t, unsigned split)
{
    enum { SELECT = 0xca }; /* a ? b : c */
    uint32_t x = inputs[split];
    int half[2];
    for (int side = 0; side < 2; side++) {
        struct target part = {t.value, t.care & (side ? x : ~x)};
        half[side] = find_one(ch, part, LIFE_INPUTS);
        if (half[side] < 0)
            half[side] = find_two(ch, part, LIFE_INPUTS, false);
        for (unsigned next = 0; half[side] < 0 && next < LIFE_INPUTS; next++)
            if (next != split) {
                uint32_t y = inputs[next];
                int one = find_one(ch, (struct target){t.value, part.care & y}, LIFE_INPUTS);
                int zero = find_one(ch, (struct target){t.value, part.care & ~y}, LIFE_INPUTS);
                half[side] = logic_append(ch, (int)next, one, zero, SELECT);
            }
    }
    return logic_append(ch, (int)split, half[1], half[0], SELECT);
}

void life_logic_find(const struct life_rule *rule, struct life_logic *logic)
{
    struct target t;
    life_logic_target(rule, &t.value, &t.care);
    struct chain ch = {.logic.steps = 0};
    for (int i = 0; i < LIFE_INPUTS; i++)
        ch.var[i] = inputs[i];
    if (find_one(&ch, t, LIFE_INPUTS) < 0 && find_two(&ch, t, LIFE_INPUTS, false) < 0 &&
        find_three(&ch, t, LIFE_INPUTS) < 0) {
        struct chain best = {.logic.steps = LIFE_STEPS_MAX + 1};
        for (unsigned split = 0; split < LIFE_INPUTS; split++) {
            struct chain trial = ch;
            find_split(&trial, t, split);
            if (trial.logic.steps < best.logic.steps)
                best = trial;
        }
        ch = best;
    }
    *logic = ch.logic;
}

int life_logic_next(const struct life_logic *logic, unsigned in)
{
    unsigned v[LIFE_INPUTS + LIFE_STEPS_MAX];
    for (int i = 0; i < LIFE_INPUTS; i++)
        v[i] = in >> i & 1;
    for (int i = 0; i < logic->steps; i++) {
        const unsigned char *a = logic->step[i].in;
        v[LIFE_INPUTS + i] = logic->step[i].table >> (v[a[0]] << 2 | v[a[1]] << 1 | v[a[2]]) & 1;
    }
    return (int)v[LIFE_INPUTS + logic->steps - 1];
}
