/* arrays_ref.c - scalar reference of the fixed-order reduction, prefix sums and sorting.
 *
 * All arithmetic is in double. Where a device computes in float, each result is rounded to float,
 * which gives the same number: 53 bits are more than twice 24.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/arrays_ref.h"

#include <math.h>
#include <stdbool.h>

enum { LANES = 64, ROWS = 32, STRIPS = 16, STRIP = LANES * ROWS, BLOCK = STRIPS * STRIP };

struct pair {
    double value, error;
};
struct problem {
    enum arrays_type type;
    bool paired, single; /* compensated; in floats */
    const void *x, *y, *z;
    size_t n;
    double mean;
    struct pair (*term)(const struct problem *p, struct pair sum, size_t i);
};

/* ---- Arithmetic. ----------------------------------------------------------------------------- */

static double ref_element(const struct problem *p, const void *array, size_t i)
{
    switch (p->type) {
    case ARRAYS_FLOAT:
        return (double)((const float *)array)[i];
    case ARRAYS_DOUBLE:
        return ((const double *)array)[i];
    case ARRAYS_INT:
        return ((const int32_t *)array)[i];
    default:
        return (double)((const int64_t *)array)[i];
    }
}

static double ref_round(const struct problem *p, double v)
{
    return p->single ? (double)(float)v : v;
}

/* Return the rounding error of s = a + b. */
static double ref_rounding_error(const struct problem *p, double a, double b, double s)
{
    const double t = ref_round(p, s - a);
    return ref_round(p, ref_round(p, a - ref_round(p, s - t)) + ref_round(p, b - t));
}

static struct pair ref_add(const struct problem *p, struct pair a, double b)
{
    const double s = ref_round(p, a.value + b);
    return (struct pair){s, p->paired ? ref_round(p, a.error + ref_rounding_error(p, a.value, b, s))
                                      : 0};
}

static struct pair ref_add_product(const struct problem *p, struct pair sum, double a, double b)
{
    const double product = ref_round(p, a * b);
    sum.error = ref_round(p, sum.error + ref_round(p, fma(a, b, -product)));
    return ref_add(p, sum, product);
}

static struct pair ref_join(const struct problem *p, struct pair a, struct pair b)
{
    const double s = ref_round(p, a.value + b.value);
    if (!p->paired)
        return (struct pair){s, 0};
    return (struct pair){
        s,
        ref_round(p, a.error + ref_round(p, b.error + ref_rounding_error(p, a.value, b.value, s)))};
}

/* Reduce pairwise, neighbours first; an odd one at the end enters the next level. Overwrites
 * sums[]. */
static struct pair ref_join_all(const struct problem *p, struct pair *sums, size_t count)
{
    for (; count > 1; count = count / 2 + count % 2)
        for (size_t i = 0; i < count; i += 2)
            sums[i / 2] = i + 1 < count ? ref_join(p, sums[i], sums[i + 1]) : sums[i];
    return sums[0];
}

/* ---- Terms. ---------------------------------------------------------------------------------- */

static struct pair ref_term_sum(const struct problem *p, struct pair sum, size_t i)
{
    return ref_add(p, sum, ref_element(p, p->x, i));
}

static struct pair ref_term_dot(const struct problem *p, struct pair sum, size_t i)
{
    const double x = ref_element(p, p->x, i), y = ref_element(p, p->y, i);
    return p->paired ? ref_add_product(p, sum, x, y) : (struct pair){fma(x, y, sum.value), 0};
}

static struct pair ref_term_squares(const struct problem *p, struct pair sum, size_t i)
{
    const double x = ref_element(p, p->x, i), y = ref_element(p, p->y, i),
                 z = ref_element(p, p->z, i);
    if (p->paired)
        return ref_add_product(p, ref_add_product(p, ref_add_product(p, sum, x, x), y, y), z, z);
    return ref_add(p, sum, fma(x, x, fma(y, y, z * z)));
}

static struct pair ref_term_deviation(const struct problem *p, struct pair sum, size_t i)
{
    const double c = ref_round(p, p->mean), d = ref_round(p, p->mean - c);
    double off = ref_round(p, ref_round(p, ref_element(p, p->x, i) - c) - d);
    if (p->type == ARRAYS_LONG) { /* a double has not all digits of x */
        const int64_t whole = ((const int64_t *)p->x)[i];
        const double high = (double)(whole >> 32) * 0x1p32, low = (double)(whole & 0xFFFFFFFF);
        const double near = high + low, rest = low - (near - high); /* near + rest is x */
        off = (near - c) + (rest - d);
    }
    return ref_add(p, sum, ref_round(p, off * off));
}

/* ---- The order. ------------------------------------------------------------------------------ */

