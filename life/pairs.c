/* pairs.c - turns a rule into a short circuit of two-input logic operations.
 *
 * This is for devices without three-input logic instructions (see logic.c): AVX2, NEON, GPUs other
 * than NVIDIA's. A few functions of two inputs, helpers, are useful for many rules; all sets of up
 * to four helpers are tried. Given the helpers, the circuit is a tree, built from its root. If the
 * function is constant where a variable is 0, or where it is 1, the root is an `and` or `or` with
 * that variable, and only the other half of the function remains. Otherwise the root is an
 * exclusive or with a variable, or a selection by it. B3/S23 takes seven operations,
 *
 *      x = k ^ p    o = k | p    e = b ^ x    w = o ^ q    ~e & w & (b | cell)
 *
 * and other rules take up to twelve.
 * SPDX-License-Identifier: MIT
 */
#include "life/counting.h"
#include "life/logic.h"

#include <string.h>

enum { B, K, P, Q, CELL, X, A, O, HELPERS = 14, VARIABLES = LIFE_INPUTS + HELPERS };
enum { XOR = 6, AND = 8, OR = 14 }; /* truth tables: bit (first << 1 | second) is the result */
enum { HELPERS_AT_ONCE = 4, MEMO = 1 << 10 };

static const struct {
    unsigned char first, second, table;
} helper[HELPERS] = {
    {K, P, XOR} /* X */, {K, P, AND} /* A */, {K, P, OR} /* O */, {O, Q, XOR},    {A, Q, XOR},
    {B, X, XOR},         {B, X, AND},         {B, X, OR},         {B, CELL, OR},  {B, CELL, XOR},
    {X, Q, XOR},         {X, Q, OR},          {CELL, X, XOR},     {CELL, Q, XOR},
};

/* The function to compute: `value`, wherever `care` is 1; places as in logic.c. */
struct target {
    uint32_t value, care;
};

/* A target that takes more operations than a budget. */
struct failure {
    struct target t;
    int budget;
    bool flip;
};

struct search {
    uint32_t var[VARIABLES]; /* truth tables: inputs, then helpers */
    int id[VARIABLES], n;    /* their numbers in the circuit */
    struct failure failure[MEMO];
};

/* The last operation of a target: of variables i and j, possibly complemented, or of variable i
 * and one or two remaining targets. */
struct move {
    enum { CONSTANT, VARIABLE, PAIR, PARITY, MASK, FLIP, SELECT } kind;
    int i, j;
    bool not_i, not_j, complement;
};

/* ---- The fewest operations for a target, some variables given. ------------------------------- */

static bool pairs_is(struct target t, uint32_t f)
{
    return !((t.value ^ f) & t.care);
}

static struct target pairs_where(struct target t, uint32_t f)
{
    return (struct target){t.value, t.care & f};
}

static bool no_operation(const struct search *s, struct target t, struct move *mv)
{
    *mv = (struct move){.kind = CONSTANT, .complement = pairs_is(t, ~0u)};
    if (pairs_is(t, 0) || pairs_is(t, ~0u))
        return true;
    for (int i = 0; i < s->n; i++) {
        *mv = (struct move){.kind = VARIABLE, .i = i, .complement = pairs_is(t, ~s->var[i])};
        if (pairs_is(t, s->var[i]) || pairs_is(t, ~s->var[i]))
            return true;
    }
    return false;
}

static bool one_operation(const struct search *s, struct target t, struct move *mv)
{
    for (int i = 0; i < s->n; i++)
        for (int j = i + 1; j < s->n; j++) {
            const uint32_t x = s->var[i], y = s->var[j];
            *mv =
                (struct move){.kind = PARITY, .i = i, .j = j, .complement = pairs_is(t, ~(x ^ y))};
            if (pairs_is(t, x ^ y) || pairs_is(t, ~(x ^ y)))
                return true;
            for (int m = 0; m < 4; m++) {
                const uint32_t f = (m & 1 ? ~x : x) & (m & 2 ? ~y : y);
                *mv = (struct move){PAIR, i, j, m & 1, m & 2, pairs_is(t, ~f)};
                if (pairs_is(t, f) || pairs_is(t, ~f))
                    return true;
            }
        }
    return false;
}

