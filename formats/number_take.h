/* number_take.h - a decimal number at the front of a text.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_NUMBER_TAKE_H
#define FORMATS_NUMBER_TAKE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Convert the number at the front of text[0 .. length), and return how many characters it has; 0:
 * there is none. Beyond the range of a double *value is infinite, or 0. */
size_t number_take(const char *text, size_t length, double *value);

#ifdef __cplusplus
}
#endif
#endif
