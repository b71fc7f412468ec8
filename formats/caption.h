/* caption.h - captions of a picture: the time, a scale bar and the colour scale. Private to
 * formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_CAPTION_H
#define FORMATS_CAPTION_H

#include <stdint.h>

/* Write "t = TIME" into the upper left corner of rgb, width x height pixels, and a scale bar with
 * its length, a round number in the bodies' unit, into the lower left. pixels: pixels per unit of
 * length. */
void caption_draw(unsigned width, unsigned height, uint8_t *rgb, double time, double pixels);

enum { CAPTION_COLOURS = 256 };

/* Draw colours[CAPTION_COLOURS][3] as a vertical colour bar at the right edge, with the values of
 * its lowest and highest colour. */
void caption_scale(unsigned width, unsigned height, uint8_t *rgb, const uint8_t *colours,
                   double low, double high);

#endif
