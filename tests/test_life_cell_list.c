/* test_life_cell_list.c - lists of live cells against arrays of booleans, and on planes.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "formats/life.h"
#include "stdcl/cell_list.h"
#include "stdcl/identify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40, MIDDLE = SIDE / 2 }; /* cell (0, 0) is in the middle of the array */

typedef bool grid[SIDE][SIDE];

static life_list *list_of_grid(grid g)
{
    struct life_cell cell[SIDE * SIDE];
    size_t n = 0;
    for (int i = SIDE * SIDE - 1; i >= 0; i--) /* not in order */
        if (g[i % SIDE][i / SIDE])
            cell[n++] = (struct life_cell){i / SIDE - MIDDLE, i % SIDE - MIDDLE};
    life_list *list = life_list_create(cell, n);
    ready(list);
    return list;
}

/* Compare a new list with an array, and free it. */
static void check_list(life_list *list, grid want)
{
    ready(list);
    life_list *expected = list_of_grid(want);
    assert_int_equal(life_list_equal(list, expected), 1);
    life_list_free(expected);
    life_list_free(list);
}

/* Random cells within 12 of (0, 0). */
static void random_grid(grid g, int percent)
{
    memset(g, 0, sizeof(grid));
    for (int y = -12; y <= 12; y++)
        for (int x = -12; x <= 12; x++)
            g[y + MIDDLE][x + MIDDLE] = rand() % 100 < percent;
}

static bool cell_of(grid g, int x, int y)
{
    return x >= -MIDDLE && y >= -MIDDLE && x < MIDDLE && y < MIDDLE && g[y + MIDDLE][x + MIDDLE];
}

#define EACH_CELL(x, y)                                                                            \
    for (int y = -MIDDLE; y < MIDDLE; y++)                                                         \
        for (int x = -MIDDLE; x < MIDDLE; x++)

static void lists_combine_like_arrays(void **unused)
{
    (void)unused;
    for (int round = 0; round < 40; round++) {
        grid a, b, want;
        random_grid(a, round * 3 % 101);
        random_grid(b, round * 7 % 101);
        life_list *first = list_of_grid(a), *second = list_of_grid(b);
        EACH_CELL(x, y)
        want[y + MIDDLE][x + MIDDLE] = cell_of(a, x, y) && cell_of(b, x, y);
        check_list(life_list_combine(first, second, LIFE_AND), want);
        EACH_CELL(x, y)
        want[y + MIDDLE][x + MIDDLE] = cell_of(a, x, y) || cell_of(b, x, y);
        check_list(life_list_combine(first, second, LIFE_OR), want);
        EACH_CELL(x, y)
        want[y + MIDDLE][x + MIDDLE] = cell_of(a, x, y) != cell_of(b, x, y);
        check_list(life_list_combine(first, second, LIFE_XOR), want);
        EACH_CELL(x, y)
        want[y + MIDDLE][x + MIDDLE] = cell_of(a, x, y) && !cell_of(b, x, y);
        check_list(life_list_combine(first, second, LIFE_DIFFERENCE), want);
        life_list_free(first);
        life_list_free(second);
    }
}

static void lists_move_like_arrays(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20; round++) {
        grid a, want;
        random_grid(a, 30);
        life_list *list = list_of_grid(a);
        const int dx = rand() % 13 - 6, dy = rand() % 13 - 6;
        EACH_CELL(x, y)
        want[y + MIDDLE][x + MIDDLE] = cell_of(a, x - dx, y - dy);
        check_list(life_list_shift(list, dx, dy), want);
        for (int turn = 0; turn < LIFE_TURNS; turn++) {
            /* where a cell came from */
            EACH_CELL(x, y)
            {
                const int from[][2] = {{x, y},  {-y, x}, {-x, -y}, {y, -x},
                                       {-x, y}, {x, -y}, {y, x},   {-y, -x}};
                want[y + MIDDLE][x + MIDDLE] = cell_of(a, from[turn][0], from[turn][1]);
            }
            check_list(life_list_turn(list, (enum life_turn)turn), want);
        }
        EACH_CELL(x, y)
        want[y + MIDDLE][x + MIDDLE] =
            cell_of(a, x, y) && x >= dx && x < dx + 7 && y >= dy && y < dy + 4;
        check_list(life_list_clip(list, dx, dy, 7, 4), want);
        EACH_CELL(x, y)
        {
            bool near = false;
            for (int k = 0; k < 9; k++)
                near = near || cell_of(a, x + k % 3 - 1, y + k / 3 - 1);
            want[y + MIDDLE][x + MIDDLE] = near && !cell_of(a, x, y);
        }
        check_list(life_list_halo(list), want);
        life_list_free(list);
    }
}

