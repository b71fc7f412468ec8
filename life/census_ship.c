/* census_ship.c - spaceships that leave a box.
 *
 * An outbound ship within 4 cells of an edge, with 16 dead cells around it (parallel ships
 * excepted), never returns. It is removed, recorded and counted. Three events could still change
 * its fate. Two ships may collide outside; their paths are straight, so collisions are computed.
 * The rest of the box may follow; it then reaches the edge itself and continues in a larger box,
 * and ships that are inside that box, more than 4 cells from its edge, are put back. The rest may
 * also catch up before the ship has left the box; for that it would have to cross the 16 cells
 * while the ship crosses a few.
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_PERIOD = 16, REACH = 4 };

bool census_ships_add(struct census_ships *ships, const struct census_ship *ship)
{
    if (ships->n == ships->room) {
        const size_t room = ships->room ? 2 * ships->room : 4;
        struct census_ship *more = realloc(ships->ship, room * sizeof *more);
        if (!more)
            return false;
        ships->ship = more;
        ships->room = room;
    }
    ships->ship[ships->n++] = *ship;
    return true;
}

struct census_ship census_glider(size_t words, uint64_t glider, uint64_t began)
{
    const int middle = 32 * (int)words;
    struct census_ship s = {.at = began + (glider >> 33),
                            .x = (int)(glider >> 11 & 2047) - middle,
                            .y = (int)(glider >> 22 & 2047) - middle,
                            .width = 3,
                            .height = 3,
                            .motion = {4, glider >> 9 & 1 ? 1 : -1, glider >> 10 & 1 ? 1 : -1}};
    for (int j = 0; j < 3; j++)
        s.row[0][j] = glider >> 3 * j & 7;
    return s;
}

bool census_is_glider(unsigned cells, struct census_ship *ship)
{
    /* By direction: bit 0 east, bit 1 south; as in census.cl. */
    static const unsigned form[4][4] = {{0x06b, 0x08f, 0x11e, 0x15a},
                                        {0x073, 0x0a7, 0x12e, 0x172},
                                        {0x09d, 0x0e9, 0x19c, 0x1ca},
                                        {0x0b5, 0x0f1, 0x1ac, 0x1e2}};
    for (int way = 0; way < 4; way++)
        for (int i = 0; i < 4; i++)
            if (form[way][i] == cells) {
                *ship = (struct census_ship){.width = 3,
                                             .height = 3,
                                             .motion = {4, way & 1 ? 1 : -1, way & 2 ? 1 : -1},
                                             .row = {{cells & 7, cells >> 3 & 7, cells >> 6 & 7}}};
                return true;
            }
    return false;
}

void census_ship_patch(size_t planes, const struct census_ship *s, uint64_t *patch)
{
    enum { AT = (CENSUS_PATCH - CENSUS_CLEAR) / 2 };
    memset(patch, 0, planes * CENSUS_PATCH * sizeof *patch);
    for (size_t k = 0; k < planes; k++)
        for (int j = 0; j < s->height; j++)
            patch[k * CENSUS_PATCH + (size_t)(AT + j)] = (uint64_t)s->row[k][j] << AT;
}

bool census_add_ship(struct census_sorter *sorter, const struct census_ship *ship)
{
    uint64_t patch[CENSUS_CELLS];
    census_ship_patch(sorter->rule->planes, ship, patch);
    return census_add(sorter, patch);
}

/* ---- Taking one off. ------------------------------------------------------------------------- */

bool census_touches(size_t planes, size_t words, const uint64_t *box, int *x, int *y)
{
    const int side = 64 * (int)words;
    const uint64_t first = ((uint64_t)1 << CENSUS_EDGE) - 1, last = ~(~(uint64_t)0 >> CENSUS_EDGE);
    for (*y = 0; *y < side; ++*y) {
        const bool inside = *y >= CENSUS_EDGE && *y < side - CENSUS_EDGE;
        for (size_t i = 0; i < words; i++) {
            const uint64_t edge = inside ? (i == 0 ? first : 0) | (i + 1 == words ? last : 0)
                                         : ~(uint64_t)0,
                           live = census_word(planes, words, box, (size_t)*y * words + i) & edge;
            if (!live)
                continue;
            *x = 64 * (int)i + __builtin_ctzll(live);
            return true;
        }
    }
    return false;
}

/* Grow a rectangle around live cells until it contains all live cells within two cells of it.
 * False if it is larger than a ship may be. */
