/* sum.cl - sums of arrays: plain ones, of products, of squared velocities, of squared deviations,
 * and the least and the greatest element.
 *
 * partial[g] becomes the sum of block first + g in the order of fixed_reduce.h, which the host puts
 * in front. An item loads UNROLL rows before it adds them, so that many loads are in flight; only
 * the block that holds the last element looks where the array ends. SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_ORDER_H
#include "fixed_reduce.h"
#endif

#define SUM 0     /* of x */
#define DOT 1     /* of x y */
#define SQUARES 2 /* of x^2 + y^2 + z^2 */
#define DEVIATE 3 /* of (x - (c + d))^2; c + d is the mean, d the digits that c does not hold */
#define LEAST 4
#define GREATEST 5
#ifndef OP
#define OP SUM
#endif
#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef FILL
#define FILL 0 /* what stands for elements beyond the last */
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

/* On a CPU an item reads so fast that its memory falls behind: what it reads 4 KiB later is asked
 * for now. Nothing happens where there is no memory. For the words see matmul/cpu.cl. */
#if GROUP == 1 && defined(__clang__) &&                                                            \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__powerpc64__) || defined(__riscv))
#define FETCH_AHEAD(p) __builtin_prefetch((const void *)((size_t)(p) + 4096))
#else
#define FETCH_AHEAD(p)
#endif

/* The vectors from element i on. */
void fetch(row_t *r, array x, array y, array z, ulong i)
{
    r->x = *(__global const elements *)(x + i);
    FETCH_AHEAD(x + i);
#if OP == DOT || OP == SQUARES
    r->y = *(__global const elements *)(y + i);
    FETCH_AHEAD(y + i);
#endif
#if OP == SQUARES
    r->z = *(__global const elements *)(z + i);
    FETCH_AHEAD(z + i);
#endif
}

/* The same where there may be fewer than n elements left; the others are FILL. */
elements some(array x, ulong i, ulong n)
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

void fetch_some(row_t *r, array x, array y, array z, ulong i, ulong n)
{
    r->x = some(x, i, n);
#if OP == DOT || OP == SQUARES
    r->y = some(y, i, n);
#endif
#if OP == SQUARES
    r->z = some(z, i, n);
#endif
}

/* c in the lanes that exist, 0 in the others: the deviation of a FILL of 0 is then 0. */
wides where(WIDE c, ulong i, ulong n)
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

/* What a row adds to its lanes. */
void add_row(sums *s, const row_t *r, wides c, wides d)
{
#if OP == LEAST || OP == GREATEST
    s->value = JOIN(s->value, r->x);
#elif PAIRED == 2
    s->value += r->x & 0xFFFFFFFFL;
    s->error += r->x >> 32;
#elif OP == SUM
    add(s, CONVERT(WIDE, r->x));
#elif OP == DEVIATE
    const wides off = (CONVERT(WIDE, r->x) - c) - d;
    add(s, off * off);
#elif OP == DOT && PAIRED
    add_product(s, CONVERT(WIDE, r->x), CONVERT(WIDE, r->y));
#elif OP == DOT
    s->value = fma(CONVERT(WIDE, r->x), CONVERT(WIDE, r->y), s->value);
#else
    add_squares(s, CONVERT(WIDE, r->x), CONVERT(WIDE, r->y), CONVERT(WIDE, r->z));
#endif
}

/* One strip of an item's lanes, of a block that is full / that holds the last element. */
void add_strip(sums *s, array x, array y, array z, ulong base, WIDE c, WIDE d)
{
    for (int row = 0; row < ROWS; row += UNROLL) {
        row_t r[UNROLL * VECTORS];
#pragma unroll
        for (int k = 0; k < UNROLL * VECTORS; k++)
            fetch(&r[k], x, y, z,
                  base + (ulong)((row + k / VECTORS) * LANES + k % VECTORS * WIDTH));
#pragma unroll
        for (int k = 0; k < UNROLL * VECTORS; k++)
            add_row(&s[k % VECTORS], &r[k], c, d);
    }
}

void add_last_strip(sums *s, array x, array y, array z, ulong base, ulong n, WIDE c, WIDE d)
{
    for (int row = 0; row < ROWS; row++)
        for (int v = 0; v < VECTORS; v++) {
            const ulong i = base + (ulong)(row * LANES + v * WIDTH);
            if (i < n) {
                row_t r;
                fetch_some(&r, x, y, z, i, n);
                add_row(&s[v], &r, where(c, i, n), where(d, i, n));
            }
        }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce(__global sum *partial,
                                                                        ulong first, ulong n,
                                                                        array x, array y, array z,
                                                                        WIDE c, WIDE d)
{
    __local sum part[PARTS];
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
        part[PLACE_OF(round)] = fold(s);
    }
    join_parts(part);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = part[0];
}
