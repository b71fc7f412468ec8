/* scan_host.h - template: the host scans numbers of one type.
 *
 * scan_host.c includes it once for each type, with these macros:
 *   NAME(x)        prefixes x with the type's name
 *   NUMBER, INDEX  the type, and the unsigned integer of its size
 *   MEMBER         member of union scan_number that holds sums: whole or real
 *   FLOATING       1 if the type is floating-point
 *   BYTES, LANES   of a vector: 16, 32 or 64 bytes, 2, 4, 8 or 16 numbers
 *
 * A vector is scanned in registers, in log2(LANES) steps: each adds the vector moved up by 1, 2,
 * 4 ... lanes (Hillis & Steele 1986, doi:10.1145/7902.7903). While a block is scanned, the numbers
 * of the next block are read and summed: like a copy, the loop reads and writes memory at once.
 * SPDX-License-Identifier: MIT
 */
typedef NUMBER NAME(vec) __attribute__((vector_size(BYTES)));
typedef INDEX NAME(mask) __attribute__((vector_size(BYTES)));
/* A vector in an array: aligned like one element. */
typedef NUMBER NAME(stored) __attribute__((vector_size(BYTES), aligned(sizeof(NUMBER))));

/* Lanes of a zero vector, numbered from 0, and of v, numbered from LANES: v moved up. LAST: its
 * last lane in all lanes. */
#if LANES == 2
#define UP_1 0, 2
#define LAST 1, 1
#elif LANES == 4
#define UP_1 0, 4, 5, 6
#define UP_2 0, 0, 4, 5
#define LAST 3, 3, 3, 3
#elif LANES == 8
#define UP_1 0, 8, 9, 10, 11, 12, 13, 14
#define UP_2 0, 0, 8, 9, 10, 11, 12, 13
#define UP_4 0, 0, 0, 0, 8, 9, 10, 11
#define LAST 7, 7, 7, 7, 7, 7, 7, 7
#else
#define UP_1 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#define UP_2 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
#define UP_4 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
#define UP_8 0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23
#define LAST 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
#endif

/* Inclusive prefix sums of a vector. */
INLINE NAME(vec) NAME(scan_vector)(NAME(vec) v)
{
    const NAME(vec) none = {0};
    v += SHUFFLE(NAME(mask), none, v, UP_1);
#if LANES > 2
    v += SHUFFLE(NAME(mask), none, v, UP_2);
#endif
#if LANES > 4
    v += SHUFFLE(NAME(mask), none, v, UP_4);
#endif
#if LANES > 8
    v += SHUFFLE(NAME(mask), none, v, UP_8);
#endif
    return v;
}

/* Exclusive prefix sums from the inclusive ones of v. */
INLINE NAME(vec) NAME(exclude)(NAME(vec) all, NAME(vec) v)
{
#if FLOATING
    const NAME(vec) none = {0};
    (void)v;
    return SHUFFLE(NAME(mask), none, all, UP_1);
#else
    return all - v;
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

/* Return the sum of the vector and of n more numbers. */
INLINE union scan_number NAME(sum_rest)(NAME(vec) v, const NUMBER *x, size_t n)
{
    union scan_number sum = {0};
    for (size_t lane = 0; lane < LANES; lane++)
        sum.MEMBER += v[lane];
    for (size_t i = 0; i < n; i++)
        sum.MEMBER += x[i];
    return sum;
}

/* Scan whole vectors of a block and sum the next block. Return how many numbers are scanned. */
INLINE size_t NAME(scan_vectors)(bool inclusive, bool stream, struct scan_block *b)
{
    const NUMBER *x = b->x, *next = b->next;
    NUMBER *sums = b->sums;
    const NAME(vec) none = {0};
    NAME(vec) carry = (NUMBER)b->before.MEMBER + none, next_sum = none;
    size_t i = 0;
    for (; i + LANES <= b->n; i += LANES) {
        const NAME(vec) own = NAME(load)(x + i), all = NAME(scan_vector)(own);
        NAME(store)(stream, sums + i, carry + (inclusive ? all : NAME(exclude)(all, own)));
        carry += SHUFFLE(NAME(mask), all, all, LAST);
        if (i + LANES <= b->nnext) {
            next_sum += NAME(load)(next + i);
            __builtin_prefetch((const char *)(next + i) + NEXT_AHEAD_BYTES);
        }
    }
    const size_t summed = b->nnext / LANES * LANES;
    b->next_sum = NAME(sum_rest)(next_sum, next + summed, b->nnext - summed);
    b->before.MEMBER = carry[0];
    return i;
}

INLINE void NAME(scan_either)(bool inclusive, bool stream, struct scan_block *b)
{
    const size_t done = NAME(scan_vectors)(inclusive, stream, b);
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
    NAME(vec) sum = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += NAME(load)(x + i);
    return NAME(sum_rest)(sum, x + i, n - i);
}

#undef UP_1
#undef UP_2
#undef UP_4
#undef UP_8
#undef LAST
#undef NAME
#undef NUMBER
#undef INDEX
#undef MEMBER
#undef FLOATING
#undef BYTES
#undef LANES
#undef STREAM
