/* block_levels.cl - block time steps of dt / 2^level within an engine step dt; the host puts
 * step.cl in front.
 *
 * dt is TICKS ticks. A body of level k makes steps of TICKS >> k ticks, which begin and end at
 * multiples of their length. The current time and a body's level therefore determine the begin and
 * the end of its step.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_BLOCK_LEVELS_CL
#define NBODY_BLOCK_LEVELS_CL
#ifndef NBODY_STEP_CL
#include "step.cl"
#endif

#define DEEPEST 40 /* as in integrate.h */
#define TICKS ((ulong)1 << DEEPEST)

/* Return the level of a body that wants a step of `want`: the longest step that is no longer.
 * *first_bad: the first row with a wanted step of 0 or NaN. */
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
