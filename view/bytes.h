/* bytes.h - buffers of bytes, little-endian on every machine, and reading them.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIEW_BYTES_H
#define VIEW_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Initially zero. After running out of memory `failed` stays set and nothing more is added. */
struct bytes {
    unsigned char *at;
    size_t used, room;
    bool failed;
};

static inline void bytes_free(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){0};
}

/* Append n uninitialised bytes; NULL: out of memory. */
static inline unsigned char *bytes_more(struct bytes *b, size_t n)
{
    if (!b->failed && b->room - b->used < n) {
        const size_t room = b->used + n + b->used / 2;
        unsigned char *at = realloc(b->at, room);
        b->failed = !at;
        if (at) {
            b->at = at;
            b->room = room;
        }
    }
    if (b->failed)
        return NULL;
    b->used += n;
    return b->at + b->used - n;
}

static inline void bytes_put(struct bytes *b, const void *from, size_t n)
{
    unsigned char *to = bytes_more(b, n);
    if (to && n)
        memcpy(to, from, n);
}

/* Store the least significant `n` bytes of a number. */
static inline void bytes_at(unsigned char *to, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}
static inline uint64_t bytes_read(const unsigned char *from, int n)
{
    uint64_t value = 0;
    for (int i = 0; i < n; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static inline void bytes_u(struct bytes *b, uint64_t value, int n)
{
    unsigned char *to = bytes_more(b, (size_t)n);
    if (to)
        bytes_at(to, value, n);
}
static inline void bytes_f64(struct bytes *b, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bytes_u(b, bits, 8);
}
static inline void bytes_f32(struct bytes *b, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bytes_u(b, bits, 4);
}
static inline double bytes_read_f64(const unsigned char *from)
{
    const uint64_t bits = bytes_read(from, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline float bytes_read_f32(const unsigned char *from)
{
    const uint32_t bits = (uint32_t)bytes_read(from, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
