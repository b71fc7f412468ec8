/* text.h - text in buffers, and numbers for people.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_TEXT_H
#define STDCL_CLI_TEXT_H

#include <stddef.h>

/* Append to a text in a buffer of `size` bytes; truncates. */
void cli_text_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Format a number into the caller's buffer; each function returns the buffer's text. */
struct cli_text {
    char s[32];
};

/* "512 B", "48.0 KiB", "139.8 GiB" */
const char *cli_text_bytes(struct cli_text *text, double bytes);

/* 4.26e12, "B/s": "4.26 TB/s"; 1e10, "steps/s": "10.0 G steps/s". A blank separates the prefix from
 * a word, but not from a symbol of up to four letters. */
const char *cli_text_rate(struct cli_text *text, double value, const char *unit);

/* "0.42 s", "12.3 s", "3 min 20 s", "2 h 05 min" */
const char *cli_text_duration(struct cli_text *text, double seconds);

/* As cli_text_duration, and below 0.1 s with three significant digits: "12.3 ms", "4.56 us" */
const char *cli_text_time(struct cli_text *text, double seconds);

/* See text_number in core/terminal.h. */
const char *cli_text_number(struct cli_text *text, int digits, double value);

#endif
