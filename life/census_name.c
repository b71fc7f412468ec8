/* census_name.c - names of objects: apgcodes as in apgsearch and Catagolue. xs4_33 is the block,
 * xp2_7 the blinker, xq4_153 the glider.
 *
 * A name is xs and the number of cells, xp and the period, or xq and the period of a spaceship;
 * then the cells, in the form that formats/life_apgcode.c reads. The shortest text over all
 * phases, rotations and reflections wins, and the alphabetically first among equals. Only
 * orientations count under which the rule is symmetric: a rule without symmetries has one, as in
 * Catagolue. Under Generations a code has the planes of census.h with underscores between, all in
 * one bounding box, without empty ones at the end. An object more than 40 cells across is called
 * ov_ with s, p or q and the number. (A. P. Goucher; conwaylife.com/wiki/Apgcode, and his lifelib.)
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST = 40, MIDDLE = 10 };

/* Move the cells so that their bounding box begins at (x, y). */
static void move_to(size_t planes, uint64_t *patch, const struct census_rectangle *r, int x, int y)
{
    uint64_t moved[CENSUS_CELLS];
    memset(moved, 0, planes * CENSUS_PATCH * sizeof *moved);
    for (size_t k = 0; k < planes * CENSUS_PATCH; k += CENSUS_PATCH)
        for (int j = r->top; j < r->bottom; j++)
            moved[k + (size_t)(j - r->top + y)] = patch[k + (size_t)j] >> r->left << x;
    memcpy(patch, moved, planes * CENSUS_PATCH * sizeof *moved);
}

/* ---- Text. ----------------------------------------------------------------------------------- */

static void put_zeros(char **p, int n)
{
    for (; n >= 4; n -= n > 39 ? 39 : n) {
        *(*p)++ = 'y';
        *(*p)++ = "0123456789abcdefghijklmnopqrstuvwxyz"[(n > 39 ? 39 : n) - 4];
    }
    if (n)
        *(*p)++ = "0wx"[n - 1];
}

/* Write the cells from (0, 0) on, in strips of five rows; 0: none. Return the end of the text. */
static char *name_put_cells(char *p, const uint64_t *row, int width, int height)
{
    const char *const begin = p;
    for (int y = 0; y < height; y += 5) {
        int zeros = 0;
        for (int x = 0; x < width; x++) {
            unsigned value = 0;
            for (int i = 0; i < 5 && y + i < height; i++)
                value |= (unsigned)(row[y + i] >> x & 1) << i;
            if (!value) {
                zeros++;
                continue;
            }
            put_zeros(&p, zeros);
            zeros = 0;
            *p++ = "0123456789abcdefghijklmnopqrstuv"[value];
        }
        if (y + 5 < height)
            *p++ = 'z';
    }
    while (p > begin && p[-1] == 'z')
        p--;
    if (p == begin)
        *p++ = '0';
    *p = 0;
    return p;
}

/* Keep the better of two texts: the shorter, then the alphabetically first. */
static void keep_better(char *best, const char *text)
{
    const size_t now = strlen(text), before = strlen(best);
    if (!before || now < before || (now == before && strcmp(text, best) < 0))
        strcpy(best, text);
}

/* Box of a pattern in an orientation. */
struct name_frame {
    struct census_way way;
    int left, top, right, bottom; /* right and bottom excluded */
};

static int frame_x(struct census_way w, int x, int y)
{
    return w.xx * x + w.xy * y;
}

static int frame_y(struct census_way w, int x, int y)
{
    return w.yx * x + w.yy * y;
}

/* Measure a patch, whose bounding box is r, in an orientation. False if it is more than 64 cells
 * across, which sheared patterns may be. */
static bool frame_make(size_t planes, const uint64_t *patch, const struct census_rectangle *r,
                       struct census_way w, struct name_frame *f)
{
    *f = (struct name_frame){w, INT_MAX, INT_MAX, INT_MIN, INT_MIN};
    for (int y = r->top; y < r->bottom; y++)
        for (uint64_t cells = census_word(planes, 1, patch, (size_t)y); cells; cells &= cells - 1) {
            const int x = __builtin_ctzll(cells), u = frame_x(w, x, y), v = frame_y(w, x, y);
            f->left = u < f->left ? u : f->left;
            f->right = u >= f->right ? u + 1 : f->right;
            f->top = v < f->top ? v : f->top;
            f->bottom = v >= f->bottom ? v + 1 : f->bottom;
        }
    return f->right - f->left <= CENSUS_PATCH && f->bottom - f->top <= CENSUS_PATCH;
}

/* Write a plane of the patch; return the end of the text. */
static char *frame_put_plane(const struct name_frame *f, const uint64_t *plane,
                             const struct census_rectangle *r, char *p)
{
    uint64_t row[CENSUS_PATCH] = {0};
    for (int y = r->top; y < r->bottom; y++)
        for (uint64_t cells = plane[y]; cells; cells &= cells - 1) {
            const int x = __builtin_ctzll(cells);
            row[frame_y(f->way, x, y) - f->top] |= (uint64_t)1 << (frame_x(f->way, x, y) - f->left);
        }
    return name_put_cells(p, row, f->right - f->left, f->bottom - f->top);
}

