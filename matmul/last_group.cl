/* last_group.cl - a counter that identifies the last-arriving of several groups that share a
 * result: split-K tiles (tile.cl) and split-K partials of a few vectors (skinny.cl).
 *
 * No group waits, unlike in core/grid_barrier.cl. Each group increments the counter after it has
 * stored its partial, and the last-arriving group finds the partials of all. OpenCL 1.2 does not
 * order a group's writes for another group. NVIDIA's instructions do; tuning entries for other GPUs
 * have split_k_min=0, so that groups share nothing.
 *
 * Host code puts this file before the others; read from a folder, they include it.
 * SPDX-License-Identifier: MIT
 */
#ifndef MATMUL_LAST_GROUP
#define MATMUL_LAST_GROUP

#ifndef PTX
/* NVIDIA's compute capability, 90 for 9.0: the compiler takes inline PTX; 0: another device */
#define PTX 0
#endif

#if PTX >= 70
#define FENCE() __asm volatile("fence.acq_rel.gpu;" ::: "memory")
#elif PTX
#define FENCE() __asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#endif

/* Count this group in and return the number of groups before it: the last-arriving of n groups
 * gets n - 1. Called by one item, between two barriers: the group's writes are visible to groups
 * that arrive later, and the writes of groups that arrived earlier to this group. */
static uint last_group_arrive(__global volatile uint *counter)
{
    FENCE();
    const uint before = atomic_inc(counter);
    FENCE();
    return before;
}

#endif
