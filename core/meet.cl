/* meet.cl - where all work-groups of a launch meet, so that one launch can make many steps. Put in
 * front of kernels that need it; meet.h is for their hosts.
 *
 *   group 0  --- step ---| arrives, waits |--- step ---|          place: how many have arrived in
 *            all (31 bits), and
 *   group 1  -------- step --------| arrives |--- step ---        MEET_LOST once somebody has
 *            waited in vain
 *
 * All groups of the launch must be at work at once, which OpenCL does not promise: whoever starts
 * such a launch has tried it with the same kernel and as many groups. Every wait ends after
 * `patience` looks, and then all that come to a meeting are told to leave.
 *
 * All items of a group call these functions. What any item wrote to global memory before a meeting
 * all may read behind it, not by way of pointers that are `restrict` and `const`, for which
 * NVIDIA's compiler may take a cache that knows nothing of this: FRESH(p) is *p past such caches.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_MEET_CL
#define CORE_MEET_CL

#define MEET_LOST 0x80000000u

/* meet_release: all that was written is there for whoever reads the count. meet_look: the count.
 * meet_acquire: what was there then is read from now on. meet_leave: sets MEET_LOST. */
#if defined(__NV_CL_C_VERSION) /* compute capability 7 and later */
static inline void meet_release(volatile global uint *place)
{
    __asm volatile("fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(place)
                   : "memory");
}
static inline uint meet_look(volatile global uint *place)
{
    uint seen;
    __asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(place) : "memory");
    return seen;
}
static inline void meet_acquire(void)
{
    __asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
static inline void meet_leave(volatile global uint *place)
{
    atomic_or(place, MEET_LOST);
}
#define MEET_FRESH(type, word, letter)                                                             \
    static inline type __attribute__((overloadable)) meet_fresh(global const type *p)              \
    {                                                                                              \
        type v;                                                                                    \
        __asm volatile("ld.relaxed.gpu.global." word " %0, [%1];" : "=" letter(v) : "l"(p));       \
        return v;                                                                                  \
    }
MEET_FRESH(float, "f32", "f")
MEET_FRESH(double, "f64", "d")
static inline float4 __attribute__((overloadable)) meet_fresh(global const float4 *p)
{
    float4 v;
    __asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                   : "l"(p));
    return v;
}
static inline double4 __attribute__((overloadable)) meet_fresh(global const double4 *p)
{
    double4 v;
    __asm volatile(
        "ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%4]; ld.relaxed.gpu.global.v2.f64 {%2, %3}, [%4 + 16];"
        : "=&d"(v.x), "=&d"(v.y), "=d"(v.z), "=d"(v.w)
        : "l"(p));
    return v;
}
#define FRESH(p) meet_fresh(p)

#else /* OpenCL C 3.0 with acquire and release across work-groups, or 2.0 */
static inline void meet_release(volatile global uint *place)
{
    atomic_fetch_add_explicit((volatile global atomic_uint *)place, 1u, memory_order_release,
                              memory_scope_device);
}
static inline uint meet_look(volatile global uint *place)
{
    return atomic_load_explicit((volatile global atomic_uint *)place, memory_order_relaxed,
                                memory_scope_device);
}
static inline void meet_acquire(void)
{
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
}
static inline void meet_leave(volatile global uint *place)
{
    atomic_fetch_or_explicit((volatile global atomic_uint *)place, MEET_LOST, memory_order_relaxed,
                             memory_scope_device);
}
#define FRESH(p) (*(p))
#endif

static inline bool meet_is_first(void)
{
    return get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0;
}

/* The group has done its part. */
static inline void meet_arrive(volatile global uint *place)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (meet_is_first())
        meet_release(place);
}

/* Waits until `target` groups have arrived in all: groups times the number of the meeting, 1, 2,
 * ... since `place` was 0, less than 2^30. True then, false after MEET_LOST, and the same in all
 * items of a group, by way of `told`, which the kernel has in local memory. */
static inline bool meet_await(volatile global uint *place, uint target, uint patience,
                              local uint *told)
{
    if (meet_is_first()) {
        uint seen = meet_look(place);
        for (uint looks = 0;
             (seen & ~MEET_LOST) < target && !(seen & MEET_LOST) && looks < patience; looks++)
            seen = meet_look(place);
        meet_acquire();
        *told = (seen & ~MEET_LOST) >= target && !(seen & MEET_LOST);
        if (!*told)
            meet_leave(place);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *told;
}

static inline bool meet(volatile global uint *place, uint target, uint patience, local uint *told)
{
    meet_arrive(place);
    return meet_await(place, target, patience, told);
}

#endif