static int cost(struct search *s, struct target t, int budget, bool flip, struct move *mv);

/* Try the possible roots; each must take fewer than `best` operations including its subtrees. */

static int try_mask(struct search *s, struct target t, int best, bool flip, struct move *mv)
{
    struct move below;
    for (int i = 0; i < s->n; i++)
        for (int not_i = 0; not_i < 2 && best > 2; not_i++) {
            const uint32_t x = not_i ? ~s->var[i] : s->var[i];
            const struct target out = pairs_where(t, ~x);
            if (!out.care || out.care == t.care || !(pairs_is(out, 0) || pairs_is(out, ~0u)))
                continue;
            const int c = 1 + cost(s, pairs_where(t, x), best - 2, flip, &below);
            if (c >= best)
                continue;
            best = c;
            *mv = (struct move){
                .kind = MASK, .i = i, .not_i = not_i, .complement = !pairs_is(out, 0)};
        }
    return best;
}

static int try_flip(struct search *s, struct target t, int best, struct move *mv)
{
    struct move below;
    for (int i = 0; i < s->n && best > 2; i++) {
        const int c =
            1 + cost(s, (struct target){t.value ^ s->var[i], t.care}, best - 2, false, &below);
        if (c >= best)
            continue;
        best = c;
        *mv = (struct move){.kind = FLIP, .i = i};
    }
    return best;
}

/* A selection is two `and`s and an `or`. */
static int try_select(struct search *s, struct target t, int best, bool flip, struct move *mv)
{
    struct move below;
    for (int i = 0; i < s->n && best > 3; i++) {
        int c = 3 + cost(s, pairs_where(t, s->var[i]), best - 4, flip, &below);
        if (c < best)
            c += cost(s, pairs_where(t, ~s->var[i]), best - 1 - c, flip, &below);
        if (c >= best)
            continue;
        best = c;
        *mv = (struct move){.kind = SELECT, .i = i};
    }
    return best;
}

/* Return the fewest operations for the target, and the last of them; budget + 1 if the budget does
 * not suffice. `flip`: an exclusive or may still be the root. One on a path is enough, and limits
 * the search. */
static int cost(struct search *s, struct target t, int budget, bool flip, struct move *mv)
{
    if (no_operation(s, t, mv))
        return 0;
    if (budget < 1)
        return budget + 1;
    if (one_operation(s, t, mv))
        return 1;
    t.value &= t.care;
    struct failure *f = &s->failure[life_mix((uint64_t)t.value << 32 | t.care) % MEMO];
    if (f->t.value == t.value && f->t.care == t.care && f->flip == flip && f->budget >= budget)
        return budget + 1;
    int best = try_mask(s, t, budget + 1, flip, mv);
    if (flip)
        best = try_flip(s, t, best, mv);
    best = try_select(s, t, best, flip, mv);
    if (best > budget)
        *f = (struct failure){t, budget, flip};
    return best;
}

/* ---- The chain. ------------------------------------------------------------------------------ */

/* A variable of the circuit or its complement; id < 0: a constant. */
struct bit {
    int id;
    bool complement;
};

static bool value_of(struct bit b, unsigned input)
{
    return (b.id >= 0 && input) ^ b.complement;
}

/* Append a step. `table` is over the three bits; the step's table is over the variables behind
 * them. */
static struct bit pairs_append(struct life_logic *l, struct bit a, struct bit b, struct bit c,
                               unsigned table)
{
    const struct bit in[3] = {a, b, c};
    const int i = l->steps++;
    l->step[i].table = 0;
    for (unsigned m = 0; m < 8; m++)
        if (table >> (value_of(a, m & 4) << 2 | value_of(b, m & 2) << 1 | value_of(c, m & 1)) & 1)
            l->step[i].table |= (unsigned char)(1 << m);
    for (int k = 0; k < 3; k++)
        l->step[i].in[k] = (unsigned char)(in[k].id < 0 ? 0 : in[k].id);
    return (struct bit){LIFE_INPUTS + i, false};
}

static struct bit append_pair(struct life_logic *l, struct bit a, struct bit b, unsigned table)
{
    return pairs_append(l, (struct bit){a.id, false}, a, b, table << 4 | table);
}

