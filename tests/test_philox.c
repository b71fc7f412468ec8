/* Philox4x32-10 against the published known answers, on the host and in a kernel.
 * The vectors are those of the Random123 distribution, tests/kat_vectors, lines "philox4x32 10".
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stdcl/philox.h"

static const struct {
    philox4 counter;
    philox_u32 key[2];
    philox4 answer;
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void known_answers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        philox4 r = philox4x32_10(known[i].counter, known[i].key[0], known[i].key[1]);
        assert_memory_equal(&r, &known[i].answer, sizeof r);
    }
}

static void ends_of_the_intervals(void **state) {
    (void)state;
    assert_true(philox_float(0) == 0.0f);
    assert_true(philox_float(0xffffffffu) < 1.0f);
    assert_true(philox_double(0, 0) > 0.0);
    assert_true(philox_double(0xffffffffu, 0xffffffffu) < 1.0);
    assert_true(philox_double(0, 0) + philox_double(0xffffffffu, 0xffffffffu) == 1.0);
}

/* Sixteen bins of each word over 2^16 counters: chi-square with 15 degrees of freedom stays under
 * 37.7 with probability 0.999; the draw is fixed, so that this either always passes or never. */
static void uniform(void **state) {
    (void)state;
    unsigned count[4][16] = {{0}};
    for (philox_u32 i = 0; i < 65536; i++) {
        philox4 r = philox4x32_10((philox4){i, 0, 0, 0}, 1, 0);
        count[0][r.x >> 28]++;
        count[1][r.y >> 28]++;
        count[2][r.z >> 28]++;
        count[3][r.w >> 28]++;
    }
    for (int word = 0; word < 4; word++) {
        double chi2 = 0;
        for (int b = 0; b < 16; b++) {
            double d = count[word][b] - 4096.0;
            chi2 += d * d / 4096.0;
        }
        assert_true(chi2 < 37.7);
        assert_true(chi2 > 2.0); /* too even would be as wrong */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(ends_of_the_intervals),
        cmocka_unit_test(uniform),
    };
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}
