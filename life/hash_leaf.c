/* hash_leaf.c - the lowest level of HashLife: 32 x 32 cells, up to eight generations.
 *
 * A row is a word. Neighbours are summed bit by bit (README.md, "32 cells at a time"), eight rows
 * at a time: row y is lane y / 4 of vector y % 4, so that the rows above and below it are the same
 * lane of other vectors, and only the first and the last vector need a rotation of lanes. Each
 * generation invalidates one more cell from the edges inward; after eight generations the middle
 * 16 x 16 cells are valid.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_leaf.h"
#include "life/vectors.h"

#include <string.h>

enum { ROWS = 32, LEAF_VECTORS = 4 };
typedef uint32_t leaf_rows __attribute__((vector_size(32)));

#ifdef __clang__
#define LANES_FROM(v, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#else
#define LANES_FROM(v, ...) __builtin_shuffle(v, (leaf_rows){__VA_ARGS__})
#endif
#define INLINE static inline __attribute__((always_inline))

#define LEAF_SUM(a, b, c) ((a) ^ (b) ^ (c))
#define LEAF_MAJORITY(a, b, c) (((a) & (b)) | ((c) & ((a) ^ (b))))

/* For each of the four vectors: the sum of three rows, and its carry. */
INLINE void leaf_add_rows(const leaf_rows row[LEAF_VECTORS], leaf_rows sum[LEAF_VECTORS],
                          leaf_rows carry[LEAF_VECTORS])
{
    const leaf_rows first = LANES_FROM(row[3], 7, 0, 1, 2, 3, 4, 5, 6),
                    last = LANES_FROM(row[0], 1, 2, 3, 4, 5, 6, 7, 0);
    for (int i = 0; i < LEAF_VECTORS; i++) {
        const leaf_rows above = i > 0 ? row[i - 1] : first,
                        below = i < LEAF_VECTORS - 1 ? row[i + 1] : last;
        sum[i] = LEAF_SUM(above, row[i], below);
        carry[i] = LEAF_MAJORITY(above, row[i], below);
    }
}

/* The sums of blocks: the 3 x 3 block around each cell has b + 2 k + 2 p + 4 q live cells. */
struct leaf_sums {
    leaf_rows b[LEAF_VECTORS], k[LEAF_VECTORS], p[LEAF_VECTORS], q[LEAF_VECTORS];
};

INLINE void leaf_add(const leaf_rows cell[LEAF_VECTORS], struct leaf_sums *sums)
{
    leaf_rows s[LEAF_VECTORS], m[LEAF_VECTORS];
    for (int i = 0; i < LEAF_VECTORS; i++) {
        const leaf_rows left = cell[i] << 1, right = cell[i] >> 1;
        s[i] = LEAF_SUM(left, cell[i], right);
        m[i] = LEAF_MAJORITY(left, cell[i], right);
    }
    leaf_add_rows(s, sums->b, sums->k);
    leaf_add_rows(m, sums->p, sums->q);
}

/* B3/S23: alive with three in the block, or with four including the cell. */
LIFE_VECTORS static void step_conway(uint32_t rows[ROWS], int generations)
{
    leaf_rows cell[LEAF_VECTORS];
    struct leaf_sums of;
    memcpy(cell, rows, sizeof cell);
    for (int g = 0; g < generations; g++) {
        leaf_add(cell, &of);
        for (int i = 0; i < LEAF_VECTORS; i++) {
            const leaf_rows one = of.k[i] ^ of.p[i], two = of.k[i] | of.p[i];
            cell[i] = ~(of.b[i] ^ one) & (two ^ of.q[i]) & (of.b[i] | cell[i]);
        }
    }
    memcpy(rows, cell, sizeof cell);
}

/* Next state of the cell in the middle of a block of n live cells, its own included. */
static unsigned counted_next(const struct life_rule *rule, unsigned n, unsigned cell)
{
    return n < cell ? 0 : (unsigned)((cell ? rule->survival : rule->birth) >> (n - cell) & 1);
}

void hash_leaf_counts(const struct life_rule *rule, struct leaf_counts *counts)
{
    for (unsigned half = 0; half < 5; half++) {
        const unsigned n = 2 * half, neither = counted_next(rule, n, 0),
                       odd = neither ^ counted_next(rule, n + 1, 0),
                       cell = neither ^ counted_next(rule, n, 1),
                       both = odd ^ counted_next(rule, n, 1) ^ counted_next(rule, n + 1, 1),
                       bit[4] = {neither, odd, cell, both};
        for (int i = 0; i < 4; i++)
            counts->mask[half][i] = 0 - bit[i];
    }
    for (int half = 1; half < 4; half += 2)
        for (int i = 0; i < 4; i++)
            counts->mask[half][i] ^= counts->mask[half - 1][i];
}

