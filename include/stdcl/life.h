/* stdcl/life.h - cellular automata: Conway's Life and its relatives, on a bounded grid on one or
 * several OpenCL devices, or on an unbounded plane.
 *
 *   life *lf = life_create(&(struct life_options){.width = 1024, .height = 1024});
 *   life_soup(lf, 0, 1);                 random start: half of the cells alive, seed 1
 *   life_step(lf, 1024);                 1,024 generations on the device
 *   life_population(lf, &alive);         counted on the device
 *   life_get(lf, 0, 0, &cells);          copy a rectangle to the host
 *   life_free(lf);
 *
 *   life *plane = life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED});
 *   life_put(plane, -1, -1, &pattern);   top left corner at (-1, -1)
 *   life_step(plane, (uint64_t)1 << 40); a million million generations
 *
 * Cell (x, y) is column x, to the right, of row y, downwards. On a grid (0, 0) is the top left
 * cell; on a plane x and y may be negative. All engines compute equal cells. int
 * functions return 0, or -1 with clerrno set and a message in clerror(); pointer functions return
 * NULL likewise. One engine is used by one thread at a time; different engines are independent. A
 * NULL handle gives EINVAL, and the function returns -1, NULL, 0 or "". NULL may be freed.
 *
 * Structs of options may grow in a later version 1 by their reserved words, which must be 0
 * (EINVAL). All other structs are fixed. tests/install/layout.txt lists sizes and offsets.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_LIFE_H
#define STDCL_LIFE_H

#include <stddef.h>
#include <stdint.h>
#include <stdcl.h>
#include <stdcl/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Rules. ---------------------------------------------------------------------------------- */

/* An outer-totalistic rule over eight neighbours. Bit n (0 to 8) of `birth` is 1 if a dead cell
 * with n live neighbours becomes alive; bit n of `survival` is 1 if a live cell with n live
 * neighbours survives. */
struct life_rule {
    unsigned birth, survival;
};

/* Boundary conditions of the grid. */
enum life_bounds {
    LIFE_TORUS,    /* periodic: the opposite edge */
    LIFE_PLANE,    /* dead cells, even if the rule has B0 */
    LIFE_JOINED,   /* edges joined as life_options.grid specifies */
    LIFE_UNBOUNDED /* no edges: an unbounded plane */
};

/* Parse B3/S23, B3S23, 23/3 (survival first, as in older programs) or a name such as "life",
 * "highlife", "seeds". Blanks and case are ignored. Rules with B0 are accepted; on a bounded grid
 * they need no special care. EINVAL: the message says what is wrong, or why a rule of another
 * family (hexagonal, non-totalistic, more states) is rejected. */
int life_rule_parse(const char *text, struct life_rule *rule);

/* Print the rule as "B3/S23" into text[24]; return text. */
char *life_rule_string(const struct life_rule *rule, char *text);

/* Rewrite a rule of any family that the engines support in canonical form into `normal`. EINVAL:
 * not a rule; the message says why. Families:
 *   outer-totalistic    the rules of life_rule_parse
 *   isotropic           B2-a/S12: by the arrangement of neighbours (A. Hensel's notation)
 *   hexagonal           B2/S34H: six neighbours; B2o3-m/S34H: by their arrangement; B1/S12HT: a
 *                       tripod, the neighbours to the north, west and south-east (LifeViewer)
 *   von Neumann         B2/S013V: four neighbours
 *   one-dimensional     W110: S. Wolfram's rules with even numbers
 *   triangular          B45/S456L: 12 neighbours, with counts x, y, z for 10 to 12; or LE, LV,
 *                       LI, LO, LB, LR (LifeViewer); canonical as Larger than Life
 *                       The edge of a cell is above if column + row is even, on an unbounded plane
 *                       if it is odd: row y there is row y + 1 of a file
 *   table               MAP and 512 bits in base 64, as in Golly; or 128 bits for the hexagon, 32
 *                       for four neighbours
 *   Generations         345/2/4, B2/S345/C4 or MAP.../4: survival, birth and 3 to 256 states. A
 *                       live cell (1) that does not survive passes through states 2, 3, ..., in
 *                       which it counts as dead but blocks births, and then becomes 0
 *   alternating         B3/S23|B36/S23: two rules of the families above, except W, with equal
 *                       numbers of states; the first computes odd generations (LifeViewer)
 *   Larger than Life    R5,C0,M1,S34..58,B34..45,NM or 5,34,45,34,58, or with lists of counts as
 *                       in R3,C2,S0,7-12,B8,N2 (HROT), as in Golly: range 1 to 500, up to 256
 *                       states, live-cell counts within the range for survival and birth, all
 *                       neighbourhoods of Golly 5 (docs/life.md draws them). Grid sides must be at
 *                       least twice the range. Two states with B0 are stored inverted, in every
 *                       generation if a cell with all neighbours survives, else in odd ones
 */
