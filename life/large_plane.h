/* large_plane.h - unbounded planes of Larger than Life in plain C.
 *
 *   large_regions.c  the regions of a plane
 *   large_plane.c    the engine "reference" on these planes
 *
 * A region is a field (large_field.h) around some of the nonzero cells. Each nonzero cell belongs
 * to one region. The rectangles of regions may overlap, but not their nonzero cells within the
 * reach of the neighbourhood, so that a generation computes each region by itself:
 *
 *   +-----------+
 *   |  o        |              +---------+
 *   |   oo      |              |    o    |
 *   |     o     |              +---------+
 *   +-----------+
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_LARGE_PLANE_H
#define LIFE_LARGE_PLANE_H

#include "life/large_field.h"

/* Columns left ... right - 1 and rows top ... bottom - 1; empty if left = right. */
struct plane_box {
    long long left, top, right, bottom;
};

static inline bool plane_box_is_empty(struct plane_box b)
{
    return b.left == b.right;
}

static inline struct plane_box plane_box_join(struct plane_box a, struct plane_box b)
{
    if (plane_box_is_empty(a))
        return b;
    if (plane_box_is_empty(b))
        return a;
    return (struct plane_box){a.left < b.left ? a.left : b.left, a.top < b.top ? a.top : b.top,
                              a.right > b.right ? a.right : b.right,
                              a.bottom > b.bottom ? a.bottom : b.bottom};
}

/* Farthest coordinate of a nonzero cell: sums of coordinates and sizes fit in 63 bits. */
#define PLANE_FARTHEST (1LL << 61)

struct large_region {
    struct large_field field;
    long long x, y;       /* of the field's cell 0,0 */
    struct plane_box box; /* has all nonzero cells; set by large_regions_measure */
};

struct large_plane {
    struct large_field rule; /* rule, runs and threads of all regions; no cells */
    struct large_region **region;
    size_t n, room;
    double memory; /* limit of bytes, also while cells move */
};

/* The box of all nonzero cells of a region. */
struct plane_box large_region_box(const struct large_region *r);

/* Bytes of all regions. */
double large_regions_bytes(const struct large_plane *p);

/* Find or make the region that can take a box of new nonzero cells: its rectangle contains the box,
 * and no other region has cells within reach. Regions that are near are joined. NULL: ENOMEM, or
 * ERANGE if cells would be too far from the middle of the plane; the cells are then unchanged. */
struct large_region *large_regions_cover(struct large_plane *p, struct plane_box box);

/* Give each region room for the next generation. Join regions if their cells come near each other,
 * and divide a region if its cells have moved far apart. Fails like large_regions_cover. */
int large_regions_prepare(struct large_plane *p);

/* Free all regions. */
void large_regions_free(struct large_plane *p);

/* Set the regions' boxes to their nonzero cells, remove empty regions, and sort the remaining ones
 * by the first row. */
void large_regions_measure(struct large_plane *p);

#endif
