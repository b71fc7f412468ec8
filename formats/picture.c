/* picture.c - pictures of surface density: choice of frame, brightness and colours.
 * SPDX-License-Identifier: MIT
 */
#include "formats/picture.h"

#include "formats/caption.h"
#include "formats/density.h"
#include "formats/parallel.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <strings.h>

enum {
    DEFAULT_SIZE = 1024,
    LARGEST_SIZE = 16384,
    FEW = 64,        /* at most this many bodies may be on orbits, all of which are shown */
    SAMPLE = 1 << 16 /* bodies sampled to choose a frame */
};

static const double least_range = 100,
                    most_range = 1e4; /* largest ratio of white to almost black when fitted */

static const int plane_axes[][2] = {
    [PICTURE_XY] = {0, 1}, [PICTURE_XZ] = {0, 2}, [PICTURE_YZ] = {1, 2}};

int picture_plane_by_name(const char *name)
{
    static const char *const names[] = {"xy", "xz", "yz"};
    for (int i = 0; i < 3; i++)
        if (strcasecmp(name, names[i]) == 0)
            return i;
    return clerror_set(EINVAL, "'%s' is not a plane; known are xy, xz and yz", name);
}

/* ---- The frame. ------------------------------------------------------------------------------ */

/* The shorter side in pixels. */
static double shorter(const struct picture_options *o)
{
    return o->width < o->height ? o->width : o->height;
}

/* The area of a pixel. */
static double pixel_area(const struct picture_options *o)
{
    return o->extent / shorter(o) * (o->extent / shorter(o));
}

static int picture_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The range to show of sorted values: of a compact cluster all but 0.5 % on either side, of one
 * with a wide halo a multiple of its inner five sixths. */
static void fit_range(const double *sorted, size_t n, double *middle, double *length)
{
    size_t little = n / 200, much = n / 12;
    double all = 1.2 * (sorted[n - 1 - little] - sorted[little]);
    double inner = 1.7 * (sorted[n - 1 - much] - sorted[much]);
    size_t tail = all < inner ? little : much;
    *middle = 0.5 * sorted[tail] + 0.5 * sorted[n - 1 - tail];
    *length = fmin(all, inner);
}

/* The largest distance from the frame's centre, in the plane, or `least` if all are nearer. */
static double farthest_from_centre(const struct picture_options *o, size_t n,
                                   const double (*pos)[3], double least)
{
    const int *axis = plane_axes[o->plane];
    for (size_t i = 0; i < n; i++) {
        const double distance =
            hypot(pos[i][axis[0]] - o->centre[axis[0]], pos[i][axis[1]] - o->centre[axis[1]]);
        if (isfinite(distance))
            least = fmax(least, distance);
    }
    return least;
}

/* A few bodies may be on orbits: show everything up to the distance of the farthest from the
 * centre of mass, now or on the paths. */
static void fit_orbits(struct picture_options *o, size_t n, const double *mass,
                       const double (*pos)[3])
{
    double total = 0, sum[3] = {0};
    for (size_t i = 0; i < n; i++) {
        double m = mass ? mass[i] : 1;
        total += m;
        for (int axis = 0; axis < 3; axis++)
            sum[axis] += m * pos[i][axis];
    }
    for (int axis = 0; axis < 3; axis++)
        o->centre[axis] = total > 0 && isfinite(sum[axis]) ? sum[axis] / total : 0;
    o->extent =
        2.3 * farthest_from_centre(o, o->points * n, o->path, farthest_from_centre(o, n, pos, 0));
}

