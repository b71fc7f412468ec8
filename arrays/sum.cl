/* sum.cl - sums of arrays: plain, of products, of squares, of squared deviations; and the minimum
 * and the maximum. join_blocks joins the blocks' partial sums where the result stays on the device,
 * and find_value finds the place of an extreme.
 *
 * partial[g] becomes the sum of block first + g in the order of fixed_reduce.h, which precedes this
 * file. An item loads UNROLL rows before it adds them, so that many loads are in flight. Only the
 * block with the last element checks where the array ends.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_FIXED_REDUCE_H
#include "fixed_reduce.h"
#endif

#define SUM 0     /* of x */
#define DOT 1     /* of x y */
#define SQUARES 2 /* of x^2 + y^2 + z^2 */
/* Of (x - (c + d))^2; c + d is the mean, d its digits beyond c. */
#define DEVIATIONS 3
#define MINIMUM 4
#define MAXIMUM 5
#define OFFSETS 6 /* of x - (c + d) */
#ifndef OP
#define OP SUM
#endif
#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef HALVES
#define HALVES 0 /* 1: x is a long, of whose digits a double WIDE has not all */
#endif
#ifndef UNALIGNED
#define UNALIGNED 0 /* 1: arrays may start at any element, not at whole vectors */
#endif
#ifndef RESULT
#define RESULT double /* type of a result on the device */
#endif
#ifndef FILL
#define FILL 0 /* replaces elements past the end */
#endif

typedef VECTOR(ELEMENT) elements;

/* One row of an item's vector, as loaded. */
typedef struct {
    elements x;
#if OP == DOT || OP == SQUARES
    elements y;
#endif
#if OP == SQUARES
    elements z;
#endif
} row_t;

typedef __global const ELEMENT *array;

/* Prefetch 4 KiB ahead on CPUs: an item consumes faster than memory delivers. An address past the
 * end has no effect. For the condition see matmul/cpu.cl. */
#if GROUP == 1 && defined(__clang__) &&                                                            \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__powerpc64__) || defined(__riscv))
#define PREFETCH(p) __builtin_prefetch((const void *)((size_t)(p) + 4096))
#else
#define PREFETCH(p)
#endif

#if UNALIGNED && WIDTH > 1
#define LOAD(p) GLUE(vload, WIDTH)(0, p)
#else
#define LOAD(p) (*(__global const elements *)(p))
#endif

/* Load the vectors from element i on. */
void load_vectors(row_t *r, array x, array y, array z, ulong i)
{
    r->x = LOAD(x + i);
    PREFETCH(x + i);
#if OP == DOT || OP == SQUARES
    r->y = LOAD(y + i);
    PREFETCH(y + i);
#endif
#if OP == SQUARES
    r->z = LOAD(z + i);
    PREFETCH(z + i);
#endif
}

/* Load a vector that may extend past the end: missing elements are FILL. */
elements load_tail_vector(array x, ulong i, ulong n)
{
    ELEMENT e[WIDTH];
    for (int l = 0; l < WIDTH; l++)
        e[l] = i + l < n ? x[i + l] : (ELEMENT)FILL;
#if WIDTH == 1
    return e[0];
#else
    return GLUE(vload, WIDTH)(0, e);
#endif
}

void load_tail_vectors(row_t *r, array x, array y, array z, ulong i, ulong n)
{
    r->x = load_tail_vector(x, i, n);
#if OP == DOT || OP == SQUARES
    r->y = load_tail_vector(y, i, n);
#endif
#if OP == SQUARES
    r->z = load_tail_vector(z, i, n);
#endif
}

/* Return c in existing lanes and 0 in missing ones: the deviation of a FILL of 0 is then 0. */
wides mask_lanes(WIDE c, ulong i, ulong n)
{
    WIDE e[WIDTH];
    for (int l = 0; l < WIDTH; l++)
        e[l] = i + l < n ? c : 0;
#if WIDTH == 1
    return e[0];
#else
    return GLUE(vload, WIDTH)(0, e);
#endif
}

/* Return x - (c + d). */
#if HALVES
#define OFFSET(x)                                                                                  \
    offset_of(CONVERT(WIDE, (x) >> 32) * 4294967296.0, CONVERT(WIDE, (x)&0xFFFFFFFFL), c, d)
/* high + low is x: the double that is nearest to it, and the rest, exactly. */
wides offset_of(wides high, wides low, wides c, wides d)
{
    const wides near = high + low, rest = low - (near - high);
    return (near - c) + (rest - d);
}
#else
#define OFFSET(x) ((CONVERT(WIDE, x) - c) - d)
#endif

/* Add a row to its lanes. */
void accumulate_row(sums *s, const row_t *r, wides c, wides d)
{
#if OP == MINIMUM || OP == MAXIMUM
    s->value = JOIN(s->value, r->x);
#elif PAIRED == 2
    s->value += r->x & 0xFFFFFFFFL;
    s->error += r->x >> 32;
#elif OP == SUM
    add_vector(s, CONVERT(WIDE, r->x));
#elif OP == OFFSETS
    add_vector(s, OFFSET(r->x));
#elif OP == DEVIATIONS
    const wides off = OFFSET(r->x);
    add_vector(s, off * off);
#elif OP == DOT && PAIRED
    add_product(s, CONVERT(WIDE, r->x), CONVERT(WIDE, r->y));
#elif OP == DOT
    s->value = fma(CONVERT(WIDE, r->x), CONVERT(WIDE, r->y), s->value);
#else
    add_squares(s, CONVERT(WIDE, r->x), CONVERT(WIDE, r->y), CONVERT(WIDE, r->z));
#endif
}

