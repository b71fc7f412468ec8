/* stdcl/life.h - Conway's Life and every other rule of its family, on any OpenCL device, or
 * several.
 *
 *   life *lf = life_create(&(struct life_options){.width = 1024, .height = 1024});
 *   life_soup(lf, 0, 1);                 a random start: half of the cells alive, seed 1
 *   life_step(lf, 1024);                 1,024 generations on the device
 *   life_population(lf, &alive);         counted on the device
 *   life_get(lf, 0, 0, &cells);          copies a rectangle back
 *   life_free(lf);
 *
 * Cell (x, y) is column x (0 = left) of row y (0 = top). All engines compute the same cells.
 * int functions return 0, or -1 with clerrno set and a sentence in clerror(). Functions that return
 * a pointer fail with NULL in the same way. Only one thread at a time may use an engine; different
 * engines are independent of each other.
 * A struct of options may grow in a later version 1, by its reserved words: they must be 0
 * (EINVAL). All other structs stay as they are. Their sizes and offsets: tests/install/layout.txt.
 * A handle of NULL, which is what a call that failed returns, is EINVAL: what is given back is -1,
 * NULL, 0 or, of a text, "". It may be freed.
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

/* A rule that counts live neighbours, out of eight. Bit n of `birth` is 1 if a dead cell with n
 * live neighbours becomes alive, bit n of `survival` if a live cell with n stays alive; n is 0 to
 * 8. */
struct life_rule {
    unsigned birth, survival;
};

/* What lies beyond the edge of the grid. */
enum life_bounds {
    LIFE_TORUS, /* the opposite edge */
    LIFE_PLANE, /* cells that are always dead, even if the rule has B0 */
    LIFE_JOINED /* another edge, or the same: what life_options.grid says */
};

/* Reads B3/S23, B3S23, 23/3 (survival first, as older programs write it) or a name such as "life",
 * "highlife", "seeds". Blanks and the case of letters do not matter. EINVAL: the sentence
 * says what is wrong, or why a rule of another family (hexagonal, non-totalistic, more states) is
 * refused. Rules with B0 are accepted; on a bounded grid they need no special care. */
int life_rule_parse(const char *text, struct life_rule *rule);

/* Writes the rule as "B3/S23" into text[24], which it returns. */
char *life_rule_string(const struct life_rule *rule, char *text);

/* Rules of all families that engines take: those above; isotropic ones, which look at the places of
 * the neighbours too, B2-a/S12 (A. Hensel's notation); those of a hexagon's six neighbours,
 * B2/S34H, and of von Neumann's four, B2/S013V; W110, S. Wolfram's rules of rows with even numbers;
 * and MAP with a table of 512 bits in base 64, as Golly has it. Writes one in its usual form into
 * `normal`. EINVAL: the sentence says why it is none. */
/* And of the family Generations, 345/2/4 or B2/S345/C4: counts that survive, counts that give
 * birth, and 3 to 256 states: a live cell (1) that does not survive becomes 2, 3 and so on, in
 * which it counts as dead and no other can be born, and at last 0. */
/* And of Larger than Life, R5,C0,M1,S34..58,B34..45,NM or 5,34,45,34,58, as Golly has them: a range
 * of 1 to 500 cells, up to 256 states, and how many live cells within the range let a cell survive,
 * or be born. Grids have sides of at least twice the range. */
enum { LIFE_RULE_TEXT = 128 };
int life_rule_normal(const char *text, char normal[LIFE_RULE_TEXT]);

/* Rules of tables, as files *.rule of Golly's RuleLoader have them: what becomes of a cell by the
 * states, 2 to 256, of itself and of its neighbours, 8, 6 of a hexagon, 4 of von Neumann, or 2 in
 * its row. Reads the text of a file, which `name` stands for in messages: its first @TABLE or
 * @TREE, and @COLORS. The caller frees it with life_transitions_free, after all that was made with
 * it. NULL with EINVAL: the sentence names the line; ENOMEM. */
typedef struct life_transitions life_transitions;
life_transitions *life_transitions_read(const char *name, const void *data, size_t size);
void life_transitions_free(life_transitions *transitions);

/* The rule's name, its states, and the colour of one, red, green and blue; those of the states
 * after it follow. NULL: the file has no colours. They belong to the rule. */
const char *life_transitions_name(const life_transitions *transitions);
unsigned life_transitions_states(const life_transitions *transitions);
const unsigned char *life_transitions_colour(const life_transitions *transitions, unsigned state);

/* How many states such a rule has: 2 of those that are not Generations. -1 with EINVAL: it is
 * none. */
int life_rule_states(const char *text);

/* The names that life_rule_parse knows: name and rule number i, 0 <= i; NULL after the last. */
const char *life_rule_name(size_t i, struct life_rule *rule);

/* Splits "B3/S23:T100,50" in place: cuts the text at the colon and gives bounds and size. Without a
 * colon *width is 0. T is a torus, P a plane, and ":T100" has sides of equal length. EINVAL: the
 * shape is not a bounded torus or plane; the sentence says so. */
int life_bounds_split(char *text, enum life_bounds *bounds, size_t *width, size_t *height);

