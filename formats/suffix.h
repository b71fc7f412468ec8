/* suffix.h - choice of a format by a file's suffix. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_SUFFIX_H
#define FORMATS_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>

/* The suffix of a path with its dot, such as ".tab"; "" if the last name has none. Points into
 * `path`. */
const char *suffix_of(const char *path);

/* True if `suffix` is in a list such as ".tab .txt", ignoring case. */
bool suffix_is_in(const char *suffix, const char *list);

/* Common to formats of bodies and of Life patterns. */
struct format_label {
    const char *name;     /* for programs */
    const char *title;    /* for people */
    const char *suffixes; /* such as ".tipsy .std"; the usual one first. "": read-only */
    bool bare;            /* used for names without a suffix; true for one format of a table */
};

struct format_table {
    const struct format_label *const *all;
    size_t n;
    const char *content;       /* content of such files, in the plural: "bodies" */
    const char *(*list)(void); /* the list of all formats, for messages */
};

/* Find the format called `name`, or by the suffix of `file` if the name is NULL. NULL after an
 * error. */
const struct format_label *format_find(const struct format_table *table, const char *file,
                                       const char *name);

/* Write "RLE (.rle or no suffix), plain text (.cells)". */
void format_list(const struct format_label *const *all, size_t n, char *text, size_t size);

#endif
