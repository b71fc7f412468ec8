/* life_private.h - what the readers and writers of Life patterns share. Private to formats/.
 *
 * A reader goes through its text twice with the same code: first to find where the live cells are, then to
 * set them. `run` is told of every run of live cells.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_LIFE_PRIVATE_H
#define FORMATS_LIFE_PRIVATE_H

#include "formats/life.h"
#include "formats/outfile.h"

#include <stdio.h>

/* Coordinates stay below, so that sums cannot overflow. */
#define LIFE_FAR ((long long)1 << 40)

/* The most bytes that a pattern may take; 0: the memory of this machine. For the fuzzer to lower. */
extern size_t life_pattern_limit;

/* Where live cells go: the box that holds them, or, once `filling`, the pattern's words. */
struct life_sink {
    struct life_pattern *p;
    bool filling, any;
    long long left, top, right, bottom; /* of the live cells, right and bottom excluded */
};

/* n > 0 live cells from (x, y) to the right. */
void life_sink_run(struct life_sink *sink, long long x, long long y, long long n);

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

/* Copies a rule such as "B3/S23:T64,64" from `from` up to `to` into p->rule and p->bounds. */
int life_text_rule(const struct life_text *t, const char *from, const char *to, struct life_pattern *p);

/* Each reads the text into sink->p and the sink; called twice. */
int life_read_rle(const struct life_text *t, struct life_sink *sink);
int life_read_cells(const struct life_text *t, struct life_sink *sink);
int life_read_macrocell(const struct life_text *t, struct life_sink *sink);

/* Each writes the pattern to an open file; errors of the disk are the caller's to find. */
int life_write_rle(struct outfile *out, const struct life_pattern *p);
int life_write_cells(struct outfile *out, const struct life_pattern *p);
int life_write_macrocell(struct outfile *out, const struct life_pattern *p);

/* The next run of live cells in row y of the stored rectangle from column *x on: its first column in *x, its
 * end in *end, both relative to the pattern; false when there is none. */
bool life_next_run(const struct life_pattern *p, size_t y, size_t *x, size_t *end);

#endif
