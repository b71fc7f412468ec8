/* look.c - views of a grid of Life: rectangles of cells and counts of squares, computed on the
 * device, for run.sh; all are compared with the cells of the whole grid.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/life.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 201, HEIGHT = 67, WORDS = (WIDTH + 63) / 64 };

static uint64_t whole[HEIGHT][WORDS];

static bool cell_lives(size_t x, size_t y)
{
    x %= WIDTH;
    y %= HEIGHT;
    return whole[y][x / 64] >> x % 64 & 1;
}

static int wrong_window(life *lf, size_t x, size_t y, size_t width, size_t height)
{
    uint64_t word[HEIGHT][WORDS];
    struct life_cells cells = {.word = word[0], .width = width, .height = height, .stride = WORDS};
    int wrong = life_get(lf, (long long)x, (long long)y, &cells) != 0;
    for (size_t j = 0; j < height && !wrong; j++)
        for (size_t i = 0; i < width; i++)
            wrong += cell_lives(x + i, y + j) != (word[j][i / 64] >> i % 64 & 1);
    return wrong
               ? fprintf(stderr, "oclgrind_look: the rectangle %zu x %zu at (%zu, %zu) is wrong\n",
                         width, height, x, y)
               : 0;
}

static int wrong_squares(life *lf, size_t x, size_t y, size_t width, size_t height, unsigned zoom)
{
    uint64_t count[HEIGHT * WIDTH];
    int wrong = life_density(lf, (long long)x, (long long)y, width, height, zoom, count) != 0;
    for (size_t at = 0; at < width * height && !wrong; at++) {
        const size_t side = (size_t)1 << zoom, left = x + at % width * side,
                     top = y + at / width * side;
        uint64_t right = 0;
        for (size_t j = 0; j < side; j++)
            for (size_t i = 0; i < side; i++)
                right += left + i < WIDTH && top + j < HEIGHT && cell_lives(left + i, top + j);
        wrong += count[at] != right;
    }
    return wrong ? fprintf(stderr, "oclgrind_look: the squares of 2^%u at (%zu, %zu) are wrong\n",
                           zoom, x, y)
                 : 0;
}

int main(void)
{
    struct life_cells cells = {.word = whole[0], .width = WIDTH, .height = HEIGHT, .stride = WORDS};
    life *lf = life_create(&(struct life_options){.ctx = stddev, .width = WIDTH, .height = HEIGHT});
    if (!lf || life_soup(lf, 0, 1) != 0 || life_step(lf, 3) != 0)
        return fprintf(stderr, "oclgrind_look: %s\n", clerror()), 1;
    /* The cells stay on the device until the whole grid is read. */
    life *other =
        life_create(&(struct life_options){.ctx = stddev, .width = WIDTH, .height = HEIGHT});
    if (!other || life_soup(other, 0, 1) != 0 || life_step(other, 3) != 0 ||
        life_get(other, 0, 0, &cells) != 0)
        return fprintf(stderr, "oclgrind_look: %s\n", clerror()), 1;
    const int wrong = wrong_window(lf, 0, 0, 1, 1) || wrong_window(lf, 63, 5, 67, 9) ||
                      wrong_window(lf, 130, 60, 71, 7) ||
                      wrong_squares(lf, 0, 0, WIDTH / 4 + 1, HEIGHT / 4 + 1, 2) ||
                      wrong_squares(lf, 8, 16, 5, 3, 3);
    life_free(lf);
    life_free(other);
    return wrong != 0;
}
