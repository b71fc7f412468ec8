/* strips.h - a template: a block of elements of one type is added up on the host, in the order of order.h.
 *
 * strips.c includes it once for each pair of types. Given:
 *   NAME(x)           puts the pair's name in front of x
 *   ELEMENT, WIDE     what the array has, and what is added
 *   PAIRED            as in order.h: 1 a value and its rounding error, 2 the halves of long integers
 *   FETCH(x)          a vector of WIDE from elements at x; else as compilers do it
 *   FMA, FMAS         a b + c rounded once, of numbers and of vectors: FMA where WIDE is a floating-point type, FMAS if there is one
 *   LOW, HIGH         the least and the greatest of WIDE
 *   OPERATIONS        what there is to do, BIT(OP_SUM) | ...
 *
 * A strip is gone through once for each HELD vectors of a row, whose sums stay in registers: as many as keep the adders busy and
 * a processor with 16 registers can hold. What the operations do is what sum.cl does; each function here is named as there.
 * SPDX-License-Identifier: MIT
 */
#define NUMBERS ((int)(VECTOR_BYTES / sizeof(WIDE)))
#define HELD ((PAIRED ? 4 : 8) * NUMBERS < BLOCK_LANES ? (PAIRED ? 4 : 8) : BLOCK_LANES / NUMBERS)
#ifndef FETCH
#define FETCH(x) __builtin_convertvector(*(const NAME(elements) *)(const void *)(x), NAME(wides))
#endif
#define HAS(op) (((OPERATIONS) & BIT(op)) != 0)

typedef WIDE NAME(wides) __attribute__((vector_size(VECTOR_BYTES)));
/* As they lie in an array: aligned like one element, and next to numbers of any type. */
typedef WIDE NAME(stored) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(WIDE)), may_alias));
typedef ELEMENT NAME(elements)
    __attribute__((vector_size(VECTOR_BYTES / sizeof(WIDE) * sizeof(ELEMENT)), aligned(sizeof(ELEMENT)), may_alias));

struct NAME(sums) { /* of lanes or strips; errors are used where there are some */
    WIDE value[BLOCK_LANES];
    WIDE error[BLOCK_LANES];
};
struct NAME(sum) { /* of a block: what a kernel leaves, but for the error where there is none */
    WIDE value;
#if PAIRED
    WIDE error;
#endif
};

/* ---- What an element adds. -------------------------------------------------------------------- */

INLINE NAME(wides) NAME(fetch)(const ELEMENT *x)
{
    return (NAME(wides))FETCH(x);
}

/* What stands for elements that are not there. */
INLINE WIDE NAME(filling)(enum sums_op op)
{
    return op == OP_LEAST ? HIGH : op == OP_GREATEST ? LOW : 0;
}

/* b in lanes where that is wanted, else a: a comparison gives all bits or none. */
INLINE NAME(wides) NAME(keep)(enum sums_op op, NAME(wides) a, NAME(wides) b)
{
    const __typeof__(a < b) wanted = (op == OP_LEAST ? b < a : b > a) | (b != b);
    return (NAME(wides))((wanted & (__typeof__(wanted))b) | (~wanted & (__typeof__(wanted))a));
}

#if PAIRED == 2
INLINE void NAME(add)(NAME(wides) *value, NAME(wides) *error, NAME(wides) b)
{
    *value += b & 0xFFFFFFFFL;
    *error += b >> 32;
}
#elif PAIRED == 1
INLINE void NAME(add)(NAME(wides) *value, NAME(wides) *error, NAME(wides) b)
{
    const NAME(wides) a = *value, s = a + b, t = s - a;
    *error += (a - (s - t)) + (b - t);
    *value = s;
}
#else
INLINE void NAME(add)(NAME(wides) *value, NAME(wides) *error, NAME(wides) b)
{
    (void)error;
    *value += b;
}
#endif

#ifdef FMA
INLINE NAME(wides) NAME(fma)(NAME(wides) a, NAME(wides) b, NAME(wides) c)
{
#ifdef FMAS
    return FMAS(a, b, c);
#else
    NAME(wides) r;
    for (int i = 0; i < NUMBERS; i++)
        r[i] = FMA(a[i], b[i], c[i]);
    return r;
#endif
}

