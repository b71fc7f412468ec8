/* skinny.cl - a matrix times a few vectors: products with a side of 1 to 16.
 *
 * A large matrix X is read once, for one multiply-add with each vector: memory bandwidth limits the
 * kernel, so many loads are in flight. X is op(A) and the vectors Y are columns of op(B), or the
 * other way round; either way
 *
 *        C(r, v) = alpha * sum over x of X(r, x) Y(v, x) + beta C(r, v)
 *                                                         rows r, vectors v, depth x
 *
 *   X_ALONG_K=1: x is contiguous                  X_ALONG_K=0: r is contiguous
 *
 *             x ->                                           r ->
 *        r  | team 0: item 0 | 1 | 2 ..| 0 | 1 ..       x  | item 0 | item 1 | .. | item TEAMS - 1
 *        |  | team 1: item 0 | 1 | 2 ..| 0 | 1 ..       |  | the next TEAMS items
 *        v  | ..                                        v  | ..
 *                                                            TEAM rows, then the first items again
 *
 * The TEAM items of a team share the depth of one row, or of ITEM_ROWS rows, in loads of W
 * elements, 16 bytes (one element if rows are unaligned). A chunk of the vectors waits in local
 * memory, as [v][x] or [x][v]. At the end a team's sums are reduced there, item by item.
 *
 * Few rows give few groups. K is then split: `parts` groups share the depth of each block of rows,
 * store their sums as partial[block][part][value][place], and the last-arriving group reduces them,
 * part by part. The order of all additions follows from sizes and shape alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef MATMUL_LAST_GROUP
#include "last_group.cl"
#endif

#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define T double
#define SIZE 8
#define VECTOR double2
#else
#define T float
#define SIZE 4
#define VECTOR float4
#endif
#ifndef X_ALONG_K
#define X_ALONG_K 1 /* 1: X is stored as [r][x]; 0: as [x][r] */
#endif
#ifndef Y_ALONG_K
/* 1: Y is stored as [v][x], contiguous along x; 0: any strides. */
#define Y_ALONG_K 0
#endif
#ifndef WIDE
/* 1: rows of X as stored start at multiples of 16 bytes; 0: anywhere. */
#define WIDE 1
#endif
#ifndef VECTORS
/* 1, 2, 4, 8 or 16; vectors past `vectors` are zeros and dropped. */
#define VECTORS 8
#endif
#ifndef ITEMS
#define ITEMS 256 /* of a group */
#endif
#ifndef TEAM
#define TEAM 8 /* items that share a depth; a divisor of ITEMS */
#endif
#ifndef ROWS_PER_ITEM
#define ROWS_PER_ITEM 2 /* rows that an item sums, with X_ALONG_K=1 */
#endif
#ifndef STEPS
#define STEPS 4 /* loads in flight of an item, for each row */
#endif
#ifndef CHUNK
#define CHUNK 512 /* depth of the vectors in local memory, a multiple of STRIDE */
#endif

#define W (WIDE ? 16 / SIZE : 1)                  /* elements of a load */
#define ITEM_ROWS (X_ALONG_K ? ROWS_PER_ITEM : W) /* rows of an item */
#define TEAMS (ITEMS / TEAM)                      /* teams of a group, each with its own rows */
#define ROWS (TEAMS * ITEM_ROWS)                  /* of a group */
#define STRIDE (X_ALONG_K ? TEAM * W * STEPS : TEAM * STEPS) /* depth of a step of a group */
#define VALUES (ITEM_ROWS * VECTORS) /* sums of an item: [row of the item][vector] */
/* 16 bytes of padding: neighbours that each write a vector use different banks */
#define LINE_Y (CHUNK + 16 / SIZE)
#define BUFFER (VECTORS * LINE_Y) /* elements of local memory */
#define LINE_SUMS (ITEMS + TEAMS) /* padding of one for each team, for the same reason */
/* sums of an item that fit in the buffer */
#define SUMS_AT_ONCE (BUFFER / LINE_SUMS < VALUES ? BUFFER / LINE_SUMS : VALUES)

/* ---- Loads. ---------------------------------------------------------------------------------- */

static void load_elements(T *to, __global const T *from)
{
#if WIDE
    const VECTOR x = *(__global const VECTOR *)from;
    to[0] = x.s0;
    to[1] = x.s1;
#if SIZE == 4
    to[2] = x.s2;
    to[3] = x.s3;
#endif
#else
    to[0] = *from;
#endif
}

/* Load `left` elements, possibly none (left <= 0), and zeros for the others. */
static void load_tail(T *to, __global const T *from, int left)
{
#pragma unroll
    for (int w = 0; w < W; w++)
        to[w] = w < left ? from[w] : (T)0;
}

