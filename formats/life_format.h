/* life_format.h - the table of formats of Life patterns, and what their files share. Private to
 * formats/.
 *
 * A new format is a file life_NAME.c, which defines `const struct life_format life_NAME`, and its
 * name in the list below. Messages and help texts are generated from the table.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_LIFE_FORMAT_H
#define FORMATS_LIFE_FORMAT_H

#include "core/outfile.h"
#include "formats/life.h"
#include "formats/suffix.h"

#include <stdio.h>

/* Formats are recognised in this order; rle, which accepts every remaining text, is last of those
 * that can be read. */
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

    /* True if the text looks like this format. NULL, like `read`, for a write-only format. */
    bool (*sniff)(const struct life_text *t);

    /* Read the text into sink->p and the sink. Called twice: first to find the bounding box of the
     * live cells, then to set them. */
    int (*read)(const struct life_text *t, struct life_sink *sink);

    /* Write the pattern; disk errors may also surface later, in outfile_commit. NULL for a read-
     * only format. */
    int (*write)(struct outfile *out, const struct life_pattern *p);
};

#define LIFE_DECLARE(name_) extern const struct life_format life_##name_;
LIFE_FORMATS(LIFE_DECLARE)

/* life_macrocell.c: the squares of a macrocell text. */
int life_macrocell_squares(const struct life_text *t, struct life_squares *out);

/* life_apgcode.c: true if a name is an apgcode rather than a file. */
bool life_apgcode_is(const char *text);

/* ---- life_tiles.c: cells of a plane. ---- */

struct life_tiles {
    size_t n;
    struct life_tile *tile;
    uint32_t *place; /* hash table of tile numbers, from 1 up */
    size_t places;
    double most; /* bytes */
    bool states; /* more than two */
    bool full;   /* out of memory: cells are missing */
};
void life_tiles_run(struct life_tiles *tiles, long long x, long long y, long long n,
                    unsigned state);
void life_tiles_free(struct life_tiles *tiles);

/* ---- life_text.c: what is read, and where it goes. ---- */

/* Bound of coordinates, so that sums cannot overflow. */
#define LIFE_FAR ((long long)1 << 40)

/* Destination of live cells: the bounding box, or, once `filling`, the tiles if there are any,
 * else the pattern's words. */
struct life_sink {
    struct life_pattern *p;
    struct life_tiles *tiles;
    bool filling, any;
    unsigned most;  /* highest state */
    bool boundless; /* set by formats whose patterns have no size other than their bounding box */
    long long left, top, right,
        bottom; /* bounding box of the live cells; right and bottom excluded */
};

/* n > 0 live cells from (x, y) to the right; cells of one state from 1 up. */
void life_sink_run(struct life_sink *sink, long long x, long long y, long long n);
void life_sink_state(struct life_sink *sink, long long x, long long y, long long n, unsigned state);

/* The text being read. */
struct life_text {
    const char *name;
    const char *begin, *end;
};

/* Fail with EINVAL: "NAME: line 3, column 7: ...", for a position in the text. */
int life_text_error(const struct life_text *t, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* End of the line that contains `at`: its newline, or the text's end. */
const char *life_text_line_end(const struct life_text *t, const char *at);

/* True for a space, a tab or a carriage return. */
bool life_text_is_blank(char c);

/* Copy a rule such as "B3/S23:T64,64" from `from` up to `to` into p->rule and p->bounds. */
int life_text_rule(const struct life_text *t, const char *from, const char *to,
                   struct life_pattern *p);

/* Read digits, and commas between them, at *p as a generation; *p is then after them. */
int life_text_generation(const struct life_text *t, const char **p, const char *end,
                         life_generation_t *generation);

/* A row of the stored box; it and the rows below are valid. Rows above are gone if the pattern is
 * loaded in bands. */
const uint64_t *life_pattern_row(const struct life_pattern *p, size_t y);
/* Load the rows; they stay valid until others are loaded. */
void life_pattern_load(const struct life_pattern *p, size_t first, size_t count);

/* Call `run` for each run of live cells of a pattern, in bits, states, bands or runs. */
int life_pattern_walk(const struct life_pattern *p, life_run_f *run, void *to);

/* Find the next run of live cells in row y of the stored box from column *x on: its first column
 * in *x, its end in *end, both relative to the pattern; false if there is none. */
bool life_next_run(const struct life_pattern *p, size_t y, size_t *x, size_t *end);

#endif
