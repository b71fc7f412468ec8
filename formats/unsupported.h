/* unsupported.h - recognises files of unsupported formats by their first bytes. Private to
 * formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_UNSUPPORTED_H
#define FORMATS_UNSUPPORTED_H

#include <stddef.h>

/* If the first bytes are those of a compressed file, an archive, a picture or the like: -1 with a
 * message that names the kind and the remedy; else 0. `known` ends the message if there is no
 * remedy. */
int unsupported_refuse(const char *name, const char *start, size_t size, const char *known);

#endif
