/* block_forces.cl - accelerations and jerks of the active bodies (their steps end now), however
 * few.
 *
 *   list[k], k < active    ->   partial[chunk][component][k], six components
 *
 * Source bodies come in chunks, these in pieces of PIECE. Sums of pieces are added in order, then
 * sums of chunks in order. Both depend on the number of bodies only, not on the item that adds
 * them. A group holds GROUP / lanes vectors of WIDTH active bodies, and `lanes` of its items share
 * a vector: each sums other pieces of the chunk. With few active bodies `lanes` is at its maximum,
 * so that ten bodies and 65,536 sources occupy thousands of items; with many it is one. With more
 * than `max_partial` active bodies a group sums all chunks, and `partial` has one sum per body.
 *
 * The host chooses the number of groups; they loop over vectors and chunks. Scalar reference:
 * nbody_ref_jerk in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ROOT_CL /* prepended by the host */
#include "root.cl"
#endif
#ifndef GROUP
#define GROUP 1 /* work-items per group */
#endif
#ifndef LANES
#define LANES 1 /* maximum items per vector; a power of two that divides GROUP */
#endif

#ifndef UNROLL
#define UNROLL 1 /* of the loop over a piece */
#endif

#define PIECE 32     /* bodies summed before they are added to the chunk's total */
#define MIN_PACKS 32 /* reduce `lanes` while there are fewer packs than this */

/* Beginning of the structure of block_steps.cl. */
typedef struct {
    ulong now[2], pulled;
    uint active[2];
} block_clock;

#define UNROLLED _Pragma("unroll")

/* WIDTH active bodies. */
struct target {
    vec at[6]; /* x y z vx vy vz */
};

/* Convert a comparison to the type that select() takes. */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

/* Sum over a piece. Padding after the last body has no mass and is far away. */
static inline void add_piece_forces(const struct target *t, global const real4 *restrict posm,
                                    global const real4 *restrict velo, real eps2, real zero,
                                    vec sum[6])
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

/* Store component c of WIDTH active bodies, limited to the length of the list. */
static inline void store_lanes(global real *to, vec sum, uint place, uint active)
{
    for (uint lane = 0; lane < WIDTH && place + lane < active; lane++)
        to[place + lane] = ((real *)&sum)[lane];
}

/* One item per vector: sum over the chunks from .. until - 1, in order. `end`: end of the source
 * bodies, a multiple of PIECE. */
static inline void sum_by_one_item(const struct target *t, global const real4 *restrict posm,
                                   global const real4 *restrict velo, global real *restrict out,
                                   uint stride, uint from, uint until, uint chunk, uint end,
                                   real eps2, real zero, uint place, uint active)
{
    vec all[6];
    UNROLLED for (int c = 0; c < 6; c++) all[c] = (vec)C(0);
    for (uint s = from; s < until; s++) {
        vec total[6];
        UNROLLED for (int c = 0; c < 6; c++) total[c] = (vec)C(0);
        const uint stop = min((s + 1) * chunk, end);
        for (uint piece = s * chunk; piece < stop; piece += PIECE) {
            vec sum[6];
            UNROLLED for (int c = 0; c < 6; c++) sum[c] = (vec)C(0);
            add_piece_forces(t, posm + piece, velo + piece, eps2, zero, sum);
            UNROLLED for (int c = 0; c < 6; c++) total[c] += sum[c];
        }
        UNROLLED for (int c = 0; c < 6; c++) all[c] = s == from ? total[c] : all[c] + total[c];
    }
    UNROLLED for (int c = 0; c < 6; c++)
        store_lanes(out + c * (size_t)stride, all[c], place, active);
}

#if LANES > 1
/* Several items per vector, one chunk: each sums a piece, then the pieces are added in order. */
static inline void sum_by_several_items(const struct target *t, global const real4 *restrict posm,
                                        global const real4 *restrict velo,
                                        global real *restrict out, uint stride, uint s, uint chunk,
                                        uint end, real eps2, real zero, uint lanes, uint place,
                                        uint active, local vec (*piece)[GROUP], local vec *total)
{
    const uint item = get_local_id(0), rows = GROUP / lanes, stop = min((s + 1) * chunk, end);
    for (uint k = item; k < 6 * rows; k += GROUP)
        total[k] = (vec)C(0);
    for (uint round = s * chunk; round < stop; round += lanes * PIECE) {
        vec sum[6];
        UNROLLED for (int c = 0; c < 6; c++) sum[c] = (vec)C(0);
        const uint from = round + item / rows * PIECE;
        if (from < stop)
            add_piece_forces(t, posm + from, velo + from, eps2, zero, sum);
        UNROLLED for (int c = 0; c < 6; c++) piece[c][item] = sum[c];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < 6 * rows; k += GROUP)
            for (uint lane = 0; lane < lanes; lane++)
                total[k] += piece[k / rows][lane * rows + k % rows];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item < rows)
        for (uint c = 0; c < 6; c++)
            store_lanes(out + c * (size_t)stride, total[c * rows + item], place, active);
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* first: index in posm of the device's first body. rows: stride of `partial` with one sum per
 * body; max_partial: with a sum per chunk. This launch covers part `part` of `parts` of the list.
 */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_forces(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global real *restrict partial, global const uint *restrict list,
    global const block_clock *clock, uint first, uint rows, uint max_partial, uint chunk,
    uint chunks, uint end, real eps2, real zero, uint turn, uint part, uint parts)
{
#if LANES > 1
    local vec piece[6][GROUP], total[3 * GROUP];
#endif
    const uint active = min(clock->active[turn], rows);
    const bool all_chunks = active > max_partial;
    uint lanes = all_chunks ? 1 : LANES;
    while (lanes > 1 && active > MIN_PACKS * WIDTH * (GROUP / lanes))
        lanes /= 2;
    const uint width = WIDTH * (GROUP / lanes), packs = (active + width - 1) / width;
    const uint from = (uint)((ulong)packs * part / parts),
               here = (uint)((ulong)packs * (part + 1) / parts) - from;
    const uint tasks = here * (all_chunks ? 1 : chunks);
    for (uint task = get_group_id(0); task < tasks; task += get_num_groups(0)) {
        const uint pack = from + task % here, s = task / here,
                   place = pack * width + get_local_id(0) % (GROUP / lanes) * WIDTH;
        struct target t;
        for (uint lane = 0; lane < WIDTH; lane++) {
            const size_t i = first + list[min(place + lane, active - 1)];
            UNROLLED for (uint c = 0; c < 3; c++)
            {
                ((real *)&t.at[c])[lane] = ((global const real *)(posm + i))[c];
                ((real *)&t.at[c + 3])[lane] = ((global const real *)(velo + i))[c];
            }
        }
        const uint stride = all_chunks ? rows : max_partial;
        global real *out = partial + (all_chunks ? (size_t)0 : s * 6 * (size_t)max_partial);
#if LANES > 1
        if (lanes > 1)
            sum_by_several_items(&t, posm, velo, out, stride, s, chunk, end, eps2, zero, lanes,
                                 place, active, piece, total);
        else
#endif
            sum_by_one_item(&t, posm, velo, out, stride, all_chunks ? 0 : s,
                            all_chunks ? chunks : s + 1, chunk, end, eps2, zero, place, active);
    }
}
