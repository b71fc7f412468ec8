/* hash_tree.c - the tree as a plane of cells.
 *
 * The middle of the plane is cell (0, 0), the first cell of its south-eastern quarter. Coordinates
 * have 128 bits here, enough for any level.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_nodes.h"

#include "life/hash_map.h"
#include "life/vectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static wide tree_side_of(int level)
{
    return (wide)1 << level;
}

struct worker *hash_worker(struct hashlife *h)
{
    h->worker[0].depth = 0;
    h->error = 0;
    return &h->worker[0];
}

int hash_failed(const struct hashlife *h)
{
    const unsigned long long at = h->lf->generation;
    if (h->error == ECANCELED)
        return clerror_set(ECANCELED, "life: ended by the caller at generation %llu", at);
    if (h->error == ERANGE)
        return clerror_set(
            ERANGE, "life: at generation %llu the plane would be more than 2^%d cells across", at,
            LEVEL_MAX);
    return clerror_set(
        ENOMEM,
        "life: at generation %llu the tree needs at least %zu MiB of memory, and was "
        "given %zu; give it more, or go on with fewer cells or in smaller steps",
        at, ((h->needed > h->memory ? h->needed : h->memory) >> 20) + 1, h->memory >> 20);
}

static int tree_give_up(struct hashlife *h, int error)
{
    h->error = error;
    return -1;
}

/* ---- The root. ------------------------------------------------------------------------------- */

int hash_clear(struct hashlife *h)
{
    struct worker *w = hash_worker(h);
    h->level = h->leaf_level + 3;
    h->root = hash_empty(w, h->level);
    h->lf->generation = 0;
    return h->root == NO_SQUARE ? -1 : 0;
}

int hash_grow(struct hashlife *h)
{
    struct worker *w = hash_worker(h);
    if (h->level == LEVEL_MAX)
        return tree_give_up(h, ERANGE);
    const square_t *part = h->node[h->root].part, e = hash_empty(w, h->level - 1);
    if (e == NO_SQUARE)
        return tree_give_up(h, ENOMEM);
    const square_t nw = hash_node_find(w, h->level, e, e, e, part[NW]),
                   ne = hash_node_find(w, h->level, e, e, part[NE], e),
                   sw = hash_node_find(w, h->level, e, part[SW], e, e),
                   se = hash_node_find(w, h->level, part[SE], e, e, e);
    if (nw == NO_SQUARE || ne == NO_SQUARE || sw == NO_SQUARE || se == NO_SQUARE)
        return tree_give_up(h, ENOMEM);
    const square_t root = hash_node_find(w, h->level + 1, nw, ne, sw, se);
    if (root == NO_SQUARE || hash_empty(w, h->level + 1) == NO_SQUARE)
        return tree_give_up(h, ENOMEM);
    h->root = root;
    h->level++;
    return 0;
}

/* True if all parts of a node except one are empty. */
static bool only(const struct hashlife *h, square_t node, int level, int part)
{
    for (int i = 0; i < 4; i++)
        if (i != part && h->node[node].part[i] != h->empty[level - 1])
            return false;
    return true;
}

bool hash_has_room(const struct hashlife *h)
{
    for (int i = 0; i < 4; i++) {
        const square_t quarter = h->node[h->root].part[i];
        if (!only(h, quarter, h->level - 1, 3 - i) ||
            !only(h, h->node[quarter].part[3 - i], h->level - 2, 3 - i))
            return false;
    }
    return true;
}

void hash_shrink(struct hashlife *h)
{
    struct worker *w = hash_worker(h);
    for (; h->level > h->leaf_level + 3; h->level--) {
        square_t middle[4];
        for (int i = 0; i < 4; i++) {
            const square_t quarter = h->node[h->root].part[i];
            if (!only(h, quarter, h->level - 1, 3 - i))
                return;
            middle[i] = h->node[quarter].part[3 - i];
        }
        const square_t root =
            hash_node_find(w, h->level - 1, middle[NW], middle[NE], middle[SW], middle[SE]);
        if (root == NO_SQUARE)
            return;
        h->root = root;
    }
}

