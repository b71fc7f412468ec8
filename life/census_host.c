/* census_host.c - runs a soup of two states on the host, on a plane of its own, and separates its
 * ash.
 *
 * Soups follow the rules of census.c: a box that grows when anything but an outbound ship is at its
 * edge, ships that leave, and soups that are repeated if two ships would meet outside. Only the
 * order of work differs, and so does the size of boxes: here a box grows by 64 cells.
 *
 * A plane without dirty tiles is periodic. Other periods are found every 120 generations by
 * comparing the cells with a copy, which is replaced after 1, 2, 4, 8, ... rounds (R. P. Brent, BIT
 * 20 (1980) 176-184).
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"
#include "life/isa.h"

#include <stdlib.h>
#include <string.h>

enum {
    HOST_ROUND = 120,
    HOST_GROWTH = 32,
    HOST_PERIOD = 100000,
    HOST_WINDOW = 64,
    HOST_HALF_WINDOW = HOST_WINDOW / 2
};
/* Ships other than gliders are rare, and recognising one takes the time of many generations. In
 * rules with gliders, boxes below this half size grow instead. */
enum { HOST_SHIPS = 128 };

struct census_host {
    const struct census_rule *rule;
    struct plane_rule next;
    struct census_plane plane;
    struct census_ships ships;
    uint64_t generation;
    bool repeat; /* ships met outside the box: repeat the soup in a larger one */
    plane_step *step;
};

struct plane_rule census_plane_rule(const struct census_rule *rule)
{
    const struct life_rule *r = &rule->family.rule;
    struct plane_rule next = {.life = r->birth == 1 << 3 && r->survival == (1 << 2 | 1 << 3)};
    for (int t = 0; t < rule->terms; t++)
        next.next[rule->term[t].total][rule->term[t].alive] = ~(uint32_t)0;
    if (rule->rows) {
        next.code = &rule->code;
        next.rows = rule->rows;
    }
    return next;
}

struct census_host *census_host_create(const struct census_rule *rule)
{
    struct census_host *h = calloc(1, sizeof *h);
    if (!h || !census_plane_make(&h->plane)) {
        census_host_free(h);
        return NULL;
    }
    h->rule = rule;
    h->step = life_isa(0)->plane_step;
    h->next = census_plane_rule(rule);
    return h;
}

void census_host_free(struct census_host *h)
{
    if (!h)
        return;
    census_plane_free(&h->plane);
    free(h->ships.ship);
    free(h);
}

/* ---- The edge. ------------------------------------------------------------------------------- */

/* Cells x to x + width - 1 of rows y to y + height - 1 of a window. */
static int window_count(const uint64_t window[HOST_WINDOW], int x, int y, int width, int height)
{
    int n = 0;
    for (int j = y; j < y + height; j++)
        n += __builtin_popcountll(window[j] >> x & (((uint64_t)1 << width) - 1));
    return n;
}

/* Read the glider at a cell near the edge. False if it is none, not alone or not outbound. */
static bool find_glider(const struct census_host *h, int x, int y, struct census_ship *ship)
{
    enum { AT = CENSUS_CLEAR + 4, ROWS = 2 * AT + 1, ALONE = 2 * CENSUS_CLEAR + 3 };
    const struct census_plane *p = &h->plane;
    uint64_t window[HOST_WINDOW];
    for (int j = 0; j < ROWS; j++)
        window[j] = census_plane_row(p, PLANE_NOW, x - AT, y - AT + j);
    int left = AT, top = AT;
    for (int d = 1; d <= 2; d++) {
        left = window_count(window, AT - d, AT - 2, 1, 5) ? AT - d : left;
        top = window_count(window, AT - 2, AT - d, 5, 1) ? AT - d : top;
    }
    unsigned cells = 0;
    for (int j = 0; j < 3; j++)
        cells |= (unsigned)(window[top + j] >> left & 7) << 3 * j;
    if (window_count(window, left - CENSUS_CLEAR, top - CENSUS_CLEAR, ALONE, ALONE) != 5 ||
        !census_is_glider(cells, ship))
        return false;
    ship->at = h->generation;
    ship->x = x + left - AT;
    ship->y = y + top - AT;
    return census_ship_leaves(ship, p->half);
}

/* Write the cells of the box as words, for the functions of census.h. */
static void write_box(const struct census_plane *p, enum plane_copy copy, uint64_t *box)
{
    const int words = p->half / 32;
    for (int y = -p->half; y < p->half; y++)
        for (int i = 0; i < words; i++)
            *box++ = census_plane_row(p, copy, 64 * i - p->half, y);
}

