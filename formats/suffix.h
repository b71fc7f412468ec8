/* suffix.h - which format a file has by its name. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_SUFFIX_H
#define FORMATS_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>

/* The suffix of a path with its dot, such as ".tab"; "" when the last name has none. Points into
 * `path`. */
const char *suffix_of(const char *path);

/* True when `suffix` is one of a list such as ".tab .txt", in any case of letters. */
bool suffix_is_in(const char *suffix, const char *list);

/* What every format has, of bodies as of Life patterns. */
struct format_label {
    const char *name;     /* as programs call it */
    const char *title;    /* as people call it */
    const char *suffixes; /* such as ".tipsy .std"; the usual one comes first. "": only read */
    bool bare; /* also written when a name has no suffix; true of one format of a table */
};

struct format_table {
    const struct format_label *const *all;
    size_t n;
    const char *content;       /* of such files, in the plural: "bodies" */
    const char *(*list)(void); /* all of them, for messages */
};

/* The format called `name`, or by the suffix of `file` when the name is NULL. NULL after an
 * error. */
const struct format_label *format_find(const struct format_table *table, const char *file,
                                       const char *name);

/* Writes "RLE (.rle or no suffix), plain text (.cells)". */
void format_list(const struct format_label *const *all, size_t n, char *text, size_t size);

#endif
