/* larger_than_life.c - rules of the family Larger than Life (K. Evans 1996), in the notation of
 * MCell and Golly:
 *
 *   R5,C0,M1,S34..58,B34..45,NM
 *
 *   R    range: radius of the neighbourhood in columns and rows, 1 to 500
 *   C    states, up to 256; 0, 1 and 2 mean two: a live cell (1) that does not survive becomes 2,
 *        3 and so on, as in Generations
 *   M    1: the cell itself counts
 *   S B  least and greatest number of live cells for survival and birth
 *   N    M: the square; N: von Neumann's diamond; C: a circle, distances less than R + 1/2
 *
 * The short form 5,34,45,34,58 gives range, birth and survival, for the square including the cell.
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"

#include "core/embedded.h"
#include "core/round.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(large_file, "life/larger_than_life.cl", life_larger_than_life_cl);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_text, "life/count_bytes.h", life_count_bytes_h);

enum { RANGE_MAX = 500 };

/* In `own` of struct life_family. */
struct life_large {
    unsigned range;
    unsigned middle;                /* 1: the cell itself counts */
    unsigned survival[2], birth[2]; /* least and greatest count */
    char shape;                     /* M, N or C: square, diamond, circle */
};

static struct life_large large_of(const struct life_family *rule)
{
    struct life_large l;
    memcpy(&l, rule->own, sizeof l);
    return l;
}

/* ---- Parsing. -------------------------------------------------------------------------------- */

/* Read a number below 10^9. */
static bool large_read_number(const char **p, unsigned *n)
{
    const char *start = *p;
    *n = 0;
    for (; isdigit((unsigned char)**p) && *p - start < 9; ++*p)
        *n = 10 * *n + (unsigned)(**p - '0');
    return *p > start && !isdigit((unsigned char)**p);
}

/* Read a letter and its numbers; numbers[1] only where the grammar allows a second one, after two
 * dots. */
static bool large_read_part(const char **p, char letter, unsigned *first, unsigned *second)
{
    if (toupper((unsigned char)**p) != letter)
        return false;
    ++*p;
    if (!large_read_number(p, first))
        return false;
    if (second) {
        if (strncmp(*p, "..", 2) != 0)
            return false;
        *p += 2;
        if (!large_read_number(p, second))
            return false;
    }
    if (**p != ',')
        return false;
    ++*p;
    return true;
}

static bool read_letters(const char *p, struct life_large *l, unsigned *states)
{
    if (!large_read_part(&p, 'R', &l->range, NULL) || !large_read_part(&p, 'C', states, NULL) ||
        !large_read_part(&p, 'M', &l->middle, NULL) ||
        !large_read_part(&p, 'S', &l->survival[0], &l->survival[1]) ||
        !large_read_part(&p, 'B', &l->birth[0], &l->birth[1]) ||
        toupper((unsigned char)*p++) != 'N')
        return false;
    l->shape = (char)toupper((unsigned char)*p);
    return *p && strchr("MNC", l->shape) && !p[1];
}

static bool large_read_numbers(const char *p, struct life_large *l)
{
    unsigned n[5];
    for (int i = 0; i < 5; i++)
        if (!large_read_number(&p, &n[i]) || *p++ != (i < 4 ? ',' : '\0'))
            return false;
    *l = (struct life_large){
        .range = n[0], .middle = 1, .birth = {n[1], n[2]}, .survival = {n[3], n[4]}, .shape = 'M'};
    return true;
}

/* Half width of the neighbourhood in the row `dy` rows away: columns to either side of the cell. */
static unsigned large_half(const struct life_large *l, unsigned dy)
{
    if (l->shape != 'C')
        return l->shape == 'M' ? l->range : l->range - dy;
    unsigned half = l->range; /* (half^2 + dy^2) < (range + 1/2)^2, in quarters */
    while (4 * (half * half + dy * dy) >= (2 * l->range + 1) * (2 * l->range + 1))
        half--;
    return half;
}

/* Greatest possible number of counted cells. */
static unsigned large_area(const struct life_large *l)
{
    unsigned n = 2 * large_half(l, 0) + l->middle;
    for (unsigned dy = 1; dy <= l->range; dy++)
        n += 2 * (2 * large_half(l, dy) + 1);
    return n;
}

static const char *large_complaint(const struct life_large *l, unsigned states)
{
    static _Thread_local char why[100];
    if (l->range < 1 || l->range > RANGE_MAX)
        return "the range, R, is 1 to 500";
    if (states > 256)
        return "a rule has up to 256 states, C";
    if (l->middle > 1)
        return "M is 1 if the cell itself counts, else 0";
    if (l->birth[0] > l->birth[1] || l->survival[0] > l->survival[1])
        return "of S and B the first number is the least, the second the most";
    snprintf(why, sizeof why, "with these neighbours counts go from 0 to %u", large_area(l));
    return l->birth[1] > large_area(l) || l->survival[1] > large_area(l) ? why : NULL;
}

