/* life_format.h - the table of formats of Life patterns, and what they share. Private to formats/.
 *
 * A new format is a file life_NAME.c, which defines `const struct life_format life_NAME`, and its
 * name in the list below. Messages and help texts follow from the table.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_LIFE_FORMAT_H
#define FORMATS_LIFE_FORMAT_H

#include "core/outfile.h"
#include "formats/life.h"
#include "formats/suffix.h"

#include <stdio.h>

/* In this order a file's text is shown to the formats; rle, which takes every line that is left, is
 * last of those that are read. */
#define LIFE_FORMATS(FORMAT)                                                                       \
    FORMAT(macrocell)                                                                              \
    FORMAT(lif)                                                                                    \
    FORMAT(mcell)                                                                                  \
    FORMAT(apgcode)                                                                                \
    FORMAT(cells)                                                                                  \
    FORMAT(rle)                                                                                    \
    FORMAT(png)

struct life_text;
struct life_sink;

struct life_format {
    struct format_label label; /* comes first */

    /* Does the text look like this format? NULL, as `read` is, for a format that is only
     * written. */
    bool (*sniff)(const struct life_text *t);

    /* Reads the text into sink->p and the sink. Called twice: first to find where the live cells
     * are, then to set them. */
    int (*read)(const struct life_text *t, struct life_sink *sink);

    /* Writes the pattern; errors of the disk also come later, from outfile_commit. NULL for a
     * format that is only read. */
    int (*write)(struct outfile *out, const struct life_pattern *p);
};

#define LIFE_DECLARE(name_) extern const struct life_format life_##name_;
LIFE_FORMATS(LIFE_DECLARE)

/* life_macrocell.c: the squares of a text that is a macrocell file. */
int life_macrocell_squares(const struct life_text *t, struct life_squares *out);

/* life_apgcode.c: whether a name is no file's but a pattern's. */
bool life_apgcode_is(const char *text);

/* ---- life_tiles.c: cells of a plane. ---- */

struct life_tiles {
    size_t n;
    struct life_tile *tile;
    uint32_t *place; /* a table of numbers of tiles, from 1 up */
    size_t places;
    double most; /* bytes */
    bool full;   /* there was no memory, and cells are missing */
};
void life_tiles_run(struct life_tiles *tiles, long long x, long long y, long long n);
void life_tiles_free(struct life_tiles *tiles);

/* ---- life_text.c: what is read, and where it goes. ---- */

/* Coordinates stay below, so that sums cannot overflow. */
#define LIFE_FAR ((long long)1 << 40)

/* The most bytes that a pattern may take; 0: the memory of this machine. For the fuzzer to
 * lower. */
extern size_t life_pattern_limit;

/* Where live cells go: the box that holds them, or, once `filling`, the tiles, if there are any, or
 * the pattern's words. */
struct life_sink {
    struct life_pattern *p;
    struct life_tiles *tiles;
    bool filling, any;
    unsigned most;  /* the highest state */
    bool history;   /* RLE: states are LifeHistory's */
    bool boundless; /* set by a format whose patterns have no size but that of their live cells */
    long long left, top, right, bottom; /* of the live cells, right and bottom excluded */
};

/* n > 0 live cells from (x, y) to the right; the same of a state from 1 up. */
void life_sink_run(struct life_sink *sink, long long x, long long y, long long n);
void life_sink_state(struct life_sink *sink, long long x, long long y, long long n, unsigned state);

/* The text being read. */
struct life_text {
    const char *name;
    const char *begin, *end;
};

/* Fails with EINVAL: "NAME: line 3, column 7: ...", of a place in the text. */
int life_text_error(const struct life_text *t, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The end of the line that `at` is in: its newline, or the text's end. */
const char *life_text_line_end(const struct life_text *t, const char *at);

/* A space, a tab or a carriage return. */
bool life_text_is_blank(char c);

/* Copies a rule such as "B3/S23:T64,64" from `from` up to `to` into p->rule and p->bounds. */
int life_text_rule(const struct life_text *t, const char *from, const char *to,
                   struct life_pattern *p);

/* A row of the stored rectangle, and those behind it; rows above it are not there any more if the
 * pattern is loaded in bands. */
const uint64_t *life_pattern_row(const struct life_pattern *p, size_t y);
/* The rows are there, from now on until others are wanted. */
void life_pattern_load(const struct life_pattern *p, size_t first, size_t count);

/* The next run of live cells in row y of the stored rectangle from column *x on: its first column
 * in *x, its end in *end, both relative to the pattern; false when there is none. */
bool life_next_run(const struct life_pattern *p, size_t y, size_t *x, size_t *end);

#endif
