/* test_formats_number.c - decimal conversion against libc's, also in a locale with decimal
 * commas. */
/* SPDX-License-Identifier: MIT */
#include "formats/number.h"

#include "decimal_comma.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ULL;

static uint64_t rnd(void) /* xorshift64, Marsaglia 2003 */
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double read_ok(const char *text)
{
    double value = -12345;
    if (number_read(text, strlen(text), &value) != NUMBER_OK)
        fail_msg("%s is refused", text);
    return value;
}

static void check_number_bits(double a, double b, const char *what)
{
    if (memcmp(&a, &b, sizeof a) != 0)
        fail_msg("%s: %a instead of %a", what, a, b);
}

static void number_read_matches_strtod(void **unused)
{
    static const char *const hard[] = {
        "0",
        "-0",
        "0.0e5",
        "1",
        "-1",
        "+1",
        ".5",
        "5.",
        "1e22",
        "1e23",
        "1e-22",
        "1e-27",
        "1e27",
        "1e28",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993e-27",
        "4503599627370497.5",
        "4503599627370496.5",
        "0.1",
        "123456789012345678",
        "1234567890123456789",
        "12345678901234567890",
        "1.7976931348623157e308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "1e-400",
        "3.4028235677973366e38",
        "18446744073709551615",
        "18446744073709551616",
        "0.00000000000000000000000000000000000001234567890123456789",
        "1e0000000000000000000001",
        "100000000000000000000000000000000000",
        "1000000000000000000000e-21",
        "9007199254740992999999999999999999999999",
        "0000000000000000000000000000001.5",
    };
    (void)unused;
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        check_number_bits(read_ok(hard[i]), strtod(hard[i], NULL), hard[i]);
    for (int i = 0; i < 300000; i++) {
        char text[64];
        int digits = 1 + (int)(rnd() % 20), exponent = (int)(rnd() % 70) - 35;
        snprintf(text, sizeof text, "%s%.*g", rnd() & 1 ? "" : "-", digits,
                 ldexp((double)(rnd() >> 1), exponent * 3));
        check_number_bits(read_ok(text), strtod(text, NULL), text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(rnd() >> (rnd() % 64)),
                 exponent);
        check_number_bits(read_ok(text), strtod(text, NULL), text);
    }
}

/* Halfway cases: m + 1/2 ulp as an exact decimal must round to even; one unit more or less must
 * not. */
static void number_read_rounds_ties_to_even(void **unused)
{
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        char text[64];
        uint64_t m = (1ULL << 53) + (rnd() >> 12); /* 2^53 .. 2^54: spacing 2 */
        for (uint64_t w = (m | 1) - 1; w <= (m | 1) + 1; w++) {
            int q = (int)(rnd() % 3);
            snprintf(text, sizeof text, "%llu%.*s", (unsigned long long)w, q, "00");
            check_number_bits(read_ok(text), strtod(text, NULL), text);
        }
        int down = 1 + (int)(rnd() % 4); /* w / 2^down has `down` decimals */
        uint64_t w = (1ULL << 54 | rnd() >> 12) | 1, whole = w >> down;
        uint64_t rest = (w & ((1ULL << down) - 1)) * 10000 >> down;
        snprintf(text, sizeof text, "%llu.%04llu", (unsigned long long)whole,
                 (unsigned long long)rest);
        check_number_bits(read_ok(text), strtod(text, NULL), text);
    }
}

/* Quotients by large powers of five that lie nearer to a tie than the bits kept: 1 in 10^4 of
 * these. */
static void number_read_rounds_near_ties(void **unused)
{
    (void)unused;
    for (int i = 0; i < 400000; i++) {
        char text[64];
        snprintf(text, sizeof text, "%llue-%d", (unsigned long long)(rnd() >> 1),
                 24 + (int)(rnd() % 4));
        check_number_bits(read_ok(text), strtod(text, NULL), text);
    }
}

static void number_read_accepts_fortran_exponent(void **unused)
{
    (void)unused;
    check_number_bits(read_ok("1.5d-3"), 1.5e-3, "d");
    check_number_bits(read_ok("-1.5D+300"), -1.5e300, "D, slow path");
}

