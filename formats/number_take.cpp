/* number_take.cpp - decimal numbers read by fast_float, whose header is C++.
 * SPDX-License-Identifier: MIT
 */
#include "formats/number_take.h"

#include <fast_float/fast_float.h>

size_t number_take(const char *text, size_t length, double *value)
{
    return static_cast<size_t>(fast_float::from_chars(text, text + length, *value).ptr - text);
}
