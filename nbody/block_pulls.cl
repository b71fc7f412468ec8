/* block_pulls.cl - accelerations and their time derivatives of the bodies whose steps end now,
 * however few these are.
 *
 *   list[k], k < active    ->   partial[stretch][component][k], six components
 *
 * Attracting bodies come in stretches, these in pieces of PIECE: sums of pieces are added in their
 * order, then those of stretches in theirs. Both depend on the number of bodies alone; who adds
 * them does not matter. A group holds GROUP / lanes rows of WIDTH listed bodies, and `lanes` of its
 * items share a row: each sums other pieces of the stretch. With few bodies that is as many as
 * there may be, so that ten bodies and 65,536 that pull them are thousands of items' work; with
 * many it is one. Where there are more than `room` bodies to be summed for, a group goes through
 * all stretches, and `partial` has one slot.
 *
 * The number of groups is the host's choice: they go through rows and stretches until all is done.
 * The plain-C twin is nbody_ref_jerk in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ROOT_CL /* the host puts it in front */
#include "root.cl"
#endif
#ifndef GROUP
#define GROUP 1 /* work-items of a group */
#endif
#ifndef LANES
#define LANES 1 /* the most items of a row; a power of two that divides GROUP */
#endif

#ifndef UNROLL
#define UNROLL 1 /* of the loop over a piece */
#endif

#define PIECE 32 /* bodies that are summed before they join the total of a stretch */
#define ROWS 32  /* groups of listed bodies from which on a row has fewer items */

/* What block_steps.cl keeps. */
typedef struct {
    ulong now[2], pulled;
    uint active[2];
} block_clock;

#define UNROLLED _Pragma("unroll")

/* WIDTH bodies. */
struct target {
    vec at[6]; /* x y z vx vy vz */
};

/* A comparison as select() wants it. */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

/* The sum over a piece. Behind the last body there are some without mass, far away. */
static inline void add_piece(const struct target *t, global const real4 *restrict posm,
                             global const real4 *restrict velo, real eps2, real zero, vec sum[6])
{
#pragma unroll UNROLL
    for (uint j = 0; j < PIECE; j++) {
        const real4 b = posm[j], v = velo[j];
        const vec dx = b.x - t->at[0], dy = b.y - t->at[1], dz = b.z - t->at[2];
        const vec dvx = v.x - t->at[3], dvy = v.y - t->at[4], dvz = v.z - t->at[5];
        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
        const vec w = inverse_root(r2), ww = w * w;
        const vec s = select(b.w * w * ww, (vec)C(0), IVEC(r2 == (vec)zero));
        const vec q = C(-3) * ww * FMA(dx, dvx, FMA(dy, dvy, dz * dvz));
        sum[0] = FMA(s, dx, sum[0]);
        sum[1] = FMA(s, dy, sum[1]);
        sum[2] = FMA(s, dz, sum[2]);
        sum[3] = FMA(s, FMA(q, dx, dvx), sum[3]);
        sum[4] = FMA(s, FMA(q, dy, dvy), sum[4]);
        sum[5] = FMA(s, FMA(q, dz, dvz), sum[5]);
    }
}

/* Component c of WIDTH listed bodies into partial; those behind the end of the list are none. */
static inline void put(global real *to, vec sum, uint place, uint active)
{
    for (uint lane = 0; lane < WIDTH && place + lane < active; lane++)
        to[place + lane] = ((real *)&sum)[lane];
}

/* from, until: the stretches; they end at body `end`, a whole piece. One item a row: the sums of
 * stretches are added here. */
static inline void sum_alone(const struct target *t, global const real4 *restrict posm,
                             global const real4 *restrict velo, global real *restrict out,
                             uint stride, uint from, uint until, uint stretch, uint end, real eps2,
                             real zero, uint place, uint active)
{
    vec all[6];
    UNROLLED for (int c = 0; c < 6; c++) all[c] = (vec)C(0);
    for (uint s = from; s < until; s++) {
        vec total[6];
        UNROLLED for (int c = 0; c < 6; c++) total[c] = (vec)C(0);
        const uint stop = min((s + 1) * stretch, end);
        for (uint piece = s * stretch; piece < stop; piece += PIECE) {
            vec sum[6];
            UNROLLED for (int c = 0; c < 6; c++) sum[c] = (vec)C(0);
            add_piece(t, posm + piece, velo + piece, eps2, zero, sum);
            UNROLLED for (int c = 0; c < 6; c++) total[c] += sum[c];
        }
        UNROLLED for (int c = 0; c < 6; c++) all[c] = s == from ? total[c] : all[c] + total[c];
    }
    UNROLLED for (int c = 0; c < 6; c++) put(out + c * (size_t)stride, all[c], place, active);
}

