/* json.h - reports as JSON, built with jansson.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_JSON_H
#define STDCL_CLI_JSON_H

#include <stddef.h>

struct json_t;

/* Print an object and a newline to stdout. Real numbers get the fewest digits that give the same
 * double back. Return an exit status. The object stays the caller's. */
int cli_json_print(const struct json_t *object);

/* json_real, or null for a value that JSON has no notation for (NaN, infinity). */
struct json_t *cli_json_real(double value);
struct json_t *cli_json_reals(const double *values, size_t n);

/* A whole number in decimal; as text if it exceeds 63 bits. */
struct json_t *cli_json_digits(const char *digits);

#endif
