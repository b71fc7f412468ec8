/* internal.h - what the files of this room share.
 *
 * life.c has what is the same for all engines: options, the generation counter, copying of
 * rectangles. An engine is a table of functions (struct life_backend) and a state of its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_INTERNAL_H
#define LIFE_INTERNAL_H

#include "core/pace.h"
#include "stdcl/life.h"

#include <stdbool.h>

/* Flags of what is started here: the engines look at what each call returns, and wait later. */
enum { UNWAITED = CL_EVENT_NOWAIT | CL_EVENT_CHECKED };

/* ---- A rule as logic on bit vectors (logic.c, pairs.c). -------------------------------------- */

/* A chain of three-input logic operations. Variables 0 .. 4 are the inputs below; step i sets
 * variable 5 + i, and the last step is the answer: 1 where the cell lives in the next generation.
 * Bit (a << 2 | b << 1 | c) of `table` is the result for inputs a, b, c, as lop3 and vpternlog have
 * it.
 *
 * Inputs, of the 3 x 3 block around a cell, the cell included. Each of the three rows has been
 * added to a two-bit number, 2 m + s; then the three s were added to 2 k + b and the three m to 2 q
 * + p, so that b + 2 k + 2 p + 4 q cells of the block are alive. */
enum { LIFE_IN_B, LIFE_IN_K, LIFE_IN_P, LIFE_IN_Q, LIFE_IN_CELL, LIFE_INPUTS };
enum { LIFE_STEPS_MAX = 14 };

struct life_step {
    unsigned char in[3], table;
};
struct life_logic {
    int steps;
    struct life_step step[LIFE_STEPS_MAX];
};

/* Finds a short chain for a rule: the shortest one if three steps are enough, else one of at most
 * seven. Takes about a hundredth of a second. Never fails. */
void life_logic_find(const struct life_rule *rule, struct life_logic *logic);

/* Finds a chain of few two-input operations, for devices that have no others. A step is an
 * operation whose table does not depend on its first input, or a selection (a ? b : c), which
 * counts as three. Life takes seven; no rule that was tried takes more than twelve. Takes some
 * hundredths of a second. Never fails. */
void life_logic_pairs(const struct life_rule *rule, struct life_logic *logic);

/* A rule as a function of the inputs. The bits of i, 0 to 31, are values of the inputs: bit i of
 * *value is the cell's next state for them, and bit i of *care is 1 if the inputs can have these
 * values at all. */
void life_logic_target(const struct life_rule *rule, uint32_t *value, uint32_t *care);

/* The result of a chain for the inputs b, k, p, q, cell in bits 0 .. 4; for tests. */
int life_logic_next(const struct life_logic *logic, unsigned inputs);

/* whole.c: writes the chain as the macro that rows.cl and tile.cl want, a LOGIC(out, a, b, c,
 * table) for each step: "#define RULE(next, b, k, p, q, cell) LOGIC(v5, b, k, q, 0x16); ...
 * LOGIC(next, v6, b, cell, 0xe0)". */
enum { LIFE_LOGIC_TEXT = 64 + 96 * LIFE_STEPS_MAX };
void life_logic_text(const struct life_logic *logic, char text[LIFE_LOGIC_TEXT]);

/* whole.c: a chain for all that follows the sums of rows, for the few rules of which one is known
 * that is shorter than four steps for b, k, p and q and the chain of above: B3/S23 takes six steps,
 * not seven. Inputs are the sums 2 m + s of three cells side by side, above the cell, with it and
 * below it, and the cell: s0 m0 s1 m1 s2 m2 cell. NULL: none is known. */
enum { LIFE_WHOLE_INPUTS = 7, LIFE_WHOLE_STEPS = 6 };
struct life_whole {
    struct life_rule rule;
    struct life_step step[LIFE_WHOLE_STEPS];
};
const struct life_whole *life_logic_whole(const struct life_rule *rule);

/* Its result for inputs in bits 0 .. 6; for tests. */
int life_whole_next(const struct life_whole *whole, unsigned inputs);

/* What comes before a kernel for a rule that counts: the macro RULE, by three-input steps or by
 * two-input ones, and, with three, "#define WHOLE_RULE(next, s0, m0, s1, m1, s2, m2, cell) ..."
 * where a chain is known. */
enum { LIFE_RULE_MACROS = LIFE_LOGIC_TEXT + 64 + 96 * LIFE_WHOLE_STEPS };
void life_rule_macros(const struct life_rule *rule, bool ternary, char text[LIFE_RULE_MACROS]);

