/* fuzz_table.c - arbitrary text as a rule file, .rule; for libFuzzer or for driver.c.
 *
 * A rejected file gives a message that names the file. An accepted one has a name and states, and
 * its tree maps every block of states to a state.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "life/transitions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    life_transitions *t = life_transitions_read("fuzz.rule", data, size);
    uint64_t bits = 88172645463325252u;
    if (!t) {
        promise_sentence(clerror(), "fuzz.rule: ");
        return 0;
    }
    const unsigned states = life_transitions_states(t);
    promise(life_transitions_name(t)[0] && states >= 2 && states <= 256);
    promise(t->places >= 3 && t->places <= 9 && t->place[t->places - 1] == 4);
    for (int i = 0; i < 200; i++) {
        unsigned char block[9];
        uint32_t at = t->root;
        for (int k = 0; k < 9; k++) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            block[k] = (unsigned char)((bits >> 33) % states);
        }
        for (int k = 0; k < t->places; k++) {
            promise(at + states <= t->nodes * states);
            at = t->branch[at + block[t->place[k]]];
        }
        promise(at < states && life_transit(t, block) == at);
    }
    life_transitions_free(t);
    return 0;
}
