/* test_formats_picture.c - pictures: positions and brightness of what is drawn; PNG; films.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "formats/density.h"
#include "formats/picture.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#ifdef STDCL_HAVE_PNG
#include <png.h>
#endif

#define PI 3.14159265358979323846

static uint64_t state = 88172645463325252ULL;

static double uniform(void) /* in (0, 1); xorshift64, Marsaglia 2003 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

/* n bodies of a Plummer sphere of scale length 1 (Aarseth, Henon & Wielen 1974). */
static void make_plummer(size_t n, double (*pos)[3])
{
    for (size_t i = 0; i < n; i++) {
        double r = 1 / sqrt(pow(uniform(), -2.0 / 3) - 1), z = 2 * uniform() - 1,
               angle = 2 * PI * uniform();
        pos[i][0] = r * sqrt(1 - z * z) * cos(angle);
        pos[i][1] = r * sqrt(1 - z * z) * sin(angle);
        pos[i][2] = r * z;
    }
}

/* ---- Colours. -------------------------------------------------------------------------------- */

static double linear(uint8_t value) /* sRGB, IEC 61966-2-1 */
{
    double s = value / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double lightness(const uint8_t rgb[3]) /* CIE L*, 0 .. 100 */
{
    double y = 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
    return y > 216.0 / 24389 ? 116 * cbrt(y) - 16 : y * 24389.0 / 27;
}

static void picture_colour_maps_match_published(void **unused)
{
    static const struct {
        enum picture_colours map;
        uint8_t first[3], last[3];
    } ends[] = {{PICTURE_INFERNO, {0, 0, 4}, {252, 255, 164}},
                {PICTURE_MAGMA, {0, 0, 4}, {252, 253, 191}},
                {PICTURE_VIRIDIS, {68, 1, 84}, {253, 231, 37}},
                {PICTURE_GREY, {0, 0, 0}, {255, 255, 255}}};
    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        uint8_t low[3], high[3];
        picture_colour(ends[i].map, 0, low);
        picture_colour(ends[i].map, 1, high);
        assert_memory_equal(low, ends[i].first, 3);
        assert_memory_equal(high, ends[i].last, 3);
        picture_colour(ends[i].map, -5, low);
        assert_memory_equal(low, ends[i].first, 3);
        picture_colour(ends[i].map, NAN, low);
        assert_memory_equal(low, ends[i].first, 3);
        picture_colour(ends[i].map, INFINITY, high);
        assert_memory_equal(high, ends[i].last, 3);
    }
}

/* Lightness rises in proportion, to 6 of 100 units, so equal steps look equal. (The maps are
 * even in CAM02-UCS, of which L* is a simplification; a rainbow is off by 50.) */
static void picture_lightness_rises_evenly(void **unused)
{
    (void)unused;
    for (int map = PICTURE_INFERNO; map <= PICTURE_VIRIDIS; map++) {
        uint8_t rgb[3];
        picture_colour((enum picture_colours)map, 0, rgb);
        double low = lightness(rgb);
        picture_colour((enum picture_colours)map, 1, rgb);
        double high = lightness(rgb);
        for (int i = 0; i <= 1000; i++) {
            picture_colour((enum picture_colours)map, i / 1000.0, rgb);
            assert_true(fabs(lightness(rgb) - (low + (high - low) * i / 1000)) < 6);
        }
    }
}

static void picture_colour_maps_have_names(void **unused)
{
    (void)unused;
    assert_int_equal(picture_colours_by_name("inferno"), PICTURE_INFERNO);
    assert_int_equal(picture_colours_by_name("Grey"), PICTURE_GREY);
    assert_int_equal(picture_plane_by_name("yz"), PICTURE_YZ);
    fails_saying(EINVAL, picture_colours_by_name("jet"), "'jet'", "inferno, magma, viridis");
    fails_saying(EINVAL, picture_plane_by_name("xx"), "'xx'", "xy, xz and yz");
}

/* ---- Density. -------------------------------------------------------------------------------- */

static const struct projection plain = {.width = 200, .height = 160, .axis = {0, 1}, .scale = 10};

/* For every smoothing length, mass and centre of mass are conserved. */
static void density_map_conserves_mass(void **unused)
{
    enum { N = 3000, W = 200, H = 160 };
    static double pos[N][3], mass[N];
    static float map[W * H];
    double total = 0, sum = 0, expected[2] = {0}, centre[2] = {0};
    (void)unused;
    for (int i = 0; i < N; i++) { /* in the middle; the picture spans 20 x 16 */
        double size = pow(uniform(), 3);
        for (int axis = 0; axis < 3; axis++)
            pos[i][axis] = 4 * size * (2 * uniform() - 1);
        total += mass[i] = exp(3 * uniform());
        expected[0] += mass[i] * (W / 2 + pos[i][0] * plain.scale);
        expected[1] += mass[i] * (H / 2 - pos[i][1] * plain.scale);
    }
    works(density_map(
        &plain, &(struct density_bodies){.n = N, .mass = mass, .pos = (const double(*)[3])pos},
        map));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double m = map[y * W + x];
            assert_true(m >= 0);
            sum += m;
            centre[0] += m * (x + 0.5);
            centre[1] += m * (y + 0.5);
        }
    assert_true(fabs(sum / total - 1) < 1e-6);
    for (int k = 0; k < 2; k++)
        assert_true(fabs(centre[k] - expected[k]) / total < 1e-4);
}

