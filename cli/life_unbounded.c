/* life_unbounded.c - an unbounded plane, by either engine: HashLife's tree on the host, or
 * sparse tiles on a device.
 * SPDX-License-Identifier: MIT
 */
#include "life_plane.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

void unbounded_free(struct life_unbounded *e)
{
    hashlife_free(e->tree);
    life_sparse_free(e->sparse);
    e->tree = NULL;
    e->sparse = NULL;
}

int unbounded_put(struct life_unbounded *e, long long x, long long y,
                  const struct life_cells *cells)
{
    return e->tree ? hashlife_put(e->tree, x, y, cells) : life_sparse_put(e->sparse, x, y, cells);
}

int unbounded_get(struct life_unbounded *e, long long x, long long y, struct life_cells *cells)
{
    return e->tree ? hashlife_get(e->tree, x, y, cells) : life_sparse_get(e->sparse, x, y, cells);
}

int unbounded_density(struct life_unbounded *e, long long x, long long y, size_t width,
                      size_t height, unsigned zoom, uint64_t *live)
{
    return e->tree ? hashlife_density(e->tree, x, y, width, height, zoom, live)
                   : life_sparse_density(e->sparse, x, y, width, height, zoom, live);
}

int unbounded_get_zoomed(struct life_unbounded *e, unsigned zoom, long long x, long long y,
                         struct life_cells *cells)
{
    return e->tree ? hashlife_get_zoomed(e->tree, zoom, x, y, cells)
                   : life_sparse_get_zoomed(e->sparse, zoom, x, y, cells);
}

int unbounded_step(struct life_unbounded *e, uint64_t generations)
{
    return e->tree ? hashlife_step(e->tree, generations) : life_sparse_step(e->sparse, generations);
}

int unbounded_population(struct life_unbounded *e, struct hashlife_number *population)
{
    *population = (struct hashlife_number){0, 0};
    return e->tree ? hashlife_population(e->tree, population)
                   : life_sparse_population(e->sparse, &population->low);
}

static struct hashlife_number to_number(long long value)
{
    return (struct hashlife_number){(uint64_t)value, value < 0 ? -1 : 0};
}

int unbounded_bounding_box(struct life_unbounded *e, struct hashlife_box *box)
{
    struct life_sparse_box b;
    if (e->tree)
        return hashlife_bounding_box(e->tree, box);
    const int any = life_sparse_bounding_box(e->sparse, &b);
    if (any > 0)
        *box = (struct hashlife_box){to_number(b.left), to_number(b.top), to_number(b.right),
                                     to_number(b.bottom)};
    return any;
}

static int copy_tile(void *tree, long long x, long long y, const uint64_t row[48])
{
    uint64_t copy[48];
    memcpy(copy, row, sizeof copy);
    return hashlife_put(tree, x, y, &(struct life_cells){48, 48, 1, copy});
}

int unbounded_copy_to_tree(life_sparse *sparse, hashlife *tree)
{
    return life_sparse_walk(sparse, copy_tile, tree);
}

uint64_t unbounded_generation(const struct life_unbounded *e)
{
    return e->tree ? hashlife_generation(e->tree) : e->started + life_sparse_generation(e->sparse);
}
