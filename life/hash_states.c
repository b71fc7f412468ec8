/* hash_states.c - the lowest level of HashLife for rules of more than two states, a byte a cell:
 * 32 x 32 cells up to eight generations; for rule files 16 x 16 cells up to four.
 *
 * For Generations, the next live cells are computed as in hash_leaf.c, 32 cells at a time, and so
 * are the bits of the states of dying cells, which count up. A rule file's tree is looked up cell
 * by cell: in the first generation for cells that change, which leaves know except at their edges,
 * then for cells around a change. This is slow, so leaves are smaller, and more squares recur.
 * A cache has the next states of blocks of 2 x 2 cells, since most blocks recur, too. Each
 * generation invalidates one more cell from the edges inward.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_leaf.h"
#include "life/transitions.h"
#include "life/vectors.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* ---- Generations: a row is a word for each bit of the states. -------------------------------- */

enum { ROWS = 32, PLANES_MOST = 8 };

/* Pack eight cells into a word, the first one lowest, and unpack them. */
INLINE uint64_t eight_of(const unsigned char cell[8])
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word |= (uint64_t)cell[i] << 8 * i;
    return word;
}

INLINE void put_eight(uint64_t word, unsigned char cell[8])
{
    for (int i = 0; i < 8; i++)
        cell[i] = (unsigned char)(word >> 8 * i);
}

#define EIGHT(byte) ((uint64_t)(byte)*0x0101010101010101u)

/* Bit k of each of eight cells. */
INLINE uint32_t bits_of(uint64_t eight, int k)
{
    return (uint32_t)((eight >> k & EIGHT(1)) * 0x0102040810204080u >> 56);
}

/* Expand each bit of a byte to a byte 0 or 1. */
INLINE uint64_t leaf_spread(uint32_t bits)
{
    return ((EIGHT(bits & 255) & 0x8040201008040201u) + EIGHT(0x7f)) >> 7 & EIGHT(1);
}

/* A generation of `planes` bits of the states. Dying cells count up, and become 0 at `states`;
 * `lives`: cells that live in the next generation if they are not dying now. */
LIFE_VECTORS static void generations_step(uint32_t plane[PLANES_MOST][ROWS], int planes,
                                          unsigned states, const uint32_t alive[ROWS],
                                          const uint32_t lives[ROWS])
{
    uint32_t carry[ROWS], dying[ROWS] = {0}, wraps[ROWS];
    memset(carry, 0xff, sizeof carry);
    memset(wraps, 0xff, sizeof wraps);
    for (int k = 1; k < planes; k++)
        for (int y = 0; y < ROWS; y++)
            dying[y] |= plane[k][y];
    for (int k = 0; k < planes; k++) {
        const uint32_t end = 0 - (states >> k & 1);
        for (int y = 0; y < ROWS; y++) {
            const uint32_t more = plane[k][y] ^ carry[y];
            carry[y] &= plane[k][y];
            wraps[y] &= ~(more ^ end);
            plane[k][y] = more;
        }
    }
    for (int k = 0; k < planes; k++)
        for (int y = 0; y < ROWS; y++) {
            const uint32_t young = k == 0 ? lives[y] : k == 1 ? alive[y] & ~lives[y] : 0;
            plane[k][y] = (plane[k][y] & dying[y] & ~wraps[y]) | (young & ~dying[y]);
        }
}

/* Cells of state 1. */
LIFE_VECTORS static void states_alive(uint32_t plane[PLANES_MOST][ROWS], int planes,
                                      uint32_t alive[ROWS])
{
    memcpy(alive, plane[0], sizeof plane[0]);
    for (int k = 1; k < planes; k++)
        for (int y = 0; y < ROWS; y++)
            alive[y] &= ~plane[k][y];
}

