/* life_md5.c - MD5 (RFC 1321) of texts that fit two blocks.
 * SPDX-License-Identifier: MIT
 */
#include "life_md5.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MD5_BLOCK = 64, MD5_ROUND = 16, LONGEST_ROOT = 64 }; /* as in stdcl/census.h */

_Static_assert((int)LONGEST_ROOT <= (int)MD5_MOST, "a root of soups is not cut off");
_Static_assert((int)MD5_MOST + 9 <= 2 * MD5_BLOCK, "a text and its length fit two blocks");

static uint32_t md5_word(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Function of round i / 16, and the word of the block that step i adds. */
static uint32_t md5_mix(int i, const uint32_t v[4], int *word)
{
    const uint32_t b = v[1], c = v[2], d = v[3];
    switch (i / MD5_ROUND) {
    case 0:
        *word = i;
        return (b & c) | (~b & d);
    case 1:
        *word = (5 * i + 1) % MD5_ROUND;
        return (b & d) | (c & ~d);
    case 2:
        *word = (3 * i + 5) % MD5_ROUND;
        return b ^ c ^ d;
    default:
        *word = 7 * i % MD5_ROUND;
        return c ^ (b | ~d);
    }
}

static void md5_block(uint32_t h[4], const unsigned char *block)
{
    static const int turns[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t v[4];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 4 * MD5_ROUND; i++) {
        int word;
        const uint32_t constant = (uint32_t)(4294967296.0 * fabs(sin(i + 1))),
                       f = md5_mix(i, v, &word),
                       sum = v[0] + f + constant + md5_word(block + 4 * word);
        const int turn = turns[i / MD5_ROUND][i % 4];
        const uint32_t b = v[1] + (sum << turn | sum >> (32 - turn));
        v[0] = v[3];
        v[3] = v[2];
        v[2] = v[1];
        v[1] = b;
    }
    for (int i = 0; i < 4; i++)
        h[i] += v[i];
}

void md5_of_text(const char *text, char digest[MD5_TEXT])
{
    uint32_t h[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    unsigned char padded[2 * MD5_BLOCK] = {0};
    const size_t n = strnlen(text, MD5_MOST),
                 bytes = (n + 9 + MD5_BLOCK - 1) / MD5_BLOCK * MD5_BLOCK;
    memcpy(padded, text, n);
    padded[n] = 0x80;
    padded[bytes - 8] = (unsigned char)(8 * n);
    padded[bytes - 7] = (unsigned char)(8 * n >> 8);
    for (size_t at = 0; at < bytes; at += MD5_BLOCK)
        md5_block(h, padded + at);
    for (int i = 0; i < 16; i++)
        snprintf(digest + 2 * i, 3, "%02x", (unsigned)(h[i / 4] >> 8 * (i % 4) & 255));
}