/* ---- Rules that look at places, too (family.c, circuit.c). ----------------------------------- */

/* A cell's next state by its block of nine cells: bit block % 64 of on[block / 64]. Bits of a
 * block: see family.c. */
struct life_table {
    uint64_t on[8];
};

/* A rule of the family Larger than Life (larger_than_life.c): whether a cell lives, by how many do
 * of those up to `range` away. */
enum { LIFE_RANGE_MAX = 500 };
struct life_large {
    unsigned range;                 /* 0: the rule is of another family */
    unsigned middle;                /* 1: the cell itself counts, too */
    unsigned survival[2], birth[2]; /* the least and the most */
    char shape;                     /* M, N or C: a square, a diamond, a circle */
};

/* So many columns to either side count, `dy` rows away. */
unsigned life_large_half(const struct life_large *large, unsigned dy);

/* A rule of any family that the engines have. */
struct life_family {
    bool counts; /* it is one that counts neighbours, and `rule` says all; else `rule` is 0 */
    struct life_rule rule;
    struct life_table table;
    unsigned states; /* 2, or more of the family Generations, in which cells die step by step; dying
                        cells are dead to the table */
    struct life_large large; /* if this has a range, table and counts say nothing */
    const struct life_transitions
        *transitions;          /* nor if the rule is of a file, this one; else NULL */
    char text[LIFE_RULE_TEXT]; /* as people write it */
};

/* EINVAL: the sentence says why. */
int life_family_parse(const char *text, struct life_family *family);

/* The rule of options: by its text, B3/S23 where that is NULL, or of a file. */
int life_family_take(const char *text, const struct life_transitions *transitions,
                     struct life_family *family);

/* The same of Larger than Life only; 1: it is nothing of the kind. */
int life_large_parse(const char *text, struct life_family *family);

static inline unsigned life_table_next(const struct life_table *t, unsigned block)
{
    return (unsigned)(t->on[block / 64] >> block % 64 & 1);
}

/* As struct life_logic, of the nine cells; steps are variables 9, 10, ... */
enum { LIFE_BLOCK_CELLS = 9, LIFE_CIRCUIT_STEPS = 130 };
struct life_circuit {
    int steps;
    struct {
        unsigned char in[3], table;
    } step[LIFE_CIRCUIT_STEPS];
};

/* Finds a chain for a table, of at most 127 steps; for most rules that people write it has 20 to
 * 80. Takes some milliseconds. Never fails. */
void life_circuit_find(const struct life_table *table, struct life_circuit *circuit);

/* Its result for a block; for tests. */
int life_circuit_next(const struct life_circuit *circuit, unsigned block);

/* Writes it as the macro BLOCK_RULE(next, nw, n, ne, w, cell, e, sw, s, se) for rows.cl and
 * tile.cl. */
enum { LIFE_CIRCUIT_TEXT = 80 + 56 * LIFE_CIRCUIT_STEPS };
void life_circuit_text(const struct life_circuit *circuit, char text[LIFE_CIRCUIT_TEXT]);

/* ---- Bounded grids (grid.c). ----------------------------------------------------------------- */

/* What is joined where bounds are LIFE_JOINED: the top and bottom rows, shifted or reversed, and
 * the columns at the sides as a torus's; or these, and the rows as a torus's; both reversed; or the
 * top row with the left column and the right one with the bottom. As in edges.cl. */
enum life_joint {
    LIFE_ROWS_SHIFTED,
    LIFE_COLUMNS_SHIFTED,
    LIFE_ROWS_TWISTED,
    LIFE_COLUMNS_TWISTED,
    LIFE_CROSS,
    LIFE_SPHERE
};
struct life_grid {
    size_t width, height;
    enum life_bounds bounds;
    enum life_joint how;
    long shift; /* what is beyond the top is so many cells further to the left, or beyond the left
                   further up; 0 or 1 where it is twisted */
};
int life_grid_read(const char *text, struct life_grid *grid);
void life_grid_write(const struct life_grid *grid, char text[LIFE_GRID_TEXT]);

/* The cell that a place beyond an edge stands for, of grids that are joined; of a cross-surface and
 * a sphere only places next to the edge. */
void life_joined_cell(const struct life_grid *grid, long *x, long *y);

/* ---- Engines. -------------------------------------------------------------------------------- */

