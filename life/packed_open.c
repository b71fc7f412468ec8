/* packed_open.c - builds kernels of the engine "packed", with the rule as text in front.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"

#include "core/embedded.h"

#include <stdio.h>
#include <string.h>

EMBEDDED(ternary_text, "life/ternary.h", life_ternary_h);
EMBEDDED(sums_text, "life/sums.h", life_sums_h);

void *packed_open_rule(life *lf, const char *line, bool ternary, const struct embedded *file,
                       size_t front)
{
    const struct embedded *const texts[] = {&ternary_text, &sums_text};
    enum { WORDS = 512 };
    char options[WORDS + LIFE_FAMILY_MACROS];
    snprintf(options, WORDS, "%s", line);
    life_family_macros(&lf->rule, ternary, options + strlen(options));
    return embedded_open(lf->ctx, options, file, front, texts);
}