/* Against the surface density of Plummer's sphere, M / (pi (1 + R^2)^2), in rings; equal and
 * unequal masses. */
static void density_map_matches_plummer(void **unused)
{
    enum { N = 100000, SIDE = 512, RINGS = 12 };
    double(*pos)[3] = malloc(N * sizeof *pos), *mass = malloc(N * sizeof *mass);
    float *map = malloc((size_t)SIDE * SIDE * sizeof *map);
    const struct projection view = {
        .width = SIDE, .height = SIDE, .axis = {0, 1}, .scale = SIDE / 6.0};
    (void)unused;
    make_plummer(N, pos);
    for (int unequal = 0; unequal < 2; unequal++) {
        double sum[RINGS] = {0}, expected[RINGS] = {0}, total = 0;
        for (int i = 0; i < N; i++)
            total += mass[i] = unequal && i % 20 == 0 ? 10 : 1;
        works(density_map(
            &view, &(struct density_bodies){.n = N, .mass = mass, .pos = (const double(*)[3])pos},
            map));
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                double r = hypot(x + 0.5 - SIDE / 2, y + 0.5 - SIDE / 2) / view.scale;
                if (r < 3) {
                    sum[(int)(r * RINGS / 3)] += map[y * SIDE + x];
                    expected[(int)(r * RINGS / 3)] +=
                        total / (PI * (1 + r * r) * (1 + r * r) * view.scale * view.scale);
                }
            }
        for (int ring = 0; ring < RINGS; ring++)
            if (fabs(sum[ring] / expected[ring] - 1) > 0.08) /* noise 2 %, and some blur */
                fail_msg("ring %d holds %g instead of %g", ring, sum[ring], expected[ring]);
    }
    free(map);
    free(mass);
    free(pos);
}

/* The standard deviation of the pixels of an even field, relative to their mean. */
static double graininess(size_t n, const double *mass, double total)
{
    enum { SIDE = 256 };
    double(*pos)[3] = malloc(n * sizeof *pos);
    float *map = malloc((size_t)SIDE * SIDE * sizeof *map);
    const struct projection view = {.width = SIDE, .height = SIDE, .axis = {0, 1}, .scale = SIDE};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) /* also around the picture */
        for (int axis = 0; axis < 3; axis++)
            pos[i][axis] = 1.2 * uniform() - 0.6;
    works(density_map(
        &view, &(struct density_bodies){.n = n, .mass = mass, .pos = (const double(*)[3])pos},
        map));
    for (int i = 0; i < SIDE * SIDE; i++) {
        sum += map[i];
        squares += map[i] * map[i];
    }
    free(map);
    free(pos);
    double mean = sum / (SIDE * SIDE);
    assert_true(fabs(mean / (total / (1.44 * SIDE * SIDE)) - 1) < 0.05);
    return sqrt(squares / (SIDE * SIDE) / (mean * mean) - 1);
}

/* Smooth in dense areas, and with a tenth of the bodies 40 times heavier: Poisson noise of
 * counting would give a deviation of 2.2 and of 5.6. The remainder is mostly the sharp point of
 * every body. */
static void density_map_is_smooth(void **unused)
{
    enum { N = 20000 };
    static double mass[N];
    double total = 0;
    (void)unused;
    for (int i = 0; i < N; i++)
        total += mass[i] = i % 10 == 0 ? 40 : 1;
    double even = graininess(N, NULL, N), uneven = graininess(N, mass, total);
    print_message("graininess %.3f of equal, %.3f of unequal masses\n", even, uneven);
    assert_true(even > 0 && even < 0.42);
    assert_true(uneven > 0 && uneven < 0.42);
}

static void density_map_skips_non_finite_bodies(void **unused)
{
    double pos[3][3] = {{NAN, 0, 0}, {1e300, 0, 0}, {0, -INFINITY, 0}};
    static float map[200 * 160];
    (void)unused;
    works(
        density_map(&plain, &(struct density_bodies){.n = 3, .pos = (const double(*)[3])pos}, map));
    for (int i = 0; i < 200 * 160; i++)
        assert_true(map[i] == 0);
}

/* ---- Pictures. ------------------------------------------------------------------------------- */

