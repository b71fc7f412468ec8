/* ensemble_lanes.cl - vectors of WIDTH numbers in double precision, one system per lane, with the
 * names of host_lanes.h: the host puts this file in front of kepler_solver.h and whfast_steps.h.
 * On a GPU a lane is a work-item, and WIDTH is 1.
 *
 *   number k of all systems     | lane 0 ... WIDTH-1 | ...           memory
 *                                 work-item 0          work-item 1
 *
 * SPDX-License-Identifier: MIT
 */
#define NBODY_ENSEMBLE_LANES_CL
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifndef WIDTH
#define WIDTH 1 /* systems of a work-item: 1, 2, 4 or 8 */
#endif
#define INLINE static inline
#define LANES(x) ((lanes)(x))
#define WH_NUMBER lanes
#define WH_CONSTANT constant
#define WH_SELECT(which, a, b) SELECT(which, a, b)

#if WIDTH == 1
typedef double lanes;
typedef int lane_numbers; /* a comparison: 1 where true */
#define SELECT(which, a, b) ((which) ? (a) : (b))
#define lanes_any(which) (*(which))
#else
#define LANES_NAME(type, width) type##width
#define LANES_TYPE(type, width) LANES_NAME(type, width)
typedef LANES_TYPE(double, WIDTH) lanes;
typedef LANES_TYPE(long, WIDTH) lane_numbers; /* a comparison: -1 where true */
#define SELECT(which, a, b) select((lanes)(b), (lanes)(a), (lane_numbers)(which))
#define lanes_any(which) any(*(which))
#endif

INLINE void lanes_root(lanes *x)
{
    *x = sqrt(*x);
}

/* x += y, with the rounding error of the sum carried in *lost (Kahan 1965). */
INLINE void lanes_add_compensated(lanes *x, lanes *lost, const lanes *y)
{
    const lanes more = *y + *lost, sum = *x + more;
    *lost = more - (sum - *x);
    *x = sum;
}

/* Load and store a number of WIDTH systems, or of the `left` systems that exist. */
INLINE lanes lanes_load(global const double *at, size_t left)
{
    lanes x;
    double *const number = (double *)&x;
    for (size_t l = 0; l < WIDTH; l++)
        number[l] = at[l < left ? l : left - 1];
    return x;
}

INLINE void lanes_store(global double *at, size_t left, lanes x)
{
    const double *const number = (const double *)&x;
    for (size_t l = 0; l < WIDTH && l < left; l++)
        at[l] = number[l];
}