/* ---- Rectangles. ----------------------------------------------------------------------------- */

/* True if a square with that corner intersects the window. */
static bool tree_square_in(const struct life_window *v, int level, wide x, wide y)
{
    return x < v->x + (wide)v->width && y < v->y + (wide)v->height &&
           x + tree_side_of(level) > v->x && y + tree_side_of(level) > v->y;
}

/* n cells of a window's row from column `at` on, a bit each; n <= 16. */
static unsigned tree_cells(const struct life_window *v, size_t at, size_t y, unsigned n)
{
    uint64_t bits = 0;
    if (v->state) {
        for (unsigned i = 0; i < n; i++)
            bits |= (uint64_t)v->state[y * v->width + at + i] << i;
    } else {
        const uint64_t *word = v->cells->word + y * v->cells->stride + at / 64;
        bits = word[0] >> at % 64;
        if (at % 64 + n > 64)
            bits |= word[1] << (64 - at % 64);
    }
    return (unsigned)bits & ((1u << n) - 1);
}

/* Clamp a column or row to a leaf. */
static int clamped(const struct hashlife *h, wide x)
{
    return x < 0 ? 0 : x > hash_side(h) ? hash_side(h) : (int)x;
}

static square_t add_states(struct worker *w, const struct life_window *v, square_t square, wide x,
                           wide y)
{
    const struct hashlife *h = w->h;
    states_t leaf[STATES_MOST];
    memcpy(leaf, hash_states(h, square), h->leaf_content);
    const wide left = v->x - x, top = v->y - y; /* of the window in the leaf */
    const int first = clamped(h, left), end = clamped(h, left + (wide)v->width),
              bottom = clamped(h, top + (wide)v->height);
    for (int i = clamped(h, top); i < bottom; i++)
        for (int j = first; j < end; j++) {
            const size_t row = (size_t)(i - top), column = (size_t)(j - left);
            leaf[i << h->leaf_level | j] = v->state
                                               ? v->state[row * v->width + column]
                                               : (states_t)life_cells_at(v->cells, column, row);
        }
    return hash_leaf_find(w, leaf);
}

static square_t add_to_leaf(struct worker *w, const struct life_window *v, square_t square, wide x,
                            wide y)
{
    if (w->h->multistate)
        return add_states(w, v, square, x, y);
    struct leaf leaf = *hash_leaf(w->h, square);
    const wide left = v->x - x, top = v->y - y; /* of the window in the leaf */
    const int first = clamped(w->h, left), end = clamped(w->h, left + (wide)v->width),
              bottom = clamped(w->h, top + (wide)v->height);
    const size_t column = (size_t)(first - left);
    const unsigned n = (unsigned)(end - first), in = ((1u << n) - 1) << first;
    size_t row = top < 0 ? (size_t)-top : 0;
    for (int i = clamped(w->h, top); i < bottom; i++, row++)
        leaf.row[i] = (uint16_t)((leaf.row[i] & ~in) | tree_cells(v, column, row, n) << first);
    if (memcmp(&leaf, hash_leaf(w->h, square), sizeof leaf) != 0)
        return hash_leaf_find(w, &leaf);
    hash_keep(w, square, w->h->leaf_level);
    return square;
}

/* Return the square with the window's cells; it is pushed on the stack. */
static square_t add_window(struct worker *w, const struct life_window *v, square_t square,
                           int level, wide x, wide y)
{
    if (!tree_square_in(v, level, x, y))
        return square;
    if (level == w->h->leaf_level)
        return add_to_leaf(w, v, square, x, y);
    const size_t depth = w->depth;
    const wide half = tree_side_of(level - 1);
    square_t part[4];
    for (int i = 0; i < 4; i++) {
        part[i] = add_window(w, v, w->h->node[square].part[i], level - 1, i & 1 ? x + half : x,
                             i & 2 ? y + half : y);
        if (part[i] == NO_SQUARE)
            return NO_SQUARE;
    }
    const bool same = memcmp(part, w->h->node[square].part, sizeof part) == 0;
    const square_t out =
        same ? square : hash_node_find(w, level, part[NW], part[NE], part[SW], part[SE]);
    w->depth = depth;
    if (out != NO_SQUARE)
        hash_keep(w, out, level);
    return out;
}