static int brightness(const uint8_t *rgb, unsigned width, unsigned x, unsigned y)
{
    const uint8_t *at = rgb + 3 * (y * width + x);
    return at[0] + at[1] + at[2];
}

/* A cluster or a single body at a known place must be brightest in its pixel, the first axis to
 * the right, the second upwards. */
static void picture_draws_bodies_in_place(void **unused)
{
    static const struct {
        enum picture_plane plane;
        unsigned x, y;
    } cases[] = {{PICTURE_XY, 75, 25}, {PICTURE_XZ, 75, 85}, {PICTURE_YZ, 125, 85}};
    static uint8_t rgb[200 * 100 * 3];
    enum { N = 2000 };
    static double pos[N][3];
    (void)unused;
    for (size_t n = 1; n <= N; n = N * n + (n > 1))
        for (size_t k = 0; k < 3; k++) {
            struct picture_options o = {.width = 200,
                                        .height = 100,
                                        .plane = cases[k].plane,
                                        .extent = 10,
                                        .centre = {1, 2, 3},
                                        .colours = PICTURE_GREY};
            for (size_t i = 0; i < n; i++) { /* pixels are 0.1 wide */
                pos[i][0] = 1 - 2.45;
                pos[i][1] = 2 + 2.45;
                pos[i][2] = 3 - 3.55;
            }
            works(picture_draw(&o, n, NULL, (const double(*)[3])pos, rgb));
            unsigned brightest = 0;
            for (unsigned i = 0; i < 200 * 100; i++)
                if (brightness(rgb, 200, i % 200, i / 200) >
                    brightness(rgb, 200, brightest % 200, brightest / 200))
                    brightest = i;
            unsigned expected_x = k == 2 ? 124 : 75, expected_y = k == 0 ? 25 : 85;
            if (brightest % 200 != expected_x || brightest / 200 != expected_y)
                fail_msg("plane %zu, %zu bodies: brightest at %u, %u", k, n, brightest % 200,
                         brightest / 200);
        }
}

/* Sun and planets: a body of 10^-9 the mass is equally visible. */
static void picture_shows_light_bodies(void **unused)
{
    const double mass[2] = {1, 1e-9}, pos[2][3] = {{0, 0, 0}, {5, 0, 0}};
    static uint8_t rgb[100 * 100 * 3];
    struct picture_options o = {.width = 100, .height = 100, .extent = 20};
    (void)unused;
    works(picture_draw(&o, 2, mass, pos, rgb));
    assert_int_equal(brightness(rgb, 100, 50, 50), brightness(rgb, 100, 75, 50));
    assert_true(brightness(rgb, 100, 75, 50) > 300);
    assert_true(brightness(rgb, 100, 25, 50) < 30);
}

/* A path leads five units from the centre of mass, where the bodies are within one. */
static void picture_fits_frame_to_paths(void **unused)
{
    (void)unused;
    static const double pos[2][3] = {{-1, 0, 0}, {1, 0, 0}}, mass[2] = {1, 1},
                        path[2 * 2][3] = {{-3, 4, 0}, {3, -4, 0}, {-1, 0, 0}, {1, 0, 0}};
    struct picture_options o = {.points = 2, .path = path}, without = {.points = 0};
    works(picture_fit(&o, 2, mass, pos));
    works(picture_fit(&without, 2, mass, pos));
    assert_true(o.centre[0] == 0 && o.centre[1] == 0);
    assert_true(o.extent >= 10 && o.extent < 15);
    assert_true(without.extent >= 2 && without.extent < 3);
}

static void picture_fits_frame_to_bodies(void **unused)
{
    enum { N = 5000 };
    static double pos[N][3];
    struct picture_options o = {.width = 300, .height = 200};
    (void)unused;
    for (int i = 0; i < N;
         i++) { /* compact: all in view with a margin; some astray change nothing */
        pos[i][0] = 100 + 3 * (2 * uniform() - 1);
        pos[i][1] = -50 + 2 * (2 * uniform() - 1);
        pos[i][2] = i % 500 == 0 ? 1e6 : 0;
        pos[i][0] = i % 500 == 0 ? 1e6 : pos[i][0];
    }
    works(picture_fit(&o, N, NULL, (const double(*)[3])pos));
    assert_true(fabs(o.centre[0] - 100) < 0.1 && fabs(o.centre[1] + 50) < 0.1);
    assert_true(o.extent > 4.2 && o.extent < 5.2);
    assert_true(o.low > 0 && o.high > o.low);
    struct picture_options given = {
        .width = 300, .height = 200, .centre = {1, 2, 3}, .extent = 7, .low = 1, .high = 9};
    struct picture_options same = given;
    works(picture_fit(&same, N, NULL, (const double(*)[3])pos));
    assert_memory_equal(&same, &given, sizeof given);
    /* Coincident bodies, or a single one, still give a picture. */
    const double one[1][3] = {{3, 4, 5}};
    struct picture_options single = {.width = 10, .height = 10};
    works(picture_fit(&single, 1, NULL, one));
    assert_true(single.extent == 1 && single.centre[0] == 3 && single.centre[1] == 4);
}

