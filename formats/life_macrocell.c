/* life_macrocell.c - macrocell files: a quadtree in which equal squares are one node.
 *
 *   [M2] (golly 4.2)
 *   #R B3/S23
 *   $$..*$...*$.***$$$$      node 1: a square of 8 x 8 cells, rows ended by $, * alive
 *   4 0 1 0 0                node 2: 16 x 16 = 2^4: north-west, north-east, south-west, south-east
 *
 * With more than two states squares of 8 x 8 cells are made of smaller ones, and those of level 1,
 * 2 x 2 cells, of states:
 *   1 0 2 0 1                the north-eastern cell has state 2, the south-eastern one state 1
 *
 * Nodes are numbered from 1, 0 is empty, and the last one is the whole. The middle of a universe is
 * where its south-eastern quarter begins; in Golly's coordinates, which the other formats share,
 * that is 0,1. W. Gosper, "Exploiting regularities in large cellular spaces", Physica D 10 (1984)
 * 75; the format is Golly's.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include "formats/gzip.h"

#include "stdcl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR = 1, LEAF = 3, BAND = 10, LEVEL_MAX = 40, SQUARE_LEVEL_MAX = 120 };
_Static_assert(1 << BAND == LIFE_BAND_ROWS, "a band is a row of squares");

/* A square of side 2^level. The bounding box of its live cells is relative to its corner; empty:
 * right = 0. */
struct node {
    int level;
    bool leaf;
    union {
        uint64_t cells;    /* of a leaf, level 3: row y, column x is bit 8 y + x */
        uint32_t child[4]; /* otherwise; states at level 1 */
    };
    int64_t left, top, right, bottom;
};

struct tree {
    struct node *node; /* [0] is the empty square */
    size_t n, room;
    int level_max; /* above LEVEL_MAX bounding boxes are unknown */
    unsigned most; /* highest state in a square of level 1; 0: there is none */
};

static struct node *add_node(struct tree *tree, const struct life_text *t)
{
    if (tree->n == tree->room) {
        size_t room = tree->room ? 2 * tree->room : 1024;
        struct node *more = room < UINT32_MAX ? realloc(tree->node, room * sizeof *more) : NULL;
        if (!more) {
            clerror_set(ENOMEM, "%s: out of memory for more than %zu squares of the tree", t->name,
                        tree->n);
            return NULL;
        }
        tree->node = more;
        tree->room = room;
    }
    return memset(&tree->node[tree->n++], 0, sizeof *tree->node);
}

/* ---- Reading. -------------------------------------------------------------------------------- */

static void grow_box(struct node *n, int64_t left, int64_t top, int64_t right, int64_t bottom)
{
    const bool empty = n->right == 0;
    n->left = empty || left < n->left ? left : n->left;
    n->top = empty || top < n->top ? top : n->top;
    n->right = empty || right > n->right ? right : n->right;
    n->bottom = empty || bottom > n->bottom ? bottom : n->bottom;
}

static int read_leaf(const struct life_text *t, const char *p, const char *end, struct node *n)
{
    int x = 0, y = 0;
    n->level = LEAF;
    n->leaf = true;
    for (; p < end && *p != '\r'; p++) {
        if (*p == '$') {
            x = 0;
            y++;
        } else if ((*p == '*' || *p == '.') && x < 8 && y < 8) {
            if (*p == '*') {
                n->cells |= (uint64_t)1 << (8 * y + x);
                grow_box(n, x, y, x + 1, y + 1);
            }
            x++;
        } else if (*p == '*' || *p == '.') {
            return life_text_error(t, p, "a square of 8 x 8 cells has a %s here",
                                   y < 8 ? "ninth column" : "ninth row");
        } else {
            return life_text_error(t, p, "a square is written with . * and $, not with '%c'",
                                   *p > ' ' && *p < 127 ? *p : '?');
        }
    }
    return 0;
}

static int macrocell_read_fields(const struct life_text *t, const char *p, const char *end,
                                 unsigned long long field[5])
{
    for (int i = 0; i < 5; i++) {
        while (p < end && *p == ' ')
            p++;
        if (p == end || !isdigit((unsigned char)*p))
            return life_text_error(t, p, "a node is five numbers: the level and four nodes");
        for (field[i] = 0; p < end && isdigit((unsigned char)*p); p++)
            if ((field[i] = field[i] * 10 + (unsigned long long)(*p - '0')) > UINT32_MAX)
                return life_text_error(t, p, "the number is too large");
    }
    while (p < end && isspace((unsigned char)*p))
        p++;
    return p == end ? 0 : life_text_error(t, p, "there is something after the fifth number");
}