static void generations_steps(const struct hashlife *h, const states_t *part[4], int generations,
                              states_t *out)
{
    const unsigned states = h->lf->rule.states;
    const int planes = 32 - __builtin_clz(states - 1);
    uint32_t plane[PLANES_MOST][ROWS] = {{0}}, alive[ROWS], lives[ROWS];
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < ROWS; x += 8) {
            const uint64_t eight = eight_of(&part[y / 16 * 2 + x / 16][y % 16 * 16 + x % 16]);
            for (int k = 0; k < planes && eight; k++)
                plane[k][LEAF_ROW(y)] |= bits_of(eight, k) << x;
        }
    for (int g = 0; g < generations; g++) {
        states_alive(plane, planes, alive);
        memcpy(lives, alive, sizeof lives);
        hash_leaf_rows(h, lives, h->odd + g, 1);
        generations_step(plane, planes, states, alive, lives);
    }
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x += 8) {
            uint64_t eight = 0;
            for (int k = 0; k < planes; k++)
                eight |= leaf_spread(plane[k][LEAF_ROW(y + 8)] >> (x + 8)) << k;
            put_eight(eight, &out[16 * y + x]);
        }
}

/* ---- Rules of files: four rows of 16 cells are a word. --------------------------------------- */

enum { SIDE = SIDE_OF_FILES, WIDE = 2 * SIDE, WORDS = WIDE * WIDE / 64 };
#define FOUR(row) ((uint64_t)(row)*0x0001000100010001u)

/* life_transit for the cell in the middle of the block at p; `at`: offsets of the places. The
 * compiler knows their number. */
INLINE unsigned transit(const struct life_transitions *t, int places, const unsigned char *p,
                        const unsigned char at[TRANSITIONS_PLACES])
{
    uint32_t node = t->root;
    for (int i = 0; i < places; i++)
        node = t->branch[node + p[at[i]]];
    return node;
}

static void find_places(const struct life_transitions *t, int stride,
                        unsigned char at[TRANSITIONS_PLACES])
{
    memset(at, 0, TRANSITIONS_PLACES);
    for (int i = 0; i < t->places; i++)
        at[i] = (unsigned char)(t->place[i] / 3 * stride + t->place[i] % 3);
}

INLINE unsigned two_cells(const unsigned char *cell)
{
    return cell[0] | (unsigned)cell[1] << 8;
}

INLINE uint64_t two_rows(const unsigned char *cell, int stride)
{
    uint32_t row[2];
    memcpy(&row[0], cell, sizeof row[0]);
    memcpy(&row[1], cell + stride, sizeof row[1]);
    return row[0] | (uint64_t)row[1] << 32;
}

/* Advance the 2 x 2 cells in the middle of 4 x 4 cells at p. A row is 16 bits of the result.
 * `at`: find_places of the stride. */