/* Cells get into an engine and out of it through rows in host memory, packed as in struct
 * life_cells. `row` gives the words that this rank has of row y of the grid, which is one of its
 * rows. `download` brings the engine's cells into these rows, `upload` takes them from there. */
struct life_raster;
struct life_backend {
    int (*create)(life *lf, const struct life_options *options);
    void (*free)(life *lf);
    uint64_t *(*row)(life *lf, size_t y);
    /* Of rules of more than two states: the same of a bit plane, see planes.cl; plane 0 is what
     * `row` gives. NULL for engines that have two. */
    uint64_t *(*plane)(life *lf, unsigned plane, size_t y);
    int (*upload)(life *lf);
    int (*download)(life *lf);
    int (*step)(life *lf, uint64_t generations);
    /* n times a step, and then population and hash; n = 0: population and hash once, without a
     * step. */
    int (*trace)(life *lf, size_t n, struct life_sample *sample);
    /* As life_get and life_density, of places in the grid, straight from the devices; NULL: by way
     * of the host's rows. */
    int (*window)(life *lf, size_t x, size_t y, struct life_cells *cells);
    int (*squares)(life *lf, const struct life_raster *q, uint32_t *count);
    unsigned (*devices)(const life *lf);                  /* NULL: none */
    const char *(*shape)(const life *lf, unsigned dev);   /* NULL: "" */
    const char *(*explain)(const life *lf, unsigned dev); /* NULL: "" */
};

/* width x height squares of 2^zoom cells a side, which lie in a rectangle of across x down
 * cells. */
struct life_raster {
    size_t x, y, width, height, across, down;
    unsigned zoom;
};

/* Bring the cells to the host's rows, or to the devices, if they are not there (life.c). */
int life_to_host(life *lf);
int life_to_device(life *lf);

/* The work of `trace` on devices, LIFE_SLOTS generations between looks at them (trace.c).
 * advance(lf, 1) starts a step, count(lf, slot) the counting of what is there after it, and
 * `collect` waits for the counts of some slots. */
enum { LIFE_SLOTS = 64 };
struct life_counting {
    int (*advance)(life *lf, uint64_t generations);
    int (*count)(life *lf, size_t slot);
    int (*collect)(life *lf, size_t slots, struct life_sample *sample);
};
int life_trace_slots(life *lf, const struct life_counting *by, size_t n,
                     struct life_sample *sample);

/* Generations of engines that step rows of the whole grid on the first device (generation.c).
 * `start` launches the cells of rows y ... y + rows - 1, y a multiple of `group`; until all are
 * done their result does not count. _advance starts generations, and _wait waits for them. */
int life_rows_generation(life *lf, struct pace *pace, size_t group,
                         int (*start)(life *lf, size_t y, size_t rows));
int life_rows_advance(life *lf, struct pace *pace, uint64_t generations,
                      int (*generation)(life *lf));
int life_rows_wait(life *lf, struct pace *pace);

/* Adds what the groups of a counting kernel left: pairs of population and hash. */
void life_sample_add(struct life_sample *sample, const uint64_t *sums, size_t groups);

extern const struct life_backend life_packed_backend, life_joined_backend, life_planes_backend,
    life_bytes_backend, life_padded_backend, life_reference_backend;

struct life {
    const struct life_backend *backend;
    enum life_engine engine;
    size_t width, height;
    size_t words; /* of a packed row: width in units of 64 cells, rounded up */
    stdcl_world *world;
    size_t first, rows; /* of the grid, that this rank has: all of them alone */
    double weight;      /* of this rank, how fast it is; 0: by its devices */
    char *shape;        /* the caller's words; NULL: none */
    size_t from, own;   /* words of these rows that it has: all of them unless ranks have blocks */
    enum life_bounds bounds;
    struct life_grid grid; /* the same, and more where edges are joined otherwise */
    struct life_family rule;
    uint64_t generation;
    bool host_stale;   /* the engine has stepped since the last download */
    bool device_stale; /* the host's rows have been written since the last upload */
    CLCONTEXT *ctx;    /* NULL for the reference */
    uint64_t launches;
    int (*progress)(void *arg, double fraction);
    void *arg;
    struct {
        double total, done; /* generations of the call under way */
    } call;
    size_t device_bytes;
    struct {
        uint64_t n, at; /* how many states are known up to generation `at`; n is 0 after the cells
                           were changed otherwise */
        struct life_sample *ring; /* generation g at g % (LIFE_LONGEST_PERIOD + 1); NULL until
                                     life_until_stable is called */
    } past;
    void *state; /* the backend's */
};
enum { LIFE_LONGEST_PERIOD = 64 };

