/* grid.h - which rank computes what of a product (grid.c).
 *
 * C is cut into pm x pn blocks, and the depth into pk parts: rank (i, j, l) computes the part l of
 * block (i, j), and adds the other parts if l is 0. It does so in areas that its devices have room
 * for, one after the other, and each in panels of the depth. Panels come from the ranks that have
 * them: each has a slab of rows of A, of B and of C, as these are stored. All of this follows from
 * the sizes and from the weights of ranks (balance.c), so every rank knows it of every other.
 *
 * Bits must not depend on where blocks end. So an element is added up in an order that does not:
 * ranks that divide a part of C by their weights, at most PATCH of them, a patch of the grid, take
 * panels in one order, and where patches end follows from the sizes alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_GRID_H
#define STDCL_MATMUL_GRID_H

#include "matmul/engine.h"

#include "stdcl/world.h"

/* A run of rows, columns or depth. */
struct part {
    size_t first, count;
};

/* One of so many equal parts of a length: cut at multiples of 128 where they are long. */
struct part matmul_part(size_t length, int k, int parts);
static inline size_t end_of(struct part p)
{
    return p.first + p.count;
}
struct part matmul_meet(struct part a, struct part b);

/* What a rank computes. */
struct plan {
    int i, j, l;            /* its place in the grid; i is -1: it computes nothing */
    struct part rows, cols; /* of its block */
    size_t high, wide;      /* of an area, at most */
    size_t areas;
    size_t steps; /* panels of all areas */
};

struct matmul_grid {
    struct matmul *mm;
    struct host_product h;               /* the whole; pointers are of this rank's slabs */
    const struct matmul_far *const *far; /* A, B and C if they are not in memory, else NULL */
    int ranks, rank, pm, pn, pk;
    double *weight;     /* of each rank, or NULL: all alike */
    double devices;     /* of all ranks together */
    struct part *panel; /* of all parts of the depth, one part after the other */
    size_t *panels;     /* panels[l] is where those of part l begin; pk + 1 of them */
    struct plan *plan;  /* of each rank */
    size_t steps;       /* the most that a rank has */
};

/* The rows and columns of an operand as it is stored. */
struct region {
    struct part rows, cols;
};
enum { OF_A, OF_B, OPERANDS };

/* The grid of least time for so many ranks, with at most so many parts of the depth. */
void matmul_grid_choose(int ranks, size_t m, size_t n, size_t k, size_t real, int layers, int *pm,
                        int *pn, int *pk);

/* What shapes are chosen for, wherever blocks end, with panels of that depth; nothing of mm's while
 * it is false. */
void matmul_grid_shape(const struct matmul_grid *g, size_t deep, bool on);

/* Collective. What every rank does; `high`, `wide` and `deep` are what this one has room for. */
int matmul_grid_make(struct matmul_grid *g, size_t high, size_t wide, size_t deep);
void matmul_grid_free(struct matmul_grid *g);
struct plan matmul_grid_place(const struct matmul_grid *g, int rank);

/* Of step `step` of a rank: its area, relative to its block, and the panel of the depth. */
struct area matmul_grid_area(const struct matmul_grid *g, const struct plan *p, size_t area);
struct part matmul_grid_panel(const struct matmul_grid *g, const struct plan *p, size_t step);
/* What it needs for that of A or B. */
struct region matmul_grid_region(const struct matmul_grid *g, const struct plan *p, size_t step,
                                 int operand);

/* Rows of A or B as they are stored; the slab of them that a rank has. */
size_t matmul_grid_rows(const struct matmul_grid *g, int operand);
struct part matmul_grid_slab(const struct matmul_grid *g, int operand, int rank);

/* ---- balance.c --------------------------------------------------------------------------------
 */

/* Collective: fills in g->weight and g->devices. */
int matmul_divide_look(struct matmul_grid *g);

/* ---- block.c --------------------------------------------------------------------------------- */

/* Tags of mail: panels of A and of B, rows of C, parts of the depth. */
enum { TAG_PANEL, TAG_C = OPERANDS, TAG_PART };

/* Memory that devices reach; NULL with an error. */
void *matmul_room_of(const struct matmul *mm, size_t size);
void matmul_leave_room(const struct matmul *mm, void *p);
void matmul_copy_rows(char *to, size_t to_ld, const char *from, size_t from_ld, size_t rows,
                      size_t bytes);

struct part matmul_slab_of_c(const struct matmul_grid *g, int rank);

/* A rank's block of C: in memory of its own, or in its slab of C, if that has it. */
struct matmul_block {
    char *c;
    size_t ld;
    bool own; /* memory of its own, else in the slab of C */
};
int matmul_block_make(const struct matmul_grid *g, const struct plan *p, struct matmul_block *b);
/* Collective. Between slabs and blocks: to blocks the C that is added to, or from them the
 * result. */
int matmul_block_move(const struct matmul_grid *g, const struct matmul_block *b, bool to_blocks);
/* Collective. Blocks of the parts l > 0 of the depth are added to that of part 0, in their
 * order. */
int matmul_block_add(const struct matmul_grid *g, const struct matmul_block *b);

/* ---- out_of_core.c
 * ----------------------------------------------------------------------------------- */

/* A region of A (0), B (1) or C (2), which are not in memory; packed rows. */
int matmul_far_read(const struct matmul_grid *g, int matrix, struct region r, void *to);
int matmul_far_write(const struct matmul_grid *g, struct region r, const void *from);
/* EINVAL where functions are missing. */
int matmul_far_check(const struct matmul_grid *g);
/* Makes an area and the depth of panels so small that the host has room for them. */
void matmul_far_fit(const struct matmul *mm, size_t *high, size_t *wide, size_t *deep);
/* Collective. C = beta C. */
int matmul_far_scale(struct matmul_grid *g);

#endif
