/* circuit.c - turns a table of the 512 blocks of nine cells into a circuit of three-input logic
 * operations.
 *
 * The table is split by six cells in sequence, and the remaining function of three cells is one
 * operation. Equal subfunctions are computed once, including complements, since truth tables absorb
 * them. The number of operations depends on the order of the cells, and many orders are tried.
 * (R. E. Bryant, "Graph-based algorithms for Boolean function manipulation", IEEE Transactions on
 * Computers C-35 (1986) 677-691.)
 * SPDX-License-Identifier: MIT
 */
#include "life/circuit.h"
#include "life/counting.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = LIFE_BLOCK_CELLS, LOW = 3, ORDERS = 300, FALSE_ = -1, NONE = -2 };

/* A function: a variable (a cell, or a step's result) or a constant, possibly complemented. */
struct of {
    int variable;
    bool inverted;
};

struct work {
    struct life_circuit c;
    int order[CELLS]; /* the cells, the first three at the bottom */
    uint64_t on[8];   /* the function, with cells in this order */
    struct known {
        int level; /* number of cells it depends on */
        uint64_t bits[8];
    } known[LIFE_CIRCUIT_STEPS];
};

static unsigned bit(const uint64_t *on, unsigned i)
{
    return (unsigned)(on[i / 64] >> i % 64 & 1);
}

/* Permute the table to the order of this trial. */
static void reorder(struct work *w, const struct life_table *t)
{
    memset(w->on, 0, sizeof w->on);
    for (unsigned i = 0; i < 1u << CELLS; i++) {
        unsigned block = 0;
        for (int j = 0; j < CELLS; j++)
            block |= (i >> j & 1) << w->order[j];
        w->on[i / 64] |= (uint64_t)bit(t->on, block) << i % 64;
    }
}

/* Extract 2^level bits of the function from bit `from` on, complemented if the first of them is 1.
 */
static bool function_part(const struct work *w, int level, unsigned from, uint64_t bits[8])
{
    const bool inverted = bit(w->on, from);
    memset(bits, 0, 8 * sizeof *bits);
    for (unsigned i = 0; i < 1u << level; i++)
        bits[i / 64] |= (uint64_t)(bit(w->on, from + i) ^ inverted) << i % 64;
    return inverted;
}

static int circuit_append(struct work *w, int level, const uint64_t bits[8], int a, int b, int c,
                          unsigned table)
{
    const int i = w->c.steps++;
    w->c.step[i].in[0] = (unsigned char)a;
    w->c.step[i].in[1] = (unsigned char)b;
    w->c.step[i].in[2] = (unsigned char)c;
    w->c.step[i].table = (unsigned char)table;
    w->known[i].level = level;
    memcpy(w->known[i].bits, bits, sizeof w->known[i].bits);
    return CELLS + i;
}

/* Value of a part if its variable is v. */
static unsigned part_value(struct of part, unsigned v)
{
    return (part.variable == FALSE_ ? 0 : v) ^ part.inverted;
}

/* Build the subfunction of the lowest `level` cells at bit `from`. */
static struct of circuit_make(struct work *w, int level, unsigned from)
{
    uint64_t bits[8];
    struct of out = {FALSE_, function_part(w, level, from, bits)};
    bool any = false;
    for (int i = 0; i < 8; i++)
        any |= bits[i] != 0;
    if (!any)
        return out;
    out.variable = NONE;
    for (int i = 0; i < w->c.steps && out.variable == NONE; i++)
        if (w->known[i].level == level && memcmp(w->known[i].bits, bits, sizeof bits) == 0)
            out.variable = CELLS + i;
    if (out.variable != NONE)
        return out;
    if (level == LOW) {
        static const unsigned single[LOW] = {0xaa, 0xcc, 0xf0};
        for (int i = 0; i < LOW; i++)
            if (bits[0] == single[i]) {
                out.variable = w->order[i];
                return out;
            }
        out.variable = circuit_append(w, level, bits, w->order[2], w->order[1], w->order[0],
                                      (unsigned)bits[0]);
        return out;
    }
    const unsigned half = 1u << (level - 1);
    const struct of low = circuit_make(w, level - 1, from),
                    high = circuit_make(w, level - 1, from + half);
    if (low.variable == high.variable && low.inverted == high.inverted)
        return low; /* independent of this cell */
    unsigned table = 0;
    for (unsigned i = 0; i < 8; i++)
        table |= (part_value(i >> 2 ? high : low, i >> 2 ? i >> 1 & 1 : i & 1) ^ out.inverted) << i;
    const int cell = w->order[level - 1], some = high.variable != FALSE_  ? high.variable
                                                 : low.variable != FALSE_ ? low.variable
                                                                          : cell;
    out.variable =
        circuit_append(w, level, bits, cell, high.variable != FALSE_ ? high.variable : some,
                       low.variable != FALSE_ ? low.variable : some, table);
    return out;
}

