/* life_md5.h - MD5 (RFC 1321) of short texts, as hauls of apgsearch have it; no protection.
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_LIFE_MD5_H
#define CLI_LIFE_MD5_H

enum { MD5_TEXT = 33, MD5_MOST = 119 };

/* Write the digest of a text of at most MD5_MOST characters as 32 hexadecimal digits. */
void md5_of_text(const char *text, char digest[MD5_TEXT]);

#endif