static bool tree_is_far(long long x, size_t length)
{
    const long long most = 1LL << 62;
    return x < -most || x > most || length > (size_t)most || (wide)x + (wide)length > most;
}

int hash_put(life *lf, const struct life_window *v)
{
    struct hashlife *h = lf->state;
    if (tree_is_far(v->x, v->width) || tree_is_far(v->y, v->height))
        return clerror_set(ERANGE,
                           "life_put: cells more than 2^62 from the middle cannot be put there");
    const wide right = v->x + (wide)v->width, bottom = v->y + (wide)v->height;
    for (wide half = tree_side_of(h->level - 1);
         v->x < -half || v->y < -half || right > half || bottom > half; half *= 2)
        if (hash_grow(h) < 0)
            return hash_failed(h);
    const wide corner = -tree_side_of(h->level - 1);
    const square_t root = add_window(hash_worker(h), v, h->root, h->level, corner, corner);
    if (root == NO_SQUARE)
        return hash_failed(h);
    h->root = root;
    return 0;
}

/* Copy a square's part of a rectangle of states. */
static void get_states(const struct hashlife *h, const struct life_window *v, square_t square,
                       int level, wide x, wide y)
{
    if (square == h->empty[level] || !tree_square_in(v, level, x, y))
        return;
    if (level > h->leaf_level) {
        for (int i = 0; i < 4; i++)
            get_states(h, v, h->node[square].part[i], level - 1,
                       i & 1 ? x + tree_side_of(level - 1) : x,
                       i & 2 ? y + tree_side_of(level - 1) : y);
        return;
    }
    for (int i = 0; i < 1 << 2 * h->leaf_level; i++) {
        const int at_x = i % hash_side(h), at_y = i >> h->leaf_level;
        const wide column = x + at_x - v->x, row = y + at_y - v->y;
        if (column >= 0 && row >= 0 && column < (wide)v->width && row < (wide)v->height)
            v->state[(size_t)row * v->width + (size_t)column] =
                (unsigned char)(h->multistate ? hash_states(h, square)[i]
                                              : hash_leaf(h, square)->row[at_y] >> at_x & 1);
    }
}

/* A rectangle of squares of 2^zoom cells a side; (x, y) is its corner in cells. */
struct distant {
    struct life_cells *cells;
    wide x, y;
    unsigned zoom;
};

/* Set the bit of the square that has a cell, if it is in the rectangle. */
static void tree_see(const struct distant *v, wide x, wide y)
{
    const wide column = (x - v->x) >> v->zoom, row = (y - v->y) >> v->zoom;
    if (column >= 0 && row >= 0 && column < (wide)v->cells->width && row < (wide)v->cells->height)
        v->cells->word[(size_t)row * v->cells->stride + (size_t)column / 64] |=
            (uint64_t)1 << (size_t)column % 64;
}

static void tree_look(const struct hashlife *h, const struct distant *v, square_t square, int level,
                      wide x, wide y)
{
    const wide side = tree_side_of(level), across = (wide)v->cells->width << v->zoom,
               down = (wide)v->cells->height << v->zoom;
    if (square == h->empty[level] || x >= v->x + across || y >= v->y + down || x + side <= v->x ||
        y + side <= v->y)
        return;
    if (level <= (int)v->zoom &&
        level < h->level) { /* the whole plane lies in four squares of this zoom */
        tree_see(v, x, y);
    } else if (level == h->leaf_level) {
        for (int i = 0; i < hash_side(h); i++)
            for (unsigned bits = hash_row(h, square, i); bits; bits &= bits - 1)
                tree_see(v, x + __builtin_ctz(bits), y + i);
    } else {
        for (int i = 0; i < 4; i++)
            tree_look(h, v, h->node[square].part[i], level - 1, i & 1 ? x + side / 2 : x,
                      i & 2 ? y + side / 2 : y);
    }
}

