/* curve.cl - places on Hilbert's curve, by a table; the host puts it in front of tree.cl.
 *
 * The curve turns in one of 24 ways in each cube. Three bits of the coordinates, which tell the
 * eighth of the cube, tell where this comes on the curve, an octal digit, and how the curve turns
 * there. So do six bits for two digits, by a larger table that a work-group makes of the small one.
 * The curve is Skilling's (2004, doi:10.1063/1.1751381); nbody_ref_hilbert has it as he wrote it,
 * without tables, and tests compare both.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_MULTIPOLE_CL /* the host puts both in front */
#include "multipole.cl"
#include "moments.cl"
#endif
#define NBODY_CURVE_CL
#ifndef FLAT
#define FLAT 64 /* work-items of a group */
#endif
#ifndef WORDS
#define WORDS 1 /* of a key; 2 where bodies are crowded at a place that one cannot tell apart */
#endif
#define LEVELS (WORDS * DIGITS)
#define GROUP_OF_ITEMS __attribute__((reqd_work_group_size(FLAT, 1, 1)))

enum { WAYS = 24, EIGHTHS = 8, PAIRS = 64 };

/* ways[way * EIGHTHS + (x << 2 | y << 1 | z)] = the next way * 8 + digit; the first way is 0. */
constant uchar ways[WAYS * EIGHTHS] = {
    8,   17,  27,  2,   39,  46,  52,  5,   56,  71,  73,  86,  91,  20,  10,  13,  48,  1,
    103, 110, 115, 18,  12,  21,  126, 129, 29,  26,  79,  80,  140, 3,   148, 43,  37,  34,
    127, 128, 78,  81,  156, 45,  35,  42,  31,  6,   160, 105, 72,  87,  139, 4,   57,  70,
    50,  53,  0,   171, 111, 76,  49,  58,  102, 61,  180, 143, 83,  184, 69,  54,  66,  97,
    16,  123, 9,   74,  47,  60,  38,  77,  132, 95,  85,  14,  67,  144, 82,  33,  142, 55,
    185, 96,  93,  116, 90,  11,  188, 107, 175, 176, 101, 98,  62,  65,  164, 109, 119, 22,
    99,  106, 152, 41,  174, 177, 63,  64,  117, 114, 92,  19,  30,  125, 161, 122, 7,   172,
    104, 75,  130, 25,  133, 166, 179, 136, 84,  191, 94,  15,  141, 28,  145, 32,  138, 51,
    146, 155, 149, 36,  137, 24,  190, 167, 154, 157, 147, 44,  169, 182, 120, 135, 162, 165,
    121, 134, 187, 108, 168, 183, 118, 173, 23,  124, 153, 170, 40,  59,  178, 113, 131, 88,
    181, 158, 68,  151, 186, 163, 89,  112, 189, 100, 150, 159,
};

/* In local memory: one[] as `ways`; two[way * PAIRS + (x << 4 | y << 2 | z)] = the next way * PAIRS
 * + two digits. */
struct curve {
    uchar one[WAYS * EIGHTHS];
    ushort two[WAYS * PAIRS];
};

/* All items of a group. */
static inline void learn(local struct curve *c)
{
    const uint lid = get_local_id(0);
    for (uint k = lid; k < WAYS * EIGHTHS; k += FLAT)
        c->one[k] = ways[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lid; k < WAYS * PAIRS; k += FLAT) {
        const uint x = k >> 4 & 3, y = k >> 2 & 3, z = k & 3;
        const uint high = c->one[k / PAIRS * EIGHTHS + (x >> 1 << 2 | y >> 1 << 1 | z >> 1)];
        const uint low = c->one[high / 8 * EIGHTHS + ((x & 1) << 2 | (y & 1) << 1 | (z & 1))];
        c->two[k] = low / 8 * PAIRS + (high % 8 << 3 | low % 8);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* A coordinate in steps. */
#if WORDS == 1
typedef uint whole;
#else
typedef ulong whole;
#endif

/* DIGITS octal digits, of that many bits of coordinates: one, and then by twos. `way` is that in
 * which the curve turns there, and then behind it. */
static inline ulong digits(local const struct curve *c, uint x, uint y, uint z, uint *way)
{
    const uint top = DIGITS - 1,
               first = c->one[*way * EIGHTHS +
                              ((x >> top & 1) << 2 | (y >> top & 1) << 1 | (z >> top & 1))];
    ulong key = first % 8;
    uint at = first / 8 * PAIRS;
#pragma unroll
    for (int k = DIGITS - 3; k >= 0; k -= 2) {
        const uint next = c->two[at | (x >> k & 3) << 4 | (y >> k & 3) << 2 | (z >> k & 3)];
        key = key << 6 | next % PAIRS;
        at = next / PAIRS * PAIRS;
    }
    *way = at / PAIRS;
    return key;
}

/* The digits of a place on the curve, WORDS * DIGITS of them, in words of 63 bits: word 0 has the
 * first. */
static inline ulong hilbert(local const struct curve *c, whole x, whole y, whole z, uint word)
{
    uint way = 0;
#if WORDS > 1
    const ulong first = digits(c, x >> DIGITS, y >> DIGITS, z >> DIGITS, &way);
    if (word == 0)
        return first;
#endif
    return digits(c, x, y, z, &way);
}

/* p - low in steps of side / 2^LEVELS. With two words, what a float loses in the difference
 * (Knuth's TwoSum) counts, too. */
static inline whole steps(real p, real low, real side)
{
#pragma OPENCL FP_CONTRACT OFF
#if WORDS == 1
    const real x = (p - low) * (C(1 << LEVELS) / side);
    return x < C((1 << LEVELS) - 1) ? (whole)x : (1u << LEVELS) - 1;
#else
    const int power = LEVELS - ilogb(side);
    const real d = p - low, b = d - p, lost = (p - (d - b)) - (low + b);
    const real first = floor(ldexp(d, power)),
               rest = floor(ldexp(d, power) - first + ldexp(lost, power));
    const long x = (long)first + (long)rest;
    return x < 0 ? 0 : min((whole)x, ((whole)1 << LEVELS) - 1);
#endif
}

static inline ulong place(local const struct curve *c, real4 p, real4 cube, uint word)
{
    return hilbert(c, steps(p.x, cube.x, cube.w), steps(p.y, cube.y, cube.w),
                   steps(p.z, cube.z, cube.w), word);
}