/* 2 x 2 cells of states. */
static int read_pair(const struct life_text *t, const char *p, const unsigned long long field[5],
                     struct node *n, struct tree *tree)
{
    n->level = PAIR;
    for (int i = 0; i < 4; i++) {
        if (field[i + 1] > 255)
            return life_text_error(t, p, "there is no state %llu: states are 0 to 255",
                                   field[i + 1]);
        n->child[i] = (uint32_t)field[i + 1];
        tree->most = n->child[i] > tree->most ? n->child[i] : tree->most;
        if (n->child[i])
            grow_box(n, i & 1, i >> 1, (i & 1) + 1, (i >> 1) + 1);
    }
    return 0;
}

static int macrocell_read_node(const struct life_text *t, const char *p, const char *end,
                               struct tree *tree)
{
    unsigned long long field[5];
    const size_t self = tree->n - 1;
    struct node *n = &tree->node[self];
    if (macrocell_read_fields(t, p, end, field) < 0)
        return -1;
    if (field[0] < PAIR)
        return life_text_error(t, p, "a node of level 0 is a cell; the smallest node has level 1");
    if (field[0] == PAIR)
        return read_pair(t, p, field, n, tree);
    if (field[0] > (unsigned)tree->level_max)
        return life_text_error(t, p, "level %llu: the universe is larger than 2^%d cells across",
                               field[0], tree->level_max);
    n->level = (int)field[0];
    for (int i = 0; i < 4; i++) {
        const size_t child = (size_t)field[i + 1];
        const struct node *c = &tree->node[child < self ? child : 0];
        const int64_t half = n->level <= LEVEL_MAX ? (int64_t)1 << (n->level - 1) : 0,
                      x = i & 1 ? half : 0, y = i & 2 ? half : 0;
        if (child >= self)
            return life_text_error(
                t, p, "node %zu is made of node %zu, which has not been given yet", self, child);
        if (child && c->level != n->level - 1)
            return life_text_error(t, p,
                                   "node %zu has level %d, but a part of a node of level %d has %d",
                                   child, c->level, n->level, n->level - 1);
        n->child[i] = (uint32_t)child;
        if (c->right && n->level <= LEVEL_MAX)
            grow_box(n, x + c->left, y + c->top, x + c->right, y + c->bottom);
    }
    return 0;
}

static int macrocell_read_remark(const struct life_text *t, const char *p, const char *end,
                                 struct life_pattern *out)
{
    if (end - p > 2 && p[1] == 'R')
        return life_text_rule(t, p + 2, end, out);
    if (end - p > 2 && p[1] == 'G') {
        for (p += 2; p < end && life_text_is_blank(*p);)
            p++;
        return life_text_generation(t, &p, end, &out->generation);
    }
    return 0;
}

static int read_tree(const struct life_text *t, struct tree *tree, struct life_pattern *out)
{
    const char *p = life_text_line_end(t, t->begin); /* the first line is [M2] */
    if (!add_node(tree, t))
        return -1;
    while (p < t->end) {
        const char *end = life_text_line_end(t, ++p);
        if (p < end && *p == '#') {
            if (macrocell_read_remark(t, p, end, out) < 0)
                return -1;
        } else if (p < end && *p != '\r') {
            struct node *n = add_node(tree, t);
            const bool leaf = *p == '.' || *p == '*' || *p == '$';
            if (!n || (leaf ? read_leaf(t, p, end, n) : macrocell_read_node(t, p, end, tree)) < 0)
                return -1;
        }
        p = end;
    }
    return tree->n > 1 ? 0 : life_text_error(t, t->end, "the file has no nodes");
}

/* Set the cells of a square whose corner is (x, y). Empty squares are skipped, so the time is at
 * most proportional to the area of the live part. */
static void macrocell_fill(const struct tree *tree, size_t at, int64_t x, int64_t y,
                           struct life_sink *sink)
{
    const struct node *n = &tree->node[at];
    if (!n->right)
        return;
    if (n->level == PAIR) {
        for (int i = 0; i < 4; i++)
            if (n->child[i])
                life_sink_state(sink, x + (i & 1), y + (i >> 1), 1, n->child[i]);
        return;
    }
    if (n->leaf) {
        for (int i = 0; i < 64; i++)
            if (n->cells >> i & 1)
                life_sink_run(sink, x + i % 8, y + i / 8, 1);
        return;
    }
    const int64_t half = (int64_t)1 << (n->level - 1);
    for (int i = 0; i < 4; i++)
        macrocell_fill(tree, n->child[i], i & 1 ? x + half : x, i & 2 ? y + half : y, sink);
}

