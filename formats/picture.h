/* picture.h - pictures of surface density, series of them, and films.
 *
 * Bodies are projected along one axis. Each is smoothed over the distance to its neighbours, and
 * the mass per area is shown on a logarithmic scale in a perceptually uniform colour map. Nothing
 * is random: the same bodies give the same picture. Without libpng at build time, functions that
 * write PNG fail with ENOTSUP.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PICTURE_H
#define FORMATS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum picture_plane { PICTURE_XY, PICTURE_XZ, PICTURE_YZ };

enum picture_colours { PICTURE_INFERNO, PICTURE_MAGMA, PICTURE_VIRIDIS, PICTURE_GREY };

/* Quantity shown by colour: the mass per area; or another property of the bodies, with the mass
 * per area as brightness. */
enum picture_colour_by { PICTURE_BY_DENSITY, PICTURE_BY_VALUE, PICTURE_BY_GROUP };

enum {
    PICTURE_GROUPS = 8,
    PICTURE_RAMP = 256, /* colours of a colour bar */
    PICTURE_DOTS =
        1000 /* at most this many bodies are drawn as dots, however light: planets beside a sun */
};

/* Zero means default. `centre` counts only if `extent` is given. */
struct picture_options {
    unsigned width, height;   /* pixels, 0 = 1024; at most 16384 */
    enum picture_plane plane; /* first axis to the right, second upwards */
    enum picture_colours colours;
    enum picture_colour_by by;
    const float *value; /* by value: a number per body, such as its speed; a pixel shows the
                           mass-weighted mean; not owned */
    double least, most; /* by value: values at the ends of the colour map; both 0 = fit */
    const uint8_t
        *group;       /* by group: 0 .. PICTURE_GROUPS - 1 per body, one colour each; not owned */
    double centre[3]; /* shown in the middle, in the bodies' unit */
    double extent;    /* length across the shorter side; 0 = fit the bodies */
    double low, high; /* mass per area shown almost black, and white; 0 = fit */
    bool caption; /* beside the picture: time, a scale bar, what colours stand for (caption.h) */
    double time;
    double last; /* time of a film's last frame, so that all captions have one width; 0: unknown */
    const char *time_unit, *length_unit; /* of captions; NULL: none; not owned */
    const char *quantity;                /* name of the colour bar; NULL: none; not owned */
    size_t points; /* number of points of each body's path, drawn below up to 64 bodies; 0: none */
    const double (*path)[3]; /* all bodies at the first point, then at the second ...; not owned */
};

/* Fill in every option that is zero from these bodies: a frame that holds nearly all of them and a
 * range of densities. Called once on the first frame, it gives the whole series one scale. */
int picture_fit(struct picture_options *options, size_t n, const double *mass,
                const double (*pos)[3]);

/* As picture_fit for centre and extent alone, without a map of densities. */
int picture_fit_frame(struct picture_options *options, size_t n, const double *mass,
                      const double (*pos)[3]);

/* Draw into rgb, 3 * width * height bytes, rows from the top. Options that are zero are fitted. */
int picture_draw(const struct picture_options *options, size_t n, const double *mass,
                 const double (*pos)[3], uint8_t *rgb);

/* Draw and write a PNG file, whole or not at all ("-" is standard output). */
int picture_density(const struct picture_options *options, size_t n, const double *mass,
                    const double (*pos)[3], const char *file);

/* Write any RGB picture of width x height, 3 bytes per pixel, rows from the top, as PNG. */
int picture_write_png(const char *file, unsigned width, unsigned height, const uint8_t *rgb);

/* True if colours stand for a quantity, from `low` to `high` or from `least` to `most`: colours of
 * groups and of dots do not. */
bool picture_has_bar(const struct picture_options *options, size_t n);

/* The colours of this quantity, from the lowest on. */
void picture_ramp(const struct picture_options *options, uint8_t colour[PICTURE_RAMP][3]);

/* The colour, 3 bytes, of a value from 0 (dark) to 1 (bright); other values are clamped. */
void picture_colour(enum picture_colours colours, double value, uint8_t rgb[3]);

/* The colour of a group, distinguishable for colour-blind readers (Okabe & Ito 2008). */
void picture_group_colour(unsigned group, uint8_t rgb[3]);

/* The number of "inferno", "magma", "viridis", "grey"; -1 with EINVAL and the list of names. */
int picture_colours_by_name(const char *name);

/* The number of "xy", "xz", "yz"; -1 with EINVAL. */
int picture_plane_by_name(const char *name);

/* The name of frame `index` (from 1) of the series for `file`, whatever its suffix: out/run.png,
 * out/run.mp4 and out/run all give out/run-0001.png. The caller frees it; NULL: out of memory. */
char *picture_frame_name(const char *file, unsigned index);

/* True if `file` has a film's suffix (.mp4, .webm or .gif). */
int picture_is_film(const char *file);

/* True if ffmpeg is in $PATH. */
int picture_can_join(void);

/* Join frames 1 .. count of the series of `file` into `file`, .mp4, .webm or .gif, at `fps` frames
 * per second (0 = 25), with ffmpeg. Blocks. The frames stay. ENOTSUP without ffmpeg: the message
 * says what to install and where the frames are. */
int picture_join(const char *file, unsigned count, unsigned fps);

/* A film that ffmpeg encodes from a pipe, without files of frames: open; write each frame as PNG
 * to the file that picture_film_frame returns; close, which blocks until the film is complete.
 * discard leaves nothing. SIGPIPE is ignored meanwhile, so that writing fails with EPIPE if ffmpeg
 * has ended. NULL or -1 with a message. */
struct picture_film;
struct picture_film *picture_film_open(const char *file, unsigned fps);
const char *picture_film_frame(const struct picture_film *film);
int picture_film_close(struct picture_film *film);
void picture_film_discard(struct picture_film *film);

#ifdef __cplusplus
}
#endif
#endif
