/* scan_host.h - template: the host scans numbers of one type.
 *
 * scan_host.c includes it once for each type, with these macros:
 *   NAME(x)        prefixes x with the type's name
 *   NUMBER, INDEX  the type, and the unsigned integer of its size
 *   MEMBER         member of union scan_number that holds sums: whole or real
 *   FLOATING       1 if the type is floating-point
 *   LANES          numbers of a vector of VECTOR_BYTES: 2, 4, 8 or 16
 *
 * A line of 64 bytes is scanned in registers, in log2(LINE) steps: each adds the line moved up by
 * 1, 2, 4 ... numbers (Hillis & Steele 1986, doi:10.1145/7902.7903). All sets of instructions add
 * in this order. Lines are independent but for one addition each, of the sum so far. While a block
 * is scanned, the next block is prefetched: like a copy, the loop reads and writes memory at once.
 * SPDX-License-Identifier: MIT
 */
typedef NUMBER NAME(vec) __attribute__((vector_size(VECTOR_BYTES)));
typedef INDEX NAME(mask) __attribute__((vector_size(VECTOR_BYTES)));
/* A vector in an array: aligned like one element. */
typedef NUMBER NAME(stored) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(NUMBER))));

#define LINE (VECTORS * LANES) /* numbers of a line */

/* UP_n: lanes of two vectors, numbered from 0: the second vector moved up by n lanes, after the
 * last lanes of the first. LAST: the last lane in all lanes. */
#if LANES == 2
#define UP_1 1, 2
#define LAST 1, 1
#elif LANES == 4
#define UP_1 3, 4, 5, 6
#define UP_2 2, 3, 4, 5
#define LAST 3, 3, 3, 3
#elif LANES == 8
#define UP_1 7, 8, 9, 10, 11, 12, 13, 14
#define UP_2 6, 7, 8, 9, 10, 11, 12, 13
#define UP_4 4, 5, 6, 7, 8, 9, 10, 11
#define LAST 7, 7, 7, 7, 7, 7, 7, 7
#else
#define UP_1 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#define UP_2 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
#define UP_4 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
#define UP_8 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
#define LAST 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
#endif

/* Vector k of a line moved up by less than a vector; zeros move into the first one. */
#define MOVED(v, k, up) SHUFFLE(NAME(mask), (k) ? (v)[(k)-1] : none, (v)[k], up)

/* Inclusive prefix sums of a line, in place. */
INLINE void NAME(scan_line)(NAME(vec) * v)
{
    const NAME(vec) none = {0};
    for (int k = VECTORS - 1; k >= 0; k--)
        v[k] += MOVED(v, k, UP_1);
#if LANES > 2
    for (int k = VECTORS - 1; k >= 0; k--)
        v[k] += MOVED(v, k, UP_2);
#endif
#if LANES > 4
    for (int k = VECTORS - 1; k >= 0; k--)
        v[k] += MOVED(v, k, UP_4);
#endif
#if LANES > 8
    for (int k = VECTORS - 1; k >= 0; k--)
        v[k] += MOVED(v, k, UP_8);
#endif
    for (int apart = 1; apart < VECTORS; apart *= 2)
        for (int k = VECTORS - 1; k >= apart; k--)
            v[k] += v[k - apart];
}

/* Exclusive prefix sums of vector k of a line, from the inclusive ones and its numbers. */
INLINE NAME(vec) NAME(exclude)(const NAME(vec) * all, int k, NAME(vec) own)
{
#if FLOATING
    const NAME(vec) none = {0};
    (void)own;
    return MOVED(all, k, UP_1);
#else
    return all[k] - own;
#endif
}

INLINE NAME(vec) NAME(load)(const NUMBER *x)
{
    return (NAME(vec)) * (const NAME(stored) *)x;
}

INLINE void NAME(store)(bool stream, NUMBER *sums, NAME(vec) v)
{
    if (stream)
        STREAM(sums, v);
    else
        *(NAME(stored) *)sums = (NAME(stored))v;
}

/* Return the sum of a line and of n more numbers. */
INLINE union scan_number NAME(sum_rest)(const NAME(vec) * v, const NUMBER *x, size_t n)
{
    union scan_number sum = {0};
    for (size_t lane = 0; lane < LINE; lane++)
        sum.MEMBER += v[lane / LANES][lane % LANES];
    for (size_t i = 0; i < n; i++)
        sum.MEMBER += x[i];
    return sum;
}

/* Scan a line. carry: the sum so far, in all lanes. */
INLINE void NAME(scan_and_store)(bool inclusive, bool stream, NUMBER *sums, const NUMBER *x,
                                 NAME(vec) * carry)
{
    NAME(vec) own[VECTORS], all[VECTORS];
    for (int k = 0; k < VECTORS; k++)
        all[k] = own[k] = NAME(load)(x + k * LANES);
    NAME(scan_line)(all);
    for (int k = 0; k < VECTORS; k++)
        NAME(store)
    (stream, sums + k * LANES, *carry + (inclusive ? all[k] : NAME(exclude)(all, k, own[k])));
    *carry += SHUFFLE(NAME(mask), all[VECTORS - 1], all[VECTORS - 1], LAST);
}

/* Scan whole lines of a block. Return how many numbers are scanned. */
INLINE size_t NAME(scan_lines)(bool inclusive, bool stream, struct scan_block *b)
{
    const NUMBER *const x = b->x, *const next = b->next;
    NUMBER *const sums = b->sums;
    const size_t n = b->n / LINE * LINE;
    const NAME(vec) none = {0};
    NAME(vec) carry = (NUMBER)b->before.MEMBER + none;
    for (size_t i = 0; i < n; i += LINE) {
        __builtin_prefetch(next + i, 0, SECOND_LEVEL_CACHE);
        NAME(scan_and_store)(inclusive, stream, sums + i, x + i, &carry);
    }
    b->before.MEMBER = carry[0];
    return n;
}

INLINE void NAME(scan_either)(bool inclusive, bool stream, struct scan_block *b)
{
    const size_t done = NAME(scan_lines)(inclusive, stream, b);
    const NUMBER *x = b->x;
    NUMBER *sums = b->sums, before = (NUMBER)b->before.MEMBER;
    for (size_t i = done; i < b->n; i++) {
        const NUMBER own = x[i]; /* sums may be x */
        sums[i] = inclusive ? before + own : before;
        before += own;
    }
    b->before.MEMBER = before;
    if (stream)
        STREAM_END();
}

static void NAME(scan)(struct scan_block *b)
{
    if (b->inclusive && b->stream)
        NAME(scan_either)(true, true, b);
    else if (b->inclusive)
        NAME(scan_either)(true, false, b);
    else if (b->stream)
        NAME(scan_either)(false, true, b);
    else
        NAME(scan_either)(false, false, b);
}

static union scan_number NAME(sum)(const void *x_, size_t n)
{
    const NUMBER *x = x_;
    NAME(vec) sum[VECTORS] = {{0}};
    size_t i = 0;
    for (; i + LINE <= n; i += LINE)
        for (int k = 0; k < VECTORS; k++)
            sum[k] += NAME(load)(x + i + k * LANES);
    return NAME(sum_rest)(sum, x + i, n - i);
}

#undef LINE
#undef UP_1
#undef UP_2
#undef UP_4
#undef UP_8
#undef LAST
#undef MOVED
#undef NAME
#undef NUMBER
#undef INDEX
#undef MEMBER
#undef FLOATING
#undef LANES