/* The same of every bounded grid that Golly has, and writes it in its usual form into `grid`, for
 * life_options.grid; "" without a colon. T30+5,20 and T30,20-2: a torus whose rows, or columns, are
 * joined shifted; K30*,20 and K30,20*: a Klein bottle, K30*+1,20 and K30,20*+1 shifted; C30,20: a
 * cross-surface; S30: a sphere. *bounds is LIFE_JOINED for these. */
enum { LIFE_GRID_TEXT = 96 };
int life_grid_split(char *text, char grid[LIFE_GRID_TEXT], enum life_bounds *bounds, size_t *width,
                    size_t *height);

/* ---- Cells in host memory. ------------------------------------------------------------------- */

/* A rectangle of cells, one bit each: cell (x, y) is bit x % 64 of word[y * stride + x / 64],
 * stride in words. Bits beyond the width are ignored when read, and written as 0. */
struct life_cells {
    size_t width, height, stride;
    uint64_t *word;
};

/* Makes a rectangle of dead cells with the smallest stride possible; the caller frees it with
 * life_cells_free. ENOMEM: the sentence says how much memory is needed. */
int life_cells_alloc(struct life_cells *cells, size_t width, size_t height);
void life_cells_free(struct life_cells *cells);

/* One cell, 0 or 1; x and y must lie in the rectangle, which is not checked. */
static inline int life_cells_at(const struct life_cells *c, size_t x, size_t y)
{
    return (int)(c->word[y * c->stride + x / 64] >> (x % 64) & 1);
}

/* ---- The engine. ----------------------------------------------------------------------------- */

typedef struct life life;

enum life_engine {
    LIFE_PACKED, /* one bit a cell, bit-sliced adders, several generations a launch; the default */
    LIFE_LOCAL,  /* one int a cell, a work-group's tile in local memory (for teaching) */
    LIFE_GLOBAL, /* one int a cell, neighbours read from global memory (for teaching) */
    LIFE_REFERENCE, /* plain C on the host, one byte a cell, no OpenCL */
    LIFE_ENGINES
};

/* Zero means the default, everywhere but in width and height. */
struct life_options {
    CLCONTEXT *ctx; /* the devices: packed uses ALL of them, a share of the grid's rows each;
                       local and global use the first. NULL: stdgpu, else stdcpu. Not owned;
                       must outlive the engine */
    enum life_engine engine;
    size_t width, height; /* cells, from 1 up */
    enum life_bounds bounds;
    const char *rule; /* as life_rule_normal; NULL = "B3/S23" */
    /* Called now and then, in the calling thread, with the fraction of a call of life_step,
     * life_trace or life_soup that is done, 0 to 1. It returns 0, or something else to end the call
     * soon, with ECANCELED. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    const char *shape;  /* packed: how kernels are launched, words KEY=NUMBER that change the
                           device's own row, see life/README.md; NULL: that row */
    stdcl_world *world; /* packed: the ranks that divide the grid's rows among themselves, by their
                           devices; NULL: alone; not owned. All functions but those of questions are
                           collective then, with the same arguments on all ranks, and fill and tell
                           the same; but see life_get */
    const char *grid;   /* as life_grid_split writes it, in place of width, height and bounds, which
                           are 0 then; NULL: these. Grids that are   neither torus nor plane are for
                           one   rank, and the engine packed uses the first device */
    const life_transitions
        *transitions;      /* the rule, where `rule` is NULL; not owned; NULL: `rule` */
    uintptr_t reserved[8]; /* must be 0 */
};

/* Makes an engine whose cells are all dead, at generation 0. Builds kernels, which takes about a
 * second the first time. Memory on the devices: packed 2 bits a cell (rows are padded to 64 cells),
 * local and global 8 bytes a cell. Memory on the host: packed 1 bit a cell, the others more. The
 * caller frees the engine with life_free. EINVAL: a wrong size, rule or shape (the sentence names
 * it); ENODEV: no device; ENOMEM: the sentence says how much is needed; ENOEXEC: a kernel does not
 * build (with the log). */
life *life_create(const struct life_options *options);

/* Frees the engine and what it holds on the devices, after work in flight is done. NULL is fine. */
void life_free(life *lf);

/* Advances by `generations` and blocks until they are done. ECANCELED when `progress` ended it:
 * whole generations were done, life_generation tells how many, and the run may go on from there. */
int life_step(life *lf, uint64_t generations);

/* Kills all cells and goes back to generation 0. */
int life_clear(life *lf);

/* Copies a rectangle into the grid, its top left corner at (x, y); cells outside it stay as they
 * are. On a torus x and y may be any numbers, and the rectangle may lie across the edge; on other
 * grids it must lie inside. EINVAL: it is larger than the grid, or reaches beyond the plane's
 * edge. */
int life_put(life *lf, long long x, long long y, const struct life_cells *cells);

/* Copies a rectangle of the grid into cells->word; the caller has set width, height and stride. x
 * and y as in life_put. With a world rank 0 gets it, and the others' cells->word is not used. */
int life_get(life *lf, long long x, long long y, struct life_cells *cells);