/* Load n elements from local memory, 16 bytes at a time if n is a multiple of that. */
static void load_local(T *to, __local const T *from, int n)
{
    if (n % (16 / SIZE)) {
#pragma unroll
        for (int i = 0; i < n; i++)
            to[i] = from[i];
        return;
    }
#pragma unroll
    for (int i = 0; i < n; i += 16 / SIZE) {
        const VECTOR x = *(__local const VECTOR *)(from + i);
        to[i] = x.s0;
        to[i + 1] = x.s1;
#if SIZE == 4
        to[i + 2] = x.s2;
        to[i + 3] = x.s3;
#endif
    }
}

/* Copy `deep` elements of each vector, from depth x0 on, into local memory, then zeros to the end
 * of a step. */
static void fetch_vectors(__local T *to, __global const T *y, ulong step_v, ulong step_x,
                          int vectors, int x0, int deep, int item)
{
    const int all = (deep + STRIDE - 1) / STRIDE * STRIDE;
#if Y_ALONG_K
    for (int v = 0; v < VECTORS; v++)
        for (int x = item; x < all; x += ITEMS)
            to[X_ALONG_K ? v * LINE_Y + x : x * VECTORS + v] =
                v < vectors && x < deep ? y[v * step_v + (ulong)(x0 + x)] : (T)0;
#else
    for (int e = item; e < all * VECTORS; e += ITEMS) {
        const int v = e % VECTORS, x = e / VECTORS;
        to[X_ALONG_K ? v * LINE_Y + x : e] =
            v < vectors && x < deep ? y[v * step_v + (ulong)(x0 + x) * step_x] : (T)0;
    }
#endif
}

/* ---- Products. ------------------------------------------------------------------------------- */

/* Add a step of depth to an item's sums. row[t]: address of its first element of row t; `y`: of
 * its first element of vector 0; `left`: remaining depth from its first element on. */
static void step_x_along_k(T *sum, __global const T *const *row, __local const T *y, int left)
{
    T x[STEPS][ITEM_ROWS][W];
    if (left >= STRIDE) {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int t = 0; t < ITEM_ROWS; t++)
                load_elements(x[s][t], row[t] + s * TEAM * W);
    } else {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int t = 0; t < ITEM_ROWS; t++)
                load_tail(x[s][t], row[t] + s * TEAM * W, left - s * TEAM * W);
    }
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            T near[W];
            load_local(near, y + v * LINE_Y + s * TEAM * W, W);
#pragma unroll
            for (int w = 0; w < W; w++)
#pragma unroll
                for (int t = 0; t < ITEM_ROWS; t++)
                    sum[t * VECTORS + v] = fma(x[s][t][w], near[w], sum[t * VECTORS + v]);
        }
}

/* step_x_along_k for X_ALONG_K=0. `x0`: address of its first element; `rows`: rows that exist from
 * its first on; `left`: remaining depth from its first element on. */
static void step_x_across_k(T *sum, __global const T *x0, ulong ldx, __local const T *y, int rows,
                            int left)
{
    T x[STEPS][W];
    if (left > (STEPS - 1) * TEAM && rows >= W) {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            load_elements(x[s], x0 + (ulong)(s * TEAM) * ldx);
    } else {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            load_tail(x[s], x0 + (ulong)(s * TEAM) * ldx, left > s * TEAM ? rows : 0);
    }
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        T near[VECTORS];
        load_local(near, y + s * TEAM * VECTORS, VECTORS);
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
#pragma unroll
            for (int w = 0; w < W; w++)
                sum[w * VECTORS + v] = fma(x[s][w], near[v], sum[w * VECTORS + v]);
    }
}

/* ---- The kernel. ----------------------------------------------------------------------------- */

/* Destination of a group's results. */
struct result {
    __global T *c;
    ulong step_r, step_v;
    int rows, vectors; /* that exist, from the group's first on */
    T alpha, beta;
};

/* Store sum number o of a group: value o / TEAMS of an item of team o % TEAMS. */
static void store_sum(struct result to, int o, T sum)
{
    const int value = o / TEAMS, place = o % TEAMS, t = value / VECTORS, v = value % VECTORS;
    const int r = X_ALONG_K ? t * TEAMS + place : place * ITEM_ROWS + t;
    if (o >= VALUES * TEAMS || r >= to.rows || v >= to.vectors)
        return;
    __global T *at = to.c + (ulong)r * to.step_r + (ulong)v * to.step_v;
    *at = to.beta == 0 ? to.alpha * sum : to.alpha * sum + to.beta * *at;
}