static int large_parse(const char *text, struct life_family *rule)
{
    char copy[LIFE_RULE_TEXT];
    size_t n = 0;
    unsigned states = 2;
    struct life_large l = {.range = 0};
    for (const char *p = text; *p && n + 1 < sizeof copy; p++)
        if (!isspace((unsigned char)*p))
            copy[n++] = *p;
    copy[n] = '\0';
    const bool letters = toupper((unsigned char)copy[0]) == 'R' && isdigit((unsigned char)copy[1]),
               numbers = isdigit((unsigned char)copy[0]) && strchr(copy, ',');
    if (!letters && !numbers)
        return 1;
    if (letters ? !read_letters(copy, &l, &states) : !large_read_numbers(copy, &l))
        return life_family_refuse(
            text,
            "write Larger than Life as R5,C0,M1,S34..58,B34..45,NM, with NM, NN or NC at the end, or 5,34,45,34,58");
    const char *why = large_complaint(&l, states);
    if (why)
        return life_family_refuse(text, why);
    memcpy(rule->own, &l, sizeof l);
    rule->states = states < 2 ? 2 : states;
    rule->range = l.range;
    rule->b0 = l.birth[0] == 0;
    snprintf(rule->text, sizeof rule->text, "R%u,C%u,M%u,S%u..%u,B%u..%u,N%c", l.range,
             rule->states > 2 ? rule->states : 0, l.middle, l.survival[0], l.survival[1],
             l.birth[0], l.birth[1], l.shape);
    return 0;
}

/* ---- The scalar reference. ------------------------------------------------------------------- */

static void large_reference(const struct life_family *rule, enum life_bounds bounds, size_t width,
                            size_t height, size_t y, size_t end, const unsigned char *from,
                            unsigned char *to)
{
    const struct life_large l = large_of(rule);
    const long range = (long)l.range, w = (long)width, h = (long)height;
    for (; y < end; y++)
        for (size_t x = 0; x < width; x++) {
            const unsigned char state = from[y * width + x];
            unsigned count = 0;
            for (long dy = -range; dy <= range; dy++) {
                const long half = (long)large_half(&l, (unsigned)labs(dy));
                for (long dx = -half; dx <= half; dx++) {
                    const long u = (long)x + dx, v = (long)y + dy;
                    const bool inside = u >= 0 && v >= 0 && u < w && v < h;
                    if ((inside || bounds == LIFE_TORUS) && (dx || dy || l.middle))
                        count += from[(size_t)((v + h) % h * w + (u + w) % w)] == 1;
                }
            }
            const unsigned *counts = state == 1 ? l.survival : l.birth;
            to[y * width + x] =
                life_next_state(rule, state, count >= counts[0] && count <= counts[1]);
        }
}

/* ---- The kernel, larger_than_life.cl. -------------------------------------------------------- */

/* Entries of a row of prefix sums; life_large_sums writes 16 at a time. */
static size_t large_stride(const life *lf, const struct bytes *b)
{
    return round_up(b->pitch + 2 * (size_t)lf->rule.range + 2, 16);
}

/* A band begins with a sum over all rows in range, so its length grows with the range. */
static void large_choose(const life *lf, struct bytes *b)
{
    const struct life_large l = large_of(&lf->rule);
    const bool square = l.shape == 'M';
    b->rows = !square ? 4 : l.range < 8 ? 16 : l.range < 64 ? 32 : 128;
    b->pitch = round_up(lf->width, b->columns);
    b->extra_bytes = large_stride(lf, b) * lf->height * sizeof(unsigned short);
    snprintf(b->g.explain, sizeof b->g.explain,
             "fixed: %zu columns and %zu rows an item, by sums of rows%s", b->columns, b->rows,
             square ? ", one in and one out" : "");
}

/* Append to `text`, which is large enough. */
#define APPEND(...) (used += snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__))

static void *large_open(life *lf, const struct bytes *b)
{
    const struct embedded *const front[] = {&mix_text, &count_text};
    const struct life_large l = large_of(&lf->rule);
    char text[400 + 4 * (RANGE_MAX + 1)];
    int used = 0;
    APPEND("-D RANGE=%u -D STATES=%u -D MIDDLE=%u -D COLUMNS=%zu -D ROWS=%zu -D ITEMS=%zu\n",
           l.range, lf->rule.states, l.middle, b->columns, b->rows, b->items);
    APPEND("#define BIRTH %u, %u\n#define SURVIVAL %u, %u\n", l.birth[0], l.birth[1], l.survival[0],
           l.survival[1]);
    if (l.shape != 'M') {
        APPEND("#define HALF ");
        for (unsigned dy = 0; dy <= l.range; dy++)
            APPEND("%u%s", large_half(&l, dy), dy < l.range ? "," : "\n");
    }
    return embedded_open(lf->ctx, text, &large_file, 2, front);
}

static cl_event large_start_sums(life *lf, const struct bytes *b)
{
    clndrange_t ndr = clndrange_init1d(0, lf->height * b->items, b->items);
    return clforka(lf->ctx, DEVICE, b->before, &ndr, UNWAITED, b->g.grid[b->g.current], b->g.extra,
                   (cl_int)lf->width, (cl_ulong)b->pitch, (cl_ulong)large_stride(lf, b),
                   (cl_int)(lf->bounds == LIFE_TORUS));
}

static cl_event large_start(life *lf, const struct bytes *b, clndrange_t *ndr, cl_int y)
{
    return clforka(lf->ctx, DEVICE, b->g.step, ndr, UNWAITED, b->g.grid[b->g.current],
                   b->g.grid[!b->g.current], b->g.extra, y, (cl_int)lf->width, (cl_int)lf->height,
                   (cl_ulong)b->pitch, (cl_ulong)large_stride(lf, b),
                   (cl_int)(lf->bounds == LIFE_TORUS));
}

static const struct bytes_method large_bytes = {.choose = large_choose,
                                                .open = large_open,
                                                .step = "life_large",
                                                .before = "life_large_sums",
                                                .start = large_start,
                                                .start_before = large_start_sums};

const struct life_family_row life_large_family = {.kind = "Larger than Life",
                                                  .form = LIFE_FORM_OWN,
                                                  .bounds = LIFE_ON_FLAT,
                                                  .parse = large_parse,
                                                  .reference = large_reference,
                                                  .bytes = &large_bytes};
