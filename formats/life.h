/* life.h - patterns of cellular automata, of two states or, in RLE, macrocells and pictures, up to
 * 256.
 *
 *   RLE         `x = 3, y = 3, rule = B3/S23:T64,64`, then runs such as b2o$2o$bo!, as Golly has
 *               it, with
 *               #CXRLE Pos=x,y Gen=n; of more states . A B ... X pA ... yO
 *   .cells      one character a cell: . dead, O alive; lines that begin with ! are comments
 *   macrocell   [M2]: a quadtree in which equal squares are written once; for very large patterns
 *   .lif        Life 1.05 and 1.06, written as the latter
 *   .mcl        MCell's, read
 *   apgcode     xp2_7, as apgsearch and Catagolue name patterns, also in place of a file's name;
 *               read
 *   .png        pictures, written
 *
 * Any of them may be compressed by gzip, or alone in a zip archive, when it is read, and is
 * compressed when it is written as NAME.rle.gz and so on. Recognised by content, written by
 * suffix. A rule is text here; who reads it decides
 * whether it is known. All functions fail with -1, clerrno set and one sentence in clerror() that
 * names the file, line and column, and what is wrong.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_LIFE_H
#define FORMATS_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if a name means a pattern: by its suffix, also of a compressed file, or as an apgcode. */
bool life_pattern_is_named(const char *name);

/* A generation: counted below 2^127, since HashLife makes steps of any power of two. Print one in
 * decimal into `text` and return text. */
__extension__ typedef unsigned __int128 life_generation_t;
enum { LIFE_GENERATION_TEXT = 48 };
char *life_generation_text(life_generation_t generation, char text[LIFE_GENERATION_TEXT]);

/* Cells of a pattern, width x height, of which only the bounding box of the live cells is stored:
 * column x, row y (0 = top left) of the box is bit x % 64 of word[y * stride + x / 64], and is the
 * pattern's cell (left + x, top + y). A pattern without live cells has no box: columns and rows
 * are 0. */
enum { LIFE_PATTERN_RULE = 2048 };
struct life_band;
struct life_pattern {
    size_t width, height;
    size_t left, top, columns, rows, stride;
    uint64_t *word;
    unsigned states; /* more than 2: `state` has the states of the box's cells, 0 to states - 1, one
                        byte each, row by row, and the bits of */
    unsigned char *state;         /* `word` are 1 where the state is not 0; else NULL */
    const unsigned char *colours; /* RGB of each state, for pictures; not owned; NULL: black, and
                                     from yellow to red */
    char rule[LIFE_PATTERN_RULE]; /* as in the file, without the part after a colon; "" if none */
    char bounds[96];              /* the part after the colon, such as "T64,64"; "" if none */
    char *rule_file;              /* RLE: the text from @RULE on, a rule file; or NULL */
    bool placed;                  /* the file gives the pattern's position: */
    long long x, y; /* of its top left corner; 0,0 is the middle of a grid (Golly's coordinates) */
    life_generation_t generation; /* 0 if the file has none */
    struct life_band *band; /* of a pattern to be written: rows are loaded a few at a time, and
                               `word` is NULL; else NULL */
    const struct life_runs *runs; /* of a pattern to be written in text: its live cells, and `word`
                                     is NULL; else NULL */
};

/* A run of live cells of one state: pattern's cells (x, y) ... (x + n - 1, y). Nonzero: stop. */
typedef int life_run_f(void *to, size_t x, size_t y, size_t n, unsigned state);

/* A sparse pattern. walk() calls `run` for each run of live cells, row by row from the top, from
 * left to right; -1 with an error, or if `run` has stopped it. */
struct life_runs {
    int (*walk)(void *arg, life_run_f *run, void *to);
    void *arg;
};

/* load() fills in rows first ... first + count - 1 of the box, with the pattern's stride; -1 with
 * an error. Each row is loaded once, from the top down. The other members are the writer's. */
struct life_band {
    int (*load)(void *arg, size_t first, size_t count, uint64_t *word);
    void *arg;
    uint64_t *word; /* the caller's buffer for `rows` rows */
    size_t rows;    /* at least LIFE_BAND_ROWS, or all */
    size_t first, count;
    bool failed;
};
enum { LIFE_BAND_ROWS = 1024 };

