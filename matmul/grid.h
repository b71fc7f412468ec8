/* grid.h - the distribution of a product among ranks (grid.c, balance.c, block.c, out_of_core.c).
 *
 * C is cut into pm x pn blocks, and the depth into pk parts. Rank (i, j, l) computes part l of
 * block (i, j), and reduces the other parts if l is 0:
 *
 *           pn columns of blocks              a block: areas that fit in the devices' memory;
 *         +-------+-------+-------+           an area: the sum over panels of the depth
 *     pm  | (0,0) | (0,1) | (0,2) |
 *         +-------+-------+-------+           panels come from the ranks that own them: each rank
 *         | (1,0) | (1,1) | (1,2) |           owns a slab of rows of A, of B and of C, as stored
 *         +-------+-------+-------+
 *
 * The distribution follows from the sizes and the ranks' weights (balance.c), so every rank knows
 * that of every other rank.
 *
 * Bits must not depend on where blocks end, so neither may the order of an element's sum. The ranks
 * of a patch, at most PATCH_RANKS neighbours in the grid, divide their part of C by weight and take
 * panels in the same order. The borders of patches follow from the sizes alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_GRID_H
#define STDCL_MATMUL_GRID_H

#include "matmul/engine.h"

#include "stdcl/world.h"

/* A range of rows, columns or depth. */
struct range {
    size_t first, count;
};

/* Return part k of `parts` equal parts of a length, cut at multiples of 128 if the parts are long.
 */
struct range matmul_range(size_t length, int k, int parts);
static inline size_t range_end(struct range p)
{
    return p.first + p.count;
}
struct range matmul_intersect(struct range a, struct range b);

/* The work of one rank. */
struct rank_plan {
    int i, j, l;                 /* position in the grid; i = -1: no work */
    struct range rows, cols;     /* of its block */
    size_t area_rows, area_cols; /* maximum of an area */
    size_t areas;
    size_t steps; /* panels of all areas */
};

struct matmul_grid {
    struct matmul *mm;
    struct host_product h; /* the whole product; pointers to this rank's slabs */
    const struct matmul_out_of_core *const
        *out_of_core; /* A, B and C if they are not in memory, else NULL */
    int ranks, rank, pm, pn, pk;
    double *weight;         /* of each rank; NULL: equal */
    double devices;         /* of all ranks together */
    struct range *panel;    /* of part 0 of the depth, then of part 1, ... */
    size_t *panels;         /* start of part l's panels in panel[]; pk + 1 entries */
    struct rank_plan *plan; /* of each rank */
    size_t steps;           /* maximum over the ranks */
};

/* Rows and columns of an operand as stored. */
struct region {
    struct range rows, cols;
};
enum { OF_A, OF_B, OPERANDS };

/* Choose the grid of least predicted time, with at most `layers` parts of the depth. */
void matmul_grid_choose(int ranks, size_t m, size_t n, size_t k, size_t real, int layers, int *pm,
                        int *pn, int *pk);

/* Set (on) or clear the engine's shape_mnk: shapes are chosen for the mean block and panels of
 * `panel_depth`, wherever blocks end. */
void matmul_grid_shape(const struct matmul_grid *g, size_t panel_depth, bool on);

/* Collective: plan the work of every rank. This rank has memory for areas of area_rows x area_cols
 * and panels of panel_depth. */
int matmul_grid_make(struct matmul_grid *g, size_t area_rows, size_t area_cols, size_t panel_depth);
void matmul_grid_free(struct matmul_grid *g);
struct rank_plan matmul_grid_place(const struct matmul_grid *g, int rank);

/* Return an area of a rank, relative to its block, and the panel of the depth of a step. */
struct area matmul_grid_area(const struct matmul_grid *g, const struct rank_plan *p, size_t area);
struct range matmul_grid_panel(const struct matmul_grid *g, const struct rank_plan *p, size_t step);
/* Return the region of A or B that a step needs. */
struct region matmul_grid_region(const struct matmul_grid *g, const struct rank_plan *p,
                                 size_t step, int operand);

/* Return the rows of A or B as stored, and the slab of them that a rank owns. */
size_t matmul_grid_rows(const struct matmul_grid *g, int operand);
struct range matmul_grid_slab(const struct matmul_grid *g, int operand, int rank);

/* ---- balance.c ------------------------------------------------------------------------------- */

/* Collective: fill in g->weight and g->devices. */
int matmul_balance(struct matmul_grid *g);

/* ---- block.c --------------------------------------------------------------------------------- */

/* Message tags: panels of A and of B, rows of C, partial blocks of split depth. */
enum { TAG_PANEL, TAG_C = OPERANDS, TAG_PARTIAL };

/* Allocate host memory that devices can access. NULL with an error set. */
void *matmul_host_alloc(const struct matmul *mm, size_t size);
void matmul_host_free(const struct matmul *mm, void *p);
void matmul_copy_rows(char *to, size_t to_ld, const char *from, size_t from_ld, size_t rows,
                      size_t bytes);

struct range matmul_slab_of_c(const struct matmul_grid *g, int rank);

/* A rank's block of C. */
struct matmul_block {
    char *c;
    size_t ld;
    bool own; /* own memory; false: inside its slab of C */
};
int matmul_block_make(const struct matmul_grid *g, const struct rank_plan *p,
                      struct matmul_block *b);
/* Collective: transfer C to the blocks for beta, or the results from them to the slabs. */
int matmul_block_move(const struct matmul_grid *g, const struct matmul_block *b, bool to_blocks);
/* Collective: reduce the partial blocks of the depth's parts l > 0 into part 0, in order of l. */
int matmul_block_add(const struct matmul_grid *g, const struct matmul_block *b);

/* ---- out_of_core.c --------------------------------------------------------------------------- */

/* Read or write a region of A (0), B (1) or C (2) that is not in memory, as packed rows. */
int matmul_out_of_core_read(const struct matmul_grid *g, int matrix, struct region r, void *to);
int matmul_out_of_core_write(const struct matmul_grid *g, struct region r, const void *from);
/* Return -1 with EINVAL if a read or write function is missing. */
int matmul_out_of_core_check(const struct matmul_grid *g);
/* Shrink an area and the depth of panels until they fit in the host's memory. */
void matmul_out_of_core_fit(const struct matmul *mm, size_t *area_rows, size_t *area_cols,
                            size_t *panel_depth);
/* Collective: compute C = beta C. */
int matmul_out_of_core_scale(struct matmul_grid *g);

#endif