static void number_read_rejects_other_text(void **unused)
{
    static const char *const bad[] = {"",     "+",    "-",     ".",       "e5",   "1e",  "1e+",
                                      "1e5.", "1..2", "1.2.3", "--1",     "0x10", "1,5", "abc",
                                      "1f",   "1e5x", "nano",  "infinit", "1 ",   " 1"};
    static const char *const infinite[] = {"nan",  "NaN",      "-nan",  "nan(0x1)",        "inf",
                                           "-INF", "Infinity", "1e309", "-1e999999999999", "1d400"};
    double value;
    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (number_read(bad[i], strlen(bad[i]), &value) != NUMBER_BAD)
            fail_msg("\"%s\" is accepted", bad[i]);
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        if (number_read(infinite[i], strlen(infinite[i]), &value) != NUMBER_INFINITE)
            fail_msg("\"%s\" is not seen as infinite", infinite[i]);
    char *longest = malloc(NUMBER_LONGEST + 1);
    memset(longest, '7', NUMBER_LONGEST + 1);
    assert_int_equal(number_read(longest, NUMBER_LONGEST + 1, &value), NUMBER_BAD);
    assert_int_equal(number_read(longest, 300, &value), NUMBER_OK);
    free(longest);
}

/* No byte beyond the end is read: the memory ends there, and AddressSanitizer checks. */
static void number_read_stays_inside_buffer(void **unused)
{
    static const char *const texts[] = {"1",    "1e", "1.", "-", "1e-3", "12345678901234567890123",
                                        "nan(", "i"};
    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t length = strlen(texts[i]);
        char *exact = malloc(length);
        double value;
        memcpy(exact, texts[i], length);
        enum number_kind kind = number_read(exact, length, &value);
        assert_true(kind == NUMBER_OK || kind == NUMBER_BAD || kind == NUMBER_INFINITE);
        free(exact);
    }
}

/* Fail unless the text reads back exactly and has no more digits than printf needs. */
static void check_print(double x)
{
    char text[NUMBER_SIZE], reference[64];
    size_t length = number_print(text, x);
    assert_int_equal(length, strlen(text));
    assert_true(length < NUMBER_SIZE);
    check_number_bits(strtod(text, NULL), x, text);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(reference, sizeof reference, "%.*g", digits, x);
        if (strtod(reference, NULL) == x)
            break;
    }
    if (strcmp(text, reference) != 0)
        fail_msg("%s instead of %s", text, reference);
}

static void number_print_matches_printf(void **unused)
{
    static const double hard[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.1,
                                  0.3,
                                  100,
                                  1e-4,
                                  1e-5,
                                  9.5e-5,
                                  1e15,
                                  1e16,
                                  1e17,
                                  1e18,
                                  1e22,
                                  1e23,
                                  123456789,
                                  1e300,
                                  5e-324,
                                  1e-300,
                                  1.0 / 3,
                                  2.0 / 3,
                                  0.1 + 0.2,
                                  9007199254740993.0,
                                  0.99999999999999989,
                                  9.9999999999999982,
                                  99999999999999984.0,
                                  4.35,
                                  1e-11};
    (void)unused;
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        check_print(hard[i]);
    for (int i = 0; i < 200000; i++) {
        double x = ldexp((double)(rnd() >> 11), (int)(rnd() % 260) - 180);
        check_print(rnd() & 1 ? x : -x);
        check_print((double)(float)x);
        check_print(ldexp((double)(rnd() >> 11),
                          83 + (int)(rnd() % 3))); /* near the largest of the fast path */
        check_print((double)(int64_t)(rnd() >> (rnd() % 64)) / 1000);
    }
}

static void number_print_writes_nan_and_infinity(void **unused)
{
    char text[NUMBER_SIZE];
    (void)unused;
    number_print(text, INFINITY);
    assert_string_equal(text, "inf");
    number_print(text, -INFINITY);
    assert_string_equal(text, "-inf");
    number_print(text, NAN);
    assert_string_equal(text, "nan");
}

static void number_ignores_decimal_comma_locale(void **unused)
{
    char text[NUMBER_SIZE];
    (void)unused;
    if (!enter_decimal_commas())
        skip();
    double slow = read_ok("12345678901234567890.5"), fast = read_ok("2.5");
    number_print(text, 1.5e-300);
    setlocale(LC_NUMERIC, "C");
    check_number_bits(fast, 2.5, "2.5");
    check_number_bits(slow, 12345678901234567890.5, "12345678901234567890.5");
    assert_string_equal(text, "1.5e-300");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_read_matches_strtod),
        cmocka_unit_test(number_read_rounds_ties_to_even),
        cmocka_unit_test(number_read_rounds_near_ties),
        cmocka_unit_test(number_read_accepts_fortran_exponent),
        cmocka_unit_test(number_read_rejects_other_text),
        cmocka_unit_test(number_read_stays_inside_buffer),
        cmocka_unit_test(number_print_matches_printf),
        cmocka_unit_test(number_print_writes_nan_and_infinity),
        cmocka_unit_test(number_ignores_decimal_comma_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
