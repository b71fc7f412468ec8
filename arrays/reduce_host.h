/* reduce_host.h - a template: a block of elements of one type is added up on the host, in the order
 * of fixed_reduce.h.
 *
 * reduce_host.c includes it once for each pair of types. Given:
 *   NAME(x)           puts the pair's name in front of x
 *   ELEMENT, WIDE     what the array has, and what is added
 *   PAIRED            as in fixed_reduce.h: 1 a value and its rounding error, 2 the halves of long
 *                     integers
 *   FETCH(x)          a vector of WIDE from elements at x; else as compilers do it
 *   ADDS              a sum of vectors; else as compilers do it
 *   FMA, FMAS         a b + c rounded once, of numbers and of vectors: FMA where WIDE is a
 *                     floating-point type, FMAS if there is one
 *   LOW, HIGH         the least and the greatest of WIDE
 *   OPERATIONS        what there is to do, BIT(OP_SUM) | ...
 *
 * A strip is gone through once for each HELD vectors of a row, whose sums stay in registers: as
 * many as keep the adders busy and a processor with 16 registers can hold. What the operations do
 * is what sum.cl does; each function here is named as there.
 * SPDX-License-Identifier: MIT
 */
#define NUMBERS ((int)(VECTOR_BYTES / sizeof(WIDE)))
#define HELD ((PAIRED ? 4 : 8) * NUMBERS < BLOCK_LANES ? (PAIRED ? 4 : 8) : BLOCK_LANES / NUMBERS)
#ifndef FETCH
#define FETCH(x) __builtin_convertvector(*(const NAME(elements) *)(const void *)(x), NAME(wides))
#endif
#ifndef ADDS
#define ADDS(a, b) ((a) + (b))
#endif
#define HAS(op) (((OPERATIONS)&BIT(op)) != 0)

typedef WIDE NAME(wides) __attribute__((vector_size(VECTOR_BYTES)));
/* As they lie in an array: aligned like one element, and next to numbers of any type. */
typedef WIDE NAME(stored)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(WIDE)), may_alias));
typedef ELEMENT NAME(elements)
    __attribute__((vector_size(VECTOR_BYTES / sizeof(WIDE) * sizeof(ELEMENT)),
                   aligned(sizeof(ELEMENT)), may_alias));

struct NAME(
    sums) { /* of all lanes of a block, strip after strip; errors are used where there are some */
    WIDE value[BLOCK_STRIPS * BLOCK_LANES];
    WIDE error[BLOCK_STRIPS * BLOCK_LANES];
};
struct NAME(sum) { /* of a block: what a kernel leaves, but for the error where there is none */
    WIDE value;
#if PAIRED
    WIDE error;
#endif
};

