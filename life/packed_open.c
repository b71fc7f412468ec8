/* packed_open.c - builds kernels of the engine "packed", with the rule as text in front.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"
#include "life/logic.h"

#include "core/embedded.h"

#include <stdio.h>
#include <string.h>

EMBEDDED(ternary_text, "life/ternary.h", life_ternary_h);
EMBEDDED(sums_text, "life/sums.h", life_sums_h);

void *packed_open_rule(life *lf, const char *line, bool ternary, const struct embedded *file,
                       size_t front)
{
    const struct embedded *const texts[] = {&ternary_text, &sums_text};
    struct life_circuit circuit;
    enum { WORDS = 512 };
    char options[WORDS + LIFE_CIRCUIT_TEXT];
    snprintf(options, WORDS, "%s", line);
    if (!lf->rule.counts) {
        life_circuit_find(&lf->rule.table, &circuit);
        life_circuit_text(&circuit, options + strlen(options));
    } else {
        life_rule_macros(&lf->rule.rule, ternary, options + strlen(options));
    }
    return embedded_open(lf->ctx, options, file, front, texts);
}
