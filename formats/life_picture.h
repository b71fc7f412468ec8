/* life_picture.h - pictures of cells with grid lines and a caption.
 *
 *   +-----------------------+
 *   | generation  128       |   caption
 *   |   +---+---+---+---+   |
 *   |   |   | # | # |   |   |   cells; every tenth grid line is brighter
 *   |   +---+---+---+---+   |
 *   | ---- 2 cells          |   scale bar
 *   +-----------------------+
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_LIFE_PICTURE_H
#define FORMATS_LIFE_PICTURE_H

#include "formats/life.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LIFE_LINES_ZOOM = 4 }; /* fewest pixels of a cell for grid lines */

struct life_picture {
    unsigned zoom;       /* pixels of a cell's side */
    bool grid_lines;     /* zoom >= LIFE_LINES_ZOOM */
    bool light;          /* dead cells are white and cells of state 1 black, for figures */
    const char *caption; /* above the cells, with a scale bar below; NULL: neither; not owned */
};

/* Draw the cells of a pattern with all its rows in memory into rgb, 3 * zoom * width * zoom *
 * height bytes, rows from the top, with grid lines and without a caption. */
void life_picture_draw(const struct life_pattern *p, const struct life_picture *picture,
                       uint8_t *rgb);

/* Number of squares of `side` cells along `cells` cells. */
size_t life_picture_squares(size_t cells, size_t side);

/* Find the share of live cells, 0 to 1, of each square of side x side cells, by rows from the top:
 * life_picture_squares(width, side) x life_picture_squares(height, side) numbers. Return the
 * largest. */
double life_picture_shares(const struct life_pattern *p, size_t side, double *share);

/* Write a PNG file, whole or not at all. Without grid lines and caption it has one bit for each
 * pixel, and the pattern may have bands. Errors as life_pattern_write; ENOMEM. */
int life_picture_write(const char *file, const struct life_pattern *p,
                       const struct life_picture *picture);

#ifdef __cplusplus
}
#endif
#endif
