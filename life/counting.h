/* counting.h - population and hash of a grid (trace.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_COUNTING_H
#define LIFE_COUNTING_H

#include "stdcl/life.h"

/* Mix 64 bits: the finalizer of splitmix64 (Steele, Lea & Flood 2014); mix.h has the same function
 * for kernels. A state's hash is the sum over its non-zero units u at place i, counted from 1, of
 * life_mix(u + i * 0x9e3779b97f4a7c15). */
static inline uint64_t life_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* `trace` on devices: results of LIFE_SLOTS generations stay on the device before the host reads
 * them. */
enum { LIFE_SLOTS = 64 };
struct life_counting {
    int (*advance)(life *lf, uint64_t generations); /* enqueue generations */
    int (*count)(life *lf, size_t slot);            /* enqueue the counting that follows */
    int (*collect)(life *lf, size_t slots, struct life_sample *sample); /* block until counted */
};
int life_trace_slots(life *lf, const struct life_counting *by, size_t n,
                     struct life_sample *sample);

/* Add the partial sums of a counting kernel's groups: pairs of population and hash. */
void life_sample_add(struct life_sample *sample, const uint64_t *sums, size_t groups);

#endif
