/* reduce_host.h - template: the host reduces a block of elements of one type, in the order of
 * fixed_reduce.h.
 *
 * reduce_host.c includes it once for each pair of types, with these macros:
 *   NAME(x)           prefixes x with the pair's name
 *   ELEMENT, WIDE     the types of elements and of sums
 *   PAIRED            as in fixed_reduce.h: 1 value and rounding error, 2 halves of long integers
 *   FETCH(x)          load and convert a vector from elements at x; default: the compiler's
 *                     conversion
 *   LONGS(v)          convert a vector of 64-bit integers: the 32-bit halves of an element are
 *                     subtracted from the mean one by one, since WIDE has not all digits
 *   ADDS              sum of vectors; default: the compiler's
 *   FMA, FMAS         a b + c rounded once, of numbers and of vectors: FMA for floating-point WIDE,
 *                     FMAS if there is an instruction
 *   LOW, HIGH         the least and the greatest value of WIDE
 *   OPERATIONS        the operations to compile, BIT(OP_SUM) | ...
 *
 * A strip is processed VECTORS_AT_ONCE vectors of a row at a time. Their sums stay in registers:
 * enough to keep the adders busy, and few enough for 16 registers. sum.cl has the same operations,
 * under the same function names.
 * SPDX-License-Identifier: MIT
 */
#define VECTOR_LANES ((int)(VECTOR_BYTES / sizeof(WIDE)))
#define VECTORS_AT_ONCE                                                                            \
    ((PAIRED ? 4 : 8) * VECTOR_LANES < BLOCK_LANES ? (PAIRED ? 4 : 8) : BLOCK_LANES / VECTOR_LANES)
#ifndef FETCH
#define FETCH(x) __builtin_convertvector(*(const NAME(elements) *)(const void *)(x), NAME(wides))
#endif
#ifndef ADDS
#define ADDS(a, b) ((a) + (b))
#endif
#define HAS(op) (((OPERATIONS)&BIT(op)) != 0)

typedef WIDE NAME(wides) __attribute__((vector_size(VECTOR_BYTES)));
/* A vector in an array: aligned like one element, and aliasing any type. */
typedef WIDE NAME(stored)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(WIDE)), may_alias));
typedef ELEMENT NAME(elements)
    __attribute__((vector_size(VECTOR_BYTES / sizeof(WIDE) * sizeof(ELEMENT)),
                   aligned(sizeof(ELEMENT)), may_alias));

struct NAME(sums) { /* of all lanes of a block, strip by strip; error only if PAIRED */
    WIDE value[BLOCK_STRIPS * BLOCK_LANES];
    WIDE error[BLOCK_STRIPS * BLOCK_LANES];
};
struct NAME(sum) { /* of a block, as a kernel stores it */
    WIDE value;
#if PAIRED
    WIDE error;
#endif
};

/* ---- The contribution of an element. --------------------------------------------------------- */

INLINE NAME(wides) NAME(fetch)(const ELEMENT *x)
{
    return (NAME(wides))FETCH(x);
}

/* Return x - (c + d). */
INLINE NAME(wides) NAME(offset)(const ELEMENT *x, NAME(wides) c, NAME(wides) d)
{
#ifdef LONGS
    const NAME(elements) v = *(const NAME(elements) *)(const void *)x;
    const NAME(wides) high = LONGS(v >> 32) * 4294967296.0, low = LONGS(v & 0xFFFFFFFFL),
                      near = high + low, rest = low - (near - high); /* near + rest is x */
    return (near - c) + (rest - d);
#else
    return (NAME(fetch)(x) - c) - d;
#endif
}

/* Return the value that replaces missing elements. */
INLINE WIDE NAME(fill_value)(enum reduce_op op)
{
    return op == OP_MIN ? HIGH : op == OP_MAX ? LOW : 0;
}

