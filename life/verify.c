/* verify.c - an engine at work compared with plain C, also on grids far too large for plain C.
 *
 * What a cell becomes after some generations depends on the cells around it, as many away as there were
 * generations. So windows of the grid are read with their surroundings before, and alone after.
 * SPDX-License-Identifier: MIT
 */
#include "life/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 48, STEPS = 41, AROUND = WINDOW + 2 * STEPS, PLACES = 9 };

static int read_cells(life *lf, long long x, long long y, size_t width, size_t height, unsigned char *cells)
{
    struct life_cells c;
    if (life_cells_alloc(&c, width, height) < 0)
        return -1;
    const int status = life_get(lf, x, y, &c);
    for (size_t i = 0; i < width * height && status == 0; i++)
        cells[i] = (unsigned char)life_cells_at(&c, i % width, i / width);
    life_cells_free(&c);
    return status;
}

static void step_plainly(const life *lf, enum life_bounds bounds, size_t width, size_t height,
                         unsigned char *cells, unsigned char *scratch)
{
    for (int g = 0; g < STEPS; g++) {
        life_ref_step(&lf->rule, bounds, width, height, cells, scratch);
        memcpy(cells, scratch, width * height);
    }
}

static int differs(const life *lf, long long x, long long y)
{
    return clerror_set(EDOM, "life: %s differs from plain C near cell %lld,%lld of generation %llu (%s)",
                       life_engine_name(lf->engine), x, y, (unsigned long long)lf->generation,
                       life_shape(lf, 0));
}

static int verify_whole(life *lf, unsigned char *memory)
{
    const size_t n = lf->width * lf->height;
    if (read_cells(lf, 0, 0, lf->width, lf->height, memory) < 0 || life_step(lf, STEPS) < 0 ||
        read_cells(lf, 0, 0, lf->width, lf->height, memory + 2 * n) < 0)
        return -1;
    step_plainly(lf, lf->bounds, lf->width, lf->height, memory, memory + n);
    return memcmp(memory, memory + 2 * n, n) == 0 ? 0 : differs(lf, 0, 0);
}

/* On a torus windows lie across its edges; on a plane they keep away from where the outside begins. */
static int verify_windows(life *lf, unsigned char (*start)[AROUND * AROUND])
{
    const bool torus = lf->bounds == LIFE_TORUS;
    const long long w = (long long)lf->width, h = (long long)lf->height, first = torus ? -WINDOW / 2 : STEPS;
    const long long xs[3] = {first, w / 3, torus ? w - WINDOW : w - WINDOW - STEPS};
    const long long ys[3] = {first, h / 2, torus ? h - WINDOW : h - WINDOW - STEPS};
    unsigned char *scratch = start[PLACES], *got = start[PLACES + 1];
    for (int i = 0; i < PLACES; i++)
        if (read_cells(lf, xs[i % 3] - STEPS, ys[i / 3] - STEPS, AROUND, AROUND, start[i]) < 0)
            return -1;
    if (life_step(lf, STEPS) < 0)
        return -1;
    for (int i = 0; i < PLACES; i++) {
        /* The surroundings' own edges are wrong, and do not reach the window. */
        step_plainly(lf, LIFE_TORUS, AROUND, AROUND, start[i], scratch);
        if (read_cells(lf, xs[i % 3], ys[i / 3], WINDOW, WINDOW, got) < 0)
            return -1;
        for (int y = 0; y < WINDOW; y++)
            if (memcmp(got + y * WINDOW, start[i] + (y + STEPS) * AROUND + STEPS, WINDOW) != 0)
                return differs(lf, xs[i % 3], ys[i / 3] + y);
    }
    return 0;
}

int life_verify(life *lf)
{
    const bool whole = lf->width < 2 * AROUND || lf->height < 2 * AROUND;
    if (whole && lf->width * lf->height > (size_t)1 << 24)
        return 0; /* a line of cells; the tests have it */
    const size_t bytes = whole ? 3 * lf->width * lf->height : (PLACES + 2) * AROUND * AROUND;
    unsigned char *memory = malloc(bytes);
    if (!memory)
        return clerror_set(ENOMEM, "life: no memory for a comparison, which needs %zu bytes", bytes);
    const int status =
        whole ? verify_whole(lf, memory) : verify_windows(lf, (unsigned char(*)[AROUND * AROUND]) memory);
    free(memory);
    return status;
}
