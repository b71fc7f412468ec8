/* hilbert_keys.cl - Hilbert keys by tables; the host puts the file in front of tree.cl.
 *
 * The curve has one of 24 orientations in each cube. Three bits of the coordinates select the
 * octant; a table gives the octant's place on the curve, an octal digit, and the orientation there.
 * A larger table, which each work-group derives from the small one, takes six bits and gives two
 * digits. The curve is Skilling's (2004, doi:10.1063/1.1751381). nbody_ref_hilbert is the scalar
 * reference, as Skilling wrote it, and tests compare the two.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_MULTIPOLE_CL /* the host puts both in front */
#include "multipole.cl"
#include "moments.cl"
#endif
#define NBODY_HILBERT_KEYS_CL
#ifndef GROUP_1D
#define GROUP_1D 64 /* work-items of a group */
#endif
#ifndef KEY_WORDS
#define KEY_WORDS 1 /* words of a key; 2 if bodies lie too close for one word */
#endif
#define LEVELS (KEY_WORDS * DIGITS)
#define GROUP_OF_ITEMS __attribute__((reqd_work_group_size(GROUP_1D, 1, 1)))

enum { ORIENTATIONS = 24, OCTANTS = 8, OCTANT_PAIRS = 64 };

/* transitions[orientation * OCTANTS + (x << 2 | y << 1 | z)] = next orientation * 8 + digit;
 * orientation 0 comes first. */
constant uchar transitions[ORIENTATIONS * OCTANTS] = {
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

/* Tables in local memory. one[]: as `transitions`. two[orientation * OCTANT_PAIRS + (x << 4 | y <<
 * 2 | z)] = next orientation * OCTANT_PAIRS + two digits. */
struct curve {
    uchar one[ORIENTATIONS * OCTANTS];
    ushort two[ORIENTATIONS * OCTANT_PAIRS];
};

/* Fill the tables; called by all work-items of a group. */
static inline void curve_load(local struct curve *c)
{
    const uint lid = get_local_id(0);
    for (uint k = lid; k < ORIENTATIONS * OCTANTS; k += GROUP_1D)
        c->one[k] = transitions[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lid; k < ORIENTATIONS * OCTANT_PAIRS; k += GROUP_1D) {
        const uint x = k >> 4 & 3, y = k >> 2 & 3, z = k & 3;
        const uint high = c->one[k / OCTANT_PAIRS * OCTANTS + (x >> 1 << 2 | y >> 1 << 1 | z >> 1)];
        const uint low = c->one[high / 8 * OCTANTS + ((x & 1) << 2 | (y & 1) << 1 | (z & 1))];
        c->two[k] = low / 8 * OCTANT_PAIRS + (high % 8 << 3 | low % 8);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* A coordinate in grid steps. */
#if KEY_WORDS == 1
typedef uint coordinate;
#else
typedef ulong coordinate;
#endif

/* Return the DIGITS octal digits of the lowest DIGITS bits of the coordinates: the first by one[],
 * then two at a time. *orientation: in, of the enclosing cube; out, of the last octant. */
static inline ulong curve_digits(local const struct curve *c, uint x, uint y, uint z,
                                 uint *orientation)
{
    const uint top = DIGITS - 1,
               first = c->one[*orientation * OCTANTS +
                              ((x >> top & 1) << 2 | (y >> top & 1) << 1 | (z >> top & 1))];
    ulong key = first % 8;
    uint at = first / 8 * OCTANT_PAIRS;
#if KEY_WORDS == 1
#pragma unroll
#else
#pragma unroll 1 /* PoCL 3.1 computes keys of 0 if it unrolls both loops of two words */
#endif
    for (int k = DIGITS - 3; k >= 0; k -= 2) {
        const uint next = c->two[at | (x >> k & 3) << 4 | (y >> k & 3) << 2 | (z >> k & 3)];
        key = key << 6 | next % OCTANT_PAIRS;
        at = next / OCTANT_PAIRS * OCTANT_PAIRS;
    }
    *orientation = at / OCTANT_PAIRS;
    return key;
}

/* Return a 63-bit word of the KEY_WORDS * DIGITS digits; word 0 has the leading digits. */
static inline ulong curve_index(local const struct curve *c, coordinate x, coordinate y,
                                coordinate z, uint word)
{
    uint orientation = 0;
#if KEY_WORDS > 1
    const ulong first = curve_digits(c, x >> DIGITS, y >> DIGITS, z >> DIGITS, &orientation);
    if (word == 0)
        return first;
#endif
    return curve_digits(c, x, y, z, &orientation);
}

/* Return p - low in steps of side / 2^LEVELS. With two words the rounding error of the difference
 * is added (Knuth's TwoSum). */
static inline coordinate grid_coordinate(real p, real low, real side)
{
#pragma OPENCL FP_CONTRACT OFF
#if KEY_WORDS == 1
    const real x = (p - low) * (C(1 << LEVELS) / side);
    return x < C((1 << LEVELS) - 1) ? (coordinate)x : (1u << LEVELS) - 1;
#else
    const int power = LEVELS - ilogb(side);
    const real d = p - low, b = d - p, lost = (p - (d - b)) - (low + b);
    const real first = floor(ldexp(d, power)),
               rest = floor(ldexp(d, power) - first + ldexp(lost, power));
    const long x = (long)first + (long)rest;
    return x < 0 ? 0 : min((coordinate)x, ((coordinate)1 << LEVELS) - 1);
#endif
}

static inline ulong curve_key(local const struct curve *c, real4 p, real4 cube, uint word)
{
    return curve_index(c, grid_coordinate(p.x, cube.x, cube.w),
                       grid_coordinate(p.y, cube.y, cube.w), grid_coordinate(p.z, cube.z, cube.w),
                       word);
}
