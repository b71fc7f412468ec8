/* caption.h - the time and a bar of a known length in the corners of a picture. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_CAPTION_H
#define FORMATS_CAPTION_H

#include <stdint.h>

/* Writes "t = TIME" into the upper left corner of rgb, width x height pixels, and a bar whose length is a round number of the
 * bodies' lengths, with that number, into the lower left. `pixels`: of one length. */
void caption_draw(unsigned width, unsigned height, uint8_t *rgb, double time, double pixels);

#endif