static void lists_match_like_arrays(void **unused)
{
    (void)unused;
    for (int round = 0; round < 40; round++) {
        grid a, want;
        random_grid(a, 50);
        life_list *list = list_of_grid(a);
        const struct life_cell live[] = {{0, 0}, {rand() % 5 - 2, rand() % 5 - 2}, {1, 1}},
                               dead[] = {{-1, 0}, {0, rand() % 3 + 3}};
        life_list *on = life_list_create(live, 3), *off = life_list_create(dead, 2);
        for (int with = 0; with < 2; with++) {
            EACH_CELL(x, y)
            {
                bool fits = true;
                for (int i = 0; i < 3; i++)
                    fits = fits && cell_of(a, x + (int)live[i].x, y + (int)live[i].y);
                for (int i = 0; i < 2 && with; i++)
                    fits = fits && !cell_of(a, x + (int)dead[i].x, y + (int)dead[i].y);
                want[y + MIDDLE][x + MIDDLE] = fits;
            }
            check_list(life_list_match(list, on, with ? off : NULL), want);
        }
        life_list_free(on);
        life_list_free(off);
        life_list_free(list);
    }
}

/* The reader of pattern files reads the text of a list, near and far from (0, 0). */
static void lists_write_rle_for_files(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20; round++) {
        grid a;
        random_grid(a, round * 5);
        life_list *near = list_of_grid(a), *list = life_list_shift(near, 1234567 * round, -99999);
        char text[8192];
        struct life_pattern p;
        const size_t length = life_list_rle(list, "B36/S23", text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_int_equal(life_list_rle(list, "B36/S23", NULL, 0), length);
        life_list *again = life_list_read_rle(text);
        ready(again);
        assert_int_equal(life_list_equal(again, list), 1);
        works(life_pattern_read_memory("list", text, length, &p));
        assert_string_equal(p.rule, "B36/S23");
        size_t n = 0;
        for (size_t y = 0; y < p.rows; y++)
            for (size_t x = 0; x < p.columns; x++)
                if (p.word[y * p.stride + x / 64] >> x % 64 & 1) {
                    const struct life_cell c = life_list_cells(list)[n++];
                    assert_int_equal(c.x, p.x + (long long)(p.left + x));
                    assert_int_equal(c.y, p.y + (long long)(p.top + y));
                }
        assert_int_equal(n, life_list_count(list));
        life_pattern_free(&p);
        life_list_free(near);
        life_list_free(list);
        life_list_free(again);
    }
}

