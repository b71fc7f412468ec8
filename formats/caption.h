/* caption.h - captions of a picture: the time, a scale bar, and the meaning of colours.
 *
 *   +------------------------------------+
 *   | t = 12.50 day     surface density  |  the quantity
 *   |  +----------------------------+    |
 *   |  |                            | #  |
 *   |  |          picture           | #- |  colour bar with ticks and numbers, or colours of groups
 *   |  |                            | #- |
 *   |  +----------------------------+    |
 *   | ------- 20 au                      |  scale bar
 *   +------------------------------------+
 *
 * A caption stands beside the picture and hides no part of it. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_CAPTION_H
#define FORMATS_CAPTION_H

#include <stdbool.h>
#include <stdint.h>

enum { CAPTION_COLOURS = 256 };

struct caption {
    unsigned width, height; /* pixels of the whole, with the caption */
    const char *text;       /* in the top line in place of the time; NULL: the time */
    double time;
    double last;         /* time of the last frame: all captions of a film have one width;
                                 0: unknown */
    double pixels;       /* per unit of length, in the picture */
    double least_length; /* of the scale bar, in units of length */
    const char *time_unit, *length_unit; /* "": none */
    const char *quantity;                /* of the colours, with its unit; "": none */
    const uint8_t (*colour)[3];          /* CAPTION_COLOURS colours of a bar; NULL: none */
    double low, high;                    /* values at its ends */
    bool logarithmic;                    /* colour number log(1 + v / low); else v */
    unsigned groups;                     /* number of groups, each with a colour; 0: none */
    const uint8_t (*group)[3];           /* [groups] */
};

/* Margins around the picture, in pixels: all 0 if the whole is too small for a caption. */
struct caption_margins {
    unsigned top, bottom, right;
};
struct caption_margins caption_margins(unsigned width, unsigned height, bool beside);

/* Draw the caption into the margins of rgb, width x height pixels. */
void caption_draw(const struct caption *caption, const struct caption_margins *margins,
                  uint8_t *rgb);

#endif