/* Reduce the sums of each team's items, into C or, with split-K, into `own`. */
static void add_teams(const T *sum, __local T *buffer, struct result to, __global volatile T *own,
                      int parts, int item)
{
    const int mine = X_ALONG_K ? item + item / TEAM : item;
#pragma unroll
    for (int first = 0; first < VALUES; first += SUMS_AT_ONCE) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int q = 0; q < SUMS_AT_ONCE; q++)
            if (first + q < VALUES)
                buffer[q * LINE_SUMS + mine] = sum[first + q];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int o = item; o < SUMS_AT_ONCE * TEAMS && first * TEAMS + o < VALUES * TEAMS;
             o += ITEMS) {
            const int q = o / TEAMS, place = o % TEAMS;
            T all = 0;
#pragma unroll 8
            for (int i = 0; i < TEAM; i++)
                all += buffer[q * LINE_SUMS +
                              (X_ALONG_K ? place * (TEAM + 1) + i : i * TEAMS + place)];
            if (parts > 1)
                own[first * TEAMS + o] = all;
            else
                store_sum(to, first * TEAMS + o, all);
        }
    }
}

#define PARTS_IN_FLIGHT 8 /* partials of a value in flight */

/* Return the sum of one value's partials, in order. `apart`: distance between partials. */
static T add_parts(__global const volatile T *one, ulong apart, int parts)
{
    T whole = 0;
    for (int first = 0; first < parts; first += PARTS_IN_FLIGHT) {
        T part[PARTS_IN_FLIGHT];
#pragma unroll
        for (int p = 0; p < PARTS_IN_FLIGHT; p++)
            part[p] = first + p < parts ? one[(ulong)(first + p) * apart] : (T)0;
#pragma unroll
        for (int p = 0; p < PARTS_IN_FLIGHT; p++)
            whole += part[p];
    }
    return whole;
}

/* Groups 0 .. parts - 1 compute the first ROWS rows, a part of `part_depth` of the depth each, the
 * next groups the next rows. counter[block]: number of groups that have stored their sums; 0
 * before and after. */
__kernel void matmul_skinny(int rows, int vectors, int k, T alpha, __global const T *x, ulong x0,
                            ulong ldx, __global const T *y, ulong y0, ulong y_step_v,
                            ulong y_step_x, T beta, __global T *c, ulong c0, ulong c_step_r,
                            ulong c_step_v, int parts, int part_depth, __global volatile T *partial,
                            ulong sums0, __global volatile uint *counter)
{
    __local T buffer[BUFFER] __attribute__((aligned(16)));
    __local uint arrived;
    const int item = (int)get_local_id(0), group = (int)(get_global_id(0) / ITEMS),
              block = group / parts, part = group % parts;
    const int place = X_ALONG_K ? item / TEAM : item % TEAMS,
              rank = X_ALONG_K ? item % TEAM : item / TEAMS;
    const int first = block * ROWS, from = part * part_depth, to = min(k, from + part_depth);
    const struct result result = {
        c + c0 + (ulong)first * c_step_r, c_step_r, c_step_v, rows - first, vectors, alpha, beta};
    T sum[VALUES];
#pragma unroll
    for (int q = 0; q < VALUES; q++)
        sum[q] = 0;
#if X_ALONG_K
    __global const T
        *row[ITEM_ROWS]; /* rows past the end repeat the last one; their sums are dropped */
#pragma unroll
    for (int t = 0; t < ITEM_ROWS; t++)
        row[t] = x + x0 + (ulong)min(first + t * TEAMS + place, rows - 1) * ldx +
                 (ulong)(from + rank * W);
#else
    const int mine = first + place * ITEM_ROWS;
    __global const T *column = x + x0 + (ulong)(from + rank) * ldx + (ulong)mine;
#endif
    for (int x1 = from; x1 < to; x1 += CHUNK) {
        const int deep = min(CHUNK, to - x1);
        barrier(CLK_LOCAL_MEM_FENCE); /* all items have read the last chunk */
        fetch_vectors(buffer, y + y0, y_step_v, y_step_x, vectors, x1, deep, item);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 0; d < deep; d += STRIDE) {
#if X_ALONG_K
            step_x_along_k(sum, row, buffer + d + rank * W,
                           deep - d < STRIDE ? deep - d - rank * W : STRIDE);
#pragma unroll
            for (int t = 0; t < ITEM_ROWS; t++)
                row[t] += STRIDE;
#else
            step_x_across_k(sum, column, ldx, buffer + (d + rank) * VECTORS, rows - mine,
                            deep - d - rank);
            column += (ulong)STRIDE * ldx;
#endif
        }
    }
    const ulong all = (ulong)VALUES * TEAMS;
    add_teams(sum, buffer, result, partial + sums0 + (ulong)group * all, parts, item);
    if (parts == 1)
        return;
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        arrived = last_group_arrive(counter + block);
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (arrived != (uint)parts - 1)
        return;
    if (item == 0)
        counter[block] = 0;
    for (int n = 0; n < VALUES * TEAMS;
         n += ITEMS) { /* equal trip counts for all items; store_sum drops the excess */
        const int o = n + item;
        __global volatile T *one =
            partial + sums0 + (ulong)block * (ulong)parts * all + (ulong)min(o, VALUES * TEAMS - 1);
        store_sum(result, o, add_parts(one, all, parts));
    }
}
