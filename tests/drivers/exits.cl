/* exits.cl - PoCL 3.1 leaves 100, 101, 102, ... in `out` instead of 100, 0, 0, ...: after a second
 * early return of the whole work-group, all items pass the last test, which only item 0 should
 * pass. Oclgrind leaves the right numbers. One work-group of 32, n = 1, wanted = 1.
 * SPDX-License-Identifier: MIT
 */
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void exits(__global uint *out, uint n,
                                                                    int wanted)
{
    __local uint kept[64], room[32];
    const uint i = get_local_id(0), mark = i == 0;
    if (n == 0)
        return;
    uint own[2];
    room[i] = mark;
    kept[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = room[0];
    if (i < all)
        out[i] = kept[i];
    if (!wanted)
        return;
    barrier(CLK_LOCAL_MEM_FENCE);
    own[0] = 2 * i;
    own[1] = n;
    uint place = i;
    for (uint k = 0; k < 2; k++)
        if (mark >> k & 1)
            kept[place++] = own[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < all)
        out[i] = 100 + i;
}
