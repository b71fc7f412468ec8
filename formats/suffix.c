/* suffix.c - choice of a format by a file's suffix.
 * SPDX-License-Identifier: MIT
 */
#include "formats/suffix.h"

#include "stdcl.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] ? dot : ""; /* ".hidden", "." and ".." have no suffix */
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

const struct format_label *format_find(const struct format_table *table, const char *file,
                                       const char *name)
{
    const char *suffix = suffix_of(file);
    for (size_t i = 0; i < table->n; i++) {
        const struct format_label *f = table->all[i];
        if (name ? strcmp(name, f->name) == 0
                 : suffix_is_in(suffix, f->suffixes) || (!*suffix && f->bare))
            return f;
    }
    if (name)
        clerror_set(EINVAL, "%s: there is no format of %s called '%s'", file, table->content, name);
    else
        clerror_set(ENOTSUP, "%s: unknown suffix '%s'; known are %s", file, suffix, table->list());
    return NULL;
}

void format_list(const struct format_label *const *all, size_t n, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s%s", used ? ", " : "",
                                 all[i]->title, *all[i]->suffixes ? " (" : "", all[i]->suffixes,
                                 all[i]->bare ? " or no suffix" : "", *all[i]->suffixes ? ")" : "");
}