/* Number of planes up to the last one that is not empty. */
static size_t planes_used(size_t planes, const uint64_t *patch)
{
    for (; planes > 1; planes--)
        for (size_t y = 0; y < CENSUS_PATCH; y++)
            if (patch[(planes - 1) * CENSUS_PATCH + y])
                return planes;
    return planes;
}

/* Try the orientations of a phase; r is its bounding box. */
static void try_phase(const struct census_rule *rule, const uint64_t *patch,
                      const struct census_rectangle *r, char *best)
{
    const size_t planes = planes_used(rule->planes, patch);
    for (int i = 0; i < rule->ways; i++) {
        struct name_frame f;
        char text[CENSUS_NAME], *end = text;
        if (!frame_make(rule->planes, patch, r, rule->way[i], &f))
            continue;
        for (size_t k = 0; k < planes; k++) {
            if (k)
                *end++ = '_';
            end = frame_put_plane(&f, patch + k * CENSUS_PATCH, r, end);
        }
        keep_better(best, text);
    }
}

/* ---- Motion. --------------------------------------------------------------------------------- */

static bool name_fits(const struct census_rectangle *r)
{
    return r->left > 1 && r->top > 1 && r->right < CENSUS_PATCH - 1 && r->bottom < CENSUS_PATCH - 1;
}

/* True if a box of this size fits into the patch with its first cell at (MIDDLE, MIDDLE). */
static bool fits_from_middle(const struct census_rectangle *r)
{
    return r->right - r->left <= CENSUS_PATCH - MIDDLE &&
           r->bottom - r->top <= CENSUS_PATCH - MIDDLE;
}

int census_name(const struct census_rule *rule, const uint64_t *patch, unsigned most,
                struct census_motion *motion, char *name)
{
    const size_t planes = rule->planes, bytes = census_bytes(rule, 1);
    uint64_t first[CENSUS_CELLS], now[CENSUS_CELLS], next[CENSUS_CELLS];
    struct census_rectangle r, begin;
    char best[CENSUS_NAME] = "";
    int cells = 0, x = 0, y = 0; /* how far it has been moved back */
    memcpy(now, patch, bytes);
    if (!census_bounds(planes, 1, now, &r) || r.right - r.left > CENSUS_PATCH - 2 * MIDDLE ||
        r.bottom - r.top > CENSUS_PATCH - 2 * MIDDLE)
        return -1;
    move_to(planes, now, &r, MIDDLE, MIDDLE);
    census_bounds(planes, 1, now, &begin);
    memcpy(first, now, bytes);
    int largest = 0;
    bool recurs = false;
    for (unsigned g = 0; g < most && !recurs; g++) {
        census_bounds(planes, 1, now, &r);
        const int across =
            r.right - r.left > r.bottom - r.top ? r.right - r.left : r.bottom - r.top;
        largest = across > largest ? across : largest;
        if (largest <= LARGEST && name)
            try_phase(rule, now, &r, best);
        census_step(rule, 1, now, next);
        memcpy(now, next, bytes);
        if (!census_bounds(planes, 1, now, &r) || !name_fits(&r))
            return -1;
        if (!fits_from_middle(&r))
            continue; /* larger than the first phase */
        uint64_t back[CENSUS_CELLS];
        memcpy(back, now, bytes);
        move_to(planes, back, &r, MIDDLE, MIDDLE);
        recurs = memcmp(back, first, bytes) == 0;
        if (recurs) {
            *motion = (struct census_motion){g + 1, x + r.left - begin.left, y + r.top - begin.top};
        } else if (r.left < CENSUS_CLEAR / 4 || r.top < CENSUS_CLEAR / 4 ||
                   r.right > CENSUS_PATCH - CENSUS_CLEAR / 4 ||
                   r.bottom > CENSUS_PATCH - CENSUS_CLEAR / 4) {
            x += r.left - MIDDLE;
            y += r.top - MIDDLE;
            memcpy(now, back, bytes);
        }
    }
    if (!recurs)
        return -1;
    if (!name)
        return 0;
    for (int i = 0; i < CENSUS_PATCH; i++)
        cells += __builtin_popcountll(first[i]);
    const bool moves = motion->dx || motion->dy;
    const unsigned number = motion->period == 1 && !moves ? (unsigned)cells : motion->period;
    snprintf(name, CENSUS_NAME, "%s%c%u%s%.*s", largest > LARGEST ? "ov_" : "x",
             moves                 ? 'q'
             : motion->period == 1 ? 's'
                                   : 'p',
             number, largest > LARGEST ? "" : "_", CENSUS_NAME - 20, largest > LARGEST ? "" : best);
    return 0;
}