/* Any outer-totalistic rule. A block of n cells has the bits b, two, four and eight. */
LIFE_VECTORS static void step_counts(const struct leaf_counts *counts[2], uint32_t rows[ROWS],
                                     int odd, int generations)
{
    leaf_rows cell[LEAF_VECTORS];
    struct leaf_sums of;
    memcpy(cell, rows, sizeof cell);
    for (int g = 0; g < generations; g++) {
        const uint32_t(*const mask)[4] = counts[(odd + g) & 1]->mask;
        leaf_add(cell, &of);
        for (int i = 0; i < LEAF_VECTORS; i++) {
            const leaf_rows b = of.b[i], two = of.k[i] ^ of.p[i], carry = of.k[i] & of.p[i],
                            four = carry ^ of.q[i], eight = carry & of.q[i], both = b & cell[i];
            leaf_rows next[5];
            for (int half = 0; half < 5; half++)
                next[half] = mask[half][0] ^ (mask[half][1] & b) ^ (mask[half][2] & cell[i]) ^
                             (mask[half][3] & both);
            const leaf_rows low = next[0] ^ (next[1] & two), high = next[2] ^ (next[3] & two),
                            to_7 = low ^ ((low ^ high) & four);
            cell[i] = to_7 ^ ((to_7 ^ next[4]) & eight);
        }
    }
    memcpy(rows, cell, sizeof cell);
}

/* Next middle of each block of 4 x 4 cells, with cell (x, y) in bit 4 y + x. */
void hash_leaf_table(const struct life_table *rule, uint8_t middle[1 << 16])
{
    static const unsigned rows = 1 << 12; /* contents of three rows of four cells */
    uint8_t two[1 << 12];                 /* next states of the two cells in the middle */
    for (unsigned cells = 0; cells < rows; cells++) {
        two[cells] = 0;
        for (unsigned i = 0; i < 2; i++) {
            const unsigned block =
                (cells >> i & 7) | (cells >> (4 + i) & 7) << 3 | (cells >> (8 + i) & 7) << 6;
            two[cells] |= (uint8_t)(life_table_next(rule, block) << i);
        }
    }
    for (unsigned cells = 0; cells < 1 << 16; cells++)
        middle[cells] = (uint8_t)(two[cells & (rows - 1)] | two[cells >> 4] << 2);
}

/* Rows from the first to the last with live cells; none if first > last. */
struct leaf_span {
    int first, last;
};

static struct leaf_span leaf_span_of(const uint32_t rows[ROWS])
{
    uint32_t live = 0; /* a bit for each row */
    for (int y = 0; y < ROWS; y++)
        live |= (uint32_t)(rows[y] != 0) << y;
    return live ? (struct leaf_span){__builtin_ctz(live), 31 - __builtin_clz(live)}
                : (struct leaf_span){ROWS, -1};
}

/* A generation by the table of 4 x 4 cells; `wrong` cells at each edge are not valid. Blocks
 * without live cells stay empty under every rule here and are skipped. Their places in four rows of
 * blocks are bits of one word: a loop for each row of blocks would be mispredicted at its end. */
static void table_generation(const uint8_t *middle, uint32_t cell[ROWS], int wrong,
                             struct leaf_span span)
{
    enum { BLOCKS = ROWS / 2 - 1 }; /* in a column; block i is in pairs of rows i and i + 1 */
    const uint64_t nibbles = 0xf0000000fu;
    const uint32_t places = 0x15555555u >> 2 * wrong;
    const int first = span.first < wrong + 3 ? 0 : (span.first - wrong - 2) / 2,
              most = (span.last - wrong) / 2 + 1,
              end = most < BLOCKS - wrong ? most : BLOCKS - wrong;
    uint64_t pair[BLOCKS + 1], next[BLOCKS], some[4] = {0};
    for (int i = first; i <= end; i++)
        pair[i] = cell[wrong + 2 * i] | (uint64_t)cell[wrong + 2 * i + 1] << 32;
    for (int i = first; i < end; i++) {
        const uint64_t rows = pair[i] | pair[i + 1];
        const uint32_t any = (uint32_t)(rows | rows >> 32) >> wrong, two = any | any >> 1;
        some[i / 4] |= (uint64_t)((two | two >> 2) & places) << (i % 4 / 2 * 32 + i % 2);
        next[i] = 0;
    }
    for (int four = first / 4; 4 * four < end; four++)
        for (uint64_t left = some[four]; left; left &= left - 1) {
            const int bit = __builtin_ctzll(left), i = 4 * four + bit / 32 * 2 + bit % 2,
                      at = (bit & 30) + wrong;
            const uint64_t rows = (pair[i] >> at & nibbles) | (pair[i + 1] >> at & nibbles) << 8,
                           out = middle[(rows | rows >> 28) & 0xffff];
            next[i] |= (out * 0x40000001u & 0x300000003u) << (at + 1);
        }
    for (int i = first; i < end; i++) {
        cell[wrong + 2 * i + 1] = (uint32_t)next[i];
        cell[wrong + 2 * i + 2] = (uint32_t)(next[i] >> 32);
    }
}

