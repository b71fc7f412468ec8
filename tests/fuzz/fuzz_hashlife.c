/* fuzz_hashlife.c - arbitrary bytes as a macrocell file, read into a HashLife plane;
 * for libFuzzer or for driver.c.
 *
 * An accepted plane survives some generations and a walk over its squares. The squares, written
 * and read again, give an equal plane, and if all is near the middle, cells equal
 * life_ref.c.
 * SPDX-License-Identifier: MIT
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "formats/life_format.h"
#include "fuzz.h"
#include "life/internal.h"

#define HEAD "[M2] (fuzz)\n"

enum { SIDE = 128, LEAST_MEMORY = 1 << 24, SQUARES = 4096 };

/* Cancel slow steps: the check is that they do no harm. */
static int end_fuzz_steps(void *unused, double fraction)
{
    (void)unused;
    promise(fraction >= 0 && fraction <= 1);
    return 1;
}

/* Return the plane of the squares; NULL, with a message, if it is rejected. */
static life *plane_of(const struct life_squares *s, const char *rule)
{
    uint32_t square = 0;
    int status = 0;
    life *h = life_create(&(struct life_options){.engine = LIFE_HASHLIFE,
                                                 .bounds = LIFE_UNBOUNDED,
                                                 .rule = rule,
                                                 .memory = LEAST_MEMORY,
                                                 .threads = 1,
                                                 .progress = end_fuzz_steps});
    for (size_t i = 0; h && i < s->n && status == 0; i++) {
        const struct life_square *q = &s->square[i];
        const unsigned char state[4] = {(unsigned char)q->part[0], (unsigned char)q->part[1],
                                        (unsigned char)q->part[2], (unsigned char)q->part[3]};
        status = q->bits         ? life_tree_add_bits(h, q->cells, &square)
                 : q->level == 1 ? life_tree_add_states(h, state, &square)
                                 : life_tree_add_square(h, q->level, q->part, &square);
    }
    if (h && status == 0)
        status = life_tree_set(h, square, (uint64_t)s->generation);
    if (h && status == 0)
        return h;
    promise_sentence(clerror(), "");
    life_free(h);
    return NULL;
}

/* ---- There and back. ---- */

static int write_fuzz_leaf(void *out, uint64_t cells)
{
    life_squares_write(out, &(struct life_square){.level = 3, .bits = true, .cells = cells});
    return 0;
}

static int write_fuzz_square(void *out, int level, const uint32_t part[4])
{
    life_squares_write(
        out, &(struct life_square){.level = level, .part = {part[0], part[1], part[2], part[3]}});
    return 0;
}

static char *fuzz_text_of(life *h)
{
    char *text = NULL;
    size_t size = 0;
    int level = 0;
    struct outfile out = {.fp = open_memstream(&text, &size), .name = (char[]){"memory"}};
    promise(out.fp && fputs(HEAD, out.fp) >= 0);
    promise(life_tree_walk(h, &level, write_fuzz_leaf, NULL, write_fuzz_square, &out) == 0);
    if (ftell(out.fp) ==
        (long)strlen(HEAD)) /* an empty plane has no squares, and a file must have one */
        promise(write_fuzz_square(&out, 4, (const uint32_t[4]){0, 0, 0, 0}) == 0);
    promise(fclose(out.fp) == 0);
    return text;
}

static void check_macrocell_round_trip(life *h, const char *rule)
{
    struct life_squares s = {.n = 0};
    struct life_number there, back;
    struct life_box box = {.left = {0, 0}}, box_back = {.left = {0, 0}};
    if (life_population_exact(h, &there) != 0 || life_bounding_box(h, &box) < 0) {
        promise_sentence(clerror(), "life");
        return;
    }
    char *text = fuzz_text_of(h);
    const struct life_text t = {"again", text, text + strlen(text)};
    promise(life_macrocell_squares(&t, &s) == 0);
    life *again = plane_of(&s, rule);
    promise(again && life_population_exact(again, &back) == 0);
    promise(there.low == back.low && there.high == back.high && there.high >= 0);
    promise(life_bounding_box(again, &box_back) >= 0 && memcmp(&box, &box_back, sizeof box) == 0);
    free(text);
    life_squares_free(&s);
    life_free(again);
}