static bool macrocell_sniff(const struct life_text *t)
{
    return t->end - t->begin >= 4 && memcmp(t->begin, "[M2]", 4) == 0;
}

static int read_macrocell(const struct life_text *t, struct life_sink *sink)
{
    struct tree tree = {.level_max = LEVEL_MAX};
    sink->boundless = true;
    int status = read_tree(t, &tree, sink->p);
    if (status == 0) {
        const struct node *root = &tree.node[tree.n - 1];
        const int64_t corner = -((int64_t)1 << (root->level - 1));
        if (sink->filling) {
            macrocell_fill(&tree, tree.n - 1, corner, corner + 1, sink);
        } else if (root->right) {
            sink->any = true;
            sink->most = tree.most;
            sink->left = corner + root->left;
            sink->right = corner + root->right;
            sink->top = corner + 1 + root->top;
            sink->bottom = corner + 1 + root->bottom;
        }
    }
    free(tree.node);
    return status;
}

/* ---- Lines. ---------------------------------------------------------------------------------- */

static void write_head(FILE *fp, const char *rule, const char *bounds, life_generation_t generation)
{
    char text[LIFE_GENERATION_TEXT];
    fprintf(fp, "[M2] (stdcl)\n#R %s%s%s\n", rule[0] ? rule : "B3/S23", bounds[0] ? ":" : "",
            bounds);
    if (generation)
        fprintf(fp, "#G %s\n", life_generation_text(generation, text));
}

static void print_leaf(FILE *fp, uint64_t cells)
{
    for (int y = 0; y < 8 && cells >> 8 * y; y++) { /* trailing empty rows are left out */
        for (unsigned row = (unsigned)(cells >> 8 * y & 255); row; row >>= 1)
            putc(row & 1 ? '*' : '.', fp);
        putc('$', fp);
    }
    putc('\n', fp);
}

static void print_parts(FILE *fp, int level, const uint32_t part[4])
{
    fprintf(fp, "%d %u %u %u %u\n", level, part[0], part[1], part[2], part[3]);
}

/* ---- As squares. ----------------------------------------------------------------------------- */

int life_macrocell_squares(const struct life_text *t, struct life_squares *out)
{
    struct tree tree = {.level_max = SQUARE_LEVEL_MAX};
    struct life_pattern head = {.width = 0};
    int status = read_tree(t, &tree, &head);
    if (status == 0) {
        out->square = calloc(tree.n, sizeof *out->square);
        status = out->square
                     ? 0
                     : clerror_set(ENOMEM, "%s: out of memory for %zu squares", t->name, tree.n);
    }
    for (size_t i = 1; i < tree.n && status == 0; i++) {
        struct life_square *s = &out->square[out->n++];
        s->level = tree.node[i].level;
        s->bits = tree.node[i].leaf;
        if (s->bits)
            s->cells = tree.node[i].cells;
        else
            memcpy(s->part, tree.node[i].child, sizeof s->part);
    }
    out->states = tree.most > 1 ? tree.most + 1 : 2;
    memcpy(out->rule, head.rule, sizeof out->rule);
    memcpy(out->bounds, head.bounds, sizeof out->bounds);
    out->generation = head.generation;
    free(tree.node);
    return status;
}

void life_squares_free(struct life_squares *s)
{
    free(s->square);
    *s = (struct life_squares){.n = 0};
}

FILE *life_squares_open(struct outfile *out, const char *file, const char *rule,
                        life_generation_t generation)
{
    if (outfile_open(out, file) < 0)
        return NULL;
    FILE *plain = gzip_begin(out);
    if (plain)
        write_head(out->fp, rule, "", generation);
    else
        outfile_discard(out);
    return plain;
}

int life_squares_close(struct outfile *out, FILE *plain, int status)
{
    gzip_end(out, plain);
    if (status == 0)
        return outfile_commit(out);
    outfile_discard(out);
    return -1;
}

void life_squares_write(struct outfile *out, const struct life_square *s)
{
    if (s->bits)
        print_leaf(out->fp, s->cells);
    else
        print_parts(out->fp, s->level, s->part);
}