/* Build the circuit for this order; its last step is the result. */
static void circuit_build(struct work *w, const struct life_table *t)
{
    w->c.steps = 0;
    reorder(w, t);
    const struct of out = circuit_make(w, CELLS, 0);
    if (out.variable >= CELLS && out.variable == CELLS + w->c.steps - 1) {
        w->c.step[w->c.steps - 1].table ^= out.inverted ? 255 : 0;
        return;
    }
    const uint64_t none[8] = {0};
    const int v = out.variable == FALSE_ ? 0 : out.variable;
    circuit_append(w, -1, none, v, v, v,
                   out.variable == FALSE_ ? (out.inverted ? 255 : 0)
                   : out.inverted         ? 0x0f
                                          : 0xf0);
}

void life_circuit_search(const struct life_table *table, int orders, struct life_circuit *circuit)
{
    struct work w = {.c.steps = 0};
    uint64_t random = 1;
    circuit->steps = LIFE_CIRCUIT_STEPS + 1;
    for (int i = 0; i < CELLS; i++)
        w.order[i] = i;
    for (int trial = 0; trial < orders; trial++) {
        circuit_build(&w, table);
        if (w.c.steps < circuit->steps)
            *circuit = w.c;
        for (int i = CELLS - 1; i > 0; i--) { /* next order, from a fixed sequence */
            random = life_mix(random + 0x9e3779b97f4a7c15u);
            const int j = (int)(random % (unsigned)(i + 1)), t = w.order[i];
            w.order[i] = w.order[j];
            w.order[j] = t;
        }
    }
}

void life_circuit_find(const struct life_table *table, struct life_circuit *circuit)
{
    life_circuit_search(table, ORDERS, circuit);
}

int life_circuit_next(const struct life_circuit *circuit, unsigned block)
{
    unsigned char v[CELLS + LIFE_CIRCUIT_STEPS];
    for (int i = 0; i < CELLS; i++)
        v[i] = block >> i & 1;
    for (int i = 0; i < circuit->steps; i++) {
        const unsigned char *in = circuit->step[i].in;
        v[CELLS + i] = circuit->step[i].table >> (v[in[0]] << 2 | v[in[1]] << 1 | v[in[2]]) & 1;
    }
    return v[CELLS + circuit->steps - 1];
}

void life_circuit_text(const struct life_circuit *circuit, char text[LIFE_CIRCUIT_TEXT])
{
    static const char *const cell[CELLS] = {"nw", "n", "ne", "w", "cell", "e", "sw", "s", "se"};
    char name[CELLS + LIFE_CIRCUIT_STEPS][16];
    for (int i = 0; i < CELLS; i++)
        strcpy(name[i], cell[i]);
    for (int i = 0; i < circuit->steps; i++)
        snprintf(name[CELLS + i], sizeof *name, "v%d", CELLS + i);
    strcpy(name[CELLS + circuit->steps - 1], "next");
    char *end = text + sprintf(text, "#define BLOCK_RULE(next, nw, n, ne, w, cell, e, sw, s, se)");
    for (int i = 0; i < circuit->steps; i++) {
        const unsigned char *in = circuit->step[i].in;
        end +=
            sprintf(end, "%s \\\n    LOGIC(%s, %s, %s, %s, 0x%02x)", i ? ";" : "", name[CELLS + i],
                    name[in[0]], name[in[1]], name[in[2]], circuit->step[i].table);
    }
    strcpy(end, "\n");
}

char *life_table_text(const struct life_table *table, char text[LIFE_TABLE_TEXT])
{
    for (int i = 0, used = 0; i < 16; i++)
        used += sprintf(text + used, "%s0x%08xu", i ? "," : "",
                        (unsigned)(table->on[i / 2] >> 32 * (i % 2)));
    return text;
}
