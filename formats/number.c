/* number.c - decimal numbers to doubles and back.
 *
 * Reading is fast_float's (number_take.cpp) where its header is installed, and strtod_l's in the
 * "C" locale elsewhere. Printing is our own. Both were measured with a snapshot of 2 million bodies
 * (14 million numbers of 15 to 17 digits; one core of an AMD EPYC, glibc 2.36, fast_float 3.9), in
 * ns a number of processor time, with other programs running:
 *
 *   reading    fast_float 28; strtod_l 114; a reader of our own, which was removed, 61
 *   printing   here 179; the same text by snprintf of 15, 16 and 17 digits and strtod 750
 *
 * snprintf of "%.17g" alone takes 215 to 227 ns, but prints 0.1 as 0.10000000000000001.
 *
 * A double is m * 2^e and a decimal w * 10^q = w * 5^q * 2^q, so printing is one exact product or
 * quotient by a power of five, then one rounding. Up to 5^27 the power fits 64 bits and all of it
 * 128: that covers 10^-27 .. 10^27 times 19 digits, nearly every number in a file. The rest goes
 * through libc, in the "C" locale.
 * SPDX-License-Identifier: MIT
 */
#include "formats/number.h"
#include "formats/number_take.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 u128;

enum { MAX_POWER = 27 }; /* 5^27 < 2^63 */

static const uint64_t power5[MAX_POWER + 1] = {
    1ULL,
    5ULL,
    25ULL,
    125ULL,
    625ULL,
    3125ULL,
    15625ULL,
    78125ULL,
    390625ULL,
    1953125ULL,
    9765625ULL,
    48828125ULL,
    244140625ULL,
    1220703125ULL,
    6103515625ULL,
    30517578125ULL,
    152587890625ULL,
    762939453125ULL,
    3814697265625ULL,
    19073486328125ULL,
    95367431640625ULL,
    476837158203125ULL,
    2384185791015625ULL,
    11920928955078125ULL,
    59604644775390625ULL,
    298023223876953125ULL,
    1490116119384765625ULL,
    7450580596923828125ULL,
};

static int leading_zeros(uint64_t x)
{
    return __builtin_clzll(x);
} /* x > 0 */

static int bits(u128 x) /* the position of the highest bit set, from 1; 0 for 0 */
{
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 128 - leading_zeros(high) : low ? 64 - leading_zeros(low) : 0;
}

/* x / 2^shift to the nearest integer, ties to even; `sticky`: x stands for a little more than x.
 * 0 < shift < 128. */
static uint64_t shift_round(u128 x, int shift, bool sticky)
{
    u128 half = (u128)1 << (shift - 1), rest = x & (half + (half - 1));
    uint64_t whole = (uint64_t)(x >> shift);
    return whole + (rest > half || (rest == half && (sticky || (whole & 1))));
}

/* The double nearest to w * 10^q; w > 0, |q| <= MAX_POWER. */
static double scale10(uint64_t w, int q)
{
    u128 x;
    int e = q;
    bool sticky = false;
    if (q >= 0) {
        x = (u128)w * power5[q];
    } else { /* enough bits in the numerator that the quotient has at least 64 */
        uint64_t divisor = power5[-q];
        int up = leading_zeros(w) + 64;
        u128 numerator = (u128)w << up;
        x = numerator / divisor;
        sticky = x * divisor != numerator;
        e -= up;
    }
    int excess = bits(x) - 53;
    if (excess <= 0)
        return ldexp((double)(uint64_t)x, e);
    return ldexp((double)shift_round(x, excess, sticky), e + excess);
}

/* ---- Reading. -------------------------------------------------------------------------------- */

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t get_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale;
}

/* Convert the number at the front of text[0 .. length); return how many characters it has. */
static size_t take(const char *text, size_t length, double *value)
{
#ifdef STDCL_HAVE_FAST_FLOAT
    return number_take(text, length, value);
#else
    char copy[NUMBER_LONGEST + 1], *end;
    memcpy(copy, text, length);
    copy[length] = 0;
    copy[strspn(copy, "+-.0123456789eE")] = 0;
    *value = strtod_l(copy, &end, get_c_locale());
    return (size_t)(end - copy);
#endif
}

/* As take, with Fortran's d for e. */
static size_t take_fortran(const char *text, size_t length, size_t d, double *value)
{
    char copy[NUMBER_LONGEST];
    memcpy(copy, text, length);
    copy[d] = 'e';
    return take(copy, length, value);
}

static bool in_words(const char *text, size_t length)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    if (length && (*text == '-' || *text == '+'))
        text++, length--;
    if (length == 0 || !strchr("nNiI", *text) || !*text)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(text, words[i], length) == 0)
            return true;
    return length > 4 && strncasecmp(text, "nan(", 4) == 0;
}

