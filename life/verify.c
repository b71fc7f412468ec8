/* verify.c - compares a running engine with the scalar reference, also on grids far too large for
 * it.
 *
 * After STEPS generations a cell depends on cells at most STEPS away. Windows of the grid are
 * read, advanced by the scalar reference as if each were a whole grid, and compared, except for
 * the outermost STEPS cells:
 *
 *      | STEPS | WINDOW | STEPS |        a segment of a long axis; two such axes make a window
 *
 * A short axis is wholly in the window, and all of it is compared. The edge of a plane is also
 * compared where a window ends there, since cells beyond it are dead for the reference, too.
 * SPDX-License-Identifier: MIT
 */
#include "life/engine.h"
#include "life/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 48, STEPS = 41, LONG = WINDOW + 2 * STEPS, WHOLE = 2 * LONG, PLACES = 3 };

/* A segment of an axis: cells start .. start + length - 1 are read, and `count` of them from
 * `first` on are compared. */
struct stretch {
    long long start;
    size_t length, first, count;
};

struct window {
    struct stretch x, y;
    unsigned char *cells;
};

/* Choose the segments of an axis of n cells; on a torus the first crosses the edge. Return their
 * number. */
static size_t stretches(enum life_bounds bounds, size_t n, struct stretch s[PLACES])
{
    const long long end = (long long)n - LONG;
    if (n < WHOLE) {
        s[0] = (struct stretch){0, n, 0, n};
        return 1;
    }
    s[1] = (struct stretch){end / 3, LONG, STEPS, WINDOW};
    if (bounds == LIFE_TORUS) {
        s[0] = (struct stretch){-LONG / 2, LONG, STEPS, WINDOW};
        s[2] = (struct stretch){end, LONG, STEPS, WINDOW};
    } else {
        s[0] = (struct stretch){0, LONG, 0, LONG - STEPS};
        s[2] = (struct stretch){end, LONG, STEPS, LONG - STEPS};
    }
    return PLACES;
}

static int verify_read_cells(life *lf, const struct window *w, unsigned char *cells)
{
    struct life_cells c;
    if (life_cells_alloc(&c, w->x.length, w->y.length) < 0)
        return -1;
    const int status = life_get(lf, w->x.start, w->y.start, &c);
    for (size_t i = 0; i < c.width * c.height && status == 0; i++)
        cells[i] = (unsigned char)life_cells_at(&c, i % c.width, i / c.width);
    life_cells_free(&c);
    return status;
}

/* Advance a window by the scalar reference. `got`: the engine's cells. */
static int verify_compare(const life *lf, const struct window *w, const unsigned char *got,
                          unsigned char *scratch)
{
    const size_t width = w->x.length, height = w->y.length;
    for (int g = 0; g < STEPS; g++) {
        life_ref_family_rows(&lf->rule, 0, lf->bounds, width, height, 0, height, w->cells, scratch);
        memcpy(w->cells, scratch, width * height);
    }
    for (size_t y = w->y.first; y < w->y.first + w->y.count; y++)
        for (size_t x = w->x.first; x < w->x.first + w->x.count; x++)
            if (w->cells[y * width + x] != got[y * width + x])
                return clerror_set(
                    EDOM,
                    "life: %s differs from the scalar reference in cell %lld,%lld of generation %llu (%s)",
                    life_engine_name(lf->engine), w->x.start + (long long)x,
                    w->y.start + (long long)y, (unsigned long long)lf->generation,
                    life_shape(lf, 0));
    return 0;
}

static int verify_windows(life *lf, struct window *w, size_t n, unsigned char *got,
                          unsigned char *scratch)
{
    for (size_t i = 0; i < n; i++)
        if (verify_read_cells(lf, &w[i], w[i].cells) < 0)
            return -1;
    if (life_step(lf, STEPS) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (verify_read_cells(lf, &w[i], got) < 0 || verify_compare(lf, &w[i], got, scratch) < 0)
            return -1;
    return 0;
}

int life_verify(life *lf)
{
    struct stretch x[PLACES], y[PLACES];
    struct window window[PLACES * PLACES];
    const size_t columns = stretches(lf->bounds, lf->width, x),
                 rows = stretches(lf->bounds, lf->height, y);
    const size_t n = columns * rows, most = (size_t)WHOLE * WHOLE;
    unsigned char *memory = malloc((n + 2) * most);
    if (!memory)
        return clerror_set(ENOMEM, "life: out of memory for a comparison, which needs %zu bytes",
                           (n + 2) * most);
    for (size_t i = 0; i < n; i++)
        window[i] = (struct window){x[i % columns], y[i / columns], memory + i * most};
    const int status = verify_windows(lf, window, n, memory + n * most, memory + (n + 1) * most);
    free(memory);
    return status;
}
