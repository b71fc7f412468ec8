/* reread.cl - PoCL 7.0 and 7.1 (not 6.0; fixed in its pull request 2269) leave 100s in `out`
 * instead of 1, 0, 3, 2, ...: a value read before a barrier is read again after it.
 * POCL_WORK_GROUP_METHOD=cbs avoids the error, and so does a volatile location, which our kernels
 * use (arrays/tiles.h). One work-group of 32.
 * SPDX-License-Identifier: MIT
 */
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void reread(__global uint *out)
{
    __local uint room[32];
    const uint i = get_local_id(0);
    room[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint before = room[i ^ 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    room[i] = 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = before;
}
