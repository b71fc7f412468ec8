/* Figures with axes, the units on them, and the command line in their files. */
/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "files.h"
#include "formats/figure.h"
#include "formats/filter.h"
#include "formats/units.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Units. ---------------------------------------------------------------------------------- */

static struct units read_units(const char *text)
{
    struct units u = {.G = 0};
    char why[300] = "";
    if (!units_read(text, &u, why, sizeof why))
        fail_msg("%s: %s", text, why);
    return u;
}

static void near(double value, double right, double tolerance)
{
    if (!(fabs(value / right - 1) <= tolerance))
        fail_msg("%.17g is not %.17g", value, right);
}

/* Gauss's constant; Kepler's third law for the Earth; G m of the Earth and of Jupiter without its
 * moons, 126686531.9 km^3/s^2, as JPL publishes them; CODATA; G of galactic dynamics (Binney &
 * Tremaine 2008, appendix A). */
static void units_give_constant_of_gravity(void **unused)
{
    (void)unused;
    assert_true(read_units("au,day,msun").G == 0.00029591220828559115);
    near(2 * acos(-1) / sqrt(read_units("au,day,msun").G), 365.2568983, 1e-9);
    near(read_units("au,yr,msun").G, 4 * acos(-1) * acos(-1), 1e-4);
    near(read_units("km,s,mearth").G, 398600.4, 1e-6);
    near(read_units("m,s,kg").G, 6.67430e-11, 1e-12);
    near(read_units("pc,km/s,msun").G, 0.00430091, 2e-6);
    near(read_units("kpc,km/s,msun").G, 4.30091e-6, 2e-6);
    near(read_units("au,day,mjup").G * 1047.5655, read_units("au,day,msun").G, 1e-5);
}

static void units_name_quantities(void **unused)
{
    char text[64];
    const struct units au = read_units("au,day,msun"), pc = read_units("pc,km/s,msun"),
                       none = {.G = 0};
    (void)unused;
    units_label(text, sizeof text, "x", au.length);
    assert_string_equal(text, "x [au]");
    units_label(text, sizeof text, "x", none.length);
    assert_string_equal(text, "x");
    units_density(&au, text, sizeof text);
    assert_string_equal(text, "msun/au^2");
    units_speed(&au, text, sizeof text);
    assert_string_equal(text, "au/day");
    units_speed(&pc, text, sizeof text);
    assert_string_equal(text, "km/s");
    units_speed(&none, text, sizeof text);
    assert_string_equal(text, "");
    units_energy(&au, text, sizeof text);
    assert_string_equal(text, "msun au^2/day^2");
    units_energy(&pc, text, sizeof text);
    assert_string_equal(text, "msun (km/s)^2");
    assert_string_equal(pc.time, "pc/(km/s)");
    assert_string_equal(units_value(text, sizeof text, 12.5, pc.time), "12.5 pc/(km/s)");
}

static void units_reject_unknown_names(void **unused)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {{"mile,day,msun", "'mile' is no unit of length"},
                 {"au,fortnight,msun", "'fortnight' is no unit of time or velocity"},
                 {"au,day", "'' is no unit of mass"},
                 {"day,au,msun", "'day' is no unit of length"},
                 {"au,day,msun,kg", "give three units"},
                 {"", "'' is no unit of length"}};
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct units u = {.G = 0};
        char why[300] = "";
        assert_false(units_read(wrong[i].text, &u, why, sizeof why));
        if (!strstr(why, wrong[i].why) || u.G != 0)
            fail_msg("%s: %s", wrong[i].text, why);
    }
}

/* ---- Figures. -------------------------------------------------------------------------------- */

static const char made_by[] = "stdcl nbody -o 'a<b&c'";

