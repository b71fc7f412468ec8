/* grid_barrier.cl - a barrier between all work-groups of a launch, so that one launch can make many
 * steps. Put in front of kernels that need it; grid_barrier.h is for their hosts.
 *
 *   group 0  --- step ---| arrives, waits |--- step ---
 *   group 1  -------- step --------| arrives |--- step ---
 *
 * The counter's lower 31 bits hold the number of groups counted in so far; its highest bit is
 * GRID_BARRIER_TIMEOUT, set once a group has timed out.
 *
 * All groups of the launch must be resident at once, which OpenCL does not promise: the host first
 * tries the same kernel with the same number of groups. Every wait ends after `max_polls` reads of
 * the counter; then every group that reaches a barrier leaves.
 *
 * All items of a group call these functions. Global memory written by any item before a barrier can
 * be read by all items after the barrier, but not through pointers that are `restrict` and `const`,
 * for which NVIDIA's compiler may use the incoherent read-only cache: LOAD_COHERENT(p) is *p past
 * the caches of a multiprocessor.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_GRID_BARRIER_CL
#define CORE_GRID_BARRIER_CL

#define GRID_BARRIER_TIMEOUT 0x80000000u

/* grid_barrier_count_in: release, then add 1 to the counter. grid_barrier_poll: read the counter.
 * grid_barrier_acquire: an acquire fence. grid_barrier_abort: set GRID_BARRIER_TIMEOUT. */
#if defined(__NV_CL_C_VERSION) /* compute capability 7 and later */
static inline void grid_barrier_count_in(volatile global uint *counter)
{
    __asm volatile("fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(counter)
                   : "memory");
}
static inline uint grid_barrier_poll(volatile global uint *counter)
{
    uint seen;
    __asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    return seen;
}
static inline void grid_barrier_acquire(void)
{
    __asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
static inline void grid_barrier_abort(volatile global uint *counter)
{
    atomic_or(counter, GRID_BARRIER_TIMEOUT);
}
#define DEFINE_LOAD_COHERENT(type, word, letter)                                                   \
    static inline type __attribute__((overloadable)) load_coherent(global const type *p)           \
    {                                                                                              \
        type v;                                                                                    \
        __asm volatile("ld.relaxed.gpu.global." word " %0, [%1];" : "=" letter(v) : "l"(p));       \
        return v;                                                                                  \
    }
DEFINE_LOAD_COHERENT(float, "f32", "f")
DEFINE_LOAD_COHERENT(double, "f64", "d")
static inline float4 __attribute__((overloadable)) load_coherent(global const float4 *p)
{
    float4 v;
    __asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                   : "l"(p));
    return v;
}
static inline double4 __attribute__((overloadable)) load_coherent(global const double4 *p)
{
    double4 v;
    __asm volatile(
        "ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%4]; ld.relaxed.gpu.global.v2.f64 {%2, %3}, [%4 + 16];"
        : "=&d"(v.x), "=&d"(v.y), "=d"(v.z), "=d"(v.w)
        : "l"(p));
    return v;
}
#define LOAD_COHERENT(p) load_coherent(p)

#else /* OpenCL C 3.0 with acquire and release across work-groups, or 2.0 */
static inline void grid_barrier_count_in(volatile global uint *counter)
{
    atomic_fetch_add_explicit((volatile global atomic_uint *)counter, 1u, memory_order_release,
                              memory_scope_device);
}
static inline uint grid_barrier_poll(volatile global uint *counter)
{
    return atomic_load_explicit((volatile global atomic_uint *)counter, memory_order_relaxed,
                                memory_scope_device);
}
static inline void grid_barrier_acquire(void)
{
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
}
static inline void grid_barrier_abort(volatile global uint *counter)
{
    atomic_fetch_or_explicit((volatile global atomic_uint *)counter, GRID_BARRIER_TIMEOUT,
                             memory_order_relaxed, memory_scope_device);
}
#define LOAD_COHERENT(p) (*(p))
#endif

static inline bool grid_barrier_is_first_item(void)
{
    return get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0;
}

/* Count the group in, after all of its items have reached this call. */
static inline void grid_barrier_arrive(volatile global uint *counter)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (grid_barrier_is_first_item())
        grid_barrier_count_in(counter);
}

/* Block until `target` groups have been counted in since the counter was 0: the number of groups
 * times the number of this barrier, 1, 2, ..., below 2^30. True if they were, false after a timeout
 * here or in another group. All items of a group get the same result, through `passed` in the
 * kernel's local memory. */
static inline bool grid_barrier_wait(volatile global uint *counter, uint target, uint max_polls,
                                     local uint *passed)
{
    if (grid_barrier_is_first_item()) {
        uint seen = grid_barrier_poll(counter);
        for (uint polls = 0; (seen & ~GRID_BARRIER_TIMEOUT) < target &&
                             !(seen & GRID_BARRIER_TIMEOUT) && polls < max_polls;
             polls++)
            seen = grid_barrier_poll(counter);
        grid_barrier_acquire();
        *passed = (seen & ~GRID_BARRIER_TIMEOUT) >= target && !(seen & GRID_BARRIER_TIMEOUT);
        if (!*passed)
            grid_barrier_abort(counter);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *passed;
}

static inline bool grid_barrier(volatile global uint *counter, uint target, uint max_polls,
                                local uint *passed)
{
    grid_barrier_arrive(counter);
    return grid_barrier_wait(counter, target, max_polls, passed);
}

#endif
