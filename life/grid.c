/* grid.c - bounded grids in Golly's notation, and the cell beyond an edge.
 *
 *   T30,20    torus                      K30*,20    Klein bottle, top and bottom rows reversed
 *   T30+5,20  its rows shifted           K30,20*    side columns reversed; K30*+1,20 and
 *   T30,20-2  its columns shifted                   K30,20*+1: shifted, too
 *   P30,20    plane                      C30,20     cross-surface: both reversed
 *   S30       sphere: top joined with left, right with bottom
 *
 * Invalid grids are refused with a reason. A shift of a Klein bottle with an odd number of cells
 * is ignored, as in Golly.
 * SPDX-License-Identifier: MIT
 */
#include "life/grid.h"
#include "life/topology.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int refuse_shape(const char *shape, const char *why)
{
    return clerror_set(EINVAL, "the grid ':%.60s' cannot be used: %s", shape, why);
}

/* Read a side. False without digits or if it does not fit. */
static bool grid_read_side(const char **p, size_t *side)
{
    size_t n = 0;
    if (!isdigit((unsigned char)**p))
        return false;
    for (; isdigit((unsigned char)**p); ++*p) {
        size_t digit = (size_t)(**p - '0');
        if (n > (SIZE_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *side = n;
    return true;
}

/* A side with an optional star and a signed shift. */
struct side {
    size_t cells, shift;
    bool twisted, shifted, minus;
};

static const char *read_whole_side(const char **p, struct side *s)
{
    if (!grid_read_side(p, &s->cells))
        return NULL;
    s->twisted = **p == '*';
    *p += s->twisted;
    s->shifted = **p == '+' || **p == '-';
    s->minus = **p == '-';
    *p += s->shifted;
    if (s->shifted && !grid_read_side(p, &s->shift))
        return "a number must follow the + or -, by how many cells an edge is shifted";
    return "";
}

/* Return why a grid of this kind cannot have these sides, or NULL. */
static const char *grid_complaint(int kind, const struct side *w, const struct side *h)
{
    if (!w->cells || !h->cells)
        return "0 stands for an infinite side; this engine needs a bounded grid";
    if (kind != 'K' && (w->twisted || h->twisted))
        return "only a Klein bottle, :K, has a twist, *";
    if (kind == 'P' && (w->shifted || h->shifted))
        return "a plane's edges are not joined, so there is no shift";
    if ((kind == 'C' || kind == 'S') && (w->shifted || h->shifted))
        return "only edges of a torus or of a Klein bottle can be shifted";
    if (w->twisted && h->twisted)
        return "a Klein bottle has one pair of edges twisted; with both it is a cross-surface, :C";
    if (kind == 'K' && ((w->shifted && !w->twisted) || (h->shifted && w->twisted)))
        return "of a Klein bottle only the twisted edges can be shifted";
    if (w->shift % w->cells && h->shift % h->cells)
        return "only one pair of edges can be shifted";
    if (kind == 'S' && w->cells != h->cells)
        return "a sphere is as wide as it is high";
    return NULL;
}

static void grid_normalize(struct life_grid *g, int kind, const struct side *w,
                           const struct side *h)
{
    const bool columns = kind == 'K' ? !w->twisted : h->shift % h->cells != 0;
    const struct side *s = columns ? h : w;
    const long shift = (long)(s->shift % s->cells) * (s->minus ? -1 : 1);
    g->width = w->cells;
    g->height = h->cells;
    g->bounds = kind == 'P' ? LIFE_PLANE : kind == 'T' && shift == 0 ? LIFE_TORUS : LIFE_JOINED;
    g->shift = kind == 'T' ? shift : kind == 'K' && shift && s->cells % 2 == 0;
    g->topology = kind == 'C'   ? LIFE_CROSS
                  : kind == 'S' ? LIFE_SPHERE
                  : kind == 'K' ? (columns ? LIFE_COLUMNS_TWISTED : LIFE_ROWS_TWISTED)
                  : columns     ? LIFE_COLUMNS_SHIFTED
                                : LIFE_ROWS_SHIFTED;
}

void life_grid_write(const struct life_grid *g, char text[LIFE_GRID_TEXT])
{
    const bool twisted = g->topology == LIFE_ROWS_TWISTED || g->topology == LIFE_COLUMNS_TWISTED;
    const bool columns = g->topology == LIFE_COLUMNS_SHIFTED || g->topology == LIFE_COLUMNS_TWISTED;
    char end[32] = "";
    if (g->bounds == LIFE_JOINED && g->topology != LIFE_CROSS && g->topology != LIFE_SPHERE)
        snprintf(end, sizeof end, g->shift ? "%s%+ld" : "%s", twisted ? "*" : "", g->shift);
    if (g->bounds == LIFE_JOINED && g->topology == LIFE_SPHERE)
        snprintf(text, LIFE_GRID_TEXT, "S%zu", g->width);
    else
        snprintf(text, LIFE_GRID_TEXT, "%c%zu%s,%zu%s",
                 g->bounds == LIFE_PLANE     ? 'P'
                 : g->bounds == LIFE_TORUS   ? 'T'
                 : twisted                   ? 'K'
                 : g->topology == LIFE_CROSS ? 'C'
                                             : 'T',
                 g->width, columns ? "" : end, g->height, columns ? end : "");
}

int life_grid_read(const char *shape, struct life_grid *g)
{
    const char *p = shape;
    const int kind = toupper((unsigned char)*p);
    struct side w = {0}, h = {0};
    if (!kind || !strchr("TPKCS", kind))
        return refuse_shape(
            shape,
            "write :TWIDTH,HEIGHT for a torus, :P for a plane, :K for a Klein bottle, :C for a cross-surface or :SWIDTH for "
            "a sphere");
    p++;
    const char *why = read_whole_side(&p, &w);
    if (!why || *why)
        return refuse_shape(shape, why ? why : "a width must follow the letter");
    h.cells = w.cells;
    if (*p == ',') {
        p++;
        why = read_whole_side(&p, &h);
        if (!why || *why)
            return refuse_shape(shape, why ? why : "a height must follow the comma");
    }
    if (*p && !isspace((unsigned char)*p))
        return refuse_shape(shape, "there is something after the size");
    why = grid_complaint(kind, &w, &h);
    if (why)
        return refuse_shape(shape, why);
    *g = (struct life_grid){.width = 0};
    grid_normalize(g, kind, &w, &h);
    return 0;
}

int life_grid_split(char *text, char grid[LIFE_GRID_TEXT], enum life_bounds *bounds, size_t *width,
                    size_t *height)
{
    char *colon = strchr(text, ':');
    struct life_grid g = {.bounds = LIFE_TORUS};
    *grid = 0;
    if (colon && life_grid_read(colon + 1, &g) < 0)
        return -1;
    if (colon) {
        life_grid_write(&g, grid);
        *colon = 0;
    }
    *bounds = g.bounds;
    *width = g.width;
    *height = g.height;
    return 0;
}

int life_bounds_split(char *text, enum life_bounds *bounds, size_t *width, size_t *height)
{
    const char *colon = strchr(text, ':');
    struct life_grid g;
    char grid[LIFE_GRID_TEXT];
    *width = *height = 0;
    *bounds = LIFE_TORUS;
    if (colon && life_grid_read(colon + 1, &g) < 0)
        return -1;
    if (colon && g.bounds == LIFE_JOINED)
        return refuse_shape(
            colon + 1,
            "only a torus :T and a dead plane :P can be told by their bounds; see life_grid_split");
    return life_grid_split(text, grid, bounds, width, height);
}

/* ---- Cells beyond the edges. ----------------------------------------------------------------- */

void life_topology_cell(const struct life_grid *g, long *x, long *y)
{
    topology_cell((int)g->topology, g->shift, (long)g->width, (long)g->height, x, y);
}