/* The same of states, width x height bytes row by row, for rules of more than two. life_put and
 * life_get are of cells that live, state 1; what is put there is dead or alive. EINVAL: the
 * rectangle reaches beyond the edge, also of a torus; or a state is none of the rule's (the
 * sentence says which cell). */
int life_put_states(life *lf, long long x, long long y, size_t width, size_t height,
                    const unsigned char *state);
int life_get_states(life *lf, long long x, long long y, size_t width, size_t height,
                    unsigned char *state);

/* Counts the live cells (of more than two states those that are not 0) of squares of 2^zoom x
 * 2^zoom cells (zoom 0 to 15), width x height of them, the first with its top left corner at (x,
 * y), as life_put has it: count[j * width + i]. At the end of the grid (on a torus: of one turn) a
 * square holds what is left. Counted on the devices, so that only the counts are copied. EINVAL:
 * there are not so many squares. */
int life_density(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                 uint32_t *count);

/* Fills the grid with a random soup and goes back to generation 0. density 0: row by row, left to
 * right, with the C library's rand() % 2 after srand(seed), as published programs do. 0 < density
 * <= 1: each cell is alive with that probability, by Philox4x32-10 of seed and place, the same on
 * every machine. EINVAL: density is out of range, or it is 0 and the seed is larger than an
 * unsigned int. */
int life_soup(life *lf, double density, uint64_t seed);

/* With a world: divides the rows among the ranks anew, in proportion to what each gives as its
 * weight, such as rows a second. Cells and generation stay, and nothing that is computed changes.
 * It takes as long as making an engine, and a copy of this rank's rows on the host. Without ranks
 * nothing happens. EINVAL: the weight is no number > 0. After another failure the engine can only
 * be freed. */
int life_set_weight(life *lf, double weight);

/* Counts the live cells, on the device; of rules of more than two states, those that are not 0. */
int life_population(life *lf, uint64_t *population);

/* What life_trace notes of a generation. The hash depends on the cells and their places: equal
 * states have equal hashes, and two different states have the same hash with a probability of
 * 2^-64. Hashes of different engines cannot be compared. */
struct life_sample {
    uint64_t generation, population, hash;
};

/* Advances by n generations, one by one, and notes each of them: sample[0] .. sample[n - 1].
 * ECANCELED as life_step; those that were done are noted. */
int life_trace(life *lf, size_t n, struct life_sample *sample);

/* Notes the current generation without stepping. */
int life_measure(life *lf, struct life_sample *sample);

/* Advances until the state is one of those of the last 64 generations, but at most by `limit`
 * generations. *period is then the smallest p in 1 .. 64 with state(g + p) = state(g), compared
 * cell by cell, and *generation is the first such g; when the limit came first, *period is 0. The
 * engine stays at the generation where it stopped (see life_generation), and a call that goes on
 * from there still knows the generations before. `watch` (may be NULL) is called for each
 * generation in turn, and stops the run when it returns non-zero. */
int life_until_stable(life *lf, uint64_t limit, uint64_t *period, uint64_t *generation,
                      int (*watch)(void *arg, const struct life_sample *sample), void *arg);

/* ---- Questions. ------------------------------------------------------------------------------ */

/* The generations done, the grid's size in cells, and what lies beyond its edge. */
uint64_t life_generation(const life *lf);
size_t life_width(const life *lf);
size_t life_height(const life *lf);
/* How many rows this rank has; alone, all. */
size_t life_rows(const life *lf);
enum life_bounds life_bounds_of(const life *lf);

/* Writes the grid as life_grid_split does, such as "T100,50", into `text`, which it returns. */
char *life_grid_text(const life *lf, char text[LIFE_GRID_TEXT]);

/* The rule, as counts of neighbours (0 of a rule that does not only count them), and as
 * life_rule_normal writes it; the text belongs to the engine. */
struct life_rule life_rule_of(const life *lf);
const char *life_rule_text(const life *lf);
unsigned life_states(const life *lf);

/* How many columns and rows away a cell's neighbours are at most: 1, or the range of a rule of
 * Larger than Life. */
unsigned life_neighbourhood_range(const life *lf);

/* The engine of a name: "packed", "local", "global", "reference"; -1 with EINVAL and the list for
 * others. And the name of an engine. */
int life_engine_by_name(const char *name);
const char *life_engine_name(enum life_engine engine);

/* The number of kernels started so far, on all devices; and the bytes that the engine holds on the
 * device where it holds most, without the local memory of running kernels. */
uint64_t life_launches(const life *lf);
size_t life_device_bytes(const life *lf);

/* The number of devices in use. For device `dev` of them: how kernels are launched, as words
 * "KEY=NUMBER ...", and a sentence that says which row of the tuning store this is, and why. Both
 * texts belong to the engine; they are "" where there is no such device. */
unsigned life_devices(const life *lf);
const char *life_shape(const life *lf, unsigned dev);
const char *life_explain(const life *lf, unsigned dev);

/* What `stdcl tune` searches: the packed kernels for CPUs and GPUs. Static; *count of them. */
const struct cltune_kernel *life_tune_kernels(size_t *count);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_LIFE_H */
