/* unsupported.h - files of kinds that stdcl does not read, recognised by their first bytes. Private
 * to formats/. SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H

#include <stddef.h>

/* -1, and a sentence that says what the file is and what to do, when its first bytes are those of a
 * compressed file, an archive, a picture and the like; else 0. `known` ends the sentence where
 * nothing else helps. */
int foreign_refuse(const char *name, const char *start, size_t size, const char *known);

#endif