/* Bytes that reading a pattern may take; 0: the memory that is left. */
extern size_t life_pattern_limit;

/* Read `file`, "-" for standard input, into *p; free it with life_pattern_free. Errors: ENOENT
 * EACCES EISDIR as open; EINVAL for content; ENOMEM names the memory needed; EIO. */
int life_pattern_read(const char *file, struct life_pattern *p);

/* As life_pattern_read, from memory; `name` stands for the file in messages. */
int life_pattern_read_memory(const char *name, const void *data, size_t size,
                             struct life_pattern *p);

/* Write to `file`, whole or not at all ("-" is standard output), in the format "rle", "cells",
 * "macrocell", "lif" or "png"; NULL: chosen by the suffix. */
int life_pattern_write(const char *file, const struct life_pattern *p, const char *format);

/* The format for a file's suffix, rle if it has none. NULL with ENOTSUP, and a message that lists
 * the known suffixes, for any other. */
const char *life_format_of(const char *file);

/* The formats that can be written, with their suffixes, for help texts: "RLE (.rle or no suffix),
 * ...". Valid until the calling thread's next call. */
const char *life_formats(void);

/* Write a picture of 1 bit per pixel, zoom x zoom pixels per cell, live cells white: a frame of a
 * film, or PNG with zoom 1 by life_pattern_write. */
int life_pattern_write_png(const char *file, const struct life_pattern *p, unsigned zoom);

/* RGB of the states in pictures: the given colours, or for NULL black, white, and from yellow to
 * red. */
void life_pattern_colours(unsigned states, const unsigned char *given, unsigned char rgb[256][3]);

/* Free the cells and empty *p; an empty pattern may be freed again. */
void life_pattern_free(struct life_pattern *p);

/* ---- Macrocell files as they are: squares made of squares. ----------------------------------- */

/* A square of 2^level cells a side. Two states, level 3: row y, column x is bit 8 y + x of
 * `cells`. Otherwise north-west, north-east, south-west and south-east: at level 1 the states of
 * the cells, above it numbers of squares. Square number i is square[i - 1], 0 is empty, and the
 * last one is the universe. */
struct life_square {
    int level;
    bool bits;
    uint64_t cells;
    uint32_t part[4];
};

struct life_squares {
    size_t n;
    struct life_square *square;
    unsigned states;                          /* highest state + 1, at least 2 */
    char rule[LIFE_PATTERN_RULE], bounds[96]; /* as in struct life_pattern */
    life_generation_t generation;
};
void life_squares_free(struct life_squares *squares);

/* A tile of 64 x 64 cells with live ones among them: bit c of row[r] is the pattern's cell (x + c,
 * y + r); x and y are multiples of 64. With more than two states `state` has them, row by row. */
struct life_tile {
    long long x, y;
    uint64_t row[64];
    unsigned char *state; /* 64 x 64; NULL: two states */
};

/* A pattern for an unbounded plane: the squares of a macrocell file, which may be up to 2^120
 * cells across, or for other formats `p` without its words and the live cells in tiles, so that
 * memory is proportional to the live regions. A file with bounds has neither and is read as by
 * life_pattern_read. */
struct life_plane {
    struct life_pattern p;
    struct life_squares squares;
    size_t tiles;
    struct life_tile *tile;
};

/* As life_pattern_read and life_pattern_read_memory; free with life_plane_free. */
int life_plane_read(const char *file, struct life_plane *plane);
int life_plane_read_memory(const char *name, const void *data, size_t size,
                           struct life_plane *plane);
void life_plane_free(struct life_plane *plane);

/* Write a macrocell file square by square. open returns the argument for close, or NULL with a
 * message; close keeps the file if `status` is 0 and nothing failed; else it returns -1. */
struct outfile;
FILE *life_squares_open(struct outfile *out, const char *file, const char *rule,
                        life_generation_t generation);
int life_squares_close(struct outfile *out, FILE *plain, int status);
void life_squares_write(struct outfile *out, const struct life_square *square);

#ifdef __cplusplus
}
#endif
#endif
