/* meet.cl - groups that leave something for each other: tiles that several share (tile.cl), and
 * parts of a few vectors' depth (skinny.cl).
 *
 * Nobody waits. Each group counts itself behind what it has left, and the one that comes last finds
 * all of it. OpenCL 1.2 does not order what one group writes for another; NVIDIA's instructions do,
 * and rows of other GPUs let no groups share (`span` and `part` are 0).
 *
 * Host code puts this file before the others; read from a folder, they include it.
 * SPDX-License-Identifier: MIT
 */
#ifndef MATMUL_MEET
#define MATMUL_MEET

#ifndef PTX
#define PTX                                                                                        \
    0 /* NVIDIA's compute capability, 90 for 9.0, whose compiler takes inline PTX; 0: another      \
         device */
#endif

#if PTX >= 70
#define FENCE() __asm volatile("fence.acq_rel.gpu;" ::: "memory")
#elif PTX
#define FENCE() __asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#endif

/* Says that this group has left its part, and tells how many have before. By one item, between two
 * barriers: what the group has written is there for those that come later, and what others have
 * written for the group. */
static uint arrive(__global volatile uint *counter)
{
    FENCE();
    const uint before = atomic_inc(counter);
    FENCE();
    return before;
}

#endif