/* ---- What an element adds. ------------------------------------------------------------------- */

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
INLINE void NAME(add)(NAME(wides) * value, NAME(wides) * error, NAME(wides) b)
{
    *value += b & 0xFFFFFFFFL;
    *error += b >> 32;
}
#elif PAIRED == 1
INLINE void NAME(add)(NAME(wides) * value, NAME(wides) * error, NAME(wides) b)
{
    const NAME(wides) a = *value, s = a + b, t = s - a;
    *error += (a - (s - t)) + (b - t);
    *value = s;
}
#else
INLINE void NAME(add)(NAME(wides) * value, NAME(wides) * error, NAME(wides) b)
{
    (void)error;
    *value = ADDS(*value, b);
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

INLINE void NAME(add_product)(NAME(wides) * value, NAME(wides) * error, NAME(wides) a,
                              NAME(wides) b)
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

INLINE void NAME(add_squares)(NAME(wides) * value, NAME(wides) * error, NAME(wides) x,
                              NAME(wides) y, NAME(wides) z)
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

INLINE void NAME(add_row)(enum sums_op op, NAME(wides) * value, NAME(wides) * error,
                          const ELEMENT *x, const ELEMENT *y, const ELEMENT *z, NAME(wides) c,
                          NAME(wides) d)
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

/* ---- Strips. --------------------------------------------------------------------------------- */

/* What is read AHEAD bytes later, of HELD vectors: from the third-level cache and from memory it
 * comes faster so. There may be nothing. */
INLINE void NAME(fetch_ahead)(enum sums_op op, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z)
{
    for (size_t at = AHEAD; at < AHEAD + HELD * NUMBERS * sizeof(ELEMENT); at += 64) {
        __builtin_prefetch((const void *)((uintptr_t)x + at));
        if (op == OP_DOT || op == OP_SQUARES)
            __builtin_prefetch((const void *)((uintptr_t)y + at));
        if (op == OP_SQUARES)
            __builtin_prefetch((const void *)((uintptr_t)z + at));
    }
}

/* Adds `rows` rows to the lanes of a strip, which are those from `at` on, or, with `begins`, to
 * nothing. c and d: of each lane. */
INLINE void NAME(add_rows_of)(enum sums_op op, struct NAME(sums) * s, size_t at, bool begins,
                              size_t rows, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                              const WIDE *c, const WIDE *d)
{
    const NAME(wides) none = NAME(filling)(op) - (NAME(wides)){0};
    for (size_t lane = 0; lane < BLOCK_LANES; lane += HELD * NUMBERS) {
        NAME(wides) value[HELD], error[HELD], vc[HELD], vd[HELD];
#pragma GCC unroll 8
        for (int k = 0; k < HELD; k++) {
            const size_t own = lane + (size_t)(k * NUMBERS);
            value[k] = begins ? none : (NAME(wides)) * (const NAME(stored) *)&s->value[at + own];
            error[k] = begins || !PAIRED
                           ? (NAME(wides)){0}
                           : (NAME(wides)) * (const NAME(stored) *)&s->error[at + own];
            vc[k] = *(const NAME(stored) *)&c[own];
            vd[k] = *(const NAME(stored) *)&d[own];
        }
        for (size_t i = lane; i < rows * BLOCK_LANES; i += BLOCK_LANES) {
            NAME(fetch_ahead)(op, x + i, y + i, z + i);
#pragma GCC unroll 8
            for (int k = 0; k < HELD; k++)
                NAME(add_row)
            (op, &value[k], &error[k], x + i + k * NUMBERS, y + i + k * NUMBERS,
             z + i + k * NUMBERS, vc[k], vd[k]);
        }
#pragma GCC unroll 8
        for (int k = 0; k < HELD; k++) {
            const size_t own = lane + (size_t)(k * NUMBERS);
            *(NAME(stored) *)&s->value[at + own] = value[k];
            if (PAIRED)
                *(NAME(stored) *)&s->error[at + own] = error[k];
        }
    }
}

/* Most strips are whole: a loop for those. */
INLINE void NAME(add_rows_as)(enum sums_op op, struct NAME(sums) * s, size_t at, bool begins,
                              size_t rows, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                              const WIDE *c, const WIDE *d)
{
    if (begins && rows == BLOCK_ROWS)
        NAME(add_rows_of)(op, s, at, true, BLOCK_ROWS, x, y, z, c, d);
    else
        NAME(add_rows_of)(op, s, at, begins, rows, x, y, z, c, d);
}

/* The compiler makes loops for each operation that there is. */
static void NAME(add_rows)(enum sums_op op, struct NAME(sums) * s, size_t at, bool begins,
                           size_t rows, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                           const WIDE *c, const WIDE *d)
{
    if (HAS(OP_SUM) && op == OP_SUM)
        NAME(add_rows_as)(OP_SUM, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_DOT) && op == OP_DOT)
        NAME(add_rows_as)(OP_DOT, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_SQUARES) && op == OP_SQUARES)
        NAME(add_rows_as)(OP_SQUARES, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_DEVIATE) && op == OP_DEVIATE)
        NAME(add_rows_as)(OP_DEVIATE, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_LEAST) && op == OP_LEAST)
        NAME(add_rows_as)(OP_LEAST, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_GREATEST) && op == OP_GREATEST)
        NAME(add_rows_as)(OP_GREATEST, s, at, begins, rows, x, y, z, c, d);
}