/* Once fitted, equal density has equal colour in every frame. */
static void picture_series_keeps_scale(void **unused)
{
    enum { N = 4000 };
    static double pos[N][3], mass[N];
    static uint8_t first[64 * 64 * 3], second[64 * 64 * 3];
    struct picture_options o = {.width = 64, .height = 64};
    double brighter = 0;
    (void)unused;
    make_plummer(N, pos);
    for (int i = 0; i < N; i++)
        mass[i] = 1;
    works(picture_fit(&o, N, mass, (const double(*)[3])pos));
    works(picture_draw(&o, N, mass, (const double(*)[3])pos, first));
    works(picture_draw(&o, N, mass, (const double(*)[3])pos, second));
    assert_memory_equal(first, second, sizeof first);
    for (int i = 0; i < N; i++)
        mass[i] = 0.1;
    works(picture_draw(&o, N, mass, (const double(*)[3])pos, second));
    for (int i = 0; i < 64 * 64; i++)
        brighter += lightness(first + 3 * i) - lightness(second + 3 * i);
    assert_true(brighter / (64 * 64) > 5);
}

/* Two clusters side by side, equally dense: colours show the speeds, or the groups, of each; few
 * bodies and many. */
static void picture_colours_show_values_and_groups(void **unused)
{
    enum { MANY = 4000, W = 128, H = 64 };
    static double pos[MANY][3];
    static float value[MANY];
    static uint8_t group[MANY], rgb[W * H * 3];
    (void)unused;
    for (size_t n = 20; n <= MANY; n *= MANY / 20) {
        uint8_t slow[3], fast[3];
        for (size_t i = 0; i < n; i++) {
            group[i] = i % 2 ? 5 : 0;
            value[i] = i % 2 ? 7 : 3;
            pos[i][0] = (i % 2 ? 5 : -5) + (n == MANY ? 0.8 * (uniform() - 0.5) : 0);
            pos[i][1] = n == MANY ? 0.8 * (uniform() - 0.5) : 0;
        }
        struct picture_options o = {
            .width = W, .height = H, .extent = 10, .by = PICTURE_BY_VALUE, .value = value};
        works(picture_draw(&o, n, NULL, (const double(*)[3])pos, rgb));
        picture_colour(PICTURE_INFERNO, 0.2, slow);
        picture_colour(PICTURE_INFERNO, 1, fast);
        const uint8_t *left = rgb + 3 * (H / 2 * W + W / 4),
                      *right = rgb + 3 * (H / 2 * W + 3 * W / 4);
        for (int c = 0; c < 3; c++) {
            assert_true(abs(left[c] - slow[c]) <=
                        0.25 * slow[c] + 2); /* hues; the middle may be a little darker */
            assert_true(abs(right[c] - fast[c]) <= 0.25 * fast[c] + 2);
        }
        o.by = PICTURE_BY_GROUP;
        o.group = group;
        works(picture_draw(&o, n, NULL, (const double(*)[3])pos, rgb));
        for (int side = 0; side < 2; side++) {
            uint8_t expected[3];
            picture_group_colour(side ? 5 : 0, expected);
            for (int c = 0; c < 3; c++)
                assert_true(abs((side ? right : left)[c] - expected[c]) <= 0.25 * expected[c] + 2);
        }
    }
    const struct picture_options none = {.by = PICTURE_BY_GROUP},
                                 turned = {
                                     .by = PICTURE_BY_VALUE, .value = value, .least = 2, .most = 1};
    fails_saying(EINVAL, picture_draw(&none, 1, NULL, (const double(*)[3])pos, rgb), "not given");
    fails_saying(EINVAL, picture_draw(&turned, 1, NULL, (const double(*)[3])pos, rgb),
                 "values from 2 to 1");
}

/* A caption has a colour bar in the right margin, of 104 pixels: bright above, dark below. Groups
 * have squares there, and dots nothing. */