/* Other rules, by look-ups of vectors or by the table of 4 x 4 cells: rows in their order. */
static void step_table(const struct hashlife *h, uint32_t rows[ROWS + 2], int odd, int generations)
{
    if (h->isa->lookups_bits) {
        const struct life_columns *const of[2] = {&h->columns[odd & 1], &h->columns[~odd & 1]};
        h->isa->lookups_bits(of, rows, generations);
        return;
    }
    struct leaf_span span = leaf_span_of(rows);
    for (int g = 0; g < generations; g++, span.first--, span.last++)
        table_generation(h->middle[(odd + g) & 1], rows, g, span);
}

static void step_table_rows(const struct hashlife *h, uint32_t cell[ROWS], int odd, int generations)
{
    uint32_t rows[ROWS + 2];
    for (int y = 0; y < ROWS; y++)
        rows[y] = cell[LEAF_ROW(y)];
    step_table(h, rows, odd, generations);
    for (int y = 0; y < ROWS; y++)
        cell[LEAF_ROW(y)] = rows[y];
}

void hash_leaf_rows(const struct hashlife *h, uint32_t cell[ROWS], int odd, int generations)
{
    if (h->conway)
        step_conway(cell, generations);
    else if (h->lf->rule.counts)
        step_counts((const struct leaf_counts *[2]){&h->counts[0], &h->counts[1]}, cell, odd,
                    generations);
    else
        step_table_rows(h, cell, odd, generations);
}

/* Rows of four leaves, `ordered` or each at its LEAF_ROW; their middle. */
INLINE void leaf_join(const struct leaf *part[4], uint32_t cell[ROWS], bool ordered)
{
    for (int y = 0; y < 16; y++) {
        cell[ordered ? y : LEAF_ROW(y)] = part[NW]->row[y] | (uint32_t)part[NE]->row[y] << 16;
        cell[ordered ? y + 16 : LEAF_ROW(y + 16)] = part[SW]->row[y] | (uint32_t)part[SE]->row[y]
                                                                           << 16;
    }
}

INLINE void leaf_cut(const uint32_t cell[ROWS], bool ordered, struct leaf *out)
{
    for (int y = 0; y < 16; y++)
        out->row[y] = (uint16_t)(cell[ordered ? y + 8 : LEAF_ROW(y + 8)] >> 8);
}

void hash_leaf_step(const struct hashlife *h, const struct leaf *part[4], int k, struct leaf *out)
{
    uint32_t cell[ROWS + 2];
    if (!h->lf->rule.counts) {
        leaf_join(part, cell, true);
        step_table(h, cell, h->odd, 1 << k);
        leaf_cut(cell, true, out);
    } else if (h->isa->leaf_advance) {
        const struct leaf_counts *const even = h->conway ? NULL : &h->counts[h->odd & 1],
                                        *const odd = &h->counts[~h->odd & 1];
        h->isa->leaf_advance((const struct leaf_counts *[2]){even, odd}, part, 1 << k, out);
    } else {
        leaf_join(part, cell, false);
        hash_leaf_rows(h, cell, h->odd, 1 << k);
        leaf_cut(cell, false, out);
    }
}

void hash_leaf_middle(const struct leaf *part[4], struct leaf *out)
{
    for (int y = 0; y < 8; y++) {
        out->row[y] = (uint16_t)(part[NW]->row[y + 8] >> 8 | part[NE]->row[y + 8] << 8);
        out->row[y + 8] = (uint16_t)(part[SW]->row[y] >> 8 | part[SE]->row[y] << 8);
    }
}
