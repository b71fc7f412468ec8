/* fuzz_template.c - arbitrary bytes, expanded as a template; for libFuzzer or for driver.c.
 *
 * The expansion returns within its time limit, and either fails with a printable message that
 * begins with the template's name, or gives a text. The text is the same with and without #line
 * directives, and a template without Lua expands to itself.
 * SPDX-License-Identifier: MIT
 */
#include "template/template.h"

#include "core/clock.h"

#include "fuzz.h"

static const double SECONDS = 0.05, OVERSHOOT = 20; /* of processor time; sanitizers are slow */

#define VALUES "N = 3, t = {10, 20, {x = 'y'}}, s = 'text', f = false"

static bool holds_lua(const char *data, size_t size)
{
    if (memmem(data, size, "${", 2))
        return true;
    for (size_t i = 0; i < size; i++) {
        size_t start = i;
        while (i < size && (data[i] == ' ' || data[i] == '\t'))
            i++;
        if (i < size && data[i] == '|' && (start == 0 || data[start - 1] == '\n'))
            return true;
    }
    return false;
}

/* Remove directives and line ends from a text, in place; return its new length. */
static size_t squeeze(char *text, const char *directive)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool starts = from == text || from[-1] == '\n';
        if (starts && strncmp(from, "#line ", 6) == 0) {
            const char *end = strchr(from, '\n');
            const char *name = strchr(from + 6, ' ');
            if (end && name && strncmp(name, directive, strlen(directive)) == 0)
                from = end;
        }
        if (*from != '\n')
            *to++ = *from;
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* Expand within the time limit. *slow: another expansion may exceed it, or not. */
static char *expand_in_time(const char *name, const char *data, size_t size, bool *slow)
{
    const double start = 1e-9 * (double)ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
    char *text = stdcl_template_expand(name, data, size, VALUES);
    const double took = 1e-9 * (double)ns_of_clock(CLOCK_THREAD_CPUTIME_ID) - start;
    promise(took < OVERSHOOT);
    *slow |= took > SECONDS / 2;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *mark = " \"fuzz.clt\"";
    char *data = exact_copy(bytes, size);
    bool slow = false;
    stdcl_template_seconds = SECONDS;
    char *text = expand_in_time("fuzz.clt", data, size, &slow);
    if (!text)
        promise_sentence(clerror(), "fuzz.clt:");
    char *exact = expand_in_time(NULL, data, size, &slow);
    if (!exact)
        promise_sentence(clerror(), "template:");
    promise(slow || !text == !exact);
    size_t bom = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (!holds_lua(data + bom, size - bom)) {
        promise(!exact == (memchr(data, 0, size) != NULL));
        promise(!exact ||
                (strlen(exact) == size - bom && memcmp(exact, data + bom, size - bom) == 0));
    }
    if (text && exact && !strstr(text, "0x") &&
        !memmem(data, size, "#line", 5)) { /* addresses differ */
        promise(squeeze(text, mark) == squeeze(exact, mark));
        promise(strcmp(text, exact) == 0);
    }
    free(exact);
    free(text);
    free(data);
    return 0;
}