INLINE void NAME(add_product)(NAME(wides) *value, NAME(wides) *error, NAME(wides) a, NAME(wides) b)
{
#if PAIRED
    const NAME(wides) p = a * b;
    *error += NAME(fma)(a, b, -p);
    NAME(add)(value, error, p);
#else
    (void)error;
    *value = NAME(fma)(a, b, *value);
#endif
}

INLINE void NAME(add_squares)(NAME(wides) *value, NAME(wides) *error, NAME(wides) x, NAME(wides) y, NAME(wides) z)
{
#if PAIRED
    NAME(add_product)(value, error, x, x);
    NAME(add_product)(value, error, y, y);
    NAME(add_product)(value, error, z, z);
#else
    NAME(add)(value, error, NAME(fma)(x, x, NAME(fma)(y, y, z * z)));
#endif
}
#endif

INLINE void NAME(add_row)(enum sums_op op, NAME(wides) *value, NAME(wides) *error, const ELEMENT *x, const ELEMENT *y,
                          const ELEMENT *z, NAME(wides) c, NAME(wides) d)
{
    const NAME(wides) v = NAME(fetch)(x);
    (void)y, (void)z, (void)c, (void)d;
    if (op == OP_LEAST || op == OP_GREATEST) {
        *value = NAME(keep)(op, *value, v);
    } else if (op == OP_DEVIATE) {
        const NAME(wides) off = (v - c) - d;
        NAME(add)(value, error, off * off);
#ifdef FMA
    } else if (op == OP_DOT) {
        NAME(add_product)(value, error, v, NAME(fetch)(y));
    } else if (op == OP_SQUARES) {
        NAME(add_squares)(value, error, v, NAME(fetch)(y), NAME(fetch)(z));
#endif
    } else {
        NAME(add)(value, error, v);
    }
}

/* ---- Strips. ---------------------------------------------------------------------------------- */

/* Adds `rows` rows to all lanes. c and d: of each lane. */
INLINE void NAME(add_rows_of)(enum sums_op op, struct NAME(sums) *s, size_t rows, const ELEMENT *x, const ELEMENT *y,
                              const ELEMENT *z, const WIDE *c, const WIDE *d)
{
    for (int lane = 0; lane < BLOCK_LANES; lane += HELD * NUMBERS) {
        NAME(wides) value[HELD], error[HELD], vc[HELD], vd[HELD];
#pragma GCC unroll 8
        for (int k = 0; k < HELD; k++) {
            value[k] = *(const NAME(stored) *)&s->value[lane + k * NUMBERS];
            error[k] = *(const NAME(stored) *)&s->error[lane + k * NUMBERS];
            vc[k] = *(const NAME(stored) *)&c[lane + k * NUMBERS];
            vd[k] = *(const NAME(stored) *)&d[lane + k * NUMBERS];
        }
        for (size_t i = (size_t)lane; i < rows * BLOCK_LANES; i += BLOCK_LANES) {
#pragma GCC unroll 8
            for (int k = 0; k < HELD; k++)
                NAME(add_row)(op, &value[k], &error[k], x + i + k * NUMBERS, y + i + k * NUMBERS, z + i + k * NUMBERS,
                              vc[k], vd[k]);
        }
#pragma GCC unroll 8
        for (int k = 0; k < HELD; k++) {
            *(NAME(stored) *)&s->value[lane + k * NUMBERS] = value[k];
            *(NAME(stored) *)&s->error[lane + k * NUMBERS] = error[k];
        }
    }
}

/* The compiler makes a loop for each operation that there is. */
static void NAME(add_rows)(enum sums_op op, struct NAME(sums) *s, size_t rows, const ELEMENT *x, const ELEMENT *y,
                           const ELEMENT *z, const WIDE *c, const WIDE *d)
{
    if (HAS(OP_SUM) && op == OP_SUM)
        NAME(add_rows_of)(OP_SUM, s, rows, x, y, z, c, d);
    if (HAS(OP_DOT) && op == OP_DOT)
        NAME(add_rows_of)(OP_DOT, s, rows, x, y, z, c, d);
    if (HAS(OP_SQUARES) && op == OP_SQUARES)
        NAME(add_rows_of)(OP_SQUARES, s, rows, x, y, z, c, d);
    if (HAS(OP_DEVIATE) && op == OP_DEVIATE)
        NAME(add_rows_of)(OP_DEVIATE, s, rows, x, y, z, c, d);
    if (HAS(OP_LEAST) && op == OP_LEAST)
        NAME(add_rows_of)(OP_LEAST, s, rows, x, y, z, c, d);
    if (HAS(OP_GREATEST) && op == OP_GREATEST)
        NAME(add_rows_of)(OP_GREATEST, s, rows, x, y, z, c, d);
}

