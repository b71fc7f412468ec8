/* larger_than_life.c - rules of the family Larger than Life (large_rule.c): the scalar
 * reference, and the host side of the kernel.
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"
#include "life/engine.h"
#include "life/large_rule.h"

#include "core/embedded.h"
#include "core/round.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

EMBEDDED(large_file, "life/larger_than_life.cl", life_larger_than_life_cl);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_text, "life/count_bytes.h", life_count_bytes_h);

/* ---- Parsing. -------------------------------------------------------------------------------- */

/* Copy a rule without blanks, or rewrite one of triangular cells: 0; or -1 with EINVAL. */
static int large_text(const char *text, char copy[LIFE_RULE_TEXT])
{
    size_t n = 0;
    const char *p = text;
    const int status = large_triangles_read(text, copy, LIFE_RULE_TEXT);
    if (status <= 0)
        return status;
    for (; *p && n + 1 < LIFE_RULE_TEXT; p++)
        if (!isspace((unsigned char)*p))
            copy[n++] = *p;
    copy[n] = '\0';
    return *p ? life_family_refuse(text, "it is too long") : 0;
}

static int large_parse(const char *text, struct life_family *rule)
{
    struct life_large l;
    const char *why;
    char copy[LIFE_RULE_TEXT];
    if (large_text(text, copy) < 0)
        return -1;
    const int status = large_rule_read(copy, &l, &why);
    if (status > 0)
        return 1;
    if (status < 0)
        return life_family_refuse(text, why);
    if (!large_rule_write(&l, rule->text, sizeof rule->text))
        return life_family_refuse(text, "it is too long");
    rule->states = l.states;
    rule->range = large_columns(&l);
    rule->b0 = large_counts_have(&l.birth, 0);
    rule->alternates = large_inversion(&l) == LARGE_ALTERNATING;
    return 0;
}

/* A rule that was parsed before; its digits are in rule->text. */
static struct life_large large_of(const struct life_family *rule)
{
    struct life_large l;
    const char *why;
    large_rule_read(rule->text, &l, &why);
    return l;
}

/* ---- The scalar reference. ------------------------------------------------------------------- */

struct large_grid {
    long width, height;
    bool torus;
    const unsigned char *cells;
};

static int large_count(const struct life_large *l, const struct large_grid *g, long x, long y)
{
    const int range = (int)l->range, columns = (int)large_columns(l);
    int count = 0;
    for (int dy = -range; dy <= range; dy++)
        for (int dx = -columns; dx <= columns; dx++) {
            const long u = x + dx, v = y + dy;
            const bool inside = u >= 0 && v >= 0 && u < g->width && v < g->height;
            const int weight = inside || g->torus ? large_weight(l, dx, dy, (x + y) & 1) : 0;
            if (weight)
                count += weight * (int)large_state_weight(
                                      l, g->cells[(v + g->height) % g->height * g->width +
                                                  (u + g->width) % g->width]);
        }
    return count;
}

static void large_reference(const struct life_family *rule, uint64_t generation,
                            enum life_bounds bounds, size_t width, size_t height, size_t y,
                            size_t end, const unsigned char *from, unsigned char *to)
{
    const struct life_large l = large_of(rule);
    const struct large_grid g = {(long)width, (long)height, bounds == LIFE_TORUS, from};
    const enum large_inverted how = large_inversion(&l);
    const bool inverted = large_is_inverted(how, generation),
               next_inverted = large_is_inverted(how, generation + 1);
    const int total = inverted ? large_total(&l) : 0;
    for (; y < end; y++)
        for (size_t x = 0; x < width; x++) {
            const int live = large_count(&l, &g, (long)x, (long)y);
            const unsigned char state = from[y * width + x] ^ inverted;
            const bool is = large_counts_have(state == 1 ? &l.survival : &l.birth,
                                              inverted ? total - live : live);
            to[y * width + x] = life_next_state(rule, state, is) ^ next_inverted;
        }
}

/* ---- The kernel, larger_than_life.cl. -------------------------------------------------------- */

/* The kernel has three ways to count. A square gains a row and loses one. A neighbourhood that is
 * as wide to the left as to the right has half a width for each distance in rows. All others are
 * lists of runs: neighbours of equal weight in a row. */
enum large_way { LARGE_SQUARE, LARGE_HALVES, LARGE_RUNS };

static enum large_way large_way_of(const struct life_large *l)
{
    return l->state_digits           ? LARGE_RUNS
           : l->shape == 'M'         ? LARGE_SQUARE
           : strchr("NC2", l->shape) ? LARGE_HALVES
                                     : LARGE_RUNS;
}

/* Half width of the neighbourhood in the row `dy` rows away: columns to either side of the cell. */
static int large_half(const struct life_large *l, int dy)
{
    int half = (int)l->range;
    while (half > 0 && !large_weight(l, half, dy, false))
        half--;
    return half;
}

