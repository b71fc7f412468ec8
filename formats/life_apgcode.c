/* life_apgcode.c - patterns as apgsearch and Catagolue name them: xs4_33 is the block, xp2_7 the
 * blinker, xq4_153 the glider.
 *
 * After the underscore, strips of five rows from top to bottom, with a z between two. A character
 * is a column of five cells, 0 to 9 and a to v for 0 to 31, the top cell in the lowest bit. w
 * stands for 00, x for 000, and y0 to yz for four to 39 columns of dead cells. The number in front
 * is of cells after xs, of generations in a period after xp and xq.
 * A. P. Goucher's extended form of H. R. Wechsler's notation; conwaylife.com/wiki/Apgcode.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include <ctype.h>
#include <string.h>

/* 0 to 35 for 0 to 9 and a to z; -1 for other characters. */
static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : -1;
}

/* The underscore of "xs4_", "xp2_", "xq4_" at the start of a text; NULL if it does not begin so. */
static const char *head(const char *p, const char *end)
{
    if (end - p < 5 || p[0] != 'x' || !strchr("spq", p[1]) || !isdigit((unsigned char)p[2]))
        return NULL;
    for (p += 2; p < end && isdigit((unsigned char)*p);)
        p++;
    return p < end && *p == '_' ? p : NULL;
}

bool life_apgcode_is(const char *text)
{
    const char *p = head(text, text + strlen(text));
    return p && p[1] && strspn(p + 1, "0123456789abcdefghijklmnopqrstuvwxyz") == strlen(p + 1);
}

static bool apgcode_sniff(const struct life_text *t)
{
    return head(t->begin, t->end) != NULL;
}

/* xs4 is a still life of four cells: check the number. Numbers after xp and xq are periods and
 * cannot be checked. */
static int check_cells(const struct life_text *t, unsigned long long cells)
{
    unsigned long long said = 0;
    for (const char *p = t->begin + 2; *p != '_' && said <= cells; p++)
        said = 10 * said + (unsigned)(*p - '0');
    if (t->begin[1] != 's' || said == cells)
        return 0;
    const int length = (int)(head(t->begin, t->end) - t->begin);
    return life_text_error(
        t, t->begin, "%.*s stands for a still life of %.*s cells, but the code has %llu",
        length < 40 ? length : 40, t->begin, length < 40 ? length - 2 : 38, t->begin + 2, cells);
}

static int read_apgcode(const struct life_text *t, struct life_sink *sink)
{
    long long x = 0, y = 0;
    unsigned long long cells = 0;
    const char *p = head(t->begin, t->end) + 1;
    for (; p < t->end && !isspace((unsigned char)*p); p++) {
        const int value = digit(*p);
        if (value < 0)
            return life_text_error(t, p,
                                   "'%c' is not part of an apgcode, which has 0 to 9 and a to z",
                                   *p > ' ' && *p < 127 ? *p : '?');
        if (*p == 'z') {
            x = 0;
            y += 5;
        } else if (*p == 'y') {
            const int more = ++p < t->end ? digit(*p) : -1;
            if (more < 0)
                return life_text_error(t, p, "after y there should be one of 0 to 9 and a to z");
            x += 4 + more;
        } else if (*p == 'w' || *p == 'x') {
            x += *p == 'w' ? 2 : 3;
        } else {
            for (int i = 0; i < 5; i++)
                if (value >> i & 1)
                    life_sink_run(sink, x, y + i, 1);
            cells += (unsigned)__builtin_popcount((unsigned)value & 31);
            x++;
        }
    }
    while (p < t->end && isspace((unsigned char)*p))
        p++;
    if (p < t->end)
        return life_text_error(t, p, "there is something after the apgcode");
    if (check_cells(t, cells) < 0)
        return -1;
    if (sink->any && !sink->filling) {
        sink->p->width = (size_t)sink->right;
        sink->p->height = (size_t)sink->bottom;
    }
    return 0;
}

const struct life_format life_apgcode = {
    .label = {.name = "apgcode", .title = "apgcode", .suffixes = ""},
    .sniff = apgcode_sniff,
    .read = read_apgcode,
};
