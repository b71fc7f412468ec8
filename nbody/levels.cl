/* levels.cl - steps of dt / 2^level within a step of the engine, dt; the host puts it behind
 * step.cl.
 *
 * dt is TICKS ticks. A body of level k makes steps of TICKS >> k of them, which begin and end at
 * multiples of that: so what time it is and a body's level tell when its step began and when it
 * ends.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_LEVELS_CL
#define NBODY_LEVELS_CL
#ifndef NBODY_STEP_CL
#include "step.cl"
#endif

#define DEEPEST 40 /* the same for the host: integrate.h */
#define TICKS ((ulong)1 << DEEPEST)

/* The level of a body that wants a step of `want`: the longest that is no longer. first_bad: the
 * first row whose step vanishes. */
static inline uint level_of(real want, real dt, global int *first_bad, int row)
{
    real step = fabs(dt);
    uint level = 0;
    while (step > want && level < DEEPEST)
        step /= 2, level++;
    if (!(step <= want))
        atomic_min(first_bad, row); /* NaN, too */
    return level;
}

static inline real size3(real x, real y, real z)
{
    return sqrt(fma(x, x, fma(y, y, z * z)));
}

#endif
