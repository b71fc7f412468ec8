/* suffix.h - what the end of a file's name says about its format. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_SUFFIX_H
#define FORMATS_SUFFIX_H

#include <stdbool.h>

/* The suffix of a path with its dot, such as ".tab"; "" when the last name has none. Points into `path`. */
const char *suffix_of(const char *path);

/* True when `suffix` is one of a list such as ".tab .txt", in any case of letters. */
bool suffix_is_in(const char *suffix, const char *list);

#endif