/* ---- Cells. ---- */

static bool is_near_cell(life *h, long long most)
{
    struct life_box b;
    const int any = life_bounding_box(h, &b);
    if (any < 0)
        promise_sentence(clerror(), "life");
    return any >= 0 && (!any || (life_number_double(b.left) >= (double)-most &&
                                 life_number_double(b.top) >= (double)-most &&
                                 life_number_double(b.right) <= (double)most &&
                                 life_number_double(b.bottom) <= (double)most));
}

static bool empty_is_born(const struct life_family *rule)
{
    return rule->states == 2 && life_table_next(&rule->table, 0);
}

/* With B0 cells are inverted, always (with S8 too) or in odd generations. */
static void fuzz_cells_of(life *h, const struct life_family *rule, uint8_t cells[SIDE * SIDE])
{
    const bool opposite =
        empty_is_born(rule) && (life_table_next(&rule->table, 511) || life_generation(h) & 1);
    uint64_t word[SIDE * SIDE / 64];
    struct life_cells c = {SIDE, SIDE, SIDE / 64, word};
    if (rule->states > 2) {
        promise(life_get_states(h, -SIDE / 2, -SIDE / 2, SIDE, SIDE, cells) == 0);
        return;
    }
    promise(life_get(h, -SIDE / 2, -SIDE / 2, &c) == 0);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        cells[i] = (word[i / 64] >> i % 64 & 1) ^ opposite;
}

/* True if all cells that the edge cannot reach in n generations are equal. With B0 even an empty
 * edge reaches them. */
static bool check_populations_agree(const uint8_t a[SIDE * SIDE], const uint8_t b[SIDE * SIDE],
                                    size_t margin)
{
    for (size_t y = margin; y < SIDE - margin; y++)
        if (memcmp(a + y * SIDE + margin, b + y * SIDE + margin, SIDE - 2 * margin) != 0)
            return false;
    return true;
}

/* Step; cells from -SIDE/2 to SIDE/2 that cannot reach the edge equal life_ref.c. */
static void check_fuzz_steps(life *h, const struct life_family *rule, unsigned generations)
{
    static uint8_t cells[2][SIDE * SIDE], got[SIDE * SIDE];
    const uint64_t from = life_generation(h);
    const bool near = is_near_cell(h, SIDE / 2 - (long long)generations);
    unsigned at = 0;
    if (near)
        fuzz_cells_of(h, rule, cells[0]);
    if (life_step(h, generations) != 0) {
        promise_sentence(clerror(), "life");
        return;
    }
    promise(life_generation(h) == from + generations);
    for (unsigned g = 0; near && g < generations; g++, at ^= 1)
        life_ref_family_rows(rule, 0, LIFE_PLANE, SIDE, SIDE, 0, SIDE, cells[at], cells[at ^ 1]);
    if (near) {
        fuzz_cells_of(h, rule, got);
        promise(check_populations_agree(got, cells[at], empty_is_born(rule) ? generations : 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct life_squares s = {.n = 0};
    char *exact = exact_copy(data, size);
    const struct life_text t = {"name", exact, exact + size};
    life *h = NULL;
    if (!life_macrocell.sniff(&t)) {
        free(exact);
        return 0;
    }
    if (life_macrocell_squares(&t, &s) != 0) {
        promise_sentence(clerror(), "name");
        promise(!s.square && s.n == 0);
    } else if (s.n < SQUARES && (h = plane_of(&s, s.rule[0] ? s.rule : NULL))) {
        struct life_family rule;
        promise(life_family_parse(s.rule[0] ? s.rule : "B3/S23", &rule) >= 0);
        check_fuzz_steps(h, &rule, (unsigned)(size % 48));
        if (life_step(h, (uint64_t)1 << size % 11) != 0)
            promise_sentence(clerror(), "life");
        check_macrocell_round_trip(h, s.rule[0] ? s.rule : NULL);
    }
    life_free(h);
    life_squares_free(&s);
    free(exact);
    return 0;
}