enum number_kind number_read(const char *text, size_t length, double *value)
{
    double found;
    if (length > NUMBER_LONGEST)
        return NUMBER_BAD;
    if (in_words(text, length))
        return NUMBER_INFINITE;
    const size_t plus = length > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
    text += plus;
    length -= plus;
    size_t taken = take(text, length, &found);
    if (taken > 0 && taken < length && (text[taken] == 'd' || text[taken] == 'D'))
        taken = take_fortran(text, length, taken, &found);
    if (taken == 0 || taken < length)
        return NUMBER_BAD;
    if (!isfinite(found))
        return NUMBER_INFINITE;
    *value = found;
    return NUMBER_OK;
}

/* ---- Printing. ------------------------------------------------------------------------------- */

/* digits * 10^exponent. */
struct shortest {
    uint64_t digits;
    int exponent;
};

/* x * 10^k rounded to an integer, which must be less than 2^63; |k| <= MAX_POWER. False when there
 * is nothing to round, or too much: the caller then uses another way. */
static bool scale_to_integer(double x, int k, uint64_t *result)
{
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53);
    e += k - 53;
    if (k >= 0) {
        u128 product = (u128)m * power5[k];
        if (e >= 0 || e <= -128)
            return false;
        *result = shift_round(product, -e, false);
        return true;
    }
    /* With 74 zeros below, the quotient keeps enough bits for one rounding. */
    uint64_t divisor = power5[-k];
    u128 numerator = (u128)m << 74;
    u128 quotient = numerator / divisor;
    bool sticky = quotient * divisor != numerator;
    e -= 74;
    if (e >= 0 || e <= -128)
        return false;
    *result = shift_round(quotient, -e, sticky);
    return true;
}

/* x > 0, whose first digit stands at 10^place, to `count` digits, correctly rounded. */
static bool digits_of(double x, int place, int count, struct shortest *s)
{
    s->exponent = place - count + 1;
    return abs(s->exponent) <= MAX_POWER && scale_to_integer(x, -s->exponent, &s->digits);
}

/* The fewest of 15, 16 or 17 digits that read back as x > 0; false where 128 bits do not reach.
 * Should log10 be off by one near a power of ten, then there is a digit more or less than said,
 * which reading back covers. */
static bool shortest_of(double x, struct shortest *s)
{
    int place = (int)floor(log10(x));
    for (int count = 15; count <= 18; count++) {
        if (!digits_of(x, place, count, s))
            return false;
        if (scale10(s->digits, s->exponent) == x)
            break;
    }
    while (s->digits % 10 == 0) {
        s->digits /= 10;
        s->exponent++;
    }
    return true;
}

static size_t put_exponent(char *text, int exponent)
{
    return (size_t)sprintf(text, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

/* As %.15g lays it out (%.16g, %.17g if there are so many digits). */
static size_t lay_out(char *text, const struct shortest *s)
{
    char digits[24];
    char *out = text, *end = digits + sizeof digits, *p = end;
    for (uint64_t rest = s->digits; rest; rest /= 10)
        *--p = (char)('0' + rest % 10);
    int count = (int)(end - p), point = count + s->exponent; /* digits before the point */
    if (point > (count > 15 ? count : 15) || point < -3) {
        *out++ = *p++;
        if (p < end)
            *out++ = '.';
        memcpy(out, p, (size_t)(end - p));
        out += end - p;
        return (size_t)(out - text) + put_exponent(out, point - 1);
    }
    if (point <= 0) {
        memcpy(out, "0.000", (size_t)(2 - point));
        out += 2 - point;
    }
    for (int i = 0; i < count || i < point; i++) {
        if (i == point && i > 0)
            *out++ = '.';
        *out++ = i < count ? p[i] : '0';
    }
    *out = 0;
    return (size_t)(out - text);
}

static size_t print_slowly(char *text, double value)
{
    locale_t before = uselocale(get_c_locale());
    size_t length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = (size_t)snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    uselocale(before);
    return length;
}

size_t number_print(char *text, double value)
{
    struct shortest s;
    size_t sign = signbit(value) && !isnan(value);
    double x = fabs(value);
    if (!isfinite(value) || x == 0)
        return (size_t)sprintf(text, "%s%s", sign ? "-" : "",
                               x == 0     ? "0"
                               : isnan(x) ? "nan"
                                          : "inf");
    if (!shortest_of(x, &s))
        return print_slowly(text, value);
    if (sign)
        *text = '-';
    return sign + lay_out(text + sign, &s);
}