/* Runs of both parities; 0 without lists. */
static size_t large_all_runs(const struct life_large *l)
{
    if (large_way_of(l) != LARGE_RUNS)
        return 0;
    return large_runs(l, false, NULL) + (large_has_parity(l) ? large_runs(l, true, NULL) : 0);
}

/* Entries of a row of prefix sums; life_large_sums writes 16 at a time. */
static size_t large_stride(const life *lf, const struct bytes *b)
{
    return round_up(b->pitch + 2 * (size_t)lf->rule.range + 2, 16);
}

/* A band begins with a sum over all rows in range, so its length grows with the range. The runs
 * precede the sums. */
static void large_choose(const life *lf, struct bytes *b)
{
    const struct life_large l = large_of(&lf->rule);
    const enum large_way way = large_way_of(&l);
    static const char *const ways[] = {", one in and one out", "", " in runs of equal weight"};
    b->rows = way != LARGE_SQUARE ? 4 : l.range < 8 ? 16 : l.range < 64 ? 32 : 128;
    b->pitch = round_up(lf->width, b->columns);
    b->extra_bytes = large_stride(lf, b) * lf->height * sizeof(unsigned short) +
                     large_all_runs(&l) * sizeof(struct large_run);
    b->filled = way == LARGE_RUNS;
    snprintf(b->g.explain, sizeof b->g.explain,
             "fixed: %zu columns and %zu rows an item, by sums of rows%s", b->columns, b->rows,
             ways[way]);
}

static void large_fill(const life *lf, void *extra)
{
    const struct life_large l = large_of(&lf->rule);
    struct large_run *run = extra;
    run += large_runs(&l, false, run);
    if (large_has_parity(&l))
        large_runs(&l, true, run);
}

/* Append to `text`, which is large enough. */
#define APPEND(...) (used += (size_t)snprintf(text + used, size - used, __VA_ARGS__))

/* Define a macro of an expression: 1 for each of the counts `c` that is listed. */
static size_t append_counts(const char *name, const struct large_counts *counts, char *text,
                            size_t size)
{
    size_t used = 0;
    APPEND("#define %s(c) ((COUNTS)(0)", name);
    for (unsigned i = 0; i < counts->n; i++)
        APPEND(" | within(c, %d, %d)", counts->of[i].least, counts->of[i].most);
    APPEND(")\n");
    return used;
}

static size_t append_ways(const struct life_large *l, char *text, size_t size)
{
    const enum large_way way = large_way_of(l);
    size_t used = 0;
    if (way == LARGE_RUNS)
        APPEND("#define RUNS %zu\n#define RUNS_ODD %zu\n", large_runs(l, false, NULL),
               large_has_parity(l) ? large_runs(l, true, NULL) : 0);
    if (way == LARGE_HALVES) {
        APPEND("#define HALF ");
        for (int dy = 0; dy <= (int)l->range; dy++)
            APPEND("%d%s", large_half(l, dy), dy < (int)l->range ? "," : "\n");
    }
    if (l->state_digits) {
        APPEND("#define STATE_WEIGHTS ");
        for (unsigned i = 0; i < l->states; i++)
            APPEND("%u%s", large_state_weight(l, i), i + 1 < l->states ? "," : "\n");
    }
    return used;
}

static void *large_open(life *lf, const struct life_family *rule)
{
    const struct bytes *b = lf->state;
    const struct embedded *const front[] = {&mix_text, &count_text};
    const struct life_large l = large_of(rule);
    const bool runs = large_way_of(&l) == LARGE_RUNS;
    char text[1000 + 4 * (LARGE_RANGE_MAX + 1) + 32 * 2 * LARGE_INTERVALS + 3 * 256];
    const size_t size = sizeof text;
    size_t used = 0;
    APPEND("-D RANGE=%u -D ROWS_AWAY=%u -D STATES=%u -D MIDDLE=%u -D COLUMNS=%zu -D ROWS=%zu -D "
           "ITEMS=%zu\n",
           rule->range, l.range, rule->states, runs ? 1 : l.middle, b->columns, b->rows, b->items);
    APPEND("#define INVERTED %d\n#define TOTAL %d\n", large_inversion(&l), large_total(&l));
    used += append_counts("BIRTH", &l.birth, text + used, size - used);
    used += append_counts("SURVIVAL", &l.survival, text + used, size - used);
    append_ways(&l, text + used, size - used);
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
                   (cl_int)(lf->bounds == LIFE_TORUS), (cl_int)(life_now(lf) & 1));
}

static const struct bytes_method large_bytes = {.choose = large_choose,
                                                .open = large_open,
                                                .fill = large_fill,
                                                .step = "life_large",
                                                .before = "life_large_sums",
                                                .start = large_start,
                                                .start_before = large_start_sums};

const struct life_family_row life_large_family = {.kind = "Larger than Life",
                                                  .form = LIFE_FORM_SUMS,
                                                  .bounds = LIFE_ON_FLAT | 1 << LIFE_UNBOUNDED,
                                                  .parse = large_parse,
                                                  .reference = large_reference,
                                                  .bytes = &large_bytes};