static void picture_caption_has_colour_scale(void **unused)
{
    enum { N = 2000, SIDE = 400, LEFT = SIDE - 104 };
    static double pos[N][3];
    static uint8_t group[N], rgb[SIDE * SIDE * 3];
    struct picture_options o = {
        .width = SIDE, .height = SIDE, .caption = true, .colours = PICTURE_GREY, .extent = 100};
    (void)unused;
    make_plummer(N, pos);
    works(picture_draw(&o, N, NULL, (const double(*)[3])pos, rgb));
    const unsigned x = LEFT + 8, top = 42, bottom = SIDE - 42;
    assert_true(brightness(rgb, SIDE, x, top) > 700 && brightness(rgb, SIDE, x, bottom) < 60);
    assert_true(brightness(rgb, SIDE, x, SIDE / 2) > 300 &&
                brightness(rgb, SIDE, x, SIDE / 2) < 460);
    unsigned ticks = 0;
    for (unsigned y = 40; y < SIDE - 40; y++)
        ticks += brightness(rgb, SIDE, LEFT + 15, y) > 300;
    assert_true(ticks > 10); /* the bar holds at least two powers of ten */
    o.by = PICTURE_BY_GROUP;
    o.group = group;
    works(picture_draw(&o, N, NULL, (const double(*)[3])pos, rgb));
    assert_true(brightness(rgb, SIDE, x, 35) > 200 && brightness(rgb, SIDE, x, SIDE / 2) == 0);
    o.by = PICTURE_BY_DENSITY;
    works(picture_draw(&o, 3, NULL, (const double(*)[3])pos, rgb));
    assert_true(brightness(rgb, SIDE, x, SIDE / 2) == 0);
}

