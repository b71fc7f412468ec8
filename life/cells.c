/* cells.c - rectangles of packed cells in host memory: allocation, copying bits, states as bit
 * planes, soups.
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/engine.h"

#include "core/host_memory.h"
#include "stdcl/philox.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

double life_host_memory(void)
{
    return host_memory();
}

int life_cells_alloc(struct life_cells *cells, size_t width, size_t height)
{
    size_t stride = width / 64 + (width % 64 != 0);
    *cells = (struct life_cells){.width = width, .height = height, .stride = stride};
    const double bytes = (double)stride * (double)height * sizeof(uint64_t);
    if (bytes <= host_memory_left())
        cells->word = calloc(stride * height + 1, sizeof(uint64_t));
    if (!cells->word)
        return clerror_set(
            ENOMEM, "life: out of memory on the host for %zu x %zu cells, which need %.4g MB",
            width, height, bytes / 1e6);
    return 0;
}

void life_cells_free(struct life_cells *cells)
{
    free(cells->word);
    *cells = (struct life_cells){0};
}

/* ---- Copying bits. --------------------------------------------------------------------------- */

void life_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t start, size_t n)
{
    while (n) {
        /* bits left in both words */
        size_t room = 64 - at % 64, there = 64 - start % 64;
        size_t k = room < there ? room : there;
        k = k < n ? k : n;
        uint64_t mask = (k < 64 ? ((uint64_t)1 << k) - 1 : ~(uint64_t)0) << at % 64;
        uint64_t bits = from[start / 64] >> start % 64 << at % 64;
        to[at / 64] = (to[at / 64] & ~mask) | (bits & mask);
        at += k;
        start += k;
        n -= k;
    }
}

/* ---- States as bit planes. ------------------------------------------------------------------ */

/* Planes that a state sets: bit k for plane k. */
static unsigned state_planes(unsigned state)
{
    return state < 2 ? state : (state - 1) << 1;
}

void life_states_to_planes(life *lf, size_t x, size_t y, size_t n, const unsigned char *state)
{
    for (unsigned k = 0; k < life_planes_of(lf); k++) {
        uint64_t *row = life_plane_row(lf, k, y);
        for (size_t i = 0; i < n; i++) {
            const size_t at = x + i;
            const uint64_t bit = (uint64_t)1 << at % 64;
            row[at / 64] =
                state_planes(state[i]) >> k & 1 ? row[at / 64] | bit : row[at / 64] & ~bit;
        }
    }
}

void life_states_of_planes(life *lf, size_t x, size_t y, size_t n, unsigned char *state)
{
    const unsigned all = life_planes_of(lf),
                   planes = all < LIFE_PLANES_MAX ? all : LIFE_PLANES_MAX; /* tells GCC the limit */
    const uint64_t *row[LIFE_PLANES_MAX];
    for (unsigned k = 0; k < planes; k++)
        row[k] = life_plane_row(lf, k, y);
    for (size_t i = 0; i < n; i++) {
        const size_t at = x + i;
        uint64_t any = at % 64 != 0 || n - i < 64;
        for (unsigned k = 0; k < planes && !any; k++)
            any = row[k][at / 64];
        if (!any) { /* 64 empty cells */
            memset(state + i, 0, 64);
            i += 63;
            continue;
        }
        unsigned bits = 0;
        for (unsigned k = 0; k < planes; k++)
            bits |= (unsigned)(row[k][at / 64] >> at % 64 & 1) << k;
        state[i] = (unsigned char)(bits < 2 ? bits : (bits >> 1) + 1);
    }
}

/* ---- Soups. ---------------------------------------------------------------------------------- */

/* Report progress every so often. */
static int soup_tell(life *lf, size_t y)
{
    const size_t often = ((size_t)1 << 24) / lf->width + 1;
    return y % often == 0 ? life_call_tell(lf, (double)y) : 0;
}

/* Fill by the C library's rand() % 2, row by row. glibc's rand() gives the numbers of random_r
 * with a state of 128 bytes, which is four times as fast because it takes no lock. */
int life_soup_rand(life *lf, unsigned seed)
{
#ifdef __GLIBC__
    struct random_data data = {0};
    char state[128];
    int32_t number;
    initstate_r(seed, state, sizeof state, &data);
#else
    srand(seed);
#endif
    uint64_t *row =
        malloc(lf->words * sizeof *row); /* whole rows: the sequence includes other ranks' cells */
    int status = row ? 0 : clerror_set(ENOMEM, "life: out of memory for a row");
    for (size_t y = 0; y < lf->height && status == 0; y++) {
        for (size_t x = 0; x < lf->words; x++)
            row[x] = 0;
        for (size_t x = 0; x < lf->width; x++) {
#ifdef __GLIBC__
            random_r(&data, &number);
            row[x / 64] |= (uint64_t)(number % 2) << x % 64;
#else
            row[x / 64] |= (uint64_t)(rand() % 2) << x % 64;
#endif
        }
        if (life_has_row(lf, y))
            memcpy(lf->backend->row(lf, y), row + lf->from, lf->own * sizeof *row);
        status = soup_tell(lf, y);
    }
    free(row);
    return status;
}

/* 64 independent bits, each 1 with probability p / 2^32. The bits of p are processed from the
 * lowest 1 bit upwards: `or` with a random word halves the probability's distance to 1, `and` its
 * distance to 0. A probability of 1/2 takes one random word, 3/8 takes three. Word i of place (x,
 * y) is half of Philox block (x, y, i / 2). */
uint64_t life_random_word(uint64_t p, size_t x, size_t y, uint64_t seed)
{
    uint64_t out = 0;
    philox4 block = {0, 0, 0, 0};
    if (p >> 32)
        return ~(uint64_t)0;
    for (unsigned bit = 0, i = 0; p && bit < 32; bit++) {
        if (!i && !(p >> bit & 1))
            continue;
        if (i % 2 == 0) {
            const philox4 place = {(uint32_t)x, (uint32_t)y, (uint32_t)(x >> 32), i / 2};
            block = philox4x32_10(place, (uint32_t)seed, (uint32_t)(seed >> 32));
        }
        uint64_t r = i % 2 ? (uint64_t)block.z << 32 | block.w : (uint64_t)block.x << 32 | block.y;
        out = p >> bit & 1 ? out | r : out & r;
        i++;
    }
    return out;
}

int life_soup_density(life *lf, double density, uint64_t seed)
{
    const uint64_t p = (uint64_t)llround(density * 4294967296.0);
    for (size_t y = lf->first; y < lf->first + lf->rows; y++) {
        uint64_t *row = lf->backend->row(lf, y);
        for (size_t x = 0; x < lf->own; x++)
            row[x] = life_random_word(p, lf->from + x, y, seed);
        if (lf->from + lf->own == lf->words)
            row[lf->own - 1] &= life_last_mask(lf->width);
        if (soup_tell(lf, y) < 0)
            return -1;
    }
    return 0;
}
