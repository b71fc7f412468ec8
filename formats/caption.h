/* caption.h - the time, a bar of a known length and the scale of the colours at the edges of a
 * picture. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_CAPTION_H
#define FORMATS_CAPTION_H

#include <stdint.h>

/* Writes "t = TIME" into the upper left corner of rgb, width x height pixels, and a bar whose
 * length is a round number of the bodies' lengths, with that number, into the lower left. `pixels`:
 * of one length. */
void caption_draw(unsigned width, unsigned height, uint8_t *rgb, double time, double pixels);

enum { CAPTION_COLOURS = 256 };

/* Draws colours[CAPTION_COLOURS][3] as an upright bar at the right edge, with what the lowest and
 * the highest stand for. */
void caption_scale(unsigned width, unsigned height, uint8_t *rgb, const uint8_t *colours,
                   double low, double high);

#endif
