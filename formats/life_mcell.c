/* life_mcell.c - patterns of Mirek's Cellebration (.mcl).
 *
 *   #MCell 4.20
 *   #GAME Life             the family of the rule: Life, Generations or Larger than Life
 *   #RULE 23/3             345/2/4 of Generations
 *   #GOLLY WireWorld       in place of both, the name of Golly's rule
 *   #BOARD 200x200         the size of the grid: with #WRAP 1 a torus, else a plane with edges
 *   #L 2.A$A.A             runs, as in RLE: . is dead, A alive, $ the end of a row; A to X are
 *                          states 1 to 24, aA to aX 25 to 48, and so on
 *
 * M. Wojtowicz, mirekw.com. The pattern lies in the middle.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool mcell_begins(const char *p, const char *end, const char *words)
{
    return (size_t)(end - p) >= strlen(words) && strncasecmp(p, words, strlen(words)) == 0;
}

static bool mcell_sniff(const struct life_text *t)
{
    return mcell_begins(t->begin, t->end, "#MCell");
}

struct pen {
    long long x, y;
    unsigned prefix; /* of a state above 24: a is 24, b 48 ... */
    size_t board[2];
    bool wraps;
};

/* The cells of one line. */
static int mcell_read_line(const struct life_text *t, const char *p, const char *end,
                           struct pen *pen, struct life_sink *sink)
{
    for (long long n = 0; p < end; p++) {
        if (isdigit((unsigned char)*p)) {
            if ((n = n * 10 + (*p - '0')) >= LIFE_FAR)
                return life_text_error(t, p, "a count must be below 2^40");
            continue;
        }
        const long long count = n ? n : 1;
        const unsigned state = pen->prefix + (unsigned)(*p - 'A' + 1);
        if (life_text_is_blank(*p))
            continue;
        if (*p >= 'a' && *p <= 'j' && !pen->prefix) {
            pen->prefix = 24 * (unsigned)(*p - 'a' + 1);
            continue;
        }
        if (*p >= 'A' && *p <= 'X' && state < 256) {
            life_sink_state(sink, pen->x, pen->y, count, state);
        } else if (pen->prefix || isalpha((unsigned char)*p)) {
            return life_text_error(
                t, p,
                "'%c' is no state here; states are . for 0, A to X for 1 to 24, and aA to jO for 25 to 255",
                *p > ' ' && *p < 127 ? *p : '?');
        } else if (*p == '$') {
            pen->y += count;
            pen->x = 0;
        } else if (*p != '.') {
            return life_text_error(t, p, "'%c' is not one of ., A to X and $",
                                   *p > ' ' && *p < 127 ? *p : '?');
        }
        pen->prefix = 0;
        pen->x += *p == '$' ? 0 : count;
        n = 0;
        if (pen->x >= LIFE_FAR || pen->y >= LIFE_FAR)
            return life_text_error(t, p, "the pattern is larger than 2^40 cells across");
    }
    return 0;
}

static int read_board(const struct life_text *t, const char *p, const char *end, struct pen *pen)
{
    for (int i = 0; i < 2; i++) {
        while (p < end && !isdigit((unsigned char)*p))
            p++;
        if (p == end)
            return life_text_error(t, p, "the size of a board is written 200x100");
        for (pen->board[i] = 0;
             p < end && isdigit((unsigned char)*p) && pen->board[i] < (size_t)LIFE_FAR; p++)
            pen->board[i] = pen->board[i] * 10 + (size_t)(*p - '0');
    }
    return 0;
}

/* Supported families of rules. */
static int read_game(const struct life_text *t, const char *p, const char *end)
{
    static const char *const known[] = {"Life", "Standard Life", "Generations", "Larger than Life"};
    const char *last = end;
    while (p < end && life_text_is_blank(*p))
        p++;
    while (last > p && life_text_is_blank(last[-1]))
        last--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((size_t)(last - p) == strlen(known[i]) && mcell_begins(p, last, known[i]))
            return 0;
    for (end = p; end < last && end < p + 40 && *end >= ' ' && *end < 127;)
        end++;
    return life_text_error(
        t, p,
        "rules of the family '%.*s' are not supported, only those of Life, Generations and Larger than Life",
        (int)(end - p), p);
}

static bool names_rule_of_golly(const struct life_text *t)
{
    for (const char *p = t->begin, *end; p < t->end; p = end < t->end ? end + 1 : end) {
        end = life_text_line_end(t, p);
        if (mcell_begins(p, end, "#GOLLY "))
            return true;
    }
    return false;
}

static int read_mcell(const struct life_text *t, struct life_sink *sink)
{
    struct pen pen = {.x = 0};
    const bool golly = names_rule_of_golly(t);
    const char *const rule = golly ? "#GOLLY" : "#RULE";
    int status = 0;
    for (const char *p = t->begin, *end; p < t->end && status == 0;
         p = end < t->end ? end + 1 : end) {
        end = life_text_line_end(t, p);
        if (mcell_begins(p, end, "#GAME") && !golly)
            status = read_game(t, p + 5, end);
        else if (mcell_begins(p, end, rule) && !sink->filling)
            status = life_text_rule(t, p + strlen(rule), end, sink->p);
        else if (mcell_begins(p, end, "#BOARD"))
            status = read_board(t, p + 6, end, &pen);
        else if (mcell_begins(p, end, "#WRAP"))
            pen.wraps = memchr(p + 5, '1', (size_t)(end - p - 5)) != NULL;
        else if (mcell_begins(p, end, "#L "))
            status = mcell_read_line(t, p + 3, end, &pen, sink);
    }
    if (sink->any && !sink->filling) {
        sink->p->width = (size_t)sink->right;
        sink->p->height = (size_t)sink->bottom;
    }
    if (status == 0 && pen.board[0] && !sink->filling)
        snprintf(sink->p->bounds, sizeof sink->p->bounds, "%c%zu,%zu", pen.wraps ? 'T' : 'P',
                 pen.board[0], pen.board[1]);
    return status;
}

const struct life_format life_mcell = {
    .label = {.name = "mcell", .title = "MCell (.mcl)", .suffixes = ""},
    .sniff = mcell_sniff,
    .read = read_mcell,
};
