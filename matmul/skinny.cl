/* skinny.cl - a matrix times a few vectors: products of which a side is 1 to 16 wide.
 *
 * All of a large matrix X is read once, for one multiply-add a vector: memory sets the pace, and
 * what matters is that much is always on its way from there. X is op(A), and the vectors Y columns
 * of op(B), or the other way round; either way
 *
 *        C(r, v) = alpha * sum over x of X(r, x) Y(v, x) + beta C(r, v)         rows r, vectors v,
 *        depth x
 *
 *   ALONG=1: x is what lies side by side          ALONG=0: r is what lies side by side
 *
 *             x ->                                           r ->
 *        r  | team 0: item 0 | 1 | 2 ..| 0 | 1 ..       x  | item 0 | item 1 | .. | item PLACES - 1
 *           |
 *        |  | team 1: item 0 | 1 | 2 ..| 0 | 1 ..       |  | the next PLACES items
 *           |
 *        v  | ..                                        v  | ..          TEAM rows, then the first
 *           items again
 *
 * Here a team's TEAM items share the depth of one row, or of EACH, and there of W, which are 16
 * bytes (1 where rows begin anywhere). The vectors' part of the depth waits in local memory, as
 * [v][x] or [x][v]. At the end a team's sums are added up there, item by item. Where there are few
 * rows, `parts` groups share the depth of each block of them, leave their sums as
 * partial[block][part][value][place], and the group that comes last adds them up, part by part. The
 * order of all additions follows from sizes and shape alone.
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
#ifndef ALONG
#define ALONG 1 /* 1: X lies as [r][x]; 0: as [x][r] */
#endif
#ifndef Y_ALONG
#define Y_ALONG 0 /* 1: Y lies as [v][x], elements one behind the other; 0: anyhow */
#endif
#ifndef WIDE
#define WIDE 1 /* 1: rows of X as it lies begin at multiples of 16 bytes; 0: anywhere */
#endif
#ifndef VECTORS
#define VECTORS 8 /* 1, 2, 4, 8 or 16; those from `vectors` on are zeros, and dropped */
#endif
#ifndef ITEMS
#define ITEMS 256 /* of a group */
#endif
#ifndef TEAM
#define TEAM 8 /* items that share a depth; a divisor of ITEMS */
#endif
#ifndef ROWS_EACH
#define ROWS_EACH 2 /* rows that an item adds up, with ALONG=1 */
#endif
#ifndef STEPS
#define STEPS 4 /* loads of an item, of each row, that are on their way together */
#endif
#ifndef CHUNK
#define CHUNK 512 /* depth of the vectors in local memory, a multiple of STRIDE */
#endif

#define W (WIDE ? 16 / SIZE : 1)                         /* elements of a load */
#define EACH (ALONG ? ROWS_EACH : W)                     /* rows of an item */
#define PLACES (ITEMS / TEAM)                            /* teams, which have rows of their own */
#define ROWS (PLACES * EACH)                             /* of a group */
#define STRIDE (ALONG ? TEAM * W * STEPS : TEAM * STEPS) /* depth of a step of a group's loop */
#define VALUES (EACH * VECTORS) /* sums of an item: [row of its own][vector] */
#define LINE_Y                                                                                     \
    (CHUNK + 16 / SIZE) /* 16 bytes more: neighbours that write a vector each use different banks  \
                         */
#define BUFFER (VECTORS * LINE_Y)  /* elements of local memory */
#define LINE_SUMS (ITEMS + PLACES) /* one more a team, for the same reason */
#define AT_ONCE                                                                                    \
    (BUFFER / LINE_SUMS < VALUES ? BUFFER / LINE_SUMS                                              \
                                 : VALUES) /* sums of an item for which there is room there */

/* ---- Loads. ---------------------------------------------------------------------------------- */

static void load(T *to, __global const T *from)
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

/* The same of what exists: `left` elements, which may be none or less. The others are zeros,
 * whatever lies there. */
static void load_some(T *to, __global const T *from, int left)
{
#pragma unroll
    for (int w = 0; w < W; w++)
        to[w] = w < left ? from[w] : (T)0;
}

/* n elements from local memory, 16 bytes at a time where they are a multiple of that. */
static void load_near(T *to, __local const T *from, int n)
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

