/* identify_snapshot.c - a plane to return to: the tree of its squares.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Squares have the numbers of the walk, from 1 on. */
struct snapshot_square {
    int level; /* 3: `bits`, if the rule has two states; 1: `state` */
    uint64_t bits;
    uint32_t part[4];
    unsigned char state[4];
};

static int snapshot_add(struct identify_snapshot *t, const struct snapshot_square *square)
{
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 1024;
        struct snapshot_square *more = realloc(t->square, room * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "life: out of memory for %zu squares", room);
        t->square = more;
        t->room = room;
    }
    t->square[t->n++] = *square;
    return 0;
}

static int snapshot_bits(void *arg, uint64_t cells)
{
    return snapshot_add(arg, &(struct snapshot_square){.level = 3, .bits = cells});
}

static int snapshot_states(void *arg, const unsigned char state[4])
{
    struct snapshot_square square = {.level = 1};
    struct identify_snapshot *t = arg;
    t->multistate = true;
    memcpy(square.state, state, sizeof square.state);
    return snapshot_add(t, &square);
}

static int snapshot_square(void *arg, int level, const uint32_t part[4])
{
    struct snapshot_square square = {.level = level};
    memcpy(square.part, part, sizeof square.part);
    return snapshot_add(arg, &square);
}

int identify_snapshot_take(life *lf, struct identify_snapshot *t)
{
    int level;
    t->generation = lf->generation;
    return life_tree_walk(lf, &level, snapshot_bits, snapshot_states, snapshot_square, t);
}

int identify_snapshot_restore(life *lf, const struct identify_snapshot *t)
{
    uint32_t number = 0, first = 0; /* squares that the caller added come before the first */
    for (size_t i = 0; i < t->n; i++) {
        const struct snapshot_square *q = &t->square[i];
        uint32_t part[4];
        for (int k = 0; k < 4; k++)
            part[k] = q->part[k] ? q->part[k] + first : 0;
        const int status = q->level == 3 && !t->multistate
                               ? life_tree_add_bits(lf, q->bits, &number)
                           : q->level == 1 ? life_tree_add_states(lf, q->state, &number)
                                           : life_tree_add_square(lf, q->level, part, &number);
        if (status < 0)
            return -1;
        first = i == 0 ? number - 1 : first;
    }
    return life_tree_set(lf, number, t->generation);
}

void identify_snapshot_free(struct identify_snapshot *t)
{
    free(t->square);
    *t = (struct identify_snapshot){.square = NULL};
}
