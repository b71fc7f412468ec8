/* states.c - cells of more than two states, in and out of an engine: as bytes for the caller, as bit planes in the engine.
 * SPDX-License-Identifier: MIT
 */
#include "life/internal.h"

#include <errno.h>

unsigned life_states(const life *lf)
{
    return lf->rule.states;
}

static int check(const life *lf, long long x, long long y, size_t width, size_t height)
{
    if (world_size(lf->world) > 1)
        return clerror_set(ENOTSUP, "life: cells of several states are for one rank");
    if (x < 0 || y < 0 || width > lf->width || height > lf->height || (size_t)x > lf->width - width || (size_t)y > lf->height - height)
        return clerror_set(EINVAL, "life: %zu x %zu cells at %lld,%lld reach beyond the edge of a grid of %zu x %zu", width, height, x, y, lf->width,
                           lf->height);
    return 0;
}

/* Which planes a state has: bit k for plane k. */
static unsigned bits_of(unsigned state)
{
    return state < 2 ? state : (state - 1) << 1;
}

int life_put_states(life *lf, long long x, long long y, size_t width, size_t height, const unsigned char *state)
{
    const unsigned planes = life_planes_of(lf);
    if (check(lf, x, y, width, height) < 0)
        return -1;
    for (size_t i = 0; i < width * height; i++)
        if (state[i] >= lf->rule.states)
            return clerror_set(EINVAL, "life: cell %zu,%zu has state %d, and the rule %s has states 0 to %u", i % width, i / width, state[i], lf->rule.text,
                               lf->rule.states - 1);
    if (life_to_host(lf) < 0)
        return -1;
    for (unsigned k = 0; k < planes; k++)
        for (size_t j = 0; j < height; j++) {
            uint64_t *row = life_plane_row(lf, k, (size_t)y + j);
            for (size_t i = 0; i < width; i++) {
                const size_t at = (size_t)x + i;
                const uint64_t bit = (uint64_t)1 << at % 64;
                row[at / 64] = bits_of(state[j * width + i]) >> k & 1 ? row[at / 64] | bit : row[at / 64] & ~bit;
            }
        }
    lf->device_stale = true;
    lf->past.n = 0;
    return 0;
}

int life_get_states(life *lf, long long x, long long y, size_t width, size_t height, unsigned char *state)
{
    const unsigned planes = life_planes_of(lf);
    if (check(lf, x, y, width, height) < 0 || life_to_host(lf) < 0)
        return -1;
    for (size_t j = 0; j < height; j++)
        for (size_t i = 0; i < width; i++) {
            const size_t at = (size_t)x + i;
            unsigned bits = 0;
            for (unsigned k = 0; k < planes; k++)
                bits |= (unsigned)(life_plane_row(lf, k, (size_t)y + j)[at / 64] >> at % 64 & 1) << k;
            state[j * width + i] = (unsigned char)(bits < 2 ? bits : (bits >> 1) + 1);
        }
    return 0;
}