INLINE uint32_t transitions_block(const struct life_transitions *t, int places,
                                  const unsigned char at[TRANSITIONS_PLACES],
                                  const unsigned char *p, int stride, struct states_block *cache)
{
    const uint64_t upper = two_rows(p, stride), lower = two_rows(p + 2 * stride, stride),
                   mixed = (upper ^ lower * 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u;
    struct states_block *known = &cache[mixed >> 32 & (STATES_BLOCKS - 1)];
    if (known->upper != upper || known->lower != lower) {
        uint32_t next = 0;
        for (int i = 0; i < 4; i++)
            next |= transit(t, places, p + i / 2 * stride + i % 2, at) << 8 * i;
        *known = (struct states_block){upper, lower, next};
    }
    return known->next;
}

INLINE uint32_t block_at(const unsigned char *p, int stride)
{
    return two_cells(p) | (uint32_t)two_cells(p + stride) << 16;
}

/* A bit for each cell of a block that differs from 0, in 16 bits for each row. */
INLINE uint32_t block_bits(uint32_t cells)
{
    const uint32_t one = (((cells & 0x7f7f7f7f) + 0x7f7f7f7f) | cells) >> 7 & 0x01010101;
    return (one | one >> 7) & 0x00030003;
}

INLINE void find_moves(const struct life_transitions *t, int places, states_t *leaf,
                       struct states_block *cache)
{
    unsigned char at[TRANSITIONS_PLACES];
    find_places(t, SIDE, at);
    for (int y = 1; y < SIDE - 1; y += 2)
        for (int x = 1; x < SIDE - 1; x += 2) {
            const states_t *cell = &leaf[y * SIDE + x];
            const uint32_t moves =
                block_bits(block_at(cell, SIDE) ^
                           transitions_block(t, places, at, cell - SIDE - 1, SIDE, cache));
            leaf[STATES_OF_FILES + y] |= (states_t)(moves << x);
            leaf[STATES_OF_FILES + y + 1] |= (states_t)(moves >> 16 << x);
        }
}

void hash_states_find_moves(const struct hashlife *h, states_t *leaf, struct states_block *cache)
{
    const struct life_transitions *t = h->transitions;
    if (h->lookups.levels)
        return;
    memset(leaf + STATES_OF_FILES, 0, SIDE);
    switch (t->places) {
    case 9:
        find_moves(t, 9, leaf, cache);
        break;
    case 7:
        find_moves(t, 7, leaf, cache);
        break;
    case 5:
        find_moves(t, 5, leaf, cache);
        break;
    default:
        find_moves(t, 3, leaf, cache);
    }
}

/* Non-zero cells, a bit each; and their neighbours. */
static unsigned near_of(const unsigned char row[WIDE])
{
    unsigned bits = 0;
    for (int x = 0; x < WIDE; x++)
        bits |= (unsigned)(row[x] != 0) << x;
    return (bits | bits << 1 | bits >> 1) & 0xffff;
}

/* Candidates for the first generation: the cells that leaves name, and along the borders between
 * leaves all cells that are, or have, a non-zero neighbour. Empty space stays empty. */
static void find_first(const states_t *part[4], const unsigned char cell[WIDE * WIDE],
                       uint64_t may[WORDS])
{
    unsigned char across[WIDE];
    uint32_t along[WIDE + 2] = {0};
    for (int y = 0; y < WIDE; y++)
        memcpy(&along[y + 1], &cell[y * WIDE + SIDE - 2], sizeof along[0]);
    for (int x = 0; x < WIDE; x++)
        across[x] = cell[(SIDE - 2) * WIDE + x] | cell[(SIDE - 1) * WIDE + x] |
                    cell[SIDE * WIDE + x] | cell[(SIDE + 1) * WIDE + x];
    const unsigned meet = near_of(across);
    memset(may, 0, WORDS * sizeof *may);
    for (int y = 0; y < WIDE; y++) {
        const states_t *const *side = &part[y / SIDE * 2];
        unsigned row = side[0][STATES_OF_FILES + y % SIDE] |
                       (unsigned)side[1][STATES_OF_FILES + y % SIDE] << SIDE;
        row |= along[y] | along[y + 1] | along[y + 2] ? 3u << (SIDE - 1) : 0;
        row |= y == SIDE - 1 || y == SIDE ? meet : 0;
        may[y / 4] |= (uint64_t)row << y % 4 * WIDE;
    }
}

/* Candidates for the next generation: cells that have changed, and their neighbours. */
INLINE void find_next(const uint64_t changed[WORDS], uint64_t may[WORDS])
{
    uint64_t wide[WORDS + 2] = {0};
    for (int i = 0; i < WORDS; i++)
        wide[i + 1] =
            changed[i] | (changed[i] << 1 & FOUR(0xfffe)) | (changed[i] >> 1 & FOUR(0x7fff));
    for (int i = 0; i < WORDS; i++)
        may[i] = wide[i + 1] | wide[i + 1] << WIDE | wide[i + 1] >> WIDE | wide[i] >> (64 - WIDE) |
                 wide[i + 2] << (64 - WIDE);
}

/* Advance the candidates by generation g. Changes are in a list and in `changed`; false if there
 * are none. Valid cells divide into blocks of 2 x 2; blocks with candidates are bits of one word,
 * since a loop for each row of blocks would be mispredicted at its end. */
INLINE bool transitions_step(const struct life_transitions *t, int places,
                             const unsigned char at[TRANSITIONS_PLACES],
                             unsigned char cell[WIDE * WIDE], int g, const uint64_t may[WORDS],
                             uint64_t changed[WORDS], struct states_block *cache)
{
#define PAIR(i) i, i + 2 * WIDE
#define ROW(i)                                                                                     \
    PAIR(i), PAIR(i + 2), PAIR(i + 4), PAIR(i + 6), PAIR(i + 8), PAIR(i + 10), PAIR(i + 12),       \
        PAIR(i + 14)
    /* The place of each bit's block, from the first. */
    static const unsigned char block[64] = {ROW(0), ROW(64), ROW(128), ROW(192)};
#undef ROW
#undef PAIR
    const int first = g + 1, blocks = SIDE - first;
    const unsigned inside = 0x5555u & ((1u << 2 * blocks) - 1);
    uint64_t left = 0;
    uint32_t next[64];
    unsigned char where[64];
    unsigned n = 0;
    for (int i = 0; i < blocks; i++) {
        const int y = first + 2 * i;
        const uint64_t rows = may[y / 4] >> y % 4 * WIDE | may[(y + 1) / 4] >> (y + 1) % 4 * WIDE;
        const unsigned two = (unsigned)(rows & 0xffff) >> first;
        left |= (uint64_t)((two | two >> 1) & inside) << (i / 2 * WIDE + i % 2);
    }
    for (; left; left &= left - 1) {
        const int bit = __builtin_ctzll(left), i = first * (WIDE + 1) + block[bit];
        next[n] = transitions_block(t, places, at, &cell[i - WIDE - 1], WIDE, cache);
        where[n] = (unsigned char)i;
        n += next[n] != block_at(&cell[i], WIDE);
    }
    memset(changed, 0, WORDS * sizeof *changed);
    for (unsigned k = 0; k < n; k++) {
        const unsigned i = where[k], below = i + WIDE;
        const uint32_t differ = block_bits(next[k] ^ block_at(&cell[i], WIDE));
        changed[i / 64] |= (uint64_t)differ << i % 64;
        changed[below / 64] |= (uint64_t)(differ >> 16) << below % 64;
        for (unsigned j = 0; j < 2; j++) {
            cell[i + j] = (unsigned char)(next[k] >> 8 * j);
            cell[below + j] = (unsigned char)(next[k] >> 8 * (j + 2));
        }
    }
    return n > 0;
}

INLINE void transitions_steps(const struct life_transitions *t, int places, const states_t *part[4],
                              unsigned char cell[WIDE * WIDE], int generations,
                              struct states_block *cache)
{
    uint64_t may[WORDS], changed[WORDS];
    unsigned char at[TRANSITIONS_PLACES];
    find_places(t, WIDE, at);
    find_first(part, cell, may);
    for (int g = 0;
         g < generations && transitions_step(t, places, at, cell, g, may, changed, cache); g++)
        find_next(changed, may);
}

static void all_transitions(const struct hashlife *h, const states_t *part[4], int generations,
                            states_t *out, struct states_block *cache)
{
    const struct life_transitions *t = h->transitions;
    unsigned char cell[WIDE * WIDE];
    for (int y = 0; y < WIDE; y++)
        for (int i = 0; i < 2; i++)
            memcpy(&cell[y * WIDE + i * SIDE], part[y / SIDE * 2 + i] + y % SIDE * SIDE, SIDE);
    switch (h->lookups.levels ? 0 : t->places) {
    case 0:
        h->isa->lookups_states(&h->lookups, cell, generations);
        break;
    case 9:
        transitions_steps(t, 9, part, cell, generations, cache);
        break;
    case 7:
        transitions_steps(t, 7, part, cell, generations, cache);
        break;
    case 5:
        transitions_steps(t, 5, part, cell, generations, cache);
        break;
    default:
        transitions_steps(t, 3, part, cell, generations, cache);
    }
    for (int y = 0; y < SIDE; y++)
        memcpy(out + y * SIDE, &cell[(y + SIDE / 2) * WIDE + SIDE / 2], SIDE);
}

/* ---- Either kind. ---------------------------------------------------------------------------- */

void hash_states_step(const struct hashlife *h, const states_t *part[4], int k, states_t *out,
                      struct states_block *cache)
{
    if (h->transitions)
        all_transitions(h, part, 1 << k, out, cache);
    else
        generations_steps(h, part, 1 << k, out);
}

void hash_states_middle(const struct hashlife *h, const states_t *part[4], states_t *out)
{
    const int side = hash_side(h), half = side / 2;
    for (int y = 0; y < side; y++)
        for (int i = 0; i < 2; i++)
            memcpy(out + y * side + i * half,
                   part[y / half * 2 + i] + (y + half) % side * side + (1 - i) * half,
                   (size_t)half);
}
