/* picture.h - pictures of surface density, series of them, and films.
 *
 * Bodies are projected along one axis; every body is spread over a smooth spot as wide as the
 * distance to its neighbours, and the mass per area is shown on a logarithmic scale in a colour map
 * whose steps look equal. Nothing is random: the same bodies give the same picture.
 * Without libpng at build time the functions that write answer ENOTSUP; the rest works.
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

/* What colours tell: the mass per area; or another thing about the bodies there, while the mass per
 * area makes them bright or dark. */
enum picture_colour_by { PICTURE_BY_DENSITY, PICTURE_BY_VALUE, PICTURE_BY_GROUP };

enum { PICTURE_GROUPS = 8 };

/* Zero means default everywhere. `centre` counts only when `extent` is given. */
struct picture_options {
    unsigned width, height;   /* pixels, 0 = 1024; at most 16384 */
    enum picture_plane plane; /* first axis to the right, second upwards */
    enum picture_colours colours;
    enum picture_colour_by by;
    const float *value; /* by value: a number of each body, such as its speed; a pixel shows the
                           mean by mass; not owned */
    double least, most; /* by value: the values at both ends of the colour map; both 0 = fit */
    const uint8_t
        *group;       /* by group: 0 .. PICTURE_GROUPS - 1 of each body, a colour each; not owned */
    double centre[3]; /* what is shown in the middle, in lengths of the bodies */
    double extent;    /* length across the shorter side; 0 = fit the bodies */
    double low, high; /* mass per area that looks almost black, and white; 0 = fit */
    bool caption; /* `time` in the upper left corner, a bar of a round length in the lower left, one
                     of the colours on the right */
    double time;
    size_t points; /* of each body's path so far, which is drawn behind up to 64 bodies; 0: none */
    const double (*path)[3]; /* all bodies at the first point, then at the second ...; not owned */
};

/* Fills in every option that is still zero, from these bodies: a frame that holds nearly all of
 * them and a range of densities. Call it once on the first frame, and the whole series shares one
 * scale. */
int picture_fit(struct picture_options *options, size_t n, const double *mass,
                const double (*pos)[3]);

/* Draws into rgb, 3 * width * height bytes, rows from the top. Options still zero are fitted. */
int picture_draw(const struct picture_options *options, size_t n, const double *mass,
                 const double (*pos)[3], uint8_t *rgb);

/* Draws and writes a PNG file, whole or not at all ("-" is the standard output). */
int picture_density(const struct picture_options *options, size_t n, const double *mass,
                    const double (*pos)[3], const char *file);

/* Writes an RGB picture of width x height, 3 bytes a pixel, rows from the top, as PNG. Any
 * program's. */
int picture_write_png(const char *file, unsigned width, unsigned height, const uint8_t *rgb);

/* The colour, 3 bytes, of a value from 0 (dark) to 1 (bright); beyond is clamped. */
void picture_colour(enum picture_colours colours, double value, uint8_t rgb[3]);

/* The colour of a group, easy to tell from the others with all kinds of eyes (Okabe & Ito 2008). */
void picture_group_colour(unsigned group, uint8_t rgb[3]);

/* "inferno", "magma", "viridis", "grey" to its number; -1 with EINVAL and the list of names. */
int picture_colours_by_name(const char *name);

/* "xy", "xz", "yz" to its number; -1 with EINVAL. */
int picture_plane_by_name(const char *name);

/* The name of frame `index` (from 1) of the series that goes with `file`, whatever its suffix:
 * out/run.png, out/run.mp4 and out/run all give out/run-0001.png. The caller frees it; NULL: no
 * memory. */
char *picture_frame_name(const char *file, unsigned index);

/* Is `file` named as a film (.mp4, .webm or .gif)? */
int picture_is_film(const char *file);

/* Is the program ffmpeg to be found in $PATH? */
int picture_can_join(void);

/* Joins frames 1 .. count of the series of `file` into `file`, .mp4, .webm or .gif, at `fps` frames
 * a second (0 = 25), with the program ffmpeg; blocks until it is done. The frames stay. ENOTSUP
 * without ffmpeg: the message says what to install and where the frames are. */
int picture_join(const char *file, unsigned count, unsigned fps);

/* A film that ffmpeg makes while frames come, without files of frames: open; write each frame as
 * PNG to the file that picture_film_frame names, a pipe; close, which blocks until the film is
 * whole. discard leaves nothing. SIGPIPE is ignored meanwhile, so that writing fails (EPIPE) when
 * ffmpeg has ended. NULL or -1 with a sentence. */
struct picture_film;
struct picture_film *picture_film_open(const char *file, unsigned fps);
const char *picture_film_frame(const struct picture_film *film);
int picture_film_close(struct picture_film *film);
void picture_film_discard(struct picture_film *film);

#ifdef __cplusplus
}
#endif
#endif
