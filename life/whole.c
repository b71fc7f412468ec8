/* whole.c - writes circuits as macros, the text that precedes a kernel; and, for B3/S23, a circuit
 * directly on the row sums, without b, k, p and q.
 * SPDX-License-Identifier: MIT
 */
#include "life/logic.h"

#include <stdio.h>
#include <string.h>

/* Write a macro of the steps; `names` are the variables, inputs first. */
static char *write_steps(char *end, size_t steps, const struct life_step *step, size_t given,
                         const char *const input[])
{
    char name[LIFE_WHOLE_INPUTS + LIFE_STEPS_MAX][16];
    for (size_t v = 0; v < given; v++)
        strcpy(name[v], input[v]);
    for (size_t i = 0; i + 1 < steps; i++)
        snprintf(name[given + i], sizeof *name, "v%u", (unsigned char)(given + i));
    strcpy(name[given + steps - 1], "next");
    for (size_t i = 0; i < steps; i++) {
        const unsigned char *in = step[i].in;
        end += sprintf(end, "%s \\\n    LOGIC(%s, %s, %s, %s, 0x%02x)", i ? ";" : "",
                       name[given + i], name[in[0]], name[in[1]], name[in[2]], step[i].table);
    }
    return end + sprintf(end, "\n");
}

void life_logic_text(const struct life_logic *logic, char text[LIFE_LOGIC_TEXT])
{
    static const char *const input[LIFE_INPUTS] = {"b", "k", "p", "q", "cell"};
    char *end = text + sprintf(text, "#define RULE(next, b, k, p, q, cell)");
    write_steps(end, (size_t)logic->steps, logic->step, LIFE_INPUTS, input);
}

/* ---- Chains from the sums of rows. ----------------------------------------------------------- */

/* Found by exact synthesis with a SAT solver, over all circuits of six steps. */
static const struct life_whole wholes[] = {
    {{1 << 3, 1 << 2 | 1 << 3},
     {{{6, 2, 0}, 0x96},
      {{6, 5, 1}, 0x10},
      {{7, 6, 4}, 0x5e},
      {{7, 3, 0}, 0x8e},
      {{10, 5, 1}, 0x16},
      {{11, 9, 8}, 0xc2}}},
};

const struct life_whole *life_logic_whole(const struct life_rule *rule)
{
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (wholes[i].rule.birth == rule->birth && wholes[i].rule.survival == rule->survival)
            return &wholes[i];
    return NULL;
}

int life_whole_next(const struct life_whole *whole, unsigned in)
{
    unsigned v[LIFE_WHOLE_INPUTS + LIFE_WHOLE_STEPS];
    for (int i = 0; i < LIFE_WHOLE_INPUTS; i++)
        v[i] = in >> i & 1;
    for (int i = 0; i < LIFE_WHOLE_STEPS; i++) {
        const unsigned char *a = whole->step[i].in;
        v[LIFE_WHOLE_INPUTS + i] =
            whole->step[i].table >> (v[a[0]] << 2 | v[a[1]] << 1 | v[a[2]]) & 1;
    }
    return (int)v[LIFE_WHOLE_INPUTS + LIFE_WHOLE_STEPS - 1];
}

void life_rule_macros(const struct life_rule *rule, bool ternary, char text[LIFE_RULE_MACROS])
{
    static const char *const input[LIFE_WHOLE_INPUTS] = {"s0", "m0", "s1",  "m1",
                                                         "s2", "m2", "cell"};
    const struct life_whole *whole = ternary ? life_logic_whole(rule) : NULL;
    struct life_logic logic;
    (ternary ? life_logic_find : life_logic_pairs)(rule, &logic);
    life_logic_text(&logic, text);
    if (!whole)
        return;
    char *end = text + strlen(text);
    end += sprintf(end, "#define WHOLE_RULE(next, s0, m0, s1, m1, s2, m2, cell)");
    write_steps(end, LIFE_WHOLE_STEPS, whole->step, LIFE_WHOLE_INPUTS, input);
}
