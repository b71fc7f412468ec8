/* crc32.c - see crc32.h.
 * SPDX-License-Identifier: MIT
 */
#include "formats/crc32.h"

#ifdef STDCL_HAVE_ZLIB

#include <zlib.h>

uint32_t crc32_of(const unsigned char *data, size_t n)
{
    return (uint32_t)crc32_z(0, data, n);
}

#else

uint32_t crc32_of(const unsigned char *data, size_t n)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

#endif
