/* density.h - mass per pixel of projected bodies, each smoothed over the distance of its
 * neighbours. Private to formats/.
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
    double centre[2]; /* in the bodies' unit of length */
    double scale;     /* pixels per unit of length */
};

enum { DENSITY_MOST_SHADES = 3 };

/* Bodies to draw; nothing is owned. */
struct density_bodies {
    size_t n;
    const double *mass;     /* NULL: all 1 */
    const double (*pos)[3]; /* bodies that are not finite are left out */
    size_t shades;          /* values per body, at most three: its speed, or its colour */
    const float *shade;     /* [n][shades] */
};

/* Fill map[1 + shades][height][width]: the mass in each pixel, then for every shade the sum of
 * mass times shade. -1 with ENOMEM. Uses all processors; the result does not depend on their
 * number. */
int density_map(const struct projection *view, const struct density_bodies *bodies, float *map);

/* As density_map, with a Gaussian dot for each body: maximum 1 whatever its mass, standard
 * deviation `width` pixels. */
void density_dots(const struct projection *view, double width, const struct density_bodies *bodies,
                  float *map);

/* As density_map, for the paths of n bodies, from pos[i] to pos[n + i], pos[2 n + i] and so on,
 * `points` of each; at least 1 along them. */
void density_paths(const struct projection *view, double width, size_t points,
                   const struct density_bodies *bodies, float *map);

#endif
