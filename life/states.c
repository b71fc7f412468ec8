/* states.c - cells of more than two states: a byte a cell for the caller, bit planes in the
 * engine.
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/engine.h"

#include "core/handle.h"

#include <errno.h>

static int states_place(const life *lf, long long x, long long y, size_t width, size_t height)
{
    if (world_size(lf->world) > 1)
        return clerror_set(ENOTSUP, "life: cells of more than two states need a single rank");
    if (x < 0 || y < 0 || width > lf->width || height > lf->height ||
        (size_t)x > lf->width - width || (size_t)y > lf->height - height)
        return clerror_set(
            EINVAL,
            "life: %zu x %zu cells at %lld,%lld extend beyond the edge of a grid of %zu x %zu",
            width, height, x, y, lf->width, lf->height);
    return 0;
}

static int states_check(const life *lf, size_t width, size_t n, const unsigned char *state)
{
    for (size_t i = 0; i < n; i++)
        if (state[i] >= lf->rule.states)
            return clerror_set(EINVAL,
                               "life: cell %zu,%zu has state %d; rule %s has states 0 to %u",
                               i % width, i / width, state[i], lf->rule.text, lf->rule.states - 1);
    return 0;
}

/* Put states of 0 and 1 as bits, or get them. */
static int bits_in_plane(life *lf, const struct life_window *w, bool put)
{
    struct life_cells cells;
    if (life_cells_alloc(&cells, w->width, w->height) < 0)
        return -1;
    uint64_t *const word = cells.word;
    for (size_t i = 0; put && i < w->width * w->height; i++)
        word[i / w->width * cells.stride + i % w->width / 64] |= (uint64_t)w->state[i]
                                                                 << i % w->width % 64;
    const int status = put ? life_put(lf, w->x, w->y, &cells) : life_get(lf, w->x, w->y, &cells);
    for (size_t i = 0; !put && i < w->width * w->height; i++)
        w->state[i] = (unsigned char)life_cells_at(&cells, i % w->width, i / w->width);
    life_cells_free(&cells);
    return status;
}

/* Copy states to or from an unbounded plane. */
static int states_in_plane(life *lf, const struct life_window *w, bool put)
{
    if (!w->width || !w->height)
        return 0;
    if (lf->engine == LIFE_SPARSE)
        return bits_in_plane(lf, w, put);
    return put ? lf->backend->put(lf, w) : lf->backend->get(lf, w);
}

int life_put_states(life *lf, long long x, long long y, size_t width, size_t height,
                    const unsigned char *state)
{
    if (no_handle(lf, __func__))
        return -1;
    if (states_check(lf, width, width * height, state) < 0)
        return -1;
    if (lf->backend->put)
        return states_in_plane(
            lf, &(struct life_window){x, y, width, height, NULL, (unsigned char *)state}, true);
    if (states_place(lf, x, y, width, height) < 0 || life_to_host(lf) < 0)
        return -1;
    for (size_t j = 0; j < height; j++)
        life_states_to_planes(lf, (size_t)x, (size_t)y + j, width, state + j * width);
    lf->device_stale = true;
    lf->past.n = 0;
    return 0;
}

int life_get_states(life *lf, long long x, long long y, size_t width, size_t height,
                    unsigned char *state)
{
    if (no_handle(lf, __func__))
        return -1;
    if (lf->backend->get)
        return states_in_plane(lf, &(struct life_window){x, y, width, height, NULL, state}, false);
    if (states_place(lf, x, y, width, height) < 0 || life_to_host(lf) < 0)
        return -1;
    for (size_t j = 0; j < height; j++)
        life_states_of_planes(lf, (size_t)x, (size_t)y + j, width, state + j * width);
    return 0;
}
