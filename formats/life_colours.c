/* life_colours.c - the colours of states, in pictures and in the terminal.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life.h"
#include "formats/picture.h"

#include <string.h>

void life_pattern_colours(unsigned states, const unsigned char *given, unsigned char rgb[256][3])
{
    memset(rgb, 0, 256 * sizeof *rgb);
    memset(rgb[1], 255, sizeof *rgb);
    for (unsigned i = given ? 0 : 2; i < states; i++)
        if (given)
            memcpy(rgb[i], given + 3 * i, sizeof *rgb);
        else
            picture_colour(PICTURE_INFERNO, 0.85 - 0.7 * (i - 2) / (states - 2), rgb[i]);
}