/* Fit centre and extent to many bodies along both axes of the plane. */
static int fit_cluster(struct picture_options *o, size_t n, const double (*pos)[3])
{
    size_t stride = n / SAMPLE + 1;
    double *values = malloc((n / stride + 1) * sizeof *values);
    if (!values)
        return clerror_set(ENOMEM, "out of memory: cannot fit a picture to %zu bodies", n);
    for (int k = 0; k < 2; k++) {
        int axis = plane_axes[o->plane][k];
        double length = 0, pixels = k == 0 ? o->width : o->height;
        size_t count = 0;
        for (size_t i = 0; i < n; i += stride)
            if (isfinite(pos[i][axis]))
                values[count++] = pos[i][axis];
        qsort(values, count, sizeof *values, picture_ascending);
        if (count)
            fit_range(values, count, &o->centre[axis], &length);
        o->extent = fmax(o->extent, length * shorter(o) / pixels);
    }
    free(values);
    return 0;
}

static int fit_frame(struct picture_options *o, size_t n, const double *mass,
                     const double (*pos)[3])
{
    if (n <= FEW)
        fit_orbits(o, n, mass, pos);
    else if (fit_cluster(o, n, pos) < 0)
        return -1;
    if (!(o->extent > 0) || !isfinite(o->extent)) /* one body, or all at one position */
        o->extent = 1;
    return 0;
}

static struct projection projection_of(const struct picture_options *o)
{
    const int *axis = plane_axes[o->plane];
    return (struct projection){.width = o->width,
                               .height = o->height,
                               .axis = {axis[0], axis[1]},
                               .centre = {o->centre[axis[0]], o->centre[axis[1]]},
                               .scale = shorter(o) / o->extent};
}

/* ---- The scale. ------------------------------------------------------------------------------ */

/* Histogram of brightness: bin b holds pixels 2^(-b/8) to 2^(-(b+1)/8) times as bright as the
 * brightest. */
enum { BINS = 256 };

struct histogram {
    double largest;
    size_t bins[BINS]; /* the last bin holds all darker pixels */
};

static void histogram_fill(struct histogram *h, const float *map, size_t pixels)
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

/* White is the brightness that 1 in 2000 of the lit pixels reach, so that a cusp does not darken
 * the picture; almost black is what half of all pixels reach, within bounds that show neither
 * noise as structure nor the core alone. */
static void fit_scale(struct picture_options *o, const float *map)
{
    struct histogram h;
    size_t pixels = (size_t)o->width * o->height, lit = 0;
    if (o->low > 0 && o->high > 0)
        return;
    histogram_fill(&h, map, pixels);
    for (int b = 0; exp2(b / 8.0) < most_range; b++)
        lit += h.bins[b];
    if (!(o->high > 0))
        o->high = h.largest > 0 && isfinite(h.largest)
                      ? histogram_reached(&h, lit / 2000 + 1) / pixel_area(o)
                      : 1;
    if (!(o->low > 0))
        o->low =
            fmin(o->high / least_range,
                 fmax(o->high / most_range, histogram_reached(&h, pixels / 2) / pixel_area(o)));
}

/* ---- Colours. -------------------------------------------------------------------------------- */

/* Colours are looked up by the upper bits of a float: its exponent, and 1/64 of it. */
enum { TABLE_BITS = 15, TABLE_SIZE = 1 << TABLE_BITS };

struct painting {
    const struct picture_options *o;
    const float *map; /* [1 + shades][height][width] */
    uint8_t *rgb;
    float unit; /* mass in a pixel that counts as 1: almost black */
    uint8_t colour[TABLE_SIZE][3];
    float bright[TABLE_SIZE];
    uint8_t ramp[256][3]; /* colours of values */
};

static size_t shades_of(enum picture_colour_by by)
{
    return by == PICTURE_BY_VALUE ? 1 : by == PICTURE_BY_GROUP ? 3 : 0;
}

static unsigned index_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> (31 - TABLE_BITS) & (TABLE_SIZE - 1);
}

