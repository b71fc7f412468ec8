/* number.h - decimal numbers to doubles and back: exact, fast, and the same in every locale.
 *
 * Both ways are correctly rounded (IEEE 754, ties to even): number_read gives the double nearest to
 * the text, number_print the fewest digits of 15, 16 or 17 that read back as the same double.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_NUMBER_H
#define FORMATS_NUMBER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum number_kind {
    NUMBER_OK,
    NUMBER_BAD,      /* no number, or more than NUMBER_LONGEST characters */
    NUMBER_INFINITE, /* NaN or infinity in words, or beyond the range of a double */
};

enum { NUMBER_LONGEST = 1000, NUMBER_SIZE = 32 };

/* Reads the whole of text[0 .. length): [+-] digits [. digits] [e|E|d|D [+-] digits]. Nothing
 * beyond is touched. *value is set when the answer is NUMBER_OK. */
enum number_kind number_read(const char *text, size_t length, double *value);

/* Prints `value` into text, NUMBER_SIZE bytes at least, with a terminating 0; returns its
 * length. */
size_t number_print(char *text, double value);

#ifdef __cplusplus
}
#endif
#endif