static void picture_rejects_bad_options(void **unused)
{
    const double pos[1][3] = {{0, 0, 0}};
    const char *file = in_folder("no.png");
    static const struct {
        struct picture_options o;
        const char *part;
    } cases[] = {{{.width = 20000}, "20000 x 1024 is too large"},
                 {{.extent = -1}, "the extent of a picture is -1"},
                 {{.extent = NAN}, "extent"},
                 {{.low = 2, .high = 1}, "from 2 to 1"},
                 {{.high = -1}, "make no picture"},
                 {{.plane = (enum picture_plane)7}, "no such plane"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        fails_saying(EINVAL, picture_density(&cases[i].o, 1, NULL, pos, file), cases[i].part);
    struct picture_options o = {0};
    fails_saying(EINVAL, picture_density(&o, 0, NULL, NULL, file), "no bodies");
    assert_int_equal(access(file, F_OK), -1);
}

/* ---- PNG. ------------------------------------------------------------------------------------ */

#ifdef STDCL_HAVE_PNG
static void png_round_trips(void **unused)
{
    enum { W = 37, H = 23 };
    uint8_t rgb[W * H * 3], back[W * H * 3];
    png_image image = {.version = PNG_IMAGE_VERSION};
    (void)unused;
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (uint8_t)(256 * uniform());
    works(picture_write_png(in_folder("random.png"), W, H, rgb));
    assert_int_not_equal(png_image_begin_read_from_file(&image, in_folder("random.png")), 0);
    assert_int_equal(image.width, W);
    assert_int_equal(image.height, H);
    image.format = PNG_FORMAT_RGB;
    assert_int_not_equal(png_image_finish_read(&image, NULL, back, 0, NULL), 0);
    assert_memory_equal(rgb, back, sizeof rgb);
}

static void png_reports_write_errors(void **unused)
{
    enum { SIDE = 200 };
    static uint8_t rgb[SIDE * SIDE * 3];
    (void)unused;
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (uint8_t)(256 * uniform());
    fails_saying(ENOENT, picture_write_png(in_folder("none/a.png"), SIDE, SIDE, rgb),
                 "none' does not exist");
    fails_saying(EINVAL, picture_write_png(in_folder("a.png"), 0, SIDE, rgb), "a.png", "PNG");
    if (access("/dev/full", W_OK) == 0)
        fails_saying(ENOSPC, picture_write_png("/dev/full", SIDE, SIDE, rgb), "/dev/full",
                     "disk is full");
    assert_int_equal(count_files(files_folder, "a.png"), 0);
}

static void picture_writes_png(void **unused)
{
    enum { N = 1000 };
    static double pos[N][3];
    png_image image = {.version = PNG_IMAGE_VERSION};
    struct picture_options o = {.width = 90, .height = 60};
    (void)unused;
    make_plummer(N, pos);
    works(picture_density(&o, N, NULL, (const double(*)[3])pos, in_folder("d.png")));
    assert_int_not_equal(png_image_begin_read_from_file(&image, in_folder("d.png")), 0);
    assert_int_equal(image.width, 90);
    assert_int_equal(image.height, 60);
    png_image_free(&image);
}
#endif

/* ---- Series and films. ----------------------------------------------------------------------- */

static void picture_frames_are_numbered(void **unused)
{
    static const char *const cases[][2] = {
        {"run.png", "run-0007.png"},       {"out/run.mp4", "out/run-0007.png"},
        {"run", "run-0007.png"},           {"a.b/run", "a.b/run-0007.png"},
        {"a.b/.run", "a.b/.run-0007.png"}, {"r.2.gif", "r.2-0007.png"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = picture_frame_name(cases[i][0], 7);
        assert_string_equal(name, cases[i][1]);
        free(name);
    }
    char *name = picture_frame_name("x", 12345);
    assert_string_equal(name, "x-12345.png");
    free(name);
    assert_true(picture_is_film("a.mp4") && picture_is_film("d/a.GIF"));
    assert_false(picture_is_film("a.png") || picture_is_film("mp4") || picture_is_film(".mp4"));
}

/* Replace ffmpeg by a shell script, alone in $PATH except for the shell's own tools; NULL: no
 * ffmpeg. */
static char *replace_ffmpeg(const char *script)
{
    char *before = strdup(getenv("PATH")), path[PATH_MAX];
    mkdir(in_folder("bin"), 0755);
    unlink(in_folder("bin/ffmpeg"));
    if (script) {
        put_text(in_folder("bin/ffmpeg"), script);
        assert_int_equal(chmod(in_folder("bin/ffmpeg"), 0755), 0);
    }
    snprintf(path, sizeof path, "%s", in_folder("bin"));
    setenv("PATH", path, 1);
    return before;
}

static void restore_path(char *path)
{
    setenv("PATH", path, 1);
    free(path);
}

static void film_without_ffmpeg_is_rejected(void **unused)
{
    char *before = replace_ffmpeg(NULL);
    (void)unused;
    int can = picture_can_join();
    check_forget();
    int status = picture_join(in_folder("film.mp4"), 3, 0);
    restore_path(before);
    assert_false(can);
    assert_int_equal(status, -1);
    assert_int_equal(clerrno, ENOTSUP);
    says("film.mp4", "ffmpeg", "is not installed", "film-0001.png");
    assert_int_equal(count_files(files_folder, "film"), 0);
}

/* The script records its arguments, one a line, and creates the last one, the film. */
static void film_passes_ffmpeg_arguments(void **unused)
{
    char *before =
        replace_ffmpeg("#!/bin/sh\nfor a do echo \"$a\"; last=$a; done >\"${0%/bin/*}/said\"\n"
                       "echo film >\"$last\"\n");
    (void)unused;
    assert_true(picture_can_join());
    works(picture_join(in_folder("50% \"of\" it's.mp4"), 12, 30));
    restore_path(before);
    holds_text(in_folder("50% \"of\" it's.mp4"), "film\n");
    char *said = bytes_of(in_folder("said"), NULL);
    ready(said);
    contains(said, "/50%% \"of\" it's-%04d.png\n");
    contains(said, "-framerate\n30\n");
    contains(said, "-frames:v\n12\n");
    contains(said, "-pix_fmt\nyuv420p\n");
    free(said);
    assert_int_equal(count_files(files_folder, ".tmp"), 0);
    fails_saying(EINVAL, picture_join(in_folder("film.avi"), 3, 0), ".mp4, .webm or .gif");
}

static void film_reports_ffmpeg_error(void **unused)
{
    char *before =
        replace_ffmpeg("#!/bin/sh\necho chatter >&2\necho 'No \"frames\" found' >&2\nexit 3\n");
    (void)unused;
    put_text(in_folder("bad.gif"), "old");
    check_forget();
    int status = picture_join(in_folder("bad.gif"), 3, 0);
    char *sentence = strdup(status < 0 ? clerror() : "");
    restore_path(replace_ffmpeg("#!/bin/sh\nkill -TERM $$\n"));
    check_forget();
    int killed = picture_join(in_folder("bad.gif"), 3, 0);
    restore_path(before);
    assert_int_equal(status, -1);
    contains(sentence, "bad.gif");
    contains(sentence, "No \"frames\" found");
    assert_null(strstr(sentence, "chatter"));
    free(sentence);
    assert_int_equal(killed, -1);
    says("ended by signal 15", "frames are kept");
    holds_text(in_folder("bad.gif"), "old");
    assert_int_equal(count_files(files_folder, ".tmp"), 0);
}

/* Some versions of ffmpeg exit with 0 although the disk was full. */
static void film_that_is_not_whole_is_rejected(void **unused)
{
    static const char *const scripts[] = {
        "#!/bin/sh\nfor a do last=$a; done\necho part >\"$last\"\n"
        "echo 'Error closing file: No space left on device' >&2\n",
        "#!/bin/sh\nexit 0\n", "#!/bin/sh\nexit 3\n"};
    static const char *const reasons[] = {"No space left", "is the disk full?",
                                          "does `ffmpeg -version` work?"};
    (void)unused;
    put_text(in_folder("part.webm"), "old");
    for (int i = 0; i < 6; i++) {
        const bool piped = i % 2;
        char *before = replace_ffmpeg(scripts[i / 2]);
        check_forget();
        const int status = piped ? picture_film_close(picture_film_open(in_folder("part.webm"), 0))
                                 : picture_join(in_folder("part.webm"), 3, 0);
        restore_path(before);
        assert_int_equal(status, -1);
        assert_int_equal(clerrno, EIO);
        says("part.webm: ffmpeg failed", reasons[i / 2]);
        holds_text(in_folder("part.webm"), "old");
        assert_int_equal(count_files(files_folder, ".tmp"), 0);
    }
}

/* An ffmpeg without H.264 uses another encoder. */
static void film_falls_back_without_h264(void **unused)
{
    char *before = replace_ffmpeg(
        "#!/bin/sh\nfor a do last=$a; case $a in libx264) echo 'Unknown encoder' >&2; exit 1;;"
        " esac; done\necho film >\"$last\"\n");
    (void)unused;
    works(picture_join(in_folder("plain.mp4"), 1, 0));
    restore_path(before);
    holds_text(in_folder("plain.mp4"), "film\n");
}

#ifdef STDCL_HAVE_PNG
static void film_is_written_by_ffmpeg(void **unused)
{
    enum { W = 33, H = 21 }; /* odd, which H.264 does not like */
    static uint8_t rgb[W * H * 3];
    static const char *const films[] = {"real.mp4", "real.gif"};
    (void)unused;
    if (!picture_can_join()) {
        print_message("ffmpeg is not installed\n");
        skip();
    }
    for (unsigned i = 1; i <= 4; i++) {
        char *name = picture_frame_name(in_folder("real.mp4"), i);
        memset(rgb, (int)(60 * i), sizeof rgb);
        works(picture_write_png(name, W, H, rgb));
        free(name);
    }
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        works(picture_join(in_folder(films[i]), 4, 10));
        char *bytes = bytes_of(in_folder(films[i]), &size);
        ready(bytes);
        assert_true(size > 100);
        assert_memory_equal(i ? bytes : bytes + 4, i ? "GIF89a" : "ftyp", i ? 6 : 4);
        free(bytes);
    }
}

/* A file-size limit, which ffmpeg inherits, stands for a full disk: it is reached when ffmpeg
 * writes the end of the film, because 1 KiB is less than its buffer. */
static void film_on_full_disk_leaves_nothing(void **unused)
{
    enum { W = 96, H = 64 };
    static uint8_t rgb[W * H * 3];
    static const char *const films[] = {"full.mp4", "full.webm", "full.gif"};
    struct rlimit before, small;
    (void)unused;
    if (!picture_can_join())
        skip();
    for (unsigned i = 1; i <= 4; i++) {
        char *name = picture_frame_name(in_folder("full.mp4"), i);
        for (size_t k = 0; k < sizeof rgb; k++)
            rgb[k] = (uint8_t)(k * k * (i + 6) >> 5);
        works(picture_write_png(name, W, H, rgb));
        free(name);
    }
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 6; i++) {
        const char *film = films[i % 3];
        small.rlim_cur = i < 3 ? 1024 : 0;
        put_text(in_folder(film), "old");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        check_forget();
        const int status = picture_join(in_folder(film), 4, 10);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, -1);
        says(film, "ffmpeg failed", "File too large");
        holds_text(in_folder(film), "old");
    }
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(count_files(files_folder, ".tmp"), 0);
}
#endif