/* The middle of the values with an index. */
static float value_at(unsigned index)
{
    const uint32_t bits = (uint32_t)index << (31 - TABLE_BITS) | 1u << (30 - TABLE_BITS);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Colour of a value from 0 to 1. The lowest fifth of a colour map is left out: it would look
 * empty. */
static void ramp_colour(enum picture_colours colours, double part, uint8_t rgb[3])
{
    picture_colour(colours, 0.2 + 0.8 * part, rgb);
}

static struct painting *painting_create(const struct picture_options *o, const float *map,
                                        uint8_t *rgb)
{
    struct painting *p = malloc(sizeof *p);
    const double top = 1 / log1p(o->high / o->low);
    if (!p) {
        clerror_set(ENOMEM, "out of memory for the colours of a picture");
        return NULL;
    }
    *p = (struct painting){
        .o = o, .map = map, .rgb = rgb, .unit = (float)(1 / (pixel_area(o) * o->low))};
    for (unsigned i = 0; i < TABLE_SIZE; i++) {
        const double brightness = log1p(value_at(i)) * top;
        picture_colour(o->colours, brightness, p->colour[i]);
        p->bright[i] = brightness > 0 ? (float)pow(fmin(brightness, 1), 0.6)
                                      : 0; /* colours are darker than white; NaN is dark */
    }
    for (int i = 0; i < 256; i++)
        ramp_colour(o->colours, i / 255.0, p->ramp[i]);
    return p;
}

static void paint_density(const struct painting *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        memcpy(p->rgb + 3 * i, p->colour[index_of(p->map[i] * p->unit)], 3);
}

static void paint_value(const struct painting *p, size_t from, size_t to)
{
    const float *sum = p->map + (size_t)p->o->width * p->o->height;
    const float least = (float)p->o->least, steps = 255 / ((float)p->o->most - least);
    for (size_t i = from; i < to; i++) {
        const float bright = p->bright[index_of(p->map[i] * p->unit)];
        const float step = p->map[i] > 0 ? steps * (sum[i] / p->map[i] - least) : 0;
        const uint8_t *colour = p->ramp[step > 0 ? (int)fminf(step + 0.5f, 255) : 0];
        for (size_t c = 0; c < 3; c++)
            p->rgb[3 * i + c] = (uint8_t)(bright * colour[c] + 0.5f);
    }
}

/* Shades are red, green and blue. */
static void paint_group(const struct painting *p, size_t from, size_t to)
{
    const size_t pixels = (size_t)p->o->width * p->o->height;
    for (size_t i = from; i < to; i++) {
        const float bright =
            p->map[i] > 0 ? p->bright[index_of(p->map[i] * p->unit)] / p->map[i] : 0;
        for (size_t c = 0; c < 3; c++)
            p->rgb[3 * i + c] = (uint8_t)(fminf(bright * p->map[(1 + c) * pixels + i], 255) + 0.5f);
    }
}

static void paint_rows(void *job, size_t from, size_t to)
{
    static void (*const paint[])(const struct painting *, size_t,
                                 size_t) = {[PICTURE_BY_DENSITY] = paint_density,
                                            [PICTURE_BY_VALUE] = paint_value,
                                            [PICTURE_BY_GROUP] = paint_group};
    const struct painting *p = job;
    paint[p->o->by](p, from * p->o->width, to * p->o->width);
}

static int picture_paint(const struct picture_options *o, const float *map, uint8_t *rgb)
{
    struct painting *p = painting_create(o, map, rgb);
    if (p)
        parallel_ranges(o->height, 64, paint_rows, p);
    free(p);
    return p ? 0 : -1;
}

/* ---- Drawing. -------------------------------------------------------------------------------- */

static int picture_check(const struct picture_options *o, size_t n)
{
    if (o->width > LARGEST_SIZE || o->height > LARGEST_SIZE)
        return clerror_set(EINVAL, "a picture of %u x %u is too large; at most %d each way",
                           o->width, o->height, LARGEST_SIZE);
    if ((unsigned)o->plane > PICTURE_YZ || (unsigned)o->colours > PICTURE_GREY)
        return clerror_set(EINVAL, "no such plane or colour map");
    if (!(o->extent >= 0 && isfinite(o->extent)))
        return clerror_set(EINVAL, "the extent of a picture is %g; it must be a number >= 0",
                           o->extent);
    if ((unsigned)o->by > PICTURE_BY_GROUP || (o->by == PICTURE_BY_VALUE && !o->value) ||
        (o->by == PICTURE_BY_GROUP && !o->group))
        return clerror_set(EINVAL, "colours tell of values or groups of bodies that are not given");
    if (!(o->least <= o->most && isfinite(o->least) && isfinite(o->most)))
        return clerror_set(EINVAL, "values from %g to %g make no picture", o->least, o->most);
    if (!(o->low >= 0 && o->high >= 0 && (o->high == 0 || o->low < o->high)))
        return clerror_set(EINVAL, "densities from %g to %g make no picture", o->low, o->high);
    return n ? 0 : clerror_set(EINVAL, "there are no bodies to draw");
}

/* Shades of every body, allocated: none, its value, or the colour of its group. */
static int shade_bodies(const struct picture_options *o, struct density_bodies *b, float **shade)
{
    b->shades = shades_of(o->by);
    *shade = b->shades ? malloc(b->n * b->shades * sizeof **shade) : NULL;
    b->shade = *shade;
    if (b->shades && !*shade)
        return clerror_set(ENOMEM, "out of memory for the colours of %zu bodies", b->n);
    for (size_t i = 0; o->by == PICTURE_BY_VALUE && i < b->n; i++)
        (*shade)[i] = isfinite(o->value[i]) ? o->value[i] : 0;
    for (size_t i = 0; o->by == PICTURE_BY_GROUP && i < b->n; i++) {
        uint8_t rgb[3];
        picture_group_colour(o->group[i], rgb);
        for (size_t c = 0; c < 3; c++)
            (*shade)[3 * i + c] = rgb[c];
    }
    return 0;
}

/* Paths so far, a third as bright as bodies and half as wide. */
static int draw_paths(const struct picture_options *o, const struct projection *view,
                      const struct density_bodies *b, float *map)
{
    const size_t pixels = (size_t)o->width * o->height;
    if (o->points < 2 || b->n > FEW)
        return 0;
    float *paths = malloc((1 + b->shades) * pixels * sizeof *paths);
    struct density_bodies moving = *b;
    moving.pos = o->path;
    if (!paths)
        return clerror_set(ENOMEM, "out of memory for a picture of %u x %u", o->width, o->height);
    density_paths(view, fmax(0.7, shorter(o) / 900), o->points, &moving, paths);
    for (size_t i = 0; i < pixels; i++) {
        const float bright = 0.12f * fminf(paths[i], 1);
        if (bright <= map[i])
            continue;
        map[i] = bright;
        for (size_t k = 1; k <= b->shades; k++)
            map[k * pixels + i] = bright * paths[k * pixels + i] / paths[i];
    }
    free(paths);
    return 0;
}

/* A few bodies are dots on black; low and high, in dots, are chosen to look round. */
static int draw_dots(struct picture_options *o, const struct projection *view,
                     const struct density_bodies *b, float *map)
{
    const double width = shorter(o) / 300 / (b->n > FEW ? 1.6 : 1);
    density_dots(view, fmax(0.8, width), b, map);
    o->high = 1 / pixel_area(o);
    o->low = o->high / 10;
    return draw_paths(o, view, b, map);
}

static int draw_cluster(struct picture_options *o, const struct projection *view,
                        const struct density_bodies *b, float *map)
{
    if (density_map(view, b, map) < 0)
        return -1;
    fit_scale(o, map);
    return 0;
}

/* Range of the values without the lowest and highest 2 %. */
static int fit_values(struct picture_options *o, size_t n)
{
    const size_t stride = n / SAMPLE + 1;
    double *values = malloc((n / stride + 1) * sizeof *values);
    size_t count = 0;
    if (!values)
        return clerror_set(ENOMEM, "out of memory: cannot fit a picture to %zu bodies", n);
    for (size_t i = 0; i < n; i += stride)
        if (isfinite(o->value[i]))
            values[count++] = o->value[i];
    qsort(values, count, sizeof *values, picture_ascending);
    o->least = count ? values[count / 50] : 0;
    o->most = count ? values[count - 1 - count / 50] : 1;
    if (!(o->most > o->least))
        o->most = o->least + fmax(1, fabs(o->least));
    free(values);
    return 0;
}

static int picture_fit_zeros(struct picture_options *o, size_t n, const double *mass,
                             const double (*pos)[3])
{
    o->width = o->width ? o->width : DEFAULT_SIZE;
    o->height = o->height ? o->height : DEFAULT_SIZE;
    if (picture_check(o, n) < 0 || (o->extent == 0 && fit_frame(o, n, mass, pos) < 0))
        return -1;
    return o->by == PICTURE_BY_VALUE && o->least == 0 && o->most == 0 ? fit_values(o, n) : 0;
}

/* Fit the options that are still zero, and return the map of brightness and shades of every pixel;
 * the caller frees it; NULL on error. */
static float *fitted_map(struct picture_options *o, size_t n, const double *mass,
                         const double (*pos)[3])
{
    struct density_bodies bodies = {.n = n, .mass = mass, .pos = pos};
    float *map = NULL, *shade = NULL;
    if (picture_fit_zeros(o, n, mass, pos) < 0 || shade_bodies(o, &bodies, &shade) < 0)
        return NULL;
    const struct projection view = projection_of(o);
    map = malloc((1 + bodies.shades) * o->width * o->height * sizeof *map);
    int status =
        map ? 0
            : clerror_set(ENOMEM, "out of memory for a picture of %u x %u", o->width, o->height);
    if (status == 0)
        status = n <= PICTURE_DOTS ? draw_dots(o, &view, &bodies, map)
                                   : draw_cluster(o, &view, &bodies, map);
    free(shade);
    if (status == 0)
        return map;
    free(map);
    return NULL;
}

bool picture_has_bar(const struct picture_options *o, size_t n)
{
    return o->by == PICTURE_BY_VALUE || (o->by == PICTURE_BY_DENSITY && n > PICTURE_DOTS);
}

void picture_ramp(const struct picture_options *o, uint8_t colour[PICTURE_RAMP][3])
{
    for (int i = 0; i < PICTURE_RAMP; i++) {
        const double part = (double)i / (PICTURE_RAMP - 1);
        if (o->by == PICTURE_BY_VALUE)
            ramp_colour(o->colours, part, colour[i]);
        else
            picture_colour(o->colours, part, colour[i]);
    }
}

/* Colours of the groups in use. Return their number. */
static unsigned used_groups(const struct picture_options *o, size_t n,
                            uint8_t colour[PICTURE_GROUPS][3])
{
    unsigned groups = 0;
    for (size_t i = 0; o->by == PICTURE_BY_GROUP && i < n; i++)
        groups = o->group[i] >= groups ? o->group[i] + 1u : groups;
    for (unsigned k = 0; k < groups && k < PICTURE_GROUPS; k++)
        picture_group_colour(k, colour[k]);
    return groups < PICTURE_GROUPS ? groups : PICTURE_GROUPS;
}

/* `o` has the size with the margins, `inner` the size of the picture. */
static void draw_caption(const struct picture_options *o, const struct picture_options *inner,
                         const struct caption_margins *margins, size_t n, uint8_t *rgb)
{
    const bool by_value = o->by == PICTURE_BY_VALUE, bar = picture_has_bar(inner, n);
    uint8_t ramp[PICTURE_RAMP][3], group[PICTURE_GROUPS][3];
    picture_ramp(inner, ramp);
    const struct caption caption = {.width = o->width,
                                    .height = o->height,
                                    .time = o->time,
                                    .last = o->last,
                                    .pixels = shorter(inner) / inner->extent,
                                    .time_unit = o->time_unit ? o->time_unit : "",
                                    .length_unit = o->length_unit ? o->length_unit : "",
                                    .quantity = bar && o->quantity ? o->quantity : "",
                                    .colour = bar ? (const uint8_t(*)[3])ramp : NULL,
                                    .low = by_value ? inner->least : inner->low,
                                    .high = by_value ? inner->most : inner->high,
                                    .logarithmic = !by_value,
                                    .groups = used_groups(o, n, group),
                                    .group = (const uint8_t(*)[3])group};
    caption_draw(&caption, margins, rgb);
}

/* Options of the picture inside of the caption's margins; without a caption they are `o`. */
static struct picture_options inner_options(const struct picture_options *o, size_t n,
                                            struct caption_margins *margins)
{
    struct picture_options inner = *o;
    inner.width = o->width ? o->width : DEFAULT_SIZE;
    inner.height = o->height ? o->height : DEFAULT_SIZE;
    *margins = (struct caption_margins){0};
    if (o->caption && inner.width <= LARGEST_SIZE && inner.height <= LARGEST_SIZE)
        *margins = caption_margins(inner.width, inner.height,
                                   o->by == PICTURE_BY_GROUP || picture_has_bar(o, n));
    inner.width -= margins->right;
    inner.height -= margins->top + margins->bottom;
    return inner;
}

/* Move the rows of a picture, drawn at the start of rgb, to their place, and blacken the margins.
 * From the last row on, no row overwrites another before it is moved. */
static void place_rows(const struct picture_options *inner, const struct caption_margins *m,
                       uint8_t *rgb)
{
    const size_t row = (size_t)3 * inner->width, whole = row + (size_t)3 * m->right;
    for (size_t y = inner->height; y-- > 0;) {
        uint8_t *to = rgb + (y + m->top) * whole;
        memmove(to, rgb + y * row, row);
        memset(to + row, 0, whole - row);
    }
    memset(rgb, 0, m->top * whole);
    memset(rgb + (m->top + inner->height) * whole, 0, m->bottom * whole);
}

int picture_fit(struct picture_options *options, size_t n, const double *mass,
                const double (*pos)[3])
{
    struct caption_margins margins;
    struct picture_options inner = inner_options(options, n, &margins);
    float *map = fitted_map(&inner, n, mass, pos);
    free(map);
    *options = inner;
    options->width += margins.right;
    options->height += margins.top + margins.bottom;
    return map ? 0 : -1;
}

int picture_fit_frame(struct picture_options *options, size_t n, const double *mass,
                      const double (*pos)[3])
{
    struct caption_margins margins;
    struct picture_options inner = inner_options(options, n, &margins);
    if (picture_check(&inner, n) < 0)
        return -1;
    if (inner.extent == 0 && fit_frame(&inner, n, mass, pos) < 0)
        return -1;
    memcpy(options->centre, inner.centre, sizeof inner.centre);
    options->extent = inner.extent;
    return 0;
}

int picture_draw(const struct picture_options *options, size_t n, const double *mass,
                 const double (*pos)[3], uint8_t *rgb)
{
    struct caption_margins margins;
    struct picture_options whole = *options, inner = inner_options(options, n, &margins);
    float *map = fitted_map(&inner, n, mass, pos);
    const int status = map ? picture_paint(&inner, map, rgb) : -1;
    free(map);
    if (status < 0 || !options->caption)
        return status;
    whole.width = inner.width + margins.right;
    whole.height = inner.height + margins.top + margins.bottom;
    place_rows(&inner, &margins, rgb);
    draw_caption(&whole, &inner, &margins, n, rgb);
    return 0;
}

int picture_density(const struct picture_options *options, size_t n, const double *mass,
                    const double (*pos)[3], const char *file)
{
    struct picture_options o = *options;
    o.width = o.width ? o.width : DEFAULT_SIZE;
    o.height = o.height ? o.height : DEFAULT_SIZE;
    if (picture_check(&o, n) < 0)
        return -1;
    uint8_t *rgb = malloc((size_t)3 * o.width * o.height);
    int status = rgb ? picture_draw(&o, n, mass, pos, rgb)
                     : clerror_set(ENOMEM, "%s: out of memory for a picture of %u x %u", file,
                                   o.width, o.height);
    if (status == 0)
        status = picture_write_png(file, o.width, o.height, rgb);
    free(rgb);
    return status;
}
