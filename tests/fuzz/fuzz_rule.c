/* fuzz_rule.c - arbitrary text as a rule of Life, with or without a grid after a colon; for
 * libFuzzer or for driver.c.
 *
 * An accepted rule round-trips through life_rule_string or life_rule_normal; a rejected one gives
 * a message and leaves the caller's rule unchanged.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "stdcl/life.h"

static void check_fuzz_rule(const char *text)
{
    struct life_rule rule = {77, 77}, again;
    char written[24];
    if (life_rule_parse(text, &rule) != 0) {
        promise(rule.birth == 77 && rule.survival == 77);
        promise_sentence(clerror(), "'");
        return;
    }
    promise(rule.birth < 512 && rule.survival < 512);
    promise(life_rule_string(&rule, written) == written && strlen(written) < sizeof written);
    promise(life_rule_parse(written, &again) == 0);
    promise(again.birth == rule.birth && again.survival == rule.survival);
}

static void check_family(const char *text)
{
    char normal[LIFE_RULE_TEXT], again[LIFE_RULE_TEXT];
    if (life_rule_normal(text, normal) != 0) {
        promise_sentence(clerror(), "'");
        return;
    }
    promise(strlen(normal) < sizeof normal && life_rule_normal(normal, again) == 0 &&
            strcmp(normal, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_copy(data, size);
    enum life_bounds bounds;
    size_t width, height;
    for (char *p = text; *p; p++) /* which a sentence may quote */
        *p = *p == '\n' || *p == '\t' ? ' ' : *p;
    check_fuzz_rule(text);
    check_family(text);
    if (life_bounds_split(text, &bounds, &width, &height) != 0) {
        promise_sentence(clerror(), "the grid ':");
    } else {
        promise(bounds == LIFE_TORUS || bounds == LIFE_PLANE);
        promise(!strchr(text, ':') && (width > 0) == (height > 0));
        check_fuzz_rule(text);
    }
    free(text);
    return 0;
}