/* Remove an outbound ship with a cell at (x, y). Return false if there is none. */
static bool take_outbound_ship(struct census_host *h, struct census_sorter *sorter, int x, int y)
{
    struct census_plane *p = &h->plane;
    struct census_ship ship;
    if (!(h->rule->gliders && find_glider(h, x, y, &ship))) {
        if (h->rule->gliders && p->half < HOST_SHIPS)
            return false;
        write_box(p, PLANE_NOW, sorter->scratch);
        if (!census_take_ship(h->rule, (size_t)p->half / 32, sorter->scratch, h->generation, &ship))
            return false;
    }
    for (int j = 0; j < ship.height; j++)
        census_plane_kill(p, ship.x, ship.y + j, ship.row[0][j]);
    sorter->no_memory |= !census_ships_add(&h->ships, &ship);
    return true;
}

/* Enlarge the box, and put ships inside the new one back. */
static void grow_box(struct census_host *h)
{
    struct census_plane *p = &h->plane;
    struct census_ship ship;
    census_plane_box(p, p->half + HOST_GROWTH);
    for (size_t i = 0; census_ships_inside(h->rule, &h->ships, &i, p->half, h->generation, &ship);)
        for (int j = 0; j < ship.height; j++)
            census_plane_put(p, ship.x, ship.y + j, ship.row[0][j]);
}

/* Remove ships at the edge, and enlarge the box until the edge is clear. Return false if the soup
 * outgrows the largest box, or must be repeated in a larger one: ships that are put back may have
 * met outside. */
static bool clear_edge(struct census_host *h, struct census_sorter *sorter)
{
    struct census_plane *p = &h->plane;
    int x, y;
    while (census_plane_touches(p, &x, &y)) {
        if (take_outbound_ship(h, sorter, x, y))
            continue;
        h->repeat = census_ships_meet(&h->ships);
        if (h->repeat || p->half == PLANE_HALF)
            return false;
        grow_box(h);
    }
    p->touched = false;
    return true;
}

/* ---- Evolution. ------------------------------------------------------------------------------ */

static void start_soup(struct census_host *h, const struct census_soup *soup, int half)
{
    census_plane_clear(&h->plane, half);
    h->ships.n = 0;
    h->repeat = false;
    h->generation = 0;
    for (size_t y = 0; y < soup->height; y++)
        census_plane_put(&h->plane, -(int)(soup->width / 2), (int)y - (int)(soup->height / 2),
                         soup->row[y]);
}

/* Run the soup until it is periodic. */
static enum census_end evolve_soup(struct census_host *h, struct census_sorter *sorter,
                                   const struct census_soup *soup)
{
    struct census_plane *p = &h->plane;
    uint64_t left = 1, lap = 1;
    bool marked = false;
    while (h->step(p, &h->next, PLANE_STEP)) {
        h->generation += PLANE_STEP;
        if (p->touched && !clear_edge(h, sorter))
            return CENSUS_UNDECIDED;
        if (h->generation % HOST_ROUND)
            continue;
        if (marked && census_plane_equals(p, PLANE_MARK))
            return CENSUS_DECIDED;
        if (--left == 0) {
            census_plane_save(p, PLANE_MARK);
            marked = true;
            left = lap *= 2;
        }
        if (h->generation > soup->most)
            return CENSUS_UNDECIDED;
        if (soup->stop && soup->stop(soup->arg))
            return CENSUS_STOPPED;
    }
    h->generation += PLANE_STEP;
    return CENSUS_DECIDED;
}

/* ---- Ash. ------------------------------------------------------------------------------------ */

/* Collect the cells that are ever alive, and return the period; 0 if there is none. */
static unsigned ash_period(struct census_host *h)
{
    struct census_plane *p = &h->plane;
    int x, y;
    if (p->half < PLANE_HALF) /* oscillators may reach the edge between steps */
        census_plane_box(p, p->half + HOST_GROWTH);
    census_plane_wake(p);
    census_plane_save(p, PLANE_MARK);
    census_plane_save(p, PLANE_EVER);
    for (unsigned period = 1; period <= HOST_PERIOD; period++) {
        h->step(p, &h->next, 1);
        if (p->touched && census_plane_touches(p, &x, &y))
            return 0;
        if (census_plane_equals(p, PLANE_MARK))
            return period;
        census_plane_unite(p, PLANE_EVER);
    }
    return 0;
}

/* A window of the plane: cells that are ever alive, and the cells of one cluster. */
struct ash_window {
    int x, y, top, bottom, loaded_from, loaded_to;
    uint64_t ever[HOST_WINDOW], cluster[HOST_WINDOW];
};

static uint64_t window_row(const struct census_plane *p, struct ash_window *w, int row)
{
    while (row < w->loaded_from) {
        w->loaded_from--;
        w->ever[w->loaded_from] = census_plane_row(p, PLANE_EVER, w->x, w->y + w->loaded_from);
        w->cluster[w->loaded_from] = 0;
    }
    while (row >= w->loaded_to) {
        w->ever[w->loaded_to] = census_plane_row(p, PLANE_EVER, w->x, w->y + w->loaded_to);
        w->cluster[w->loaded_to++] = 0;
    }
    return w->ever[row];
}

