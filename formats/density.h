/* density.h - mass per pixel of projected bodies, each spread as wide as its neighbours are far. Private
 * to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_DENSITY_H
#define FORMATS_DENSITY_H

#include <stddef.h>

/* What is drawn. A body at p falls on pixel (u, v):
 *   u = (p[axis[0]] - centre[0]) * scale + width / 2     to the right
 *   v = (centre[1] - p[axis[1]]) * scale + height / 2    downwards */
struct view {
    unsigned width, height; /* pixels */
    int axis[2];
    double centre[2]; /* in the lengths of the bodies */
    double scale;     /* pixels a length */
};

/* Fills map[height][width] with the mass in each pixel; NULL for `mass` counts bodies. Bodies that are
 * not finite are left out. -1 with ENOMEM. */
int density_map(const struct view *view, size_t n, const double *mass, const double (*pos)[3], double *map);

/* Fills map[height][width] with a dot for each body, 1 in its middle, with a standard deviation of
 * `width` pixels. */
void density_dots(const struct view *view, double width, size_t n, const double (*pos)[3], double *map);

/* The same with the paths of n bodies, from pos[i] to pos[n + i], pos[2 n + i] and so on, `points` of each; at least 1
 * along them. */
void density_paths(const struct view *view, double width, size_t n, size_t points, const double (*pos)[3], double *map);

#endif