/* Red above, blue below, and a bar from 0.01 to 100. */
static void draw_test_figure(const char *file)
{
    static const uint8_t rgb[2][4][3] = {{{255, 0, 0}, {255, 0, 0}, {255, 0, 0}, {255, 0, 0}},
                                         {{0, 0, 255}, {0, 0, 255}, {0, 0, 255}, {0, 0, 255}}};
    static uint8_t ramp[PICTURE_RAMP][3];
    const double x[2] = {-1, 1}, y[2] = {0, 0.5};
    const struct figure_set set = {.name = "Earth's path",
                                   .n = 2,
                                   .stride = 1,
                                   .x = x,
                                   .y = y,
                                   .path = true,
                                   .colour = "#228833"};
    picture_ramp(&(struct picture_options){.colours = PICTURE_VIRIDIS}, ramp);
    const struct figure figure = {
        .page = {.title = "It's 12.5 day",
                 .x_label = "x [au]",
                 .y_label = "y [au]",
                 .command = made_by},
        .x = {-2, 2},
        .y = {-1, 1},
        .width = 4,
        .height = 2,
        .rgb = &rgb[0][0][0],
        .bar = {"surface density [msun/au^2]", (const uint8_t(*)[3])ramp, 0.01, 100, true},
        .sets = 1,
        .set = &set};
    works(figure_write(file, &figure));
}

static void need_gnuplot(void)
{
    if (!filter_there("gnuplot")) {
        print_message("gnuplot is not installed\n");
        skip();
    }
}

static void contains_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is missing", part);
}

static void figure_svg_has_axes_bar_and_command(void **unused)
{
    const char *file = in_folder("f.svg");
    (void)unused;
    need_gnuplot();
    draw_test_figure(file);
    char *text = bytes_of(file, NULL);
    contains_text(text, "It's 12.5 day");
    contains_text(text, "x [au]");
    contains_text(text, "y [au]");
    contains_text(text, "surface density [msun/au^2]");
    contains_text(text, "Earth's path");
    contains_text(text, ">1<");
    contains_text(text, ">\xe2\x88\x92"
                        "1<"); /* U+2212 MINUS SIGN */
    contains_text(text, "0.01<");
    contains_text(text, "100<");
    contains_text(text, "<image ");
    contains_text(text, "stdcl nbody -o 'a&lt;b&amp;c'</desc>");
    free(text);
}