static struct pair ref_strip(const struct problem *p, size_t first)
{
    struct pair lane[LANES] = {{0, 0}};
    for (size_t row = 0; row < ROWS; row++)
        for (size_t l = 0; l < LANES && first + row * LANES + l < p->n; l++)
            lane[l] = p->term(p, lane[l], first + row * LANES + l);
    return ref_join_all(p, lane, LANES);
}

static double ref_total(struct problem p, enum arrays_accumulator accumulator)
{
    p.paired = accumulator != ARRAYS_WIDE && (p.type == ARRAYS_FLOAT || p.type == ARRAYS_DOUBLE);
    p.single = p.paired && p.type == ARRAYS_FLOAT &&
               (p.term == ref_term_sum || (int)accumulator == ARRAYS_REF_FLOAT_PAIRS);
    const size_t blocks = p.n / BLOCK + 1;
    size_t used = 0;
    struct pair *sums = calloc(blocks, sizeof *sums), all = {0, 0};
    for (size_t b = 0; sums && b * BLOCK < p.n; b++) {
        struct pair strip[STRIPS];
        for (size_t s = 0; s < STRIPS; s++)
            strip[s] = ref_strip(&p, b * BLOCK + s * STRIP);
        sums[used++] = ref_join_all(&p, strip, STRIPS);
    }
    p.single = false; /* the host joins blocks in double */
    if (used)
        all = ref_join_all(&p, sums, used);
    free(sums);
    return p.paired && isfinite(all.value) ? all.value + all.error : all.value;
}

double arrays_ref_sum(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                      size_t n)
{
    return ref_total((struct problem){.type = type, .x = x, .n = n, .term = ref_term_sum},
                     accumulator);
}

double arrays_ref_dot(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                      const void *y, size_t n)
{
    return ref_total((struct problem){.type = type, .x = x, .y = y, .n = n, .term = ref_term_dot},
                     accumulator);
}

double arrays_ref_squares(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                          const void *y, const void *z, size_t n)
{
    return ref_total(
        (struct problem){.type = type, .x = x, .y = y, .z = z, .n = n, .term = ref_term_squares},
        accumulator);
}

double arrays_ref_deviations(enum arrays_type type, enum arrays_accumulator accumulator,
                             const void *x, size_t n, double mean)
{
    return ref_total(
        (struct problem){.type = type, .x = x, .n = n, .mean = mean, .term = ref_term_deviation},
        accumulator);
}

/* ---- Prefix sums and sorting. ---------------------------------------------------------------- */

uint64_t arrays_ref_scan(int bytes, const void *x, void *sums, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t own = bytes == 4 ? ((const uint32_t *)x)[i] : ((const uint64_t *)x)[i];
        if (bytes == 4)
            ((uint32_t *)sums)[i] = (uint32_t)sum;
        else
            ((uint64_t *)sums)[i] = sum;
        sum += own;
    }
    return bytes == 4 ? (uint32_t)sum : sum;
}

/* One pass of a radix sort by a digit of 8 bits, for each width of keys. */
#define REF_PASS(type, name)                                                                       \
    static void name(const type *keys, const uint32_t *values, type *to, uint32_t *to_values,      \
                     size_t n, int shift, unsigned mask)                                           \
    {                                                                                              \
        size_t place[257] = {0};                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            place[(keys[i] >> shift & mask) + 1]++;                                                \
        for (size_t digit = 0; digit < 256; digit++)                                               \
            place[digit + 1] += place[digit];                                                      \
        for (size_t i = 0; i < n; i++) {                                                           \
            const size_t p = place[keys[i] >> shift & mask]++;                                     \
            to[p] = keys[i];                                                                       \
            if (values)                                                                            \
                to_values[p] = values[i];                                                          \
        }                                                                                          \
    }
REF_PASS(uint32_t, ref_pass_32)
REF_PASS(uint64_t, ref_pass_64)

void arrays_ref_sort(int bytes, int bits, void *keys, uint32_t *values, size_t n, void *work)
{
    void *from = keys, *to = work;
    uint32_t *from_values = values,
             *to_values = (uint32_t *)(void *)((char *)work + n * (size_t)bytes);
    for (int shift = 0; shift < bits; shift += 8) {
        const unsigned mask = bits - shift < 8 ? (1u << (bits - shift)) - 1 : 255;
        if (bytes == 4)
            ref_pass_32(from, from_values, to, to_values, n, shift, mask);
        else
            ref_pass_64(from, from_values, to, to_values, n, shift, mask);
        void *const other = from;
        uint32_t *const other_values = from_values;
        from = to;
        to = other;
        from_values = values ? to_values : NULL;
        to_values = other_values;
    }
    if (from == keys)
        return;
    memcpy(keys, from, n * (size_t)bytes);
    if (values)
        memcpy(values, from_values, n * sizeof *values);
}
