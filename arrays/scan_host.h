/* scan_host.h - template: the host scans numbers of one type.
 *
 * scan_host.c includes it once for each type, with these macros:
 *   NAME(x)        prefixes x with the type's name
 *   NUMBER         the type
 *   LANES          numbers of a vector: 2, 4, 8 or 16
 *
 * A vector is scanned in registers, in log2(LANES) steps: each adds the vector moved up by 1, 2,
 * 4 ... lanes (Hillis & Steele 1986, doi:10.1145/7902.7903).
 * SPDX-License-Identifier: MIT
 */
typedef NUMBER NAME(vec) __attribute__((vector_size(VECTOR_BYTES)));
/* A vector in an array: aligned like one element. */
typedef NUMBER NAME(stored) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(NUMBER))));

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
    v += SHUFFLE(NAME(vec), none, v, UP_1);
#if LANES > 2
    v += SHUFFLE(NAME(vec), none, v, UP_2);
#endif
#if LANES > 4
    v += SHUFFLE(NAME(vec), none, v, UP_4);
#endif
#if LANES > 8
    v += SHUFFLE(NAME(vec), none, v, UP_8);
#endif
    return v;
}

/* Scan whole vectors, at most n numbers. Return how many numbers are done. */
INLINE size_t NAME(scan_vectors)(bool inclusive, NUMBER *sums, const NUMBER *x, size_t n,
                                 NUMBER *before)
{
    const NAME(vec) none = {0};
    NAME(vec) carry = *before - none;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const NAME(vec) own = (NAME(vec)) * (const NAME(stored) *)(x + i),
                        all = NAME(scan_vector)(own), out = carry + (inclusive ? all : all - own);
        *(NAME(stored) *)(sums + i) = (NAME(stored))out;
        carry += SHUFFLE(NAME(vec), all, all, LAST);
    }
    *before = carry[0];
    return i;
}

INLINE uint64_t NAME(scan_either)(bool inclusive, void *sums_, const void *x_, size_t n,
                                  uint64_t before_)
{
    NUMBER *sums = sums_, before = (NUMBER)before_;
    const NUMBER *x = x_;
    for (size_t i = NAME(scan_vectors)(inclusive, sums, x, n, &before); i < n; i++) {
        const NUMBER own = x[i]; /* sums may be x */
        sums[i] = inclusive ? before + own : before;
        before += own;
    }
    return before;
}

static uint64_t NAME(scan)(bool inclusive, void *sums, const void *x, size_t n, uint64_t before)
{
    return inclusive ? NAME(scan_either)(true, sums, x, n, before)
                     : NAME(scan_either)(false, sums, x, n, before);
}

static uint64_t NAME(sum)(const void *x_, size_t n)
{
    const NUMBER *x = x_;
    NUMBER sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

#undef UP_1
#undef UP_2
#undef UP_4
#undef UP_8
#undef LAST
#undef NAME
#undef NUMBER
#undef LANES