/* Extend the cluster by all cells within two cells of it. Return false if it is too large for the
 * window. */
static bool window_fill(const struct census_plane *p, struct ash_window *w)
{
    for (bool grown = true; grown;) {
        grown = false;
        if (w->top < 4 || w->bottom >= HOST_WINDOW - 4)
            return false;
        window_row(p, w, w->top - 4);
        window_row(p, w, w->bottom + 4);
        const int top = w->top, bottom = w->bottom;
        for (int row = top - 2; row <= bottom + 2; row++) {
            const uint64_t *c = w->cluster + row, near = c[-2] | c[-1] | c[0] | c[1] | c[2],
                           cells = (near | near << 1 | near << 2 | near >> 1 | near >> 2) &
                                   w->ever[row];
            if (!(cells & ~c[0]))
                continue;
            w->cluster[row] |= cells;
            w->top = row < w->top ? row : w->top;
            w->bottom = row > w->bottom ? row : w->bottom;
            grown = true;
        }
    }
    return true;
}

/* Remove the cluster around a cell from the cells that are ever alive, and write its present cells.
 * Return false if the cluster is too large. */
static bool find_cluster(struct census_plane *p, int x, int y, uint64_t patch[CENSUS_PATCH])
{
    const uint64_t border = (uint64_t)3 << (HOST_WINDOW - 2) | 3;
    struct ash_window w = {.x = x - HOST_HALF_WINDOW, .y = y - HOST_HALF_WINDOW};
    uint64_t columns = 0;
    w.loaded_from = w.loaded_to = w.top = w.bottom = HOST_HALF_WINDOW;
    window_row(p, &w, HOST_HALF_WINDOW);
    w.cluster[HOST_HALF_WINDOW] = (uint64_t)1 << HOST_HALF_WINDOW;
    if (!window_fill(p, &w))
        return false;
    for (int row = w.top; row <= w.bottom; row++)
        columns |= w.cluster[row];
    const int left = __builtin_ctzll(columns), right = 63 - __builtin_clzll(columns);
    if (columns & border || right - left >= CENSUS_PATCH - 2 * CENSUS_MARGIN ||
        w.bottom - w.top >= CENSUS_PATCH - 2 * CENSUS_MARGIN)
        return false;
    memset(patch, 0, CENSUS_PATCH * sizeof *patch);
    for (int row = w.top; row <= w.bottom; row++) {
        patch[row - w.top + CENSUS_MARGIN] =
            (census_plane_row(p, PLANE_NOW, w.x, w.y + row) & w.cluster[row]) >>
            left << CENSUS_MARGIN;
        census_plane_remove(p, PLANE_EVER, w.x, w.y + row, w.cluster[row]);
    }
    return true;
}

/* Add the objects of the ash to the soup's. Return false if it cannot be separated. */
static bool sort_ash(struct census_host *h, struct census_sorter *sorter)
{
    struct census_plane *p = &h->plane;
    uint64_t patch[CENSUS_PATCH];
    const unsigned period = ash_period(h);
    int strip = 0, x, y;
    if (!period)
        return false;
    while (census_plane_find(p, PLANE_EVER, &strip, &x, &y)) {
        if (!find_cluster(p, x, y, patch)) {
            const size_t words = (size_t)p->half / 32;
            uint64_t *ever = sorter->scratch, *now = ever + 64 * words * words;
            write_box(p, PLANE_EVER, ever);
            write_box(p, PLANE_NOW, now);
            return census_sort_clusters(sorter, words, ever, now, period);
        }
        if (!census_see(sorter, patch, period))
            return false;
    }
    return true;
}

/* ---- A soup. --------------------------------------------------------------------------------- */

enum census_end census_host_soup(struct census_host *h, struct census_sorter *sorter,
                                 const struct census_soup *soup, uint64_t *generations)
{
    const size_t side = soup->width > soup->height ? soup->width : soup->height;
    for (int half = side <= 24 ? HOST_GROWTH : 2 * HOST_GROWTH;;
         half = h->plane.half + HOST_GROWTH) {
        start_soup(h, soup, half);
        const enum census_end end = evolve_soup(h, sorter, soup);
        *generations = h->generation;
        if (end != CENSUS_DECIDED && !h->repeat)
            return end;
        if (!h->repeat && !census_ships_meet(&h->ships))
            break;
        if (h->plane.half == PLANE_HALF)
            return CENSUS_UNDECIDED;
    }
    if (!sort_ash(h, sorter))
        return CENSUS_UNDECIDED;
    for (size_t i = 0; i < h->ships.n; i++)
        if (!census_add_ship(sorter, &h->ships.ship[i]))
            return CENSUS_UNDECIDED;
    return CENSUS_DECIDED;
}