static bool ship_grow_rectangle(size_t planes, size_t words, const uint64_t *box,
                                struct census_rectangle *r)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (int y = r->top - 2; y < r->bottom + 2; y++)
            for (int x = r->left - 2; x < r->right + 2; x++) {
                if (!census_cell(planes, words, box, x, y) ||
                    (x >= r->left && x < r->right && y >= r->top && y < r->bottom))
                    continue;
                r->left = x < r->left ? x : r->left;
                r->right = x >= r->right ? x + 1 : r->right;
                r->top = y < r->top ? y : r->top;
                r->bottom = y >= r->bottom ? y + 1 : r->bottom;
                grown = true;
            }
        if (r->right - r->left > CENSUS_CLEAR || r->bottom - r->top > CENSUS_CLEAR)
            return false;
    }
    return true;
}

static bool rectangle_has(const struct census_rectangle *r, int x, int y)
{
    return x >= r->left && x < r->right && y >= r->top && y < r->bottom;
}

/* Read the pattern in a rectangle as a ship. False if it is none. */
static bool read_ship(const struct census_rule *rule, size_t words, const uint64_t *box,
                      const struct census_rectangle *r, uint64_t generation,
                      struct census_ship *ship)
{
    const int middle = 32 * (int)words;
    const size_t size = 64 * words * words;
    uint64_t patch[CENSUS_CELLS];
    *ship = (struct census_ship){.at = generation,
                                 .x = r->left - middle,
                                 .y = r->top - middle,
                                 .width = r->right - r->left,
                                 .height = r->bottom - r->top};
    for (size_t k = 0; k < rule->planes; k++)
        for (int y = r->top; y < r->bottom; y++)
            for (int x = r->left; x < r->right; x++)
                ship->row[k][y - r->top] |=
                    (uint16_t)(census_cell(1, words, box + k * size, x, y) << (x - r->left));
    census_ship_patch(rule->planes, ship, patch);
    return census_name(rule, patch, LONGEST_PERIOD, &ship->motion, NULL) == 0 &&
           (ship->motion.dx || ship->motion.dy);
}

/* True if all patterns around a ship are ships of equal velocity. */
static bool is_alone(const struct census_rule *rule, size_t words, const uint64_t *box,
                     const struct census_rectangle *r, const struct census_ship *ship)
{
    struct census_rectangle beside = *r;
    for (int y = r->top - CENSUS_CLEAR; y < r->bottom + CENSUS_CLEAR; y++)
        for (int x = r->left - CENSUS_CLEAR; x < r->right + CENSUS_CLEAR; x++) {
            struct census_ship other;
            if (!census_cell(rule->planes, words, box, x, y) || rectangle_has(r, x, y) ||
                rectangle_has(&beside, x, y))
                continue;
            beside = (struct census_rectangle){x, y, x + 1, y + 1};
            if (!ship_grow_rectangle(rule->planes, words, box, &beside) ||
                !read_ship(rule, words, box, &beside, ship->at, &other) ||
                other.motion.dx * (int)ship->motion.period !=
                    ship->motion.dx * (int)other.motion.period ||
                other.motion.dy * (int)ship->motion.period !=
                    ship->motion.dy * (int)other.motion.period)
                return false;
        }
    return true;
}

bool census_ship_leaves(const struct census_ship *ship, int half)
{
    const struct census_motion *m = &ship->motion;
    const int inside = half - CENSUS_EDGE;
    return (m->dx < 0 && ship->x < -inside) || (m->dx > 0 && ship->x + ship->width > inside) ||
           (m->dy < 0 && ship->y < -inside) || (m->dy > 0 && ship->y + ship->height > inside);
}

bool census_take_ship(const struct census_rule *rule, size_t words, uint64_t *box,
                      uint64_t generation, struct census_ship *ship)
{
    int x, y;
    if (!census_touches(rule->planes, words, box, &x, &y))
        return false;
    struct census_rectangle r = {x, y, x + 1, y + 1};
    if (!ship_grow_rectangle(rule->planes, words, box, &r) ||
        !read_ship(rule, words, box, &r, generation, ship) || !is_alone(rule, words, box, &r, ship))
        return false;
    const bool leaves = census_ship_leaves(ship, 32 * (int)words);
    for (size_t k = 0; k < rule->planes && leaves; k++, box += 64 * words * words)
        for (y = r.top; y < r.bottom; y++)
            for (x = r.left; x < r.right; x++)
                box[(size_t)y * words + (size_t)x / 64] &= ~((uint64_t)1 << x % 64);
    return leaves;
}

/* ---- Out there. ------------------------------------------------------------------------------ */

