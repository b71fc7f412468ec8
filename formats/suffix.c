/* suffix.c - what the end of a file's name says about its format.
 * SPDX-License-Identifier: MIT
 */
#include "formats/suffix.h"

#include <string.h>
#include <strings.h>

const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] ? dot : ""; /* neither ".hidden" nor "." nor ".." */
}

bool suffix_is_in(const char *suffix, const char *list)
{
    const size_t length = strlen(suffix);
    for (const char *p = list; length && *p; p += strspn(p, " ")) {
        const size_t word = strcspn(p, " ");
        if (word == length && strncasecmp(p, suffix, length) == 0)
            return true;
        p += word;
    }
    return false;
}
