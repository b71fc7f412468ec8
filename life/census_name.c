/* census_name.c - names of objects: apgcodes as in apgsearch and Catagolue. xs4_33 is the block,
 * xp2_7 the blinker, xq4_153 the glider.
 *
 * A name is xs and the number of cells, xp and the period, or xq and the period of a spaceship;
 * then the cells, in the form that formats/life_apgcode.c reads. The shortest text over all
 * phases, rotations and reflections wins, and the alphabetically first among equals. Only
 * orientations count under which the rule is symmetric: a rule without symmetries has one, as in
 * Catagolue. An object more than 40 cells across is called ov_ with s, p or q and the number. (A.
 * P. Goucher; conwaylife.com/wiki/Apgcode, and his lifelib.)
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST = 40, MIDDLE = 10 };

/* Move the cells so that their bounding box begins at (x, y). */
static void move_to(uint64_t patch[CENSUS_PATCH], const struct census_rectangle *r, int x, int y)
{
    uint64_t moved[CENSUS_PATCH] = {0};
    for (int j = r->top; j < r->bottom; j++)
        moved[j - r->top + y] = patch[j] >> r->left << x;
    memcpy(patch, moved, sizeof moved);
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

/* Write the cells from (0, 0) on, in strips of five rows. */
static void name_put_cells(char *p, const uint64_t *row, int width, int height)
{
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
    *p = 0;
}

/* Keep the better of two texts: the shorter, then the alphabetically first. */
static void keep_better(char *best, const char *text)
{
    const size_t now = strlen(text), before = strlen(best);
    if (!before || now < before || (now == before && strcmp(text, best) < 0))
        strcpy(best, text);
}

/* Rows of a pattern in an orientation: `n` of them, `width` cells across. */
struct name_rows {
    uint64_t row[CENSUS_PATCH];
    int width, n;
};

/* Turn the cells of a patch. False if they are more than 64 across, which shears may be. */
static bool turn_cells(const uint64_t patch[CENSUS_PATCH], const struct census_rectangle *r,
                       struct census_way w, struct name_rows *to)
{
    int left = INT_MAX, top = INT_MAX, right = INT_MIN, bottom = INT_MIN;
    for (int pass = 0; pass < 2; pass++) {
        for (int y = r->top; y < r->bottom; y++)
            for (uint64_t live = patch[y]; live; live &= live - 1) {
                const int x = __builtin_ctzll(live), u = w.xx * x + w.xy * y,
                          v = w.yx * x + w.yy * y;
                if (pass) {
                    to->row[v - top] |= (uint64_t)1 << (u - left);
                    continue;
                }
                left = u < left ? u : left;
                right = u >= right ? u + 1 : right;
                top = v < top ? v : top;
                bottom = v >= bottom ? v + 1 : bottom;
            }
        *to = pass ? *to : (struct name_rows){.width = right - left, .n = bottom - top};
        if (to->width > CENSUS_PATCH || to->n > CENSUS_PATCH)
            return false;
    }
    return true;
}

/* Try the orientations of a phase; r is its bounding box. */
static void try_phase(const struct census_rule *rule, const uint64_t patch[CENSUS_PATCH],
                      const struct census_rectangle *r, char *best)
{
    for (int i = 0; i < rule->ways; i++) {
        struct name_rows rows;
        char text[CENSUS_NAME];
        if (!turn_cells(patch, r, rule->way[i], &rows))
            continue;
        name_put_cells(text, rows.row, rows.width, rows.n);
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

int census_name(const struct census_rule *rule, const uint64_t patch[CENSUS_PATCH], unsigned most,
                struct census_motion *motion, char *name)
{
    uint64_t first[CENSUS_PATCH], now[CENSUS_PATCH], next[CENSUS_PATCH];
    struct census_rectangle r, begin;
    char best[CENSUS_NAME] = "";
    int cells = 0, x = 0, y = 0; /* how far it has been moved back */
    memcpy(now, patch, sizeof now);
    if (!census_bounds(1, now, &r) || r.right - r.left > CENSUS_PATCH - 2 * MIDDLE ||
        r.bottom - r.top > CENSUS_PATCH - 2 * MIDDLE)
        return -1;
    move_to(now, &r, MIDDLE, MIDDLE);
    census_bounds(1, now, &begin);
    memcpy(first, now, sizeof first);
    int largest = 0;
    bool recurs = false;
    for (unsigned g = 0; g < most && !recurs; g++) {
        census_bounds(1, now, &r);
        const int across =
            r.right - r.left > r.bottom - r.top ? r.right - r.left : r.bottom - r.top;
        largest = across > largest ? across : largest;
        if (largest <= LARGEST && name)
            try_phase(rule, now, &r, best);
        census_step(rule, 1, now, next);
        memcpy(now, next, sizeof now);
        if (!census_bounds(1, now, &r) || !name_fits(&r))
            return -1;
        if (!fits_from_middle(&r))
            continue; /* larger than the first phase */
        uint64_t back[CENSUS_PATCH];
        memcpy(back, now, sizeof back);
        move_to(back, &r, MIDDLE, MIDDLE);
        recurs = memcmp(back, first, sizeof back) == 0;
        if (recurs) {
            *motion = (struct census_motion){g + 1, x + r.left - begin.left, y + r.top - begin.top};
        } else if (r.left < CENSUS_CLEAR / 4 || r.top < CENSUS_CLEAR / 4 ||
                   r.right > CENSUS_PATCH - CENSUS_CLEAR / 4 ||
                   r.bottom > CENSUS_PATCH - CENSUS_CLEAR / 4) {
            x += r.left - MIDDLE;
            y += r.top - MIDDLE;
            memcpy(now, back, sizeof now);
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