/* Restrict the times [from, to] to those at which |a + v t| < r. */
static void times_within(double a, double v, double r, double *from, double *to)
{
    if (v == 0) {
        *to = a > -r && a < r ? *to : *from - 1;
        return;
    }
    const double t0 = (-r - a) / v, t1 = (r - a) / v, first = t0 < t1 ? t0 : t1,
                 last = t0 < t1 ? t1 : t0;
    *from = first > *from ? first : *from;
    *to = last < *to ? last : *to;
}

static bool ships_collide(const struct census_ship *a, const struct census_ship *b)
{
    const double vxa = (double)a->motion.dx / a->motion.period,
                 vya = (double)a->motion.dy / a->motion.period;
    const double vxb = (double)b->motion.dx / b->motion.period,
                 vyb = (double)b->motion.dy / b->motion.period;
    const uint64_t late = a->at > b->at ? a->at : b->at;
    double from = -64,
           to = 1e15; /* generations from `late` on, when both ships are outside or nearly so */
    const double xa = a->x + a->width / 2.0 + vxa * (double)(late - a->at),
                 ya = a->y + a->height / 2.0 + vya * (double)(late - a->at);
    const double xb = b->x + b->width / 2.0 + vxb * (double)(late - b->at),
                 yb = b->y + b->height / 2.0 + vyb * (double)(late - b->at);
    times_within(xa - xb, vxa - vxb, (a->width + b->width) / 2.0 + REACH, &from, &to);
    times_within(ya - yb, vya - vyb, (a->height + b->height) / 2.0 + REACH, &from, &to);
    return from <= to &&
           (vxa != vxb || vya != vyb); /* equal velocities: the distance is constant */
}

bool census_ships_meet(const struct census_ships *ships)
{
    for (size_t i = 0; i < ships->n; i++)
        for (size_t j = 0; j < i; j++)
            if (ships_collide(&ships->ship[i], &ships->ship[j]))
                return true;
    return false;
}

/* Advance a ship to a later generation. */
static void ship_advance(const struct census_rule *rule, struct census_ship *s, uint64_t generation)
{
    const uint64_t passed = generation - s->at, turns = passed / s->motion.period;
    uint64_t patch[CENSUS_CELLS], next[CENSUS_CELLS];
    struct census_rectangle begin, r;
    census_ship_patch(rule->planes, s, patch);
    census_bounds(rule->planes, 1, patch, &begin);
    for (uint64_t i = 0; i < passed % s->motion.period; i++) {
        census_step(rule, 1, patch, next);
        memcpy(patch, next, census_bytes(rule, 1));
    }
    census_bounds(rule->planes, 1, patch, &r);
    s->at = generation;
    s->x += (int)turns * s->motion.dx + r.left - begin.left;
    s->y += (int)turns * s->motion.dy + r.top - begin.top;
    s->width = r.right - r.left;
    s->height = r.bottom - r.top;
    memset(s->row, 0, sizeof s->row);
    for (size_t k = 0; k < rule->planes; k++)
        for (int j = 0; j < s->height && j < CENSUS_CLEAR; j++)
            s->row[k][j] = (uint16_t)(patch[k * CENSUS_PATCH + (size_t)(r.top + j)] >> r.left);
}

bool census_ships_inside(const struct census_rule *rule, struct census_ships *ships, size_t *i,
                         int half, uint64_t generation, struct census_ship *ship)
{
    /* Nearer to the edge, it would be beyond the edge before the edge is checked. */
    const int inside = half - CENSUS_EDGE;
    for (; *i < ships->n; ++*i) {
        *ship = ships->ship[*i];
        if (generation - ship->at > 1 << 20) /* far outside by now */
            continue;
        ship_advance(rule, ship, generation);
        if (ship->x < -inside || ship->y < -inside || ship->x + ship->width > inside ||
            ship->y + ship->height > inside || ship->width > CENSUS_CLEAR ||
            ship->height > CENSUS_CLEAR)
            continue;
        ships->ship[*i] = ships->ship[--ships->n];
        return true;
    }
    return false;
}

void census_ships_return(const struct census_rule *rule, struct census_ships *ships, size_t words,
                         uint64_t *box, uint64_t generation)
{
    const int half = 32 * (int)words;
    struct census_ship s;
    for (size_t i = 0; census_ships_inside(rule, ships, &i, half, generation, &s);)
        for (size_t plane = 0; plane < rule->planes; plane++)
            for (int j = 0; j < s.height; j++)
                for (int k = 0; k < s.width; k++)
                    if (s.row[plane][j] >> k & 1)
                        box[plane * 64 * words * words + (size_t)(s.y + half + j) * words +
                            (size_t)(s.x + half + k) / 64] |= (uint64_t)1 << (s.x + half + k) % 64;
}
