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
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#define TILE 32
#define BLOCK 32
#define ITEMS 1
#include "pairs.cl"
#endif
#ifndef LANES
#define LANES 1 /* maximum items per vector; a power of two that divides GROUP */
#endif
#if TILE != BLOCK || ITEMS != 1 || LOCAL || J_SPLIT != 1
#error "block_forces.cl: a piece is a tile and a block; a target is one vector"
#endif

#define PIECE TILE
#define MIN_PACKS 32 /* reduce `lanes` while there are fewer packs than this */
#define JERK_SUM                                                                                   \
    {                                                                                              \
        .arrays = 2, .planes = 6                                                                   \
    }

/* Beginning of the structure of block_steps.cl. */
typedef struct {
    ulong now[2], pulled;
    uint active[2];
} block_clock;

INLINED void add_pair(const struct pairs *p, const struct target *t, const struct source *b,
                      vec *acc)
{
    const real4 v = b->in[1];
    add_jerk(separate(p, t, b), v.x - t->at[3], v.y - t->at[4], v.z - t->at[5], b->in[0].w, p->zero,
             acc);
}

/* Store component c of WIDTH active bodies, limited to the length of the list. */
static inline void store_lanes(global real *to, vec sum, uint place, uint active)
{
    for (uint lane = 0; lane < WIDTH && place + lane < active; lane++)
        to[place + lane] = ((real *)&sum)[lane];
}

/* One item per vector: sum over the chunks p->from .. p->until - 1, in order. */
INLINED void sum_by_one_item(SOURCE_PARAMETERS, struct pairs *p, const struct target *t, uint place,
                             uint active)
{
    vec all[6];
    UNROLLED for (int c = 0; c < 6; c++) all[c] = (vec)C(0);
    for (uint n = p->from; n < p->until; n++) {
        vec total[MOST_PLANES][1];
        sum_chunk(SOURCE_ARGUMENTS, p, t, n, total);
        UNROLLED for (int c = 0; c < 6; c++) all[c] =
            n == p->from ? total[c][0] : all[c] + total[c][0];
    }
    UNROLLED for (int c = 0; c < 6; c++)
        store_lanes(p->partial + c * (size_t)p->rows, all[c], place, active);
}

#if LANES > 1
/* Several items per vector, one chunk: each sums a piece, then the pieces are added in order. */
INLINED void sum_by_several_items(SOURCE_PARAMETERS, const struct pairs *p, const struct target *t,
                                  uint lanes, uint place, uint active, local vec (*piece)[GROUP],
                                  local vec *total)
{
    const uint item = get_local_id(0), vectors = GROUP / lanes, start = p->from * p->chunk,
               stop = start + chunk_length(p, p->from);
    for (uint k = item; k < 6 * vectors; k += GROUP)
        total[k] = (vec)C(0);
    for (uint round = start; round < stop; round += lanes * PIECE) {
        vec acc[1][MOST_PLANES];
        UNROLLED for (int c = 0; c < 6; c++) acc[0][c] = (vec)C(0);
        const uint j = round + item / vectors * PIECE;
        if (j < stop)
            add_tile(SOURCE_ARGUMENTS, p, t, j, acc);
        UNROLLED for (int c = 0; c < 6; c++) piece[c][item] = acc[0][c];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < 6 * vectors; k += GROUP)
            for (uint lane = 0; lane < lanes; lane++)
                total[k] += piece[k / vectors][lane * vectors + k % vectors];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item < vectors)
        for (uint c = 0; c < 6; c++)
            store_lanes(p->partial + c * (size_t)p->rows, total[c * vectors + item], place, active);
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
        struct pairs p = {partial, first, rows, 0, chunk, 0, chunks, end, eps2, zero, JERK_SUM};
        if (!all_chunks) {
            p.partial += s * 6 * (size_t)max_partial;
            p.rows = max_partial;
            p.from = s, p.until = s + 1;
        }
#if LANES > 1
        if (lanes > 1)
            sum_by_several_items(posm, velo, 0, &p, &t, lanes, place, active, piece, total);
        else
#endif
            sum_by_one_item(posm, velo, 0, &p, &t, place, active);
    }
}
