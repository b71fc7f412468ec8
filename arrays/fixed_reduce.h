/* fixed_reduce.h - the fixed order in which a work-group reduces a block, equal for every shape and
 * device.
 *
 *     a block    32768 consecutive elements, one work-group
 *     a strip    2048 of them: 32 rows of 64 lanes; element = 2048 strip + 64 row + lane
 *
 *     lane       0   1   2   3  ... 63        1. each lane adds its column, row after row
 *     row  0     x0  x1  x2  x3 ... x63       2. lanes are joined pairwise, neighbours first:
 *     row  1     x64 ...                         ((0 + 1) + (2 + 3)) + ..., a tree of 6 levels
 *     ...                                     3. so are the 16 strips, and on the host all blocks
 *     row 31     x1984 ...
 *
 * The assignment of lanes and strips to work-items does not affect the result. On a GPU an item has
 * WIDTH neighbouring lanes (float4: 16 items a row, 256 items for all strips). On a CPU one item
 * has all 64 lanes in SIMD registers.
 *
 * The host puts this file before the kernels (kernels.c) and sets the knobs below.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_FIXED_REDUCE_H
#define ARRAYS_FIXED_REDUCE_H

#ifndef GROUP
#define GROUP 256 /* work-items of a group, a power of two; 1 on CPUs */
#endif
#ifndef WIDTH
#define WIDTH 4 /* lanes of a vector: 1, 2, 4, 8 or 16 */
#endif
#ifndef UNROLL
#define UNROLL 8 /* rows in flight: 1 to 32 */
#endif
#ifndef WIDE
#define WIDE double /* type of sums */
#endif
#ifndef PAIRED
/* 1: a sum is a pair of value and rounding error; 2: of the halves of long integers */
#define PAIRED 0
#endif

#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#if WIDTH == 1
#define VECTOR(type) type
#else
#define VECTOR(type) GLUE(type, WIDTH)
#endif
#define CONVERT(type, v) GLUE(convert_, VECTOR(type))(v)

#define LANES 64
#define ROWS 32
#define STRIPS 16
#define STRIP (LANES * ROWS)
#define BLOCK (STRIP * STRIPS)
#define COLUMNS (LANES / WIDTH) /* vectors of a row */
#if GROUP < COLUMNS
#define VECTORS (COLUMNS / GROUP) /* vectors of an item in each row */
#else
#define VECTORS 1
#endif
#define TEAM (COLUMNS / VECTORS)      /* items that share a strip */
#define STRIPS_AT_ONCE (GROUP / TEAM) /* strips of a group at a time */
#define PARTS (STRIPS * TEAM)
#define ITEM_LANES (VECTORS * WIDTH) /* lanes of an item */
#if GROUP > PARTS
#error "GROUP is larger than a block: at most 16 * 64 / WIDTH"
#endif

typedef VECTOR(WIDE) wides;

/* WIDTH sums side by side, and one sum. `error` exists if PAIRED. Functions change sums through
 * pointers: Mesa 25.0 loses structs that a loop assigns as a whole to elements of an array
 * (tests/drivers/struct_copies.cl). */
typedef struct {
    wides value;
#if PAIRED
    wides error;
#endif
} sums;
typedef struct {
    WIDE value;
#if PAIRED
    WIDE error;
#endif
} sum;

/* Join two sums. Pairs are joined by Knuth's TwoSum: s + e is exactly a + b. For extremes JOIN
 * keeps one of two numbers, or of two vectors lane by lane, and NaN if there is one. */
#ifdef KEEP_MIN
#define JOIN(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))
#elif defined(KEEP_MAX)
#define JOIN(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))
#endif
#ifdef JOIN
sum join_sums(sum a, sum b)
{
    return (sum){JOIN(a.value, b.value)};
}
#elif PAIRED == 1
sum join_sums(sum a, sum b)
{
    const WIDE s = a.value + b.value, t = s - a.value;
    const WIDE e = (a.value - (s - t)) + (b.value - t);
    return (sum){s, a.error + (b.error + e)};
}
#elif PAIRED == 2
sum join_sums(sum a, sum b)
{
    return (sum){a.value + b.value, a.error + b.error};
}
#else
sum join_sums(sum a, sum b)
{
    return (sum){a.value + b.value};
}
#endif

/* Add to sums: a vector, the product a b, x^2 + y^2 + z^2. */
#if PAIRED == 1
void add_vector(sums *a, wides b)
{
    const wides s = a->value + b, t = s - a->value;
    a->error += (a->value - (s - t)) + (b - t);
    a->value = s;
}

/* TwoProduct gives the product exactly, as p + e. */
void add_product(sums *s, wides a, wides b)
{
    const wides p = a * b;
    s->error += fma(a, b, -p);
    add_vector(s, p);
}

void add_squares(sums *s, wides x, wides y, wides z)
{
    add_product(s, x, x);
    add_product(s, y, y);
    add_product(s, z, z);
}
#elif PAIRED == 0 && !defined(JOIN)
void add_vector(sums *a, wides b)
{
    a->value += b;
}
#define add_squares(s, x, y, z)                                                                    \
    add_vector(s, fma(x, x, fma(y, y, (z) * (z)))) /* a macro: integers have no fma */
#endif

/* Join the lanes of an item, neighbours first. */
sum join_lanes(const sums *s)
{
    sum lane[ITEM_LANES];
    WIDE spread[ITEM_LANES];
    for (int v = 0; v < VECTORS; v++)
#if WIDTH == 1
        spread[v] = s[v].value;
#else
        GLUE(vstore, WIDTH)(s[v].value, v, spread);
#endif
    for (int l = 0; l < ITEM_LANES; l++)
        lane[l].value = spread[l];
#if PAIRED
    for (int v = 0; v < VECTORS; v++)
#if WIDTH == 1
        spread[v] = s[v].error;
#else
        GLUE(vstore, WIDTH)(s[v].error, v, spread);
#endif
    for (int l = 0; l < ITEM_LANES; l++)
        lane[l].error = spread[l];
#endif
    for (int apart = 1; apart < ITEM_LANES; apart *= 2)
        for (int l = 0; l < ITEM_LANES; l += 2 * apart)
            lane[l] = join_sums(lane[l], lane[l + apart]);
    return lane[0];
}

/* Join the group's parts, neighbours first, into part[0], which the first item may read. */
void join_group(__local sum *part)
{
    for (int apart = 1; apart < PARTS; apart *= 2) {
#if GROUP > 1
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int p = (int)get_local_id(0) * 2 * apart; p < PARTS; p += GROUP * 2 * apart)
            part[p] = join_sums(part[p], part[p + apart]);
    }
}

/* In round `round` of an item: its strip in the block, its part, and its first element in the
 * array. */
#define ROUNDS (STRIPS / STRIPS_AT_ONCE)
#define STRIP_OF(round) ((round)*STRIPS_AT_ONCE + (int)get_local_id(0) / TEAM)
#define PART_OF(round) (STRIP_OF(round) * TEAM + (int)get_local_id(0) % TEAM)
#define ELEMENT_OF(block, round)                                                                   \
    ((block)*BLOCK + (ulong)STRIP_OF(round) * STRIP +                                              \
     (ulong)((int)get_local_id(0) % TEAM) * ITEM_LANES)

#endif