/* Add one strip of an item's lanes, of a full block; add_last_strip: of the block with the last
 * element. */
void add_strip(sums *s, array x, array y, array z, ulong base, WIDE c, WIDE d)
{
    for (int row = 0; row < ROWS; row += UNROLL) {
        row_t r[UNROLL * VECTORS];
#pragma unroll
        for (int k = 0; k < UNROLL * VECTORS; k++)
            load_vectors(&r[k], x, y, z,
                         base + (ulong)((row + k / VECTORS) * LANES + k % VECTORS * WIDTH));
#pragma unroll
        for (int k = 0; k < UNROLL * VECTORS; k++)
            accumulate_row(&s[k % VECTORS], &r[k], c, d);
    }
}

void add_last_strip(sums *s, array x, array y, array z, ulong base, ulong n, WIDE c, WIDE d)
{
    for (int row = 0; row < ROWS; row++)
        for (int v = 0; v < VECTORS; v++) {
            const ulong i = base + (ulong)(row * LANES + v * WIDTH);
            if (i < n) {
                row_t r;
                load_tail_vectors(&r, x, y, z, i, n);
                accumulate_row(&s[v], &r, mask_lanes(c, i, n), mask_lanes(d, i, n));
            }
        }
}

/* start: number of the first element of x, y and z. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce(__global sum *partial,
                                                                        ulong first, ulong n,
                                                                        array x, array y, array z,
                                                                        uint4 start, WIDE c, WIDE d)
{
    __local sum part[PARTS];
    x += start.x;
    y += start.y;
    z += start.z;
    const ulong block = first + get_group_id(0);
    for (int round = 0; round < ROUNDS; round++) {
        const ulong base = ELEMENT_OF(block, round);
        sums s[VECTORS];
        for (int v = 0; v < VECTORS; v++) {
            s[v].value = FILL;
#if PAIRED
            s[v].error = 0;
#endif
        }
        if ((block + 1) * BLOCK <= n)
            add_strip(s, x, y, z, base, c, d);
        else
            add_last_strip(s, x, y, z, base, n, c, d);
        part[PART_OF(round)] = join_lanes(s);
    }
    join_group(part);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = part[0];
}

#if PAIRED == 2
#define VALUE(s) ((s).value + ((s).error << 32))
#elif PAIRED
#define VALUE(s) (isfinite((s).value) ? (s).value + (s).error : (s).value)
#else
#define VALUE(s) ((RESULT)(s).value)
#endif

/* A sum of blocks. Pairs are joined in the precision of the result, as the host joins them. */
#if PAIRED == 1
typedef struct {
    RESULT value, error;
} joined;

joined join_two(joined a, joined b)
{
    const RESULT s = a.value + b.value, t = s - a.value;
    const RESULT e = (a.value - (s - t)) + (b.value - t);
    return (joined){s, a.error + (b.error + e)};
}
#define WIDEN(s) ((joined){(s).value, (s).error})
#else
typedef sum joined;
#define join_two join_sums
#define WIDEN(s) (s)
#endif

/* Join the partial sums tree[0 ... blocks - 1] pairwise, neighbours first; an odd last one waits
 * for its level. The levels follow in `tree`. result[at] becomes the sum. Run by one group. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void join_blocks(
    __global sum *tree, ulong blocks, __global RESULT *result, uint at)
{
    __global joined *from = (__global joined *)(tree + blocks), *to = from + blocks;
    for (ulong i = get_local_id(0); i < blocks; i += GROUP)
        from[i] = WIDEN(tree[i]);
    for (ulong count = blocks, rest; count > 1; count = rest) {
#if GROUP > 1
        barrier(CLK_GLOBAL_MEM_FENCE);
#endif
        rest = (count + 1) / 2;
        for (ulong i = get_local_id(0); i < rest; i += GROUP)
            to[i] = 2 * i + 1 < count ? join_two(from[2 * i], from[2 * i + 1]) : from[2 * i];
        from = to;
        to += rest;
    }
    /* The first item has written the last sum itself. */
    if (get_local_id(0) == 0)
        result[at] = blocks ? VALUE(*from) : 0;
}

#ifdef JOIN
/* *place becomes the number of the first element of the block that equals value, or is NaN if value
 * is. Run by one group. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void find_value(__global ulong *place,
                                                                            ulong block, ulong n,
                                                                            array x, uint start,
                                                                            ELEMENT value)
{
    __local uint least;
    const ulong begin = block * BLOCK;
    const uint count = (uint)min((ulong)BLOCK, n - begin);
    if (get_local_id(0) == 0)
        least = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < count; i += GROUP) {
        const ELEMENT v = x[start + begin + i];
        if (v == value || (v != v && value != value)) {
            atomic_min(&least, i);
            break;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *place = begin + least;
}
#endif