/* How many bit planes the states of the rule need; row y of one. */
static inline unsigned life_planes_of(const life *lf)
{
    unsigned planes = 1;
    for (unsigned most = lf->rule.states - 2; most; most >>= 1)
        planes++;
    return planes;
}
static inline uint64_t *life_plane_row(life *lf, unsigned plane, size_t y)
{
    return plane ? lf->backend->plane(lf, plane, y) : lf->backend->row(lf, y);
}

/* The states of n cells of row y, from column x on, out of the bit planes of the host, and into
 * them (cells.c). */
void life_states_of_planes(life *lf, size_t x, size_t y, size_t n, unsigned char *state);
void life_states_to_planes(life *lf, size_t x, size_t y, size_t n, const unsigned char *state);

/* A call begins, of so many generations (call.c). Then: tells the caller how far it is, call.done
 * generations and `part` of those that are under way; -1 with ECANCELED when it is to end. */
void life_call_begin(life *lf, double total);
int life_call_tell(life *lf, double part);

/* One generation in plain C (life_ref.c): cells of one byte, 0 or 1, rows one after the other. `to`
 * and `from` do not overlap. This is the definition that everything else is tested against. */
void life_ref_step(const struct life_rule *rule, enum life_bounds bounds, size_t width,
                   size_t height, const unsigned char *from, unsigned char *to);
/* The same of rows y .. end - 1 only. */
void life_ref_rows(const struct life_rule *rule, enum life_bounds bounds, size_t width,
                   size_t height, size_t y, size_t end, const unsigned char *from,
                   unsigned char *to);

/* And of a rule of any family. */
void life_ref_family_rows(const struct life_family *rule, enum life_bounds bounds, size_t width,
                          size_t height, size_t y, size_t end, const unsigned char *from,
                          unsigned char *to);

/* And of Larger than Life. */
void life_ref_large_rows(const struct life_family *rule, enum life_bounds bounds, size_t width,
                         size_t height, size_t y, size_t end, const unsigned char *from,
                         unsigned char *to);

/* The same of a grid whose edges are joined otherwise. */
void life_ref_joined_rows(const struct life_family *rule, const struct life_grid *grid, size_t y,
                          size_t end, const unsigned char *from, unsigned char *to);

/* One step of a cell: its state next, by the table's answer to its block of live cells. */
static inline unsigned char life_next_state(const struct life_family *rule, unsigned char state,
                                            unsigned next)
{
    return (unsigned char)(state > 1                   ? (state + 1u) % rule->states
                           : next                      ? 1u
                           : state && rule->states > 2 ? 2u
                                                       : 0u);
}

/* Advances some generations and compares windows in the corners, at the edges and inside with plain
 * C (verify.c); -1 with EDOM when they differ. A small grid is compared whole. */
int life_verify(life *lf);

/* 64 well mixed bits of 64 (the finalizer of splitmix64, Steele, Lea & Flood 2014); the kernels
 * have the same function. A state's hash is the sum over its non-zero units u at place i, counted
 * from 1, of life_mix(u + i * 0x9e3779b97f4a7c15). */
static inline uint64_t life_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Whether this rank has a part of its rows only. */
static inline bool life_in_blocks(const life *lf)
{
    return lf->own < lf->words;
}

/* Whether row y of the grid is one of this rank's. */
static inline bool life_has_row(const life *lf, size_t y)
{
    return y >= lf->first && y - lf->first < lf->rows;
}

/* The bytes of memory this machine has. A system promises more, and ends the program when it is
 * used. */
double life_host_memory(void);

/* Copies n bits from bit `start` of `from` to bit `at` of `to` (cells.c). */
void life_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t start, size_t n);

/* Fill the host's rows (cells.c); see life_soup. And 64 cells of that with a density, in units of
 * 2^-32, from cell 64 x of row y on. */
int life_soup_rand(life *lf, unsigned seed);
int life_soup_density(life *lf, double density, uint64_t seed);
uint64_t life_random_word(uint64_t density, size_t x, size_t y, uint64_t seed);

/* All ones in the bits of the last word of a row that are cells. */
static inline uint64_t life_last_mask(size_t width)
{
    return width % 64 ? ((uint64_t)1 << width % 64) - 1 : ~(uint64_t)0;
}

#endif
