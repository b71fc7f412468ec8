/* mix.h - precedes kernels that compute a hash: mixes 64 bits.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_MIX_H
#define LIFE_MIX_H

/* The finalizer of splitmix64 (Steele, Lea & Flood 2014); life_mix in counting.h is the scalar
 * reference. */
static inline ulong mix64(ulong z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

#endif
