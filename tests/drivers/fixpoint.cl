/* fixpoint.cl - PoCL 6.0 with LLVM 18 ends the process when it compiles this kernel for a launch:
 * "LLVM ERROR: Instruction Combining did not reach a fixpoint after 1 iterations".
 * POCL_WORK_GROUP_METHOD=cbs avoids the error, and so does one loop instead of two, as in
 * group_boxes of nbody/domain/domain.cl.
 * SPDX-License-Identifier: MIT
 */
kernel void fixpoint(global const float2 *a, global const uint *info, global uint *out, uint n)
{
    float2 most = a[0];
    float least = 1;
    for (uint i = 0; i < n; i++) {
        most = fmax(most, a[i]);
        least = fmin(least, fmax(a[i].x, a[i].y));
    }
    bool split = info[0] || fmax(most.x, most.y) > least;
    for (uint i = 0; i < n; i++)
        split |= info[i] > 4;
    out[0] = split;
}
