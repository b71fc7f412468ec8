/* density.h - mass per pixel of projected bodies, each spread as wide as its neighbours are far.
 * Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_DENSITY_H
#define FORMATS_DENSITY_H

#include <stddef.h>

/* How bodies fall on pixels. A body at p falls on pixel (u, v):
 *   u = (p[axis[0]] - centre[0]) * scale + width / 2     to the right
 *   v = (centre[1] - p[axis[1]]) * scale + height / 2    downwards */
struct projection {
    unsigned width, height; /* pixels */
    int axis[2];
    double centre[2]; /* in the lengths of the bodies */
    double scale;     /* pixels a length */
};

enum { DENSITY_MOST_SHADES = 3 };

/* Bodies to be drawn; nothing is owned. */
struct density_bodies {
    size_t n;
    const double *mass;     /* NULL: all 1 */
    const double (*pos)[3]; /* those that are not finite are left out */
    size_t shades; /* numbers that every body carries, at most three: its speed, or its colour */
    const float *shade; /* [n][shades] */
};

/* Fills map[1 + shades][height][width]: the mass in each pixel, then for every shade the sum of
 * mass times shade. -1 with ENOMEM. Uses all processors; the result does not depend on how many
 * there are. */
int density_map(const struct projection *view, const struct density_bodies *bodies, float *map);

/* The same with a dot for each body, 1 in its middle whatever its mass, with a standard deviation
 * of `width` pixels. */
void density_dots(const struct projection *view, double width, const struct density_bodies *bodies,
                  float *map);

/* The same with the paths of n bodies, from pos[i] to pos[n + i], pos[2 n + i] and so on, `points`
 * of each; at least 1 along them. */
void density_paths(const struct projection *view, double width, size_t points,
                   const struct density_bodies *bodies, float *map);

#endif
