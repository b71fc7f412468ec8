/* mix.h - 64 well mixed bits of 64, in front of kernels that make a hash.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_MIX_H
#define LIFE_MIX_H

/* The finalizer of splitmix64 (Steele, Lea & Flood 2014), as life_mix in internal.h. */
static inline ulong mix64(ulong z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

#endif
