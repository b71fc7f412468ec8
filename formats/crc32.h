/* crc32.h - the checksum of PNG files and zip archives (ISO 3309). Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_CRC32_H
#define FORMATS_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Return the CRC-32 of n bytes. */
uint32_t crc32_of(const unsigned char *data, size_t n);

#endif
