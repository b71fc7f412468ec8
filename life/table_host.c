/* table_host.c - rules by a table of 512 neighbourhoods in plain C: rows of the engine "reference"
 * on tori and planes.
 *
 * The live cells of a column of three are a number of three bits, and three columns look up the
 * next state (lookups.h). Without B0, a dead row between dead rows stays dead and needs no look-up.
 * SPDX-License-Identifier: MIT
 */
#include "life/table_host.h"
#include "life/isa.h"
#include "life/vectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct life_table_host {
    struct life_columns columns;
    bool b0;
    lookups_row *look_up; /* NULL: one by one */
    unsigned char *dead;  /* a row of dead cells */
    unsigned char *code;  /* of columns -1 ... width */
};

struct life_table_host *life_table_host_open(const struct life_family *rule, size_t width)
{
    struct life_table_host *h = calloc(1, sizeof *h);
    if (!h || !(h->dead = calloc(width, 1)) || !(h->code = calloc(width + 2, 1))) {
        life_table_host_close(h);
        return NULL;
    }
    h->columns = life_columns_of(&rule->table);
    h->b0 = life_table_next(&rule->table, 0);
    h->look_up = life_isa(0)->lookups_row;
    return h;
}

void life_table_host_close(struct life_table_host *h)
{
    if (!h)
        return;
    free(h->dead);
    free(h->code);
    free(h);
}

bool life_table_host_pays(const struct life_table_host *h, size_t n, size_t width)
{
    return n > width / (h->look_up ? 32 : 8);
}

LIFE_VECTORS static void table_codes(unsigned char *restrict code,
                                     const unsigned char *restrict above,
                                     const unsigned char *restrict own,
                                     const unsigned char *restrict below, size_t n)
{
    for (size_t x = 0; x < n; x++)
        code[x] = (unsigned char)((above[x] == 1) | (own[x] == 1) << 1 | (below[x] == 1) << 2);
}

/* Row `y` of the cells, or the dead one; on a torus the opposite row. */
static const unsigned char *table_row(const struct life_table_host *h, enum life_bounds bounds,
                                      size_t width, size_t height, size_t y, int beside,
                                      const unsigned char *from)
{
    const bool outside = beside < 0 ? y == 0 : beside > 0 && y + 1 == height;
    if (outside && bounds != LIFE_TORUS)
        return h->dead;
    return from + (y + height + (size_t)beside) % height * width;
}

static bool row_is_dead(const unsigned char *row, size_t width)
{
    return !row[0] && memcmp(row, row + 1, width - 1) == 0;
}

void life_table_host_rows(struct life_table_host *h, const struct life_family *rule,
                          enum life_bounds bounds, size_t width, size_t height, size_t y,
                          size_t end, const unsigned char *from, unsigned char *to)
{
    unsigned char *code = h->code + 1;
    for (; y < end; y++) {
        const unsigned char *own = from + y * width,
                            *above = table_row(h, bounds, width, height, y, -1, from),
                            *below = table_row(h, bounds, width, height, y, 1, from);
        unsigned char *next = to + y * width;
        if (!h->b0 && row_is_dead(own, width) && row_is_dead(above, width) &&
            row_is_dead(below, width)) {
            memset(next, 0, width);
            continue;
        }
        table_codes(code, above, own, below, width);
        h->code[0] = bounds == LIFE_TORUS ? code[width - 1] : 0;
        code[width] = bounds == LIFE_TORUS ? code[0] : 0;
        for (size_t x = h->look_up ? h->look_up(&h->columns, code, width, next) : 0; x < width; x++)
            next[x] = h->columns.next[h->code[x] | code[x] << 3] >> code[x + 1] & 1;
        for (size_t x = 0; x < width && rule->states > 2; x++)
            next[x] = life_next_state(rule, own[x], next[x]);
    }
}