/* ---- Paths and captions. --------------------------------------------------------------------- */

static const uint8_t *picture_pixel(const uint8_t *rgb, unsigned width, unsigned x, unsigned y)
{
    return rgb + 3 * ((size_t)y * width + x);
}

/* A body moves along the x axis from -1 to 1, where it is now: dim along the way, bright at the
 * body, dark elsewhere. */
static void picture_path_fades_along_way(void **unused)
{
    enum { SIZE = 200 };
    static uint8_t rgb[3 * SIZE * SIZE];
    const double path[3][3] = {{-1, 0, 0}, {0.2, 0, 0}, {1, 0, 0}}, now[1][3] = {{1, 0, 0}};
    struct picture_options o = {.width = SIZE,
                                .height = SIZE,
                                .colours = PICTURE_GREY,
                                .extent = 4,
                                .points = 3,
                                .path = path};
    (void)unused;
    works(picture_draw(&o, 1, NULL, now, rgb));
    for (unsigned x = 52; x < 144; x++)
        assert_true(picture_pixel(rgb, SIZE, x, 100)[0] > 20 &&
                    picture_pixel(rgb, SIZE, x, 100)[0] < 200);
    assert_true(picture_pixel(rgb, SIZE, 150, 100)[0] > 200);
    assert_true(picture_pixel(rgb, SIZE, 40, 100)[0] < 10 &&
                picture_pixel(rgb, SIZE, 100, 110)[0] < 10);
    o.points = 0;
    works(picture_draw(&o, 1, NULL, now, rgb));
    assert_true(picture_pixel(rgb, SIZE, 100, 100)[0] < 10);
}

enum { CAPTIONED = 400, MARGIN = 26 }; /* pixels of the captions above and below */