/* Two gliders 2^50 apart fly on a plane; both are found again. */
static void lists_live_on_planes(void **unused)
{
    const long long far = 1LL << 50;
    life_list *glider = life_list_read_rle("# a glider\nx = 3, y = 3\nb o$2bo$\n3o!"),
              *other = life_list_shift(glider, far, -far),
              *both = life_list_combine(glider, other, LIFE_OR);
    life *lf =
        life_create(&(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED});
    struct life_cell corner;
    uint64_t width, height;
    (void)unused;
    ready(lf);
    ready(both);
    works(life_put_list(lf, glider));
    works(life_put_list(lf, both)); /* the cells there stay */
    works(life_step(lf, 400));
    life_list *later = life_get_list(lf), *want = life_list_shift(both, 100, 100),
              *halo = life_list_halo(glider), *found = life_list_match(later, glider, halo);
    assert_int_equal(life_list_equal(later, want), 1);
    assert_int_equal(life_list_box(later, &corner, &width, &height), 1);
    assert_int_equal(corner.x, 100);
    assert_int_equal(corner.y, 100 - far);
    assert_int_equal(width, far + 3);
    assert_int_equal(height, far + 3);
    assert_int_equal(life_list_count(found), 2);
    assert_int_equal(life_list_cells(found)[1].x, 100);
    life_list *const all[] = {glider, other, both, later, want, halo, found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        life_list_free(all[i]);
    life_free(lf);
}

static void lists_reject_bad_input(void **unused)
{
    const struct life_cell end = {1LL << 62, 0}, inside = {(1LL << 62) - 1, 0};
    life_list *none = life_list_create(NULL, 0), *one = life_list_create(&inside, 1);
    struct life_cell corner;
    uint64_t width, height;
    (void)unused;
    ready(none);
    ready(one);
    assert_int_equal(life_list_box(none, &corner, &width, &height), 0);
    fails_null(ERANGE, life_list_create(&end, 1));
    fails_null(ERANGE, life_list_shift(one, 1, 0));
    fails_null(ERANGE, life_list_shift(one, (-9223372036854775807LL - 1), 0));
    fails_null(ERANGE, life_list_halo(one));
    fails_null(EINVAL, life_list_match(one, none, NULL));
    fails_null(EINVAL, life_list_turn(one, (enum life_turn)8));
    fails_null(EINVAL, life_list_combine(one, none, (enum life_list_operation)4));
    fails_null(EINVAL, life_list_combine(one, NULL, LIFE_AND));
    assert_null(life_list_read_rle("xyz"));
    assert_non_null(strstr(clerror(), "line 1: 'x' begins no header"));
    assert_null(life_list_read_rle("3o$2oz!"));
    assert_non_null(strstr(clerror(), "line 1: 'z'"));
    assert_null(life_list_read_rle("x = 3, y = 1, rule = LifeHistory\n2AB!"));
    assert_non_null(strstr(clerror(), "line 2: 'B' is a state above 1"));
    fails_null(EINVAL, life_list_read_rle("3o12"));
    fails_null(ERANGE, life_list_read_rle("99999999999999999999bo!"));
    fails_null(ENOMEM, life_list_read_rle("3o1000000000000000o!")); /* 2^54 bytes */
    fails_null(ERANGE, life_list_read_rle("4000000000000000000$4000000000000000000$o!"));
    life *bounded =
        life_create(&(struct life_options){.engine = LIFE_REFERENCE, .width = 9, .height = 9});
    ready(bounded);
    fails(ENOTSUP, life_put_list(bounded, one));
    fails_null(ENOTSUP, life_get_list(bounded));
    fails_null(ERANGE, life_list_read_rle("#CXRLE Pos=9223372036854775807,0\n2o!"));
    life_free(bounded);
    life_list_free(none);
    life_list_free(one);
}

/* A dying cell beside the list keeps its state. */
static void lists_keep_states_of_planes(void **unused)
{
    const unsigned char dying[2] = {2, 2};
    unsigned char state[2] = {0};
    life_list *one = life_list_read_rle("o!");
    life *lf = life_create(
        &(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = "/2/3"});
    (void)unused;
    ready(lf);
    works(life_put_states(lf, 0, 0, 2, 1, dying));
    works(life_put_list(lf, one));
    works(life_get_states(lf, 0, 0, 2, 1, state));
    assert_int_equal(state[0], 1);
    assert_int_equal(state[1], 2);
    life_free(lf);
    life_list_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_combine_like_arrays), cmocka_unit_test(lists_move_like_arrays),
        cmocka_unit_test(lists_match_like_arrays),   cmocka_unit_test(lists_write_rle_for_files),
        cmocka_unit_test(lists_live_on_planes),      cmocka_unit_test(lists_keep_states_of_planes),
        cmocka_unit_test(lists_reject_bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