enum { LIFE_RULE_TEXT = 2048 };
int life_rule_normal(const char *text, char normal[LIFE_RULE_TEXT]);

/* Read a rule file (*.rule, Golly's RuleLoader): the next state of a cell from the states (2 to
 * 256) of itself and of its 8 neighbours, 6 of a hexagon, 4 of von Neumann, or 2 in its row. Uses
 * the first @TABLE or @TREE, and @COLORS. `name` names the file in messages. The caller frees the
 * rule with life_transitions_free, after all engines that use it. NULL with EINVAL: the message
 * names the line; ENOMEM. */
typedef struct life_transitions life_transitions;
life_transitions *life_transitions_read(const char *name, const void *data, size_t size);
void life_transitions_free(life_transitions *transitions);

/* Create a rule of several states by its name, in any case, with Golly's numbers of states:
 *   RULEHistory, RULESuper, RULEInvestigator   a rule of two states with marks, as in
 *                    "B36/S23History"; "LifeHistory" is "B3/S23History". History: 0 dead; 1 alive;
 *                    2 dead, was alive; 3 and 4 alive and dead, marked; 5 alive, becomes 4; 6
 *                    boundary, which stays and kills adjacent live cells. Super has 26 states, with
 *                    trails of several colours and labels, Investigator 21 (docs/life.md). A rule
 *                    with B0 has survival with all neighbours, and its cells are stored inverted
 *   JvN29, Nobili32, Hutton32                  self-reproducing automata of J. von Neumann, R.
 *                    Nobili and T. Hutton
 * The caller frees it as above. NULL with ENOENT: not such a name; EINVAL: not a rule of two
 * states before the suffix; ENOMEM. */
life_transitions *life_transitions_named(const char *text);

/* Return the rule's name; its number of states; the colour of `state` as red, green and blue,
 * followed by the colours of later states (NULL: the file has no colours). Owned by the rule. */
const char *life_transitions_name(const life_transitions *transitions);
unsigned life_transitions_states(const life_transitions *transitions);
const unsigned char *life_transitions_colour(const life_transitions *transitions, unsigned state);

/* Return a rule's number of states; and the range of its neighbourhood, 1 unless it is Larger than
 * Life. -1 with EINVAL: not a rule. */
int life_rule_states(const char *text);
int life_rule_range(const char *text);

/* List the names that life_rule_parse accepts: return name i, 0 <= i, and its rule; NULL after the
 * last. */
const char *life_rule_name(size_t i, struct life_rule *rule);

/* Split "B3/S23:T100,50" in place: cut the text at the colon and return boundary and size. Without
 * a colon *width is 0. T is a torus, P a plane, and ":T100" has equal sides. EINVAL: not a bounded
 * torus or plane. */
int life_bounds_split(char *text, enum life_bounds *bounds, size_t *width, size_t *height);

/* Split a rule from any of Golly's bounded grids, and write the grid's canonical form into `grid`,
 * for life_options.grid; "" without a colon. *bounds is LIFE_JOINED except for a torus or plane.
 *   T30+5,20 T30,20-2               torus with rows or columns joined with a shift
 *   K30*,20 K30,20*                 Klein bottle
 *   K30*+1,20 K30,20*+1             Klein bottle with a shift
 *   C30,20                          cross-surface
 *   S30                             sphere
 */
enum { LIFE_GRID_TEXT = 96 };
int life_grid_split(char *text, char grid[LIFE_GRID_TEXT], enum life_bounds *bounds, size_t *width,
                    size_t *height);