/* ---- Writing. -------------------------------------------------------------------------------- */

/* Hash table of the nodes already written. */
struct writer {
    const struct life_pattern *p;
    struct outfile *out;
    long long x, y; /* of the pattern's corner, relative to the middle of the tree */
    struct entry {
        uint32_t number; /* 0: free */
        int level;
        bool leaf;
        union {
            uint64_t cells;
            uint32_t child[4];
        };
    } * table;
    size_t size, used;      /* size is a power of two */
    uint32_t last;          /* number of the last node written */
    long long *band_number; /* of squares of level BAND, bands x band_rows of them from (band_x,
                               band_y) on; NULL: not written yet */
    long long band_x, band_y, bands, band_rows;
};

static size_t macrocell_hash(const struct entry *e)
{
    uint64_t h = (uint64_t)e->level * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 4; i++)
        h = (h ^ e->child[i]) * 0xff51afd7ed558ccdu, h ^= h >> 32;
    return (size_t)h;
}

static bool macrocell_same(const struct entry *a, const struct entry *b)
{
    return a->level == b->level && memcmp(a->child, b->child, sizeof a->child) == 0;
}

static int grow_table(struct writer *w)
{
    const size_t size = w->size ? 2 * w->size : 4096;
    struct entry *table = calloc(size, sizeof *table);
    if (!table)
        return clerror_set(ENOMEM, "%s: out of memory for a tree of more than %zu squares",
                           w->out->name, w->used);
    for (size_t i = 0; i < w->size; i++)
        if (w->table[i].number) {
            size_t at = macrocell_hash(&w->table[i]) & (size - 1);
            while (table[at].number)
                at = (at + 1) & (size - 1);
            table[at] = w->table[i];
        }
    free(w->table);
    w->table = table;
    w->size = size;
    return 0;
}

static void print_node(FILE *fp, const struct entry *e)
{
    if (e->leaf)
        print_leaf(fp, e->cells);
    else
        print_parts(fp, e->level, e->child);
}

/* The number of a node, which is written if it is new; -1 after an error. */
static long long macrocell_number_of(struct writer *w, struct entry *e)
{
    if (2 * w->used >= w->size && grow_table(w) < 0)
        return -1;
    size_t at = macrocell_hash(e) & (w->size - 1);
    while (w->table[at].number) {
        if (macrocell_same(&w->table[at], e))
            return w->table[at].number;
        at = (at + 1) & (w->size - 1);
    }
    print_node(w->out->fp, e);
    e->number = ++w->last;
    w->table[at] = *e;
    w->used++;
    return e->number;
}

/* Up to 8 stored cells from column x of a row on. */
static unsigned eight_cells(const struct life_pattern *p, long long x, long long y)
{
    unsigned out = 0;
    const long long row = y - (long long)p->top;
    if (row < 0 || row >= (long long)p->rows)
        return 0;
    const uint64_t *word = life_pattern_row(p, (size_t)row);
    for (int i = 0; i < 8; i++) {
        const long long c = x + i - (long long)p->left;
        if (c >= 0 && c < (long long)p->columns)
            out |= (unsigned)(word[c / 64] >> c % 64 & 1) << i;
    }
    return out;
}

/* A cell of the bounding box. */
static unsigned macrocell_state_at(const struct life_pattern *p, long long c, long long r)
{
    return c < 0 || r < 0 || c >= (long long)p->columns || r >= (long long)p->rows
               ? 0
               : p->state[(size_t)r * p->columns + (size_t)c];
}

/* The number of a square of a band. */
static long long band_number(const struct writer *w, long long x, long long y)
{
    const long long i = (x >> BAND) - w->band_x, j = (y >> BAND) - w->band_y;
    return i < 0 || j < 0 || i >= w->bands || j >= w->band_rows ? 0
                                                                : w->band_number[j * w->bands + i];
}