static void draw_captioned(double time, double last, uint8_t *rgb)
{
    const double pos[3][3] = {{-1.7, 1.7, 0}, {1.9, 0, 0}, {0, -1.7, 0}};
    const struct picture_options o = {.width = CAPTIONED,
                                      .height = CAPTIONED,
                                      .extent = (CAPTIONED - 2 * MARGIN) / 100.,
                                      .caption = true,
                                      .time = time,
                                      .last = last,
                                      .time_unit = "day",
                                      .length_unit = "au"};
    works(picture_draw(&o, 3, NULL, pos, rgb));
}

/* The bar of a picture 4 lengths wide, 400 pixels, is 1 length and 100 pixels long. */
static void picture_caption_has_length_scale(void **unused)
{
    static uint8_t rgb[3 * CAPTIONED * CAPTIONED];
    unsigned bar = 0;
    (void)unused;
    draw_captioned(1.5, 0, rgb);
    while (bar < CAPTIONED && picture_pixel(rgb, CAPTIONED, 6 + bar, CAPTIONED - 14)[0] > 0)
        bar++;
    assert_int_equal(bar, 100);
}

/* Inside of its margins, a picture with a caption is a smaller picture without. */
static void picture_caption_hides_no_bodies(void **unused)
{
    enum { INNER = CAPTIONED - 2 * MARGIN };
    static uint8_t rgb[3 * CAPTIONED * CAPTIONED], bare[3 * CAPTIONED * INNER];
    const double pos[3][3] = {{-1.7, 1.7, 0}, {1.9, 0, 0}, {0, -1.7, 0}};
    const struct picture_options o = {.width = CAPTIONED, .height = INNER, .extent = INNER / 100.};
    (void)unused;
    draw_captioned(1.5, 0, rgb);
    works(picture_draw(&o, 3, NULL, pos, bare));
    assert_memory_equal(rgb + 3 * CAPTIONED * MARGIN, bare, sizeof bare);
    struct picture_options tiny = {.width = 16, .height = 8, .caption = true};
    works(picture_draw(&tiny, 3, NULL, pos, rgb)); /* too small for a caption */
}

/* The last column of the time in the upper margin. */
static unsigned caption_end(const uint8_t *rgb)
{
    unsigned end = 0;
    for (unsigned y = 0; y < MARGIN; y++)
        for (unsigned x = 0; x < CAPTIONED; x++)
            end = picture_pixel(rgb, CAPTIONED, x, y)[0] > 0 && x > end ? x : end;
    return end;
}

/* In a film the time takes one width from 0 to its end, so that it does not jump. */
static void picture_captions_of_film_have_one_width(void **unused)
{
    static uint8_t rgb[3 * CAPTIONED * CAPTIONED];
    static const double times[] = {0, 0.5, 9.75, 10, 99.5, 123.4};
    unsigned end = 0;
    (void)unused;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        draw_captioned(times[i], 123.4, rgb);
        assert_true(i == 0 || caption_end(rgb) == end);
        end = caption_end(rgb);
    }
    assert_true(end > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picture_path_fades_along_way),
        cmocka_unit_test(picture_caption_has_length_scale),
        cmocka_unit_test(picture_caption_hides_no_bodies),
        cmocka_unit_test(picture_captions_of_film_have_one_width),
        cmocka_unit_test(picture_colour_maps_match_published),
        cmocka_unit_test(picture_lightness_rises_evenly),
        cmocka_unit_test(picture_colour_maps_have_names),
        cmocka_unit_test(density_map_conserves_mass),
        cmocka_unit_test(density_map_matches_plummer),
        cmocka_unit_test(density_map_is_smooth),
        cmocka_unit_test(density_map_skips_non_finite_bodies),
        cmocka_unit_test(picture_draws_bodies_in_place),
        cmocka_unit_test(picture_shows_light_bodies),
        cmocka_unit_test(picture_fits_frame_to_bodies),
        cmocka_unit_test(picture_fits_frame_to_paths),
        cmocka_unit_test(picture_series_keeps_scale),
        cmocka_unit_test(picture_rejects_bad_options),
#ifdef STDCL_HAVE_PNG
        cmocka_unit_test(png_round_trips),
        cmocka_unit_test(png_reports_write_errors),
        cmocka_unit_test(picture_colours_show_values_and_groups),
        cmocka_unit_test(picture_caption_has_colour_scale),
        cmocka_unit_test(picture_writes_png),
#endif
        cmocka_unit_test(picture_frames_are_numbered),
        cmocka_unit_test(film_without_ffmpeg_is_rejected),
        cmocka_unit_test(film_passes_ffmpeg_arguments),
        cmocka_unit_test(film_reports_ffmpeg_error),
        cmocka_unit_test(film_that_is_not_whole_is_rejected),
        cmocka_unit_test(film_falls_back_without_h264),
#ifdef STDCL_HAVE_PNG
        cmocka_unit_test(film_is_written_by_ffmpeg),
        cmocka_unit_test(film_on_full_disk_leaves_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