/* ---- Cells in host memory. ------------------------------------------------------------------- */

/* A rectangle of cells, one bit per cell: cell (x, y) is bit x % 64 of word[y * stride + x / 64],
 * stride in words. Bits beyond the width are ignored on input and 0 on output. */
struct life_cells {
    size_t width, height, stride;
    uint64_t *word;
};

/* Allocate a rectangle of dead cells with minimal stride; the caller frees it with life_cells_free.
 * ENOMEM: the message gives the size. */
int life_cells_alloc(struct life_cells *cells, size_t width, size_t height);
void life_cells_free(struct life_cells *cells);

/* Return cell (x, y), 0 or 1; x and y are not checked. */
static inline int life_cells_at(const struct life_cells *c, size_t x, size_t y)
{
    return (int)(c->word[y * c->stride + x / 64] >> (x % 64) & 1);
}

/* ---- The engine. ----------------------------------------------------------------------------- */

typedef struct life life;

/* A 128-bit integer, high * 2^64 + low: a coordinate or a population on an unbounded plane. */
struct life_number {
    uint64_t low;
    int64_t high;
};

/* Print the number in decimal into text[48] and return text; convert the number to double. */
char *life_number_string(struct life_number number, char *text);
double life_number_double(struct life_number number);

enum life_engine {
    LIFE_AUTO,   /* the first of the following that has what the options ask for (default) */
    LIFE_PACKED, /* a bit or a byte per cell on devices; several generations per launch */
    LIFE_LOCAL,  /* one int per cell, tiles in local memory (for teaching) */
    LIFE_GLOBAL, /* one int per cell, global memory (for teaching) */
    /* Plain C on the host, one byte per cell: on one core, under Larger than Life on up to 16.
     * Larger than Life also has unbounded planes: rectangles around live cells that are near each
     * other. */
    LIFE_REFERENCE,
    /* Unbounded planes. HashLife: a quadtree on the host in which equal squares are one node, with
     * a cached future. Guns, ships and machines gain without limit; random cells do not. R. W.
     * Gosper, "Exploiting regularities in large cellular spaces", Physica D 10 (1984) 75-80. */
    LIFE_HASHLIFE,
    /* Tiles of 48 x 48 cells on a device, only where cells change: methuselahs, collisions, wide
     * ash with gliders. Coordinates are below 48 (2^31 - 16). Eight generations take as long as
     * one. */
    LIFE_SPARSE,
    LIFE_ENGINES
};

