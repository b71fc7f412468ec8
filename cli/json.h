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

/* Return the text that cli_json_print prints, for the caller to free; NULL: out of memory. */
char *cli_json_text(const struct json_t *object);

/* json_real, or null for a value that JSON has no notation for (NaN, infinity). */
struct json_t *cli_json_real(double value);
struct json_t *cli_json_reals(const double *values, size_t n);

/* A whole number in decimal; as text if it exceeds 63 bits. */
struct json_t *cli_json_digits(const char *digits);

/* A key of a report, and its unit. */
struct cli_json_unit {
    const char *key, *unit;
};

/* Add the object "units": of the n keys, each one that the report has, with its unit. A key that
 * ends in its unit, such as "seconds", and counts and ratios need none. */
void cli_json_add_units(struct json_t *report, const struct cli_json_unit *unit, size_t n);

#endif