/* Select the extreme of a and b in each lane. A comparison gives a mask of all bits or none. */
INLINE NAME(wides) NAME(select)(enum reduce_op op, NAME(wides) a, NAME(wides) b)
{
    const __typeof__(a < b) wanted = (op == OP_MIN ? b < a : b > a) | (b != b);
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
    for (int i = 0; i < VECTOR_LANES; i++)
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

INLINE void NAME(add_row)(enum reduce_op op, NAME(wides) * value, NAME(wides) * error,
                          const ELEMENT *x, const ELEMENT *y, const ELEMENT *z, NAME(wides) c,
                          NAME(wides) d)
{
    const NAME(wides) v = NAME(fetch)(x);
    (void)y, (void)z, (void)c, (void)d;
    if (op == OP_MIN || op == OP_MAX) {
        *value = NAME(select)(op, *value, v);
    } else if (op == OP_OFFSETS) {
        NAME(add)(value, error, NAME(offset)(x, c, d));
    } else if (op == OP_DEVIATIONS) {
        const NAME(wides) off = NAME(offset)(x, c, d);
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

/* Prefetch the rows that are read PREFETCH_BYTES later. An address past the end has no effect. */
INLINE void NAME(prefetch_rows)(enum reduce_op op, const ELEMENT *x, const ELEMENT *y,
                                const ELEMENT *z)
{
    for (size_t at = PREFETCH_BYTES;
         at < PREFETCH_BYTES + VECTORS_AT_ONCE * VECTOR_LANES * sizeof(ELEMENT); at += 64) {
        __builtin_prefetch((const void *)((uintptr_t)x + at));
        if (op == OP_DOT || op == OP_SQUARES)
            __builtin_prefetch((const void *)((uintptr_t)y + at));
        if (op == OP_SQUARES)
            __builtin_prefetch((const void *)((uintptr_t)z + at));
    }
}

/* Add `rows` rows to the lanes of a strip, which start at `at`, or with `begins` initialise them.
 * c and d: the mean, for each lane. */
INLINE void NAME(add_rows_of)(enum reduce_op op, struct NAME(sums) * s, size_t at, bool begins,
                              size_t rows, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                              const WIDE *c, const WIDE *d)
{
    const NAME(wides) none = NAME(fill_value)(op) - (NAME(wides)){0};
    for (size_t lane = 0; lane < BLOCK_LANES; lane += VECTORS_AT_ONCE * VECTOR_LANES) {
        NAME(wides)
        value[VECTORS_AT_ONCE], error[VECTORS_AT_ONCE], vc[VECTORS_AT_ONCE], vd[VECTORS_AT_ONCE];
#pragma GCC unroll 8
        for (int k = 0; k < VECTORS_AT_ONCE; k++) {
            const size_t own = lane + (size_t)(k * VECTOR_LANES);
            value[k] = begins ? none : (NAME(wides)) * (const NAME(stored) *)&s->value[at + own];
            error[k] = begins || !PAIRED
                           ? (NAME(wides)){0}
                           : (NAME(wides)) * (const NAME(stored) *)&s->error[at + own];
            vc[k] = *(const NAME(stored) *)&c[own];
            vd[k] = *(const NAME(stored) *)&d[own];
        }
        for (size_t i = lane; i < rows * BLOCK_LANES; i += BLOCK_LANES) {
            NAME(prefetch_rows)(op, x + i, y + i, z + i);
#pragma GCC unroll 8
            for (int k = 0; k < VECTORS_AT_ONCE; k++)
                NAME(add_row)
            (op, &value[k], &error[k], x + i + k * VECTOR_LANES, y + i + k * VECTOR_LANES,
             z + i + k * VECTOR_LANES, vc[k], vd[k]);
        }
#pragma GCC unroll 8
        for (int k = 0; k < VECTORS_AT_ONCE; k++) {
            const size_t own = lane + (size_t)(k * VECTOR_LANES);
            *(NAME(stored) *)&s->value[at + own] = value[k];
            if (PAIRED)
                *(NAME(stored) *)&s->error[at + own] = error[k];
        }
    }
}

/* Most strips are whole and get a loop of constant length. */
INLINE void NAME(add_rows_as)(enum reduce_op op, struct NAME(sums) * s, size_t at, bool begins,
                              size_t rows, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                              const WIDE *c, const WIDE *d)
{
    if (begins && rows == BLOCK_ROWS)
        NAME(add_rows_of)(op, s, at, true, BLOCK_ROWS, x, y, z, c, d);
    else
        NAME(add_rows_of)(op, s, at, begins, rows, x, y, z, c, d);
}

/* Specialise the loops for each operation. */
static void NAME(add_rows)(enum reduce_op op, struct NAME(sums) * s, size_t at, bool begins,
                           size_t rows, const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                           const WIDE *c, const WIDE *d)
{
    if (HAS(OP_SUM) && op == OP_SUM)
        NAME(add_rows_as)(OP_SUM, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_DOT) && op == OP_DOT)
        NAME(add_rows_as)(OP_DOT, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_SQUARES) && op == OP_SQUARES)
        NAME(add_rows_as)(OP_SQUARES, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_DEVIATIONS) && op == OP_DEVIATIONS)
        NAME(add_rows_as)(OP_DEVIATIONS, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_OFFSETS) && op == OP_OFFSETS)
        NAME(add_rows_as)(OP_OFFSETS, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_MIN) && op == OP_MIN)
        NAME(add_rows_as)(OP_MIN, s, at, begins, rows, x, y, z, c, d);
    if (HAS(OP_MAX) && op == OP_MAX)
        NAME(add_rows_as)(OP_MAX, s, at, begins, rows, x, y, z, c, d);
}