/* `deep` elements of each vector, from depth x0 on, into local memory; zeros behind them, to the
 * end of a step. */
static void fetch_vectors(__local T *to, __global const T *y, ulong step_v, ulong step_x,
                          int vectors, int x0, int deep, int item)
{
    const int all = (deep + STRIDE - 1) / STRIDE * STRIDE;
#if Y_ALONG
    for (int v = 0; v < VECTORS; v++)
        for (int x = item; x < all; x += ITEMS)
            to[ALONG ? v * LINE_Y + x : x * VECTORS + v] =
                v < vectors && x < deep ? y[v * step_v + (ulong)(x0 + x)] : (T)0;
#else
    for (int e = item; e < all * VECTORS; e += ITEMS) {
        const int v = e % VECTORS, x = e / VECTORS;
        to[ALONG ? v * LINE_Y + x : e] =
            v < vectors && x < deep ? y[v * step_v + (ulong)(x0 + x) * step_x] : (T)0;
    }
#endif
}

/* ---- Products. ------------------------------------------------------------------------------- */

/* Adds a step of depth to an item's sums. `row[t]`: where its elements of row t begin; `y`: its
 * first of vector 0; `left`: of the depth, from its first element on. */
static void step_along(T *sum, __global const T *const *row, __local const T *y, int left)
{
    T x[STEPS][EACH][W];
    if (left >= STRIDE) {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int t = 0; t < EACH; t++)
                load(x[s][t], row[t] + s * TEAM * W);
    } else {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int t = 0; t < EACH; t++)
                load_some(x[s][t], row[t] + s * TEAM * W, left - s * TEAM * W);
    }
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            T near[W];
            load_near(near, y + v * LINE_Y + s * TEAM * W, W);
#pragma unroll
            for (int w = 0; w < W; w++)
#pragma unroll
                for (int t = 0; t < EACH; t++)
                    sum[t * VECTORS + v] = fma(x[s][t][w], near[w], sum[t * VECTORS + v]);
        }
}

/* The same. `x0`: its element of the first x; `rows`: that exist from its first on; `left`: of the
 * depth, from its first x on. */
static void step_across(T *sum, __global const T *x0, ulong ldx, __local const T *y, int rows,
                        int left)
{
    T x[STEPS][W];
    if (left > (STEPS - 1) * TEAM && rows >= W) {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            load(x[s], x0 + (ulong)(s * TEAM) * ldx);
    } else {
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            load_some(x[s], x0 + (ulong)(s * TEAM) * ldx, left > s * TEAM ? rows : 0);
    }
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        T near[VECTORS];
        load_near(near, y + s * TEAM * VECTORS, VECTORS);
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
#pragma unroll
            for (int w = 0; w < W; w++)
                sum[w * VECTORS + v] = fma(x[s][w], near[v], sum[w * VECTORS + v]);
    }
}

/* ---- The kernel. ----------------------------------------------------------------------------- */

/* Where a group's results go. */
struct result {
    __global T *c;
    ulong step_r, step_v;
    int rows, vectors; /* that exist, from the group's first on */
    T alpha, beta;
};

/* Sum number o of a group: of value o / PLACES of an item in the team o % PLACES. */
static void store(struct result to, int o, T sum)
{
    const int value = o / PLACES, place = o % PLACES, t = value / VECTORS, v = value % VECTORS;
    const int r = ALONG ? t * PLACES + place : place * EACH + t;
    if (o >= VALUES * PLACES || r >= to.rows || v >= to.vectors)
        return;
    __global T *at = to.c + (ulong)r * to.step_r + (ulong)v * to.step_v;
    *at = to.beta == 0 ? to.alpha * sum : to.alpha * sum + to.beta * *at;
}