#if LANES > 1
/* Several items a row, one stretch: each sums a piece, then these are added in their order. */
static inline void sum_together(const struct target *t, global const real4 *restrict posm,
                                global const real4 *restrict velo, global real *restrict out,
                                uint stride, uint s, uint stretch, uint end, real eps2, real zero,
                                uint lanes, uint place, uint active, local vec (*piece)[GROUP],
                                local vec *total)
{
    const uint item = get_local_id(0), rows = GROUP / lanes, stop = min((s + 1) * stretch, end);
    for (uint k = item; k < 6 * rows; k += GROUP)
        total[k] = (vec)C(0);
    for (uint round = s * stretch; round < stop; round += lanes * PIECE) {
        vec sum[6];
        UNROLLED for (int c = 0; c < 6; c++) sum[c] = (vec)C(0);
        const uint from = round + item / rows * PIECE;
        if (from < stop)
            add_piece(t, posm + from, velo + from, eps2, zero, sum);
        UNROLLED for (int c = 0; c < 6; c++) piece[c][item] = sum[c];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < 6 * rows; k += GROUP)
            for (uint lane = 0; lane < lanes; lane++)
                total[k] += piece[k / rows][lane * rows + k % rows];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item < rows)
        for (uint c = 0; c < 6; c++)
            put(out + c * (size_t)stride, total[c * rows + item], place, active);
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* first: the index in posm of row 0; rows: the stride of `partial` with one slot, room: with a slot
 * for each stretch; part of parts: this launch does that part of the listed bodies. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void pulls(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global real *restrict partial, global const uint *restrict list,
    global const block_clock *clock, uint first, uint rows, uint room, uint stretch, uint stretches,
    uint end, real eps2, real zero, uint turn, uint part, uint parts)
{
#if LANES > 1
    local vec piece[6][GROUP], total[3 * GROUP];
#endif
    const uint active = min(clock->active[turn], rows);
    const bool chained = active > room;
    uint lanes = chained ? 1 : LANES;
    while (lanes > 1 && active > ROWS * WIDTH * (GROUP / lanes))
        lanes /= 2;
    const uint width = WIDTH * (GROUP / lanes), heaps = (active + width - 1) / width;
    const uint from = (uint)((ulong)heaps * part / parts),
               here = (uint)((ulong)heaps * (part + 1) / parts) - from;
    const uint tasks = here * (chained ? 1 : stretches);
    for (uint task = get_group_id(0); task < tasks; task += get_num_groups(0)) {
        const uint heap = from + task % here, s = task / here,
                   place = heap * width + get_local_id(0) % (GROUP / lanes) * WIDTH;
        struct target t;
        for (uint lane = 0; lane < WIDTH; lane++) {
            const size_t i = first + list[min(place + lane, active - 1)];
            UNROLLED for (uint c = 0; c < 3; c++)
            {
                ((real *)&t.at[c])[lane] = ((global const real *)(posm + i))[c];
                ((real *)&t.at[c + 3])[lane] = ((global const real *)(velo + i))[c];
            }
        }
        const uint stride = chained ? rows : room;
        global real *out = partial + (chained ? (size_t)0 : s * 6 * (size_t)room);
#if LANES > 1
        if (lanes > 1)
            sum_together(&t, posm, velo, out, stride, s, stretch, end, eps2, zero, lanes, place,
                         active, piece, total);
        else
#endif
            sum_alone(&t, posm, velo, out, stride, chained ? 0 : s, chained ? stretches : s + 1,
                      stretch, end, eps2, zero, place, active);
    }
}
