/* draw_tree.c - the pictures of docs/tree.md: the cells of a tree, and the interactions of one
 * group of bodies.
 *
 *   draw_tree FOLDER
 *
 * The bodies are a thin layer, so that cells are seen from above. The tree and the lists are the
 * scalar reference's, which equal the kernels' entry by entry.
 * SPDX-License-Identifier: MIT
 */
#include "formats/picture.h"
#include "nbody/reference/nbody_ref_tree.h"
#include "stdcl/nbody.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 6000, PIXELS = 640, LEAF = 16 };
static double mass[N], pos[N][3], vel[N][3];
static float posm[N][4];
static uint8_t picture[PIXELS][PIXELS][3];
static const double extent = 9; /* the side that is shown */

static int set_tree_pixel(double x)
{
    return (int)((x / extent + 0.5) * PIXELS);
}

static void draw_dot(int x, int y, double strength, const double colour[3])
{
    if (x < 0 || y < 0 || x >= PIXELS || y >= PIXELS)
        return;
    uint8_t *p = picture[PIXELS - 1 - y][x];
    for (int c = 0; c < 3; c++)
        p[c] = (uint8_t)(p[c] + strength * (255 * colour[c] - p[c]));
}

static void fill_rectangle(const double lo[2], const double hi[2], double strength,
                           const double colour[3])
{
    for (int y = set_tree_pixel(lo[1]); y < set_tree_pixel(hi[1]); y++)
        for (int x = set_tree_pixel(lo[0]); x < set_tree_pixel(hi[0]); x++)
            draw_dot(x, y, strength, colour);
}

static void draw_frame(const double lo[2], const double hi[2], double strength,
                       const double colour[3])
{
    const int x0 = set_tree_pixel(lo[0]), x1 = set_tree_pixel(hi[0]), y0 = set_tree_pixel(lo[1]),
              y1 = set_tree_pixel(hi[1]);
    for (int x = x0; x <= x1; x++) {
        draw_dot(x, y0, strength, colour);
        draw_dot(x, y1, strength, colour);
    }
    for (int y = y0; y <= y1; y++) {
        draw_dot(x0, y, strength, colour);
        draw_dot(x1, y, strength, colour);
    }
}

static int cell_level(const struct nbody_ref_tree *t, uint32_t cell)
{
    int level = 0;
    while (level < TREE_LEVELS && t->level[level + 1] <= cell)
        level++;
    return level;
}

/* Draw the square of a cell: the place of its first body on the grid of its level. */
static void draw_square(const struct nbody_ref_tree *t, uint32_t cell, double lo[2], double hi[2])
{
    const double side = ldexp((double)t->side, -cell_level(t, cell));
    for (int c = 0; c < 2; c++) {
        const double from = (double)t->lo[c];
        lo[c] = from + side * floor(((double)t->body[t->start[cell]][c] - from) / side);
        hi[c] = lo[c] + side;
    }
}

/* An exponential disk from above, without thickness, and a companion. */
static int make_drawn_bodies(void)
{
    if (nbody_initial(NBODY_GALAXY, N, 1, mass, pos, vel) < 0)
        return -1;
    for (int i = 0; i < N; i++) {
        const int companion = i >= N / 2;
        posm[i][0] = (float)(companion ? 0.3 * pos[i - N / 2 + N / 8][0] + 2.6 : pos[i][0] - 0.8);
        posm[i][1] = (float)(companion ? 0.3 * pos[i - N / 2 + N / 8][1] + 2.2 : pos[i][1] - 0.8);
        posm[i][2] = 0;
        posm[i][3] = 1;
    }
    return 0;
}

static void draw_bodies(const struct nbody_ref_tree *t, uint32_t first, uint32_t count,
                        double strength, const double colour[3])
{
    for (uint32_t i = first; i < first + count; i++)
        for (int k = 0; k < 4; k++)
            draw_dot(set_tree_pixel((double)t->body[i][0]) + k % 2,
                     set_tree_pixel((double)t->body[i][1]) + k / 2, strength, colour);
}

static const double grey[3] = {0.45, 0.5, 0.6}, white[3] = {1, 1, 1}, orange[3] = {1, 0.6, 0.15},
                    blue[3] = {0.3, 0.6, 1}, green[3] = {0.4, 0.95, 0.5};

