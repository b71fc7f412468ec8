/* states.c - cells of more than two states: a byte a cell for the caller, bit planes in the
 * engine.
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/engine.h"

#include "core/handle.h"

#include <errno.h>

unsigned life_states(const life *lf)
{
    if (no_handle(lf, __func__))
        return 0;
    return lf->rule.states;
}

static int states_check(const life *lf, long long x, long long y, size_t width, size_t height)
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

int life_put_states(life *lf, long long x, long long y, size_t width, size_t height,
                    const unsigned char *state)
{
    if (no_handle(lf, __func__))
        return -1;
    if (states_check(lf, x, y, width, height) < 0)
        return -1;
    for (size_t i = 0; i < width * height; i++)
        if (state[i] >= lf->rule.states)
            return clerror_set(EINVAL,
                               "life: cell %zu,%zu has state %d; rule %s has states 0 to %u",
                               i % width, i / width, state[i], lf->rule.text, lf->rule.states - 1);
    if (life_to_host(lf) < 0)
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
    if (states_check(lf, x, y, width, height) < 0 || life_to_host(lf) < 0)
        return -1;
    for (size_t j = 0; j < height; j++)
        life_states_of_planes(lf, (size_t)x, (size_t)y + j, width, state + j * width);
    return 0;
}