static struct bit emit(struct search *s, struct life_logic *l, struct target t, int budget,
                       bool flip)
{
    enum { SELECTION = 0xca }; /* a ? b : c */
    struct move mv;
    const int c = cost(s, t, budget, flip, &mv);
    const uint32_t x = s->var[mv.i];
    const struct bit i = {s->id[mv.i], mv.not_i}, j = {s->id[mv.j], mv.not_j};
    struct bit out;
    switch (mv.kind) {
    case CONSTANT:
        return (struct bit){-1, mv.complement};
    case VARIABLE:
        return (struct bit){i.id, mv.complement};
    case PAIR:
        out = append_pair(l, i, j, AND);
        break;
    case PARITY:
        out = append_pair(l, i, j, XOR);
        break;
    case FLIP:
        return append_pair(l, i, emit(s, l, (struct target){t.value ^ x, t.care}, c - 1, false),
                           XOR);
    case SELECT:
        out = emit(s, l, pairs_where(t, x), c - 3, flip);
        return pairs_append(l, i, out, emit(s, l, pairs_where(t, ~x), c - 3, flip), SELECTION);
    default: /* MASK: i and the remaining target; or, if it is 1 outside i, not i or the remaining
                target */
        out = emit(s, l, pairs_where(t, mv.not_i ? ~x : x), c - 1, flip);
        return append_pair(l, (struct bit){i.id, mv.not_i != mv.complement}, out,
                           mv.complement ? OR : AND);
    }
    if (mv.complement)
        l->step[l->steps - 1].table ^= 0xff;
    return out;
}

/* ---- Helpers. -------------------------------------------------------------------------------- */

static uint32_t pairs_apply(uint32_t x, uint32_t y, unsigned table)
{
    return table == XOR ? x ^ y : table == AND ? x & y : x | y;
}

/* Set up the variables: inputs and a set of helpers, one bit each. False if a helper lacks one of
 * its operands. `l` receives the steps of the helpers. */
static bool pairs_prepare(struct search *s, unsigned set, struct life_logic *l)
{
    static const uint32_t input[LIFE_INPUTS] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00,
                                                0xffff0000};
    int place[VARIABLES]; /* index of a variable in the search; -1: absent */
    memset(s, 0, sizeof *s);
    l->steps = 0;
    for (int v = 0; v < VARIABLES; v++) {
        place[v] = v < LIFE_INPUTS || set >> (v - LIFE_INPUTS) & 1 ? s->n : -1;
        if (place[v] < 0)
            continue;
        s->id[s->n] = s->n;
        if (v < LIFE_INPUTS) {
            s->var[s->n++] = input[v];
            continue;
        }
        const int first = place[helper[v - LIFE_INPUTS].first],
                  second = place[helper[v - LIFE_INPUTS].second];
        const unsigned table = helper[v - LIFE_INPUTS].table;
        if (first < 0 || second < 0)
            return false;
        append_pair(l, (struct bit){first, false}, (struct bit){second, false}, table);
        s->var[s->n++] = pairs_apply(s->var[first], s->var[second], table);
    }
    return true;
}

static int pairs_size(unsigned set)
{
    int n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

void life_logic_pairs(const struct life_rule *rule, struct life_logic *logic)
{
    struct search s;
    struct move mv;
    struct target t;
    int best = LIFE_STEPS_MAX + 1;
    unsigned best_set = 0;
    life_logic_target(rule, &t.value, &t.care);
    for (int size = 0; size <= HELPERS_AT_ONCE; size++)
        for (unsigned set = 0; set < 1u << HELPERS; set++) {
            if (pairs_size(set) != size || size >= best || !pairs_prepare(&s, set, logic))
                continue;
            const int c = size + cost(&s, t, best - 1 - size, true, &mv);
            if (c < best) {
                best = c;
                best_set = set;
            }
        }
    if (best > LIFE_STEPS_MAX) {
        life_logic_find(rule, logic);
        return;
    }
    pairs_prepare(&s, best_set, logic);
    const struct bit last = emit(&s, logic, t, best - pairs_size(best_set), true);
    if (!logic->steps || last.complement || last.id != LIFE_INPUTS + logic->steps - 1)
        append_pair(logic, last, last, AND);
}