/* The sums of all teams' items added up, to C or, where groups share the depth, to `own`. */
static void add_teams(const T *sum, __local T *buffer, struct result to, __global volatile T *own,
                      int parts, int item)
{
    const int mine = ALONG ? item + item / TEAM : item;
#pragma unroll
    for (int first = 0; first < VALUES; first += AT_ONCE) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++)
            if (first + q < VALUES)
                buffer[q * LINE_SUMS + mine] = sum[first + q];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int o = item; o < AT_ONCE * PLACES && first * PLACES + o < VALUES * PLACES;
             o += ITEMS) {
            const int q = o / PLACES, place = o % PLACES;
            T all = 0;
#pragma unroll 8
            for (int i = 0; i < TEAM; i++)
                all +=
                    buffer[q * LINE_SUMS + (ALONG ? place * (TEAM + 1) + i : i * PLACES + place)];
            if (parts > 1)
                own[first * PLACES + o] = all;
            else
                store(to, first * PLACES + o, all);
        }
    }
}

#define NEAR 8 /* sums of a value's parts that are on their way together */

/* One value's sums of all parts, in their order. `apart`: from one part's to the next. */
static T add_parts(__global const volatile T *one, ulong apart, int parts)
{
    T whole = 0;
    for (int first = 0; first < parts; first += NEAR) {
        T part[NEAR];
#pragma unroll
        for (int p = 0; p < NEAR; p++)
            part[p] = first + p < parts ? one[(ulong)(first + p) * apart] : (T)0;
#pragma unroll
        for (int p = 0; p < NEAR; p++)
            whole += part[p];
    }
    return whole;
}

/* Groups 0 .. parts - 1 compute the first ROWS rows, a part of `span` of the depth each, and so on.
 * `counter`: of each block of rows how many groups have left their sums; 0 before and after. */
__kernel void matmul_thin(int rows, int vectors, int k, T alpha, __global const T *x, ulong x0,
                          ulong ldx, __global const T *y, ulong y0, ulong y_step_v, ulong y_step_x,
                          T beta, __global T *c, ulong c0, ulong c_step_r, ulong c_step_v,
                          int parts, int span, __global volatile T *partial, ulong sums0,
                          __global volatile uint *counter)
{
    __local T buffer[BUFFER] __attribute__((aligned(16)));
    __local uint arrived;
    const int item = (int)get_local_id(0), group = (int)(get_global_id(0) / ITEMS),
              block = group / parts, part = group % parts;
    const int place = ALONG ? item / TEAM : item % PLACES,
              rank = ALONG ? item % TEAM : item / PLACES;
    const int first = block * ROWS, from = part * span, to = min(k, from + span);
    const struct result result = {
        c + c0 + (ulong)first * c_step_r, c_step_r, c_step_v, rows - first, vectors, alpha, beta};
    T sum[VALUES];
#pragma unroll
    for (int q = 0; q < VALUES; q++)
        sum[q] = 0;
#if ALONG
    __global const T *row[EACH]; /* rows that do not exist repeat the last one, and are dropped */
#pragma unroll
    for (int t = 0; t < EACH; t++)
        row[t] = x + x0 + (ulong)min(first + t * PLACES + place, rows - 1) * ldx +
                 (ulong)(from + rank * W);
#else
    const int mine = first + place * EACH;
    __global const T *column = x + x0 + (ulong)(from + rank) * ldx + (ulong)mine;
#endif
    for (int x1 = from; x1 < to; x1 += CHUNK) {
        const int deep = min(CHUNK, to - x1);
        barrier(CLK_LOCAL_MEM_FENCE); /* everybody has read the last chunk */
        fetch_vectors(buffer, y + y0, y_step_v, y_step_x, vectors, x1, deep, item);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 0; d < deep; d += STRIDE) {
#if ALONG
            step_along(sum, row, buffer + d + rank * W,
                       deep - d < STRIDE ? deep - d - rank * W : STRIDE);
#pragma unroll
            for (int t = 0; t < EACH; t++)
                row[t] += STRIDE;
#else
            step_across(sum, column, ldx, buffer + (d + rank) * VECTORS, rows - mine,
                        deep - d - rank);
            column += (ulong)STRIDE * ldx;
#endif
        }
    }
    const ulong all = (ulong)VALUES * PLACES;
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
    for (int n = 0; n < VALUES * PLACES;
         n += ITEMS) { /* all items go equally often, and what is too much is not stored */
        const int o = n + item;
        __global volatile T *one = partial + sums0 + (ulong)block * (ulong)parts * all +
                                   (ulong)min(o, VALUES * PLACES - 1);
        store(result, o, add_parts(one, all, parts));
    }
}
