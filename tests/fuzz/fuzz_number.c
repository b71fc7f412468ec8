/* fuzz_number.c - arbitrary bytes as a number: of a file, of the command line, and as the suffix
 * of a name; for libFuzzer or for driver.c.
 *
 * number_read agrees with libc on accepted text, and number_print's text reads back as the same
 * double.
 * SPDX-License-Identifier: MIT
 */
#include "formats/number.h"
#include "cli/usage.h"
#include "formats/suffix.h"
#include "fuzz.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exponents of doubles may begin with d, which libc does not accept. */
static double by_libc(const char *text)
{
    char copy[NUMBER_LONGEST + 1];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *p = copy; *p; p++)
        if (*p == 'd' || *p == 'D')
            *p = 'e';
    return strtod(copy, NULL);
}

static void check_number(const char *text, size_t length)
{
    double value = 0, again = 0;
    char printed[NUMBER_SIZE];
    const enum number_kind kind = number_read(text, length, &value);
    promise(kind == NUMBER_OK || kind == NUMBER_BAD || kind == NUMBER_INFINITE);
    if (kind != NUMBER_OK)
        return;
    const double right = by_libc(text);
    promise(isfinite(value) && memcmp(&value, &right, sizeof value) == 0);
    const size_t n = number_print(printed, value);
    promise(n < NUMBER_SIZE && strlen(printed) == n);
    promise(number_read(printed, n, &again) == NUMBER_OK &&
            memcmp(&value, &again, sizeof value) == 0);
}

static void check_natural(const char *text)
{
    uint64_t value = 42;
    const int status = cli_read_natural(text, &value);
    promise(status == 0 || status == EINVAL || status == ERANGE);
    promise(status == 0 || value == 42);
    if (strspn(text, "0123456789") == strlen(text) && *text) {
        errno = 0;
        const unsigned long long right = strtoull(text, NULL, 10);
        promise(errno ? status == ERANGE : status == 0 && value == right);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_copy(data, size);
    char *exact = exact_copy(data, strlen(text)); /* without a terminating 0 */
    double ignored;
    number_read(exact, strlen(text), &ignored);
    check_number(text, strlen(text));
    check_natural(text);
    const char *suffix = suffix_of(text);
    promise(!*suffix || (suffix > text && *suffix == '.' && !strpbrk(suffix + 1, "./")));
    suffix_is_in(suffix, ".tab .txt");
    free(exact);
    free(text);
    return 0;
}
