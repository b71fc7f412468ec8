/* picture.c - pictures of surface density: what to show, and in which colours.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/picture.h"

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

static const double dynamic_range = 1e4; /* between white and almost black, at most */

static const int plane_axes[][2] = {[PICTURE_XY] = {0, 1}, [PICTURE_XZ] = {0, 2}, [PICTURE_YZ] = {1, 2}};

int picture_plane_by_name(const char *name)
{
    static const char *const names[] = {"xy", "xz", "yz"};
    for (int i = 0; i < 3; i++)
        if (strcasecmp(name, names[i]) == 0)
            return i;
    return clerror_set(EINVAL, "'%s' is no plane; there are xy, xz and yz", name);
}

/* ---- The frame. ------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the sorted values, those between which all but the tails lie: a twelfth on either side, none of a few. */
static void inner_range(const double *sorted, size_t n, double *low, double *high)
{
    size_t tail = n <= FEW ? 0 : n / 12;
    *low = sorted[tail];
    *high = sorted[n - 1 - tail];
}

/* Fits centre and extent to the bodies along both axes of the plane. */
static int fit_frame(struct picture_options *o, size_t n, const double (*pos)[3])
{
    size_t stride = n / SAMPLE + 1;
    double *values = malloc((n / stride + 1) * sizeof *values);
    if (!values)
        return clerror_set(ENOMEM, "no memory to fit a picture to %zu bodies", n);
    unsigned side = o->width < o->height ? o->width : o->height;
    for (int k = 0; k < 2; k++) {
        int axis = plane_axes[o->plane][k];
        double low = 0, high = 0;
        size_t count = 0;
        for (size_t i = 0; i < n; i += stride)
            if (isfinite(pos[i][axis]))
                values[count++] = pos[i][axis];
        qsort(values, count, sizeof *values, ascending);
        if (count)
            inner_range(values, count, &low, &high);
        double pixels = (double)(k == 0 ? o->width : o->height) / side;
        o->centre[axis] = 0.5 * low + 0.5 * high;
        o->extent = fmax(o->extent, 1.2 * (high - low) / pixels);
    }
    free(values);
    if (!(o->extent > 0) || !isfinite(o->extent)) /* one body, or all in one place */
        o->extent = 1;
    return 0;
}

static struct view view_of(const struct picture_options *o)
{
    unsigned side = o->width < o->height ? o->width : o->height;
    const int *axis = plane_axes[o->plane];
    return (struct view){.width = o->width, .height = o->height, .axis = {axis[0], axis[1]},
                         .centre = {o->centre[axis[0]], o->centre[axis[1]]}, .scale = side / o->extent};
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

/* White is what the brightest 1 in 2000 of the lit pixels reach, so that a cusp does not darken the rest; and black is
 * near what half of all pixels reach, unless that is very dark. */
static void fit_scale(struct picture_options *o, const double *map)
{
    struct histogram h;
    size_t pixels = (size_t)o->width * o->height, lit = 0;
    double length = o->extent / (o->width < o->height ? o->width : o->height), area = length * length;
    histogram_fill(&h, map, pixels);
    for (int b = 0; exp2(b / 8.0) < dynamic_range; b++)
        lit += h.bins[b];
    if (!(o->high > 0))
        o->high = h.largest > 0 && isfinite(h.largest) ? histogram_reached(&h, lit / 2000 + 1) / area : 1;
    if (!(o->low > 0))
        o->low = fmin(0.1 * o->high, fmax(o->high / dynamic_range, histogram_reached(&h, pixels / 2) / area));
}

static void colour_map(const struct picture_options *o, const double *map, uint8_t *rgb)
{
    size_t pixels = (size_t)o->width * o->height;
    double area = o->extent / (o->width < o->height ? o->width : o->height);
    double unit = 1 / (area * area * o->low), top = 1 / log1p(o->high / o->low);
    for (size_t i = 0; i < pixels; i++)
        picture_colour(o->colours, log1p(map[i] * unit) * top, rgb + 3 * i);
}

/* ---- Drawing. -------------------------------------------------------------------------------- */

static int check(const struct picture_options *o, size_t n)
{
    if (o->width > LARGEST_SIZE || o->height > LARGEST_SIZE)
        return clerror_set(EINVAL, "a picture of %u x %u is too large; at most %d each way", o->width, o->height,
                           LARGEST_SIZE);
    if ((unsigned)o->plane > PICTURE_YZ || (unsigned)o->colours > PICTURE_GREY)
        return clerror_set(EINVAL, "no such plane or colour map");
    if (!(o->extent >= 0 && isfinite(o->extent)))
        return clerror_set(EINVAL, "the extent of a picture is a length, not %g", o->extent);
    if (!(o->low >= 0 && o->high >= 0 && (o->high == 0 || o->low < o->high)))
        return clerror_set(EINVAL, "densities from %g to %g make no picture", o->low, o->high);
    return n ? 0 : clerror_set(EINVAL, "there are no bodies to draw");
}

/* Fits what is still zero and leaves the mass of every pixel in a map for the caller to free; NULL on error. */
static double *fitted_map(struct picture_options *o, size_t n, const double *mass, const double (*pos)[3])
{
    o->width = o->width ? o->width : DEFAULT_SIZE;
    o->height = o->height ? o->height : DEFAULT_SIZE;
    if (check(o, n) < 0 || (o->extent == 0 && fit_frame(o, n, pos) < 0))
        return NULL;
    struct view view = view_of(o);
    double *map = malloc((size_t)o->width * o->height * sizeof *map);
    double spot = fmax(1.5, (view.width < view.height ? view.width : view.height) / 300.0);
    if (!map)
        clerror_set(ENOMEM, "no memory for a picture of %u x %u", o->width, o->height);
    else if (density_map(&view, n <= FEW ? spot : 0, n, n <= FEW ? NULL : mass, pos, map) == 0)
        fit_scale(o, map);
    else
        free(map), map = NULL;
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

int picture_density(const struct picture_options *options, size_t n, const double *mass, const double (*pos)[3],
                    const char *file)
{
    struct picture_options o = *options;
    double *map = fitted_map(&o, n, mass, pos);
    if (!map)
        return -1;
    uint8_t *rgb = malloc((size_t)3 * o.width * o.height);
    int status = rgb ? 0 : clerror_set(ENOMEM, "%s: no memory for a picture of %u x %u", file, o.width, o.height);
    if (rgb) {
        colour_map(&o, map, rgb);
        status = picture_write_png(file, o.width, o.height, rgb);
    }
    free(rgb);
    free(map);
    return status;
}
