/* census_soup.c - the cells of a soup: random, or apgsearch's, with the symmetries of Catagolue.
 *
 * A symmetric soup is the union of a random part and its images. The part's cell (0, 0) is next to
 * the centre; an image at the other side of a vertical axis has x' = -x if the axis is in the
 * middle of the cells, and x' = -1 - x if it is between cells. The digit of a name counts cells in
 * the middle: 1 is a cell, 2 an edge between two, 4 a corner of four
 * (catagolue.hatsya.com/census; conwaylife.com/wiki/Symmetry).
 *
 * apgsearch's soup `n` of a root is the SHA-256 digest of the root followed by n in decimal: 16
 * rows of 16 cells, the highest bit of a byte first. Parts with a symmetric diagonal take the cells
 * on and above it.
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"
#include "life/cells.h"
#include "life/grid.h"

#include "stdcl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SOUP_SIDE = 16, SOUP_MOST_ROOT = 64 };

/* ---- SHA-256 (FIPS 180-4), of messages that fit two blocks. ---------------------------------- */

enum { SHA_BLOCK = 64, SHA_DIGEST = 32, SHA_BLOCKS = 2 };

static uint32_t sha_rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void sha_block(uint32_t h[8], const unsigned char *block)
{
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (sha_rotate(w[i - 15], 7) ^ sha_rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (sha_rotate(w[i - 2], 17) ^ sha_rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        const uint32_t one = v[7] + k[i] + w[i] + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
                             (sha_rotate(v[4], 6) ^ sha_rotate(v[4], 11) ^ sha_rotate(v[4], 25)),
                       two = ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])) +
                             (sha_rotate(v[0], 2) ^ sha_rotate(v[0], 13) ^ sha_rotate(v[0], 22));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

/* The message has at most SHA_BLOCKS * SHA_BLOCK - 9 bytes. */
static void sha_digest(const char *message, size_t n, unsigned char digest[SHA_DIGEST])
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char text[SHA_BLOCKS * SHA_BLOCK] = {0};
    const size_t blocks = (n + 9 + SHA_BLOCK - 1) / SHA_BLOCK;
    memcpy(text, message, n);
    text[n] = 0x80;
    text[blocks * SHA_BLOCK - 2] = (unsigned char)(8 * n >> 8);
    text[blocks * SHA_BLOCK - 1] = (unsigned char)(8 * n);
    for (size_t i = 0; i < blocks; i++)
        sha_block(h, text + i * SHA_BLOCK);
    for (int i = 0; i < SHA_DIGEST; i++)
        digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- Symmetries. ----------------------------------------------------------------------------- */

/* Images of the part: reflected left-right, top-bottom, rotated by a half turn, by quarter turns;
 * DIAGONAL: the part itself is symmetric; OTHER_HALF: reflections take the cells on the other
 * side of the part's diagonal. */
enum {
    LEFT_RIGHT = 1,
    TOP_BOTTOM = 2,
    HALF_TURN = 4,
    QUARTER_TURNS = 8,
    DIAGONAL = 16,
    OTHER_HALF = 32,
    ALL_THREE = LEFT_RIGHT | TOP_BOTTOM | HALF_TURN
};
struct census_symmetry {
    const char *name;
    int images;
    int even_x, even_y; /* 1: the axis is between cells */
};
static const struct census_symmetry symmetries[] = {
    {"C1", 0, 0, 0},
    {"C2_1", HALF_TURN, 0, 0},
    {"C2_2", HALF_TURN, 1, 0},
    {"C2_4", HALF_TURN, 1, 1},
    {"C4_1", HALF_TURN | QUARTER_TURNS, 0, 0},
    {"C4_4", HALF_TURN | QUARTER_TURNS, 1, 1},
    {"D2_+1", TOP_BOTTOM, 0, 0},
    {"D2_+2", TOP_BOTTOM, 0, 1},
    {"D2_x", DIAGONAL, 0, 0},
    {"D4_+1", ALL_THREE, 0, 0},
    {"D4_+2", ALL_THREE, 1, 0},
    {"D4_+4", ALL_THREE, 1, 1},
    {"D4_x1", ALL_THREE | DIAGONAL | OTHER_HALF, 0, 0},
    {"D4_x4", ALL_THREE | DIAGONAL | OTHER_HALF, 1, 1},
    {"D8_1", ALL_THREE | DIAGONAL, 0, 0},
    {"D8_4", ALL_THREE | DIAGONAL, 1, 1},
};

static int refuse_symmetry(const char *name)
{
    char list[256] = "";
    for (size_t i = 0; i < sizeof symmetries / sizeof *symmetries; i++) {
        strcat(list, i ? ", " : "");
        strcat(list, symmetries[i].name);
    }
    return clerror_set(EINVAL, "life: '%s' is not a symmetry of a census; these are: %s", name,
                       list);
}