static void draw_cells(const struct nbody_ref_tree *t)
{
    for (uint32_t k = 0; k < t->cells; k++) {
        double lo[2], hi[2];
        draw_square(t, k, lo, hi);
        if (t->link[k].count < 0)
            draw_frame(lo, hi, 0.8, grey);
    }
    draw_bodies(t, 0, N, 0.7, orange);
}

/* Cells that interact with the group as a whole are blue, with a mark at their centres of mass;
 * single bodies orange; the group's own green. */
static void draw_lists(const struct nbody_ref_tree *t, uint32_t first, struct nbody_ref_lists *l)
{
    draw_bodies(t, 0, N, 0.25, white);
    for (size_t e = 0; e < l->cells; e++) {
        double lo[2], hi[2];
        const float *centre = t->com[l->cell[e]];
        draw_square(t, l->cell[e], lo, hi);
        fill_rectangle(lo, hi, 0.22, blue);
        draw_frame(lo, hi, 0.9, blue);
        for (int k = 0; k < 9; k++)
            draw_dot(set_tree_pixel((double)centre[0]) + k % 3 - 1,
                     set_tree_pixel((double)centre[1]) + k / 3 - 1, 0.9, white);
    }
    for (size_t e = 0; e < l->bodies; e++)
        draw_bodies(t, l->body[e] & ~NBODY_REF_POINT, 1, 0.9, orange);
    draw_bodies(t, first, TREE_GROUP, 1, green);
}

/* Groups of consecutive bodies on the curve, each in its own colour, and their boxes. */
static void draw_groups(const struct nbody_ref_tree *t)
{
    for (uint32_t g = 0; g < N / TREE_GROUP; g++) {
        uint8_t rgb[3];
        double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
        picture_colour(PICTURE_VIRIDIS, 0.2 + 0.8 * (g * 5 % 12) / 11.0, rgb);
        const double colour[3] = {rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0};
        for (uint32_t i = g * TREE_GROUP; i < (g + 1) * TREE_GROUP; i++)
            for (int c = 0; c < 2; c++) {
                lo[c] = fmin(lo[c], (double)t->body[i][c]);
                hi[c] = fmax(hi[c], (double)t->body[i][c]);
            }
        draw_bodies(t, g * TREE_GROUP, TREE_GROUP, 1, colour);
        draw_frame(lo, hi, 0.45, colour);
    }
}

/* The group whose first body is nearest to a point. */
static uint32_t group_near(const struct nbody_ref_tree *t, double x, double y)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i + TREE_GROUP <= N; i += TREE_GROUP) {
        const double r = hypot((double)t->body[i][0] - x, (double)t->body[i][1] - y);
        if (r < least) {
            least = r;
            best = i;
        }
    }
    return best;
}

static int save_drawing(const char *folder, const char *name)
{
    char file[512];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    const int written = picture_write_png(file, PIXELS, PIXELS, picture[0][0]);
    memset(picture, 0, sizeof picture);
    return written;
}

int main(int argc, char **argv)
{
    struct nbody_ref_tree t;
    static uint32_t cell[4 * N], body[4 * N];
    struct nbody_ref_lists lists = {.cell = cell, .body = body};
    if (argc != 2 || make_drawn_bodies() < 0 ||
        nbody_ref_tree_build(&t, N, (const float(*)[4])posm, LEAF, 2, 1, 0) < 0)
        return 1;
    draw_cells(&t);
    int failed = save_drawing(argv[1], "tree-cells.png");
    draw_groups(&t);
    failed |= save_drawing(argv[1], "tree-groups.png");
    const uint32_t group = group_near(&t, 0.5, -0.3);
    nbody_ref_tree_walk(&t, group, TREE_GROUP, 1 / (0.6f * 0.6f), 1, 1024, &lists);
    printf("cells %zu of %zu, bodies %zu of %d\n", lists.cells, t.cells, lists.bodies, N);
    draw_lists(&t, group, &lists);
    failed |= save_drawing(argv[1], "tree-walk.png");
    nbody_ref_tree_free(&t);
    return failed ? 1 : 0;
}