/* Add the short last row of a strip: missing lanes get the fill value. */
static void NAME(add_tail)(enum reduce_op op, struct NAME(sums) * s, size_t at, size_t count,
                           const ELEMENT *x, const ELEMENT *y, const ELEMENT *z, WIDE c, WIDE d)
{
    ELEMENT row[3][BLOCK_LANES];
    WIDE mean[2][BLOCK_LANES];
    for (size_t lane = 0; lane < BLOCK_LANES; lane++) {
        const bool there = lane < count;
        row[0][lane] = there ? x[lane] : (ELEMENT)NAME(fill_value)(op);
        row[1][lane] = there ? y[lane] : 0;
        row[2][lane] = there ? z[lane] : 0;
        mean[0][lane] = there ? c : 0; /* the deviation of a 0 is then 0 */
        mean[1][lane] = there ? d : 0;
    }
    NAME(add_rows)(op, s, at, false, 1, row[0], row[1], row[2], mean[0], mean[1]);
}

/* to[i] = from[2i] joined with from[2i + 1]. */
INLINE void NAME(join_level)(enum reduce_op op, const struct NAME(sums) *restrict from,
                             struct NAME(sums) *restrict to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const WIDE a = from->value[2 * i], b = from->value[2 * i + 1], sum = a + b;
        if (op == OP_MIN || op == OP_MAX)
            to->value[i] = (op == OP_MIN ? b < a : b > a) || b != b ? b : a;
        else
            to->value[i] = sum;
#if PAIRED
        const WIDE t = sum - a, lost = PAIRED == 1 ? (a - (sum - t)) + (b - t) : 0;
        to->error[i] = from->error[2 * i] + (from->error[2 * i + 1] + lost);
#endif
    }
}

/* Join neighbouring lanes until each strip has one sum, then join the strips. The result is the
 * first sum in `s`. */
INLINE void NAME(join_all)(enum reduce_op op, struct NAME(sums) * s)
{
    struct NAME(sums) other;
    for (size_t count = BLOCK_STRIPS * BLOCK_LANES / 2; count > 0;
         count /= 4) { /* an even number of levels */
        NAME(join_level)(op, s, &other, count);
        NAME(join_level)(op, &other, s, count / 2);
    }
}

static void NAME(join)(enum reduce_op op, struct NAME(sums) * s)
{
    if (HAS(OP_MIN) && op == OP_MIN)
        NAME(join_all)(OP_MIN, s);
    else if (HAS(OP_MAX) && op == OP_MAX)
        NAME(join_all)(OP_MAX, s);
    else
        NAME(join_all)(OP_SUM, s);
}

/* Reduce one strip of `count` elements into its lanes, which start at `lane`. mean: c and d of
 * each lane. */
INLINE void NAME(strip)(enum reduce_op op, struct NAME(sums) * s, size_t lane, size_t count,
                        const ELEMENT *x, const ELEMENT *y, const ELEMENT *z,
                        WIDE mean[2][BLOCK_LANES])
{
    const size_t rows = count / BLOCK_LANES, at = rows * BLOCK_LANES;
    NAME(add_rows)(op, s, lane, true, rows, x, y, z, mean[0], mean[1]);
    if (at < count)
        NAME(add_tail)(op, s, lane, count - at, x + at, y + at, z + at, mean[0][0], mean[1][0]);
}

static void NAME(block)(const struct reduce_host_job *job, size_t block)
{
    const WIDE c = (WIDE)job->mean.high, d = (WIDE)(job->mean.high - (double)c + job->mean.low);
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

#undef VECTOR_LANES
#undef VECTORS_AT_ONCE
#undef HAS
#undef NAME
#undef ELEMENT
#undef WIDE
#undef PAIRED
#undef OPERATIONS
#undef FETCH
#undef LONGS
#undef ADDS
#undef FMA
#undef FMAS
#undef LOW
#undef HIGH