/* What is left of a strip in its last row: lanes that it does not have are as if they were FILL. */
static void NAME(add_rest)(enum sums_op op, struct NAME(sums) * s, size_t at, size_t count,
                           const ELEMENT *x, const ELEMENT *y, const ELEMENT *z, WIDE c, WIDE d)
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
    NAME(add_rows)(op, s, at, false, 1, row[0], row[1], row[2], mean[0], mean[1]);
}

/* to[i] = from[2i] joined with from[2i + 1]. */
INLINE void NAME(join_level)(enum sums_op op, const struct NAME(sums) *restrict from,
                             struct NAME(sums) *restrict to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const WIDE a = from->value[2 * i], b = from->value[2 * i + 1], sum = a + b;
        if (op == OP_LEAST || op == OP_GREATEST)
            to->value[i] = (op == OP_LEAST ? b < a : b > a) || b != b ? b : a;
        else
            to->value[i] = sum;
#if PAIRED
        const WIDE t = sum - a, lost = PAIRED == 1 ? (a - (sum - t)) + (b - t) : 0;
        to->error[i] = from->error[2 * i] + (from->error[2 * i + 1] + lost);
#endif
    }
}

/* Joins all lanes, neighbours first: of each strip, then of all strips. The result is the first of
 * `s`. */
INLINE void NAME(join_all)(enum sums_op op, struct NAME(sums) * s)
{
    struct NAME(sums) other;
    for (size_t count = BLOCK_STRIPS * BLOCK_LANES / 2; count > 0;
         count /= 4) { /* an even number of levels */
        NAME(join_level)(op, s, &other, count);
        NAME(join_level)(op, &other, s, count / 2);
    }
}

static void NAME(join)(enum sums_op op, struct NAME(sums) * s)
{
    if (HAS(OP_LEAST) && op == OP_LEAST)
        NAME(join_all)(OP_LEAST, s);
    else if (HAS(OP_GREATEST) && op == OP_GREATEST)
        NAME(join_all)(OP_GREATEST, s);
    else
        NAME(join_all)(OP_SUM, s);
}

/* Adds up the lanes of one strip, from `lane` on, whose first elements these are: it has `count`.
 * mean: c and d of each lane. */
INLINE void NAME(strip)(enum sums_op op, struct NAME(sums) * s, size_t lane, size_t count,
                        const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                        WIDE mean[2][BLOCK_LANES])
{
    const size_t rows = count / BLOCK_LANES, at = rows * BLOCK_LANES;
    NAME(add_rows)(op, s, lane, true, rows, x, y, z, mean[0], mean[1]);
    if (at < count)
        NAME(add_rest)(op, s, lane, count - at, x + at, y + at, z + at, mean[0][0], mean[1][0]);
}

static void NAME(block)(const struct strips_job *job, size_t block)
{
    const WIDE c = (WIDE)job->mean, d = (WIDE)(job->mean - (double)c);
    struct NAME(sums) s;
    WIDE mean[2][BLOCK_LANES];
    for (int l = 0; l < BLOCK_LANES; l++) {
        mean[0][l] = c;
        mean[1][l] = d;
    }
    for (size_t strip = 0; strip < BLOCK_STRIPS; strip++) {
        const size_t first = block * BLOCK + strip * STRIP,
                     left = job->n > first ? job->n - first : 0, at = left ? first : 0;
        NAME(strip)
        (job->op, &s, strip * BLOCK_LANES, left < STRIP ? left : STRIP,
         (const ELEMENT *)job->x + at, (const ELEMENT *)job->y + at, (const ELEMENT *)job->z + at,
         mean);
    }
    NAME(join)(job->op, &s);
    ((struct NAME(sum) *)job->partial)[block] = (struct NAME(sum))
    {
        .value = s.value[0],
#if PAIRED
        .error = s.error[0]
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
#undef ADDS
#undef FMA
#undef FMAS
#undef LOW
#undef HIGH
