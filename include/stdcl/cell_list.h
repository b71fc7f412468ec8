/* stdcl/cell_list.h - patterns of two states as values: sets of live cells, anywhere on a plane.
 *
 *   life_list *glider = life_list_read_rle("bo$2bo$3o!");
 *   life_list *later = life_list_shift(glider, 1, 1);
 *   life_list *both = life_list_combine(glider, later, LIFE_OR);
 *   printf("%zu cells\n", life_list_count(both));
 *   life_list_free(glider), life_list_free(later), life_list_free(both);
 *
 * Cell (x, y) is column x, to the right, of row y, downwards, as in stdcl/life.h; both are above
 * -2^62 and below 2^62. Memory and time are proportional to the live cells, wherever they are. A
 * list never changes: functions return a new one, which the caller frees with life_list_free. All
 * block. Pointer functions return NULL, int functions -1, with clerrno set and a message in
 * clerror(): EINVAL for a NULL list; ERANGE, a coordinate out of range; ENOMEM. NULL may be freed.
 * Lists may be shared by threads.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CELL_LIST_H
#define STDCL_CELL_LIST_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct life_list life_list;

struct life_cell {
    long long x, y;
};

/* Create a list of n cells, in any order; a cell that occurs twice is in it once. */
life_list *life_list_create(const struct life_cell *cell, size_t n);
void life_list_free(life_list *list);

/* Return the number of cells; and the cells, row by row from the top, from left to right. Owned by
 * the list. */
size_t life_list_count(const life_list *list);
const struct life_cell *life_list_cells(const life_list *list);

/* Find the bounding box: its top left cell and its sides in cells. Return 1, or 0 if the list is
 * empty. */
int life_list_box(const life_list *list, struct life_cell *corner, uint64_t *width,
                  uint64_t *height);

/* Return 1 if two lists have the same cells at the same places, else 0. */
int life_list_equal(const life_list *a, const life_list *b);

/* Move all cells by dx columns and dy rows. */
life_list *life_list_shift(const life_list *list, long long dx, long long dy);

/* Rotations and reflections about cell (0, 0). */
enum life_turn {
    LIFE_ROTATE_0,      /* (x, y) stays */
    LIFE_ROTATE_90,     /* to (y, -x), anticlockwise */
    LIFE_ROTATE_180,    /* to (-x, -y) */
    LIFE_ROTATE_270,    /* to (-y, x), clockwise */
    LIFE_FLIP_X,        /* to (-x, y) */
    LIFE_FLIP_Y,        /* to (x, -y) */
    LIFE_TRANSPOSE,     /* to (y, x) */
    LIFE_ANTITRANSPOSE, /* to (-y, -x) */
    LIFE_TURNS
};
life_list *life_list_turn(const life_list *list, enum life_turn turn);

/* Cells of both lists, of either, of exactly one, or of `a` but not `b`. */
enum life_list_operation { LIFE_AND, LIFE_OR, LIFE_XOR, LIFE_DIFFERENCE };
life_list *life_list_combine(const life_list *a, const life_list *b,
                             enum life_list_operation operation);

/* The cells inside a rectangle of width x height cells from (x, y) on; and the cells that have one
 * of the list's among their eight neighbours, but are not in it. */
life_list *life_list_clip(const life_list *list, long long x, long long y, uint64_t width,
                          uint64_t height);
life_list *life_list_halo(const life_list *list);

/* Find a pattern: return each shift (x, y) that moves all cells of `live` into the list and all
 * cells of `dead` (may be NULL) out of it. If `dead` is the halo of `live`, the result has one cell
 * for each separate copy of the pattern. Time is proportional to the number of cells in the list,
 * times the cells in `live` and `dead`. EINVAL: `live` is empty. */
life_list *life_list_match(const life_list *list, const life_list *live, const life_list *dead);

/* Read run-length encoded text: runs of b or . (dead), o or A (alive) and $ (end of a row), up to !
 * or the end; lines that begin with # or "x =" are skipped, but for the corner in "#CXRLE Pos=x,y",
 * without which it is (0, 0). EINVAL: another character, or a state above 1 (the message gives the
 * line). */
life_list *life_list_read_rle(const char *text);

/* Print a list as run-length encoded text with its position and a rule (NULL: B3/S23) into `text`,
 * at most `size` bytes with a final 0, and return the length without it, as snprintf does; 0 on an
 * error. */
size_t life_list_rle(const life_list *list, const char *rule, char *text, size_t size);

/* Make the cells alive on an unbounded plane; its other cells stay. ENOTSUP: a grid. Errors of
 * life_put. */
int life_put_list(life *lf, const life_list *list);

/* Return the live (nonzero) cells of a plane of hashlife or reference. ENOTSUP: another engine.
 * ENOMEM: above the host's memory. Errors of life_walk_runs. */
life_list *life_get_list(life *lf);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_CELL_LIST_H */