/* The node of a square with its corner at (x, y); 0 if it is empty. */
static long long macrocell_write_square(struct writer *w, int level, long long x, long long y)
{
    const struct life_pattern *p = w->p;
    const long long side = 1LL << level, left = w->x + (long long)p->left,
                    top = w->y + (long long)p->top;
    struct entry e = {.level = level};
    if (level == BAND && w->band_number)
        return band_number(w, x, y);
    if (x >= left + (long long)p->columns || y >= top + (long long)p->rows || x + side <= left ||
        y + side <= top)
        return 0;
    if (level == PAIR) {
        for (int i = 0; i < 4; i++)
            e.child[i] = macrocell_state_at(p, x + (i & 1) - left, y + (i >> 1) - top);
        return e.child[0] || e.child[1] || e.child[2] || e.child[3] ? macrocell_number_of(w, &e)
                                                                    : 0;
    }
    if (level == LEAF && !p->state) {
        e.leaf = true;
        for (int i = 0; i < 8; i++)
            e.cells |= (uint64_t)eight_cells(p, x - w->x, y + i - w->y) << 8 * i;
        return e.cells ? macrocell_number_of(w, &e) : 0;
    }
    for (int i = 0; i < 4; i++) {
        const long long child = macrocell_write_square(w, level - 1, i & 1 ? x + side / 2 : x,
                                                       i & 2 ? y + side / 2 : y);
        if (child < 0)
            return -1;
        e.child[i] = (uint32_t)child;
    }
    return e.child[0] || e.child[1] || e.child[2] || e.child[3] ? macrocell_number_of(w, &e) : 0;
}

/* Write squares of LIFE_BAND_ROWS rows first, from the top down, so that only these rows must be
 * loaded; then the squares made of them. */
static int write_bands(struct writer *w)
{
    const struct life_pattern *p = w->p;
    const long long side = 1LL << BAND, left = w->x + (long long)p->left,
                    top = w->y + (long long)p->top;
    const long long x0 = left >> BAND, x1 = (left + (long long)p->columns - 1) >> BAND,
                    y0 = top >> BAND, y1 = (top + (long long)p->rows - 1) >> BAND;
    long long *number = p->rows && p->columns
                            ? calloc((size_t)(x1 - x0 + 1) * (size_t)(y1 - y0 + 1), sizeof *number)
                            : NULL;
    if (!number)
        return p->rows && p->columns
                   ? clerror_set(ENOMEM, "%s: out of memory for the squares of the pattern",
                                 w->out->name)
                   : 0;
    for (long long y = y0; y <= y1; y++) {
        const long long first = y * side > top ? y * side - top : 0, end = (y + 1) * side - top;
        life_pattern_load(p, (size_t)first,
                          (size_t)(end < (long long)p->rows ? end : (long long)p->rows) -
                              (size_t)first);
        for (long long x = x0; x <= x1; x++)
            if ((number[(y - y0) * (x1 - x0 + 1) + x - x0] =
                     macrocell_write_square(w, BAND, x * side, y * side)) < 0)
                return free(number), -1;
    }
    w->band_number = number;
    w->band_x = x0;
    w->band_y = y0;
    w->bands = x1 - x0 + 1;
    w->band_rows = y1 - y0 + 1;
    return 0;
}

static int write_macrocell(struct outfile *out, const struct life_pattern *p)
{
    struct writer w = {.p = p, .out = out};
    /* at the pattern's position, or else centred */
    w.x = p->placed ? p->x : -(long long)(p->width / 2);
    w.y = (p->placed ? p->y : -(long long)(p->height / 2)) - 1;
    int level = LEAF + 1;
    const long long right = w.x + (long long)(p->left + p->columns),
                    bottom = w.y + (long long)(p->top + p->rows);
    while (level <= LEVEL_MAX && (-w.x > 1LL << (level - 1) || -w.y > 1LL << (level - 1) ||
                                  right > 1LL << (level - 1) || bottom > 1LL << (level - 1)))
        level++;
    if (level > LEVEL_MAX)
        return clerror_set(ERANGE,
                           "%s: the pattern is larger than a macrocell file of 2^%d cells across",
                           out->name, LEVEL_MAX);
    write_head(out->fp, p->rule, p->bounds, p->generation);
    if (level > BAND ? write_bands(&w) != 0 : (life_pattern_load(p, 0, p->rows), false)) {
        free(w.table);
        return -1;
    }
    const long long root =
        macrocell_write_square(&w, level, -(1LL << (level - 1)), -(1LL << (level - 1)));
    if (root == 0)
        fprintf(out->fp, "4 0 0 0 0\n"); /* an empty universe */
    free(w.band_number);
    free(w.table);
    return root < 0 ? -1 : outfile_check(out);
}

const struct life_format life_macrocell = {
    .label = {.name = "macrocell", .title = "macrocell", .suffixes = ".mc"},
    .sniff = macrocell_sniff,
    .read = read_macrocell,
    .write = write_macrocell,
};