/* What is left of a strip in its last row: lanes that it does not have are as if they were FILL. */
static void NAME(add_rest)(enum sums_op op, struct NAME(sums) *s, size_t count, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                           WIDE c, WIDE d)
{
    ELEMENT row[3][BLOCK_LANES];
    WIDE mean[2][BLOCK_LANES];
    for (size_t lane = 0; lane < BLOCK_LANES; lane++) {
        const bool there = lane < count;
        row[0][lane] = there ? x[lane] : (ELEMENT)NAME(filling)(op);
        row[1][lane] = there ? y[lane] : 0;
        row[2][lane] = there ? z[lane] : 0;
        mean[0][lane] = there ? c : 0; /* so that the deviation of a 0 is 0 */
        mean[1][lane] = there ? d : 0;
    }
    NAME(add_rows)(op, s, 1, row[0], row[1], row[2], mean[0], mean[1]);
}

/* Joins `count` sums, a power of two, neighbours first; the result is the first. */
static void NAME(join)(enum sums_op op, struct NAME(sums) *s, int count)
{
    for (count /= 2; count > 0; count /= 2)
        for (int i = 0; i < count; i++) {
            const WIDE a = s->value[2 * i], b = s->value[2 * i + 1];
            if (op == OP_LEAST || op == OP_GREATEST) {
                s->value[i] = (op == OP_LEAST ? b < a : b > a) || b != b ? b : a;
            } else {
                const WIDE sum = a + b, t = sum - a, lost = PAIRED == 1 ? (a - (sum - t)) + (b - t) : 0;
                s->value[i] = sum;
                if (PAIRED)
                    s->error[i] = s->error[2 * i] + (s->error[2 * i + 1] + lost);
            }
        }
}

/* Of one strip, whose first elements these are: it has `count`. mean: c and d of each lane. */
static struct NAME(sum) NAME(strip)(enum sums_op op, size_t count, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                                    WIDE mean[2][BLOCK_LANES])
{
    const size_t rows = count / BLOCK_LANES, at = rows * BLOCK_LANES;
    struct NAME(sums) lanes;
    for (int l = 0; l < BLOCK_LANES; l++) {
        lanes.value[l] = NAME(filling)(op);
        lanes.error[l] = 0;
    }
    NAME(add_rows)(op, &lanes, rows, x, y, z, mean[0], mean[1]);
    if (at < count)
        NAME(add_rest)(op, &lanes, count - at, x + at, y + at, z + at, mean[0][0], mean[1][0]);
    NAME(join)(op, &lanes, BLOCK_LANES);
    return (struct NAME(sum)){.value = lanes.value[0],
#if PAIRED
                              .error = lanes.error[0]
#endif
    };
}

static void NAME(block)(const struct strips_job *job, size_t block)
{
    const WIDE c = (WIDE)job->mean, d = (WIDE)(job->mean - (double)c);
    struct NAME(sums) strips = {.value = {0}};
    WIDE mean[2][BLOCK_LANES];
    for (int l = 0; l < BLOCK_LANES; l++) {
        mean[0][l] = c;
        mean[1][l] = d;
    }
    for (size_t strip = 0; strip < BLOCK_STRIPS; strip++) {
        const size_t first = block * BLOCK + strip * STRIP, left = job->n > first ? job->n - first : 0, at = left ? first : 0;
        const struct NAME(sum) sum =
            NAME(strip)(job->op, left < STRIP ? left : STRIP, (const ELEMENT *)job->x + at, (const ELEMENT *)job->y + at,
                        (const ELEMENT *)job->z + at, mean);
        strips.value[strip] = sum.value;
#if PAIRED
        strips.error[strip] = sum.error;
#endif
    }
    NAME(join)(job->op, &strips, BLOCK_STRIPS);
    ((struct NAME(sum) *)job->partial)[block] = (struct NAME(sum)){.value = strips.value[0],
#if PAIRED
                                                                   .error = strips.error[0]
#endif
    };
}

#undef NUMBERS
#undef HELD
#undef HAS
#undef NAME
#undef ELEMENT
#undef WIDE
#undef PAIRED
#undef OPERATIONS
#undef FETCH
#undef FMA
#undef FMAS
#undef LOW
#undef HIGH
