/* fuzz_list.c - arbitrary text as run-length encoded cells of a list (life_list_read_rle); for
 * libFuzzer or for driver.c.
 *
 * Rejected text gives a message. An accepted list is sorted, without repeated cells and in range;
 * written and read again it is equal; and where the patterns of formats/ accept the same rows, both
 * have equal populations.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life.h"
#include "fuzz.h"
#include "stdcl.h"
#include "stdcl/cell_list.h"

#include <ctype.h>
#include <errno.h>

/* True if a run of live cells has more than six digits, and takes memory and time. */
static bool has_long_run(const char *text)
{
    for (size_t digits; *text; text += digits + 1) {
        digits = strspn(text, "0123456789");
        if (digits > 6 && (text[digits] == 'o' || text[digits] == 'A'))
            return true;
        if (!text[digits])
            break;
    }
    return false;
}

static void check_fuzz_list(const life_list *list)
{
    const struct life_cell *cell = life_list_cells(list);
    const long long end = 1LL << 62;
    for (size_t i = 0; i < life_list_count(list); i++) {
        promise(llabs(cell[i].x) < end && llabs(cell[i].y) < end);
        promise(i == 0 || cell[i - 1].y < cell[i].y ||
                (cell[i - 1].y == cell[i].y && cell[i - 1].x < cell[i].x));
    }
}

static void check_list_round_trip(const life_list *list)
{
    const size_t length = life_list_rle(list, NULL, NULL, 0);
    char *text = malloc(length + 1);
    promise(text && length && life_list_rle(list, NULL, text, length + 1) == length);
    promise(strlen(text) == length);
    life_list *again = life_list_read_rle(text);
    promise(again && life_list_equal(list, again) == 1);
    life_list_free(again);
    free(text);
}

/* Compare with the reader of patterns, which is a program of its own. */
static void check_list_population(const life_list *list, const char *rows)
{
    struct life_pattern p;
    size_t live = 0;
    char *text = malloc(strlen(rows) + 32);
    promise(text);
    const int length = sprintf(text, "x = 1, y = 1, rule = B3/S23\n%s", rows);
    life_pattern_limit = 1 << 22;
    if (life_pattern_read_memory("name", text, (size_t)length, &p) == 0) {
        for (size_t i = 0; i < p.rows * p.stride; i++)
            live += (size_t)__builtin_popcountll(p.word[i]);
        promise(live == life_list_count(list));
        life_pattern_free(&p);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_copy(data, size);
    life_list *list = has_long_run(text) ? NULL : life_list_read_rle(text);
    if (list) {
        check_fuzz_list(list);
        check_list_round_trip(list);
        if (!strpbrk(text, "#x"))
            check_list_population(list, text);
    } else if (!has_long_run(text)) {
        promise(clerrno == EINVAL || clerrno == ERANGE);
        promise_sentence(clerror(), "line ");
    }
    life_list_free(list);
    free(text);
    return 0;
}
