/* circuit_code.c - assigns the results of a circuit's steps to slots.
 *
 * A slot is free again after the last step that reads it, so that few slots hold a whole circuit
 * and stay in the first-level cache.
 * SPDX-License-Identifier: MIT
 */
#include "life/circuit_rows.h"

#include <stdbool.h>
#include <string.h>

/* Number of the last step that reads each step's result. */
static void find_last_reads(const struct life_circuit *circuit, int last[LIFE_CIRCUIT_STEPS])
{
    memset(last, 0, LIFE_CIRCUIT_STEPS * sizeof *last);
    for (int i = 0; i < circuit->steps; i++)
        for (int j = 0; j < 3; j++)
            if (circuit->step[i].in[j] >= LIFE_BLOCK_CELLS)
                last[circuit->step[i].in[j] - LIFE_BLOCK_CELLS] = i;
}

void circuit_code_make(const struct life_circuit *circuit, struct circuit_code *code)
{
    int last[LIFE_CIRCUIT_STEPS], user[LIFE_CIRCUIT_STEPS]; /* user: the step in each slot */
    find_last_reads(circuit, last);
    *code = (struct circuit_code){.steps = circuit->steps};
    for (int i = 0; i < circuit->steps; i++) {
        int slot = 0;
        while (slot < code->slots && last[user[slot]] >= i)
            slot++;
        code->slots += slot == code->slots;
        user[slot] = i;
        code->step[i].out = (unsigned char)slot;
        code->step[i].table = circuit->step[i].table;
        for (int j = 0; j < 3; j++) {
            const int v = circuit->step[i].in[j];
            code->step[i].in[j] =
                (unsigned char)(v < LIFE_BLOCK_CELLS
                                    ? v
                                    : LIFE_BLOCK_CELLS + code->step[v - LIFE_BLOCK_CELLS].out);
        }
    }
}
