/* picture.c - pictures of surface density: what to show, and in which colours.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/picture.h"

#include "formats/caption.h"
#include "formats/density.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <strings.h>

enum {
    DEFAULT_SIZE = 1024,
    LARGEST_SIZE = 16384,
    FEW = 64,        /* up to here each body is a dot, however light: planets beside a sun */
    SAMPLE = 1 << 16 /* bodies looked at to choose a frame */
};

static const double least_range = 100, most_range = 1e4; /* white over almost black, when it is fitted */

static const int plane_axes[][2] = {[PICTURE_XY] = {0, 1}, [PICTURE_XZ] = {0, 2}, [PICTURE_YZ] = {1, 2}};

int picture_plane_by_name(const char *name)
{
    static const char *const names[] = {"xy", "xz", "yz"};
    for (int i = 0; i < 3; i++)
        if (strcasecmp(name, names[i]) == 0)
            return i;
    return clerror_set(EINVAL, "'%s' is not a plane; known are xy, xz and yz", name);
}

/* ---- The frame. ------------------------------------------------------------------------------ */

/* The shorter side, in pixels. */
static double shorter(const struct picture_options *o)
{
    return o->width < o->height ? o->width : o->height;
}

/* The area of a pixel. */
static double pixel_area(const struct picture_options *o)
{
    return o->extent / shorter(o) * (o->extent / shorter(o));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What to show of sorted values: of a compact cluster all but 0.5 % on either side, of one with a wide
 * halo as much as suits its inner five sixths. */
static void fit_range(const double *sorted, size_t n, double *middle, double *length)
{
    size_t little = n / 200, much = n / 12;
    double all = 1.2 * (sorted[n - 1 - little] - sorted[little]);
    double inner = 1.7 * (sorted[n - 1 - much] - sorted[much]);
    size_t tail = all < inner ? little : much;
    *middle = 0.5 * sorted[tail] + 0.5 * sorted[n - 1 - tail];
    *length = fmin(all, inner);
}

/* A few bodies may be on orbits: all is shown that lies no farther from the centre of mass than any of
 * them now. */
static void fit_orbits(struct picture_options *o, size_t n, const double *mass, const double (*pos)[3])
{
    double total = 0, farthest = 0, sum[3] = {0};
    for (size_t i = 0; i < n; i++) {
        double m = mass ? mass[i] : 1;
        total += m;
        for (int axis = 0; axis < 3; axis++)
            sum[axis] += m * pos[i][axis];
    }
    for (int axis = 0; axis < 3; axis++)
        o->centre[axis] = total > 0 && isfinite(sum[axis]) ? sum[axis] / total : 0;
    for (size_t i = 0; i < n; i++) {
        double dx = pos[i][plane_axes[o->plane][0]] - o->centre[plane_axes[o->plane][0]];
        double dy = pos[i][plane_axes[o->plane][1]] - o->centre[plane_axes[o->plane][1]];
        if (isfinite(hypot(dx, dy)))
            farthest = fmax(farthest, hypot(dx, dy));
    }
    o->extent = 2.3 * farthest;
}

/* Fits centre and extent to many bodies along both axes of the plane. */
static int fit_cluster(struct picture_options *o, size_t n, const double (*pos)[3])
{
    size_t stride = n / SAMPLE + 1;
    double *values = malloc((n / stride + 1) * sizeof *values);
    if (!values)
        return clerror_set(ENOMEM, "no memory to fit a picture to %zu bodies", n);
    for (int k = 0; k < 2; k++) {
        int axis = plane_axes[o->plane][k];
        double length = 0, pixels = k == 0 ? o->width : o->height;
        size_t count = 0;
        for (size_t i = 0; i < n; i += stride)
            if (isfinite(pos[i][axis]))
                values[count++] = pos[i][axis];
        qsort(values, count, sizeof *values, ascending);
        if (count)
            fit_range(values, count, &o->centre[axis], &length);
        o->extent = fmax(o->extent, length * shorter(o) / pixels);
    }
    free(values);
    return 0;
}

static int fit_frame(struct picture_options *o, size_t n, const double *mass, const double (*pos)[3])
{
    if (n <= FEW)
        fit_orbits(o, n, mass, pos);
    else if (fit_cluster(o, n, pos) < 0)
        return -1;
    if (!(o->extent > 0) || !isfinite(o->extent)) /* one body, or all in one place */
        o->extent = 1;
    return 0;
}

static struct view view_of(const struct picture_options *o)
{
    const int *axis = plane_axes[o->plane];
    return (struct view){.width = o->width,
                         .height = o->height,
                         .axis = {axis[0], axis[1]},
                         .centre = {o->centre[axis[0]], o->centre[axis[1]]},
                         .scale = shorter(o) / o->extent};
}

/* ---- The scale. ------------------------------------------------------------------------------ */

/* How many pixels are how dark: bin b holds those 2^(-b/8) to 2^(-(b+1)/8) as bright as the brightest. */
enum { BINS = 256 };

struct histogram {
    double largest;
    size_t bins[BINS]; /* the last holds all that is darker still */
};

static void histogram_fill(struct histogram *h, const double *map, size_t pixels)
{
    *h = (struct histogram){0};
    for (size_t i = 0; i < pixels; i++)
        h->largest = fmax(h->largest, map[i]);
    for (size_t i = 0; i < pixels; i++) {
        double depth = map[i] > 0 ? 8 * log2(h->largest / map[i]) : BINS;
        h->bins[depth < BINS - 1 ? (int)depth : BINS - 1]++;
    }
}

/* The brightness that `count` pixels reach. */
static double histogram_reached(const struct histogram *h, size_t count)
{
    size_t reached = 0;
    int b = 0;
    for (; b < BINS; b++) {
        reached += h->bins[b];
        if (reached >= count)
            break;
    }
    return h->largest * exp2(-b / 8.0);
}

/* White is what the brightest 1 in 2000 of the lit pixels reach, so that a cusp does not darken the rest;
 * almost black is what half of all pixels reach, within bounds that show neither noise as structure nor
 * only the core. */
static void fit_scale(struct picture_options *o, const double *map)
{
    struct histogram h;
    size_t pixels = (size_t)o->width * o->height, lit = 0;
    histogram_fill(&h, map, pixels);
    for (int b = 0; exp2(b / 8.0) < most_range; b++)
        lit += h.bins[b];
    if (!(o->high > 0))
        o->high =
            h.largest > 0 && isfinite(h.largest) ? histogram_reached(&h, lit / 2000 + 1) / pixel_area(o) : 1;
    if (!(o->low > 0))
        o->low = fmin(o->high / least_range,
                      fmax(o->high / most_range, histogram_reached(&h, pixels / 2) / pixel_area(o)));
}

static void colour_map(const struct picture_options *o, const double *map, uint8_t *rgb)
{
    size_t pixels = (size_t)o->width * o->height;
    double unit = 1 / (pixel_area(o) * o->low), top = 1 / log1p(o->high / o->low);
    for (size_t i = 0; i < pixels; i++)
        picture_colour(o->colours, log1p(map[i] * unit) * top, rgb + 3 * i);
}

/* ---- Drawing. -------------------------------------------------------------------------------- */

static int check(const struct picture_options *o, size_t n)
{
    if (o->width > LARGEST_SIZE || o->height > LARGEST_SIZE)
        return clerror_set(EINVAL, "a picture of %u x %u is too large; at most %d each way", o->width,
                           o->height, LARGEST_SIZE);
    if ((unsigned)o->plane > PICTURE_YZ || (unsigned)o->colours > PICTURE_GREY)
        return clerror_set(EINVAL, "no such plane or colour map");
    if (!(o->extent >= 0 && isfinite(o->extent)))
        return clerror_set(EINVAL, "the extent of a picture is %g; it must be a number >= 0", o->extent);
    if (!(o->low >= 0 && o->high >= 0 && (o->high == 0 || o->low < o->high)))
        return clerror_set(EINVAL, "densities from %g to %g make no picture", o->low, o->high);
    return n ? 0 : clerror_set(EINVAL, "there are no bodies to draw");
}

/* Paths so far, a third as bright as bodies and half as wide. */
static int draw_paths(const struct picture_options *o, const struct view *view, size_t n, double *map)
{
    const size_t pixels = (size_t)o->width * o->height;
    double *paths = o->points > 1 ? malloc(pixels * sizeof *paths) : NULL;
    if (o->points < 2)
        return 0;
    if (!paths)
        return clerror_set(ENOMEM, "no memory for a picture of %u x %u", o->width, o->height);
    density_paths(view, fmax(0.7, shorter(o) / 900), n, o->points, o->path, paths);
    for (size_t i = 0; i < pixels; i++)
        map[i] = fmax(map[i], 0.12 * fmin(paths[i], 1));
    free(paths);
    return 0;
}

/* A few bodies are dots on black; low and high, in dots, are whatever looks round. */
static void draw_dots(struct picture_options *o, const struct view *view, size_t n, const double (*pos)[3],
                      double *map)
{
    density_dots(view, fmax(1, shorter(o) / 300), n, pos, map);
    o->high = 1 / pixel_area(o);
    o->low = o->high / 10;
}

/* Fits what is still zero and leaves the brightness of every pixel in a map for the caller to free; NULL
 * on error. */
static double *fitted_map(struct picture_options *o, size_t n, const double *mass, const double (*pos)[3])
{
    o->width = o->width ? o->width : DEFAULT_SIZE;
    o->height = o->height ? o->height : DEFAULT_SIZE;
    if (check(o, n) < 0 || (o->extent == 0 && fit_frame(o, n, mass, pos) < 0))
        return NULL;
    struct view view = view_of(o);
    double *map = malloc((size_t)o->width * o->height * sizeof *map);
    if (!map) {
        clerror_set(ENOMEM, "no memory for a picture of %u x %u", o->width, o->height);
        return NULL;
    }
    if (n <= FEW) {
        draw_dots(o, &view, n, pos, map);
        if (draw_paths(o, &view, n, map) < 0) {
            free(map);
            map = NULL;
        }
    } else if (density_map(&view, n, mass, pos, map) == 0) {
        fit_scale(o, map);
    } else {
        free(map);
        map = NULL;
    }
    return map;
}

int picture_fit(struct picture_options *options, size_t n, const double *mass, const double (*pos)[3])
{
    double *map = fitted_map(options, n, mass, pos);
    free(map);
    return map ? 0 : -1;
}

int picture_draw(const struct picture_options *options, size_t n, const double *mass, const double (*pos)[3],
                 uint8_t *rgb)
{
    struct picture_options o = *options;
    double *map = fitted_map(&o, n, mass, pos);
    if (!map)
        return -1;
    colour_map(&o, map, rgb);
    free(map);
    return 0;
}

int picture_density(const struct picture_options *options, size_t n, const double *mass,
                    const double (*pos)[3], const char *file)
{
    struct picture_options o = *options;
    double *map = fitted_map(&o, n, mass, pos);
    if (!map)
        return -1;
    uint8_t *rgb = malloc((size_t)3 * o.width * o.height);
    int status =
        rgb ? 0 : clerror_set(ENOMEM, "%s: no memory for a picture of %u x %u", file, o.width, o.height);
    if (rgb) {
        colour_map(&o, map, rgb);
        if (o.caption)
            caption_draw(o.width, o.height, rgb, o.time, shorter(&o) / o.extent);
        status = picture_write_png(file, o.width, o.height, rgb);
    }
    free(rgb);
    free(map);
    return status;
}
