/* fuzz_life.c - arbitrary bytes for the readers of Life patterns; for libFuzzer or for driver.c.
 *
 * The reader stays inside its memory and returns. Either it fails with a message that names the
 * file and leaves no state, or it yields a pattern that keeps the promises of formats/life.h and
 * round-trips through each format we write.
 * SPDX-License-Identifier: MIT
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "formats/life_format.h"
#include "fuzz.h"
#include "stdcl.h"

#include <errno.h>

static void check_pattern_failure(const char *name, const struct life_pattern *p)
{
    promise_sentence(clerror(), name);
    promise(!p->word && p->columns == 0 && p->rows == 0 && p->width == 0 && p->height == 0);
}

static int cell(const struct life_pattern *p, size_t x, size_t y)
{
    return (int)(p->word[y * p->stride + x / 64] >> x % 64 & 1);
}

/* The rectangle is inside the pattern, and as small as possible. */
static void check_pattern(const struct life_pattern *p)
{
    int top = 0, bottom = 0, left = 0, right = 0;
    promise(memchr(p->rule, 0, sizeof p->rule) && memchr(p->bounds, 0, sizeof p->bounds));
    promise(p->left + p->columns <= p->width && p->top + p->rows <= p->height);
    promise((p->columns == 0) == (p->rows == 0) && (p->columns == 0) == (p->word == NULL));
    if (!p->columns)
        return;
    promise(p->stride == (p->columns + 63) / 64);
    for (size_t x = 0; x < p->columns; x++)
        top |= cell(p, x, 0), bottom |= cell(p, x, p->rows - 1);
    for (size_t y = 0; y < p->rows; y++) {
        left |= cell(p, 0, y), right |= cell(p, p->columns - 1, y);
        if (p->columns % 64)
            promise(p->word[(y + 1) * p->stride - 1] >> p->columns % 64 == 0);
    }
    promise(top && bottom && left && right);
}

static void check_pattern_round_trip(const struct life_pattern *p, const struct life_format *format)
{
    struct life_pattern q;
    char *text = NULL;
    size_t size = 0;
    struct outfile out = {.fp = open_memstream(&text, &size), .name = (char[]){"memory"}};
    promise(out.fp && format->write(&out, p) == 0 && fclose(out.fp) == 0);
    promise(life_pattern_read_memory("again", text, size, &q) == 0);
    promise(q.columns == p->columns && q.rows == p->rows);
    if (p->columns)
        promise(memcmp(q.word, p->word, p->rows * p->stride * sizeof *p->word) == 0);
    if (format == &life_rle)
        promise(q.left == p->left && q.top == p->top && q.generation == p->generation &&
                q.x == p->x);
    life_pattern_free(&q);
    free(text);
}

/* As a plane: the same cells in tiles, or squares. */
static void check_fuzz_plane(const void *data, size_t size, const struct life_pattern *p)
{
    struct life_plane plane;
    uint64_t there = 0, in_tiles = 0;
    if (life_plane_read_memory("name", data, size, &plane) < 0) {
        promise(clerrno == ENOMEM); /* tiles of a single row take more than the row */
        return;
    }
    for (size_t i = 0; i < p->rows * p->stride; i++)
        there += (uint64_t)__builtin_popcountll(p->word[i]);
    for (size_t i = 0; i < plane.tiles; i++)
        for (int y = 0; y < 64; y++)
            for (int x = 0; x < 64; x++)
                if (plane.tile[i].row[y] >> x & 1) {
                    const size_t column = (size_t)(plane.tile[i].x + x) - p->left,
                                 row = (size_t)(plane.tile[i].y + y) - p->top;
                    promise(column < p->columns && row < p->rows && cell(p, column, row));
                    in_tiles++;
                }
    promise(p->bounds[0] ? !plane.tiles && !plane.squares.n : plane.squares.n || in_tiles == there);
    life_plane_free(&plane);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct life_pattern p;
    void *exact = exact_copy(data, size);
    life_pattern_limit = 1 << 22;
    int status = life_pattern_read_memory("name", exact, size, &p);
    promise(status == 0 || status == -1);
    if (status == 0)
        check_fuzz_plane(exact, size, &p);
    free(exact);
    if (status < 0) {
        check_pattern_failure("name", &p);
        return 0;
    }
    check_pattern(&p);
    if (p.width < 2000 && p.height < 2000) {
        check_pattern_round_trip(&p, &life_rle);
        if (llabs(p.x) < LIFE_FAR / 4 && llabs(p.y) < LIFE_FAR / 4) { /* both have a border */
            check_pattern_round_trip(&p, &life_macrocell);
            check_pattern_round_trip(&p, &life_lif);
        }
        if (p.width && p.height)
            check_pattern_round_trip(&p, &life_cells);
    }
    life_pattern_free(&p);
    return 0;
}
