/* life_text.c - shared by readers and writers of Life patterns: runs of live cells, and text with
 * error positions.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include "stdcl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* ---- Live cells. ----------------------------------------------------------------------------- */

static void set_bits(uint64_t *word, size_t at, size_t n)
{
    for (; n && at % 64; at++, n--)
        word[at / 64] |= (uint64_t)1 << at % 64;
    for (; n >= 64; at += 64, n -= 64)
        word[at / 64] = ~(uint64_t)0;
    if (n)
        word[at / 64] |= ((uint64_t)1 << n) - 1;
}

void life_sink_run(struct life_sink *s, long long x, long long y, long long n)
{
    life_sink_state(s, x, y, n, 1);
}

static void sink_bits(struct life_sink *s, long long x, long long y, long long n)
{
    if (s->filling) {
        set_bits(s->p->word + (size_t)(y - s->top) * s->p->stride, (size_t)(x - s->left),
                 (size_t)n);
        return;
    }
    if (!s->any || x < s->left)
        s->left = x;
    if (!s->any || x + n > s->right)
        s->right = x + n;
    if (!s->any || y < s->top)
        s->top = y;
    if (!s->any || y + 1 > s->bottom)
        s->bottom = y + 1;
    s->any = true;
}

void life_sink_state(struct life_sink *s, long long x, long long y, long long n, unsigned state)
{
    s->most = state > s->most ? state : s->most;
    if (s->filling && s->tiles) {
        life_tiles_run(s->tiles, s->boundless ? x - s->left : x, s->boundless ? y - s->top : y, n,
                       state);
        return;
    }
    sink_bits(s, x, y, n);
    if (s->filling && s->p->state)
        memset(s->p->state + (size_t)(y - s->top) * s->p->columns + (size_t)(x - s->left),
               (int)state, (size_t)n);
}

void life_pattern_load(const struct life_pattern *p, size_t first, size_t count)
{
    struct life_band *b = p->band;
    if (!b || b->failed)
        return;
    b->first = first;
    b->count = count;
    b->failed = b->load(b->arg, first, count, b->word) != 0;
    if (b->failed)
        memset(b->word, 0, count * p->stride * sizeof *b->word);
}

const uint64_t *life_pattern_row(const struct life_pattern *p, size_t y)
{
    struct life_band *b = p->band;
    if (!b)
        return p->word + y * p->stride;
    if (y >= b->first + b->count || y < b->first)
        life_pattern_load(p, y, p->rows - y < b->rows ? p->rows - y : b->rows);
    return b->word + (b->failed ? 0 : y - b->first) * p->stride;
}

bool life_next_run(const struct life_pattern *p, size_t y, size_t *x, size_t *end)
{
    const uint64_t *row = life_pattern_row(p, y);
    size_t i = *x > p->left ? *x - p->left : 0;
    for (int value = 1; value >= 0; value--) { /* first a live cell, then a dead one */
        while (i < p->columns) {
            uint64_t rest = (value ? row[i / 64] : ~row[i / 64]) >> i % 64;
            if (rest) {
                i += (size_t)__builtin_ctzll(rest);
                break;
            }
            i = (i / 64 + 1) * 64;
        }
        i = i < p->columns ? i : p->columns;
        if (value) {
            if (i == p->columns)
                return false;
            *x = p->left + i;
        }
    }
    *end = p->left + i;
    return true;
}

/* Walk over the states of the stored box. */
static int walk_states(const struct life_pattern *p, life_run_f *run, void *to)
{
    for (size_t y = 0; y < p->rows; y++) {
        const unsigned char *state = p->state + y * p->columns;
        for (size_t x = 0, end; x < p->columns; x = end) {
            for (end = x + 1; end < p->columns && state[end] == state[x];)
                end++;
            if (state[x] && run(to, p->left + x, p->top + y, end - x, state[x]) != 0)
                return -1;
        }
    }
    return 0;
}

int life_pattern_walk(const struct life_pattern *p, life_run_f *run, void *to)
{
    if (p->runs)
        return p->runs->walk(p->runs->arg, run, to);
    if (p->state)
        return walk_states(p, run, to);
    for (size_t y = 0; y < p->rows; y++)
        for (size_t x = 0, end; life_next_run(p, y, &x, &end); x = end)
            if (run(to, x, p->top + y, end - x, 1) != 0)
                return -1;
    return 0;
}

/* ---- Text. ----------------------------------------------------------------------------------- */

int life_text_error(const struct life_text *t, const char *at, const char *format, ...)
{
    char what[400];
    size_t line = 1;
    const char *start = t->begin;
    for (const char *p = t->begin; p < at; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return clerror_set(EINVAL, "%s: line %zu, column %zu: %s", t->name, line,
                       (size_t)(at - start) + 1, what);
}

const char *life_text_line_end(const struct life_text *t, const char *at)
{
    const char *end = memchr(at, '\n', (size_t)(t->end - at));
    return end ? end : t->end;
}

bool life_text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

int life_text_rule(const struct life_text *t, const char *from, const char *to,
                   struct life_pattern *p)
{
    while (from < to && life_text_is_blank(*from))
        from++;
    while (to > from && life_text_is_blank(to[-1]))
        to--;
    const char *colon = memchr(from, ':', (size_t)(to - from));
    const char *end = colon ? colon : to, *rest = colon ? colon + 1 : to;
    if ((size_t)(end - from) >= sizeof p->rule || (size_t)(to - rest) >= sizeof p->bounds)
        return life_text_error(t, from, "the rule has more than %zu characters",
                               sizeof p->rule - 1);
    for (const char *c = from; c < to; c++)
        if ((unsigned char)*c < ' ')
            return life_text_error(t, c, "a rule has no control characters (code %d)",
                                   (unsigned char)*c);
    memset(p->rule, 0, sizeof p->rule);
    memset(p->bounds, 0, sizeof p->bounds);
    memcpy(p->rule, from, (size_t)(end - from));
    memcpy(p->bounds, rest, (size_t)(to - rest));
    return 0;
}

int life_text_generation(const struct life_text *t, const char **p, const char *end,
                         life_generation_t *generation)
{
    const life_generation_t most = ((life_generation_t)1 << 127) - 1;
    const char *start = *p;
    *generation = 0;
    for (; *p < end && (isdigit((unsigned char)**p) || **p == ','); ++*p) {
        if (**p == ',')
            continue;
        const unsigned digit = (unsigned)(**p - '0');
        if (*generation > (most - digit) / 10)
            return life_text_error(t, start,
                                   "the generation is 2^127 or more; generations are below that");
        *generation = 10 * *generation + digit;
    }
    return 0;
}

char *life_generation_text(life_generation_t generation, char text[LIFE_GENERATION_TEXT])
{
    char digits[LIFE_GENERATION_TEXT], *p = digits + sizeof digits;
    *--p = '\0';
    do
        *--p = (char)('0' + (int)(generation % 10));
    while (generation /= 10);
    return strcpy(text, p);
}