/* The CRC-32 of PNG, by its definition: division of polynomials, bit by bit. */
static uint32_t remainder_of(const unsigned char *data, size_t n)
{
    uint32_t rest = 0xffffffffu;
    for (size_t bit = 0; bit < 8 * n; bit++) {
        const uint32_t next = data[bit / 8] >> bit % 8 & 1;
        rest = rest >> 1 ^ (((rest & 1) ^ next) ? 0xedb88320u : 0);
    }
    return ~rest;
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Every chunk has the right length and CRC, and the second is the command. */
static void figure_png_has_command(void **unused)
{
    const char *file = in_folder("f.png");
    size_t size, at = 8, chunks = 0;
    (void)unused;
    need_gnuplot();
    draw_test_figure(file);
    unsigned char *bytes = (unsigned char *)bytes_of(file, &size);
    for (; at + 12 <= size; chunks++) {
        const uint32_t length = big_endian(bytes + at);
        assert_true(at + 12 + length <= size);
        assert_int_equal(remainder_of(bytes + at + 4, length + 4),
                         big_endian(bytes + at + 8 + length));
        if (chunks == 1) {
            assert_memory_equal(bytes + at + 4, "iTXtComment", 11);
            assert_int_equal(length, 12 + strlen(made_by));
            assert_memory_equal(bytes + at + 20, made_by, strlen(made_by));
        }
        at += 12 + length;
    }
    assert_int_equal(at, size);
    assert_true(chunks > 3);
    free(bytes);
}

static void figure_pdf_has_command(void **unused)
{
    const char *file = in_folder("f.pdf");
    size_t size;
    (void)unused;
    need_gnuplot();
    draw_test_figure(file);
    char *bytes = bytes_of(file, &size);
    const size_t tail = strlen(made_by) + 2;
    assert_memory_equal(bytes, "%PDF-", 5);
    assert_int_equal(bytes[size - tail], '%');
    assert_memory_equal(bytes + size - tail + 1, made_by, strlen(made_by));
    free(bytes);
}

/* Two bodies a unit apart at 1e15, where six digits of a tick are all equal. */
static void figure_names_offset_of_far_axes(void **unused)
{
    const double x[2] = {1e15, 1e15 + 1}, y[2] = {-3e14, -3e14 + 1};
    const struct figure_set set = {.n = 2, .stride = 1, .x = x, .y = y, .colour = "#228833"};
    const struct figure figure = {.page = {.x_label = "x [au]"},
                                  .x = {1e15 - 1, 1e15 + 2},
                                  .y = {-3e14 - 1, -3e14 + 2},
                                  .sets = 1,
                                  .set = &set};
    const char *file = in_folder("far.svg");
    (void)unused;
    need_gnuplot();
    works(figure_write(file, &figure));
    char *text = bytes_of(file, NULL);
    contains_text(text, "x [au] - 999999999999990<");
    contains_text(text, "y + 300000000000010<");
    contains_text(text, ">9.5<");
    contains_text(text, ">10<");
    free(text);
}

/* Dark pixels of every second pixel of every second row appear in a PNG one by one. */
static void figure_png_shows_every_cell(void **unused)
{
    enum { N = FIGURE_PIXELS, DOTS = (N / 2) * (N / 2) };
    const char *file = in_folder("dots.png");
    uint8_t *rgb = malloc(3 * N * N);
    const struct figure figure = {
        .x = {0, N}, .y = {N, 0}, .cells = true, .width = N, .height = N, .rgb = rgb};
    png_image image = {.version = PNG_IMAGE_VERSION};
    size_t dots = 0;
    (void)unused;
    need_gnuplot();
    for (size_t i = 0; i < (size_t)N * N; i++)
        memset(rgb + 3 * i, i % N % 2 && i / N % 2 ? 0 : 255, 3);
    works(figure_write(file, &figure));
    assert_true(png_image_begin_read_from_file(&image, file));
    image.format = PNG_FORMAT_GRAY;
    uint8_t *grey = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, grey, 0, NULL));
    for (size_t y = 60; y < 860; y++) /* inside the axes: count the top left corners of dots */
        for (size_t x = 110; x < 910; x++) {
            const uint8_t *at = grey + y * image.width + x;
            dots += *at < 128 && at[-1] >= 128 && at[-(ptrdiff_t)image.width] >= 128;
        }
    const double wanted = DOTS * pow(800. / 820, 2);
    assert_true(fabs((double)dots - wanted) < 0.01 * wanted);
    free(grey);
    free(rgb);
}

static void figure_rejects_other_suffixes(void **unused)
{
    const struct figure figure = {.x = {0, 1}, .y = {0, 1}};
    (void)unused;
    assert_int_equal(figure_write(in_folder("f.jpg"), &figure), -1);
    assert_int_equal(clerrno, EINVAL);
    contains_text(clerror(), ".svg, .png or .pdf");
}

/* Twelve bodies have names in a legend: no two have one colour. */
static void figure_colours_are_distinct(void **state)
{
    (void)state;
    assert_true(GNUPLOT_COLOURS >= 12);
    for (size_t i = 0; i < GNUPLOT_COLOURS; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(gnuplot_colour(i), gnuplot_colour(j));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_give_constant_of_gravity),
        cmocka_unit_test(units_name_quantities),
        cmocka_unit_test(units_reject_unknown_names),
        cmocka_unit_test(figure_colours_are_distinct),
        cmocka_unit_test(figure_svg_has_axes_bar_and_command),
        cmocka_unit_test(figure_png_has_command),
        cmocka_unit_test(figure_pdf_has_command),
        cmocka_unit_test(figure_names_offset_of_far_axes),
        cmocka_unit_test(figure_png_shows_every_cell),
        cmocka_unit_test(figure_rejects_other_suffixes),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