static int find_symmetry(struct census_soups *s, const char *name)
{
    for (size_t i = 0; i < sizeof symmetries / sizeof *symmetries && !s->symmetry; i++)
        if (strcmp(symmetries[i].name, name) == 0)
            s->symmetry = &symmetries[i];
    if (!s->symmetry)
        return refuse_symmetry(name);
    const struct census_symmetry *m = s->symmetry;
    if (m->images & (QUARTER_TURNS | DIAGONAL) && s->part_width != s->part_height)
        return clerror_set(EINVAL, "life: a soup of symmetry %s is square, not %zu x %zu", name,
                           s->part_width, s->part_height);
    const bool wider = m->images & (LEFT_RIGHT | HALF_TURN),
               higher = m->images & (TOP_BOTTOM | HALF_TURN);
    s->left = wider ? s->part_width - 1 + (size_t)m->even_x : 0;
    s->above = higher ? s->part_height - 1 + (size_t)m->even_y : 0;
    s->width = s->part_width + s->left;
    s->height = s->part_height + s->above;
    if (s->width > CENSUS_PATCH || s->height > CENSUS_PATCH)
        return clerror_set(EINVAL,
                           "life: a census soup has at most 64 x 64 cells; symmetry %s makes it "
                           "%zu x %zu",
                           name, s->width, s->height);
    return 0;
}

static void soup_set(const struct census_soups *s, uint64_t row[CENSUS_PATCH], int x, int y)
{
    row[y + (int)s->above] |= (uint64_t)1 << (x + (int)s->left);
}

static bool part_cell(const uint64_t part[CENSUS_PATCH], int x, int y)
{
    return part[y] >> x & 1;
}

/* Set the images of the cells of a part. */
static void soup_unite(const struct census_soups *s, const uint64_t part[CENSUS_PATCH],
                       uint64_t row[CENSUS_PATCH])
{
    const struct census_symmetry *m = s->symmetry;
    for (int y = 0; y < (int)s->part_height; y++)
        for (int x = 0; x < (int)s->part_width; x++) {
            const bool upper = part_cell(part, x > y ? x : y, x > y ? y : x),
                       lower = part_cell(part, x > y ? y : x, x > y ? x : y);
            const bool alive = m->images & DIAGONAL ? upper : part_cell(part, x, y),
                       reflected = m->images & OTHER_HALF ? lower : alive;
            const int far_x = -x - m->even_x, far_y = -y - m->even_y;
            if (alive)
                soup_set(s, row, x, y);
            if (alive && m->images & HALF_TURN)
                soup_set(s, row, far_x, far_y);
            if (alive && m->images & QUARTER_TURNS) {
                soup_set(s, row, y, far_x);
                soup_set(s, row, far_y, x);
            }
            if (reflected && m->images & LEFT_RIGHT)
                soup_set(s, row, far_x, y);
            if (reflected && m->images & TOP_BOTTOM)
                soup_set(s, row, x, far_y);
        }
}

/* ---- Soups. ---------------------------------------------------------------------------------- */

int census_soups_make(struct census_soups *s, const struct life_census_options *o)
{
    *s = (struct census_soups){.seed = o->seed,
                               .part_width = o->width ? o->width : SOUP_SIDE,
                               .part_height = o->height ? o->height : SOUP_SIDE};
    if (o->width > CENSUS_PATCH || o->height > CENSUS_PATCH)
        return clerror_set(EINVAL, "life: a census soup has at most 64 x 64 cells, not %zu x %zu",
                           o->width, o->height);
    if (!(o->density >= 0 && o->density <= 1))
        return clerror_set(EINVAL, "life: soup density %g is outside 0 to 1", o->density);
    s->density = (uint64_t)llround((o->density > 0 ? o->density : 0.5) * 4294967296.0);
    if (o->root && (!*o->root || strlen(o->root) > SOUP_MOST_ROOT))
        return clerror_set(EINVAL, "life: a root of soups has 1 to %d characters, not %zu",
                           SOUP_MOST_ROOT, strlen(o->root));
    for (const char *c = o->root; c && *c; c++)
        if (!isprint((unsigned char)*c) || (unsigned char)*c >= 0x80)
            return clerror_set(EINVAL,
                               "life: character %td of a root of soups is no printable ASCII",
                               c - o->root + 1);
    if (o->root && (s->part_width != SOUP_SIDE || s->part_height != SOUP_SIDE || o->density > 0))
        return clerror_set(EINVAL, "life: soups of a root have 16 x 16 cells, half of them alive");
    if (o->root)
        strcpy(s->root, o->root);
    return find_symmetry(s, o->symmetry ? o->symmetry : "C1");
}

/* Rows of apgsearch's soup. */
static void root_rows(const struct census_soups *s, uint64_t number, uint64_t part[CENSUS_PATCH])
{
    char text[SOUP_MOST_ROOT + 24];
    unsigned char digest[SHA_DIGEST];
    const int n = snprintf(text, sizeof text, "%s%" PRIu64, s->root, number);
    sha_digest(text, (size_t)n, digest);
    for (size_t y = 0; y < SOUP_SIDE; y++) {
        part[y] = 0;
        for (size_t x = 0; x < SOUP_SIDE; x++)
            part[y] |= (uint64_t)(digest[2 * y + x / 8] >> (7 - x % 8) & 1) << x;
    }
}

void census_soup_rows(const struct census_soups *s, uint64_t number, uint64_t row[CENSUS_PATCH])
{
    uint64_t part[CENSUS_PATCH] = {0};
    if (s->root[0])
        root_rows(s, number, part);
    for (size_t y = 0; y < s->part_height && !s->root[0]; y++)
        part[y] = life_random_word(s->density, number, y, s->seed) & life_last_mask(s->part_width);
    if (!s->symmetry->images) {
        memcpy(row, part, CENSUS_PATCH * sizeof *row);
        return;
    }
    memset(row, 0, CENSUS_PATCH * sizeof *row);
    soup_unite(s, part, row);
}