/* Options of life_create. Zero means the default, except in width and height. */
struct life_options {
    /* Devices: packed uses all devices of the context for tori and planes under rules of two
     * states, a band of rows each; otherwise the first is used. NULL: stdgpu, else stdcpu. Not
     * owned; must outlive the engine. */
    CLCONTEXT *ctx;
    enum life_engine engine;
    size_t width, height; /* cells, >= 1; 0 on an unbounded plane */
    enum life_bounds bounds;
    /* As for life_rule_normal; NULL = "B3/S23". With B0 an empty plane would become alive:
     * hashlife, and all engines for Larger than Life, then store cells inverted, in every
     * generation if a cell with all neighbours survives, else in odd ones; all functions have the
     * stored cells. */
    const char *rule;
    /* Progress callback of life_step, life_trace and life_soup, in the calling thread, with the
     * fraction done, 0 to 1. A nonzero return value cancels the call soon, with ECANCELED. May be
     * NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    /* packed: KEY=NUMBER words that override the device's launch shape, see life/README.md. */
    const char *shape;
    /* packed: ranks that divide the grid's rows in proportion to their devices; NULL: alone. Not
     * owned. All functions except queries are then collective, with equal arguments and results on
     * all ranks, except life_get. */
    stdcl_world *world;
    /* Grid as written by life_grid_split, instead of width, height and bounds, which must then be
     * 0; NULL: use these. Grids other than torus and plane work on one rank and one device. */
    const char *grid;
    const life_transitions *transitions; /* Rule from a file, used if `rule` is NULL; not owned. */
    /* hashlife: limit of the tree's memory in bytes, at least 16 MiB; sparse: of the tiles', at
     * least 1 MiB, of which 1.5 times is in use while it grows; reference: of an unbounded plane.
     * 0: half of the machine's memory, or of the device's if that is less. */
    size_t memory;
    /* hashlife, and reference under Larger than Life: worker threads; 0: one per processor, of
     * Larger than Life at most 16. */
    unsigned threads;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Return the engine that life_create would choose, and in *why (may be NULL) the reason: static,
 * or of this thread until the next call. -1 with EINVAL or ENOTSUP: none has what is asked for; the
 * message says which capability is absent. Checks only rule, grid, engine and number of ranks. */
int life_choose(const struct life_options *options, const char **why);

/* Create an engine with all cells dead, at generation 0; the caller frees it with life_free. Builds
 * kernels, which takes about a second the first time. Device memory: packed 2 bits per cell (rows
 * are padded to 64 cells), local and global 8 bytes per cell. Host memory: packed 1 bit per cell,
 * the other engines more. EINVAL: a wrong size, rule or shape (named). ENOTSUP: no engine, or not
 * the one asked for, has this rule, grid or number of ranks. ENODEV: no device. ENOMEM: the message
 * gives the size. ENOEXEC: a kernel does not build (with the log). */
life *life_create(const struct life_options *options);

/* Free the engine and its device memory, after waiting for work in flight. NULL is allowed. */
void life_free(life *lf);

/* Advance by `generations` and block until done. ECANCELED if `progress` cancelled: whole
 * generations are done, life_generation returns their number, and the run may continue. On a plane
 * this holds after any error: ENOMEM, the memory limit is exceeded (the message gives the memory in
 * use); ERANGE, a cell reached the end of coordinates, or the generation would exceed 2^64 - 1.
 * hashlife makes one step of 2^k for each set bit k, and an error leaves the last whole step. */
int life_step(life *lf, uint64_t generations);

/* Clear all cells and reset to generation 0; set the generation counter. */
int life_clear(life *lf);
int life_set_generation(life *lf, uint64_t generation);

/* Copy a rectangle into the grid with its top left corner at (x, y); cells outside the rectangle
 * are unchanged. On a torus x and y may be any numbers, and the rectangle may cross the edge; on
 * other grids it must lie inside. EINVAL: the rectangle is larger than the grid, or crosses the
 * edge of a plane. Unbounded planes: ERANGE, too far from (0, 0); ENOMEM, the memory limit. */
int life_put(life *lf, long long x, long long y, const struct life_cells *cells);

/* Copy a rectangle of the grid into cells->word; the caller sets width, height and stride. x and
 * y as in life_put. With a world only rank 0 receives the cells; other ranks' cells->word is
 * unused. */
int life_get(life *lf, long long x, long long y, struct life_cells *cells);

/* Copy a rectangle of states to or from the grid, width x height bytes row by row, for rules with
 * more than two states. life_put and life_get treat cells as state 1 or not. EINVAL: the rectangle
 * crosses the edge, also on a torus; or a state is not one of the rule's (the message names the
 * cell). */
int life_put_states(life *lf, long long x, long long y, size_t width, size_t height,
                    const unsigned char *state);
int life_get_states(life *lf, long long x, long long y, size_t width, size_t height,
                    unsigned char *state);

/* Count the live cells (with more than two states: the nonzero cells) in squares of 2^zoom x 2^zoom
 * cells, zoom 0 to 15, on unbounded planes to 60: count[j * width + i] for width x height squares,
 * the first with its top left corner at (x, y) as in life_put. Squares are clipped at the end of
 * the grid (on a torus, after one period). Counted on the devices; only the counts are copied.
 * Counts above 64 bits are UINT64_MAX. EINVAL: the grid has fewer squares; with hashlife, x and y
 * are not multiples of 2^zoom. */
int life_density(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                 uint64_t *count);

/* Copy a rectangle of an unbounded plane at reduced resolution: a bit stands for a square of 2^zoom
 * cells a side, zoom 0 to 60, and is 1 if any cell in the square is alive; x and y count such
 * squares. ENOTSUP on grids. */
int life_get_zoomed(life *lf, unsigned zoom, long long x, long long y, struct life_cells *cells);

/* Call `run` for each run of equal live cells in a row of a plane of hashlife or reference, from
 * the top row down and from left to right: n cells of `state` from (x, y) on. Neighbouring runs
 * have different states or a dead cell between them. Time is proportional to the live squares of
 * 16 x 16 cells of hashlife, and to the live rows of reference. A nonzero return value ends the
 * walk, which then returns -1 and leaves clerror as the callback set it. ERANGE: a live cell more
 * than 2^62 from (0, 0); ENOTSUP: other engines. */
int life_walk_runs(life *lf,
                   int (*run)(void *arg, long long x, long long y, uint64_t n, unsigned state),
                   void *arg);

/* Call `tile` for each tile of sparse with live cells, in any order, with its top left corner and
 * 48 rows; bit c of a row is cell (x + c, y + row). A nonzero return value ends the walk, which
 * then returns -1 and leaves clerror as the callback set it. Other engines: ENOTSUP. */
int life_walk_tiles(life *lf,
                    int (*tile)(void *arg, long long x, long long y, const uint64_t row[48]),
                    void *arg);

/* Fill the grid with a random soup and reset to generation 0. EINVAL: density out of range, or
 * density 0 with a seed larger than an unsigned int. ENOTSUP: an unbounded plane.
 *   density 0          row by row, left to right, by the C library's rand() % 2 after srand(seed),
 *                      as in published programs
 *   0 < density <= 1   each cell is alive with this probability, by Philox4x32-10 of seed and
 *                      place, equal on every machine
 */
int life_soup(life *lf, double density, uint64_t seed);

/* Set this rank's load-balancing weight (e.g. rows/s) and redistribute the rows in proportion to
 * the ranks' weights. Cells, generation and results are unchanged. Costs as much as creating an
 * engine, plus a host copy of this rank's rows. No effect without a world. EINVAL: the weight is
 * not a number > 0. After any other failure the engine can only be freed. */
int life_set_weight(life *lf, double weight);

/* Count the live cells, on the device if there is one; with more than two states, the nonzero
 * cells. On unbounded planes ERANGE: life_population, 2^64 cells or more are alive;
 * life_population_exact, 2^127 or more. */
int life_population(life *lf, uint64_t *population);
int life_population_exact(life *lf, struct life_number *population);

/* Count the live cells and print their number in decimal into `text`, exact at any size. */
enum { LIFE_POPULATION_TEXT = 80 };
int life_population_text(life *lf, char text[LIFE_POPULATION_TEXT]);

/* Find the bounding box of the live (nonzero) cells, right and bottom excluded. Return 1, or 0 if
 * no cell is alive; -1 on an error. */
struct life_box {
    struct life_number left, top, right, bottom;
};
int life_bounding_box(life *lf, struct life_box *box);

/* A sample of a generation. The hash depends on the cells and their positions: equal states have
 * equal hashes, different states collide with probability 2^-64. Hashes of different engines are
 * not comparable. life_trace, life_measure and life_until_stable are for grids: ENOTSUP on
 * unbounded planes. */
struct life_sample {
    uint64_t generation, population, hash;
};

/* Advance by n generations one by one and record each in sample[0] .. sample[n - 1]. ECANCELED as
 * life_step; completed generations are recorded. */
int life_trace(life *lf, size_t n, struct life_sample *sample);

/* Record the current generation without stepping. */
int life_measure(life *lf, struct life_sample *sample);

/* Advance until the state repeats one of the last 64 generations, at most by `limit` generations.
 * *period is the smallest p in 1 .. 64 with state(g + p) = state(g), compared cell by cell, and
 * *generation the first such g; if the limit is reached, *period is 0. The engine stays at the
 * generation where it stopped (life_generation), and a later call still knows the previous
 * generations. `watch` (may be NULL) is called for each generation in turn; a nonzero return value
 * stops the run. */
int life_until_stable(life *lf, uint64_t limit, uint64_t *period, uint64_t *generation,
                      int (*watch)(void *arg, const struct life_sample *sample), void *arg);

/* ---- The quadtree of hashlife, for macrocell files. ------------------------------------------ */

/* A square has 2^level cells on each side. Squares are numbered from 1 in the order of their
 * addition; 0 is an empty square of any level. They are kept until life_tree_set. All functions
 * fail with EINVAL or ENOMEM, and with ENOTSUP for other engines. */

/* Add a square of level 3: bit 8 y + x of `cells` is row y, column x. */
int life_tree_add_bits(life *lf, uint64_t cells, uint32_t *square);

/* Add a square of level 1 by the states of its cells: north-west, north-east, south-west,
 * south-east. EINVAL: a state is not one of the rule's. */
int life_tree_add_states(life *lf, const unsigned char state[4], uint32_t *square);

/* Add a square of level 2 to 120 from four squares of the level below, in this order. */
int life_tree_add_square(life *lf, int level, const uint32_t part[4], uint32_t *square);

/* Make a square the whole plane, with its centre at (0, 0), at `generation`; all other squares are
 * discarded. */
int life_tree_set(life *lf, uint32_t square, uint64_t generation);

/* Walk the tree: call `bits` for each distinct square of level 3 under a rule of two states, else
 * `states` for each of level 1, and `square` for larger ones; once for each with live cells,
 * children before parents. Squares are numbered 1, 2, ... in the order of the calls; `part` holds
 * the numbers of the children, 0 for empty ones. *level is the level of the last square, whose
 * centre is (0, 0). An empty plane has no squares. A nonzero return value of a callback ends the
 * walk, which then returns -1 and leaves clerror as the callback set it. */
int life_tree_walk(life *lf, int *level, int (*bits)(void *arg, uint64_t cells),
                   int (*states)(void *arg, const unsigned char state[4]),
                   int (*square)(void *arg, int level, const uint32_t part[4]), void *arg);

/* ---- Queries. -------------------------------------------------------------------------------- */

/* Return the engine that life_create chose; and the reason for the choice, owned by the engine. */
enum life_engine life_engine_of(const life *lf);
const char *life_choice(const life *lf);

/* Return the generations done; and the grid's size in cells. */
uint64_t life_generation(const life *lf);
size_t life_width(const life *lf);
size_t life_height(const life *lf);
/* Return the number of rows of this rank; without ranks, all rows. */
size_t life_rows(const life *lf);
/* Return the grid's boundary conditions. */
enum life_bounds life_bounds_of(const life *lf);

/* Print the grid as life_grid_split does, such as "T100,50", into `text`, or "" for an unbounded
 * plane; return text. */
char *life_grid_text(const life *lf, char text[LIFE_GRID_TEXT]);

/* Return the rule as neighbour counts (0 for rules of other families); as text in canonical form,
 * owned by the engine; and its number of states. */
struct life_rule life_rule_of(const life *lf);
const char *life_rule_text(const life *lf);
unsigned life_states(const life *lf);

/* Return the range of the neighbourhood: 1, or the range of a Larger than Life rule. */
unsigned life_neighbourhood_range(const life *lf);

/* Return the engine called "packed", "hashlife" and so on, or -1 with EINVAL and the list of names;
 * and the name of an engine. */
int life_engine_by_name(const char *name);
const char *life_engine_name(enum life_engine engine);

/* Return the number of kernel launches so far, on all devices; and the most bytes allocated on any
 * one device, excluding local memory; for hashlife, the bytes of the tree on the host. */
uint64_t life_launches(const life *lf);
size_t life_device_bytes(const life *lf);

/* Figures of an unbounded plane; a figure that an engine does not have is 0, for grids all are. */
struct life_statistics {
    uint64_t collections;           /* hashlife: garbage collections */
    uint64_t tiles, tiles_computed; /* sparse: tiles; those computed, up to 8 generations each */
};
struct life_statistics life_statistics_of(const life *lf);

/* Return the number of devices in use; and for device `dev` of these the launch shape as KEY=NUMBER
 * words, and the reason for its choice. Texts are owned by the engine, "" for a device out of
 * range. */
unsigned life_devices(const life *lf);
const char *life_shape(const life *lf, unsigned dev);
const char *life_explain(const life *lf, unsigned dev);

/* Return the kernels that `stdcl tune` can tune: the packed kernels for CPUs and GPUs. Static;
 * *count entries. */
const struct cltune_kernel *life_tune_kernels(size_t *count);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_LIFE_H */