static void look_from(const struct hashlife *h, unsigned zoom, long long x, long long y,
                      struct life_cells *cells)
{
    const struct distant v = {cells, (wide)x * tree_side_of((int)zoom),
                              (wide)y * tree_side_of((int)zoom), zoom};
    const wide corner = -tree_side_of(h->level - 1);
    for (size_t row = 0; row < cells->height; row++)
        memset(cells->word + row * cells->stride, 0,
               (cells->width + 63) / 64 * sizeof *cells->word);
    tree_look(h, &v, h->root, h->level, corner, corner);
}

int hash_get(life *lf, const struct life_window *v)
{
    const struct hashlife *h = lf->state;
    const wide corner = -tree_side_of(h->level - 1);
    if (!v->state) {
        look_from(h, 0, v->x, v->y, v->cells);
        return 0;
    }
    if (tree_is_far(v->x, v->width) || tree_is_far(v->y, v->height))
        return clerror_set(ERANGE,
                           "life_get_states: cells more than 2^62 from the middle cannot be had");
    memset(v->state, 0, v->width * v->height);
    get_states(h, v, h->root, h->level, corner, corner);
    return 0;
}

int hash_zoomed(life *lf, unsigned zoom, long long x, long long y, struct life_cells *cells)
{
    if (tree_is_far(x, cells->width) || tree_is_far(y, cells->height))
        return clerror_set(ERANGE,
                           "life_get_zoomed: squares from %lld,%lld on cannot be looked at; places "
                           "are below 2^62",
                           x, y);
    look_from(lf->state, zoom, x, y, cells);
    return 0;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

static struct life_number tree_number_of(uwide value)
{
    return (struct life_number){(uint64_t)value, (int64_t)(value >> 64)};
}

/* Squares up to this number of levels above leaves are counted without memoization. */
enum { SMALL = 4 };

struct counted {
    struct map seen; /* node: index in `of` */
    struct life_tally *of;
    size_t n, room;
};

static void tally_add(struct life_tally *sum, struct life_tally more)
{
    sum->low += more.low;
    sum->high += more.high + (sum->low < more.low);
}

/* Live cells of a leaf of bits, and nonzero ones of a leaf of states. */
LIFE_VECTORS static unsigned count_bits(const struct leaf *leaf)
{
    uint64_t word[4];
    unsigned n = 0;
    memcpy(word, leaf, sizeof word);
    for (int i = 0; i < 4; i++)
        n += (unsigned)__builtin_popcountll(word[i]);
    return n;
}

LIFE_VECTORS static unsigned count_states(const states_t *state, size_t cells)
{
    unsigned n = 0;
    for (size_t i = 0; i < cells; i++)
        n += state[i] != 0;
    return n;
}

static uint64_t count_small(const struct hashlife *h, square_t square, int level)
{
    uint64_t n = 0;
    if (square == h->empty[level])
        return 0;
    if (level == h->leaf_level)
        return h->multistate ? count_states(hash_states(h, square), h->leaf_content)
                             : count_bits(hash_leaf(h, square));
    for (int i = 0; i < 4; i++)
        n += count_small(h, h->node[square].part[i], level - 1);
    return n;
}

/* False if out of memory. */
static bool tree_count(const struct hashlife *h, struct counted *c, square_t square, int level,
                       struct life_tally *sum)
{
    struct life_tally n = {0, 0};
    if (level <= h->leaf_level + SMALL || square == h->empty[level]) {
        tally_add(sum, (struct life_tally){count_small(h, square, level), 0});
        return true;
    }
    uint32_t at = map_get(&c->seen, square);
    if (at == MAP_NONE) {
        for (int i = 0; i < 4; i++)
            if (!tree_count(h, c, h->node[square].part[i], level - 1, &n))
                return false;
        if (c->n == c->room) {
            const size_t room = c->room ? 2 * c->room : 256;
            struct life_tally *more = realloc(c->of, room * sizeof *more);
            if (!more)
                return false;
            c->of = more;
            c->room = room;
        }
        at = (uint32_t)c->n;
        if (!map_put(&c->seen, square, at))
            return false;
        c->of[c->n++] = n;
    }
    tally_add(sum, c->of[at]);
    return true;
}

int hash_population(life *lf, struct life_tally *population)
{
    const struct hashlife *h = lf->state;
    struct counted c = {.of = NULL};
    *population = (struct life_tally){0, 0};
    const bool done = tree_count(h, &c, h->root, h->level, population);
    map_free(&c.seen);
    free(c.of);
    return done ? 0
                : clerror_set(ENOMEM, "life_population: out of memory: cannot remember %zu squares",
                              c.n);
}

/* ---- Counting in squares. -------------------------------------------------------------------- */

struct raster {
    wide x, y;            /* of the first square, in units of squares */
    size_t width, height; /* in units of squares */
    int zoom;
    uint64_t *live;
    struct counted seen;
};

/* Counter of the square that has a cell; NULL outside. */
static uint64_t *counter_of(const struct raster *r, wide x, wide y)
{
    const wide column = (x >> r->zoom) - r->x, row = (y >> r->zoom) - r->y;
    return column < 0 || row < 0 || column >= (wide)r->width || row >= (wide)r->height
               ? NULL
               : &r->live[(size_t)row * r->width + (size_t)column];
}

static void count_leaf(const struct hashlife *h, const struct raster *r, square_t leaf, wide x,
                       wide y)
{
    for (int i = 0; i < hash_side(h); i++)
        for (unsigned bits = hash_row(h, leaf, i); bits; bits &= bits - 1) {
            uint64_t *to = counter_of(r, x + __builtin_ctz(bits), y + i);
            if (to)
                ++*to;
        }
}

static bool lies_apart(const struct raster *r, wide x, wide y, int level)
{
    const wide right = (x + tree_side_of(level) - 1) >> r->zoom,
               bottom = (y + tree_side_of(level) - 1) >> r->zoom;
    return right < r->x || bottom < r->y || (x >> r->zoom) >= r->x + (wide)r->width ||
           (y >> r->zoom) >= r->y + (wide)r->height;
}

/* A count of cells, at most UINT64_MAX. */
static uint64_t tally_saturated(uint64_t sum, struct life_tally n)
{
    const life_uwide most = UINT64_MAX - sum;
    return n.high || n.low > most ? UINT64_MAX : sum + (uint64_t)n.low;
}

/* False if out of memory. The plane's own square crosses the axes; its parts are within one square
 * of the raster if they are small enough. */
static bool count_squares(const struct hashlife *h, struct raster *r, square_t square, int level,
                          wide x, wide y)
{
    if (square == h->empty[level] || lies_apart(r, x, y, level))
        return true;
    if (level <= r->zoom && level < h->level) {
        struct life_tally n = {0, 0};
        if (!tree_count(h, &r->seen, square, level, &n))
            return false;
        uint64_t *const to = counter_of(r, x, y);
        *to = tally_saturated(*to, n);
        return true;
    }
    if (level == h->leaf_level) {
        count_leaf(h, r, square, x, y);
        return true;
    }
    const wide half = tree_side_of(level - 1);
    for (int i = 0; i < 4; i++)
        if (!count_squares(h, r, h->node[square].part[i], level - 1, i & 1 ? x + half : x,
                           i & 2 ? y + half : y))
            return false;
    return true;
}

int hash_density(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                 uint64_t *live)
{
    const struct hashlife *h = lf->state;
    const long long side = 1LL << zoom;
    if (x % side || y % side)
        return clerror_set(
            EINVAL,
            "life_density: %lld,%lld is no corner of squares of 2^%u cells: give multiples of that",
            x, y, zoom);
    struct raster r = {.x = x / side,
                       .y = y / side,
                       .width = width,
                       .height = height,
                       .zoom = (int)zoom,
                       .live = live};
    const wide corner = -tree_side_of(h->level - 1);
    memset(live, 0, width * height * sizeof *live);
    const bool done = count_squares(h, &r, h->root, h->level, corner, corner);
    map_free(&r.seen.seen);
    free(r.seen.of);
    return done ? 0
                : clerror_set(ENOMEM, "life_density: out of memory: cannot remember %zu squares",
                              r.seen.n);
}

/* ---- The box of the live cells. -------------------------------------------------------------- */

/* Distinct squares along one side of the bounding box, at some level. */
struct front {
    square_t *square;
    size_t n;
};

static int by_number(const void *a, const void *b)
{
    const square_t x = *(const square_t *)a, y = *(const square_t *)b;
    return (x > y) - (x < y);
}

static void once(struct front *f)
{
    size_t n = 0;
    qsort(f->square, f->n, sizeof *f->square, by_number);
    for (size_t i = 0; i < f->n; i++)
        if (n == 0 || f->square[n - 1] != f->square[i])
            f->square[n++] = f->square[i];
    f->n = n;
}

/* Put the parts a and b of the squares of `from` that have live cells into `to`. */
static void tree_parts_of(const struct hashlife *h, const struct front *from, int level, int a,
                          int b, struct front *to)
{
    to->n = 0;
    for (size_t i = 0; i < from->n; i++)
        for (int j = 0; j < 2; j++) {
            const square_t part = h->node[from->square[i]].part[j ? b : a];
            if (part != h->empty[level - 1])
                to->square[to->n++] = part;
        }
    once(to);
}

/* Distance of a leaf's live cells from its side. */
static int margin_of_leaf(const struct hashlife *h, square_t leaf, int side)
{
    unsigned all = 0;
    int top = 0, bottom = hash_side(h) - 1;
    for (int y = 0; y < hash_side(h); y++)
        all |= hash_row(h, leaf, y);
    while (!hash_row(h, leaf, top))
        top++;
    while (!hash_row(h, leaf, bottom))
        bottom--;
    switch (side) {
    case 0:
        return __builtin_ctz(all);
    case 1:
        return top;
    case 2:
        return __builtin_clz(all) - (32 - hash_side(h));
    default:
        return hash_side(h) - 1 - bottom;
    }
}

/* Distance of the live cells from a side of the plane: 0 left, 1 top, 2 right, 3 bottom. False if
 * out of memory. */
static bool margin(const struct hashlife *h, int side, wide *out)
{
    static const int near[4][2] = {{NW, SW}, {NW, NE}, {NE, SE}, {SW, SE}},
                     far[4][2] = {{NE, SE}, {SW, SE}, {NW, SW}, {NW, NE}};
    struct front f = {malloc(sizeof *f.square), 1};
    bool done = f.square != NULL;
    *out = 0;
    if (done)
        f.square[0] = h->root;
    for (int level = h->level; level > h->leaf_level && done; level--) {
        struct front next = {malloc(2 * f.n * sizeof *next.square), 0};
        done = next.square != NULL;
        if (done)
            tree_parts_of(h, &f, level, near[side][0], near[side][1], &next);
        if (done && next.n == 0) {
            *out += tree_side_of(level - 1);
            tree_parts_of(h, &f, level, far[side][0], far[side][1], &next);
        }
        free(f.square);
        f = next;
    }
    int least = hash_side(h);
    for (size_t i = 0; i < f.n && done; i++) {
        const int m = margin_of_leaf(h, f.square[i], side);
        least = m < least ? m : least;
    }
    *out += least;
    free(f.square);
    return done;
}

int hash_bounding_box(life *lf, struct life_box *box)
{
    const struct hashlife *h = lf->state;
    wide m[4];
    const wide half = tree_side_of(h->level - 1);
    if (h->root == h->empty[h->level])
        return 0;
    for (int side = 0; side < 4; side++)
        if (!margin(h, side, &m[side]))
            return clerror_set(ENOMEM,
                               "life_bounding_box: out of memory for the squares along an edge");
    *box = (struct life_box){
        tree_number_of((uwide)(m[0] - half)), tree_number_of((uwide)(m[1] - half)),
        tree_number_of((uwide)(half - m[2])), tree_number_of((uwide)(half - m[3]))};
    return 1;
}
